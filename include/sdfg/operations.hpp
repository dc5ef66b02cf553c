/// Whole-array operations that become library nodes: factorisations, solvers, transforms, scans, searches.
#pragma once

#include <sdfg/array.hpp>

namespace sdfg {

namespace detail {

SDFG_EXPORT ExprRef cholesky(ScalarType type, const ExprRef& a, bool lower, Where where);
SDFG_EXPORT ExprRef solve(ScalarType type, const ExprRef& a, const ExprRef& b, Where where);
SDFG_EXPORT ExprRef inverse(ScalarType type, const ExprRef& a, Where where);
SDFG_EXPORT ExprRef fourier(ScalarType type, const ExprRef& x, bool inverse, Where where);
SDFG_EXPORT ExprRef scan(Reduce op, ScalarType type, const ExprRef& x, int axis, bool exclusive, Where where);
SDFG_EXPORT ExprRef arg_reduce(bool maximum, const ExprRef& x, const int* axis, Where where);

}  // namespace detail

/// The Cholesky factor of a symmetric (or Hermitian) positive definite matrix: lower triangular, or upper on request.
template <detail::ArrayOperand A>
  requires(detail::kRankOf<A> == 2)
auto cholesky(const A& a, bool lower = true, Where where = Where::current()) {
  constexpr ScalarType type = detail::float_type(detail::kTypeOf<A>);
  return detail::ExpressionOf<type, 2>(detail::cholesky(type, detail::expr_of(a, type), lower, where));
}

/// x with a x = b, for one right-hand side (a vector) or several (the columns of a matrix).
template <detail::ArrayOperand A, detail::ArrayOperand B>
  requires(detail::kRankOf<A> == 2 && detail::kRankOf<B> <= 2)
auto solve(const A& a, const B& b, Where where = Where::current()) {
  constexpr ScalarType type = detail::float_type(detail::kCommon<A, B>);
  return detail::ExpressionOf<type, detail::kRankOf<B>>(
      detail::solve(type, detail::expr_of(a, type), detail::expr_of(b, type), where));
}

/// The inverse of a square matrix.
template <detail::ArrayOperand A>
  requires(detail::kRankOf<A> == 2)
auto inv(const A& a, Where where = Where::current()) {
  constexpr ScalarType type = detail::float_type(detail::kTypeOf<A>);
  return detail::ExpressionOf<type, 2>(detail::inverse(type, detail::expr_of(a, type), where));
}

/// The discrete Fourier transform over all dimensions; complex results. `ifft` divides by the number of elements.
template <detail::ArrayOperand X>
auto fft(const X& x, Where where = Where::current()) {
  constexpr ScalarType type = detail::complex_type(detail::component_type(detail::kTypeOf<X>));
  return detail::ExpressionOf<type, detail::kRankOf<X>>(detail::fourier(type, detail::expr_of(x, type), false, where));
}
template <detail::ArrayOperand X>
auto ifft(const X& x, Where where = Where::current()) {
  constexpr ScalarType type = detail::complex_type(detail::component_type(detail::kTypeOf<X>));
  return detail::ExpressionOf<type, detail::kRankOf<X>>(detail::fourier(type, detail::expr_of(x, type), true, where));
}

/// Running results along a dimension: element k combines the elements up to k (up to k - 1 when exclusive).
template <detail::ArrayOperand X>
auto scan(Reduce op, const X& x, int axis = 0, bool exclusive = false, Where where = Where::current()) {
  constexpr ScalarType type = detail::kTypeOf<X>;
  return detail::ExpressionOf<type, detail::kRankOf<X>>(
      detail::scan(op, type, detail::expr_of(x, type), axis, exclusive, where));
}
template <detail::ArrayOperand X>
auto cumsum(const X& x, int axis = 0, Where where = Where::current()) {
  return scan(Reduce::sum, x, axis, false, where);
}

/// Where the largest (smallest) element is: its position in row-major order, or along one dimension. The first of
/// equals; a NaN only where everything is NaN, and then the first; 0 for no elements.
template <detail::ArrayOperand X>
auto argmax(const X& x, Where where = Where::current()) {
  return Value<std::int64_t>(detail::arg_reduce(true, detail::expr_of(x, detail::kTypeOf<X>), nullptr, where));
}
template <detail::ArrayOperand X>
auto argmin(const X& x, Where where = Where::current()) {
  return Value<std::int64_t>(detail::arg_reduce(false, detail::expr_of(x, detail::kTypeOf<X>), nullptr, where));
}
template <detail::ArrayOperand X>
auto argmax(const X& x, int axis, Where where = Where::current()) {
  return Expression<std::int64_t, detail::kRankOf<X> - 1>(
      detail::arg_reduce(true, detail::expr_of(x, detail::kTypeOf<X>), &axis, where));
}
template <detail::ArrayOperand X>
auto argmin(const X& x, int axis, Where where = Where::current()) {
  return Expression<std::int64_t, detail::kRankOf<X> - 1>(
      detail::arg_reduce(false, detail::expr_of(x, detail::kTypeOf<X>), &axis, where));
}

}  // namespace sdfg
