// Shapes of maps: nested, strided, triangular, tiled, empty.
#include "harness.hpp"

namespace test_maps {

using namespace sdfg;
using namespace sdfg::test;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;

// A graph of one map that writes 1 + 10 i + j at [i, j], and what a predicate of (i, j) says of it.
void check_map(const std::string& ranges, std::int64_t n, std::int64_t k,
               const std::function<bool(std::int64_t, std::int64_t)>& inside) {
  Maker m;
  m.array("B", kI, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.tasklet(m.map(m.body(), "i, j", ranges), "o = 1 + 10 * i + j", {}, {"o = B[i, j]"});
  Memory start;
  start.array("B", numbers<std::int64_t>(n * k)).value("N", n).value("M", k);
  check(m, start, [&](Memory& w) {
    auto b = w.get<std::int64_t>("B");
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < k; ++j)
        if (inside(i, j)) b[at(i * k + j)] = 1 + 10 * i + j;
  });
}
}  // namespace

TEST_CASE("map with steps", "[run]") {
  for (auto [n, k] : {std::pair(7, 11), std::pair(1, 3), std::pair(0, 4)})
    check_map("0:N:2, 1:M:3", n, k, [](auto i, auto j) { return i % 2 == 0 && j % 3 == 1; });
}
TEST_CASE("triangular map", "[run]") {
  for (std::int64_t n : {0, 1, 2, 9}) check_map("0:N, 0:i + 1", n, n, [](auto i, auto j) { return j <= i; });
}
TEST_CASE("upper triangular map with a gap", "[run]") {
  for (std::int64_t n : {0, 1, 2, 9}) check_map("0:N, i + 2:N", n, n, [](auto i, auto j) { return j >= i + 2; });
}
TEST_CASE("map over a band", "[run]") {
  check_map("0:N, max(0, i - 2):min(M, i + 3)", 9, 7, [](auto i, auto j) { return j >= i - 2 && j < i + 3; });
}
TEST_CASE("empty and reversed ranges run nothing", "[run]") {
  check_map("N:0, 0:M", 5, 5, [](auto, auto) { return false; });
  check_map("0:N, 3:3", 5, 5, [](auto, auto) { return false; });
  check_map("0:N, 4:2", 5, 5, [](auto, auto) { return false; });
}

TEST_CASE("tiled map pair with a clipped remainder", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.symbol("N");
  auto& tiles = m.map(m.body(), "t", "0:N:8");
  m.tasklet(m.map(tiles, "i", "t:min(N, t + 8)"), "o = a + t", {"a = A[i]"}, {"o = A[i]"});
  for (std::int64_t n : {0, 1, 7, 8, 9, 37}) {
    Memory start;
    start.array("A", numbers(n)).value("N", n);
    check(m, start, [](Memory& w) {
      auto a = w.get<double>("A");
      for (std::size_t i = 0; i < a.size(); ++i) a[i] += static_cast<double>(i / 8 * 8);
    });
  }
}

TEST_CASE("tiled map with a floor division in the bounds", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.symbol("N");
  auto& tiles = m.map(m.body(), "t", "0:(N + 3) // 4");
  m.tasklet(m.map(tiles, "i", "4 * t:min(N, 4 * t + 4)"), "o = a * 2 + t", {"a = A[i]"}, {"o = A[i]"});
  for (std::int64_t n : {0, 1, 4, 10}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).value("N", n);
    check(m, start, [](Memory& w) {
      auto a = w.get<std::int64_t>("A");
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] * 2 + static_cast<std::int64_t>(i / 4);
    });
  }
}

TEST_CASE("maps nested three deep with a loop between", "[run]") {
  Maker m;
  m.array("A", kI, "N, M, 4");
  m.symbol("N");
  m.symbol("M");
  auto& outer = m.map(m.body(), "i", "0:N");
  auto& loop = m.loop(outer, "r", "0", "r < 3", "r + 1");
  auto& middle = m.map(loop, "j", "0:M");
  m.tasklet(m.map(middle, "k", "0:4"), "o = a + r * k + i", {"a = A[i, j, k]"}, {"o = A[i, j, k]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(5 * 3 * 4)).value("N", 5).value("M", 3);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A");
    for (std::int64_t x = 0; x < 60; ++x) a[at(x)] += 3 * (x % 4) + 3 * (x / 12);
  });
}

TEST_CASE("parallel schedule asked for by hand", "[run]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.symbol("N");
  m.symbol("M");
  auto& outer = m.map(m.body(), "i", "0:N", ir::Schedule::kParallel);
  m.tasklet(m.map(outer, "j", "0:M", ir::Schedule::kSequential), "o = a * i + j", {"a = A[i, j]"}, {"o = A[i, j]"});
  for (auto [n, k] : {std::pair(0, 4), std::pair(1, 1), std::pair(67, 31)}) {
    Memory start;
    start.array("A", numbers(n * k)).value("N", n).value("M", k);
    check(m, start, [k = k](Memory& w) {
      auto a = w.get<double>("A");
      for (std::size_t x = 0; x < a.size(); ++x)
        a[x] = a[x] * static_cast<double>(x / at(k)) + static_cast<double>(x % at(k));
    });
  }
}

TEST_CASE("a transient per iteration of a map", "[run]") {
  Maker m;
  m.array("A", kD, "N, 5");
  m.array("B", kD, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  auto& block = m.block(body);
  m.transient("row", kD, "5", &block);
  m.scalar("best", kD, &block);
  m.tasklet(m.map(block.body, "j", "0:5"), "o = a * a", {"a = A[i, j]"}, {"o = row[j]"});
  m.tasklet(block.body, "o = -1", {}, {"o = best"});
  m.tasklet(m.loop(block.body, "k", "0", "k < 5", "k + 1"), "o = max(b, r)", {"b = best", "r = row[k]"}, {"o = best"});
  m.tasklet(block.body, "o = b", {"b = best"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers(45)).array("B", numbers(9, 2)).value("N", 9);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < 9; ++i) {
      b[i] = -1;
      for (std::size_t j = 0; j < 5; ++j) b[i] = std::max(b[i], a[i * 5 + j] * a[i * 5 + j]);
    }
  });
}

TEST_CASE("symbols assigned in a map body are private", "[run]") {
  Maker m;
  m.array("I", kI, "N");
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  m.assigned("k");
  auto& body = m.map(m.body(), "i", "0:N");
  m.assign(body, {{"k", "I[i] % N"}});
  m.tasklet(body, "o = a + k", {"a = A[k]"}, {"o = B[i]"});
  Memory start;
  start.array("I", numbers<std::int64_t>(23))
      .array("A", numbers<std::int64_t>(23, 2))
      .array("B", numbers<std::int64_t>(23, 3))
      .value("N", 23);
  check(m, start, [](Memory& w) {
    auto index = w.get<std::int64_t>("I"), a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
    for (std::size_t i = 0; i < 23; ++i) {
      const std::int64_t k = ((index[i] % 23) + 23) % 23;
      b[i] = a[at(k)] + k;
    }
  });
}

TEST_CASE("continue ends one iteration of a map", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  ir::Element& map = m.map_element(m.body(), "i", "0:N");
  auto& body = Maker::body_of(map);
  m.tasklet(body, "o = 1", {}, {"o = B[i]"});
  m.continue_(m.if_(body, {"A[i] < 0"}).branches[0].body, map);
  m.tasklet(body, "o = a", {"a = A[i]"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(23)).array("B", numbers<std::int64_t>(23, 3)).value("N", 23);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
    for (std::size_t i = 0; i < 23; ++i) b[i] = a[i] < 0 ? 1 : a[i];
  });
}

TEST_CASE("a branch in a map body", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  auto& branch = m.if_(body, {"A[i] > 1.5", "i % 2 == 0", ""});
  m.tasklet(branch.branches[0].body, "o = a", {"a = A[i]"}, {"o = B[i]"});
  m.tasklet(branch.branches[1].body, "o = -a", {"a = A[i]"}, {"o = B[i]"});
  m.tasklet(branch.branches[2].body, "o = i", {}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers(41)).array("B", numbers(41, 3)).value("N", 41);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < 41; ++i) b[i] = a[i] > 1.5 ? a[i] : i % 2 == 0 ? -a[i] : static_cast<double>(i);
  });
}

}  // namespace test_maps
