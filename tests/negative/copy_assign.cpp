// Assigning one array to another of the same type would read as rebinding.
// expect: deleted (function|operator)
#include <sdfg/builder.hpp>

void f(sdfg::Builder& g) {
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto B = g.array<double>("B", {N, N});
  auto F = g.array<float>("F", {N, N});
  auto I = g.array<int>("I", {N});
  static_cast<void>(B), static_cast<void>(F), static_cast<void>(I), static_cast<void>(A);
  A = B;
}
