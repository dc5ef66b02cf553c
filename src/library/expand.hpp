// Replaces library nodes by elements of the graph that compute the same.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::library {

struct ExpandOptions {
  int opt_level = 3;      // below 2: loop nests only
  int vector_bytes = 32;  // of the target's widest vectors
};

// Expands every library node; Copy and Fill become memlets and maps as well, but for fills of device memory. Each choice
// adds a line to `reasons`.
// Throws Error(kGraph) for operands whose shapes don't fit, Error(kUsage) naming a node that has no expansion (an
// unknown one of a file).
void expand_library_nodes(ir::Graph& g, const ExpandOptions& options, std::vector<std::string>* reasons = nullptr);

}  // namespace sdfg::library
