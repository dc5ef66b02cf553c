// Collects the accumulations of each map by container and keeps those that qualify.
#include "transform/lower_prepare/mark_reductions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/dependence.hpp"
#include "ir/reduce.hpp"

namespace sdfg::transform {

namespace {

using analysis::Access;

bool has_identity(ir::ReduceOp op, const Type& type) {
  return type.is_scalar() && ir::identity_of(op, type.scalar()).has_value();
}

class Marker {
 public:
  explicit Marker(ir::Graph& g) : g_(g) {
    for (const ir::Container& c : g.containers) {
      if (c.kind == ir::ContainerKind::kView) viewed_.insert(std::string(c.viewed.substr(0, c.viewed.find('.'))));
      if (c.kind == ir::ContainerKind::kReference) references_ = true;
    }
  }

  bool sequence(ir::Sequence& s, bool conflict_around) {
    bool changed = false;
    for (auto& item : s.items) {
      bool conflict = conflict_around;
      if (auto* m = std::get_if<ir::Map>(&item->kind)) {
        changed = map(*m) || changed;
        if (shares_out(m->schedule)) parallel_.push_back(m);
      }
      for (ir::Sequence* child : ir::child_sequences(*item)) changed = sequence(*child, conflict) || changed;
      if (auto* m = std::get_if<ir::Map>(&item->kind); m && shares_out(m->schedule)) parallel_.pop_back();
    }
    return changed;
  }

 private:
  // Points run at the same time.
  static bool shares_out(ir::Schedule s) { return s != ir::Schedule::kDefault && s != ir::Schedule::kSequential; }

  // A map of the host around kernels, which keep no value of the host.
  static bool launches(const ir::Map& m) {
    bool found = false;
    ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
      const auto* inner = std::get_if<ir::Map>(&e.kind);
      found = found || (inner && inner->schedule == ir::Schedule::kDevice);
    });
    return found;
  }

  bool map(ir::Map& m) {
    if (m.schedule == ir::Schedule::kDefault || m.schedule == ir::Schedule::kWarp || launches(m)) return false;
    const analysis::AccessSet set = analysis::accesses_of(g_, m.body);
    if (set.opaque || references_) return false;
    const std::set<std::string, std::less<>> local(set.declared.begin(), set.declared.end());
    const std::set<std::string, std::less<>> bound = bound_inside(m);

    std::map<std::string, std::vector<const Access*>, std::less<>> by_container;
    for (const Access& a : set.accesses) by_container[a.container].push_back(&a);
    bool changed = false;
    for (const auto& [name, accesses] : by_container) {
      const ir::Container* c = ir::resolve(g_, name);
      if (!c || name.find('.') != std::string::npos || local.contains(name) || viewed_.contains(name)) continue;
      if (c->kind != ir::ContainerKind::kScalar && c->kind != ir::ContainerKind::kArray) continue;
      if (c->lifetime == ir::Lifetime::kPersistent && c->storage == ir::Storage::kThreadLocal) continue;
      const Access& first = *accesses.front();
      if (!first.wcr || !has_identity(*first.wcr, c->type)) continue;
      const bool all = std::ranges::all_of(accesses, [&](const Access* a) {
        if (!a->write || a->wcr != first.wcr || !a->placed || !a->subset.is_index() || !(a->subset == first.subset))
          return false;
        const symbolic::SymbolSet used = a->subset.free_symbols();
        return std::ranges::none_of(used, [&](const std::string& s) { return bound.contains(s); });
      });
      if (!all || already_reduced(accesses)) continue;
      if (std::ranges::any_of(m.reductions, [&](const ir::Map::Reduction& r) { return r.container == name; })) continue;
      if (m.schedule == ir::Schedule::kSequential && conflicts_around(first)) continue;
      m.reductions.push_back({name, *first.wcr});
      decide(m.body, accesses);
      changed = true;
    }
    return changed;
  }

  // An enclosing parallel map whose iterations meet in this element: a running value kept over the inner map would lose
  // theirs.
  bool conflicts_around(const Access& a) const {
    for (const ir::Map* p : parallel_) {
      const analysis::AccessSet set = analysis::accesses_of(g_, p->body);
      if (std::ranges::find(set.declared, a.container) != set.declared.end()) continue;
      const symbolic::Facts facts;
      for (const Access& other : set.accesses) {
        if (other.container != a.container) continue;
        const auto mine = std::ranges::find_if(set.accesses, [&](const Access& x) { return x.id == a.id && x.write; });
        if (mine == set.accesses.end()) return true;
        if (analysis::overlap_across(g_, *mine, other, analysis::parameters_of(*p), facts_of(*p)).truth !=
            symbolic::Truth::kNo)
          return true;
      }
    }
    return false;
  }

  symbolic::Facts facts_of(const ir::Map& m) const {
    ir::Id id = 0;
    ir::walk(static_cast<const ir::Graph&>(g_).body, [&](const ir::Element& e, const ir::Ancestors&) {
      if (std::get_if<ir::Map>(&e.kind) == &m) id = e.id;
    });
    return ir::facts_at(g_, ir::path_to(g_, id));
  }

  bool already_reduced(const std::vector<const Access*>& accesses) const {
    return std::ranges::any_of(accesses, [&](const Access* a) { return done_.contains(a->id); });
  }

  static std::set<std::string, std::less<>> bound_inside(const ir::Map& m) {
    std::set<std::string, std::less<>> out(m.params.begin(), m.params.end());
    ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
      for (const std::string& s : ir::symbols_bound(e)) out.insert(s);
    });
    return out;
  }

  void decide(ir::Sequence& body, const std::vector<const Access*>& accesses) {
    std::set<ir::Id> ids;
    for (const Access* a : accesses) ids.insert(a->id);
    ir::walk(body, [&](ir::Element& e) {
      auto* s = std::get_if<ir::State>(&e.kind);
      if (!s) return;
      for (ir::Memlet& m : s->edges) {
        if (m.wcr && ids.contains(m.id)) m.wcr->lowering = ir::WcrLowering::kReduction;
      }
    });
    done_.insert(ids.begin(), ids.end());
  }

  ir::Graph& g_;
  std::set<std::string, std::less<>> viewed_;
  bool references_ = false;
  std::vector<const ir::Map*> parallel_;
  std::set<ir::Id> done_;  // memlets that an outer map reduces
};

}  // namespace

bool mark_reductions(ir::Graph& g, const PrepareOptions& options) {
  if (options.opt_level == 0) return false;
  return Marker(g).sequence(g.body, false);
}

}  // namespace sdfg::transform
