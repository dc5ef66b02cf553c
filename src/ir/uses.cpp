// What elements declare, bind, read and write.
#include <algorithm>

#include "ir/cpp_text.hpp"
#include "ir/sites.hpp"

namespace sdfg::ir {

using symbolic::SymbolSet;

namespace {

void erase_names(std::vector<std::string>& from, const std::vector<std::string>& names) {
  std::erase_if(from, [&](const std::string& n) { return std::find(names.begin(), names.end(), n) != names.end(); });
}

void add_subset_symbols(const Subset& s, SymbolSet& out) {
  out.merge(s.free_symbols());
}

// Names in code of control flow: symbols, and bases of container reads.
void add_code(const tasklet::Expr& e, SymbolSet* symbols, SymbolSet* containers) {
  const tasklet::Uses uses = tasklet::uses_of(e);
  if (symbols != nullptr) {
    symbols->insert(uses.read.begin(), uses.read.end());
    symbols->insert(uses.called.begin(), uses.called.end());
  }
  if (containers != nullptr) {
    for (const std::string& base : uses.subscripted) containers->emplace(root_name(base));
  }
}

struct SymbolCollector : SiteVisitor {
  const Graph& g;
  SymbolSet& out;
  SymbolCollector(const Graph& graph, SymbolSet& symbols) : g(graph), out(symbols) {}

  void layout_of(std::string_view path) {
    const Container* c = resolve(g, path);
    if (c == nullptr) return;
    add_layout_symbols(g, *c, out);
  }
  void access(const Node&, const Access& a) { layout_of(a.data); }
  void tasklet(const State&, const Node&, const Tasklet& t) {
    const tasklet::Uses uses = outer_uses(t);
    for (const auto* names : {&uses.read, &uses.called}) {
      for (const std::string& name : *names) {
        if (g.symbols.contains(name)) out.insert(name);
      }
    }
  }
  void library(const Node&, const Library& l) {
    if (const auto* fft = std::get_if<Fft>(&l.op)) out.merge(symbolic::free_symbols(fft->factor));
  }
  void memlet(const State&, const Memlet& m) {
    if (m.src_subset) add_subset_symbols(*m.src_subset, out);
    if (m.dst_subset) add_subset_symbols(*m.dst_subset, out);
    if (m.wcr && m.wcr->op == ReduceOp::kCustom) {
      for (const std::string& name : tasklet::uses_of(m.wcr->custom).read) {
        if (g.symbols.contains(name)) out.insert(name);
      }
    }
  }
  void code(const tasklet::Expr& e) {
    SymbolSet bases;
    add_code(e, &out, &bases);
    for (const std::string& base : bases) layout_of(base);
  }
  void expr(const symbolic::Expr& e) { out.merge(symbolic::free_symbols(e)); }
  void range(const Range& r) {
    for (const symbolic::Expr* e : {&r.begin, &r.end, &r.step, &r.tile}) out.merge(symbolic::free_symbols(*e));
  }
  void binder(const std::string& name) { out.insert(name); }
  void declared(const std::string& name) { layout_of(name); }
  void container(const std::string& name) { layout_of(name); }
};

// Containers whose address some `set_reference` memlet of the graph gives to the reference.
SymbolSet targets_of(const Graph& g, std::string_view reference) {
  SymbolSet targets;
  for_each_element(g.body, [&](const Element& e) {
    const auto* state = std::get_if<State>(&e.kind);
    if (state == nullptr) return;
    for (const Memlet& m : state->edges) {
      if (!m.set_reference) continue;
      const Node* src = state->find_node(m.src);
      const Node* dst = state->find_node(m.dst);
      const auto* from = src == nullptr ? nullptr : std::get_if<Access>(&src->kind);
      const auto* to = dst == nullptr ? nullptr : std::get_if<Access>(&dst->kind);
      if (from != nullptr && to != nullptr && root_name(to->data) == reference) targets.emplace(root_name(from->data));
    }
  });
  return targets;
}

// A container and what an access through it touches: the viewed one of a view, the possible targets of a reference.
void add_touched(const Graph& g, std::string_view path, SymbolSet& out) {
  const std::string name(root_name(path));
  if (!out.insert(name).second) return;
  const Container* c = g.containers.find(name);
  if (c == nullptr) return;
  if (!c->viewed.empty()) add_touched(g, c->viewed, out);
  if (c->kind == ContainerKind::kReference) {
    for (const std::string& target : targets_of(g, name)) add_touched(g, target, out);
  }
}

bool is_stream(const Graph& g, std::string_view path) {
  const Container* c = resolve(g, path);
  return c != nullptr && c->kind == ContainerKind::kStream;
}

struct ContainerCollector : SiteVisitor {
  const Graph& g;
  SymbolSet* read;
  SymbolSet* written;
  ContainerCollector(const Graph& graph, SymbolSet* r, SymbolSet* w) : g(graph), read(r), written(w) {}

  void add(SymbolSet* set, std::string_view path) {
    if (set != nullptr) add_touched(g, path, *set);
  }
  void tasklet(const State&, const Node&, const Tasklet& t) {
    const tasklet::Uses uses = outer_uses(t);
    for (const auto* names : {&uses.read, &uses.subscripted}) {
      for (const std::string& name : *names) {
        if (g.containers.contains(root_name(name))) add(read, name);
      }
    }
  }
  void memlet(const State& s, const Memlet& m) {
    if (m.is_order_only()) return;
    const Node* src = s.find_node(m.src);
    const Node* dst = s.find_node(m.dst);
    const auto* from = src == nullptr ? nullptr : std::get_if<Access>(&src->kind);
    const auto* to = dst == nullptr ? nullptr : std::get_if<Access>(&dst->kind);
    if (from != nullptr) {
      add(read, from->data);
      if (is_stream(g, from->data)) add(written, from->data);  // a pop takes the element away
    }
    if (to != nullptr) {
      if (m.set_reference) {
        if (written != nullptr) written->emplace(root_name(to->data));  // the pointer alone, not what it shows
        return;
      }
      add(written, to->data);
      const auto* library = src == nullptr ? nullptr : std::get_if<Library>(&src->kind);
      if (m.wcr || (library != nullptr && reads_output(*library, m.src_connector))) add(read, to->data);
    }
  }
  void code(const tasklet::Expr& e) {
    SymbolSet bases;
    add_code(e, nullptr, &bases);
    for (const std::string& base : bases) add(read, base);
  }
  void container(const std::string& name) {
    add(read, name);
    add(written, name);
  }
};

}  // namespace

std::string_view root_name(std::string_view path) {
  return path.substr(0, path.find('.'));
}

tasklet::Uses outer_uses(const Tasklet& t) {
  tasklet::Uses uses;
  switch (t.code.language) {
    case tasklet::Language::kTree: uses = tasklet::uses_of(t.code.body); break;
    case tasklet::Language::kCpp:
      if (t.code.cpp) {
        uses.read = t.code.cpp->free_names;
        for (const std::string& name : t.code.cpp->reads) {
          if (std::find(uses.read.begin(), uses.read.end(), name) == uses.read.end()) uses.read.push_back(name);
        }
      } else {
        uses.read = identifiers_of(t.code.text);
      }
      break;
  }
  std::vector<std::string> inner = uses.written;
  for (const auto* connectors : {&t.inputs, &t.outputs}) {
    for (const Connector& c : *connectors) inner.push_back(c.name);
  }
  erase_names(uses.read, inner);
  erase_names(uses.called, inner);
  erase_names(uses.subscripted, inner);
  return uses;
}

void add_layout_symbols(const Graph& g, const Container& c, SymbolSet& out) {
  const Container* at = &c;
  for (std::size_t hops = 0; at != nullptr && hops <= g.containers.size(); ++hops) {
    out.merge(at->layout.free_symbols());
    add_subset_symbols(at->viewed_subset, out);
    out.merge(symbolic::free_symbols(at->buffer_size));
    for (const Container& member : at->members) add_layout_symbols(g, member, out);
    at = at->viewed.empty() ? nullptr : resolve(g, at->viewed);
  }
}

void add_symbols_used(const Graph& g, const Element& e, SymbolSet& out) {
  SymbolCollector collector(g, out);
  visit_sites(e, collector);
}

SymbolSet symbols_used(const Graph& g, const Element& e) {
  SymbolSet symbols;
  for_each_below(e, [&](const Element& below) { add_symbols_used(g, below, symbols); });
  return symbols;
}

SymbolSet symbols_bound(const Element& e) {
  struct Binders : SiteVisitor {
    SymbolSet out;
    void binder(const std::string& name) { out.insert(name); }
  } binders;
  for_each_below(e, [&](const Element& below) { visit_sites(below, binders); });
  return std::move(binders.out);
}

SymbolSet containers_read(const Graph& g, const Element& e) {
  SymbolSet names;
  ContainerCollector collector(g, &names, nullptr);
  for_each_below(e, [&](const Element& below) { visit_sites(below, collector); });
  return names;
}

SymbolSet containers_written(const Graph& g, const Element& e) {
  SymbolSet names;
  ContainerCollector collector(g, nullptr, &names);
  for_each_below(e, [&](const Element& below) { visit_sites(below, collector); });
  return names;
}

SymbolSet containers_declared(const Element& e) {
  struct Declarations : SiteVisitor {
    SymbolSet out;
    void declared(const std::string& name) { out.insert(name); }
  } declarations;
  for_each_below(e, [&](const Element& below) { visit_sites(below, declarations); });
  return std::move(declarations.out);
}

}  // namespace sdfg::ir
