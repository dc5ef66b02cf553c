// Copies of elements: exact, and with fresh ids and names.
#include <algorithm>

#include "ir/rewrite.hpp"
#include "ir/sites.hpp"

namespace sdfg::ir {

namespace {

Sequence copy_of(const Sequence& s) {
  Sequence copy;
  copy.items.reserve(s.items.size());
  for (const auto& item : s.items) copy.items.push_back(clone_exact(*item));
  return copy;
}

Element::Kind copy_of(const Element::Kind& kind) {
  return std::visit(
      [](const auto& e) -> Element::Kind {
        using K = std::remove_cvref_t<decltype(e)>;
        if constexpr (std::is_same_v<K, State> || std::is_same_v<K, Assign> || std::is_same_v<K, Exit> ||
                      std::is_same_v<K, Return>) {
          return e;
        } else if constexpr (std::is_same_v<K, Block>) {
          return Block{e.locals, copy_of(e.body)};
        } else if constexpr (std::is_same_v<K, For>) {
          return For{e.variable, e.init, e.condition, e.update, e.form, e.unroll, e.unroll_factor, copy_of(e.body)};
        } else if constexpr (std::is_same_v<K, While>) {
          return While{e.condition, e.test_first, copy_of(e.body)};
        } else if constexpr (std::is_same_v<K, If>) {
          If copy;
          for (const If::Branch& branch : e.branches) copy.branches.push_back({branch.condition, copy_of(branch.body)});
          return copy;
        } else if constexpr (std::is_same_v<K, Map>) {
          return Map{e.params,
                     e.ranges,
                     e.schedule,
                     e.unroll,
                     e.collapse,
                     e.num_threads,
                     e.omp_schedule,
                     e.omp_chunk,
                     e.simd,
                     e.reductions,
                     e.gpu_block_size,
                     e.gpu_launch_bounds,
                     e.gpu_max_registers,
                     e.gpu_max_blocks,
                     copy_of(e.body)};
        } else if constexpr (std::is_same_v<K, Consume>) {
          return Consume{e.stream,    e.element,    e.worker,   e.num_workers,
                         e.condition, e.chunk_size, e.schedule, copy_of(e.body)};
        } else {
          static_assert(kUnhandledKind<K>);
        }
      },
      kind);
}

void give_fresh_ids(Graph& g, Element& e) {
  std::map<Id, Id> fresh;
  for_each_below(e, [&](Element& below) {
    fresh[below.id] = g.new_id();
    below.id = fresh[below.id];
    auto* state = std::get_if<State>(&below.kind);
    if (state == nullptr) return;
    for (Node& node : state->nodes) node.id = fresh[node.id] = g.new_id();
    for (Memlet& edge : state->edges) {
      edge.id = fresh[edge.id] = g.new_id();
      edge.src = fresh[edge.src];
      edge.dst = fresh[edge.dst];
    }
  });
  for_each_below(e, [&](Element& below) {
    auto* exit = std::get_if<Exit>(&below.kind);
    if (exit == nullptr) return;
    const auto target = fresh.find(exit->target);
    if (target != fresh.end()) exit->target = target->second;
  });
}

bool uses_symbol(const Graph& g, const Element& e, const std::string& symbol) {
  symbolic::SymbolSet used;
  add_symbols_used(g, e, used);
  return used.contains(symbol);
}

bool may_use_before_assigning(const Graph& g, const Element& e, const std::string& symbol, bool& assigned);

bool may_use_before_assigning(const Graph& g, const Sequence& s, const std::string& symbol, bool& assigned) {
  for (const auto& item : s.items) {
    if (may_use_before_assigning(g, *item, symbol, assigned)) return true;
  }
  return false;
}

bool may_use_before_assigning(const Graph& g, const Element& e, const std::string& symbol, bool& assigned) {
  if (assigned) return false;
  if (const auto* assign = std::get_if<Assign>(&e.kind)) {
    for (const Assign::Item& item : assign->items) {
      const tasklet::Uses uses = tasklet::uses_of(item.value);
      if (std::find(uses.read.begin(), uses.read.end(), symbol) != uses.read.end()) return true;
    }
    for (const Assign::Item& item : assign->items) assigned = assigned || item.symbol == symbol;
    return false;
  }
  if (uses_symbol(g, e, symbol)) return true;
  if (const auto* block = std::get_if<Block>(&e.kind)) {
    return may_use_before_assigning(g, block->body, symbol, assigned);
  }
  // What other bodies assign may not have happened afterwards.
  for (const Sequence* child : child_sequences(e)) {
    bool inside = false;
    if (may_use_before_assigning(g, *child, symbol, inside)) return true;
  }
  return false;
}

bool used_outside(const Graph& g, const Element& inside, const std::string& symbol) {
  bool found = false;
  const std::function<void(const Sequence&)> search = [&](const Sequence& s) {
    for (const auto& item : s.items) {
      if (found || item.get() == &inside) continue;
      found = uses_symbol(g, *item, symbol);
      for (const Sequence* child : child_sequences(*item)) search(*child);
    }
  };
  search(g.body);
  return found;
}

// Does the element bind the symbol by an Assign whose value flows in from or out to elements around it? Then a copy has
// to assign the same symbol to mean the same.
bool is_shared(const Graph& g, const Element& e, const std::string& symbol) {
  const Symbol* entry = g.symbols.find(symbol);
  if (entry == nullptr || entry->binder != BinderKind::kAssigned) return false;
  bool assigned = false;
  return may_use_before_assigning(g, e, symbol, assigned) || used_outside(g, e, symbol);
}

template <typename T>
std::string insert_renamed(Graph& g, Table<T>& table, const std::string& name) {
  T copy = table.at(name);
  if (copy.label.empty()) copy.label = name;
  copy.name = g.unique_name(copy.label);
  return table.insert(std::move(copy)).name;
}

}  // namespace

std::unique_ptr<Element> clone_exact(const Element& e) {
  return std::make_unique<Element>(Element{e.id, e.label, e.location, copy_of(e.kind), e.issue});
}

std::unique_ptr<Element> clone_renamed(Graph& g, const Element& e) {
  std::unique_ptr<Element> copy = clone_exact(e);
  give_fresh_ids(g, *copy);

  Rewriting rewriting;
  rewriting.binders = true;
  rewriting.declarations = true;
  std::vector<std::string> new_symbols;
  std::vector<std::string> new_containers;
  for (const std::string& name : symbols_bound(e)) {
    if (!g.symbols.contains(name) || is_shared(g, e, name)) continue;
    new_symbols.push_back(insert_renamed(g, g.symbols, name));
    rewriting.symbols.emplace(name, symbolic::Expr::symbol(new_symbols.back()));
  }
  for (const std::string& name : containers_declared(e)) {
    if (!g.containers.contains(name)) continue;
    new_containers.push_back(insert_renamed(g, g.containers, name));
    rewriting.containers.emplace(name, new_containers.back());
  }
  rewrite_element(g, *copy, rewriting);
  for (const std::string& name : new_containers) rewrite_container(g.containers.at(name), rewriting);
  for (const std::string& name : new_symbols) {
    Symbol& symbol = g.symbols.at(name);
    for (auto* bound : {&symbol.lower, &symbol.upper}) {
      if (*bound) *bound = symbolic::substitute(**bound, rewriting.symbols);
    }
  }
  return copy;
}

}  // namespace sdfg::ir
