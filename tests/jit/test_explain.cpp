// What explain() says about the maps of a graph that runs on the host.
#include <catch2/catch.hpp>
#include <cstdint>
#include <sdfg/jit.hpp>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "scale.hpp"

namespace test_explain {

using namespace sdfg;
using test::plain;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    // Without the place: its line changes with this file.
    const std::size_t open = line.find(" ("), close = line.find("):");
    REQUIRE(open != std::string::npos);
    CHECK(line.find("test_explain.cpp:", open) < close);
    out.push_back(line.erase(open, close + 1 - open));
    at = end + 1;
  }
  return out;
}

Builder program(const char* inner) {
  Builder g("explained");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto s = g.array<double>("s");
  g.map({"i", 0, N}, [&](auto i) { g.map({inner, 0, N}, [&](auto j) { A(i, j) = 2.0 * A(i, j); }); });
  g.map({"k", 0, 3}, [&](auto k) { A(k, 0) = 1.0; });
  g.map({"l", 0, N}, [&](auto l) { A(l, 0) = A(l, 1); }, {.schedule = Schedule::kSequential});
  g.map({"m", 0, N}, {"n", 0, N}, [&](auto m, auto n) { s += A(m, n); }, {.schedule = Schedule::kParallel});
  return g;
}

}  // namespace

TEST_CASE("a line for each map: where it is, whether it is parallel, and why") {
  const std::vector<std::string> expected = {
      "map 'i': parallel",
      "map 'j': sequential, inside a parallel map, vectorised",
      "map 'k': sequential, with too little work to share among threads, vectorised",
      "map 'l': sequential, as its schedule asks, vectorised",
      "map 'm, n': parallel, as its schedule asks, vectorised, sum by partial results",
  };
  CHECK(lines(compile(program("j"), plain()).explain()) == expected);
  CHECK(lines(compile(program("j"), plain()).explain()) == expected);
}

TEST_CASE("an equal graph sees its own names, also when its program comes from disk") {
  const test::Folder folder;
  Options o;
  o.cache_dir = folder.str();
  CHECK(lines(compile(program("j"), o).explain())[1].substr(0, 8) == "map 'j':");
  clear_memory_cache();
  const AnyFunction f = compile(program("other"), o);
  CHECK(f.stats().origin != CompileStats::Origin::kCompiled);
  CHECK(lines(f.explain())[1].substr(0, 12) == "map 'other':");
  CHECK(lines(f.explain()).size() == 5);
}

}  // namespace test_explain
