// Small graphs built by hand, for unit tests: the usual kernels, and short ways to write more.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "symbolic/print.hpp"
#include "tasklet/code.hpp"

namespace sdfg::test {

// A graph under construction. Text is in Python syntax; ranges and subsets are half-open there ("0:N", "i, j + 1").
class Hand {
 public:
  ir::Graph g;

  explicit Hand(std::string name) : g(std::move(name)) {}

  symbolic::Expr symbol(const std::string& name, Type type = ScalarType::kInt64) {
    ir::Symbol s;
    s.name = name;
    s.type = std::move(type);
    g.symbols.insert(std::move(s));
    g.parameters.push_back(name);
    return symbolic::Expr::symbol(name);
  }

  void bind(const std::string& name, ir::BinderKind binder, Type type = ScalarType::kInt64) {
    ir::Symbol s;
    s.name = name;
    s.type = std::move(type);
    s.binder = binder;
    g.symbols.insert(std::move(s));
  }

  static ir::Container describe(const std::string& name, Type type, const std::string& shape) {
    ir::Container c;
    c.name = name;
    c.kind = shape.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray;
    c.type = std::move(type);
    c.layout = ir::Layout::packed(extents(shape));
    return c;
  }

  // An argument; a scalar for an empty shape ("N, M + 1").
  ir::Container& argument(const std::string& name, const std::string& shape, Type type = ScalarType::kFloat64) {
    g.parameters.push_back(name);
    return g.containers.insert(describe(name, std::move(type), shape));
  }

  // A transient of the outermost scope, or of `block`.
  ir::Container& transient(const std::string& name, const std::string& shape, Type type = ScalarType::kFloat64,
                           ir::Block* block = nullptr) {
    ir::Container c = describe(name, std::move(type), shape);
    c.transient = true;
    (block == nullptr ? g.locals : block->locals).push_back(name);
    return g.containers.insert(std::move(c));
  }

  ir::Container& view(const std::string& name, const std::string& shape, const std::string& of,
                      const std::string& window, ir::Block* block = nullptr) {
    ir::Container& c = transient(name, shape, g.containers.at(of).type, block);
    c.kind = ir::ContainerKind::kView;
    c.viewed = of;
    c.viewed_subset = subset(window);
    return c;
  }

  // Elements. The reference stays good while `where` owns the element.
  ir::Map& map(ir::Sequence& where, const std::vector<std::pair<std::string, std::string>>& ranges) {
    ir::Map m;
    for (const auto& [param, range] : ranges) {
      bind(param, ir::BinderKind::kMapParameter);
      m.params.push_back(param);
      m.ranges.push_back(subset(range)[0]);
    }
    return std::get<ir::Map>(append(where, std::move(m)).kind);
  }

  // for (variable = init; condition; variable = update)
  ir::For& loop(ir::Sequence& where, const std::string& variable, const std::string& init, const std::string& condition,
                const std::string& update, ir::LoopForm form = ir::LoopForm::kTestFirst) {
    if (!g.symbols.contains(variable)) bind(variable, ir::BinderKind::kLoopVariable);
    ir::For f;
    f.variable = variable;
    f.init = code(init);
    f.condition = code(condition);
    f.update = code(update);
    f.form = form;
    return std::get<ir::For>(append(where, std::move(f)).kind);
  }

  ir::While& while_loop(ir::Sequence& where, const std::string& condition) {
    ir::While w;
    w.condition = code(condition);
    return std::get<ir::While>(append(where, std::move(w)).kind);
  }

  // One branch per condition; "True" for else.
  ir::If& branch(ir::Sequence& where, const std::vector<std::string>& conditions) {
    ir::If i;
    for (const std::string& condition : conditions) {
      ir::If::Branch b;
      b.condition = code(condition);
      i.branches.push_back(std::move(b));
    }
    return std::get<ir::If>(append(where, std::move(i)).kind);
  }

  ir::Block& block(ir::Sequence& where) { return std::get<ir::Block>(append(where, ir::Block{}).kind); }

  void assign(ir::Sequence& where, const std::string& symbol_name, const std::string& value) {
    if (!g.symbols.contains(symbol_name)) bind(symbol_name, ir::BinderKind::kAssigned);
    ir::Assign a;
    a.items.push_back({symbol_name, code(value)});
    append(where, std::move(a));
  }

  ir::State& state(ir::Sequence& where, const std::string& label = {}) {
    return std::get<ir::State>(append(where, ir::State{}, label).kind);
  }

  ir::Element& append(ir::Sequence& where, ir::Element::Kind kind, const std::string& label = {}) {
    return g.append(where, std::move(kind), label, here());
  }

  // Dataflow.
  ir::Id access(ir::State& s, const std::string& data) { return add_node(s, ir::Access{data}, data); }

  ir::Id tasklet(ir::State& s, const std::string& label, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::string& text) {
    ir::Tasklet t;
    for (const std::string& name : inputs) t.inputs.push_back({name, {}});
    for (const std::string& name : outputs) t.outputs.push_back({name, {}});
    t.code.body = sdfg::tasklet::parse_body(text);
    return add_node(s, std::move(t), label);
  }

  ir::Id library(ir::State& s, ir::LibraryOp op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    ir::Library l;
    l.op = std::move(op);
    l.inputs = std::move(inputs);
    l.outputs = std::move(outputs);
    return add_node(s, std::move(l), {});
  }

  // From an access into a connector.
  ir::Memlet& read(ir::State& s, ir::Id from, const std::string& at, ir::Id to, const std::string& connector) {
    ir::Memlet& m = edge(s, from, to);
    m.src_subset = subset(at);
    m.dst_connector = connector;
    return m;
  }

  // From a connector into an access.
  ir::Memlet& write(ir::State& s, ir::Id from, const std::string& connector, ir::Id to, const std::string& at) {
    ir::Memlet& m = edge(s, from, to);
    m.src_connector = connector;
    m.dst_subset = subset(at);
    return m;
  }

  ir::Memlet& copy(ir::State& s, ir::Id from, const std::string& from_at, ir::Id to, const std::string& to_at) {
    ir::Memlet& m = edge(s, from, to);
    m.src_subset = subset(from_at);
    m.dst_subset = subset(to_at);
    return m;
  }

  ir::Memlet& edge(ir::State& s, ir::Id from, ir::Id to) {
    ir::Memlet m;
    m.id = g.new_id();
    m.src = from;
    m.dst = to;
    m.location = here();
    s.edges.push_back(std::move(m));
    return s.edges.back();
  }

  struct Port {
    std::string connector;
    std::string data;
    std::string at;
  };

  // A state with one tasklet: "o = a + b" with a: A[i], b: B[i], o: C[i].
  ir::State& compute(ir::Sequence& where, const std::string& text, const std::vector<Port>& inputs, const Port& output,
                     std::optional<ir::ReduceOp> wcr = {}) {
    ir::State& s = state(where);
    std::vector<std::string> in;
    for (const Port& p : inputs) in.push_back(p.connector);
    const ir::Id node = tasklet(s, "t", in, {output.connector}, text);
    for (const Port& p : inputs) read(s, access(s, p.data), p.at, node, p.connector);
    ir::Memlet& m = write(s, node, output.connector, access(s, output.data), output.at);
    if (wcr) {
      m.wcr.emplace();
      m.wcr->op = *wcr;
    }
    return s;
  }

  static ir::Subset subset(const std::string& text) {
    return text.empty() ? ir::Subset() : symbolic::parse_subset(text);
  }

  static ir::Extents extents(const std::string& shape) {
    ir::Extents all;
    const ir::Subset parsed = subset(shape);
    for (const symbolic::Range& r : parsed.ranges()) all.push_back(r.begin);
    return all;
  }

  // Typed code of control flow.
  sdfg::tasklet::Expr code(const std::string& text) const {
    return sdfg::tasklet::infer_types(sdfg::tasklet::parse_expression(text), ir::type_environment(g));
  }

  // Lines of an imaginary file, so that messages have places: one more for every element, node and memlet.
  SourceLocation here() { return SourceLocation("hand.cpp", ++line_); }

 private:
  ir::Id add_node(ir::State& s, std::variant<ir::Access, ir::Tasklet, ir::Library> kind, std::string label) {
    s.nodes.push_back(ir::Node{g.new_id(), std::move(label), here(), std::move(kind)});
    return s.nodes.back().id;
  }

  std::uint32_t line_ = 0;
};

// y = a * x + y over N elements; a is a scalar argument.
inline ir::Graph axpy() {
  Hand h("axpy");
  h.argument("x", "N");
  h.argument("y", "N");
  h.argument("a", "");
  h.symbol("N");
  ir::Map& m = h.map(h.g.body, {{"i", "0:N"}});
  h.compute(m.body, "o = s * p + q", {{"s", "a", ""}, {"p", "x", "i"}, {"q", "y", "i"}}, {"o", "y", "i"});
  return std::move(h.g);
}

// T sweeps of the five-point average between A and B, both N x M.
inline ir::Graph jacobi_2d() {
  Hand h("jacobi_2d");
  h.argument("A", "N, M");
  h.argument("B", "N, M");
  h.symbol("N");
  h.symbol("M");
  h.symbol("T");
  ir::For& t = h.loop(h.g.body, "t", "0", "t < T", "t + 1");
  int k = 0;
  for (const auto& [from, to] : {std::pair<std::string, std::string>("A", "B"), {"B", "A"}}) {
    const std::string i = k == 0 ? "i" : "i_1";
    const std::string j = k == 0 ? "j" : "j_1";
    ++k;
    ir::Map& m = h.map(t.body, {{i, "1:N - 1"}, {j, "1:M - 1"}});
    h.compute(m.body, "o = 0.2 * (c + w + e + n + s)",
              {{"c", from, i + ", " + j},
               {"w", from, i + ", " + j + " - 1"},
               {"e", from, i + ", " + j + " + 1"},
               {"n", from, i + " - 1, " + j},
               {"s", from, i + " + 1, " + j}},
              {"o", to, i + ", " + j});
  }
  return std::move(h.g);
}

// r[0] = sum of x over N elements, by a WCR.
inline ir::Graph reduction() {
  Hand h("reduction");
  h.argument("x", "N");
  h.argument("r", "1");
  h.symbol("N");
  h.compute(h.g.body, "o = 0.0", {}, {"o", "r", "0"});
  ir::Map& m = h.map(h.g.body, {{"i", "0:N"}});
  h.compute(m.body, "o = p", {{"p", "x", "i"}}, {"o", "r", "0"}, ir::ReduceOp::kSum);
  return std::move(h.g);
}

}  // namespace sdfg::test
