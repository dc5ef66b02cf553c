// Decides which accumulations of kernels need atomic operations.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Plain where no two points of a device, thread-block or warp map around meet in an element, atomic elsewhere. What a
// reduction of the map covers is decided already.
bool decide_device_wcr(ir::Graph& g);

}  // namespace sdfg::transform
