// Emitted programs of rarer constructs: C++ tasklets, streams, consume scopes, references, structures, persistent
// memory, callbacks.
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "run_tools.hpp"
#include "support/graph_tools.hpp"

namespace test_features {

using namespace sdfg;
using namespace sdfg::test;
using ir::ReduceOp;

namespace {

ir::Memlet& edge(ir::Graph& g, ir::State& s, ir::Id src, ir::Id dst) {
  ir::Memlet m;
  m.id = g.new_id();
  m.src = src;
  m.dst = dst;
  s.edges.push_back(std::move(m));
  return s.edges.back();
}

ir::Container& stream(ir::Graph& g, const std::string& name, Type type) {
  ir::Container& c = container(g, name, std::move(type), ir::Layout(), true);
  c.kind = ir::ContainerKind::kStream;
  g.locals.push_back(name);
  return c;
}

}  // namespace

TEST_CASE("C++ tasklets see their connectors, pointers and symbols, whatever generated code calls them") {
  ir::Graph g("cpp");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  array(g, "C", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  symbol(g, "__k");
  const auto cpp = [&](ir::Sequence& where, const std::string& text, const std::vector<Port>& in,
                       const std::vector<Port>& out) {
    ir::Element& e = compute(g, where, "native", "pass_ = 0", in, out);
    for (ir::Node& n : std::get<ir::State>(e.kind).nodes) {
      if (auto* t = std::get_if<ir::Tasklet>(&n.kind)) {
        t->code = {};
        t->code.language = tasklet::Language::kCpp;
        t->code.text = text;
        t->code.global_text = "static double twice(double x) { return 2 * x; }";
      }
    }
  };
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  // A connector that is called like another container, a local like a third one.
  cpp(body(m), "double C = twice(B); A = C + __k;", {{"B", "A", "i"}}, {{"A", "B", "i"}});
  cpp(g.body, "for (int64_t q = 0; q < N; ++q) { dst[q] = src[N - 1 - q]; }", {{"src", "B", "0:N"}},
      {{"dst", "C", "0:N"}});
  cpp(g.body, "s = 0; for (int64_t q = 1; q < N; ++q) s += src[q - 1];", {{"src", "C", "1:N"}},
      {accumulate("s", "C", "0", ReduceOp::kSum)});
  Compiled f(g);
  const std::int64_t n = 9;
  std::vector<double> a(n), b(n), c(n), expected(n);
  std::iota(a.begin(), a.end(), 1.0);
  f(a.data(), b.data(), c.data(), n, std::int64_t{5});
  for (std::int64_t i = 0; i < n; ++i) CHECK(b[i] == 2 * a[i] + 5);
  for (std::int64_t i = 0; i < n; ++i) expected[i] = b[n - 1 - i];
  expected[0] += std::accumulate(expected.begin() + 1, expected.end(), 0.0);
  CHECK(c == expected);
}

TEST_CASE("streams collect and a consume scope drains what its own body pushes") {
  for (const bool parallel : {false, true}) {
    ir::Graph g("worklist");
    array(g, "out", ScalarType::kInt64, {"2"});
    array(g, "rest", ScalarType::kInt64, {"N"});
    symbol(g, "N");
    stream(g, "todo", ScalarType::kInt64);
    stream(g, "odd", ScalarType::kInt64);
    ir::Element& m = map(g, g.body, {{"i", "0:N"}});
    compute(g, body(m), "push", "s = i", {}, {{"s", "todo", "", true, {}}});
    ir::Element& few = map(g, g.body, {{"k", "0:N:2"}});
    compute(g, body(few), "push odd", "if k % 4 == 0:\n  s = k + 1", {}, {{"s", "odd", "", true, {}}});
    copy(g, g.body, "odd", "", "rest", "0:N");
    symbol(g, "w", ir::BinderKind::kMapParameter);
    ir::Container& v = container(g, "v", ScalarType::kInt64, ir::Layout(), true);
    v.kind = ir::ContainerKind::kScalar;
    ir::Consume c;
    c.stream = "todo";
    c.element = "v";
    c.worker = "w";
    c.num_workers = 3;
    c.schedule = parallel ? ir::Schedule::kParallel : ir::Schedule::kSequential;
    ir::Element& e = g.append(g.body, std::move(c));
    compute(g, body(e), "sum", "s = x", {{"x", "v", ""}}, {accumulate("s", "out", "0", ReduceOp::kSum)});
    compute(g, body(e), "count", "s = 1", {}, {accumulate("s", "out", "1", ReduceOp::kSum)});
    compute(g, body(e), "halve", "if x > 1:\n  s = x // 2", {{"x", "v", ""}}, {{"s", "todo", "", true, {}}});
    Compiled f(g);
    for (const std::int64_t n : {0, 1, 100}) {
      std::int64_t out[2] = {0, 0}, sum = 0, count = 0;
      std::vector<std::int64_t> rest(static_cast<std::size_t>(n), -1), expected = rest;
      f(&out[0], rest.data(), n);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t x = i;; x /= 2) {
          sum += x;
          ++count;
          if (x <= 1) break;
        }
      }
      CHECK(out[0] == sum);
      CHECK(out[1] == count);
      std::size_t next = 0;
      for (std::int64_t k = 0; k < n; k += 4) expected[next++] = k + 1;
      std::sort(rest.begin(), rest.end());
      std::sort(expected.begin(), expected.end());
      CHECK(rest == expected);
    }
  }
}

TEST_CASE("references show what they were set to") {
  ir::Graph g("swap");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  symbol(g, "T");
  ir::Container& r = container(g, "r", ScalarType::kFloat64, ir::Layout::packed(extents({"N"})), true);
  r.kind = ir::ContainerKind::kReference;
  g.locals.push_back("r");
  ir::If choose;
  choose.branches.push_back({expression("T > 0"), {}});
  choose.branches.push_back({expression("True"), {}});
  ir::Element& c = g.append(g.body, std::move(choose));
  for (int k = 0; k < 2; ++k) {
    ir::Element& e = g.append(*ir::child_sequences(c)[static_cast<std::size_t>(k)], ir::State(), "set");
    auto& s = std::get<ir::State>(e.kind);
    const ir::Id from = node(g, s, ir::Access{k == 0 ? "A" : "B"});
    const ir::Id to = node(g, s, ir::Access{"r"});
    ir::Memlet& m = edge(g, s, from, to);
    m.src_subset = subset("0:N");
    m.set_reference = true;
  }
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  compute(g, body(m), "add", "out = x + 1.0", {{"x", "r", "i"}}, {{"out", "r", "i"}});
  Compiled f(g);
  std::vector<double> a(5, 1.0), b(5, 10.0);
  f(a.data(), b.data(), std::int64_t{5}, std::int64_t{1});
  CHECK(a == std::vector<double>(5, 2.0));
  f(a.data(), b.data(), std::int64_t{5}, std::int64_t{0});
  CHECK(b == std::vector<double>(5, 11.0));
}

TEST_CASE("members of structures are addressed through their pointers") {
  ir::Graph g("csr");
  g.parameters.push_back("mat");
  ir::Container& st = container(g, "mat", Type(), ir::Layout(), false);
  st.kind = ir::ContainerKind::kStructure;
  ir::Container values;
  values.name = "values";
  values.type = ScalarType::kFloat64;
  values.layout = ir::Layout::packed(extents({"N"}));
  ir::Container scale;
  scale.name = "scale";
  scale.kind = ir::ContainerKind::kScalar;
  scale.type = ScalarType::kFloat32;
  st.members = {values, scale};
  array(g, "out", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  compute(g, body(m), "scale", "o = v * s", {{"v", "mat.values", "i"}, {"s", "mat.scale", ""}}, {{"o", "out", "i"}});
  Compiled f(g);
  struct {
    double* values;
    float scale;
  } mat{};
  std::vector<double> v{1, 2, 3}, out(3);
  mat.values = v.data();
  mat.scale = 0.5F;
  f(&mat, out.data(), std::int64_t{3});
  CHECK(out == std::vector<double>{0.5, 1.0, 1.5});
}

TEST_CASE("persistent memory keeps its contents between calls") {
  ir::Graph g("counter");
  array(g, "out", ScalarType::kInt64, {"N"});
  symbol(g, "N");
  ir::Container& kept = container(g, "kept", ScalarType::kInt64, ir::Layout::packed(extents({"N", "2"})), true);
  kept.lifetime = ir::Lifetime::kPersistent;
  kept.zeroed = true;
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  compute(g, body(m), "count", "o = k + i", {{"k", "kept", "i, 1"}}, {{"o", "kept", "i, 1"}});
  ir::Element& r = map(g, g.body, {{"j", "0:N"}});
  compute(g, body(r), "show", "o = k", {{"k", "kept", "j, 1"}}, {{"o", "out", "j"}});
  Compiled f(g);
  std::vector<std::int64_t> out(7);
  for (std::int64_t call = 1; call <= 3; ++call) {
    CHECK(f(out.data(), std::int64_t{7}) == 0);
    for (std::int64_t i = 0; i < 7; ++i) CHECK(out[static_cast<std::size_t>(i)] == call * i);
  }
}

TEST_CASE("callbacks are called through their pointers") {
  ir::Graph g("callback");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  symbol(g, "fn", ir::BinderKind::kParameter,
         Type::callback({ScalarType::kFloat64}, {ScalarType::kFloat64, ScalarType::kInt64}));
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, ir::Schedule::kSequential);
  compute(g, body(m), "call", "o = fn(a, i)", {{"a", "A", "i"}}, {{"o", "A", "i"}});
  Compiled f(g);
  std::vector<double> a{1, 2, 3};
  double (*fn)(double, std::int64_t) = [](double x, std::int64_t i) { return 10 * x + static_cast<double>(i); };
  f(a.data(), std::int64_t{3}, fn);
  CHECK(a == std::vector<double>{10, 21, 32});
}

TEST_CASE("assigned values of narrow symbols wrap in their type, as typed code does") {
  ir::Graph g("narrow");
  array(g, "out", ScalarType::kInt64, {"4"});
  symbol(g, "N", ir::BinderKind::kParameter, ScalarType::kInt32);
  symbol(g, "k", ir::BinderKind::kAssigned, ScalarType::kInt32);
  symbol(g, "wide", ir::BinderKind::kAssigned);
  ir::Assign a;
  a.items = {{"k", expression("N + 1")}};
  g.append(g.body, std::move(a));
  ir::Assign b;
  b.items = {{"wide", expression("N * N")}};
  g.append(g.body, std::move(b));
  compute(g, g.body, "store", "o = wide", {}, {{"o", "out", "0"}});
  compute(g, g.body, "store", "o = k", {}, {{"o", "out", "1"}});
  Compiled f(g);
  std::int64_t out[4] = {};
  f(&out[0], std::int32_t{100000});
  CHECK(out[0] == 1410065408);
  CHECK(out[1] == 100001);
}

TEST_CASE("a failure inside a parallel map ends the call and releases everything") {
  ir::Graph g("parallel_failure");
  array(g, "n", ScalarType::kInt64, {"M"});
  array(g, "out", ScalarType::kFloat64, {"M"});
  symbol(g, "M");
  symbol(g, "k", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, {{"i", "0:M"}}, ir::Schedule::kParallel);
  ir::Assign a;
  a.items = {{"k", expression("n[i]")}};
  g.append(body(m), std::move(a));
  ir::Element& b = g.append(body(m), ir::Block());
  container(g, "tmp", ScalarType::kFloat64, ir::Layout::packed(extents({"k"})), true);
  std::get<ir::Block>(b.kind).locals.push_back("tmp");
  ir::Element& in = map(g, body(b), {{"j", "0:k"}});
  compute(g, body(in), "fill", "o = 1.0", {}, {{"o", "tmp", "j"}});
  ir::Element& sum = map(g, body(b), {{"q", "0:k"}});
  compute(g, body(sum), "sum", "o = t", {{"t", "tmp", "q"}}, {accumulate("o", "out", "i", ReduceOp::kSum)});
  Compiled f(g);
  check_golden("parallel_failure.cpp", own_part(f.text()));
  std::vector<std::int64_t> n(1000, 3);
  std::vector<double> out(1000, 0.0);
  CHECK(f(n.data(), out.data(), std::int64_t{1000}) == 0);
  CHECK(out == std::vector<double>(1000, 3.0));
  CHECK(f.report().live == 0);
  n[777] = -1;
  CHECK(f(n.data(), out.data(), std::int64_t{1000}) == 2);
  CHECK(f.report().values == std::vector<std::int64_t>{0, -1});
  CHECK(f.report().live == 0);
}

TEST_CASE("a conflict in an enclosing parallel map keeps inner accumulations atomic") {
  ir::Graph g("outer_conflict");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "y", ScalarType::kFloat64, {"N"});
  symbol(g, "M");
  symbol(g, "N");
  ir::Element& outer = map(g, g.body, {{"i", "0:M"}}, ir::Schedule::kParallel);
  ir::Element& inner = map(g, body(outer), {{"j", "0:N"}});
  compute(g, body(inner), "add", "o = a", {{"a", "A", "i, j"}}, {accumulate("o", "y", "j", ReduceOp::kSum)});
  Compiled f(g);
  CHECK(f.text().find("sdfg_atomic_add<double>(&y[j]") != std::string::npos);
  std::vector<double> a(100 * 7, 1.0), y(7, 0.0);
  f(a.data(), y.data(), std::int64_t{100}, std::int64_t{7});
  CHECK(y == std::vector<double>(7, 100.0));
}

TEST_CASE("host code refuses what it can't express and names the element") {
  ir::Graph g("device");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, ir::Schedule::kThreadBlock);
  compute(g, body(m), "set", "o = 1.0", {}, {{"o", "A", "i"}});
  try {
    emitted(g);
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kUsage);
    CHECK(e.message().find("schedule") != std::string::npos);
    CHECK(!e.places().empty());
  }
}

TEST_CASE("bounds checks report container, dimension, index and extent") {
  ir::Graph g("bounds");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "x", ScalarType::kInt64, {"M"});
  symbol(g, "M");
  symbol(g, "N");
  symbol(g, "k", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, {{"i", "0:M"}});
  ir::Assign a;
  a.items = {{"k", expression("x[i]")}};
  g.append(body(m), std::move(a));
  compute(g, body(m), "set", "o = 1.0", {}, {{"o", "A", "i, k"}});
  RunOptions o;
  o.lower.check_bounds = true;
  Compiled f(g, o);
  std::vector<double> data(3 * 5, 0.0);
  std::vector<std::int64_t> x{0, 4, 2};
  CHECK(f(data.data(), x.data(), std::int64_t{3}, std::int64_t{5}) == 0);
  CHECK(data[9] == 1.0);
  x[1] = 5;
  CHECK(f(data.data(), x.data(), std::int64_t{3}, std::int64_t{5}) == 4);
  CHECK(f.report().values == std::vector<std::int64_t>{1, 5, 5});
  CHECK(f.report().ordinal == 0);
  x[1] = -1;
  CHECK(f(data.data(), x.data(), std::int64_t{3}, std::int64_t{5}) == 4);
  CHECK(f.report().values == std::vector<std::int64_t>{1, -1, 5});
}

TEST_CASE("a copy whose sides may differ in size is checked when it runs") {
  ir::Graph g("volumes");
  array(g, "A", ScalarType::kFloat64, {"M"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  symbol(g, "M");
  symbol(g, "N");
  copy(g, g.body, "A", "0:M", "B", "0:N");
  Compiled f(g);
  std::vector<double> a{1, 2, 3}, b{0, 0, 0};
  CHECK(f(a.data(), b.data(), std::int64_t{3}, std::int64_t{3}) == 0);
  CHECK(a == b);
  CHECK(f(a.data(), b.data(), std::int64_t{3}, std::int64_t{2}) == 7);
  CHECK(f.report().values == std::vector<std::int64_t>{3, 2, 0});
}

}  // namespace test_features
