// Nested graphs in place, and aliases: windows where strides agree, views otherwise.
#include <algorithm>

#include "io/import_state.hpp"
#include "io/raise_expansions.hpp"

namespace sdfg::io {

using symbolic::Expr;

namespace {

bool non_empty(const dace::Edge* e) {
  return !e->memlet.data.empty();
}

// Containers with an access node that something moves into.
void collect_written(const dace::Region& r, std::set<std::string>& out) {
  for (const dace::Block& b : r.blocks) {
    if (const auto* s = std::get_if<dace::State>(&b.kind)) {
      for (const dace::Edge& e : s->edges) {
        const auto* a = std::get_if<dace::AccessNode>(&s->nodes[static_cast<std::size_t>(e.dst)].kind);
        if (a != nullptr && !e.memlet.data.empty()) out.insert(a->data.substr(0, a->data.find('.')));
      }
    } else if (const auto* inner = std::get_if<dace::Region>(&b.kind)) {
      collect_written(*inner, out);
    } else if (const auto* l = std::get_if<dace::LoopBlock>(&b.kind)) {
      collect_written(l->body, out);
    } else if (const auto* c = std::get_if<dace::ConditionalBlock>(&b.kind)) {
      for (const auto& branch : c->branches) collect_written(branch.body, out);
    }
  }
}

bool writes_with_wcr(const dace::Region& r, const std::string& data) {
  for (const dace::Block& b : r.blocks) {
    if (const auto* s = std::get_if<dace::State>(&b.kind)) {
      for (const dace::Edge& e : s->edges) {
        if (!e.memlet.wcr.empty() && e.memlet.data == data) return true;
      }
      for (const dace::Node& n : s->nodes) {
        const auto* nested = std::get_if<dace::NestedSdfg>(&n.kind);
        if (nested == nullptr) continue;
        for (const dace::Edge& e : s->edges) {
          if (e.src == n.index && e.memlet.data == data && writes_with_wcr(nested->sdfg->body, e.src_connector))
            return true;
        }
      }
    } else if (const auto* inner = std::get_if<dace::Region>(&b.kind)) {
      if (writes_with_wcr(*inner, data)) return true;
    } else if (const auto* l = std::get_if<dace::LoopBlock>(&b.kind)) {
      if (writes_with_wcr(l->body, data)) return true;
    } else if (const auto* c = std::get_if<dace::ConditionalBlock>(&b.kind)) {
      for (const auto& branch : c->branches) {
        if (writes_with_wcr(branch.body, data)) return true;
      }
    }
  }
  return false;
}

}  // namespace

const dace::Edge* Importer::StateContext::viewing_edge(int v) const {
  const dace::Node& n = node(v);
  const auto* a = std::get_if<dace::AccessNode>(&n.kind);
  if (a == nullptr) return nullptr;
  const dace::Descriptor* d = scope.sdfg->find(a->data);
  using K = dace::DescriptorClass;
  if (d == nullptr || (d->kind != K::kArrayView && d->kind != K::kStructureView && d->kind != K::kContainerView))
    return nullptr;
  std::vector<const dace::Edge*> ins, outs;
  for (const dace::Edge* e : in[static_cast<std::size_t>(v)]) {
    if (non_empty(e)) ins.push_back(e);
    if (e->dst_connector == "views") return e;
  }
  for (const dace::Edge* e : out[static_cast<std::size_t>(v)]) {
    if (non_empty(e)) outs.push_back(e);
    if (e->src_connector == "views") return e;
  }
  auto from_access = [&](const dace::Edge* e) {
    return std::holds_alternative<dace::AccessNode>(node(path_root(*e).src).kind);
  };
  auto to_access = [&](const dace::Edge* e) {
    return std::holds_alternative<dace::AccessNode>(node(path_end(*e).dst).kind);
  };
  if (ins.size() == 1 && outs.size() != 1 && from_access(ins[0])) return ins[0];
  if (outs.size() == 1 && ins.size() != 1 && to_access(outs[0])) return outs[0];
  if (ins.size() == 1 && outs.size() == 1) {
    const bool a_in = from_access(ins[0]), a_out = to_access(outs[0]);
    if (a_in != a_out) return a_in ? ins[0] : outs[0];
    if (a_in && a_out) {
      if ((ins[0]->memlet.data == a->data) != (outs[0]->memlet.data == a->data))
        return ins[0]->memlet.data == a->data ? outs[0] : ins[0];
      if (path_root(*ins[0]).src != ins[0]->src) return ins[0];
      if (path_end(*outs[0]).dst != outs[0]->dst) return outs[0];
      return ins[0];
    }
  }
  throw Error(ErrorClass::kGraph, "it is not clear what view '" + a->data + "' shows (at " + n.path + ")");
}

Binding Importer::view_binding(StateContext& c, int v) {
  const dace::Edge* e = c.viewing_edge(v);
  const auto& a = std::get<dace::AccessNode>(c.node(v).kind);
  const dace::Descriptor* d = c.scope.sdfg->find(a.data);
  if (e == nullptr) throw Error(ErrorClass::kGraph, "view '" + a.data + "' shows nothing (at " + c.node(v).path + ")");
  const bool incoming = e->dst == v;
  const int viewed = incoming ? c.path_root(*e).src : c.path_end(*e).dst;
  if (!std::holds_alternative<dace::AccessNode>(c.node(viewed).kind))
    throw Error(ErrorClass::kGraph, "view '" + a.data + "' shows node '" + c.node(viewed).label +
                                        "', which holds no data (at " + c.node(v).path + ")");
  const Place p = place_of(c, viewed);
  const std::string& data = std::get<dace::AccessNode>(c.node(viewed).kind).data;
  dace::Memlet m = e->memlet;
  if (data != a.data) m.is_data_src.reset();
  const ir::Subset s = m.data == data || m.other_subset
                           ? subset_on(c, p, data, m, incoming)
                           : through(p.binding, mapped(ir::Subset::full(p.descriptor->shape), c.scope), e->path);
  return alias(p.binding, s, *d, c.scope, e->path);
}

// What `inner` means when it lies at `subset` of the outer container (in the graph's terms). The inner shape is not
// trusted: a connector's array may claim the whole outer shape while its pointer is offset.
Binding Importer::alias(const Binding& outer, const ir::Subset& subset, const dace::Descriptor& inner,
                        const Scope& scope, const std::string& path) {
  const ir::Container* target = ir::resolve(graph_, outer.container);
  if (target == nullptr)
    throw Error(ErrorClass::kGraph, "there is no container '" + outer.container + "' (at " + path + ")");
  using K = dace::DescriptorClass;
  if (inner.kind == K::kStream || inner.kind == K::kStructure || inner.kind == K::kContainerArray)
    return {outer.container, std::nullopt};
  std::vector<Expr> shape = mapped(inner.shape, scope);
  std::vector<Expr> strides = mapped(inner.strides, scope);
  if (inner.kind == K::kScalar) {
    shape.assign(1, Expr(1));
    strides.assign(1, Expr(1));
  } else if (strides.size() != shape.size()) {
    strides = ir::Layout::packed(shape).strides();
  }
  const bool plain = inner.start_offset == 0 &&
                     std::all_of(inner.offset.begin(), inner.offset.end(), [](const Expr& e) { return e.is_zero(); });
  // The same array, counted in the same way from its first element on.
  if (!plain && inner.type == target->type && shape == target->layout.shape() && strides == target->layout.strides() &&
      symbolic::Expr(inner.start_offset) == target->layout.start_offset() &&
      mapped(inner.offset, scope) == target->layout.offset() && subset.rank() == shape.size()) {
    bool first = true;
    for (std::size_t d = 0; d < shape.size(); ++d) first = first && subset[d].begin == -target->layout.offset()[d];
    if (first) return {outer.container, std::nullopt};
  }
  const bool same_type = inner.type == target->type || inner.type.is_void();
  if (plain && same_type &&
      (target->kind == ir::ContainerKind::kArray || target->kind == ir::ContainerKind::kView || target->is_scalar() ||
       target->kind == ir::ContainerKind::kReference)) {
    // Match inner dimensions with outer ones of the same stride, in order.
    std::vector<int> dims;
    std::size_t next = 0;
    bool ok = true;
    const auto& outer_strides = target->layout.strides();
    for (std::size_t k = 0; k < shape.size() && ok; ++k) {
      std::size_t d = next;
      while (d < subset.rank() &&
             !(outer_strides[d] == strides[k] && subset[d].step.is_one() && subset[d].tile.is_one()))
        ++d;
      if (shape[k].is_one() && (d == subset.rank() || !subset[d].size().is_one())) {
        dims.push_back(-1);  // never moves
        continue;
      }
      ok = d < subset.rank();
      dims.push_back(static_cast<int>(d));
      next = d + 1;
    }
    // An outer dimension that the subset spans but no inner one walks: the inner array is flattened, which a window
    // can't say.
    for (std::size_t d = 0; d < subset.rank() && ok; ++d) {
      if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) == dims.end() && !subset[d].size().is_one())
        ok = false;
    }
    if (ok) {
      const bool whole = !target->is_scalar() && dims.size() == subset.rank() &&
                         std::all_of(subset.ranges().begin(), subset.ranges().end(),
                                     [](const auto& r) { return r.begin.is_zero(); }) &&
                         std::none_of(dims.begin(), dims.end(), [](int d) { return d < 0; });
      if (whole) return {outer.container, std::nullopt};
      return {outer.container, Binding::Window{subset, std::move(dims)}};
    }
  }
  // A view. Extents that the subset's own sizes give are used where the strides show that they mean the same dimension.
  ir::Container v;
  v.label = inner.name;
  v.kind = ir::ContainerKind::kView;
  v.type = inner.type.is_void() ? target->type : inner.type;
  v.transient = true;
  v.viewed = outer.container;
  v.viewed_subset = subset;
  v.location = inner.location;
  if (inner.kind != K::kScalar) {
    for (std::size_t k = 0; k < shape.size() && same_type && shape.size() == subset.rank(); ++k) {
      if (strides[k] == target->layout.strides()[k] && subset[k].step.is_one()) shape[k] = subset[k].size();
    }
    std::vector<Expr> offset = mapped(inner.offset, scope);
    if (plain) offset.clear();
    v.layout = ir::Layout::strided(shape, strides, std::nullopt, offset, inner.start_offset);
  }
  std::string key = outer.container + "|" + subset.str() + "|" + v.type.str();
  for (std::size_t k = 0; k < v.layout.rank(); ++k)
    key += "|" + v.layout.shape()[k].str() + ":" + v.layout.strides()[k].str();
  key += "|" + std::to_string(inner.start_offset) + inner.name;
  if (auto it = views_.find(key); it != views_.end()) return {it->second, std::nullopt};
  v.name = fresh(inner.name);
  views_.emplace(key, v.name);
  to_place_.insert(v.name);
  const std::string name = v.name;
  graph_.containers.insert(std::move(v));
  return {name, std::nullopt};
}

// The library node behind a nested graph that was one, on what the nested graph's containers mean outside.
void Importer::add_reduction(const RaisedReduction& r, const dace::Node& n, ir::Sequence& out, Scope& scope) {
  ir::Reduce reduce;
  const ir::Wcr wcr = wcr_from(r.wcr, n.path);
  reduce.op = wcr.op;
  reduce.custom = wcr.custom;
  reduce.axes = r.axes;
  if (r.identity) reduce.identity = tasklet::Value::floating(*r.identity);
  ir::State s;
  ir::Node library;
  library.id = graph_.new_id();
  library.label = n.label;
  library.location = n.location;
  library.kind = ir::Library{std::move(reduce), {"_in"}, {"_out"}, {}};
  const ir::Id id = library.id;
  auto connect_to = [&](const std::string& name, bool output) {
    const Binding& b = scope.containers.at(name);
    const dace::Descriptor* d = scope.sdfg->find(name);
    ir::Node access;
    access.id = graph_.new_id();
    access.kind = ir::Access{b.container};
    ir::Memlet m;
    m.id = graph_.new_id();
    m.src = output ? id : access.id;
    m.dst = output ? access.id : id;
    (output ? m.src_connector : m.dst_connector) = output ? "_out" : "_in";
    (output ? m.dst_subset : m.src_subset) = through(b, mapped(ir::Subset::full(d->shape), scope), n.path);
    s.nodes.push_back(std::move(access));
    return m;
  };
  ir::Memlet in = connect_to(r.input, false);
  s.nodes.push_back(std::move(library));
  ir::Memlet result = connect_to(r.output, true);
  s.edges.push_back(std::move(in));
  s.edges.push_back(std::move(result));
  graph_.append(out, std::move(s), n.label);
}

// The value of a nested graph's symbol: a substitution where nothing changes it, otherwise a symbol or Scalar of its
// own that is set on entry; what happens to it inside stays inside.
void Importer::map_symbol(const dace::NestedSdfg& call, std::size_t k, bool assigned, const Scope& outer, Scope& inner,
                          ir::Assign& initial, ir::Sequence& body, const std::string& path) {
  const std::string& name = call.symbol_mapping[k].first;
  const Expr& file_value = call.mapped[k];
  const auto own_value = [&] { return resolved(tasklet::from_symbolic(file_value), const_cast<Scope&>(outer), path); };
  const auto used = symbolic::free_symbols(file_value);
  const bool from_float =
      std::any_of(used.begin(), used.end(), [&](const std::string& s) { return outer.float_symbols.contains(s); });
  if (from_float && !assigned && file_value.kind() == symbolic::Kind::kSymbol) {
    inner.float_symbols[name] = outer.float_symbols.find(file_value.name())->second;
    return;
  }
  if (is_float_symbol(name, inner)) {
    assign_scalar(float_scalar(name, inner), own_value(), body, {});
    return;
  }
  // A scalar container may be named as if it were a symbol: it is read on entry.
  const bool reads = std::any_of(used.begin(), used.end(), [&](const std::string& s) {
    return !outer.symbols.contains(s) && outer.containers.contains(s);
  });
  if (reads || from_float || assigned) {
    const std::string symbol = assigned_symbol(name, inner);
    initial.items.push_back({symbol, own_value()});
  } else {
    inner.symbols[name] = mapped(file_value, outer);
  }
}

void Importer::nested(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const auto& call = std::get<dace::NestedSdfg>(n.kind);
  const dace::Sdfg& inner = *call.sdfg;
  Scope scope;
  scope.sdfg = &inner;
  scope.parent = &c.scope;
  scope.loops = {};
  ir::Element& element = graph_.append(out, ir::Block{}, n.label, n.location);
  scope.return_block = element.id;
  ir::Sequence& body = std::get<ir::Block>(element.kind).body;

  // Symbols: by substitution, or, where the nested graph assigns them, as symbols of its own.
  const auto bound = dace::bound_symbols(inner.body);
  ir::Assign initial;
  std::set<std::string> mapped_names;
  for (std::size_t k = 0; k < call.symbol_mapping.size(); ++k) {
    const std::string& name = call.symbol_mapping[k].first;
    mapped_names.insert(name);
    map_symbol(call, k, bound.contains(name), c.scope, scope, initial, body, n.path);
  }
  for (const auto& [name, type] : inner.symbols) {
    if (mapped_names.contains(name) || bound.contains(name)) continue;
    if (auto it = c.scope.symbols.find(name); it != c.scope.symbols.end()) scope.symbols[name] = it->second;
    if (auto it = c.scope.float_symbols.find(name); it != c.scope.float_symbols.end())
      scope.float_symbols[name] = it->second;
    if (!scope.symbols.contains(name) && !scope.float_symbols.contains(name) && type.kind() != Type::Kind::kCallback) {
      scope.missing.emplace(
          name, "nested graph '" + inner.name + "' needs a value for its symbol '" + name + "' (at " + n.path + ")");
    }
  }
  for (const auto& [name, value] : c.scope.symbols) {  // undeclared ones follow the enclosing graph
    if (!mapped_names.contains(name) && !bound.contains(name) && inner.find(name) == nullptr)
      scope.symbols.emplace(name, value);
  }
  if (!initial.items.empty()) graph_.append(body, std::move(initial));

  // Containers: each connector is an alias of what the outer memlet shows, a snapshot, or an accumulator.
  struct Side {
    const dace::Edge* edge = nullptr;
    int access = -1;
  };
  std::map<std::string, std::pair<Side, Side>> sides;
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (!e->dst_connector.empty()) sides[e->dst_connector].first = {e, c.path_root(*e).src};
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(n.index)]) {
    if (!e->src_connector.empty()) sides[e->src_connector].second = {e, c.path_end(*e).dst};
  }
  struct Accumulator {
    std::string container;
    Binding target;
    ir::Subset subset;
    ir::Wcr wcr;
  };
  std::vector<Accumulator> accumulators;
  ir::State entry;
  // A scalar input is a value read on entry. That it is read later can only show when the nested graph may write what
  // it was read from: through another connector, a view or a pointer.
  const auto root = [&](const std::string& path) {
    const ir::Container* k = graph_.containers.find(path.substr(0, path.find('.')));
    for (int depth = 0; k != nullptr && k->kind == ir::ContainerKind::kView && depth < 64; ++depth)
      k = graph_.containers.find(k->viewed.substr(0, k->viewed.find('.')));
    return k;
  };
  bool writes_anywhere = false;
  std::set<std::string> written_roots;
  for (const auto& [connector, both] : sides) {
    const Side& output = both.second;
    if (output.edge == nullptr || !std::holds_alternative<dace::AccessNode>(c.node(output.access).kind)) continue;
    const ir::Container* k = root(place_of(c, output.access).binding.container);
    if (k == nullptr || k->kind == ir::ContainerKind::kReference || k->may_alias)
      writes_anywhere = true;
    else
      written_roots.insert(k->name);
  }
  const auto may_change = [&](const std::string& path) {
    const ir::Container* k = root(path);
    return writes_anywhere || k == nullptr || k->kind == ir::ContainerKind::kReference ||
           k->kind == ir::ContainerKind::kStream || k->may_alias || written_roots.contains(k->name);
  };
  auto add_access = [&](ir::State& s, const std::string& container) {
    ir::Node node;
    node.id = graph_.new_id();
    node.kind = ir::Access{container};
    s.nodes.push_back(std::move(node));
    return s.nodes.back().id;
  };
  std::set<std::string> written;  // inside
  collect_written(inner.body, written);
  for (const auto& [connector, both] : sides) {
    const auto& [input, output] = both;
    const dace::Descriptor* d = inner.find(connector);
    if (d == nullptr)
      throw Error(ErrorClass::kGraph, "nested graph '" + inner.name + "' has no container for its connector '" +
                                          connector + "' (at " + n.path + ")");
    if (d->transient)
      throw Error(ErrorClass::kGraph, "connector '" + connector + "' of nested graph '" + inner.name +
                                          "' names a transient of it (at " + n.path + ")");
    if (output.edge == nullptr && written.contains(connector))
      throw Error(ErrorClass::kGraph, "nested graph '" + inner.name + "' writes '" + connector +
                                          "', which is only an input of it (at " + n.path + ")");
    if (input.edge != nullptr && output.edge != nullptr) {
      const auto* from = std::get_if<dace::AccessNode>(&c.node(input.access).kind);
      const auto* to = std::get_if<dace::AccessNode>(&c.node(output.access).kind);
      if (from != nullptr && to != nullptr && from->data != to->data &&
          place_of(c, input.access).binding.container != place_of(c, output.access).binding.container) {
        throw Error(ErrorClass::kGraph, "connector '" + connector + "' of nested graph '" + inner.name + "' is '" +
                                            from->data + "' on the way in and '" + to->data + "' on the way out (at " +
                                            n.path + ")");
      }
    }
    const Side& side = output.edge != nullptr ? output : input;
    const bool incoming = output.edge == nullptr;
    if (!std::holds_alternative<dace::AccessNode>(c.node(side.access).kind)) {
      auto it = c.consumed.find(side.access);
      auto value = incoming ? c.registers.find({c.path_root(*side.edge).src, c.path_root(*side.edge).src_connector})
                            : c.registers.end();
      if (incoming && it != c.consumed.end()) {
        scope.containers[connector] = {it->second, std::nullopt};
        continue;
      }
      if (value != c.registers.end()) {
        scope.containers[connector] = {value->second, std::nullopt};
        continue;
      }
      throw Error(ErrorClass::kGraph, "connector '" + connector + "' of nested graph '" + inner.name +
                                          "' is connected to node '" + c.node(side.access).label +
                                          "', which holds no data (at " + n.path + ")");
    }
    const Place p = place_of(c, side.access);
    const ir::Subset subset =
        subset_on(c, p, std::get<dace::AccessNode>(c.node(side.access).kind).data, side.edge->memlet, incoming);
    if (incoming && d->kind == dace::DescriptorClass::kScalar && may_change(p.binding.container)) {
      ir::Container s;
      s.name = fresh(connector);
      s.label = connector;
      s.kind = ir::ContainerKind::kScalar;
      s.type = d->type;
      s.transient = true;
      s.location = d->location;
      ir::Memlet m;
      m.id = graph_.new_id();
      m.src = add_access(entry, p.binding.container);
      m.dst = add_access(entry, s.name);
      std::vector<Expr> at = subset.begins();
      m.src_subset = ir::Subset::index(at);
      m.dst_subset = ir::Subset();
      m.allow_oob = side.edge->memlet.allow_oob;
      entry.edges.push_back(std::move(m));
      scope.containers[connector] = {s.name, std::nullopt};
      to_place_.insert(s.name);
      graph_.containers.insert(std::move(s));
      continue;
    }
    if (output.edge != nullptr && !output.edge->memlet.wcr.empty() && !writes_with_wcr(inner.body, connector)) {
      dace::Descriptor own = *d;
      own.transient = true;
      own.lifetime = dace::Lifetime::kScope;
      ir::Container s = container_from(own, fresh(connector), scope);
      s.storage = ir::Storage::kDefault;
      accumulators.push_back({s.name, p.binding, subset, wcr_from(output.edge->memlet.wcr, output.edge->path)});
      scope.containers[connector] = {s.name, std::nullopt};
      to_place_.insert(s.name);
      graph_.containers.insert(std::move(s));
      continue;
    }
    scope.containers[connector] = alias(p.binding, subset, *d, scope, side.edge->path);
  }
  if (!entry.nodes.empty()) graph_.append(body, std::move(entry), n.label);
  for (const auto& [name, binding] : c.scope.containers) {  // constants hold in nested graphs, too
    const ir::Container* outer = graph_.containers.find(binding.container);
    const dace::Descriptor* d = inner.find(name);
    if (outer != nullptr && outer->constant && (d == nullptr || d->transient)) scope.containers.emplace(name, binding);
  }
  declare_containers(scope, false);
  for (const dace::Descriptor& d : inner.containers) {
    if (const auto own = scope.containers.find(d.name); d.transient && own != scope.containers.end())
      limits_.emplace(own->second.container, element.id);
  }
  declare_constants(scope);
  graph_.code.host += inner.global_code;
  graph_.code.device += inner.cuda_code;
  graph_.code.init += inner.init_code;
  graph_.code.exit += inner.exit_code;
  // A return of the nested graph must not skip the accumulation at its end.
  ir::Sequence* inside = &body;
  if (!accumulators.empty()) {
    ir::Element& e = graph_.append(body, ir::Block{}, n.label);
    scope.return_block = e.id;
    inside = &std::get<ir::Block>(e.kind).body;
  }
  if (const auto reduction =
          raise_reduction(inner, [&](const std::string& lambda) { return wcr_from(lambda, n.path).op; })) {
    add_reduction(*reduction, n, *inside, scope);
  } else {
    region(inner.body, inner.path, *inside, scope);
  }
  if (!accumulators.empty()) {
    ir::State s;
    for (Accumulator& a : accumulators) {
      ir::Memlet m;
      m.id = graph_.new_id();
      m.src = add_access(s, a.container);
      m.dst = add_access(s, a.target.container);
      m.src_subset = ir::Subset::full(graph_.containers.at(a.container).layout.shape());
      m.dst_subset = a.subset;
      m.wcr = a.wcr;
      s.edges.push_back(std::move(m));
    }
    graph_.append(body, std::move(s), n.label);
  }
}

}  // namespace sdfg::io
