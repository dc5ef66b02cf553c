// The passes between an optimised graph and code for a host and its device, in their order.
#pragma once

#include "ir/graph.hpp"
#include "transform/gpu/options.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::transform {

// Does any map of the graph run on a device?
bool uses_device(const ir::Graph& g);

// As prepare_for_cpu, for graphs with device maps: kernels, copies, streams and waits are decided, too. Throws
// Error(kGraph) for a kernel that reaches memory of the host.
void prepare_for_device(ir::Graph& g, const PrepareOptions& host, const DeviceOptions& device);

}  // namespace sdfg::transform
