// The README's first example, as a graph.
#include <catch2/catch.hpp>

#include "graph_text.hpp"

namespace test_jacobi {

namespace {

sdfg::Builder jacobi() {
  sdfg::Builder g("jacobi_2d");
  auto N = g.symbol("N"), T = g.symbol("T");
  auto A = g.array<double>("A", {N, N});
  auto B = g.array<double>("B", {N, N});

  g.loop("t", 0, T, [&](auto) {
    g.map({"i", 1, N - 1}, {"j", 1, N - 1},
          [&](auto i, auto j) { B(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j)); });
    g.map({"i", 1, N - 1}, {"j", 1, N - 1},
          [&](auto i, auto j) { A(i, j) = 0.2 * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i - 1, j) + B(i + 1, j)); });
  });
  return g;
}

}  // namespace

TEST_CASE("the README's example becomes two maps in a loop") {
  const sdfg::Builder g = jacobi();
  const std::string text = sdfg::test::elements_of(g);
  INFO(text);
  CHECK(text.starts_with("for t = 0 while (t < T) then (t + 1)\n  map i=1:N - 1, j=1:N - 1\n    state\n"));
  CHECK(sdfg::test::contains(text, "map i_1=1:N - 1, j_1=1:N - 1"));
  CHECK(sdfg::test::contains(text, "out = (0.2 * ((((in0 + in1) + in2) + in3) + in4))"));
  CHECK(sdfg::test::contains(text, "access A A[i, j - 1] -> .in1") == false);
  CHECK(sdfg::test::count(text, "state\n") == 2);
  CHECK(sdfg::test::count(text, "access A\n") == 2);  // five reads share one access node
}

TEST_CASE("parameters are containers first, then symbols, each in order of declaration") {
  sdfg::Builder g = jacobi();
  const std::vector<std::string> expected = {"A", "B", "N", "T"};
  CHECK(sdfg::builder::graph_of(g).parameters == expected);
  g.order({"N", "T", "B", "A"});
  const std::vector<std::string> changed = {"N", "T", "B", "A"};
  CHECK(sdfg::builder::graph_of(g).parameters == changed);
}

TEST_CASE("every element carries the user's line") {
  const sdfg::Builder g = jacobi();
  sdfg::ir::walk(sdfg::builder::graph_of(g).body, [](const sdfg::ir::Element& e, const sdfg::ir::Ancestors&) {
    CHECK(e.location.known());
    CHECK(e.location.str().starts_with("test_jacobi.cpp:"));
  });
}

}  // namespace test_jacobi
