// Internal to ir: one place that knows where an element keeps names, subsets, expressions and code.
#pragma once

#include <type_traits>
#include <utility>

#include "ir/graph.hpp"

namespace sdfg::ir {

template <typename T>
inline constexpr bool kUnhandledKind = false;

// A visitor that ignores every site; derive and hide what matters. T& stands for both const and mutable access.
struct SiteVisitor {
  template <typename N, typename A>
  void access(N&, A&) {}  // Node, Access
  template <typename S, typename N, typename T>
  void tasklet(S&, N&, T&) {}  // State, Node, Tasklet
  template <typename N, typename L>
  void library(N&, L&) {}  // Node, Library
  template <typename S, typename M>
  void memlet(S&, M&) {}  // State, Memlet: its subsets and WCR
  template <typename E>
  void code(E&) {}  // tasklet::Expr of control flow
  template <typename E>
  void expr(E&) {}  // symbolic::Expr
  template <typename R>
  void range(R&) {}  // Range of a map
  template <typename S>
  void binder(S&) {}  // name of a symbol that the element binds
  template <typename S>
  void declared(S&) {}  // name of a container that the element declares
  template <typename S>
  void container(S&) {}  // name of a container that the element uses
};

// Visits the sites of one element in a fixed order, not those of the elements below it.
template <typename E, typename V>
void visit_sites(E& element, V& v) {
  std::visit(
      [&](auto& e) {
        using K = std::remove_cvref_t<decltype(e)>;
        if constexpr (std::is_same_v<K, State>) {
          for (auto& node : e.nodes) {
            std::visit(
                [&](auto& n) {
                  using N = std::remove_cvref_t<decltype(n)>;
                  if constexpr (std::is_same_v<N, Access>) {
                    v.access(node, n);
                  } else if constexpr (std::is_same_v<N, Tasklet>) {
                    v.tasklet(e, node, n);
                  } else if constexpr (std::is_same_v<N, Library>) {
                    v.library(node, n);
                  } else {
                    static_assert(kUnhandledKind<N>);
                  }
                },
                node.kind);
          }
          for (auto& memlet : e.edges) v.memlet(e, memlet);
        } else if constexpr (std::is_same_v<K, Assign>) {
          for (auto& item : e.items) v.code(item.value);
          for (auto& item : e.items) v.binder(item.symbol);
        } else if constexpr (std::is_same_v<K, Block>) {
          for (auto& name : e.locals) v.declared(name);
        } else if constexpr (std::is_same_v<K, For>) {
          v.code(e.init);
          v.binder(e.variable);
          v.code(e.condition);
          v.code(e.update);
        } else if constexpr (std::is_same_v<K, While>) {
          v.code(e.condition);
        } else if constexpr (std::is_same_v<K, If>) {
          for (auto& branch : e.branches) v.code(branch.condition);
        } else if constexpr (std::is_same_v<K, Map>) {
          for (auto& name : e.params) v.binder(name);
          for (auto& range : e.ranges) v.range(range);
          for (auto& reduction : e.reductions) v.container(reduction.container);
        } else if constexpr (std::is_same_v<K, Consume>) {
          v.container(e.stream);
          v.declared(e.element);
          if (!e.worker.empty()) v.binder(e.worker);
          v.expr(e.num_workers);
          if (e.condition) v.code(*e.condition);
        } else if constexpr (std::is_same_v<K, Exit> || std::is_same_v<K, Return>) {
          // Neither names nor expressions.
        } else {
          static_assert(kUnhandledKind<K>);
        }
      },
      element.kind);
}

// Every element of a sequence and below, pre-order.
template <typename S, typename F>
void for_each_element(S& sequence, const F& f) {
  for (auto& item : sequence.items) {
    using E = std::conditional_t<std::is_const_v<S>, const Element, Element>;
    E& element = *item;
    f(element);
    for (auto* child : child_sequences(element)) for_each_element(*child, f);
  }
}

// An element and everything below it.
template <typename E, typename F>
void for_each_below(E& element, const F& f) {
  f(element);
  for (auto* child : child_sequences(element)) for_each_element(*child, f);
}

// "st" of "st.x.y".
std::string_view root_name(std::string_view path);

// The code of a tasklet, whichever its language: names read (without its own connectors and locals), bases subscripted,
// callees.
tasklet::Uses outer_uses(const Tasklet& tasklet);

// What one element uses, not what is below it.
void add_symbols_used(const Graph& g, const Element& e, symbolic::SymbolSet& out);
// Symbols that the layout of a container (and, of a view, of what it views) mentions.
void add_layout_symbols(const Graph& g, const Container& c, symbolic::SymbolSet& out);

}  // namespace sdfg::ir
