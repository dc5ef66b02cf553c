// Loops, exits and returns at several depths, data-dependent control.
#include "harness.hpp"

namespace test_control {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;

// Graphs that write values into L one after the other, counted by the symbol n.
struct Log {
  Maker m;
  Log() {
    m.array("L", kI, "256");
    m.array("C", kI, "1");
    m.symbol("N");
    m.assigned("n");
    m.assign(m.body(), {{"n", "0"}});
  }
  void log(ir::Sequence& in, const std::string& value) {
    m.tasklet(in, "o = " + value, {}, {"o = L[n]"});
    m.assign(in, {{"n", "n + 1"}});
  }
  void check_with(std::int64_t n, const std::function<void(std::vector<std::int64_t>&)>& reference) {
    m.tasklet(m.body(), "o = n", {}, {"o = C[0]"});  // one more at each call, all the same
    Memory start;
    start.array("L", std::vector<std::int64_t>(256, -7)).array("C", std::vector<std::int64_t>{-1}).value("N", n);
    check(m, start, [&](Memory& w) {
      std::vector<std::int64_t> all;
      reference(all);
      std::copy(all.begin(), all.end(), w.get<std::int64_t>("L").begin());
      w.get<std::int64_t>("C")[0] = static_cast<std::int64_t>(all.size());
    });
  }
};

using Out = std::vector<std::int64_t>&;

}  // namespace

TEST_CASE("counted loops up, down and geometric", "[run]") {
  for (std::int64_t n : {0, 1, 13}) {
    Log g;
    g.log(g.m.loop(g.m.body(), "i", "0", "i < N", "i + 1"), "i");
    g.log(g.m.loop(g.m.body(), "j", "N - 1", "j >= 0", "j - 2"), "j");
    g.log(g.m.loop(g.m.body(), "k", "1", "k <= N", "k * 3"), "k");
    g.log(g.m.loop(g.m.body(), "l", "N", "l > 0", "l // 2"), "l");
    g.check_with(n, [n](Out out) {
      for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
      for (std::int64_t i = n - 1; i >= 0; i -= 2) out.push_back(i);
      for (std::int64_t i = 1; i <= n; i *= 3) out.push_back(i);
      for (std::int64_t i = n; i > 0; i /= 2) out.push_back(i);
    });
  }
}

TEST_CASE("loops that test after the body", "[run]") {
  for (std::int64_t n : {0, 1, 5}) {
    Log g;
    g.log(g.m.loop(g.m.body(), "i", "0", "i < N", "i + 1", ir::LoopForm::kUpdateThenTest), "i");
    g.log(g.m.loop(g.m.body(), "j", "0", "j < N", "j + 2", ir::LoopForm::kTestThenUpdate), "j");
    g.check_with(n, [n](Out out) {
      std::int64_t i = 0;
      do {
        out.push_back(i);
        ++i;
      } while (i < n);
      for (i = 0;; i += 2) {
        out.push_back(i);
        if (!(i < n)) break;
      }
    });
  }
}

TEST_CASE("continue in every loop form", "[run]") {
  for (ir::LoopForm form : {ir::LoopForm::kTestFirst, ir::LoopForm::kUpdateThenTest, ir::LoopForm::kTestThenUpdate}) {
    Log g;
    ir::Element& loop = g.m.loop_element(g.m.body(), "i", "0", "i < N", "i + 1", form);
    auto& body = Maker::body_of(loop);
    g.m.continue_(g.m.if_(body, {"i % 3 == 1"}).branches[0].body, loop);
    g.log(body, "i");
    g.check_with(7, [form](Out out) {
      std::int64_t i = 0;
      if (form == ir::LoopForm::kTestFirst)
        for (; i < 7; ++i) {
          if (i % 3 == 1) continue;
          out.push_back(i);
        }
      else if (form == ir::LoopForm::kUpdateThenTest)
        do {
          if (i % 3 != 1) out.push_back(i);
          ++i;
        } while (i < 7);
      else
        for (;; ++i) {
          if (i % 3 != 1) out.push_back(i);
          if (!(i < 7)) break;
        }
    });
  }
}

TEST_CASE("break out of two loops and of a block", "[run]") {
  for (std::int64_t n : {0, 3, 8}) {
    Log g;
    Maker& m = g.m;
    ir::Element& block = m.block_element(m.body());
    ir::Element& outer = m.loop_element(Maker::body_of(block), "i", "0", "i < N", "i + 1");
    ir::Element& inner = m.loop_element(Maker::body_of(outer), "j", "0", "j < N", "j + 1");
    auto& body = Maker::body_of(inner);
    m.break_(m.if_(body, {"j == 2"}).branches[0].body, inner);
    m.continue_(m.if_(body, {"i == 1"}).branches[0].body, outer);
    m.break_(m.if_(body, {"i == 4"}).branches[0].body, outer);
    m.break_(m.if_(body, {"i * j == 6"}).branches[0].body, block);
    g.log(body, "10 * i + j");
    g.log(Maker::body_of(block), "500");
    g.log(m.body(), "600");
    g.check_with(n, [n](Out out) {
      bool left = false;
      for (std::int64_t i = 0; i < n && !left; ++i) {
        bool leave_outer = false;
        for (std::int64_t j = 0; j < n; ++j) {
          if (j == 2) break;
          if (i == 1) break;
          if (i == 4) {
            leave_outer = true;
            break;
          }
          if (i * j == 6) {
            left = true;
            break;
          }
          out.push_back(10 * i + j);
        }
        if (leave_outer) break;
      }
      if (!left) out.push_back(500);
      out.push_back(600);
    });
  }
}

TEST_CASE("return from a loop in a block in a loop", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("R", kI, "1");
  m.symbol("N");
  auto& loop = m.loop(m.body(), "i", "0", "i < N", "i + 1");
  auto& block = m.block(loop);
  m.transient("T", kI, "i + 1", &block);
  m.tasklet(m.loop(block.body, "j", "0", "j <= i", "j + 1"), "o = j", {}, {"o = T[j]"});
  m.tasklet(block.body, "o = r + t", {"r = R[0]", "t = T[i]"}, {"o = R[0]"});
  m.return_(m.if_(block.body, {"A[i] > 40"}).branches[0].body);
  m.tasklet(m.body(), "o = -r", {"r = R[0]"}, {"o = R[0]"});
  for (std::int64_t n : {0, 1, 60}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).array("R", std::vector<std::int64_t>{0}).value("N", n);
    check(m, start, [](Memory& w) {
      auto a = w.get<std::int64_t>("A"), r = w.get<std::int64_t>("R");
      for (std::size_t i = 0; i < a.size(); ++i) {
        r[0] += static_cast<std::int64_t>(i);
        if (a[i] > 40) return;
      }
      r[0] = -r[0];
    });
  }
}

TEST_CASE("a while loop ends when the data say so", "[run]") {
  Maker m;
  m.array("X", kD, "1");
  m.array("steps", kI, "1");
  auto& loop = m.while_(m.body(), "X[0] > 1.0 and steps[0] < 100");
  m.tasklet(loop, "o = x / 2", {"x = X[0]"}, {"o = X[0]"});
  m.tasklet(loop, "o = s + 1", {"s = steps[0]"}, {"o = steps[0]"});
  for (double x : {0.5, 1.0, 1000.0, 1e300}) {
    Memory start;
    start.array("X", std::vector<double>{x}).array("steps", std::vector<std::int64_t>{0});
    check(m, start, [](Memory& w) {
      auto v = w.get<double>("X");
      auto s = w.get<std::int64_t>("steps");
      while (v[0] > 1.0 && s[0] < 100) {
        v[0] /= 2;
        ++s[0];
      }
    });
  }
}

TEST_CASE("a do-while loop runs at least once", "[run]") {
  Maker m;
  m.array("X", kI, "1");
  m.tasklet(m.while_(m.body(), "X[0] < 10", false), "o = x + 4", {"x = X[0]"}, {"o = X[0]"});
  for (std::int64_t x : {0, 9, 50}) {
    Memory start;
    start.array("X", std::vector<std::int64_t>{x});
    check(m, start, [](Memory& w) {
      auto v = w.get<std::int64_t>("X");
      do v[0] += 4;
      while (v[0] < 10);
    });
  }
}

TEST_CASE("a while loop with break and continue", "[run]") {
  Log g;
  Maker& m = g.m;
  m.assigned("i");
  m.assign(m.body(), {{"i", "0"}});
  ir::Element& loop = m.while_element(m.body(), "True");
  auto& body = Maker::body_of(loop);
  m.assign(body, {{"i", "i + 1"}});
  m.break_(m.if_(body, {"i > N"}).branches[0].body, loop);
  m.continue_(m.if_(body, {"i % 2 == 0"}).branches[0].body, loop);
  g.log(body, "i");
  g.check_with(9, [](Out out) {
    for (std::int64_t i = 1; i <= 9; i += 2) out.push_back(i);
  });
}

TEST_CASE("a parallel assignment swaps", "[run]") {
  Log g;
  Maker& m = g.m;
  m.assigned("a");
  m.assigned("b");
  m.assign(m.body(), {{"a", "0"}, {"b", "1"}});
  auto& loop = m.loop(m.body(), "i", "0", "i < N", "i + 1");
  g.log(loop, "a");
  m.assign(loop, {{"a", "b"}, {"b", "a + b"}});
  m.assign(m.body(), {{"a", "b"}, {"b", "a"}});
  g.log(m.body(), "a - b");
  g.check_with(20, [](Out out) {
    std::int64_t a = 0, b = 1;
    for (int i = 0; i < 20; ++i) {
      out.push_back(a);
      const std::int64_t next = a + b;
      a = b;
      b = next;
    }
    out.push_back(b - a);
  });
}

TEST_CASE("symbols of narrow types wrap", "[run]") {
  Log g;
  Maker& m = g.m;
  m.assigned("s", ScalarType::kInt8);
  m.assigned("u", ScalarType::kUInt16);
  m.assign(m.body(), {{"s", "100"}, {"u", "65000"}});
  auto& loop = m.loop(m.body(), "i", "0", "i < 4", "i + 1");
  m.assign(loop, {{"s", "s + 50"}, {"u", "u + 300"}});
  g.log(loop, "s");
  g.log(loop, "u");
  g.check_with(0, [](Out out) {
    std::int8_t s = 100;
    std::uint16_t u = 65000;
    for (int i = 0; i < 4; ++i) {
      s = static_cast<std::int8_t>(s + 50);
      u = static_cast<std::uint16_t>(u + 300);
      out.push_back(s);
      out.push_back(u);
    }
  });
}

TEST_CASE("conditionals choose among branches", "[run]") {
  for (std::int64_t n : {-5, 0, 3, 12}) {
    Log g;
    Maker& m = g.m;
    auto& branch = m.if_(m.body(), {"N < 0", "N == 0 or N == 1", "N > 10 and not N == 11", ""});
    for (std::size_t b = 0; b < 4; ++b) g.log(branch.branches[b].body, std::to_string(b));
    auto& half = m.if_(m.body(), {"N == 3"});
    g.log(half.branches[0].body, "33");
    g.check_with(n, [n](Out out) {
      out.push_back(n < 0 ? 0 : n == 0 || n == 1 ? 1 : n > 10 && n != 11 ? 2 : 3);
      if (n == 3) out.push_back(33);
    });
  }
}

TEST_CASE("an element read decides a branch and an index", "[run]") {
  Maker m;
  m.array("A", kI, "N");
  m.array("R", kI, "1");
  m.symbol("N");
  m.assigned("at");
  m.assigned("hops");
  m.assign(m.body(), {{"at", "0"}, {"hops", "0"}});
  auto& loop = m.while_(m.body(), "at < N and hops < 50");
  m.assign(loop, {{"at", "at + abs(A[at]) % 5 + 1"}, {"hops", "hops + 1"}});
  m.tasklet(m.body(), "o = 1000 * hops + at", {}, {"o = R[0]"});
  for (std::int64_t n : {0, 1, 40}) {
    Memory start;
    start.array("A", numbers<std::int64_t>(n)).array("R", std::vector<std::int64_t>{0}).value("N", n);
    check(m, start, [n](Memory& w) {
      auto a = w.get<std::int64_t>("A");
      std::int64_t position = 0, hops = 0;
      while (position < n && hops < 50) {
        position += std::abs(a[at(position)]) % 5 + 1;
        ++hops;
      }
      w.get<std::int64_t>("R")[0] = 1000 * hops + position;
    });
  }
}

TEST_CASE("a loop variable copied out before its loop ends", "[run]") {
  Log g;
  Maker& m = g.m;
  m.assigned("last");
  m.assign(m.body(), {{"last", "-1"}});
  ir::Element& loop = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  m.assign(Maker::body_of(loop), {{"last", "i"}});
  m.break_(m.if_(Maker::body_of(loop), {"i * i > 10"}).branches[0].body, loop);
  g.log(m.body(), "last");
  g.check_with(30, [](Out out) { out.push_back(4); });
}

TEST_CASE("bisection with floating conditions", "[run]") {
  Maker m;
  m.array("R", kD, "1");
  m.scalar_argument("target", kD);
  m.scalar("lo", kD);
  m.scalar("hi", kD);
  m.scalar("mid", kD);
  m.tasklet(m.body(), "a = 0\nb = 10", {}, {"a = lo", "b = hi"});
  auto& loop = m.while_(m.body(), "hi - lo > 1e-9");
  m.tasklet(loop, "o = 0.5 * (a + b)", {"a = lo", "b = hi"}, {"o = mid"});
  auto& branch = m.if_(loop, {"mid * mid > target", ""});
  m.copy(branch.branches[0].body, "mid", "hi");
  m.copy(branch.branches[1].body, "mid", "lo");
  m.copy(m.body(), "lo", "R[0]");
  Memory start;
  start.array("R", std::vector<double>{0}).value("target", 2.0);
  check(m, start, [](Memory& w) {
    double lo = 0, hi = 10;
    while (hi - lo > 1e-9) {
      const double mid = 0.5 * (lo + hi);
      (mid * mid > 2.0 ? hi : lo) = mid;
    }
    w.get<double>("R")[0] = lo;
  });
}

}  // namespace test_control
