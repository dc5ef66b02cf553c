// The README's program: text, source map, results.
#include <catch2/catch.hpp>
#include <vector>

#include "run_tools.hpp"
#include "support/graph_tools.hpp"

namespace test_jacobi {

using namespace sdfg;
using namespace sdfg::test;

namespace {

void reference(std::vector<double>& a, std::vector<double>& b, std::int64_t n, std::int64_t steps) {
  for (std::int64_t t = 0; t < steps; ++t) {
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      for (std::int64_t i = 1; i < n - 1; ++i) {
        for (std::int64_t j = 1; j < n - 1; ++j) {
          const double* f = from->data();
          (*to)[i * n + j] =
              0.2 * (f[i * n + j] + f[i * n + j - 1] + f[i * n + j + 1] + f[(i - 1) * n + j] + f[(i + 1) * n + j]);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("jacobi_2d prints readable text") {
  check_golden("jacobi_2d.cpp", own_part(emitted(jacobi_2d())));
}

TEST_CASE("jacobi_2d runs like plain loops for sizes from 0 on") {
  Compiled f(jacobi_2d());
  for (const std::int64_t n : {0, 1, 2, 3, 17, 64}) {
    for (const std::int64_t steps : {0, 1, 5}) {
      std::vector<double> a(n * n), b(n * n);
      for (std::int64_t k = 0; k < n * n; ++k) a[k] = static_cast<double>((k * 7919) % 1009) / 7.0;
      std::vector<double> ra = a, rb = b;
      reference(ra, rb, n, steps);
      CHECK(f(a.data(), b.data(), n, steps) == 0);
      CHECK(a == ra);
      CHECK(b == rb);
    }
  }
}

TEST_CASE("every line of a kernel maps to an element") {
  const ir::Graph g = jacobi_2d();
  Compiled f(g);
  std::istringstream in(f.text());
  std::string line;
  int stencils = 0;
  for (std::size_t n = 1; std::getline(in, line); ++n) {
    if (line.find("// stencil") == std::string::npos) continue;
    ++stencils;
    CHECK(f.source().map.origin(n) >= 0);
  }
  CHECK(stencils == 2);
}

}  // namespace test_jacobi
