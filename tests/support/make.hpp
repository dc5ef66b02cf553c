// Builds small graphs on the level of ir from short texts, for tests.
#pragma once

#include <cctype>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "symbolic/print.hpp"
#include "tasklet/code.hpp"

namespace sdfg::test {

// A memlet as text: "a = A[i, 0:N]" into a connector, "o = B[i]" out of one, "A[0:N]" alone in a copy. Behind bars
// follow flags:
// "| sum" (any WCR by name), "| custom max(a, b)", "| dynamic", "| oob".
struct MemletText {
  std::string connector, data;
  std::optional<ir::Subset> subset;
  std::optional<ir::Wcr> wcr;
  bool dynamic = false, oob = false;
};

class Maker {
 public:
  explicit Maker(std::string name = "test") : g(std::move(name)) {}

  ir::Graph g;
  using Seq = ir::Sequence;

  Seq& body() { return g.body; }

  void symbol(const std::string& name, Type type = ScalarType::kInt64) {
    g.symbols.insert({name, type, ir::BinderKind::kParameter, {}, {}, {}, {}});
    g.parameters.push_back(name);
  }
  // A symbol that Assigns bind.
  void assigned(const std::string& name, Type type = ScalarType::kInt64) {
    g.symbols.insert({name, type, ir::BinderKind::kAssigned, {}, {}, {}, {}});
  }

  static ir::Extents extents(std::string_view text) {
    ir::Extents out;
    if (text.empty()) return out;
    const ir::Subset subset = symbolic::parse_subset(text);
    for (const auto& r : subset.ranges()) out.push_back(r.begin);
    return out;
  }

  // Containers of the caller: extents as text "N, M + 1". Returned references stay good.
  ir::Container& array(const std::string& name, Type type, std::string_view shape) {
    ir::Container& c = container(name, std::move(type), ir::ContainerKind::kArray, ir::Layout::packed(extents(shape)));
    g.parameters.push_back(name);
    return c;
  }
  ir::Container& array(const std::string& name, Type type, ir::Layout layout) {
    ir::Container& c = container(name, std::move(type), ir::ContainerKind::kArray, std::move(layout));
    g.parameters.push_back(name);
    return c;
  }
  ir::Container& scalar_argument(const std::string& name, Type type) {
    ir::Container& c = container(name, std::move(type), ir::ContainerKind::kScalar, {});
    g.parameters.push_back(name);
    return c;
  }
  // Transients; declared by the graph, or by a block made with `block`.
  ir::Container& transient(const std::string& name, Type type, std::string_view shape, ir::Block* in = nullptr) {
    return local(container(name, std::move(type), ir::ContainerKind::kArray, ir::Layout::packed(extents(shape))), in);
  }
  ir::Container& scalar(const std::string& name, Type type, ir::Block* in = nullptr) {
    return local(container(name, std::move(type), ir::ContainerKind::kScalar, {}), in);
  }
  ir::Container& stream(const std::string& name, Type type, std::string_view shape = "", ir::Block* in = nullptr) {
    return local(container(name, std::move(type), ir::ContainerKind::kStream, ir::Layout::packed(extents(shape))), in);
  }
  ir::Container& reference(const std::string& name, Type type, std::string_view shape, ir::Block* in = nullptr) {
    return local(container(name, std::move(type), ir::ContainerKind::kReference, ir::Layout::packed(extents(shape))),
                 in);
  }
  // A view of "A[i, 0:N]".
  ir::Container& view(const std::string& name, Type type, ir::Layout layout, std::string_view viewed,
                      ir::Block* in = nullptr) {
    ir::Container& c = container(name, std::move(type), ir::ContainerKind::kView, std::move(layout));
    const MemletText m = memlet(viewed);
    c.viewed = m.data;
    if (m.subset) c.viewed_subset = *m.subset;
    return local(c, in);
  }
  template <typename T>
  ir::Container& constant(const std::string& name, std::string_view shape, const std::vector<T>& values) {
    ir::Container& c =
        container(name, kScalarTypeOf<T>, shape.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray,
                  ir::Layout::packed(extents(shape)));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    c.constant.emplace(bytes, bytes + values.size() * sizeof(T));
    c.transient = true;
    return c;
  }
  ir::Container& persistent(const std::string& name, Type type, std::string_view shape, bool zeroed,
                            ir::Lifetime lifetime = ir::Lifetime::kPersistent) {
    ir::Container& c =
        container(name, std::move(type), shape.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray,
                  ir::Layout::packed(extents(shape)));
    c.transient = true;
    c.lifetime = lifetime;
    c.zeroed = zeroed;
    return c;
  }

  // Control flow. Each returns what it made or its body.
  ir::Block& block(Seq& in, const std::string& label = {}) {
    return std::get<ir::Block>(g.append(in, ir::Block{}, label).kind);
  }
  ir::Element& block_element(Seq& in) { return g.append(in, ir::Block{}); }
  Seq& map(Seq& in, std::string_view params, std::string_view ranges, ir::Schedule schedule = ir::Schedule::kDefault) {
    return std::get<ir::Map>(map_element(in, params, ranges, schedule).kind).body;
  }
  ir::Element& map_element(Seq& in, std::string_view params, std::string_view ranges,
                           ir::Schedule schedule = ir::Schedule::kDefault) {
    ir::Map map;
    map.params = split(params, ',');
    for (const std::string& p : map.params)
      g.symbols.insert({p, ScalarType::kInt64, ir::BinderKind::kMapParameter, {}, {}, {}, {}});
    map.ranges = symbolic::parse_subset(ranges).ranges();
    map.schedule = schedule;
    return g.append(in, std::move(map));
  }
  Seq& loop(Seq& in, const std::string& variable, std::string_view init, std::string_view condition,
            std::string_view update, ir::LoopForm form = ir::LoopForm::kTestFirst) {
    return std::get<ir::For>(loop_element(in, variable, init, condition, update, form).kind).body;
  }
  ir::Element& loop_element(Seq& in, const std::string& variable, std::string_view init, std::string_view condition,
                            std::string_view update, ir::LoopForm form = ir::LoopForm::kTestFirst) {
    g.symbols.insert({variable, ScalarType::kInt64, ir::BinderKind::kLoopVariable, {}, {}, {}, {}});
    ir::For loop;
    loop.variable = variable;
    loop.init = code(init);
    loop.condition = code(condition);
    loop.update = code(update);
    loop.form = form;
    return g.append(in, std::move(loop));
  }
  ir::Element& while_element(Seq& in, std::string_view condition, bool test_first = true) {
    ir::While loop;
    loop.condition = code(condition);
    loop.test_first = test_first;
    return g.append(in, std::move(loop));
  }
  Seq& while_(Seq& in, std::string_view condition, bool test_first = true) {
    return std::get<ir::While>(while_element(in, condition, test_first).kind).body;
  }
  // Branches in order; an empty condition is the else branch.
  ir::If& if_(Seq& in, std::initializer_list<std::string_view> conditions) {
    ir::If branch;
    for (std::string_view c : conditions)
      branch.branches.push_back({c.empty() ? tasklet::Expr::literal(true) : code(c), Seq()});
    return std::get<ir::If>(g.append(in, std::move(branch)).kind);
  }
  void assign(Seq& in, std::initializer_list<std::pair<std::string, std::string_view>> items) {
    ir::Assign assign;
    for (const auto& [symbol, value] : items) assign.items.push_back({symbol, code(value)});
    g.append(in, std::move(assign));
  }
  void break_(Seq& in, const ir::Element& target) { g.append(in, ir::Exit{ir::Exit::Kind::kBreak, target.id}); }
  void continue_(Seq& in, const ir::Element& target) { g.append(in, ir::Exit{ir::Exit::Kind::kContinue, target.id}); }
  void return_(Seq& in) { g.append(in, ir::Return{}); }

  static Seq& body_of(ir::Element& e) { return *ir::child_sequences(e).front(); }

  // Dataflow.
  ir::State& state(Seq& in) { return std::get<ir::State>(g.append(in, ir::State{}).kind); }
  ir::Id access(ir::State& s, const std::string& data) { return node(s, ir::Access{data}, data); }
  ir::Id node(ir::State& s, std::variant<ir::Access, ir::Tasklet, ir::Library> kind, std::string label = {}) {
    s.nodes.push_back({g.new_id(), std::move(label), {}, std::move(kind)});
    return s.nodes.back().id;
  }
  ir::Memlet& edge(ir::State& s, ir::Id src, ir::Id dst) {
    ir::Memlet m;
    m.id = g.new_id();
    m.src = src;
    m.dst = dst;
    s.edges.push_back(std::move(m));
    return s.edges.back();
  }

  // A tasklet in a state of its own, with access nodes around it. Connectors may carry a type: "a : float32 = A[i]" is
  // not offered; set it on the returned node instead.
  ir::Tasklet& tasklet(Seq& in, std::string_view text, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
    return tasklet(state(in), text, inputs, outputs);
  }
  ir::Tasklet& tasklet(ir::State& s, std::string_view text, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
    ir::Tasklet t;
    t.code.body = tasklet::parse_body(text);
    std::vector<MemletText> ins, outs;
    for (const std::string& i : inputs) ins.push_back(memlet(i));
    for (const std::string& o : outputs) outs.push_back(memlet(o));
    for (const auto& m : ins) t.inputs.push_back({m.connector, {}});
    for (const auto& m : outs) t.outputs.push_back({m.connector, {}});
    std::vector<ir::Id> sources;
    for (const auto& m : ins) sources.push_back(access(s, m.data));
    const ir::Id id = node(s, std::move(t));
    for (std::size_t i = 0; i < ins.size(); ++i) {
      ir::Memlet& e = edge(s, sources[i], id);
      e.dst_connector = ins[i].connector;
      e.src_subset = ins[i].subset ? *ins[i].subset : whole(ins[i].data);
      e.dynamic = ins[i].dynamic;
      e.allow_oob = ins[i].oob;
    }
    for (const auto& m : outs) {
      const ir::Id target = access(s, m.data);
      ir::Memlet& e = edge(s, id, target);
      e.src_connector = m.connector;
      e.dst_subset = m.subset ? *m.subset : whole(m.data);
      e.dynamic = m.dynamic;
      e.allow_oob = m.oob;
      e.wcr = m.wcr;
    }
    return std::get<ir::Tasklet>(s.find_node(id)->kind);
  }
  ir::Memlet& copy(Seq& in, std::string_view from, std::string_view to) {
    ir::State& s = state(in);
    const MemletText a = memlet(from), b = memlet(to);
    const ir::Id src = access(s, a.data), dst = access(s, b.data);
    ir::Memlet& e = edge(s, src, dst);
    e.src_subset = a.subset ? *a.subset : whole(a.data);
    e.dst_subset = b.subset ? *b.subset : whole(b.data);
    e.dynamic = a.dynamic || b.dynamic;
    e.allow_oob = a.oob || b.oob;
    e.wcr = b.wcr;
    return e;
  }
  ir::Library& library(Seq& in, ir::LibraryOp op, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
    ir::State& s = state(in);
    ir::Library l;
    l.op = std::move(op);
    std::vector<MemletText> ins, outs;
    for (const std::string& i : inputs) ins.push_back(memlet(i));
    for (const std::string& o : outputs) outs.push_back(memlet(o));
    for (const auto& m : ins) l.inputs.push_back(m.connector);
    for (const auto& m : outs) l.outputs.push_back(m.connector);
    std::vector<ir::Id> sources;
    for (const auto& m : ins) sources.push_back(access(s, m.data));
    const ir::Id id = node(s, std::move(l));
    for (std::size_t i = 0; i < ins.size(); ++i) {
      ir::Memlet& e = edge(s, sources[i], id);
      e.dst_connector = ins[i].connector;
      e.src_subset = ins[i].subset ? *ins[i].subset : whole(ins[i].data);
    }
    for (const auto& m : outs) {
      const ir::Id target = access(s, m.data);
      ir::Memlet& e = edge(s, id, target);
      e.src_connector = m.connector;
      e.dst_subset = m.subset ? *m.subset : whole(m.data);
      e.wcr = m.wcr;
    }
    return std::get<ir::Library>(s.find_node(id)->kind);
  }

  // A condition or value: names of scalar containers become reads of them.
  tasklet::Expr code(std::string_view text) const {
    const tasklet::Expr e = tasklet::parse_expression(text);
    std::map<std::string, tasklet::Expr, std::less<>> reads;
    for (const std::string& name : tasklet::uses_of(e).read)
      if (ir::resolve(g, name) != nullptr && !g.symbols.contains(name))
        reads.emplace(name, tasklet::Expr::subscript(name, {}));
    return tasklet::replace_names(e, reads);
  }

  ir::Subset whole(const std::string& data) const { return ir::Subset::full(ir::resolve(g, data)->layout.shape()); }

  MemletText memlet(std::string_view text) const {
    MemletText out;
    const std::vector<std::string> parts = split(text, '|');
    std::string main = parts.front();
    const std::size_t bracket = main.find('[');
    const std::size_t equals = main.substr(0, bracket).find('=');
    if (equals != std::string::npos) {
      out.connector = trim(main.substr(0, equals));
      main = trim(main.substr(equals + 1));
    }
    const std::size_t open = main.find('[');
    out.data = trim(main.substr(0, open));
    if (open != std::string::npos)
      out.subset = symbolic::parse_subset(main.substr(open + 1, main.rfind(']') - open - 1));
    for (std::size_t i = 1; i < parts.size(); ++i) flag(parts[i], out);
    return out;
  }

 private:
  ir::Container& container(const std::string& name, Type type, ir::ContainerKind kind, ir::Layout layout) {
    ir::Container c;
    c.name = name;
    c.type = std::move(type);
    c.kind = kind;
    c.layout = std::move(layout);
    return g.containers.insert(std::move(c));
  }
  ir::Container& local(ir::Container& c, ir::Block* in) {
    c.transient = true;
    (in == nullptr ? g.locals : in->locals).push_back(c.name);
    return c;
  }

  static std::string trim(std::string_view s) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
    return std::string(s);
  }
  static std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> out;
    std::size_t from = 0;
    while (true) {
      const std::size_t to = text.find(at, from);
      out.push_back(trim(text.substr(from, to - from)));
      if (to == std::string_view::npos) return out;
      from = to + 1;
    }
  }
  static void flag(const std::string& word, MemletText& out) {
    static const std::pair<std::string_view, ir::ReduceOp> kOps[] = {
        {"sum", ir::ReduceOp::kSum},        {"product", ir::ReduceOp::kProduct},  {"min", ir::ReduceOp::kMin},
        {"max", ir::ReduceOp::kMax},        {"band", ir::ReduceOp::kBitAnd},      {"bor", ir::ReduceOp::kBitOr},
        {"bxor", ir::ReduceOp::kBitXor},    {"and", ir::ReduceOp::kLogicalAnd},   {"or", ir::ReduceOp::kLogicalOr},
        {"xor", ir::ReduceOp::kLogicalXor}, {"exchange", ir::ReduceOp::kExchange}};
    if (word == "dynamic")
      out.dynamic = true;
    else if (word == "oob")
      out.oob = true;
    else if (word.starts_with("custom "))
      out.wcr = ir::Wcr{ir::ReduceOp::kCustom, tasklet::parse_expression(word.substr(7)), ir::WcrLowering::kUndecided};
    else {
      for (const auto& [name, op] : kOps)
        if (word == name) out.wcr = ir::Wcr{op, {}, ir::WcrLowering::kUndecided};
      if (!out.wcr) throw Error(ErrorClass::kInternal, "unknown flag '" + word + "' of a memlet text");
    }
  }
};

}  // namespace sdfg::test
