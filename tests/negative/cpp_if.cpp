// C++'s if on a value of the graph is an error that points to g.if_.
// expect: a value of the graph is not known while the graph is built
#include <sdfg/builder.hpp>

void f(sdfg::Builder& g) {
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto B = g.array<double>("B", {N, N});
  auto F = g.array<float>("F", {N, N});
  auto I = g.array<int>("I", {N});
  static_cast<void>(B), static_cast<void>(F), static_cast<void>(I), static_cast<void>(A);
  if (A(0, 0) > 0) A(0, 0) = 1;
}
