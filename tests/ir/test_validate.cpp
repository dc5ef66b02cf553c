// One graph per rule that breaks it, with the whole message; and graphs that look suspicious but are fine.
#include <catch2/catch.hpp>

#include "graphs.hpp"
#include "ir/validate.hpp"

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;

namespace {

// "rule: message (hint)" of every problem, one per line.
std::string problems_of(const Graph& g) {
  std::string text;
  for (const Problem& p : validate(g)) {
    text += std::string(to_string(p.rule)) + ": " + p.message;
    if (!p.hint.empty()) text += " (" + p.hint + ")";
    text += '\n';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// A[N, M], B[N, M], x[N], s[1], N, M.
test::Hand usual() {
  test::Hand h("g");
  h.argument("A", "N, M");
  h.argument("B", "N, M");
  h.argument("x", "N");
  h.argument("s", "1");
  h.symbol("N");
  h.symbol("M");
  return h;
}

}  // namespace

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

// ---- Tables ---------------------------------------------------------------------------------------------------------

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

// ---- Names ----------------------------------------------------------------------------------------------------------

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

// ---- Dataflow -------------------------------------------------------------------------------------------------------

TEST_CASE("subsets have the rank of their container") {
  test::Hand h = usual();
  h.compute(h.g.body, "o = p", {{"p", "A", "0"}}, {"o", "x", "0, 0"});
  CHECK(problems_of(h.g) ==
        "subset-rank: A[0] has 1 dimension, but 'A' has rank 2\n"
        "subset-rank: x[0, 0] has 2 dimensions, but 'x' has rank 1");
}

TEST_CASE("subsets read no containers") {
  test::Hand h = usual();
  State& s = h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"});
  s.edges[0].src_subset = Subset::index({Expr::read("s", {0})});
  CHECK(problems_of(h.g) ==
        "subset-uses-read: x[s[0]] uses s[0], which reads a container (assign the value to a symbol before the state, "
        "or index a "
        "pointer connector in the tasklet)");
}

TEST_CASE("copies move as many elements as they store") {
  test::Hand h = usual();
  State& s = h.state(h.g.body);
  h.copy(s, h.access(s, "A"), "0:N, 0:2", h.access(s, "B"), "0:N, 0:3");
  State& reshaped = h.state(h.g.body);
  h.transient("flat", "N * M");
  h.copy(reshaped, h.access(reshaped, "A"), "0:N, 0:M", h.access(reshaped, "flat"), "0:N * M");
  State& negative = h.state(h.g.body);
  h.copy(negative, h.access(negative, "x"), "3:1", h.access(negative, "x"), "3:1");
  CHECK(problems_of(h.g) == "copy-volume: the copy of x[3:1] to x[3:1] has the negative extent -2");
}

TEST_CASE("copies of provably different counts are refused") {
  test::Hand h("g");
  h.argument("x", "8");
  h.argument("y", "8");
  State& s = h.state(h.g.body);
  h.copy(s, h.access(s, "x"), "0:6", h.access(s, "y"), "0:5");
  CHECK(problems_of(h.g) == "copy-volume: the copy of x[0:6] to y[0:5] moves 6 elements into 5");
}

TEST_CASE("connectors exist, have one memlet, and are nothing else's name") {
  test::Hand h = usual();
  State& s = h.state(h.g.body);
  const Id t = h.tasklet(s, "f", {"p", "N", "p2"}, {"o", "p"}, "o = p");
  const Id a = h.access(s, "x");
  h.read(s, a, "0", t, "p");
  h.read(s, a, "1", t, "p");
  h.read(s, a, "1", t, "zz");
  h.read(s, a, "1", t, "N");
  h.write(s, t, "o", h.access(s, "s"), "0");
  CHECK(problems_of(h.g) ==
        "connector-clash: connector 'N' of tasklet 'f' is also a symbol\n"
        "connector-clash: connector 'p' of tasklet 'f' is both an input and an output\n"
        "connector-duplicate: input connector 'p' of tasklet 'f' has two memlets\n"
        "connector-missing: memlet from access of 'x' to tasklet 'f' uses input connector 'zz', which tasklet 'f' does "
        "not have\n"
        "connector-dangling: input connector 'p2' of tasklet 'f' has no memlet\n"
        "connector-dangling: output connector 'p' of tasklet 'f' has no memlet");
}

TEST_CASE("memlets have the shape that their ends ask for") {
  test::Hand h = usual();
  State& s = h.state(h.g.body);
  const Id t = h.tasklet(s, "f", {"p"}, {"o"}, "o = p");
  h.read(s, h.access(s, "x"), "0", t, "p").src_subset.reset();
  h.write(s, t, "o", h.access(s, "s"), "0").src_subset = test::Hand::subset("0");
  State& r = h.state(h.g.body);
  h.copy(r, h.access(r, "x"), "0:N", h.access(r, "x"), "0:N").dst = 999;
  State& o = h.state(h.g.body);
  Memlet& order = h.edge(o, h.access(o, "x"), h.access(o, "s"));
  order.wcr.emplace();
  CHECK(problems_of(h.g) ==
        "memlet-shape: memlet from access of 'x' to tasklet 'f' has no subset of 'x'\n"
        "memlet-shape: memlet from tasklet 'f' to access of 's' has a source subset, but starts at code\n"
        "memlet-shape: a memlet ends at node 999, which is not in its state\n"
        "memlet-shape: memlet from access of 'x' to access of 's' moves nothing, but has a WCR or sets a reference");
}

TEST_CASE("a register edge joins two connectors without subsets") {
  test::Hand h = usual();
  State& s = h.state(h.g.body);
  const Id first = h.tasklet(s, "f", {"p"}, {"o"}, "o = p * 2.0");
  const Id second = h.tasklet(s, "g", {"p"}, {"o"}, "o = p + 1.0");
  h.read(s, h.access(s, "x"), "0", first, "p");
  Memlet& m = h.edge(s, first, second);
  m.src_connector = "o";
  m.dst_connector = "p";
  h.write(s, second, "o", h.access(s, "s"), "0");
  CHECK(problems_of(h.g) == "");
  CHECK(connector_type(h.g, s, s.nodes[1], "p", false) == Type(ScalarType::kFloat64));
  CHECK(connector_type(h.g, s, s.nodes[0], "o", true) == Type(ScalarType::kFloat64));
}

TEST_CASE("a WCR accumulates into elements that have the operation") {
  test::Hand h = usual();
  h.compute(h.g.body, "o = 1.0", {}, {"o", "s", "0"}, ReduceOp::kBitOr);
  h.argument("c", "1", ScalarType::kComplex128);
  h.compute(h.g.body, "o = 1.0", {}, {"o", "c", "0"}, ReduceOp::kMax);
  State& custom = h.compute(h.g.body, "o = 1.0", {}, {"o", "s", "0"}, ReduceOp::kCustom);
  custom.edges[0].wcr->custom = tasklet::parse_expression("a + c2");
  State& read = h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"});
  read.edges[0].wcr.emplace();
  CHECK(problems_of(h.g) ==
        "wcr-target: the WCR bitwise or has no meaning for float64 elements of 's'\n"
        "wcr-target: the WCR max has no meaning for complex128 elements of 'c'\n"
        "wcr-target: the custom WCR of memlet from tasklet 't' to access of 's' uses 'c2' (its names are a, the old "
        "value, and b, "
        "the new one)\n"
        "wcr-target: memlet from access of 'x' to tasklet 't' has a WCR, but writes no container");
}

TEST_CASE("a state has no cycles and no access without memlets") {
  test::Hand h = usual();
  State& s = h.state(h.g.body, "round");
  const Id a = h.access(s, "x");
  const Id b = h.access(s, "x");
  h.edge(s, a, b);
  h.edge(s, b, a);
  h.access(s, "A");
  CHECK(problems_of(h.g) ==
        "cycle: the edges of a state form a cycle through 2 of its nodes\n"
        "isolated-node: access of 'A' has no memlets");
}

TEST_CASE("a reference is set somewhere") {
  test::Hand h = usual();
  h.transient("r", "N").kind = ContainerKind::kReference;
  h.compute(h.g.body, "o = 1.0", {}, {"o", "r", "0"});
  CHECK(problems_of(h.g) == "reference-unset: reference 'r' is used but never set");
  State& set = h.state(h.g.body);
  h.copy(set, h.access(set, "x"), "0:N", h.access(set, "r"), "0:N").set_reference = true;
  CHECK(problems_of(h.g) == "");
  h.copy(set, h.access(set, "x"), "0:N", h.access(set, "A"), "0:N, 0").set_reference = true;
  CHECK(problems_of(h.g) ==
        "memlet-shape: memlet from access of 'x' to access of 'A' sets 'A', which is no reference but an array");
}

TEST_CASE("tasklet code uses its connectors, locals and symbols, and assigns every output") {
  test::Hand h = usual();
  h.compute(h.g.body, "q = p + x", {{"p", "x", "0"}}, {"o", "s", "0"});
  h.compute(h.g.body, "p = 1.0\no = p", {{"p", "x", "0"}}, {"o", "s", "0"});
  h.compute(h.g.body, "o = p[0]", {{"p", "x", "0"}}, {"o", "s", "0"});
  CHECK(problems_of(h.g) ==
        "tasklet-code: tasklet 't' never assigns its output 'o'\n"
        "tasklet-code: tasklet 't' uses 'x', which is no connector, local variable or symbol (containers are read "
        "through input "
        "connectors)\n"
        "tasklet-code: tasklet 't' assigns to its input 'p' (use a local variable, or an output connector)\n"
        "tasklet-code: tasklet 't' indexes 'p', which is a single value");
}

TEST_CASE("subscripts have as many indices as the memlet has dimensions") {
  test::Hand h = usual();
  h.compute(h.g.body, "o = p[0]", {{"p", "A", "0:N, 0:M"}}, {"o", "s", "0"});
  h.compute(h.g.body, "o = p[0]", {{"p", "A", "3, 0:M"}}, {"o", "s", "0"});
  h.while_loop(h.g.body, "True").condition = tasklet::parse_expression("A[0] > 0.0");
  CHECK(problems_of(h.g) ==
        "access-shape: tasklet 't' indexes 'p' with 1 index, but its memlet has 2 dimensions longer than one\n"
        "access-shape: the condition of while loop reads 'A' of rank 2 with 1 index");
}

TEST_CASE("types of connectors fit what their memlets move") {
  test::Hand h = usual();
  State& s = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:N"}}, {"o", "s", "0"});
  std::get<Tasklet>(s.nodes[0].kind).inputs[0].type = Type::pointer(ScalarType::kFloat32);
  State& c = h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"});
  std::get<Tasklet>(c.nodes[0].kind).outputs[0].type = ScalarType::kComplex128;
  State& v = h.compute(h.g.body, "o = p", {{"p", "x", "0:3"}}, {"o", "s", "0"});
  std::get<Tasklet>(v.nodes[0].kind).inputs[0].type = ScalarType::kFloat64;
  State& w = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:3"}}, {"o", "s", "0"});
  std::get<Tasklet>(w.nodes[0].kind).inputs[0].type = Type::vector(ScalarType::kFloat64, 4);
  const std::string found = problems_of(h.g);
  CHECK(found.find("tasklet-types: connector 'p' of tasklet 't' has type pointer<float32>, but its memlet moves "
                   "float64 elements (a "
                   "pointer does not convert its elements)") != std::string::npos);
  CHECK(found.find(
            "tasklet-types: connector 'o' of tasklet 't' has type complex128, but its memlet moves float64 elements") !=
        std::string::npos);
  CHECK(found.find("tasklet-types: connector 'p' of tasklet 't' has type float64, but its memlet moves 3 elements") !=
        std::string::npos);
  CHECK(
      found.find(
          "tasklet-types: connector 'p' of tasklet 't' has type vector<float64, 4>, but its memlet moves 3 elements") !=
      std::string::npos);
}

TEST_CASE("constants are not written, directly or through a view") {
  test::Hand h = usual();
  h.transient("c", "2").constant = std::vector<std::uint8_t>(16);
  h.view("v", "2", "c", "0:2");
  h.compute(h.g.body, "o = 1.0", {}, {"o", "c", "0"});
  h.compute(h.g.body, "o = 1.0", {}, {"o", "v", "0"});
  CHECK(problems_of(h.g) ==
        "read-only: memlet from tasklet 't' to access of 'c' writes constant 'c'\n"
        "read-only: memlet from tasklet 't' to access of 'v' writes constant 'c' through view 'v'");
}

// ---- Bounds ---------------------------------------------------------------------------------------------------------

TEST_CASE("subsets that leave their container are told with the range that leads there") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "1:N - 1"}, {"j", "1:M"}});
  h.compute(m.body, "o = p", {{"p", "A", "i, j"}}, {"o", "B", "i, j + 1"});
  Map& low = h.map(h.g.body, {{"i2", "0:N"}});
  h.compute(low.body, "o = p", {{"p", "A", "i2 - 1, 0"}}, {"o", "x", "i2"});
  h.compute(h.g.body, "o = p", {{"p", "A", "N, 0"}}, {"o", "x", "-1"});
  For& t = h.loop(h.g.body, "t", "N - 1", "t >= 0", "t - 1");
  h.compute(t.body, "o = p", {{"p", "x", "t"}}, {"o", "x", "N - t"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i, j' writes B[i, j + 1] for j up to M - 1, outside B's extent M in dimension 1 (the "
        "map's upper bound "
        "for j would have to be M - 1)\n"
        "subset-bounds: map 'i2' reads A[i2 - 1, 0] for i2 down to 0, before A's first element in dimension 0 (the "
        "map's lower bound "
        "for i2 would have to be 1)\n"
        "subset-bounds: state reads A[N, 0], outside A's extent N in dimension 0\n"
        "subset-bounds: state writes x[-1], before x's first element in dimension 0\n"
        "subset-bounds: loop 't' writes x[N - t] for t down to 0, outside x's extent N in dimension 0 (the loop's "
        "lower bound for t "
        "would have to be 1)");
}

TEST_CASE("messages use the labels that the user gave") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i_7", "0:N"}});
  h.g.symbols.at("i_7").label = "i";
  h.g.containers.at("x").label = "my_x";
  h.compute(m.body, "o = 1.0", {}, {"o", "x", "i_7 + 1"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i' writes my_x[i + 1] for i up to N - 1, outside my_x's extent N in dimension 0 (the "
        "map's upper bound "
        "for i would have to be N - 1)");
}

TEST_CASE("strides of ranges, offsets and whole ranges take part in bounds") {
  test::Hand h = usual();
  h.argument("f", "8");
  h.g.containers.at("f").layout = Layout::strided({8}, {1}, Expr(8), {-1});
  Map& even = h.map(h.g.body, {{"i", "0:9:2"}});
  h.compute(even.body, "o = 1.0", {}, {"o", "f", "i + 1"});  // 1, 3, ... 9: the last is element 8 of 0..7
  Map& fine = h.map(h.g.body, {{"k", "0:8:2"}});
  h.compute(fine.body, "o = 1.0", {}, {"o", "f", "k + 1"});  // 1, 3, 5, 7
  State& s = h.state(h.g.body);
  h.copy(s, h.access(s, "x"), "0:N", h.access(s, "A"), "0, 1:N + 1").dst_subset = test::Hand::subset("0, 0:M + 1");
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i' writes f[i + 1] for i up to 8, outside f's extent 8 in dimension 0 (the map's upper "
        "bound for i would "
        "have to be 8)\n"
        "subset-bounds: state writes A[0, 0:M + 1], outside A's extent M in dimension 1");
}

TEST_CASE("what may be right is not reported") {
  test::Hand h = usual();
  h.symbol("K");
  // Unknown extents.
  h.compute(h.g.body, "o = p", {{"p", "x", "5"}}, {"o", "A", "K, 0"});
  // A guard that excludes the first iteration.
  Map& guarded = h.map(h.g.body, {{"i", "0:N"}});
  If& branch = h.branch(guarded.body, {"i > 0"});
  h.compute(branch.branches[0].body, "o = p", {{"p", "x", "i - 1"}}, {"o", "A", "i, 0"});
  // A triangle: the inner range is empty where the index would be outside.
  Map& triangle = h.map(h.g.body, {{"r", "0:N"}, {"c", "0:r"}});
  h.compute(triangle.body, "o = p", {{"p", "x", "r - 1"}}, {"o", "B", "r, 0"}, ReduceOp::kSum);
  // Dynamic, allow_oob.
  State& s = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:N + 1"}}, {"o", "s", "0"});
  s.edges[0].dynamic = true;
  State& a = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:N + 1"}}, {"o", "s", "0"});
  a.edges[0].allow_oob = true;
  // Left before the bad iteration.
  For& t = h.loop(h.g.body, "t", "0", "t <= N", "t + 1");
  If& leave = h.branch(t.body, {"t >= N"});
  Exit exit;
  exit.target = h.g.body.items.back()->id;
  h.append(leave.branches[0].body, std::move(exit));
  h.compute(t.body, "o = 1.0", {}, {"o", "x", "t"});
  // Empty subsets.
  Map& empty = h.map(h.g.body, {{"e", "0:N"}});
  h.compute(empty.body, "o = 1.0", {{"p", "x", "e + 1:N"}}, {"o", "A", "e, 0"});
  CHECK(problems_of(h.g) == "");
}

// ---- Conflicts ------------------------------------------------------------------------------------------------------

TEST_CASE("iterations of a map that write the same elements are reported") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}, {"j", "0:M"}});
  h.compute(m.body, "o = p", {{"p", "A", "i, j"}}, {"o", "x", "i"});
  Map& overlap = h.map(h.g.body, {{"k", "0:N - 1"}});
  State& s = h.state(overlap.body);
  h.copy(s, h.access(s, "A"), "k, 0:2", h.access(s, "x"), "k:k + 2");
  CHECK(problems_of(h.g) ==
        "write-conflict: iterations of map 'i, j' that differ in j write the same elements x[i] without a WCR "
        "(accumulate (+= in the "
        "builder), or declare x inside the map)\n"
        "write-conflict: iterations of map 'k' that differ in k write overlapping elements x[k:k + 2] without a WCR "
        "(accumulate (+= in "
        "the builder), or declare x inside the map)");
}

TEST_CASE("writes that may be apart are no conflict") {
  test::Hand h = usual();
  // Accumulation.
  Map& sum = h.map(h.g.body, {{"i", "0:N"}});
  h.compute(sum.body, "o = p", {{"p", "x", "i"}}, {"o", "s", "0"}, ReduceOp::kSum);
  // A container of the body.
  Map& own = h.map(h.g.body, {{"i2", "0:N"}});
  Block& b = h.block(own.body);
  h.transient("t", "", ScalarType::kFloat64, &b);
  h.compute(b.body, "o = 1.0", {}, {"o", "t", ""});
  // An index that is computed.
  Map& indirect = h.map(h.g.body, {{"i3", "0:N"}});
  h.assign(indirect.body, "k", "i3 * 2 % N");
  h.compute(indirect.body, "o = 1.0", {}, {"o", "x", "k"});
  // Tiles.
  Map& tiles = h.map(h.g.body, {{"b", "0:N:32"}});
  Map& inner = h.map(tiles.body, {{"e", "b:min(b + 32, N)"}});
  h.compute(inner.body, "o = 1.0", {}, {"o", "x", "e"});
  // One iteration writes.
  Map& guarded = h.map(h.g.body, {{"i4", "0:N"}});
  If& branch = h.branch(guarded.body, {"i4 == 0"});
  h.compute(branch.branches[0].body, "o = 1.0", {}, {"o", "s", "0"});
  // A single point.
  Map& one = h.map(h.g.body, {{"i5", "3:4"}});
  h.compute(one.body, "o = 1.0", {}, {"o", "s", "0"});
  // A view of each iteration's own part.
  Map& views = h.map(h.g.body, {{"i6", "0:N"}});
  Block& vb = h.block(views.body);
  h.view("row", "M", "A", "i6, 0:M", &vb);
  h.compute(vb.body, "o = 1.0", {}, {"o", "row", "0"});
  CHECK(problems_of(h.g) == "");
}

TEST_CASE("a view of one place is a conflict on what it shows") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  Block& b = h.block(m.body);
  h.view("row", "M", "A", "0, 0:M", &b);
  h.compute(b.body, "o = 1.0", {}, {"o", "row", "0"});
  CHECK(problems_of(h.g) ==
        "write-conflict: iterations of map 'i' that differ in i write the same elements row[0] without a WCR "
        "(accumulate (+= in the "
        "builder), or declare row inside the map)");
}

// ---- Control flow ---------------------------------------------------------------------------------------------------

TEST_CASE("maps have as many ranges as parameters, positive steps, and ranges over symbols") {
  test::Hand h = usual();
  Map& a = h.map(h.g.body, {{"i", "0:N"}});
  a.ranges.push_back(Range::index(0));
  Map& b = h.map(h.g.body, {{"j", "0:N:0"}});
  b.collapse = 3;
  Map& c = h.map(h.g.body, {{"k", "0:l"}, {"l", "0:N"}});
  c.ranges[1].end = Expr::read("s", {0});
  h.append(h.g.body, Map{});
  Map& d = h.map(h.g.body, {{"q", "0:N"}});
  d.gpu_block_size = {1, 2, 3, 4};
  CHECK(problems_of(h.g) ==
        "map-parameters: map 'i' has 1 parameters and 2 ranges\n"
        "map-step: the step 0 of 'j' in map 'j' is not positive\n"
        "map-parameters: map 'j' collapses 3 of its 1 dimensions\n"
        "map-range: the range of 'k' in map 'k, l' uses 'l', which comes at or after it (a range may use the "
        "parameters before its "
        "own)\n"
        "map-range: the range of 'l' in map 'k, l' uses s[0], which reads a container (assign the value to a symbol "
        "before the map)\n"
        "map-parameters: a map has no parameters\n"
        "map-parameters: map 'q' has a thread-block size that is not one to three positive numbers");
}

TEST_CASE("loop variables change by the loop only") {
  test::Hand h = usual();
  For& t = h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  Assign a;
  a.items.push_back({"t", h.code("0")});
  h.append(t.body, std::move(a));
  h.loop(h.g.body, "u", "0", "u < N", "u");
  For& v = h.loop(h.g.body, "v", "0", "v < N", "v + 1");
  h.loop(v.body, "v", "0", "v < N", "v + 1");
  CHECK(
      problems_of(h.g) ==
      "declared-once: symbol 'v' is bound by 2 maps or loops (each needs a symbol of its own; clone_renamed makes "
      "them)\n"
      "loop-variable: loop variable 't' is assigned in the loop's own body (use a while loop over an assigned symbol)\n"
      "loop-variable: loop 'u' never changes its variable (use a while loop if that is meant)\n"
      "loop-variable: loop 'v' is inside another loop over 'v'");
}

TEST_CASE("conditions are true or false") {
  test::Hand h = usual();
  h.argument("z", "1", ScalarType::kComplex128);
  h.while_loop(h.g.body, "True").condition = h.code("z[0]");
  CHECK(problems_of(h.g) ==
        "condition-type: the condition of while loop has type complex128, which is neither true nor false (compare it "
        "with "
        "something)");
}

TEST_CASE("only assigned symbols are assigned, once at a time") {
  test::Hand h = usual();
  h.bind("k", BinderKind::kAssigned);
  Assign a;
  a.items.push_back({"k", h.code("1")});
  a.items.push_back({"k", h.code("2")});
  a.items.push_back({"N", h.code("3")});
  a.items.push_back({"x", h.code("4")});
  a.items.push_back({"nothing", h.code("5")});
  h.append(h.g.body, std::move(a));
  CHECK(problems_of(h.g) ==
        "assign-target: 'k' is assigned twice at once\n"
        "assign-target: parameter 'N' is assigned (assign to a symbol of its own)\n"
        "assign-target: container 'x' is the target of a symbol assignment (write it in a state)\n"
        "assign-target: the assigned 'nothing' is not in the symbol table");
}

TEST_CASE("exits lead to enclosing loops, blocks or the iteration of a map") {
  test::Hand h = usual();
  For& t = h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  const Id loop = h.g.body.items.back()->id;
  const auto exit = [&](Sequence& where, Exit::Kind kind, Id target) {
    Exit x;
    x.kind = kind;
    x.target = target;
    h.append(where, std::move(x));
  };
  exit(t.body, Exit::Kind::kBreak, loop);
  exit(t.body, Exit::Kind::kContinue, loop);
  Map& m = h.map(t.body, {{"i", "0:N"}});
  const Id map = t.body.items.back()->id;
  exit(m.body, Exit::Kind::kContinue, map);
  exit(m.body, Exit::Kind::kBreak, map);
  exit(m.body, Exit::Kind::kBreak, loop);
  h.append(m.body, Return{});
  exit(h.g.body, Exit::Kind::kBreak, loop);
  Block& b = h.block(h.g.body);
  exit(b.body, Exit::Kind::kContinue, h.g.body.items.back()->id);
  h.append(h.g.body, Return{});
  CHECK(problems_of(h.g) ==
        "exit-target: break has map 'i' as its target (break leaves a loop or a block)\n"
        "exit-target: break would leave map 'i' (only the current iteration of a map can end early)\n"
        "return-in-map: return inside map 'i'\n"
        "exit-target: break has no enclosing element 1 as its target\n"
        "exit-target: continue has block as its target (continue goes on with a loop or a map)");
}

TEST_CASE("schedules nest as kernels, blocks and warps do") {
  test::Hand h = usual();
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  Map& threads = h.map(device.body, {{"j", "0:32"}});
  threads.schedule = Schedule::kThreadBlock;
  Map& nested = h.map(threads.body, {{"k", "0:32"}});
  nested.schedule = Schedule::kThreadBlock;
  Map& parallel = h.map(threads.body, {{"l", "0:32"}});
  parallel.schedule = Schedule::kParallel;
  Map& lonely = h.map(h.g.body, {{"m", "0:32"}});
  lonely.schedule = Schedule::kThreadBlock;
  Map& warp = h.map(device.body, {{"n", "0:32"}});
  warp.schedule = Schedule::kWarp;
  CHECK(problems_of(h.g) ==
        "schedule-nesting: ThreadBlock map 'k' is inside the ThreadBlock map 'j'\n"
        "schedule-nesting: Parallel map 'l' is inside the kernel of map 'i'\n"
        "schedule-nesting: Warp map 'n' is not inside a ThreadBlock map\n"
        "schedule-nesting: ThreadBlock map 'm' is not inside a Device map");
}

TEST_CASE("code reaches the memory of its side only") {
  test::Hand h = usual();
  h.transient("d", "N").storage = Storage::kGpuGlobal;
  h.transient("c", "N").storage = Storage::kHeap;
  h.compute(h.g.body, "o = p", {{"p", "d", "0"}}, {"o", "s", "0"});
  State& copy = h.state(h.g.body);
  h.copy(copy, h.access(copy, "c"), "0:N", h.access(copy, "d"), "0:N");
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  h.compute(device.body, "o = p", {{"p", "c", "i"}}, {"o", "d", "i"});
  h.while_loop(h.g.body, "d[0] > 1.0");
  Block& b = h.block(h.g.body);
  h.transient("shared", "32", ScalarType::kFloat64, &b).storage = Storage::kGpuShared;
  CHECK(problems_of(h.g) ==
        "storage-access: memlet from access of 'd' to tasklet 't' reads 'd' in GpuGlobal storage on the host (copy it "
        "to a container "
        "that both can reach)\n"
        "storage-access: memlet from access of 'c' to tasklet 't' reads 'c' in Heap storage in the kernel of map 'i' "
        "(copy it to a "
        "container that both can reach)\n"
        "storage-access: while loop reads 'd' in GpuGlobal storage on the host (copy it to a container that both can "
        "reach)\n"
        "storage-lifetime: 'shared' in GpuShared storage is declared outside a kernel (declare it in a block inside "
        "the Device map)");
}

TEST_CASE("a value per thread is not read where a block has one") {
  test::Hand h = usual();
  for (const char* name : {"x", "s"}) h.g.containers.at(name).storage = Storage::kGpuGlobal;
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  Block& b = h.block(device.body);
  h.transient("r", "", ScalarType::kFloat64, &b).storage = Storage::kRegister;
  Map& threads = h.map(b.body, {{"j", "0:N"}});
  threads.schedule = Schedule::kThreadBlock;
  h.compute(threads.body, "o = p", {{"p", "x", "j"}}, {"o", "r", ""});
  If& branch = h.branch(b.body, {"True"});
  branch.branches[0].condition =
      tasklet::infer_types(tasklet::Expr::binary(tasklet::BinaryOp::kGreater, tasklet::Expr::subscript("r", {}),
                                                 tasklet::Expr::literal(1.0)),
                           type_environment(h.g));
  Map& more = h.map(branch.branches[0].body, {{"k", "0:N"}});
  more.schedule = Schedule::kThreadBlock;
  h.compute(more.body, "o = p", {{"p", "r", ""}}, {"o", "x", "k"});
  CHECK(problems_of(h.g) ==
        "block-uniform: branch reads 'r' outside a thread-block map, where its value differs among the threads of a "
        "block (reduce it "
        "first, or move the reading into a thread-block map)");
}

TEST_CASE("streams are popped and pushed, nothing else") {
  test::Hand h = usual();
  h.transient("q", "").kind = ContainerKind::kStream;
  h.compute(h.g.body, "o = p", {{"p", "q", ""}}, {"o", "q", ""});
  h.compute(h.g.body, "o = 1.0", {}, {"o", "q", ""}, ReduceOp::kSum);
  Consume c;
  c.stream = "x";
  c.element = "e";
  c.chunk_size = 0;
  h.g.containers.insert([] {
    Container e = test::Hand::describe("e", ScalarType::kFloat64, "");
    e.transient = true;
    return e;
  }());
  h.append(h.g.body, std::move(c));
  CHECK(problems_of(h.g) ==
        "wcr-target: memlet from tasklet 't' to access of 'q' accumulates into stream 'q'\n"
        "stream-use: consume of 'x' pops from array 'x', which is no stream\n"
        "stream-use: consume of 'x' pops chunks of 0 elements");
}

TEST_CASE("too deep nesting is refused") {
  test::Hand h = usual();
  Sequence* at = &h.g.body;
  for (std::size_t k = 0; k <= kMaxDepth; ++k) at = &h.block(*at).body;
  CHECK(problems_of(h.g) == "depth: block is nested deeper than the limit of 200 elements");
}

TEST_CASE("scalars of the host reach a kernel by value, C++ text may hand on device pointers") {
  test::Hand h = usual();
  h.transient("d", "N").storage = Storage::kGpuGlobal;
  h.transient("c", "").storage = Storage::kHeap;
  h.g.containers.at("s").storage = Storage::kRegister;
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  h.compute(device.body, "o = p", {{"p", "c", ""}}, {"o", "d", "i"});
  State& call = h.compute(h.g.body, "o = p", {{"p", "d", "0:N"}}, {"o", "d", "0:N"});
  auto& code = std::get<Tasklet>(call.nodes[0].kind).code;
  code.language = tasklet::Language::kCpp;
  code.text = "library_call(p, o);";
  CHECK(problems_of(h.g) == "");
}
