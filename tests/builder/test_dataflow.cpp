// Level 3: states by hand, library nodes, and calls of other graphs.
#include <catch2/catch.hpp>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_dataflow {

using namespace sdfg;
using test::Arguments;

TEST_CASE("a tasklet with named connectors and memlets by text and by handle") {
  Builder g("scale");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M});
  auto B = g.array<double>("B", {N, M});
  g.map({"i", 0, N}, {"j", 0, M}, [&](auto, auto) {});
  g.map({"i", 0, N}, {"j", 0, M}, [&](auto i, auto j) {
    g.state("compute", [&](State& s) {
      auto a = s.access(A), b = s.access(B);
      auto t = s.tasklet("scale", {"x", "z"}, {"y"}, "y = 2 * x + z + i");
      s.edge(a, t["x"], "i, j");
      s.edge(a, t["z"], A(i, M - 1 - j));
      s.edge(t["y"], b, "i, j");
    });
  });
  double a[] = {1, 2, 3, 4, 5, 6}, b[6];
  test::run(g, Arguments().set("N", 2).set("M", 3).set("A", a).set("B", b));
  CHECK(b[0] == 2 * 1 + 3);
  CHECK(b[5] == 2 * 6 + 4 + 1);
}

TEST_CASE("copies, WCR, register edges and order in one state") {
  Builder g("moves");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto B = g.array<double>("B", {N});
  auto s = g.array<double>("s", {2});
  auto t = g.transient<double>("t", {N});
  g.state("copy", [&](State& st) {
    auto a = st.access(A), tt = st.access(t), b = st.access("B");
    st.edge(a, tt);
    st.edge(tt, b, Memlet("0:N-1").to("1:N"));
  });
  s = 1.0;
  g.map({"k", 0, N}, [&](auto k) {
    g.state("sum", [&](State& st) {
      auto a = st.access(A), out = st.access(s);
      auto first = st.tasklet("square", {"x"}, {"y"}, "y = x * x");
      auto second = st.tasklet("next", {"x"}, {"y"}, "y = x + 1");
      st.edge(a, first["x"], A(k));
      st.edge(first["y"], second["x"]);
      st.edge(second["y"], out, Memlet("0").wcr(Reduce::sum));
      auto third = st.tasklet("again", {"x"}, {"y"}, "y = x");
      st.edge(a, third["x"], "k");
      st.edge(third["y"], out, Memlet("1").wcr("max(a, b)"));
      st.order(second, third);
    });
  });
  double a[] = {1, 2, 3}, b[] = {9, 9, 9}, sv[2];
  test::run(g, Arguments().set("N", 3).set("A", a).set("B", b).set("s", sv));
  CHECK(b[0] == 9);
  CHECK(b[2] == 2);
  CHECK(sv[0] == 1 + 14 + 3);
  CHECK(sv[1] == 3);
}

TEST_CASE("library nodes") {
  Builder g("library");
  auto N = g.symbol("N"), K = g.symbol("K"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, K});
  auto B = g.array<double>("B", {K, M});
  auto C = g.array<double>("C", {N, M});
  auto s = g.array<double>("s", {N});
  g.state("product", [&](State& st) {
    auto mm = st.library("gemm", nodes::Gemm{.alpha = 2.0});
    st.edge(st.access(A), mm["_a"]);
    st.edge(st.access(B), mm["_b"]);
    auto c = st.access(C);
    st.edge(mm["_c"], c);
    auto reduce = st.library("rows", nodes::Reduce{.op = Reduce::max, .axes = {1}, .identity = -1e30});
    st.edge(c, reduce["_in"]);
    st.edge(reduce["_out"], st.access(s));
  });
  double a[] = {1, 2, 3, 4}, b[] = {1, 0, 1, 0, 1, 1}, c[6], sv[2];
  test::run(g, Arguments().set("N", 2).set("K", 2).set("M", 3).set("A", a).set("B", b).set("C", c).set("s", sv));
  CHECK(c[0] == 2);
  CHECK(c[2] == 2 * 3);
  CHECK(sv[0] == 6);
  CHECK(sv[1] == 14);
}

TEST_CASE("symbols in C++ tasklets keep the user's names") {
  Builder g("cpp");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = 0; });
  g.map({"i", 0, N}, [&](auto i) {
    g.state("native", [&](State& s) {
      auto t = s.cpp_tasklet("fill", {}, {"y"}, "y = i * N; // i stays", "static int calls;");
      s.edge(t["y"], s.access(A), A(i));
    });
  });
  const std::string text = test::elements_of(g);
  INFO(text);
  CHECK(test::contains(text, "y = i_1 * N;"));
}

TEST_CASE("a graph calls another one") {
  Builder inner("smooth");
  auto n = inner.symbol("n");
  auto factor = inner.scalar<double>("factor");
  auto X = inner.array<double>("X", {n});
  auto t = inner.transient<double>("t", {n});
  t.copy(X);
  inner.if_(factor < 0.0, [&] { inner.return_(); });
  inner.map({"i", 1, n - 1}, [&](auto i) { X(i) = factor * (t(i - 1) + t(i + 1)); });

  Builder g("outer");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {3, N});
  auto V = g.array<double>("V", {N});
  auto t2 = g.transient<double>("t", {N});
  t2 = V + 1.0;
  g.call(inner, {{"X", V}, {"factor", 0.5}});
  g.loop("r", 0, 3, [&](auto r) { g.call(inner, {{"X", A.slice(r, all)}, {"factor", V(r)}, {"n", N}}); });
  V = t2 * V;
  std::vector<double> a = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, v = {-1, 2, 3, 5};
  test::run(g, Arguments().set("N", 4).set("A", a.data()).set("V", v.data()));
  // V becomes -1, 1, 3.5, 5; row 0 is left alone, row 1 is added, row 2 is scaled.
  CHECK(a[1] == 2);
  CHECK(a[5] == 4);
  CHECK(a[6] == 6);
  CHECK(a[9] == 3.5 * 4);
  CHECK(v[0] == 0);
  CHECK(v[1] == 3);
  CHECK(v[2] == 14);
  CHECK(v[3] == 30);
}

TEST_CASE("a call solves the called graph's symbols from extents that are affine in them") {
  Builder inner("inner");
  // Named as symbols of the calling graph are, so that the two must be kept apart.
  auto N = inner.symbol("N"), K = inner.symbol("K"), L = inner.symbol("L");
  auto X = inner.array<std::int64_t>("X", {2 * K + N + 1});  // K once N is known
  auto Y = inner.array<std::int64_t>("Y", {3 * N});
  auto Z = inner.array<std::int64_t>("Z", {K * L});
  auto out = inner.array<std::int64_t>("out", {3});
  X = 1;
  Y = 2;
  Z = 3;
  out(0) = K;
  out(1) = N;
  out(2) = L;

  Builder g("outer");
  auto K2 = g.symbol("K"), M = g.symbol("M"), N2 = g.symbol("N");
  auto A = g.array<std::int64_t>("A", {4 * M + K2 + 3});  // 2 * (2 * M + 1) + K + 1
  auto B = g.array<std::int64_t>("B", {3 * K2});
  auto C = g.array<std::int64_t>("C", {(2 * M + 1) * N2});
  auto R = g.array<std::int64_t>("R", {3});
  g.call(inner, {{"X", A}, {"Y", B}, {"Z", C}, {"out", R}});
  for (const std::int64_t m : {0, 1, 5}) {
    for (const std::int64_t k : {0, 1, 7}) {
      const std::int64_t n = 3;
      std::vector<std::int64_t> a(static_cast<std::size_t>(4 * m + k + 3)), b(static_cast<std::size_t>(3 * k) + 1),
          c(static_cast<std::size_t>((2 * m + 1) * n)), r(3);
      test::run(g, Arguments()
                       .set("K", k)
                       .set("M", m)
                       .set("N", n)
                       .set("A", a.data())
                       .set("B", b.data())
                       .set("C", c.data())
                       .set("R", r.data()));
      CHECK(r == std::vector<std::int64_t>{2 * m + 1, k, n});
      CHECK(std::ranges::count(a, 1) == 4 * m + k + 3);
      CHECK(std::ranges::count(b, 2) == 3 * k);
      CHECK(std::ranges::count(c, 3) == (2 * m + 1) * n);
    }
  }
  // Constants, and a part of an array.
  Builder odd("odd");
  auto H = odd.symbol("H");
  auto W = odd.array<std::int64_t>("W", {2 * H + 1});
  W(H) = H;
  Builder h("constants");
  auto D = h.array<std::int64_t>("D", {9});
  h.call(odd, {{"W", D}});
  h.call(odd, {{"W", D.slice(range(0, 3))}});
  h.call(odd, {{"W", D.slice(range(8, 9))}});
  std::vector<std::int64_t> d(9, -1);
  test::run(h, Arguments().set("D", d.data()));
  CHECK(d == std::vector<std::int64_t>{-1, 1, -1, -1, 4, -1, -1, -1, 0});
}

TEST_CASE("values read before a call are kept when the called graph writes") {
  Builder inner("clear");
  auto X = inner.array<double>("X", {inner.symbol("n")});
  X = 0.0;
  Builder g("outer");
  auto A = g.array<double>("A", {2});
  Value<double> x = A(1);
  g.call(inner, {{"X", A}});
  A(0) = x;
  double a[] = {1, 2};
  test::run(g, Arguments().set("A", a));
  CHECK(a[0] == 2);
  CHECK(a[1] == 0);
}

}  // namespace test_dataflow
