// Spells types, literals and scalar code: the bridge from typed trees to text.
#include <algorithm>
#include <set>

#include "lower/abi.hpp"
#include "lower/lowering.hpp"
#include "tasklet/print_cpp.hpp"

namespace sdfg::lower {

Text Lowering::type_text(const Type& t) {
  switch (t.kind()) {
    case Type::Kind::kVoid: return "void";
    case Type::Kind::kPointer: return type_text(t.pointee()) + "*";
    case Type::Kind::kScalar:
    case Type::Kind::kVector: return tasklet::cpp_type(t);
    case Type::Kind::kOpaque: return opaque_text(t);
    case Type::Kind::kStruct: return structure_text(t);
    case Type::Kind::kCallback: {
      const CallbackInfo& c = t.callback();
      Text out = c.returns.empty() ? Text("void") : type_text(c.returns.front());
      out += " (*{})(";
      for (std::size_t i = 0; i < c.arguments.size(); ++i) out += (i ? ", " : "") + type_text(c.arguments[i]);
      return out + ")";
    }
  }
  return "void";
}

// An opaque type is an incomplete structure, whatever its name in the user's world: only its address travels.
Text Lowering::opaque_text(const Type& t) {
  const Text name = sanitised("opaque_" + t.opaque_name());
  structures_.emplace(name, "struct " + name + " { void* handle; };\n");
  return name;
}

Text Lowering::structure_text(const Type& t) {
  const StructInfo& info = t.structure();
  const Text name = sanitised("struct_" + info.name);
  if (!structures_.contains(name)) {
    Text definition = "struct " + name + " {";
    for (const StructField& f : info.fields) definition += " " + type_text(f.type) + " " + sanitised(f.name) + ";";
    structures_.emplace(name, definition + " };\n");
    structure_order_.push_back(name);
  }
  return name;
}

// The C structure of a structure container: scalars by value, arrays as pointers, structures as pointers to theirs.
Text Lowering::container_structure(const ir::Container& c) {
  const Text name = sanitised("struct_" + c.name);
  if (!structures_.contains(name)) {
    Text definition = "struct " + name + " {";
    for (const ir::Container& m : c.members) {
      Text type;
      switch (m.kind) {
        case ir::ContainerKind::kScalar: type = type_text(m.type); break;
        case ir::ContainerKind::kArray:
        case ir::ContainerKind::kView:
        case ir::ContainerKind::kReference: type = type_text(m.type) + "*"; break;
        case ir::ContainerKind::kStructure: {
          ir::Container inner = m;
          inner.name = c.name + "_" + m.name;
          type = container_structure(inner) + "*";
          break;
        }
        case ir::ContainerKind::kStream: type = "void*"; break;
        case ir::ContainerKind::kContainerArray: type = "void**"; break;
      }
      definition += " " + type + " " + sanitised(m.name) + ";";
    }
    structures_.emplace(name, definition + " };\n");
    structure_order_.push_back(name);
  }
  return name;
}

tasklet::CppStyle Lowering::style_for(const Binding& b) {
  tasklet::CppStyle style;
  style.name = [this, &b](std::string_view name, const Type&) -> std::string {
    if (auto it = b.values.find(name); it != b.values.end()) return parenthesised(it->second);
    if (const ir::Symbol* s = g_.symbols.find(name)) {
      const Text text = names_.of(name);
      // Symbols live in 64-bit variables; scalar code computes in their own type.
      if (s->type.is_scalar() && is_integer(s->type.scalar()) && s->type.scalar() != ScalarType::kInt64)
        return "((" + type_text(s->type) + ")" + text + ")";
      return text;
    }
    if (g_.containers.contains(root_name(name))) return element_of(name, {});
    return std::string(name);
  };
  style.subscript = [this, &b](const tasklet::Subscript& node, std::span<const std::string> indices) -> std::string {
    const auto window = b.windows.find(node.base);
    if (window != b.windows.end()) return window_element(node.base, window->second, indices);
    if (const auto value = b.values.find(node.base); value != b.values.end() && indices.size() == 1)
      return parenthesised(value->second) + "[" + indices[0] + "]";
    return element_of(node.base, indices);
  };
  style.call = [this](std::string_view callee, std::span<const std::string> args) {
    Text out = g_.symbols.contains(callee) ? names_.of(callee) : std::string(callee);
    out += "(";
    for (std::size_t i = 0; i < args.size(); ++i) out += (i ? ", " : "") + args[i];
    return out + ")";
  };
  style.nonnegative = [this](const tasklet::Expr& e) {
    const auto value = tasklet::to_symbolic(e);
    return value && !value->is_boolean_valued() && symbolic::is_nonnegative(*value, facts()) == symbolic::Truth::kYes;
  };
  return style;
}

Text Lowering::window_element(std::string_view name, const Binding::Window& w, std::span<const Text> indices) {
  const std::vector<ir::Range>& ranges = w.subset.ranges();
  std::size_t running = 0;
  for (const ir::Range& r : ranges) running += r.is_index() ? 0 : 1;
  // Code may index the window's running dimensions or all of them.
  const bool all = indices.size() == ranges.size() && indices.size() != running;
  if (!all && indices.size() != running) {
    throw Error(ErrorClass::kGraph,
                "'" + std::string(name) + "' is indexed with " + std::to_string(indices.size()) +
                    " indices, but its memlet " + w.subset.str() + " has " + std::to_string(running) +
                    " dimensions with more than one element.",
                w.memlet ? ir::places_of(g_, w.memlet->id) : std::vector<Error::Place>());
  }
  std::vector<Text> full;
  std::size_t next = 0;
  for (const ir::Range& r : ranges) {
    const Text begin = expr(r.begin);
    if (r.is_index() && !all) {
      full.push_back(begin);
      continue;
    }
    const Text& index = indices[next++];
    const Text step = expr(r.step);
    const Text moved = step == "1" ? index : parenthesised(step) + " * " + parenthesised(index);
    full.push_back(begin == "0" ? moved : parenthesised(begin) + " + " + parenthesised(moved));
  }
  return element_of(w.container, full);
}

Text Lowering::code(const tasklet::Expr& e, const Binding& b) {
  return tasklet::to_cpp(e, style_for(b));
}

Text Lowering::code_as(const tasklet::Expr& e, const Type& to, const Binding& b) {
  return to.is_void() || e.type().is_void() ? tasklet::to_cpp(e, style_for(b))
                                            : tasklet::to_cpp_as(e, to, style_for(b));
}

Text Lowering::condition(const tasklet::Expr& e, const Binding& b) {
  return tasklet::to_cpp_condition(typed(e), style_for(b));
}

tasklet::Expr Lowering::typed(const tasklet::Expr& e) const {
  if (!e.type().is_void()) return e;
  return tasklet::infer_types(e, ir::type_environment(g_));
}

Text Lowering::converted(const Text& value, const Type& from, const Type& to) {
  if (from == to || from.is_void() || to.is_void() || !from.is_scalar() || !to.is_scalar()) return value;
  Binding b;
  b.values["value"] = value;
  const Text text = code_as(tasklet::Expr::name("value", from), to, b);
  return text == "(" + value + ")" ? value : text;
}

Text Lowering::literal(const tasklet::Value& v) {
  using tasklet::Expr;
  switch (v.type()) {
    case ScalarType::kBool: return tasklet::cpp_literal(Expr::literal(v.as_bool()));
    case ScalarType::kInt8:
    case ScalarType::kInt16:
    case ScalarType::kInt32:
    case ScalarType::kInt64:
    case ScalarType::kUInt8:
    case ScalarType::kUInt16:
    case ScalarType::kUInt32: return tasklet::cpp_literal(Expr::literal(v.as_int(), v.type()));
    case ScalarType::kUInt64:
      return tasklet::cpp_literal(Expr(tasklet::Literal{static_cast<std::uint64_t>(v.as_int()), false}, v.type()));
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
    case ScalarType::kFloat32:
    case ScalarType::kFloat64: return tasklet::cpp_literal(Expr::literal(v.as_double(), v.type()));
    case ScalarType::kComplex64:
    case ScalarType::kComplex128: return tasklet::cpp_literal(Expr::literal(v.as_complex(), v.type()));
  }
  return "0";
}

namespace {

// All text of a unit in one string, to see which helpers it names.
class Gatherer {
 public:
  std::string text;

  void add(const Text& t) { text += t + "\n"; }
  void statements(const Statements& list) {
    for (const Statement& s : list) {
      std::visit([&](const auto& node) { one(node); }, s.node);
    }
  }

 private:
  void one(const Declare& d) {
    add(d.type);
    add(d.init);
  }
  void one(const Store& s) {
    add(s.target);
    add(s.value);
  }
  void one(const Evaluate& e) { add(e.value); }
  void one(const Verbatim& v) { add(v.text); }
  void one(const For& f) {
    add(f.begin);
    add(f.bound);
    add(f.step);
    add(f.hints.condition);
    statements(f.body);
  }
  void one(const GeneralFor& f) {
    add(f.init);
    add(f.condition);
    add(f.update);
    statements(f.body);
  }
  void one(const While& w) {
    add(w.condition);
    statements(w.body);
  }
  void one(const If& i) {
    for (const If::Branch& b : i.branches) {
      add(b.condition);
      statements(b.body);
    }
  }
  void one(const Scope& s) { statements(s.body); }
  void one(const Break&) {}
  void one(const Continue&) {}
  void one(const Return&) {}
  void one(const Goto&) {}
  void one(const Label&) {}
};

}  // namespace

Text Lowering::all_text(const Statements& list) {
  Gatherer all;
  all.statements(list);
  return all.text;
}

void Lowering::finish_support() {
  Gatherer all;
  for (const ConstantTable& c : unit_.constants) {
    all.add(c.type);
    for (const Text& v : c.values) all.add(v);
  }
  for (const IndexHelper& h : unit_.helpers) all.add(h.value);
  all.add(unit_.accessors);
  for (const Function& f : unit_.functions) {
    for (const Parameter& p : f.parameters) all.add(p.type);
    all.statements(f.body);
  }
  Text structures;
  for (const auto& [name, definition] : structures_) {
    if (std::ranges::find(structure_order_, name) == structure_order_.end()) structures += definition;
  }
  for (const Text& name : structure_order_) structures += structures_.at(name);
  all.add(structures);
  const Text own = support_.text();
  const Text reductions = support_.reductions_text();
  all.add(own);
  all.add(reductions);
  const auto uses_abi = [](const Text& text) {
    for (const char* name : {"sdfg_call", "sdfg_abi", "sdfg_copy", "sdfg_launch"}) {
      if (text.find(name) != Text::npos) return true;
    }
    return false;
  };
  if (!unit_.prelude.empty() && !uses_abi(all.text) && !uses_abi(unit_.accessors) && !uses_abi(unit_.global_code))
    unit_.prelude = abi_slots();
  // A kernel's unit has no prelude of its own that would bring the integer types.
  unit_.support = (unit_.prelude.empty() ? tasklet::cpp_helpers(all.text) : tasklet::cpp_helper_definitions(all.text)) +
                  structures + own + reductions;
}

}  // namespace sdfg::lower
