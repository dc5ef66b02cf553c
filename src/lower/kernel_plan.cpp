// Last dimension to x, the one before to y, the rest to z: neighbouring threads touch neighbouring elements.
#include "lower/kernel_plan.hpp"

#include <algorithm>
#include <map>

#include "ir/device.hpp"

namespace sdfg::lower {

namespace {

using symbolic::Expr;
using symbolic::Truth;

bool uses_any(const ir::Range& r, const std::vector<std::string>& params) {
  return std::ranges::any_of(params, [&](const std::string& p) {
    return depends_on(r.begin, p) || depends_on(r.end, p) || depends_on(r.step, p);
  });
}

// The number of points of dimension d, or a bound of it that no parameter of the map occurs in.
std::optional<Expr> count_of(const ir::Map& m, std::size_t d, const symbolic::Facts& facts) {
  const ir::Range& r = m.ranges[d];
  Expr count = symbolic::simplify(r.count(), facts);
  if (!uses_any(r, m.params)) return count;
  if (!r.step.is_one()) return std::nullopt;
  count = r.end - r.begin + 1;
  for (std::size_t p = d; p-- > 0;) {
    if (!depends_on(count, m.params[p])) continue;
    const auto bound = symbolic::upper_over(count, m.params[p], m.ranges[p].begin, m.ranges[p].end, facts);
    if (!bound) return std::nullopt;
    count = *bound;
  }
  for (const std::string& p : m.params) {
    if (depends_on(count, p)) return std::nullopt;
  }
  return symbolic::simplify(symbolic::max(count, 0), facts);
}

constexpr std::int64_t kLine = 128;  // bytes that a warp's access fetches at least

// How far the first point's elements lie behind the beginning of a line, counted in elements: what most accesses of
// arrays in device memory agree on, writes before reads. Rows are taken to begin at a line, as they do where that can
// matter.
std::int64_t offset_in_line(const ir::Graph& g, const ir::Map& m, std::size_t d) {
  const std::string& p = m.params[d];
  std::map<std::int64_t, std::int64_t> votes;
  ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Memlet& edge : s->edges) {
      for (const bool source : {true, false}) {
        const ir::Node* node = s->find_node(source ? edge.src : edge.dst);
        const auto* access = node == nullptr ? nullptr : std::get_if<ir::Access>(&node->kind);
        const auto& subset = source ? edge.src_subset : edge.dst_subset;
        const ir::Container* c = access == nullptr ? nullptr : ir::resolve(g, access->data);
        if (c == nullptr || !subset || subset->rank() == 0 || subset->rank() != c->rank()) continue;
        if (!ir::in_device_memory(g, access->data) || !c->layout.strides().back().is_one()) continue;
        const std::int64_t size = c->type.size();
        if (size <= 0 || kLine % size != 0 || c->kind == ir::ContainerKind::kView) continue;
        const auto index = symbolic::affine_in(subset->ranges().back().begin, p);
        if (!index || !index->slope.is_one()) continue;
        const auto first = (index->rest + m.ranges[d].begin + c->layout.start_offset()).constant();
        if (!first) continue;
        const std::int64_t per_line = kLine / size;
        votes[(*first % per_line + per_line) % per_line] += source ? 1 : 4;
      }
    }
  });
  const auto most = std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; });
  return most == votes.end() ? 0 : most->first;
}

}  // namespace

KernelPlan plan_kernel(const ir::Graph& g, const ir::Map& m, const symbolic::Facts& facts) {
  KernelPlan plan;
  plan.blockwise = ir::holds(m.body, ir::Schedule::kThreadBlock);
  for (std::size_t k = 0; k < 3 && k < m.gpu_block_size.size(); ++k) plan.block[k] = m.gpu_block_size[k];

  const std::size_t rank = m.params.size();
  std::vector<std::optional<Expr>> counts;
  for (std::size_t d = 0; d < rank; ++d) counts.push_back(count_of(m, d, facts));

  const auto put = [&](std::size_t axis, std::size_t d) {
    KernelAxis& a = plan.axes[axis];
    a.dimensions.insert(a.dimensions.begin(), d);
    a.counts.insert(a.counts.begin(), *counts[d]);
  };
  if (plan.blockwise) {
    // All blocks along x: no limit is near, and no block takes two points, so barriers need no thought about strides.
    for (std::size_t d = rank; d-- > 0;) {
      if (counts[d])
        put(0, d);
      else
        plan.loops.insert(plan.loops.begin(), d);
    }
  } else {
    std::size_t axis = 0;
    for (std::size_t d = rank; d-- > 0;) {
      if (!counts[d]) {
        plan.loops.insert(plan.loops.begin(), d);
        continue;
      }
      put(axis, d);
      if (axis < 2) ++axis;
    }
  }
  std::int64_t cap = m.gpu_max_blocks > 0 ? m.gpu_max_blocks : kMostBlocksX;
  for (std::size_t k = 0; k < 3; ++k) {
    KernelAxis& a = plan.axes[k];
    a.threads = plan.blockwise ? 1 : plan.block[k];
    a.points = symbolic::product(a.counts);
    a.most_blocks = std::min(cap, k == 0 ? kMostBlocksX : kMostBlocksYz);
    const auto most = symbolic::constant_upper(a.points, facts);
    const bool fits = most && (*most <= a.threads || (*most - 1) / a.threads < a.most_blocks);
    a.strided = !fits && (k != 0 || m.gpu_max_blocks > 0);
    if (k == 1 && a.strided && m.gpu_max_blocks == 0 && !plan.blockwise && a.threads == 1 && a.dimensions.size() == 1) {
      const ir::Range& r = m.ranges[a.dimensions.front()];
      a.runs = r.step.is_one() && !uses_any(r, m.params);
    }
    if (k == 0 && !plan.blockwise && !a.strided && a.dimensions.size() == 1 && a.threads >= kWarpSize) {
      const std::size_t d = a.dimensions.front();
      if (m.ranges[d].step.is_one() && !uses_any(m.ranges[d], m.params)) a.lead = offset_in_line(g, m, d);
      // Of few blocks, one more would cost more than it saves.
      const auto blocks = [&](std::int64_t points) { return (points - 1) / a.threads + 1; };
      if (most && *most > 0 && *most <= 16 * a.threads && blocks(*most + a.lead) > blocks(*most)) a.lead = 0;
    }
    // What a capped axis may take leaves less for the next.
    if (m.gpu_max_blocks > 0) {
      const std::int64_t used = most ? std::clamp<std::int64_t>((*most - 1) / a.threads + 1, 1, a.most_blocks) : 0;
      if (used > 0) cap = std::max<std::int64_t>(1, cap / used);
    }
  }
  return plan;
}

}  // namespace sdfg::lower
