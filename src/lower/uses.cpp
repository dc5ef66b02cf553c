// Collects positions of bindings, writes and uses in one walk.
#include "lower/uses.hpp"

#include <algorithm>
#include <variant>

namespace sdfg::lower {

std::string_view root_name(std::string_view path) {
  return path.substr(0, path.find('.'));
}

namespace {

struct Position {
  const ir::Sequence* sequence;
  std::size_t index;
};
using Path = std::vector<Position>;

struct Write {
  Path path;
  const ir::State* state;
  const ir::Memlet* memlet;
};

struct SymbolUses {
  std::vector<Path> assigned;
  std::vector<Path> used;
  std::vector<std::vector<ir::Id>> maps;  // enclosing maps of each Assign, outermost first
};

struct ContainerUses {
  std::vector<Write> writes;
  std::vector<Path> reads;                     // outside of states
  std::vector<std::pair<Path, ir::Id>> nodes;  // Access nodes in states
  const ir::Sequence* declared = nullptr;
};

// Position p comes after the element at `from`, in the same sequence (or inside a later element of it).
bool follows(const Path& p, const Path& from) {
  const Position& origin = from.back();
  const std::size_t depth = from.size() - 1;
  return p.size() > depth && p[depth].sequence == origin.sequence && p[depth].index > origin.index;
}

bool same_place(const Path& a, const Path& b) {
  return a.size() == b.size() && a.back().sequence == b.back().sequence && a.back().index == b.back().index;
}

bool reaches(const ir::State& s, ir::Id from, ir::Id to) {
  std::set<ir::Id> seen{from};
  std::vector<ir::Id> work{from};
  while (!work.empty()) {
    const ir::Id at = work.back();
    work.pop_back();
    if (at == to) return true;
    for (const ir::Memlet& m : s.edges) {
      if (m.src == at && seen.insert(m.dst).second) work.push_back(m.dst);
    }
  }
  return false;
}

}  // namespace

struct Uses::Collector {
  const ir::Graph& g;
  Uses& out;
  std::map<std::string, SymbolUses, std::less<>> symbols;
  std::map<std::string, ContainerUses, std::less<>> containers;
  Path path;
  std::vector<ir::Id> maps;

  void name(std::string_view n) {
    if (g.symbols.contains(n)) {
      symbols[std::string(n)].used.push_back(path);
    } else if (const std::string_view root = root_name(n); g.containers.contains(root)) {
      containers[std::string(root)].reads.push_back(path);
      out.used_.emplace(root);
    }
  }
  void names(const symbolic::SymbolSet& set) {
    for (const std::string& n : set) name(n);
  }
  void code(const tasklet::Expr& e) {
    const tasklet::Uses uses = tasklet::uses_of(e);
    for (const std::string& n : uses.read) name(n);
    for (const std::string& n : uses.subscripted) name(n);
    for (const std::string& n : uses.called) name(n);
  }
  void expr(const symbolic::Expr& e) { names(symbolic::free_symbols(e)); }

  void declare(const std::vector<std::string>& locals, const ir::Sequence& where) {
    for (const std::string& local : locals) {
      const ir::Container& c = g.containers.at(local);
      containers[local].declared = &where;
      names(c.layout.free_symbols());
      names(c.viewed_subset.free_symbols());
    }
  }

  void state(const ir::Element& e, const ir::State& s) {
    names(ir::symbols_used(g, e));
    for (const ir::Node& n : s.nodes) {
      if (const auto* a = std::get_if<ir::Access>(&n.kind)) {
        containers[std::string(root_name(a->data))].nodes.emplace_back(path, n.id);
        out.used_.emplace(root_name(a->data));
      }
    }
    for (const ir::Memlet& m : s.edges) {
      const ir::Node* dst = s.find_node(m.dst);
      const auto* a = dst ? std::get_if<ir::Access>(&dst->kind) : nullptr;
      if (a && !m.is_order_only()) containers[std::string(root_name(a->data))].writes.push_back({path, &s, &m});
      if (m.set_reference) {
        const ir::Node* src = s.find_node(m.src);
        if (const auto* source = src ? std::get_if<ir::Access>(&src->kind) : nullptr) {
          out.viewed_.emplace(root_name(source->data));
          out.written_.emplace(root_name(source->data));  // through the reference, as far as is known here
        }
      }
    }
  }

  void element(const ir::Element& e) {
    std::visit(
        [&](const auto& kind) {
          using T = std::decay_t<decltype(kind)>;
          if constexpr (std::is_same_v<T, ir::State>) {
            state(e, kind);
          } else if constexpr (std::is_same_v<T, ir::Assign>) {
            for (const auto& item : kind.items) code(item.value);
            for (const auto& item : kind.items) {
              symbols[item.symbol].assigned.push_back(path);
              symbols[item.symbol].maps.push_back(maps);
            }
          } else if constexpr (std::is_same_v<T, ir::Block>) {
            declare(kind.locals, kind.body);
          } else if constexpr (std::is_same_v<T, ir::For>) {
            code(kind.init);
            code(kind.condition);
            code(kind.update);
          } else if constexpr (std::is_same_v<T, ir::While>) {
            code(kind.condition);
          } else if constexpr (std::is_same_v<T, ir::If>) {
            for (const auto& b : kind.branches) code(b.condition);
          } else if constexpr (std::is_same_v<T, ir::Map>) {
            for (const ir::Range& r : kind.ranges) {
              expr(r.begin);
              expr(r.end);
              expr(r.step);
            }
          } else if constexpr (std::is_same_v<T, ir::Consume>) {
            expr(kind.num_workers);
            if (kind.condition) code(*kind.condition);
            name(kind.stream);
          } else {
            static_assert(std::is_same_v<T, ir::Exit> || std::is_same_v<T, ir::Return>);
          }
        },
        e.kind);
    const bool is_map = std::holds_alternative<ir::Map>(e.kind);
    if (is_map) maps.push_back(e.id);
    for (const ir::Sequence* child : ir::child_sequences(e)) sequence(*child);
    if (is_map) maps.pop_back();
  }

  void sequence(const ir::Sequence& s) {
    for (std::size_t i = 0; i < s.items.size(); ++i) {
      path.push_back({&s, i});
      element(*s.items[i]);
      path.pop_back();
    }
  }

  ir::Id written_once(const std::string& n, const ContainerUses& u) const {
    const ir::Container& c = g.containers.at(n);
    if (!c.is_scalar() || !c.transient || c.lifetime != ir::Lifetime::kScope || c.zeroed || c.constant) return 0;
    if (out.viewed_.contains(n) || u.writes.size() != 1 || !u.declared) return 0;
    const Write& w = u.writes.front();
    if (w.path.back().sequence != u.declared || w.memlet->dynamic || w.memlet->wcr) return 0;
    const ir::Node* src = w.state->find_node(w.memlet->src);
    if (!src || !std::holds_alternative<ir::Tasklet>(src->kind)) return 0;
    for (const Path& p : u.reads) {
      if (!follows(p, w.path)) return 0;
    }
    for (const auto& [p, node] : u.nodes) {
      if (follows(p, w.path)) continue;
      if (!same_place(p, w.path) || !reaches(*w.state, w.memlet->dst, node)) return 0;
    }
    return w.memlet->id;
  }

  void conclude() {
    for (const auto& [n, u] : symbols) {
      const bool once = u.assigned.size() == 1 &&
                        std::ranges::all_of(u.used, [&](const Path& p) { return follows(p, u.assigned.front()); });
      if (once) out.bound_once_.insert(n);
    }
    for (const ir::Symbol& s : g.symbols) {  // in the table's order
      auto it = symbols.find(s.name);
      if (it == symbols.end() || it->second.assigned.empty() || out.bound_once_.contains(s.name)) continue;
      std::vector<ir::Id> common = it->second.maps.front();
      for (const std::vector<ir::Id>& chain : it->second.maps) {
        std::size_t k = 0;
        while (k < common.size() && k < chain.size() && common[k] == chain[k]) ++k;
        common.resize(k);
      }
      out.declared_in_[common.empty() ? 0 : common.back()].push_back(s.name);
    }
    for (const auto& [n, u] : containers) {
      if (!u.writes.empty()) out.written_.insert(n);
    }
    // A write through a view is a write of what it shows, along chains.
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::Container& c : g.containers) {
        if (c.kind != ir::ContainerKind::kView) continue;
        const std::string target(root_name(c.viewed));
        if (out.written_.contains(c.name) && out.written_.insert(target).second) changed = true;
        if (out.used_.contains(c.name) && out.used_.insert(target).second) changed = true;
      }
    }
    for (const auto& [n, u] : containers) {
      if (g.containers.contains(n)) {
        if (const ir::Id id = written_once(n, u)) out.written_once_[n] = id;
      }
    }
  }
};

Uses::Uses(const ir::Graph& g) {
  Collector c{g, *this, {}, {}, {}, {}};
  for (const ir::Container& container : g.containers) {
    if (container.kind == ir::ContainerKind::kView) viewed_.emplace(root_name(container.viewed));
  }
  c.declare(g.locals, g.body);
  c.sequence(g.body);
  c.conclude();
}

const std::vector<std::string>& Uses::declared_in(ir::Id map) const {
  static const std::vector<std::string>& none = *new std::vector<std::string>;
  auto it = declared_in_.find(map);
  return it == declared_in_.end() ? none : it->second;
}

ir::Id Uses::written_once(std::string_view container) const {
  auto it = written_once_.find(container);
  return it == written_once_.end() ? 0 : it->second;
}

}  // namespace sdfg::lower
