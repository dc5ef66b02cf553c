// Rules of tables and names: one graph per rule that breaks it, with the whole message; and graphs that look
// suspicious but are fine.
#include <catch2/catch.hpp>

#include "validation.hpp"

namespace test_validate_tables {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using test::problems_of;
using test::usual;

TEST_CASE("the usual kernels are valid") {
  CHECK(problems_of(test::axpy()) == "");
  CHECK(problems_of(test::jacobi_2d()) == "");
  CHECK(problems_of(test::reduction()) == "");
  CHECK_NOTHROW(check(test::jacobi_2d()));
}

TEST_CASE("check throws the first problem and counts the others") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  h.compute(m.body, "o = p", {{"p", "x", "i + 1"}}, {"o", "x", "i - 1"});
  CHECK_THROWS_WITH(
      check(h.g),
      "graph error: map 'i' reads x[i + 1] for i up to N - 1, outside x's extent N in dimension 0 (and 1 more "
      "problem)\n"
      "  memlet from access of 'x' to tasklet 't' at hand.cpp:5\n"
      "  in state at hand.cpp:2\n"
      "  in map 'i' at hand.cpp:1\n"
      "  hint: the map's upper bound for i would have to be N - 1");
}

TEST_CASE("names are identifiers") {
  test::Hand h("my graph");
  h.argument("a b", "");
  h.symbol("2n");
  CHECK(problems_of(h.g) ==
        "name: the graph's name 'my graph' is not made of identifiers joined by dots (use letters, digits and "
        "underscores, not "
        "starting with a digit)\n"
        "name: the container name 'a b' is not an identifier (use letters, digits and underscores, not starting with a "
        "digit)\n"
        "name: the symbol name '2n' is not an identifier (use letters, digits and underscores, not starting with a "
        "digit)");
  CHECK(problems_of(Graph("np.linalg.f")) == "");
}

TEST_CASE("a name is a container or a symbol") {
  test::Hand h("g");
  h.argument("N", "");
  Symbol s;
  s.name = "N";
  h.g.symbols.insert(s);
  CHECK(problems_of(h.g) == "unique-name: 'N' is both a symbol and a container");
}

TEST_CASE("ids are unique") {
  test::Hand h = usual();
  h.state(h.g.body);
  h.state(h.g.body);
  h.g.body.items[1]->id = h.g.body.items[0]->id;
  CHECK(problems_of(h.g) == "unique-name: the id 1 names 2 elements, nodes or memlets");
}

TEST_CASE("a container is declared once") {
  test::Hand h = usual();
  h.transient("t", "N");
  Block& b = h.block(h.g.body);
  b.locals = {"t", "x", "nothing"};
  CHECK(problems_of(h.g) ==
        "unknown-container: a block declares 'nothing', which is no container of the graph\n"
        "declared-once: container 't' is declared 2 times (each block needs a container of its own)\n"
        "declared-once: argument 'x' is also declared as a local of a block");
}

TEST_CASE("a symbol has one binder") {
  test::Hand h = usual();
  h.map(h.g.body, {{"i", "0:N"}});
  Map second;
  second.params = {"i"};
  second.ranges = {Range::half_open(0, Expr::symbol("N"))};
  h.append(h.g.body, std::move(second));
  For loop;
  loop.variable = "M";
  loop.init = h.code("0");
  loop.condition = h.code("M < N");
  loop.update = h.code("M + 1");
  h.append(h.g.body, std::move(loop));
  CHECK(problems_of(h.g) ==
        "declared-once: loop 'M' binds 'M', which the symbol table calls a parameter\n"
        "declared-once: symbol 'i' is bound by 2 maps or loops (each needs a symbol of its own; clone_renamed makes "
        "them)");
}

TEST_CASE("symbols are integers, booleans or callbacks") {
  test::Hand h("g");
  h.symbol("f", Type::callback({ScalarType::kFloat64}, {ScalarType::kFloat64}));
  h.symbol("b", ScalarType::kBool);
  h.symbol("d", ScalarType::kFloat64);
  CHECK(problems_of(h.g) ==
        "declared-once: symbol 'd' has type float64, but symbols are integers, booleans or callbacks (use a scalar "
        "container)");
}

TEST_CASE("the call order lists every argument and parameter, and nothing else") {
  test::Hand h = usual();
  h.transient("t", "N");
  h.bind("k", BinderKind::kAssigned);
  h.g.parameters = {"A", "A", "x", "s", "t", "k", "zzz", "M", "N"};
  CHECK(problems_of(h.g) ==
        "parameter-order: parameter 'A' is listed twice in the call order\n"
        "parameter-order: the call order lists the transient 't'\n"
        "parameter-order: the call order lists 'k', which is no parameter but an assigned symbol\n"
        "parameter-order: the call order lists 'zzz', which is neither a container nor a symbol\n"
        "parameter-order: argument 'B' is missing in the call order");
}

TEST_CASE("extents are not negative and use symbols only") {
  test::Hand h = usual();
  h.transient("t", "3 - 5");
  h.transient("u", "N").layout = Layout::packed({Expr::read("s", {0})});
  h.transient("v", "N").layout = Layout::packed({Expr::symbol("Q")});
  CHECK(problems_of(h.g) ==
        "extent-negative: extent -2 of 't' in dimension 0 is negative\n"
        "extent-uses-read: extent s[0] of 'u' reads a container (assign the value to a symbol first)\n"
        "extent-uses-read: size s[0] of 'u' reads a container (assign the value to a symbol first)\n"
        "unknown-symbol: extent Q of 'v' uses 'Q', which is no symbol\n"
        "unknown-symbol: size Q of 'v' uses 'Q', which is no symbol");
}

TEST_CASE("persistent containers depend on parameters and outlive a call") {
  test::Hand h = usual();
  h.assign(h.g.body, "k", "N + 1");
  Container& c = h.transient("p", "k");
  c.lifetime = Lifetime::kPersistent;
  Container& r = h.transient("r", "4");
  r.lifetime = Lifetime::kExternal;
  r.storage = Storage::kRegister;
  h.g.locals.clear();
  h.g.containers.at("A").storage = Storage::kGpuShared;
  h.g.containers.at("B").lifetime = Lifetime::kPersistent;
  CHECK(problems_of(h.g) ==
        "storage-lifetime: argument 'A' can't be in GpuShared storage\n"
        "storage-lifetime: argument 'B' has lifetime Persistent, but arguments belong to the caller\n"
        "persistent-size: the size of Persistent container 'p' uses 'k', which is not a parameter of the graph\n"
        "storage-lifetime: External container 'r' is in Register storage, which does not outlive a call");
}

TEST_CASE("persistent containers belong to the graph, alignments are powers of two") {
  test::Hand h = usual();
  Container& c = h.transient("p", "N");
  c.lifetime = Lifetime::kPersistent;
  c.alignment = 24;
  CHECK(problems_of(h.g) ==
        "storage-lifetime: the alignment 24 of 'p' is not a power of two\n"
        "declared-once: Persistent container 'p' belongs to the graph but is declared by a block");
}

TEST_CASE("a view shows a container of the right rank, and not itself") {
  test::Hand h = usual();
  h.view("v", "M", "A", "0, 0:M").viewed_subset = test::Hand::subset("0:N");
  h.view("w", "M", "A", "0, 0:M").viewed = "nowhere";
  h.view("a", "M", "A", "0, 0:M").viewed = "b";
  h.view("b", "M", "A", "0, 0:M").viewed = "a";
  for (const char* name : {"a", "b"}) h.g.containers.at(name).viewed_subset = test::Hand::subset("0:M");
  h.transient("t", "N").viewed = "A";
  CHECK(problems_of(h.g) ==
        "subset-rank: view 'v' shows A[0:N] with 1 indices, but 'A' has rank 2\n"
        "view-target: view 'w' shows 'nowhere', which is no container\n"
        "view-target: view 'a' shows itself through other views\n"
        "view-target: view 'b' shows itself through other views\n"
        "view-target: array 't' names a viewed container 'A', but is no view");
}

TEST_CASE("structures have distinct members, and only those are accessed") {
  test::Hand h = usual();
  Container& st = h.argument("st", "", {});
  st.kind = ContainerKind::kStructure;
  st.members = {test::Hand::describe("x", ScalarType::kFloat64, "N"),
                test::Hand::describe("x", ScalarType::kFloat64, "")};
  State& s = h.state(h.g.body);
  h.copy(s, h.access(s, "st.y"), "0:N", h.access(s, "x"), "0:N");
  Container& empty = h.argument("none", "", {});
  empty.kind = ContainerKind::kStructure;
  CHECK(problems_of(h.g) ==
        "structure-member: structure 'st' has two members 'x'\n"
        "structure-member: structure 'none' has no members\n"
        "structure-member: access of 'st.y' uses 'st.y', but structure 'st' has no such member");
}

TEST_CASE("a constant has the bytes of its elements") {
  test::Hand h = usual();
  h.transient("c", "3").constant = std::vector<std::uint8_t>(20);
  h.transient("d", "N").constant = std::vector<std::uint8_t>(8);
  CHECK(problems_of(h.g) ==
        "constant-type: constant 'c' of 3 elements of float64 has 20 bytes instead of 24\n"
        "constant-type: constant 'd' has the size N, which is not a number");
}

TEST_CASE("unknown names are told with the nearest known one") {
  test::Hand h = usual();
  State& s = h.state(h.g.body);
  Memlet& m = h.copy(s, h.access(s, "AA"), "0:N, 0:M", h.access(s, "B"), "0:N, 0:M");
  m.dst_subset = test::Hand::subset("0:N, 0:MM");
  CHECK(problems_of(h.g) ==
        "unknown-container: access of 'AA' uses 'AA', which is no container of the graph (did you mean 'A'?)\n"
        "unknown-symbol: memlet from access of 'AA' to access of 'B' uses 'MM', which is no symbol of the graph (did "
        "you mean "
        "'M'?)");
}

TEST_CASE("symbols are used where they have a value") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  h.assign(m.body, "k", "i + 1");
  h.compute(m.body, "o = 1.0", {}, {"o", "A", "i, 0"});
  h.compute(h.g.body, "o = 1.0", {}, {"o", "x", "i"});
  h.compute(h.g.body, "o = k * 1.0", {}, {"o", "x", "0"});
  h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  h.assign(h.g.body, "last", "t");
  CHECK(problems_of(h.g) ==
        "symbol-scope: memlet from tasklet 't' to access of 'x' uses map parameter 'i', which has no value there (a "
        "map parameter "
        "has a value in its map only)\n"
        "symbol-scope: tasklet 't' uses assigned symbol 'k', which has no value there (assign it first; what a map's "
        "body assigns "
        "is the body's own)\n"
        "symbol-scope: assignment of 'last' uses loop variable 't', which has no value there (copy it to a symbol by "
        "an assignment "
        "inside the loop)");
}

TEST_CASE("symbols assigned before, in branches, or by an earlier iteration have a value") {
  test::Hand h = usual();
  h.assign(h.g.body, "k", "0");
  If& branch = h.branch(h.g.body, {"k < N", "True"});
  h.assign(branch.branches[0].body, "q", "k");
  h.assign(branch.branches[1].body, "q", "k + 1");
  h.assign(h.g.body, "r", "q");
  While& w = h.while_loop(h.g.body, "k < N");
  If& later = h.branch(w.body, {"k > 0"});
  h.bind("carried", BinderKind::kAssigned);
  h.assign(later.branches[0].body, "r", "carried");
  h.assign(w.body, "carried", "k");
  h.assign(w.body, "k", "k + 1");
  CHECK(problems_of(h.g) == "");
}

TEST_CASE("containers are used inside their block, and their sizes stay what they are") {
  test::Hand h = usual();
  h.assign(h.g.body, "k", "N");
  Block& b = h.block(h.g.body);
  h.transient("t", "k", ScalarType::kFloat64, &b);
  h.assign(b.body, "k", "k + 1");
  h.compute(h.g.body, "o = 1.0", {}, {"o", "t", "0"});
  Block& c = h.block(h.g.body);
  h.transient("u", "z", ScalarType::kFloat64, &c);
  h.bind("z", BinderKind::kAssigned);
  CHECK(problems_of(h.g) ==
        "symbol-scope: 'k' is assigned while container 't' lives, whose description uses it (copy the value to a "
        "symbol of its own "
        "first)\n"
        "container-scope: access of 't' uses container 't' outside the block that declares it\n"
        "symbol-scope: container 'u' uses 'z' in its description, which has no value where the container is allocated");
}

TEST_CASE("a scalar container is read by a subscript") {
  test::Hand h = usual();
  h.argument("n", "", ScalarType::kInt64);
  Assign a;
  a.items.push_back({"k", tasklet::parse_expression("n + 1")});
  h.bind("k", BinderKind::kAssigned);
  h.append(h.g.body, std::move(a));
  CHECK(problems_of(h.g) ==
        "unknown-symbol: assignment of 'k' uses container 'n' as a symbol (read it by a subscript, without indices for "
        "a scalar)");
}

}  // namespace test_validate_tables
