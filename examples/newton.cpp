// Square roots by Newton's method: a while loop whose exit depends on the data.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("newton");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N}), root = g.array<double>("root", {N});
  auto steps = g.array<std::int32_t>("steps", {N});
  g.map({"i", 0, N}, [&](auto i) {
    auto r = g.local("r", sdfg::max(x(i), 1.0));
    auto change = g.local("change", 1.0);
    steps(i) = 0;
    g.while_(change() > 1e-12 * r(), [&] {
      auto next = g.local("next", 0.5 * (r() + x(i) / r()));
      change = sdfg::abs(next() - r());
      r = next();
      steps(i) = steps(i) + 1;
    });
    root(i) = r();
  });

  auto newton = sdfg::compile<void(const double*, double*, std::int32_t*, std::int64_t)>(g);
  example::report(newton);

  const std::int64_t n = 10007;
  std::vector<double> values = example::numbers(n);
  for (double& v : values) v *= 1e6;
  std::vector<double> got(n), expected(n);
  std::vector<std::int32_t> count(n);
  for (std::int64_t i = 0; i < n; ++i) expected[i] = std::sqrt(values[i]);
  newton(values.data(), got.data(), count.data(), n);
  std::printf("the first value took %d steps\n", count[0]);
  return example::check("newton", example::difference(got, expected), 1e-12);
}
