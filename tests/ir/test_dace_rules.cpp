// One graph for each validation rule of DaCe that has a meaning for graphs of ours. Rules about files and their scope
// nodes are tested where files are read (tests/io/test_import_rules.cpp).
//
// Rules that have no meaning here:
//   3     labels are display text; elements are told apart by ids
//   5     a constant is a container of its own, so there is nothing whose type could differ
//   6     results are arguments like others; a scalar argument is passed by value, whatever its name
//   10    a graph without elements does nothing
//   12    edges between blocks become elements, whose ids rule 1 covers
//   18    a loop binds its variable for its body (13 covers uses outside)
//   20    "the node's own rules": 45 to 48
//   26    only a warning there; the interpreter reports the reading of elements that were never written
//   33    a memlet names no container of its own; its ends do (23)
//   41    an option there, a rule here: 13
// Rules that only files can break: 11, 16, 22, 27, 35, 36, 42, 47.
#include <catch2/catch.hpp>
#include <functional>

#include "validation.hpp"

namespace test_dace_rules {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using test::Hand;
using test::problems_of;
using test::usual;

namespace {

struct Entry {
  const char* rule;  // number in section 3 of the reference
  const char* what;
  std::function<void(Hand&)> build;
  const char* problem;  // the first one; with the hint in parentheses where there is one
};

const Entry kEntries[] = {
    {"1", "an element is shared",
     [](Hand& h) {
       h.state(h.g.body);
       h.state(h.g.body);
       h.g.body.items[1]->id = h.g.body.items[0]->id;
     },
     "unique-name: the id 1 names 2 elements, nodes or memlets"},
    {"2", "the graph's name", [](Hand& h) { h.g.name = "a b"; },
     "name: the graph's name 'a b' is not made of identifiers joined by dots"},
    {"4", "a name of two things",
     [](Hand& h) {
       Symbol s;
       s.name = "x";
       s.binder = BinderKind::kAssigned;
       h.g.symbols.insert(s);
     },
     "unique-name: 'x' is both a symbol and a container"},
    {"7", "an unknown extent of a transient",
     [](Hand& h) { h.transient("t", "4").layout = Layout::packed({Expr::symbol("Q")}); },
     "unknown-symbol: extent Q of 't' uses 'Q', which is no symbol"},
    {"7", "an unknown stride of a transient",
     [](Hand& h) { h.transient("t", "4").layout = Layout::strided({4}, {Expr::symbol("Q")}, Expr(16)); },
     "unknown-symbol: stride Q of 't' uses 'Q', which is no symbol"},
    {"8", "a container's name", [](Hand& h) { h.argument("2x", "N"); },
     "name: the container name '2x' is not an identifier"},
    {"9", "registers that outlive a call",
     [](Hand& h) {
       Container& c = h.transient("t", "4");
       c.lifetime = Lifetime::kPersistent;
       c.storage = Storage::kRegister;
       h.g.locals.clear();
     },
     "storage-lifetime: Persistent container 't' is in Register storage, which does not outlive a call"},
    {"13", "a symbol that is not assigned yet",
     [](Hand& h) {
       h.bind("k", BinderKind::kAssigned);
       h.assign(h.g.body, "q", "k + 1");
       h.assign(h.g.body, "k", "3");
     },
     "symbol-scope: assignment of 'q' uses assigned symbol 'k', which has no value there (assign it first; what a "
     "map's body assigns is the body's own)"},
    {"13", "a symbol that does not exist",
     [](Hand& h) {
       h.bind("q", BinderKind::kAssigned);
       Assign a;
       a.items.push_back({"q", tasklet::parse_expression("NN + 1")});
       h.append(h.g.body, std::move(a));
     },
     "unknown-symbol: assignment of 'q' uses 'NN', which is no symbol of the graph (did you mean 'N'?)"},
    {"14", "the name of an assigned symbol", [](Hand& h) { h.assign(h.g.body, "k-1", "3"); },
     "name: the symbol name 'k-1' is not an identifier"},
    {"15", "a condition on device memory",
     [](Hand& h) {
       h.transient("d", "N").storage = Storage::kGpuGlobal;
       h.while_loop(h.g.body, "d[0] > 1.0");
     },
     "storage-access: while loop reads 'd' in GpuGlobal storage on the host "
     "(expressions and slices of whole arrays are host code; write the elements in a map with the Device schedule, as "
     "in g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the host)"},
    {"17", "a container as the target of an assignment",
     [](Hand& h) {
       Assign a;
       a.items.push_back({"x", h.code("4")});
       h.append(h.g.body, std::move(a));
     },
     "assign-target: container 'x' is the target of a symbol assignment (write it in a state)"},
    {"19", "a cycle in a state",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       const Id a = h.access(s, "x"), b = h.access(s, "x");
       h.edge(s, a, b);
       h.edge(s, b, a);
     },
     "cycle: the edges of a state form a cycle through 2 of its nodes"},
    {"21", "an isolated access", [](Hand& h) { h.access(h.state(h.g.body), "x"); },
     "isolated-node: access of 'x' has no memlets"},
    {"23", "an access of nothing",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       h.copy(s, h.access(s, "xx"), "0:N", h.access(s, "x"), "0:N");
     },
     "unknown-container: access of 'xx' uses 'xx', which is no container of the graph (did you mean 'x'?)"},
    {"24", "a view of nothing", [](Hand& h) { h.view("v", "N", "x", "0:N").viewed.clear(); },
     "view-target: view 'v' shows no container"},
    {"25", "a reference that is never set",
     [](Hand& h) {
       h.transient("r", "N").kind = ContainerKind::kReference;
       h.compute(h.g.body, "o = 1.0", {}, {"o", "r", "0"});
     },
     "reference-unset: reference 'r' is used but never set"},
    {"28", "a consume scope over no stream",
     [](Hand& h) {
       h.bind("p", BinderKind::kMapParameter);
       Container e = Hand::describe("e", ScalarType::kFloat64, "");
       e.transient = true;
       h.g.containers.insert(std::move(e));
       Consume c;
       c.stream = "x";
       c.element = "e";
       c.worker = "p";
       h.append(h.g.body, std::move(c));
     },
     "stream-use: consume of 'x' pops from array 'x', which is no stream"},
    {"29", "a connector that is input and output",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       const Id t = h.tasklet(s, "f", {"p"}, {"p"}, "p = p");
       h.read(s, h.access(s, "x"), "0", t, "p");
       h.write(s, t, "p", h.access(s, "s"), "0");
     },
     "connector-clash: connector 'p' of tasklet 'f' is both an input and an output"},
    {"30", "a connector named like a symbol",
     [](Hand& h) { h.compute(h.g.body, "o = N", {{"N", "x", "0"}}, {"o", "s", "0"}); },
     "connector-clash: connector 'N' of tasklet 't' is also a symbol"},
    {"30", "a connector named like a constant",
     [](Hand& h) {
       h.transient("c", "").constant = std::vector<std::uint8_t>(8);
       h.compute(h.g.body, "o = c", {{"c", "x", "0"}}, {"o", "s", "0"});
     },
     "connector-clash: connector 'c' of tasklet 't' is also a constant"},
    {"31", "a dangling connector",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       const Id t = h.tasklet(s, "f", {"p"}, {"o"}, "o = p");
       h.write(s, t, "o", h.access(s, "s"), "0");
     },
     "connector-dangling: input connector 'p' of tasklet 'f' has no memlet"},
    {"31", "two memlets into one connector",
     [](Hand& h) {
       State& s = h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"});
       h.read(s, s.nodes[1].id, "1", s.nodes[0].id, "p");
     },
     "connector-duplicate: input connector 'p' of tasklet 't' has two memlets"},
    {"31", "two memlets out of one connector",
     [](Hand& h) {
       State& s = h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"});
       h.write(s, s.nodes[0].id, "o", h.access(s, "x"), "1");
     },
     "connector-duplicate: output connector 'o' of tasklet 't' has two memlets"},
    {"32", "a memlet to no connector",
     [](Hand& h) {
       State& s = h.compute(h.g.body, "o = 1.0", {}, {"o", "s", "0"});
       h.read(s, h.access(s, "x"), "1", s.nodes[0].id, "q");
     },
     "connector-missing: memlet from access of 'x' to tasklet 't' uses input connector 'q', which tasklet 't' does not "
     "have"},
    {"34", "a copy of a negative extent",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       h.copy(s, h.access(s, "x"), "3:1", h.access(s, "x"), "3:1");
     },
     "copy-volume: the copy of x[3:1] to x[3:1] has the negative extent -2"},
    {"37", "host code that reads device memory",
     [](Hand& h) {
       h.transient("d", "N").storage = Storage::kGpuGlobal;
       h.compute(h.g.body, "o = p", {{"p", "d", "0"}}, {"o", "s", "0"});
     },
     "storage-access: memlet from access of 'd' to tasklet 't' reads 'd' in GpuGlobal storage on the host "
     "(expressions and slices of whole arrays are host code; write the elements in a map with the Device schedule, as "
     "in g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the host)"},
    {"37", "a kernel that reads host memory",
     [](Hand& h) {
       h.transient("c", "N").storage = Storage::kHeap;
       h.transient("d", "N").storage = Storage::kGpuGlobal;
       Map& m = h.map(h.g.body, {{"i", "0:N"}});
       m.schedule = Schedule::kDevice;
       h.compute(m.body, "o = p", {{"p", "c", "i"}}, {"o", "d", "i"});
     },
     "storage-access: memlet from access of 'c' to tasklet 't' reads 'c' in Heap storage in the kernel of map 'i' "
     "(copy it to a container that both can reach)"},
    {"38", "a connector without a subset",
     [](Hand& h) { h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0"}).edges[0].src_subset.reset(); },
     "memlet-shape: memlet from access of 'x' to tasklet 't' has no subset of 'x'"},
    {"39", "a subset of another rank, read",
     [](Hand& h) { h.compute(h.g.body, "o = p", {{"p", "A", "0"}}, {"o", "s", "0"}); },
     "subset-rank: A[0] has 1 dimension, but 'A' has rank 2"},
    {"39", "a subset of another rank, written",
     [](Hand& h) { h.compute(h.g.body, "o = p", {{"p", "x", "0"}}, {"o", "s", "0, 0"}); },
     "subset-rank: s[0, 0] has 2 dimensions, but 's' has rank 1"},
    {"40", "a read beyond the end",
     [](Hand& h) {
       Map& m = h.map(h.g.body, {{"i", "0:N"}});
       h.compute(m.body, "o = p", {{"p", "x", "i + 1"}}, {"o", "A", "i, 0"});
     },
     "subset-bounds: map 'i' reads x[i + 1] for i up to N - 1, outside x's extent N in dimension 0"},
    {"40", "a write before the beginning", [](Hand& h) { h.compute(h.g.body, "o = 1.0", {}, {"o", "x", "-1"}); },
     "subset-bounds: state writes x[-1], before x's first element in dimension 0"},
    {"40", "an offset that shifts a subset out",
     [](Hand& h) {
       h.argument("f", "8").layout = Layout::strided({8}, {1}, Expr(8), {-1});
       h.compute(h.g.body, "o = 1.0", {}, {"o", "f", "0"});
     },
     "subset-bounds: state writes f[0], before f's first element in dimension 0"},
    {"43", "a copy of unequal counts",
     [](Hand& h) {
       h.transient("a", "8");
       State& s = h.state(h.g.body);
       h.copy(s, h.access(s, "a"), "0:6", h.access(s, "a"), "0:5");
     },
     "copy-volume: the copy of a[0:6] to a[0:5] moves 6 elements into 5"},
    {"44", "iterations that write one element",
     [](Hand& h) {
       Map& m = h.map(h.g.body, {{"i", "0:N"}});
       h.compute(m.body, "o = p", {{"p", "x", "i"}}, {"o", "s", "0"});
     },
     "write-conflict: iterations of map 'i' that differ in i write the same elements s[0] without a WCR (accumulate "
     "(+= in the builder), or declare s inside the map)"},
    {"45", "a map without parameters", [](Hand& h) { h.append(h.g.body, Map{}); },
     "map-parameters: a map has no parameters"},
    {"45", "more ranges than parameters",
     [](Hand& h) { h.map(h.g.body, {{"i", "0:N"}}).ranges.push_back(Range::index(0)); },
     "map-parameters: map 'i' has 1 parameters and 2 ranges"},
    {"45", "a step that is not positive", [](Hand& h) { h.map(h.g.body, {{"i", "0:N:-1"}}); },
     "map-step: the step -1 of 'i' in map 'i' is not positive"},
    {"46", "the name of a connector",
     [](Hand& h) { h.compute(h.g.body, "o = 1.0", {{"p q", "x", "0"}}, {"o", "s", "0"}); },
     "name: connector 'p q' of tasklet 't' is not an identifier"},
    {"46", "subscripts of another rank than the memlet's",
     [](Hand& h) { h.compute(h.g.body, "o = p[0]", {{"p", "A", "0:N, 0:M"}}, {"o", "s", "0"}); },
     "access-shape: tasklet 't' indexes 'p' with 1 index, but its memlet has 2 dimensions longer than one"},
    {"48", "a library node without an operand",
     [](Hand& h) {
       State& s = h.state(h.g.body);
       const Id n = h.library(s, Dot{}, {"_x"}, {"_result"});
       h.read(s, h.access(s, "x"), "0:N", n, "_x");
       h.write(s, n, "_result", h.access(s, "s"), "0");
     },
     "connector-missing: "},
    {"48", "operands of a library node that don't fit",
     [](Hand& h) {
       h.transient("short", "3");
       h.transient("long", "4");
       State& s = h.state(h.g.body);
       const Id n = h.library(s, Dot{}, {"_x", "_y"}, {"_result"});
       h.read(s, h.access(s, "short"), "0:3", n, "_x");
       h.read(s, h.access(s, "long"), "0:4", n, "_y");
       h.write(s, n, "_result", h.access(s, "s"), "0");
     },
     "library-shape: "},
};

}  // namespace

TEST_CASE("each of DaCe's rules that has a meaning here finds what breaks it") {
  for (const Entry& e : kEntries) {
    INFO("rule 3." << e.rule << ": " << e.what);
    Hand sound = usual();
    REQUIRE(problems_of(sound.g).empty());
    Hand h = usual();
    e.build(h);
    const std::string found = problems_of(h.g);
    CHECK(found.substr(0, std::string(e.problem).size()) == e.problem);
  }
}

}  // namespace test_dace_rules
