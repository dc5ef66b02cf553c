// Counted loops from `v = init; while (c) { ...; v = update }`.
#include <algorithm>

#include "io/importer.hpp"

namespace sdfg::io {

namespace {

using ir::Assign;
using ir::Element;
using ir::Sequence;
using ir::While;

bool continues(const Sequence& s, ir::Id loop) {
  bool found = false;
  ir::walk(s, [&](const Element& e, const ir::Ancestors&) {
    const auto* x = std::get_if<ir::Exit>(&e.kind);
    if (x != nullptr && x->target == loop && x->kind == ir::Exit::Kind::kContinue) found = true;
  });
  return found;
}

struct Candidate {
  Sequence* sequence;
  Element* assign;
  std::size_t item;  // of the assign
  Element* loop;
};

// How often each symbol is used or assigned below an element.
using Counts = std::map<std::string, int>;

void count_expression(const tasklet::Expr& e, Counts& counts) {
  if (const auto* n = std::get_if<tasklet::Name>(&e.node())) ++counts[n->name];
  for (const tasklet::Expr& c : e.children()) count_expression(c, counts);
}

// Elements in which each symbol is used or bound, by id of the element itself.
std::map<std::string, std::vector<const Element*>> users(const ir::Graph& g) {
  std::map<std::string, std::vector<const Element*>> out;
  ir::walk(g.body, [&](const Element& e, const ir::Ancestors&) {
    if (!ir::child_sequences(e).empty()) {
      // Only what the element itself says, not its children: conditions, ranges, sizes of its containers.
      Counts counts;
      if (const auto* f = std::get_if<ir::For>(&e.kind)) {
        count_expression(f->init, counts);
        count_expression(f->condition, counts);
        count_expression(f->update, counts);
      } else if (const auto* w = std::get_if<While>(&e.kind)) {
        count_expression(w->condition, counts);
      } else if (const auto* i = std::get_if<ir::If>(&e.kind)) {
        for (const auto& b : i->branches) count_expression(b.condition, counts);
      } else if (const auto* m = std::get_if<ir::Map>(&e.kind)) {
        for (const std::string& s : ir::Subset(m->ranges).free_symbols()) ++counts[s];
      } else if (const auto* c = std::get_if<ir::Consume>(&e.kind)) {
        if (c->condition) count_expression(*c->condition, counts);
        for (const std::string& s : symbolic::free_symbols(c->num_workers)) ++counts[s];
      } else if (const auto* b = std::get_if<ir::Block>(&e.kind)) {
        for (const std::string& name : b->locals) {
          const ir::Container& k = g.containers.at(name);
          for (const std::string& s : k.layout.free_symbols()) ++counts[s];
          for (const std::string& s : k.viewed_subset.free_symbols()) ++counts[s];
        }
      }
      for (const auto& [name, n] : counts) out[name].push_back(&e);
      return;
    }
    symbolic::SymbolSet all = ir::symbols_used(g, e);
    for (const std::string& s : ir::symbols_bound(e)) all.insert(s);
    for (const std::string& s : all) out[s].push_back(&e);
  });
  return out;
}

bool contains(const Sequence& s, const std::set<const Element*>& wanted_all, std::set<const Element*>& found) {
  ir::walk(s, [&](const Element& e, const ir::Ancestors&) {
    if (wanted_all.contains(&e)) found.insert(&e);
  });
  return !found.empty();
}

int assignments_of(const Sequence& s, const std::string& symbol) {
  int n = 0;
  ir::walk(s, [&](const Element& e, const ir::Ancestors&) {
    if (const auto* a = std::get_if<Assign>(&e.kind)) {
      for (const auto& item : a->items) n += item.symbol == symbol ? 1 : 0;
    }
  });
  return n;
}

// The update is the last thing of the body, possibly inside blocks that only declare containers.
Assign* trailing_assign(Sequence& s, Sequence** where) {
  Sequence* at = &s;
  while (!at->items.empty()) {
    Element& last = *at->items.back();
    if (auto* a = std::get_if<Assign>(&last.kind)) {
      *where = at;
      return a;
    }
    auto* b = std::get_if<ir::Block>(&last.kind);
    if (b == nullptr) return nullptr;
    at = &b->body;
  }
  return nullptr;
}

// While { block { ... } update }: leaving the block goes on with the update, which is what continue says.
ir::Element* continued_block(While& w, Assign* update) {
  if (w.body.items.size() != 2 || std::get_if<Assign>(&w.body.items[1]->kind) != update) return nullptr;
  auto* b = std::get_if<ir::Block>(&w.body.items[0]->kind);
  return b != nullptr && b->locals.empty() ? w.body.items[0].get() : nullptr;
}

void find_candidates(Sequence& s, std::map<std::string, std::vector<Candidate>>& out) {
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    for (Sequence* child : ir::child_sequences(*s.items[i])) find_candidates(*child, out);
    // A block that the loop's inside leaves may begin between the first value and the loop.
    Element* at = s.items[i].get();
    for (auto* b = std::get_if<ir::Block>(&at->kind); b != nullptr && b->locals.empty() && !b->body.items.empty();
         b = std::get_if<ir::Block>(&at->kind))
      at = b->body.items.front().get();
    auto* w = std::get_if<While>(&at->kind);
    if (w == nullptr || !w->test_first || i == 0) continue;
    auto* init = std::get_if<Assign>(&s.items[i - 1]->kind);
    Sequence* where = nullptr;
    Assign* update = init == nullptr ? nullptr : trailing_assign(w->body, &where);
    if (update == nullptr || update->items.size() != 1 || continues(w->body, at->id)) continue;
    const std::string& v = update->items[0].symbol;
    for (std::size_t k = 0; k < init->items.size(); ++k) {
      if (init->items[k].symbol == v && assignments_of(w->body, v) == 1)
        out[v].push_back({&s, s.items[i - 1].get(), k, at});
    }
  }
}

}  // namespace

void raise_counted_loops(ir::Graph& g) {
  // A round converts innermost loops; their disappearance may make an outer one eligible.
  for (bool changed = true; changed;) {
    changed = false;
    std::map<std::string, std::vector<Candidate>> candidates;
    find_candidates(g.body, candidates);
    if (candidates.empty()) return;
    const auto all_users = users(g);
    for (auto& [symbol, list] : candidates) {
      // Every use of the symbol must lie in one of the candidates: then no value lives on after a loop.
      auto it = all_users.find(symbol);
      std::set<const Element*> wanted(it->second.begin(), it->second.end());
      std::set<const Element*> covered;
      bool nested = false;
      for (const Candidate& c : list) {
        covered.insert(c.assign);
        covered.insert(c.loop);
        std::set<const Element*> found;
        contains(std::get<While>(c.loop->kind).body, wanted, found);
        covered.insert(found.begin(), found.end());
        for (const Candidate& other : list) nested = nested || (&other != &c && found.contains(other.assign));
      }
      if (nested || !std::includes(covered.begin(), covered.end(), wanted.begin(), wanted.end())) continue;
      const ir::Symbol original = g.symbols.at(symbol);
      g.symbols.erase(symbol);  // one of the loops may take over its name
      for (std::size_t k = list.size(); k-- > 0;) {
        const Candidate& c = list[k];
        auto& init = std::get<Assign>(c.assign->kind);
        While w = std::move(std::get<While>(c.loop->kind));
        Sequence* where = nullptr;
        Assign* update = trailing_assign(w.body, &where);
        ir::For f;
        ir::Symbol variable = original;
        variable.binder = ir::BinderKind::kLoopVariable;
        variable.name = g.unique_name(symbol);
        f.variable = variable.name;
        f.init = init.items[c.item].value;
        const std::map<std::string, tasklet::Expr, std::less<>> names{{symbol, tasklet::Expr::name(variable.name)}};
        f.condition = tasklet::replace_names(w.condition, names);
        f.update = tasklet::replace_names(update->items[0].value, names);
        ir::Element* block = continued_block(w, update);
        where->items.pop_back();
        if (block != nullptr) {
          ir::walk(std::get<ir::Block>(block->kind).body, [&](Element& e) {
            auto* x = std::get_if<ir::Exit>(&e.kind);
            if (x != nullptr && x->target == block->id) *x = {ir::Exit::Kind::kContinue, c.loop->id};
          });
          Sequence inside = std::move(std::get<ir::Block>(block->kind).body);
          f.body = std::move(inside);
        } else {
          f.body = std::move(w.body);
        }
        g.symbols.insert(std::move(variable));
        ir::substitute_symbols(g, f.body, {{symbol, symbolic::Expr::symbol(f.variable)}});
        c.loop->kind = std::move(f);
        init.items.erase(init.items.begin() + static_cast<std::ptrdiff_t>(c.item));
        // Indices of other candidates with the same Assign are not affected: an Assign belongs to the loop right behind
        // it.
        if (init.items.empty()) {
          auto& items = c.sequence->items;
          items.erase(std::find_if(items.begin(), items.end(), [&](const auto& e) { return e.get() == c.assign; }));
        }
      }
      changed = true;
      break;  // the other candidates' positions may be stale
    }
  }
}

}  // namespace sdfg::io
