// Loops of every form, branches, exits, returns, assignments and maps.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "../support/make.hpp"
#include "interpret/interpreter.hpp"

namespace test_control {

using namespace sdfg;
using interpret::Arguments;
using interpret::MapOrder;
using test::Maker;

namespace {

constexpr ScalarType kI = ScalarType::kInt64;

// Appends `value` to the log L with its length in n.
void log(Maker& m, ir::Sequence& in, const std::string& value) {
  m.tasklet(in, "o = " + value, {}, {"o = L[n]"});
  m.assign(in, {{"n", "n + 1"}});
}

Maker logging() {
  Maker m;
  m.array("L", kI, "64");
  m.array("C", kI, "1");
  m.assigned("n");
  m.assign(m.body(), {{"n", "0"}});
  return m;
}

std::vector<std::int64_t> run_log(const Maker& m, Arguments arguments = {}) {
  std::vector<std::int64_t> log(64, -99);
  std::int64_t c = 0;
  interpret::run(m.g, arguments.set("L", log.data()).set("C", &c));
  while (!log.empty() && log.back() == -99) log.pop_back();
  return log;
}

}  // namespace

TEST_CASE("the three forms of counted loops", "[interpret]") {
  struct Case {
    ir::LoopForm form;
    int from, to;
    std::vector<std::int64_t> want;
  };
  const Case cases[] = {
      {ir::LoopForm::kTestFirst, 0, 3, {0, 1, 2}},         {ir::LoopForm::kTestFirst, 3, 3, {}},
      {ir::LoopForm::kUpdateThenTest, 0, 3, {0, 1, 2}},    {ir::LoopForm::kUpdateThenTest, 3, 3, {3}},
      {ir::LoopForm::kTestThenUpdate, 0, 3, {0, 1, 2, 3}}, {ir::LoopForm::kTestThenUpdate, 3, 3, {3}},
  };
  for (const Case& c : cases) {
    Maker m = logging();
    auto& body = m.loop(m.body(), "i", std::to_string(c.from), "i < " + std::to_string(c.to), "i + 1", c.form);
    log(m, body, "i");
    REQUIRE(run_log(m) == c.want);
  }
}

TEST_CASE("continue goes on with the update in every form", "[interpret]") {
  for (ir::LoopForm form : {ir::LoopForm::kTestFirst, ir::LoopForm::kUpdateThenTest, ir::LoopForm::kTestThenUpdate}) {
    Maker m = logging();
    ir::Element& loop = m.loop_element(m.body(), "i", "0", "i < 5", "i + 1", form);
    auto& body = Maker::body_of(loop);
    m.continue_(m.if_(body, {"i % 2 == 1"}).branches[0].body, loop);
    log(m, body, "i");
    const std::vector<std::int64_t> want = {0, 2, 4};
    REQUIRE(run_log(m) == want);
  }
}

TEST_CASE("negative and uneven steps", "[interpret]") {
  Maker m = logging();
  log(m, m.loop(m.body(), "i", "7", "i >= 0", "i - 3"), "i");
  log(m, m.loop(m.body(), "j", "1", "j < 20", "j * 3"), "j");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{7, 4, 1, 1, 3, 9});
}

TEST_CASE("while loops test first or last", "[interpret]") {
  Maker m = logging();
  log(m, m.while_(m.body(), "n < 2"), "n");
  log(m, m.while_(m.body(), "n < 2", false), "10 * n");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{0, 1, 20});
}

TEST_CASE("conditions read containers", "[interpret]") {
  Maker m = logging();
  auto& body = m.while_(m.body(), "C[0] < 3");
  log(m, body, "n");
  m.tasklet(body, "o = c + 2", {"c = C[0]"}, {"o = C[0]"});
  REQUIRE(run_log(m) == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("break leaves the loop or block that it names", "[interpret]") {
  Maker m = logging();
  ir::Element& outer = m.loop_element(m.body(), "i", "0", "i < 4", "i + 1");
  ir::Element& inner = m.loop_element(Maker::body_of(outer), "j", "0", "j < 4", "j + 1");
  m.break_(m.if_(Maker::body_of(inner), {"j == 2"}).branches[0].body, inner);
  m.break_(m.if_(Maker::body_of(inner), {"i == 2"}).branches[0].body, outer);
  log(m, Maker::body_of(inner), "10 * i + j");
  ir::Element& block = m.block_element(m.body());
  log(m, Maker::body_of(block), "100");
  m.break_(Maker::body_of(block), block);
  log(m, Maker::body_of(block), "101");
  log(m, m.body(), "102");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{0, 1, 10, 11, 100, 102});
}

TEST_CASE("return leaves the graph from any depth", "[interpret]") {
  Maker m = logging();
  auto& i = m.loop(m.body(), "i", "0", "i < 4", "i + 1");
  auto& block = m.block(i).body;
  auto& j = m.while_(block, "True");
  log(m, j, "n");
  m.return_(m.if_(j, {"n == 3"}).branches[0].body);
  REQUIRE(run_log(m) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("the first true branch is taken, an else branch last", "[interpret]") {
  Maker m = logging();
  auto& body = m.loop(m.body(), "i", "0", "i < 4", "i + 1");
  auto& branch = m.if_(body, {"i == 1", "i < 2", ""});
  log(m, branch.branches[0].body, "100");
  log(m, branch.branches[1].body, "200");
  log(m, branch.branches[2].body, "300");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{200, 100, 300, 300});
}

TEST_CASE("an Assign reads all right-hand sides before it writes", "[interpret]") {
  Maker m = logging();
  m.assigned("a");
  m.assigned("b");
  m.assign(m.body(), {{"a", "1"}, {"b", "2"}});
  m.assign(m.body(), {{"a", "b"}, {"b", "a"}});
  log(m, m.body(), "10 * a + b");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{21});
}

TEST_CASE("assigned values wrap into the type of the symbol", "[interpret]") {
  Maker m = logging();
  m.assigned("small", ScalarType::kInt8);
  m.assign(m.body(), {{"small", "200"}});
  log(m, m.body(), "small");
  REQUIRE(run_log(m) == std::vector<std::int64_t>{-56});
}

TEST_CASE("a symbol without a value is an error", "[interpret]") {
  Maker m = logging();
  m.assigned("later");
  log(m, m.body(), "later");
  REQUIRE_THROWS_WITH(run_log(m), Catch::Contains("symbol 'later' has no value here"));
}

TEST_CASE("what a map body assigns is local to the iteration", "[interpret]") {
  Maker m;
  m.array("B", kI, "4");
  m.assigned("k");
  auto& body = m.map(m.body(), "i", "0:4");
  m.tasklet(body, "o = k", {}, {"o = B[i]"});
  m.assign(body, {{"k", "i"}});
  std::vector<std::int64_t> b(4);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", b.data())),
                      Catch::Contains("symbol 'k' has no value here"));
}

TEST_CASE("map ranges may use earlier parameters and have steps", "[interpret]") {
  for (MapOrder order : {MapOrder::kForward, MapOrder::kReverse, MapOrder::kShuffled}) {
    Maker m;
    m.array("B", kI, "7, 7");
    m.symbol("N");
    auto& body = m.map(m.body(), "i, j", "0:N:2, i:N");
    m.tasklet(body, "o = 10 * i + j", {}, {"o = B[i, j]"});
    std::vector<std::int64_t> b(49, -1), want(49, -1);
    interpret::run(m.g, Arguments().set("B", b.data()).set("N", 7), {order, 3, false});
    for (int i = 0; i < 7; i += 2)
      for (int j = i; j < 7; ++j) want[static_cast<std::size_t>(7 * i + j)] = 10 * i + j;
    REQUIRE(b == want);
  }
}

TEST_CASE("continue in a map ends the iteration", "[interpret]") {
  Maker m;
  m.array("B", kI, "5");
  ir::Element& map = m.map_element(m.body(), "i", "0:5");
  auto& body = Maker::body_of(map);
  m.continue_(m.if_(body, {"i == 2"}).branches[0].body, map);
  m.tasklet(body, "o = i", {}, {"o = B[i]"});
  std::vector<std::int64_t> b(5, -1);
  interpret::run(m.g, Arguments().set("B", b.data()));
  REQUIRE(b == std::vector<std::int64_t>{0, 1, -1, 3, 4});
}

TEST_CASE("map orders show order dependence", "[interpret]") {
  Maker m;
  m.array("B", kI, "6");
  auto& body = m.map(m.body(), "i", "1:6");
  m.tasklet(body, "o = a + 1", {"a = B[i - 1]"}, {"o = B[i]"});
  std::vector<std::int64_t> forward(6), reverse(6), shuffled(6), again(6);
  interpret::run(m.g, Arguments().set("B", forward.data()), {MapOrder::kForward, 0, false});
  interpret::run(m.g, Arguments().set("B", reverse.data()), {MapOrder::kReverse, 0, false});
  interpret::run(m.g, Arguments().set("B", shuffled.data()), {MapOrder::kShuffled, 1, false});
  interpret::run(m.g, Arguments().set("B", again.data()), {MapOrder::kShuffled, 1, false});
  REQUIRE(forward == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  REQUIRE(reverse == std::vector<std::int64_t>{0, 1, 1, 1, 1, 1});
  REQUIRE(shuffled == again);
}

TEST_CASE("a loop that never ends is an error where iterations are limited", "[interpret]") {
  Maker m;
  m.array("B", kI, "1");
  auto& body = m.loop(m.body(), "i", "0", "i < 10", "i");
  m.tasklet(body, "o = b + 1", {"b = B[0]"}, {"o = B[0]"});
  std::vector<std::int64_t> b(1);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", b.data()), {MapOrder::kForward, 0, false, 1000}),
                      Catch::Contains("the loops ran 1000 iterations, the most that this run allows"));
  REQUIRE(b[0] == 1000);
}

}  // namespace test_control
