// Collects accesses from memlets, conditions and assignments.
#include "analysis/access.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace sdfg::analysis {

namespace {

using symbolic::Expr;

std::string_view root_of_path(std::string_view path) {
  return path.substr(0, path.find('.'));
}

// The subset of the viewed container that a subset of the view stands for; nothing when the layouts don't match
// dimension by dimension.
std::optional<ir::Subset> through_view(const ir::Container& shown, const ir::Container& view,
                                       const ir::Subset& subset) {
  if (!(shown.type == view.type) || view.viewed_subset.rank() != shown.rank() || subset.rank() != view.rank())
    return std::nullopt;
  const ir::Layout& inner = view.layout;
  const ir::Layout& outer = shown.layout;
  std::vector<ir::Range> ranges;
  std::size_t next = 0;
  for (std::size_t d = 0; d < shown.rank(); ++d) {
    const ir::Range& window = view.viewed_subset[d];
    if (!window.tile.is_one()) return std::nullopt;
    const bool kept = next < view.rank() && inner.strides()[next] == outer.strides()[d] * window.step &&
                      inner.offset()[next].is_zero();
    // A dimension that the window fixes may be absent from the view.
    if (window.is_index() && (!kept || view.rank() - next < shown.rank() - d)) {
      ranges.push_back(window);
      continue;
    }
    if (!kept) return std::nullopt;
    const ir::Range& r = subset[next++];
    if (!r.tile.is_one()) return std::nullopt;
    ranges.push_back(
        {window.begin + r.begin * window.step, window.begin + r.end * window.step, r.step * window.step, 1});
  }
  if (next != view.rank() || !inner.start_offset().is_zero()) return std::nullopt;
  return ir::Subset(std::move(ranges));
}

class Collector {
 public:
  Collector(const ir::Graph& g, AccessSet& out) : g_(g), out_(out) {}

  void sequence(const ir::Sequence& s) {
    for (const auto& item : s.items) {
      path_.push_back(item.get());
      element(*item);
      for (const ir::Sequence* child : ir::child_sequences(*item)) sequence(*child);
      path_.pop_back();
    }
  }

 private:
  void add(std::string_view data, std::optional<ir::Subset> subset, bool write, const ir::Memlet* m, ir::Id id) {
    Access a;
    std::string at(data);
    // Along chains of views, as long as the place can be followed.
    for (std::size_t hops = 0; hops <= g_.containers.size(); ++hops) {
      const ir::Container* c = ir::resolve(g_, at);
      if (!c) break;
      if (c->kind == ir::ContainerKind::kReference) subset.reset();
      if (c->kind != ir::ContainerKind::kView) break;
      const ir::Container* shown = ir::resolve(g_, c->viewed);
      if (!shown) break;
      if (subset) subset = through_view(*shown, *c, *subset);
      at = c->viewed;
    }
    const std::string_view root = root_of_path(at);
    if (root.size() != at.size()) {
      const ir::Container* c = g_.containers.find(root);
      // Members of a structure that itself is one object are containers of their own; elements of container arrays are
      // not told apart.
      if (!c || c->kind != ir::ContainerKind::kStructure) {
        at = std::string(root);
        subset.reset();
      }
    }
    a.container = at;
    a.placed = subset.has_value();
    if (subset) a.subset = std::move(*subset);
    a.write = write;
    a.id = id;
    a.path = path_;
    if (m) {
      a.dynamic = m->dynamic;
      if (m->wcr && write) a.wcr = m->wcr->op;
    }
    out_.accesses.push_back(std::move(a));
  }

  void code(const tasklet::Expr& e, ir::Id id) {
    const tasklet::Uses uses = tasklet::uses_of(e);
    for (const auto* list : {&uses.read, &uses.subscripted}) {
      for (const std::string& n : *list) {
        const ir::Container* c = ir::resolve(g_, n);
        if (!c) continue;
        // Indices of container reads in conditions are symbols or reads themselves; only scalars have a place without
        // looking.
        add(n, c->is_scalar() ? std::optional<ir::Subset>(ir::Subset()) : std::nullopt, false, nullptr, id);
      }
    }
    if (!uses.called.empty()) opaque("it calls '" + uses.called.front() + "'");
  }

  void opaque(std::string reason) {
    if (out_.opaque) return;
    out_.opaque = true;
    out_.opaque_reason = std::move(reason);
  }

  void declare(const std::vector<std::string>& names) {
    out_.declared.insert(out_.declared.end(), names.begin(), names.end());
  }

  void state(const ir::State& s) {
    for (const ir::Node& n : s.nodes) {
      if (const auto* t = std::get_if<ir::Tasklet>(&n.kind)) {
        if (t->code.language == tasklet::Language::kCpp && (!t->code.cpp || t->code.cpp->side_effects) &&
            t->side_effects != std::optional(false)) {
          opaque("the C++ tasklet '" + n.label + "' may do anything");
        } else if (t->code.language == tasklet::Language::kTree && t->side_effects != std::optional(false)) {
          const tasklet::Uses uses = tasklet::uses_of(t->code.body);
          if (!uses.called.empty()) opaque("the tasklet '" + n.label + "' calls '" + uses.called.front() + "'");
        }
      }
    }
    for (const ir::Memlet& m : s.edges) {
      if (m.is_order_only()) continue;
      const ir::Node* src = s.find_node(m.src);
      const ir::Node* dst = s.find_node(m.dst);
      const auto* from = src ? std::get_if<ir::Access>(&src->kind) : nullptr;
      const auto* to = dst ? std::get_if<ir::Access>(&dst->kind) : nullptr;
      if (m.set_reference) {
        opaque("it sets the reference '" + (to ? to->data : std::string()) + "'");
        continue;
      }
      if (from) add(from->data, m.src_subset, false, &m, m.id);
      if (to) {
        add(to->data, m.dst_subset, true, &m, m.id);
        const auto* library = src ? std::get_if<ir::Library>(&src->kind) : nullptr;
        if (library && ir::reads_output(*library, m.src_connector)) add(to->data, m.dst_subset, false, &m, m.id);
      }
    }
  }

  void element(const ir::Element& e) {
    std::visit(
        [&](const auto& kind) {
          using T = std::decay_t<decltype(kind)>;
          if constexpr (std::is_same_v<T, ir::State>) {
            state(kind);
          } else if constexpr (std::is_same_v<T, ir::Assign>) {
            for (const auto& item : kind.items) code(item.value, e.id);
          } else if constexpr (std::is_same_v<T, ir::Block>) {
            declare(kind.locals);
          } else if constexpr (std::is_same_v<T, ir::For>) {
            code(kind.init, e.id);
            code(kind.condition, e.id);
            code(kind.update, e.id);
          } else if constexpr (std::is_same_v<T, ir::While>) {
            code(kind.condition, e.id);
          } else if constexpr (std::is_same_v<T, ir::If>) {
            for (const auto& b : kind.branches) code(b.condition, e.id);
          } else if constexpr (std::is_same_v<T, ir::Consume>) {
            opaque("it consumes the stream '" + kind.stream + "'");
            declare({kind.element});
            if (kind.condition) code(*kind.condition, e.id);
          } else {
            static_assert(std::is_same_v<T, ir::Map> || std::is_same_v<T, ir::Exit> || std::is_same_v<T, ir::Return>);
          }
        },
        e.kind);
  }

  const ir::Graph& g_;
  AccessSet& out_;
  std::vector<const ir::Element*> path_;
};

}  // namespace

AccessSet accesses_of(const ir::Graph& g, const ir::Sequence& s) {
  AccessSet out;
  Collector(g, out).sequence(s);
  return out;
}

DistinctAccesses distinct(const AccessSet& set) {
  DistinctAccesses out;
  std::unordered_map<std::string, std::size_t> known;  // looked up only
  // What the outermost element below the sequence assigns, or anything in it.
  std::map<ir::Id, std::string> assigned;
  const auto assigned_below = [&](const ir::Element& e) -> const std::string& {
    const auto [at, fresh] = assigned.try_emplace(e.id);
    if (!fresh) return at->second;
    const auto collect = [&](const ir::Element& below) {
      const auto* a = std::get_if<ir::Assign>(&below.kind);
      if (a == nullptr) return;
      for (const auto& item : a->items) at->second += item.symbol + ",";
    };
    collect(e);
    for (const ir::Sequence* child : ir::child_sequences(e))
      ir::walk(*child, [&](const ir::Element& below, const ir::Ancestors&) { collect(below); });
    return at->second;
  };
  for (const Access& a : set.accesses) {
    std::string key = a.container + "[" + a.subset.str() + "]";
    key += a.placed ? 'p' : '-';
    key += a.write ? 'w' : '-';
    key += a.dynamic ? 'd' : '-';
    if (a.wcr) key += std::to_string(static_cast<int>(*a.wcr));
    for (const ir::Element* e : a.path) {
      const bool binds = std::holds_alternative<ir::Map>(e->kind) || std::holds_alternative<ir::For>(e->kind) ||
                         std::holds_alternative<ir::Consume>(e->kind);
      if (binds) key += "/" + std::to_string(e->id);
    }
    if (!a.path.empty()) key += "=" + assigned_below(*a.path.front());
    const auto [at, fresh] = known.try_emplace(std::move(key), out.first.size());
    if (fresh) out.first.push_back(out.kind.size());
    out.kind.push_back(at->second);
  }
  return out;
}

}  // namespace sdfg::analysis
