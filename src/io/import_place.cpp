// Gives every transient of a file its declaring block: as far out as its size allows, but never outside the map that
// uses it.
#include <algorithm>

#include "io/importer.hpp"

namespace sdfg::io {

namespace {

using ir::Element;
using ir::Sequence;

// A position in the tree: a sequence, the index of an item in it, and the element that owns the sequence (nullptr: the
// graph).
struct Step {
  Sequence* sequence;
  std::size_t index;
  Element* owner;
};
using Path = std::vector<Step>;

class Placer {
 public:
  Placer(ir::Graph& g, const std::set<std::string>& names, const std::map<std::string, ir::Id>& limits,
         const std::map<std::string, std::set<ir::Id>>& shared)
      : graph_(g), names_(names), limits_(limits), shared_(shared) {}

  void run() {
    collect(graph_.body, {}, nullptr);
    // What a view shows is used wherever the view is, and what its window or size needs is needed there.
    std::map<std::string, std::vector<Path>> uses = uses_;
    for (const std::string& name : names_) {
      const ir::Container* c = &graph_.containers.at(name);
      const auto own = uses_.find(name);
      if (own == uses_.end()) continue;
      for (int depth = 0; c->kind == ir::ContainerKind::kView && depth < 64; ++depth) {
        const std::string viewed = c->viewed.substr(0, c->viewed.find('.'));
        auto& list = uses[viewed];
        list.insert(list.end(), own->second.begin(), own->second.end());
        c = &graph_.containers.at(viewed);
      }
    }
    for (const std::string& name : names_) {
      auto it = uses.find(name);
      if (it == uses.end())
        graph_.containers.erase(name);  // never used
      else
        place(name, it->second);
    }
    wrap();
  }

 private:
  void collect(Sequence& s, const Path& above, Element* owner) {
    for (std::size_t i = 0; i < s.items.size(); ++i) {
      Path here = above;
      here.push_back({&s, i, owner});
      Element& e = *s.items[i];
      auto use = [&](const std::string& data) {
        const std::string name = data.substr(0, data.find('.'));
        if (!names_.contains(name)) return;
        auto& list = uses_[name];
        if (list.empty() || list.back().size() != here.size() || list.back().back().sequence != &s ||
            list.back().back().index != i)
          list.push_back(here);
      };
      auto use_expression = [&](const tasklet::Expr& x) {
        for (const std::string& base : tasklet::uses_of(x).subscripted) use(base);
      };
      if (auto* state = std::get_if<ir::State>(&e.kind)) {
        for (const ir::Node& n : state->nodes) {
          if (const auto* a = std::get_if<ir::Access>(&n.kind)) use(a->data);
        }
      } else if (auto* a = std::get_if<ir::Assign>(&e.kind)) {
        for (const auto& item : a->items) use_expression(item.value);
      } else if (auto* f = std::get_if<ir::For>(&e.kind)) {
        use_expression(f->init);
        use_expression(f->condition);
        use_expression(f->update);
      } else if (auto* w = std::get_if<ir::While>(&e.kind)) {
        use_expression(w->condition);
      } else if (auto* c = std::get_if<ir::If>(&e.kind)) {
        for (const auto& b : c->branches) use_expression(b.condition);
      } else if (auto* consume = std::get_if<ir::Consume>(&e.kind)) {
        use(consume->stream);
        if (consume->condition) use_expression(*consume->condition);
      }
      for (Sequence* child : ir::child_sequences(e)) collect(*child, here, &e);
    }
  }

  symbolic::SymbolSet needed(const ir::Container& c) const {
    symbolic::SymbolSet out = c.layout.free_symbols();
    for (const std::string& s : c.viewed_subset.free_symbols()) out.insert(s);
    for (const std::string& s : symbolic::free_symbols(c.buffer_size)) out.insert(s);
    for (const ir::Container& m : c.members) {
      for (const std::string& s : needed(m)) out.insert(s);
    }
    std::erase_if(out,
                  [this](const std::string& s) { return graph_.symbols.at(s).binder == ir::BinderKind::kParameter; });
    return out;
  }

  static bool binds_any(const Element& e, const symbolic::SymbolSet& symbols) {
    if (symbols.empty()) return false;
    for (const std::string& s : ir::symbols_bound(e)) {
      if (symbols.contains(s)) return true;
    }
    return false;
  }

  void place(const std::string& name, const std::vector<Path>& uses) {
    const symbolic::SymbolSet symbols = needed(graph_.containers.at(name));
    // The deepest sequence that contains all uses.
    std::size_t depth = uses.front().size();
    for (const Path& p : uses) {
      std::size_t common = 0;
      while (common < std::min(depth, p.size()) && p[common].sequence == uses.front()[common].sequence) ++common;
      depth = std::min(depth, common);
      // Beyond the first differing index paths may still name the same sequence only if the indices agree.
      for (std::size_t k = 0; k + 1 < depth; ++k) {
        if (p[k].index != uses.front()[k].index) {
          depth = k + 1;
          break;
        }
      }
    }
    std::size_t level = depth - 1;
    // A view is only another name; where it is declared does not show.
    const bool view = graph_.containers.at(name).kind == ir::ContainerKind::kView;
    if (const auto outside = shared_.find(name); outside != shared_.end() && !view) {
      for (std::size_t k = 1; k <= level; ++k) {
        const Element& owner = *uses.front()[k].owner;
        if (binds_any(owner, symbols)) break;
        if (outside->second.contains(owner.id)) level = k - 1;
      }
    }
    // A queue or a zeroed array is new whenever its graph is entered; others have no content then, so it does not show.
    const auto limit = limits_.find(name);
    // Outwards, so that a value crosses the iterations of loops, while the size stays known and constant.
    while (level > 0) {
      const Element* owner = uses.front()[level].owner;
      if (std::holds_alternative<ir::Map>(owner->kind) || std::holds_alternative<ir::Consume>(owner->kind) ||
          binds_any(*owner, symbols) || (limit != limits_.end() && limit->second == owner->id))
        break;
      --level;
    }
    Sequence* s = uses.front()[level].sequence;
    std::size_t first = s->items.size(), last = 0;
    for (const Path& p : uses) {
      first = std::min(first, p[level].index);
      last = std::max(last, p[level].index);
    }
    for (std::size_t i = first; i <= last; ++i) {
      if (binds_any(*s->items[i], symbols)) {
        throw Error(ErrorClass::kGraph,
                    "the size of '" + graph_.containers.at(name).label + "' changes while it is in use",
                    ir::places_of(graph_, s->items[i]->id));
      }
    }
    if (level == 0 && symbols.empty()) {
      graph_.locals.push_back(name);
      return;
    }
    // As early and late as the symbols allow, so that containers of one sequence share their block.
    while (first > 0 && !binds_any(*s->items[first - 1], symbols)) --first;
    while (last + 1 < s->items.size() && !binds_any(*s->items[last + 1], symbols)) ++last;
    spans_[s].push_back({first, last, {name}});
  }

  struct Span {
    std::size_t first, last;
    std::vector<std::string> names;
  };

  void wrap() {
    for (auto& [sequence, spans] : spans_) order_names(spans);
    // Innermost sequences first does not matter: wrapping moves whole items.
    for (auto& [sequence, spans] : spans_) wrap_sequence(*sequence, spans);
    std::sort(graph_.locals.begin(), graph_.locals.end(),
              [this](const std::string& a, const std::string& b) { return before(a, b); });
  }

  // Viewed containers before their views; otherwise the order of the table.
  bool before(const std::string& a, const std::string& b) const {
    return std::pair(view_depth(a), a) < std::pair(view_depth(b), b);
  }
  int view_depth(const std::string& name) const {
    int depth = 0;
    for (const ir::Container* c = graph_.containers.find(name);
         c != nullptr && c->kind == ir::ContainerKind::kView && depth < 64; ++depth) {
      c = graph_.containers.find(c->viewed.substr(0, c->viewed.find('.')));
    }
    return depth;
  }

  void order_names(std::vector<Span>& spans) const {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> same;
    for (const Span& s : spans) same[{s.first, s.last}].push_back(s.names.front());
    spans.clear();
    for (auto& [range, names] : same) {
      std::sort(names.begin(), names.end(),
                [this](const std::string& a, const std::string& b) { return before(a, b); });
      spans.push_back({range.first, range.second, std::move(names)});
    }
  }

  void wrap_sequence(Sequence& s, std::vector<Span> spans) {
    // Widest first; a partly overlapping one is widened to its union, which is legal only if it stays legal for its
    // symbols: by construction spans were already as wide as their symbols allow, so an overlap is a conflict.
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return std::pair(a.first, b.last) < std::pair(b.first, a.last); });
    for (std::size_t i = 0; i < spans.size(); ++i) {
      for (std::size_t j = i + 1; j < spans.size(); ++j) {
        if (spans[j].first <= spans[i].last && spans[j].last > spans[i].last) shrink(s, spans[j], spans[i]);
      }
    }
    build(s, spans, 0, s.items.size());
  }
  // Makes two overlapping spans nest or separate by dropping items that don't use the containers.
  void shrink(const Sequence& s, Span& later, Span& earlier) const {
    auto used = [&](const Span& span, std::size_t i) {
      for (const std::string& n : span.names) {
        if (mentions(*s.items[i], n)) return true;
      }
      return false;
    };
    while (later.first <= earlier.last && later.last > earlier.last && !used(later, later.first)) ++later.first;
    while (later.first <= earlier.last && later.last > earlier.last && !used(later, later.last)) --later.last;
    while (later.first <= earlier.last && later.last > earlier.last && !used(earlier, earlier.last)) --earlier.last;
    if (later.first <= earlier.last && later.last > earlier.last) {
      throw Error(ErrorClass::kGraph, "the lifetimes of '" + earlier.names.front() + "' and '" + later.names.front() +
                                          "' overlap in a way that blocks can't express");
    }
  }
  bool mentions(const Element& e, const std::string& name) const {
    auto has = [&](const symbolic::SymbolSet& set) {
      return std::any_of(set.begin(), set.end(), [&](const std::string& n) {
        const std::string head = n.substr(0, n.find('.'));
        if (head == name) return true;
        for (const ir::Container* c = graph_.containers.find(head);
             c != nullptr && c->kind == ir::ContainerKind::kView;) {
          const std::string viewed = c->viewed.substr(0, c->viewed.find('.'));
          if (viewed == name) return true;
          c = graph_.containers.find(viewed);
        }
        return false;
      });
    };
    return has(ir::containers_read(graph_, e)) || has(ir::containers_written(graph_, e));
  }

  // Rebuilds items [begin, end) of the sequence with the spans (sorted, nested or disjoint) as blocks.
  void build(Sequence& s, const std::vector<Span>& spans, std::size_t begin, std::size_t end) {
    std::vector<std::unique_ptr<Element>> items = std::move(s.items);
    s.items.clear();
    std::size_t next = 0;
    fill(s, items, spans, next, begin, end);
  }
  void fill(Sequence& out, std::vector<std::unique_ptr<Element>>& items, const std::vector<Span>& spans,
            std::size_t& next, std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end) {
      if (next < spans.size() && spans[next].first == i && spans[next].last < end) {
        const Span& span = spans[next++];
        ir::Block b;
        b.locals = span.names;
        Element& e = graph_.append(out, std::move(b));
        fill(std::get<ir::Block>(e.kind).body, items, spans, next, span.first, span.last + 1);
        i = span.last + 1;
      } else {
        out.items.push_back(std::move(items[i++]));
      }
    }
  }

  ir::Graph& graph_;
  const std::set<std::string>& names_;
  const std::map<std::string, ir::Id>& limits_;
  const std::map<std::string, std::set<ir::Id>>& shared_;
  std::map<std::string, std::vector<Path>> uses_;
  std::map<Sequence*, std::vector<Span>> spans_;
};

}  // namespace

void Importer::place_declarations() {
  // The element of a consume scope is declared by the scope itself.
  Placer(graph_, to_place_, limits_, shared_).run();
}

}  // namespace sdfg::io
