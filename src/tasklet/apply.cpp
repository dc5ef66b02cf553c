// Operators and functions on values: promotion, then arithmetic in the machine type.
#include <cmath>

#include "tasklet/arithmetic.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/value.hpp"

extern "C" double lgamma_r(double, int*) noexcept;
extern "C" float lgammaf_r(float, int*) noexcept;

namespace sdfg::tasklet {

namespace {

namespace ar = arithmetic;

// The value as a T of the type it was promoted to.
template <typename T>
T as(const Value& v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(v.as_int());
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v.as_double());
  else
    return T(static_cast<typename T::value_type>(v.as_complex().real()),
             static_cast<typename T::value_type>(v.as_complex().imag()));
}

// The result in `type`, rounding float16 and bfloat16 once.
template <typename T>
Value value_in(T v, ScalarType type) {
  if constexpr (std::is_same_v<T, bool>)
    return Value::boolean(v).cast(type);
  else if constexpr (std::is_integral_v<T>)
    return Value::integer(static_cast<std::int64_t>(v), type);
  else if constexpr (std::is_floating_point_v<T>)
    return Value::floating(static_cast<double>(v), type);
  else
    return Value::complex(std::complex<double>(v), type);
}

// Calls `f` with a zero of the machine type that computes `type`: float for the 16-bit types.
auto with_type(ScalarType type, const auto& f) {
  switch (type) {
    case ScalarType::kBool: return f(std::int32_t{});
    case ScalarType::kInt8: return f(std::int8_t{});
    case ScalarType::kInt16: return f(std::int16_t{});
    case ScalarType::kInt32: return f(std::int32_t{});
    case ScalarType::kInt64: return f(std::int64_t{});
    case ScalarType::kUInt8: return f(std::uint8_t{});
    case ScalarType::kUInt16: return f(std::uint16_t{});
    case ScalarType::kUInt32: return f(std::uint32_t{});
    case ScalarType::kUInt64: return f(std::uint64_t{});
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
    case ScalarType::kFloat32: return f(float{});
    case ScalarType::kFloat64: return f(double{});
    case ScalarType::kComplex64: return f(std::complex<float>{});
    case ScalarType::kComplex128: return f(std::complex<double>{});
  }
  return f(double{});
}

template <typename T>
constexpr bool kIsComplex = !std::is_arithmetic_v<T>;

template <typename T>
Value compare(BinaryOp op, T a, T b) {
  if (op == BinaryOp::kEqual) return Value::boolean(a == b);
  if (op == BinaryOp::kNotEqual) return Value::boolean(!(a == b));
  if constexpr (!kIsComplex<T>) {
    if (op == BinaryOp::kLess) return Value::boolean(a < b);
    if (op == BinaryOp::kLessEqual) return Value::boolean(a <= b);
    if (op == BinaryOp::kGreater) return Value::boolean(a > b);
    if (op == BinaryOp::kGreaterEqual) return Value::boolean(a >= b);
  }
  throw Error(ErrorClass::kInternal, "A comparison of values reached an operator without a definition.");
}

template <typename T>
Value power(const Value& a, const Value& b, ScalarType type) {
  const bool whole_exponent = is_integer(b.type()) || b.type() == ScalarType::kBool;
  if constexpr (std::is_integral_v<T>) {
    // An unsigned exponent beyond int64 is still not negative.
    if (b.type() == ScalarType::kUInt64)
      return value_in(ar::power(as<T>(a), static_cast<std::uint64_t>(b.as_int())), type);
    return value_in(ar::ipow(as<T>(a), b.as_int()), type);
  } else {
    if (whole_exponent && std::fabs(b.as_double()) <= 64) return value_in(ar::ipow(as<T>(a), b.as_int()), type);
    const T exponent = as<T>(b.cast(type));
    if constexpr (kIsComplex<T>)
      return value_in(ar::pow(as<T>(a), exponent), type);
    else
      return value_in(std::pow(as<T>(a), exponent), type);
  }
}

template <typename T>
Value compute(BinaryOp op, T a, T b, ScalarType type) {
  switch (op) {
    case BinaryOp::kAdd: return value_in(ar::add(a, b), type);
    case BinaryOp::kSub: return value_in(ar::sub(a, b), type);
    case BinaryOp::kMul: return value_in(ar::mul(a, b), type);
    case BinaryOp::kDiv:
      if constexpr (!std::is_integral_v<T>) return value_in(ar::div(a, b), type);
      break;
    case BinaryOp::kFloorDiv:
      if constexpr (!kIsComplex<T>) return value_in(ar::floor_div(a, b), type);
      break;
    case BinaryOp::kMod:
      if constexpr (!kIsComplex<T>) return value_in(ar::mod(a, b), type);
      break;
    case BinaryOp::kBitAnd:
      if constexpr (std::is_integral_v<T>) return value_in(static_cast<T>(a & b), type);
      break;
    case BinaryOp::kBitOr:
      if constexpr (std::is_integral_v<T>) return value_in(static_cast<T>(a | b), type);
      break;
    case BinaryOp::kBitXor:
      if constexpr (std::is_integral_v<T>) return value_in(static_cast<T>(a ^ b), type);
      break;
    case BinaryOp::kShiftLeft:
      if constexpr (std::is_integral_v<T>) return value_in(ar::shift_left(a, b), type);
      break;
    case BinaryOp::kShiftRight:
      if constexpr (std::is_integral_v<T>) return value_in(ar::shift_right(a, b), type);
      break;
    case BinaryOp::kPow:
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterEqual:
    case BinaryOp::kAnd:
    case BinaryOp::kOr: break;
  }
  throw Error(ErrorClass::kInternal, "The operator '" + std::string(to_string(op)) + "' has no definition for " +
                                         std::string(to_string(type)) + ".");
}

template <typename T>
T lgamma_of(T x) {
  int sign = 0;  // lgamma itself writes a global variable
  if constexpr (std::is_same_v<T, float>)
    return lgammaf_r(x, &sign);
  else
    return lgamma_r(x, &sign);
}

// Functions of real and integer operands whose result has the operands' type.
template <typename T>
Value real_function(Function f, std::span<const Value> args, ScalarType type) {
  const T x = as<T>(args[0]);
  const T y = args.size() > 1 ? as<T>(args[1]) : T{};
  constexpr bool floating = std::is_floating_point_v<T>;
  const auto give = [&](T v) { return value_in(v, type); };
  switch (f) {
    case Function::kMin:
      if constexpr (floating)
        return give(std::fmin(x, y));
      else
        return give(y < x ? y : x);
    case Function::kMax:
      if constexpr (floating)
        return give(std::fmax(x, y));
      else
        return give(x < y ? y : x);
    case Function::kAbs:
      if constexpr (floating)
        return give(std::fabs(x));
      else
        return give(ar::absolute(x));
    case Function::kSign:
      if constexpr (floating)
        return give(std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0)));
      else
        return give(static_cast<T>((x > 0) - (x < 0)));
    case Function::kRound:
      if constexpr (floating)
        return give(std::nearbyint(x));
      else
        return give(x);
    case Function::kCeil:
      if constexpr (floating)
        return give(std::ceil(x));
      else
        return give(x);
    case Function::kFloor:
      if constexpr (floating)
        return give(std::floor(x));
      else
        return give(x);
    case Function::kTrunc:
      if constexpr (floating)
        return give(std::trunc(x));
      else
        return give(x);
    case Function::kFma: {
      const T z = as<T>(args[2]);
      if constexpr (floating)
        return give(std::fma(x, y, z));
      else
        return give(ar::add(ar::mul(x, y), z));
    }
    case Function::kIntFloor: return give(ar::floor_div(x, y));
    case Function::kIntCeil: return give(ar::ceil_div(x, y));
    case Function::kCppMod: return give(ar::remainder(x, y));
    case Function::kGcd:
      if constexpr (!floating) return give(ar::gcd(x, y));
      break;
    case Function::kLcm:
      if constexpr (!floating) return give(ar::lcm(x, y));
      break;
    default: break;
  }
  if constexpr (floating) {
    switch (f) {
      case Function::kExp: return give(std::exp(x));
      case Function::kExp2: return give(std::exp2(x));
      case Function::kExpm1: return give(std::expm1(x));
      case Function::kLog: return give(std::log(x));
      case Function::kLog2: return give(std::log2(x));
      case Function::kLog10: return give(std::log10(x));
      case Function::kLog1p: return give(std::log1p(x));
      case Function::kSqrt: return give(std::sqrt(x));
      case Function::kRsqrt: return give(T{1} / std::sqrt(x));
      case Function::kCbrt: return give(std::cbrt(x));
      case Function::kPow: return give(std::pow(x, y));
      case Function::kSin: return give(std::sin(x));
      case Function::kCos: return give(std::cos(x));
      case Function::kTan: return give(std::tan(x));
      case Function::kAsin: return give(std::asin(x));
      case Function::kAcos: return give(std::acos(x));
      case Function::kAtan: return give(std::atan(x));
      case Function::kAtan2: return give(std::atan2(x, y));
      case Function::kSinh: return give(std::sinh(x));
      case Function::kCosh: return give(std::cosh(x));
      case Function::kTanh: return give(std::tanh(x));
      case Function::kAsinh: return give(std::asinh(x));
      case Function::kAcosh: return give(std::acosh(x));
      case Function::kAtanh: return give(std::atanh(x));
      case Function::kErf: return give(std::erf(x));
      case Function::kErfc: return give(std::erfc(x));
      case Function::kLgamma: return give(lgamma_of(x));
      case Function::kTgamma: return give(std::tgamma(x));
      case Function::kHypot: return give(std::hypot(x, y));
      case Function::kFmod: return give(std::fmod(x, y));
      case Function::kCopysign: return give(std::copysign(x, y));
      case Function::kHeaviside: {
        const T at_zero = args.size() > 1 ? y : T{0.5};
        return give(std::isnan(x) ? x : x < 0 ? T{0} : x > 0 ? T{1} : at_zero);
      }
      case Function::kReciprocal: return give(T{1} / x);
      case Function::kDeg2Rad: return give(x * (std::numbers::pi_v<T> / 180));
      case Function::kRad2Deg: return give(x * (180 / std::numbers::pi_v<T>));
      default: break;
    }
  }
  throw Error(ErrorClass::kInternal, "The function '" + std::string(to_string(f)) + "' has no definition for " +
                                         std::string(to_string(type)) + ".");
}

template <typename T>
Value complex_function(Function f, std::span<const Value> args, ScalarType type) {
  using C = std::complex<T>;
  const C x = as<C>(args[0]);
  const auto give = [&](C v) { return value_in(v, type); };
  switch (f) {
    case Function::kAbs: return value_in(std::hypot(x.real(), x.imag()), component_of(type));
    case Function::kExp: return give(ar::exp(x));
    case Function::kLog: return give(ar::log(x));
    case Function::kSqrt: return give(ar::sqrt(x));
    case Function::kRsqrt: return give(ar::div(C(1), ar::sqrt(x)));
    case Function::kReciprocal: return give(ar::div(C(1), x));
    case Function::kPow: return give(ar::pow(x, as<C>(args[1])));
    case Function::kSin: return give(ar::sin(x));
    case Function::kCos: return give(ar::cos(x));
    case Function::kTan: return give(ar::tan(x));
    case Function::kSinh: return give(ar::sinh(x));
    case Function::kCosh: return give(ar::cosh(x));
    case Function::kTanh: return give(ar::tanh(x));
    case Function::kConj: return give(C(x.real(), -x.imag()));
    case Function::kReal: return value_in(x.real(), component_of(type));
    case Function::kImag: return value_in(x.imag(), component_of(type));
    default: break;
  }
  throw Error(ErrorClass::kInternal, "The function '" + std::string(to_string(f)) + "' has no definition for " +
                                         std::string(to_string(type)) + ".");
}

Value predicate(Function f, const Value& v) {
  const std::complex<double> z = is_complex(v.type()) ? v.as_complex() : std::complex<double>(v.as_double());
  if (f == Function::kIsNan) return Value::boolean(std::isnan(z.real()) || std::isnan(z.imag()));
  if (f == Function::kIsInf) return Value::boolean(std::isinf(z.real()) || std::isinf(z.imag()));
  if (f == Function::kIsFinite) return Value::boolean(std::isfinite(z.real()) && std::isfinite(z.imag()));
  return Value::boolean(std::signbit(z.real()));
}

}  // namespace

Value apply(BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::kAnd) return Value::boolean(a.as_bool() && b.as_bool());
  if (op == BinaryOp::kOr) return Value::boolean(a.as_bool() || b.as_bool());
  const ScalarType type = result_type(op, a.type(), b.type()).scalar();
  const ScalarType operands = operand_type(op, a.type(), b.type()).scalar();
  if (op == BinaryOp::kPow) {
    const Value base = a.cast(type);
    return with_type(type, [&](auto zero) { return power<decltype(zero)>(base, b, type); });
  }
  const Value x = a.cast(operands);
  const Value y = b.cast(operands);
  return with_type(operands, [&](auto zero) {
    using T = decltype(zero);
    return is_comparison(op) ? compare(op, as<T>(x), as<T>(y)) : compute(op, as<T>(x), as<T>(y), type);
  });
}

Value apply(UnaryOp op, const Value& a) {
  if (op == UnaryOp::kNot) return Value::boolean(!a.as_bool());
  const ScalarType type = result_type(op, a.type()).scalar();
  if (op == UnaryOp::kBitNot)
    return type == ScalarType::kBool ? Value::boolean(!a.as_bool()) : Value::integer(~a.as_int(), type);
  const Value x = a.cast(type);
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return value_in(ar::sub(T{0}, as<T>(x)), type);
    else
      return value_in(-as<T>(x), type);
  });
}

Value apply(Function f, std::span<const Value> args) {
  std::vector<Type> types;
  for (const Value& arg : args) types.emplace_back(arg.type());
  const ScalarType result = result_type(f, types).scalar();
  if (info_of(f).rule == TypeRule::kPredicate) return predicate(f, args[0]);
  if (f == Function::kMakeComplex) {
    const ScalarType part = component_of(result);
    return Value::complex({args[0].cast(part).as_double(), args[1].cast(part).as_double()}, result);
  }
  if (f == Function::kIpow) {
    const Value base = args[0].cast(result);
    return with_type(result, [&](auto zero) {
      using T = decltype(zero);
      if (args[1].type() == ScalarType::kUInt64)
        return value_in(ar::power(as<T>(base), static_cast<std::uint64_t>(args[1].as_int())), result);
      return value_in(ar::ipow(as<T>(base), args[1].as_int()), result);
    });
  }
  ScalarType operands = args[0].type();
  for (const Value& arg : args.subspan(1)) operands = promote(operands, arg.type());
  if (!is_complex(operands)) operands = result;
  std::vector<Value> promoted;
  for (const Value& arg : args) promoted.push_back(arg.cast(operands));
  if (f == Function::kConj && !is_complex(operands)) return promoted[0];
  if (f == Function::kReal && !is_complex(operands)) return promoted[0];
  if (f == Function::kImag && !is_complex(operands)) return Value::integer(0).cast(operands);
  return with_type(operands, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsComplex<T>)
      return complex_function<typename T::value_type>(f, promoted, operands);
    else
      return real_function<T>(f, promoted, operands);
  });
}

}  // namespace sdfg::tasklet
