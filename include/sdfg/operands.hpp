/// What may stand in an expression of a graph: constants, indices and handles, their types, and how two of them meet.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sdfg/export.hpp>
#include <sdfg/index.hpp>
#include <sdfg/types.hpp>
#include <type_traits>

namespace sdfg {

template <typename T, std::size_t R>
class Expression;
template <typename T, std::size_t R>
class Window;
template <typename T, std::size_t R>
class Array;

/// A scalar value: an expression without dimensions.
template <typename T>
using Value = Expression<T, 0>;
/// A reference to one element of a container: `A(i, j)`.
template <typename T>
using Element = Window<T, 0>;

namespace detail {

struct ExprNode;    // in src/builder
struct WindowNode;  // in src/builder
using ExprRef = std::shared_ptr<ExprNode>;
using WindowRef = std::shared_ptr<const WindowNode>;

enum class Op : std::uint8_t {
  kNegate,
  kNot,
  kBitNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRemainder,
  kFloorDiv,
  kFloorMod,
  kPower,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kMin,
  kMax,
  kAbs,
  kSign,
  kRound,
  kCeil,
  kFloor,
  kTrunc,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kCbrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kAtan2,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
  kTgamma,
  kHypot,
  kFmod,
  kCopysign,
  kFma,
  kIsNan,
  kIsInf,
  kIsFinite,
  kSignbit,
  kConj,
  kReal,
  kImag,
  kMakeComplex,
  kSelect,
  kCast,
};

/// A constant of the user's program, before it takes the type of what it meets.
struct Constant {
  enum class Kind : std::uint8_t { kBool, kSigned, kUnsigned, kReal, kComplex };
  Kind kind = Kind::kSigned;
  ScalarType type = ScalarType::kInt64;
  std::int64_t integer = 0;  // kBool, kSigned; kUnsigned by its bits
  double real = 0, imag = 0;
};

SDFG_EXPORT ExprRef constant(const Constant& value, ScalarType as, Where where);
SDFG_EXPORT ExprRef from_index(const Index& index, Where where);
SDFG_EXPORT ExprRef load(const WindowRef& window);
SDFG_EXPORT ExprRef apply(Op op, ScalarType result, const ExprRef& a);
SDFG_EXPORT ExprRef apply(Op op, ScalarType result, const ExprRef& a, const ExprRef& b);
SDFG_EXPORT ExprRef apply(Op op, ScalarType result, const ExprRef& a, const ExprRef& b, const ExprRef& c);

// ---- Types ----

constexpr bool is_integer_type(ScalarType t) {
  return t >= ScalarType::kInt8 && t <= ScalarType::kUInt64;
}
constexpr bool is_unsigned_type(ScalarType t) {
  return t >= ScalarType::kUInt8 && t <= ScalarType::kUInt64;
}
constexpr bool is_floating_type(ScalarType t) {
  return t >= ScalarType::kFloat16 && t <= ScalarType::kFloat64;
}
constexpr bool is_complex_type(ScalarType t) {
  return t >= ScalarType::kComplex64;
}
constexpr int bits_of(ScalarType t) {
  switch (t) {
    case ScalarType::kBool: return 1;
    case ScalarType::kInt8:
    case ScalarType::kUInt8: return 8;
    case ScalarType::kInt16:
    case ScalarType::kUInt16:
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16: return 16;
    case ScalarType::kInt32:
    case ScalarType::kUInt32:
    case ScalarType::kFloat32: return 32;
    case ScalarType::kInt64:
    case ScalarType::kUInt64:
    case ScalarType::kFloat64:
    case ScalarType::kComplex64: return 64;
    case ScalarType::kComplex128: return 128;
  }
  return 0;
}

/// sdfg::promote at compile time (the unit tests compare the two for all pairs).
constexpr ScalarType promoted(ScalarType a, ScalarType b) {
  using enum ScalarType;
  if (is_complex_type(a) || is_complex_type(b)) {
    const auto wide = [](ScalarType t) { return t == kComplex128 || t == kFloat64; };
    return wide(a) || wide(b) ? kComplex128 : kComplex64;
  }
  if (is_floating_type(a) || is_floating_type(b)) {
    if (!is_floating_type(a)) return b;
    if (!is_floating_type(b)) return a;
    if (a == b) return a;
    return bits_of(a) == bits_of(b) ? kFloat32 : (bits_of(a) > bits_of(b) ? a : b);
  }
  if (a == kBool && b == kBool) return kInt32;
  if (a == kBool) return b;
  if (b == kBool) return a;
  if (bits_of(a) != bits_of(b)) return bits_of(a) > bits_of(b) ? a : b;
  return is_unsigned_type(a) ? a : b;
}

/// May a value of type `from` be stored as `to` without saying so? Widening only; integers convert to float and double.
constexpr bool widens(ScalarType from, ScalarType to) {
  using enum ScalarType;
  if (from == to) return true;
  if (to == kBool) return false;
  if (from == kBool) return true;
  if (is_integer_type(from)) {
    if (is_integer_type(to)) {
      if (is_unsigned_type(from)) return bits_of(to) > bits_of(from);
      return !is_unsigned_type(to) && bits_of(to) > bits_of(from);
    }
    return to == kFloat32 || to == kFloat64 || is_complex_type(to);
  }
  if (is_floating_type(from)) {
    if (is_floating_type(to)) return bits_of(to) > bits_of(from);
    return to == kComplex128 || (to == kComplex64 && from != kFloat64);
  }
  return to == kComplex128;
}

/// A constant's value is known: numbers may take any type of their sort or a richer one (integers are checked for fit).
constexpr bool constant_fits(ScalarType from, ScalarType to) {
  if (from == to || widens(from, to)) return true;
  if (is_integer_type(from)) return to != ScalarType::kBool;
  if (is_floating_type(from)) return is_floating_type(to) || is_complex_type(to);
  return is_complex_type(from) && is_complex_type(to);
}

template <ScalarType S>
struct CppTypeOf;
template <>
struct CppTypeOf<ScalarType::kBool> {
  using type = bool;
};
template <>
struct CppTypeOf<ScalarType::kInt8> {
  using type = std::int8_t;
};
template <>
struct CppTypeOf<ScalarType::kInt16> {
  using type = std::int16_t;
};
template <>
struct CppTypeOf<ScalarType::kInt32> {
  using type = std::int32_t;
};
template <>
struct CppTypeOf<ScalarType::kInt64> {
  using type = std::int64_t;
};
template <>
struct CppTypeOf<ScalarType::kUInt8> {
  using type = std::uint8_t;
};
template <>
struct CppTypeOf<ScalarType::kUInt16> {
  using type = std::uint16_t;
};
template <>
struct CppTypeOf<ScalarType::kUInt32> {
  using type = std::uint32_t;
};
template <>
struct CppTypeOf<ScalarType::kUInt64> {
  using type = std::uint64_t;
};
template <>
struct CppTypeOf<ScalarType::kFloat16> {
  using type = Half;
};
template <>
struct CppTypeOf<ScalarType::kBFloat16> {
  using type = BFloat16;
};
template <>
struct CppTypeOf<ScalarType::kFloat32> {
  using type = float;
};
template <>
struct CppTypeOf<ScalarType::kFloat64> {
  using type = double;
};
template <>
struct CppTypeOf<ScalarType::kComplex64> {
  using type = std::complex<float>;
};
template <>
struct CppTypeOf<ScalarType::kComplex128> {
  using type = std::complex<double>;
};

constexpr ScalarType component_type(ScalarType t) {
  return t == ScalarType::kComplex64 ? ScalarType::kFloat32 : t == ScalarType::kComplex128 ? ScalarType::kFloat64 : t;
}
constexpr ScalarType complex_type(ScalarType t) {
  return t == ScalarType::kFloat64 || is_integer_type(t) ? ScalarType::kComplex128 : ScalarType::kComplex64;
}
constexpr ScalarType float_type(ScalarType t) {
  return is_floating_type(t) || is_complex_type(t) ? t : ScalarType::kFloat64;
}

// ---- Operands ----

enum class Sort : std::uint8_t { kConstant, kIndex, kGraph };

/// What may stand in an expression; members: kType, kRank, kSort, expr(operand, wanted type for constants).
template <typename X>
struct Operand {};

template <typename X>
  requires requires { ScalarTypeOf<X>::value; }
struct Operand<X> {
  static constexpr ScalarType kType = ScalarTypeOf<X>::value;
  static constexpr std::size_t kRank = 0;
  static constexpr Sort kSort = Sort::kConstant;
  static Constant value(const X& x) {
    if constexpr (std::same_as<X, bool>)
      return {Constant::Kind::kBool, kType, x ? 1 : 0};
    else if constexpr (std::is_unsigned_v<X>)
      return {Constant::Kind::kUnsigned, kType, static_cast<std::int64_t>(x)};
    else if constexpr (std::is_integral_v<X>)
      return {Constant::Kind::kSigned, kType, static_cast<std::int64_t>(x)};
    else if constexpr (std::is_floating_point_v<X>)
      return {Constant::Kind::kReal, kType, 0, static_cast<double>(x)};
    else if constexpr (std::same_as<X, Half> || std::same_as<X, BFloat16>)
      return {Constant::Kind::kUnsigned, kType, x.bits};
    else
      return {Constant::Kind::kComplex, kType, 0, static_cast<double>(x.real()), static_cast<double>(x.imag())};
  }
  static ExprRef expr(const X& x, ScalarType as, Where where) { return constant(value(x), as, where); }
};

template <>
struct Operand<Index> {
  static constexpr ScalarType kType = ScalarType::kInt64;
  static constexpr std::size_t kRank = 0;
  static constexpr Sort kSort = Sort::kIndex;
  static ExprRef expr(const Index& x, ScalarType, Where where) { return from_index(x, where); }
};

template <typename T, std::size_t R>
struct Operand<Expression<T, R>> {
  static constexpr ScalarType kType = kScalarTypeOf<T>;
  static constexpr std::size_t kRank = R;
  static constexpr Sort kSort = Sort::kGraph;
  static const ExprRef& expr(const Expression<T, R>& x, ScalarType, Where) { return x.ref(); }
};

template <typename T, std::size_t R>
struct Operand<Window<T, R>> {
  static constexpr ScalarType kType = kScalarTypeOf<T>;
  static constexpr std::size_t kRank = R;
  static constexpr Sort kSort = Sort::kGraph;
  static ExprRef expr(const Window<T, R>& x, ScalarType, Where) { return load(x.ref()); }
};

template <typename T, std::size_t R>
struct Operand<Array<T, R>> {
  static constexpr ScalarType kType = kScalarTypeOf<T>;
  static constexpr std::size_t kRank = R;
  static constexpr Sort kSort = Sort::kGraph;
  static ExprRef expr(const Array<T, R>& x, ScalarType, Where) { return load(x.ref()); }
};

/// Arrays and windows, which can be stored to.
template <typename X>
inline constexpr bool kIsPlace = false;
template <typename T, std::size_t R>
inline constexpr bool kIsPlace<Window<T, R>> = true;
template <typename T, std::size_t R>
inline constexpr bool kIsPlace<Array<T, R>> = true;

template <typename X>
concept AnyOperand = requires { Operand<X>::kType; };
template <typename X>
concept GraphOperand = AnyOperand<X> && Operand<X>::kSort == Sort::kGraph;
template <typename X>
concept ValueOperand = AnyOperand<X> && Operand<X>::kSort != Sort::kConstant;
/// Pairs that make an expression. Index with Index or an integer stays an Index (index.hpp).
template <typename L, typename R>
concept OperandPair =
    AnyOperand<L> && AnyOperand<R> &&
    (GraphOperand<L> || GraphOperand<R> ||
     (Operand<L>::kSort == Sort::kIndex && Operand<R>::kSort == Sort::kConstant && !IndexInteger<R>) ||
     (Operand<R>::kSort == Sort::kIndex && Operand<L>::kSort == Sort::kConstant && !IndexInteger<L>));
/// Pairs that compare: all of the above, and indices.
template <typename L, typename R>
concept ComparablePair =
    OperandPair<L, R> ||
    (AnyOperand<L> && AnyOperand<R> && (Operand<L>::kSort == Sort::kIndex || Operand<R>::kSort == Sort::kIndex));

template <typename X>
inline constexpr ScalarType kTypeOf = Operand<X>::kType;
template <typename X>
inline constexpr std::size_t kRankOf = Operand<X>::kRank;
/// A plain `int` has the type of what it meets: `A(i) + 1` is of A's type.
template <typename X>
inline constexpr bool kWeak = std::same_as<X, int>;

template <typename L, typename R>
constexpr ScalarType common_type() {
  if constexpr (kWeak<L> && !kWeak<R> && kTypeOf<R> != ScalarType::kBool)
    return kTypeOf<R>;
  else if constexpr (kWeak<R> && !kWeak<L> && kTypeOf<L> != ScalarType::kBool)
    return kTypeOf<L>;
  else
    return promoted(kTypeOf<L>, kTypeOf<R>);
}
template <typename L, typename R>
inline constexpr ScalarType kCommon = common_type<L, R>();

/// The type a constant takes beside an operand of type `other`.
template <typename X>
constexpr ScalarType constant_type(ScalarType common) {
  return kWeak<X> ? common : kTypeOf<X>;
}

template <ScalarType S, std::size_t R>
using ExpressionOf = Expression<typename CppTypeOf<S>::type, R>;

constexpr std::size_t larger(std::size_t a, std::size_t b) {
  return a > b ? a : b;
}

/// The type-erased operand; constants take the type of what they meet. Operators can't capture the user's line: the
/// other operand's is used.
template <typename X>
ExprRef expr_of(const X& x, ScalarType common, Where where = Where()) {
  return Operand<X>::expr(x, constant_type<X>(common), where);
}
template <Op op, ScalarType result, typename X>
auto unary(const X& x) {
  return ExpressionOf<result, kRankOf<X>>(apply(op, result, expr_of(x, kTypeOf<X>)));
}
template <Op op, ScalarType result, typename L, typename R>
auto binary(const L& l, const R& r) {
  constexpr ScalarType common = kCommon<L, R>;
  return ExpressionOf<result, larger(kRankOf<L>, kRankOf<R>)>(
      apply(op, result, expr_of(l, common), expr_of(r, common)));
}

template <typename...>
inline constexpr bool kNever = false;

}  // namespace detail

}  // namespace sdfg
