// Nodes of a file's states inside their scopes: tasklets, library nodes, copies; memlet paths reduce to their leaves.
#include <algorithm>

#include "io/import_state.hpp"
#include "io/raise_expansions.hpp"

namespace sdfg::io {

using symbolic::Expr;

// Edges of a tasklet or library node `id`. Inputs first: they may open access nodes; then outputs, which end at
// containers even when the file passes a value directly to another code node (a Scalar stands between).
void Importer::connect(StateContext& c, const dace::Node& n, ir::Id id, ir::Sequence& out,
                       const std::function<std::string(const std::string&, bool output)>& rename) {
  auto add = [&](ir::Memlet m) {
    m.id = graph_.new_id();
    current(c, out).edges.push_back(std::move(m));
  };
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    ir::Memlet m;
    m.dst = id;
    m.dynamic = e->memlet.dynamic;
    m.allow_oob = e->memlet.allow_oob;
    m.location = e->memlet.location;
    if (e->memlet.data.empty() && e->dst_connector.empty()) {  // order only; what is not in this state ran before it
      if (auto it = c.open.nodes.find(e->src); it != c.open.nodes.end()) {
        m.src = it->second;
        add(std::move(m));
      }
      continue;
    }
    m.dst_connector = rename(e->dst_connector, false);
    const dace::Edge& root = c.path_root(*e);
    const dace::Node& source = c.node(root.src);
    if (is_access(source)) {
      const Place p = place_of(c, root.src);
      m.src = access(c, root.src, out);
      m.src_subset = subset_on(c, p, std::get<dace::AccessNode>(source.kind).data, e->memlet, true);
      add(std::move(m));
    } else if (auto it = c.consumed.find(source.index); it != c.consumed.end()) {
      m.src = access_of(c, it->second, out);
      m.src_subset = ir::Subset::full(ir::resolve(graph_, it->second)->layout.shape());
      add(std::move(m));
    } else if (auto value = c.registers.find({root.src, root.src_connector}); value != c.registers.end()) {
      // Written earlier by the code node at the other end.
      auto node_of = c.open.scalars.find(value->second);
      m.src = node_of != c.open.scalars.end() ? node_of->second : access_of(c, value->second, out);
      m.src_subset = ir::Subset();
      add(std::move(m));
    } else if (!e->memlet.data.empty()) {
      throw Error(ErrorClass::kGraph, "the memlet into '" + n.label + "' comes from node '" + source.label +
                                          "', which holds no data (at " + e->path + ")");
    }
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(n.index)]) {
    ir::Memlet m;
    m.src = id;
    m.dynamic = e->memlet.dynamic;
    m.allow_oob = e->memlet.allow_oob;
    m.location = e->memlet.location;
    if (e->src_connector.empty() && e->memlet.data.empty()) continue;  // order only; added from the other end
    m.src_connector = rename(e->src_connector, true);
    if (!e->memlet.wcr.empty()) {
      m.wcr = wcr_from(e->memlet.wcr, e->path);
      if (e->memlet.wcr_nonatomic) m.wcr->lowering = ir::WcrLowering::kPlain;
    }
    const dace::Edge& end = c.path_end(*e);
    const dace::Node& target = c.node(end.dst);
    if (is_access(target)) {
      const Place p = place_of(c, end.dst);
      // Behind a scope's exit the container is written per iteration, by an access of its own.
      const bool same_level = &end == e;
      m.dst = same_level ? access(c, end.dst, out) : access_of(c, p.binding.container, out);
      m.dst_subset = subset_on(c, p, std::get<dace::AccessNode>(target.kind).data, e->memlet, false);
      add(std::move(m));
    } else {
      auto [it, inserted] = c.registers.emplace(std::pair(n.index, e->src_connector), "");
      if (inserted) {
        ir::Container s;
        s.name = fresh(e->memlet.data.empty() ? n.label + "_" + e->src_connector : e->memlet.data);
        s.kind = ir::ContainerKind::kScalar;
        s.transient = true;
        s.type = register_type(c, n, *e);
        it->second = s.name;
        to_place_.insert(s.name);
        graph_.containers.insert(std::move(s));
        m.dst = access_of(c, it->second, out);
        c.open.scalars[it->second] = m.dst;
        m.dst_subset = ir::Subset();
        add(std::move(m));
      }
    }
  }
}

// The type of a value passed between code nodes: of a connector at either end, of the memlet's container, else double.
Type Importer::register_type(StateContext& c, const dace::Node& n, const dace::Edge& e) {
  for (const dace::Connector& k : n.outputs) {
    if (k.name == e.src_connector && !k.type.is_void()) return k.type;
  }
  for (const dace::Connector& k : c.node(e.dst).inputs) {
    if (k.name == e.dst_connector && !k.type.is_void()) return k.type;
  }
  if (!e.memlet.data.empty()) {
    if (const dace::Descriptor* d = c.scope.sdfg->find(e.memlet.data)) return d->type;
  }
  warnings_.push_back("the value '" + e.src_connector + "' of '" + n.label +
                      "' has no type and was taken as float64 (at " + e.path + ")");
  return ScalarType::kFloat64;
}

ir::Id Importer::add_node(StateContext& c, const dace::Node& n, decltype(ir::Node::kind) kind, ir::Sequence& out) {
  ir::State& s = current(c, out);
  s.nodes.push_back({graph_.new_id(), n.label, n.location, std::move(kind)});
  return c.open.nodes[n.index] = s.nodes.back().id;
}

void Importer::tasklet_node(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const auto& t = std::get<dace::TaskletNode>(n.kind);
  if (t.code.language == dace::Language::kCpp && raised_node(c, n, out)) return;
  ir::Tasklet tasklet;
  // A pointer to one element is how files spell a value that may be left unwritten; Python code assigns the element
  // itself.
  auto connector_of = [&](const dace::Connector& k, bool output) {
    Type type = k.type;
    if (t.code.language == dace::Language::kPython && type.kind() == Type::Kind::kPointer) {
      const auto& edges = output ? c.out[static_cast<std::size_t>(n.index)] : c.in[static_cast<std::size_t>(n.index)];
      for (const dace::Edge* e : edges) {
        const bool its = (output ? e->src_connector : e->dst_connector) == k.name;
        if (its && e->memlet.subset && e->memlet.subset->num_elements().is_one()) type = Type();
      }
    }
    return ir::Connector{k.name, type};
  };
  for (const auto* list : {&n.inputs, &n.outputs}) {
    for (const dace::Connector& k : *list) refuse_word(k.name, n.path);
  }
  for (const dace::Connector& k : n.inputs) tasklet.inputs.push_back(connector_of(k, false));
  for (const dace::Connector& k : n.outputs) tasklet.outputs.push_back(connector_of(k, true));
  tasklet.side_effects = t.side_effects;
  std::vector<std::pair<std::string, std::string>>
      scalars;  // connector -> Scalar that was a floating symbol of the file
  if (t.code.language == dace::Language::kPython) {
    try {
      tasklet.code.body = tasklet::parse_body(t.code.text);
    } catch (const Error& e) {
      throw Error(e.error_class(), "tasklet '" + n.label + "': " + e.message() + " (at " + n.path + ")");
    }
    const tasklet::Uses uses = tasklet::uses_of(tasklet.code.body);
    std::map<std::string, tasklet::Expr, std::less<>> names;
    std::map<std::string, std::string, std::less<>> bases;
    auto is_connector = [&](const std::string& name) {
      auto named = [&](const dace::Connector& k) { return k.name == name; };
      return std::any_of(n.inputs.begin(), n.inputs.end(), named) ||
             std::any_of(n.outputs.begin(), n.outputs.end(), named);
    };
    for (const std::string& name : uses.read) {
      if (is_connector(name) || std::find(uses.written.begin(), uses.written.end(), name) != uses.written.end())
        continue;
      if (auto s = c.scope.symbols.find(name); s != c.scope.symbols.end()) {
        names.emplace(name, tasklet::from_symbolic(s->second));
      } else if (auto f = c.scope.float_symbols.find(name); f != c.scope.float_symbols.end()) {
        const std::string connector = "sym_" + name;
        names.emplace(name, tasklet::Expr::name(connector));
        scalars.emplace_back(connector, f->second);
        tasklet.inputs.push_back({connector, Type()});
      } else if (auto constant = c.scope.containers.find(name);
                 constant != c.scope.containers.end() && graph_.containers.at(constant->second.container).constant) {
        names.emplace(name, tasklet::Expr::subscript(constant->second.container, {}));
      }
    }
    for (const std::string& base : uses.subscripted) {
      if (is_connector(base)) continue;
      if (auto constant = c.scope.containers.find(base); constant != c.scope.containers.end())
        bases.emplace(base, constant->second.container);
    }
    if (!names.empty()) tasklet.code.body = tasklet::replace_names(tasklet.code.body, names);
    if (!bases.empty()) tasklet.code.body = tasklet::rename_bases(tasklet.code.body, bases);
  } else if (t.code.language == dace::Language::kCpp) {
    tasklet.code.language = tasklet::Language::kCpp;
    const std::size_t before = out.items.size();
    tasklet.code.text = renamed_cpp(t.code.text, c.scope, out);
    if (out.items.size() != before) c.open = {};  // an Assign stands between
    tasklet.code.global_text = t.code_global.text;
    const auto add_line = [](std::string& to, const std::string& text) {
      to += text;
      if (!to.empty() && to.back() != '\n') to += '\n';
    };
    add_line(graph_.code.init, t.code_init.text);
    add_line(graph_.code.exit, t.code_exit.text);
  } else {
    throw Error(ErrorClass::kGraph,
                "tasklet '" + n.label + "' is written in a language that can't be executed (at " + n.path + ")");
  }
  const ir::Id id = add_node(c, n, std::move(tasklet), out);
  for (const auto& [connector, container] : scalars) {
    ir::Memlet m;
    m.src = access_of(c, container, out);
    m.dst = id;
    m.dst_connector = connector;
    m.src_subset = ir::Subset();
    m.id = graph_.new_id();
    current(c, out).edges.push_back(std::move(m));
  }
  connect(c, n, id, out, [](const std::string& name, bool) { return name; });
}

// Do the memlets of the call's operands move what the call walks, in elements of its type?
bool Importer::works_on(const StateContext& c, const dace::Node& n, const RaisedCall& call) const {
  struct Moved {
    std::string data;
    const ir::Subset* subset = nullptr;
  };
  const auto moved = [&](const dace::Edge& e, int access_node) -> std::optional<Moved> {
    const auto* a = std::get_if<dace::AccessNode>(&c.node(access_node).kind);
    if (a == nullptr || e.memlet.data != a->data || !e.memlet.subset || !e.memlet.wcr.empty()) return std::nullopt;
    return Moved{a->data, &*e.memlet.subset};
  };
  const auto alike = [&](const Moved& m, const Walk& walk) {
    const dace::Descriptor* d = c.scope.sdfg->find(m.data);
    if (d == nullptr || !(d->type == Type(call.type))) return false;
    std::vector<Expr> strides = d->strides;
    if (d->kind == dace::DescriptorClass::kScalar)
      strides.assign(m.subset->rank(), Expr(1));
    else if (strides.size() != d->shape.size())
      strides = ir::Layout::packed(d->shape).strides();
    return walks_alike(walk, *m.subset, strides);
  };
  std::optional<Moved> overwritten;
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (e->memlet.data.empty()) continue;
    const auto m = moved(*e, c.path_root(*e).src);
    const auto walk = call.walks.find(e->dst_connector);
    if (!m || (walk != call.walks.end() && !alike(*m, walk->second))) return false;
    if (e->dst_connector == call.in_place) overwritten = m;
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(n.index)]) {
    if (e->memlet.data.empty()) continue;
    const auto m = moved(*e, c.path_end(*e).dst);
    const auto walk = call.walks.find(e->src_connector);
    if (!m || (walk != call.walks.end() && !alike(*m, walk->second))) return false;
    const auto ours = call.outputs.find(e->src_connector);
    const bool result = ours != call.outputs.end() && ours->second != "_res";
    if (!call.in_place.empty() && result &&
        (!overwritten || overwritten->data != m->data || !(*overwritten->subset == *m->subset)))
      return false;
  }
  return true;
}

// A tasklet that is the expansion of a library node becomes that node again.
bool Importer::raised_node(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const auto& t = std::get<dace::TaskletNode>(n.kind);
  std::vector<std::string> inputs, outputs;
  for (const dace::Connector& k : n.inputs) inputs.push_back(k.name);
  for (const dace::Connector& k : n.outputs) outputs.push_back(k.name);
  auto raised = raise_expansion(t.code.text, inputs, outputs);
  if (!raised || !works_on(c, n, *raised)) return false;
  add_library(c, n, std::move(raised->op), {}, raised->inputs, raised->outputs, out);
  return true;
}

void Importer::add_library(StateContext& c, const dace::Node& n, ir::LibraryOp op, std::string implementation,
                           const std::map<std::string, std::string>& inputs,
                           const std::map<std::string, std::string>& outputs, ir::Sequence& out) {
  ir::Library library;
  library.op = std::move(op);
  library.implementation = std::move(implementation);
  auto rename = [&](const std::string& name, bool output) {
    const auto& table = output ? outputs : inputs;
    auto it = table.find(name);
    return it == table.end() ? name : it->second;
  };
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (!e->memlet.data.empty()) library.inputs.push_back(rename(e->dst_connector, false));
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(n.index)]) {
    if (!e->memlet.data.empty()) library.outputs.push_back(rename(e->src_connector, true));
  }
  const ir::Id id = add_node(c, n, std::move(library), out);
  connect(c, n, id, out, rename);
}

void Importer::library_node(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const auto& l = std::get<dace::LibraryNode>(n.kind);
  LibraryTranslation translated = translate_library(
      l, n.path, [&](const std::string& text) { return wcr_from(text, n.path); },
      [&](const std::string& text) {
        const auto e = tasklet::to_symbolic(expression(text, n.path, c.scope));
        if (!e) throw Error(ErrorClass::kGraph, "'" + text + "' is not an integer expression (at " + n.path + ")");
        return *e;
      });
  add_library(c, n, std::move(translated.op), l.implementation, translated.inputs, translated.outputs, out);
}

// Copies end or begin at access nodes: from an access node or a scope's entry, or to a scope's exit.
void Importer::access_node(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (e->memlet.data.empty()) {  // order only
      auto from = c.open.nodes.find(e->src);
      if (from != c.open.nodes.end()) {
        ir::Memlet m;
        m.src = from->second;
        m.dst = access(c, n.index, out);
        m.id = graph_.new_id();
        current(c, out).edges.push_back(std::move(m));
      }
      continue;
    }
    const dace::Edge& root = c.path_root(*e);
    if (is_access(c.node(root.src))) {
      copy(c, root.src, n.index, *e, out);
    } else if (auto it = c.consumed.find(root.src); it != c.consumed.end()) {
      ir::Memlet m;
      m.src = access_of(c, it->second, out);
      m.src_subset = ir::Subset::full(ir::resolve(graph_, it->second)->layout.shape());
      m.dst = access(c, n.index, out);
      m.dst_subset = subset_on(c, place_of(c, n.index), std::get<dace::AccessNode>(n.kind).data, e->memlet, false);
      m.id = graph_.new_id();
      current(c, out).edges.push_back(std::move(m));
    }
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(n.index)]) {
    if (e->memlet.data.empty() || !is_exit(c.node(e->dst))) continue;
    const dace::Edge& end = c.path_end(*e);
    if (is_access(c.node(end.dst))) copy(c, n.index, end.dst, *e, out);
  }
}

void Importer::copy(StateContext& c, int src, int dst, const dace::Edge& leaf, ir::Sequence& out) {
  const dace::Node& from = c.node(src);
  const dace::Node& to = c.node(dst);
  const bool leaves_scope = is_exit(c.node(leaf.dst));
  ir::Memlet m;
  m.id = graph_.new_id();
  if (c.viewing_edge(dst) == &leaf || c.viewing_edge(src) == &leaf) {
    // Nothing moves: one is an alias of the other. What is ordered by the edge stays ordered.
    if (c.open.nodes.contains(src)) {
      m.src = access(c, src, out);
      m.dst = access(c, dst, out);
      if (m.src != m.dst) current(c, out).edges.push_back(std::move(m));
    }
    return;
  }
  const std::string& src_data = std::get<dace::AccessNode>(from.kind).data;
  const std::string& dst_data = std::get<dace::AccessNode>(to.kind).data;
  dace::Memlet memlet = leaf.memlet;
  if (src_data != dst_data) memlet.is_data_src.reset();  // the name decides
  const Place source = place_of(c, src);
  const Place target = place_of(c, dst);
  m.src = access(c, src, out);
  m.dst = leaves_scope ? access_of(c, target.binding.container, out) : access(c, dst, out);
  m.set_reference = leaf.dst_connector == "set";
  m.src_subset = subset_on(c, source, src_data, memlet, true);
  m.dst_subset = m.set_reference ? ir::Subset::full(ir::resolve(graph_, target.binding.container)->layout.shape())
                                 : subset_on(c, target, dst_data, memlet, false);
  m.dynamic = memlet.dynamic;
  m.allow_oob = memlet.allow_oob;
  m.location = memlet.location;
  if (!memlet.wcr.empty()) {
    m.wcr = wcr_from(memlet.wcr, leaf.path);
    if (memlet.wcr_nonatomic) m.wcr->lowering = ir::WcrLowering::kPlain;
  }
  current(c, out).edges.push_back(std::move(m));
}

}  // namespace sdfg::io
