// What the tests of validation share: problems as text, and a graph with the usual containers.
#pragma once

#include <string>

#include "graphs.hpp"
#include "ir/validate.hpp"

namespace sdfg::test {

// "rule: message (hint)" of every problem, one per line.
inline std::string problems_of(const ir::Graph& g) {
  std::string text;
  for (const ir::Problem& p : ir::validate(g)) {
    text += std::string(to_string(p.rule)) + ": " + p.message;
    if (!p.hint.empty()) text += " (" + p.hint + ")";
    text += '\n';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// A[N, M], B[N, M], x[N], s[1], N, M.
inline Hand usual() {
  Hand h("g");
  h.argument("A", "N, M");
  h.argument("B", "N, M");
  h.argument("x", "N");
  h.argument("s", "1");
  h.symbol("N");
  h.symbol("M");
  return h;
}

}  // namespace sdfg::test
