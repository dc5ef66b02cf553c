// Stores, accumulations and copies: states, and maps around them for whole arrays.
#include <algorithm>

#include "builder/impl.hpp"

namespace sdfg::detail {

namespace {

TreePtr boolean(const TreePtr& x) {
  if (x->type == ScalarType::kBool) return x;
  return op_tree(Op::kNotEqual, ScalarType::kBool, {x, literal_tree({std::int64_t{0}}, ScalarType::kInt64)});
}

// old combined with new, for updates in program order.
TreePtr combined(Reduce r, ScalarType type, TreePtr old, TreePtr value) {
  const auto plain = [&](Op op) { return op_tree(op, type, {std::move(old), std::move(value)}); };
  const auto logical = [&](Op op) {
    return cast_tree(type, op_tree(op, ScalarType::kBool, {boolean(old), boolean(value)}));
  };
  switch (r) {
    case Reduce::sum: return plain(Op::kAdd);
    case Reduce::product: return plain(Op::kMul);
    case Reduce::min: return plain(Op::kMin);
    case Reduce::max: return plain(Op::kMax);
    case Reduce::bit_and: return plain(Op::kBitAnd);
    case Reduce::bit_or: return plain(Op::kBitOr);
    case Reduce::bit_xor: return plain(Op::kBitXor);
    case Reduce::logical_and: return logical(Op::kAnd);
    case Reduce::logical_or: return logical(Op::kOr);
    case Reduce::logical_xor: return logical(Op::kNotEqual);
    case Reduce::exchange: return value;
  }
  return value;
}

std::string_view name_of(Reduce r) {
  return ir::to_string(reduce_op(r));
}

void check_reducible(const BuilderImpl& b, Reduce r, ScalarType type, const SourceLocation& where) {
  const auto refuse = [&](std::string_view needs) {
    b.fail(where, "values of type " + std::string(to_string(type)) + " can't be accumulated by " +
                      std::string(name_of(r)) + ", which needs " + std::string(needs));
  };
  switch (r) {
    case Reduce::min:
    case Reduce::max:
      if (is_complex_type(type)) refuse("values with an order");
      break;
    case Reduce::bit_and:
    case Reduce::bit_or:
    case Reduce::bit_xor:
      if (!is_integer_type(type) && type != ScalarType::kBool) refuse("integers");
      break;
    case Reduce::logical_and:
    case Reduce::logical_or:
    case Reduce::logical_xor:
      if (is_complex_type(type)) refuse("real values");
      break;
    case Reduce::sum:
    case Reduce::product:
    case Reduce::exchange: break;
  }
}

}  // namespace

void BuilderImpl::over_shape(const ir::Extents& shape, const SourceLocation& where,
                             const std::function<void(const std::vector<symbolic::Expr>&)>& body) {
  std::vector<symbolic::Expr> positions;
  if (shape.empty()) {
    body(positions);
    return;
  }
  static constexpr std::string_view kNames[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  ir::Element& element = emit(ir::Map{}, {}, where);
  Scope& scope = open(ScopeKind::kMap, element, 0, "map over an array", where);
  const ScopeId id = scope.id;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::string wish = d < std::size(kNames) ? std::string(kNames[d]) : "i" + std::to_string(d);
    const Index parameter = new_symbol(wish, ir::BinderKind::kMapParameter, ScalarType::kInt64, where, true);
    positions.push_back(parameter.node()->value);
    auto& map = std::get<ir::Map>(element.kind);
    map.params.push_back(positions.back().name());
    map.ranges.push_back(symbolic::Range::half_open(0, shape[d]));
  }
  body(positions);
  close(id);
}

void BuilderImpl::store_element(const std::string& container, const std::vector<symbolic::Expr>& indices,
                                const Combine& combine, TreePtr value, const SourceLocation& where) {
  const ScalarType type = graph.containers.at(container).type.scalar();
  value = cast_tree(type, std::move(value));
  std::optional<ir::ReduceOp> wcr;
  if (combine.reduce && combine.unordered) {
    wcr = reduce_op(*combine.reduce);
  } else if (combine.reduce) {
    value = combined(*combine.reduce, type, read_tree(container, indices, type), std::move(value));
  } else if (combine.divides) {
    value = op_tree(Op::kDiv, type, {read_tree(container, indices, type), std::move(value)});
  }
  emit_tasklet(container, indices, value, wcr, where);
}

void BuilderImpl::store_tree(const WindowNode& target, const Combine& combine, const TreePtr& tree,
                             const SourceLocation& where) {
  over_shape(target.shape, where, [&](const std::vector<symbolic::Expr>& positions) {
    symbolic::Substitution by;
    for (std::size_t k = 0; k < positions.size(); ++k) by[placeholder(positions.size() - 1 - k)] = positions[k];
    std::vector<symbolic::Expr> indices = target.indices();
    for (symbolic::Expr& i : indices) i = symbolic::substitute(i, by);
    store_element(target.container, indices, combine, substitute(tree, by), where);
  });
}

namespace {

// Must the value be complete before the first element is stored? Yes when it may read the target at another element.
bool reads_elsewhere(const BuilderImpl& b, const TreePtr& tree, const WindowNode& target) {
  std::vector<ReadLeaf> reads;
  collect_reads(tree, reads);
  const std::vector<symbolic::Expr> own = target.indices();
  return std::any_of(reads.begin(), reads.end(), [&](const ReadLeaf& read) {
    if (!b.may_share(read.container, target.container)) return false;
    return read.container != target.container || read.indices != own;
  });
}

// The value's element at the target's position: dimensions of extent one repeat. The target itself is never stretched.
TreePtr fitted(const BuilderImpl& b, const ExprNode& value, const WindowNode& target, const SourceLocation& where) {
  symbolic::Substitution by;
  for (std::size_t k = 0; k < value.shape.size(); ++k) {
    const symbolic::Expr& from = value.shape[value.shape.size() - 1 - k];
    const symbolic::Expr& to = target.shape[target.shape.size() - 1 - k];
    if (from == to) continue;
    if (!from.is_one()) {
      const bool never = (from - to).constant().has_value();
      b.fail(where,
             "a value of extent " + b.show(from) + " is stored to extent " + b.show(to) + " of '" +
                 b.containers.at(target.container).label + "'" +
                 (never ? "" : ", and the two are not known to be equal"),
             never ? "" : "declare both arrays with the same symbol, or take a slice of known extent");
    }
    by[placeholder(k)] = 0;
  }
  return substitute(value.tree, by);
}

}  // namespace

void BuilderImpl::store(const WindowNode& target, Combine combine, const ExprRef& value, const SourceLocation& where_) {
  const SourceLocation& where = where_.known() ? where_ : target.where;
  check_window(target, where);
  check_writable(target.container, where);
  const ir::Container& c = graph.containers.at(target.container);
  if (c.kind == ir::ContainerKind::kStream)
    fail(where, "the stream '" + containers.at(target.container).label + "' is assigned", "use push(value)");
  if (combine.reduce) check_reducible(*this, *combine.reduce, c.type.scalar(), where);
  refresh(value, where);
  statement();
  combine.unordered = combine.reduce && in_map_within(containers.at(root_of(target.container)).scope);
  if (combine.reduce == Reduce::exchange && !combine.unordered) combine.reduce.reset();

  if (value->tree == nullptr) {
    const bool reads_target = std::any_of(value->reads.begin(), value->reads.end(), [&](const std::string& name) {
      return containers.contains(name) && may_share(name, target.container);
    });
    if (!combine.reduce && !combine.divides && value->shape == target.shape && !reads_target) {
      value->compute(*this, target, where);
      written(target.container);
      return;
    }
    keep(*value);
  }
  if (value->owner != nullptr && !target.shape.empty() && reads_elsewhere(*this, value->tree, target)) keep(*value);
  store_tree(target, combine, fitted(*this, *value, target, where), where);
  written(target.container);
}

void store(const WindowRef& target, StoreOp op, const ExprRef& value, Where where) {
  BuilderImpl& b = *target->owner;
  BuilderImpl::Combine combine;
  ExprRef stored = value;
  switch (op) {
    case StoreOp::kSet: break;
    case StoreOp::kAdd: combine.reduce = Reduce::sum; break;
    case StoreOp::kSub:
      combine.reduce = Reduce::sum;
      stored = apply(Op::kNegate, value->type, value);
      break;
    case StoreOp::kMul: combine.reduce = Reduce::product; break;
    case StoreOp::kDiv: combine.divides = true; break;
  }
  b.store(*target, combine, stored, location_of(where));
}

void accumulate(const WindowRef& target, Reduce op, const ExprRef& value, Where where) {
  BuilderImpl::Combine combine;
  combine.reduce = op;
  target->owner->store(*target, combine, value, location_of(where));
}

void BuilderImpl::copy(const WindowNode& target, const WindowNode& source, const SourceLocation& where) {
  check_owner(source.owner, where, "'" + source.owner->containers.at(source.container).label + "'");
  check_window(target, where);
  check_window(source, where);
  check_writable(target.container, where);
  if (symbolic::product(target.shape) != symbolic::product(source.shape)) {
    fail(where, "a copy needs equal numbers of elements, but '" + containers.at(source.container).label + "[" +
                    source.subset().str() + "]' and '" + containers.at(target.container).label + "[" +
                    target.subset().str() + "]' are not known to have them");
  }
  statement();
  if (may_share(target.container, source.container)) {
    // The parts may overlap: through a temporary, so that the order of the elements can't matter.
    const ScalarType type = graph.containers.at(source.container).type.scalar();
    const WindowRef between =
        window_of(declare_temporary(containers.at(source.container).label + "_copy", type, source.shape, where), where);
    emit_copy(*between, source, where);
    emit_copy(target, *between, where);
  } else {
    emit_copy(target, source, where);
  }
  written(target.container);
}

void BuilderImpl::emit_copy(const WindowNode& target, const WindowNode& source, const SourceLocation& where) {
  ir::State state;
  const ir::Id from = graph.new_id();
  const ir::Id to = graph.new_id();
  state.nodes.push_back({from, {}, where, ir::Access{source.container}});
  state.nodes.push_back({to, {}, where, ir::Access{target.container}});
  ir::Memlet m;
  m.id = graph.new_id();
  m.src = from;
  m.dst = to;
  m.src_subset = source.subset();
  m.dst_subset = target.subset();
  m.location = where;
  state.edges.push_back(std::move(m));
  emit(std::move(state), "copy_" + containers.at(source.container).label, where);
}

void copy(const WindowRef& target, const WindowRef& source, Where where) {
  target->owner->copy(*target, *source, location_of(where));
}

ir::ReduceOp reduce_op(Reduce r) {
  switch (r) {
    case Reduce::sum: return ir::ReduceOp::kSum;
    case Reduce::product: return ir::ReduceOp::kProduct;
    case Reduce::min: return ir::ReduceOp::kMin;
    case Reduce::max: return ir::ReduceOp::kMax;
    case Reduce::bit_and: return ir::ReduceOp::kBitAnd;
    case Reduce::bit_or: return ir::ReduceOp::kBitOr;
    case Reduce::bit_xor: return ir::ReduceOp::kBitXor;
    case Reduce::logical_and: return ir::ReduceOp::kLogicalAnd;
    case Reduce::logical_or: return ir::ReduceOp::kLogicalOr;
    case Reduce::logical_xor: return ir::ReduceOp::kLogicalXor;
    case Reduce::exchange: return ir::ReduceOp::kExchange;
  }
  return ir::ReduceOp::kSum;
}

}  // namespace sdfg::detail
