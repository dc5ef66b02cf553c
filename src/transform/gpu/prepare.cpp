// Runs the passes.
#include "transform/gpu/prepare.hpp"

#include "transform/gpu/decide_blocks.hpp"
#include "transform/lower_prepare/assign_schedules.hpp"
#include "transform/lower_prepare/assign_storages.hpp"
#include "transform/lower_prepare/decide_wcr_lowering.hpp"
#include "transform/lower_prepare/infer_connector_types.hpp"
#include "transform/lower_prepare/mark_reductions.hpp"
#include "transform/lower_prepare/mark_simd.hpp"

namespace sdfg::transform {

bool uses_device(const ir::Graph& g) {
  bool found = false;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    found = found || (m != nullptr && m->schedule == ir::Schedule::kDevice);
  });
  for (const ir::Container& c : g.containers) found = found || c.storage == ir::Storage::kGpuGlobal;
  return found;
}

void prepare_for_device(ir::Graph& g, const PrepareOptions& host, const DeviceOptions& device) {
  infer_connector_types(g);
  assign_schedules(g, host);
  assign_storages(g, host);
  mark_reductions(g, host);
  decide_blocks(g, device);
  mark_simd(g, host);
  decide_wcr_lowering(g);
}

}  // namespace sdfg::transform
