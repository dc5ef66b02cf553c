// Kernels that DaCe makes of reductions on the GPU (lanes fold, dace::warpReduce joins, lane 0 writes) become Reduce
// nodes again; kernels that differ in anything that matters don't.
#include <catch2/catch.hpp>
#include <limits>

#include "dace_text.hpp"

namespace test_raise_reductions {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using interpret::Arguments;

namespace {

// What a kernel is made of; the defaults are right.
struct Kernel {
  std::string type_name = "Sum", cpp_type = "double", dtype = "float64";
  std::string fold = "lambda a, b: a + b";  // into the accumulator
  std::string write_wcr;                    // of the output
  std::string start = "o = 0";              // of the accumulator
  std::string identity = "o = b";           // what is folded in
  std::string condition = "if (threadIdx.x == 0):\n    _output = _input";
  std::string lanes = "0:32";
  std::string before;  // sets the output first: "o = 0"; empty: nothing does
};

struct Shape {
  std::string input, output;  // extents
  std::string grid_params, grid, inner_params, inner;
  std::string read, write;
};
const Shape kRows{"N, M", "N", "g", "0:N", "k", "tid:M:32", "g, k", "g"};
const Shape kAll{"N",    "1",
                 "g",    "0:int_ceil(N, 1024)",
                 "j, k", "1024*g:N:1024*int_ceil(N, 1024), j + tid:min(N - 1, j + 1023) + 1:32",
                 "k",    "0"};
const Shape kFirstAxis{"N, M", "M", "g", "0:M", "k", "tid:N:32", "k, g", "g"};

dace::Graph nested_kernel(const Kernel& k, const Shape& s) {
  dace::Graph g("reduce");
  g.array("_in", k.dtype, s.input);
  g.array("_out", k.dtype, s.output);
  g.scalar("acc", k.dtype, true);
  g.symbol("N");
  g.symbol("M");
  dace::State st;
  const auto grid = st.map(s.grid_params, s.grid, {{"schedule", "GPU_Device"}});
  const auto lanes = st.map("tid", k.lanes, {{"schedule", "GPU_ThreadBlock"}});
  const auto inner = st.map(s.inner_params, s.inner, {{"schedule", "Sequential"}});
  const auto suffix = [](const std::string& wcr) { return wcr.empty() ? std::string() : " | wcr: " + wcr; };
  const int acc0 = st.access("acc"), acc1 = st.access("acc"), acc2 = st.access("acc");
  const int in = st.access("_in"), out = st.access("_out");
  const int start = st.tasklet(k.start);
  const int identity = st.tasklet(k.identity);
  const int warp = st.tasklet(
      "__out = dace::warpReduce<dace::ReductionType::" + k.type_name + ", " + k.cpp_type + ">::reduce(__a);", "CPP");
  const int write = st.tasklet(k.condition);
  const std::string read = "_in[" + s.read + "]", target = "_out[" + s.write + "]" + suffix(k.write_wcr);
  st.edge(in, "", grid.first, "IN_in", read);
  st.edge(grid.first, "OUT_in", lanes.first, "IN_in", read);
  st.edge(lanes.first, "OUT_in", inner.first, "IN_in", read);
  st.edge(lanes.first, "", start, "", "");
  st.edge(start, "o", acc0, "", "acc[0]");
  st.edge(acc0, "", inner.first, "IN_acc", "acc[0]");
  st.edge(inner.first, "OUT_in", identity, "b", read);
  st.edge(inner.first, "OUT_acc", identity, "a", "acc[0]");
  st.edge(identity, "o", inner.second, "IN_acc", "acc[0]" + suffix(k.fold));
  st.edge(inner.second, "OUT_acc", acc1, "", "acc[0]" + suffix(k.fold));
  st.edge(acc1, "", warp, "__a", "acc[0]");
  st.edge(warp, "__out", lanes.second, "IN_acc", "acc[0]");
  st.edge(lanes.second, "OUT_acc", acc2, "", "acc[0]");
  st.edge(acc2, "", write, "_input", "acc[0]");
  st.edge(write, "_output", grid.second, "IN_out", target);
  st.edge(grid.second, "OUT_out", out, "", target);
  const int kernel = g.body.state(st);
  if (!k.before.empty()) {
    dace::State init;
    const auto m = init.map("i", "0:" + s.output, {{"schedule", "GPU_Device"}});
    const int t = init.tasklet(k.before);
    init.edge(m.first, "", t, "", "");
    init.write_out(m, t, "o", "_out[i]");
    g.body.next(g.body.state(init), kernel);
  }
  return g;
}

dace::Graph outer(const Kernel& k, const Shape& s) {
  dace::Graph g;
  g.array("A", k.dtype, s.input);
  g.array("R", k.dtype, s.output);
  g.symbol("N");
  g.symbol("M");
  dace::State st;
  const int n = st.nested(nested_kernel(k, s), {{"N", "N"}, {"M", "M"}});
  const auto whole = [](const std::string& extents) {
    std::string out;
    for (const std::string& e : dace::split(extents, ",")) out += (out.empty() ? "0:" : ", 0:") + e;
    return out;
  };
  st.read("A[" + whole(s.input) + "]", n, "_in");
  if (!k.write_wcr.empty() && k.before.empty()) st.read("R[" + whole(s.output) + "]", n, "_out");
  st.write(n, "_out", "R[" + whole(s.output) + "]");
  g.body.state(st);
  return g;
}

// What is not recognised is refused, naming the tasklet that asks for its lane; that counts as none.
int reductions(const dace::Graph& g) {
  int n = 0;
  std::optional<ir::Graph> loaded;
  try {
    loaded.emplace(io::load_bytes(g.text()).graph);
  } catch (const Error& e) {
    REQUIRE(e.message() == "tasklet 't': The name 'threadIdx.x' is not known in this code.");
    return 0;
  }
  ir::walk(loaded->body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& node : s->nodes) {
      const auto* l = std::get_if<ir::Library>(&node.kind);
      n += l != nullptr && std::holds_alternative<ir::Reduce>(l->op) ? 1 : 0;
    }
  });
  return n;
}

std::vector<double> values(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 37) % 101) - 50.0;
  return out;
}

const char* kLowest = "o = (- 1.7976931348623157e+308)";

}  // namespace

TEST_CASE("a sum over the last axis, a kernel block for each row") {
  for (const auto& [n, m] : {std::pair(3, 70), std::pair(1, 1), std::pair(5, 0), std::pair(0, 4)}) {
    const auto rows = static_cast<std::size_t>(n), columns = static_cast<std::size_t>(m);
    std::vector<double> a = values(rows * columns), r(rows, 9.0), want(rows);
    for (std::size_t i = 0; i < a.size(); ++i) want[i / columns] += a[i];
    dace::run(outer({}, kRows), Arguments().set("A", a.data()).set("R", r.data()).set("N", n).set("M", m));
    CHECK(r == want);
  }
}

TEST_CASE("a maximum over the first axis") {
  Kernel k;
  k.type_name = "Max";
  k.fold = "lambda a, b: max(a, b)";
  k.start = kLowest;
  std::vector<double> a = values(7 * 5), r(5), want(5, std::numeric_limits<double>::lowest());
  for (std::size_t i = 0; i < a.size(); ++i) want[i % 5] = std::max(want[i % 5], a[i]);
  dace::run(outer(k, kFirstAxis), Arguments().set("A", a.data()).set("R", r.data()).set("N", 7).set("M", 5));
  CHECK(r == want);
}

TEST_CASE("a reduction over everything by many blocks, after the output was set") {
  Kernel k;
  k.write_wcr = k.fold;
  k.before = "o = 0";
  for (const int n : {0, 1, 31, 1025, 3000}) {
    std::vector<double> a = values(static_cast<std::size_t>(n)), r{77.0};
    double want = 0;
    for (const double v : a) want += v;
    dace::run(outer(k, kAll), Arguments().set("A", a.data()).set("R", r.data()).set("N", n).set("M", 1));
    CHECK(r[0] == want);
  }
  k.type_name = "Min";
  k.fold = k.write_wcr = "lambda x, y: min(x, y)";
  k.start = "o = 1.7976931348623157e+308";
  k.before = "o = 1.7976931348623157e+308";
  std::vector<double> a = values(2000), r{0.0};
  dace::run(outer(k, kAll), Arguments().set("A", a.data()).set("R", r.data()).set("N", 2000).set("M", 1));
  CHECK(r[0] == *std::min_element(a.begin(), a.end()));
}

TEST_CASE("a reduction onto what the output holds") {
  Kernel k;
  k.write_wcr = k.fold;
  std::vector<double> a = values(100), r{77.0};
  double want = 77.0;
  for (const double v : a) want += v;
  dace::run(outer(k, kAll), Arguments().set("A", a.data()).set("R", r.data()).set("N", 100).set("M", 1));
  CHECK(r[0] == want);
}

TEST_CASE("a maximum that starts from a number that shows") {
  Kernel k;
  k.type_name = "Max";
  k.fold = "lambda a, b: max(a, b)";
  k.start = "o = (- 9)";
  std::vector<double> a{-20, -3, -30, -40}, r(2);
  dace::run(outer(k, kRows), Arguments().set("A", a.data()).set("R", r.data()).set("N", 2).set("M", 2));
  CHECK(r == std::vector<double>{-3, -9});
}

TEST_CASE("kernels that are no reductions, or not of everything, stay kernels") {
  const auto with = [](const Shape& s, auto&& change) {
    Kernel k;
    Shape shape = s;
    change(k, shape);
    return reductions(outer(k, shape));
  };
  REQUIRE(with(kRows, [](Kernel&, Shape&) {}) == 1);
  // What is folded is a function of the input.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.identity = "o = b * b"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.identity = "o = a"; }) == 0);
  // The two foldings disagree.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.type_name = "Max"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.fold = "lambda a, b: a * b"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.fold = "lambda a, b: a + 2 * b"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.write_wcr = "lambda a, b: max(a, b)"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.type_name = "Custom"; }) == 0);
  // Another type than the memory's.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.cpp_type = "float"; }) == 0);
  // Each of the 32 lanes starts from 5.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.start = "o = 5"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.start = "o = float(N)"; }) == 0);
  // Another lane writes, or every one.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.condition = "if (threadIdx.x == 1):\n    _output = _input"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.condition = "if (threadIdx.x == 0):\n    _output = 2 * _input"; }) == 0);
  // Lanes or elements are missing or come twice.
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.lanes = "0:16"; }) == 0);
  CHECK(with(kRows, [](Kernel& k, Shape&) { k.lanes = "0:64"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.inner = "tid:M:16"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.inner = "tid:M - 1:32"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.inner = "0:M"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.grid = "0:N - 1"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.read = "g, 2 * k"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.write = "N - 1 - g"; }) == 0);
  CHECK(with(kRows, [](Kernel&, Shape& s) { s.write = "0"; }) == 0);
  const auto all = [](Kernel& k) {
    k.write_wcr = k.fold;
    k.before = "o = 0";
  };
  REQUIRE(with(kAll, [&](Kernel& k, Shape&) { all(k); }) == 1);
  CHECK(with(kAll, [&](Kernel& k, Shape&) { all(k), k.write_wcr.clear(); }) == 0);  // blocks overwrite each other
  CHECK(with(kAll, [&](Kernel& k, Shape& s) { all(k), s.grid = "0:2"; }) == 0);
  CHECK(with(kAll, [&](Kernel& k, Shape& s) {
          all(k);
          s.inner = "1024*g:N:1024*int_ceil(N, 1024), j + tid:min(N - 1, j + 511) + 1:32";
        }) == 0);
  // The state before does something else.
  CHECK(with(kAll, [&](Kernel& k, Shape&) { all(k), k.before = "o = i"; }) == 0);
}

}  // namespace test_raise_reductions
