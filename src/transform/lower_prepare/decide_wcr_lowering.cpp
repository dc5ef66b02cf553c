// Asks the dependence library about every pair of accesses of the accumulated container in the enclosing parallel map.
#include "transform/lower_prepare/decide_wcr_lowering.hpp"

#include <algorithm>
#include <set>

#include "analysis/dependence.hpp"

namespace sdfg::transform {

namespace {

// Accumulating memlets in the body of a parallel map that need no atomic operation.
std::set<ir::Id> private_writes(const ir::Graph& g, const ir::Map& m, const symbolic::Facts& facts) {
  std::set<ir::Id> out;
  const analysis::AccessSet set = analysis::accesses_of(g, m.body);
  const std::set<std::string, std::less<>> local(set.declared.begin(), set.declared.end());
  const std::vector<analysis::Parameter> parameters = analysis::parameters_of(m);
  const analysis::DistinctAccesses kinds = analysis::distinct(set);
  std::size_t pairs = 0;
  std::vector<bool> alone;
  for (const std::size_t at : kinds.first) {
    const analysis::Access& a = set.accesses[at];
    alone.push_back(false);
    if (!a.wcr || !a.write) continue;
    const ir::Container* c = g.containers.find(a.container.substr(0, a.container.find('.')));
    alone.back() = local.contains(a.container) ||
                   (c && !c->may_alias && c->kind != ir::ContainerKind::kReference &&
                    std::ranges::all_of(kinds.first, [&](std::size_t other) {
                      const analysis::Access& b = set.accesses[other];
                      if (b.container != a.container) return true;
                      return ++pairs <= analysis::kMostPairs &&
                             analysis::overlap_across(g, a, b, parameters, facts).truth == symbolic::Truth::kNo;
                    }));
  }
  for (std::size_t k = 0; k < set.accesses.size(); ++k) {
    if (alone[kinds.kind[k]]) out.insert(set.accesses[k].id);
  }
  return out;
}

}  // namespace

bool decide_wcr_lowering(ir::Graph& g) {
  bool changed = false;
  const auto visit = [&](const auto& self, ir::Sequence& s, const symbolic::Facts& facts,
                         const std::set<ir::Id>* alone) -> void {
    for (auto& item : s.items) {
      if (auto* state = std::get_if<ir::State>(&item->kind)) {
        for (ir::Memlet& m : state->edges) {
          if (!m.wcr || m.wcr->lowering != ir::WcrLowering::kUndecided) continue;
          m.wcr->lowering = !alone || alone->contains(m.id) ? ir::WcrLowering::kPlain : ir::WcrLowering::kAtomic;
          changed = true;
        }
      }
      if (const auto* m = std::get_if<ir::Map>(&item->kind); m && m->schedule == ir::Schedule::kDevice)
        continue;  // kernels have rules of their own
      std::set<ir::Id> inside;
      const std::set<ir::Id>* next = alone;
      if (const auto* m = std::get_if<ir::Map>(&item->kind); m && m->schedule == ir::Schedule::kParallel && !alone) {
        inside = private_writes(g, *m, ir::facts_inside(g, facts, *item, m->body));
        next = &inside;
      } else if (const auto* c = std::get_if<ir::Consume>(&item->kind);
                 c && c->schedule == ir::Schedule::kParallel && !alone) {
        next = &inside;  // workers share everything
      }
      for (ir::Sequence* child : ir::child_sequences(*item))
        self(self, *child, ir::facts_inside(g, facts, *item, *child), next);
    }
  };
  visit(visit, g.body, ir::base_facts(g), nullptr);
  return changed;
}

}  // namespace sdfg::transform
