// Looks at each container by itself: sizes and lifetimes say it all on the CPU.
#include "transform/lower_prepare/assign_storages.hpp"

namespace sdfg::transform {

namespace {

bool small(const ir::Container& c, std::int64_t limit) {
  const auto elements = c.layout.total_size().constant();
  std::int64_t bytes = 0;
  return elements && *elements >= 0 &&
         !__builtin_mul_overflow(*elements, std::max<std::int64_t>(c.type.size(), 1), &bytes) && bytes <= limit;
}

}  // namespace

bool assign_storages(ir::Graph& g, const PrepareOptions& options) {
  bool changed = false;
  for (ir::Container& c : g.containers) {
    if (c.storage != ir::Storage::kDefault) continue;
    const bool on_stack =
        c.transient && c.lifetime == ir::Lifetime::kScope && (c.is_scalar() || small(c, options.max_stack_bytes));
    c.storage = on_stack || (c.is_scalar() && !c.transient) ? ir::Storage::kRegister : ir::Storage::kHeap;
    changed = true;
  }
  return changed;
}

}  // namespace sdfg::transform
