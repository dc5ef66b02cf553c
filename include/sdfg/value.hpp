/// Values of a graph under construction: of a scalar or of every element of an array; and bounds made from them.
#pragma once

#include <sdfg/operands.hpp>
#include <utility>

namespace sdfg {

/// A value computed by the graph: of a scalar (`Value<T>`, R = 0) or of every element of an array (R > 0).
///
/// A snapshot: it keeps the value of the moment it was made. When what it read is stored to before it is used, the
/// builder keeps the value in a scalar (or a temporary array). Arithmetic follows C++ on the operands' types (`/` of
/// integers truncates), except that a plain `int` literal takes the other operand's type. Widening is implicit;
/// narrowing needs `sdfg::cast<T>`.
template <typename T, std::size_t R>
class Expression {
 public:
  using element_type = T;
  static constexpr std::size_t kRank = R;

  explicit Expression(detail::ExprRef ref) : ref_(std::move(ref)) {}
  /// Reads an element, widens a value, or takes a constant.
  template <detail::AnyOperand X>
    requires(detail::kRankOf<X> == R && !std::same_as<X, Expression<T, R>>)
  Expression(const X& x,
             Where where = Where::current()) {  // NOLINT(google-explicit-constructor): reads like a C++ scalar
    constexpr bool constant = detail::Operand<X>::kSort == detail::Sort::kConstant;
    static_assert(constant ? detail::constant_fits(detail::kTypeOf<X>, kScalarTypeOf<T>)
                           : detail::widens(detail::kTypeOf<X>, kScalarTypeOf<T>),
                  "this conversion would narrow the value: write sdfg::cast<T>(value)");
    ref_ = detail::Operand<X>::expr(x, kScalarTypeOf<T>, where);
    if constexpr (!constant && detail::kTypeOf<X> != kScalarTypeOf<T>)
      ref_ = detail::apply(detail::Op::kCast, kScalarTypeOf<T>, ref_);
  }

  /// A value of the graph is not known while the graph is built.
  template <typename B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::kNever<B>,
                  "a value of the graph is not known while the graph is built: use g.if_(condition, then, else), "
                  "g.while_, or sdfg::select(condition, a, b) instead of C++'s if, while, && and ?:");
    return false;
  }

  const detail::ExprRef& ref() const noexcept { return ref_; }

 private:
  detail::ExprRef ref_;
};

/// Where an index or a bound is expected: an integer, an Index, or an integer value read from a container (`A(idx(i))`,
/// bounds of a CSR row). A value becomes a symbol that is assigned before the statement.
class Bound {
 public:
  template <detail::IndexInteger T>
  Bound(T value) : index_(value) {}             // NOLINT(google-explicit-constructor)
  Bound(const Index& index) : index_(index) {}  // NOLINT(google-explicit-constructor)
  template <detail::GraphOperand X>
    requires(detail::kRankOf<X> == 0)
  Bound(const X& value)
      : index_(0), value_(detail::expr_of(value, detail::kTypeOf<X>)) {  // NOLINT(google-explicit-constructor)
    static_assert(detail::is_integer_type(detail::kTypeOf<X>),
                  "an index must be an integer: use sdfg::cast<std::int64_t>(value)");
  }

  const Index& index() const noexcept { return index_; }  ///< when value() is null
  const detail::ExprRef& value() const noexcept { return value_; }

 private:
  Index index_;
  detail::ExprRef value_;
};

}  // namespace sdfg
