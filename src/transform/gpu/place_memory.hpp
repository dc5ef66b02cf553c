// Gives every container that kernels use a place that they can reach.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Arrays without a storage that a kernel touches and no control flow of the host reads move to device memory. Scalars
// that a kernel writes do so, too; where the host uses them as well they get a twin there, copied around the kernels
// that write it. True: the graph changed, and host code may now touch device memory (normalise_schedules).
bool place_host_containers(ir::Graph& g);

// Memory declared inside kernels: small arrays and scalars of a thread become registers, small ones of a block shared
// memory, everything else moves out of the kernel, with one slice per point. Throws Error(kGraph) for what has a size
// that is only known inside.
bool place_kernel_memory(ir::Graph& g);

}  // namespace sdfg::transform
