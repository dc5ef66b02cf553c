// Elements as clusters, dataflow as nodes and edges.
#include "io/views.hpp"
#include "ir/print.hpp"

namespace sdfg::io {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\l";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class Drawer {
 public:
  explicit Drawer(const ir::Graph& g) : g_(g) {}

  std::string run() {
    out_ = "digraph " + quoted(g_.name) + " {\n";
    out_ += "  compound=true; fontname=\"sans-serif\"; labeljust=l;\n";
    out_ += "  node [fontname=\"sans-serif\", fontsize=10]; edge [fontname=\"sans-serif\", fontsize=9];\n";
    sequence(g_.body, "  ");
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  // The element's own line of the text form, without its id.
  std::string headline(const ir::Element& e) const {
    std::string text = ir::to_text(g_, e);
    text = text.substr(0, text.find('\n'));
    text.erase(0, text.find_first_not_of(' '));
    if (!text.empty() && text.front() == '#') text.erase(0, text.find(' ') + 1);
    return text;
  }
  static std::string place(const SourceLocation& at) { return at.known() ? " at " + at.str() : std::string(); }
  // A point in each cluster, because edges join nodes.
  static std::string anchor(const ir::Element& e) { return "e" + std::to_string(e.id); }
  static bool is_leaf(const ir::Element& e) {
    return ir::child_sequences(e).empty() && !std::holds_alternative<ir::State>(e.kind);
  }

  void sequence(const ir::Sequence& s, const std::string& indent) {
    const ir::Element* before = nullptr;
    for (const auto& item : s.items) {
      element(*item, indent);
      if (before != nullptr) {
        out_ += indent + anchor(*before) + " -> " + anchor(*item) + " [style=bold";
        if (!is_leaf(*before)) out_ += ", ltail=cluster_" + std::to_string(before->id);
        if (!is_leaf(*item)) out_ += ", lhead=cluster_" + std::to_string(item->id);
        out_ += "];\n";
      }
      before = item.get();
    }
  }

  void element(const ir::Element& e, const std::string& indent) {
    const std::string tip = "#" + std::to_string(e.id) + place(e.location);
    if (is_leaf(e)) {
      out_ += indent + anchor(e) + " [shape=note, label=" + quoted(headline(e)) + ", tooltip=" + quoted(tip) + "];\n";
      return;
    }
    out_ += indent + "subgraph cluster_" + std::to_string(e.id) + " {\n";
    const std::string inner = indent + "  ";
    const bool map = std::holds_alternative<ir::Map>(e.kind) || std::holds_alternative<ir::Consume>(e.kind);
    out_ += inner + "label=" + quoted(headline(e)) + "; tooltip=" + quoted(tip) +
            "; style=" + (map ? "\"filled\"; fillcolor=\"#eef4fb\"" : "\"rounded\"") + ";\n";
    out_ += inner + anchor(e) + " [shape=point, style=invis];\n";
    if (const auto* s = std::get_if<ir::State>(&e.kind)) state(*s, inner);
    const auto children = ir::child_sequences(e);
    const auto* branches = std::get_if<ir::If>(&e.kind);
    for (std::size_t k = 0; k < children.size(); ++k) {
      if (branches == nullptr) {
        sequence(*children[k], inner);
        continue;
      }
      out_ += inner + "subgraph cluster_" + std::to_string(e.id) + "_" + std::to_string(k) + " {\n";
      out_ += inner + "  label=" + quoted(tasklet::to_python(branches->branches[k].condition)) + "; style=dotted;\n";
      out_ += inner + "  " + anchor(e) + "_" + std::to_string(k) + " [shape=point, style=invis];\n";
      sequence(*children[k], inner + "  ");
      out_ += inner + "}\n";
    }
    out_ += indent + "}\n";
  }

  void state(const ir::State& s, const std::string& indent) {
    for (const ir::Node& n : s.nodes) {
      std::string shape, label;
      if (const auto* a = std::get_if<ir::Access>(&n.kind)) {
        shape = "ellipse";
        label = a->data;
      } else if (const auto* l = std::get_if<ir::Library>(&n.kind)) {
        shape = "folder";
        label = std::string(ir::name_of(l->op));
      } else {
        const auto& code = std::get<ir::Tasklet>(n.kind).code;
        shape = "octagon";
        label = code.language == tasklet::Language::kTree ? tasklet::to_python(code.body) : code.text;
        if (label.size() > 200) label = label.substr(0, 200) + " ...";
      }
      out_ += indent + "n" + std::to_string(n.id) + " [shape=" + shape + ", label=" + quoted(label) +
              ", tooltip=" + quoted("#" + std::to_string(n.id) + " " + ir::describe(g_, n) + place(n.location)) +
              "];\n";
    }
    for (const ir::Memlet& m : s.edges) {
      std::string label;
      const auto add = [&](const std::string& text) { label += (label.empty() ? "" : " -> ") + text; };
      if (!m.src_connector.empty()) add(m.src_connector);
      if (m.src_subset && m.src_subset->rank() > 0) add("[" + m.src_subset->str() + "]");
      if (m.dst_subset && m.dst_subset->rank() > 0) add("[" + m.dst_subset->str() + "]");
      if (!m.dst_connector.empty()) add(m.dst_connector);
      if (m.wcr) label += " (" + std::string(ir::to_string(m.wcr->op)) + ")";
      out_ += indent + "n" + std::to_string(m.src) + " -> n" + std::to_string(m.dst) + " [label=" + quoted(label) +
              (m.wcr               ? ", style=dashed"
               : m.is_order_only() ? ", style=dotted"
                                   : "") +
              "];\n";
    }
  }

  const ir::Graph& g_;
  std::string out_;
};

}  // namespace

std::string to_graphviz(const ir::Graph& g) {
  return Drawer(g).run();
}

}  // namespace sdfg::io
