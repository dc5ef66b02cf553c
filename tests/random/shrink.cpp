// Shrinking by removing elements, replacing elements by their bodies, cutting branches, statements, outputs and unused
// declarations.
#include "shrink.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "symbolic/expr.hpp"

namespace sdfg::test {

namespace {

using Edit = std::function<bool(ir::Graph&)>;  // false: does not apply

void for_each_sequence(ir::Sequence& s, const std::function<void(ir::Sequence&)>& visit) {
  visit(s);
  for (auto& item : s.items)
    for (ir::Sequence* child : ir::child_sequences(*item)) for_each_sequence(*child, visit);
}

// Runs `edit` on the n-th element (pre-order) with its sequence and position.
bool at_element(ir::Graph& g, std::size_t n, const std::function<bool(ir::Sequence&, std::size_t)>& edit) {
  bool done = false;
  std::size_t k = 0;
  const std::function<void(ir::Sequence&)> walk = [&](ir::Sequence& s) {
    for (std::size_t i = 0; i < s.items.size(); ++i) {
      if (k++ == n) {
        done = edit(s, i);
        return;
      }
      for (ir::Sequence* child : ir::child_sequences(*s.items[i])) {
        walk(*child);
        if (k > n) return;
      }
    }
  };
  walk(g.body);
  return done;
}

std::size_t count_elements(const ir::Graph& g) {
  std::size_t n = 0;
  ir::walk(g.body, [&](const ir::Element&, const ir::Ancestors&) { ++n; });
  return n;
}

// ---- Edits; each is a function of an element's number and a variation ----

bool remove_element(ir::Sequence& s, std::size_t i) {
  s.items.erase(s.items.begin() + static_cast<std::ptrdiff_t>(i));
  return true;
}

// An If, loop or block by the items of one of its sequences; containers of a block move to the graph.
bool unwrap(ir::Graph& g, ir::Sequence& s, std::size_t i, std::size_t which) {
  ir::Element& e = *s.items[i];
  if (std::holds_alternative<ir::Map>(e.kind) || std::holds_alternative<ir::Consume>(e.kind)) return false;
  const std::vector<ir::Sequence*> children = ir::child_sequences(e);
  if (which >= children.size()) return false;
  if (const auto* block = std::get_if<ir::Block>(&e.kind))
    for (const std::string& name : block->locals) g.locals.push_back(name);
  std::vector<std::unique_ptr<ir::Element>> inner = std::move(children[which]->items);
  s.items.erase(s.items.begin() + static_cast<std::ptrdiff_t>(i));
  s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(inner.begin()),
                 std::make_move_iterator(inner.end()));
  return true;
}

bool drop_branch(ir::Sequence& s, std::size_t i, std::size_t which) {
  auto* branch = std::get_if<ir::If>(&s.items[i]->kind);
  if (branch == nullptr || branch->branches.size() < 2 || which >= branch->branches.size()) return false;
  branch->branches.erase(branch->branches.begin() + static_cast<std::ptrdiff_t>(which));
  return true;
}

bool drop_map_dimension(ir::Graph& g, ir::Sequence& s, std::size_t i, std::size_t which) {
  auto* map = std::get_if<ir::Map>(&s.items[i]->kind);
  if (map == nullptr || which >= map->params.size()) return false;
  const std::string name = map->params[which];
  const symbolic::Expr begin = map->ranges[which].begin;
  if (map->params.size() == 1) {
    std::vector<std::unique_ptr<ir::Element>> inner = std::move(map->body.items);
    s.items.erase(s.items.begin() + static_cast<std::ptrdiff_t>(i));
    s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(inner.begin()),
                   std::make_move_iterator(inner.end()));
  } else {
    map->params.erase(map->params.begin() + static_cast<std::ptrdiff_t>(which));
    map->ranges.erase(map->ranges.begin() + static_cast<std::ptrdiff_t>(which));
  }
  ir::substitute_symbols(g, s, {{name, begin}});
  g.symbols.erase(name);
  return true;
}

ir::Tasklet* only_tasklet(ir::Sequence& s, std::size_t i) {
  auto* state = std::get_if<ir::State>(&s.items[i]->kind);
  if (state == nullptr) return nullptr;
  for (ir::Node& n : state->nodes)
    if (auto* t = std::get_if<ir::Tasklet>(&n.kind)) return t;
  return nullptr;
}

// Drops one input or output of a tasklet with its memlet and access node.
bool drop_connector(ir::Sequence& s, std::size_t i, std::size_t which) {
  ir::Tasklet* t = only_tasklet(s, i);
  if (t == nullptr) return false;
  auto& state = std::get<ir::State>(s.items[i]->kind);
  const bool output = which >= t->inputs.size();
  auto& list = output ? t->outputs : t->inputs;
  const std::size_t at = output ? which - t->inputs.size() : which;
  if (at >= list.size()) return false;
  const std::string name = list[at].name;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  std::erase_if(state.edges, [&](const ir::Memlet& m) { return (output ? m.src_connector : m.dst_connector) == name; });
  std::erase_if(state.nodes, [&](const ir::Node& n) {
    return std::holds_alternative<ir::Access>(n.kind) && state.in_edges(n.id).empty() && state.out_edges(n.id).empty();
  });
  return true;
}

// ---- Simplifying expressions ----

// The k-th sub-expression (pre-order) replaced by its j-th operand or by a small literal.
std::optional<tasklet::Expr> simplified(const tasklet::Expr& e, std::size_t& k, std::size_t j) {
  if (k == 0) {
    if (j < e.children().size()) return e.children()[j];
    if (j == e.children().size() && !e.children().empty()) return tasklet::Expr::weak(1);
    return {};
  }
  --k;
  std::vector<tasklet::Expr> children(e.children().begin(), e.children().end());
  for (tasklet::Expr& c : children)
    if (auto changed = simplified(c, k, j)) {
      c = *changed;
      return e.with_children(children);
    }
  return {};
}

std::size_t size_of_expression(const tasklet::Expr& e) {
  std::size_t n = 1;
  for (const tasklet::Expr& c : e.children()) n += size_of_expression(c);
  return n;
}

std::vector<tasklet::Expr*> expressions(tasklet::Body& body) {
  std::vector<tasklet::Expr*> out;
  for (tasklet::Statement& s : body) {
    if (auto* a = std::get_if<tasklet::Assign>(&s.node)) out.push_back(&a->value);
    if (auto* u = std::get_if<tasklet::If>(&s.node))
      for (tasklet::IfBranch& b : u->branches) {
        out.push_back(&b.condition);
        for (tasklet::Expr* e : expressions(b.body)) out.push_back(e);
      }
  }
  return out;
}

std::vector<tasklet::Expr*> expressions(ir::Element& e) {
  if (auto* s = std::get_if<ir::State>(&e.kind)) {
    for (ir::Node& n : s->nodes)
      if (auto* t = std::get_if<ir::Tasklet>(&n.kind)) return expressions(t->code.body);
  }
  if (auto* a = std::get_if<ir::Assign>(&e.kind)) {
    std::vector<tasklet::Expr*> out;
    for (auto& item : a->items) out.push_back(&item.value);
    return out;
  }
  if (auto* w = std::get_if<ir::While>(&e.kind)) return {&w->condition};
  if (auto* i = std::get_if<ir::If>(&e.kind)) {
    std::vector<tasklet::Expr*> out;
    for (auto& b : i->branches) out.push_back(&b.condition);
    return out;
  }
  return {};
}

bool simplify_expression(ir::Element& e, std::size_t which, std::size_t node, std::size_t operand) {
  const std::vector<tasklet::Expr*> all = expressions(e);
  if (which >= all.size()) return false;
  auto changed = simplified(*all[which], node, operand);
  if (!changed) return false;
  *all[which] = *changed;
  return true;
}

bool drop_statement(ir::Sequence& s, std::size_t i, std::size_t which) {
  ir::Tasklet* t = only_tasklet(s, i);
  if (t == nullptr || which >= t->code.body.size()) return false;
  tasklet::Body& body = t->code.body;
  // A branch by its own statements first.
  if (const auto* branch = std::get_if<tasklet::If>(&body[which].node)) {
    const tasklet::Body inner = branch->branches.front().body;
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(which));
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(which), inner.begin(), inner.end());
    return true;
  }
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(which));
  return true;
}

// Containers and symbols that nothing uses.
bool drop_unused(ir::Graph& g) {
  std::set<std::string, std::less<>> used_containers, used_symbols;
  const auto use = [&](const symbolic::SymbolSet& from, auto& into) { into.insert(from.begin(), from.end()); };
  for (const auto& item : g.body.items) {
    use(ir::containers_read(g, *item), used_containers);
    use(ir::containers_written(g, *item), used_containers);
    use(ir::symbols_used(g, *item), used_symbols);
    use(ir::symbols_bound(*item), used_symbols);
  }
  bool grown = true;
  while (grown) {
    const std::size_t before = used_containers.size();
    for (const ir::Container& c : g.containers)
      if (used_containers.contains(c.name) && !c.viewed.empty()) used_containers.insert(c.viewed);
    grown = used_containers.size() != before;
  }
  std::vector<std::string> containers, symbols;
  for (const ir::Container& c : g.containers) {
    if (!used_containers.contains(c.name))
      containers.push_back(c.name);
    else {
      use(c.layout.free_symbols(), used_symbols);
      use(c.viewed_subset.free_symbols(), used_symbols);
    }
  }
  for (const ir::Symbol& s : g.symbols)
    if (!used_symbols.contains(s.name)) symbols.push_back(s.name);
  if (containers.empty() && symbols.empty()) return false;
  const auto gone = [&](const std::string& n) {
    return std::find(containers.begin(), containers.end(), n) != containers.end() ||
           std::find(symbols.begin(), symbols.end(), n) != symbols.end();
  };
  std::erase_if(g.parameters, gone);
  std::erase_if(g.locals, gone);
  for_each_sequence(g.body, [&](ir::Sequence& s) {
    for (auto& item : s.items)
      if (auto* b = std::get_if<ir::Block>(&item->kind)) std::erase_if(b->locals, gone);
  });
  for (const std::string& n : containers) g.containers.erase(n);
  for (const std::string& n : symbols) g.symbols.erase(n);
  return true;
}

class Shrinker {
 public:
  Shrinker(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails, int budget)
      : best_(graph.clone()), fails_(fails), budget_(budget) {}

  ir::Graph run() {
    bool smaller = true;
    while (smaller && budget_ > 0) {
      smaller = false;
      smaller |= pass([](ir::Graph& g, std::size_t n, std::size_t) { return at_element(g, n, remove_element); }, 1);
      smaller |= pass(
          [](ir::Graph& g, std::size_t n, std::size_t v) {
            return at_element(g, n, [&](auto& s, std::size_t i) { return unwrap(g, s, i, v); });
          },
          4);
      smaller |= pass(
          [](ir::Graph& g, std::size_t n, std::size_t v) {
            return at_element(g, n, [&](auto& s, std::size_t i) { return drop_branch(s, i, v); });
          },
          4);
      smaller |= pass(
          [](ir::Graph& g, std::size_t n, std::size_t v) {
            return at_element(g, n, [&](auto& s, std::size_t i) { return drop_map_dimension(g, s, i, v); });
          },
          3);
      smaller |= pass(
          [](ir::Graph& g, std::size_t n, std::size_t v) {
            return at_element(g, n, [&](auto& s, std::size_t i) { return drop_statement(s, i, v); });
          },
          3);
      smaller |= pass(
          [](ir::Graph& g, std::size_t n, std::size_t v) {
            return at_element(g, n, [&](auto& s, std::size_t i) { return drop_connector(s, i, v); });
          },
          5);
      smaller |= simplify();
      smaller |= attempt(drop_unused);
    }
    return std::move(best_);
  }

 private:
  bool attempt(const Edit& edit) {
    if (budget_ <= 0) return false;
    ir::Graph candidate = best_.clone();
    if (!edit(candidate)) return false;
    --budget_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  template <typename F>
  bool pass(F edit, std::size_t variations) {
    bool any = false;
    for (std::size_t n = 0; n < count_elements(best_);) {
      bool here = false;
      for (std::size_t v = 0; v < variations && !here; ++v) here = attempt([&](ir::Graph& g) { return edit(g, n, v); });
      any |= here;
      if (!here) ++n;
    }
    return any;
  }

  bool simplify() {
    bool any = false;
    for (std::size_t n = 0; n < count_elements(best_); ++n)
      for (std::size_t which = 0; which < 6; ++which)
        for (std::size_t node = 0;; ++node) {
          std::size_t size = 0;
          at_element(best_, n, [&](ir::Sequence& s, std::size_t i) {
            const auto all = expressions(*s.items[i]);
            size = which < all.size() ? size_of_expression(*all[which]) : 0;
            return true;
          });
          if (node >= size) break;
          for (std::size_t operand = 0; operand < 4; ++operand)
            any |= attempt([&](ir::Graph& g) {
              return at_element(g, n, [&](ir::Sequence& s, std::size_t i) {
                return simplify_expression(*s.items[i], which, node, operand);
              });
            });
        }
    return any;
  }

  ir::Graph best_;
  const std::function<bool(const ir::Graph&)>& fails_;
  int budget_;
};

}  // namespace

ir::Graph shrink(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails, int budget) {
  return Shrinker(graph, fails, budget).run();
}

}  // namespace sdfg::test
