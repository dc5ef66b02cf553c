// Short ways to write graphs in tests of the rooms below the builder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "symbolic/print.hpp"
#include "tasklet/code.hpp"

namespace sdfg::test {

using symbolic::Expr;

inline Expr parse(const std::string& text) {
  return symbolic::parse_python(text);
}

inline ir::Extents extents(const std::vector<std::string>& shape) {
  ir::Extents out;
  for (const std::string& s : shape) out.push_back(parse(s));
  return out;
}

inline void symbol(ir::Graph& g, const std::string& name, ir::BinderKind binder = ir::BinderKind::kParameter,
                   Type type = ScalarType::kInt64) {
  ir::Symbol s;
  s.name = name;
  s.type = type;
  s.binder = binder;
  g.symbols.insert(s);
  if (binder == ir::BinderKind::kParameter) g.parameters.push_back(name);
}

inline ir::Container& container(ir::Graph& g, const std::string& name, Type type, ir::Layout layout, bool transient) {
  ir::Container c;
  c.name = name;
  c.type = std::move(type);
  c.kind = ir::ContainerKind::kArray;
  c.layout = std::move(layout);
  c.transient = transient;
  return g.containers.insert(std::move(c));
}

// An argument; a transient of the outermost scope; either as a scalar.
inline ir::Container& array(ir::Graph& g, const std::string& name, Type type, const std::vector<std::string>& shape) {
  g.parameters.push_back(name);
  return container(g, name, std::move(type), ir::Layout::packed(extents(shape)), false);
}
inline ir::Container& transient(ir::Graph& g, const std::string& name, Type type,
                                const std::vector<std::string>& shape) {
  g.locals.push_back(name);
  return container(g, name, std::move(type), ir::Layout::packed(extents(shape)), true);
}
inline ir::Container& scalar(ir::Graph& g, const std::string& name, Type type, bool is_transient) {
  (is_transient ? g.locals : g.parameters).push_back(name);
  ir::Container& c = container(g, name, std::move(type), ir::Layout(), is_transient);
  c.kind = ir::ContainerKind::kScalar;
  return c;
}

inline tasklet::Expr expression(const std::string& text) {
  return tasklet::parse_expression(text);
}

inline ir::Element& map(ir::Graph& g, ir::Sequence& where, const std::vector<std::pair<std::string, std::string>>& dims,
                        ir::Schedule schedule = ir::Schedule::kDefault) {
  ir::Map m;
  std::string label;
  for (const auto& [name, range] : dims) {
    symbol(g, name, ir::BinderKind::kMapParameter);
    m.params.push_back(name);
    m.ranges.push_back(symbolic::parse_subset(range)[0]);
    label += (label.empty() ? "" : ", ") + name;
  }
  m.schedule = schedule;
  return g.append(where, std::move(m), label);
}
inline ir::Sequence& body(ir::Element& e) {
  return *ir::child_sequences(e).front();
}

inline ir::Element& loop(ir::Graph& g, ir::Sequence& where, const std::string& variable, const std::string& init,
                         const std::string& condition, const std::string& update,
                         ir::LoopForm form = ir::LoopForm::kTestFirst) {
  symbol(g, variable, ir::BinderKind::kLoopVariable);
  ir::For f;
  f.variable = variable;
  f.init = expression(init);
  f.condition = expression(condition);
  f.update = expression(update);
  f.form = form;
  return g.append(where, std::move(f), variable);
}

// A memlet's end at a container: connector, container, subset ("" for a scalar).
struct Port {
  std::string connector;
  std::string data;
  std::string subset;
  bool dynamic = false;
  std::optional<ir::Wcr> wcr = {};
};

inline Port accumulate(std::string connector, std::string data, std::string subset, ir::ReduceOp op) {
  ir::Wcr w;
  w.op = op;
  return {std::move(connector), std::move(data), std::move(subset), false, w};
}

inline ir::Subset subset(const std::string& text) {
  return text.empty() ? ir::Subset() : symbolic::parse_subset(text);
}

inline ir::Id node(ir::Graph& g, ir::State& s, std::variant<ir::Access, ir::Tasklet, ir::Library> kind,
                   std::string label = {}) {
  ir::Node n;
  n.id = g.new_id();
  n.label = std::move(label);
  n.kind = std::move(kind);
  s.nodes.push_back(std::move(n));
  return s.nodes.back().id;
}

// One tasklet with its access nodes, added to a state.
inline ir::Id tasklet_in(ir::Graph& g, ir::State& s, const std::string& label, const std::string& code,
                         const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
  ir::Tasklet t;
  for (const Port& p : inputs) t.inputs.push_back({p.connector, {}});
  for (const Port& p : outputs) t.outputs.push_back({p.connector, {}});
  t.code.body = tasklet::parse_body(code);
  std::vector<ir::Id> sources;
  for (const Port& p : inputs) sources.push_back(node(g, s, ir::Access{p.data}));
  const ir::Id id = node(g, s, std::move(t), label);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ir::Memlet m;
    m.id = g.new_id();
    m.src = sources[i];
    m.dst = id;
    m.dst_connector = inputs[i].connector;
    m.src_subset = subset(inputs[i].subset);
    m.dynamic = inputs[i].dynamic;
    s.edges.push_back(std::move(m));
  }
  for (const Port& p : outputs) {
    const ir::Id target = node(g, s, ir::Access{p.data});
    ir::Memlet m;
    m.id = g.new_id();
    m.src = id;
    m.dst = target;
    m.src_connector = p.connector;
    m.dst_subset = subset(p.subset);
    m.dynamic = p.dynamic;
    m.wcr = p.wcr;
    s.edges.push_back(std::move(m));
  }
  return id;
}

// A state with one tasklet.
inline ir::Element& compute(ir::Graph& g, ir::Sequence& where, const std::string& label, const std::string& code,
                            const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
  ir::Element& e = g.append(where, ir::State(), label);
  tasklet_in(g, std::get<ir::State>(e.kind), label, code, inputs, outputs);
  return e;
}

// A state with one copy.
inline ir::Element& copy(ir::Graph& g, ir::Sequence& where, const std::string& from, const std::string& from_subset,
                         const std::string& to, const std::string& to_subset) {
  ir::Element& e = g.append(where, ir::State(), "copy");
  auto& s = std::get<ir::State>(e.kind);
  ir::Memlet m;
  m.src = node(g, s, ir::Access{from});
  m.dst = node(g, s, ir::Access{to});
  m.id = g.new_id();
  m.src_subset = subset(from_subset);
  m.dst_subset = subset(to_subset);
  s.edges.push_back(std::move(m));
  return e;
}

// Jacobi's iteration in two dimensions, as in the README.
inline ir::Graph jacobi_2d() {
  ir::Graph g("jacobi_2d");
  array(g, "A", ScalarType::kFloat64, {"N", "N"});
  array(g, "B", ScalarType::kFloat64, {"N", "N"});
  symbol(g, "N");
  symbol(g, "T");
  ir::Element& t = loop(g, g.body, "t", "0", "t < T", "t + 1");
  int k = 0;
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"A", "B"}, {"B", "A"}}) {
    const std::string i = k == 0 ? "i" : "i_1", j = k == 0 ? "j" : "j_1";
    ++k;
    ir::Element& m = map(g, body(t), {{i, "1:N-1"}, {j, "1:N-1"}});
    compute(g, body(m), "stencil", "out = 0.2 * (c + w + e + n + s)",
            {{"c", from, i + ", " + j},
             {"w", from, i + ", " + j + " - 1"},
             {"e", from, i + ", " + j + " + 1"},
             {"n", from, i + " - 1, " + j},
             {"s", from, i + " + 1, " + j}},
            {{"out", to, i + ", " + j}});
  }
  return g;
}

}  // namespace sdfg::test
