// Readable text of a graph, for people, goldens and diffs.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace sdfg::ir {

// Indented text of the whole graph: parameters, containers, symbols, then elements; one line per memlet. Deterministic;
// ids are shown.
std::string to_text(const Graph& g);
std::string to_text(const Graph& g, const Element& e);

}  // namespace sdfg::ir
