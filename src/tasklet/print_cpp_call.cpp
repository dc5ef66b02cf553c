// Calls of math functions as C++ text.
#include <cmath>
#include <numbers>

#include "tasklet/functions.hpp"
#include "tasklet/print_cpp_expr.hpp"

namespace sdfg::tasklet {

namespace {

using S = ScalarType;

std::string helper_name(Function f) {
  switch (f) {
    case Function::kPow: return "sdfg_pow";
    case Function::kIntFloor: return "sdfg_floor_div";
    case Function::kIntCeil: return "sdfg_ceil_div";
    case Function::kCppMod: return "sdfg_rem";
    default: return "sdfg_" + std::string(to_string(f));
  }
}

std::string call_of(const std::string& name, std::span<const CppText> args) {
  std::string text = name + "(";
  for (const CppText& arg : args) text += (&arg == args.data() ? "" : ", ") + arg.text;
  return text + ")";
}

[[noreturn]] void throw_unprintable(const Expr& e) {
  throw Error(ErrorClass::kUsage, "The call '" + to_python(e) + "' of type " + e.type().str() + " has no form in C++.");
}

// The promoted type of the arguments, integers as the function computes them.
S argument_type(const Call& n, S result) {
  S type = n.args[0].type().scalar();
  for (const Expr& arg : n.args) type = promote(type, arg.type().scalar());
  return is_complex(type) ? type : result;
}

}  // namespace

CppText CppPrinter::predicate_call(const Call& n) const {
  const Expr& x = n.args[0];
  const S type = x.type().scalar();
  if (is_complex(type)) {
    if (n.function == Function::kSignbit)
      return {"sdfg_signbit(" + print(x).at_least(CppLevel::kAtom) + ".re)", CppLevel::kAtom, S::kBool};
    return {"sdfg_c" + std::string(to_string(n.function)) + "(" + print(x).text + ")", CppLevel::kAtom, S::kBool};
  }
  if (is_floating(type)) {
    const std::string text = as(x, is_half(type) ? S::kFloat32 : type).text;
    return {"sdfg_" + std::string(to_string(n.function)) + "(" + text + ")", CppLevel::kAtom, S::kBool};
  }
  if (n.function == Function::kSignbit)
    return {print(x).at_least(CppLevel::kAtom) + " < 0", CppLevel::kRelation, S::kBool};
  return {n.function == Function::kIsFinite ? "true" : "false", CppLevel::kAtom, S::kBool};
}

CppText CppPrinter::complex_call(const Call& n, const Expr& e, S type) const {
  std::vector<CppText> args;
  for (const Expr& arg : n.args) args.push_back(as(arg, type));
  const std::string& z = args[0].text;
  const std::string one = cpp_type(type) + "(1) / ";
  switch (n.function) {
    case Function::kAbs: return {call_of("sdfg_cabs", args), CppLevel::kAtom, component_of(type)};
    case Function::kConj: return {call_of("sdfg_conj", args), CppLevel::kAtom, type};
    case Function::kReal: return {args[0].at_least(CppLevel::kAtom) + ".re", CppLevel::kAtom, component_of(type)};
    case Function::kImag: return {args[0].at_least(CppLevel::kAtom) + ".im", CppLevel::kAtom, component_of(type)};
    case Function::kRsqrt: return {one + "sdfg_csqrt(" + z + ")", CppLevel::kProduct, type};
    case Function::kReciprocal: return {one + args[0].at_least(CppLevel::kUnary), CppLevel::kProduct, type};
    case Function::kPow: return {call_of("sdfg_cpow", args), CppLevel::kAtom, type};
    case Function::kExp:
    case Function::kLog:
    case Function::kSqrt:
    case Function::kSin:
    case Function::kCos:
    case Function::kTan:
    case Function::kSinh:
    case Function::kCosh:
    case Function::kTanh: return {call_of("sdfg_c" + std::string(to_string(n.function)), args), CppLevel::kAtom, type};
    default: throw_unprintable(e);
  }
}

CppText CppPrinter::real_call(const Call& n, const Expr& e, S type) const {
  const bool floating = is_floating(type);
  const S computed = is_half(type) ? S::kFloat32 : type;
  const auto constant = [&](double double_value, float float_value) {
    const double v = computed == S::kFloat64 ? double_value : static_cast<double>(float_value);
    return as(Expr::literal(v, computed), computed).text;
  };
  std::vector<CppText> args;
  if (floating) {
    for (const Expr& arg : n.args) args.push_back(operand(arg, type));
  }
  const auto give = [&](std::string text, CppLevel level = CppLevel::kAtom) {
    return finish({std::move(text), level, computed}, type, true);
  };
  switch (n.function) {
    case Function::kRound:
    case Function::kCeil:
    case Function::kFloor:
    case Function::kTrunc:
    case Function::kConj:
    case Function::kReal:
      if (floating && n.function != Function::kConj && n.function != Function::kReal)
        return give(call_of(helper_name(n.function), args));
      return as(n.args[0], type);
    case Function::kImag: return as(Expr::literal(std::int64_t{0}, type), type);
    case Function::kReciprocal:
      return give(constant(1, 1) + " / " + args[0].at_least(CppLevel::kUnary), CppLevel::kProduct);
    case Function::kDeg2Rad:
      return give(args[0].at_least(CppLevel::kProduct) + " * " +
                      constant(std::numbers::pi / 180, std::numbers::pi_v<float> / 180),
                  CppLevel::kProduct);
    case Function::kRad2Deg:
      return give(args[0].at_least(CppLevel::kProduct) + " * " +
                      constant(180 / std::numbers::pi, 180 / std::numbers::pi_v<float>),
                  CppLevel::kProduct);
    case Function::kHeaviside: {
      if (args.size() == 1) args.push_back({constant(0.5, 0.5F), CppLevel::kAtom, computed});
      return give(call_of("sdfg_heaviside", args));
    }
    case Function::kCppMod:
      if (floating) return give(call_of("sdfg_fmod", args));
      break;
    case Function::kFma:
      if (!floating) {
        const Expr product = Expr::binary(BinaryOp::kMul, n.args[0], n.args[1]).with_type(type);
        return print(Expr::binary(BinaryOp::kAdd, product, n.args[2]).with_type(type));
      }
      break;
    default: break;
  }
  if (floating) return give(call_of(helper_name(n.function), args));
  if (n.args.size() == 1) {
    const CppText x = as_computed(n.args[0], type);
    if (n.function == Function::kAbs && is_unsigned(type)) return finish(x, type, false);
    const S result = promote(x.type, S::kInt32);
    const std::vector<CppText> one{x};
    return finish({call_of(helper_name(n.function), one), CppLevel::kAtom, result}, type, n.function == Function::kAbs);
  }
  if (n.args.size() != 2) throw_unprintable(e);
  const auto [a, b] = operands(n.args[0], n.args[1], type);
  const S result = promote(promote(a.type, S::kInt32), promote(b.type, S::kInt32));
  const std::vector<CppText> both{a, b};
  const bool in_range = n.function == Function::kMin || n.function == Function::kMax || n.function == Function::kCppMod;
  return finish({call_of(helper_name(n.function), both), CppLevel::kAtom, result}, type, !in_range);
}

CppText CppPrinter::vector_call(const Call& n, const Expr& e) const {
  const S type = e.type().scalar();
  std::string name;
  switch (n.function) {
    case Function::kMin: name = "min"; break;
    case Function::kMax: name = "max"; break;
    case Function::kAbs: name = "abs"; break;
    case Function::kCeil: name = "ceil"; break;
    case Function::kFloor: name = "floor"; break;
    case Function::kTrunc: name = "trunc"; break;
    case Function::kRound: name = "rint"; break;
    case Function::kSqrt: name = "sqrt"; break;
    case Function::kExp: name = "exp"; break;
    case Function::kExp2: name = "exp2"; break;
    case Function::kLog: name = "log"; break;
    case Function::kLog2: name = "log2"; break;
    case Function::kLog10: name = "log10"; break;
    case Function::kSin: name = "sin"; break;
    case Function::kCos: name = "cos"; break;
    case Function::kTan: name = "tan"; break;
    case Function::kPow: name = "pow"; break;
    case Function::kFma: name = "fma"; break;
    case Function::kCopysign: name = "copysign"; break;
    default: throw_unprintable(e);
  }
  std::string text = "__builtin_elementwise_" + name + "(";
  for (const Expr& arg : n.args) {
    if (text.back() != '(') text += ", ";
    // Builtins take equal vectors: scalars spread, other element types convert.
    const std::string vector = cpp_type(e.type());
    if (arg.type().kind() != Type::Kind::kVector)
      text += vector + "(" + as(arg, type).text + ")";
    else if (arg.type().scalar() != type)
      text += "__builtin_convertvector(" + print(arg).text + ", " + vector + ")";
    else
      text += print(arg).text;
  }
  return {text + ")", CppLevel::kAtom, type};
}

CppText CppPrinter::call(const Call& n, const Expr& e) const {
  if (e.type().kind() == Type::Kind::kVector) return vector_call(n, e);
  if (!e.type().is_scalar() || n.args.empty()) throw_unprintable(e);
  const S result = e.type().scalar();
  if (info_of(n.function).rule == TypeRule::kPredicate) return predicate_call(n);
  if (n.function == Function::kMakeComplex) {
    const S part = component_of(result);
    return {cpp_type(result) + "(" + as(n.args[0], part).text + ", " + as(n.args[1], part).text + ")", CppLevel::kAtom,
            result};
  }
  if (n.function == Function::kIpow) return integer_power(n.args[0], n.args[1], result);
  if (n.function == Function::kIntFloor) return division(BinaryOp::kFloorDiv, n.args[0], n.args[1], result);
  const S type = argument_type(n, result);
  return is_complex(type) ? complex_call(n, e, type) : real_call(n, e, type);
}

}  // namespace sdfg::tasklet
