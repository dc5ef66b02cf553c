// Counts accesses by the stride that each parameter has in memory.
#include "transform/gpu/order_dimensions.hpp"

#include <algorithm>

#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

bool independent(const ir::Map& m) {
  for (const ir::Range& r : m.ranges) {
    for (const std::string& p : m.params) {
      if (depends_on(r.begin, p) || depends_on(r.end, p) || depends_on(r.step, p)) return false;
    }
  }
  return true;
}

// How many accesses of device memory have neighbours along each parameter; writes count twice.
std::vector<int> unit_strides(const ir::Graph& g, const ir::Map& m) {
  std::vector<int> out(m.params.size(), 0);
  ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Memlet& edge : s->edges) {
      for (const bool source : {true, false}) {
        const ir::Access* a = access_of(*s, source ? edge.src : edge.dst);
        const auto& subset = source ? edge.src_subset : edge.dst_subset;
        const ir::Container* c = a == nullptr ? nullptr : ir::resolve(g, a->data);
        if (c == nullptr || !subset || subset->rank() != c->rank() || !in_device_memory(g, a->data)) continue;
        const std::vector<symbolic::Expr> at = subset->begins();
        const symbolic::Expr address = c->layout.address(at);
        for (std::size_t d = 0; d < m.params.size(); ++d) {
          const auto affine = symbolic::affine_in(address, m.params[d]);
          if (affine && affine->slope.is_one() && m.ranges[d].step.is_one()) out[d] += source ? 1 : 2;
        }
      }
    }
  });
  return out;
}

}  // namespace

bool order_dimensions(ir::Graph& g) {
  bool changed = false;
  for_each_kernel(g, [&](ir::Element& e, const symbolic::Facts&) {
    auto& m = std::get<ir::Map>(e.kind);
    if (m.params.size() < 2 || !m.gpu_block_size.empty() || holds(m.body, ir::Schedule::kThreadBlock) ||
        !independent(m))
      return;
    const std::vector<int> strides = unit_strides(g, m);
    const auto best = std::max_element(strides.begin(), strides.end());
    if (*best <= strides.back()) return;
    const auto d = best - strides.begin();
    std::rotate(m.params.begin() + d, m.params.begin() + d + 1, m.params.end());
    std::rotate(m.ranges.begin() + d, m.ranges.begin() + d + 1, m.ranges.end());
    changed = true;
  });
  return changed;
}

}  // namespace sdfg::transform
