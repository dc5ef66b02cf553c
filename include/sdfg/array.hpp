/// Handles of containers: arrays, their elements and slices, and operations on whole arrays.
#pragma once

#include <array>
#include <initializer_list>
#include <sdfg/expressions.hpp>
#include <sdfg/schedule.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sdfg {

/// The indices begin, begin + step, ... before `end` of one dimension; for `slice`.
struct Range {
  Bound begin, end, step;
};
inline Range range(Bound begin, Bound end, Bound step = 1) {
  return {std::move(begin), std::move(end), std::move(step)};
}

/// All indices of one dimension; for `slice`.
struct All {};
inline constexpr All all{};

/// Dimensions to reduce over: `sum(A, axes(0, 2))`.
template <std::size_t K>
struct Axes {
  std::array<int, K> values;
};
template <std::same_as<int>... I>
constexpr Axes<sizeof...(I)> axes(I... axis) {
  return {{axis...}};
}

namespace detail {

enum class StoreOp : std::uint8_t { kSet, kAdd, kSub, kMul, kDiv };

/// One argument of `slice`: an index, which drops the dimension, or a range, which keeps it.
struct SliceArgument {
  enum class Kind : std::uint8_t { kIndex, kRange, kAll };
  Kind kind;
  Bound begin, end, step;
};
inline SliceArgument slice_argument(const Range& r) {
  return {SliceArgument::Kind::kRange, r.begin, r.end, r.step};
}
inline SliceArgument slice_argument(const All&) {
  return {SliceArgument::Kind::kAll, 0, 0, 1};
}
inline SliceArgument slice_argument(const Bound& b) {
  return {SliceArgument::Kind::kIndex, b, 0, 1};
}
template <typename S>
inline constexpr std::size_t kKeeps = std::same_as<S, Range> || std::same_as<S, All> ? 1 : 0;
template <typename S>
concept SliceLike = std::same_as<S, Range> || std::same_as<S, All> || std::convertible_to<S, Bound>;

SDFG_EXPORT WindowRef element(const WindowRef& array, const Bound* indices, std::size_t count, Where where);
SDFG_EXPORT WindowRef slice(const WindowRef& array, const SliceArgument* arguments, std::size_t count, Where where);
SDFG_EXPORT void store(const WindowRef& target, StoreOp op, const ExprRef& value, Where where);
SDFG_EXPORT void accumulate(const WindowRef& target, Reduce op, const ExprRef& value, Where where);
SDFG_EXPORT void copy(const WindowRef& target, const WindowRef& source, Where where);
SDFG_EXPORT Index extent(const WindowRef& window, std::size_t dimension, Where where);
SDFG_EXPORT std::string name_of(const WindowRef& window);

SDFG_EXPORT ExprRef reduce(Reduce op, ScalarType type, const ExprRef& x, const int* axes, std::size_t count,
                           Where where);
SDFG_EXPORT ExprRef mean(ScalarType type, const ExprRef& x, const int* axes, std::size_t count, Where where);
SDFG_EXPORT ExprRef matmul(ScalarType type, const ExprRef& a, const ExprRef& b, Where where);
SDFG_EXPORT ExprRef transpose(const ExprRef& x, const int* permutation, std::size_t count, Where where);
SDFG_EXPORT ExprRef filled_like(const ExprRef& x, const ExprRef& value, Where where);

/// Checks a right-hand side at compile time and erases its type, converted to T.
template <typename T, std::size_t R, AnyOperand X>
ExprRef stored(const X& x, Where where = Where()) {
  static_assert(kRankOf<X> <= R, "the right side has more dimensions than what it is assigned to");
  constexpr bool is_constant = Operand<X>::kSort == Sort::kConstant;
  static_assert(is_constant ? constant_fits(kTypeOf<X>, kScalarTypeOf<T>) : widens(kTypeOf<X>, kScalarTypeOf<T>),
                "this store would narrow the value: write sdfg::cast<T>(value)");
  ExprRef e = Operand<X>::expr(x, kScalarTypeOf<T>, where);
  if constexpr (!is_constant && kTypeOf<X> != kScalarTypeOf<T>) e = apply(Op::kCast, kScalarTypeOf<T>, e);
  return e;
}

/// A right-hand side together with the line it stands on: operators can't capture that, a conversion can.
template <typename T, std::size_t R>
struct Source {
  template <AnyOperand X>
  Source(const X& x, Where w = Where::current())
      : expr(stored<T, R>(x, w)), where(w) {}  // NOLINT(google-explicit-constructor)
  ExprRef expr;
  Where where;
};

}  // namespace detail

/// A rectangular part of a container that can be read and assigned: an element (`A(i, j)`, R = 0) or a slice.
///
/// Behaves like a C++ reference: assignment writes into the container, also `A(i, j) = B(i, j)`. Reading happens when
/// the window is used in an expression. `+=`, `-=` and `*=` accumulate: without order when a map encloses them inside
/// the container's scope (any number of points may add to one element), in program order otherwise.
template <typename T, std::size_t R>
class Window {
 public:
  using element_type = T;
  static constexpr std::size_t kRank = R;

  explicit Window(detail::WindowRef ref) : ref_(std::move(ref)) {}
  Window(const Window&) = default;
  ~Window() = default;

  Window& operator=(const Window& other) { return set(detail::StoreOp::kSet, other); }
  template <detail::AnyOperand X>
  Window& operator=(const X& x) {
    return set(detail::StoreOp::kSet, x);
  }
  template <detail::AnyOperand X>
  Window& operator+=(const X& x) {
    return set(detail::StoreOp::kAdd, x);
  }
  template <detail::AnyOperand X>
  Window& operator-=(const X& x) {
    return set(detail::StoreOp::kSub, x);
  }
  template <detail::AnyOperand X>
  Window& operator*=(const X& x) {
    return set(detail::StoreOp::kMul, x);
  }
  /// Always reads, divides and writes: points of a map must not divide one element twice.
  template <detail::AnyOperand X>
  Window& operator/=(const X& x) {
    return set(detail::StoreOp::kDiv, x);
  }
  template <detail::AnyOperand X>
  void accumulate(Reduce op, const X& x, Where where = Where::current()) const {
    detail::accumulate(ref_, op, detail::stored<T, R>(x, where), where);
  }
  /// Copies a part of another container (or of this one) with the same extents.
  template <std::size_t Q>
  void copy(const Window<T, Q>& source, Where where = Where::current()) const {
    detail::copy(ref_, source.ref(), where);
  }
  template <std::size_t Q>
  void copy(const Array<T, Q>& source, Where where = Where::current()) const {
    detail::copy(ref_, source.ref(), where);
  }

  /// Extent of dimension d.
  Index extent(std::size_t d, Where where = Where::current()) const { return detail::extent(ref_, d, where); }

  template <typename B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::kNever<B>,
                  "a value of the graph is not known while the graph is built: use g.if_(condition, then, else), "
                  "g.while_, or sdfg::select(condition, a, b) instead of C++'s if, while, && and ?:");
    return false;
  }

  const detail::WindowRef& ref() const noexcept { return ref_; }

 private:
  template <typename X>
  Window& set(detail::StoreOp op, const X& x) {
    detail::store(ref_, op, detail::stored<T, R>(x), Where());
    return *this;
  }
  detail::WindowRef ref_;
};

/// A container of elements T with R dimensions. A value type: copies name the same container.
///
/// Assigning one Array to another of the same type is not allowed (it would read as rebinding): `C.copy(A)` copies, `C
/// = A + B` evaluates the right side and stores it. Obtained from a Builder; not usable with another one.
template <typename T, std::size_t R>
class Array {
 public:
  using element_type = T;
  static constexpr std::size_t kRank = R;

  explicit Array(detail::WindowRef ref) : ref_(std::move(ref)) {}
  Array(const Array&) = default;
  ~Array() = default;
  Array& operator=(const Array&) = delete;  // write C.copy(A)

  /// Evaluates the right side, element by element with NumPy's broadcasting, and stores it.
  void operator=(detail::Source<T, R> x) { detail::store(ref_, detail::StoreOp::kSet, x.expr, x.where); }
  void operator+=(detail::Source<T, R> x) { detail::store(ref_, detail::StoreOp::kAdd, x.expr, x.where); }
  void operator-=(detail::Source<T, R> x) { detail::store(ref_, detail::StoreOp::kSub, x.expr, x.where); }
  void operator*=(detail::Source<T, R> x) { detail::store(ref_, detail::StoreOp::kMul, x.expr, x.where); }
  void operator/=(detail::Source<T, R> x) { detail::store(ref_, detail::StoreOp::kDiv, x.expr, x.where); }
  template <detail::AnyOperand X>
  void accumulate(Reduce op, const X& x, Where where = Where::current()) const {
    detail::accumulate(ref_, op, detail::stored<T, R>(x, where), where);
  }
  /// Copies another container, or a part of one, with the same number of elements in row-major order.
  template <std::size_t Q>
  void copy(const Array<T, Q>& source, Where where = Where::current()) const {
    detail::copy(ref_, source.ref(), where);
  }
  template <std::size_t Q>
  void copy(const Window<T, Q>& source, Where where = Where::current()) const {
    detail::copy(ref_, source.ref(), where);
  }

  /// The element at the given indices; one index per dimension.
  Element<T> operator()(Where where = Where::current()) const
    requires(R == 0)
  {
    return Element<T>(detail::element(ref_, nullptr, 0, where));
  }
  Element<T> operator()(const Bound& i0, Where where = Where::current()) const
    requires(R == 1)
  {
    return at({i0}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, Where where = Where::current()) const
    requires(R == 2)
  {
    return at({i0, i1}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, Where where = Where::current()) const
    requires(R == 3)
  {
    return at({i0, i1, i2}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3,
                        Where where = Where::current()) const
    requires(R == 4)
  {
    return at({i0, i1, i2, i3}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                        Where where = Where::current()) const
    requires(R == 5)
  {
    return at({i0, i1, i2, i3, i4}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                        const Bound& i5, Where where = Where::current()) const
    requires(R == 6)
  {
    return at({i0, i1, i2, i3, i4, i5}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                        const Bound& i5, const Bound& i6, Where where = Where::current()) const
    requires(R == 7)
  {
    return at({i0, i1, i2, i3, i4, i5, i6}, where);
  }
  Element<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                        const Bound& i5, const Bound& i6, const Bound& i7, Where where = Where::current()) const
    requires(R == 8)
  {
    return at({i0, i1, i2, i3, i4, i5, i6, i7}, where);
  }
  template <typename... I>
    requires(sizeof...(I) != R && (std::convertible_to<I, Bound> && ...))
  Element<T> operator()(const I&...) const {
    static_assert(detail::kNever<I...>, "the number of indices differs from the number of dimensions of the array");
    return Element<T>(ref_);
  }
  /// The same for any rank.
  Element<T> at(const std::array<Bound, R>& indices, Where where = Where::current()) const {
    return Element<T>(detail::element(ref_, indices.data(), R, where));
  }

  /// A part of the array: per dimension an index (drops the dimension), `sdfg::range(begin, end[, step])` or
  /// `sdfg::all`.
  template <detail::SliceLike S0>
    requires(R == 1)
  auto slice(const S0& s0, Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0)};
    return Window<T, detail::kKeeps<S0>>(detail::slice(ref_, s, 1, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1>
    requires(R == 2)
  auto slice(const S0& s0, const S1& s1, Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0), detail::slice_argument(s1)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1>>(detail::slice(ref_, s, 2, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2>
    requires(R == 3)
  auto slice(const S0& s0, const S1& s1, const S2& s2, Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0), detail::slice_argument(s1),
                                       detail::slice_argument(s2)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2>>(detail::slice(ref_, s, 3, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2, detail::SliceLike S3>
    requires(R == 4)
  auto slice(const S0& s0, const S1& s1, const S2& s2, const S3& s3, Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0), detail::slice_argument(s1),
                                       detail::slice_argument(s2), detail::slice_argument(s3)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2> + detail::kKeeps<S3>>(
        detail::slice(ref_, s, 4, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2, detail::SliceLike S3,
            detail::SliceLike S4>
    requires(R == 5)
  auto slice(const S0& s0, const S1& s1, const S2& s2, const S3& s3, const S4& s4,
             Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0), detail::slice_argument(s1),
                                       detail::slice_argument(s2), detail::slice_argument(s3),
                                       detail::slice_argument(s4)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2> + detail::kKeeps<S3> +
                         detail::kKeeps<S4>>(detail::slice(ref_, s, 5, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2, detail::SliceLike S3,
            detail::SliceLike S4, detail::SliceLike S5>
    requires(R == 6)
  auto slice(const S0& s0, const S1& s1, const S2& s2, const S3& s3, const S4& s4, const S5& s5,
             Where where = Where::current()) const {
    const detail::SliceArgument s[] = {detail::slice_argument(s0), detail::slice_argument(s1),
                                       detail::slice_argument(s2), detail::slice_argument(s3),
                                       detail::slice_argument(s4), detail::slice_argument(s5)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2> + detail::kKeeps<S3> +
                         detail::kKeeps<S4> + detail::kKeeps<S5>>(detail::slice(ref_, s, 6, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2, detail::SliceLike S3,
            detail::SliceLike S4, detail::SliceLike S5, detail::SliceLike S6>
    requires(R == 7)
  auto slice(const S0& s0, const S1& s1, const S2& s2, const S3& s3, const S4& s4, const S5& s5, const S6& s6,
             Where where = Where::current()) const {
    const detail::SliceArgument s[] = {
        detail::slice_argument(s0), detail::slice_argument(s1), detail::slice_argument(s2), detail::slice_argument(s3),
        detail::slice_argument(s4), detail::slice_argument(s5), detail::slice_argument(s6)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2> + detail::kKeeps<S3> +
                         detail::kKeeps<S4> + detail::kKeeps<S5> + detail::kKeeps<S6>>(
        detail::slice(ref_, s, 7, where));
  }
  template <detail::SliceLike S0, detail::SliceLike S1, detail::SliceLike S2, detail::SliceLike S3,
            detail::SliceLike S4, detail::SliceLike S5, detail::SliceLike S6, detail::SliceLike S7>
    requires(R == 8)
  auto slice(const S0& s0, const S1& s1, const S2& s2, const S3& s3, const S4& s4, const S5& s5, const S6& s6,
             const S7& s7, Where where = Where::current()) const {
    const detail::SliceArgument s[] = {
        detail::slice_argument(s0), detail::slice_argument(s1), detail::slice_argument(s2), detail::slice_argument(s3),
        detail::slice_argument(s4), detail::slice_argument(s5), detail::slice_argument(s6), detail::slice_argument(s7)};
    return Window<T, detail::kKeeps<S0> + detail::kKeeps<S1> + detail::kKeeps<S2> + detail::kKeeps<S3> +
                         detail::kKeeps<S4> + detail::kKeeps<S5> + detail::kKeeps<S6> + detail::kKeeps<S7>>(
        detail::slice(ref_, s, 8, where));
  }

  /// Extent of dimension d.
  Index extent(std::size_t d, Where where = Where::current()) const { return detail::extent(ref_, d, where); }
  /// The container's name in the graph.
  std::string name() const { return detail::name_of(ref_); }

  template <typename B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::kNever<B>,
                  "a value of the graph is not known while the graph is built: use g.if_(condition, then, else), "
                  "g.while_, or sdfg::select(condition, a, b) instead of C++'s if, while, && and ?:");
    return false;
  }

  const detail::WindowRef& ref() const noexcept { return ref_; }

 private:
  detail::WindowRef ref_;
};

// ---- Whole arrays ----

namespace detail {
template <typename X>
concept ArrayOperand = GraphOperand<X> && (kRankOf<X> > 0);
/// Sums of narrow integers and conditions are formed in int64, as NumPy does.
constexpr ScalarType sum_type(ScalarType t) {
  if (t == ScalarType::kBool) return ScalarType::kInt64;
  if (is_integer_type(t)) return is_unsigned_type(t) ? ScalarType::kUInt64 : ScalarType::kInt64;
  return t;
}
template <std::size_t R, std::size_t K>
constexpr std::size_t rank_without() {
  static_assert(K <= R, "more axes than dimensions");
  return R - K;
}
template <ScalarType S, typename X, std::size_t K>
auto reduced(Reduce op, const X& x, const Axes<K>& axes, Where where) {
  return ExpressionOf<S, rank_without<kRankOf<X>, K>()>(
      reduce(op, S, expr_of(x, kTypeOf<X>), axes.values.data(), K, where));
}
template <ScalarType S, typename X>
auto reduced_all(Reduce op, const X& x, Where where) {
  return ExpressionOf<S, 0>(reduce(op, S, expr_of(x, kTypeOf<X>), nullptr, 0, where));
}
}  // namespace detail

/// The sum of all elements, or over some dimensions; negative axes count from the last. Of nothing: 0.
template <detail::ArrayOperand X>
auto sum(const X& x, Where where = Where::current()) {
  return detail::reduced_all<detail::sum_type(detail::kTypeOf<X>)>(Reduce::sum, x, where);
}
template <detail::ArrayOperand X>
auto sum(const X& x, int axis, Where where = Where::current()) {
  return detail::reduced<detail::sum_type(detail::kTypeOf<X>)>(Reduce::sum, x, axes(axis), where);
}
template <detail::ArrayOperand X, std::size_t K>
auto sum(const X& x, Axes<K> over, Where where = Where::current()) {
  return detail::reduced<detail::sum_type(detail::kTypeOf<X>)>(Reduce::sum, x, over, where);
}
/// The product of all elements, or over some dimensions. Of nothing: 1.
template <detail::ArrayOperand X>
auto prod(const X& x, Where where = Where::current()) {
  return detail::reduced_all<detail::sum_type(detail::kTypeOf<X>)>(Reduce::product, x, where);
}
template <detail::ArrayOperand X>
auto prod(const X& x, int axis, Where where = Where::current()) {
  return detail::reduced<detail::sum_type(detail::kTypeOf<X>)>(Reduce::product, x, axes(axis), where);
}
template <detail::ArrayOperand X, std::size_t K>
auto prod(const X& x, Axes<K> over, Where where = Where::current()) {
  return detail::reduced<detail::sum_type(detail::kTypeOf<X>)>(Reduce::product, x, over, where);
}
/// The smallest of all elements, or over some dimensions (`min(A, 1)` is element-wise; write `min(A, axes(1))`). Of
/// nothing: the type's largest value.
template <detail::ArrayOperand X>
auto min(const X& x, Where where = Where::current()) {
  return detail::reduced_all<detail::kTypeOf<X>>(Reduce::min, x, where);
}
template <detail::ArrayOperand X, std::size_t K>
auto min(const X& x, Axes<K> over, Where where = Where::current()) {
  return detail::reduced<detail::kTypeOf<X>>(Reduce::min, x, over, where);
}
/// The largest of all elements, or over some dimensions (`max(A, 1)` is element-wise; write `max(A, axes(1))`). Of
/// nothing: the type's smallest value.
template <detail::ArrayOperand X>
auto max(const X& x, Where where = Where::current()) {
  return detail::reduced_all<detail::kTypeOf<X>>(Reduce::max, x, where);
}
template <detail::ArrayOperand X, std::size_t K>
auto max(const X& x, Axes<K> over, Where where = Where::current()) {
  return detail::reduced<detail::kTypeOf<X>>(Reduce::max, x, over, where);
}
/// The arithmetic mean, of integers in double.
template <detail::ArrayOperand X>
auto mean(const X& x, Where where = Where::current()) {
  constexpr ScalarType type = detail::float_type(detail::kTypeOf<X>);
  return detail::ExpressionOf<type, 0>(detail::mean(type, detail::expr_of(x, type), nullptr, 0, where));
}
template <detail::ArrayOperand X, std::size_t K>
auto mean(const X& x, Axes<K> over, Where where = Where::current()) {
  constexpr ScalarType type = detail::float_type(detail::kTypeOf<X>);
  return detail::ExpressionOf<type, detail::rank_without<detail::kRankOf<X>, K>()>(
      detail::mean(type, detail::expr_of(x, type), over.values.data(), K, where));
}
template <detail::ArrayOperand X>
auto mean(const X& x, int axis, Where where = Where::current()) {
  return mean(x, axes(axis), where);
}

/// Matrix product with NumPy's rules: vectors as operands, broadcasting of leading dimensions.
template <detail::ArrayOperand A, detail::ArrayOperand B>
auto matmul(const A& a, const B& b, Where where = Where::current()) {
  constexpr std::size_t ra = detail::kRankOf<A>, rb = detail::kRankOf<B>;
  constexpr std::size_t rank = ra == 1 ? rb - 1 : rb == 1 ? ra - 1 : detail::larger(ra, rb);
  constexpr ScalarType type = detail::kCommon<A, B>;
  return detail::ExpressionOf<type, rank>(
      detail::matmul(type, detail::expr_of(a, type), detail::expr_of(b, type), where));
}

/// Dimensions in reverse order, or in the given one (`transpose(A, {1, 0, 2})`).
template <detail::ArrayOperand X>
auto transpose(const X& x, Where where = Where::current()) {
  return detail::ExpressionOf<detail::kTypeOf<X>, detail::kRankOf<X>>(
      detail::transpose(detail::expr_of(x, detail::kTypeOf<X>), nullptr, 0, where));
}
template <detail::ArrayOperand X>
auto transpose(const X& x, const int (&permutation)[detail::kRankOf<X>], Where where = Where::current()) {
  return detail::ExpressionOf<detail::kTypeOf<X>, detail::kRankOf<X>>(
      detail::transpose(detail::expr_of(x, detail::kTypeOf<X>), permutation, detail::kRankOf<X>, where));
}

/// The shape of x, every element 0 (or 1, or a given value of x's type).
template <detail::ArrayOperand X, detail::AnyOperand V>
auto full_like(const X& x, const V& value, Where where = Where::current()) {
  using T = typename detail::CppTypeOf<detail::kTypeOf<X>>::type;
  return Expression<T, detail::kRankOf<X>>(
      detail::filled_like(detail::expr_of(x, detail::kTypeOf<X>), detail::stored<T, 0>(value, where), where));
}
template <detail::ArrayOperand X>
auto zeros_like(const X& x, Where where = Where::current()) {
  return full_like(x, 0, where);
}
template <detail::ArrayOperand X>
auto ones_like(const X& x, Where where = Where::current()) {
  return full_like(x, 1, where);
}

}  // namespace sdfg
