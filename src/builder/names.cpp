// Names: the user's, which may repeat from scope to scope, and the graph's, which are unique.
#include <algorithm>

#include "builder/impl.hpp"
#include "ir/validate.hpp"

namespace sdfg::detail {

std::optional<std::string> BuilderImpl::resolve(std::string_view user_name) const {
  for (auto scope = stack_.rbegin(); scope != stack_.rend(); ++scope) {
    const auto found = (*scope)->names.find(user_name);
    if (found != (*scope)->names.end()) return found->second;
  }
  return std::nullopt;
}

std::string BuilderImpl::claim_parameter(std::string_view name, const SourceLocation& where) {
  if (!ir::is_identifier(name)) {
    fail(where, "'" + std::string(name) + "' is no name for a parameter", ir::identifier_hint(name));
  }
  const auto taken = [&](const std::string& label, const SourceLocation& first, std::string_view what) {
    std::string message = "the name '" + std::string(name) + "' is taken by the " + std::string(what);
    if (label != name) message += " '" + label + "'";
    if (first.known()) message += " declared at " + first.str();
    fail(where, std::move(message), "declare parameters first, or choose another name");
  };
  if (const auto symbol = symbols.find(name); symbol != symbols.end()) {
    taken(symbol->second.label, symbol->second.where, ir::to_string(symbol->second.binder));
  }
  if (const auto container = containers.find(name); container != containers.end()) {
    taken(container->second.label, container->second.where, "container");
  }
  if (!ordered.empty()) {
    fail(where, "the parameter '" + std::string(name) + "' is declared after the order of the parameters was set",
         "call order() after the last declaration");
  }
  std::string result(name);
  free_code_name(result);
  stack_.front()->names[result] = result;
  return result;
}

std::string BuilderImpl::claim_local(std::string_view name, const SourceLocation& where) {
  if (name.empty()) fail(where, "a name is empty");
  if (ir::is_reserved_word(name)) fail(where, "'" + std::string(name) + "' is no name", ir::identifier_hint(name));
  Scope& scope = current();
  if (scope.kind == ScopeKind::kState)
    fail(where, "'" + std::string(name) + "' is declared inside the body of a state", "declare it before");
  if (const auto twice = scope.names.find(name); twice != scope.names.end()) {
    const auto container = containers.find(twice->second);
    const auto symbol = symbols.find(twice->second);
    const SourceLocation first = container != containers.end() ? container->second.where
                                 : symbol != symbols.end()     ? symbol->second.where
                                                               : SourceLocation();
    fail(where, "the name '" + std::string(name) + "' is declared twice in one scope" +
                    (first.known() ? ", first at " + first.str() : std::string()));
  }
  std::string result = fresh(name);
  scope.names[std::string(name)] = result;
  return result;
}

std::string BuilderImpl::fresh(std::string_view wish) const {
  std::string name = graph.unique_name(wish);
  while (code_names.contains(name)) name = graph.unique_name(name + "_");
  return name;
}

Index BuilderImpl::new_symbol(std::string_view name, ir::BinderKind binder, ScalarType type,
                              const SourceLocation& where, bool minted) {
  const std::string unique = binder == ir::BinderKind::kParameter ? claim_parameter(name, where)
                             : minted                             ? fresh(name)
                                                                  : claim_local(name, where);
  ir::Symbol symbol;
  symbol.name = unique;
  symbol.type = type;
  symbol.binder = binder;
  if (unique != name) symbol.label = name;
  symbol.location = where;
  graph.symbols.insert(std::move(symbol));
  SymbolInfo info;
  info.scope = binder == ir::BinderKind::kParameter ? stack_.front()->id : current().id;
  if (binder == ir::BinderKind::kAssigned) info.segment = current_segment();
  info.label = name;
  info.binder = binder;
  info.minted = minted;
  info.where = where;
  symbols.emplace(unique, std::move(info));
  if (binder == ir::BinderKind::kParameter) update_parameters();
  return index_of(unique);
}

Index BuilderImpl::index_of(const std::string& symbol) {
  const SymbolInfo& info = symbols.at(symbol);
  return Index(std::make_shared<const IndexNode>(
      IndexNode{shared_from_this(), symbolic::Expr::symbol(symbol), {info.scope}, info.where}));
}

void BuilderImpl::update_parameters() {
  if (!ordered.empty()) {
    graph.parameters = ordered;
    return;
  }
  graph.parameters.clear();
  for (const ir::Container& c : graph.containers) {
    if (!c.transient && !c.constant) graph.parameters.push_back(c.name);
  }
  for (const ir::Symbol& s : graph.symbols) {
    if (s.binder == ir::BinderKind::kParameter) graph.parameters.push_back(s.name);
  }
}

Scopes BuilderImpl::scopes_of(const symbolic::Expr& e) const {
  Scopes out;
  for (const std::string& name : symbolic::free_symbols(e)) {
    const auto info = symbols.find(name);
    if (info != symbols.end()) out = merged(out, {info->second.scope});
  }
  return out;
}

}  // namespace sdfg::detail
