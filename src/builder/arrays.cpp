// Operations on whole arrays: reductions, products, transposition, constant arrays.
#include <algorithm>
#include <limits>
#include <numeric>

#include "builder/impl.hpp"

namespace sdfg::detail {

namespace {

tasklet::Literal number(double value, ScalarType type) {
  if (type == ScalarType::kBool) return {value != 0};
  if (is_unsigned_type(type)) return {static_cast<std::uint64_t>(value)};
  if (is_integer_type(type)) return {static_cast<std::int64_t>(value)};
  if (is_complex_type(type)) return {std::complex<double>(value)};
  return {value};
}

// The largest (or smallest) value of a type.
tasklet::Literal extreme(bool largest, ScalarType type) {
  if (type == ScalarType::kBool) return {largest};
  if (is_floating_type(type))
    return {largest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity()};
  const int bits = bits_of(type);
  if (is_unsigned_type(type))
    return {largest ? (bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1) : std::uint64_t{0}};
  const std::int64_t top = bits == 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
  return {largest ? top : -top - 1};
}

tasklet::Literal identity(Reduce op, ScalarType type) {
  switch (op) {
    case Reduce::product: return number(1, type);
    case Reduce::min: return extreme(true, type);
    case Reduce::max: return extreme(false, type);
    case Reduce::bit_and:
      if (type == ScalarType::kBool) return {true};
      if (is_unsigned_type(type)) return extreme(true, type);
      return {std::int64_t{-1}};
    case Reduce::logical_and: return number(1, type);
    case Reduce::sum:
    case Reduce::bit_or:
    case Reduce::bit_xor:
    case Reduce::logical_or:
    case Reduce::logical_xor:
    case Reduce::exchange: break;
  }
  return number(0, type);
}

// Which dimensions are reduced; all without axes.
std::vector<bool> reduced_dimensions(const BuilderImpl& b, std::size_t rank, const int* axes, std::size_t count,
                                     const SourceLocation& where) {
  std::vector<bool> reduced(rank, axes == nullptr);
  for (std::size_t k = 0; k < count; ++k) {
    const int axis = axes[k] < 0 ? axes[k] + static_cast<int>(rank) : axes[k];
    if (axis < 0 || axis >= static_cast<int>(rank)) {
      b.fail(where, "axis " + std::to_string(axes[k]) + " does not exist in an array with " + std::to_string(rank) +
                        " dimensions");
    }
    if (reduced[static_cast<std::size_t>(axis)]) b.fail(where, "axis " + std::to_string(axes[k]) + " is given twice");
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  return reduced;
}

symbolic::Substitution at_positions(const std::vector<symbolic::Expr>& positions) {
  symbolic::Substitution by;
  for (std::size_t d = 0; d < positions.size(); ++d) by[placeholder(positions.size() - 1 - d)] = positions[d];
  return by;
}

std::vector<symbolic::Expr> target_indices(const WindowNode& target, const std::vector<symbolic::Expr>& positions) {
  const symbolic::Substitution by = at_positions(positions);
  std::vector<symbolic::Expr> indices = target.indices();
  for (symbolic::Expr& i : indices) i = symbolic::substitute(i, by);
  return indices;
}

}  // namespace

ExprRef reduce(Reduce op, ScalarType type, const ExprRef& x, const int* axes, std::size_t count, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  const std::vector<bool> reduced = reduced_dimensions(b, x->shape.size(), axes, count, where);
  const TreePtr tree = cast_tree(type, b.use(x, where));
  ir::Extents shape;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) shape.push_back(x->shape[d]);
  }
  ExprRef e = b.make(std::move(shape), nullptr, x->reads, where);
  e->type = type;
  e->compute = [op, type, tree, reduced, source = x->shape](BuilderImpl& builder, const WindowNode& target,
                                                            const SourceLocation& at) {
    builder.store_tree(target, {}, literal_tree(identity(op, type), type), at);
    builder.over_shape(source, at, [&](const std::vector<symbolic::Expr>& positions) {
      std::vector<symbolic::Expr> kept;
      for (std::size_t d = 0; d < positions.size(); ++d) {
        if (!reduced[d]) kept.push_back(positions[d]);
      }
      builder.store_element(target.container, target_indices(target, kept), {op, false, true},
                            substitute(tree, at_positions(positions)), at);
    });
  };
  return e;
}

ExprRef mean(ScalarType type, const ExprRef& x, const int* axes, std::size_t count, Where where) {
  BuilderImpl& b = *x->owner;
  const std::vector<bool> reduced = reduced_dimensions(b, x->shape.size(), axes, count, location_of(where));
  symbolic::Expr number_of = 1;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) number_of *= x->shape[d];
  }
  const ExprRef total = reduce(Reduce::sum, type, x, axes, count, where);
  const ExprRef elements =
      b.make({}, cast_tree(type, index_tree(number_of)), b.assigned_in(number_of), location_of(where));
  return apply(Op::kDiv, type, total, elements);
}

ExprRef transpose(const ExprRef& x, const int* permutation, std::size_t count, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  const std::size_t rank = x->shape.size();
  std::vector<int> order(rank);
  if (permutation == nullptr) {
    std::iota(order.rbegin(), order.rend(), 0);
  } else {
    order.assign(permutation, permutation + count);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t d = 0; d < rank; ++d) {
      if (sorted[d] != static_cast<int>(d))
        b.fail(where, "the order of a transpose is no permutation of the dimensions 0 to " + std::to_string(rank - 1));
    }
  }
  const TreePtr tree = b.use(x, where);
  ir::Extents shape;
  symbolic::Substitution by;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto from = static_cast<std::size_t>(order[d]);
    shape.push_back(x->shape[from]);
    by[placeholder(rank - 1 - from)] = symbolic::Expr::symbol(placeholder(rank - 1 - d));
  }
  return b.make(std::move(shape), substitute(tree, by), x->reads, where);
}

ExprRef filled_like(const ExprRef& x, const ExprRef& value, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  return b.make(x->shape, b.use(value, where), value->reads, where);
}

}  // namespace sdfg::detail
