// Dataflow of a file's states: scopes become maps, memlet paths reduce to their leaves, everything else stays in
// states.
#include "io/import_state.hpp"

#include <algorithm>
#include <queue>

#include "io/raise_expansions.hpp"

namespace sdfg::io {

using symbolic::Expr;

namespace {

bool is_entry(const dace::Node& n) {
  return std::holds_alternative<dace::MapEntry>(n.kind) || std::holds_alternative<dace::ConsumeEntry>(n.kind);
}
bool is_exit(const dace::Node& n) {
  return std::holds_alternative<dace::MapExit>(n.kind) || std::holds_alternative<dace::ConsumeExit>(n.kind);
}
bool is_access(const dace::Node& n) {
  return std::holds_alternative<dace::AccessNode>(n.kind);
}

}  // namespace

// ---- the file's state as a scoped graph
// --------------------------------------------------------------------------------------

Importer::StateContext::StateContext(const dace::State& s, const dace::Block& b, Scope& sc)
    : state(s), block(b), scope(sc) {
  const std::size_t n = s.nodes.size();
  in.resize(n);
  out.resize(n);
  for (const dace::Edge& e : s.edges) {
    out[static_cast<std::size_t>(e.src)].push_back(&e);
    in[static_cast<std::size_t>(e.dst)].push_back(&e);
  }
  match_scopes();
  find_owners();
}

// Entry and exit nodes name each other; very old files only from one side.
void Importer::StateContext::match_scopes() {
  exit_of.assign(state.nodes.size(), -1);
  entry_of.assign(state.nodes.size(), -1);
  auto pair_up = [&](int entry, int exit) {
    if (entry < 0 || exit < 0 || entry >= static_cast<int>(state.nodes.size()) ||
        exit >= static_cast<int>(state.nodes.size()))
      return;
    if (!is_entry(node(entry)) || !is_exit(node(exit))) return;
    exit_of[static_cast<std::size_t>(entry)] = exit;
    entry_of[static_cast<std::size_t>(exit)] = entry;
  };
  for (const dace::Node& n : state.nodes) {
    if (const auto* m = std::get_if<dace::MapEntry>(&n.kind)) pair_up(n.index, m->exit);
    if (const auto* m = std::get_if<dace::ConsumeEntry>(&n.kind)) pair_up(n.index, m->exit);
    if (const auto* m = std::get_if<dace::MapExit>(&n.kind)) pair_up(m->entry, n.index);
    if (const auto* m = std::get_if<dace::ConsumeExit>(&n.kind)) pair_up(m->entry, n.index);
  }
  for (const dace::Node& n : state.nodes) {
    if (!is_entry(n) && !is_exit(n)) continue;
    const auto& partner = is_entry(n) ? exit_of : entry_of;
    const auto& back = is_entry(n) ? entry_of : exit_of;
    const int other = partner[static_cast<std::size_t>(n.index)];
    if (other < 0 || back[static_cast<std::size_t>(other)] != n.index)
      throw Error(ErrorClass::kGraph, "scope node '" + n.label + "' has no counterpart (at " + n.path + ")");
  }
}

// The entry whose scope each node belongs to (-1: none; an exit belongs to its entry's scope), in topological order.
void Importer::StateContext::find_owners() {
  const std::size_t n = state.nodes.size();
  owner.assign(n, -1);
  std::vector<int> missing(n);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < n; ++i) {
    missing[i] = static_cast<int>(in[i].size());
    if (missing[i] == 0) ready.push(static_cast<int>(i));
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const int v = ready.top();
    ready.pop();
    ++done;
    const auto& incoming = in[static_cast<std::size_t>(v)];
    for (const dace::Edge* e : incoming) {
      const dace::Node& u = node(e->src);
      int scope_entry = owner[static_cast<std::size_t>(u.index)];
      if (is_entry(u))
        scope_entry = u.index;
      else if (is_exit(u))
        scope_entry = owner[static_cast<std::size_t>(entry_of[static_cast<std::size_t>(u.index)])];
      if (e != incoming.front() && owner[static_cast<std::size_t>(v)] != scope_entry) {
        throw Error(ErrorClass::kGraph, "edges into node '" + node(v).label +
                                            "' come from different scopes; only scope nodes are a way in or out (at " +
                                            e->path + ")");
      }
      owner[static_cast<std::size_t>(v)] = scope_entry;
    }
    for (const dace::Edge* e : out[static_cast<std::size_t>(v)]) {
      if (--missing[static_cast<std::size_t>(e->dst)] == 0) ready.push(e->dst);
    }
  }
  if (done != n)
    throw Error(ErrorClass::kGraph, "the dataflow of state '" + block.label + "' has a cycle (at " + block.path + ")");
}

// The items of one scope level in topological order, ties by position: plain nodes and entries (standing for their
// whole scope).
std::vector<int> Importer::StateContext::items_of(int entry) const {
  auto representative =
      [&](int v) {  // the item of this level that contains node v; -1: outside, or the level's own exit
        while (v >= 0) {
          const int o = owner[static_cast<std::size_t>(v)];
          if (o == entry) {
            if (is_exit(node(v)))
              return entry_of[static_cast<std::size_t>(v)] == entry ? -1 : entry_of[static_cast<std::size_t>(v)];
            return v;
          }
          v = o;
        }
        return -1;
      };
  std::vector<int> rep(state.nodes.size());
  std::map<int, std::set<int>> successors;
  std::map<int, int> missing;
  for (const dace::Node& n : state.nodes) {
    // An exit is part of its own entry's scope; at the level around, it is the entry.
    int v = n.index;
    if (is_exit(n)) v = entry_of[static_cast<std::size_t>(v)] == entry ? -1 : entry_of[static_cast<std::size_t>(v)];
    if (v == entry) v = -1;
    rep[static_cast<std::size_t>(n.index)] = v < 0 ? -1 : representative(v);
    if (rep[static_cast<std::size_t>(n.index)] >= 0) missing.emplace(rep[static_cast<std::size_t>(n.index)], 0);
  }
  for (const dace::Edge& e : state.edges) {
    const int a = rep[static_cast<std::size_t>(e.src)];
    const int b = rep[static_cast<std::size_t>(e.dst)];
    if (a >= 0 && b >= 0 && a != b && successors[a].insert(b).second) ++missing[b];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (const auto& [v, count] : missing) {
    if (count == 0) ready.push(v);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int v = ready.top();
    ready.pop();
    order.push_back(v);
    for (const int w : successors[v]) {
      if (--missing[w] == 0) ready.push(w);
    }
  }
  return order;
}

// From an edge towards its source, through scope entries, to the outermost edge.
const dace::Edge& Importer::StateContext::path_root(const dace::Edge& e) const {
  const dace::Edge* at = &e;
  while (is_entry(node(at->src))) {
    if (at->src_connector.rfind("OUT_", 0) != 0) return *at;
    // What a consume scope hands out is the popped element, not its stream.
    if (at->src_connector == "OUT_stream" && std::holds_alternative<dace::ConsumeEntry>(node(at->src).kind)) return *at;
    const std::string wanted = "IN_" + at->src_connector.substr(4);
    const dace::Edge* next = nullptr;
    for (const dace::Edge* i : in[static_cast<std::size_t>(at->src)]) {
      if (i->dst_connector == wanted) next = i;
    }
    if (next == nullptr)
      throw Error(ErrorClass::kGraph, "connector '" + at->src_connector + "' of scope node '" + node(at->src).label +
                                          "' has no incoming counterpart (at " + at->path + ")");
    at = next;
  }
  return *at;
}

const dace::Edge& Importer::StateContext::path_end(const dace::Edge& e) const {
  const dace::Edge* at = &e;
  while (is_exit(node(at->dst))) {
    if (at->dst_connector.rfind("IN_", 0) != 0) return *at;
    const std::string wanted = "OUT_" + at->dst_connector.substr(3);
    const dace::Edge* next = nullptr;
    for (const dace::Edge* o : out[static_cast<std::size_t>(at->dst)]) {
      if (o->src_connector == wanted) next = o;
    }
    if (next == nullptr)
      throw Error(ErrorClass::kGraph, "connector '" + at->dst_connector + "' of scope node '" + node(at->dst).label +
                                          "' has no outgoing counterpart (at " + at->path + ")");
    at = next;
  }
  return *at;
}

// ---- elements
// ------------------------------------------------------------------------------------------------------------------

// A memlet's container stands at one end of its path; parts of structures count for each other.
void Importer::check_memlet(const StateContext& c, const dace::Edge& e) const {
  const std::string& data = e.memlet.data;
  if (data.empty() || is_entry(c.node(e.dst)) || is_exit(c.node(e.src))) return;
  const auto head = [](const std::string& path) { return path.substr(0, path.find('.')); };
  if (c.scope.sdfg->find(head(data)) == nullptr)
    throw Error(ErrorClass::kGraph, "a memlet names '" + data + "', which is no container (at " + e.path + ")");
  bool holds_data = false;
  for (const int end : {c.path_root(e).src, c.path_end(e).dst}) {
    const auto* a = std::get_if<dace::AccessNode>(&c.node(end).kind);
    if (a != nullptr && head(a->data) == head(data)) return;
    holds_data = holds_data || a != nullptr;
  }
  if (holds_data)
    throw Error(ErrorClass::kGraph,
                "a memlet moves '" + data + "', which is at neither end of its path (at " + e.path + ")");
}

void Importer::state(const dace::State& s, const dace::Block& b, ir::Sequence& out, Scope& scope) {
  if (s.nodes.empty()) return;
  StateContext c(s, b, scope);
  for (const dace::Edge& e : s.edges) check_memlet(c, e);
  level(c, -1, out);
}

void Importer::level(StateContext& c, int entry, ir::Sequence& out) {
  StateContext::Open saved = std::exchange(c.open, {});
  for (const int v : c.items_of(entry)) {
    const dace::Node& n = c.node(v);
    if (std::holds_alternative<dace::MapEntry>(n.kind)) {
      c.open = {};
      map(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::ConsumeEntry>(n.kind)) {
      c.open = {};
      consume(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::NestedSdfg>(n.kind)) {
      c.open = {};
      nested(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::TaskletNode>(n.kind)) {
      tasklet_node(c, n, out);
    } else if (std::holds_alternative<dace::LibraryNode>(n.kind)) {
      library_node(c, n, out);
    } else if (std::holds_alternative<dace::AccessNode>(n.kind)) {
      access_node(c, n, out);
    }
  }
  c.open = std::move(saved);
}

ir::State& Importer::current(StateContext& c, ir::Sequence& out) {
  if (c.open.element == nullptr) {
    ir::Element& e = graph_.append(out, ir::State{}, c.block.label);
    c.open.element = &e;
    c.open.nodes.clear();
  }
  return std::get<ir::State>(c.open.element->kind);
}

// The access node of the open state for a node of the file.
ir::Id Importer::access(StateContext& c, int v, ir::Sequence& out) {
  ir::State& s = current(c, out);
  auto [it, inserted] = c.open.nodes.emplace(v, 0);
  if (inserted) {
    ir::Node n;
    n.id = it->second = graph_.new_id();
    n.location = c.node(v).location;
    n.kind = ir::Access{place_of(c, v).binding.container};
    s.nodes.push_back(std::move(n));
  }
  return it->second;
}

ir::Id Importer::access_of(StateContext& c, const std::string& container, ir::Sequence& out) {
  ir::State& s = current(c, out);
  ir::Node n;
  n.id = graph_.new_id();
  n.kind = ir::Access{container};
  s.nodes.push_back(std::move(n));
  return s.nodes.back().id;
}

Importer::Place Importer::place_of(StateContext& c, int v) {
  const auto& a = std::get<dace::AccessNode>(c.node(v).kind);
  const std::size_t dot = a.data.find('.');
  const std::string head = a.data.substr(0, dot);
  const dace::Descriptor* d = c.scope.sdfg->find(head);
  if (d == nullptr)
    throw Error(ErrorClass::kGraph, "access node '" + a.data + "' names no container (at " + c.node(v).path + ")");
  using K = dace::DescriptorClass;
  const bool is_view = d->kind == K::kArrayView || d->kind == K::kStructureView || d->kind == K::kContainerView;
  if (is_view && dot == std::string::npos && !c.scope.containers.contains(head)) return {view_binding(c, v), d};
  if (d->kind == K::kOther) {
    throw Error(ErrorClass::kGraph, "container '" + head + "' is a " + d->class_name +
                                        ", which can't be accessed (at " + c.node(v).path + ")");
  }
  auto it = c.scope.containers.find(head);
  if (it == c.scope.containers.end())
    throw Error(ErrorClass::kGraph, "container '" + head + "' is accessed but was not passed to its nested graph (at " +
                                        c.node(v).path + ")");
  Binding b = it->second;
  if (a.setzero) {
    if (ir::Container* container = graph_.containers.find(b.container); container != nullptr && container->transient)
      container->zeroed = true;
  }
  if (dot != std::string::npos) {
    b.container += a.data.substr(dot);
    const dace::Descriptor* member = d;
    for (std::size_t at = dot; at != std::string::npos && member != nullptr;) {
      const std::size_t next = a.data.find('.', at + 1);
      const std::string name = a.data.substr(at + 1, next == std::string::npos ? std::string::npos : next - at - 1);
      const dace::Descriptor* found = nullptr;
      for (const dace::Descriptor& m : member->members) {
        if (m.name == name) found = &m;
      }
      member = found;
      at = next;
    }
    if (member == nullptr)
      throw Error(ErrorClass::kGraph,
                  "structure '" + head + "' has no member for '" + a.data + "' (at " + c.node(v).path + ")");
    return {b, member};
  }
  return {b, d};
}

// An inner subset in terms of the container that the binding names.
ir::Subset Importer::through(const Binding& b, const ir::Subset& inner, const std::string& path) const {
  const ir::Container* c = ir::resolve(graph_, b.container);
  if (c == nullptr) throw Error(ErrorClass::kGraph, "there is no container '" + b.container + "' (at " + path + ")");
  if (!b.window) {
    if (c->is_scalar()) return {};
    if (inner.rank() != c->rank()) {
      throw Error(ErrorClass::kGraph, "the subset [" + inner.str() + "] has " + std::to_string(inner.rank()) +
                                          " dimensions, container '" + (c->label.empty() ? c->name : c->label) +
                                          "' has " + std::to_string(c->rank()) + " (at " + path + ")");
    }
    return inner;
  }
  std::vector<symbolic::Range> ranges;
  for (const auto& r : b.window->base.ranges()) ranges.push_back(symbolic::Range::index(r.begin));
  for (std::size_t k = 0; k < std::min(inner.rank(), b.window->dims.size()); ++k) {
    const int d = b.window->dims[k];
    if (d < 0) continue;  // an inner dimension of extent one without an outer counterpart
    const Expr base = ranges[static_cast<std::size_t>(d)].begin;
    ranges[static_cast<std::size_t>(d)] = {base + inner[k].begin, base + inner[k].end, inner[k].step, inner[k].tile};
  }
  if (c->is_scalar()) return {};
  return ir::Subset(std::move(ranges));
}

// The subset a memlet moves on the side of container `data` (the file's name), as the file counts it; then in the
// graph's terms.
ir::Subset Importer::subset_on(StateContext& c, const Place& p, const std::string& data, const dace::Memlet& m,
                               bool source) {
  std::optional<ir::Subset> s;
  const bool named = m.data == data;
  if (named && m.subset && m.other_subset && m.is_data_src)
    s = *m.is_data_src == source ? m.subset : m.other_subset;
  else if (named)
    s = m.subset;
  else
    s = m.other_subset;
  if (!s) {
    // The other side of a copy: the whole container when the counts agree, else the same sizes from the origin.
    const std::vector<Expr>& shape = p.descriptor->shape;
    const dace::Descriptor* other = m.data.empty() || named ? nullptr : c.scope.sdfg->find(m.data);
    const bool queue = p.descriptor->kind == dace::DescriptorClass::kStream ||
                       (other != nullptr && other->kind == dace::DescriptorClass::kStream);
    if (m.subset && !named && !queue) {
      const Expr wanted = m.subset->num_elements();
      if (symbolic::Subset::full(shape).num_elements() == wanted || shape.empty()) {
        s = ir::Subset::full(shape);
      } else {
        std::vector<Expr> sizes;
        for (const Expr& size : m.subset->sizes()) sizes.push_back(size);
        if (sizes.size() != shape.size()) std::erase_if(sizes, [](const Expr& e) { return e.is_one(); });
        while (sizes.size() < shape.size()) sizes.insert(sizes.begin(), Expr(1));
        if (sizes.size() > shape.size())
          throw Error(ErrorClass::kGraph, "it is not clear which part of '" + data + "' a memlet of [" +
                                              m.subset->str() + "] moves (in state '" + c.block.label + "', at " +
                                              c.block.path + ")");
        s = ir::Subset::full(sizes);
      }
    } else {
      s = ir::Subset::full(shape);
    }
  }
  return through(p.binding, mapped(*s, c.scope), c.block.path);
}

// ---- maps
// ----------------------------------------------------------------------------------------------------------------------

namespace {

ir::Schedule schedule_of(dace::Schedule s) {
  switch (s) {
    case dace::Schedule::kDefault: return ir::Schedule::kDefault;
    case dace::Schedule::kSequential: return ir::Schedule::kSequential;
    case dace::Schedule::kCpuMulticore:
    case dace::Schedule::kCpuPersistent:
    case dace::Schedule::kSveMap: return ir::Schedule::kParallel;
    case dace::Schedule::kMpi: return ir::Schedule::kDefault;
    case dace::Schedule::kGpuDevice:
    case dace::Schedule::kGpuPersistent: return ir::Schedule::kDevice;
    case dace::Schedule::kGpuThreadBlock:
    case dace::Schedule::kGpuThreadBlockDynamic: return ir::Schedule::kThreadBlock;
    case dace::Schedule::kGpuWarp: return ir::Schedule::kWarp;
  }
  return ir::Schedule::kDefault;
}

}  // namespace

void Importer::map(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const dace::MapInfo& info = std::get<dace::MapEntry>(n.kind).map;
  const auto saved = c.scope.symbols;
  // Dynamic inputs: scalars read before the map define symbols of the connector's name.
  ir::Assign dynamic;
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (e->dst_connector.empty() || e->dst_connector.rfind("IN_", 0) == 0) continue;
    const dace::Edge& root = c.path_root(*e);
    if (!is_access(c.node(root.src)))
      throw Error(ErrorClass::kGraph,
                  "the map input '" + e->dst_connector + "' comes from no container (at " + e->path + ")");
    const Place p = place_of(c, root.src);
    const ir::Subset s = subset_on(c, p, std::get<dace::AccessNode>(c.node(root.src).kind).data, e->memlet, true);
    std::vector<tasklet::Expr> indices;
    for (const Expr& i : s.begins()) indices.push_back(tasklet::from_symbolic(i));
    ir::Symbol symbol;
    symbol.name = fresh(e->dst_connector);
    symbol.label = e->dst_connector;
    symbol.binder = ir::BinderKind::kAssigned;
    dynamic.items.push_back({symbol.name, tasklet::Expr::subscript(p.binding.container, std::move(indices))});
    c.scope.symbols[e->dst_connector] = Expr::symbol(symbol.name);
    graph_.symbols.insert(std::move(symbol));
  }
  if (!dynamic.items.empty()) graph_.append(out, std::move(dynamic), n.label);

  ir::Map m;
  if (info.params.size() != info.range.rank())
    throw Error(ErrorClass::kGraph, "map '" + n.label + "' has " + std::to_string(info.params.size()) +
                                        " parameters and " + std::to_string(info.range.rank()) + " ranges (at " +
                                        n.path + ")");
  for (std::size_t d = 0; d < info.params.size(); ++d) {
    // A range may use the parameters before its own; a parameter shadows an outer symbol of its name.
    m.ranges.push_back(mapped(info.range, c.scope)[d]);
    ir::Symbol s;
    s.name = fresh(info.params[d]);
    s.label = info.params[d];
    s.type = ScalarType::kInt64;
    s.binder = ir::BinderKind::kMapParameter;
    m.params.push_back(s.name);
    c.scope.symbols[info.params[d]] = Expr::symbol(s.name);
    graph_.symbols.insert(std::move(s));
  }
  m.schedule = schedule_of(info.schedule);
  m.unroll = info.unroll;
  m.collapse = info.collapse > 1 ? info.collapse : 0;
  m.num_threads = info.omp_num_threads;
  m.omp_schedule = info.omp_schedule;
  m.omp_chunk = info.omp_chunk_size;
  m.gpu_block_size = info.gpu_block_size;
  m.gpu_launch_bounds = info.gpu_launch_bounds == "0" ? "" : info.gpu_launch_bounds;
  m.gpu_max_registers = info.gpu_maxnreg;
  ir::Element& e = graph_.append(out, std::move(m), n.label, n.location);
  level(c, n.index, std::get<ir::Map>(e.kind).body);
  c.scope.symbols = saved;
}

void Importer::consume(StateContext& c, const dace::Node& n, ir::Sequence& out) {
  const dace::ConsumeInfo& info = std::get<dace::ConsumeEntry>(n.kind).consume;
  const dace::Edge* stream = nullptr;
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(n.index)]) {
    if (e->dst_connector == "IN_stream") stream = e;
  }
  if (stream == nullptr || !is_access(c.node(stream->src)))
    throw Error(ErrorClass::kGraph, "consume scope '" + n.label + "' has no stream (at " + n.path + ")");
  const Place p = place_of(c, stream->src);
  const auto saved = c.scope.symbols;
  ir::Consume m;
  m.stream = p.binding.container;
  ir::Container element;
  element.name = fresh(n.label.empty() ? "element" : n.label + "_element");
  element.kind = info.chunk_size > 1 ? ir::ContainerKind::kArray : ir::ContainerKind::kScalar;
  if (info.chunk_size > 1) element.layout = ir::Layout::packed({Expr(info.chunk_size)});
  element.type = p.descriptor->type;
  element.transient = true;
  m.element = element.name;
  c.consumed[n.index] = element.name;
  graph_.containers.insert(std::move(element));
  ir::Symbol worker;
  worker.name = fresh(info.pe_index.empty() ? "worker" : info.pe_index);
  worker.label = info.pe_index;
  worker.binder = ir::BinderKind::kMapParameter;
  m.worker = worker.name;
  m.num_workers = mapped(info.num_pes, c.scope);
  if (!info.pe_index.empty()) c.scope.symbols[info.pe_index] = Expr::symbol(worker.name);
  graph_.symbols.insert(std::move(worker));
  if (info.condition) m.condition = expression(*info.condition, c.scope);
  m.chunk_size = info.chunk_size;
  m.schedule = schedule_of(info.schedule);
  ir::Element& e = graph_.append(out, std::move(m), n.label, n.location);
  level(c, n.index, std::get<ir::Consume>(e.kind).body);
  c.scope.symbols = saved;
}

// ---- plain nodes
// ---------------------------------------------------------------------------------------------------------------

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
  ir::State& s = current(c, out);
  ir::Node node;
  node.id = graph_.new_id();
  node.label = n.label;
  node.location = n.location;
  node.kind = std::move(tasklet);
  const ir::Id id = node.id;
  c.open.nodes[n.index] = id;
  s.nodes.push_back(std::move(node));
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
  ir::State& s = current(c, out);
  ir::Node node;
  node.id = graph_.new_id();
  node.label = n.label;
  node.location = n.location;
  node.kind = std::move(library);
  const ir::Id id = node.id;
  c.open.nodes[n.index] = id;
  s.nodes.push_back(std::move(node));
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
