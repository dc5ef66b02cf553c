// The passes between an optimised graph and CPU code, in their order.
#pragma once

#include "ir/graph.hpp"
#include "transform/lower_prepare/options.hpp"
#include "transform/pipeline.hpp"

namespace sdfg::transform {

// infer_connector_types, assign_schedules, assign_storages, mark_reductions, mark_simd, decide_wcr_lowering.
// Before: a valid graph without library nodes but Copy and Fill. After: no default schedule or storage, every WCR's
// lowering decided.
void prepare_for_cpu(ir::Graph& g, const PrepareOptions& options = {}, const PassSelection& selection = {});
std::vector<Pass> passes_for_cpu(const PrepareOptions& options);

}  // namespace sdfg::transform
