// Graphs, states, names, layouts, walking.
#include <catch2/catch.hpp>

#include "graphs.hpp"
#include "ir/print.hpp"

namespace test_graph {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;

namespace {

const Expr N = Expr::symbol("N");
const Expr M = Expr::symbol("M");
const Expr i = Expr::symbol("i");
const Expr j = Expr::symbol("j");

}  // namespace

TEST_CASE("a packed layout has C strides and the product of its extents as size") {
  const Layout layout = Layout::packed({7, N, 3});
  CHECK(layout.strides() == Extents{N * 3, 3, 1});
  CHECK(layout.total_size() == N * 21);
  CHECK(layout.address(std::vector<Expr>{i, j, 2}) == i * N * 3 + j * 3 + 2);
  CHECK(layout.is_packed());
}

TEST_CASE("a rank 0 layout is one element at address 0") {
  const Layout layout;
  CHECK(layout.rank() == 0);
  CHECK(layout.total_size() == Expr(1));
  CHECK(layout.num_elements() == Expr(1));
  CHECK(layout.address({}) == Expr(0));
  CHECK(layout.is_packed());
  CHECK(layout == Layout::packed({}));
}

TEST_CASE("a column-major layout has unit stride first") {
  const Layout layout = Layout::column_major({N, M, 5});
  CHECK(layout.strides() == Extents{1, N, N * M});
  CHECK_FALSE(layout.is_packed());
  CHECK(Layout::column_major({N}).is_packed());
}

TEST_CASE("a strided layout adds offsets and start, and spans what its strides reach") {
  const Layout layout = Layout::strided({N, 4}, {10, 2}, {}, {1, -1}, 100);
  CHECK(layout.total_size() == (N - 1) * 10 + 7);
  CHECK(layout.address(std::vector<Expr>{i, j}) == (i + 1) * 10 + (j - 1) * 2 + 100);
  CHECK_FALSE(layout.is_packed());
  CHECK(Layout::strided({2, 3}, {3, 1}, Expr(6)).is_packed());
  CHECK_FALSE(Layout::strided({2, 3}, {3, 1}, Expr(8)).is_packed());
}

TEST_CASE("a layout with too few strides is refused") {
  CHECK_THROWS_WITH(Layout::strided({N, M}, {1}), "graph error: a layout with 2 extents has 1 strides");
  CHECK_THROWS_WITH(Layout::strided({N, M}, {M, 1}, {}, {0}), "graph error: a layout with 2 extents has 1 offsets");
}

TEST_CASE("substitution reaches every part of a layout") {
  const Layout layout = Layout::strided({N}, {M}, N * M, {N}, M);
  CHECK(layout.free_symbols() == symbolic::SymbolSet{"M", "N"});
  const Layout five = layout.substituted({{"N", 5}, {"M", 2}});
  CHECK(five == Layout::strided({5}, {2}, Expr(10), {5}, 2));
}

TEST_CASE("unique names number from the stem and are plain identifiers") {
  test::Hand h("g");
  CHECK(h.g.unique_name("i") == "i");
  h.symbol("i");
  CHECK(h.g.unique_name("i") == "i_1");
  h.argument("i_1", "");
  CHECK(h.g.unique_name("i") == "i_2");
  CHECK(h.g.unique_name("i_1") == "i_2");
  CHECK(h.g.unique_name("2 x-y") == "_2_x_y");
  CHECK(h.g.unique_name("") == "v");
  CHECK(h.g.unique_name("if") == "if_");
  CHECK_FALSE(is_identifier("and"));
  for (const char* word : {"nan", "inf", "true", "false", "nullptr", "oo", "zoo", "NaN"}) {
    CHECK_FALSE(is_identifier(word));
    CHECK(h.g.unique_name(word) == std::string(word) + "_");
  }
  CHECK_FALSE(is_identifier("a.b"));
  CHECK(is_identifier("_x1"));
}

TEST_CASE("unique names stay quick among thousands of the same wish") {
  Graph g("g");
  for (int k = 0; k < 3000; ++k) {
    Symbol s;
    s.name = g.unique_name("i");
    g.symbols.insert(std::move(s));
  }
  CHECK(g.symbols.size() == 3000);
  CHECK(g.symbols.contains("i_2999"));
}

TEST_CASE("a state orders its nodes topologically, ties by insertion") {
  test::Hand h("g");
  State& s = h.state(h.g.body);
  const Id a = h.access(s, "A");
  const Id b = h.access(s, "B");
  const Id c = h.access(s, "C");
  h.edge(s, c, a);
  CHECK(s.topological_order() == std::vector<Id>{b, c, a});
  CHECK(s.in_edges(a).size() == 1);
  CHECK(s.out_edges(c).front()->dst == a);
  h.edge(s, a, c);
  CHECK_THROWS_WITH(s.topological_order(), "graph error: the edges of a state form a cycle through 2 of its nodes");
}

TEST_CASE("paths and places lead from an id to its enclosing elements") {
  const Graph g = test::jacobi_2d();
  const Element& loop = *g.body.items.front();
  const Element& map = *std::get<For>(loop.kind).body.items.back();
  const Element& state = *std::get<Map>(map.kind).body.items.front();
  const Memlet& m = std::get<State>(state.kind).edges.front();
  CHECK(path_to(g, m.id) == std::vector<const Element*>{&loop, &map, &state});
  CHECK(find_element(g, map.id) == &map);
  CHECK(find_element(g, m.id) == nullptr);
  CHECK(path_to(g, 9999).empty());
  const std::vector<Error::Place> places = places_of(g, m.id);
  REQUIRE(places.size() == 4);
  CHECK(places[0].what == "memlet from access of 'B' to tasklet 't'");
  CHECK(places[0].location == m.location);
  CHECK(places[1].what == "in state");
  CHECK(places[2].what == "in map 'i_1, j_1'");
  CHECK(places[3].what == "in loop 't'");
  CHECK(places_of(g, map.id)[0].what == "map 'i_1, j_1'");
}

TEST_CASE("places use the labels of renamed symbols") {
  Graph g = test::jacobi_2d();
  g.symbols.at("i_1").label = "i";
  g.symbols.at("j_1").label = "j";
  const Element& map = *std::get<For>(g.body.items.front()->kind).body.items.back();
  CHECK(describe(g, map) == "map 'i, j'");
}

TEST_CASE("walking is pre-order and tells the ancestors") {
  const Graph g = test::jacobi_2d();
  std::vector<std::size_t> depths;
  walk(g.body, [&](const Element&, const Ancestors& above) { depths.push_back(above.size()); });
  CHECK(depths == std::vector<std::size_t>{0, 1, 2, 1, 2});
}

TEST_CASE("the text form of axpy") {
  CHECK(to_text(test::axpy()) == R"(graph axpy(x, y, a, N)
  container x: array float64[N]
  container y: array float64[N]
  container a: scalar float64
  symbol N: int64 parameter
  symbol i: int64 map parameter
  #1 map i=0:N
    #2 state
      #3 tasklet 't' (s, p, q) -> (o):
        o = ((s * p) + q)
      #4 access a
      #6 access x
      #8 access y
      #10 access y
      #5 #4 a -> #3.s
      #7 #6 x[i] -> #3.p
      #9 #8 y[i] -> #3.q
      #11 #3.o -> #10 y[i]
)");
}

}  // namespace test_graph
