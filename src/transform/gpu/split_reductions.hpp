// Takes the dimensions that an accumulation sums over out of a device map: one sum per block or thread instead of an
// atomic operation per point.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Where all accesses of a container in the map accumulate into one element per point of some dimensions (at least one),
// the other dimensions become a map inside: of thread blocks when neighbours in memory lie along them, else a loop of
// each thread. Sums over all dimensions stay (mark_reductions finds them).
bool split_reductions(ir::Graph& g);

}  // namespace sdfg::transform
