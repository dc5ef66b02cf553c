// Nested graphs become blocks in place: what their connectors mean, against plain loops.
#include <catch2/catch.hpp>
#include <cstdint>

#include "dace_text.hpp"

namespace test_import_nested {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using dace::ramp;
using interpret::Arguments;

TEST_CASE("a scalar input of a nested graph is what the element held on entry") {
  // A[0] is overwritten inside before the scalar is read for the second time.
  dace::Graph inner("inner");
  inner.scalar("s", "float64");
  inner.array("whole", "float64", "N");
  inner.symbol("N");
  dace::State first, second;
  const int t = first.tasklet("o = v + 100");
  first.read("s[0]", t, "v");
  first.write(t, "o", "whole[0]");
  const int u = second.tasklet("o = v + 1");
  second.read("s[0]", u, "v");
  second.write(u, "o", "whole[1]");
  inner.body.state(first);
  inner.body.state(second);
  inner.body.next(0, 1);

  dace::Graph g;
  g.array("A", "float64", "N");
  g.symbol("N");
  dace::State s;
  const int n = s.nested(inner, {{"N", "N"}});
  s.read("A[0]", n, "s");
  s.read("A[0:N]", n, "whole");
  s.write(n, "whole", "A[0:N]");
  g.body.state(s);
  std::vector<double> a{5, 6, 7};
  dace::run(g, Arguments().set("A", a.data()).set("N", 3));
  CHECK(a == std::vector<double>{105, 6, 7});
}

TEST_CASE("a scalar output of a nested graph is written in place") {
  dace::Graph inner("inner");
  inner.scalar("s", "float64");
  inner.scalar("r", "float64");
  dace::State st;
  const int t = st.tasklet("o = v * 2");
  st.read("s[0]", t, "v");
  st.write(t, "o", "r[0]");
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "float64", "5");
  g.array("B", "float64", "5");
  dace::State s;
  const auto m = s.map("i", "0:5");
  const int n = s.nested(inner);
  s.read_in(m, "A[i]", n, "s");
  s.write_out(m, n, "r", "B[4 - i]");
  g.body.state(s);
  std::vector<double> a = ramp(5), b(5);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
  for (std::size_t i = 0; i < 5; ++i) CHECK(b[4 - i] == 2 * a[i]);
}

namespace {

// acc = op over i of A[i], where `outer` and `inner_wcr` say which of the two edges accumulate.
dace::Graph accumulating(bool outer_wcr, bool inner_wcr, const char* lambda) {
  dace::Graph inner("inner");
  inner.scalar("v", "float64");
  inner.array("acc", "float64", "1");
  dace::State st;
  const int t = st.tasklet("o = x * 2");
  st.read("v[0]", t, "x");
  st.write(t, "o", std::string("acc[0]") + (inner_wcr ? std::string(" | wcr: ") + lambda : std::string()));
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "float64", "N");
  g.array("R", "float64", "1");
  g.symbol("N");
  dace::State s;
  const auto m = s.map("i", "0:N");
  const int n = s.nested(inner);
  s.read_in(m, "A[i]", n, "v");
  s.write_out(m, n, "acc", std::string("R[0]") + (outer_wcr ? std::string(" | wcr: ") + lambda : std::string()));
  g.body.state(s);
  return g;
}

}  // namespace

TEST_CASE("an accumulating outer edge with a plain inner write accumulates once for each execution") {
  for (const int n : {0, 1, 7}) {
    std::vector<double> a = ramp(static_cast<std::size_t>(n)), r{3.0};
    double want = 3.0;
    for (const double v : a) want += 2 * v;
    dace::run(accumulating(true, false, "lambda a, b: a + b"),
              Arguments().set("A", a.data()).set("R", r.data()).set("N", n));
    CHECK(r[0] == want);
  }
}

TEST_CASE("accumulation on both edges happens once") {
  for (const int n : {0, 1, 7}) {
    std::vector<double> a = ramp(static_cast<std::size_t>(n)), r{3.0};
    double want = 3.0;
    for (const double v : a) want += 2 * v;
    dace::run(accumulating(true, true, "lambda a, b: a + b"),
              Arguments().set("A", a.data()).set("R", r.data()).set("N", n));
    CHECK(r[0] == want);
    r[0] = 3.0;
    dace::run(accumulating(false, true, "lambda a, b: a + b"),
              Arguments().set("A", a.data()).set("R", r.data()).set("N", n));
    CHECK(r[0] == want);
  }
}

TEST_CASE("a plain inner write that is read back and overwritten accumulates its last value") {
  // The container behind an accumulating edge is the nested graph's own until the end.
  dace::Graph inner("inner");
  inner.scalar("v", "float64");
  inner.array("acc", "float64", "1");
  dace::State first, second;
  const int t = first.tasklet("o = x");
  first.read("v[0]", t, "x");
  first.write(t, "o", "acc[0]");
  const int u = second.tasklet("o = x + 1");
  second.read("acc[0]", u, "x");
  second.write(u, "o", "acc[0]");
  inner.body.state(first);
  inner.body.state(second);
  inner.body.next(0, 1);
  dace::Graph g;
  g.array("A", "float64", "3");
  g.array("R", "float64", "1");
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int n = s.nested(inner);
  s.read_in(m, "A[i]", n, "v");
  s.write_out(m, n, "acc", "R[0] | wcr: lambda a, b: a + b");
  g.body.state(s);
  std::vector<double> a{1, 2, 4}, r{0};
  dace::run(g, Arguments().set("A", a.data()).set("R", r.data()));
  CHECK(r[0] == 10);
}

TEST_CASE("a return in a nested graph still accumulates") {
  dace::Graph inner("inner");
  inner.scalar("v", "float64");
  inner.array("acc", "float64", "1");
  dace::State first, second;
  const int t = first.tasklet("o = x");
  first.read("v[0]", t, "x");
  first.write(t, "o", "acc[0]");
  const int u = second.tasklet("o = 1000.0");
  second.write(u, "o", "acc[0]");
  inner.body.state(first);
  inner.body.leaf("ReturnBlock");
  inner.body.state(second);
  inner.body.chain({0, 1, 2});
  dace::Graph g;
  g.array("A", "float64", "3");
  g.array("R", "float64", "1");
  g.array("after", "float64", "1");
  dace::State s;
  const auto m = s.map("i", "0:3");
  const int n = s.nested(inner);
  s.read_in(m, "A[i]", n, "v");
  s.write_out(m, n, "acc", "R[0] | wcr: lambda a, b: max(a, b)");
  g.body.state(s);
  dace::State last;  // a return leaves the nested graph only
  last.write(last.tasklet("o = 1.0"), "o", "after[0]");
  g.body.state(last);
  g.body.next(0, 1);
  std::vector<double> a{1, 9, 4}, r{2}, after{0};
  dace::run(g, Arguments().set("A", a.data()).set("R", r.data()).set("after", after.data()));
  CHECK(r[0] == 9);
  CHECK(after[0] == 1);
}

TEST_CASE("the shape that a nested graph claims is not trusted") {
  // The connector lies at A[2:5, i], but claims to be as large as A, with A's strides.
  dace::Graph inner("inner");
  inner.array("col", "float64", "7, 4", {{"strides", {"4", "1"}}});
  inner.array("out", "float64", "1");
  dace::State st;
  const auto m = st.map("k", "0:3");
  const int t = st.tasklet("o = x");
  st.read_in(m, "col[k, 0]", t, "x");
  st.write_out(m, t, "o", "out[0] | wcr: lambda a, b: a + b");
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "float64", "7, 4");
  g.array("R", "float64", "4");
  dace::State s;
  const auto outer = s.map("i", "0:4");
  const int n = s.nested(inner);
  s.read_in(outer, "A[2:5, i]", n, "col");
  s.write_out(outer, n, "out", "R[i]");
  g.body.state(s);
  std::vector<double> a = ramp(28), r(4);
  dace::run(g, Arguments().set("A", a.data()).set("R", r.data()));
  for (std::size_t i = 0; i < 4; ++i) CHECK(r[i] == a[8 + i] + a[12 + i] + a[16 + i]);
}

TEST_CASE("inner dimensions follow strides: columns, rows, squeezed dimensions, reshaped blocks") {
  struct Case {
    const char *shape, *strides, *outer, *inner;
    std::size_t (*at)(std::size_t);
  };
  // A is 3 x 4 x 5, its strides 20, 5, 1.
  const Case cases[] = {
      {"3", "20", "A[0:3, 2, 1]", "p[k]", [](std::size_t k) { return 20 * k + 11; }},
      {"4", "5", "A[1, 0:4, 3]", "p[k]", [](std::size_t k) { return 20 + 5 * k + 3; }},
      {"5", "1", "A[2, 3, 0:5]", "p[k]", [](std::size_t k) { return 40 + 15 + k; }},
      {"3, 1, 5", "20, 5, 1", "A[0:3, 1:2, 0:5]", "p[k, 0, 2]", [](std::size_t k) { return 20 * k + 7; }},
      {"20", "1", "A[1, 0:4, 0:5]", "p[3 * k + 2]", [](std::size_t k) { return 20 + 3 * k + 2; }},
      {"5, 4", "1, 5", "A[1, 0:4, 0:5]", "p[k, 1]", [](std::size_t k) { return 20 + k + 5; }},  // transposed
      {"2, 2", "5, 10", "A[1, 0:4, 2]", "p[1, k % 2]", [](std::size_t k) { return 20 + 2 + 5 + 10 * (k % 2); }},
  };
  for (const Case& c : cases) {
    INFO(c.outer << " as " << c.shape << " strides " << c.strides);
    dace::Graph inner("inner");
    inner.array("p", "float64", c.shape, {{"strides", dace::split(c.strides, ",")}});
    inner.array("q", "float64", "3");
    dace::State st;
    const auto m = st.map("k", "0:3");
    const int t = st.tasklet("o = x");
    st.read_in(m, c.inner, t, "x");
    st.write_out(m, t, "o", "q[k]");
    inner.body.state(st);
    dace::Graph g;
    g.array("A", "float64", "3, 4, 5");
    g.array("B", "float64", "3");
    dace::State s;
    const int n = s.nested(inner);
    s.read(c.outer, n, "p");
    s.write(n, "q", "B[0:3]");
    g.body.state(s);
    std::vector<double> a = ramp(60), b(3);
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
    for (std::size_t k = 0; k < 3; ++k) CHECK(b[k] == a[c.at(k)]);
  }
}

TEST_CASE("a connector may see its memory as another type") {
  dace::Graph inner("inner");
  inner.array("words", "uint32", "6");
  inner.array("q", "int64", "6");
  dace::State st;
  const auto m = st.map("k", "0:6");
  const int t = st.tasklet("o = x");
  st.read_in(m, "words[k]", t, "x");
  st.write_out(m, t, "o", "q[k]");
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "uint64", "3");
  g.array("B", "int64", "6");
  dace::State s;
  const int n = s.nested(inner);
  s.read("A[0:3]", n, "words");
  s.write(n, "q", "B[0:6]");
  g.body.state(s);
  std::vector<std::uint64_t> a{(7ULL << 32) + 3, 0, (1ULL << 32) + 9};
  std::vector<std::int64_t> b(6);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
  CHECK(b == std::vector<std::int64_t>{3, 7, 0, 0, 9, 1});
}

TEST_CASE("names of a nested graph that clash with the outer ones stay apart") {
  // 'A', 'tmp', 'i', 'N' and 'k' mean other things inside.
  dace::Graph inner("g");
  inner.array("A", "float64", "N");
  inner.array("B", "float64", "N");
  inner.transient("tmp", "float64", "N");
  inner.symbol("N");
  inner.symbol("k");
  dace::State st, copy;
  const auto m = st.map("i", "0:N");
  const int t = st.tasklet("o = x + i + k");
  st.read_in(m, "A[i]", t, "x");
  st.write_out(m, t, "o", "tmp[i]");
  copy.edge(copy.access("tmp"), "", copy.access("B"), "", "tmp[0:N]");
  inner.body.state(st);
  inner.body.state(copy);
  inner.body.next(0, 1);
  dace::Graph g("g");
  g.array("A", "float64", "N, N");
  g.array("B", "float64", "N, N");
  g.transient("tmp", "float64", "N, N");
  g.symbol("N");
  dace::State first, second;
  first.edge(first.access("A"), "", first.access("tmp"), "", "A[0:N, 0:N]");
  const auto outer = second.map("i", "0:N");
  const int n = second.nested(inner, {{"N", "N - 1"}, {"k", "10 * i"}});
  second.read_in(outer, "tmp[i, 1:N]", n, "A");
  second.write_out(outer, n, "B", "B[i, 0:N - 1]");
  g.body.state(first);
  g.body.state(second);
  g.body.next(0, 1);
  for (const int size : {1, 2, 5}) {
    const auto count = static_cast<std::size_t>(size);
    std::vector<double> a = ramp(count * count), b(count * count, -1.0);
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()).set("N", size));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j + 1 < count; ++j)
        CHECK(b[i * count + j] == a[i * count + j + 1] + static_cast<double>(j + 10 * i));
      CHECK(b[i * count + count - 1] == -1.0);
    }
  }
}

TEST_CASE("symbols that a nested graph assigns are its own") {
  // k counts inside; the outer k keeps its value.
  dace::Graph inner("inner");
  inner.array("p", "int64", "5");
  inner.symbol("k");
  dace::State st;
  st.write(st.tasklet("o = k"), "o", "p[k]");
  dace::Region loop;
  loop.state(st);
  inner.body.loop("", "", "k < 5", "", [&] {
    dace::Region body;
    const int a = body.state(st);
    const int b = body.state({});
    body.next(a, b, "", {{"k", "k + 1"}});
    return body;
  }());
  dace::Graph g;
  g.array("A", "int64", "5");
  g.array("B", "int64", "1");
  g.symbol("k");
  dace::State s, after;
  const int n = s.nested(inner, {{"k", "k"}});
  s.write(n, "p", "A[0:5]");
  after.write(after.tasklet("o = k"), "o", "B[0]");
  g.body.state(s);
  g.body.state(after);
  g.body.next(0, 1);
  std::vector<std::int64_t> a(5, -1), b(1);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()).set("k", 2));
  CHECK(a == std::vector<std::int64_t>{-1, -1, 2, 3, 4});
  CHECK(b[0] == 2);
}

TEST_CASE("symbols may be swapped by a mapping") {
  dace::Graph inner("inner");
  inner.array("p", "int64", "2");
  inner.symbol("m");
  inner.symbol("n");
  dace::State st;
  st.write(st.tasklet("o = m"), "o", "p[0]");
  st.write(st.tasklet("o = n"), "o", "p[1]");
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "int64", "2");
  g.symbol("m");
  g.symbol("n");
  dace::State s;
  const int node = s.nested(inner, {{"m", "n"}, {"n", "m"}});
  s.write(node, "p", "A[0:2]");
  g.body.state(s);
  std::vector<std::int64_t> a(2);
  dace::run(g, Arguments().set("A", a.data()).set("m", 3).set("n", 8));
  CHECK(a == std::vector<std::int64_t>{8, 3});
}

TEST_CASE("nested graphs nest, and windows compose") {
  dace::Graph innermost("c");
  innermost.array("x", "float64", "2");
  innermost.array("y", "float64", "1");
  {
    dace::State st;
    const int t = st.tasklet("o = a - b");
    st.read("x[1]", t, "a");
    st.read("x[0]", t, "b");
    st.write(t, "o", "y[0]");
    innermost.body.state(st);
  }
  dace::Graph middle("b");
  middle.array("row", "float64", "N");
  middle.array("diff", "float64", "N - 1");
  middle.symbol("N");
  {
    dace::State st;
    const auto m = st.map("j", "0:N - 1");
    const int n = st.nested(innermost);
    st.read_in(m, "row[j:j + 2]", n, "x");
    st.write_out(m, n, "y", "diff[j]");
    middle.body.state(st);
  }
  dace::Graph g("a");
  g.array("A", "float64", "M, N");
  g.array("B", "float64", "M, N - 1");
  g.symbol("M");
  g.symbol("N");
  {
    dace::State st;
    const auto m = st.map("i", "0:M");
    const int n = st.nested(middle, {{"N", "N"}});
    st.read_in(m, "A[i, 0:N]", n, "row");
    st.write_out(m, n, "diff", "B[i, 0:N - 1]");
    g.body.state(st);
  }
  std::vector<double> a{1, 4, 9, 16, 2, 2, 5, 1}, b(6);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()).set("M", 2).set("N", 4));
  CHECK(b == std::vector<double>{3, 5, 7, 0, 3, -4});
}

TEST_CASE("strides that divide by a dimension that is zero do no harm") {
  // softmax reads a broadcast through the stride int_floor(N, N).
  dace::Graph inner("inner");
  inner.array("p", "float64", "N", {{"strides", {"int_floor(N, N)"}}});
  inner.array("q", "float64", "N");
  inner.symbol("N");
  dace::State st;
  const auto m = st.map("k", "0:N");
  const int t = st.tasklet("o = x + 1");
  st.read_in(m, "p[k]", t, "x");
  st.write_out(m, t, "o", "q[k]");
  inner.body.state(st);
  dace::Graph g;
  g.array("A", "float64", "N");
  g.array("B", "float64", "N");
  g.symbol("N");
  dace::State s;
  const int n = s.nested(inner, {{"N", "N"}});
  s.read("A[0:N]", n, "p");
  s.write(n, "q", "B[0:N]");
  g.body.state(s);
  for (const int size : {0, 1, 3}) {
    std::vector<double> a = ramp(static_cast<std::size_t>(size)), b(a.size());
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()).set("N", size));
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(b[k] == a[k] + 1);
  }
}

}  // namespace test_import_nested
