/// C++'s operators on values: arithmetic, comparisons, conditions, bits.
#pragma once

#include <sdfg/value.hpp>

namespace sdfg {

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

}  // namespace sdfg
