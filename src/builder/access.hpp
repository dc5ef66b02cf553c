// The graph inside a builder, for the rooms that compile, view and save it.
#pragma once

#include <sdfg/builder.hpp>

#include "ir/graph.hpp"

namespace sdfg::builder {

// The graph as built so far. Throws Error(kUsage) when a body is still open or an exception left one.
const ir::Graph& graph_of(const Builder& builder);

}  // namespace sdfg::builder
