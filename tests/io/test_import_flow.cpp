// Control flow of files against plain loops: state machines are raised to loops and branches, what can't be raised runs
// in a dispatch loop; loop regions of every form; interstate assignments.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>

#include "dace_text.hpp"

namespace test_import_flow {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using interpret::Arguments;

namespace {

// A[slot] = value; the calls of one run are visible in order.
dace::State store(const std::string& slot, const std::string& value) {
  dace::State s;
  s.write(s.tasklet("o = " + value), "o", "A[" + slot + "]");
  return s;
}
// A[slot] = A[slot] * 10 + digit: a trace of which states ran.
dace::State trace(int digit, const std::string& slot = "0") {
  dace::State s;
  const int t = s.tasklet("o = a * 10 + " + std::to_string(digit));
  s.read("A[" + slot + "]", t, "a");
  s.write(t, "o", "A[" + slot + "]");
  return s;
}

dace::Graph graph(std::initializer_list<const char*> symbols = {"N"}) {
  dace::Graph g("flow");
  g.array("A", "int64", "10");
  for (const char* s : symbols) g.symbol(s);
  return g;
}

std::vector<std::int64_t> result(const dace::Graph& g, std::int64_t n) {
  std::vector<std::int64_t> a(10);
  dace::run(g, Arguments().set("A", a.data()).set("N", n));
  return a;
}

struct Counts {
  int loops = 0, whiles = 0, branches = 0, assigns = 0;
};
Counts shape(const dace::Graph& g) {
  Counts c;
  const ir::Graph loaded = dace::load(g);
  ir::walk(loaded.body, [&](const ir::Element& e, const ir::Ancestors&) {
    c.loops += std::holds_alternative<ir::For>(e.kind) ? 1 : 0;
    c.whiles += std::holds_alternative<ir::While>(e.kind) ? 1 : 0;
    c.branches += std::holds_alternative<ir::If>(e.kind) ? 1 : 0;
    c.assigns += std::holds_alternative<ir::Assign>(e.kind) ? 1 : 0;
  });
  return c;
}

}  // namespace

TEST_CASE("a guard with an increment is a counted loop") {
  dace::Graph g = graph();
  const int init = g.body.state({}), guard = g.body.state({}), body = g.body.state(store("i", "i * i")),
            end = g.body.state(store("9", "77"));
  g.body.next(init, guard, "", {{"i", "1"}});
  g.body.next(guard, body, "i < N");
  g.body.next(body, guard, "", {{"i", "i + 2"}});
  g.body.next(guard, end, "not (i < N)");
  const Counts c = shape(g);
  CHECK(c.loops == 1);
  CHECK(c.whiles + c.branches + c.assigns == 0);
  CHECK(result(g, 6) == std::vector<std::int64_t>{0, 1, 0, 9, 0, 25, 0, 0, 0, 77});
  CHECK(result(g, 0) == std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 77});
}

TEST_CASE("a counter that is used after its loop keeps its value") {
  dace::Graph g = graph();
  const int init = g.body.state({}), guard = g.body.state({}), body = g.body.state(store("i", "1")),
            end = g.body.state(store("9", "i"));
  g.body.next(init, guard, "", {{"i", "0"}});
  g.body.next(guard, body, "i < N");
  g.body.next(body, guard, "", {{"i", "i + 1"}});
  g.body.next(guard, end, "i >= N");
  CHECK(result(g, 3) == std::vector<std::int64_t>{1, 1, 1, 0, 0, 0, 0, 0, 0, 3});
}

TEST_CASE("diamonds and chains of conditions are branches") {
  dace::Graph g = graph();
  const int start = g.body.state({}), one = g.body.state(trace(1)), two = g.body.state(trace(2)),
            three = g.body.state(trace(3)), join = g.body.state(trace(4));
  g.body.next(start, one, "N < 0");
  g.body.next(start, two, "N >= 0 and N < 10");
  g.body.next(start, three);
  for (const int b : {one, two, three}) g.body.next(b, join);
  const Counts c = shape(g);
  CHECK(c.branches == 1);
  CHECK(c.loops + c.whiles == 0);
  CHECK(result(g, -1)[0] == 14);
  CHECK(result(g, 5)[0] == 24);
  CHECK(result(g, 50)[0] == 34);
}

TEST_CASE("where no condition holds the graph ends") {
  dace::Graph g = graph();
  const int start = g.body.state(trace(1)), two = g.body.state(trace(2));
  g.body.next(start, two, "N > 0");
  CHECK(result(g, 1)[0] == 12);
  CHECK(result(g, 0)[0] == 1);
}

TEST_CASE("loops in loops with breaks and continues spelled as jumps") {
  // for i in 0..N: for j in 0..: if j == i: continue outer; if j == 3: leave all; trace
  dace::Graph g = graph();
  const int init = g.body.state({}), outer = g.body.state({}), inner_init = g.body.state({}), inner = g.body.state({}),
            work = g.body.state(trace(1)), end = g.body.state(trace(9));
  g.body.next(init, outer, "", {{"i", "0"}});
  g.body.next(outer, inner_init, "i < N");
  g.body.next(outer, end, "i >= N");
  g.body.next(inner_init, inner, "", {{"j", "0"}});
  g.body.next(inner, end, "j == 3");
  g.body.next(inner, outer, "j != 3 and j == i", {{"i", "i + 1"}});
  g.body.next(inner, work);
  g.body.next(work, inner, "", {{"j", "j + 1"}});
  const auto want = [](std::int64_t n) {
    std::int64_t a = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      bool leave = false;
      for (std::int64_t j = 0;; ++j) {
        if (j == 3) {
          leave = true;
          break;
        }
        if (j == i) break;
        a = a * 10 + 1;
      }
      if (leave) break;
    }
    return a * 10 + 9;
  };
  for (const std::int64_t n : {0, 1, 2, 3, 4, 7}) CHECK(result(g, n)[0] == want(n));
}

TEST_CASE("an irreducible machine becomes a dispatch loop that runs right") {
  // Two entries into one cycle: 0 -> 1 or 2, 1 <-> 2 until k runs out.
  dace::Graph g = graph();
  const int start = g.body.state({}), one = g.body.state(trace(1)), two = g.body.state(trace(2)),
            end = g.body.state(trace(3));
  g.body.next(start, one, "N % 2 == 0", {{"k", "N"}});
  g.body.next(start, two, "N % 2 != 0", {{"k", "N"}});
  g.body.next(one, two, "k > 0", {{"k", "k - 1"}});
  g.body.next(one, end, "k <= 0");
  g.body.next(two, one, "k > 0", {{"k", "k - 1"}});
  g.body.next(two, end, "k <= 0");
  CHECK(shape(g).whiles == 1);
  for (const std::int64_t n : {0, 1, 2, 5, 8}) {
    std::int64_t a = 0, k = n;
    for (int at = n % 2 == 0 ? 1 : 2; at != 3; a = a * 10 + at, at = k-- > 0 ? 3 - at : 3) {
    }
    CHECK(result(g, n)[0] == a * 10 + 3);
  }
}

TEST_CASE("an irreducible part inside a loop, and inside a region of a branch") {
  dace::Region knot;
  const int start = knot.state({}), one = knot.state(trace(1)), two = knot.state(trace(2));
  knot.next(start, one, "i % 2 == 0", {{"k", "i"}});
  knot.next(start, two, "i % 2 == 1", {{"k", "i"}});
  knot.next(one, two, "k > 0", {{"k", "k - 1"}});
  knot.next(two, one, "k > 0", {{"k", "k - 1"}});
  dace::Region body;
  body.conditional({{"i < 3", knot}});
  dace::Graph g = graph();
  g.body.loop("i", "i = 0", "i < N", "i = i + 1", body);
  std::int64_t a = 0;
  for (int i = 0; i < 3; ++i) {
    for (int at = i % 2 == 0 ? 1 : 2, k = i; at != 0;) {
      a = a * 10 + at;
      at = k-- > 0 ? 3 - at : 0;
    }
  }
  CHECK(result(g, 5)[0] == a);
}

TEST_CASE("loop regions of all three forms, with break and continue") {
  // A[i] counts the executions of iteration i; the body breaks at 6 and skips the rest at odd i.
  struct Form {
    const char* name;
    Json extra;
  };
  const Form forms[] = {{"test first", Json::object()},
                        {"update, then test", {{"inverted", true}, {"update_before_condition", true}}},
                        {"test, then update", {{"inverted", true}, {"update_before_condition", false}}}};
  for (const bool outside : {false, true}) {  // a variable that is used after the loop can't be the loop's own
    for (const Form& f : forms) {
      for (const std::int64_t n : {0, 1, 2, 5, 9}) {
        INFO(f.name << ", N = " << n << (outside ? ", used after" : ""));
        dace::Region skip, leave, body;
        skip.leaf("ContinueBlock");
        leave.leaf("BreakBlock");
        const int mark = body.state(trace(1, "i")), odd = body.conditional({{"i % 2 == 1", skip}}),
                  six = body.conditional({{"i == 6", leave}}), more = body.state(trace(2, "i"));
        body.chain({mark, odd, six, more});
        dace::Graph g = graph();
        const int loop = g.body.loop("i", "i = 1 - 1", "i < N", "i = i + 1", body, f.extra);
        if (outside) g.body.next(loop, g.body.state(store("9", "i")));
        CHECK(shape(g).loops == (outside ? 0 : 1));
        std::vector<std::int64_t> want(10);
        const bool inverted = f.extra.contains("inverted");
        const bool update_first = inverted && f.extra["update_before_condition"];
        std::int64_t i = 0;
        bool broken = false;
        const auto iteration = [&] {
          auto& slot = want[static_cast<std::size_t>(i)];
          slot = slot * 10 + 1;
          if (i % 2 == 1) return;
          if (i == 6) {
            broken = true;
            return;
          }
          slot = slot * 10 + 2;
        };
        if (!inverted) {
          for (; i < n; ++i) {
            iteration();
            if (broken) break;
          }
        } else if (update_first) {
          do {
            iteration();
            if (broken) break;
            ++i;
          } while (i < n);
        } else {
          while (true) {
            iteration();
            if (broken || !(i < n)) break;
            ++i;
          }
        }
        if (outside) want[9] = i;
        CHECK(result(g, n) == want);
      }
    }
  }
}

TEST_CASE("loops count down, by steps, and over what their body changes") {
  dace::Region down;
  down.state(store("i", "i"));
  dace::Graph g = graph();
  g.body.loop("i", "i = N - 1", "i >= 0", "i = i - 3", down);
  CHECK(result(g, 8) == std::vector<std::int64_t>{0, 1, 0, 0, 4, 0, 0, 7, 0, 0});
  // The body assigns the loop's variable: no counted loop.
  dace::Region body;
  const int a = body.state(store("i", "1")), b = body.state({});
  body.next(a, b, "", {{"i", "2 * i"}});
  dace::Graph h = graph();
  h.body.loop("i", "i = 1", "i < N", "i += 1", body);
  CHECK(result(h, 9) == std::vector<std::int64_t>{0, 1, 0, 1, 0, 0, 0, 1, 0, 0});
  CHECK(shape(h).loops == 0);
}

TEST_CASE("a loop without a variable is a while loop") {
  dace::Region body;
  const int a = body.state(trace(1)), b = body.state({});
  body.next(a, b, "", {{"k", "k - 1"}});
  dace::Graph g = graph();
  const int first = g.body.state({}), loop = g.body.loop("", "", "k > 0 and A[0] < 1000", "", body);
  g.body.next(first, loop, "", {{"k", "N"}});
  CHECK(result(g, 2)[0] == 11);
  CHECK(result(g, 9)[0] == 1111);
}

TEST_CASE("a return ends the graph from inside loops and branches") {
  dace::Region leave, body;
  leave.leaf("ReturnBlock");
  const int a = body.state(trace(1)), b = body.conditional({{"i == 2", leave}, {"", {}}});
  body.chain({a, b});
  dace::Graph g = graph();
  const int loop = g.body.loop("i", "i = 0", "i < N", "i = i + 1", body);
  g.body.next(loop, g.body.state(trace(9)));
  CHECK(result(g, 2)[0] == 119);
  CHECK(result(g, 5)[0] == 111);
}

TEST_CASE("conditions and assignments read containers, also through windows of nested graphs") {
  // k = A[A[0] + 1]; branch on A[k] and on a scalar
  dace::Graph inner("inner");
  inner.array("row", "int64", "5");
  inner.array("out", "int64", "1");
  dace::State write;
  write.write(write.tasklet("o = k"), "o", "out[0]");
  const int first = inner.body.state({}), big = inner.body.state(write);
  inner.body.next(first, big, "row[1] > row[0]", {{"k", "row[row[0]] + 1"}});
  dace::Graph g = graph();
  dace::State s;
  const int n = s.nested(inner);
  s.read("A[3:8]", n, "row");
  s.write(n, "out", "A[0]");
  g.body.state(s);
  std::vector<std::int64_t> a{0, 0, 0, 2, 5, 40, 0, 0, 0, 0};
  dace::run(g, Arguments().set("A", a.data()).set("N", 1));
  CHECK(a[0] == 41);
  a[3] = 5;
  a[0] = 7;
  dace::run(g, Arguments().set("A", a.data()).set("N", 1));
  CHECK(a[0] == 7);
}

TEST_CASE("an edge that reads what it assigns is refused") {
  dace::Graph g = graph({"N", "j"});
  const int a = g.body.state({}), b = g.body.state(store("0", "k"));
  g.body.next(a, b, "", {{"k", "j"}, {"j", "k + 1"}});
  CHECK_THROWS_WITH(dace::load(g),
                    Catch::Contains("the assignment of 'j' reads 'k', which the same edge assigns (at $.edges[0])"));
  // Its own old value is fine.
  dace::Graph h = graph();
  const int c = h.body.state({}), d = h.body.state({}), e = h.body.state(store("0", "k"));
  h.body.next(c, d, "", {{"k", "N"}});
  h.body.next(d, e, "", {{"k", "k + 1"}});
  CHECK(result(h, 4)[0] == 5);
}

TEST_CASE("where a region starts must be clear") {
  dace::Graph g = graph();
  g.body.state(store("0", "1"));
  g.body.state(store("0", "2"));
  Json j = g.json();
  j.erase("start_block");
  CHECK_THROWS_WITH(
      io::load_bytes(j.dump()),
      Catch::Contains("it is not clear where the region starts: blocks 0 and 1 have no predecessor (at $)"));
  j["start_block"] = 1;
  std::vector<std::int64_t> a(10);
  interpret::run(io::load_bytes(j.dump()).graph, Arguments().set("A", a.data()).set("N", 0));
  CHECK(a[0] == 2);
}

TEST_CASE("break and continue outside of loops are refused") {
  for (const char* type : {"BreakBlock", "ContinueBlock"}) {
    dace::Graph g = graph();
    g.body.leaf(type);
    CHECK_THROWS_WITH(dace::load(g), Catch::Contains("is in no loop (at $.nodes[0])"));
  }
}

TEST_CASE("a loop's statements must assign its variable") {
  for (const char* update : {"j = i + 1", "i = i + 1; j = 2", "f(i)", "i + 1"}) {
    dace::Graph g = graph();
    g.body.loop("i", "i = 0", "i < N", update, {});
    CHECK_THROWS_WITH(dace::load(g), Catch::Contains("does not assign its variable 'i'"));
  }
}

TEST_CASE("negated conditions come out plain") {
  dace::Graph g = graph();
  const int a = g.body.state(trace(1)), b = g.body.state(trace(2)), c = g.body.state(trace(3));
  g.body.next(a, b, "not (not (N < 5))");
  g.body.next(a, c, "not (N < 5)");
  const std::string text = ir::to_text(dace::load(g));
  INFO(text);
  CHECK(text.find("not") == std::string::npos);
  CHECK(result(g, 4)[0] == 12);
  CHECK(result(g, 5)[0] == 13);
}

}  // namespace test_import_flow
