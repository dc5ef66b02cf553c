// Names and result types of operators and math functions.
#include "tasklet/functions.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace sdfg::tasklet {

namespace {

using F = Function;
using R = TypeRule;

// In the order of the enumeration.
constexpr std::array kFunctions = {
    FunctionInfo{F::kMin, "min", "Min minimum fmin", 2, 2, R::kReal},
    FunctionInfo{F::kMax, "max", "Max maximum fmax", 2, 2, R::kReal},
    FunctionInfo{F::kAbs, "abs", "Abs fabs absolute", 1, 1, R::kSame},
    FunctionInfo{F::kSign, "sign", "sgn", 1, 1, R::kReal},
    FunctionInfo{F::kRound, "round", "ROUND rint around", 1, 1, R::kReal},
    FunctionInfo{F::kCeil, "ceil", "ceiling", 1, 1, R::kReal},
    FunctionInfo{F::kFloor, "floor", "", 1, 1, R::kReal},
    FunctionInfo{F::kTrunc, "trunc", "fix", 1, 1, R::kReal},
    FunctionInfo{F::kExp, "exp", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kExp2, "exp2", "", 1, 1, R::kFloating},
    FunctionInfo{F::kExpm1, "expm1", "", 1, 1, R::kFloating},
    FunctionInfo{F::kLog, "log", "ln", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kLog2, "log2", "", 1, 1, R::kFloating},
    FunctionInfo{F::kLog10, "log10", "", 1, 1, R::kFloating},
    FunctionInfo{F::kLog1p, "log1p", "", 1, 1, R::kFloating},
    FunctionInfo{F::kSqrt, "sqrt", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kRsqrt, "rsqrt", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kCbrt, "cbrt", "", 1, 1, R::kFloating},
    FunctionInfo{F::kPow, "math.pow", "np_float_pow float_power", 2, 2, R::kFloatingComplex},
    FunctionInfo{F::kIpow, "ipow", "", 2, 2, R::kNumber},
    FunctionInfo{F::kSin, "sin", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kCos, "cos", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kTan, "tan", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kAsin, "asin", "arcsin", 1, 1, R::kFloating},
    FunctionInfo{F::kAcos, "acos", "arccos", 1, 1, R::kFloating},
    FunctionInfo{F::kAtan, "atan", "arctan", 1, 1, R::kFloating},
    FunctionInfo{F::kAtan2, "atan2", "arctan2", 2, 2, R::kFloating},
    FunctionInfo{F::kSinh, "sinh", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kCosh, "cosh", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kTanh, "tanh", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kAsinh, "asinh", "arcsinh", 1, 1, R::kFloating},
    FunctionInfo{F::kAcosh, "acosh", "arccosh", 1, 1, R::kFloating},
    FunctionInfo{F::kAtanh, "atanh", "arctanh", 1, 1, R::kFloating},
    FunctionInfo{F::kErf, "erf", "", 1, 1, R::kFloating},
    FunctionInfo{F::kErfc, "erfc", "", 1, 1, R::kFloating},
    FunctionInfo{F::kLgamma, "lgamma", "loggamma", 1, 1, R::kFloating},
    FunctionInfo{F::kTgamma, "tgamma", "gamma", 1, 1, R::kFloating},
    FunctionInfo{F::kHypot, "hypot", "", 2, 2, R::kFloating},
    FunctionInfo{F::kFmod, "fmod", "", 2, 2, R::kFloating},
    FunctionInfo{F::kCopysign, "copysign", "", 2, 2, R::kFloating},
    FunctionInfo{F::kFma, "fma", "", 3, 3, R::kReal},
    FunctionInfo{F::kIsNan, "isnan", "", 1, 1, R::kPredicate},
    FunctionInfo{F::kIsInf, "isinf", "", 1, 1, R::kPredicate},
    FunctionInfo{F::kIsFinite, "isfinite", "", 1, 1, R::kPredicate},
    FunctionInfo{F::kSignbit, "signbit", "", 1, 1, R::kPredicate},
    FunctionInfo{F::kConj, "conj", "conjugate", 1, 1, R::kNumber},
    FunctionInfo{F::kReal, "real", "", 1, 1, R::kComponent},
    FunctionInfo{F::kImag, "imag", "", 1, 1, R::kComponent},
    FunctionInfo{F::kMakeComplex, "make_complex", "", 2, 2, R::kMakeComplex},
    FunctionInfo{F::kGcd, "gcd", "", 2, 2, R::kInteger},
    FunctionInfo{F::kLcm, "lcm", "", 2, 2, R::kInteger},
    FunctionInfo{F::kHeaviside, "heaviside", "", 1, 2, R::kFloating},
    FunctionInfo{F::kReciprocal, "reciprocal", "", 1, 1, R::kFloatingComplex},
    FunctionInfo{F::kDeg2Rad, "deg2rad", "radians", 1, 1, R::kFloating},
    FunctionInfo{F::kRad2Deg, "rad2deg", "degrees", 1, 1, R::kFloating},
    FunctionInfo{F::kIntFloor, "int_floor", "int_floor_ni __int_floor py_floor floor_divide", 2, 2, R::kReal},
    FunctionInfo{F::kIntCeil, "int_ceil", "__int_ceil", 2, 2, R::kReal},
    FunctionInfo{F::kCppMod, "cpp_mod", "", 2, 2, R::kReal},
};
static_assert(kFunctions.size() == static_cast<std::size_t>(F::kCppMod) + 1);
static_assert([] {
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    if (static_cast<std::size_t>(kFunctions[i].function) != i) return false;
  }
  return true;
}());

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

[[noreturn]] void throw_undefined(std::string_view what, std::string operands) {
  throw Error(ErrorClass::kGraph, std::string(what) + " is not defined for " + std::move(operands) + ".");
}

bool is_number(const Type& t) {
  return t.kind() == Type::Kind::kScalar || t.kind() == Type::Kind::kVector;
}

// A scalar as it is, a vector when either operand is one.
Type with_lanes(ScalarType scalar, const Type& a, const Type& b) {
  const int lanes = std::max(a.lanes(), b.lanes());
  const bool vector = a.kind() == Type::Kind::kVector || b.kind() == Type::Kind::kVector;
  return vector ? Type::vector(scalar, lanes) : Type(scalar);
}

bool lanes_match(const Type& a, const Type& b) {
  return a.kind() != Type::Kind::kVector || b.kind() != Type::Kind::kVector || a.lanes() == b.lanes();
}

ScalarType without_bool(ScalarType t) {
  return t == ScalarType::kBool ? ScalarType::kInt32 : t;
}

ScalarType floating_of(ScalarType t) {
  return is_floating(t) || is_complex(t) ? t : ScalarType::kFloat64;
}

}  // namespace

const FunctionInfo& info_of(Function f) noexcept {
  return kFunctions[static_cast<std::size_t>(f)];
}
std::span<const FunctionInfo> all_functions() noexcept {
  return kFunctions;
}

std::string_view to_string(Function f) noexcept {
  return info_of(f).name;
}

std::string_view without_module(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 13> kModules = {
      "dace.math.", "dace::math::", "dace.dtypes.", "dace::", "dace.",          "math.", "cmath.",
      "numpy.",     "np.",          "std::",        "cupy.",  "scipy.special.", "sympy."};
  for (const std::string_view module : kModules) {
    if (name.starts_with(module)) return name.substr(module.size());
  }
  return name;
}

std::optional<Function> function_from_string(std::string_view name) noexcept {
  const std::string_view bare = without_module(name);
  // `pow` alone is the operator `**` (see operator_from_function); Python's math.pow always computes in floating point.
  if (bare == "pow" && name.starts_with("math.")) return F::kPow;
  for (const FunctionInfo& info : kFunctions) {
    if (info.name == bare || has_word(info.aliases, bare)) return info.function;
  }
  return std::nullopt;
}

std::optional<BinaryOp> operator_from_function(std::string_view name) noexcept {
  using B = BinaryOp;
  static constexpr std::array<std::pair<std::string_view, B>, 50> kOperators = {{
      {"Eq", B::kEqual},
      {"Ne", B::kNotEqual},
      {"Lt", B::kLess},
      {"Le", B::kLessEqual},
      {"Gt", B::kGreater},
      {"Ge", B::kGreaterEqual},
      {"NotEq", B::kNotEqual},
      {"LtE", B::kLessEqual},
      {"GtE", B::kGreaterEqual},
      {"StrictLessThan", B::kLess},
      {"StrictGreaterThan", B::kGreater},
      {"LessThan", B::kLessEqual},
      {"GreaterThan", B::kGreaterEqual},
      {"equal", B::kEqual},
      {"not_equal", B::kNotEqual},
      {"less", B::kLess},
      {"less_equal", B::kLessEqual},
      {"greater", B::kGreater},
      {"greater_equal", B::kGreaterEqual},
      {"And", B::kAnd},
      {"Or", B::kOr},
      {"AND", B::kAnd},
      {"OR", B::kOr},
      {"logical_and", B::kAnd},
      {"logical_or", B::kOr},
      {"Mod", B::kMod},
      {"Modulo", B::kMod},
      {"py_mod", B::kMod},
      {"mod", B::kMod},
      {"remainder", B::kMod},
      {"bitwise_and", B::kBitAnd},
      {"bitwise_or", B::kBitOr},
      {"bitwise_xor", B::kBitXor},
      {"BitwiseAnd", B::kBitAnd},
      {"BitwiseOr", B::kBitOr},
      {"BitwiseXor", B::kBitXor},
      {"left_shift", B::kShiftLeft},
      {"right_shift", B::kShiftRight},
      {"LeftShift", B::kShiftLeft},
      {"RightShift", B::kShiftRight},
      {"pow", B::kPow},
      {"power", B::kPow},
      {"Pow", B::kPow},
      {"add", B::kAdd},
      {"subtract", B::kSub},
      {"multiply", B::kMul},
      {"divide", B::kDiv},
      {"true_divide", B::kDiv},
      {"Add", B::kAdd},
      {"Mul", B::kMul},
  }};
  if (name == "math.pow") return std::nullopt;
  std::string_view bare = without_module(name);
  if (bare.starts_with("__")) bare.remove_prefix(2);
  for (const auto& [spelling, op] : kOperators) {
    if (spelling == bare) return op;
  }
  return std::nullopt;
}

std::optional<Type> cast_type_from_string(std::string_view name) {
  const std::string_view bare = without_module(name);
  if (const std::optional<ScalarType> scalar = scalar_type_from_string(bare)) return Type(*scalar);
  // Python's own types have its widths, in NumPy's reading.
  static constexpr std::array<std::pair<std::string_view, ScalarType>, 22> kNames = {{
      {"int", ScalarType::kInt64},       {"float", ScalarType::kFloat64},   {"complex", ScalarType::kComplex128},
      {"double", ScalarType::kFloat64},  {"single", ScalarType::kFloat32},  {"half", ScalarType::kFloat16},
      {"int8_t", ScalarType::kInt8},     {"int16_t", ScalarType::kInt16},   {"int32_t", ScalarType::kInt32},
      {"int64_t", ScalarType::kInt64},   {"uint8_t", ScalarType::kUInt8},   {"uint16_t", ScalarType::kUInt16},
      {"uint32_t", ScalarType::kUInt32}, {"uint64_t", ScalarType::kUInt64}, {"size_t", ScalarType::kUInt64},
      {"uintp", ScalarType::kUInt64},    {"intp", ScalarType::kInt64},      {"uint", ScalarType::kUInt64},
      {"char", ScalarType::kInt8},       {"long", ScalarType::kInt64},      {"short", ScalarType::kInt16},
      {"float_", ScalarType::kFloat64},
  }};
  for (const auto& [spelling, type] : kNames) {
    if (spelling == bare) return Type(type);
  }
  return std::nullopt;
}

std::string_view to_string(BinaryOp op) noexcept {
  switch (op) {
    case BinaryOp::kAdd: return "+";
    case BinaryOp::kSub: return "-";
    case BinaryOp::kMul: return "*";
    case BinaryOp::kDiv: return "/";
    case BinaryOp::kFloorDiv: return "//";
    case BinaryOp::kMod: return "%";
    case BinaryOp::kPow: return "**";
    case BinaryOp::kBitAnd: return "&";
    case BinaryOp::kBitOr: return "|";
    case BinaryOp::kBitXor: return "^";
    case BinaryOp::kShiftLeft: return "<<";
    case BinaryOp::kShiftRight: return ">>";
    case BinaryOp::kEqual: return "==";
    case BinaryOp::kNotEqual: return "!=";
    case BinaryOp::kLess: return "<";
    case BinaryOp::kLessEqual: return "<=";
    case BinaryOp::kGreater: return ">";
    case BinaryOp::kGreaterEqual: return ">=";
    case BinaryOp::kAnd: return "and";
    case BinaryOp::kOr: return "or";
  }
  return "?";
}

std::string_view to_string(UnaryOp op) noexcept {
  switch (op) {
    case UnaryOp::kNegate: return "-";
    case UnaryOp::kNot: return "not";
    case UnaryOp::kBitNot: return "~";
  }
  return "?";
}

bool is_comparison(BinaryOp op) noexcept {
  return op >= BinaryOp::kEqual && op <= BinaryOp::kGreaterEqual;
}
bool is_logical(BinaryOp op) noexcept {
  return op == BinaryOp::kAnd || op == BinaryOp::kOr;
}

Type operand_type(BinaryOp op, const Type& left, const Type& right) {
  if (is_number(left) && is_number(right) && lanes_match(left, right)) {
    const bool both_bool = left.scalar() == ScalarType::kBool && right.scalar() == ScalarType::kBool;
    if (is_logical(op) || (both_bool && (is_comparison(op) || op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr ||
                                         op == BinaryOp::kBitXor))) {
      return with_lanes(ScalarType::kBool, left, right);
    }
    ScalarType scalar = promote(left.scalar(), right.scalar());
    if (op == BinaryOp::kDiv) scalar = floating_of(scalar);
    return with_lanes(scalar, left, right);
  }
  return left;
}

Type result_type(BinaryOp op, const Type& left, const Type& right) {
  const auto undefined = [&]() {
    throw_undefined("Operator '" + std::string(to_string(op)) + "'",
                    "operands of types " + left.str() + " and " + right.str());
  };
  if (!is_number(left) || !is_number(right)) {
    // Null tests and comparisons of pointers and opaque handles; pointers are true when not null; pointer arithmetic as
    // in C.
    const bool left_pointer = left.kind() == Type::Kind::kPointer;
    const bool right_pointer = right.kind() == Type::Kind::kPointer;
    if (is_logical(op) && (left_pointer || left.is_scalar()) && (right_pointer || right.is_scalar()))
      return ScalarType::kBool;
    if ((op == BinaryOp::kEqual || op == BinaryOp::kNotEqual) && (left == right || (left_pointer && right_pointer))) {
      return ScalarType::kBool;
    }
    if ((op == BinaryOp::kAdd || op == BinaryOp::kSub) && left_pointer && right.is_scalar() &&
        is_integer(right.scalar())) {
      return left;
    }
    undefined();
  }
  if (!lanes_match(left, right)) undefined();
  const Type operands = operand_type(op, left, right);
  const ScalarType scalar = operands.scalar();
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kPow: return operands;
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod:
      if (is_complex(scalar)) undefined();
      return operands;
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor:
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      if (is_complex(scalar) || is_floating(scalar)) undefined();
      return operands;
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual: return with_lanes(ScalarType::kBool, left, right);
    case BinaryOp::kLess:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterEqual:
      if (is_complex(scalar)) undefined();
      return with_lanes(ScalarType::kBool, left, right);
    case BinaryOp::kAnd:
    case BinaryOp::kOr: return with_lanes(ScalarType::kBool, left, right);
  }
  return {};
}

Type result_type(UnaryOp op, const Type& operand) {
  const auto undefined = [&]() {
    throw_undefined("Operator '" + std::string(to_string(op)) + "'", "an operand of type " + operand.str());
  };
  if (op == UnaryOp::kNot && operand.kind() == Type::Kind::kPointer) return ScalarType::kBool;
  if (!is_number(operand)) undefined();
  const ScalarType scalar = operand.scalar();
  switch (op) {
    case UnaryOp::kNegate: return with_lanes(without_bool(scalar), operand, operand);
    case UnaryOp::kNot: return with_lanes(ScalarType::kBool, operand, operand);
    case UnaryOp::kBitNot:
      if (is_floating(scalar) || is_complex(scalar)) undefined();
      return operand;  // of a bool: NumPy's logical negation
  }
  return {};
}

Type result_type(Function f, std::span<const Type> args) {
  const FunctionInfo& info = info_of(f);
  const auto undefined = [&]() {
    std::string types;
    for (const Type& arg : args) types += (types.empty() ? "" : ", ") + arg.str();
    throw_undefined("Function '" + std::string(info.name) + "'", "arguments of types (" + types + ")");
  };
  if (static_cast<int>(args.size()) < info.min_args || static_cast<int>(args.size()) > info.max_args) {
    throw Error(ErrorClass::kGraph, "Function '" + std::string(info.name) + "' takes " + std::to_string(info.min_args) +
                                        (info.max_args != info.min_args ? " to " + std::to_string(info.max_args) : "") +
                                        " arguments, not " + std::to_string(args.size()) + ".");
  }
  Type all = args[0];
  if (!is_number(all)) undefined();
  for (const Type& arg : args.subspan(1)) {
    if (!is_number(arg) || !lanes_match(all, arg)) undefined();
    all = with_lanes(promote(all.scalar(), arg.scalar()), all, arg);
  }
  const ScalarType scalar = all.scalar();
  switch (info.rule) {
    case TypeRule::kReal:
      if (is_complex(scalar)) undefined();
      return with_lanes(without_bool(scalar), all, all);
    case TypeRule::kSame: return with_lanes(without_bool(component_of(scalar)), all, all);
    case TypeRule::kFloating:
      if (is_complex(scalar)) undefined();
      return with_lanes(floating_of(scalar), all, all);
    case TypeRule::kFloatingComplex: return with_lanes(floating_of(scalar), all, all);
    case TypeRule::kInteger:
      if (is_floating(scalar) || is_complex(scalar)) undefined();
      return with_lanes(without_bool(scalar), all, all);
    case TypeRule::kPredicate: return with_lanes(ScalarType::kBool, all, all);
    case TypeRule::kComponent: return with_lanes(component_of(scalar), all, all);
    case TypeRule::kNumber:
      // An integer power keeps the type of its base.
      return f == Function::kIpow ? with_lanes(without_bool(args[0].scalar()), args[0], args[0]) : all;
    case TypeRule::kMakeComplex:
      if (is_complex(scalar)) undefined();
      return with_lanes(scalar == ScalarType::kFloat32 ? ScalarType::kComplex64 : ScalarType::kComplex128, all, all);
  }
  return {};
}

}  // namespace sdfg::tasklet
