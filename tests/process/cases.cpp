// The graphs.
#include "cases.hpp"

#include <cmath>
#include <vector>

namespace process {

sdfg::Function<Scale> compile_scale(double factor, const sdfg::Options& options) {
  sdfg::Builder g("scale");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N});
  auto y = g.array<double>("y", {N});
  auto t = g.transient<double>("t", {N});
  g.map({"i", 0, N}, [&](auto i) { t(i) = sdfg::sin(x(i)); });
  g.map({"i", 0, N}, [&](auto i) { y(i) = factor * x(i) + t(i); });
  return sdfg::compile<Scale>(g, options);
}

std::string check_scale(const sdfg::Function<Scale>& function, double factor, std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  std::vector<double> y(x.size(), -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.25 * static_cast<double>(i % 1000) - 17;
  function(x.data(), y.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = factor * x[i] + std::sin(x[i]);
    if (!(std::fabs(y[i] - expected) <= 1e-12 * (1 + std::fabs(expected)))) {
      return "element " + std::to_string(i) + " of " + std::to_string(n) + " is " + std::to_string(y[i]) +
             " instead of " + std::to_string(expected);
    }
  }
  return {};
}

}  // namespace process
