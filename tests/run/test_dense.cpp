// Factorisations and solves on both sides of the order from which LAPACK is called.
#include <cmath>
#include <random>

#include "harness.hpp"

namespace test_dense {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;

// A well-conditioned matrix: random, with a heavy diagonal.
std::vector<double> matrix(std::int64_t n, bool symmetric) {
  std::mt19937 random(static_cast<unsigned>(n) + 7);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double v = number(random);
      a[static_cast<std::size_t>(i * n + j)] = v + (i == j ? 2.0 * static_cast<double>(n) : 0.0);
      if (symmetric && j < i) a[static_cast<std::size_t>(i * n + j)] = a[static_cast<std::size_t>(j * n + i)];
    }
  }
  return a;
}

constexpr std::int64_t kOrders[] = {0, 1, 2, 7, 63, 64, 97};

}  // namespace

TEST_CASE("cholesky of small and large matrices", "[run]") {
  for (const bool lower : {true, false}) {
    Maker m;
    m.array("A", kD, "N, N");
    m.array("L", kD, "N, N");
    m.symbol("N");
    m.library(m.body(), ir::Cholesky{lower}, {"_a = A"}, {"_b = L"});
    for (const std::int64_t n : kOrders) {
      Memory start;
      start.array("A", matrix(n, true)).array("L", numbers(n * n)).value("N", n);
      check(
          m, start,
          [&](Memory& w) {
            const auto a = w.get<double>("A");
            auto l = w.get<double>("L");
            const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
              return l[static_cast<std::size_t>(lower ? i * n + j : j * n + i)];
            };
            std::fill(l.begin(), l.end(), 0.0);
            for (std::int64_t j = 0; j < n; ++j) {
              for (std::int64_t i = j; i < n; ++i) {
                double sum = a[static_cast<std::size_t>(i * n + j)];
                for (std::int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
                at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
              }
            }
          },
          kReassociated);
    }
  }
}

TEST_CASE("linear systems of small and large matrices", "[run]") {
  Maker m;
  m.array("A", kD, "N, N");
  m.array("B", kD, "N, 3");
  m.array("X", kD, "N, 3");
  m.symbol("N");
  m.library(m.body(), ir::Solve{}, {"_ain = A", "_bin = B"}, {"_bout = X"});
  for (const std::int64_t n : kOrders) {
    // Rows in another order, so that pivoting has work to do.
    std::vector<double> a = matrix(n, false);
    for (std::int64_t i = 0; i + 1 < n; i += 2) {
      for (std::int64_t j = 0; j < n; ++j)
        std::swap(a[static_cast<std::size_t>(i * n + j)], a[static_cast<std::size_t>((i + 1) * n + j)]);
    }
    Memory start;
    start.array("A", a).array("B", numbers(n * 3, 2)).array("X", numbers(n * 3)).value("N", n);
    check(
        m, start,
        [&](Memory& w) {
          std::vector<double> lu(a);
          const auto b = w.get<double>("B");
          auto x = w.get<double>("X");
          std::copy(b.begin(), b.end(), x.begin());
          for (std::int64_t j = 0; j < n; ++j) {
            std::int64_t pivot = j;
            for (std::int64_t i = j; i < n; ++i) {
              if (std::abs(lu[static_cast<std::size_t>(i * n + j)]) >
                  std::abs(lu[static_cast<std::size_t>(pivot * n + j)]))
                pivot = i;
            }
            for (std::int64_t k = 0; k < n; ++k)
              std::swap(lu[static_cast<std::size_t>(j * n + k)], lu[static_cast<std::size_t>(pivot * n + k)]);
            for (std::int64_t c = 0; c < 3; ++c)
              std::swap(x[static_cast<std::size_t>(j * 3 + c)], x[static_cast<std::size_t>(pivot * 3 + c)]);
            for (std::int64_t i = j + 1; i < n; ++i) {
              const double f = lu[static_cast<std::size_t>(i * n + j)] / lu[static_cast<std::size_t>(j * n + j)];
              for (std::int64_t k = j; k < n; ++k)
                lu[static_cast<std::size_t>(i * n + k)] -= f * lu[static_cast<std::size_t>(j * n + k)];
              for (std::int64_t c = 0; c < 3; ++c)
                x[static_cast<std::size_t>(i * 3 + c)] -= f * x[static_cast<std::size_t>(j * 3 + c)];
            }
          }
          for (std::int64_t i = n - 1; i >= 0; --i) {
            for (std::int64_t c = 0; c < 3; ++c) {
              double sum = x[static_cast<std::size_t>(i * 3 + c)];
              for (std::int64_t k = i + 1; k < n; ++k)
                sum -= lu[static_cast<std::size_t>(i * n + k)] * x[static_cast<std::size_t>(k * 3 + c)];
              x[static_cast<std::size_t>(i * 3 + c)] = sum / lu[static_cast<std::size_t>(i * n + i)];
            }
          }
        },
        1e-8);
  }
}

}  // namespace test_dense
