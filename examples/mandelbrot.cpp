// Escape times of the Mandelbrot set: complex numbers and a break.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("mandelbrot");
  auto H = g.symbol("H"), W = g.symbol("W"), limit = g.symbol("limit");
  auto out = g.array<std::int32_t>("out", {H, W});
  g.map({"py", 0, H}, {"px", 0, W}, [&](auto py, auto px) {
    auto re = -2.0 + 3.0 * sdfg::cast<double>(px) / sdfg::cast<double>(W);
    auto im = -1.5 + 3.0 * sdfg::cast<double>(py) / sdfg::cast<double>(H);
    auto c = g.local("c", sdfg::make_complex(re, im));
    auto z = g.local("z", std::complex<double>(0.0, 0.0));
    out(py, px) = 0;
    g.loop("n", 0, limit, [&](auto) {
      g.if_(sdfg::real(z()) * sdfg::real(z()) + sdfg::imag(z()) * sdfg::imag(z()) > 4.0, [&] { g.break_(); });
      z = z() * z() + c();
      out(py, px) = out(py, px) + 1;
    });
  });

  auto mandelbrot = sdfg::compile<void(std::int32_t*, std::int64_t, std::int64_t, std::int64_t)>(g);
  example::report(mandelbrot);

  const std::int64_t h = 101, w = 149, most = 60;
  std::vector<std::int32_t> got(h * w, -1), expected(h * w, 0);
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w; ++x) {
      const std::complex<double> c(-2.0 + 3.0 * static_cast<double>(x) / static_cast<double>(w),
                                   -1.5 + 3.0 * static_cast<double>(y) / static_cast<double>(h));
      std::complex<double> z;
      for (std::int64_t k = 0; k < most && z.real() * z.real() + z.imag() * z.imag() <= 4.0; ++k) {
        z = z * z + c;
        ++expected[y * w + x];
      }
    }
  }
  mandelbrot(got.data(), h, w, most);
  // A point whose orbit passes within rounding of the circle may escape a step earlier or later.
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < h * w; ++i) different += got[i] != expected[i] ? 1 : 0;
  return example::check("mandelbrot (share of differing points)",
                        static_cast<double>(different) / static_cast<double>(h * w), 1e-3);
}
