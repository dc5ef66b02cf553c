// C = A B three ways: maps with an accumulation, whole arrays, and a loop with a local sum.
#include "example.hpp"

using Signature = void(const double*, const double*, double*, std::int64_t, std::int64_t, std::int64_t);

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  const std::int64_t m = 61, n = 47, k = 53;
  const std::vector<double> a = example::numbers(m * k, 1), b = example::numbers(k * n, 2);
  std::vector<double> expected(m * n, 0.0);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l) expected[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  int status = 0;
  auto run = [&](const sdfg::Builder& g) {
    auto f = sdfg::compile<Signature>(g);
    example::report(f);
    std::vector<double> c(m * n, -1.0);
    f(a.data(), b.data(), c.data(), m, n, k);
    status |= example::check(g.name(), example::difference(c, expected), 1e-13);
  };

  {
    sdfg::Builder g("matmul_maps");
    auto M = g.symbol("M"), N = g.symbol("N"), K = g.symbol("K");
    auto A = g.array<double>("A", {M, K}), B = g.array<double>("B", {K, N}), C = g.array<double>("C", {M, N});
    C = 0.0;
    g.map({"i", 0, M}, {"j", 0, N}, {"l", 0, K}, [&](auto i, auto j, auto l) { C(i, j) += A(i, l) * B(l, j); });
    run(g);
  }
  {
    sdfg::Builder g("matmul_whole");
    auto M = g.symbol("M"), N = g.symbol("N"), K = g.symbol("K");
    auto A = g.array<double>("A", {M, K}), B = g.array<double>("B", {K, N}), C = g.array<double>("C", {M, N});
    C = sdfg::matmul(A, B);
    run(g);
  }
  {
    sdfg::Builder g("matmul_sum");
    auto M = g.symbol("M"), N = g.symbol("N"), K = g.symbol("K");
    auto A = g.array<double>("A", {M, K}), B = g.array<double>("B", {K, N}), C = g.array<double>("C", {M, N});
    g.map({"i", 0, M}, {"j", 0, N}, [&](auto i, auto j) {
      auto s = g.local("s", 0.0);
      g.loop("l", 0, K, [&](auto l) { s += A(i, l) * B(l, j); });
      C(i, j) = s();
    });
    run(g);
  }
  return status;
}
