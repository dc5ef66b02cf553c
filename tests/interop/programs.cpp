// Our own programs for the comparison with DaCe. Small, each with constructs that the writer must find words for.
#include "programs.hpp"

#include <cstring>

namespace sdfg::test {

namespace {

constexpr ScalarType kF = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;

// Eighths without pattern, so that sums are exact in every order.
template <typename T>
Argument numbers(const std::string& name, const std::vector<std::int64_t>& shape, unsigned seed) {
  Argument a;
  a.name = name;
  a.array.type = kScalarTypeOf<T>;
  a.array.shape = shape;
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  std::vector<T> values;
  std::uint64_t state = seed;
  for (std::int64_t k = 0; k < count; ++k) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const int v = static_cast<int>((state >> 33) % 61) - 30;
    values.push_back(static_cast<T>(std::is_floating_point_v<T> ? v / 8.0 : v));
  }
  a.array.bytes.resize(values.size() * sizeof(T));
  std::memcpy(a.array.bytes.data(), values.data(), a.array.bytes.size());
  return a;
}
template <typename T>
Argument given(const std::string& name, const std::vector<T>& values) {
  Argument a = numbers<T>(name, {static_cast<std::int64_t>(values.size())}, 0);
  std::memcpy(a.array.bytes.data(), values.data(), a.array.bytes.size());
  return a;
}

Program jacobi() {
  Maker m("own_jacobi");
  m.array("A", kF, "N, M");
  m.array("B", kF, "N, M");
  for (const char* s : {"N", "M", "T"}) m.symbol(s);
  auto& t = m.loop(m.body(), "t", "0", "t < T", "t + 1");
  int k = 0;
  for (const auto& [from, to] : {std::pair{"A", "B"}, {"B", "A"}}) {
    const std::string i = "i" + std::to_string(k), j = "j" + std::to_string(k++), f = from;
    auto& map = m.map(t, i + ", " + j, "1:N-1, 1:M-1", ir::Schedule::kParallel);
    m.tasklet(map, "o = 0.25 * (n + s) + 0.125 * (w + e)",
              {"n = " + f + "[" + i + "-1, " + j + "]", "s = " + f + "[" + i + "+1, " + j + "]",
               "w = " + f + "[" + i + ", " + j + "-1]", "e = " + f + "[" + i + ", " + j + "+1]"},
              {std::string("o = ") + to + "[" + i + ", " + j + "]"});
  }
  return {"jacobi",
          std::move(m.g),
          {numbers<double>("A", {6, 7}, 1), numbers<double>("B", {6, 7}, 2)},
          {{"N", 6}, {"M", 7}, {"T", 3}},
          {}};
}

// A transient row per iteration: a map's body that is a sequence.
Program rows() {
  Maker m("own_rows");
  m.array("A", kF, "N, M");
  m.array("B", kF, "N, M");
  m.symbol("N");
  m.symbol("M");
  ir::Block& block = m.block(m.map(m.body(), "i", "0:N"));
  m.transient("row", kF, "M", &block);
  m.tasklet(m.map(block.body, "j", "0:M"), "o = a * 2 + 1", {"a = A[i, j]"}, {"o = row[j]"});
  auto& loop = m.loop(block.body, "k", "1", "k < M", "k + 1");
  m.tasklet(loop, "o = a + b", {"a = row[k]", "b = row[k - 1]"}, {"o = row[k]"});
  m.tasklet(m.map(block.body, "l", "0:M"), "o = r", {"r = row[M - 1 - l]"}, {"o = B[i, l]"});
  return {"rows",
          std::move(m.g),
          {numbers<double>("A", {5, 7}, 3), numbers<double>("B", {5, 7}, 4)},
          {{"N", 5}, {"M", 7}},
          {}};
}

Program histogram() {
  Maker m("own_histogram");
  m.array("x", kF, "N");
  m.array("h", kI, "8");
  m.symbol("N");
  m.assigned("bin");
  auto& body = m.map(m.body(), "i", "0:N");
  m.assign(body, {{"bin", "min(7, max(0, int(x[i]) + 4))"}});
  m.tasklet(body, "o = 1", {}, {"o = h[bin] | sum"});
  return {"histogram",
          std::move(m.g),
          {numbers<double>("x", {23}, 5), numbers<std::int64_t>("h", {8}, 6)},
          {{"N", 23}},
          {}};
}

// Rows of a sparse matrix: a range that is read.
Program sparse() {
  Maker m("own_sparse");
  m.array("row", kI, "N + 1");
  m.array("col", kI, "K");
  m.array("val", kF, "K");
  m.array("x", kF, "N");
  m.array("y", kF, "N");
  m.symbol("N");
  m.symbol("K");
  for (const char* s : {"first", "last", "c"}) m.assigned(s);
  ir::Block& block = m.block(m.map(m.body(), "i", "0:N"));
  m.scalar("sum", kF, &block);
  m.tasklet(block.body, "o = 0", {}, {"o = sum"});
  m.assign(block.body, {{"first", "row[i]"}, {"last", "row[i + 1]"}});
  auto& loop = m.loop(block.body, "k", "first", "k < last", "k + 1");
  m.assign(loop, {{"c", "col[k]"}});
  m.tasklet(loop, "o = s + v * u", {"s = sum", "v = val[k]", "u = x[c]"}, {"o = sum"});
  m.tasklet(block.body, "o = s", {"s = sum"}, {"o = y[i]"});
  return {"sparse",
          std::move(m.g),
          {given<std::int64_t>("row", {0, 2, 2, 5, 6}), given<std::int64_t>("col", {0, 3, 1, 2, 3, 0}),
           numbers<double>("val", {6}, 7), numbers<double>("x", {4}, 8), numbers<double>("y", {4}, 9)},
          {{"N", 4}, {"K", 6}},
          {}};
}

// Branches, and leaving two loops at once.
Program search() {
  Maker m("own_search");
  m.array("A", kF, "N, M");
  m.array("found", kI, "3");
  m.symbol("N");
  m.symbol("M");
  ir::Element& outer = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  ir::Element& inner = m.loop_element(Maker::body_of(outer), "j", "0", "j < M", "j + 1");
  auto& body = Maker::body_of(inner);
  auto& choice = m.if_(body, {"A[i, j] > 3.0", "A[i, j] < 0.0", ""});
  m.tasklet(choice.branches[0].body, "o = i * 100 + j", {}, {"o = found[0]"});
  m.break_(choice.branches[0].body, outer);
  m.tasklet(choice.branches[1].body, "o = f - 1", {"f = found[1]"}, {"o = found[1]"});
  m.continue_(choice.branches[1].body, inner);
  m.tasklet(choice.branches[2].body, "o = f + 1", {"f = found[1]"}, {"o = found[1]"});
  m.tasklet(body, "o = f + 1", {"f = found[2]"}, {"o = found[2]"});
  return {"search",
          std::move(m.g),
          {numbers<double>("A", {4, 5}, 10), given<std::int64_t>("found", {-1, 0, 0})},
          {{"N", 4}, {"M", 5}},
          {}};
}

// Newton's method: a while loop over a scalar, symbols that are swapped.
Program newton() {
  Maker m("own_newton");
  m.array("x", kF, "1");
  m.array("fib", kI, "2");
  m.scalar_argument("target", kF);
  m.scalar("error", kF);
  for (const char* s : {"p", "q", "steps"}) m.assigned(s);
  m.assign(m.body(), {{"p", "0"}, {"q", "1"}, {"steps", "0"}});
  m.tasklet(m.body(), "o = 1.0", {}, {"o = error"});
  auto& loop = m.while_(m.body(), "error > 1e-9 and steps < 50");
  m.tasklet(loop, "n = 0.5 * (v + t / v)\ne = abs(n - v)", {"v = x[0]", "t = target"}, {"n = x[0]", "e = error"});
  m.assign(loop, {{"p", "q"}, {"q", "p + q"}, {"steps", "steps + 1"}});
  m.tasklet(m.body(), "o = p", {}, {"o = fib[0]"});
  m.tasklet(m.body(), "o = steps", {}, {"o = fib[1]"});
  return {
      "newton", std::move(m.g), {given<double>("x", {1.0}), given<std::int64_t>("fib", {0, 0})}, {}, {{"target", 2.0}}};
}

// Views that are read and written, a column and a reshape.
Program views() {
  Maker m("own_views");
  m.array("A", kF, "N, M");
  m.array("B", kF, "N * M");
  m.symbol("N");
  m.symbol("M");
  m.view("column", kF, ir::Layout::strided(Maker::extents("N"), Maker::extents("M")), "A[0:N, 2]");
  m.view("table", kF, ir::Layout::packed(Maker::extents("M, N")), "B[0:N*M]");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = c * 2", {"c = column[i]"}, {"o = table[1, i]"});
  m.tasklet(m.map(m.body(), "k", "0:N"), "o = t + 1", {"t = table[M - 1, k]"}, {"o = column[k]"});
  return {"views",
          std::move(m.g),
          {numbers<double>("A", {4, 5}, 11), numbers<double>("B", {20}, 12)},
          {{"N", 4}, {"M", 5}},
          {}};
}

Program reductions() {
  Maker m("own_reductions");
  m.array("A", kF, "N, M");
  m.array("sums", kF, "N");
  m.array("best", kF, "1");
  m.array("C", kF, "N, N");
  m.symbol("N");
  m.symbol("M");
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kSum, {}, {1}, tasklet::Value::floating(0.0)}, {"_in = A"},
            {"_out = sums"});
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kMax, {}, {0, 1}, tasklet::Value::floating(-1000.0)}, {"_in = A"},
            {"_out = best"});
  auto& body = m.map(m.body(), "i, j, k", "0:N, 0:N, 0:M");
  m.tasklet(body, "o = a * b", {"a = A[i, k]", "b = A[j, k]"}, {"o = C[i, j] | sum"});
  return {"reductions",
          std::move(m.g),
          {numbers<double>("A", {3, 5}, 13), numbers<double>("sums", {3}, 14), numbers<double>("best", {1}, 15),
           numbers<double>("C", {3, 3}, 16)},
          {{"N", 3}, {"M", 5}},
          {}};
}

// Zero again in every round of a loop; a kept scalar that is used once in a loop.
Program rounds() {
  Maker m("own_rounds");
  m.array("A", kF, "N");
  m.array("out", kF, "N");
  m.symbol("N");
  m.scalar("carried", kF);
  m.tasklet(m.body(), "o = 1", {}, {"o = carried"});
  auto& loop = m.loop(m.body(), "i", "0", "i < N", "i + 1");
  ir::Block& block = m.block(loop);
  m.transient("T", kF, "i + 1", &block).zeroed = true;
  m.tasklet(m.map(block.body, "j", "0:N"), "o = a * 0.25", {"a = A[j]"}, {"o = T[i] | sum"});
  m.tasklet(block.body, "o = t + c\nd = c + 2.0", {"t = T[i]", "c = carried"}, {"o = out[i]", "d = carried"});
  return {"rounds", std::move(m.g), {numbers<double>("A", {5}, 17), numbers<double>("out", {5}, 18)}, {{"N", 5}}, {}};
}

// A block that is left from a loop in it; a map whose iterations end early.
Program leaving() {
  Maker m("own_leaving");
  m.array("A", kF, "N");
  m.array("B", kF, "N");
  m.array("n", kI, "1");
  m.symbol("N");
  ir::Element& block = m.block_element(m.body());
  ir::Element& loop = m.loop_element(Maker::body_of(block), "i", "0", "i < N", "i + 1");
  m.break_(m.if_(Maker::body_of(loop), {"A[i] > 2.0"}).branches[0].body, block);
  m.tasklet(Maker::body_of(loop), "o = c + 1", {"c = n[0]"}, {"o = n[0]"});
  m.tasklet(Maker::body_of(block), "o = -1", {}, {"o = n[0]"});
  ir::Element& map = m.map_element(m.body(), "k", "0:N");
  m.continue_(m.if_(Maker::body_of(map), {"A[k] < 0.0"}).branches[0].body, map);
  m.tasklet(Maker::body_of(map), "o = a + 100", {"a = A[k]"}, {"o = B[k]"});
  return {"leaving",
          std::move(m.g),
          {given<double>("A", {0.5, -1.0, 1.5, -0.25, 2.5, 0.125}), numbers<double>("B", {6}, 19),
           given<std::int64_t>("n", {0})},
          {{"N", 6}},
          {}};
}

// Layouts: column-major, padded rows.
Program layouts() {
  Maker m("own_layouts");
  m.array("A", kF, "N, M");
  m.symbol("N");
  m.symbol("M");
  m.g.locals.push_back("F");
  m.g.locals.push_back("P");
  ir::Container f, p;
  f.name = "F";
  f.type = p.type = kF;
  f.transient = p.transient = true;
  f.layout = ir::Layout::column_major(Maker::extents("N, M"));
  p.name = "P";
  p.layout =
      ir::Layout::strided(Maker::extents("N, M"), Maker::extents("M + 3, 1"), symbolic::parse_python("N * (M + 3)"));
  m.g.containers.insert(f);
  m.g.containers.insert(p);
  m.tasklet(m.map(m.body(), "i, j", "0:N, 0:M"), "f = a\np = a * a", {"a = A[i, j]"}, {"f = F[i, j]", "p = P[i, j]"});
  m.tasklet(m.map(m.body(), "k, l", "0:N, 0:M"), "o = f - p", {"f = F[k, M - 1 - l]", "p = P[N - 1 - k, l]"},
            {"o = A[k, l]"});
  return {"layouts", std::move(m.g), {numbers<double>("A", {4, 5}, 20)}, {{"N", 4}, {"M", 5}}, {}};
}

// Integers: floor division and remainder with Python's signs come from symbols only.
Program integers() {
  Maker m("own_integers");
  m.array("A", kI, "N");
  m.array("B", ScalarType::kInt32, "N");
  m.symbol("N");
  m.assigned("half");
  m.assign(m.body(), {{"half", "N // 2"}});
  m.tasklet(m.map(m.body(), "i", "0:half"), "o = a + (i << 2) - (a & 3)", {"a = A[2 * i]"}, {"o = A[2 * i + 1]"});
  m.tasklet(m.map(m.body(), "j", "0:N"), "o = b ^ 5 if b > 0 else -b", {"b = B[j]"}, {"o = B[j]"});
  return {"integers",
          std::move(m.g),
          {numbers<std::int64_t>("A", {9}, 21), numbers<std::int32_t>("B", {9}, 22)},
          {{"N", 9}},
          {}};
}

}  // namespace

std::vector<Program> own_programs() {
  std::vector<Program> all;
  for (Program (*make)() :
       {jacobi, rows, histogram, sparse, search, newton, views, reductions, rounds, leaving, layouts, integers})
    all.push_back(make());
  return all;
}

}  // namespace sdfg::test
