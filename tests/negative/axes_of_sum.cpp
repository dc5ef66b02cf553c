// There are not more axes than dimensions.
// expect: more axes than dimensions
#include <sdfg/builder.hpp>

void f(sdfg::Builder& g) {
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto B = g.array<double>("B", {N, N});
  auto F = g.array<float>("F", {N, N});
  auto I = g.array<int>("I", {N});
  static_cast<void>(B), static_cast<void>(F), static_cast<void>(I), static_cast<void>(A);
  I(0) = sdfg::cast<int>(sum(A, sdfg::axes(0, 1, 2)));
}
