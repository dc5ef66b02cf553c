/// Functions of values: conversions, selections, minima, the usual mathematics, complex parts.
///
/// Element-wise on arrays. Integers convert to double where the result is not an integer.
#pragma once

#include <sdfg/value.hpp>

namespace sdfg {

/// The value converted to T, as a C++ cast does (out-of-range floating values saturate, NaN gives 0).
template <typename T, detail::AnyOperand X>
auto cast(const X& x, Where where = Where::current()) {
  return Expression<T, detail::kRankOf<X>>(
      detail::apply(detail::Op::kCast, kScalarTypeOf<T>, detail::Operand<X>::expr(x, detail::kTypeOf<X>, where)));
}

/// `condition ? a : b` on values. Both sides are read, whatever the condition says, so every element that they name
/// must exist: `select(i > 0, A(i - 1), 0.0)` reads `A[-1]` at i = 0, which is an error of the graph where it is
/// certain, and of the call with `SDFG_CHECK=bounds` otherwise. Clamp the index, as in `A(sdfg::max(i - 1, 0))`, or
/// write `g.if_`, which runs one side only.
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

}  // namespace sdfg
