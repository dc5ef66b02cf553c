// Gives every device map the size of its blocks, and reductions a cap of their number.
#pragma once

#include "ir/graph.hpp"
#include "transform/gpu/options.hpp"

namespace sdfg::transform {

// A size set by hand stays (thread-block maps larger than it go over it in strides). Otherwise: the largest extents of
// the thread-block maps inside where they are constants, else the default, its axes beyond the map's rank put into x.
// Throws Error(kGraph) for more than 1,024 threads, or a z of more than 64.
bool decide_blocks(ir::Graph& g, const DeviceOptions& options);

}  // namespace sdfg::transform
