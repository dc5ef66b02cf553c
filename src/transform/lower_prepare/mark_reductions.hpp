// Finds elements that a whole map accumulates into, so that each thread (or a register) keeps a partial result.
#pragma once

#include "ir/graph.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::transform {

// A map reduces an element when every access of its container in the map is an accumulation into that one element by
// one built-in operator, and nothing about the element's place changes inside the map. Outermost maps are asked first.
bool mark_reductions(ir::Graph& g, const PrepareOptions& options);

}  // namespace sdfg::transform
