// Runs the preparing passes.
#include "transform/lower_prepare/prepare.hpp"

#include "transform/lower_prepare/assign_schedules.hpp"
#include "transform/lower_prepare/assign_storages.hpp"
#include "transform/lower_prepare/decide_wcr_lowering.hpp"
#include "transform/lower_prepare/infer_connector_types.hpp"
#include "transform/lower_prepare/mark_reductions.hpp"
#include "transform/lower_prepare/mark_simd.hpp"

namespace sdfg::transform {

void prepare_for_cpu(ir::Graph& g, const PrepareOptions& options) {
  infer_connector_types(g);
  assign_schedules(g, options);
  assign_storages(g, options);
  mark_reductions(g, options);  // needs schedules: what is accumulated per thread
  mark_simd(g, options);        // needs reductions: an accumulator is no dependence
  decide_wcr_lowering(g);       // the rest: plain where iterations don't meet
}

}  // namespace sdfg::transform
