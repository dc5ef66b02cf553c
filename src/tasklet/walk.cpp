// Walks over scalar code: uses, renaming, replacement, canonical bytes.
#include <algorithm>
#include <bit>

#include "tasklet/code.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void collect(const Expr& e, Uses& uses) {
  if (const Name* name = std::get_if<Name>(&e.node())) {
    if (name->name != "None") add_once(uses.read, name->name);
  } else if (const Subscript* subscript = std::get_if<Subscript>(&e.node())) {
    add_once(uses.subscripted, subscript->base);
  } else if (const ExternalCall* call = std::get_if<ExternalCall>(&e.node())) {
    add_once(uses.called, call->callee);
  }
  for (const Expr& child : e.children()) collect(child, uses);
}

void collect_target(const Expr& target, Uses& uses) {
  if (const Name* name = std::get_if<Name>(&target.node())) {
    add_once(uses.written, name->name);
  } else if (const Subscript* subscript = std::get_if<Subscript>(&target.node())) {
    add_once(uses.written, subscript->base);
    collect(target, uses);
  }
}

void collect(const Body& body, Uses& uses) {
  for (const Statement& statement : body) {
    std::visit(
        Overloaded{[&](const Assign& n) {
                     collect(n.value, uses);
                     collect_target(n.target, uses);
                   },
                   [&](const Update& n) {
                     collect(n.target, uses);
                     collect(n.value, uses);
                     collect_target(n.target, uses);
                   },
                   [&](const If& n) {
                     for (const IfBranch& branch : n.branches) {
                       collect(branch.condition, uses);
                       collect(branch.body, uses);
                     }
                   },
                   [&](const While& n) {
                     collect(n.condition, uses);
                     collect(n.body, uses);
                   },
                   [](const Break&) {}, [](const Continue&) {}, [&](const Evaluate& n) { collect(n.value, uses); }},
        statement.node);
  }
}

// Rebuilds bodies with every expression mapped.
template <typename MapExpr>
Body map_body(const Body& body, const MapExpr& map) {
  using Node = decltype(Statement::node);
  Body result;
  result.reserve(body.size());
  for (const Statement& statement : body) {
    Node node = std::visit(
        Overloaded{[&](const Assign& n) -> Node { return Assign{map(n.target), map(n.value)}; },
                   [&](const Update& n) -> Node { return Update{map(n.target), n.op, map(n.value)}; },
                   [&](const If& n) -> Node {
                     If copy;
                     for (const IfBranch& branch : n.branches) {
                       copy.branches.push_back({map(branch.condition), map_body(branch.body, map)});
                     }
                     return copy;
                   },
                   [&](const While& n) -> Node { return While{map(n.condition), map_body(n.body, map)}; },
                   [](const Break&) -> Node { return Break{}; }, [](const Continue&) -> Node { return Continue{}; },
                   [&](const Evaluate& n) -> Node { return Evaluate{map(n.value)}; }},
        statement.node);
    result.push_back({std::move(node), statement.line});
  }
  return result;
}

Expr with_mapped_children(const Expr& e, const auto& map) {
  if (e.children().empty()) return e;
  std::vector<Expr> children;
  children.reserve(e.children().size());
  for (const Expr& child : e.children()) children.push_back(map(child));
  return e.with_children(std::move(children));
}

void write_type(const Type& type, ByteWriter& out) {
  out.text(type.str());
}

void write(const Literal& literal, ByteWriter& out) {
  out.boolean(literal.weak);
  out.u8(static_cast<std::uint8_t>(literal.value.index()));
  std::visit(
      Overloaded{[&](bool v) { out.boolean(v); }, [&](std::int64_t v) { out.i64(v); },
                 [&](std::uint64_t v) { out.u64(v); }, [&](double v) { out.u64(std::bit_cast<std::uint64_t>(v)); },
                 [&](const std::complex<double>& v) {
                   out.u64(std::bit_cast<std::uint64_t>(v.real()));
                   out.u64(std::bit_cast<std::uint64_t>(v.imag()));
                 }},
      literal.value);
}

}  // namespace

Uses uses_of(const Expr& e) {
  Uses uses;
  collect(e, uses);
  return uses;
}

Uses uses_of(const Body& body) {
  Uses uses;
  collect(body, uses);
  return uses;
}

Expr replace_names(const Expr& e, const std::map<std::string, Expr, std::less<>>& by) {
  if (const Name* name = std::get_if<Name>(&e.node())) {
    if (const auto found = by.find(name->name); found != by.end()) return found->second;
    // A member of a replaced structure: `st.x` with st renamed.
    if (const std::size_t dot = name->name.find('.'); dot != std::string::npos) {
      const auto owner = by.find(std::string_view(name->name).substr(0, dot));
      const Name* renamed = owner == by.end() ? nullptr : std::get_if<Name>(&owner->second.node());
      if (renamed != nullptr) return Expr(Name{renamed->name + name->name.substr(dot)}, e.type(), e.column());
    }
    return e;
  }
  return with_mapped_children(e, [&](const Expr& child) { return replace_names(child, by); });
}

Body replace_names(const Body& body, const std::map<std::string, Expr, std::less<>>& by) {
  Body result = map_body(body, [&](const Expr& e) { return replace_names(e, by); });
  const auto check = [](const Expr& target) {
    if (!std::holds_alternative<Name>(target.node()) && !std::holds_alternative<Subscript>(target.node())) {
      throw Error(ErrorClass::kUsage,
                  "An assignment target was replaced by '" + to_python(target) + "', which cannot be assigned to.");
    }
  };
  for (const Statement& statement : result) {
    if (const Assign* assign = std::get_if<Assign>(&statement.node)) check(assign->target);
    if (const Update* update = std::get_if<Update>(&statement.node)) check(update->target);
  }
  return result;
}

Expr rename_bases(const Expr& e, const std::map<std::string, std::string, std::less<>>& by) {
  Expr result = with_mapped_children(e, [&](const Expr& child) { return rename_bases(child, by); });
  const Subscript* subscript = std::get_if<Subscript>(&result.node());
  if (subscript == nullptr) return result;
  std::string base = subscript->base;
  if (const auto found = by.find(base); found != by.end()) {
    base = found->second;
  } else if (const std::size_t dot = base.find('.'); dot != std::string::npos) {
    const auto owner = by.find(std::string_view(base).substr(0, dot));
    if (owner == by.end()) return result;
    base = owner->second + base.substr(dot);
  } else {
    return result;
  }
  return Expr(Subscript{std::move(base), subscript->indices}, result.type(), result.column());
}

Body rename_bases(const Body& body, const std::map<std::string, std::string, std::less<>>& by) {
  return map_body(body, [&](const Expr& e) { return rename_bases(e, by); });
}

void write_canonical(const Expr& e, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>(e.node().index()));
  write_type(e.type(), out);
  std::visit(
      Overloaded{[&](const Literal& n) { write(n, out); }, [&](const Name& n) { out.text(n.name); },
                 [&](const Subscript& n) { out.text(n.base); },
                 [&](const Unary& n) { out.u8(static_cast<std::uint8_t>(n.op)); },
                 [&](const Binary& n) { out.u8(static_cast<std::uint8_t>(n.op)); }, [](const Select&) {},
                 [&](const Call& n) { out.u8(static_cast<std::uint8_t>(n.function)); },
                 [&](const ExternalCall& n) { out.text(n.callee); }, [&](const Cast& n) { write_type(n.to, out); }},
      e.node());
  out.u32(static_cast<std::uint32_t>(e.children().size()));
  for (const Expr& child : e.children()) write_canonical(child, out);
}

void write_canonical(const Body& body, ByteWriter& out) {
  out.u32(static_cast<std::uint32_t>(body.size()));
  for (const Statement& statement : body) {
    out.u8(static_cast<std::uint8_t>(statement.node.index()));
    std::visit(Overloaded{[&](const Assign& n) {
                            write_canonical(n.target, out);
                            write_canonical(n.value, out);
                          },
                          [&](const Update& n) {
                            out.u8(static_cast<std::uint8_t>(n.op));
                            write_canonical(n.target, out);
                            write_canonical(n.value, out);
                          },
                          [&](const If& n) {
                            out.u32(static_cast<std::uint32_t>(n.branches.size()));
                            for (const IfBranch& branch : n.branches) {
                              write_canonical(branch.condition, out);
                              write_canonical(branch.body, out);
                            }
                          },
                          [&](const While& n) {
                            write_canonical(n.condition, out);
                            write_canonical(n.body, out);
                          },
                          [](const Break&) {}, [](const Continue&) {},
                          [&](const Evaluate& n) { write_canonical(n.value, out); }},
               statement.node);
  }
}

}  // namespace sdfg::tasklet
