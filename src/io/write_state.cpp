// Dataflow as states: maps and consume scopes become pairs of scope nodes with connectors and propagated memlets, what
// does not fit into a scope becomes a nested graph in it.
#include <algorithm>

#include "io/writer.hpp"
#include "ir/sites.hpp"

namespace sdfg::io {

using symbolic::Expr;

// A scope while it is filled. What crosses it goes through one pair of connectors per container (and accumulation).
struct Writer::ScopeFrame {
  ScopeFrame* parent = nullptr;
  int entry = -1, exit = -1;
  const ir::Element* element = nullptr;
  std::vector<const ir::Element*> path;  // enclosing elements, itself last
  std::set<std::string> locals;          // containers that live in it
  std::string consumed, stream;          // of a consume scope: the element and where it comes from
  struct Crossing {
    std::string data, path, wcr;
    std::size_t outer_edge = 0;
    std::string connector;  // without its prefix
    std::vector<ir::Subset> leaves;
    End outside;
    bool read = true;
  };
  std::map<std::string, Crossing> crossings;
  std::set<std::string> connectors;
};

struct Writer::StateOut {
  Context& c;
  dace::State s;
  std::vector<ScopeFrame*> owner;             // per node: the scope it stands in; scope nodes: the one around
  std::map<std::string, int> sources, sinks;  // access nodes outside of all scopes

  int add(dace::Node n, ScopeFrame* f) {
    n.index = static_cast<int>(s.nodes.size());
    s.nodes.push_back(std::move(n));
    owner.push_back(f);
    return s.nodes.back().index;
  }
  dace::Node& node(int i) { return s.nodes[static_cast<std::size_t>(i)]; }
  std::size_t edge(const End& from, const End& to, dace::Memlet m = {}) {
    dace::Edge e;
    e.src = from.node;
    e.dst = to.node;
    e.src_connector = from.connector;
    e.dst_connector = to.connector;
    e.memlet = std::move(m);
    s.edges.push_back(std::move(e));
    return s.edges.size() - 1;
  }
};

namespace {

std::string root_of(const std::string& path) {
  return path.substr(0, path.find('.'));
}

bool has_connector(const dace::Connectors& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& c) { return c.name == name; });
}

dace::Schedule schedule_of(ir::Schedule s) {
  switch (s) {
    case ir::Schedule::kDefault: return dace::Schedule::kDefault;
    case ir::Schedule::kSequential: return dace::Schedule::kSequential;
    case ir::Schedule::kParallel: return dace::Schedule::kCpuMulticore;
    case ir::Schedule::kDevice: return dace::Schedule::kGpuDevice;
    case ir::Schedule::kThreadBlock: return dace::Schedule::kGpuThreadBlock;
    case ir::Schedule::kWarp: return dace::Schedule::kGpuWarp;
  }
  return dace::Schedule::kDefault;
}

}  // namespace

// ---- subsets

ir::Subset Writer::file_subset(const std::string& path, const ir::Subset& s) const {
  (void)path;
  return s.rank() == 0 ? ir::Subset::index({Expr(0)}) : s;
}

ir::Subset Writer::whole(const std::string& path) const {
  const ir::Container* c = ir::resolve(g_, path);
  if (c == nullptr || c->rank() == 0) return ir::Subset::index({Expr(0)});
  std::vector<symbolic::Range> ranges;
  for (std::size_t d = 0; d < c->rank(); ++d) {
    const Expr begin = c->layout.offset().empty() ? Expr(0) : -c->layout.offset()[d];
    ranges.push_back({begin, begin + c->layout.shape()[d] - 1, 1, 1});
  }
  return ir::Subset(std::move(ranges));
}

// ---- ends of memlets

int Writer::access_node(StateOut& o, const std::string& path) {
  const std::string root = root_of(path);
  const ir::Container& k = g_.containers.at(root);
  if (k.constant) {
    describe(o.c, root, false);
    // An access node names a container of the table; the constant of that name takes its place.
    if (o.c.described.insert("const " + root).second) o.c.sdfg.add(descriptor(k, false));
  } else {
    describe(o.c, root, false);
  }
  dace::Node n;
  n.label = path;
  n.kind = dace::AccessNode{path, is_zeroed(path)};
  return o.add(std::move(n), nullptr);
}

Writer::End Writer::through(StateOut& o, ScopeFrame& f, const std::string& path, const ir::Subset* leaf,
                            const std::string& wcr, bool nonatomic, bool read) {
  const std::string key = std::string(read ? "<" : ">") + path + "|" + wcr;
  auto found = f.crossings.find(key);
  if (found == f.crossings.end()) {
    ScopeFrame::Crossing x;
    x.path = path;
    x.wcr = wcr;
    x.read = read;
    std::string name = path;
    std::replace(name.begin(), name.end(), '.', '_');
    for (int k = 1; !f.connectors.insert((read ? "<" : ">") + name).second; ++k) name = path + "_" + std::to_string(k);
    x.connector = name;
    x.outside = read ? source(o, f.parent, path, nullptr) : sink(o, f.parent, path, nullptr, wcr, nonatomic);
    x.data = x.outside.stream.empty() ? path : x.outside.stream;
    dace::Memlet m;
    m.data = x.data;
    m.wcr = wcr;
    m.wcr_nonatomic = nonatomic;
    dace::Node& node = o.node(read ? f.entry : f.exit);
    node.inputs.push_back({"IN_" + name, Type()});
    node.outputs.push_back({"OUT_" + name, Type()});
    x.outer_edge = read ? o.edge(x.outside, {f.entry, "IN_" + name, {}}, std::move(m))
                        : o.edge({f.exit, "OUT_" + name, {}}, x.outside, std::move(m));
    found = f.crossings.emplace(key, std::move(x)).first;
  }
  if (leaf != nullptr) found->second.leaves.push_back(*leaf);
  return read ? End{f.entry, "OUT_" + found->second.connector, found->second.outside.stream}
              : End{f.exit, "IN_" + found->second.connector, {}};
}

Writer::End Writer::source(StateOut& o, ScopeFrame* f, const std::string& path, const ir::Subset* leaf) {
  if (f == nullptr) {
    auto [it, inserted] = o.sources.emplace(path, -1);
    if (inserted) it->second = access_node(o, path);
    return {it->second, {}, {}};
  }
  if (path == f->consumed) {
    const std::string out = "OUT_stream";
    if (!has_connector(o.node(f->entry).outputs, out)) o.node(f->entry).outputs.push_back({out, Type()});
    return {f->entry, out, f->stream};
  }
  if (f->locals.contains(root_of(path))) {
    const int node = access_node(o, path);
    o.owner[static_cast<std::size_t>(node)] = f;
    return {node, {}, {}};
  }
  return through(o, *f, path, leaf, {}, false, true);
}

Writer::End Writer::sink(StateOut& o, ScopeFrame* f, const std::string& path, const ir::Subset* leaf,
                         const std::string& wcr, bool nonatomic) {
  if (f == nullptr) {
    auto [it, inserted] = o.sinks.emplace(path, -1);
    if (inserted) it->second = access_node(o, path);
    return {it->second, {}, {}};
  }
  if (f->locals.contains(root_of(path))) {
    const int node = access_node(o, path);
    o.owner[static_cast<std::size_t>(node)] = f;
    return {node, {}, {}};
  }
  return through(o, *f, path, leaf, wcr, nonatomic, false);
}

// The memlets around the scope: what its iterations touch together. What lies alone in the scope is tied to it.
void Writer::close(StateOut& o, ScopeFrame& f) {
  for (std::size_t i = 0; i < o.s.nodes.size(); ++i) {
    if (o.owner[i] != &f) continue;
    const int v = static_cast<int>(i);
    const auto touches = [&](bool in) {
      return std::any_of(o.s.edges.begin(), o.s.edges.end(),
                         [&](const dace::Edge& e) { return (in ? e.dst : e.src) == v; });
    };
    const bool entry = std::holds_alternative<dace::MapEntry>(o.node(v).kind) ||
                       std::holds_alternative<dace::ConsumeEntry>(o.node(v).kind);
    const bool exit = std::holds_alternative<dace::MapExit>(o.node(v).kind) ||
                      std::holds_alternative<dace::ConsumeExit>(o.node(v).kind);
    if (!exit && !touches(true)) o.edge({f.entry, {}, {}}, {v, {}, {}});
    if (!entry && !touches(false)) o.edge({v, {}, {}}, {f.exit, {}, {}});
  }
  const bool any =
      std::any_of(o.s.edges.begin(), o.s.edges.end(), [&](const dace::Edge& e) { return e.src == f.entry; });
  if (!any) o.edge({f.entry, {}, {}}, {f.exit, {}, {}});

  const symbolic::Facts facts = ir::facts_at(g_, f.path);
  for (auto& [key, x] : f.crossings) {
    std::optional<ir::Subset> all;
    const ir::Container* c = ir::resolve(g_, x.path);
    bool known = !x.leaves.empty() && x.data == x.path && c != nullptr;
    for (const ir::Subset& leaf : x.leaves) {
      std::optional<ir::Subset> s = leaf;
      if (const auto* m = std::get_if<ir::Map>(&f.element->kind)) {
        for (std::size_t d = m->params.size(); d-- > 0 && s;) {
          const auto p = symbolic::propagate(*s, m->params[d], m->ranges[d], facts);
          s = p ? std::optional(p->subset) : std::nullopt;
        }
      } else {
        const auto& consume = std::get<ir::Consume>(f.element->kind);
        const auto p =
            symbolic::propagate(*s, consume.worker, symbolic::Range::half_open(0, consume.num_workers), facts);
        s = p ? std::optional(p->subset) : std::nullopt;
      }
      if (!s || (all && all->rank() != s->rank())) {
        known = false;
        break;
      }
      all = all ? symbolic::bounding_union(*all, *s, facts) : *s;
    }
    const ir::Subset subset = known && all ? *all : whole(x.path);
    dace::Memlet& m = o.s.edges[x.outer_edge].memlet;
    m.subset = x.data == x.path ? subset : whole(x.data);
    if (f.parent != nullptr) {
      if (const auto up = f.parent->crossings.find(key); up != f.parent->crossings.end())
        up->second.leaves.push_back(subset);
    }
  }
}

// The edge that says what a view shows.
void Writer::viewing_edge(StateOut& o, ScopeFrame* f, int node, const std::string& view, bool written) {
  const ir::Container& v = g_.containers.at(view);
  const ir::Container& target = g_.containers.at(root_of(v.viewed));
  dace::Memlet m;
  m.data = v.viewed;
  m.subset = file_subset(v.viewed, v.viewed_subset);
  End other;
  const bool local = f != nullptr && f->locals.contains(target.name) && target.name != f->consumed;
  if (target.kind == ir::ContainerKind::kView || f == nullptr || local) {
    other = {access_node(o, v.viewed), {}, {}};
    o.owner[static_cast<std::size_t>(other.node)] = f;
    if (target.kind == ir::ContainerKind::kView) viewing_edge(o, f, other.node, target.name, written);
  } else if (written) {
    other = sink(o, f, v.viewed, &*m.subset, {}, false);
  } else {
    other = source(o, f, v.viewed, &*m.subset);
    if (!other.stream.empty()) m.data = other.stream;
  }
  if (written) {
    o.node(node).outputs.push_back({"views", Type()});
    o.edge({node, "views", {}}, other, std::move(m));
  } else {
    o.node(node).inputs.push_back({"views", Type()});
    o.edge(other, {node, "views", {}}, std::move(m));
  }
}

// ---- plain nodes

void Writer::nodes(StateOut& o, ScopeFrame* f, const ir::State& s) {
  std::map<ir::Id, int> real;
  const auto outside = [&](const std::string& path) {
    const ir::Container& k = g_.containers.at(root_of(path));
    return f != nullptr && k.kind != ir::ContainerKind::kView && !f->locals.contains(k.name);
  };
  std::map<ir::Id, const ir::Node*> by_id;
  for (const ir::Node& n : s.nodes) by_id.emplace(n.id, &n);
  for (const ir::Node& n : s.nodes) {
    dace::Node out;
    out.label = n.label;
    out.location = n.location;
    if (const auto* a = std::get_if<ir::Access>(&n.kind)) {
      if (outside(a->data)) continue;
      const int v = access_node(o, a->data);
      o.node(v).location = n.location;
      o.owner[static_cast<std::size_t>(v)] = f;
      real.emplace(n.id, v);
      const std::string root = root_of(a->data);
      if (g_.containers.at(root).kind == ir::ContainerKind::kView) {
        const auto data = [](const ir::Memlet* m) { return !m->is_order_only(); };
        const auto in = s.in_edges(n.id), outs = s.out_edges(n.id);
        const bool read = std::any_of(outs.begin(), outs.end(), data);
        viewing_edge(o, f, v, root, !read && std::any_of(in.begin(), in.end(), data));
      }
      continue;
    }
    if (const auto* t = std::get_if<ir::Tasklet>(&n.kind)) {
      dace::TaskletNode code;
      if (t->code.language == tasklet::Language::kTree) {
        code.code = {text(s, n), dace::Language::kPython, {}};
        for (const std::string& name : tasklet::uses_of(t->code.body).subscripted) {
          if (const auto* k = g_.containers.find(name); k != nullptr && k->constant) describe(o.c, name, false);
        }
      } else {
        code.code = {t->code.text, dace::Language::kCpp, {}};
        code.code_global = {t->code.global_text, dace::Language::kCpp, {}};
      }
      code.side_effects = t->side_effects;
      for (const ir::Connector& c : t->inputs) out.inputs.push_back({c.name, c.type});
      for (const ir::Connector& c : t->outputs) out.outputs.push_back({c.name, c.type});
      if (out.label.empty()) out.label = "tasklet";
      out.kind = std::move(code);
    } else {
      const auto& l = std::get<ir::Library>(n.kind);
      const LibrarySpelling spelling = spell_library(l, dialect_, ir::describe(g_, n));
      dace::LibraryNode node;
      node.class_path = spelling.class_path;
      node.properties = spelling.properties;
      node.implementation = l.implementation;
      const auto name_of = [](const auto& table, const std::string& ours) {
        const auto it = table.find(ours);
        return it == table.end() ? ours : it->second;
      };
      for (const std::string& c : l.inputs) {
        if (const std::string name = name_of(spelling.inputs, c); !name.empty()) out.inputs.push_back({name, Type()});
      }
      for (const std::string& c : l.outputs) {
        if (const std::string name = name_of(spelling.outputs, c); !name.empty()) out.outputs.push_back({name, Type()});
      }
      if (out.label.empty()) out.label = std::string(ir::name_of(l.op));
      out.kind = std::move(node);
    }
    real.emplace(n.id, o.add(std::move(out), f));
  }

  const auto connector = [&](const ir::Node& n, const std::string& ours, bool output) {
    const auto* l = std::get_if<ir::Library>(&n.kind);
    if (l == nullptr) return ours;
    const LibrarySpelling spelling = spell_library(*l, dialect_, ir::describe(g_, n));
    const auto& table = output ? spelling.outputs : spelling.inputs;
    const auto it = table.find(ours);
    return it == table.end() ? ours : it->second;
  };
  for (const ir::Memlet& m : s.edges) {
    const ir::Node& src = *by_id.at(m.src);
    const ir::Node& dst = *by_id.at(m.dst);
    const auto* from = std::get_if<ir::Access>(&src.kind);
    const auto* to = std::get_if<ir::Access>(&dst.kind);
    if (m.is_order_only()) {
      if (real.contains(m.src) && real.contains(m.dst)) o.edge({real[m.src], {}, {}}, {real[m.dst], {}, {}});
      continue;
    }
    dace::Memlet out;
    out.dynamic = m.dynamic;
    out.allow_oob = m.allow_oob;
    out.location = m.location;
    if (m.wcr) {
      out.wcr = spell_wcr(m.wcr->op, m.wcr->custom);
      out.wcr_nonatomic = m.wcr->lowering == ir::WcrLowering::kPlain;
      if (m.wcr->lowering == ir::WcrLowering::kAtomic || m.wcr->lowering == ir::WcrLowering::kReduction)
        warn("how " + ir::describe(g_, s, m) + " accumulates was decided already; a file can't say that");
    }
    std::optional<ir::Subset> src_subset, dst_subset;
    if (from != nullptr) src_subset = m.src_subset ? file_subset(from->data, *m.src_subset) : whole(from->data);
    if (to != nullptr && !m.set_reference)
      dst_subset = m.dst_subset ? file_subset(to->data, *m.dst_subset) : whole(to->data);
    if (from == nullptr && to == nullptr) {  // a value in a register: a file needs a name for it
      std::string name = "value_" + std::to_string(m.id);
      while (g_.containers.contains(name) || g_.symbols.contains(name) || !names_.insert(name).second) name += "_";
      dace::Descriptor d;
      d.name = name;
      d.kind = dace::DescriptorClass::kScalar;
      d.type = ir::connector_type(g_, s, src, m.src_connector, true);
      d.shape = {Expr(1)};
      d.transient = true;
      o.c.sdfg.add(std::move(d));
      out.data = name;
      out.subset = ir::Subset::index({Expr(0)});
      o.edge({real.at(m.src), connector(src, m.src_connector, true), {}},
             {real.at(m.dst), connector(dst, m.dst_connector, false), {}}, std::move(out));
      continue;
    }
    End a, b;
    if (from == nullptr)
      a = {real.at(m.src), connector(src, m.src_connector, true), {}};
    else if (const auto it = real.find(m.src); it != real.end())
      a = {it->second, {}, {}};
    else
      a = source(o, f, from->data, &*src_subset);
    if (to == nullptr)
      b = {real.at(m.dst), connector(dst, m.dst_connector, false), {}};
    else if (const auto it = real.find(m.dst); it != real.end())
      b = {it->second, m.set_reference ? "set" : "", {}};
    else
      b = sink(o, f, to->data, dst_subset ? &*dst_subset : nullptr, out.wcr, out.wcr_nonatomic);
    if (m.set_reference && !has_connector(o.node(b.node).inputs, "set"))
      o.node(b.node).inputs.push_back({"set", Type()});
    if (from != nullptr) {
      out.data = from->data;
      out.subset = src_subset;
      out.other_subset = dst_subset;
      if (!a.stream.empty()) {
        out.data = a.stream;
        out.subset = whole(a.stream);
      }
      if (to != nullptr && to->data == from->data) out.is_data_src = true;
    } else {
      out.data = to->data;
      out.subset = dst_subset;
    }
    o.edge(a, b, std::move(out));
  }
}

void Writer::state(Context& c, RegionState& r, const ir::Element& e) {
  StateOut o{c, {}, {}, {}, {}};
  nodes(o, nullptr, std::get<ir::State>(e.kind));
  append(r, {label_of(c, e, "state"), {}, std::move(o.s)});
}

void Writer::scope_state(Context& c, RegionState& r, const ir::Element& e) {
  StateOut o{c, {}, {}, {}, {}};
  std::string label;
  if (std::holds_alternative<ir::Map>(e.kind)) {
    map(o, nullptr, e);
    label = label_of(c, e, "map");
  } else if (std::holds_alternative<ir::Consume>(e.kind)) {
    consume(o, nullptr, e);
    label = label_of(c, e, "consume");
  } else {
    label = label_of(c, e, "part");
    nested(o, nullptr, std::get<ir::Block>(e.kind).body, label, e.id);
  }
  append(r, {label, {}, std::move(o.s)});
}

// ---- scopes

// The one element of a body, through blocks that only declare; nullptr when there are more, or something jumps.
const ir::Element* Writer::only_item(const ir::Sequence& s, std::vector<std::string>& locals) const {
  if (s.items.size() != 1) return nullptr;
  const ir::Element& e = *s.items[0];
  const auto* b = std::get_if<ir::Block>(&e.kind);
  if (b == nullptr) return &e;
  if (calls_.contains(e.id)) return nullptr;
  locals.insert(locals.end(), b->locals.begin(), b->locals.end());
  return only_item(b->body, locals);
}

// Can the element stand in a scope as it is? Containers from outside are then only reached through the scope's nodes.
bool Writer::fits_scope(const ir::Element& item, const std::set<std::string>& local) const {
  if (std::holds_alternative<ir::Map>(item.kind)) return true;
  if (const auto* c = std::get_if<ir::Consume>(&item.kind)) return local.contains(root_of(c->stream));
  const auto* s = std::get_if<ir::State>(&item.kind);
  if (s == nullptr) return false;
  std::map<ir::Id, const ir::Access*> outer;
  for (const ir::Node& n : s->nodes) {
    const auto* a = std::get_if<ir::Access>(&n.kind);
    if (a == nullptr) continue;
    const ir::Container& k = g_.containers.at(root_of(a->data));
    if (k.constant) return false;
    if (k.kind == ir::ContainerKind::kView || local.contains(k.name)) continue;
    if (!s->in_edges(n.id).empty() && !s->out_edges(n.id).empty()) return false;
    outer.emplace(n.id, a);
  }
  return std::none_of(s->edges.begin(), s->edges.end(), [&](const ir::Memlet& m) {
    return (m.set_reference && outer.contains(m.dst)) || (outer.contains(m.src) && outer.contains(m.dst));
  });
}

void Writer::body(StateOut& o, ScopeFrame& f, const ir::Sequence& s, const std::string& label) {
  if (s.items.empty()) return;
  std::vector<std::string> locals;
  const ir::Element* item = only_item(s, locals);
  std::set<std::string> local(locals.begin(), locals.end());
  if (item != nullptr && fits_scope(*item, local)) {
    for (const std::string& name : locals) {
      f.locals.insert(name);
      if (g_.containers.at(name).kind != ir::ContainerKind::kView) describe(o.c, name, false);
    }
    path_.push_back(item);
    if (const auto* state_of = std::get_if<ir::State>(&item->kind))
      nodes(o, &f, *state_of);
    else if (std::holds_alternative<ir::Map>(item->kind))
      map(o, &f, *item);
    else
      consume(o, &f, *item);
    path_.pop_back();
    return;
  }
  nested(o, &f, s, label, f.element->id);
}

void Writer::map(StateOut& o, ScopeFrame* outer, const ir::Element& e) {
  const auto& m = std::get<ir::Map>(e.kind);
  dace::MapEntry entry;
  dace::MapInfo& info = entry.map;
  info.params = m.params;
  info.range = ir::Subset(m.ranges);
  for (const std::string& p : m.params) {
    o.c.sdfg.occurrence_types[p] = g_.symbols.at(p).type;
    o.c.bound.insert(p);
  }
  info.schedule = schedule_of(m.schedule);
  if (m.schedule == ir::Schedule::kWarp && dialect_ == SdfgDialect::kV1)
    fail("a map over the lanes of a warp, which DaCe 1.0.2 does not know", e.id);
  info.unroll = m.unroll;
  info.collapse = m.collapse > 1 ? m.collapse : 1;
  info.omp_num_threads = m.num_threads;
  info.omp_schedule = m.omp_schedule;
  info.omp_chunk_size = m.omp_chunk;
  info.gpu_block_size = m.gpu_block_size;
  if (!m.gpu_launch_bounds.empty()) info.gpu_launch_bounds = m.gpu_launch_bounds;
  if (m.gpu_max_registers != 0 && dialect_ == SdfgDialect::kV1)
    warn(ir::describe(g_, e) + " limits registers, which DaCe 1.0.2 has no word for");
  else
    info.gpu_maxnreg = m.gpu_max_registers;
  if (m.simd) warn("that " + ir::describe(g_, e) + " may be vectorised was decided already; a file can't say that");
  if (!m.reductions.empty()) warn("how " + ir::describe(g_, e) + " reduces was decided already; a file can't say that");

  std::string label = e.label;
  if (label.empty()) label = "map";
  dace::Node first, last;
  first.label = last.label = label;
  first.location = e.location;
  first.kind = std::move(entry);
  const int begin = o.add(std::move(first), outer);
  last.kind = dace::MapExit{begin};
  const int end = o.add(std::move(last), outer);
  std::get<dace::MapEntry>(o.node(begin).kind).exit = end;
  ScopeFrame f;
  f.parent = outer;
  f.entry = begin;
  f.exit = end;
  f.element = &e;
  f.path = path_;
  body(o, f, m.body, label);
  close(o, f);
}

void Writer::consume(StateOut& o, ScopeFrame* outer, const ir::Element& e) {
  const auto& m = std::get<ir::Consume>(e.kind);
  dace::ConsumeEntry entry;
  entry.consume.pe_index = m.worker;
  entry.consume.num_pes = m.num_workers;
  if (m.condition) entry.consume.condition = dace::CodeBlock{text(*m.condition, e.id), dace::Language::kPython, {}};
  entry.consume.schedule = schedule_of(m.schedule);
  entry.consume.chunk_size = m.chunk_size;
  if (!m.worker.empty()) o.c.sdfg.occurrence_types[m.worker] = g_.symbols.at(m.worker).type;
  dace::Node first, last;
  first.label = last.label = e.label.empty() ? "consume" : e.label;
  first.location = e.location;
  first.kind = std::move(entry);
  const int begin = o.add(std::move(first), outer);
  last.kind = dace::ConsumeExit{begin};
  const int end = o.add(std::move(last), outer);
  std::get<dace::ConsumeEntry>(o.node(begin).kind).exit = end;
  const End stream = source(o, outer, m.stream, nullptr);
  dace::Memlet in;
  in.data = m.stream;
  in.subset = whole(m.stream);
  in.dynamic = true;
  o.node(begin).inputs.push_back({"IN_stream", Type()});
  o.edge(stream, {begin, "IN_stream", {}}, std::move(in));
  ScopeFrame f;
  f.parent = outer;
  f.entry = begin;
  f.exit = end;
  f.element = &e;
  f.path = path_;
  f.consumed = m.element;
  f.stream = m.stream;
  body(o, f, m.body, o.node(begin).label);
  if (!has_connector(o.node(begin).outputs, "OUT_stream")) o.node(begin).outputs.push_back({"OUT_stream", Type()});
  close(o, f);
}

// ---- nested graphs

int Writer::nested(StateOut& o, ScopeFrame* f, const ir::Sequence& s, const std::string& label, ir::Id id) {
  symbolic::SymbolSet read, written, declared, used, bound;
  for (const auto& item : s.items) {
    read.merge(ir::containers_read(g_, *item));
    written.merge(ir::containers_written(g_, *item));
    declared.merge(ir::containers_declared(*item));
    used.merge(ir::symbols_used(g_, *item));
    bound.merge(ir::symbols_bound(*item));
  }
  const ir::Element* owner = ir::find_element(g_, id);
  const auto* own_block = std::get_if<ir::Block>(&owner->kind);
  if (own_block != nullptr) declared.insert(own_block->locals.begin(), own_block->locals.end());
  ir::for_each_element(s, [&](const ir::Element& e) {
    const auto* state_of = std::get_if<ir::State>(&e.kind);
    if (state_of == nullptr) return;
    for (const ir::Memlet& m : state_of->edges) {
      const ir::Node* dst = state_of->find_node(m.dst);
      const auto* a = dst == nullptr ? nullptr : std::get_if<ir::Access>(&dst->kind);
      if (m.set_reference && a != nullptr && !declared.contains(root_of(a->data)))
        fail("reference '" + a->data + "' is set inside of a part that a file can only write as a nested graph", e.id);
    }
  });

  dace::Node n;
  n.label = label;
  dace::NestedSdfg call;
  call.sdfg = std::make_shared<dace::Sdfg>();
  dace::Sdfg& inner = *call.sdfg;
  inner.name = unique_label(o.c, label);
  Context c{inner, &o.c, {}, {}, {}, {}};
  symbolic::SymbolSet passed;
  const auto pass = [&](const symbolic::SymbolSet& names) {
    for (const std::string& name : names) {
      const ir::Container& k = g_.containers.at(name);
      if (declared.contains(name) || k.constant || k.kind == ir::ContainerKind::kView) continue;
      passed.insert(name);
    }
  };
  pass(read);
  pass(written);
  for (const std::string& name : passed) {
    ir::add_layout_symbols(g_, g_.containers.at(name), used);
    describe(c, name, true);
  }
  std::vector<const ir::Container*> inside;
  for (const std::string& name : declared) inside.push_back(&g_.containers.at(name));
  for (const ir::Container* k : inside) ir::add_layout_symbols(g_, *k, used);
  for (const std::string& name : used) {
    if (bound.contains(name) || !g_.symbols.contains(name)) continue;  // declared where it is bound
    declare_symbol(c, name, false);
    call.symbol_mapping.emplace_back(name, name);
    call.mapped.push_back(Expr::symbol(name));
    if (!o.c.bound.contains(name)) declare_symbol(o.c, name, false);
  }
  for (const std::string& name : passed) {
    if (read.contains(name)) n.inputs.push_back({name, Type()});
    if (written.contains(name)) n.outputs.push_back({name, Type()});
  }
  if (own_block != nullptr) declare_locals(c, own_block->locals, true);
  targets_[id] = {Target::Kind::kReturn, {}, {}};
  graph_region(c, s, own_block != nullptr ? own_block->locals : std::vector<std::string>{});

  n.kind = std::move(call);
  const int v = o.add(std::move(n), f);
  for (const std::string& name : passed) {
    const ir::Subset all = whole(name);
    dace::Memlet m;
    m.data = name;
    m.subset = all;
    if (read.contains(name)) {
      const End from = source(o, f, name, &all);
      dace::Memlet in = m;
      if (!from.stream.empty()) {
        in.data = from.stream;
        in.subset = whole(from.stream);
      }
      o.edge(from, {v, name, {}}, std::move(in));
    }
    if (written.contains(name)) o.edge({v, name, {}}, sink(o, f, name, &all, {}, false), std::move(m));
  }
  return v;
}

}  // namespace sdfg::io
