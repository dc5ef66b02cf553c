// What can be declared const where it is written.
#include <catch2/catch.hpp>

#include "lower/uses.hpp"
#include "support/graph_tools.hpp"

namespace test_uses {

using namespace sdfg;
using namespace sdfg::test;
using sdfg::lower::Uses;

namespace {

ir::Element& assign(ir::Graph& g, ir::Sequence& where, const std::string& symbol_name, const std::string& value) {
  ir::Assign a;
  a.items = {{symbol_name, expression(value)}};
  return g.append(where, std::move(a));
}

}  // namespace

TEST_CASE("a symbol assigned once before all its uses is bound there") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  for (const char* s : {"once", "twice", "late", "carried", "own"}) symbol(g, s, ir::BinderKind::kAssigned);
  assign(g, g.body, "once", "N + 1");
  assign(g, g.body, "twice", "0");
  ir::Element& l = loop(g, g.body, "i", "0", "i < once", "i + 1");
  assign(g, body(l), "twice", "twice + 1");
  assign(g, body(l), "own", "i * 2");
  compute(g, body(l), "t", "o = own", {}, {{"o", "A", "i"}});
  // Used before it is assigned in the same iteration: it carries a value from the one before.
  compute(g, body(l), "t", "o = carried", {}, {{"o", "A", "i"}});
  assign(g, body(l), "carried", "i");
  assign(g, body(l), "late", "i");
  compute(g, g.body, "t", "o = late", {}, {{"o", "A", "0"}});
  const Uses u(g);
  CHECK(u.bound_once("once"));
  CHECK(u.bound_once("own"));
  CHECK(!u.bound_once("twice"));
  CHECK(!u.bound_once("carried"));
  CHECK(!u.bound_once("late"));
  CHECK(u.declared_in(0) == std::vector<std::string>{"twice", "late", "carried"});
}

TEST_CASE("symbols that a map body assigns are declared in the map") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  symbol(g, "k", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  assign(g, body(m), "k", "0");
  assign(g, body(m), "k", "k + i");
  compute(g, body(m), "t", "o = k", {}, {{"o", "A", "i"}});
  const Uses u(g);
  CHECK(u.declared_in(m.id) == std::vector<std::string>{"k"});
  CHECK(u.declared_in(0).empty());
}

TEST_CASE("scalars written once before they are read are const") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  for (const char* s : {"good", "twice", "early", "dynamic", "branch"}) scalar(g, s, ScalarType::kFloat64, true);
  ir::Element& first = compute(g, g.body, "good", "o = 1.0", {}, {{"o", "good", ""}});
  compute(g, g.body, "use", "o = x", {{"x", "good", ""}}, {{"o", "twice", ""}});
  compute(g, g.body, "again", "o = x", {{"x", "early", ""}}, {{"o", "twice", ""}});
  compute(g, g.body, "early", "o = x", {{"x", "twice", ""}}, {{"o", "early", ""}});
  compute(g, g.body, "dynamic", "if 1 > 0:\n  o = 1.0", {}, {{"o", "dynamic", "", true, {}}});
  ir::If i;
  i.branches.push_back({expression("N > 0"), {}});
  ir::Element& e = g.append(g.body, std::move(i));
  compute(g, body(e), "branch", "o = 1.0", {}, {{"o", "branch", ""}});
  const Uses u(g);
  CHECK(u.written_once("good") == std::get<ir::State>(first.kind).edges.back().id);
  for (const char* s : {"twice", "early", "dynamic", "branch"}) CHECK(u.written_once(s) == 0);
  CHECK(u.written("good"));
  CHECK(!u.written("A"));
  CHECK(!u.used("A"));
}

}  // namespace test_uses
