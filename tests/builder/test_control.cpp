// Loops, branches, exits and blocks.
#include <catch2/catch.hpp>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_control {

using namespace sdfg;
using test::Arguments;

namespace {

// A log that the body appends to.
struct Log {
  Builder g{"logging"};
  Array<std::int64_t, 1> out = g.array<std::int64_t>("out", {32});
  Array<std::int64_t, 1> n = g.array<std::int64_t>("n", {1});
  Array<std::int64_t, 1> in = g.array<std::int64_t>("in", {8});

  Log() { n(0) = 0; }
  template <typename X>
  void add(const X& x) {
    out(n(0)) = x;
    n(0) += 1;
  }
  std::vector<std::int64_t> run(std::vector<std::int64_t> input = {}) {
    input.resize(8);
    std::vector<std::int64_t> log(32, -99);
    std::int64_t count = 0;
    test::run(g, Arguments().set("out", log.data()).set("n", &count).set("in", input.data()));
    log.resize(static_cast<std::size_t>(count));
    return log;
  }
};

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("loops count up, down and with steps; their bounds are evaluated once") {
  Log l;
  l.g.loop("i", 0, 3, [&](auto i) { l.add(i); });
  l.g.loop("i", 2, -1, -1, [&](auto i) { l.add(i * 10); });
  l.g.loop("i", 0, 7, 3, [&](auto i) { l.add(i * 100); });
  l.g.loop("i", 3, 3, [&] { l.add(1); });
  l.g.loop("i", 0, l.in(0), [&](auto i) {
    l.in(0) = 100;
    l.add(i - 50);
  });
  CHECK(l.run({2}) == Numbers{0, 1, 2, 20, 10, 0, 0, 300, 600, -50, -49});
}

TEST_CASE("a loop whose step is only known at run time") {
  Log l;
  l.g.loop("i", l.in(0), l.in(1), l.in(2), [&](auto i) { l.add(i); });
  CHECK(l.run({0, 5, 2}) == Numbers{0, 2, 4});
  CHECK(l.run({5, 0, -2}) == Numbers{5, 3, 1});
  CHECK(l.run({0, 5, -1}) == Numbers{});
}

TEST_CASE("the forms of for_") {
  Log l;
  const auto below = [](auto i) { return i < 3; };
  const auto next = [](auto i) { return i + 1; };
  l.g.for_("i", 0, below, next, [&](auto i) { l.add(i); });
  l.g.for_("i", 3, below, next, [&](auto i) { l.add(i); });
  l.g.for_("i", 3, below, next, [&](auto i) { l.add(i * 10); }, LoopForm::kUpdateThenTest);
  l.g.for_("i", 1, below, next, [&](auto i) { l.add(i * 100); }, LoopForm::kTestThenUpdate);
  l.g.for_("i", 1, [](auto i) { return i < 100; }, [](auto i) { return i * 3; }, [&](auto i) { l.add(i); });
  CHECK(l.run() == Numbers{0, 1, 2, 30, 100, 200, 300, 1, 3, 9, 27, 81});
}

TEST_CASE("while with a condition as a value and as a function that needs an index") {
  Log l;
  l.g.while_(l.in(0) > 0, [&] {
    l.add(l.in(0));
    l.in(0) -= 1;
  });
  l.g.while_([&] { return l.in(l.in(1)) > 0; },
             [&] {
               l.add(l.in(1) * 100);
               l.in(1) += 1;
               l.g.if_(l.in(1) == 4, [&] { l.g.continue_(); });
               l.add(7);
             });
  CHECK(l.run({2, 3, 0, 1, 1, 1, 0}) == Numbers{2, 1, 300, 400, 7, 500, 7});
}

TEST_CASE("do_while runs the body first; continue_ goes on with the test") {
  for (const bool needs_statement : {false, true}) {
    Log l;
    const auto body = [&] {
      l.in(0) += 1;
      l.g.if_(l.in(0) == 2, [&] { l.g.continue_(); });
      l.add(l.in(0));
    };
    if (needs_statement) {
      l.g.do_while(body, [&] { return l.in(l.in(1)) < 4; });
    } else {
      l.g.do_while(body, [&] { return l.in(0) < 4; });
    }
    CHECK(l.run({0, 0}) == Numbers{1, 3, 4});
    CHECK(l.run({9, 0}) == Numbers{10});
  }
}

TEST_CASE("do_while with a value as its condition, and a local of the body") {
  Log l;
  l.g.do_while(
      [&] {
        auto twice = l.g.local("twice", l.in(0) * 2);
        l.add(twice);
        l.in(0) += 1;
      },
      l.in(0) < 3);
  CHECK(l.run({1}) == Numbers{2, 4});
}

TEST_CASE("chains of branches, with conditions that need statements") {
  Log l;
  l.g.if_(l.in(0) == 0, [&] { l.add(0); })
      .else_if(l.in(0) == 1, [&] { l.add(1); })
      .else_if(l.in(l.in(0)) == 5, [&] { l.add(2); })
      .else_if(l.in(0) == 3, [&] { l.add(3); })
      .else_if(l.in(l.in(0)) == 6, [&] { l.add(4); })
      .else_([&] { l.add(99); });
  l.add(-1);
  CHECK(l.run({0}) == Numbers{0, -1});
  CHECK(l.run({1}) == Numbers{1, -1});
  CHECK(l.run({2, 0, 5}) == Numbers{2, -1});
  CHECK(l.run({3, 0, 0, 1}) == Numbers{3, -1});
  CHECK(l.run({4, 0, 0, 1, 6}) == Numbers{4, -1});
  CHECK(l.run({5}) == Numbers{99, -1});
}

TEST_CASE("break, continue and return") {
  Log l;
  l.g.loop("i", 0, 10, [&](auto i) {
    l.g.if_(i == 2, [&] { l.g.continue_(); });
    l.g.if_(i == 5, [&] { l.g.break_(); });
    l.g.while_([&] { return l.in(0) < 100; }, [&] { l.g.break_(); });
    l.add(i);
  });
  l.g.if_(l.in(1) > 0, [&] { l.g.return_(); });
  l.add(77);
  CHECK(l.run({0, 1}) == Numbers{0, 1, 3, 4});
  CHECK(l.run({0, 0}) == Numbers{0, 1, 3, 4, 77});
}

TEST_CASE("continue_ in a map ends the point") {
  Builder g("points");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) {
    g.if_(A(i) < 0.0, [&] { g.continue_(); });
    A(i) = sqrt(A(i));
  });
  double a[] = {4, -1, 9};
  test::run(g, Arguments().set("N", 3).set("A", a));
  CHECK(a[0] == 2);
  CHECK(a[1] == -1);
  CHECK(a[2] == 3);
}

TEST_CASE("blocks hold containers and can be left") {
  Log l;
  l.g.block("search", [&](auto block) {
    auto t = l.g.transient<std::int64_t>("t", {3});
    t(0) = 5;
    l.g.loop("i", 0, 8, [&](auto i) {
      l.g.if_(l.in(i) == t(0), [&] {
        l.add(i);
        l.g.leave(block);
      });
    });
    l.add(-1);
  });
  l.g.block("other", [&] { l.add(3); });
  CHECK(l.run({1, 5}) == Numbers{1, 3});
  CHECK(l.run({1, 2}) == Numbers{-1, 3});
}

TEST_CASE("maps with steps, with bounds that depend on outer parameters, and of many dimensions") {
  Builder g("maps");
  auto N = g.symbol("N");
  auto A = g.array<std::int64_t>("A", {N, N});
  auto B = g.array<std::int64_t>("B", {2, 2, 2, 2, 2, 2, 2, 2});
  A = 0;
  g.map({"i", 0, N}, [&](auto i) { g.map({"j", i, N, 2}, [&](auto j) { A(i, j) = i * 10 + j; }); });
  g.map({"a", 0, 2}, {"b", 0, 2}, {"c", 0, 2}, {"d", 0, 2}, {"e", 0, 2}, {"f", 0, 2}, {"h", 0, 2}, {"k", 0, 2},
        [&](auto a, auto b, auto c, auto d, auto e, auto f, auto h, auto k) {
          B(a, b, c, d, e, f, h, k) = a + b * 2 + c * 4 + d * 8 + e * 16 + f * 32 + h * 64 + k * 128;
        });
  std::int64_t a[25], b[256];
  test::run(g, Arguments().set("N", 5).set("A", a).set("B", b));
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) CHECK(a[i * 5 + j] == (j >= i && (j - i) % 2 == 0 ? i * 10 + j : 0));
  }
  CHECK(b[255] == 255);
  CHECK(b[1] == 128);
  CHECK(b[128] == 1);
}

TEST_CASE("options of maps and loops arrive in the graph") {
  Builder g("options");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = 0; },
        {.schedule = Schedule::kParallel,
         .label = "clear",
         .unroll = true,
         .collapse = 1,
         .num_threads = 3,
         .omp_schedule = OmpSchedule::kDynamic,
         .omp_chunk = 16,
         .simd = true,
         .gpu_block_size = {32, 4, 1},
         .gpu_launch_bounds = "128",
         .gpu_max_registers = 64});
  g.loop("k", 0, N, [&](auto k) { A(k) = 1; }, {.label = "fill", .unroll = true, .unroll_factor = 4});
  const ir::Graph& graph = builder::graph_of(g);
  const auto& map = std::get<ir::Map>(graph.body.items[0]->kind);
  CHECK(graph.body.items[0]->label == "clear");
  CHECK(map.schedule == ir::Schedule::kParallel);
  CHECK(map.unroll);
  CHECK(map.collapse == 1);
  CHECK(map.num_threads == 3);
  CHECK(map.omp_schedule == ir::OmpSchedule::kDynamic);
  CHECK(map.omp_chunk == 16);
  CHECK(map.simd);
  CHECK(map.gpu_block_size == std::vector<std::int64_t>{32, 4, 1});
  CHECK(map.gpu_launch_bounds == "128");
  CHECK(map.gpu_max_registers == 64);
  const auto& loop = std::get<ir::For>(graph.body.items[1]->kind);
  CHECK(loop.unroll);
  CHECK(loop.unroll_factor == 4);
  CHECK(ir::canonical(loop).has_value());
}

TEST_CASE("symbols assigned in loops and several at once") {
  Log l;
  auto a = l.g.assign("a", 0);
  auto b = l.g.assign("b", 1);
  l.g.loop("i", 0, 6, [&] {
    l.add(a);
    l.g.assign({{a, b}, {b, a + b}});
  });
  CHECK(l.run() == Numbers{0, 1, 1, 2, 3, 5});
}

TEST_CASE("names of binders may repeat; the graph makes them unique and keeps the user's") {
  Builder g("names");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = 1; });
  g.loop("i", 0, N, [&](auto i) { g.map({"i", 0, i}, [&](auto k) { A(k) += i; }); });
  const ir::Graph& graph = builder::graph_of(g);
  CHECK(graph.symbols.at("i").label.empty());
  CHECK(graph.symbols.at("i_1").label == "i");
  CHECK(graph.symbols.at("i_2").label == "i");
  double a[3];
  test::run(g, Arguments().set("N", 3).set("A", a));
  CHECK(a[0] == 1 + 1 + 2);
  CHECK(a[1] == 1 + 2);
  CHECK(a[2] == 1);
}

TEST_CASE("conditions as functions may reduce arrays") {
  Builder g("reduce");
  auto A = g.array<double>("A", {3});
  auto n = g.array<std::int64_t>("n");
  g.while_([&] { return sum(A) < 20.0; },
           [&] {
             g.if_(A(0) > 1.0, [&] {
               A = A * 2.0;
               g.continue_();
             });
             A += 1.0;
           });
  g.do_while(
      [&] {
        n += 1;
        g.if_(n() == 2, [&] { g.continue_(); });
        A -= 1.0;
      },
      [&] { return max(A) > 1.0; });
  double a[] = {1, 1, 1};
  std::int64_t count = 0;
  test::run(g, Arguments().set("A", a).set("n", &count));
  // 1, 2, 4, 8; then 7, 7, 6, ... 1
  CHECK(count == 8);
  CHECK(a[0] == 1);
}

TEST_CASE("bounds of a loop are evaluated once, symbols included") {
  Log l;
  auto n = l.g.assign("bound", 3);
  l.g.loop("i", 0, n, [&](auto i) {
    l.g.assign(n, 0);
    l.add(i);
  });
  l.add(n);
  CHECK(l.run() == Numbers{0, 1, 2, 0});
}

}  // namespace test_control
