// Makes device schedules regular: one kernel at a host level, sequential or thread-block maps inside, no host code that
// touches device memory.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Thread-block and warp maps outside of kernels become kernels, undecided maps that touch device memory, too. A device
// map that is all there is in another one joins it; any other one inside a kernel runs sequentially there. Tasklets of
// the host that touch device memory become kernels of one point; so do accumulating or converting copies within it, and
// copies that no copy engine can do, element by element. States that mix work of host and device are taken apart.
bool normalise_schedules(ir::Graph& g);

}  // namespace sdfg::transform
