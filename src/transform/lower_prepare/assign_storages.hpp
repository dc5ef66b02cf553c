// Decides where transients live: small arrays of constant size and scalars on the stack, everything else on the heap.
#pragma once

#include "ir/graph.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::transform {

bool assign_storages(ir::Graph& g, const PrepareOptions& options);

}  // namespace sdfg::transform
