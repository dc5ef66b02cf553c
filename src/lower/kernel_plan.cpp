// Last dimension to x, the one before to y, the rest to z: neighbouring threads touch neighbouring elements.
#include "lower/kernel_plan.hpp"

#include <algorithm>

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

}  // namespace

bool holds_thread_blocks(const ir::Sequence& body) {
  bool found = false;
  ir::walk(body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    found = found || (m && m->schedule == ir::Schedule::kThreadBlock);
  });
  return found;
}

KernelPlan plan_kernel(const ir::Graph&, const ir::Map& m, const symbolic::Facts& facts) {
  KernelPlan plan;
  plan.blockwise = holds_thread_blocks(m.body);
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
    // What a capped axis may take leaves less for the next.
    if (m.gpu_max_blocks > 0) {
      const std::int64_t used = most ? std::clamp<std::int64_t>((*most - 1) / a.threads + 1, 1, a.most_blocks) : 0;
      if (used > 0) cap = std::max<std::int64_t>(1, cap / used);
    }
  }
  return plan;
}

}  // namespace sdfg::lower
