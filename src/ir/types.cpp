// Which container a path names, and the types of names in code.
#include <algorithm>

#include "ir/sites.hpp"

namespace sdfg::ir {

namespace {

const Container* member_of(const Container& c, std::string_view name) {
  for (const Container& member : c.members) {
    if (c.kind == ContainerKind::kContainerArray) {
      // The one entry describes every element; its members are reached through the array's own name.
      if (const Container* found = member_of(member, name)) return found;
    } else if (member.name == name) {
      return &member;
    }
  }
  return nullptr;
}

const Connector* find_connector(const std::vector<Connector>& connectors, std::string_view name) {
  const auto found =
      std::find_if(connectors.begin(), connectors.end(), [&](const Connector& c) { return c.name == name; });
  return found == connectors.end() ? nullptr : &*found;
}

// The type of what a memlet moves out of or into a container.
Type moved_type(const Container& c, const Subset& subset) {
  if (c.kind == ContainerKind::kStream || subset.is_index()) return c.type;
  return Type::pointer(c.type);
}

// Resolves connector types through chains of register edges; the state may be cyclic (validation asks, too), so depth
// is bounded.
class ConnectorTypes {
 public:
  ConnectorTypes(const Graph& g, const State& s) : g_(g), s_(s) {}

  Type of(const Node& node, std::string_view connector, bool output, std::size_t depth) const {
    if (depth > s_.nodes.size()) return {};
    if (const auto* t = std::get_if<Tasklet>(&node.kind)) {
      const Connector* own = find_connector(output ? t->outputs : t->inputs, connector);
      if (own != nullptr && !own->type.is_void()) return own->type;
    }
    for (const Memlet& m : s_.edges) {
      if (output ? m.src != node.id || m.src_connector != connector
                 : m.dst != node.id || m.dst_connector != connector) {
        continue;
      }
      const Node* other = s_.find_node(output ? m.dst : m.src);
      if (other == nullptr) return {};
      if (const auto* access = std::get_if<Access>(&other->kind)) {
        const Container* c = resolve(g_, access->data);
        const std::optional<Subset>& subset = output ? m.dst_subset : m.src_subset;
        return c == nullptr || !subset ? Type() : moved_type(*c, *subset);
      }
      return of_register(node, *other, m, output, depth);
    }
    return {};
  }

  // With `registers_open`, outputs that take their type from the code are left out: inference then reports them as
  // locals.
  tasklet::TypeEnvironment environment(const Node& node, bool registers_open, std::size_t depth) const {
    std::map<std::string, Type, std::less<>> types;
    if (const auto* t = std::get_if<Tasklet>(&node.kind)) {
      for (const Connector& c : t->inputs) types.emplace(c.name, of(node, c.name, false, depth));
      for (const Connector& c : t->outputs) {
        if (registers_open && is_bare_register(node, c)) continue;
        types.emplace(c.name, of(node, c.name, true, depth));
      }
    }
    tasklet::TypeEnvironment env;
    env.name = [types, g = &g_](std::string_view name) -> std::optional<Type> {
      const auto own = types.find(name);
      if (own != types.end()) return own->second;
      const Symbol* symbol = g->symbols.find(name);
      if (symbol != nullptr) return symbol->type;
      return std::nullopt;
    };
    env.element = [types, g = &g_](std::string_view base) -> std::optional<Type> {
      const auto own = types.find(base);
      if (own != types.end()) {
        if (own->second.kind() == Type::Kind::kPointer) return own->second.pointee();
        if (own->second.kind() == Type::Kind::kVector) return Type(own->second.scalar());
        return std::nullopt;
      }
      const Container* c = resolve(*g, base);
      if (c != nullptr && c->constant) return c->type;
      return std::nullopt;
    };
    return env;
  }

 private:
  // An output without a type of its own that feeds a register edge takes the type of what is assigned to it.
  bool is_bare_register(const Node& node, const Connector& c) const {
    if (!c.type.is_void()) return false;
    for (const Memlet& m : s_.edges) {
      if (m.src == node.id && m.src_connector == c.name) return !m.dst_subset.has_value();
    }
    return false;
  }

  Type of_register(const Node& node, const Node& other, const Memlet& m, bool output, std::size_t depth) const {
    if (!output) return of(other, m.src_connector, true, depth + 1);
    const auto* t = std::get_if<Tasklet>(&node.kind);
    if (t == nullptr) return {};
    if (t->code.language == tasklet::Language::kCpp) {
      const auto* consumer = std::get_if<Tasklet>(&other.kind);
      const Connector* theirs = consumer == nullptr ? nullptr : find_connector(consumer->inputs, m.dst_connector);
      return theirs == nullptr ? Type() : theirs->type;
    }
    std::vector<std::pair<std::string, Type>> locals;
    tasklet::infer_types(t->code.body, environment(node, true, depth + 1), &locals);
    for (const auto& [name, type] : locals) {
      if (name == m.src_connector) return type;
    }
    return {};
  }

  const Graph& g_;
  const State& s_;
};

}  // namespace

const Container* resolve(const Graph& g, std::string_view path) {
  const Container* c = g.containers.find(root_name(path));
  while (c != nullptr && path.size() > root_name(path).size()) {
    path.remove_prefix(root_name(path).size() + 1);
    c = member_of(*c, root_name(path));
  }
  return c;
}

const Container& root_of(const Graph& g, const Container& c) {
  const Container* at = &c;
  // A view that shows itself is a fault that validation reports; here it only must not hang.
  for (std::size_t hops = 0; !at->viewed.empty() && hops < g.containers.size(); ++hops) {
    const Container* next = resolve(g, at->viewed);
    if (next == nullptr) break;
    at = next;
  }
  return *at;
}

tasklet::TypeEnvironment type_environment(const Graph& g) {
  tasklet::TypeEnvironment env;
  env.name = [g = &g](std::string_view name) -> std::optional<Type> {
    const Symbol* symbol = g->symbols.find(name);
    if (symbol != nullptr) return symbol->type;
    return std::nullopt;
  };
  env.element = [g = &g](std::string_view base) -> std::optional<Type> {
    const Container* c = resolve(*g, base);
    if (c != nullptr) return c->type;
    return std::nullopt;
  };
  return env;
}

tasklet::TypeEnvironment type_environment(const Graph& g, const State& s, const Node& node) {
  return ConnectorTypes(g, s).environment(node, false, 0);
}

Type connector_type(const Graph& g, const State& s, const Node& node, std::string_view connector, bool output) {
  return ConnectorTypes(g, s).of(node, connector, output, 0);
}

}  // namespace sdfg::ir
