// Turns kernels into maps of the host: the same results on a machine without a device.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Device maps become undecided maps (threads take them where that pays), thread-block and warp maps run in order;
// memory of the device, shared and pinned memory become memory of the host. Registers of a block that hold a value per
// thread get one element per thread.
bool to_host(ir::Graph& g);

}  // namespace sdfg::transform
