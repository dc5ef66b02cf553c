// y = a x + y: the smallest complete program.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("axpy");
  auto N = g.symbol("N");
  auto a = g.scalar<double>("a");
  auto x = g.array<double>("x", {N});
  auto y = g.array<double>("y", {N});
  g.map({"i", 0, N}, [&](auto i) { y(i) = a() * x(i) + y(i); });

  auto axpy = sdfg::compile<void(double, const double*, double*, std::int64_t)>(g);
  example::report(axpy);

  const std::int64_t n = 100003;
  const std::vector<double> xs = example::numbers(n, 1);
  std::vector<double> ys = example::numbers(n, 2), expected = ys;
  for (std::int64_t i = 0; i < n; ++i) expected[i] = 0.75 * xs[i] + expected[i];
  axpy(0.75, xs.data(), ys.data(), n);
  return example::check("axpy", example::difference(ys, expected), 1e-15);
}
