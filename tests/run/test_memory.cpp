// Layouts, copies, views, data-dependent sizes, lifetimes, constants, aliasing.
#include <complex>

#include "harness.hpp"

namespace test_memory {

using namespace sdfg;
using namespace sdfg::test;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;
}  // namespace

TEST_CASE("arguments with strides, offsets and padding", "[run]") {
  Maker m;
  m.symbol("N");
  m.symbol("M");
  m.array("A", kI, ir::Layout::strided(Maker::extents("N, M"), Maker::extents("M + 3, 1")));
  m.array("B", kI,
          ir::Layout::strided(Maker::extents("N, M"), Maker::extents("1, N + 1"),
                              Maker::extents("(N + 1) * (M + 1)")[0], Maker::extents("-1, 2"), 1));
  m.tasklet(m.map(m.body(), "i, j", "0:N, 0:M"), "o = 2 * a - 1", {"a = A[i, j]"}, {"o = B[i + 1, j - 2]"});
  for (auto [n, k] : {std::pair(1, 1), std::pair(4, 7)}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n * (k + 3)))
        .array("B", numbers<std::int64_t>((n + 1) * (k + 1), 2))
        .value("N", n)
        .value("M", k);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B");
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) b[at(1 + i + j * (n + 1))] = 2 * a[at(i * (k + 3) + j)] - 1;
    });
  }
}

TEST_CASE("a transposed copy by tasklets and a column-major transient", "[run]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.array("B", kD, "M, N");
  m.symbol("N");
  m.symbol("M");
  m.transient("T", kD, "N, M").layout = ir::Layout::column_major(Maker::extents("N, M"));
  m.copy(m.body(), "A[0:N, 0:M]", "T[0:N, 0:M]");
  m.tasklet(m.map(m.body(), "i, j", "0:M, 0:N"), "o = t", {"t = T[j, i]"}, {"o = B[i, j]"});
  for (auto [n, k] : {std::pair(0, 2), std::pair(1, 5), std::pair(6, 11)}) {
    Memory start;
    start.array("A", numbers(n * k)).array("B", numbers(n * k, 2)).value("N", n).value("M", k);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<double>("A"), b = w.get<double>("B");
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) b[at(j * n + i)] = a[at(i * k + j)];
    });
  }
}

TEST_CASE("copies of sub-matrices, rows, columns and strided windows", "[run]") {
  Maker m;
  m.array("A", kI, "7, 9");
  m.array("B", kI, "7, 9");
  m.array("C", kI, "4");
  m.copy(m.body(), "A[1:4, 2:7]", "B[4:7, 0:5]");
  m.copy(m.body(), "A[0, 0:9]", "B[0, 0:9]");
  m.copy(m.body(), "A[0:4, 8]", "C[0:4]");
  m.copy(m.body(), "A[0:7:2, 1]", "B[3, 1:9:2]");
  m.copy(m.body(), "A[6, 8]", "B[6, 8]");
  Memory start;
  start.array("A", numbers<std::int64_t>(63))
      .array("B", numbers<std::int64_t>(63, 2))
      .array("C", numbers<std::int64_t>(4, 3));
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B"), c = w.get<std::int64_t>("C");
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 5; ++j) b[(4 + i) * 9 + j] = a[(1 + i) * 9 + 2 + j];
    for (std::size_t j = 0; j < 9; ++j) b[j] = a[j];
    for (std::size_t i = 0; i < 4; ++i) c[i] = a[i * 9 + 8];
    for (std::size_t i = 0; i < 4; ++i) b[27 + 1 + 2 * i] = a[2 * i * 9 + 1];
    b[62] = a[62];
  });
}

TEST_CASE("a copy reshapes in row-major order", "[run]") {
  Maker m;
  m.array("A", kI, "N, 6");
  m.array("B", kI, "3, 2 * N");
  m.symbol("N");
  m.copy(m.body(), "A[0:N, 0:6]", "B[0:3, 0:2 * N]");
  for (std::int64_t n : {0, 1, 5}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(6 * n)).array("B", numbers<std::int64_t>(6 * n, 2)).value("N", n);
    check(m, start, [](Memory& w) {
      std::copy(w.get<std::int64_t>("A").begin(), w.get<std::int64_t>("A").end(), w.get<std::int64_t>("B").begin());
    });
  }
}

TEST_CASE("a copy converts the element type", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", ScalarType::kInt16, "N");
  m.array("C", ScalarType::kComplex128, "N");
  m.symbol("N");
  m.copy(m.body(), "A[0:N]", "B[0:N]");
  m.copy(m.body(), "B[0:N]", "C[0:N]");
  Memory start;
  start.array("A", numbers(31))
      .array("B", numbers<std::int16_t>(31, 2))
      .array("C", numbers<std::complex<double>>(31))
      .value("N", 31);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A");
    for (std::size_t i = 0; i < a.size(); ++i) {
      w.get<std::int16_t>("B")[i] = static_cast<std::int16_t>(a[i]);
      w.get<std::complex<double>>("C")[i] = static_cast<double>(static_cast<std::int16_t>(a[i]));
    }
  });
}

TEST_CASE("views of rows, of columns and flattened", "[run]") {
  Maker m;
  m.array("A", kI, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.view("flat", kI, ir::Layout::packed(Maker::extents("N * M")), "A[0:N, 0:M]");
  m.tasklet(m.map(m.body(), "k", "0:N * M"), "o = a + k", {"a = flat[k]"}, {"o = flat[k]"});
  auto& loop = m.loop(m.body(), "r", "0", "r < N", "r + 1");
  auto& block = m.block(loop);
  m.view("row", kI, ir::Layout::packed(Maker::extents("M")), "A[r, 0:M]", &block);
  m.view("pair", kI, ir::Layout::packed(Maker::extents("2")), "row[1:3]", &block);
  m.tasklet(block.body, "o = p * 100 + r", {"p = pair[1]"}, {"o = row[0]"});
  auto& last = m.block(m.body());
  m.view("column", kI, ir::Layout::strided(Maker::extents("N"), Maker::extents("M")), "A[0:N, M - 1]", &last);
  m.tasklet(m.map(last.body, "q", "0:N"), "o = -c", {"c = column[q]"}, {"o = column[q]"});
  for (auto [n, k] : {std::pair(1, 3), std::pair(5, 7)}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n * k)).value("N", n).value("M", k);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<std::int64_t>("A");
      for (int i = 0; i < n * k; ++i) a[at(i)] += i;
      for (int r = 0; r < n; ++r) a[at(r * k)] = a[at(r * k + 2)] * 100 + r;
      for (int r = 0; r < n; ++r) a[at(r * k + k - 1)] = -a[at(r * k + k - 1)];
    });
  }
}

TEST_CASE("a view of another element type", "[run]") {
  Maker m;
  m.array("A", ScalarType::kFloat32, "2 * N");
  m.array("S", ScalarType::kInt32, "2 * N");
  m.symbol("N");
  m.view("bits", ScalarType::kInt32, ir::Layout::packed(Maker::extents("2 * N")), "A[0:2 * N]");
  m.view("pairs", ScalarType::kComplex64, ir::Layout::packed(Maker::extents("N")), "A[0:2 * N]");
  m.tasklet(m.map(m.body(), "i", "0:2 * N"), "o = b >> 23", {"b = bits[i]"}, {"o = S[i]"});
  m.tasklet(m.map(m.body(), "j", "0:N"), "o = conj(p)", {"p = pairs[j]"}, {"o = pairs[j]"});
  Memory start;
  start.array("A", numbers<float>(14)).array("S", numbers<std::int32_t>(14)).value("N", 7);
  check(m, start, [](Memory& w) {
    auto a = w.get<float>("A");
    for (std::size_t i = 0; i < 14; ++i) {
      std::int32_t bits = 0;
      std::memcpy(&bits, &a[i], 4);
      w.get<std::int32_t>("S")[i] = bits >> 23;
    }
    for (std::size_t i = 1; i < 14; i += 2) a[i] = -a[i];
  });
}

TEST_CASE("accumulation through a view", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("R", kI, "3");
  m.symbol("N");
  m.view("r", kI, ir::Layout{}, "R[1]");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = A[i]"}, {"o = r | sum"});
  Memory start;
  start.array("A", numbers<std::int64_t>(100)).array("R", numbers<std::int64_t>(3, 2)).value("N", 100);
  check(m, start, [](Memory& w) {
    for (std::int64_t v : w.get<std::int64_t>("A")) w.get<std::int64_t>("R")[1] += v;
  });
}

TEST_CASE("transients sized by data", "[run]") {
  Maker m;
  m.array("C", kI, "1");
  m.array("A", kI, "N");
  m.array("R", kI, "1");
  m.symbol("N");
  m.assigned("n");
  m.tasklet(m.body(), "o = 0", {}, {"o = C[0]"});
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "o = c + (1 if a > 0 else 0)", {"c = C[0]", "a = A[i]"},
            {"o = C[0]"});
  m.assign(m.body(), {{"n", "C[0]"}});
  auto& block = m.block(m.body());
  m.transient("T", kI, "n, 2", &block);
  m.tasklet(m.map(block.body, "p, q", "0:n, 0:2"), "o = p - q", {}, {"o = T[p, q]"});
  m.tasklet(m.map(block.body, "r, s", "0:n, 0:2"), "o = t", {"t = T[r, s]"}, {"o = R[0] | sum"});
  for (std::int64_t n : {0, 1, 50}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n))
        .array("C", std::vector<std::int64_t>{9})
        .array("R", std::vector<std::int64_t>{0})
        .value("N", n);
    check(m, start, [](Memory& w) {
      std::int64_t count = 0;
      for (std::int64_t v : w.get<std::int64_t>("A")) count += v > 0 ? 1 : 0;
      w.get<std::int64_t>("C")[0] = count;
      for (std::int64_t p = 0; p < count; ++p) w.get<std::int64_t>("R")[0] += p + (p - 1);
    });
  }
}

TEST_CASE("zeroed transients are zero at every entry", "[run]") {
  Maker m;
  m.array("A", kI, "4");
  auto& loop = m.loop(m.body(), "i", "0", "i < 4", "i + 1");
  auto& block = m.block(loop);
  m.transient("T", kI, "3", &block).zeroed = true;
  m.tasklet(block.body, "o = t + i + 1", {"t = T[2]"}, {"o = T[2]"});
  m.tasklet(block.body, "o = t", {"t = T[2]"}, {"o = A[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(4));
  check(m, start, [](Memory& w) {
    for (std::int64_t i = 0; i < 4; ++i) w.get<std::int64_t>("A")[at(i)] = i + 1;
  });
}

TEST_CASE("large transients on the heap", "[run]") {
  Maker m;
  m.array("R", kD, "1");
  m.symbol("N");
  m.transient("T", kD, "N, 100");
  m.tasklet(m.map(m.body(), "i, j", "0:N, 0:100"), "o = i + j", {}, {"o = T[i, j]"});
  m.tasklet(m.map(m.body(), "k, l", "0:N, 0:100"), "o = t", {"t = T[k, l]"}, {"o = R[0] | sum"});
  Memory start;
  start.array("R", std::vector<double>{0}).value("N", 300);
  check(m, start, [](Memory& w) {
    for (int i = 0; i < 300; ++i)
      for (int j = 0; j < 100; ++j) w.get<double>("R")[0] += i + j;
  });
}

TEST_CASE("persistent counters and buffers keep their contents between calls", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("R", kD, "2");
  m.symbol("N");
  m.persistent("calls", kI, "", true);
  m.persistent("sums", kD, "N", true);
  m.tasklet(m.body(), "o = c + 1", {"c = calls"}, {"o = calls"});
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = s + a", {"s = sums[i]", "a = A[i]"}, {"o = sums[i]"});
  m.tasklet(m.body(), "o = c\np = s", {"c = calls", "s = sums[N - 1]"}, {"o = R[0]", "p = R[1]"});
  Memory start;
  start.array("A", numbers(9)).array("R", std::vector<double>{0, 0}).value("N", 9);
  double calls = 0, sum = 0;
  check(
      m, start,
      [&](Memory& w) {
        calls += 1;
        sum += w.get<double>("A")[8];
        w.get<double>("R")[0] = calls;
        w.get<double>("R")[1] = sum;
      },
      kRounded, 3);
}

TEST_CASE("external containers without a workspace of the caller", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.symbol("N");
  m.persistent("X", ScalarType::kInt32, "N", false, ir::Lifetime::kExternal);
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a * 2", {"a = A[i]"}, {"o = X[i]"});
  m.tasklet(m.map(m.body(), "j", "0:N"), "o = x", {"x = X[N - 1 - j]"}, {"o = A[j]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(11)).value("N", 11);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A");
    std::reverse(a.begin(), a.end());
    for (std::int64_t& v : a) v *= 2;
  });
}

TEST_CASE("constants: a filter and a scalar", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  m.constant<double>("W", "3", {0.25, 0.5, 0.125});
  m.constant<std::int32_t>("K", "", {7});
  auto& body = m.map(m.body(), "i", "1:N - 1");
  m.tasklet(body, "o = k * (w[0] * a + w[1] * b + w[2] * c)",
            {"k = K", "w = W[0:3]", "a = A[i - 1]", "b = A[i]", "c = A[i + 1]"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers(21)).array("B", numbers(21, 2)).value("N", 21);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 1; i < 20; ++i) b[i] = 7 * (0.25 * a[i - 1] + 0.5 * a[i] + 0.125 * a[i + 1]);
  });
}

TEST_CASE("arguments that overlap", "[run]") {
  Maker m;
  m.array("A", kI, "N").may_alias = true;
  m.array("B", kI, "N").may_alias = true;
  m.symbol("N");
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "o = a + 1", {"a = A[i]"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(20)).alias("B", "A", 3).value("N", 17);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A");
    for (std::size_t i = 0; i < 17; ++i) a[i + 3] = a[i] + 1;
  });
}

TEST_CASE("a library node whose result may overlap its operands", "[run]") {
  constexpr std::size_t kN = 5, kShift = 3;
  Maker m;
  m.array("A", kD, "5, 5").may_alias = true;
  m.array("B", kD, "5, 5").may_alias = true;
  m.library(m.body(), ir::MatMul{}, {"_a = A", "_b = A"}, {"_c = B"});
  Memory start;
  start.array("A", numbers(kN * kN + kShift)).alias("B", "A", kShift);
  check(m, start, [](Memory& w) {
    auto memory = w.get<double>("A");
    const std::vector<double> a(memory.begin(), memory.begin() + kN * kN);
    for (std::size_t i = 0; i < kN; ++i)
      for (std::size_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < kN; ++k) sum += a[i * kN + k] * a[k * kN + j];
        memory[kShift + i * kN + j] = sum;
      }
  });
}

TEST_CASE("copies between views of arguments that overlap", "[run]") {
  Maker m;
  m.array("A", kI, "6, 7").may_alias = true;
  m.array("B", kI, "6, 7").may_alias = true;
  m.view("V", kI, ir::Layout::strided(Maker::extents("6, 5"), Maker::extents("7, 1")), "A[0:6, 0:5]");
  m.copy(m.body(), "V[0:6, 0:5]", "B[0:6, 2:7]");
  Memory start;
  start.array("A", numbers<std::int64_t>(52)).alias("B", "A", 10);
  check(m, start, [](Memory& w) {
    auto memory = w.get<std::int64_t>("A");
    const std::vector<std::int64_t> a(memory.begin(), memory.end());
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 5; ++j) memory[10 + i * 7 + 2 + j] = a[i * 7 + j];
  });
}

TEST_CASE("rank-0 arrays and arrays of extent one", "[run]") {
  Maker m;
  m.array("A", kD, "");
  m.array("B", kD, "1");
  m.array("C", kD, "1, 1");
  m.tasklet(m.body(), "o = a + b", {"a = A", "b = B[0]"}, {"o = C[0, 0]"});
  m.copy(m.body(), "C[0, 0]", "A");
  Memory start;
  start.array("A", std::vector<double>{1.5}).array("B", std::vector<double>{2}).array("C", std::vector<double>{0});
  check(m, start, [](Memory& w) { w.get<double>("A")[0] = w.get<double>("C")[0] = 3.5; });
}

}  // namespace test_memory
