// Streams, consume scopes and references.
#include "builder/impl.hpp"

namespace sdfg {

using detail::BuilderImpl;
using detail::location_of;

detail::WindowRef Builder::declare_stream(std::string_view name, ScalarType type, const Index* extents,
                                          std::size_t rank, const Capacity& capacity, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::Container c;
  c.kind = ir::ContainerKind::kStream;
  c.type = type;
  c.transient = true;
  c.location = where;
  ir::Extents shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(b.resolve_index(extents[d], where));
  c.layout = ir::Layout::packed(std::move(shape));
  c.buffer_size = b.resolve_index(capacity.values(), where);
  c.name = b.claim_local(name, where);
  const std::string unique = c.name;
  b.declare(std::move(c), std::string(name));
  return b.window_of(unique, where);
}

namespace detail {

void push(const WindowRef& stream, const ExprRef& value, Where where_) {
  const SourceLocation where = where_.line() != 0 ? location_of(where_) : stream->where;
  BuilderImpl& b = *stream->owner;
  b.check_window(*stream, where);
  const TreePtr tree = b.use(value, where);
  b.statement();
  b.emit_tasklet(stream->container, stream->indices(), tree, {}, where);
  b.written(stream->container);
}

ExprRef pop(const WindowRef& stream, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *stream->owner;
  b.check_window(*stream, where);
  b.statement();
  const ir::Container& c = b.graph.containers.at(stream->container);
  const ScalarType type = c.type.scalar();
  const std::string result = b.declare_scalar(b.containers.at(stream->container).label + "_value", type, where);
  b.emit_tasklet(result, {}, read_tree(stream->container, stream->indices(), type), {}, where);
  b.written(stream->container);
  return b.make({}, read_tree(result, {}, type), {}, where);
}

}  // namespace detail

detail::OpenScope Builder::open_consume(const detail::WindowRef& stream, const ConsumeOptions& options,
                                        detail::ExprRef& element, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  b.check_owner(stream->owner, where, "the stream");
  b.check_window(*stream, where);
  const std::string label = b.containers.at(stream->container).label;
  const ScalarType type = b.graph.containers.at(stream->container).type.scalar();
  ir::Consume consume;
  consume.stream = stream->container;
  consume.num_workers = b.resolve_index(options.workers, where);
  consume.schedule = detail::schedule_of(options.schedule);
  b.statement();
  ir::Element& e = b.emit(std::move(consume), options.label, where);
  b.open(detail::ScopeKind::kConsume, e, 0, "consume of '" + label + "'", where);
  detail::OpenScope scope(b, {});
  const Index worker = b.new_symbol(label + "_worker", ir::BinderKind::kMapParameter, ScalarType::kInt64, where, true);
  ir::Container c;
  c.name = b.fresh(label + "_element");
  c.kind = ir::ContainerKind::kScalar;
  c.type = type;
  c.transient = true;
  c.location = where;
  const std::string unique = c.name;
  b.declare_outside_blocks(std::move(c), unique);
  auto& inserted = std::get<ir::Consume>(e.kind);
  inserted.worker = worker.node()->value.name();
  inserted.element = unique;
  element = b.make({}, detail::read_tree(unique, {}, type), {}, where);
  return detail::OpenScope(std::move(scope), {worker});
}

// ---- References
// ---------------------------------------------------------------------------------------------------------

detail::WindowRef Builder::declare_reference(std::string_view name, ScalarType type, const Index* extents,
                                             std::size_t rank, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::Container c;
  c.kind = ir::ContainerKind::kReference;
  c.type = type;
  c.transient = true;
  c.location = where;
  ir::Extents shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(b.resolve_index(extents[d], where));
  c.layout = ir::Layout::packed(std::move(shape));
  c.name = b.claim_local(name, where);
  const std::string unique = c.name;
  b.declare(std::move(c), std::string(name));
  return b.window_of(unique, where);
}

void Builder::set_reference(const detail::WindowRef& reference, const detail::WindowRef& at, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_owner(reference->owner, where, "the reference");
  b.check_owner(at->owner, where, "the container");
  b.check_window(*reference, where);
  b.check_window(*at, where);
  if (b.graph.containers.at(reference->container).kind != ir::ContainerKind::kReference) {
    b.fail(where, "'" + b.containers.at(reference->container).label + "' is pointed elsewhere, but it is no reference",
           "declare it with g.reference");
  }
  b.statement();
  ir::State state;
  ir::Memlet m;
  m.id = b.graph.new_id();
  m.src = b.graph.new_id();
  m.dst = b.graph.new_id();
  m.src_subset = at->subset();
  m.dst_subset = reference->subset();
  m.set_reference = true;
  m.location = where;
  state.nodes.push_back({m.src, {}, where, ir::Access{at->container}});
  state.nodes.push_back({m.dst, {}, where, ir::Access{reference->container}});
  state.edges.push_back(std::move(m));
  b.emit(std::move(state), {}, where);
  b.written(reference->container);
}

}  // namespace sdfg
