// The text of a builder's graph without ids, for comparison with expected lines.
#pragma once

#include <regex>
#include <sdfg/builder.hpp>
#include <string>

#include "builder/access.hpp"
#include "ir/print.hpp"

namespace sdfg::test {

inline std::string elements_of(const Builder& g) {
  const ir::Graph& graph = builder::graph_of(g);
  std::string out;
  for (const auto& element : graph.body.items) out += ir::to_text(graph, *element);
  return std::regex_replace(out, std::regex("#[0-9]+ ?"), "");
}

inline std::string whole_text(const Builder& g) {
  return std::regex_replace(ir::to_text(builder::graph_of(g)), std::regex("#[0-9]+ ?"), "");
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace sdfg::test
