// Statements as lines of C++.
#include <algorithm>
#include <map>

#include "tasklet/functions.hpp"
#include "tasklet/print_cpp_expr.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

int count_in(const Expr& e, const std::string& name) {
  int count = 0;
  if (const Name* n = std::get_if<Name>(&e.node())) count += n->name == name || n->name.starts_with(name + ".") ? 1 : 0;
  if (const Subscript* n = std::get_if<Subscript>(&e.node())) count += n->base == name ? 1 : 0;
  for (const Expr& child : e.children()) count += count_in(child, name);
  return count;
}

struct Occurrences {
  int all = 0;
  int writes = 0;
};

Occurrences occurrences(const Body& body, const std::string& name);

Occurrences occurrences(const Statement& statement, const std::string& name) {
  return std::visit(
      Overloaded{[&](const Assign& n) {
                   const int in_target = count_in(n.target, name);
                   const bool writes = in_target > 0 && std::holds_alternative<Name>(n.target.node());
                   return Occurrences{in_target + count_in(n.value, name), writes ? 1 : 0};
                 },
                 [&](const Update& n) {
                   const int in_target = count_in(n.target, name);
                   return Occurrences{in_target + count_in(n.value, name), in_target > 0 ? 1 : 0};
                 },
                 [&](const If& n) {
                   Occurrences sum;
                   for (const IfBranch& branch : n.branches) {
                     const Occurrences inner = occurrences(branch.body, name);
                     sum.all += count_in(branch.condition, name) + inner.all;
                     sum.writes += inner.writes;
                   }
                   return sum;
                 },
                 [&](const While& n) {
                   Occurrences inner = occurrences(n.body, name);
                   inner.all += count_in(n.condition, name);
                   return inner;
                 },
                 [](const Break&) { return Occurrences{}; }, [](const Continue&) { return Occurrences{}; },
                 [&](const Evaluate& n) { return Occurrences{count_in(n.value, name), 0}; }},
      statement.node);
}

Occurrences occurrences(const Body& body, const std::string& name) {
  Occurrences sum;
  for (const Statement& statement : body) {
    const Occurrences one = occurrences(statement, name);
    sum.all += one.all;
    sum.writes += one.writes;
  }
  return sum;
}

class BodyPrinter {
 public:
  BodyPrinter(const std::vector<std::pair<std::string, Type>>& locals, const CppStyle& style)
      : style_(style), printer_(style) {
    for (const auto& [name, type] : locals) types_.emplace(name, type);
  }

  std::vector<CppLine> run(const Body& body, const std::vector<std::pair<std::string, Type>>& locals) {
    for (const auto& [name, type] : locals) {
      const Occurrences whole = occurrences(body, name);
      totals_.emplace(name, whole);
      if (whole.all > 0 && !has_covering_assignment(body, name, whole.all)) {
        const bool zero = type.is_scalar() || type.kind() == Type::Kind::kPointer;
        emit(0, cpp_type(type) + " " + spelled(name, type) + (zero ? " = " + zero_of(type) + ";" : ";"), 0);
        declared_.push_back(name);
      }
    }
    print(body, 0);
    return std::move(lines_);
  }

 private:
  static std::string zero_of(const Type& type) {
    if (type.kind() == Type::Kind::kPointer) return "nullptr";
    const ScalarType scalar = type.scalar();
    if (scalar == ScalarType::kBool) return "false";
    return is_integer(scalar) ? "0" : cpp_literal(Expr::literal(std::int64_t{0}, scalar));
  }

  // Whether in some statement list an assignment of the name comes first and all other occurrences follow in that list.
  static bool has_covering_assignment(const Body& body, const std::string& name, int total) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Occurrences one = occurrences(body[i], name);
      if (one.all == 0) continue;
      if (const Assign* assign = std::get_if<Assign>(&body[i].node)) {
        const Name* target = std::get_if<Name>(&assign->target.node());
        if (target == nullptr || target->name != name || count_in(assign->value, name) > 0) return false;
        int here = 0;
        for (std::size_t j = i; j < body.size(); ++j) here += occurrences(body[j], name).all;
        return here == total;
      }
      if (one.all != total) return false;
      // All inside this statement: in one of its bodies, but not in a condition outside of it.
      if (const If* node = std::get_if<If>(&body[i].node)) {
        return std::any_of(node->branches.begin(), node->branches.end(),
                           [&](const IfBranch& b) { return has_covering_assignment(b.body, name, total); });
      }
      if (const While* loop = std::get_if<While>(&body[i].node))
        return has_covering_assignment(loop->body, name, total);
      return false;
    }
    return false;
  }

  std::string spelled(const std::string& name, const Type& type) const {
    return style_.name ? style_.name(name, type) : name;
  }

  void emit(int indent, std::string text, std::uint32_t line) { lines_.push_back({indent, std::move(text), line}); }

  void print(const Body& body, int indent) {
    for (const Statement& statement : body) print(statement, indent);
  }

  void print(const Statement& statement, int indent) {
    const std::uint32_t line = statement.line;
    std::visit(Overloaded{[&](const Assign& n) { emit(indent, assignment(n) + ";", line); },
                          [&](const Update& n) { emit(indent, update(n) + ";", line); },
                          [&](const If& n) { print_if(n, indent, line); },
                          [&](const While& n) {
                            emit(indent, "while (" + printer_.condition(n.condition).text + ") {", line);
                            print(n.body, indent + 1);
                            emit(indent, "}", line);
                          },
                          [&](const Break&) { emit(indent, "break;", line); },
                          [&](const Continue&) { emit(indent, "continue;", line); },
                          [&](const Evaluate& n) { emit(indent, printer_.print(n.value).text + ";", line); }},
               statement.node);
  }

  void print_if(const If& n, int indent, std::uint32_t line) {
    for (std::size_t i = 0; i < n.branches.size(); ++i) {
      const IfBranch& branch = n.branches[i];
      const bool is_else = i > 0 && i + 1 == n.branches.size() && branch.condition == Expr::literal(true);
      const std::string head = is_else ? "else {" : "if (" + printer_.condition(branch.condition).text + ") {";
      emit(indent, (i == 0 ? "" : is_else ? "} " : "} else ") + head, line);
      print(branch.body, indent + 1);
    }
    emit(indent, "}", line);
  }

  std::string assignment(const Assign& n) {
    const std::string value = to_cpp_as(n.value, n.target.type(), style_);
    if (const Name* name = std::get_if<Name>(&n.target.node())) {
      const auto local = types_.find(name->name);
      if (local != types_.end() && std::find(declared_.begin(), declared_.end(), name->name) == declared_.end()) {
        declared_.push_back(name->name);
        const bool only = totals_.find(name->name)->second.writes == 1;
        return (only ? "const " : "") + cpp_type(local->second) + " " + spelled(name->name, local->second) + " = " +
               value;
      }
      if (local != types_.end()) return printer_.print(n.target).text + " = " + value;
    }
    return store(n.target, value);
  }

  std::string store(const Expr& target, const std::string& value) const {
    if (style_.store) {
      if (std::optional<std::string> text = style_.store(target, value)) return *text;
    }
    return printer_.print(target).text + " = " + value;
  }

  bool is_local(const Expr& target) const {
    const Name* name = std::get_if<Name>(&target.node());
    return name != nullptr && types_.contains(name->name);
  }

  std::string update(const Update& n) const {
    const Type result = result_type(n.op, n.target.type(), n.value.type());
    const Expr whole = Expr::binary(n.op, n.target, n.value).with_type(result);
    const std::string value = to_cpp_as(whole, n.target.type(), style_);
    if (!is_local(n.target) && style_.store) {
      if (std::optional<std::string> text = style_.store(n.target, value)) return *text;
    }
    if (std::optional<std::string> compound = compound_form(n, result)) return *compound;
    return printer_.print(n.target).text + " = " + value;
  }

  // `x += v` where it means the same: C's own conversion of the result to the target is ours.
  std::optional<std::string> compound_form(const Update& n, const Type& result) const {
    std::string_view op;
    if (n.op == BinaryOp::kAdd) op = " += ";
    if (n.op == BinaryOp::kSub) op = " -= ";
    if (n.op == BinaryOp::kMul) op = " *= ";
    if (n.op == BinaryOp::kDiv) op = " /= ";
    if (op.empty() || !result.is_scalar() || !n.target.type().is_scalar() || !n.value.type().is_scalar())
      return std::nullopt;
    const ScalarType target = n.target.type().scalar();
    const ScalarType computed = result.scalar();
    const bool same = target == computed;
    if (is_complex(computed) && same)
      return printer_.print(n.target).text + std::string(op) + printer_.as(n.value, computed).text;
    const bool native = is_integer(target) || target == ScalarType::kFloat32 || target == ScalarType::kFloat64;
    if (!same || !native || target == ScalarType::kUInt16) return std::nullopt;
    const ScalarType from = n.value.type().scalar();
    const bool direct =
        is_integer(target) ? from == target : from == target || is_integer(from) || from == ScalarType::kBool;
    if (!direct) return std::nullopt;
    return printer_.print(n.target).text + std::string(op) + printer_.print(n.value).text;
  }

  const CppStyle& style_;
  CppPrinter printer_;
  std::map<std::string, Type, std::less<>> types_;
  std::map<std::string, Occurrences, std::less<>> totals_;
  std::vector<std::string> declared_;
  std::vector<CppLine> lines_;
};

}  // namespace

std::vector<CppLine> to_cpp(const Body& body, const std::vector<std::pair<std::string, Type>>& locals,
                            const CppStyle& style) {
  return BodyPrinter(locals, style).run(body, locals);
}

}  // namespace sdfg::tasklet
