// Walks over kernels; takes states apart.
#include "transform/gpu/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sdfg::transform {

bool touches_device_memory(const ir::Graph& g, const ir::Element& e) {
  const auto any = [&](const symbolic::SymbolSet& names) {
    return std::ranges::any_of(names, [&](const std::string& n) { return in_device_memory(g, n); });
  };
  return any(ir::containers_read(g, e)) || any(ir::containers_written(g, e));
}

const ir::Access* access_of(const ir::State& s, ir::Id node) {
  const ir::Node* n = s.find_node(node);
  return n == nullptr ? nullptr : std::get_if<ir::Access>(&n->kind);
}

ir::Subset prefixed(const std::vector<ir::Range>& slice, const std::optional<ir::Subset>& subset) {
  std::vector<ir::Range> out = slice;
  if (subset) out.insert(out.end(), subset->ranges().begin(), subset->ranges().end());
  return ir::Subset(std::move(out));
}

void prefix_accesses(ir::Element& e, const std::string& name, const std::vector<ir::Range>& slice) {
  std::vector<tasklet::Expr> indices;
  for (const ir::Range& r : slice) indices.push_back(tasklet::from_symbolic(r.begin));
  const auto code = [&](const auto& self, const tasklet::Expr& x) -> tasklet::Expr {
    std::vector<tasklet::Expr> children;
    for (const tasklet::Expr& c : x.children()) children.push_back(self(self, c));
    if (const auto* sub = std::get_if<tasklet::Subscript>(&x.node()); sub != nullptr && sub->base == name) {
      children.insert(children.begin(), indices.begin(), indices.end());
      return tasklet::Expr::subscript(name, std::move(children), x.type());
    }
    return children.empty() ? x : x.with_children(std::move(children));
  };
  if (auto* s = std::get_if<ir::State>(&e.kind)) {
    for (ir::Memlet& m : s->edges) {
      if (m.is_order_only()) continue;
      const ir::Access* from = access_of(*s, m.src);
      const ir::Access* to = access_of(*s, m.dst);
      if (from != nullptr && from->data == name) m.src_subset = prefixed(slice, m.src_subset);
      if (to != nullptr && to->data == name) m.dst_subset = prefixed(slice, m.dst_subset);
    }
  } else if (auto* a = std::get_if<ir::Assign>(&e.kind)) {
    for (ir::Assign::Item& i : a->items) i.value = code(code, i.value);
  } else if (auto* f = std::get_if<ir::For>(&e.kind)) {
    for (tasklet::Expr* x : {&f->init, &f->condition, &f->update}) *x = code(code, *x);
  } else if (auto* w = std::get_if<ir::While>(&e.kind)) {
    w->condition = code(code, w->condition);
  } else if (auto* i = std::get_if<ir::If>(&e.kind)) {
    for (ir::If::Branch& b : i->branches) b.condition = code(code, b.condition);
  }
}

void for_each_kernel(ir::Graph& g, const KernelVisit& visit) {
  const auto walk = [&](const auto& self, ir::Sequence& s, const symbolic::Facts& facts) -> void {
    for (auto& item : s.items) {
      if (is_kernel(*item)) {
        visit(*item, facts);
        continue;
      }
      for (ir::Sequence* child : ir::child_sequences(*item))
        self(self, *child, ir::facts_inside(g, facts, *item, *child));
    }
  };
  walk(walk, g.body, ir::base_facts(g));
}

std::vector<std::unique_ptr<ir::Element>> split_state(ir::Graph& g, const ir::Element& element) {
  const auto& state = std::get<ir::State>(element.kind);
  const std::vector<ir::Id> order = state.topological_order();
  // Code nodes that exchange registers are one piece, named by its first node.
  std::map<ir::Id, ir::Id> piece;
  for (const ir::Id id : order) piece[id] = id;
  const auto root = [&](ir::Id id) {
    while (piece.at(id) != id) id = piece.at(id);
    return id;
  };
  for (const ir::Memlet& m : state.edges) {
    if (access_of(state, m.src) || access_of(state, m.dst) || m.is_order_only()) continue;
    piece[root(m.dst)] = root(m.src);
  }
  std::map<ir::Id, std::size_t> last;  // position of a piece: where its last node is
  for (std::size_t k = 0; k < order.size(); ++k) last[root(order[k])] = k;

  std::vector<std::unique_ptr<ir::Element>> out;
  const auto make = [&](const std::vector<const ir::Memlet*>& edges, const std::vector<ir::Id>& code) {
    ir::State part;
    std::map<ir::Id, ir::Id> made;
    const auto node = [&](ir::Id id) {
      if (const auto it = made.find(id); it != made.end()) return it->second;
      ir::Node copy = *state.find_node(id);
      if (std::holds_alternative<ir::Access>(copy.kind)) copy.id = g.new_id();
      made[id] = copy.id;
      part.nodes.push_back(std::move(copy));
      return made.at(id);
    };
    for (const ir::Id id : code) node(id);
    for (const ir::Memlet* m : edges) {
      ir::Memlet copy = *m;
      copy.src = node(m->src);
      copy.dst = node(m->dst);
      part.edges.push_back(std::move(copy));
    }
    auto e = std::make_unique<ir::Element>(
        ir::Element{out.empty() ? element.id : g.new_id(), element.label, element.location, std::move(part)});
    out.push_back(std::move(e));
  };
  for (std::size_t k = 0; k < order.size(); ++k) {
    const ir::Id id = order[k];
    if (access_of(state, id)) {
      for (const ir::Memlet* m : state.in_edges(id)) {
        if (access_of(state, m->src) && !m->is_order_only()) make({m}, {});
      }
      continue;
    }
    const ir::Id name = root(id);
    if (last.at(name) != k) continue;
    std::vector<ir::Id> code;
    std::set<ir::Id> members;
    for (const ir::Id other : order) {
      if (!access_of(state, other) && root(other) == name) {
        code.push_back(other);
        members.insert(other);
      }
    }
    std::vector<const ir::Memlet*> edges;
    for (const ir::Memlet& m : state.edges) {
      const bool from = members.contains(m.src), to = members.contains(m.dst);
      if (!from && !to) continue;
      if (m.is_order_only() && !(from && to)) continue;  // pieces run in order
      edges.push_back(&m);
    }
    make(edges, code);
  }
  return out;
}

}  // namespace sdfg::transform
