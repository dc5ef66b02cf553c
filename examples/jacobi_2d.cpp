// The README's program: a five-point stencil over time, from graph to a plain function pointer.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("jacobi_2d");
  auto N = g.symbol("N"), T = g.symbol("T");  // int64 parameters
  auto A = g.array<double>("A", {N, N});      // caller-owned, C order
  auto B = g.array<double>("B", {N, N});

  g.loop("t", 0, T, [&](auto) {
    g.map({"i", 1, N - 1}, {"j", 1, N - 1},
          [&](auto i, auto j) { B(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j)); });
    g.map({"i", 1, N - 1}, {"j", 1, N - 1},
          [&](auto i, auto j) { A(i, j) = 0.2 * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i - 1, j) + B(i + 1, j)); });
  });

  std::printf("%s\n", g.text().c_str());
  auto jacobi = sdfg::compile<void(double*, double*, std::int64_t, std::int64_t)>(g);
  example::report(jacobi);

  const std::int64_t n = 1000, steps = 20;
  std::vector<double> a = example::numbers(n * n), b(n * n, 0.0);
  std::vector<double> expected = a, other = b;

  auto start = std::chrono::steady_clock::now();
  jacobi(a.data(), b.data(), n, steps);  // typed call
  const double ours = example::milliseconds_since(start);

  start = std::chrono::steady_clock::now();
  for (std::int64_t t = 0; t < steps; ++t) {
    for (int half = 0; half < 2; ++half) {
      const double* from = half == 0 ? expected.data() : other.data();
      double* to = half == 0 ? other.data() : expected.data();
      for (std::int64_t i = 1; i < n - 1; ++i) {
        for (std::int64_t j = 1; j < n - 1; ++j) {
          to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] +
                                 from[(i + 1) * n + j]);
        }
      }
    }
  }
  const double loops = example::milliseconds_since(start);
  std::printf("run: %.2f ms for %ld steps of %ld x %ld; plain loops on one thread: %.2f ms\n", ours,
              static_cast<long>(steps), static_cast<long>(n), static_cast<long>(n), loops);

  void (*raw)(double*, double*, std::int64_t, std::int64_t) = jacobi.get();  // plain function pointer
  raw(a.data(), b.data(), n, 0);                                             // no steps: nothing changes
  return example::check("jacobi_2d", example::difference(a, expected), 1e-13);
}
