// Operands and the element writer of expansions.
#include "library/emit.hpp"

#include <algorithm>
#include <map>

#include "base/words.hpp"

namespace sdfg::library {

using tasklet::BinaryOp;

Operand::Operand(const ir::Graph& g, std::string data, ir::Subset subset, std::string connector)
    : data_(std::move(data)), connector_(std::move(connector)), subset_(std::move(subset)) {
  const ir::Container* c = ir::resolve(g, data_);
  if (c == nullptr) throw Error(ErrorClass::kInternal, "operand of no container '" + data_ + "'");
  if (!c->type.is_scalar())
    throw Error(ErrorClass::kGraph, "operand '" + connector_ + "' has elements of type " + c->type.str());
  type_ = c->type.scalar();
  container_strides_ = c->layout.strides();
  for (std::size_t d = 0; d < subset_.rank(); ++d) {
    if (!subset_[d].tile.is_one())
      throw Error(ErrorClass::kGraph, "operand '" + connector_ + "' is a tiled range, which library nodes don't take");
    dims_.push_back(d);
    extents_.push_back(subset_[d].is_index() ? Expr(1) : subset_[d].count());
  }
}

Expr Operand::size() const {
  return symbolic::product(extents_);
}
Expr Operand::stride(std::size_t d) const {
  return container_strides_[dims_[d]] * subset_[dims_[d]].step;
}
std::vector<Expr> Operand::strides() const {
  std::vector<Expr> out;
  for (std::size_t d = 0; d < rank(); ++d) out.push_back(stride(d));
  return out;
}

ir::Subset Operand::element(std::span<const Expr> indices) const {
  std::vector<Expr> at = subset_.begins();
  for (std::size_t d = 0; d < dims_.size(); ++d) at[dims_[d]] = at[dims_[d]] + indices[d] * subset_[dims_[d]].step;
  return ir::Subset::index(at);
}

ir::Subset Operand::part(std::span<const ir::Range> ranges) const {
  std::vector<ir::Range> out;
  for (std::size_t d = 0; d < subset_.rank(); ++d) out.push_back(ir::Range::index(subset_[d].begin));
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    const ir::Range& whole = subset_[dims_[d]];
    const ir::Range& r = ranges[d];
    out[dims_[d]] = {whole.begin + r.begin * whole.step, whole.begin + r.end * whole.step, whole.step * r.step, 1};
  }
  return ir::Subset(std::move(out));
}

Operand Operand::fitted(std::size_t wanted) const {
  Operand out = *this;
  auto drop = [&](auto&& may_go) {
    for (std::size_t d = 0; d < out.dims_.size() && out.dims_.size() > wanted;) {
      if (!may_go(d)) {
        ++d;
        continue;
      }
      out.dims_.erase(out.dims_.begin() + static_cast<std::ptrdiff_t>(d));
      out.extents_.erase(out.extents_.begin() + static_cast<std::ptrdiff_t>(d));
    }
  };
  drop([&](std::size_t d) { return subset_[out.dims_[d]].is_index(); });
  drop([&](std::size_t d) { return out.extents_[d].is_one(); });
  if (out.dims_.size() != wanted)
    throw Error(ErrorClass::kGraph,
                "operand " + text() + " of a library node must have " + std::to_string(wanted) + " dimensions");
  return out;
}

Operand Operand::squeezed() const {
  Operand out = *this;
  for (std::size_t d = 0; d < out.dims_.size();) {
    if (!subset_[out.dims_[d]].is_index()) {
      ++d;
      continue;
    }
    out.dims_.erase(out.dims_.begin() + static_cast<std::ptrdiff_t>(d));
    out.extents_.erase(out.extents_.begin() + static_cast<std::ptrdiff_t>(d));
  }
  return out;
}

std::string Operand::text() const {
  std::string out = "'" + connector_ + "' [";
  for (std::size_t d = 0; d < rank(); ++d) out += (d == 0 ? "" : ", ") + extents_[d].str();
  return out + "]";
}

CodeNames code_names(const ir::Sequence& s) {
  CodeNames out;
  ir::walk(s, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* state = std::get_if<ir::State>(&e.kind);
    if (state == nullptr) return;
    for (const ir::Node& n : state->nodes) {
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t == nullptr) continue;
      for (const auto* connectors : {&t->inputs, &t->outputs}) {
        for (const ir::Connector& k : *connectors) out.insert(k.name);
      }
      const tasklet::Uses uses = tasklet::uses_of(t->code.body);
      out.insert(uses.read.begin(), uses.read.end());
      out.insert(uses.written.begin(), uses.written.end());
    }
  });
  return out;
}

std::string Emitter::fresh_symbol(const std::string& wish) const {
  std::string stem = wish;
  std::string name = graph_->unique_name(stem);
  while (names_->contains(name)) name = graph_->unique_name(stem += '_');
  return name;
}

std::string Emitter::fresh_connector(const std::string& wish) const {
  const auto taken = [&](const std::string& name) {
    const ir::Container* c = graph_->containers.find(name);
    return graph_->symbols.contains(name) || (c != nullptr && c->constant);
  };
  std::string name = wish;
  while (taken(name)) name += '_';
  names_->insert(name);
  return name;
}

ir::Map& Emitter::map(const std::vector<std::pair<std::string, Expr>>& extents, const Body& body) const {
  std::vector<std::pair<std::string, ir::Range>> ranges;
  for (const auto& [name, extent] : extents) ranges.emplace_back(name, ir::Range::half_open(0, extent));
  return map_ranges(ranges, body);
}

ir::Map& Emitter::map_ranges(const std::vector<std::pair<std::string, ir::Range>>& ranges, const Body& body) const {
  ir::Map m;
  std::vector<Expr> parameters;
  for (const auto& [wish, range] : ranges) {
    ir::Symbol s;
    s.name = fresh_symbol(wish);
    s.binder = ir::BinderKind::kMapParameter;
    m.params.push_back(s.name);
    m.ranges.push_back(range);
    parameters.push_back(Expr::symbol(s.name));
    graph_->symbols.insert(std::move(s));
  }
  ir::Element& e = graph_->append(*at_, std::move(m), label_, location_);
  Emitter inner = inside(std::get<ir::Map>(e.kind).body);
  body(inner, std::move(parameters));
  return std::get<ir::Map>(e.kind);
}

void Emitter::loop(const std::string& wish, const Expr& from, const Expr& to,
                   const std::function<void(Emitter&, Expr)>& body) const {
  ir::Symbol s;
  s.name = fresh_symbol(wish);
  s.binder = ir::BinderKind::kLoopVariable;
  const Expr variable = Expr::symbol(s.name);
  ir::For f;
  f.variable = s.name;
  const Type index = ScalarType::kInt64;
  const tasklet::TypeEnvironment env{[&](std::string_view) { return std::optional<Type>(index); },
                                     [](std::string_view) { return std::optional<Type>(); }};
  f.init = tasklet::infer_types(tasklet::from_symbolic(from), env);
  f.condition = tasklet::infer_types(
      tasklet::Expr::binary(BinaryOp::kLess, tasklet::from_symbolic(variable), tasklet::from_symbolic(to)), env);
  f.update = tasklet::infer_types(tasklet::from_symbolic(variable + 1), env);
  graph_->symbols.insert(std::move(s));
  ir::Element& e = graph_->append(*at_, std::move(f), label_, location_);
  Emitter inner = inside(std::get<ir::For>(e.kind).body);
  inner.loop_ = e.id;
  body(inner, variable);
}

void Emitter::leave_loop() const {
  graph_->append(*at_, ir::Exit{ir::Exit::Kind::kBreak, loop_}, label_, location_);
}

void Emitter::branch(const tasklet::Expr& condition, const std::function<void(Emitter&)>& then,
                     const std::function<void(Emitter&)>& otherwise) const {
  ir::If i;
  const tasklet::TypeEnvironment env = ir::type_environment(*graph_);
  i.branches.push_back({tasklet::infer_types(condition, env), {}});
  if (otherwise) i.branches.push_back({tasklet::infer_types(tasklet::Expr::literal(true), env), {}});
  ir::Element& e = graph_->append(*at_, std::move(i), label_, location_);
  auto& branches = std::get<ir::If>(e.kind).branches;
  Emitter first = inside(branches[0].body);
  then(first);
  if (otherwise) {
    Emitter second = inside(branches[1].body);
    otherwise(second);
  }
}

void Emitter::with_transient(const std::string& wish, ScalarType type, const std::vector<Expr>& extents,
                             const std::function<void(Emitter&, const std::string&)>& body) const {
  ir::Container c;
  c.name = graph_->unique_name(wish);
  c.type = type;
  c.transient = true;
  c.location = location_;
  c.kind = extents.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray;
  if (!extents.empty()) c.layout = ir::Layout::packed(extents);
  const std::string name = c.name;
  graph_->containers.insert(std::move(c));
  ir::Block b;
  b.locals.push_back(name);
  ir::Element& e = graph_->append(*at_, std::move(b), label_, location_);
  Emitter inner = inside(std::get<ir::Block>(e.kind).body);
  body(inner, name);
}

void Emitter::compute(const std::vector<Read>& reads, const tasklet::Expr& code, const Write& write) const {
  ir::Element& e = graph_->append(*at_, ir::State{}, label_, location_);
  auto& s = std::get<ir::State>(e.kind);
  ir::Tasklet t;
  tasklet::Statement statement;
  const ir::Container* target = ir::resolve(*graph_, write.data);
  const std::string result = fresh_connector("out");
  std::map<std::string, tasklet::Expr, std::less<>> connectors;
  const ir::Id id = graph_->new_id();
  std::vector<ir::Memlet> edges;
  for (const Read& r : reads) {
    const ir::Container* c = ir::resolve(*graph_, r.data);
    const std::string connector = fresh_connector(r.connector);
    connectors.emplace('$' + r.connector, tasklet::Expr::name(connector, c->type));
    t.inputs.push_back({connector, c->type});
    ir::Node access;
    access.id = graph_->new_id();
    access.kind = ir::Access{r.data};
    ir::Memlet m;
    m.id = graph_->new_id();
    m.src = access.id;
    m.dst = id;
    m.dst_connector = connector;
    m.src_subset = r.at;
    edges.push_back(std::move(m));
    s.nodes.push_back(std::move(access));
  }
  statement.node = tasklet::Assign{tasklet::Expr::name(result, target->type), tasklet::replace_names(code, connectors)};
  t.code.body.push_back(std::move(statement));
  t.outputs.push_back({result, target->type});
  ir::Node code_node;
  code_node.id = id;
  code_node.label = label_;
  code_node.location = location_;
  code_node.kind = std::move(t);
  s.nodes.push_back(std::move(code_node));
  ir::Node access;
  access.id = graph_->new_id();
  access.kind = ir::Access{write.data};
  ir::Memlet m;
  m.id = graph_->new_id();
  m.src = id;
  m.src_connector = result;
  m.dst = access.id;
  m.dst_subset = write.at;
  m.wcr = write.wcr;
  edges.push_back(std::move(m));
  s.nodes.push_back(std::move(access));
  s.edges = std::move(edges);
  ir::Node* node = s.find_node(id);
  auto& tasklet_node = std::get<ir::Tasklet>(node->kind);
  tasklet_node.code.body = tasklet::infer_types(tasklet_node.code.body, ir::type_environment(*graph_, s, *node));
}

void Emitter::cpp(const std::vector<Pointer>& inputs, const std::vector<Pointer>& outputs, const std::string& text,
                  const std::string& file_text) const {
  ir::Element& e = graph_->append(*at_, ir::State{}, label_, location_);
  auto& s = std::get<ir::State>(e.kind);
  ir::Tasklet t;
  t.code.language = tasklet::Language::kCpp;
  t.code.global_text = file_text;
  t.code.cpp.emplace();
  t.code.cpp->side_effects = false;
  t.side_effects = false;
  const ir::Id id = graph_->new_id();
  std::map<std::string, std::string, std::less<>> names;
  const auto connect = [&](const Pointer& p, bool output) {
    const std::string connector = fresh_connector(p.connector);
    names.emplace(p.connector, connector);
    (output ? t.outputs : t.inputs).push_back({connector, Type::pointer(ir::resolve(*graph_, p.data)->type)});
    (output ? t.code.cpp->writes : t.code.cpp->reads).push_back(connector);
    ir::Node access;
    access.id = graph_->new_id();
    access.kind = ir::Access{p.data};
    ir::Memlet m;
    m.id = graph_->new_id();
    m.src = output ? id : access.id;
    m.dst = output ? access.id : id;
    (output ? m.src_connector : m.dst_connector) = connector;
    (output ? m.dst_subset : m.src_subset) = p.window;
    s.nodes.push_back(std::move(access));
    s.edges.push_back(std::move(m));
  };
  for (const Pointer& p : inputs) connect(p, false);
  for (const Pointer& p : outputs) connect(p, true);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      t.code.text += text[at++];
      continue;
    }
    const std::size_t first = ++at;
    while (at < text.size() && is_word(text[at])) ++at;
    t.code.text += names.at(text.substr(first, at - first));
  }
  ir::Node node;
  node.id = id;
  node.label = label_;
  node.location = location_;
  node.kind = std::move(t);
  s.nodes.push_back(std::move(node));
}

void Emitter::copy(const std::string& from, const ir::Subset& from_at, const std::string& to, const ir::Subset& to_at,
                   std::optional<ir::Wcr> wcr) const {
  ir::Element& e = graph_->append(*at_, ir::State{}, label_, location_);
  auto& s = std::get<ir::State>(e.kind);
  ir::Memlet m;
  for (const std::string* data : {&from, &to}) {
    ir::Node n;
    n.id = graph_->new_id();
    n.kind = ir::Access{*data};
    (data == &from ? m.src : m.dst) = n.id;
    s.nodes.push_back(std::move(n));
  }
  m.id = graph_->new_id();
  m.src_subset = from_at;
  m.dst_subset = to_at;
  m.wcr = std::move(wcr);
  s.edges.push_back(std::move(m));
}

Expr Emitter::assign(const std::string& wish, const tasklet::Expr& value) const {
  ir::Symbol s;
  s.name = fresh_symbol(wish);
  s.binder = ir::BinderKind::kAssigned;
  const std::string name = s.name;
  graph_->symbols.insert(std::move(s));
  ir::Assign a;
  a.items.push_back({name, tasklet::infer_types(value, ir::type_environment(*graph_))});
  graph_->append(*at_, std::move(a), label_, location_);
  return Expr::symbol(name);
}

void Emitter::fail(const std::string& message) const {
  throw Error(ErrorClass::kGraph, "library node '" + label_ + "' " + message,
              {{"library node '" + label_ + "'", location_}});
}

tasklet::Expr name(const std::string& connector, ScalarType type) {
  // A mark that no symbol of the same code has.
  return tasklet::Expr::name('$' + connector, type);
}

tasklet::Expr literal(std::complex<double> value, ScalarType type) {
  if (is_complex(type)) return tasklet::Expr::literal(value, type);
  if (is_floating(type)) return tasklet::Expr::literal(value.real(), type);
  if (type == ScalarType::kBool) return tasklet::Expr::literal(value.real() != 0.0);
  return tasklet::Expr::literal(static_cast<std::int64_t>(value.real()), type);
}

tasklet::Expr cast(const tasklet::Expr& e, ScalarType type) {
  return tasklet::Expr::cast(type, e);
}
tasklet::Expr binary(BinaryOp op, const tasklet::Expr& a, const tasklet::Expr& b) {
  return tasklet::Expr::binary(op, a, b);
}
tasklet::Expr add(const tasklet::Expr& a, const tasklet::Expr& b) {
  return binary(BinaryOp::kAdd, a, b);
}
tasklet::Expr sub(const tasklet::Expr& a, const tasklet::Expr& b) {
  return binary(BinaryOp::kSub, a, b);
}
tasklet::Expr mul(const tasklet::Expr& a, const tasklet::Expr& b) {
  return binary(BinaryOp::kMul, a, b);
}
tasklet::Expr call(tasklet::Function f, std::vector<tasklet::Expr> args) {
  return tasklet::Expr::call(f, std::move(args));
}

tasklet::Expr scaled(std::complex<double> factor, const tasklet::Expr& e, ScalarType type) {
  return factor == 1.0 ? e : mul(literal(factor, type), e);
}

tasklet::Expr element_of(const std::string& container, std::vector<Expr> indices, ScalarType type) {
  std::vector<tasklet::Expr> at;
  for (const Expr& i : indices) at.push_back(tasklet::from_symbolic(i));
  return tasklet::Expr::subscript(container, std::move(at), type);
}

}  // namespace sdfg::library
