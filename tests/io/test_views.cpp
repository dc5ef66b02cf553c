// Graphs to look at: Graphviz text and the self-contained HTML file.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "dace_text.hpp"
#include "io/views.hpp"

namespace test_views {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;

namespace {

// A map with a place in the user's program, a loop, a branch and an assignment with signs that need escapes.
ir::Graph sample() {
  dace::Graph g("sample");
  g.array("A", "float64", "N");
  g.array("B", "float64", "N");
  g.symbol("N");
  dace::State s;
  const auto m =
      s.map("i", "0:N", {{"debuginfo", {{"type", "DebugInfo"}, {"filename", "a<b>.py"}, {"start_line", 7}}}});
  const int t = s.tasklet("o = a if a < 2 and a > 1 else 0");
  s.read_in(m, "A[i]", t, "a");
  s.write_out(m, t, "o", "B[i]");
  dace::Region body, branch;
  branch.state(s);
  body.conditional({{"k < 3 and N > 5", branch}});
  const int loop = g.body.loop("k", "k = 0", "k < N", "k = k + 1", body);
  g.body.next(loop, g.body.state(s), "", {{"q", "N * 2"}});
  return io::load_bytes(g.text()).graph;
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the HTML view is one file with a balanced tree, places and nothing from outside") {
  const std::string html = io::to_html(sample());
  INFO(html);
  CHECK(html.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(count(html, "<details") == count(html, "</details>"));
  CHECK(count(html, "<details") > 5);
  CHECK(count(html, "<summary>") == count(html, "<details"));
  for (const char* outside : {"http:", "https:", "src=", "href=", "<script", "@import", "url("})
    CHECK(html.find(outside) == std::string::npos);
  CHECK(html.find("a&lt;b&gt;.py:7") != std::string::npos);
  CHECK(html.find("a<b>") == std::string::npos);
  CHECK(html.find("B[i") != std::string::npos);
  CHECK(io::to_html(sample()) == html);
}

TEST_CASE("the Graphviz text has a cluster for each element and an edge for each memlet") {
  const ir::Graph g = sample();
  const std::string dot = io::to_graphviz(g);
  INFO(dot);
  int clusters = 0, leaves = 0, memlets = 0, nodes = 0, order = 0;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    const auto children = ir::child_sequences(e);
    (s == nullptr && children.empty() ? leaves : clusters) += 1;
    if (s != nullptr) {
      nodes += static_cast<int>(s->nodes.size());
      memlets += static_cast<int>(s->edges.size());
    }
    for (const ir::Sequence* c : children) order += std::max(static_cast<int>(c->items.size()) - 1, 0);
    if (std::holds_alternative<ir::If>(e.kind)) clusters += static_cast<int>(children.size());
  });
  order += static_cast<int>(g.body.items.size()) - 1;
  CHECK(count(dot, "subgraph cluster_") == clusters);
  CHECK(count(dot, "shape=note") == leaves);
  CHECK(count(dot, "tooltip=\"#") == clusters + leaves + nodes - 1);  // a branch has none
  CHECK(count(dot, " -> n") == memlets);
  CHECK(count(dot, "style=bold") == order);
  CHECK(count(dot, "{") == count(dot, "}"));
  CHECK(io::to_graphviz(sample()) == dot);
}

TEST_CASE("graphviz itself takes the text, where it is installed") {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) {
    WARN("NOTICE: dot is not installed; the syntax was not checked");
    return;
  }
  const std::string path = "/tmp/sdfg_views_" + std::to_string(std::rand()) + ".dot";
  std::ofstream(path) << io::to_graphviz(sample());
  CHECK(std::system(("dot -Tsvg " + path + " > /dev/null").c_str()) == 0);
  std::remove(path.c_str());
}

}  // namespace test_views
