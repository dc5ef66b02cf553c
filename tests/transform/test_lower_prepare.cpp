// The passes before CPU code: schedules, storages, reductions, simd marks, lowering of accumulations.
#include <catch2/catch.hpp>

#include "support/graph_tools.hpp"
#include "transform/lower_prepare/prepare.hpp"

namespace test_lower_prepare {

using namespace sdfg;
using namespace sdfg::test;
using ir::ReduceOp;
using ir::Schedule;
using ir::WcrLowering;

namespace {

ir::Map& map_at(ir::Element& e) {
  return std::get<ir::Map>(e.kind);
}

std::vector<WcrLowering> lowerings(const ir::Graph& g) {
  std::vector<WcrLowering> out;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    if (const auto* s = std::get_if<ir::State>(&e.kind)) {
      for (const ir::Memlet& m : s->edges) {
        if (m.wcr) out.push_back(m.wcr->lowering);
      }
    }
  });
  return out;
}

ir::Graph base() {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "y", ScalarType::kFloat64, {"N"});
  scalar(g, "s", ScalarType::kFloat64, false);
  symbol(g, "M");
  symbol(g, "N");
  return g;
}

}  // namespace

TEST_CASE("outermost maps with unknown work use threads, small ones and inner ones don't") {
  ir::Graph g = base();
  ir::Element& big = map(g, g.body, {{"i", "0:M"}});
  ir::Element& inner = map(g, body(big), {{"j", "0:N"}}, Schedule::kParallel);
  compute(g, body(inner), "t", "o = 1.0", {}, {{"o", "A", "i, j"}});
  ir::Element& small = map(g, g.body, {{"k", "0:5"}, {"l", "0:7"}});
  compute(g, body(small), "t", "o = 1.0", {}, {{"o", "A", "k, l"}});
  ir::Element& once = map(g, g.body, {{"o1", "0:1"}});
  ir::Element& within = map(g, body(once), {{"p", "0:N"}});
  compute(g, body(within), "t", "o = 1.0", {}, {{"o", "y", "p"}});
  transform::prepare_for_cpu(g);
  CHECK(map_at(big).schedule == Schedule::kParallel);
  CHECK(map_at(inner).schedule == Schedule::kSequential);
  CHECK(map_at(small).schedule == Schedule::kSequential);
  CHECK(map_at(once).schedule == Schedule::kSequential);
  CHECK(map_at(within).schedule == Schedule::kParallel);
}

TEST_CASE("no threads when they are switched off") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  compute(g, body(m), "t", "o = 1.0", {}, {{"o", "y", "i"}});
  transform::PrepareOptions o;
  o.parallel = false;
  transform::prepare_for_cpu(g, o);
  CHECK(map_at(m).schedule == Schedule::kSequential);
}

TEST_CASE("few outer iterations are shared with the next dimension, many are not") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"4", "1000", "1000"});
  ir::Element& m = map(g, g.body, {{"i", "0:4"}, {"j", "0:1000"}, {"k", "0:1000"}});
  compute(g, body(m), "t", "o = 1.0", {}, {{"o", "A", "i, j, k"}});
  ir::Element& n = map(g, g.body, {{"a", "0:1000"}, {"b", "0:1000"}});
  compute(g, body(n), "t", "o = 1.0", {}, {{"o", "A", "0, a, b"}});
  transform::prepare_for_cpu(g);
  CHECK(map_at(m).collapse == 2);
  CHECK(map_at(n).collapse == 1);
}

TEST_CASE("scalars and small arrays go to the stack, the rest to the heap") {
  ir::Graph g = base();
  transient(g, "tiny", ScalarType::kFloat64, {"8", "8"});
  transient(g, "large", ScalarType::kFloat64, {"1000", "1000"});
  transient(g, "symbolic", ScalarType::kFloat64, {"N"});
  scalar(g, "t", ScalarType::kFloat64, true);
  transform::prepare_for_cpu(g);
  CHECK(g.containers.at("tiny").storage == ir::Storage::kRegister);
  CHECK(g.containers.at("large").storage == ir::Storage::kHeap);
  CHECK(g.containers.at("symbolic").storage == ir::Storage::kHeap);
  CHECK(g.containers.at("t").storage == ir::Storage::kRegister);
}

TEST_CASE("an element that a whole map accumulates into is reduced") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:M"}, {"j", "0:N"}});
  compute(g, body(m), "sum", "o = a", {{"a", "A", "i, j"}}, {accumulate("o", "s", "", ReduceOp::kSum)});
  transform::prepare_for_cpu(g);
  REQUIRE(map_at(m).reductions.size() == 1);
  CHECK(map_at(m).reductions[0].container == "s");
  CHECK(lowerings(g) == std::vector{WcrLowering::kReduction});
}

TEST_CASE("a map that also reads what it accumulates into does not reduce") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, Schedule::kParallel);
  compute(g, body(m), "use", "o = v", {{"v", "s", ""}}, {{"o", "y", "i"}});
  compute(g, body(m), "sum", "o = 1.0", {}, {accumulate("o", "s", "", ReduceOp::kSum)});
  transform::prepare_for_cpu(g);
  CHECK(map_at(m).reductions.empty());
  CHECK(lowerings(g) == std::vector{WcrLowering::kAtomic});
}

TEST_CASE("two operators on one element are not one reduction") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, Schedule::kParallel);
  compute(g, body(m), "sum", "o = 1.0", {}, {accumulate("o", "s", "", ReduceOp::kSum)});
  compute(g, body(m), "max", "o = 1.0", {}, {accumulate("o", "s", "", ReduceOp::kMax)});
  transform::prepare_for_cpu(g);
  CHECK(map_at(m).reductions.empty());
  CHECK(lowerings(g) == std::vector{WcrLowering::kAtomic, WcrLowering::kAtomic});
}

TEST_CASE("rows of their own are accumulated plainly, shared columns atomically") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, Schedule::kParallel);
  compute(g, body(m), "own", "o = 1.0", {}, {accumulate("o", "y", "i", ReduceOp::kSum)});
  ir::Element& n = map(g, g.body, {{"k", "0:N"}}, Schedule::kParallel);
  compute(g, body(n), "own", "o = 1.0", {}, {accumulate("o", "y", "k", ReduceOp::kSum)});
  compute(g, body(n), "next", "o = 1.0", {}, {accumulate("o", "y", "N - 1 - k", ReduceOp::kSum)});
  transform::prepare_for_cpu(g);
  // The second map's writes don't meet themselves, but each other.
  CHECK(lowerings(g) == std::vector{WcrLowering::kPlain, WcrLowering::kAtomic, WcrLowering::kAtomic});
}

TEST_CASE("where a stride known at run time may let elements share a place, they are accumulated atomically") {
  for (const int least : {0, 1}) {
    for (const Schedule schedule : {Schedule::kParallel, Schedule::kSequential}) {
      ir::Graph g = base();
      symbol(g, "S");
      g.symbols.find("S")->lower = symbolic::Expr(least);
      g.containers.find("y")->layout = ir::Layout::strided({parse("N")}, {parse("S")});
      ir::Element& m = map(g, g.body, {{"i", "0:N"}}, schedule);
      compute(g, body(m), "add", "o = 1.0", {}, {accumulate("o", "y", "i", ReduceOp::kSum)});
      transform::prepare_for_cpu(g);
      const bool atomic = schedule == Schedule::kParallel && least == 0;
      CHECK(lowerings(g) == std::vector{atomic ? WcrLowering::kAtomic : WcrLowering::kPlain});
      CHECK(map_at(m).simd == (least == 1));
    }
  }
}

TEST_CASE("an inner sum whose element other threads share stays atomic") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:M"}}, Schedule::kParallel);
  ir::Element& n = map(g, body(m), {{"j", "0:N"}});
  compute(g, body(n), "sum", "o = a", {{"a", "A", "i, j"}}, {accumulate("o", "y", "0", ReduceOp::kSum)});
  compute(g, body(m), "read", "o = v", {{"v", "y", "0"}}, {{"o", "A", "i, 0"}});
  transform::prepare_for_cpu(g);
  CHECK(map_at(m).reductions.empty());
  CHECK(map_at(n).reductions.empty());
  CHECK(lowerings(g) == std::vector{WcrLowering::kAtomic});
}

TEST_CASE("simd marks need independent iterations or a marked reduction") {
  ir::Graph g = base();
  array(g, "h", ScalarType::kFloat64, {"N"});
  symbol(g, "b", ir::BinderKind::kAssigned);
  ir::Element& good = map(g, g.body, {{"i", "0:M"}, {"j", "0:N"}});
  compute(g, body(good), "t", "o = x + 1.0", {{"x", "A", "i, j"}}, {{"o", "A", "i, j"}});
  ir::Element& reduce = map(g, g.body, {{"k", "0:N"}});
  compute(g, body(reduce), "t", "o = x", {{"x", "y", "k"}}, {accumulate("o", "s", "", ReduceOp::kSum)});
  ir::Element& scatter = map(g, g.body, {{"l", "0:N"}}, Schedule::kSequential);
  ir::Assign a;
  a.items = {{"b", expression("l % 3")}};
  g.append(body(scatter), std::move(a));
  compute(g, body(scatter), "t", "o = 1.0", {}, {accumulate("o", "h", "b", ReduceOp::kSum)});
  ir::Element& nest = map(g, g.body, {{"p", "0:M"}});
  ir::Element& inside = map(g, body(nest), {{"q", "0:N"}});
  compute(g, body(inside), "t", "o = 1.0", {}, {{"o", "A", "p, q"}});
  transform::prepare_for_cpu(g);
  CHECK(map_at(good).simd);
  CHECK(map_at(reduce).simd);
  CHECK(!map_at(scatter).simd);
  CHECK(!map_at(nest).simd);
  CHECK(map_at(inside).simd);
}

TEST_CASE("nothing is marked at level 0 and the passes are idempotent") {
  ir::Graph g = base();
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, Schedule::kParallel);
  compute(g, body(m), "sum", "o = x", {{"x", "y", "i"}}, {accumulate("o", "s", "", ReduceOp::kSum)});
  ir::Graph plain = g.clone();
  transform::PrepareOptions o;
  o.opt_level = 0;
  transform::prepare_for_cpu(plain, o);
  CHECK(lowerings(plain) == std::vector{WcrLowering::kAtomic});
  transform::prepare_for_cpu(g);
  const std::size_t marked = map_at(m).reductions.size();
  transform::prepare_for_cpu(g);
  CHECK(map_at(m).reductions.size() == marked);
}

TEST_CASE("connectors get their types") {
  ir::Graph g = base();
  ir::Element& e = compute(g, g.body, "t", "o = x[0] + v", {{"x", "A", "0, 0:N"}, {"v", "s", ""}}, {{"o", "y", "0"}});
  transform::prepare_for_cpu(g);
  for (const ir::Node& n : std::get<ir::State>(e.kind).nodes) {
    const auto* t = std::get_if<ir::Tasklet>(&n.kind);
    if (!t) continue;
    CHECK(t->inputs[0].type == Type::pointer(ScalarType::kFloat64));
    CHECK(t->inputs[1].type == Type(ScalarType::kFloat64));
    CHECK(t->outputs[0].type == Type(ScalarType::kFloat64));
  }
}

}  // namespace test_lower_prepare
