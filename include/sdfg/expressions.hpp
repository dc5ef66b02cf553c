/// Values of a graph under construction: scalar and whole-array expressions with C++ operators and math functions.
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

/// A value computed by the graph: of a scalar (`Value<T>`, R = 0) or of every element of an array (R > 0).
///
/// A snapshot: it keeps the value of the moment it was made. When what it read is stored to before it is used, the
/// builder keeps the value in a scalar (or a temporary array). Arithmetic follows C++ on the operands' types (`/` of
/// integers truncates), except that a plain `int` literal takes the other operand's type. Widening is implicit;
/// narrowing needs `sdfg::cast<T>`.
template <typename T, std::size_t R>
class Expression {
 public:
  using element_type = T;
  static constexpr std::size_t kRank = R;

  explicit Expression(detail::ExprRef ref) : ref_(std::move(ref)) {}
  /// Reads an element, widens a value, or takes a constant.
  template <detail::AnyOperand X>
    requires(detail::kRankOf<X> == R && !std::same_as<X, Expression<T, R>>)
  Expression(const X& x,
             Where where = Where::current()) {  // NOLINT(google-explicit-constructor): reads like a C++ scalar
    constexpr bool constant = detail::Operand<X>::kSort == detail::Sort::kConstant;
    static_assert(constant ? detail::constant_fits(detail::kTypeOf<X>, kScalarTypeOf<T>)
                           : detail::widens(detail::kTypeOf<X>, kScalarTypeOf<T>),
                  "this conversion would narrow the value: write sdfg::cast<T>(value)");
    ref_ = detail::Operand<X>::expr(x, kScalarTypeOf<T>, where);
    if constexpr (!constant && detail::kTypeOf<X> != kScalarTypeOf<T>)
      ref_ = detail::apply(detail::Op::kCast, kScalarTypeOf<T>, ref_);
  }

  /// A value of the graph is not known while the graph is built.
  template <typename B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::kNever<B>,
                  "a value of the graph is not known while the graph is built: use g.if_(condition, then, else), "
                  "g.while_, or sdfg::select(condition, a, b) instead of C++'s if, while, && and ?:");
    return false;
  }

  const detail::ExprRef& ref() const noexcept { return ref_; }

 private:
  detail::ExprRef ref_;
};

// ---- Operators ----

template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator+(const L& l, const R& r) {
  return detail::binary<detail::Op::kAdd, detail::kCommon<L, R>>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator-(const L& l, const R& r) {
  return detail::binary<detail::Op::kSub, detail::kCommon<L, R>>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator*(const L& l, const R& r) {
  return detail::binary<detail::Op::kMul, detail::kCommon<L, R>>(l, r);
}
/// As in C++: integers truncate towards zero (see `floor_div` for Python's `//`). Integer division and remainder by
/// zero give 0, here and in `floor_div` and `%`.
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator/(const L& l, const R& r) {
  return detail::binary<detail::Op::kDiv, detail::kCommon<L, R>>(l, r);
}
/// As in C++: the remainder has the sign of the left operand (see `floor_mod` for Python's `%`).
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator%(const L& l, const R& r) {
  static_assert(detail::is_integer_type(detail::kCommon<L, R>),
                "% needs integers; use sdfg::fmod for floating-point values");
  return detail::binary<detail::Op::kRemainder, detail::kCommon<L, R>>(l, r);
}
template <detail::GraphOperand X>
auto operator-(const X& x) {
  return detail::unary<detail::Op::kNegate, detail::promoted(detail::kTypeOf<X>, detail::kTypeOf<X>)>(x);
}
/// A copy of the value.
template <detail::GraphOperand X>
auto operator+(const X& x) {
  return detail::ExpressionOf<detail::kTypeOf<X>, detail::kRankOf<X>>(detail::expr_of(x, detail::kTypeOf<X>));
}

template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator==(const L& l, const R& r) {
  return detail::binary<detail::Op::kEqual, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator!=(const L& l, const R& r) {
  return detail::binary<detail::Op::kNotEqual, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator<(const L& l, const R& r) {
  static_assert(!detail::is_complex_type(detail::kCommon<L, R>),
                "complex values have no order; compare abs() or real()");
  return detail::binary<detail::Op::kLess, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator<=(const L& l, const R& r) {
  static_assert(!detail::is_complex_type(detail::kCommon<L, R>),
                "complex values have no order; compare abs() or real()");
  return detail::binary<detail::Op::kLessEqual, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator>(const L& l, const R& r) {
  static_assert(!detail::is_complex_type(detail::kCommon<L, R>),
                "complex values have no order; compare abs() or real()");
  return detail::binary<detail::Op::kGreater, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires detail::ComparablePair<L, R>
auto operator>=(const L& l, const R& r) {
  static_assert(!detail::is_complex_type(detail::kCommon<L, R>),
                "complex values have no order; compare abs() or real()");
  return detail::binary<detail::Op::kGreaterEqual, ScalarType::kBool>(l, r);
}

template <typename L, typename R>
  requires(detail::OperandPair<L, R>)
auto operator&&(const L& l, const R& r) {
  static_assert(detail::kTypeOf<L> == ScalarType::kBool && detail::kTypeOf<R> == ScalarType::kBool,
                "&& needs two conditions: compare first");
  return detail::binary<detail::Op::kAnd, ScalarType::kBool>(l, r);
}
template <typename L, typename R>
  requires(detail::OperandPair<L, R>)
auto operator||(const L& l, const R& r) {
  static_assert(detail::kTypeOf<L> == ScalarType::kBool && detail::kTypeOf<R> == ScalarType::kBool,
                "|| needs two conditions: compare first");
  return detail::binary<detail::Op::kOr, ScalarType::kBool>(l, r);
}
template <detail::GraphOperand X>
auto operator!(const X& x) {
  static_assert(detail::kTypeOf<X> == ScalarType::kBool, "! needs a condition: compare first");
  return detail::unary<detail::Op::kNot, ScalarType::kBool>(x);
}

namespace detail {
constexpr bool is_bits(ScalarType t) {
  return t == ScalarType::kBool || is_integer_type(t);
}
template <typename L, typename R>
constexpr ScalarType bits_type() {
  static_assert(is_bits(kTypeOf<L>) && is_bits(kTypeOf<R>), "bit operations need integers or conditions");
  return kTypeOf<L> == ScalarType::kBool && kTypeOf<R> == ScalarType::kBool ? ScalarType::kBool : kCommon<L, R>;
}
template <typename L>
constexpr ScalarType shift_type() {
  static_assert(is_integer_type(kTypeOf<L>), "shifts need integers");
  return kTypeOf<L>;
}
}  // namespace detail

template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator&(const L& l, const R& r) {
  return detail::binary<detail::Op::kBitAnd, detail::bits_type<L, R>()>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator|(const L& l, const R& r) {
  return detail::binary<detail::Op::kBitOr, detail::bits_type<L, R>()>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator^(const L& l, const R& r) {
  return detail::binary<detail::Op::kBitXor, detail::bits_type<L, R>()>(l, r);
}
template <detail::GraphOperand X>
auto operator~(const X& x) {
  static_assert(detail::is_integer_type(detail::kTypeOf<X>), "~ needs an integer");
  return detail::unary<detail::Op::kBitNot, detail::kTypeOf<X>>(x);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator<<(const L& l, const R& r) {
  return detail::binary<detail::Op::kShiftLeft, detail::shift_type<L>()>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto operator>>(const L& l, const R& r) {
  return detail::binary<detail::Op::kShiftRight, detail::shift_type<L>()>(l, r);
}

// ---- Functions ----
// Element-wise on arrays. Integers convert to double where the result is not an integer.

/// The value converted to T, as a C++ cast does (out-of-range floating values saturate, NaN gives 0).
template <typename T, detail::AnyOperand X>
auto cast(const X& x, Where where = Where::current()) {
  return Expression<T, detail::kRankOf<X>>(
      detail::apply(detail::Op::kCast, kScalarTypeOf<T>, detail::Operand<X>::expr(x, detail::kTypeOf<X>, where)));
}

/// `condition ? a : b` on values. Both sides may be read.
template <detail::AnyOperand C, detail::AnyOperand L, detail::AnyOperand R>
  requires(detail::ValueOperand<C> || detail::ValueOperand<L> || detail::ValueOperand<R>)
auto select(const C& condition, const L& a, const R& b) {
  static_assert(detail::kTypeOf<C> == ScalarType::kBool, "the first argument is a condition: compare first");
  constexpr ScalarType common = detail::kTypeOf<L> == detail::kTypeOf<R> ? detail::kTypeOf<L> : detail::kCommon<L, R>;
  constexpr std::size_t rank =
      detail::larger(detail::kRankOf<C>, detail::larger(detail::kRankOf<L>, detail::kRankOf<R>));
  return detail::ExpressionOf<common, rank>(detail::apply(detail::Op::kSelect, common,
                                                          detail::expr_of(condition, ScalarType::kBool),
                                                          detail::expr_of(a, common), detail::expr_of(b, common)));
}
/// NumPy's name of `select`.
template <detail::AnyOperand C, detail::AnyOperand L, detail::AnyOperand R>
auto where(const C& condition, const L& a, const R& b) {
  return select(condition, a, b);
}

/// The smaller one; a NaN loses against a number.
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto min(const L& l, const R& r) {
  return detail::binary<detail::Op::kMin, detail::kCommon<L, R>>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto max(const L& l, const R& r) {
  return detail::binary<detail::Op::kMax, detail::kCommon<L, R>>(l, r);
}
/// Integer division rounding towards minus infinity, and its remainder (Python's `//` and `%`).
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto floor_div(const L& l, const R& r) {
  return detail::binary<detail::Op::kFloorDiv, detail::kCommon<L, R>>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto floor_mod(const L& l, const R& r) {
  return detail::binary<detail::Op::kFloorMod, detail::kCommon<L, R>>(l, r);
}

/// x to the power y. Integers to a literal exponent that is not negative stay integers.
template <detail::ValueOperand X, detail::AnyOperand Y>
auto pow(const X& x, const Y& y) {
  static_assert(!detail::is_integer_type(detail::kTypeOf<X>) || !detail::is_integer_type(detail::kTypeOf<Y>) ||
                    detail::Operand<Y>::kSort == detail::Sort::kConstant,
                "the exponent may be negative: cast the base to double, or use a literal exponent");
  return detail::binary<detail::Op::kPower, detail::kCommon<X, Y>>(x, y);
}
template <detail::AnyOperand X, detail::ValueOperand Y>
  requires(detail::Operand<X>::kSort == detail::Sort::kConstant)
auto pow(const X& x, const Y& y) {
  return detail::binary<detail::Op::kPower, detail::float_type(detail::kCommon<X, Y>)>(
      cast<typename detail::CppTypeOf<detail::float_type(detail::kCommon<X, Y>)>::type>(x), y);
}

template <detail::GraphOperand X>
auto abs(const X& x) {
  return detail::unary<detail::Op::kAbs, detail::component_type(detail::kTypeOf<X>)>(x);
}
template <detail::GraphOperand X>
auto sign(const X& x) {
  return detail::unary<detail::Op::kSign, detail::kTypeOf<X>>(x);
}

template <detail::ValueOperand X>
auto round(const X& x) {
  return detail::unary<detail::Op::kRound, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto ceil(const X& x) {
  return detail::unary<detail::Op::kCeil, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto floor(const X& x) {
  return detail::unary<detail::Op::kFloor, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto trunc(const X& x) {
  return detail::unary<detail::Op::kTrunc, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto exp(const X& x) {
  return detail::unary<detail::Op::kExp, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto exp2(const X& x) {
  return detail::unary<detail::Op::kExp2, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto expm1(const X& x) {
  return detail::unary<detail::Op::kExpm1, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto log(const X& x) {
  return detail::unary<detail::Op::kLog, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto log2(const X& x) {
  return detail::unary<detail::Op::kLog2, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto log10(const X& x) {
  return detail::unary<detail::Op::kLog10, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto log1p(const X& x) {
  return detail::unary<detail::Op::kLog1p, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto sqrt(const X& x) {
  return detail::unary<detail::Op::kSqrt, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto rsqrt(const X& x) {
  return detail::unary<detail::Op::kRsqrt, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto cbrt(const X& x) {
  return detail::unary<detail::Op::kCbrt, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto sin(const X& x) {
  return detail::unary<detail::Op::kSin, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto cos(const X& x) {
  return detail::unary<detail::Op::kCos, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto tan(const X& x) {
  return detail::unary<detail::Op::kTan, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto asin(const X& x) {
  return detail::unary<detail::Op::kAsin, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto acos(const X& x) {
  return detail::unary<detail::Op::kAcos, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto atan(const X& x) {
  return detail::unary<detail::Op::kAtan, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto sinh(const X& x) {
  return detail::unary<detail::Op::kSinh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto cosh(const X& x) {
  return detail::unary<detail::Op::kCosh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto tanh(const X& x) {
  return detail::unary<detail::Op::kTanh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto asinh(const X& x) {
  return detail::unary<detail::Op::kAsinh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto acosh(const X& x) {
  return detail::unary<detail::Op::kAcosh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto atanh(const X& x) {
  return detail::unary<detail::Op::kAtanh, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto erf(const X& x) {
  return detail::unary<detail::Op::kErf, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto erfc(const X& x) {
  return detail::unary<detail::Op::kErfc, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto lgamma(const X& x) {
  return detail::unary<detail::Op::kLgamma, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <detail::ValueOperand X>
auto tgamma(const X& x) {
  return detail::unary<detail::Op::kTgamma, detail::float_type(detail::kTypeOf<X>)>(x);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto atan2(const L& l, const R& r) {
  return detail::binary<detail::Op::kAtan2, detail::float_type(detail::kCommon<L, R>)>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto hypot(const L& l, const R& r) {
  return detail::binary<detail::Op::kHypot, detail::float_type(detail::kCommon<L, R>)>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto fmod(const L& l, const R& r) {
  return detail::binary<detail::Op::kFmod, detail::float_type(detail::kCommon<L, R>)>(l, r);
}
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto copysign(const L& l, const R& r) {
  return detail::binary<detail::Op::kCopysign, detail::float_type(detail::kCommon<L, R>)>(l, r);
}
template <detail::GraphOperand X>
auto isnan(const X& x) {
  return detail::unary<detail::Op::kIsNan, ScalarType::kBool>(x);
}
template <detail::GraphOperand X>
auto isinf(const X& x) {
  return detail::unary<detail::Op::kIsInf, ScalarType::kBool>(x);
}
template <detail::GraphOperand X>
auto isfinite(const X& x) {
  return detail::unary<detail::Op::kIsFinite, ScalarType::kBool>(x);
}
template <detail::GraphOperand X>
auto signbit(const X& x) {
  return detail::unary<detail::Op::kSignbit, ScalarType::kBool>(x);
}
/// a * b + c in one rounding.
template <detail::GraphOperand A, detail::AnyOperand B, detail::AnyOperand C>
auto fma(const A& a, const B& b, const C& c) {
  constexpr ScalarType common = detail::kTypeOf<A>;
  static_assert(detail::is_floating_type(common), "fma needs floating-point values");
  constexpr std::size_t rank =
      detail::larger(detail::kRankOf<A>, detail::larger(detail::kRankOf<B>, detail::kRankOf<C>));
  return detail::ExpressionOf<common, rank>(detail::apply(detail::Op::kFma, common, detail::expr_of(a, common),
                                                          detail::expr_of(b, common), detail::expr_of(c, common)));
}

template <detail::GraphOperand X>
auto real(const X& x) {
  return detail::unary<detail::Op::kReal, detail::component_type(detail::kTypeOf<X>)>(x);
}
template <detail::GraphOperand X>
auto imag(const X& x) {
  return detail::unary<detail::Op::kImag, detail::component_type(detail::kTypeOf<X>)>(x);
}
template <detail::GraphOperand X>
auto conj(const X& x) {
  return detail::unary<detail::Op::kConj, detail::kTypeOf<X>>(x);
}
/// re + i * im.
template <typename L, typename R>
  requires detail::OperandPair<L, R>
auto make_complex(const L& re, const R& im) {
  return detail::binary<detail::Op::kMakeComplex, detail::complex_type(detail::kCommon<L, R>)>(re, im);
}

/// Where an index or a bound is expected: an integer, an Index, or an integer value read from a container (`A(idx(i))`,
/// bounds of a CSR row). A value becomes a symbol that is assigned before the statement.
class Bound {
 public:
  template <detail::IndexInteger T>
  Bound(T value) : index_(value) {}             // NOLINT(google-explicit-constructor)
  Bound(const Index& index) : index_(index) {}  // NOLINT(google-explicit-constructor)
  template <detail::GraphOperand X>
    requires(detail::kRankOf<X> == 0)
  Bound(const X& value)
      : index_(0), value_(detail::expr_of(value, detail::kTypeOf<X>)) {  // NOLINT(google-explicit-constructor)
    static_assert(detail::is_integer_type(detail::kTypeOf<X>),
                  "an index must be an integer: use sdfg::cast<std::int64_t>(value)");
  }

  const Index& index() const noexcept { return index_; }  ///< when value() is null
  const detail::ExprRef& value() const noexcept { return value_; }

 private:
  Index index_;
  detail::ExprRef value_;
};

}  // namespace sdfg
