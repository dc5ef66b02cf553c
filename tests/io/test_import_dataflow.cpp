// Dataflow of files against plain loops: memlet paths, copies, views, registers, dynamic ranges, streams, consume
// scopes, structures, references, callbacks, symbols that are no integers.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <cstdint>

#include "dace_text.hpp"

namespace test_import_dataflow {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using dace::ramp;
using interpret::Arguments;

// ---- paths and copies -----------------------------------------------------------------------------------------------

TEST_CASE("only the innermost memlets count, whatever the outer ones claim") {
  dace::Graph g;
  g.array("A", "float64", "N, M");
  g.array("B", "float64", "N, M");
  g.symbol("N");
  g.symbol("M");
  dace::State s;
  const auto outer = s.map("i", "0:N"), inner = s.map("j", "0:M");
  const int t = s.tasklet("o = 3 * a");
  s.edge(s.access("A"), "", outer.first, "IN_A", "A[0:1, 0:1]");
  s.edge(outer.first, "OUT_A", inner.first, "IN_A", "A[5, 7:100]");
  s.edge(inner.first, "OUT_A", t, "a", "A[i, j]");
  s.edge(t, "o", inner.second, "IN_B", "B[i, j]");
  s.edge(inner.second, "OUT_B", outer.second, "IN_B", "B[0, 0]");
  s.edge(outer.second, "OUT_B", s.access("B"), "", "B[0, 0]");
  g.body.state(s);
  for (const auto& [n, m] : {std::pair(3, 5), std::pair(0, 2), std::pair(1, 1), std::pair(2, 0)}) {
    std::vector<double> a = ramp(static_cast<std::size_t>(n * m)), b(a.size());
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()).set("N", n).set("M", m));
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(b[k] == 3 * a[k]);
  }
}

TEST_CASE("a copy names either end, both, or gives one subset for both") {
  struct Case {
    const char* memlet;
    std::size_t from, to;  // first element
  };
  const Case cases[] = {{"A[2:5] -> 1:4", 2, 1}, {"B[1:4] -> 2:5", 2, 1}, {"A[2:5]", 2, 0}, {"B[1:4]", 0, 1}};
  for (const Case& c : cases) {
    INFO(c.memlet);
    dace::Graph g;
    g.array("A", "float64", "6");
    g.array("B", "float64", "5");
    dace::State s;
    const int a_node = s.access("A"), b_node = s.access("B");
    s.edge(a_node, "", b_node, "", c.memlet);
    g.body.state(s);
    std::vector<double> a = ramp(6), b(5, -1.0), want(5, -1.0);
    for (std::size_t k = 0; k < 3; ++k) want[c.to + k] = a[c.from + k];
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
    CHECK(b == want);
  }
}

TEST_CASE("a copy inside one container tells its ends by is_data_src") {
  for (const bool source : {true, false}) {
    dace::Graph g;
    g.array("A", "float64", "6");
    dace::State s;
    const int from = s.access("A"), to = s.access("A");
    s.edge(from, "", to, "", "A[0:2] -> 4:6");
    Json state = s.json("s");
    state["edges"][0]["attributes"]["data"]["attributes"]["is_data_src"] = source;
    g.body.block(state);
    std::vector<double> a = ramp(6), want = a;
    for (std::size_t k = 0; k < 2; ++k) (source ? want[4 + k] : want[k]) = source ? a[k] : a[4 + k];
    dace::run(g, Arguments().set("A", a.data()));
    CHECK(a == want);
  }
}

TEST_CASE("copies into and out of maps happen in every iteration") {
  dace::Graph g;
  g.array("A", "float64", "4, 3");
  g.array("B", "float64", "4, 3");
  g.transient("row", "float64", "3");
  dace::State s;
  const auto m = s.map("i", "0:4");
  const int row = s.access("row");
  s.edge(s.access("A"), "", m.first, "IN_A", "A[0:4, 0:3]");
  s.edge(m.first, "OUT_A", row, "", "A[i, 0:3]");
  s.edge(row, "", m.second, "IN_B", "B[3 - i, 0:3]");
  s.edge(m.second, "OUT_B", s.access("B"), "", "B[0:4, 0:3]");
  g.body.state(s);
  std::vector<double> a = ramp(12), b(12);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 3; ++j) CHECK(b[(3 - i) * 3 + j] == a[i * 3 + j]);
  }
}

TEST_CASE("values pass from tasklet to tasklet without a container") {
  dace::Graph g;
  g.array("A", "float64", "3");
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int first = s.tasklet("o = a + 1"), second = s.tasklet("o = v * v"), third = s.tasklet("o = u - v");
  s.read_in(m, "A[i]", first, "a");
  s.edge(first, "o", second, "v", "");
  s.edge(second, "o", third, "u", "");
  s.edge(m.first, "", third, "", "");
  s.write_out(m, third, "o", "A[i]");
  // Types stand on the connectors: the edges name no container.
  s.connector_type(first, "out_connectors", "o", "float64");
  s.connector_type(second, "out_connectors", "o", "float64");
  s.edge(first, "p", third, "v", "");
  s.attributes(first)["code"]["string_data"] = "o = a + 1\np = 2 * a";
  s.connector_type(first, "out_connectors", "p", "float64");
  g.body.state(s);
  std::vector<double> a{1, 2, 5}, want;
  for (const double v : a) want.push_back((v + 1) * (v + 1) - 2 * v);
  dace::run(g, Arguments().set("A", a.data()));
  CHECK(a == want);
}

TEST_CASE("accumulation in a map, by every operator that a lambda may spell") {
  struct Case {
    const char* lambda;
    double (*fold)(double, double);
  };
  const Case cases[] = {{"lambda a, b: a + b", [](double a, double b) { return a + b; }},
                        {"lambda x, y: (y + x)", [](double a, double b) { return a + b; }},
                        {"lambda a, b: a * b", [](double a, double b) { return a * b; }},
                        {"lambda a, b: min(a, b)", [](double a, double b) { return std::min(a, b); }},
                        {"lambda a, b: max(b, a)", [](double a, double b) { return std::max(a, b); }},
                        {"lambda old, new: old - new", [](double a, double b) { return a - b; }},
                        {"lambda a, b: a if a < b else b", [](double a, double b) { return a < b ? a : b; }}};
  for (const Case& c : cases) {
    INFO(c.lambda);
    dace::Graph g;
    g.array("A", "float64", "5");
    g.array("R", "float64", "1");
    dace::State s;
    const auto m = s.map("i", "0:5");
    const int t = s.tasklet("o = a");
    s.read_in(m, "A[i]", t, "a");
    s.write_out(m, t, "o", std::string("R[0] | wcr: ") + c.lambda);
    g.body.state(s);
    std::vector<double> a{3, -1, 4, 2, 0.5}, r{1.5};
    double want = 1.5;
    for (const double v : a) want = c.fold(want, v);
    dace::run(g, Arguments().set("A", a.data()).set("R", r.data()));
    CHECK(r[0] == Approx(want));
  }
}

TEST_CASE("what is no lambda of two names is no accumulation") {
  for (const char* text : {"a + b", "lambda a: a", "lambda: 3", "lambda a b: a"}) {
    dace::Graph g;
    g.array("A", "float64", "1");
    dace::State s;
    s.write(s.tasklet("o = 1.0"), "o", std::string("A[0] | wcr: ") + text);
    g.body.state(s);
    CHECK_THROWS_AS(dace::load(g), Error);
  }
}

TEST_CASE("ranges of maps may come from containers") {
  dace::Graph g;
  g.array("ptr", "int64", "N + 1");
  g.array("A", "float64", "12");
  g.array("B", "float64", "N");
  g.symbol("N");
  dace::State s;
  const auto rows = s.map("i", "0:N"), elements = s.map("k", "b:e");
  const int t = s.tasklet("o = a");
  const int ptr = s.access("ptr");
  s.edge(ptr, "", rows.first, "IN_p", "ptr[0:N + 1]");
  s.edge(rows.first, "OUT_p", elements.first, "b", "ptr[i]");
  s.edge(ptr, "", rows.first, "IN_q", "ptr[0:N + 1]");
  s.edge(rows.first, "OUT_q", elements.first, "e", "ptr[i + 1]");
  s.edge(s.access("A"), "", rows.first, "IN_A", "A[0:12]");
  s.edge(rows.first, "OUT_A", elements.first, "IN_A", "A[0:12]");
  s.edge(elements.first, "OUT_A", t, "a", "A[k]");
  s.edge(t, "o", elements.second, "IN_B", "B[i] | wcr: lambda a, b: a + b");
  s.edge(elements.second, "OUT_B", rows.second, "IN_B", "B[i] | wcr: lambda a, b: a + b");
  s.edge(rows.second, "OUT_B", s.access("B"), "", "B[0:N]");
  g.body.state(s);
  std::vector<std::int64_t> p{0, 3, 3, 10};
  std::vector<double> a = ramp(12), b(3);
  dace::run(g, Arguments().set("ptr", p.data()).set("A", a.data()).set("B", b.data()).set("N", 3));
  for (std::size_t i = 0; i < 3; ++i) {
    double want = 0;
    for (auto k = static_cast<std::size_t>(p[i]); k < static_cast<std::size_t>(p[i + 1]); ++k) want += a[k];
    CHECK(b[i] == want);
  }
}

TEST_CASE("dynamic writes keep what they don't write") {
  dace::Graph g;
  g.array("A", "float64", "6");
  g.array("B", "float64", "6");
  dace::State s;
  const auto m = s.map("i", "0:6");
  const int t = s.tasklet("if a > 2:\n    o = a");
  s.read_in(m, "A[i]", t, "a");
  s.write_out(m, t, "o", "B[i] | dynamic");
  g.body.state(s);
  std::vector<double> a = ramp(6), b(6, -1.0);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
  for (std::size_t i = 0; i < 6; ++i) CHECK(b[i] == (a[i] > 2 ? a[i] : -1.0));
}

TEST_CASE("a transient in a loop keeps its value from iteration to iteration, in a map it does not") {
  dace::Graph g;
  g.array("A", "float64", "5");
  g.scalar("sum", "float64", true);
  dace::State init, add;
  init.write(init.tasklet("o = 0.0"), "o", "sum[0]");
  const int t = add.tasklet("o = s + a");
  add.read("sum[0]", t, "s");
  add.read("A[i]", t, "a");
  add.write(t, "o", "sum[0]");
  add.edge(3, "", add.access("A"), "", "A[i] -> 0");
  dace::Region body;
  body.state(add);
  const int first = g.body.state(init);
  g.body.next(first, g.body.loop("i", "i = 0", "i < 5", "i = i + 1", body));
  std::vector<double> a{1, 2, 3, 4, 5};
  dace::run(g, Arguments().set("A", a.data()));
  CHECK(a == std::vector<double>{1, 3, 6, 10, 15});
}

TEST_CASE("a transient around a map is one for all of its iterations, even if only the map uses it") {
  dace::Graph zeroed;
  zeroed.transient("T", "float64", "N, N");
  zeroed.symbol("N");
  dace::State fill;
  const auto points = fill.map("i, j", "0:N, 0:N");
  const int zero = fill.tasklet("o = 0");
  fill.edge(points.first, "", zero, "", "");
  fill.write_out(points, zero, "o", "T[i, j]", "T[0:N, 0:N]");
  zeroed.body.state(fill);
  const ir::Graph loaded = dace::load(zeroed);
  CHECK(loaded.locals == std::vector<std::string>{"T"});

  // What a point of the map leaves is there when the loop comes back to it.
  dace::Graph running;
  running.array("A", "float64", "5");
  running.array("B", "float64", "5");
  running.transient("sum", "float64", "5");
  dace::State add;
  const auto m = add.map("i", "0:5");
  const int t = add.tasklet("n = s + a\nb = n");
  add.read_in(m, "A[i]", t, "a");
  add.read_in(m, "sum[i]", t, "s");
  add.write_out(m, t, "n", "sum[i]");
  add.write_out(m, t, "b", "B[i]");
  for (int n = 0; n < 7; ++n) {
    if (add.attributes(n).value("data", "") == "sum") add.attributes(n)["setzero"] = true;
  }
  dace::Region body;
  body.state(add);
  running.body.loop("k", "k = 0", "k < 3", "k = k + 1", body);
  std::vector<double> a = ramp(5), b(5);
  dace::run(running, Arguments().set("A", a.data()).set("B", b.data()));
  for (std::size_t i = 0; i < 5; ++i) CHECK(b[i] == 3 * a[i]);
}

// ---- views ----------------------------------------------------------------------------------------------------------

namespace {

// B = f(view of A), and a write through a view of B; the view nodes are connected by `views` where `named`.
dace::Graph viewing(bool named, const char* shape, const char* strides, const char* subset) {
  dace::Graph g;
  g.array("A", "float64", "4, 6");
  g.array("B", "float64", "4, 6");
  for (const char* v : {"va", "vb"})
    g.descriptor(v, "View",
                 {{"dtype", "float64"},
                  {"shape", dace::split(shape, ",")},
                  {"strides", dace::split(strides, ",")},
                  {"transient", true}});
  dace::State s;
  const int a = s.access("A"), b = s.access("B"), va = s.access("va"), vb = s.access("vb");
  s.edge(a, "", va, named ? "views" : "", std::string("A[") + subset + "]");
  s.edge(vb, named ? "views" : "", b, "", std::string("B[") + subset + "]");
  const auto m = s.map("k", "0:3");
  const int t = s.tasklet("o = x + 100");
  const bool flat = std::string(shape).find(',') == std::string::npos;
  const std::string at = flat ? "[k]" : "[1, k]";
  s.edge(va, "", m.first, "IN_a", "va" + at);
  s.edge(m.first, "OUT_a", t, "x", "va" + at);
  s.edge(t, "o", m.second, "IN_b", "vb" + at);
  s.edge(m.second, "OUT_b", vb, "", "vb" + at);
  g.body.state(s);
  return g;
}

}  // namespace

TEST_CASE("views are resolved to what they show: rows, columns, blocks, other shapes") {
  struct Case {
    const char *shape, *strides, *subset;
    std::size_t (*at)(std::size_t);
  };
  const Case cases[] = {{"6", "1", "2, 0:6", [](std::size_t k) { return 12 + k; }},
                        {"4", "6", "0:4, 5", [](std::size_t k) { return 6 * k + 5; }},
                        {"2, 3", "6, 1", "1:3, 2:5", [](std::size_t k) { return 12 + 2 + k; }},
                        {"24", "1", "0:4, 0:6", [](std::size_t k) { return k; }},
                        {"8, 3", "3, 1", "0:4, 0:6", [](std::size_t k) { return 3 + k; }},
                        {"6, 4", "1, 6", "0:4, 0:6", [](std::size_t k) { return 1 + 6 * k; }}};
  for (const bool named : {false, true}) {
    for (const Case& c : cases) {
      INFO(c.shape << " of " << c.subset);
      std::vector<double> a = ramp(24), b(24, -1.0), want = b;
      for (std::size_t k = 0; k < 3; ++k) want[c.at(k)] = a[c.at(k)] + 100;
      dace::run(viewing(named, c.shape, c.strides, c.subset), Arguments().set("A", a.data()).set("B", b.data()));
      CHECK(b == want);
    }
  }
}

TEST_CASE("views of views show what the first one does") {
  dace::Graph g;
  g.array("A", "float64", "4, 6");
  g.array("B", "float64", "2");
  g.descriptor("v", "ArrayView", {{"dtype", "float64"}, {"shape", {"6"}}, {"transient", true}});
  g.descriptor("w", "ArrayView", {{"dtype", "float64"}, {"shape", {"2"}}, {"strides", {"2"}}, {"transient", true}});
  dace::State s;
  const int a = s.access("A"), v = s.access("v"), w = s.access("w");
  s.edge(a, "", v, "views", "A[3, 0:6]");
  s.edge(v, "", w, "views", "v[1:5]");
  const int b = s.access("B");
  s.edge(w, "", b, "", "w[0:2]");
  g.body.state(s);
  std::vector<double> x = ramp(24), y(2);
  dace::run(g, Arguments().set("A", x.data()).set("B", y.data()));
  CHECK(y == std::vector<double>{x[19], x[21]});
}

TEST_CASE("a view without an edge, or with edges that don't decide, is refused") {
  dace::Graph g;
  g.array("A", "float64", "4");
  g.descriptor("v", "ArrayView", {{"dtype", "float64"}, {"shape", {"4"}}, {"transient", true}});
  dace::State s;
  const int t = s.tasklet("o = 1.0");
  s.edge(t, "o", s.access("v"), "", "v[0]");
  g.body.state(s);
  CHECK_THROWS_AS(dace::load(g), Error);
}

// ---- symbols that are no integers -----------------------------------------------------------------------------------

TEST_CASE("floating and complex symbols become scalars, assigned, looped over and passed on") {
  // x is a float argument; half = x / 2 on an edge; a nested graph takes it under another name.
  dace::Graph inner("inner");
  inner.array("out", "float64", "1");
  inner.symbol("f", "float64");
  dace::State it;
  it.write(it.tasklet("o = f * f"), "o", "out[0]");
  inner.body.state(it);
  dace::Graph g;
  g.array("A", "float64", "3");
  g.symbol("x", "float64");
  g.symbol("half", "float64");
  dace::State first, second;
  const int n = first.nested(inner, {{"f", "half"}});
  first.write(n, "out", "A[0]");
  second.write(second.tasklet("o = half + x"), "o", "A[1]");
  const int start = g.body.state({}), one = g.body.state(first), two = g.body.state(second);
  g.body.next(start, one, "x > 0.5", {{"half", "x / 2"}});
  g.body.next(one, two, "", {{"half", "half / 2"}});
  std::vector<double> a(3);
  dace::run(g, Arguments().set("A", a.data()).set("x", 3.0));
  CHECK(a == std::vector<double>{2.25, 3.75, 0});
  std::vector<double> b(3);
  dace::run(g, Arguments().set("A", b.data()).set("x", 0.25));
  CHECK(b == std::vector<double>{0, 0, 0});
}

TEST_CASE("a nested graph may compute with floating symbols and change its own ones") {
  // half is 2 x at first and is halved inside; the outer one stays.
  dace::Graph inner("inner");
  inner.array("out", "float64", "2");
  inner.symbol("f", "float64");
  dace::State it, again;
  it.write(it.tasklet("o = f"), "o", "out[0]");
  again.write(again.tasklet("o = f"), "o", "out[1]");
  const int a = inner.body.state(it), b = inner.body.state(again);
  inner.body.next(a, b, "", {{"f", "f / 2"}});
  for (const char* value : {"x", "2*x"}) {
    INFO(value);
    dace::Graph g;
    g.array("A", "float64", "3");
    g.symbol("x", "float64");
    dace::State first, second;
    const int n = first.nested(inner, {{"f", value}});
    first.write(n, "out", "A[0:2]");
    second.write(second.tasklet("o = x"), "o", "A[2]");
    g.body.next(g.body.state(first), g.body.state(second));
    std::vector<double> out(3);
    dace::run(g, Arguments().set("A", out.data()).set("x", 3.0));
    const double f = value[0] == 'x' ? 3 : 6;
    CHECK(out == std::vector<double>{f, f / 2, 3});
  }
}

TEST_CASE("a floating loop variable runs as it does in Python") {
  dace::Graph g;
  g.array("A", "float64", "4");
  g.symbol("h", "float64");
  g.symbol("k");
  dace::State s;
  s.write(s.tasklet("o = h"), "o", "A[k]");
  dace::Region body;
  const int a = body.state(s), b = body.state({});
  body.next(a, b, "", {{"k", "k + 1"}});
  const int start = g.body.state({}), loop = g.body.loop("h", "h = 0.5", "h < 2", "h = h + 0.5", body);
  g.body.next(start, loop, "", {{"k", "0"}});
  std::vector<double> out(4);
  dace::run(g, Arguments().set("A", out.data()));
  CHECK(out == std::vector<double>{0.5, 1.0, 1.5, 0});
}

TEST_CASE("complex symbols are scalars, too") {
  using Complex = std::complex<double>;
  dace::Graph g;
  g.array("A", "complex128", "2");
  g.symbol("z", "complex128");
  dace::State s;
  const auto m = s.map("i", "0:2");
  const int t = s.tasklet("o = z * i + 1");
  s.edge(m.first, "", t, "", "");
  s.write_out(m, t, "o", "A[i]");
  g.body.state(s);
  std::vector<Complex> a(2);
  dace::run(g, Arguments().set("A", static_cast<void*>(a.data())).set("z", tasklet::Value::complex({0.5, -2})));
  CHECK(a == std::vector<Complex>{1.0, {1.5, -2}});
}

// ---- streams, consume scopes, structures, references, callbacks
// ------------------------------------------------------

TEST_CASE("streams are pushed to, drained and consumed") {
  // Push 1..5, and for each element x > 1 also push x // 2; sum all that is popped.
  dace::Graph g;
  g.array("A", "int64", "5");
  g.array("R", "int64", "1");
  g.descriptor("q", "Stream", {{"dtype", "int64"}, {"shape", {"1"}}, {"transient", true}});
  dace::State fill, drain;
  const auto m = fill.map("i", "0:5");
  const int push = fill.tasklet("o = a");
  fill.read_in(m, "A[i]", push, "a");
  fill.write_out(m, push, "o", "q[0]");
  const auto c = drain.consume("p", "2");
  const int work = drain.tasklet("if x > 1:\n    again = x // 2\nsum = x");
  drain.edge(drain.access("q"), "", c.first, "IN_stream", "q[0]");
  drain.edge(c.first, "OUT_stream", work, "x", "q[0]");
  drain.edge(work, "again", c.second, "IN_q", "q[0] | dynamic");
  drain.edge(c.second, "OUT_q", drain.access("q"), "", "q[0] | dynamic");
  drain.edge(work, "sum", c.second, "IN_R", "R[0] | wcr: lambda a, b: a + b");
  drain.edge(c.second, "OUT_R", drain.access("R"), "", "R[0] | wcr: lambda a, b: a + b");
  const int first = g.body.state(fill);
  g.body.next(first, g.body.state(drain));
  std::vector<std::int64_t> a{1, 2, 3, 4, 5}, r{0};
  dace::run(g, Arguments().set("A", a.data()).set("R", r.data()));
  std::int64_t want = 0;
  for (std::int64_t x : a) {
    for (; x >= 1; x /= 2) want += x;
  }
  CHECK(r[0] == want);
}

TEST_CASE("copies to and from a stream push and pop") {
  dace::Graph g;
  g.array("A", "float64", "4");
  g.array("B", "float64", "4");
  g.descriptor("q", "Stream", {{"dtype", "float64"}, {"shape", {"1"}}, {"transient", true}});
  dace::State s;
  const int a = s.access("A"), q = s.access("q"), b = s.access("B");
  s.edge(a, "", q, "", "A[0:4]");
  s.edge(q, "", b, "", "B[0:4]");
  g.body.state(s);
  std::vector<double> x{4, 3, 2, 1}, y(4);
  dace::run(g, Arguments().set("A", x.data()).set("B", y.data()));
  CHECK(y == x);
}

TEST_CASE("members of structures are containers") {
  dace::Graph g;
  g.descriptor(
      "st", "Structure",
      {{"name", "Pair"},
       {"members",
        Json::array({Json::array({"x", {{"type", "Array"}, {"attributes", {{"dtype", "float64"}, {"shape", {"3"}}}}}}),
                     Json::array({"f", {{"type", "Scalar"}, {"attributes", {{"dtype", "float64"}}}}})})}});
  g.array("B", "float64", "3");
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int t = s.tasklet("o = x * f");
  s.edge(s.access("st.x"), "", m.first, "IN_x", "st.x[0:3]");
  s.edge(m.first, "OUT_x", t, "x", "st.x[i]");
  s.edge(s.access("st.f"), "", m.first, "IN_f", "st.f[0]");
  s.edge(m.first, "OUT_f", t, "f", "st.f[0]");
  s.write_out(m, t, "o", "B[i]");
  g.body.state(s);
  double x[] = {1, 2, 3};
  struct {
    double* x;
    double f;
  } st{x, 2.5};
  std::vector<double> b(3);
  dace::run(g, Arguments().set("st", static_cast<void*>(&st)).set("B", b.data()));
  CHECK(b == std::vector<double>{2.5, 5, 7.5});
  dace::State wrong;
  wrong.edge(wrong.access("st.y"), "", wrong.access("B"), "", "B[0:3]");
  g.body.next(0, g.body.state(wrong));
  CHECK_THROWS_WITH(dace::load(g), Catch::Contains("structure 'st' has no member for 'st.y'"));
}

TEST_CASE("references are set to an address and used like a container") {
  dace::Graph g;
  g.array("A", "float64", "4");
  g.array("B", "float64", "4");
  g.array("C", "float64", "2");
  g.symbol("k");
  g.descriptor("ref", "ArrayReference", {{"dtype", "float64"}, {"shape", {"2"}}, {"transient", true}});
  const auto set_to = [](const char* what) {
    dace::State s;
    const int from = s.access(std::string(1, what[0]));
    s.edge(from, "", s.access("ref"), "set", what);
    return s;
  };
  dace::State use;
  const int from = use.access("ref");
  use.edge(from, "", use.access("C"), "", "ref[0:2]");
  const int start = g.body.state({}), a = g.body.state(set_to("A[1:3]")), b = g.body.state(set_to("B[2:4]")),
            end = g.body.state(use);
  g.body.next(start, a, "k > 0");
  g.body.next(start, b, "k <= 0");
  g.body.next(a, end);
  g.body.next(b, end);
  std::vector<double> x = ramp(4), y = ramp(4, 50), c(2);
  dace::run(g, Arguments().set("A", x.data()).set("B", y.data()).set("C", c.data()).set("k", 1));
  CHECK(c == std::vector<double>{x[1], x[2]});
  dace::run(g, Arguments().set("A", x.data()).set("B", y.data()).set("C", c.data()).set("k", 0));
  CHECK(c == std::vector<double>{y[2], y[3]});
}

TEST_CASE("callbacks are symbols that are called") {
  dace::Graph g;
  g.array("A", "float64", "3");
  g.symbol("f", {{"type", "callback"}, {"arguments", {"float64", "float64"}}, {"returntypes", {"float64"}}});
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int t = s.tasklet("o = f(a, 2.0)");
  s.read_in(m, "A[i]", t, "a");
  s.write_out(m, t, "o", "A[i]");
  g.body.state(s);
  std::vector<double> a{1, 2, 3};
  dace::run(g, Arguments().set("A", a.data()).set("f", [](std::span<const interpret::CallbackArgument> args) {
    return tasklet::Value::floating(std::get<tasklet::Value>(args[0]).as_double() * 10 +
                                    std::get<tasklet::Value>(args[1]).as_double());
  }));
  CHECK(a == std::vector<double>{12, 22, 32});
}

TEST_CASE("constants are read by name in tasklets and by memlets") {
  dace::Graph g;
  g.array("A", "float64", "3");
  g.constant("w", {{"type", "Array"}, {"attributes", {{"dtype", "float64"}, {"shape", {"3"}}}}},
             {{"type", "ndarray"}, {"dtype", "float64"}, {"data", {0.5, 2.0, -1.0}}});
  g.constant("c", {{"type", "Scalar"}, {"attributes", {{"dtype", "float64"}}}}, 10.0);
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int t = s.tasklet("o = a * w[i] + c");
  s.read_in(m, "A[i]", t, "a");
  s.write_out(m, t, "o", "A[i]");
  g.body.state(s);
  std::vector<double> a{1, 2, 3};
  dace::run(g, Arguments().set("A", a.data()));
  CHECK(a == std::vector<double>{10.5, 14, 7});
}

TEST_CASE("unknown library nodes are kept with all they say, and refused when they are run") {
  dace::Graph g;
  g.array("A", "float64", "3");
  g.array("B", "float64", "3");
  dace::State s;
  const int n = s.library("dace.libraries.mpi.nodes.bcast.Bcast", {{"fcomm", "world"}, {"implementation", "MPI"}});
  s.read("A[0:3]", n, "_inbuffer");
  s.write(n, "_outbuffer", "B[0:3]");
  g.body.state(s);
  const ir::Graph loaded = dace::load(g);
  const ir::UnknownLibrary* unknown = nullptr;
  ir::walk(loaded.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* st = std::get_if<ir::State>(&e.kind);
    if (st == nullptr) return;
    for (const ir::Node& node : st->nodes) {
      const auto* l = std::get_if<ir::Library>(&node.kind);
      if (l != nullptr) unknown = std::get_if<ir::UnknownLibrary>(&l->op);
    }
  });
  REQUIRE(unknown != nullptr);
  CHECK(unknown->class_path == "dace.libraries.mpi.nodes.bcast.Bcast");
  CHECK(Json::parse(unknown->json)["fcomm"] == "world");
  std::vector<double> a(3), b(3);
  CHECK_THROWS_WITH(interpret::run(loaded, Arguments().set("A", a.data()).set("B", b.data())),
                    Catch::Contains("dace.libraries.mpi.nodes.bcast.Bcast"));
}

// ---- functions that DaCe's printer spells
// ----------------------------------------------------------------------------

TEST_CASE("what DaCe's printers spell has its meaning: powers, rounding divisions, logic, casts") {
  struct Case {
    const char* text;
    double (*value)(double a, std::int64_t k);
  };
  const Case cases[] = {
      {"__pow(a, 2)", [](double a, std::int64_t) { return a * a; }},
      {"pow(a, 3)", [](double a, std::int64_t) { return a * a * a; }},
      {"a ** 2", [](double a, std::int64_t) { return a * a; }},
      {"int_floor(k, 3)", [](double, std::int64_t k) { return std::floor(static_cast<double>(k) / 3); }},
      {"int_ceil(k, 3)", [](double, std::int64_t k) { return std::ceil(static_cast<double>(k) / 3); }},
      {"k // 3", [](double, std::int64_t k) { return std::floor(static_cast<double>(k) / 3); }},
      {"k % 3", [](double, std::int64_t k) { return static_cast<double>((k % 3 + 3) % 3); }},
      {"Min(k, 3)", [](double, std::int64_t k) { return static_cast<double>(std::min<std::int64_t>(k, 3)); }},
      {"Max(k, 3)", [](double, std::int64_t k) { return static_cast<double>(std::max<std::int64_t>(k, 3)); }},
      {"1 if And(k > 2, a > 0) else 0", [](double a, std::int64_t k) { return k > 2 && a > 0 ? 1.0 : 0.0; }},
      {"1 if Or(k > 2, a > 0) else 0", [](double a, std::int64_t k) { return k > 2 || a > 0 ? 1.0 : 0.0; }},
      {"1 if Not(k > 2) else 0", [](double, std::int64_t k) { return k > 2 ? 0.0 : 1.0; }},
      {"dace.int32(a)", [](double a, std::int64_t) { return static_cast<double>(static_cast<std::int32_t>(a)); }},
      {"dace.float32(a) / 3", [](double a, std::int64_t) { return static_cast<double>(static_cast<float>(a) / 3.0F); }},
      {"dace.math.sqrt(abs(a))", [](double a, std::int64_t) { return std::sqrt(std::abs(a)); }},
      {"math.exp(a)", [](double a, std::int64_t) { return std::exp(a); }},
      {"(1 if Eq(k, 4) else 2) + (10 if Ne(k, 4) else 20)",
       [](double, std::int64_t k) { return k == 4 ? 21.0 : 12.0; }},
      {"(1 if Lt(k, 4) else 0) + (10 if Ge(k, 4) else 0)", [](double, std::int64_t k) { return k < 4 ? 1.0 : 10.0; }},
  };
  for (const Case& c : cases) {
    dace::Graph g;
    g.array("A", "float64", "1");
    g.symbol("k");
    dace::State s;
    const int t = s.tasklet(std::string("o = ") + c.text);
    s.read("A[0]", t, "a");
    s.write(t, "o", "A[0]");
    if (std::string(c.text).find('a') == std::string::npos)
      s.attributes(t)["code"]["string_data"] = std::string("o = ") + c.text + " + 0 * a";
    g.body.state(s);
    for (const double a : {1.25, -2.5}) {
      for (const std::int64_t k : {-4, 0, 4, 7}) {
        INFO(c.text << " at a = " << a << ", k = " << k);
        std::vector<double> x{a};
        dace::run(g, Arguments().set("A", x.data()).set("k", k));
        CHECK(x[0] == Approx(c.value(a, k)));
      }
    }
  }
}

TEST_CASE("the same functions in conditions, assignments, sizes and ranges") {
  for (const std::int64_t n : {0, 1, 5, 8}) {
    dace::Graph g;
    g.array("A", "int64", "16");
    g.symbol("N");
    g.transient("t", "int64", "int_ceil(N, 2) + Max(N, 3)");
    dace::State s, copy;
    const auto m = s.map("i", "0:int_ceil(N, 2)");
    const int t = s.tasklet("o = q + i");
    s.edge(m.first, "", t, "", "");
    s.write_out(m, t, "o", "t[i]");
    copy.edge(copy.access("t"), "", copy.access("A"), "", "t[0:int_ceil(N, 2)] -> 0:int_ceil(N, 2)");
    const int start = g.body.state({}), work = g.body.state(s), last = g.body.state(copy);
    g.body.next(start, work, "Or((N > 4), And(Not(N > 4), (N != 1)))", {{"q", "int_floor(N, 2) + Min(N, 3) * 100"}});
    g.body.next(work, last);
    std::vector<std::int64_t> a(16, -1), want(16, -1);
    if (n != 1) {
      for (std::int64_t i = 0; i < (n + 1) / 2; ++i)
        want[static_cast<std::size_t>(i)] = n / 2 + std::min<std::int64_t>(n, 3) * 100 + i;
    }
    dace::run(g, Arguments().set("A", a.data()).set("N", n));
    CHECK(a == want);
  }
}

}  // namespace test_import_dataflow
