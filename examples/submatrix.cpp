// A view of a sub-matrix: changes go to the whole matrix, and nothing is copied.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("submatrix");
  auto M = g.symbol("M"), N = g.symbol("N");
  auto A = g.array<double>("A", {M, N});
  auto inner = g.view("inner", A.slice(sdfg::range(1, M - 1), sdfg::range(1, N - 1)));
  inner = 2.0 * inner + 1.0;                                   // all points but the border
  g.map({"j", 0, N - 2}, [&](auto j) { inner(0, j) = 0.0; });  // its first row is the second one of A

  auto f = sdfg::compile<void(double*, std::int64_t, std::int64_t)>(g);
  example::report(f);

  const std::int64_t m = 31, n = 17;
  std::vector<double> a = example::numbers(m * n), expected = a;
  for (std::int64_t i = 1; i < m - 1; ++i) {
    for (std::int64_t j = 1; j < n - 1; ++j) expected[i * n + j] = i == 1 ? 0.0 : 2.0 * expected[i * n + j] + 1.0;
  }
  f(a.data(), m, n);
  return example::check("submatrix", example::difference(a, expected), 1e-15);
}
