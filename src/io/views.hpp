// A graph to look at: Graphviz text, and one HTML file without anything from outside.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace sdfg::io {

// For `dot`: elements are clusters in program order (bold edges), states hold their dataflow. Deterministic; ids are in
// the tooltips.
std::string to_graphviz(const ir::Graph& g);

// The text form of the graph as a collapsible tree, with the user's source location beside every element, node and
// memlet that has one. Needs no script, style sheet, font or picture from elsewhere.
std::string to_html(const ir::Graph& g);

}  // namespace sdfg::io
