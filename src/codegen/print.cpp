// Prints statements line by line, keeping the origin of each line.
#include "codegen/print.hpp"

#include <algorithm>
#include <string_view>

#include "codegen/device_text.hpp"

namespace sdfg::codegen {

namespace {

using namespace sdfg::lower;

class Printer {
 public:
  explicit Printer(const Style& style, bool device = false) : style_(style), device_(device) {}

  Source run(const Unit& unit, std::string_view prelude = {}, std::string_view tail = {}) {
    raw(prelude);
    raw(unit.prelude);
    raw(unit.support);
    raw(unit.global_code);
    for (const ConstantTable& c : unit.constants) constant(c);
    for (const IndexHelper& h : unit.helpers) helper(h);
    raw(unit.accessors);
    for (const Function& f : unit.functions) {
      line("");
      function(f);
    }
    raw(tail);
    return std::move(source_);
  }

 private:
  void line(std::string_view text, int origin = -1) {
    if (!text.empty()) source_.text.append(static_cast<std::size_t>(depth_ * style_.indent), ' ');
    source_.text.append(text);
    source_.text.push_back('\n');
    source_.map.origin_of_line.push_back(origin);
  }

  // A pragma starts its line like everything else, at the depth of its loop.
  void commented(std::string text, const Statement& s) {
    if (style_.labels && !s.comment.empty()) text += "  // " + s.comment;
    line(text, s.origin);
  }

  void raw(std::string_view text, int origin = -1) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view one = text.substr(0, end);
      source_.text.append(one);
      source_.text.push_back('\n');
      source_.map.origin_of_line.push_back(origin);
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  void constant(const ConstantTable& c) {
    std::string text = (device_ ? "static __constant__ const " : "static constexpr ") + c.type + " " + c.name;
    if (c.extent.empty()) {
      line(text + " = " + (c.values.empty() ? "{}" : c.values.front()) + ";");
      return;
    }
    text += "[" + c.extent + "] = {";
    constexpr std::size_t kWidth = 118;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      const std::string piece = c.values[i] + (i + 1 < c.values.size() ? ", " : "");
      if (text.size() + piece.size() > kWidth) {
        while (!text.empty() && text.back() == ' ') text.pop_back();
        line(text);
        text = "    ";
      }
      text += piece;
    }
    line(text + "};");
  }

  void helper(const IndexHelper& h) {
    std::string text = std::string("static ") + (device_ ? "__device__ " : "") + style_.index_qualifier + " " + h.type +
                       " " + h.name + "(";
    for (std::size_t i = 0; i < h.parameters.size(); ++i) text += (i ? ", int64_t " : "int64_t ") + h.parameters[i];
    line(text + ") { return " + h.value + "; }");
  }

  static std::string parameter(const Parameter& p) {
    const std::size_t hole = p.type.find("{}");
    if (hole == std::string::npos) return p.type + " " + p.name;
    return p.type.substr(0, hole) + p.name + p.type.substr(hole + 2);
  }

  void function(const Function& f) {
    std::string text = (f.exported ? "extern \"C\" " : "static ") + f.qualifiers + (f.qualifiers.empty() ? "" : " ") +
                       f.result + " " + f.name + "(";
    constexpr std::size_t kWidth = 118;
    const std::string indent(text.size(), ' ');
    std::size_t start = 0;
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      const std::string piece = parameter(f.parameters[i]) + (i + 1 < f.parameters.size() ? ", " : "");
      if (i != 0 && text.size() - start + piece.size() > kWidth) {
        text.pop_back();
        text += "\n";
        start = text.size();
        text += indent;
      }
      text += piece;
    }
    raw(text + ") {");
    ++depth_;
    statements(f.body);
    --depth_;
    line("}");
  }

  void statements(const Statements& body) {
    for (const Statement& s : body) print(s);
  }

  // Braces directly inside of braces say nothing.
  static const Scope* lone_scope(const Statements& body) {
    return body.size() == 1 ? std::get_if<Scope>(&body.front().node) : nullptr;
  }

  void block(const Statements& body) {
    if (const Scope* inner = lone_scope(body)) {
      block(inner->body);
      return;
    }
    ++depth_;
    statements(body);
    --depth_;
  }

  // The header of a loop with the comment of the braces that it swallows.
  void header(std::string text, const Statement& s, const Statements& body) {
    if (s.comment.empty() && lone_scope(body)) {
      Statement with = statement(Break{}, s.origin, body.front().comment);
      commented(std::move(text), with);
    } else {
      commented(std::move(text), s);
    }
  }

  // `if (c) return;`: one short statement needs no braces.
  static std::string_view jump(const Statements& body, std::string& storage) {
    if (body.size() != 1 || !body.front().comment.empty()) return {};
    const Statement::Node& n = body.front().node;
    if (std::holds_alternative<Return>(n)) return "return;";
    if (std::holds_alternative<Break>(n)) return "break;";
    if (std::holds_alternative<Continue>(n)) return "continue;";
    if (const auto* g = std::get_if<Goto>(&n)) {
      storage = "goto " + g->label + ";";
      return storage;
    }
    if (const auto* e = std::get_if<Evaluate>(&n); e && e->value.size() < 60) {
      storage = e->value + ";";
      return storage;
    }
    return {};
  }

  void print(const Statement& s) {
    std::visit([&](const auto& node) { print(node, s); }, s.node);
  }

  void print(const Declare& d, const Statement& s) {
    std::string text;
    if (d.alignment > 0) text += "alignas(" + std::to_string(d.alignment) + ") ";
    if (d.is_const && style_.const_locals) text += "const ";
    text += d.type + " " + d.name;
    if (!d.array.empty()) text += "[" + d.array + "]";
    if (d.is_constructor) {
      text += "(" + d.init + ")";
    } else if (!d.init.empty()) {
      text += " = " + d.init;
    }
    commented(text + ";", s);
  }
  void print(const Store& a, const Statement& s) { commented(a.target + " " + a.op + " " + a.value + ";", s); }
  void print(const Evaluate& e, const Statement& s) { commented(e.value + ";", s); }
  void print(const Verbatim& v, const Statement& s) { raw(v.text, s.origin); }
  void print(const Break&, const Statement& s) { commented("break;", s); }
  void print(const Continue&, const Statement& s) { commented("continue;", s); }
  void print(const Return&, const Statement& s) { commented("return;", s); }
  void print(const Goto& g, const Statement& s) { commented("goto " + g.label + ";", s); }
  void print(const Label& l, const Statement& s) { line(l.name + ":;", s.origin); }

  void print(const Scope& b, const Statement& s) {
    header("{", s, b.body);
    block(b.body);
    line("}", s.origin);
  }

  void hints(const LoopHints& h, int origin) {
    std::string text;
    if (h.parallel) text = " parallel for";
    if (h.simd) text += " simd";
    if (!text.empty()) {
      if (h.collapse > 1) text += " collapse(" + std::to_string(h.collapse) + ")";
      if (h.parallel && !h.schedule.empty()) text += " schedule(" + h.schedule + ")";
      if (h.parallel && h.num_threads > 0) text += " num_threads(" + std::to_string(h.num_threads) + ")";
      if (h.parallel && !h.condition.empty())
        text += std::string(" if(") + (h.simd ? "parallel: " : "") + h.condition + ")";
      for (const auto& [op, variable] : h.reductions) text += " reduction(" + op + ": " + variable + ")";
      line("#pragma omp" + text, origin);
      return;
    }
    if (h.unroll && device_) {
      line(h.unroll_factor > 1 ? "#pragma unroll " + std::to_string(h.unroll_factor) : std::string("#pragma unroll"),
           origin);
    } else if (h.unroll) {
      line(h.unroll_factor > 1 ? "#pragma clang loop unroll_count(" + std::to_string(h.unroll_factor) + ")"
                               : std::string("#pragma clang loop unroll(full)"),
           origin);
    }
  }

  static std::string_view comparison(Comparison c) {
    switch (c) {
      case Comparison::kLess: return "<";
      case Comparison::kLessEqual: return "<=";
      case Comparison::kGreater: return ">";
      case Comparison::kGreaterEqual: return ">=";
    }
    return "<";
  }

  // What stands in front of the counter in the loop's head: its type, unless that is declared before the loop. OpenMP
  // wants it in the head. Identifiers are unique, so the wider scope harms nobody.
  std::string counter(const std::string& type, const std::string& variable, const LoopHints& h, int origin) {
    const bool hoisted = style_.hoist_loops && !h.parallel && !h.simd;
    if (hoisted) line(type + " " + variable + ";", origin);
    hints(h, origin);
    return hoisted ? std::string() : type + " ";
  }

  void print(const For& f, const Statement& s) {
    std::string advance;
    if (f.step == "1") {
      advance = "++" + f.variable;
    } else if (f.step == "-1") {
      advance = "--" + f.variable;
    } else {
      advance = f.variable + " += " + f.step;
    }
    header("for (" + counter(f.type, f.variable, f.hints, s.origin) + f.variable + " = " + f.begin + "; " + f.variable +
               " " + std::string(comparison(f.comparison)) + " " + f.bound + "; " + advance + ") {",
           s, f.body);
    block(f.body);
    line("}", s.origin);
  }

  void print(const GeneralFor& f, const Statement& s) {
    header("for (" + counter(f.type, f.variable, f.hints, s.origin) + f.variable + " = " + f.init + "; " + f.condition +
               "; " + f.update + ") {",
           s, f.body);
    block(f.body);
    line("}", s.origin);
  }

  void print(const While& w, const Statement& s) {
    header(w.test_first ? "while (" + w.condition + ") {" : std::string("do {"), s, w.body);
    block(w.body);
    line(w.test_first ? std::string("}") : "} while (" + w.condition + ");", s.origin);
  }

  void print(const If& i, const Statement& s) {
    if (std::string storage; i.branches.size() == 1 && !style_.braces) {
      if (const std::string_view only = jump(i.branches[0].body, storage); !only.empty()) {
        commented("if (" + i.branches[0].condition + ") " + std::string(only), s);
        return;
      }
    }
    bool first = true;
    for (const If::Branch& b : i.branches) {
      const std::string head =
          b.condition.empty() ? std::string("else {") : (first ? "if (" : "else if (") + b.condition + ") {";
      if (first) {
        commented(head, s);
      } else {
        line("} " + head, s.origin);
      }
      first = false;
      block(b.body);
    }
    line("}", s.origin);
  }

  const Style& style_;
  bool device_;
  int depth_ = 0;
  Source source_;
};

}  // namespace

// What the emulator calls: arguments[i] points to parameter i.
std::string run_entries(const std::vector<Kernel>& kernels, const Unit& unit) {
  std::string out;
  for (const Kernel& k : kernels) {
    const auto f =
        std::find_if(unit.functions.begin(), unit.functions.end(), [&](const Function& g) { return g.name == k.name; });
    if (f == unit.functions.end()) continue;
    out += "\nextern \"C\" void " + k.name + "_run([[maybe_unused]] void* const* arguments) {\n  " + k.name + "(";
    for (std::size_t i = 0; i < f->parameters.size(); ++i) {
      std::string type = f->parameters[i].type;
      if (const std::size_t at = type.find(" __restrict"); at != std::string::npos) type.resize(at);
      if (type.starts_with("const ") && !k.parameters[i].is_pointer) type = type.substr(6);
      out += (i ? ", " : "") + ("*(" + type + " const*)arguments[" + std::to_string(i) + "]");
    }
    out += ");\n}\n";
  }
  return out;
}

Source print_device(const lower::DeviceModule& module, DeviceDialect dialect, const Style& style) {
  const std::string tail =
      dialect == DeviceDialect::kEmulated ? run_entries(module.kernels, module.unit) : std::string();
  const std::string kernels = Printer(style, true).run(module.unit).text;
  return Printer(style, true).run(module.unit, device_prelude_for(dialect, kernels), tail);
}

Source print(const Unit& unit, const Style& style) {
  return Printer(style).run(unit);
}

}  // namespace sdfg::codegen
