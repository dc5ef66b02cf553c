// Walks over device maps with the facts around them.
#include "transform/gpu/decide_blocks.hpp"

#include <algorithm>
#include <optional>

#include "analysis/most_points.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using Block = std::array<std::int64_t, 3>;

constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostZ = 64;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kReducingBlocks = 2048;  // enough to fill any device, few enough for one atomic operation each

// The largest extents of the thread-block maps below, last dimension in x; nothing if one of them has no constant
// bound.
std::optional<Block> extents_of_threads(const ir::Graph& g, const ir::Element& kernel, const symbolic::Facts& facts) {
  Block out{1, 1, 1};
  bool known = true, warps = false;
  const auto visit = [&](const auto& self, const ir::Element& e, const symbolic::Facts& around) -> void {
    for (const ir::Sequence* child : ir::child_sequences(e)) {
      const symbolic::Facts inside = ir::facts_inside(g, around, e, *child);
      for (const auto& item : child->items) {
        const auto* m = std::get_if<ir::Map>(&item->kind);
        if (m != nullptr && m->schedule == ir::Schedule::kWarp) warps = true;
        if (m != nullptr && m->schedule == ir::Schedule::kThreadBlock) {
          const symbolic::Facts within = ir::facts_inside(g, inside, *item, m->body);
          const std::size_t rank = m->ranges.size();
          for (std::size_t d = 0; d < rank; ++d) {
            const ir::Range& r = m->ranges[d];
            const auto most = analysis::most_points(r, within);
            if (!most) {
              known = false;
              continue;
            }
            const std::int64_t n = *most;
            std::int64_t& axis = out[std::min<std::size_t>(rank - 1 - d, 2)];
            axis = rank - 1 - d > 2 ? axis : std::max(axis, n);
          }
        }
        self(self, *item, inside);
      }
    }
  };
  visit(visit, kernel, facts);
  if (!known) return std::nullopt;
  if (warps) {  // points of thread-block maps are warps
    const std::int64_t points = out[0] * out[1] * out[2];
    return Block{kWarp * std::clamp<std::int64_t>(points, 1, kMostThreads / kWarp), 1, 1};
  }
  // Too many threads: strides cover the rest.
  out[2] = std::min(out[2], kMostZ);
  while (out[0] * out[1] * out[2] > kMostThreads) {
    if (out[2] > 1)
      out[2] = (out[2] + 1) / 2;
    else if (out[1] > 1)
      out[1] = (out[1] + 1) / 2;
    else
      out[0] = kMostThreads;
  }
  return out;
}

void check_limits(const ir::Graph& g, const ir::Element& e, const Block& b) {
  if (b[0] * b[1] * b[2] <= kMostThreads && b[2] <= kMostZ) return;
  throw Error(ErrorClass::kGraph,
              "The blocks of " + ir::describe(g, e) + " have " + std::to_string(b[0]) + " x " + std::to_string(b[1]) +
                  " x " + std::to_string(b[2]) + " threads; a device has at most 1024 in a block, 64 of them in z.",
              ir::places_of(g, e.id), "set a smaller gpu_block_size");
}

}  // namespace

bool decide_blocks(ir::Graph& g, const DeviceOptions& options) {
  bool changed = false;
  const auto visit = [&](const auto& self, ir::Sequence& s, const symbolic::Facts& facts) -> void {
    for (auto& item : s.items) {
      auto* m = std::get_if<ir::Map>(&item->kind);
      if (m == nullptr || m->schedule != ir::Schedule::kDevice) {
        for (ir::Sequence* child : ir::child_sequences(*item))
          self(self, *child, ir::facts_inside(g, facts, *item, *child));
        continue;
      }
      Block block{1, 1, 1};
      const bool blockwise = holds(m->body, ir::Schedule::kThreadBlock);
      if (!m->gpu_block_size.empty()) {
        for (std::size_t k = 0; k < 3 && k < m->gpu_block_size.size(); ++k) block[k] = m->gpu_block_size[k];
      } else if (const auto threads = blockwise ? extents_of_threads(g, *item, facts) : std::nullopt) {
        block = *threads;
      } else {
        block = options.block;
        const std::size_t rank = blockwise ? 3 : m->params.size();
        // A short last dimension would leave most of a row of threads without work.
        if (!blockwise && rank >= 2 && block[1] == 1 && block[2] == 1) {
          const ir::Range& r = m->ranges.back();
          const auto most = analysis::most_points(r, ir::facts_inside(g, facts, *item, m->body));
          if (most && *most < block[0]) {
            block[1] = block[0] / *most;
            block[0] = *most;
          }
        }
        for (std::size_t k = rank; k < 3; ++k) {
          block[0] *= block[k];
          block[k] = 1;
        }
      }
      check_limits(g, *item, block);
      m->gpu_block_size.assign(block.begin(), block.end());
      if (!m->reductions.empty() && !blockwise && m->gpu_max_blocks == 0)
        m->gpu_max_blocks = options.strict ? 1 : kReducingBlocks;
      changed = true;
    }
  };
  visit(visit, g.body, ir::base_facts(g));
  return changed;
}

}  // namespace sdfg::transform
