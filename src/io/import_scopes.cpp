// Scopes of a file's states: maps and consume scopes with their bodies.
#include "io/import_state.hpp"

namespace sdfg::io {

using symbolic::Expr;

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

// What stands around a scope is one container for all of its iterations, even if nothing but the scope uses it.
void Importer::note_shared(StateContext& c, const dace::Node& entry, ir::Id element) {
  const auto note = [&](int node) {
    for (int depth = 0; is_access(c.node(node)) && depth < 64; ++depth) {
      const std::string& data = std::get<dace::AccessNode>(c.node(node).kind).data;
      const auto bound = c.scope.containers.find(data.substr(0, data.find('.')));
      for (std::string path = bound == c.scope.containers.end() ? "" : bound->second.container; !path.empty();) {
        const std::string name = path.substr(0, path.find('.'));
        if (!shared_[name].insert(element).second) break;
        const ir::Container* container = graph_.containers.find(name);
        path = container == nullptr ? "" : container->viewed;
      }
      const dace::Edge* shows = c.viewing_edge(node);
      if (shows == nullptr) return;
      node = shows->src == node ? c.path_end(*shows).dst : c.path_root(*shows).src;
    }
  };
  for (const dace::Edge* e : c.in[static_cast<std::size_t>(entry.index)]) {
    if (!e->memlet.data.empty()) note(c.path_root(*e).src);
  }
  for (const dace::Edge* e : c.out[static_cast<std::size_t>(c.exit_of[static_cast<std::size_t>(entry.index)])]) {
    if (!e->memlet.data.empty()) note(c.path_end(*e).dst);
  }
}

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
  note_shared(c, n, e.id);
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
  note_shared(c, n, e.id);
  level(c, n.index, std::get<ir::Consume>(e.kind).body);
  c.scope.symbols = saved;
}

}  // namespace sdfg::io
