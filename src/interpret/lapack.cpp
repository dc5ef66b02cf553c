// Library nodes that factorise and solve: Cholesky, LU and what is built on them; row-major, pivots counted from one as
// LAPACK does.
#include <cmath>
#include <complex>

#include "interpret/tensor.hpp"

namespace sdfg::interpret {

namespace {

template <typename T>
T conjugate(T v) {
  if constexpr (std::is_same_v<T, Complex>)
    return std::conj(v);
  else
    return v;
}

double magnitude(double v) {
  return std::abs(v);
}
double magnitude(Complex v) {
  return std::abs(v.real()) + std::abs(v.imag());
}  // LAPACK's pivot rule

template <typename T>
class Square {
 public:
  Square(std::vector<T> values, std::int64_t n) : values_(std::move(values)), n_(n) {}
  T& operator()(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * n_ + j)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return values_[static_cast<std::size_t>(i * n_ + j)]; }
  std::int64_t n() const { return n_; }
  const std::vector<T>& values() const { return values_; }

 private:
  std::vector<T> values_;
  std::int64_t n_;
};

// The triangle named by `lower` becomes the factor; the other keeps its contents. 0, or the 1-based order of the minor
// that is not positive.
template <typename T>
std::int64_t cholesky(Square<T>& a, bool lower) {
  const auto element = [&](std::int64_t i, std::int64_t j) -> T& { return lower ? a(i, j) : a(j, i); };
  for (std::int64_t j = 0; j < a.n(); ++j) {
    double diagonal = std::real(Complex(element(j, j)));
    for (std::int64_t k = 0; k < j; ++k) diagonal -= std::norm(Complex(element(j, k)));
    if (!(diagonal > 0.0)) return j + 1;
    const double root = std::sqrt(diagonal);
    element(j, j) = root;
    for (std::int64_t i = j + 1; i < a.n(); ++i) {
      T sum = element(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= element(i, k) * conjugate(element(j, k));
      element(i, j) = sum / root;
    }
  }
  return 0;
}

// P A = L U in place. 0, or the 1-based position of the first zero pivot.
template <typename T>
std::int64_t factorise(Square<T>& a, std::vector<std::int64_t>& pivots) {
  std::int64_t info = 0;
  pivots.resize(static_cast<std::size_t>(a.n()));
  for (std::int64_t j = 0; j < a.n(); ++j) {
    std::int64_t p = j;
    for (std::int64_t i = j + 1; i < a.n(); ++i)
      if (magnitude(a(i, j)) > magnitude(a(p, j))) p = i;
    pivots[static_cast<std::size_t>(j)] = p;
    for (std::int64_t k = 0; k < a.n(); ++k) std::swap(a(j, k), a(p, k));
    if (a(j, j) == T{}) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < a.n(); ++i) {
      a(i, j) /= a(j, j);
      for (std::int64_t k = j + 1; k < a.n(); ++k) a(i, k) -= a(i, j) * a(j, k);
    }
  }
  return info;
}

// Solves with the factors; `x` has the right-hand sides as columns.
template <typename T>
void substitute(const Square<T>& lu, const std::vector<std::int64_t>& pivots, std::vector<T>& x, std::int64_t columns) {
  const auto at = [&](std::int64_t i, std::int64_t c) -> T& { return x[static_cast<std::size_t>(i * columns + c)]; };
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t i = 0; i < lu.n(); ++i) std::swap(at(i, c), at(pivots[static_cast<std::size_t>(i)], c));
    for (std::int64_t i = 0; i < lu.n(); ++i)
      for (std::int64_t k = 0; k < i; ++k) at(i, c) -= lu(i, k) * at(k, c);
    for (std::int64_t i = lu.n(); i-- > 0;) {
      for (std::int64_t k = i + 1; k < lu.n(); ++k) at(i, c) -= lu(i, k) * at(k, c);
      at(i, c) /= lu(i, i);
    }
  }
}

std::int64_t order_of(const Operands& operands, Tensor& a) {
  a.fit(2);
  if (a.shape()[0] != a.shape()[1]) fail_shape(operands, "needs a square matrix, but has " + a.text());
  return a.shape()[0];
}

void check_same(const Operands& operands, const Tensor& a, const Tensor& b) {
  if (a.size() != b.size())
    fail_shape(operands, "has operands " + a.text() + " and " + b.text() + " of different sizes");
}

void set_info(const Operands& operands, std::int64_t info) {
  if (operands.has_out("_res")) operands.out("_res").set(0, tasklet::Value::integer(info));
}

std::int64_t columns_of(const Operands& operands, const Tensor& rhs, std::int64_t n) {
  if (n == 0) return 0;
  if (rhs.size() % n != 0)
    fail_shape(operands, "has the right-hand side " + rhs.text() + " for a matrix of order " + std::to_string(n));
  return rhs.size() / n;
}

}  // namespace

void run_op(const ir::Cholesky& op, const Operands& operands) {
  Tensor in = operands.in("_a"), out = operands.out("_b");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, in, out);
  with_field({in.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    Square<T> a(in.read<T>(), n);
    if (const std::int64_t info = cholesky(a, op.lower); info != 0)
      throw Error(ErrorClass::kLaunch, "library node Cholesky: the leading minor of order " + std::to_string(info) +
                                           " is not positive definite");
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (op.lower ? j > i : j < i) a(i, j) = T{};
    out.write(a.values());
  });
}

void run_op(const ir::Potrf& op, const Operands& operands) {
  Tensor in = operands.in("_xin"), out = operands.out("_xout");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, in, out);
  with_field({in.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    Square<T> a(in.read<T>(), n);
    const std::int64_t info = cholesky(a, op.lower);
    out.write(a.values());
    set_info(operands, info);
  });
}

void run_op(const ir::Getrf&, const Operands& operands) {
  Tensor in = operands.in("_xin"), out = operands.out("_xout"), ipiv = operands.out("_ipiv");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, in, out);
  if (ipiv.size() != n)
    fail_shape(operands, "has pivots " + ipiv.text() + " for a matrix of order " + std::to_string(n));
  with_field({in.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    Square<T> a(in.read<T>(), n);
    std::vector<std::int64_t> pivots;
    const std::int64_t info = factorise(a, pivots);
    out.write(a.values());
    for (std::int64_t i = 0; i < n; ++i) ipiv.set(i, tasklet::Value::integer(pivots[static_cast<std::size_t>(i)] + 1));
    set_info(operands, info);
  });
}

void run_op(const ir::Getrs&, const Operands& operands) {
  Tensor in = operands.in("_a"), ipiv = operands.in("_ipiv"), rhs = operands.in("_rhs_in"),
         out = operands.out("_rhs_out");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, rhs, out);
  if (ipiv.size() != n)
    fail_shape(operands, "has pivots " + ipiv.text() + " for a matrix of order " + std::to_string(n));
  with_field({in.type(), rhs.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    const Square<T> lu(in.read<T>(), n);
    std::vector<std::int64_t> pivots;
    for (std::int64_t i = 0; i < n; ++i) {
      pivots.push_back(ipiv.get(i).as_int() - 1);
      if (pivots.back() < 0 || pivots.back() >= n)
        throw Error(ErrorClass::kLaunch,
                    "library node Getrs: pivot " + std::to_string(pivots.back() + 1) + " is no row");
    }
    std::vector<T> x = rhs.read<T>();
    substitute(lu, pivots, x, columns_of(operands, rhs, n));
    out.write(x);
    set_info(operands, 0);
  });
}

void run_op(const ir::Solve&, const Operands& operands) {
  Tensor in = operands.in("_ain"), rhs = operands.in("_bin"), out = operands.out("_bout");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, rhs, out);
  with_field({in.type(), rhs.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    Square<T> a(in.read<T>(), n);
    std::vector<std::int64_t> pivots;
    if (const std::int64_t info = factorise(a, pivots); info != 0)
      throw Error(ErrorClass::kLaunch,
                  "library node Solve: the matrix is singular (pivot " + std::to_string(info) + ")");
    std::vector<T> x = rhs.read<T>();
    substitute(a, pivots, x, columns_of(operands, rhs, n));
    out.write(x);
  });
}

void run_op(const ir::Inv&, const Operands& operands) {
  Tensor in = operands.in("_ain"), out = operands.out("_aout");
  const std::int64_t n = order_of(operands, in);
  check_same(operands, in, out);
  with_field({in.type(), out.type()}, [&](auto zero) {
    using T = decltype(zero);
    Square<T> a(in.read<T>(), n);
    std::vector<std::int64_t> pivots;
    if (const std::int64_t info = factorise(a, pivots); info != 0)
      throw Error(ErrorClass::kLaunch, "library node Inv: the matrix is singular (pivot " + std::to_string(info) + ")");
    std::vector<T> x(static_cast<std::size_t>(n * n), T{});
    for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i * n + i)] = T{1};
    substitute(a, pivots, x, n);
    out.write(x);
  });
}

}  // namespace sdfg::interpret
