// Asks the dependence library about the last dimension of every map that holds no loop.
#include "transform/lower_prepare/mark_simd.hpp"

#include <algorithm>

#include "analysis/dependence.hpp"

namespace sdfg::transform {

namespace {

// Indices that a body reads before it uses them, one after the other: beyond this many, vectors of them fill all
// registers and take the compiler seconds.
constexpr std::size_t kMostIndices = 64;

// Straight code: no loops, no memory to allocate, nothing that can fail.
bool is_leaf(const ir::Graph& g, const ir::Map& m) {
  bool leaf = true;
  std::size_t indices = 0;
  ir::walk(m.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const bool simple = std::holds_alternative<ir::State>(e.kind) || std::holds_alternative<ir::Assign>(e.kind) ||
                        std::holds_alternative<ir::Block>(e.kind) || std::holds_alternative<ir::If>(e.kind);
    if (const auto* a = std::get_if<ir::Assign>(&e.kind)) indices += a->items.size();
    leaf = leaf && simple && indices <= kMostIndices;
    if (const auto* b = std::get_if<ir::Block>(&e.kind)) {
      for (const std::string& local : b->locals) {
        const ir::Container& c = g.containers.at(local);
        leaf = leaf && (c.is_scalar() || c.kind == ir::ContainerKind::kView || c.storage == ir::Storage::kRegister);
      }
    }
    if (const auto* s = std::get_if<ir::State>(&e.kind)) {
      for (const ir::Node& n : s->nodes) {
        leaf = leaf && !std::holds_alternative<ir::Library>(n.kind);
        const auto* t = std::get_if<ir::Tasklet>(&n.kind);
        leaf = leaf && !(t && t->code.language == tasklet::Language::kCpp);
        if (t) {
          for (const tasklet::Statement& line : t->code.body)
            leaf = leaf && !std::holds_alternative<tasklet::While>(line.node);
        }
      }
      for (const ir::Memlet& edge : s->edges) {
        const ir::Node* from = s->find_node(edge.src);
        const ir::Node* to = s->find_node(edge.dst);
        const bool copy = from && to && std::holds_alternative<ir::Access>(from->kind) &&
                          std::holds_alternative<ir::Access>(to->kind);
        leaf = leaf && !(copy && edge.dst_subset && !edge.dst_subset->is_index());
      }
    }
  });
  return leaf;
}

}  // namespace

bool mark_simd(ir::Graph& g, const PrepareOptions& options) {
  if (options.opt_level == 0) return false;
  bool changed = false;
  const auto visit = [&](const auto& self, ir::Sequence& s, const symbolic::Facts& facts) -> void {
    for (auto& item : s.items) {
      if (const auto* k = std::get_if<ir::Map>(&item->kind); k && k->schedule == ir::Schedule::kDevice) continue;
      if (auto* m = std::get_if<ir::Map>(&item->kind);
          m && !m->simd && !m->unroll && is_leaf(g, *m) && m->ranges.back().step.is_one()) {
        const symbolic::Facts inside = ir::facts_inside(g, facts, *item, m->body);
        analysis::AccessSet set = analysis::accesses_of(g, m->body);
        std::erase_if(set.accesses, [&](const analysis::Access& a) {
          return a.wcr && std::ranges::any_of(m->reductions, [&](const ir::Map::Reduction& r) {
                   return r.container == a.container && r.op == *a.wcr;
                 });
        });
        // What an outer map reduces is one variable for all iterations of this one.
        const bool outer_reduction = std::ranges::any_of(
            set.accesses, [](const analysis::Access& a) { return a.wcr.has_value() && a.subset.rank() == 0; });
        const std::size_t last = m->params.size() - 1;
        const bool device = m->schedule != ir::Schedule::kParallel && m->schedule != ir::Schedule::kSequential;
        if (!device && !outer_reduction &&
            analysis::carried(g, set, analysis::parameters_of(*m, last), inside).truth == symbolic::Truth::kNo) {
          m->simd = true;
          changed = true;
        }
      }
      for (ir::Sequence* child : ir::child_sequences(*item))
        self(self, *child, ir::facts_inside(g, facts, *item, *child));
    }
  };
  visit(visit, g.body, ir::base_facts(g));
  return changed;
}

}  // namespace sdfg::transform
