// Ordinals that generated code reports, and the elements of a calling graph behind them.
#pragma once

#include <sdfg/error.hpp>
#include <string>
#include <vector>

#include "ir/digest.hpp"

namespace sdfg::jit {

// Indexed by what generated code passes to the runtime: containers first, then elements, nodes and memlets
// (ir::Ordinals).
std::vector<Error::Place> places_of(const ir::Graph& g, const ir::Ordinals& ordinals);

}  // namespace sdfg::jit
