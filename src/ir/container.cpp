// Layouts: where the elements of a container lie.
#include "ir/container.hpp"

#include <algorithm>
#include <ranges>

namespace sdfg::ir {

using symbolic::Expr;

namespace {

Extents packed_strides(const Extents& shape) {
  Extents strides(shape.size(), Expr(1));
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

Layout Layout::packed(Extents shape) {
  Layout layout;
  layout.strides_ = packed_strides(shape);
  layout.offset_.assign(shape.size(), Expr(0));
  layout.total_size_ = symbolic::product(shape);
  layout.shape_ = std::move(shape);
  return layout;
}

Layout Layout::column_major(Extents shape) {
  Layout layout;
  layout.strides_.assign(shape.size(), Expr(1));
  for (std::size_t d = 1; d < shape.size(); ++d) layout.strides_[d] = layout.strides_[d - 1] * shape[d - 1];
  layout.offset_.assign(shape.size(), Expr(0));
  layout.total_size_ = symbolic::product(shape);
  layout.shape_ = std::move(shape);
  return layout;
}

Layout Layout::strided(Extents shape, Extents strides, std::optional<Expr> total_size, Extents offset,
                       Expr start_offset) {
  if (strides.size() != shape.size()) {
    throw Error(ErrorClass::kGraph, "a layout with " + std::to_string(shape.size()) + " extents has " +
                                        std::to_string(strides.size()) + " strides");
  }
  if (!offset.empty() && offset.size() != shape.size()) {
    throw Error(ErrorClass::kGraph, "a layout with " + std::to_string(shape.size()) + " extents has " +
                                        std::to_string(offset.size()) + " offsets");
  }
  Layout layout;
  if (total_size) {
    layout.total_size_ = *std::move(total_size);
  } else {
    Expr size = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) size += (shape[d] - 1) * strides[d];
    layout.total_size_ = size;
  }
  if (offset.empty()) offset.assign(shape.size(), Expr(0));
  layout.shape_ = std::move(shape);
  layout.strides_ = std::move(strides);
  layout.offset_ = std::move(offset);
  layout.start_offset_ = std::move(start_offset);
  return layout;
}

symbolic::Expr Layout::elements_apart() const {
  std::vector<std::size_t> order;  // innermost first
  for (std::size_t d = rank(); d-- > 0;) {
    if (!shape_[d].is_one()) order.push_back(d);
  }
  const auto steps_over = [&](const auto& dimensions) {
    symbolic::Expr condition = symbolic::Expr::boolean(true), inner = 1;
    for (const std::size_t d : dimensions) {
      if (!(strides_[d] == inner)) condition = symbolic::logical_and(condition, symbolic::ge(strides_[d], inner));
      inner = strides_[d] * shape_[d];
    }
    return condition;
  };
  if (std::ranges::all_of(order, [&](std::size_t d) { return strides_[d].constant().has_value(); })) {
    std::ranges::stable_sort(order, {}, [&](std::size_t d) { return *strides_[d].constant(); });
    return steps_over(order);
  }
  return symbolic::logical_or(steps_over(order), steps_over(order | std::views::reverse));
}

bool Layout::elements_meet() const {
  for (std::size_t d = 0; d < rank(); ++d) {
    if (shape_[d].is_one()) continue;
    if (strides_[d].is_zero()) return true;
    for (std::size_t e = 0; e < d; ++e) {
      if (!shape_[e].is_one() && strides_[e] == strides_[d]) return true;
    }
  }
  return false;
}

bool Layout::is_packed() const {
  if (!start_offset_.is_zero()) return false;
  for (const Expr& o : offset_) {
    if (!o.is_zero()) return false;
  }
  return strides_ == packed_strides(shape_) && total_size_ == num_elements();
}

Expr Layout::num_elements() const {
  return symbolic::product(shape_);
}

Expr Layout::address(std::span<const Expr> indices) const {
  if (indices.size() != rank()) {
    throw Error(ErrorClass::kInternal, "an address in a layout of rank " + std::to_string(rank()) +
                                           " was asked for with " + std::to_string(indices.size()) + " indices");
  }
  std::vector<Expr> terms{start_offset_};
  for (std::size_t d = 0; d < indices.size(); ++d) terms.push_back((indices[d] + offset_[d]) * strides_[d]);
  return symbolic::sum(terms);
}

Layout Layout::substituted(const symbolic::Substitution& by) const {
  Layout layout = *this;
  for (Extents* list : {&layout.shape_, &layout.strides_, &layout.offset_}) {
    for (Expr& e : *list) e = symbolic::substitute(e, by);
  }
  layout.total_size_ = symbolic::substitute(total_size_, by);
  layout.start_offset_ = symbolic::substitute(start_offset_, by);
  return layout;
}

symbolic::SymbolSet Layout::free_symbols() const {
  symbolic::SymbolSet symbols;
  const auto add = [&](const Expr& e) { symbols.merge(symbolic::free_symbols(e)); };
  for (const Extents* list : {&shape_, &strides_, &offset_}) {
    for (const Expr& e : *list) add(e);
  }
  add(total_size_);
  add(start_offset_);
  return symbols;
}

}  // namespace sdfg::ir
