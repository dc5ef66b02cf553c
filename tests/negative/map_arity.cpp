// The body of a map takes one index per range.
// expect: the body of g.map takes one index per range
#include <sdfg/builder.hpp>

void f(sdfg::Builder& g) {
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto B = g.array<double>("B", {N, N});
  auto F = g.array<float>("F", {N, N});
  auto I = g.array<int>("I", {N});
  static_cast<void>(B), static_cast<void>(F), static_cast<void>(I), static_cast<void>(A);
  g.map({"i", 0, N}, {"j", 0, N}, [&](sdfg::Index i) { A(i, i) = 1; });
}
