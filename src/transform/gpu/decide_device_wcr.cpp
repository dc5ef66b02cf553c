// Asks the dependence library once per parallel map around an accumulation.
#include "transform/gpu/decide_device_wcr.hpp"

#include <algorithm>
#include <set>

#include "analysis/dependence.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

// Accumulating memlets in the body of a parallel map that points of the map share with others.
std::set<ir::Id> shared_writes(const ir::Graph& g, const ir::Map& m, const symbolic::Facts& facts) {
  std::set<ir::Id> out;
  const analysis::AccessSet set = analysis::accesses_of(g, m.body);
  const std::set<std::string, std::less<>> local(set.declared.begin(), set.declared.end());
  const std::vector<analysis::Parameter> parameters = analysis::parameters_of(m);
  const analysis::DistinctAccesses kinds = analysis::distinct(set);
  std::size_t pairs = 0;
  std::vector<bool> meets;
  for (const std::size_t at : kinds.first) {
    const analysis::Access& a = set.accesses[at];
    meets.push_back(false);
    if (!a.wcr || !a.write || local.contains(a.container)) continue;
    const ir::Container* c = ir::resolve(g, a.container);
    if (c == nullptr) continue;
    if (c->storage == ir::Storage::kRegister && m.schedule != ir::Schedule::kDevice) continue;  // one per thread
    const bool alone = !c->may_alias && c->kind != ir::ContainerKind::kReference &&
                       std::ranges::all_of(kinds.first, [&](std::size_t other) {
                         const analysis::Access& b = set.accesses[other];
                         if (b.container != a.container) return true;
                         return ++pairs <= analysis::kMostPairs &&
                                analysis::overlap_across(g, a, b, parameters, facts).truth == symbolic::Truth::kNo;
                       });
    meets.back() = !alone;
  }
  for (std::size_t k = 0; k < set.accesses.size(); ++k) {
    if (meets[kinds.kind[k]]) out.insert(set.accesses[k].id);
  }
  return out;
}

}  // namespace

bool decide_device_wcr(ir::Graph& g) {
  bool changed = false;
  for_each_kernel(g, [&](ir::Element& kernel, const symbolic::Facts& outside) {
    std::set<ir::Id> shared;
    const auto collect = [&](const auto& self, ir::Element& e, const symbolic::Facts& facts) -> void {
      const auto* m = std::get_if<ir::Map>(&e.kind);
      for (ir::Sequence* child : ir::child_sequences(e)) {
        const symbolic::Facts inside = ir::facts_inside(g, facts, e, *child);
        if (m != nullptr && m->schedule != ir::Schedule::kSequential) shared.merge(shared_writes(g, *m, inside));
        for (auto& item : child->items) self(self, *item, inside);
      }
    };
    collect(collect, kernel, outside);
    ir::walk(std::get<ir::Map>(kernel.kind).body, [&](ir::Element& e) {
      auto* s = std::get_if<ir::State>(&e.kind);
      if (s == nullptr) return;
      for (ir::Memlet& m : s->edges) {
        if (!m.wcr || m.wcr->lowering != ir::WcrLowering::kUndecided) continue;
        m.wcr->lowering = shared.contains(m.id) ? ir::WcrLowering::kAtomic : ir::WcrLowering::kPlain;
        changed = true;
      }
    });
  });
  return changed;
}

}  // namespace sdfg::transform
