// Rules of states: connectors, memlets, subsets, accumulation, tasklet code and types.
#include <catch2/catch.hpp>

#include "validation.hpp"

namespace test_validate_dataflow {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using test::problems_of;
using test::usual;

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

}  // namespace test_validate_dataflow
