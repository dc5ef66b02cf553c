// Element-wise maps and stencils in one, two and three dimensions.
#include <cmath>
#include <complex>
#include <limits>

#include "harness.hpp"

namespace test_elementwise {

using namespace sdfg;
using namespace sdfg::test;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;
const std::int64_t kSizes[] = {0, 1, 2, 13, 64};
}  // namespace

TEST_CASE("axpy", "[run]") {
  Maker m;
  m.array("X", kD, "N");
  m.array("Y", kD, "N");
  m.scalar_argument("a", kD);
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = k * x + y", {"k = a", "x = X[i]", "y = Y[i]"}, {"o = Y[i]"});
  for (std::int64_t n : kSizes) {
    Memory start;
    start.array("X", numbers(n)).array("Y", numbers(n, 2)).value("a", 2.5).value("N", n);
    check(m, start, [&](Memory& w) {
      auto x = w.get<double>("X"), y = w.get<double>("Y");
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2.5 * x[i] + y[i];
    });
  }
}

TEST_CASE("a chain of tasklets over a transient", "[run]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.array("B", kD, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.transient("T", kD, "N, M");
  m.tasklet(m.map(m.body(), "i, j", "0:N, 0:M"), "o = a * a", {"a = A[i, j]"}, {"o = T[i, j]"});
  m.tasklet(m.map(m.body(), "k, l", "0:N, 0:M"), "o = sqrt(t) + sin(t) - exp(-t)", {"t = T[k, l]"}, {"o = B[k, l]"});
  for (auto [n, k] : {std::pair(0, 3), std::pair(3, 0), std::pair(1, 1), std::pair(7, 11), std::pair(33, 5)}) {
    Memory start;
    start.array("A", numbers(n * k)).array("B", numbers(n * k, 2)).value("N", n).value("M", k);
    check(m, start, [&](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B");
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double t = a[i] * a[i];
        b[i] = std::sqrt(t) + std::sin(t) - std::exp(-t);
      }
    });
  }
}

TEST_CASE("powers of a half are powers, not roots, at zeros and infinities", "[run]") {
  Maker m;
  for (const char* name : {"A", "R", "S", "T", "U"}) m.array(name, kD, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "r = a ** 0.5\ns = 1.0 / a ** 0.5\nt = a ** -0.5\nu = 1.0 / a ** -0.5",
            {"a = A[i]"}, {"r = R[i]", "s = S[i]", "t = T[i]", "u = U[i]"});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {-0.0, 0.0, -kInf, kInf, 4.0, 2.0, 0.3, -1.0, 1e-310};
  Memory start;
  start.array("A", values).value("N", static_cast<std::int64_t>(values.size()));
  for (const char* name : {"R", "S", "T", "U"}) start.array(name, std::vector<double>(values.size()));
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), r = w.get<double>("R"), s = w.get<double>("S"), t = w.get<double>("T"),
         u = w.get<double>("U");
    for (std::size_t i = 0; i < a.size(); ++i) {
      r[i] = std::pow(a[i], 0.5);
      s[i] = 1.0 / std::pow(a[i], 0.5);  // shows the sign of a zero
      t[i] = std::pow(a[i], -0.5);
      u[i] = 1.0 / std::pow(a[i], -0.5);
    }
  });
}

TEST_CASE("broadcasting a row and a column", "[run]") {
  Maker m;
  m.array("R", kI, "M");
  m.array("C", kI, "N");
  m.array("O", kI, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.tasklet(m.map(m.body(), "i, j", "0:N, 0:M"), "o = r - 3 * c", {"r = R[j]", "c = C[i]"}, {"o = O[i, j]"});
  for (auto [n, k] : {std::pair(0, 2), std::pair(5, 3), std::pair(1, 17)}) {
    Memory start;
    start.array("R", numbers<std::int64_t>(k))
        .array("C", numbers<std::int64_t>(n, 2))
        .array("O", numbers<std::int64_t>(n * k, 3))
        .value("N", n)
        .value("M", k);
    check(m, start, [n, k](Memory& w) {
      auto r = w.get<std::int64_t>("R"), c = w.get<std::int64_t>("C"), o = w.get<std::int64_t>("O");
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) o[at(i * k + j)] = r[at(j)] - 3 * c[at(i)];
    });
  }
}

TEST_CASE("jacobi in one dimension over time", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  m.symbol("T");
  auto& time = m.loop(m.body(), "t", "0", "t < T", "t + 1");
  m.tasklet(m.map(time, "i", "1:N - 1"), "o = 0.25 * l + 0.5 * c + 0.25 * r",
            {"l = A[i - 1]", "c = A[i]", "r = A[i + 1]"}, {"o = B[i]"});
  m.tasklet(m.map(time, "j", "1:N - 1"), "o = 0.25 * l + 0.5 * c + 0.25 * r",
            {"l = B[j - 1]", "c = B[j]", "r = B[j + 1]"}, {"o = A[j]"});
  for (std::int64_t n : {0, 1, 2, 3, 29})
    for (std::int64_t steps : {0, 1, 4}) {
      Memory start;
      start.array("A", numbers(n)).array("B", numbers(n, 2)).value("N", n).value("T", steps);
      check(m, start, [=](Memory& w) {
        auto a = w.get<double>("A"), b = w.get<double>("B");
        for (std::int64_t t = 0; t < steps; ++t) {
          for (std::int64_t i = 1; i < n - 1; ++i)
            b[at(i)] = 0.25 * a[at(i - 1)] + 0.5 * a[at(i)] + 0.25 * a[at(i + 1)];
          for (std::int64_t i = 1; i < n - 1; ++i)
            a[at(i)] = 0.25 * b[at(i - 1)] + 0.5 * b[at(i)] + 0.25 * b[at(i + 1)];
        }
      });
    }
}

TEST_CASE("jacobi in two dimensions over time", "[run]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.array("B", kD, "N, M");
  for (const char* s : {"N", "M", "T"}) m.symbol(s);
  auto& time = m.loop(m.body(), "t", "0", "t < T", "t + 1");
  const auto step = [&](const std::string& from, const std::string& to, const std::string& i, const std::string& j) {
    m.tasklet(m.map(time, i + ", " + j, "1:N - 1, 1:M - 1"), "o = 0.2 * (c + w + e + n + s)",
              {"c = " + from + "[" + i + ", " + j + "]", "w = " + from + "[" + i + ", " + j + " - 1]",
               "e = " + from + "[" + i + ", " + j + " + 1]", "n = " + from + "[" + i + " - 1, " + j + "]",
               "s = " + from + "[" + i + " + 1, " + j + "]"},
              {"o = " + to + "[" + i + ", " + j + "]"});
  };
  step("A", "B", "i", "j");
  step("B", "A", "k", "l");
  for (auto [n, k] : {std::pair(2, 5), std::pair(7, 3), std::pair(11, 13)}) {
    Memory start;
    start.array("A", numbers(n * k)).array("B", numbers(n * k, 2)).value("N", n).value("M", k).value("T", 3);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B");
      const auto sweep = [&](std::span<double> x, std::span<double> y) {
        for (int i = 1; i < n - 1; ++i)
          for (int j = 1; j < k - 1; ++j)
            y[at(i * k + j)] = 0.2 * (x[at(i * k + j)] + x[at(i * k + j - 1)] + x[at(i * k + j + 1)] +
                                      x[at((i - 1) * k + j)] + x[at((i + 1) * k + j)]);
      };
      for (int t = 0; t < 3; ++t) {
        sweep(a, b);
        sweep(b, a);
      }
    });
  }
}

TEST_CASE("heat in three dimensions", "[run]") {
  Maker m;
  m.array("A", kD, "N, M, K");
  m.array("B", kD, "N, M, K");
  for (const char* s : {"N", "M", "K"}) m.symbol(s);
  m.tasklet(m.map(m.body(), "i, j, k", "1:N - 1, 1:M - 1, 1:K - 1"),
            "o = a + 0.125 * (b - 2 * a + c) + 0.125 * (d - 2 * a + e) + 0.125 * (f - 2 * a + g)",
            {"a = A[i, j, k]", "b = A[i + 1, j, k]", "c = A[i - 1, j, k]", "d = A[i, j + 1, k]", "e = A[i, j - 1, k]",
             "f = A[i, j, k + 1]", "g = A[i, j, k - 1]"},
            {"o = B[i, j, k]"});
  for (auto [n, k, l] : {std::tuple(3, 4, 5), std::tuple(2, 9, 9), std::tuple(7, 5, 11)}) {
    Memory start;
    start.array("A", numbers(n * k * l)).array("B", numbers(n * k * l, 2)).value("N", n).value("M", k).value("K", l);
    check(m, start, [n, k, l](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B");
      const auto p = [=](int x, int y, int z) { return at((x * k + y) * l + z); };
      for (int x = 1; x < n - 1; ++x)
        for (int y = 1; y < k - 1; ++y)
          for (int z = 1; z < l - 1; ++z) {
            const double c = a[p(x, y, z)];
            b[p(x, y, z)] = c + 0.125 * (a[p(x + 1, y, z)] - 2 * c + a[p(x - 1, y, z)]) +
                            0.125 * (a[p(x, y + 1, z)] - 2 * c + a[p(x, y - 1, z)]) +
                            0.125 * (a[p(x, y, z + 1)] - 2 * c + a[p(x, y, z - 1)]);
          }
    });
  }
}

TEST_CASE("seidel updates in place, in order", "[run]") {
  Maker m;
  m.array("A", kD, "N, N");
  m.symbol("N");
  auto& i = m.loop(m.body(), "i", "1", "i < N - 1", "i + 1");
  auto& j = m.loop(i, "j", "1", "j < N - 1", "j + 1");
  m.tasklet(j, "o = (a + b + c + d + e) / 5",
            {"a = A[i, j]", "b = A[i - 1, j]", "c = A[i + 1, j]", "d = A[i, j - 1]", "e = A[i, j + 1]"},
            {"o = A[i, j]"});
  for (int n : {1, 3, 12}) {
    Memory start;
    start.array("A", numbers(n * n)).value("N", n);
    check(m, start, [n](Memory& w) {
      auto a = w.get<double>("A");
      for (int x = 1; x < n - 1; ++x)
        for (int y = 1; y < n - 1; ++y)
          a[at(x * n + y)] = (a[at(x * n + y)] + a[at((x - 1) * n + y)] + a[at((x + 1) * n + y)] +
                              a[at(x * n + y - 1)] + a[at(x * n + y + 1)]) /
                             5;
    });
  }
}

TEST_CASE("a stencil with a periodic boundary", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = r - l", {"l = A[(i - 1) % N]", "r = A[(i + 1) % N]"}, {"o = B[i]"});
  for (std::int64_t n : kSizes) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).array("B", numbers<std::int64_t>(n, 2)).value("N", n);
    check(m, start, [n](Memory& w) {
      auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
      for (std::int64_t i = 0; i < n; ++i) b[at(i)] = a[at((i + 1) % n)] - a[at((i + n - 1) % n)];
    });
  }
}

TEST_CASE("a tasklet with branches, a loop and locals", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"),
            "steps = 0\nv = a * a + 1\nwhile v > 1:\n    if v % 2 == 0:\n        v = v // 2\n    elif v % 3 == 0:\n    "
            "    v = v // 3\n        steps += 10\n    else:\n        v = 3 * v + "
            "1\n    steps += 1\n    if steps > 60: break\no = steps",
            {"a = A[i]"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(37)).array("B", numbers<std::int64_t>(37, 2)).value("N", 37);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::int64_t steps = 0, v = a[i] * a[i] + 1;
      while (v > 1) {
        if (v % 2 == 0)
          v /= 2;
        else if (v % 3 == 0) {
          v /= 3;
          steps += 10;
        } else
          v = 3 * v + 1;
        if (++steps > 60) break;
      }
      b[i] = steps;
    }
  });
}

TEST_CASE("Python's floor division and modulo on negative numbers", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.array("C", kD, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = (a // 7) * 1000 + a % 7 + (a // -5) * 100000", {"a = A[i]"}, {"o = B[i]"});
  m.tasklet(body, "o = (a / 4) // 3 + (a / 4) % 3", {"a = A[i]"}, {"o = C[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(40))
      .array("B", numbers<std::int64_t>(40, 2))
      .array("C", numbers(40))
      .value("N", 40);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
    auto c = w.get<double>("C");
    const auto floor_div = [](std::int64_t x, std::int64_t y) {
      return static_cast<std::int64_t>(std::floor(static_cast<double>(x) / static_cast<double>(y)));
    };
    for (std::size_t i = 0; i < a.size(); ++i) {
      b[i] = floor_div(a[i], 7) * 1000 + (a[i] - 7 * floor_div(a[i], 7)) + floor_div(a[i], -5) * 100000;
      const double q = static_cast<double>(a[i]) / 4;
      c[i] = std::floor(q / 3) + (q - 3 * std::floor(q / 3));
    }
  });
}

TEST_CASE("two states in a map body and a scalar between them", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  auto& block = m.block(body);
  m.scalar("s", kD, &block);
  m.tasklet(block.body, "o = a * 3", {"a = A[i]"}, {"o = s"});
  m.tasklet(block.body, "o = v + 1 if v > 0 else v - 1", {"v = s"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers(31)).array("B", numbers(31, 2)).value("N", 31);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = 3 * a[i] > 0 ? 3 * a[i] + 1 : 3 * a[i] - 1;
  });
}

TEST_CASE("register edges between tasklets", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  ir::State& s = m.state(m.map(m.body(), "i", "0:N"));
  m.tasklet(s, "t = a * 2", {"a = A[i]"}, {});
  const ir::Id first = s.nodes.back().id;
  m.tasklet(s, "o = x * x + b", {"b = A[i]"}, {"o = B[i]"});
  ir::Id second = 0;
  for (const auto& n : s.nodes)
    if (std::holds_alternative<ir::Tasklet>(n.kind) && n.id != first) second = n.id;
  std::get<ir::Tasklet>(s.find_node(first)->kind).outputs = {{"t", {}}};
  std::get<ir::Tasklet>(s.find_node(second)->kind).inputs.push_back({"x", {}});
  ir::Memlet& e = m.edge(s, first, second);
  e.src_connector = "t";
  e.dst_connector = "x";
  Memory start;
  start.array("A", numbers(9)).array("B", numbers(9, 2)).value("N", 9);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = 4 * a[i] * a[i] + a[i];
  });
}

}  // namespace test_elementwise
