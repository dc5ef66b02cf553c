// Indirect and data-dependent accesses: gathers, scatters, sparse matrices, sorting, queues, structures, callbacks.
#include <algorithm>
#include <cmath>
#include <deque>

#include "harness.hpp"

namespace test_indirect {

using namespace sdfg;
using namespace sdfg::test;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;
}  // namespace

TEST_CASE("gather and scatter through pointer connectors", "[run]") {
  Maker m;
  m.array("A", kD, "M");
  m.array("I", ScalarType::kInt32, "N");
  m.array("B", kD, "M");
  m.symbol("N");
  m.symbol("M");
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "b[k] = a[(k * 7 + 1) % M]", {"a = A[0:M]", "k = I[i]"},
            {"b = B[0:M] | dynamic"});
  Memory start;
  std::vector<std::int32_t> index = numbers<std::int32_t>(40);
  for (auto& v : index) v = std::abs(v) % 13;
  start.array("A", numbers(13)).array("I", index).array("B", numbers(13, 2)).value("N", 40).value("M", 13);
  check(m, start, [](Memory& w) {
    for (std::int32_t k : w.get<std::int32_t>("I"))
      w.get<double>("B")[at(k)] = w.get<double>("A")[at((k * 7 + 1) % 13)];
  });
}

TEST_CASE("a row picked by a symbol, two subscripts on a connector", "[run]") {
  Maker m;
  m.array("A", kI, "N, 4, 3");
  m.array("R", kI, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a[i % 4, 2] - a[0, i % 3]", {"a = A[i, 0:4, 0:3]"}, {"o = R[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(11 * 12)).array("R", numbers<std::int64_t>(11)).value("N", 11);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int64_t>("A");
    for (std::size_t i = 0; i < 11; ++i) w.get<std::int64_t>("R")[i] = a[i * 12 + (i % 4) * 3 + 2] - a[i * 12 + i % 3];
  });
}

TEST_CASE("sparse matrix-vector product in CSR form", "[run]") {
  Maker m;
  m.array("rows", ScalarType::kInt32, "N + 1");
  m.array("cols", ScalarType::kInt32, "NNZ");
  m.array("vals", kD, "NNZ");
  m.array("x", kD, "M");
  m.array("y", kD, "N");
  for (const char* s : {"N", "M", "NNZ"}) m.symbol(s);
  m.assigned("first");
  m.assigned("last");
  m.assigned("col");
  auto& row = m.map(m.body(), "i", "0:N");
  m.assign(row, {{"first", "rows[i]"}, {"last", "rows[i + 1]"}});
  m.tasklet(row, "o = 0", {}, {"o = y[i]"});
  auto& entry = m.map(row, "k", "first:last");
  m.assign(entry, {{"col", "cols[k]"}});
  m.tasklet(entry, "o = v * b", {"v = vals[k]", "b = x[col]"}, {"o = y[i] | sum"});
  for (int n : {0, 1, 12}) {
    std::vector<std::int32_t> rows{0}, cols;
    for (int i = 0; i < n; ++i) {
      for (int j = i % 3; j < 7; j += 1 + i % 4) cols.push_back(j);
      rows.push_back(static_cast<std::int32_t>(cols.size()));
    }
    const auto nnz = static_cast<std::int64_t>(cols.size());
    Memory start;
    start.array("rows", rows)
        .array("cols", cols)
        .array("vals", numbers(nnz))
        .array("x", numbers(7, 2))
        .array("y", numbers(n, 3))
        .value("N", n)
        .value("M", 7)
        .value("NNZ", nnz);
    check(m, start, [&](Memory& w) {
      auto y = w.get<double>("y");
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = 0;
        for (std::int32_t k = rows[i]; k < rows[i + 1]; ++k)
          y[i] += w.get<double>("vals")[at(k)] * w.get<double>("x")[at(cols[at(k)])];
      }
    });
  }
}

TEST_CASE("insertion sort", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.symbol("N");
  m.assigned("j");
  m.scalar("v", kI);
  auto& loop = m.loop(m.body(), "i", "1", "i < N", "i + 1");
  m.copy(loop, "A[i]", "v");
  m.assign(loop, {{"j", "i - 1"}});
  auto& shift = m.while_(loop, "j >= 0 and A[j] > v");
  m.copy(shift, "A[j]", "A[j + 1]");
  m.assign(shift, {{"j", "j - 1"}});
  m.copy(loop, "v", "A[j + 1]");
  for (std::int64_t n : {0, 1, 2, 31}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).value("N", n);
    check(m, start, [](Memory& w) { std::sort(w.get<std::int64_t>("A").begin(), w.get<std::int64_t>("A").end()); });
  }
}

TEST_CASE("LU factorisation in place", "[run]") {
  Maker m;
  m.array("A", kD, "N, N");
  m.symbol("N");
  auto& k = m.loop(m.body(), "k", "0", "k < N", "k + 1");
  m.tasklet(m.map(k, "i", "k + 1:N"), "o = a / p", {"a = A[i, k]", "p = A[k, k]"}, {"o = A[i, k]"});
  m.tasklet(m.map(k, "r, c", "k + 1:N, k + 1:N"), "o = a - l * u", {"a = A[r, c]", "l = A[r, k]", "u = A[k, c]"},
            {"o = A[r, c]"});
  for (int n : {0, 1, 9}) {
    std::vector<double> a = numbers(n * n);
    for (int i = 0; i < n; ++i) a[at(i * n + i)] += 40;
    Memory start;
    start.array("A", a).value("N", n);
    check(
        m, start,
        [n](Memory& w) {
          auto x = w.get<double>("A");
          for (int p = 0; p < n; ++p)
            for (int i = p + 1; i < n; ++i) {
              x[at(i * n + p)] /= x[at(p * n + p)];
              for (int j = p + 1; j < n; ++j) x[at(i * n + j)] -= x[at(i * n + p)] * x[at(p * n + j)];
            }
        },
        kReassociated);
  }
}

TEST_CASE("shortest paths", "[run]") {
  Maker m;
  m.array("D", ScalarType::kInt32, "N, N");
  m.symbol("N");
  auto& k = m.loop(m.body(), "k", "0", "k < N", "k + 1");
  m.tasklet(m.map(k, "i, j", "0:N, 0:N"), "o = min(d, a + b)", {"d = D[i, j]", "a = D[i, k]", "b = D[k, j]"},
            {"o = D[i, j]"});
  const int n = 11;
  std::vector<std::int32_t> d = numbers<std::int32_t>(n * n);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = i % (n + 1) == 0 ? 0 : std::abs(d[i]) + 1;
  Memory start;
  start.array("D", d).value("N", n);
  check(m, start, [](Memory& w) {
    auto x = w.get<std::int32_t>("D");
    for (int p = 0; p < n; ++p)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) x[at(i * n + j)] = std::min(x[at(i * n + j)], x[at(i * n + p)] + x[at(p * n + j)]);
  });
}

TEST_CASE("mandelbrot with complex numbers", "[run]") {
  Maker m;
  m.array("C", ScalarType::kInt32, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.tasklet(m.map(m.body(), "y, x", "0:N, 0:M"),
            "c = dace.complex128(x * 3.0 / M - 2.0) + 1j * (y * 2.0 / N - 1.0)\nz = dace.complex128(0)\nn = 0\nwhile n "
            "< 50 and real(z) * real(z) + imag(z) * imag(z) < 4.0:\n    z = z * z + c\n    n += 1\no = n",
            {}, {"o = C[y, x]"});
  Memory start;
  start.array("C", numbers<std::int32_t>(7 * 9)).value("N", 7).value("M", 9);
  check(m, start, [](Memory& w) {
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 9; ++x) {
        const double cr = x * 3.0 / 9 - 2.0, ci = y * 2.0 / 7 - 1.0;
        double zr = 0, zi = 0;
        int n = 0;
        while (n < 50 && zr * zr + zi * zi < 4.0) {
          const double r = zr * zr - zi * zi + cr;
          zi = zr * zi + zi * zr + ci;
          zr = r;
          ++n;
        }
        w.get<std::int32_t>("C")[at(y * 9 + x)] = n;
      }
  });
}

namespace {
double smooth(double x, std::int64_t k) {
  return x * 0.5 + static_cast<double>(k);
}
std::int64_t g_calls = 0;
void count() {
  ++g_calls;
}
}  // namespace

TEST_CASE("callbacks into the host", "[run]") {
  Maker m;
  m.array("A", kD, "N");
  m.symbol("N");
  m.symbol("f", Type::callback({Type(kD)}, {Type(kD), Type(kI)}));
  m.symbol("done", Type::callback({}, {}));
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "o = f(a, i)", {"a = A[i]"}, {"o = A[i]"});
  ir::Tasklet& t = m.tasklet(m.body(), "done()", {}, {});
  t.side_effects = true;
  Memory start;
  start.array("A", numbers(9))
      .value("N", 9)
      .function("f", reinterpret_cast<void (*)()>(&smooth))
      .function("done", &count);
  g_calls = 0;
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A");
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = smooth(a[i], static_cast<std::int64_t>(i));
  });
  REQUIRE(g_calls == static_cast<std::int64_t>(targets().size()));
}

namespace {
struct Pair {
  std::int32_t factor;
  double* data;
};
}  // namespace

TEST_CASE("a structure of the caller", "[run]") {
  Maker m;
  m.symbol("N");
  ir::Container st;
  st.name = "st";
  st.kind = ir::ContainerKind::kStructure;
  ir::Container factor, data;
  factor.name = "factor";
  factor.kind = ir::ContainerKind::kScalar;
  factor.type = ScalarType::kInt32;
  data.name = "data";
  data.type = kD;
  data.layout = ir::Layout::packed(Maker::extents("N"));
  st.members = {factor, data};
  m.g.containers.insert(st);
  m.g.parameters.insert(m.g.parameters.begin(), "st");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = v * f", {"v = st.data[i]", "f = st.factor"}, {"o = st.data[i]"});
  Pair pair{};
  Memory start;
  start.array("data", numbers(13)).value("N", 13).raw("st", [&](Memory& w) -> void* {
    pair = {3, w.get<double>("data").data()};
    return &pair;
  });
  check(m, start, [](Memory& w) {
    for (double& v : w.get<double>("data")) v *= 3;
  });
}

TEST_CASE("a stream collects what passes a test", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  m.stream("S", kI);
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "if a % 2 == 0:\n    o = a", {"a = A[i]"},
            {"o = S | dynamic"});
  m.copy(m.body(), "S", "B[0:N]");
  Memory start;
  start.array("A", numbers<std::int64_t>(40)).array("B", std::vector<std::int64_t>(40, -1)).value("N", 40);
  check(m, start, [](Memory& w) {
    std::size_t k = 0;
    for (std::int64_t v : w.get<std::int64_t>("A"))
      if (v % 2 == 0) w.get<std::int64_t>("B")[k++] = v;
  });
}

TEST_CASE("a consume scope makes new work for itself", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("R", kI, "1");
  m.symbol("N");
  m.stream("S", kI);
  m.copy(m.body(), "A[0:N]", "S");
  ir::Consume consume;
  consume.stream = "S";
  consume.element = "e";
  consume.worker = "w";
  consume.num_workers = 3;
  m.g.symbols.insert({"w", kI, ir::BinderKind::kMapParameter, {}, {}, {}, {}});
  ir::Container element;
  element.name = "e";
  element.kind = ir::ContainerKind::kScalar;
  element.type = kI;
  element.transient = true;
  m.g.containers.insert(element);
  auto& body = std::get<ir::Consume>(m.g.append(m.body(), std::move(consume)).kind).body;
  m.tasklet(body, "o = v", {"v = e"}, {"o = R[0] | sum"});
  m.tasklet(m.if_(body, {"e > 3"}).branches[0].body, "o = v // 2", {"v = e"}, {"o = S"});
  Memory start;
  start.array("A", numbers<std::int64_t>(12)).array("R", std::vector<std::int64_t>{0}).value("N", 12);
  check(
      m, start,
      [](Memory& w) {
        auto a = w.get<std::int64_t>("A");
        std::deque<std::int64_t> queue(a.begin(), a.end());
        while (!queue.empty()) {
          const std::int64_t v = queue.front();
          queue.pop_front();
          w.get<std::int64_t>("R")[0] += v;
          if (v > 3) queue.push_back(v / 2);
        }
      },
      kExact);
}

TEST_CASE("an array of streams keeps its queues apart", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.array("C", kI, "N");
  m.symbol("N");
  m.symbol("K");
  m.stream("S", kI, "2, K");
  m.tasklet(m.loop(m.body(), "i", "0", "i < N", "i + 1"), "o = a", {"a = A[i]"}, {"o = S[1, i % K]"});
  m.tasklet(m.loop(m.body(), "j", "0", "j < N", "j + 1"), "b = o", {"o = S[1, K - 1 - j % K]"}, {"b = B[j]"});
  m.copy(m.body(), "A[0:N]", "S[0, K - 1]");
  m.copy(m.body(), "S[0, K - 1]", "C[0:N]");
  for (auto [n, k] : {std::pair(0, 1), std::pair(12, 3), std::pair(7, 1)}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).array("B", numbers<std::int64_t>(n, 2));
    start.array("C", numbers<std::int64_t>(n, 3)).value("N", n).value("K", k);
    check(m, start, [n, k](Memory& w) {
      auto a = w.get<std::int64_t>("A"), b = w.get<std::int64_t>("B"), c = w.get<std::int64_t>("C");
      for (int j = 0; j < n; ++j) {
        b[at(j)] = a[at(j - j % k + (k - 1 - j % k))];
        c[at(j)] = a[at(j)];
      }
    });
  }
}

TEST_CASE("a reference switches between two buffers", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("B", kI, "N");
  m.symbol("N");
  m.reference("R", kI, "N");
  auto& loop = m.loop(m.body(), "t", "0", "t < 5", "t + 1");
  auto& branch = m.if_(loop, {"t % 2 == 0", ""});
  m.copy(branch.branches[0].body, "A[0:N]", "R[0:N]").set_reference = true;
  m.copy(branch.branches[1].body, "B[0:N]", "R[0:N]").set_reference = true;
  m.tasklet(m.map(loop, "i", "0:N"), "o = r + t + i", {"r = R[i]"}, {"o = R[i]"});
  Memory start;
  start.array("A", numbers<std::int64_t>(8)).array("B", numbers<std::int64_t>(8, 2)).value("N", 8);
  check(m, start, [](Memory& w) {
    for (std::int64_t t = 0; t < 5; ++t) {
      auto r = w.get<std::int64_t>(t % 2 == 0 ? "A" : "B");
      for (std::size_t i = 0; i < r.size(); ++i) r[i] += t + static_cast<std::int64_t>(i);
    }
  });
}

TEST_CASE("a full stream and an empty one fail the call", "[run]") {
  const auto fails = [](const Maker& m, Memory memory, const std::string& words) {
    for (const Target& target : targets()) {
      if (target.name.starts_with("file-")) continue;  // queues of files grow
      INFO("target " << target.name);
      Memory got = memory;
      try {
        target.prepare(m.g)->run(got);
        FAIL("did not fail");
      } catch (const Error& e) {
        INFO(e.what());
        CHECK(e.error_class() == ErrorClass::kLaunch);
        CHECK(e.message().find(words) != std::string::npos);
        CHECK(e.message().find("'S'") != std::string::npos);
      }
    }
  };
  Maker full;
  full.symbol("N");
  full.symbol("room");
  full.array("A", kI, "N");
  full.stream("S", kI).buffer_size = symbolic::Expr::symbol("room");
  auto& body = full.loop(full.body(), "i", "0", "i < N", "i + 1");
  full.tasklet(body, "s = a", {"a = A[i]"}, {"s = S"});
  fails(full, Memory().value("N", std::int64_t{4}).value("room", std::int64_t{3}).array("A", numbers<std::int64_t>(4)),
        "is full: it has room for 3 elements");
  // All that fits is kept.
  full.copy(full.body(), "S", "A[0:N]");
  check(full, Memory().value("N", std::int64_t{3}).value("room", std::int64_t{3}).array("A", numbers<std::int64_t>(3)),
        [](Memory&) {});

  Maker copied;
  copied.symbol("N");
  copied.array("A", kI, "N");
  copied.stream("S", kI).buffer_size = symbolic::Expr(2);
  copied.copy(copied.body(), "A[0:N]", "S");
  fails(copied, Memory().value("N", std::int64_t{3}).array("A", numbers<std::int64_t>(3)), "is full");

  Maker empty;
  empty.array("A", kI, "1");
  empty.stream("S", kI);
  empty.tasklet(empty.body(), "a = s", {"s = S"}, {"a = A[0]"});
  fails(empty, Memory().array("A", numbers<std::int64_t>(1)), "popped while it is empty");
}

}  // namespace test_indirect
