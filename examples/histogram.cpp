// Counting into bins found in the data: an accumulation at an index that the graph reads.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("histogram");
  auto N = g.symbol("N"), bins = g.symbol("bins");
  auto data = g.array<double>("data", {N});
  auto counts = g.array<std::int64_t>("counts", {bins});
  counts = 0;
  g.map({"i", 0, N}, [&](auto i) {
    auto bin = g.assign("bin", sdfg::cast<std::int64_t>(data(i) * sdfg::cast<double>(bins)));
    counts(bin) += 1;
  });

  auto histogram = sdfg::compile<void(const double*, std::int64_t*, std::int64_t, std::int64_t)>(g);
  example::report(histogram);

  const std::int64_t n = 200003, b = 37;
  const std::vector<double> values = example::numbers(n);
  std::vector<std::int64_t> got(b, -1), expected(b, 0);
  for (const double v : values) ++expected[static_cast<std::int64_t>(v * static_cast<double>(b))];
  histogram(values.data(), got.data(), n, b);
  return example::check("histogram", example::difference(got, expected), 0);
}
