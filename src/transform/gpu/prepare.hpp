// The passes between an optimised graph and code for a host and its device, in their order.
#pragma once

#include "ir/graph.hpp"
#include "transform/gpu/options.hpp"
#include "transform/lower_prepare/options.hpp"
#include "transform/pipeline.hpp"

namespace sdfg::transform {

// Does the graph have kernels, or memory of a device?
bool uses_device(const ir::Graph& g);

// As passes_for_cpu, for graphs that run on a device: kernels, copies, streams and waits are decided, too. They throw
// Error(kGraph) for a kernel that reaches memory of the host. `explanations` gets lines about decisions.
std::vector<Pass> passes_for_device(const PrepareOptions& host, const DeviceOptions& device,
                                    std::vector<std::string>* explanations = nullptr);
void prepare_for_device(ir::Graph& g, const PrepareOptions& host, const DeviceOptions& device,
                        const PassSelection& selection = {}, std::vector<std::string>* explanations = nullptr);

}  // namespace sdfg::transform
