// Looks at kernels that hold no thread blocks yet.
#include "transform/gpu/split_reductions.hpp"

#include <algorithm>
#include <map>

#include "analysis/access.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

constexpr std::int64_t kFewPoints = 64;  // a loop of one thread does as well as a block

// The dimensions that do not occur in where the map accumulates; empty when nothing qualifies.
std::vector<bool> reduced_dimensions(const ir::Graph& g, const ir::Map& m) {
  const analysis::AccessSet set = analysis::accesses_of(g, m.body);
  std::vector<bool> none;
  if (set.opaque) return none;
  std::map<std::string, std::vector<const analysis::Access*>, std::less<>> by_container;
  for (const analysis::Access& a : set.accesses) by_container[a.container].push_back(&a);
  std::vector<bool> reduced(m.params.size(), true);
  bool found = false;
  for (const auto& [name, accesses] : by_container) {
    if (std::ranges::find(set.declared, name) != set.declared.end()) continue;
    const bool written = std::ranges::any_of(accesses, [](const analysis::Access* a) { return a->write; });
    if (!written) continue;
    // Whatever is written must stay apart in the dimensions that are kept.
    for (const analysis::Access* a : accesses) {
      if (!a->placed || !a->wcr || a->wcr != accesses.front()->wcr || !a->subset.is_index() ||
          !(a->subset == accesses.front()->subset) || *a->wcr == ir::ReduceOp::kCustom ||
          *a->wcr == ir::ReduceOp::kExchange) {
        if (a->wcr) return none;
        continue;  // plain accesses: any order of the points is fine
      }
      found = true;
      const symbolic::SymbolSet used = a->subset.free_symbols();
      for (std::size_t d = 0; d < m.params.size(); ++d) {
        if (used.contains(m.params[d])) reduced[d] = false;
      }
      for (const std::string& s : used) {
        // A place that the point computes.
        const bool bound = std::ranges::find(m.params, s) == m.params.end() && g.symbols.contains(s) &&
                           g.symbols.at(s).binder == ir::BinderKind::kAssigned;
        if (bound) return none;
      }
    }
  }
  if (!found) return none;
  // All or nothing is not for this pass.
  const auto count = std::ranges::count(reduced, true);
  if (count == 0 || static_cast<std::size_t>(count) == reduced.size()) return none;
  // Kept dimensions come first: they must not use the others.
  for (std::size_t d = 0; d < m.params.size(); ++d) {
    if (reduced[d]) continue;
    for (std::size_t p = 0; p < m.params.size(); ++p) {
      const ir::Range& r = m.ranges[d];
      if (reduced[p] &&
          (depends_on(r.begin, m.params[p]) || depends_on(r.end, m.params[p]) || depends_on(r.step, m.params[p])))
        return none;
    }
  }
  return reduced;
}

// Do reads have neighbours along a reduced dimension, and none along a kept one?
bool along_reduced(const ir::Graph& g, const ir::Map& m, const std::vector<bool>& reduced) {
  int inner = 0, outer = 0;
  ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Memlet& edge : s->edges) {
      const ir::Access* a = access_of(*s, edge.src);
      const ir::Container* c = a == nullptr ? nullptr : ir::resolve(g, a->data);
      if (c == nullptr || !edge.src_subset || edge.src_subset->rank() != c->rank()) continue;
      const std::vector<symbolic::Expr> at = edge.src_subset->begins();
      for (std::size_t d = 0; d < m.params.size(); ++d) {
        const auto affine = symbolic::affine_in(c->layout.address(at), m.params[d]);
        if (affine && affine->slope.is_one()) ++(reduced[d] ? inner : outer);
      }
    }
  });
  return inner > 0 && outer == 0;
}

}  // namespace

bool split_reductions(ir::Graph& g) {
  bool changed = false;
  for_each_kernel(g, [&](ir::Element& e, const symbolic::Facts& outside) {
    auto& m = std::get<ir::Map>(e.kind);
    if (m.params.size() < 2 || holds(m.body, ir::Schedule::kThreadBlock)) return;
    const std::vector<bool> reduced = reduced_dimensions(g, m);
    if (reduced.empty()) return;
    symbolic::Expr points = 1;
    for (std::size_t d = 0; d < m.params.size(); ++d) {
      if (reduced[d]) points = points * m.ranges[d].count();
    }
    const auto most = symbolic::constant_upper(points, ir::facts_inside(g, outside, e, m.body));
    const bool few = most && *most <= kFewPoints;
    const bool blocks = along_reduced(g, m, reduced) && !few;
    ir::Map inner;
    inner.schedule = blocks ? ir::Schedule::kThreadBlock : ir::Schedule::kSequential;
    std::vector<std::string> params;
    std::vector<ir::Range> ranges;
    for (std::size_t d = 0; d < m.params.size(); ++d) {
      (reduced[d] ? inner.params : params).push_back(m.params[d]);
      (reduced[d] ? inner.ranges : ranges).push_back(m.ranges[d]);
    }
    inner.body = std::move(m.body);
    m.body = ir::Sequence();
    m.params = std::move(params);
    m.ranges = std::move(ranges);
    ir::Element& made = g.append(m.body, std::move(inner), {}, e.location);
    ir::walk(std::get<ir::Map>(made.kind).body, [&](ir::Element& x) {
      if (auto* exit = std::get_if<ir::Exit>(&x.kind); exit != nullptr && exit->target == e.id) exit->target = made.id;
    });
    changed = true;
  });
  return changed;
}

}  // namespace sdfg::transform
