// Names, expressions and code of a file in terms of the graph.
#include <algorithm>
#include <cctype>

#include "io/importer.hpp"
#include "ir/validate.hpp"
#include "symbolic/print.hpp"

namespace sdfg::io {

// Expressions of the file would read such a name as the word that it is.
void Importer::refuse_word(std::string_view name, const std::string& path) {
  if (!ir::is_reserved_word(name)) return;
  throw Error(ErrorClass::kGraph, "'" + std::string(name) + "' is no name" + (path.empty() ? "" : " (at " + path + ")"),
              {}, ir::identifier_hint(name));
}

// What the file declares comes through here.
std::string Importer::fresh(std::string_view wish) {
  refuse_word(wish, "");
  return graph_.unique_name(wish.empty() ? "x" : wish);
}

namespace {

template <typename Symbols>
void check_values(const Symbols& used, const Scope& scope) {
  for (const std::string& s : used) {
    // A map or loop inside may bind the name.
    if (auto it = scope.missing.find(s); it != scope.missing.end() && !scope.symbols.contains(s))
      throw Error(ErrorClass::kGraph, it->second);
  }
}

}  // namespace

symbolic::Expr Importer::mapped(const symbolic::Expr& e, const Scope& scope) const {
  if (!scope.missing.empty()) check_values(symbolic::free_symbols(e), scope);
  return symbolic::substitute(e, scope.symbols);
}
ir::Subset Importer::mapped(const ir::Subset& s, const Scope& scope) const {
  if (!scope.missing.empty()) check_values(s.free_symbols(), scope);
  return symbolic::substitute(s, scope.symbols);
}
std::vector<symbolic::Expr> Importer::mapped(const std::vector<symbolic::Expr>& list, const Scope& scope) const {
  std::vector<symbolic::Expr> out;
  out.reserve(list.size());
  for (const auto& e : list) out.push_back(mapped(e, scope));
  return out;
}

tasklet::Expr Importer::expression(const dace::CodeBlock& code, Scope& scope) {
  if (code.language != dace::Language::kPython) {
    throw Error(ErrorClass::kGraph,
                "a condition in a language other than Python: '" + code.text + "' (at " + code.path + ")");
  }
  return expression(code.text, code.path, scope);
}

tasklet::Expr Importer::expression(const std::string& text, const std::string& path, Scope& scope) {
  try {
    return resolved(tasklet::parse_expression(text), scope, path);
  } catch (const Error& e) {
    throw Error(e.error_class(), e.message() + " (at " + path + ")", e.places(), e.hint());
  }
}

// Symbols become expressions of the graph's symbols, containers become subscripts of the graph's containers.
tasklet::Expr Importer::resolved(const tasklet::Expr& e, Scope& scope, const std::string& path) const {
  std::vector<tasklet::Expr> children;
  for (const tasklet::Expr& c : e.children()) children.push_back(resolved(c, scope, path));

  auto element = [&](const std::string& base, std::vector<tasklet::Expr> indices) -> std::optional<tasklet::Expr> {
    const std::size_t dot = base.find('.');
    const std::string head = base.substr(0, dot);
    if (auto it = scope.float_symbols.find(head); it != scope.float_symbols.end())
      return tasklet::Expr::subscript(it->second, {});
    auto it = scope.containers.find(head);
    if (it == scope.containers.end()) return std::nullopt;
    const Binding& b = it->second;
    const std::string full = b.container + (dot == std::string::npos ? "" : base.substr(dot));
    const ir::Container* c = ir::resolve(graph_, full);
    if (c == nullptr) throw Error(ErrorClass::kGraph, "there is no container '" + base + "' (at " + path + ")");
    if (!b.window) {
      if (c->is_scalar())
        indices.clear();
      else if (indices.empty() && c->rank() > 0)
        indices.assign(c->rank(), tasklet::Expr::weak(0));
      return tasklet::Expr::subscript(full, std::move(indices));
    }
    std::vector<tasklet::Expr> outer;
    for (const auto& r : b.window->base.ranges()) outer.push_back(tasklet::from_symbolic(r.begin));
    for (std::size_t k = 0; k < std::min(indices.size(), b.window->dims.size()); ++k) {
      tasklet::Expr& at = outer[static_cast<std::size_t>(b.window->dims[k])];
      const auto both = std::pair(tasklet::to_symbolic(at), tasklet::to_symbolic(indices[k]));
      at = both.first && both.second ? tasklet::from_symbolic(*both.first + *both.second)
                                     : tasklet::Expr::binary(tasklet::BinaryOp::kAdd, at, indices[k]);
    }
    if (c->is_scalar()) outer.clear();
    return tasklet::Expr::subscript(full, std::move(outer));
  };

  if (const auto* name = std::get_if<tasklet::Name>(&e.node())) {
    if (auto it = scope.symbols.find(name->name); it != scope.symbols.end()) return tasklet::from_symbolic(it->second);
    if (auto found = element(name->name, {})) return *found;
    check_values(std::initializer_list<std::string>{name->name}, scope);
    return e;
  }
  if (const auto* subscript = std::get_if<tasklet::Subscript>(&e.node())) {
    if (auto found = element(subscript->base, children)) return *found;
    throw Error(ErrorClass::kGraph, "there is no container '" + subscript->base + "' (at " + path + ")");
  }
  // A call of a container name is how DaCe's expression printer spells reads.
  if (const auto* call = std::get_if<tasklet::ExternalCall>(&e.node())) {
    if (auto found = element(call->callee, children)) return *found;
  }
  return children.empty() ? e : e.with_children(std::move(children));
}

Type Importer::symbol_type(const std::string& name, const Scope& scope) const {
  for (const auto& [declared, type] : scope.sdfg->symbols) {
    if (declared == name && !type.is_void()) return type;
  }
  if (auto it = scope.sdfg->occurrence_types.find(name); it != scope.sdfg->occurrence_types.end()) return it->second;
  return ScalarType::kInt64;
}

bool Importer::is_float_symbol(const std::string& name, const Scope& scope) const {
  const Type t = symbol_type(name, scope);
  return t.is_scalar() && (is_floating(t.scalar()) || is_complex(t.scalar()));
}

// The graph's symbol behind a symbol that control flow of this scope assigns; made at the first assignment.
const std::string& Importer::assigned_symbol(const std::string& name, Scope& scope) {
  if (auto it = scope.symbols.find(name); it != scope.symbols.end() && it->second.kind() == symbolic::Kind::kSymbol) {
    const ir::Symbol* s = graph_.symbols.find(it->second.name());
    if (s != nullptr && s->binder == ir::BinderKind::kAssigned) return s->name;
  }
  ir::Symbol s;
  s.name = fresh(name);
  s.label = name;
  s.type = symbol_type(name, scope);
  s.binder = ir::BinderKind::kAssigned;
  scope.symbols[name] = symbolic::Expr::symbol(s.name);
  return graph_.symbols.insert(std::move(s)).name;
}

// C++ text can't be rewritten as a tree: identifiers that are symbols of this scope are replaced token by token; an
// expression gets a symbol of its own first.
std::string Importer::renamed_cpp(const std::string& text, Scope& scope, ir::Sequence& out) {
  std::string result;
  std::map<std::string, std::string> names;
  ir::Assign assign;
  char previous = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      std::size_t j = i + 1;
      while (j < text.size() && text[j] != c) j += text[j] == '\\' ? 2 : 1;
      j = std::min(j + 1, text.size());
      result.append(text, i, j - i);
      i = j;
      previous = c;
      continue;
    }
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      std::size_t j = i;
      while (j < text.size() && (std::isalnum(static_cast<unsigned char>(text[j])) || text[j] == '_')) ++j;
      const std::string word = text.substr(i, j - i);
      auto it = scope.symbols.find(word);
      if (it != scope.symbols.end() && previous != '.' && previous != ':' && previous != '>') {
        auto [known, inserted] = names.emplace(word, "");
        if (inserted) {
          if (it->second.kind() == symbolic::Kind::kSymbol) {
            known->second = it->second.name();
          } else {
            ir::Symbol s;
            s.name = fresh(word);
            s.label = word;
            s.binder = ir::BinderKind::kAssigned;
            known->second = s.name;
            assign.items.push_back({s.name, tasklet::from_symbolic(it->second)});
            graph_.symbols.insert(std::move(s));
          }
        }
        result += known->second;
      } else {
        result += word;
      }
      previous = text[j - 1];
      i = j;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) {  // a number and its suffix are no identifiers
      std::size_t j = i;
      while (j < text.size() && (std::isalnum(static_cast<unsigned char>(text[j])) || text[j] == '.')) ++j;
      result.append(text, i, j - i);
      previous = '0';
      i = j;
      continue;
    }
    if (!std::isspace(static_cast<unsigned char>(c))) previous = c;
    result += c;
    ++i;
  }
  if (!assign.items.empty()) graph_.append(out, std::move(assign));
  return result;
}

// "(lambda x, y: (x + y))"
ir::Wcr Importer::wcr_from(const std::string& text, const std::string& path) const {
  const std::string where = " (at " + path + ")";
  std::string body = text;
  std::size_t begin = body.find("lambda");
  if (begin == std::string::npos)
    throw Error(ErrorClass::kGraph, "the accumulation '" + text + "' is no lambda" + where);
  // The lambda may stand in parentheses of its own.
  int open = 0;
  for (std::size_t i = 0; i < begin; ++i) open += body[i] == '(' ? 1 : 0;
  body = body.substr(begin + 6);
  for (; open > 0 && !body.empty(); --open) {
    const std::size_t close = body.rfind(')');
    if (close != std::string::npos) body.erase(close);
  }
  const std::size_t colon = body.find(':');
  const std::size_t comma = body.find(',');
  if (colon == std::string::npos || comma == std::string::npos || comma > colon)
    throw Error(ErrorClass::kGraph, "the accumulation '" + text + "' is no lambda of two names" + where);
  auto trimmed = [](std::string s) {
    std::erase_if(s, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
    return s;
  };
  const std::string x = trimmed(body.substr(0, comma));
  const std::string y = trimmed(body.substr(comma + 1, colon - comma - 1));
  std::string value = body.substr(colon + 1);
  value.erase(0, value.find_first_not_of(" \t"));
  const tasklet::Expr e = tasklet::parse_expression(value);

  auto is_name = [](const tasklet::Expr& node, const std::string& name) {
    const auto* n = std::get_if<tasklet::Name>(&node.node());
    return n != nullptr && n->name == name;
  };
  auto over_both = [&](std::span<const tasklet::Expr> args) {
    return args.size() == 2 &&
           ((is_name(args[0], x) && is_name(args[1], y)) || (is_name(args[0], y) && is_name(args[1], x)));
  };
  ir::Wcr out;
  if (is_name(e, y)) {
    out.op = ir::ReduceOp::kExchange;
    return out;
  }
  if (const auto* binary = std::get_if<tasklet::Binary>(&e.node()); binary != nullptr && over_both(e.children())) {
    switch (binary->op) {
      case tasklet::BinaryOp::kAdd: out.op = ir::ReduceOp::kSum; return out;
      case tasklet::BinaryOp::kMul: out.op = ir::ReduceOp::kProduct; return out;
      case tasklet::BinaryOp::kBitAnd: out.op = ir::ReduceOp::kBitAnd; return out;
      case tasklet::BinaryOp::kBitOr: out.op = ir::ReduceOp::kBitOr; return out;
      case tasklet::BinaryOp::kBitXor: out.op = ir::ReduceOp::kBitXor; return out;
      case tasklet::BinaryOp::kAnd: out.op = ir::ReduceOp::kLogicalAnd; return out;
      case tasklet::BinaryOp::kOr: out.op = ir::ReduceOp::kLogicalOr; return out;
      case tasklet::BinaryOp::kNotEqual: out.op = ir::ReduceOp::kLogicalXor; return out;
      case tasklet::BinaryOp::kSub:
      case tasklet::BinaryOp::kDiv:
      case tasklet::BinaryOp::kFloorDiv:
      case tasklet::BinaryOp::kMod:
      case tasklet::BinaryOp::kPow:
      case tasklet::BinaryOp::kShiftLeft:
      case tasklet::BinaryOp::kShiftRight:
      case tasklet::BinaryOp::kEqual:
      case tasklet::BinaryOp::kLess:
      case tasklet::BinaryOp::kLessEqual:
      case tasklet::BinaryOp::kGreater:
      case tasklet::BinaryOp::kGreaterEqual: break;
    }
  }
  if (const auto* call = std::get_if<tasklet::Call>(&e.node()); call != nullptr && over_both(e.children())) {
    if (call->function == tasklet::Function::kMin) {
      out.op = ir::ReduceOp::kMin;
      return out;
    }
    if (call->function == tasklet::Function::kMax) {
      out.op = ir::ReduceOp::kMax;
      return out;
    }
  }
  out.op = ir::ReduceOp::kCustom;
  out.custom = tasklet::replace_names(e, {{x, tasklet::Expr::name("a")}, {y, tasklet::Expr::name("b")}});
  return out;
}

// Types of all code, once every container and symbol is known.
void Importer::infer_all_types() {
  const tasklet::TypeEnvironment env = ir::type_environment(graph_);
  ir::walk(graph_.body, [&](ir::Element& e) {
    auto infer = [&](tasklet::Expr& x) {
      try {
        x = tasklet::infer_types(x, env);
      } catch (const Error& error) {
        throw Error(error.error_class(), error.message(), ir::places_of(graph_, e.id), error.hint());
      }
    };
    auto infer_condition = [&](tasklet::Expr& x) {
      infer(x);
      x = plain_condition(x);
      infer(x);
    };
    if (auto* a = std::get_if<ir::Assign>(&e.kind)) {
      for (auto& item : a->items) infer(item.value);
    } else if (auto* f = std::get_if<ir::For>(&e.kind)) {
      infer(f->init);
      infer_condition(f->condition);
      infer(f->update);
    } else if (auto* w = std::get_if<ir::While>(&e.kind)) {
      infer_condition(w->condition);
    } else if (auto* i = std::get_if<ir::If>(&e.kind)) {
      for (auto& b : i->branches) infer_condition(b.condition);
    } else if (auto* c = std::get_if<ir::Consume>(&e.kind)) {
      if (c->condition) infer_condition(*c->condition);
    } else if (auto* s = std::get_if<ir::State>(&e.kind)) {
      for (ir::Node& n : s->nodes) {
        auto* t = std::get_if<ir::Tasklet>(&n.kind);
        if (t == nullptr || t->code.language != tasklet::Language::kTree) continue;
        try {
          t->code.body = tasklet::infer_types(t->code.body, ir::type_environment(graph_, *s, n));
        } catch (const Error& error) {
          throw Error(error.error_class(), "tasklet '" + n.label + "': " + error.message(), ir::places_of(graph_, n.id),
                      error.hint());
        }
      }
    }
  });
}

}  // namespace sdfg::io
