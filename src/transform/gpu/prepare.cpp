// Runs the passes.
#include "transform/gpu/prepare.hpp"

#include <algorithm>

#include "transform/gpu/decide_blocks.hpp"
#include "transform/gpu/decide_device_wcr.hpp"
#include "transform/gpu/insert_barriers.hpp"
#include "transform/gpu/normalise_schedules.hpp"
#include "transform/gpu/order_dimensions.hpp"
#include "transform/gpu/place_memory.hpp"
#include "transform/gpu/plan_streams.hpp"
#include "transform/gpu/split_reductions.hpp"
#include "transform/gpu/tile_contractions.hpp"
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
    found =
        found || (m != nullptr && (m->schedule == ir::Schedule::kDevice || m->schedule == ir::Schedule::kThreadBlock ||
                                   m->schedule == ir::Schedule::kWarp));
  });
  for (const ir::Container& c : g.containers)
    found = found || c.storage == ir::Storage::kGpuGlobal || c.storage == ir::Storage::kGpuShared;
  return found;
}

std::vector<Pass> passes_for_device(const PrepareOptions& host, const DeviceOptions& device,
                                    std::vector<std::string>* explanations) {
  PrepareOptions reductions = host;
  reductions.opt_level = std::min(host.opt_level, device.opt_level);
  return {
      {"infer_connector_types", true, [](ir::Graph& g) { infer_connector_types(g); }},
      // A container that moves to the device takes the code that touches it along, which may touch others.
      {"normalise_schedules", true,
       [](ir::Graph& g) {
         do normalise_schedules(g);
         while (place_host_containers(g));
       }},
      // Before memory of kernels moves out: a product that is stored before it is summed needs none.
      {"tile_contractions", false,
       [reductions, strict = device.strict, explanations](ir::Graph& g) {
         if (reductions.opt_level > 0) tile_contractions(g, strict, explanations);
       }},
      // Before storages are decided: what is small enough for the host's stack is not for a thread.
      {"place_kernel_memory", true, [](ir::Graph& g) { place_kernel_memory(g); }},
      // Before reductions are marked: what is left of a map around a sum is a map of its own.
      {"split_reductions", false,
       [reductions](ir::Graph& g) {
         if (reductions.opt_level > 0) split_reductions(g);
       }},
      {"order_dimensions", false,
       [reductions](ir::Graph& g) {
         if (reductions.opt_level > 0) order_dimensions(g);
       }},
      {"assign_schedules", false, [host](ir::Graph& g) { assign_schedules(g, host); }},
      {"assign_storages", false, [host](ir::Graph& g) { assign_storages(g, host); }},
      {"mark_reductions", false, [reductions](ir::Graph& g) { mark_reductions(g, reductions); }},
      {"decide_blocks", true, [device](ir::Graph& g) { decide_blocks(g, device); }},
      {"mark_simd", false, [host](ir::Graph& g) { mark_simd(g, host); }},
      {"decide_device_wcr", true, [](ir::Graph& g) { decide_device_wcr(g); }},
      {"decide_wcr_lowering", false, [](ir::Graph& g) { decide_wcr_lowering(g); }},
      {"insert_barriers", true, [](ir::Graph& g) { insert_barriers(g); }},
      // Last: everything that is issued stands at its place.
      {"plan_streams", true, [device](ir::Graph& g) { plan_streams(g, device); }},
  };
}

void prepare_for_device(ir::Graph& g, const PrepareOptions& host, const DeviceOptions& device,
                        const PassSelection& selection, std::vector<std::string>* explanations) {
  run_passes(g, passes_for_device(host, device, explanations), selection);
}

}  // namespace sdfg::transform
