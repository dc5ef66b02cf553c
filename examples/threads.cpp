// Many threads share one function: it is compiled once, and each call has an execution state of its own.
#include <thread>

#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("smooth");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N}), y = g.array<double>("y", {N});
  auto t = g.transient<double>("t", {N});  // one for every call
  g.map({"i", 0, N}, [&](auto i) { t(i) = x(i) * x(i); });
  g.map({"i", 0, N}, [&](auto i) { y(i) = 0.5 * t(i) + 0.25 * (t(sdfg::max(i - 1, 0)) + t(sdfg::min(i + 1, N - 1))); });

  const std::int64_t n = 20011;
  const int count = 8;
  std::vector<std::vector<double>> got(count, std::vector<double>(n));
  std::vector<std::thread> threads;
  for (int k = 0; k < count; ++k) {
    threads.emplace_back([&, k] {
      // Every thread asks for the function; the first one compiles, the others wait for it.
      auto smooth = sdfg::compile<void(const double*, double*, std::int64_t)>(g.graph());
      const std::vector<double> in = example::numbers(n, static_cast<unsigned>(k));
      for (int repeat = 0; repeat < 20; ++repeat) smooth(in.data(), got[k].data(), n);
    });
  }
  for (std::thread& thread : threads) thread.join();

  double worst = 0;
  for (int k = 0; k < count; ++k) {
    const std::vector<double> in = example::numbers(n, static_cast<unsigned>(k));
    std::vector<double> expected(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const double left = in[std::max<std::int64_t>(i - 1, 0)], right = in[std::min(i + 1, n - 1)];
      expected[i] = 0.5 * in[i] * in[i] + 0.25 * (left * left + right * right);
    }
    worst = std::max(worst, example::difference(got[k], expected));
  }
  std::printf("compilations: %ld\n", static_cast<long>(sdfg::statistics().compilations));
  return example::check("threads", worst, 1e-14);
}
