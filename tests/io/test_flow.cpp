// Control flow in files: regions where the format has one, jumps and nested graphs where it has none.
#include "file.hpp"

namespace test_flow {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kF = ScalarType::kFloat64;

Maker start(const std::string& name = "flow") {
  Maker m(name);
  m.symbol("N");
  m.array("A", kF, "N + 3");
  m.array("B", kF, "N, 7");
  return m;
}

void add_one(Maker& m, ir::Sequence& in, const std::string& index) {
  m.tasklet(in, "o = a + 1", {"a = A[" + index + "]"}, {"o = A[" + index + "]"});
}

Json attributes(const Json& object) {
  return object.at("attributes");
}

}  // namespace

TEST_CASE("a counted loop is a loop region") {
  Maker m = start();
  add_one(m, m.loop(m.body(), "i", "1", "i < N - 2", "i + 3"), "i");
  const Json loop = only(json_of(m.g), "LoopRegion");
  CHECK(attributes(loop).at("loop_variable") == "i");
  CHECK(attributes(loop).at("init_statement").at("string_data") == "i = 1");
  CHECK(attributes(loop).at("loop_condition").at("string_data") == "(i < (N - 2))");
  CHECK(attributes(loop).at("update_statement").at("string_data") == "i = (i + 3)");
  CHECK_FALSE(attributes(loop).contains("inverted"));
  CHECK(json_of(m.g).at("attributes").at("using_explicit_control_flow") == true);
  CHECK(json_of(m.g, SdfgDialect::kV1).at("attributes").at("using_experimental_blocks") == true);
  stable(m.g);
}

TEST_CASE("the forms of loops keep their order of test and update") {
  for (const auto form : {ir::LoopForm::kTestFirst, ir::LoopForm::kUpdateThenTest, ir::LoopForm::kTestThenUpdate}) {
    Maker m = start();
    add_one(m, m.loop(m.body(), "i", "0", "i < N", "i + 1", form), "i");
    const Json loop = only(json_of(m.g), "LoopRegion");
    CHECK(attributes(loop).value("inverted", false) == (form != ir::LoopForm::kTestFirst));
    CHECK(attributes(loop).value("update_before_condition", true) == (form != ir::LoopForm::kTestThenUpdate));
    const ir::Graph again = stable(m.g);
    CHECK(std::get<ir::For>(again.body.items.at(0)->kind).form == form);
  }
}

TEST_CASE("while loops have a condition only") {
  for (const bool test_first : {true, false}) {
    Maker m = start();
    m.assigned("k");
    m.assign(m.body(), {{"k", "0"}});
    auto& w = m.while_(m.body(), "A[k] < 5.0", test_first);
    add_one(m, w, "k");
    m.assign(w, {{"k", "(k + 1) % N"}});
    m.assign(m.body(), {{"k", "k * 2"}});  // alive after the loop: no counted loop
    m.tasklet(m.body(), "o = k", {}, {"o = A[0]"});
    const Json loop = only(json_of(m.g), "LoopRegion");
    CHECK_FALSE(attributes(loop).contains("loop_variable"));
    CHECK(attributes(loop).value("inverted", false) == !test_first);
    stable(m.g);
  }
}

TEST_CASE("branches are a conditional block, the else branch without a condition") {
  Maker m = start();
  auto& i = m.if_(m.body(), {"A[0] > 1.0", "N == 3", ""});
  add_one(m, i.branches[0].body, "0");
  add_one(m, i.branches[1].body, "1");
  add_one(m, i.branches[2].body, "2");
  const Json block = only(json_of(m.g), "ConditionalBlock");
  REQUIRE(block.at("branches").size() == 3);
  CHECK(block.at("branches")[0][0].at("string_data") == "(A[0] > 1.0)");
  CHECK(block.at("branches")[2][0].is_null());
  CHECK(block.at("branches")[1][1].at("type") == "ControlFlowRegion");
  stable(m.g);
}

TEST_CASE("a branch that skips the rest reads back as the choice that it is") {
  Maker m = start();
  ir::Element& loop = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  m.continue_(m.if_(Maker::body_of(loop), {"A[i] < 0.0"}).branches[0].body, loop);
  add_one(m, Maker::body_of(loop), "i");
  const ir::Graph again = stable(m.g);
  const auto& body = std::get<ir::For>(again.body.items.at(0)->kind).body;
  REQUIRE(body.items.size() == 1);
  CHECK(std::get<ir::If>(body.items.at(0)->kind).branches.size() == 1);
}

TEST_CASE("an empty branch and a branch that is always taken read back") {
  Maker m = start();
  m.if_(m.body(), {"N > 2"});
  auto& i = m.if_(m.body(), {"True"});
  add_one(m, i.branches[0].body, "0");
  stable(m.g);
}

TEST_CASE("break, continue and return are blocks") {
  Maker m = start();
  ir::Element& loop = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  auto& body = Maker::body_of(loop);
  ir::Element& inner = m.while_element(body, "A[0] < 1.0");
  m.break_(m.if_(Maker::body_of(inner), {"A[i] > 9.0"}).branches[0].body, inner);
  m.continue_(m.if_(m.if_(Maker::body_of(inner), {"A[i] < 0.0"}).branches[0].body, {"A[i + 1] < 0.0"}).branches[0].body,
              inner);
  add_one(m, std::get<ir::If>(Maker::body_of(inner).items[1]->kind).branches[0].body, "1");
  add_one(m, Maker::body_of(inner), "i");
  m.return_(m.if_(body, {"A[i] == 4.0"}).branches[0].body);
  add_one(m, body, "i");
  add_one(m, m.body(), "2");
  const Json json = json_of(m.g);
  only(json, "BreakBlock");
  only(json, "ContinueBlock");
  only(json, "ReturnBlock");
  const ir::Graph again = stable(m.g);
  CHECK(ir::digest(again) == ir::digest(read_back(again)));
}

TEST_CASE("leaving two loops at once becomes jumps") {
  Maker m = start();
  ir::Element& outer = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  ir::Element& inner = m.loop_element(Maker::body_of(outer), "j", "0", "j < 7", "j + 1");
  auto& body = Maker::body_of(inner);
  m.break_(m.if_(body, {"A[i] > j"}).branches[0].body, outer);
  add_one(m, body, "i");
  add_one(m, Maker::body_of(outer), "0");
  const Json json = json_of(m.g);
  CHECK(all_of(json, "LoopRegion").size() == 1);
  CHECK(all_of(json, "BreakBlock").size() == 1);
  stable(m.g);
}

TEST_CASE("leaving a block that assigns outer symbols becomes jumps") {
  Maker m = start();
  m.assigned("k");
  m.assign(m.body(), {{"k", "0"}});
  ir::Element& block = m.block_element(m.body());
  auto& body = Maker::body_of(block);
  auto& loop = m.loop(body, "i", "0", "i < N", "i + 1");
  m.break_(m.if_(loop, {"A[i] > 1.0"}).branches[0].body, block);
  m.assign(body, {{"k", "3"}});
  m.tasklet(m.body(), "o = k", {}, {"o = A[1]"});
  const Json json = json_of(m.g);
  CHECK(all_of(json, "NestedSDFG").empty());
  CHECK(all_of(json, "ConditionalBlock").empty());
  stable(m.g);
}

TEST_CASE("leaving a block that is closed in itself is the return of a nested graph") {
  Maker m = start();
  ir::Element& block = m.block_element(m.body());
  ir::Element& loop = m.loop_element(Maker::body_of(block), "i", "0", "i < N", "i + 1");
  m.break_(m.if_(Maker::body_of(loop), {"A[i] > 1.0"}).branches[0].body, block);
  add_one(m, Maker::body_of(loop), "i");
  add_one(m, Maker::body_of(block), "0");
  add_one(m, m.body(), "1");
  const Json nested = only(json_of(m.g), "NestedSDFG");
  CHECK(all_of(nested, "ReturnBlock").size() == 1);
  CHECK(attributes(nested).at("symbol_mapping") == Json({{"N", "symbol($N, dtype=dace.int64)"}}));
  CHECK(ir::digest(read_back(m.g)) == ir::digest(stable(m.g)));
}

TEST_CASE("a parallel assignment that swaps goes through copies") {
  Maker m = start();
  m.assigned("p");
  m.assigned("q");
  m.assign(m.body(), {{"p", "1"}, {"q", "2"}});
  m.assign(m.body(), {{"p", "q"}, {"q", "p"}});
  m.tasklet(m.body(), "o = p - q", {}, {"o = A[0]"});
  for (const Json& edge : all_of(json_of(m.g), "InterstateEdge")) {
    const Json assignments = attributes(edge).value("assignments", Json::object());
    for (const auto& [name, value] : assignments.items()) {
      for (const auto& [other, unused] : assignments.items())
        CHECK((other == name || value.get<std::string>() != other));
    }
  }
  stable(m.g);
}

TEST_CASE("assignments in a row, first and last, keep their order") {
  Maker m = start();
  m.assigned("k");
  m.assign(m.body(), {{"k", "1"}});
  m.assign(m.body(), {{"k", "k + A[0]"}});
  m.tasklet(m.body(), "o = k", {}, {"o = A[1]"});
  m.assign(m.body(), {{"k", "k + 1"}});
  const ir::Graph again = stable(m.g);
  CHECK(again.body.items.size() == 4);
}

TEST_CASE("the order of parameters survives, symbols among containers") {
  Maker m("order");
  m.array("Z", kF, "4");
  m.symbol("M");
  m.scalar_argument("a", ScalarType::kFloat32);
  m.symbol("K", ScalarType::kInt32);
  m.array("B", kF, "M, K");
  m.tasklet(m.body(), "o = x + y", {"x = a", "y = B[0, 0]"}, {"o = Z[3]"});
  CHECK(read_back(m.g).parameters == m.g.parameters);
  CHECK(json_of(m.g).at("attributes").at("arg_names") == Json({"Z", "M", "a", "K", "B"}));
  stable(m.g);
}

TEST_CASE("an unrolled loop and a decided lowering are told where the dialect has no word") {
  Maker m = start();
  ir::Element& loop = m.loop_element(m.body(), "i", "0", "i < N", "i + 1");
  std::get<ir::For>(loop.kind).unroll_factor = 4;
  m.tasklet(Maker::body_of(loop), "o = 1", {}, {"o = A[0] | sum"});
  std::get<ir::State>(Maker::body_of(loop).items[0]->kind).edges[0].wcr->lowering = ir::WcrLowering::kAtomic;
  CHECK(io::write_bytes(m.g, {}).warnings.size() == 1);
  SaveOptions v1;
  v1.dialect = SdfgDialect::kV1;
  CHECK(io::write_bytes(m.g, v1).warnings.size() == 2);
}

}  // namespace test_flow
