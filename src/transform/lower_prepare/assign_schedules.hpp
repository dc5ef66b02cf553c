// Decides which maps use threads: outermost maps with enough work, never one inside another.
#pragma once

#include "ir/graph.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::transform {

bool assign_schedules(ir::Graph& g, const PrepareOptions& options);

}  // namespace sdfg::transform
