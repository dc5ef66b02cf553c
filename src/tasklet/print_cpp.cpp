// Expressions as C++ text.
#include "tasklet/print_cpp.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "tasklet/fold.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/print_cpp_expr.hpp"
#include "tasklet/value.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

using S = ScalarType;

bool is_narrow(S t) {
  return t == S::kInt8 || t == S::kInt16 || t == S::kUInt8 || t == S::kUInt16;
}
// Types that C++ computes in itself.
bool is_native(S t) {
  return !is_half(t) && !is_complex(t);
}
// The type in which a type is computed: float for the 16-bit ones.
S computed_in(S t) {
  return is_half(t) ? S::kFloat32 : t;
}
S promoted(S t) {
  return t == S::kBool || is_narrow(t) ? S::kInt32 : t;
}
// C's usual arithmetic conversions on native types.
S usual(S a, S b) {
  return promote(promoted(a), promoted(b));
}

// Whether every value of `from` is a value of the integer type `to`.
bool is_lossless(S from, S to) {
  if (from == to || from == S::kBool) return true;
  if (!is_integer(from) || !is_integer(to)) return false;
  if (is_unsigned(from)) return size_of(from) < size_of(to);
  return is_signed(to) && size_of(from) < size_of(to);
}

template <typename T>
std::string shortest_cpp(T value) {
  char buffer[64];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

CppText floating_text(double value, S type) {
  const bool single = type != S::kFloat64;
  const S printed = single ? S::kFloat32 : S::kFloat64;
  const std::string suffix = single ? "F" : "";
  if (std::isnan(value)) return {"SDFG_NAN" + suffix, CppLevel::kAtom, printed};
  const bool negative = std::signbit(value);
  if (std::isinf(value))
    return {(negative ? "-SDFG_INF" : "SDFG_INF") + suffix, negative ? CppLevel::kUnary : CppLevel::kAtom, printed};
  const std::string text = single ? shortest_cpp(static_cast<float>(value)) + "f" : shortest_cpp(value);
  return {text, negative ? CppLevel::kUnary : CppLevel::kAtom, printed};
}

// An integer constant. `exact` forces its C++ type; else one that fits in int is written plainly.
CppText integer_text(std::int64_t v, S type, bool exact) {
  if (type == S::kUInt64 && v < 0) return {std::to_string(static_cast<std::uint64_t>(v)) + "UL", CppLevel::kAtom, type};
  const bool fits = v >= std::numeric_limits<std::int32_t>::min() && v <= std::numeric_limits<std::int32_t>::max();
  const CppLevel level = v < 0 ? CppLevel::kUnary : CppLevel::kAtom;
  if (v == std::numeric_limits<std::int64_t>::min()) return {"(-9223372036854775807L - 1)", CppLevel::kAtom, S::kInt64};
  if (v == std::numeric_limits<std::int32_t>::min() && type == S::kInt32)
    return {"(-2147483647 - 1)", CppLevel::kAtom, S::kInt32};
  std::string text = std::to_string(v);
  if (is_narrow(type)) {
    if (exact) return {cpp_type(type) + "(" + text + ")", CppLevel::kAtom, type};
    return {text, level, S::kInt32};
  }
  if (fits && (!exact || type == S::kInt32)) return {text, level, S::kInt32};
  if (type == S::kUInt32) return {text + "U", level, type};
  if (type == S::kUInt64) return {text + "UL", level, type};
  return {text + "L", level, S::kInt64};
}

CppText literal_text(const Literal& literal, S type, bool exact) {
  if (const bool* v = std::get_if<bool>(&literal.value)) return {*v ? "true" : "false", CppLevel::kAtom, S::kBool};
  if (const auto* v = std::get_if<std::int64_t>(&literal.value)) return integer_text(*v, type, exact);
  if (const auto* v = std::get_if<std::uint64_t>(&literal.value))
    return integer_text(static_cast<std::int64_t>(*v), type, exact);
  if (const double* v = std::get_if<double>(&literal.value)) {
    CppText text = floating_text(*v, type);
    if (is_half(type)) return {cpp_type(type) + "(" + text.text + ")", CppLevel::kAtom, type};
    return text;
  }
  const auto& z = std::get<std::complex<double>>(literal.value);
  const S part = component_of(type);
  return {cpp_type(type) + "(" + floating_text(z.real(), part).text + ", " + floating_text(z.imag(), part).text + ")",
          CppLevel::kAtom, type};
}

[[noreturn]] void throw_unprintable(const Expr& e, const std::string& why) {
  throw Error(ErrorClass::kUsage, "The expression '" + to_python(e) + "' cannot be written as C++: " + why + ".");
}

S printed_type(const Expr& e) {
  if (e.type().is_void()) throw_unprintable(e, "its type is not known");
  if (e.type().kind() != Type::Kind::kScalar && e.type().kind() != Type::Kind::kVector)
    throw_unprintable(e, "it has the type " + e.type().str());
  return e.type().scalar();
}

bool is_vector(const Expr& e) {
  return e.type().kind() == Type::Kind::kVector;
}
bool is_number(const Expr& e) {
  return e.type().kind() == Type::Kind::kScalar || is_vector(e);
}

CppText call_text(const std::string& name, std::initializer_list<std::string> args, S type) {
  std::string text = name + "(";
  for (const std::string& arg : args) text += (text.back() == '(' ? "" : ", ") + arg;
  return {text + ")", CppLevel::kAtom, type};
}

struct Infix {
  std::string_view text;
  CppLevel level;
  CppLevel left;  // what the operands must at least be to stand without parentheses
  CppLevel right;
};

// Bit operators and shifts are parenthesised inside each other and inside sums: compilers warn, readers stumble.
Infix infix(BinaryOp op) {
  using L = CppLevel;
  switch (op) {
    case BinaryOp::kAdd: return {" + ", L::kSum, L::kSum, L::kProduct};
    case BinaryOp::kSub: return {" - ", L::kSum, L::kSum, L::kProduct};
    case BinaryOp::kMul: return {" * ", L::kProduct, L::kProduct, L::kUnary};
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv: return {" / ", L::kProduct, L::kProduct, L::kUnary};
    case BinaryOp::kMod: return {" % ", L::kProduct, L::kUnary, L::kUnary};
    case BinaryOp::kPow: break;
    case BinaryOp::kBitAnd: return {" & ", L::kBitwiseAnd, L::kUnary, L::kUnary};
    case BinaryOp::kBitOr: return {" | ", L::kBitwiseOr, L::kUnary, L::kUnary};
    case BinaryOp::kBitXor: return {" ^ ", L::kBitwiseXor, L::kUnary, L::kUnary};
    case BinaryOp::kShiftLeft: return {" << ", L::kShift, L::kUnary, L::kUnary};
    case BinaryOp::kShiftRight: return {" >> ", L::kShift, L::kUnary, L::kUnary};
    case BinaryOp::kEqual: return {" == ", L::kEquality, L::kSum, L::kSum};
    case BinaryOp::kNotEqual: return {" != ", L::kEquality, L::kSum, L::kSum};
    case BinaryOp::kLess: return {" < ", L::kRelation, L::kSum, L::kSum};
    case BinaryOp::kLessEqual: return {" <= ", L::kRelation, L::kSum, L::kSum};
    case BinaryOp::kGreater: return {" > ", L::kRelation, L::kSum, L::kSum};
    case BinaryOp::kGreaterEqual: return {" >= ", L::kRelation, L::kSum, L::kSum};
    case BinaryOp::kAnd: return {" && ", L::kConjunction, L::kConjunction, L::kEquality};
    case BinaryOp::kOr: return {" || ", L::kDisjunction, L::kDisjunction, L::kEquality};
  }
  return {" ? ", L::kConditional, L::kAtom, L::kAtom};
}

CppText joined(BinaryOp op, const CppText& a, const CppText& b, S type) {
  const Infix in = infix(op);
  // `!x == y` reads as if it negated the comparison.
  const CppLevel left = is_comparison(op) && a.text.starts_with('!') ? CppLevel::kAtom : in.left;
  return {a.at_least(left) + std::string(in.text) + b.at_least(in.right), in.level, type};
}

// Clang warns about && inside ||, and a chain of one operator needs no parentheses.
CppText logical(BinaryOp op, const CppText& a, const CppText& b) {
  const Infix in = infix(op);
  const CppLevel left = a.level == in.level ? in.level : CppLevel::kEquality;
  return {a.at_least(left) + std::string(in.text) + b.at_least(CppLevel::kEquality), in.level, S::kBool};
}

}  // namespace

std::string cpp_type(ScalarType type) {
  switch (type) {
    case S::kBool: return "bool";
    case S::kInt8: return "int8_t";
    case S::kInt16: return "int16_t";
    case S::kInt32: return "int32_t";
    case S::kInt64: return "int64_t";
    case S::kUInt8: return "uint8_t";
    case S::kUInt16: return "uint16_t";
    case S::kUInt32: return "uint32_t";
    case S::kUInt64: return "uint64_t";
    case S::kFloat16: return "sdfg_float16";
    case S::kBFloat16: return "sdfg_bfloat16";
    case S::kFloat32: return "float";
    case S::kFloat64: return "double";
    case S::kComplex64: return "sdfg_complex64";
    case S::kComplex128: return "sdfg_complex128";
  }
  return {};
}

std::string cpp_type(const Type& type) {
  switch (type.kind()) {
    case Type::Kind::kVoid: return "void";
    case Type::Kind::kScalar: return cpp_type(type.scalar());
    case Type::Kind::kVector: return "sdfg_vec<" + cpp_type(type.scalar()) + ", " + std::to_string(type.lanes()) + ">";
    case Type::Kind::kPointer: return cpp_type(type.pointee()) + "*";
    case Type::Kind::kStruct: return type.structure().name;
    case Type::Kind::kOpaque: return type.opaque_name();
    case Type::Kind::kCallback: return "void*";
  }
  return {};
}

CppText CppPrinter::exactly(const CppText& text, S from, S to) const {
  if (text.type == to) return text;
  if (to == S::kBool) {
    if (is_native(from)) return joined(BinaryOp::kNotEqual, text, {"0", CppLevel::kAtom, S::kInt32}, S::kBool);
    const CppText native = is_half(from) ? exactly(text, from, S::kFloat32) : text;
    const std::string zero = is_complex(from) ? cpp_type(from) + "(0)" : "0";
    return joined(BinaryOp::kNotEqual, native, {zero, CppLevel::kAtom, S::kInt32}, S::kBool);
  }
  if (is_complex(to)) {
    if (is_complex(from)) return call_text(cpp_type(to), {text.text}, to);
    const CppText part = is_half(from) ? exactly(text, from, S::kFloat32) : text;
    return call_text(cpp_type(to), {part.text}, to);
  }
  if (is_complex(from)) {
    const CppText part{text.at_least(CppLevel::kAtom) + ".re", CppLevel::kAtom, component_of(from)};
    return exactly(part, component_of(from), to);
  }
  if (is_half(from) && to != S::kFloat32) return exactly(exactly(text, from, S::kFloat32), S::kFloat32, to);
  if (is_half(to) && !is_floating(text.type)) return exactly(exactly(text, from, S::kFloat32), S::kFloat32, to);
  if (is_integer(to) && is_floating(from)) return call_text("sdfg_to_int<" + cpp_type(to) + ">", {text.text}, to);
  return call_text(cpp_type(to), {text.text}, to);
}

CppText CppPrinter::as(const Expr& e, S to) const {
  const S from = printed_type(e);
  if (std::holds_alternative<Literal>(e.node())) {
    if (const std::optional<Expr> folded = cast_literal(to, e))
      return literal_text(std::get<Literal>(folded->node()), to, true);
  }
  const CppText text = print(e);
  // A value of a narrow type may be computed in int.
  if (from == to && text.type != to) return call_text(cpp_type(to), {text.text}, to);
  return exactly(text, from, to);
}

// An operand of an operation of a type, as C++ computes it: the 16-bit types are first rounded to, then computed in
// float.
CppText CppPrinter::operand(const Expr& e, S type) const {
  if (!is_half(type)) return as(e, type);
  const S from = printed_type(e);
  const bool exact = from == type || from == S::kBool || from == S::kInt8 || from == S::kUInt8;
  if (exact || std::holds_alternative<Literal>(e.node())) {
    const std::optional<Expr> folded = cast_literal(type, e);
    return as(folded ? *folded : e, S::kFloat32);
  }
  return exactly(as(e, type), type, S::kFloat32);
}

// A value of `to` that C++ may hold in a wider type; for places where C's promotion keeps the value.
CppText CppPrinter::value(const Expr& e, S to) const {
  const S from = printed_type(e);
  if (from == to || (is_integer(to) && is_lossless(from, to))) return print(e);
  return as(e, to);
}

std::pair<CppText, CppText> CppPrinter::operands(const Expr& left, const Expr& right, S type) const {
  if (!is_native(type)) return {operand(left, type), operand(right, type)};
  if (is_narrow(type) || type == S::kBool) return {value(left, type), value(right, type)};
  // C's conversions suffice where they arrive at the type.
  const auto native = [&](const Expr& e) { return is_native(printed_type(e)) ? print(e) : as(e, type); };
  CppText a = native(left);
  CppText b = native(right);
  if (usual(a.type, b.type) == type) return {a, b};
  if (a.type != type) a = as(left, type);
  if (usual(a.type, b.type) != type) b = as(right, type);
  return {a, b};
}

CppText CppPrinter::rounded(CppText text, S type) const {
  if (text.type == type) return text;
  return call_text(cpp_type(type), {text.text}, type);
}

CppText CppPrinter::condition(const Expr& e) const {
  if (!is_number(e)) return print(e);  // a pointer
  if (is_vector(e)) throw_unprintable(e, "a vector is no condition");
  if (std::holds_alternative<Literal>(e.node())) return as(e, S::kBool);
  return is_native(printed_type(e)) ? print(e) : as(e, S::kBool);
}

CppText CppPrinter::print(const Expr& e) const {
  return std::visit(
      Overloaded{[&](const Literal& n) { return literal_text(n, printed_type(e), false); },
                 [&](const Name& n) { return name(n, e); }, [&](const Subscript& n) { return subscript(n, e); },
                 [&](const Unary& n) { return unary(n, e); }, [&](const Binary& n) { return binary(n, e); },
                 [&](const Select& n) { return select(n, e); }, [&](const Call& n) { return call(n, e); },
                 [&](const ExternalCall& n) { return external(n, e); }, [&](const Cast& n) { return cast(n, e); }},
      e.node());
}

CppText CppPrinter::name(const Name& n, const Expr& e) const {
  const S type = is_number(e) ? e.type().scalar() : S::kInt64;
  if (n.name == "None") return {"nullptr", CppLevel::kAtom, type};
  return {style_.name ? style_.name(n.name, e.type()) : n.name, CppLevel::kAtom, type};
}

CppText CppPrinter::subscript(const Subscript& n, const Expr& e) const {
  std::vector<std::string> indices;
  for (const Expr& index : n.indices) indices.push_back(print(index).text);
  const S type = is_number(e) ? e.type().scalar() : S::kInt64;
  if (style_.subscript) return {style_.subscript(n, indices), CppLevel::kAtom, type};
  if (indices.empty()) return {n.base, CppLevel::kAtom, type};
  if (indices.size() > 1) throw_unprintable(e, "the layout of '" + n.base + "' is not known");
  return {n.base + "[" + indices[0] + "]", CppLevel::kAtom, type};
}

CppText CppPrinter::external(const ExternalCall& n, const Expr& e) const {
  std::vector<std::string> args;
  for (const Expr& arg : n.args)
    args.push_back(is_number(arg) && !is_vector(arg) ? as(arg, printed_type(arg)).text : print(arg).text);
  const S type = is_number(e) ? e.type().scalar() : S::kInt64;
  if (style_.call) return {style_.call(n.callee, args), CppLevel::kAtom, type};
  std::string text = n.callee + "(";
  for (const std::string& arg : args) text += (&arg == args.data() ? "" : ", ") + arg;
  return {text + ")", CppLevel::kAtom, type};
}

CppText CppPrinter::cast(const Cast& n, const Expr& e) const {
  const Expr& operand = n.operand[0];
  if (is_vector(e)) {
    if (!is_vector(operand)) return call_text(cpp_type(e.type()), {as(operand, printed_type(e)).text}, printed_type(e));
    return call_text("__builtin_convertvector", {print(operand).text, cpp_type(e.type())}, printed_type(e));
  }
  if (!is_number(e) || !is_number(operand))
    return {"(" + cpp_type(e.type()) + ")" + print(operand).at_least(CppLevel::kUnary), CppLevel::kUnary, S::kInt64};
  CppText text = print(operand);
  const S from = printed_type(operand);
  const S to = printed_type(e);
  if (from == to) return text;
  if (is_integer(from) && is_integer(to) && text.type == to) return text;
  // A literal in a type that inference did not fold it to.
  return exactly(std::holds_alternative<Literal>(operand.node()) ? as(operand, from) : text, from, to);
}

CppText CppPrinter::unary(const Unary& n, const Expr& e) const {
  const Expr& operand = n.operand[0];
  if (n.op == UnaryOp::kNot) return {"!" + condition(operand).at_least(CppLevel::kUnary), CppLevel::kUnary, S::kBool};
  const S type = printed_type(e);
  if (is_vector(e))
    return {(n.op == UnaryOp::kNegate ? "-" : "~") + print(operand).at_least(CppLevel::kAtom), CppLevel::kUnary, type};
  if (n.op == UnaryOp::kBitNot) {
    if (type == S::kBool) return {"!" + print(operand).at_least(CppLevel::kUnary), CppLevel::kUnary, S::kBool};
    const CppText text = as_computed(operand, type);
    return finish({"~" + text.at_least(CppLevel::kAtom), CppLevel::kUnary, promoted(text.type)}, type,
                  is_unsigned(type));
  }
  const CppText text = as_computed(operand, type);
  const S computed = is_native(text.type) ? promoted(text.type) : text.type;
  return finish({"-" + text.at_least(CppLevel::kAtom), CppLevel::kUnary, computed}, type, true);
}

// An operand of a unary operator: C's promotion does for narrow types, a wide literal needs its suffix.
CppText CppPrinter::as_computed(const Expr& e, S type) const {
  if (is_narrow(type)) return value(e, type);
  if (type == S::kInt32 && is_lossless(printed_type(e), type)) return print(e);
  return operand(e, type);
}

// The result of an operation that C++ computed in text.type. With `overflows`, narrow results must be cut to their
// type.
CppText CppPrinter::finish(CppText text, S type, bool overflows) const {
  if (text.type == type) return text;
  if (is_half(type)) return rounded(std::move(text), type);
  if (is_narrow(type) && text.type == S::kInt32 && !overflows) return text;
  return rounded(std::move(text), type);
}

CppText CppPrinter::vector_binary(const Binary& n, const Expr& e) const {
  if (n.op != BinaryOp::kAdd && n.op != BinaryOp::kSub && n.op != BinaryOp::kMul && n.op != BinaryOp::kDiv) {
    throw_unprintable(e, "the operator '" + std::string(to_string(n.op)) + "' has no form on vectors");
  }
  const S type = printed_type(e);
  const auto lane = [&](const Expr& operand) {
    if (!is_vector(operand)) return as(operand, type);
    if (printed_type(operand) == type) return print(operand);
    return call_text("__builtin_convertvector", {print(operand).text, cpp_type(e.type())}, type);
  };
  return joined(n.op, lane(n.operands[0]), lane(n.operands[1]), type);
}

CppText CppPrinter::binary(const Binary& n, const Expr& e) const {
  const Expr& left = n.operands[0];
  const Expr& right = n.operands[1];
  if (is_vector(e)) return vector_binary(n, e);
  if (is_logical(n.op)) return logical(n.op, condition(left), condition(right));
  if (!is_number(left) || !is_number(right)) {
    return joined(n.op, print(left), print(right), is_number(e) ? printed_type(e) : S::kInt64);
  }
  const S type = printed_type(e);
  switch (n.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul: {
      auto [a, b] = operands(left, right, type);
      // uint16 * uint16 overflows int.
      if (n.op == BinaryOp::kMul && type == S::kUInt16) a = exactly(a, S::kUInt16, S::kUInt32);
      const S computed = is_complex(type) ? type : usual(a.type, b.type);
      return finish(joined(n.op, a, b, computed), type, true);
    }
    case BinaryOp::kDiv: {
      const auto [a, b] = operands(left, right, type);
      return finish(joined(n.op, a, b, computed_in(type)), type, true);
    }
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: return division(n.op, left, right, type);
    case BinaryOp::kPow: return power(left, right, type);
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor: {
      const auto [a, b] = operands(left, right, type);
      const S computed = usual(a.type, b.type);
      if (type == S::kBool) return {joined(n.op, a, b, S::kInt32).text, infix(n.op).level, S::kInt32};
      return finish(joined(n.op, a, b, computed), type, false);
    }
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight: return shift(n.op, left, right, type);
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterEqual: {
      const auto [a, b] = operands(left, right, operand_type(n.op, left.type(), right.type()).scalar());
      return joined(n.op, a, b, S::kBool);
    }
    case BinaryOp::kAnd:
    case BinaryOp::kOr: break;
  }
  throw_unprintable(e, "the operator has no form");
}

// Operands of a helper for floating types, whose overloads need exact types.
std::pair<CppText, CppText> CppPrinter::exact_operands(const Expr& left, const Expr& right, S type) const {
  return {operand(left, type), operand(right, type)};
}

CppText CppPrinter::division(BinaryOp op, const Expr& left, const Expr& right, S type) const {
  const std::string helper = op == BinaryOp::kFloorDiv ? "sdfg_floor_div" : "sdfg_mod";
  if (is_floating(type)) {
    const auto [a, b] = exact_operands(left, right, type);
    return finish(call_text(helper, {a.text, b.text}, computed_in(type)), type, true);
  }
  const auto [a, b] = operands(left, right, type);
  const S computed = usual(a.type, b.type);
  const std::optional<std::int64_t> divisor = integer_literal(right);
  const bool plain = divisor && *divisor > 0 && (is_unsigned(type) || (style_.nonnegative && style_.nonnegative(left)));
  if (plain) return finish(joined(op, a, b, computed), type, false);
  return finish(call_text(helper, {a.text, b.text}, computed), type, op == BinaryOp::kFloorDiv);
}

CppText CppPrinter::shift(BinaryOp op, const Expr& left, const Expr& right, S type) const {
  const CppText a = as_computed(left, type);
  const std::optional<std::int64_t> count = integer_literal(right);
  const bool to_left = op == BinaryOp::kShiftLeft;
  if (count && *count >= 0 && *count < 8 * size_of(type) && (promoted(a.type) == promoted(type))) {
    const CppText b{std::to_string(*count), CppLevel::kAtom, S::kInt32};
    return finish(joined(op, a, b, promoted(a.type)), type, to_left);
  }
  return call_text((to_left ? "sdfg_shl<" : "sdfg_shr<") + cpp_type(type) + ">", {a.text, value(right, type).text},
                   type);
}

CppText CppPrinter::product(const CppText& factor, std::int64_t n, S type) const {
  if (n == 2) return joined(BinaryOp::kMul, factor, factor, type);
  return joined(BinaryOp::kMul, joined(BinaryOp::kMul, factor, factor, type), factor, type);
}

namespace {

// A repeated name costs nothing; anything longer is computed once, by a helper.
bool is_repeatable(const Expr& e, const CppText& text) {
  constexpr std::size_t kLongestFactor = 24;
  const bool simple = std::holds_alternative<Name>(e.node()) || std::holds_alternative<Subscript>(e.node());
  return simple && text.text.size() <= kLongestFactor;
}

}  // namespace

CppText CppPrinter::integer_power(const Expr& base, const Expr& exponent, S type) const {
  const std::optional<std::int64_t> literal = integer_literal(exponent);
  if (!is_integer(type)) {
    if (literal && *literal >= 1 && *literal <= 3) return power(base, exponent, type);
    const CppText n = literal ? CppText{std::to_string(*literal), CppLevel::kAtom, S::kInt64} : print(exponent);
    return finish(call_text("sdfg_powi", {operand(base, type).text, n.text}, computed_in(type)), type, true);
  }
  CppText x = value(base, type);
  const bool short_product = literal && (*literal == 2 || *literal == 3) && type != S::kUInt16;
  if (short_product && is_repeatable(base, x) && promoted(x.type) == promoted(type)) {
    return finish(product(x, *literal, promoted(x.type)), type, true);
  }
  // The helper computes in the common type of base and exponent; a wider one than ours is cut to it.
  const CppText n = print(exponent);
  if (!is_narrow(type) && promote(usual(x.type, n.type), type) != usual(x.type, n.type)) x = as(base, type);
  return finish(call_text("sdfg_ipow", {x.text, n.text}, usual(x.type, n.type)), type, true);
}

CppText CppPrinter::power(const Expr& base, const Expr& exponent, S type) const {
  if (is_integer(type)) return integer_power(base, exponent, type);
  const S computed = computed_in(type);
  const S exponent_type = printed_type(exponent);
  const std::optional<std::int64_t> literal = integer_literal(exponent);
  const CppText x = operand(base, type);
  const auto give = [&](const std::string& helper, const std::string& y) {
    return finish(call_text(helper, {x.text, y}, computed), type, true);
  };
  if (!is_integer(exponent_type) && exponent_type != S::kBool) {
    return give(is_complex(type) ? "sdfg_cpow" : "sdfg_pow", operand(exponent, type).text);
  }
  if (!literal) return give(is_complex(type) ? "sdfg_cpown" : "sdfg_pown", print(exponent).text);
  if (*literal > 64 || *literal < -64) {
    return give(is_complex(type) ? "sdfg_cpow" : "sdfg_pow", operand(exponent, type).text);
  }
  if (*literal == 1) return finish(x, type, true);
  if ((*literal == 2 || *literal == 3) && is_repeatable(base, x))
    return finish(product(x, *literal, computed), type, true);
  return give("sdfg_powi", std::to_string(*literal));
}

CppText CppPrinter::select(const Select& n, const Expr& e) const {
  const CppText test = condition(n.parts[0]);
  CppText a;
  CppText b;
  S type = S::kInt64;
  if (!is_number(e) || is_vector(e)) {
    a = print(n.parts[1]);
    b = print(n.parts[2]);
  } else if (const S result = printed_type(e); !is_native(result) || result == S::kBool) {
    a = as(n.parts[1], result);
    b = as(n.parts[2], result);
    type = result;
  } else {
    std::tie(a, b) = operands(n.parts[1], n.parts[2], result);
    type = usual(a.type, b.type);
  }
  // Arithmetic as a condition is parenthesised: compilers take it for a mistake.
  const bool arithmetic =
      test.level > CppLevel::kRelation || (test.level > CppLevel::kConjunction && test.level < CppLevel::kEquality);
  const CppLevel tested = arithmetic ? CppLevel::kUnary : CppLevel::kDisjunction;
  return {
      test.at_least(tested) + " ? " + a.at_least(CppLevel::kDisjunction) + " : " + b.at_least(CppLevel::kDisjunction),
      CppLevel::kConditional, type};
}

std::string to_cpp(const Expr& e, const CppStyle& style) {
  return CppPrinter(style).print(e).text;
}

std::string to_cpp_condition(const Expr& e, const CppStyle& style) {
  return CppPrinter(style).condition(e).text;
}

std::string to_cpp_as(const Expr& e, const Type& target, const CppStyle& style) {
  const CppPrinter printer(style);
  if (!target.is_scalar() || !is_number(e) || is_vector(e)) return printer.print(e).text;
  const S from = printed_type(e);
  const S to = target.scalar();
  // Implicit conversions between native types are ours, but for floating to integer.
  if (is_native(from) && is_native(to) && !(is_floating(from) && is_integer(to))) return printer.print(e).text;
  return printer.as(e, to).text;
}

std::string cpp_literal(const Expr& literal) {
  const Literal* node = std::get_if<Literal>(&literal.node());
  if (node == nullptr) throw_unprintable(literal, "it is no literal");
  return literal_text(*node, printed_type(literal), true).text;
}

}  // namespace sdfg::tasklet
