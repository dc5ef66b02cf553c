// WCR: every operator and type, whole and partial reductions, histograms, custom functions, scans.
#include <algorithm>
#include <complex>
#include <numeric>

#include "harness.hpp"

namespace test_reductions {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;

// Reduces A over a map into R[0], which starts with `init`.
template <typename T, typename F>
void check_reduction(const std::string& op, T init, F combine, double tolerance = kExact) {
  Maker m;
  m.array("A", kScalarTypeOf<T>, "N");
  m.array("R", kScalarTypeOf<T>, "1");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = A[i]"}, {"o = R[0] | " + op});
  for (std::int64_t n : {0, 1, 2, 17, 1000}) {
    Memory start;
    start.array("A", numbers<T>(n)).array("R", std::vector<T>{init}).value("N", n);
    check(
        m, start,
        [&](Memory& w) {
          auto r = w.get<T>("R");
          for (T v : w.get<T>("A")) r[0] = static_cast<T>(combine(r[0], v));
        },
        tolerance);
  }
}

template <typename T>
void check_all_operators() {
  check_reduction<T>("sum", T(3), [](T a, T b) { return static_cast<T>(a + b); });
  check_reduction<T>("min", T(100), [](T a, T b) { return std::min(a, b); });
  check_reduction<T>("max", T(1), [](T a, T b) { return std::max(a, b); });
  if constexpr (std::is_integral_v<T>) {
    check_reduction<T>("product", T(3), [](T a, T b) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    });
    check_reduction<T>("band", T(127), [](T a, T b) { return static_cast<T>(a & b); });
    check_reduction<T>("bor", T(1), [](T a, T b) { return static_cast<T>(a | b); });
    check_reduction<T>("bxor", T(1), [](T a, T b) { return static_cast<T>(a ^ b); });
    check_reduction<T>("and", T(1), [](T a, T b) { return static_cast<T>(a != 0 && b != 0); });
    check_reduction<T>("or", T(0), [](T a, T b) { return static_cast<T>(a != 0 || b != 0); });
    check_reduction<T>("xor", T(0), [](T a, T b) { return static_cast<T>((a != 0) != (b != 0)); });
  }
}

}  // namespace

TEST_CASE("reductions of every operator: int64", "[run]") {
  check_all_operators<std::int64_t>();
}
TEST_CASE("reductions of every operator: int32", "[run]") {
  check_all_operators<std::int32_t>();
}
TEST_CASE("reductions of every operator: uint64", "[run]") {
  check_all_operators<std::uint64_t>();
}
TEST_CASE("reductions of every operator: uint8", "[run]") {
  check_all_operators<std::uint8_t>();
}
TEST_CASE("reductions of every operator: int16", "[run]") {
  check_all_operators<std::int16_t>();
}
TEST_CASE("reductions of every operator: float64", "[run]") {
  check_all_operators<double>();
}
TEST_CASE("reductions of every operator: float32", "[run]") {
  check_all_operators<float>();
}
TEST_CASE("complex sums and products", "[run]") {
  using C = std::complex<double>;
  check_reduction<C>("sum", C(1, 2), [](C a, C b) { return a + b; });
  Maker m;
  m.array("A", ScalarType::kComplex128, "N");
  m.array("R", ScalarType::kComplex128, "1");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = A[i]"}, {"o = R[0] | product"});
  Memory start;
  start.array("A", numbers<C>(6)).array("R", std::vector<C>{{1, 1}}).value("N", 6);
  check(
      m, start,
      [](Memory& w) {
        auto r = w.get<C>("R");
        for (C v : w.get<C>("A")) r[0] *= v;
      },
      kReassociated);
}
TEST_CASE("a custom commutative WCR", "[run]") {
  check_reduction<std::int64_t>("custom a + 3 * b", std::int64_t{1},
                                [](std::int64_t a, std::int64_t b) { return a + 3 * b; });
  check_reduction<double>(
      "custom a if abs(a) > abs(b) else b", 0.5, [](double a, double b) { return std::abs(a) > std::abs(b) ? a : b; },
      1e300);
}

TEST_CASE("row and column sums", "[run]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.array("R", kD, "N");
  m.array("C", kD, "M");
  m.symbol("N");
  m.symbol("M");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = 0", {}, {"o = R[i]"});
  m.tasklet(m.map(m.body(), "k, l", "0:N, 0:M"), "o = a", {"a = A[k, l]"}, {"o = R[k] | sum"});
  m.tasklet(m.map(m.body(), "p, q", "0:N, 0:M"), "o = a", {"a = A[p, q]"}, {"o = C[q] | sum"});
  for (auto [n, k] : {std::pair(0, 3), std::pair(3, 0), std::pair(1, 1), std::pair(11, 7)}) {
    Memory start;
    start.array("A", numbers(n * k)).array("R", numbers(n, 2)).array("C", numbers(k, 3)).value("N", n).value("M", k);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<double>("A"), r = w.get<double>("R"), c = w.get<double>("C");
      for (int i = 0; i < n; ++i) r[at(i)] = 0;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) {
          r[at(i)] += a[at(i * k + j)];
          c[at(j)] += a[at(i * k + j)];
        }
    });
  }
}

TEST_CASE("matmul as a map with a sum", "[run]") {
  Maker m;
  m.array("A", kD, "N, K");
  m.array("B", kD, "K, M");
  m.array("C", kD, "N, M");
  for (const char* s : {"N", "K", "M"}) m.symbol(s);
  m.tasklet(m.map(m.body(), "z, y", "0:N, 0:M"), "o = 0", {}, {"o = C[z, y]"});
  m.tasklet(m.map(m.body(), "i, j, k", "0:N, 0:M, 0:K"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
            {"o = C[i, j] | sum"});
  for (auto [n, k, p] :
       {std::tuple(0, 2, 3), std::tuple(2, 0, 3), std::tuple(1, 1, 1), std::tuple(5, 7, 3), std::tuple(13, 17, 11)}) {
    Memory start;
    start.array("A", numbers(n * k))
        .array("B", numbers(k * p, 2))
        .array("C", numbers(n * p, 3))
        .value("N", n)
        .value("K", k)
        .value("M", p);
    check(m, start, [n, k, p](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B"), c = w.get<double>("C");
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < p; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l) sum += a[at(i * k + l)] * b[at(l * p + j)];
          c[at(i * p + j)] = sum;
        }
    });
  }
}

TEST_CASE("a dot product into a transient scalar that is used afterwards", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  m.scalar("s", kD);
  m.tasklet(m.body(), "o = 0", {}, {"o = s"});
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a * b", {"a = A[i]", "b = B[i]"}, {"o = s | sum"});
  m.tasklet(m.map(m.body(), "j", "0:N"), "o = b - v", {"b = B[j]", "v = s"}, {"o = B[j]"});
  for (std::int64_t n : {0, 1, 50}) {
    Memory start;
    start.array("A", numbers(n)).array("B", numbers(n, 2)).value("N", n);
    check(m, start, [](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B");
      double s = 0;
      for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
      for (double& v : b) v -= s;
    });
  }
}

TEST_CASE("two reductions in one tasklet", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("R", kI, "2");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "s = a\nt = a", {"a = A[i]"}, {"s = R[0] | sum", "t = R[1] | max"});
  Memory start;
  start.array("A", numbers<std::int64_t>(33)).array("R", std::vector<std::int64_t>{5, -50}).value("N", 33);
  check(m, start, [](Memory& w) {
    auto r = w.get<std::int64_t>("R");
    for (std::int64_t v : w.get<std::int64_t>("A")) {
      r[0] += v;
      r[1] = std::max(r[1], v);
    }
  });
}

TEST_CASE("a conditional count", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("R", kI, "1");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "if a > 1:\n    o = 1", {"a = A[i]"}, {"o = R[0] | sum | dynamic"});
  Memory start;
  start.array("A", numbers(77)).array("R", std::vector<std::int64_t>{0}).value("N", 77);
  check(m, start, [](Memory& w) {
    for (double v : w.get<double>("A")) w.get<std::int64_t>("R")[0] += v > 1 ? 1 : 0;
  });
}

TEST_CASE("histogram", "[run]") {
  Maker m;
  m.array("V", kI, "N");
  m.array("H", kI, "B");
  m.symbol("N");
  m.symbol("B");
  m.tasklet(m.map(m.body(), "i", "0:N"), "h[v % B] = 1", {"v = V[i]"}, {"h = H[0:B] | sum | dynamic"});
  for (auto [n, bins] : {std::pair(0, 3), std::pair(1, 1), std::pair(500, 7)}) {
    Memory start;
    start.array("V", numbers<std::int64_t>(n))
        .array("H", numbers<std::int64_t>(bins, 2))
        .value("N", n)
        .value("B", bins);
    check(m, start, [bins = bins](Memory& w) {
      auto h = w.get<std::int64_t>("H");
      for (std::int64_t v : w.get<std::int64_t>("V")) h[at(((v % bins) + bins) % bins)] += 1;
    });
  }
}

TEST_CASE("weighted histogram with a symbol as index", "[run]") {
  Maker m;
  m.array("V", ScalarType::kInt32, "N");
  m.array("W", kD, "N");
  m.array("H", kD, "8");
  m.symbol("N");
  m.assigned("bin");
  auto& body = m.map(m.body(), "i", "0:N");
  m.assign(body, {{"bin", "V[i] % 8"}});
  m.tasklet(body, "o = w", {"w = W[i]"}, {"o = H[bin] | sum"});
  Memory start;
  start.array("V", numbers<std::int32_t>(300)).array("W", numbers(300, 4)).array("H", numbers(8, 2)).value("N", 300);
  check(m, start, [](Memory& w) {
    auto v = w.get<std::int32_t>("V");
    for (std::size_t i = 0; i < v.size(); ++i) w.get<double>("H")[at(((v[i] % 8) + 8) % 8)] += w.get<double>("W")[i];
  });
}

TEST_CASE("an accumulating copy", "[run]") {
  Maker m;
  m.array("A", kI, "N, M");
  m.array("B", kI, "M");
  m.symbol("N");
  m.symbol("M");
  m.copy(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "A[i, 0:M]", "B[0:M] | max");
  Memory start;
  start.array("A", numbers<std::int64_t>(15)).array("B", numbers<std::int64_t>(3, 2)).value("N", 5).value("M", 3);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
    for (std::size_t i = 0; i < 15; ++i) b[i % 3] = std::max(b[i % 3], a[i]);
  });
}

TEST_CASE("prefix sums as a loop", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("P", kI, "N + 1");
  m.symbol("N");
  m.tasklet(m.body(), "o = 0", {}, {"o = P[0]"});
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "o = p + a", {"p = P[i]", "a = A[i]"}, {"o = P[i + 1]"});
  for (std::int64_t n : {0, 1, 23}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).array("P", numbers<std::int64_t>(n + 1, 2)).value("N", n);
    check(m, start, [](Memory& w) {
      auto a = w.get<std::int64_t>("A"), p = w.get<std::int64_t>("P");
      p[0] = 0;
      for (std::size_t i = 0; i < a.size(); ++i) p[i + 1] = p[i] + a[i];
    });
  }
}

TEST_CASE("minimum of float values with NaN among them", "[run]") {
  Maker m;
  m.array("A", kD, "4");
  m.array("R", kD, "2");
  m.tasklet(m.body(), "lo = min(a[0], a[1])\nhi = max(a[2], a[3])", {"a = A[0:4]"}, {"lo = R[0]", "hi = R[1]"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Memory start;
  start.array("A", std::vector<double>{nan, 2.0, 3.0, nan}).array("R", std::vector<double>{0, 0});
  check(m, start, [](Memory& w) {
    w.get<double>("R")[0] = 2.0;
    w.get<double>("R")[1] = 3.0;
  });
}

}  // namespace test_reductions
