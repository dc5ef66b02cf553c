// Declarations: arguments, transients and their blocks, views, streams, references, constants, callbacks.
#include <catch2/catch.hpp>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_containers {

using namespace sdfg;
using test::Arguments;

TEST_CASE("transients of a map's body exist once per point") {
  Builder g("local");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) {
    auto t = g.transient<double>("t", {3});
    auto s = g.local("s", A(i) * 2.0);
    g.loop("k", 0, 3, [&](auto k) { t(k) = s + k; });
    A(i) = t(0) + t(1) + t(2);
  });
  const ir::Graph& graph = builder::graph_of(g);
  const auto& map = std::get<ir::Map>(graph.body.items[0]->kind);
  REQUIRE(map.body.items.size() == 1);
  const auto& block = std::get<ir::Block>(map.body.items[0]->kind);
  CHECK(block.locals == std::vector<std::string>{"t", "s"});
  CHECK(graph.locals.empty());
  double a[] = {1, 10};
  test::run(g, Arguments().set("N", 2).set("A", a), interpret::MapOrder::kShuffled);
  CHECK(a[0] == 9);
  CHECK(a[1] == 63);
}

TEST_CASE("containers declared after statements of a body move those into the block") {
  Builder g("late");
  auto A = g.array<double>("A", {4});
  g.loop("i", 0, 4, [&](auto i) {
    A(i) = i;
    g.if_(A(i) > 2.0, [&] { g.continue_(); });
    auto t = g.local("t", A(i) + 1.0);
    A(i) = t * t;
  });
  double a[4];
  test::run(g, Arguments().set("A", a));
  CHECK(a[0] == 1);
  CHECK(a[2] == 9);
  CHECK(a[3] == 3);
}

TEST_CASE("sizes read from data: each use of extent_of is a symbol of its own") {
  Builder g("sizes");
  auto n = g.array<std::int32_t>("n");
  auto out = g.array<double>("out", {8});
  auto a = g.extent_of(n);
  auto T = g.zeros<double>("T", {a, 2});
  n = n + 1;
  auto b = g.extent_of(n() * 2);
  auto U = g.full<double>("U", {b}, 7);
  T(a - 1, 1) = 3;
  out(0) = sum(T);
  out(1) = sum(U);
  out(2) = sum(g.ones<double>("O", {a}));
  CHECK(a.str() != b.str());
  for (std::int32_t value : {1, 3}) {
    std::int32_t n_value = value;
    double o[8] = {};
    test::run(g, Arguments().set("n", &n_value).set("out", o));
    CHECK(o[0] == 3);
    CHECK(o[1] == 7 * 2 * (value + 1));
    CHECK(o[2] == value);
  }
}

TEST_CASE("sizes read from data inside a loop") {
  Builder g("ragged");
  auto N = g.symbol("N");
  auto lengths = g.array<std::int64_t>("lengths", {N});
  auto out = g.array<double>("out", {N});
  g.loop("i", 0, N, [&](auto i) {
    auto n = g.extent_of(lengths(i));
    auto t = g.transient<double>("t", {n});
    t = 1.5;
    out(i) = sum(t);
  });
  std::int64_t l[] = {0, 1, 5};
  double o[3];
  test::run(g, Arguments().set("N", 3).set("lengths", l).set("out", o));
  CHECK(o[0] == 0);
  CHECK(o[1] == 1.5);
  CHECK(o[2] == 7.5);
}

TEST_CASE("views: parts, other shapes, other types") {
  Builder g("views");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M});
  auto part = g.view("part", A.slice(range(1, N), range(0, M, 2)));
  auto row = g.view("row", A.slice(0, all));
  auto flat = g.view("flat", A, {N * M});
  auto bits = g.view<std::int32_t>("bits", A, {N, 2 * M});
  part = 5;
  row(1) = 7;
  flat(3) = 9;
  bits(0, 5) = 0;
  bits(0, 4) = 0;
  double a[12];
  for (double& x : a) x = 1;
  test::run(g, Arguments().set("N", 3).set("M", 4).set("A", a));
  const double want[] = {1, 7, 0, 9, 5, 1, 5, 1, 5, 1, 5, 1};
  for (int i = 0; i < 12; ++i) CHECK(a[i] == want[i]);
}

TEST_CASE("layouts: column-major, strides, offsets") {
  Builder g("layouts");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto F = g.array<double>("F", {N, M}, {.column_major = true});
  auto S = g.array<double>("S", {N}, {.strides = {3}, .start = 1});
  auto O = g.array<double>("O", {N}, {.offset = {-1}});
  g.map({"i", 0, N}, {"j", 0, M}, [&](auto i, auto j) { F(i, j) = i * 10 + j; });
  g.map({"i", 0, N}, [&](auto i) {
    S(i) = i;
    O(i + 1) = i;
  });
  O += 1.0;
  double f[6], s[8] = {}, o[3] = {};
  test::run(g, Arguments().set("N", 3).set("M", 2).set("F", f).set("S", s).set("O", o));
  CHECK(f[1] == 10);
  CHECK(f[3] == 1);
  CHECK(s[7] == 2);
  CHECK(o[2] == 3);
}

TEST_CASE("constants, persistent and external containers") {
  Builder g("lifetimes");
  auto N = g.symbol("N");
  auto out = g.array<double>("out", {N});
  auto w = g.constant<double>("w", {1, 2, 4});
  auto t = g.constant<std::int32_t>("table", {2, 2}, {1, 2, 3, 4});
  auto p = g.persistent<std::int64_t>("calls", {1}, {.zeroed = true});
  auto e = g.external<double>("scratch", {N});
  p(0) += 1;
  e = 2.0;
  g.map({"i", 0, N}, [&](auto i) { out(i) = w(i) * t(1, 0) + e(i) + p(0); });
  const ir::Graph& graph = builder::graph_of(g);
  CHECK(graph.parameters == std::vector<std::string>{"out", "N"});
  CHECK(graph.containers.at("calls").lifetime == ir::Lifetime::kPersistent);
  CHECK(graph.containers.at("scratch").lifetime == ir::Lifetime::kExternal);
  double o[3];
  test::run(g, Arguments().set("N", 3).set("out", o));
  CHECK(o[0] == 1 * 3 + 2 + 1);
  CHECK(o[2] == 4 * 3 + 2 + 1);
}

TEST_CASE("streams collect and consume scopes drain") {
  Builder g("streams");
  auto N = g.symbol("N");
  auto A = g.array<std::int64_t>("A", {N});
  auto total = g.array<std::int64_t>("total");
  auto last = g.array<std::int64_t>("last", {2});
  auto S = g.stream<std::int64_t>("S");
  auto Q = g.stream<std::int64_t>("Q", {2}, Capacity(8));
  g.map({"i", 0, N}, [&](auto i) { g.if_(A(i) > 0, [&] { S.push(A(i)); }); });
  total = 0;
  g.consume(S, [&](auto x) {
    total += x;
    g.if_(x > 10, [&] { S.push(x / 2); });
  });
  Q(0).push(4);
  Q(1).push(5);
  Q(1).push(6);
  auto first = Q(1).pop();
  last(0) = first;
  last(1) = Q(1).pop() + Q(0).pop();
  std::int64_t a[] = {5, -1, 40, 3}, t = 0, l[2];
  test::run(g, Arguments().set("N", 4).set("A", a).set("total", &t).set("last", l));
  CHECK(t == 5 + 40 + 20 + 10 + 3);
  CHECK(l[0] == 5);
  CHECK(l[1] == 10);
}

TEST_CASE("callbacks are called where they are written, once each") {
  Builder g("callbacks");
  auto A = g.array<double>("A", {4});
  auto f = g.callback<double(double)>("f");
  auto log = g.callback<void(std::int64_t, double)>("note");
  auto x = f(A(0));
  A(0) = 100;
  A(1) = x + x + f(2.0);
  log(3, A(1));
  std::vector<double> seen;
  std::vector<std::pair<std::int64_t, double>> notes;
  const interpret::Callback fn = [&](std::span<const interpret::CallbackArgument> args) {
    seen.push_back(std::get<tasklet::Value>(args[0]).as_double());
    return tasklet::Value::floating(seen.back() + 0.5);
  };
  const interpret::Callback note = [&](std::span<const interpret::CallbackArgument> args) {
    notes.emplace_back(std::get<tasklet::Value>(args[0]).as_int(), std::get<tasklet::Value>(args[1]).as_double());
    return tasklet::Value();
  };
  double a[4] = {1};
  test::run(g, Arguments().set("A", a).set("f", fn).set("note", note));
  CHECK(seen == std::vector<double>{1, 2});
  CHECK(a[1] == 1.5 + 1.5 + 2.5);
  CHECK(notes == std::vector<std::pair<std::int64_t, double>>{{3, 5.5}});
}

TEST_CASE("copies") {
  Builder g("copies");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, 3});
  auto B = g.array<double>("B", {N, 3});
  auto C = g.array<double>("C", {3 * N});
  B.copy(A);
  C.copy(A);
  A.slice(range(1, N), all).copy(A.slice(range(0, N - 1), all));
  double a[] = {1, 2, 3, 4, 5, 6}, b[6], c[6];
  test::run(g, Arguments().set("N", 2).set("A", a).set("B", b).set("C", c));
  CHECK(b[5] == 6);
  CHECK(c[4] == 5);
  CHECK(a[3] == 1);
  CHECK(a[5] == 3);
}

TEST_CASE("assumptions and types of symbols") {
  Builder g("assumptions");
  auto N = g.symbol<std::int32_t>("N", {.lower = 1});
  auto M = g.symbol("M", {.lower = N, .upper = 2 * N});
  const ir::Graph& graph = builder::graph_of(g);
  CHECK(graph.symbols.at("N").type == Type(ScalarType::kInt32));
  CHECK(graph.symbols.at("M").upper->str() == (2 * N).str());
  static_cast<void>(M);
}

}  // namespace test_containers
