// Puts barriers between the phases of a kernel that pass data through memory of the block.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Two phases (thread-block maps, or work of the whole block) need a barrier between them when one writes what the other
// touches, in either order, also around the back edge of a loop. Barriers stand between elements of the block's level,
// where all threads come by: never inside thread-block maps.
bool insert_barriers(ir::Graph& g);

}  // namespace sdfg::transform
