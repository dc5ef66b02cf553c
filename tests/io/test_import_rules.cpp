// The validation rules of DaCe that only files can break, because graphs of ours have no scope nodes, memlet paths or
// nested graphs: one file for each. The others are tested on graphs (tests/ir/test_dace_rules.cpp).
#include <catch2/catch.hpp>
#include <functional>

#include "dace_text.hpp"

namespace test_import_rules {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;

namespace {

dace::Graph usual() {
  dace::Graph g("g");
  g.array("A", "float64", "N");
  g.array("B", "float64", "N");
  g.symbol("N");
  return g;
}

// A nested graph that copies p to q.
dace::Graph copy_of(const char* extent = "N") {
  dace::Graph g("inner");
  g.array("p", "float64", extent);
  g.array("q", "float64", extent);
  g.symbol("N");
  dace::State s;
  const int p = s.access("p");
  s.edge(p, "", s.access("q"), "", std::string("p[0:") + extent + "]");
  g.body.state(s);
  return g;
}

// A tasklet in a map, with these names.
Json with_names(const std::string& array, const std::string& connector, const std::string& parameter) {
  dace::Graph g("g");
  g.array(array, "float64", "N");
  g.symbol("N");
  dace::State s;
  const auto scope = s.map(parameter, "0:N");
  const int t = s.tasklet(connector + " = 1");
  s.edge(scope.first, "", t, "", "");
  s.write_out(scope, t, connector, array + "[" + parameter + "]", array + "[0:N]");
  g.body.state(s);
  return g.json();
}

std::string complaint(const Json& file) {
  try {
    const ir::Graph g = io::load_bytes(file.dump()).graph;
    const auto problems = ir::validate(g);
    return problems.empty() ? std::string() : std::string(to_string(problems[0].rule)) + ": " + problems[0].message;
  } catch (const Error& e) {
    return e.message();
  }
}

struct Entry {
  const char* rule;  // number in section 3 of the reference
  const char* what;
  std::function<Json()> file;
  const char* complaint;
};

const Entry kEntries[] = {
    {"11", "two blocks without predecessors and no start",
     [] {
       dace::Graph g = usual();
       g.body.state({});
       g.body.state({});
       Json j = g.json();
       j.erase("start_block");
       return j;
     },
     "it is not clear where the region starts: blocks 0 and 1 have no predecessor (at $)"},
    {"16", "an edge that reads what it assigns",
     [] {
       dace::Graph g = usual();
       g.body.next(g.body.state({}), g.body.state({}), "", {{"a", "1"}, {"b", "a + 1"}});
       return g.json();
     },
     "the assignment of 'b' reads 'a', which the same edge assigns (at $.edges[0])"},
    {"22", "an entry without an exit",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const auto m = s.map("i", "0:N");
       s.attributes(m.first);
       Json state = s.json("s");
       state["nodes"].erase(1);
       g.body.block(state);
       return g.json();
     },
     "scope node 'm' has no counterpart (at $.nodes[0].nodes[0])"},
    {"22", "a connector of a scope node without its other half",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const auto m = s.map("i", "0:N");
       const int t = s.tasklet("o = a");
       s.edge(s.access("A"), "", m.first, "IN_A", "A[0:N]");
       s.edge(m.first, "OUT_B", t, "a", "A[i]");
       s.write_out(m, t, "o", "B[i]");
       g.body.state(s);
       return g.json();
     },
     "connector 'OUT_B' of scope node 'm' has no incoming counterpart (at $.nodes[0].edges[1])"},
    {"24", "a view whose edges don't tell what it shows",
     [] {
       dace::Graph g = usual();
       g.descriptor("v", "ArrayView", {{"dtype", "float64"}, {"shape", {"N"}}, {"transient", true}});
       dace::State s;
       const int a = s.access("A"), b = s.access("B"), v = s.access("v");
       s.edge(a, "", v, "", "A[0:N]");
       s.edge(b, "", v, "", "B[0:N]");
       g.body.state(s);
       return g.json();
     },
     "it is not clear what view 'v' shows (at $.nodes[0].nodes[2])"},
    {"27", "a container of a nested graph that is not passed",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(copy_of(), {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       g.body.state(s);
       return g.json();
     },
     "container 'q' is accessed but was not passed to its nested graph (at "
     "$.nodes[0].nodes[0].attributes.sdfg.nodes[0].nodes[1])"},
    {"27", "an input of a nested graph that it writes",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(copy_of(), {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       s.read("B[0:N]", n, "q");
       g.body.state(s);
       return g.json();
     },
     "nested graph 'inner' writes 'q', which is only an input of it (at $.nodes[0].nodes[0])"},
    {"28", "a consume scope without a stream",
     [] {
       dace::Graph g = usual();
       dace::State s;
       s.consume("p", "4");
       g.body.state(s);
       return g.json();
     },
     "consume scope 'c' has no stream (at $.nodes[0].nodes[0])"},
    {"33", "a memlet of a container that does not exist",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int t = s.tasklet("o = a");
       s.edge(s.access("A"), "", t, "a", "C[0]");
       s.write(t, "o", "B[0]");
       g.body.state(s);
       return g.json();
     },
     "a memlet names 'C', which is no container (at $.nodes[0].edges[0])"},
    {"35", "a nested graph connected to a tasklet",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(copy_of("1")), t = s.tasklet("o = a");
       s.read("A[0]", n, "p");
       s.edge(n, "q", t, "a", "B[0]");
       s.write(t, "o", "B[0]");
       g.body.state(s);
       return g.json();
     },
     "connector 'q' of nested graph 'inner' is connected to node 't', which holds no data (at $.nodes[0].nodes[0])"},
    {"36", "a memlet of a third container",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int t = s.tasklet("o = a");
       s.edge(s.access("A"), "", t, "a", "B[0]");
       s.write(t, "o", "B[0]");
       g.body.state(s);
       return g.json();
     },
     "a memlet moves 'B', which is at neither end of its path (at $.nodes[0].edges[0])"},
    {"36", "a copy of a third container",
     [] {
       dace::Graph g = usual();
       g.transient("t", "float64", "N");
       dace::State s;
       const int a = s.access("A");
       s.edge(a, "", s.access("B"), "", "t[0:N]");
       g.body.state(s);
       return g.json();
     },
     "a memlet moves 't', which is at neither end of its path (at $.nodes[0].edges[0])"},
    {"42", "a way into a scope past its entry",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const auto m = s.map("i", "0:N");
       const int t = s.tasklet("o = a + b");
       s.read_in(m, "A[i]", t, "a");
       s.read("A[0]", t, "b");
       s.write_out(m, t, "o", "B[i]");
       g.body.state(s);
       return g.json();
     },
     "edges into node 't' come from different scopes; only scope nodes are a way in or out (at $.nodes[0].edges[2])"},
    {"42", "a way out of a scope past its exit",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const auto m = s.map("i", "0:N");
       const int t = s.tasklet("o = a");
       s.read_in(m, "A[i]", t, "a");
       s.write_out(m, t, "o", "B[i]");
       const int b = s.access("B");
       s.edge(t, "o", b, "", "B[i]");
       s.edge(s.access("A"), "", b, "", "A[0] -> 0");
       g.body.state(s);
       return g.json();
     },
     "edges into node '' come from different scopes; only scope nodes are a way in or out (at $.nodes[0].edges[5])"},
    {"47", "a connector that names nothing inside",
     [] {
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(copy_of(), {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       s.read("A[0:N]", n, "r");
       s.write(n, "q", "B[0:N]");
       g.body.state(s);
       return g.json();
     },
     "nested graph 'inner' has no container for its connector 'r' (at $.nodes[0].nodes[0])"},
    {"47", "a connector that names a transient",
     [] {
       dace::Graph inner = copy_of();
       inner.transient("t", "float64", "N");
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(inner, {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       s.read("A[0:N]", n, "t");
       s.write(n, "q", "B[0:N]");
       g.body.state(s);
       return g.json();
     },
     "connector 't' of nested graph 'inner' names a transient of it (at $.nodes[0].nodes[0])"},
    {"47", "a connector that comes in from one container and leaves to another",
     [] {
       dace::Graph g = usual();
       g.array("C", "float64", "N");
       dace::State s;
       const int n = s.nested(copy_of(), {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       s.read("C[0:N]", n, "q");
       s.write(n, "q", "B[0:N]");
       g.body.state(s);
       return g.json();
     },
     "connector 'q' of nested graph 'inner' is 'C' on the way in and 'B' on the way out (at $.nodes[0].nodes[0])"},
    {"47", "a symbol of a nested graph that has no value",
     [] {
       dace::Graph inner = copy_of("K");
       inner.symbol("K");
       dace::Graph g = usual();
       dace::State s;
       const int n = s.nested(inner, {{"N", "N"}});
       s.read("A[0:N]", n, "p");
       s.write(n, "q", "B[0:N]");
       g.body.state(s);
       return g.json();
     },
     "nested graph 'inner' needs a value for its symbol 'K' (at $.nodes[0].nodes[0])"},
};

}  // namespace

TEST_CASE("each of DaCe's rules that only files can break finds what breaks it") {
  for (const Entry& e : kEntries) {
    INFO("rule 3." << e.rule << ": " << e.what);
    CHECK(complaint(e.file()) == e.complaint);
  }
}

TEST_CASE("words that expressions read as constants are no names in files either") {
  CHECK(complaint(with_names("A", "o", "i")).empty());
  for (const std::string word : {"nan", "NaN", "inf", "oo", "zoo", "true", "false", "nullptr"}) {
    CAPTURE(word);
    const std::string start = "'" + word + "' is no name";
    CHECK(complaint(with_names(word, "o", "i")).starts_with(start));
    // As an index some of these are refused as what they are, and some can't be assigned to in the first place.
    CHECK_FALSE(complaint(with_names("A", "o", word)).empty());
    CHECK_FALSE(complaint(with_names("A", word, "i")).empty());

    dace::Graph symbol = usual();
    symbol.symbol(word);
    symbol.body.state({});
    CHECK(complaint(symbol.json()).starts_with(start));

    dace::Graph inner("inner");
    inner.array("p", "float64", "3");
    inner.symbol(word);
    inner.body.state({});
    dace::Graph outer = usual();
    dace::State s;
    s.read("A[0:3]", s.nested(inner, {{word, "N"}}), "p");
    outer.body.state(s);
    CHECK(complaint(outer.json()).starts_with(start));

    dace::Graph loop = usual();
    dace::Region body;
    body.state({});
    loop.body.loop(word, word + " = 0", "N > 3", word + " = 1", body);
    CHECK_FALSE(complaint(loop.json()).empty());
  }
}

}  // namespace test_import_rules
