// Level 3: nodes and edges of a state by hand.
#include <algorithm>
#include <sdfg/dataflow.hpp>

#include "base/suggest.hpp"
#include "builder/impl.hpp"
#include "builder/library_nodes.hpp"
#include "ir/cpp_text.hpp"
#include "ir/validate.hpp"
#include "symbolic/print.hpp"

namespace sdfg {

using detail::BuilderImpl;
using detail::location_of;
using detail::WindowNode;

namespace {

// The state under construction; errors when the function given to `g.state` has ended.
ir::State& state_of(BuilderImpl& b, std::uint32_t id, const SourceLocation& where) {
  b.check_usable(where);
  const detail::Scope& scope = b.current();
  if (scope.kind != detail::ScopeKind::kState || scope.element != id) {
    b.fail(where, "a state is changed outside of the function given to g.state");
  }
  return std::get<ir::State>(scope.node->kind);
}

ir::Node& node_of(BuilderImpl& b, ir::State& state, std::uint32_t id, const Node& node, const SourceLocation& where) {
  ir::Node* found = node.state() == id ? state.find_node(node.id()) : nullptr;
  if (found == nullptr) b.fail(where, "a node of another state is used");
  return *found;
}

// Symbols by the user's names, innermost scope first.
symbolic::Substitution user_symbols(const BuilderImpl& b, const symbolic::SymbolSet& used, std::string_view text,
                                    const SourceLocation& where) {
  symbolic::Substitution by;
  for (const std::string& name : used) {
    const std::optional<std::string> unique = b.resolve(name);
    if (!unique || !b.symbols.contains(*unique)) {
      std::string hint = b.unknown_hint(name);
      if (unique)
        hint =
            "'" + name + "' is a container; read it into a symbol first: auto k = g.assign(\"k\", " + name + "(...))";
      b.fail(where, "the subset \"" + std::string(text) + "\" uses '" + name + "', which is no symbol here",
             std::move(hint));
    }
    if (*unique != name) by.emplace(name, symbolic::Expr::symbol(*unique));
  }
  return by;
}

ir::Subset subset_from(const BuilderImpl& b, const ir::Container& c, const std::string& text,
                       const SourceLocation& where) {
  ir::Subset subset;
  try {
    subset = symbolic::parse_subset(text, {}, [&](std::string_view name) {
      const auto unique = b.resolve(name);
      return unique && b.containers.contains(*unique);
    });
  } catch (const Error& e) {
    b.fail(where,
           "the subset \"" + text + "\" of '" + b.containers.at(c.name).label + "' can't be read: " + e.message());
  }
  for (const symbolic::Range& r : subset.ranges()) {
    for (const symbolic::Expr* e : {&r.begin, &r.end, &r.step, &r.tile}) {
      if (symbolic::has_reads(*e)) {
        b.fail(where, "the subset \"" + text + "\" reads a container",
               "assign the value to a symbol first: auto k = g.assign(\"k\", ...)");
      }
    }
  }
  // A scalar is written "" or "0".
  if (c.rank() == 0 && subset.rank() == 1 && subset[0] == symbolic::Range::index(0)) subset = ir::Subset();
  if (subset.rank() != c.rank()) {
    b.fail(where, "the subset \"" + text + "\" has " + std::to_string(subset.rank()) + " dimensions, but '" +
                      b.containers.at(c.name).label + "' has " + std::to_string(c.rank()));
  }
  return symbolic::substitute(subset, user_symbols(b, subset.free_symbols(), text, where));
}

ir::Subset subset_of(const BuilderImpl& b, const ir::Container& c, const std::optional<std::string>& text,
                     const detail::WindowRef& window, const SourceLocation& where) {
  if (window != nullptr) {
    b.check_owner(window->owner, where, "the subset");
    b.check_window(*window, where);
    if (window->container != c.name) {
      b.fail(where, "the subset is one of '" + b.containers.at(window->container).label + "', but the edge ends at '" +
                        b.containers.at(c.name).label + "'");
    }
    return window->subset();
  }
  if (text) return subset_from(b, c, *text, where);
  return detail::whole_of(c);
}

// What the code calls names of: connectors, its own variables, symbols, callbacks.
struct Names {
  std::vector<std::string> connectors;
  bool has(std::string_view name) const {
    return std::find(connectors.begin(), connectors.end(), name) != connectors.end();
  }
};

bool is_constant_name(std::string_view name) {
  return name == "pi" || name == "E" || name == "I" || name == "oo" || name == "None";
}

tasklet::Body resolved(const BuilderImpl& b, tasklet::Body body, const Names& names, const std::string& label,
                       const SourceLocation& where) {
  const tasklet::Uses uses = tasklet::uses_of(body);
  const auto is_local = [&](std::string_view name) {
    return names.has(name) || std::find(uses.written.begin(), uses.written.end(), name) != uses.written.end();
  };
  std::map<std::string, tasklet::Expr, std::less<>> symbols;
  std::map<std::string, std::string, std::less<>> bases;
  for (const std::string& name : uses.read) {
    const std::string first = name.substr(0, name.find('.'));
    if (is_local(first)) continue;
    const std::optional<std::string> unique = b.resolve(first);
    if (!unique && is_constant_name(name)) continue;
    if (unique && b.symbols.contains(*unique)) {
      if (*unique != name) symbols.emplace(name, tasklet::Expr::name(*unique));
      continue;
    }
    if (unique) {
      b.fail(where, "the tasklet '" + label + "' uses the container '" + first + "' directly",
             "containers are reached through connectors: add one and an edge");
    }
    std::string hint = b.unknown_hint(first);
    b.fail(where, "the tasklet '" + label + "' uses '" + first + "', which is no connector, local or symbol",
           std::move(hint));
  }
  for (const std::string& name : uses.subscripted) {
    if (is_local(name)) continue;
    const std::optional<std::string> unique = b.resolve(name);
    if (!unique || !b.graph.containers.contains(*unique) || !b.graph.containers.at(*unique).constant) {
      b.fail(where, "the tasklet '" + label + "' indexes '" + name + "', which is no connector or constant",
             b.unknown_hint(name));
    }
    if (*unique != name) bases.emplace(name, *unique);
  }
  for (const std::string& name : uses.called) {
    const std::optional<std::string> unique = b.resolve(name);
    if (!unique || !b.symbols.contains(*unique)) {
      b.fail(where, "the tasklet '" + label + "' calls '" + name + "', which is no known function or callback",
             b.unknown_hint(name));
    }
  }
  if (!symbols.empty()) body = tasklet::replace_names(body, symbols);
  if (!bases.empty()) body = tasklet::rename_bases(body, bases);
  return body;
}

std::vector<ir::Connector> connectors_of(const std::vector<Connector>& connectors) {
  std::vector<ir::Connector> out;
  for (const Connector& c : connectors) out.push_back({c.name, c.type});
  return out;
}

Names names_of(const BuilderImpl& b, const std::vector<Connector>& inputs, const std::vector<Connector>& outputs,
               std::string_view label, const SourceLocation& where) {
  Names names;
  for (const auto* list : {&inputs, &outputs}) {
    for (const Connector& c : *list) {
      if (!ir::is_identifier(c.name))
        b.fail(where, "'" + c.name + "' of tasklet '" + std::string(label) + "' is no name for a connector",
               ir::identifier_hint(c.name));
      if (b.resolve(c.name) && b.symbols.contains(*b.resolve(c.name))) {
        b.fail(where, "the connector '" + c.name + "' of tasklet '" + std::string(label) + "' has the name of a symbol",
               "choose another name");
      }
      if (names.has(c.name))
        b.fail(where, "the tasklet '" + std::string(label) + "' has two connectors '" + c.name + "'");
      names.connectors.push_back(c.name);
    }
  }
  return names;
}

}  // namespace

detail::OpenScope Builder::open_state(std::string_view label, Where where_) {
  const SourceLocation where = location_of(where_);
  impl(where_).check_usable(where);
  impl(where_).statement();
  ir::Element& element = impl(where_).emit(ir::State{}, std::string(label), where);
  impl(where_).open(detail::ScopeKind::kState, element, 0, "state '" + std::string(label) + "'", where);
  return detail::OpenScope(impl(where_), {});
}

std::uint32_t Builder::current_element() const {
  return impl().current().element;
}

Node State::add_access(const detail::WindowRef& window, Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  builder_->check_owner(window->owner, where, "'" + window->owner->containers.at(window->container).label + "'");
  builder_->check_window(*window, where);
  const ir::Id id = builder_->graph.new_id();
  state.nodes.push_back({id, {}, where, ir::Access{window->container}});
  return Node(id_, id);
}

Node State::access(std::string_view name, Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  const std::string first(name.substr(0, name.find('.')));
  const std::optional<std::string> unique = builder_->resolve(first);
  const std::string path = unique ? *unique + std::string(name.substr(first.size())) : std::string(name);
  if (!unique || ir::resolve(builder_->graph, path) == nullptr) {
    builder_->fail(where, "there is no container '" + std::string(name) + "' here", builder_->unknown_hint(name));
  }
  const ir::Id id = builder_->graph.new_id();
  state.nodes.push_back({id, {}, where, ir::Access{path}});
  return Node(id_, id);
}

Node State::tasklet(std::string_view label, const std::vector<Connector>& inputs, const std::vector<Connector>& outputs,
                    std::string_view code, Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  const Names names = names_of(*builder_, inputs, outputs, label, where);
  ir::Tasklet t;
  t.inputs = connectors_of(inputs);
  t.outputs = connectors_of(outputs);
  try {
    t.code.body = tasklet::parse_body(code);
  } catch (const Error& e) {
    builder_->fail(where, "the code of tasklet '" + std::string(label) + "' can't be read: " + e.message(), e.hint());
  }
  t.code.body = resolved(*builder_, std::move(t.code.body), names, std::string(label), where);
  const std::vector<std::string> written = tasklet::uses_of(t.code.body).written;
  for (const Connector& c : outputs) {
    // A stream or pointer output may be written by index or by a call; a plain one must be assigned.
    if (c.type.is_void() && std::find(written.begin(), written.end(), c.name) == written.end() &&
        tasklet::uses_of(t.code.body).subscripted.empty()) {
      builder_->fail(where, "the tasklet '" + std::string(label) + "' never assigns its output '" + c.name + "'");
    }
  }
  const ir::Id id = builder_->graph.new_id();
  state.nodes.push_back({id, std::string(label), where, std::move(t)});
  return Node(id_, id);
}

Node State::cpp_tasklet(std::string_view label, const std::vector<Connector>& inputs,
                        const std::vector<Connector>& outputs, std::string_view code, std::string_view global_code,
                        Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  const Names names = names_of(*builder_, inputs, outputs, label, where);
  // Symbols whose name the graph had to change.
  std::map<std::string, std::string, std::less<>> renamed;
  for (const auto& scope : builder_->stack()) {
    for (const auto& [user, unique] : scope->names) {
      if (builder_->symbols.contains(unique) && user != unique && !names.has(user)) renamed[user] = unique;
    }
  }
  ir::Tasklet t;
  t.inputs = connectors_of(inputs);
  t.outputs = connectors_of(outputs);
  t.code.language = tasklet::Language::kCpp;
  t.code.text = renamed.empty() ? std::string(code) : ir::replace_identifiers(code, renamed);
  t.code.global_text = global_code;
  const ir::Id id = builder_->graph.new_id();
  state.nodes.push_back({id, std::string(label), where, std::move(t)});
  return Node(id_, id);
}

Node State::library(std::string_view label, const nodes::Any& operation, std::string_view implementation,
                    Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  const ir::Id id = builder_->graph.new_id();
  ir::Library library;
  library.op = detail::library_op(operation);
  library.implementation = implementation;
  state.nodes.push_back({id, std::string(label), where, std::move(library)});
  return Node(id_, id);
}

namespace {

std::string describe(const ir::Node& n, const BuilderImpl& b) {
  if (const auto* a = std::get_if<ir::Access>(&n.kind)) {
    const auto info = b.containers.find(a->data);
    return "access node of '" + (info == b.containers.end() ? a->data : info->second.label) + "'";
  }
  return std::string(std::holds_alternative<ir::Tasklet>(n.kind) ? "tasklet" : "library node") + " '" + n.label + "'";
}

// Checks the connector of one end; library nodes get theirs from their edges.
void connect(const BuilderImpl& b, ir::Node& n, const std::string& connector, bool input, const SourceLocation& where) {
  if (std::holds_alternative<ir::Access>(n.kind)) {
    if (!connector.empty())
      b.fail(where, "the " + describe(n, b) + " has no connector '" + connector + "'",
             "access nodes have no connectors");
    return;
  }
  const char* const side = input ? "input" : "output";
  if (connector.empty())
    b.fail(where, "an edge at the " + describe(n, b) + " names no connector",
           std::string("write node[\"") + side + "\"]");
  if (auto* library = std::get_if<ir::Library>(&n.kind)) {
    auto& list = input ? library->inputs : library->outputs;
    if (std::find(list.begin(), list.end(), connector) == list.end()) list.push_back(connector);
    return;
  }
  const auto& t = std::get<ir::Tasklet>(n.kind);
  const auto& list = input ? t.inputs : t.outputs;
  std::vector<std::string_view> known;
  for (const ir::Connector& c : list) known.push_back(c.name);
  if (std::find(known.begin(), known.end(), connector) != known.end()) return;
  const std::string_view near = nearest_name(connector, known);
  b.fail(where, "the " + describe(n, b) + " has no " + side + " connector '" + connector + "'",
         near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?");
}

ir::Wcr custom_wcr(const BuilderImpl& b, const std::string& text, const SourceLocation& where) {
  try {
    ir::Wcr wcr;
    wcr.op = ir::ReduceOp::kCustom;
    if (text.find("lambda") == std::string::npos) {
      wcr.custom = tasklet::parse_expression(text);
    } else {
      const tasklet::Lambda lambda = tasklet::parse_lambda(text);
      if (lambda.parameters.size() != 2)
        b.fail(where, "the WCR \"" + text + "\" needs two parameters, the old value and the new one");
      wcr.custom = tasklet::replace_names(lambda.value, {{lambda.parameters[0], tasklet::Expr::name("a")},
                                                         {lambda.parameters[1], tasklet::Expr::name("b")}});
    }
    for (const std::string& name : tasklet::uses_of(wcr.custom).read) {
      if (name != "a" && name != "b")
        b.fail(where, "the WCR \"" + text + "\" uses '" + name + "'",
               "only a (the old value) and b (the new one) are known");
    }
    return wcr;
  } catch (const Error& e) {
    if (e.error_class() == ErrorClass::kUsage) throw;
    b.fail(where, "the WCR \"" + text + "\" can't be read: " + e.message());
  }
}

}  // namespace

void State::edge(const Node& from, const Node& to, const Memlet& memlet, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *builder_;
  ir::State& state = state_of(b, id_, where);
  ir::Node& source = node_of(b, state, id_, from, where);
  ir::Node& target = node_of(b, state, id_, to, where);
  connect(b, source, from.connector(), false, where);
  connect(b, target, to.connector(), true, where);
  const auto* read = std::get_if<ir::Access>(&source.kind);
  const auto* write = std::get_if<ir::Access>(&target.kind);

  ir::Memlet m;
  m.src = source.id;
  m.dst = target.id;
  m.src_connector = from.connector();
  m.dst_connector = to.connector();
  m.dynamic = memlet.dynamic_;
  m.allow_oob = memlet.allow_oob_;
  m.location = where;
  const bool has_to = memlet.to_subset_ || memlet.to_window_ != nullptr;
  if (has_to && (read == nullptr || write == nullptr))
    b.fail(where, "a destination subset is given for an edge that is no copy");
  if (read != nullptr)
    m.src_subset = subset_of(b, *ir::resolve(b.graph, read->data), memlet.subset_, memlet.window_, where);
  if (write != nullptr) {
    const ir::Container& c = *ir::resolve(b.graph, write->data);
    m.dst_subset = read != nullptr ? subset_of(b, c, memlet.to_subset_, memlet.to_window_, where)
                                   : subset_of(b, c, memlet.subset_, memlet.window_, where);
    b.check_writable(write->data.substr(0, write->data.find('.')), where);
  }
  if (memlet.reduce_ || memlet.custom_) {
    if (write == nullptr) b.fail(where, "a WCR is given for an edge that does not end at an access node");
    m.wcr = memlet.custom_ ? custom_wcr(b, *memlet.custom_, where)
                           : ir::Wcr{detail::reduce_op(*memlet.reduce_), {}, ir::WcrLowering::kUndecided};
  }
  m.id = b.graph.new_id();
  if (write != nullptr) b.written(write->data.substr(0, write->data.find('.')));
  state.edges.push_back(std::move(m));
}

void State::order(const Node& first, const Node& second, Where where_) {
  const SourceLocation where = location_of(where_);
  ir::State& state = state_of(*builder_, id_, where);
  ir::Memlet m;
  m.src = node_of(*builder_, state, id_, first, where).id;
  m.dst = node_of(*builder_, state, id_, second, where).id;
  m.id = builder_->graph.new_id();
  m.location = where;
  state.edges.push_back(std::move(m));
}

void State::set_reference(const Node& source, const Node& reference, const Memlet& memlet, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *builder_;
  ir::State& state = state_of(b, id_, where);
  const auto* from = std::get_if<ir::Access>(&node_of(b, state, id_, source, where).kind);
  const auto* to = std::get_if<ir::Access>(&node_of(b, state, id_, reference, where).kind);
  if (from == nullptr || to == nullptr) b.fail(where, "a reference is set by an edge between two access nodes");
  if (ir::resolve(b.graph, to->data)->kind != ir::ContainerKind::kReference) {
    b.fail(where, "'" + to->data + "' is set like a reference, but is none", "declare it with g.reference");
  }
  ir::Memlet m;
  m.src = source.id();
  m.dst = reference.id();
  m.src_subset = subset_of(b, *ir::resolve(b.graph, from->data), memlet.subset_, memlet.window_, where);
  m.dst_subset = detail::whole_of(*ir::resolve(b.graph, to->data));
  m.set_reference = true;
  m.id = b.graph.new_id();
  m.location = where;
  state.edges.push_back(std::move(m));
  b.written(to->data);
}

}  // namespace sdfg
