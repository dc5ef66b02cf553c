// Walking a graph, finding elements by id, and telling where something is.
#include "ir/sites.hpp"

namespace sdfg::ir {

namespace {

template <typename S, typename E>
std::vector<S*> children_of(E& e) {
  std::vector<S*> found;
  std::visit(
      [&](auto& kind) {
        using K = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<K, Block> || std::is_same_v<K, For> || std::is_same_v<K, While> ||
                      std::is_same_v<K, Map> || std::is_same_v<K, Consume>) {
          found.push_back(&kind.body);
        } else if constexpr (std::is_same_v<K, If>) {
          for (auto& branch : kind.branches) found.push_back(&branch.body);
        } else {
          static_assert(std::is_same_v<K, State> || std::is_same_v<K, Assign> || std::is_same_v<K, Exit> ||
                        std::is_same_v<K, Return>);
        }
      },
      e.kind);
  return found;
}

void walk_below(const Sequence& s, Ancestors& ancestors,
                const std::function<void(const Element&, const Ancestors&)>& visit) {
  for (const auto& item : s.items) {
    visit(*item, ancestors);
    ancestors.push_back(item.get());
    for (const Sequence* child : child_sequences(*item)) walk_below(*child, ancestors, visit);
    ancestors.pop_back();
  }
}

bool holds(const Element& e, Id id) {
  if (e.id == id) return true;
  const auto* state = std::get_if<State>(&e.kind);
  if (state == nullptr) return false;
  for (const Memlet& edge : state->edges) {
    if (edge.id == id) return true;
  }
  return state->find_node(id) != nullptr;
}

bool find_path(const Sequence& s, Id id, std::vector<const Element*>& path) {
  for (const auto& item : s.items) {
    path.push_back(item.get());
    if (holds(*item, id)) return true;
    for (const Sequence* child : child_sequences(*item)) {
      if (find_path(*child, id, path)) return true;
    }
    path.pop_back();
  }
  return false;
}

std::string quoted(std::string_view text) {
  return " '" + std::string(text) + "'";
}

std::string shown_symbol(const Graph& g, const std::string& name) {
  const Symbol* symbol = g.symbols.find(name);
  return symbol != nullptr && !symbol->label.empty() ? symbol->label : name;
}

std::string shown_container(const Graph& g, const std::string& path) {
  const Container* c = g.containers.find(root_name(path));
  if (c == nullptr || c->label.empty()) return path;
  return c->label + path.substr(root_name(path).size());
}

}  // namespace

std::vector<Sequence*> child_sequences(Element& e) {
  return children_of<Sequence>(e);
}
std::vector<const Sequence*> child_sequences(const Element& e) {
  return children_of<const Sequence>(e);
}

void walk(const Sequence& s, const std::function<void(const Element&, const Ancestors&)>& visit) {
  Ancestors ancestors;
  walk_below(s, ancestors, visit);
}

void walk(Sequence& s, const std::function<void(Element&)>& visit) {
  // By index: the visited element may edit its own children, never its siblings.
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    Element& element = *s.items[i];
    visit(element);
    for (Sequence* child : child_sequences(element)) walk(*child, visit);
  }
}

const Element* find_element(const Graph& g, Id id) {
  const std::vector<const Element*> path = path_to(g, id);
  return path.empty() || path.back()->id != id ? nullptr : path.back();
}

std::vector<const Element*> path_to(const Graph& g, Id id) {
  std::vector<const Element*> path;
  if (id != 0) find_path(g.body, id, path);
  return path;
}

std::string describe(const Graph& g, const Element& e) {
  return std::visit(
      [&](const auto& kind) -> std::string {
        using K = std::remove_cvref_t<decltype(kind)>;
        const std::string label = e.label.empty() ? std::string() : quoted(e.label);
        if constexpr (std::is_same_v<K, State>) {
          return "state" + label;
        } else if constexpr (std::is_same_v<K, Assign>) {
          std::string names;
          for (const Assign::Item& item : kind.items) {
            names += names.empty() ? "" : ", ";
            names += shown_symbol(g, item.symbol);
          }
          return "assignment of" + quoted(names);
        } else if constexpr (std::is_same_v<K, Block>) {
          return "block" + label;
        } else if constexpr (std::is_same_v<K, For>) {
          return "loop" + quoted(shown_symbol(g, kind.variable));
        } else if constexpr (std::is_same_v<K, While>) {
          return "while loop" + label;
        } else if constexpr (std::is_same_v<K, If>) {
          return "branch" + label;
        } else if constexpr (std::is_same_v<K, Map>) {
          std::string params;
          for (const std::string& param : kind.params) {
            params += params.empty() ? "" : ", ";
            params += shown_symbol(g, param);
          }
          return "map" + quoted(params);
        } else if constexpr (std::is_same_v<K, Consume>) {
          return "consume of" + quoted(shown_container(g, kind.stream));
        } else if constexpr (std::is_same_v<K, Exit>) {
          return kind.kind == Exit::Kind::kBreak ? "break" : "continue";
        } else if constexpr (std::is_same_v<K, Return>) {
          return "return";
        } else {
          static_assert(kUnhandledKind<K>);
        }
      },
      e.kind);
}

std::string describe(const Graph& g, const Node& n) {
  return std::visit(
      [&](const auto& kind) -> std::string {
        using K = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<K, Access>) {
          return "access of" + quoted(shown_container(g, kind.data));
        } else if constexpr (std::is_same_v<K, Tasklet>) {
          return n.label.empty() ? std::string("tasklet") : "tasklet" + quoted(n.label);
        } else if constexpr (std::is_same_v<K, Library>) {
          return "library node " + std::string(name_of(kind.op)) + (n.label.empty() ? std::string() : quoted(n.label));
        } else {
          static_assert(kUnhandledKind<K>);
        }
      },
      n.kind);
}

std::string describe(const Graph& g, const State& s, const Memlet& m) {
  const auto end = [&](Id id) { return s.find_node(id) == nullptr ? "a missing node" : describe(g, *s.find_node(id)); };
  return "memlet from " + end(m.src) + " to " + end(m.dst);
}

std::vector<Error::Place> places_of(const Graph& g, Id id) {
  return places_of(g, path_to(g, id), id);
}

std::vector<Error::Place> places_of(const Graph& g, const std::vector<const Element*>& path, Id id) {
  std::vector<Error::Place> places;
  const Element* innermost = path.empty() ? nullptr : path.back();
  if (innermost != nullptr && id != 0 && innermost->id != id) {
    const auto& state = std::get<State>(innermost->kind);
    if (const Node* node = state.find_node(id)) {
      places.push_back({describe(g, *node), node->location});
    } else {
      for (const Memlet& edge : state.edges) {
        if (edge.id == id) places.push_back({describe(g, state, edge), edge.location});
      }
    }
  }
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Element& e = **it;
    // A state that nobody named or placed is the builder's own; saying "in state" would tell nothing.
    const bool told = !std::holds_alternative<State>(e.kind) || !e.label.empty() || e.location.known();
    if (e.id == id) {
      places.push_back({describe(g, e), e.location});
    } else if (told) {
      places.push_back({"in " + describe(g, e), e.location});
    }
  }
  return places;
}

}  // namespace sdfg::ir
