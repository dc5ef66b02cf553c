// Puts the dimension along which neighbours in memory lie last in device maps: threads of a warp then touch one line.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Only where the ranges of a map don't use each other, no block size was set by hand, and more accesses have unit
// stride in the other dimension than in the last one.
bool order_dimensions(ir::Graph& g);

}  // namespace sdfg::transform
