// Runs the preparing passes.
#include "transform/lower_prepare/prepare.hpp"

#include "transform/lower_prepare/assign_schedules.hpp"
#include "transform/lower_prepare/assign_storages.hpp"
#include "transform/lower_prepare/decide_wcr_lowering.hpp"
#include "transform/lower_prepare/infer_connector_types.hpp"
#include "transform/lower_prepare/mark_reductions.hpp"
#include "transform/lower_prepare/mark_simd.hpp"

namespace sdfg::transform {

std::vector<Pass> passes_for_cpu(const PrepareOptions& options) {
  return {
      {"infer_connector_types", true, [](ir::Graph& g) { infer_connector_types(g); }},
      {"assign_schedules", false, [options](ir::Graph& g) { assign_schedules(g, options); }},
      {"assign_storages", false, [options](ir::Graph& g) { assign_storages(g, options); }},
      // Needs schedules: what is accumulated per thread.
      {"mark_reductions", false, [options](ir::Graph& g) { mark_reductions(g, options); }},
      // Needs reductions: an accumulator is no dependence.
      {"mark_simd", false, [options](ir::Graph& g) { mark_simd(g, options); }},
      // The rest: plain where iterations don't meet.
      {"decide_wcr_lowering", false, [](ir::Graph& g) { decide_wcr_lowering(g); }},
  };
}

void prepare_for_cpu(ir::Graph& g, const PrepareOptions& options, const PassSelection& selection) {
  run_passes(g, passes_for_cpu(options), selection);
}

}  // namespace sdfg::transform
