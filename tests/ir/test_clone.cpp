// Copies, renaming and substitution: names follow, ids are fresh, what flows in and out stays shared.
#include <catch2/catch.hpp>

#include "graphs.hpp"
#include "ir/cpp_text.hpp"
#include "ir/digest.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"

namespace test_clone {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using symbolic::SymbolSet;

TEST_CASE("an exact clone is the same text") {
  const Graph g = test::jacobi_2d();
  Graph copy = g.clone();
  CHECK(to_text(copy) == to_text(g));
  CHECK(copy.new_id() == g.last_id() + 1);
  std::get<For>(copy.body.items.front()->kind).body.items.pop_back();
  CHECK(to_text(copy) != to_text(g));
  CHECK(std::get<For>(g.body.items.front()->kind).body.items.size() == 2);
}

TEST_CASE("a renamed clone has fresh ids and names, and is valid beside the original") {
  Graph g = test::jacobi_2d();
  const Id last = g.last_id();
  std::unique_ptr<Element> copy = clone_renamed(g, *g.body.items.front());
  CHECK(copy->id > last);
  CHECK(std::get<For>(copy->kind).variable == "t_1");
  const Element& map = *std::get<For>(copy->kind).body.items.back();
  CHECK(std::get<Map>(map.kind).params == std::vector<std::string>{"i_3", "j_3"});
  CHECK(g.symbols.at("i_3").label == "i_1");
  CHECK(symbols_bound(*copy) == SymbolSet{"i_2", "i_3", "j_2", "j_3", "t_1"});
  CHECK(containers_written(g, *copy) == SymbolSet{"A", "B"});
  g.body.items.push_back(std::move(copy));
  CHECK(validate(g).empty());
}

TEST_CASE("containers declared inside are renamed, with their sizes, views and uses") {
  test::Hand h("g");
  h.argument("A", "N, N");
  h.symbol("N");
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  Block& b = h.block(m.body);
  h.transient("t", "i + 1", ScalarType::kFloat64, &b);
  h.view("v", "i + 1", "t", "0:i + 1", &b);
  h.compute(b.body, "o = p", {{"p", "A", "i, 0"}}, {"o", "v", "0"});
  If& branch = h.branch(b.body, {"t[0] > 0.5"});
  h.compute(branch.branches[0].body, "o = p", {{"p", "t", "i"}}, {"o", "A", "i, 0"});
  std::unique_ptr<Element> copy = clone_renamed(h.g, *h.g.body.items.front());
  CHECK(containers_declared(*copy) == SymbolSet{"t_1", "v_1"});
  CHECK(h.g.containers.at("t_1").layout.shape() == Extents{Expr::symbol("i_1") + 1});
  CHECK(h.g.containers.at("v_1").viewed == "t_1");
  CHECK(h.g.containers.at("v_1").viewed_subset == test::Hand::subset("0:i_1 + 1"));
  CHECK(h.g.containers.at("t").layout.shape() == Extents{Expr::symbol("i") + 1});
  CHECK(containers_read(h.g, *copy) == SymbolSet{"A", "t_1"});
  CHECK(containers_written(h.g, *copy) == SymbolSet{"A", "t_1", "v_1"});
  h.g.body.items.push_back(std::move(copy));
  CHECK(validate(h.g).empty());
}

TEST_CASE("exits lead to the clone of their target, or keep one outside") {
  test::Hand h("g");
  h.symbol("N");
  For& outer = h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  const Id outer_id = h.g.body.items.back()->id;
  For& inner = h.loop(outer.body, "u", "0", "u < N", "u + 1");
  const Id inner_id = outer.body.items.back()->id;
  h.append(inner.body, Exit{Exit::Kind::kBreak, inner_id});
  h.append(inner.body, Exit{Exit::Kind::kBreak, outer_id});
  const std::unique_ptr<Element> copy = clone_renamed(h.g, *outer.body.items.back());
  const Sequence& body = std::get<For>(copy->kind).body;
  CHECK(std::get<Exit>(body.items[0]->kind).target == copy->id);
  CHECK(std::get<Exit>(body.items[1]->kind).target == outer_id);
}

TEST_CASE("an assigned symbol gets a copy of its own only if its value stays inside") {
  test::Hand h("g");
  h.symbol("N");
  h.argument("x", "N");
  Block& b = h.block(h.g.body);
  h.assign(b.body, "k", "N - 1");
  h.compute(b.body, "o = 1.0", {}, {"o", "x", "k"});
  Block& c = h.block(h.g.body);
  h.assign(c.body, "q", "N - 1");
  h.compute(h.g.body, "o = 1.0", {}, {"o", "x", "q"});
  Block& d = h.block(h.g.body);
  h.bind("r", BinderKind::kAssigned);
  h.assign(d.body, "r", "r + 1");
  CHECK(symbols_bound(*clone_renamed(h.g, *h.g.body.items[0])) == SymbolSet{"k_1"});
  CHECK(symbols_bound(*clone_renamed(h.g, *h.g.body.items[1])) == SymbolSet{"q"});
  CHECK(symbols_bound(*clone_renamed(h.g, *h.g.body.items[3])) == SymbolSet{"r"});
}

TEST_CASE("substitution reaches subsets, ranges, conditions, code and layouts") {
  test::Hand h("g");
  h.argument("x", "N");
  h.symbol("N");
  h.symbol("K");
  For& loop = h.loop(h.g.body, "t", "K", "t < K + 4", "t + 1");
  Map& m = h.map(loop.body, {{"i", "0:K"}});
  Block& b = h.block(m.body);
  h.transient("t1", "K * 2", ScalarType::kFloat64, &b);
  h.compute(b.body, "o = p * K", {{"p", "x", "K + i"}}, {"o", "t1", "i"});
  State& s = h.state(b.body);
  const Id c = h.tasklet(s, "cpp", {}, {"o"}, "o = 0.0");
  h.write(s, c, "o", h.access(s, "t1"), "K");
  auto& code = std::get<Tasklet>(s.nodes[0].kind).code;
  code.language = tasklet::Language::kCpp;
  code.text = "o = K + s.K; // K";
  substitute_symbols(h.g, h.g.body, {{"K", Expr::symbol("N") + 3}});
  CHECK(to_text(h.g, *h.g.body.items[0]) == R"(#1 for t = (N + 3) while (t < ((N + 3) + 4)) then (t + 1)
  #2 map i=0:N + 3
    #3 block with t1
      #4 state
        #5 tasklet 't' (p) -> (o):
          o = (p * (N + 3))
        #6 access x
        #8 access t1
        #7 #6 x[N + i + 3] -> #5.p
        #9 #5.o -> #8 t1[i]
      #10 state
        #11 tasklet 'cpp' () -> (o) C++:
          o = (N + 3) + s.K; // K
        #12 access t1
        #13 #11.o -> #12 t1[N + 3]
)");
  CHECK(h.g.containers.at("t1").layout.shape() == Extents{Expr::symbol("N") * 2 + 6});
}

TEST_CASE("substituting a symbol by another renames its binders") {
  Graph g = test::axpy();
  g.symbols.rename("i", "z");
  substitute_symbols(g, g.body, {{"i", Expr::symbol("z")}});
  CHECK(std::get<Map>(g.body.items[0]->kind).params == std::vector<std::string>{"z"});
  CHECK(validate(g).empty());
}

TEST_CASE("connectors and locals hide symbols from substitution") {
  test::Hand h("g");
  h.argument("x", "N");
  h.symbol("N");
  h.symbol("K");
  h.compute(h.g.body, "K = 2\no = K", {}, {"o", "x", "K"});
  substitute_symbols(h.g, h.g.body, {{"K", 7}});
  const State& s = std::get<State>(h.g.body.items[0]->kind);
  CHECK(tasklet::to_python(std::get<Tasklet>(s.nodes[0].kind).code.body) == "K = 2\no = K");
  CHECK(s.edges[0].dst_subset == test::Hand::subset("7"));
}

TEST_CASE("renaming containers follows members, reads and views, and leaves declarations") {
  test::Hand h("g");
  h.symbol("N");
  Container& st = h.argument("st", "", {});
  st.kind = ContainerKind::kStructure;
  st.members = {test::Hand::describe("x", ScalarType::kFloat64, "N")};
  h.argument("y", "N");
  Block& b = h.block(h.g.body);
  h.transient("t", "N", ScalarType::kFloat64, &b);
  h.view("v", "N", "t", "0:N", &b);
  State& s = h.state(b.body);
  const Id from = h.access(s, "st.x");
  h.copy(s, from, "0:N", h.access(s, "t"), "0:N");
  If& branch = h.branch(b.body, {"t[0] > 1.0"});
  h.compute(branch.branches[0].body, "o = 1.0", {}, {"o", "v", "0"});
  rename_containers(h.g, h.g.body, {{"st", "other"}, {"t", "y"}});
  CHECK(std::get<Access>(s.nodes[0].kind).data == "other.x");
  CHECK(std::get<Access>(s.nodes[1].kind).data == "y");
  CHECK(tasklet::to_python(branch.branches[0].condition) == "(y[0] > 1.0)");
  CHECK(h.g.containers.at("v").viewed == "y");
  CHECK(b.locals == std::vector<std::string>{"t", "v"});
  rename_containers(h.g, h.g.body, {{"other.x", "y"}});
  CHECK(std::get<Access>(s.nodes[0].kind).data == "y");
}

TEST_CASE("identifiers are replaced in C++ text, not in comments, strings, numbers or members") {
  const std::string text =
      "x = y + p->x + a.x + n::x + 0x10 + 1e5 /* x */ + \"x\" + 'x' + R\"(x)\" + x1; // x\nx += f(x);";
  CHECK(replace_identifiers(text, {{"x", "(k + 1)"}, {"e5", "bad"}}) ==
        "(k + 1) = y + p->x + a.x + n::x + 0x10 + 1e5 /* x */ + \"x\" + 'x' + R\"(x)\" + x1; // x\n(k + 1) += f((k + "
        "1));");
  CHECK(identifiers_of("a + b.c + a") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("what elements read, write, bind and use") {
  test::Hand h("g");
  h.argument("A", "N, M");
  h.argument("s", "1");
  h.argument("x", "N");
  h.symbol("N");
  h.symbol("M");
  h.symbol("K");
  Map& m = h.map(h.g.body, {{"i", "0:K"}});
  Block& b = h.block(m.body);
  h.view("row", "M", "A", "i, 0:M", &b);
  h.compute(b.body, "o = p * 2.0", {{"p", "x", "i"}}, {"o", "row", "0"});
  h.compute(m.body, "o = 1.0", {}, {"o", "s", "0"}, ReduceOp::kSum);
  const Element& map = *h.g.body.items[0];
  CHECK(symbols_used(h.g, map) == SymbolSet{"K", "M", "N", "i"});
  CHECK(symbols_bound(map) == SymbolSet{"i"});
  CHECK(containers_read(h.g, map) == SymbolSet{"s", "x"});
  CHECK(containers_written(h.g, map) == SymbolSet{"A", "row", "s"});
  CHECK(containers_declared(map) == SymbolSet{"row"});
  CHECK(&root_of(h.g, h.g.containers.at("row")) == &h.g.containers.at("A"));
}

TEST_CASE("a pop changes its stream, a reference touches what it was set to") {
  test::Hand h("g");
  h.argument("x", "N");
  h.symbol("N");
  h.transient("q", "").kind = ContainerKind::kStream;
  h.transient("r", "N").kind = ContainerKind::kReference;
  h.compute(h.g.body, "o = p", {{"p", "q", ""}}, {"o", "r", "0"});
  State& set = h.state(h.g.body);
  h.copy(set, h.access(set, "x"), "0:N", h.access(set, "r"), "0:N").set_reference = true;
  CHECK(containers_written(h.g, *h.g.body.items[0]) == SymbolSet{"q", "r", "x"});
  CHECK(containers_read(h.g, *h.g.body.items[0]) == SymbolSet{"q"});
  CHECK(containers_written(h.g, *h.g.body.items[1]) == SymbolSet{"r"});
}

TEST_CASE("a library node that accumulates reads its output") {
  Library reduce;
  reduce.op = Reduce{};
  CHECK(reads_output(reduce, "_out"));
  Reduce with_identity;
  with_identity.identity = tasklet::Value::floating(0.0);
  reduce.op = with_identity;
  CHECK_FALSE(reads_output(reduce, "_out"));
  Library gemm;
  gemm.op = Gemm{false, false, 1.0, 2.0};
  CHECK(reads_output(gemm, "_c"));
  gemm.inputs = {"_a", "_b", "_cin"};
  CHECK_FALSE(reads_output(gemm, "_c"));
}

TEST_CASE("members of structures and container arrays are found by path") {
  Graph g("g");
  Container leaf = test::Hand::describe("x", ScalarType::kFloat32, "4");
  Container inner;
  inner.name = "in";
  inner.kind = ContainerKind::kStructure;
  inner.members = {leaf};
  Container outer;
  outer.name = "st";
  outer.kind = ContainerKind::kStructure;
  outer.members = {inner};
  g.containers.insert(outer);
  Container list;
  list.name = "list";
  list.kind = ContainerKind::kContainerArray;
  list.members = {inner};
  g.containers.insert(list);
  REQUIRE(resolve(g, "st.in.x") != nullptr);
  CHECK(resolve(g, "st.in.x")->type == Type(ScalarType::kFloat32));
  CHECK(resolve(g, "list.x") != nullptr);
  CHECK(resolve(g, "st.x") == nullptr);
  CHECK(resolve(g, "nothing") == nullptr);
}

}  // namespace test_clone
