// The builder itself: parameters, declarations, symbols, callbacks, and the finished graph.
#include <algorithm>
#include <cstring>
#include <sdfg/builder.hpp>

#include "builder/access.hpp"
#include "builder/impl.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"

namespace sdfg {

using detail::BuilderImpl;
using detail::Declaration;
using detail::location_of;

Builder::Builder(std::string_view name, Where where) {
  if (!ir::is_identifier(name)) {
    throw Error(ErrorClass::kUsage, "'" + std::string(name) + "' is no name for a graph", {{"", location_of(where)}},
                ir::identifier_hint(name));
  }
  impl_ = std::make_shared<BuilderImpl>(std::string(name), location_of(where));
}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&& other) noexcept {
  if (this != &other) {
    if (impl_) impl_->gone = true;
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Builder::~Builder() {
  if (impl_) impl_->gone = true;
}

const std::string& Builder::name() const {
  return impl().graph.name;
}

namespace {

const ir::Graph& finished(const BuilderImpl& b, const SourceLocation& where) {
  b.check_usable(where);
  if (!b.at_graph_scope())
    b.fail(where, "graph '" + b.graph.name + "' is taken while a body is still open",
           "compile after the last body has ended");
  return b.graph;
}

}  // namespace

std::string Builder::text() const {
  return ir::to_text(impl().graph);
}

// ---- Parameters
// -----------------------------------------------------------------------------------------------------------

Index Builder::add_symbol(std::string_view name, ScalarType type, const SymbolOptions& options, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  const Index index = b.new_symbol(name, ir::BinderKind::kParameter, type, where);
  ir::Symbol& symbol = b.graph.symbols.at(index.node()->value.name());
  if (options.lower) symbol.lower = b.resolve_index(*options.lower, where);
  if (options.upper) symbol.upper = b.resolve_index(*options.upper, where);
  return index;
}

void Builder::order(std::initializer_list<ParameterName> names, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  b.ordered.clear();
  b.update_parameters();
  const std::vector<std::string>& known = b.graph.parameters;
  std::vector<std::string> order;
  for (const ParameterName& name : names) {
    if (std::find(known.begin(), known.end(), name.str()) == known.end()) {
      b.fail(where, "'" + name.str() + "' in the order of the parameters is no parameter", b.unknown_hint(name.str()));
    }
    if (std::find(order.begin(), order.end(), name.str()) != order.end()) {
      b.fail(where, "the parameter '" + name.str() + "' stands twice in the order of the parameters");
    }
    order.push_back(name.str());
  }
  std::string missing;
  for (const std::string& name : known) {
    if (std::find(order.begin(), order.end(), name) == order.end())
      missing += (missing.empty() ? "'" : ", '") + name + "'";
  }
  if (!missing.empty()) b.fail(where, "the order of the parameters lacks " + missing);
  b.ordered = std::move(order);
  b.update_parameters();
}

// ---- Containers
// -----------------------------------------------------------------------------------------------------------

namespace detail {

ir::Storage storage_of(Storage s) {
  switch (s) {
    case Storage::kDefault: return ir::Storage::kDefault;
    case Storage::kRegister: return ir::Storage::kRegister;
    case Storage::kHeap: return ir::Storage::kHeap;
    case Storage::kPinned: return ir::Storage::kPinned;
    case Storage::kThreadLocal: return ir::Storage::kThreadLocal;
    case Storage::kGpuGlobal: return ir::Storage::kGpuGlobal;
    case Storage::kGpuShared: return ir::Storage::kGpuShared;
  }
  return ir::Storage::kDefault;
}

namespace {

ir::Extents resolve_all(BuilderImpl& b, const Index* begin, std::size_t count, const SourceLocation& where) {
  ir::Extents out;
  for (std::size_t d = 0; d < count; ++d) out.push_back(b.resolve_index(begin[d], where));
  return out;
}

ir::Layout layout_of(BuilderImpl& b, std::string_view name, const Index* extents, std::size_t rank,
                     const ArrayOptions& options, const SourceLocation& where) {
  ir::Extents shape = resolve_all(b, extents, rank, where);
  for (std::size_t d = 0; d < rank; ++d) {
    if (const auto constant = shape[d].constant(); constant && *constant < 0) {
      b.fail(where, "extent " + std::to_string(*constant) + " of '" + std::string(name) + "' in dimension " +
                        std::to_string(d) + " is negative");
    }
  }
  const auto check_count = [&](const std::vector<Index>& list, const char* what) {
    if (!list.empty() && list.size() != rank) {
      b.fail(where, "'" + std::string(name) + "' has " + std::to_string(rank) + " dimensions, but " +
                        std::to_string(list.size()) + " " + what + " are given");
    }
  };
  check_count(options.strides, "strides");
  check_count(options.offset, "offsets");
  if (options.column_major && !options.strides.empty()) {
    b.fail(where, "'" + std::string(name) + "' is declared column-major and with strides", "give one of the two");
  }
  ir::Layout layout = options.column_major ? ir::Layout::column_major(shape) : ir::Layout::packed(shape);
  if (options.strides.empty() && options.offset.empty() && !options.start && !options.total_size) return layout;
  ir::Extents strides =
      options.strides.empty() ? layout.strides() : resolve_all(b, options.strides.data(), rank, where);
  // Elements to allocate: up to the last one, and what lies before the first.
  std::optional<symbolic::Expr> total;
  if (options.total_size) {
    total = b.resolve_index(*options.total_size, where);
  } else if (options.start) {
    total = ir::Layout::strided(shape, strides).total_size() + b.resolve_index(*options.start, where);
  }
  ir::Extents offset = resolve_all(b, options.offset.data(), options.offset.size(), where);
  if (offset.empty()) offset.assign(rank, symbolic::Expr(0));
  return ir::Layout::strided(std::move(shape), std::move(strides), std::move(total), std::move(offset),
                             options.start ? b.resolve_index(*options.start, where) : symbolic::Expr(0));
}

// What lives longer than a body can only have a size that is known from the beginning.
// Extents that are too large together are an error of the declaration.
ir::Layout sized_layout(BuilderImpl& b, std::string_view name, const Index* extents, std::size_t rank,
                        const ArrayOptions& options, const SourceLocation& where) {
  try {
    return layout_of(b, name, extents, rank, options, where);
  } catch (const Error& e) {
    if (e.error_class() != ErrorClass::kLimit) throw;
    throw Error(ErrorClass::kLimit, "the size of '" + std::string(name) + "' is too large: " + e.message(),
                b.places(where, {}));
  }
}

void check_parameters_only(const BuilderImpl& b, const ir::Container& c, const SourceLocation& where) {
  for (const std::string& name : c.layout.free_symbols()) {
    const SymbolInfo& info = b.symbols.at(name);
    if (info.binder == ir::BinderKind::kParameter) continue;
    b.fail(where, "the layout of '" + c.name + "' uses '" + info.label + "', which is not a parameter",
           "arguments and memory that outlives a body have sizes made of parameters; use transient for other sizes");
  }
}

}  // namespace

}  // namespace detail

detail::WindowRef Builder::add_container(Declaration how, std::string_view name, ScalarType type, const Index* extents,
                                         std::size_t rank, const ArrayOptions& options, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  const bool is_argument = how == Declaration::kArgument || how == Declaration::kScalarArgument;
  if (is_argument && !b.at_graph_scope()) {
    b.fail(where, "the argument '" + std::string(name) + "' is declared inside a body",
           "declare arguments first; use transient or local for the body's own data");
  }
  ir::Container c;
  c.layout = detail::sized_layout(b, name, extents, rank, options, where);
  c.name = is_argument ? b.claim_parameter(name, where) : b.claim_local(name, where);
  c.type = type;
  c.storage = detail::storage_of(options.storage);
  c.alignment = options.alignment;
  c.may_alias = options.may_alias;
  c.zeroed = options.zeroed;
  c.location = where;
  switch (how) {
    case Declaration::kArgument: break;
    case Declaration::kScalarArgument: c.kind = ir::ContainerKind::kScalar; break;
    case Declaration::kTransient:
      c.transient = true;
      if (rank == 0) c.kind = ir::ContainerKind::kScalar;
      break;
    case Declaration::kPersistent:
      c.transient = true;
      c.lifetime = ir::Lifetime::kPersistent;
      break;
    case Declaration::kExternal:
      c.transient = true;
      c.lifetime = ir::Lifetime::kExternal;
      break;
  }
  if (how != Declaration::kTransient) detail::check_parameters_only(b, c, where);
  const std::string unique = c.name;
  b.declare(std::move(c), std::string(name));
  if (how == Declaration::kScalarArgument) {
    b.containers.at(unique).read_only = "a scalar parameter, passed by value";
  }
  return b.window_of(unique, where);
}

detail::WindowRef Builder::add_constant(std::string_view name, ScalarType type, const Index* extents, std::size_t rank,
                                        const void* values, std::size_t count, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::Container c;
  c.layout = detail::sized_layout(b, name, extents, rank, {}, where);
  const std::optional<std::int64_t> elements = c.layout.num_elements().constant();
  if (!elements || *elements != static_cast<std::int64_t>(count)) {
    b.fail(where, "the constant '" + std::string(name) + "' has " + std::to_string(count) + " values for " +
                      c.layout.num_elements().str() + " elements");
  }
  c.name = b.claim_local(name, where);
  c.type = type;
  c.transient = true;
  c.location = where;
  const auto* bytes = static_cast<const std::uint8_t*>(values);
  c.constant.emplace(bytes, bytes + count * static_cast<std::size_t>(size_of(type)));
  const std::string unique = c.name;
  b.declare(std::move(c), std::string(name));
  return b.window_of(unique, where);
}

detail::WindowRef Builder::declare_view(std::string_view name, const detail::WindowRef& of, ScalarType type,
                                        const Index* extents, std::size_t rank, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  b.check_owner(of->owner, where, "the viewed container");
  b.check_window(*of, where);
  const ir::Container& viewed = b.graph.containers.at(of->container);
  ir::Container c;
  c.kind = ir::ContainerKind::kView;
  c.type = type;
  c.transient = true;
  c.location = where;
  c.viewed = of->container;
  c.viewed_subset = of->subset();
  if (extents == nullptr) {
    ir::Extents strides;
    for (std::size_t d = 0; d < of->dimensions.size(); ++d) {
      if (!of->kept[d]) continue;
      if (const auto step = of->dimensions[d].step.constant(); step && *step < 0) {
        b.fail(where, "a view can't run backwards through '" + b.containers.at(of->container).label + "'",
               "use a slice in an expression instead");
      }
      strides.push_back(viewed.layout.strides()[d] * of->dimensions[d].step);
    }
    c.layout = ir::Layout::strided(of->shape, std::move(strides));
  } else {
    c.layout = detail::layout_of(b, name, extents, rank, {}, where);
    if (!viewed.layout.is_packed()) {
      b.fail(where, "'" + b.containers.at(of->container).label +
                        "' can't be viewed in another shape, because its elements are not packed in C order");
    }
    const symbolic::Expr there = viewed.layout.num_elements() * symbolic::Expr(viewed.type.size());
    const symbolic::Expr here = c.layout.num_elements() * symbolic::Expr(c.type.size());
    if (there != here) {
      b.fail(where, "the view '" + std::string(name) + "' of " + here.str() + " bytes does not match '" +
                        b.containers.at(of->container).label + "' of " + there.str() + " bytes");
    }
  }
  c.name = b.claim_local(name, where);
  const std::string unique = c.name;
  b.declare(std::move(c), std::string(name), of->container);
  return b.window_of(unique, where);
}

// ---- Symbols
// ----------------------------------------------------------------------------------------------------------------

namespace {

// The symbol behind a handle that `assign` may change here.
const std::string& assignable(const BuilderImpl& b, const Index& symbol, const SourceLocation& where) {
  const detail::IndexNode* node = symbol.node().get();
  if (node == nullptr || node->value.kind() != symbolic::Kind::kSymbol) {
    b.fail(where, "'" + symbol.str() + "' is assigned, but it is an expression, not a symbol");
  }
  b.check_owner(node->owner, where, "the symbol " + symbol.str());
  b.check_open(node->scopes, where, "the symbol " + symbol.str());
  const std::string& name = node->value.name();
  const detail::SymbolInfo& info = b.symbols.at(name);
  if (info.binder != ir::BinderKind::kAssigned) {
    b.fail(where, "'" + info.label + "' is assigned, but it is a " + std::string(ir::to_string(info.binder)),
           "make a symbol of its own: auto k = g.assign(\"k\", " + info.label + ")");
  }
  if (b.in_map_within(info.scope)) {
    b.fail(where, "'" + info.label + "' is assigned inside a map, but belongs to the code around it",
           "points of a map can't agree on one value; assign a symbol made inside the map");
  }
  return name;
}

}  // namespace

Index Builder::assign(std::string_view name, const Bound& value, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  tasklet::Expr code = b.bound_code(value, where);
  const Index symbol = b.new_symbol(name, ir::BinderKind::kAssigned, ScalarType::kInt64, where);
  b.statement();
  b.emit(ir::Assign{{{symbol.node()->value.name(), std::move(code)}}}, {}, where);
  return symbol;
}

void Builder::assign(const Index& symbol, const Bound& value, Where where) {
  assign({{symbol, value}}, where);
}

void Builder::assign(std::initializer_list<Assignment> items, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::Assign assign;
  for (const Assignment& item : items) {
    const std::string& name = assignable(b, item.symbol, where);
    if (std::any_of(assign.items.begin(), assign.items.end(),
                    [&](const auto& other) { return other.symbol == name; })) {
      b.fail(where, "'" + b.symbols.at(name).label + "' is assigned twice at once");
    }
    assign.items.push_back({name, b.bound_code(item.value, where)});
  }
  b.statement();
  std::vector<std::string> names;
  for (const auto& item : assign.items) names.push_back(item.symbol);
  b.emit(std::move(assign), {}, where);
  for (const std::string& name : names) b.symbols.at(name).written = b.tick();
}

Index Builder::extent_of(const Bound& value, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  tasklet::Expr code = b.bound_code(value, where);
  std::string wish = "extent";
  if (value.value() != nullptr) {
    std::vector<detail::ReadLeaf> reads;
    detail::collect_reads(value.value()->tree, reads);
    if (!reads.empty()) wish = b.containers.at(reads.front().container).label + "_extent";
  }
  const Index symbol = b.new_symbol(wish, ir::BinderKind::kAssigned, ScalarType::kInt64, where, true);
  b.statement();
  b.emit(ir::Assign{{{symbol.node()->value.name(), std::move(code)}}}, {}, where);
  return symbol;
}

// ---- Callbacks
// --------------------------------------------------------------------------------------------------------------

std::string Builder::add_callback(std::string_view name, const detail::CallbackSignature& signature, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = impl(where_);
  b.check_usable(where);
  const Index index = b.new_symbol(name, ir::BinderKind::kParameter, ScalarType::kInt64, where);
  std::string unique = index.node()->value.name();
  std::vector<Type> returns;
  if (!signature.result.is_void()) returns.push_back(signature.result);
  b.graph.symbols.at(unique).type = Type::callback(std::move(returns), signature.arguments);
  return unique;
}

namespace detail {

void moved_builder_used(Where where) {
  const SourceLocation at = location_of(where);
  throw Error(ErrorClass::kUsage, "a builder is used that was moved from",
              at.known() ? std::vector<Error::Place>{{"", at}} : std::vector<Error::Place>{},
              "use the builder that it was moved to");
}

ExprRef call_callback(BuilderImpl& b, const std::string& name, const CallbackSignature& signature,
                      const std::vector<ExprRef>& arguments, Where where_) {
  SourceLocation where = location_of(where_);
  std::vector<TreePtr> args;
  for (const ExprRef& e : arguments) {
    if (!where.known()) where = e->where;
    args.push_back(b.use(e, where));
  }
  b.check_usable(where);
  b.statement();
  if (signature.result.is_void()) {
    b.emit_tasklet({}, {}, call_tree({name}, ScalarType::kInt64, std::move(args)), {}, where);
    return nullptr;
  }
  const ScalarType type = signature.result.scalar();
  const std::string result = b.declare_scalar(name + "_result", type, where);
  b.emit_tasklet(result, {}, call_tree({name}, type, std::move(args)), {}, where);
  return b.make({}, read_tree(result, {}, type), {}, where);
}

}  // namespace detail

// ---- Hand-over
// --------------------------------------------------------------------------------------------------------------

namespace builder {

const ir::Graph& graph_of(const Builder& builder) {
  return finished(builder.impl(), {});
}

}  // namespace builder

}  // namespace sdfg
