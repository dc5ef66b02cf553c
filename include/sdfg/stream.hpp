/// Streams: queues of values that points of maps fill and consume scopes drain.
#pragma once

#include <array>
#include <sdfg/array.hpp>
#include <string>

namespace sdfg {

namespace detail {
class BuilderImpl;
SDFG_EXPORT void push(const WindowRef& stream, const ExprRef& value, Where where);
SDFG_EXPORT ExprRef pop(const WindowRef& stream, Where where);
}  // namespace detail

/// One queue: a stream without dimensions, or an element of an array of streams.
template <typename T>
class Queue {
 public:
  explicit Queue(detail::WindowRef ref) : ref_(std::move(ref)) {}
  /// Appends a value. In a map, the order of values from different points is not defined.
  template <detail::AnyOperand X>
  void push(const X& x, Where where = Where::current()) const {
    detail::push(ref_, detail::stored<T, 0>(x, where), where);
  }
  /// Takes the oldest value out, here and now. The queue must not be empty.
  Value<T> pop(Where where = Where::current()) const { return Value<T>(detail::pop(ref_, where)); }
  const detail::WindowRef& ref() const noexcept { return ref_; }

 private:
  detail::WindowRef ref_;
};

/// An array of queues with R dimensions; without dimensions it is a queue itself. Obtained from `g.stream`.
template <typename T, std::size_t R>
class Stream {
 public:
  explicit Stream(detail::WindowRef ref) : ref_(std::move(ref)) {}
  /// The queue at the given indices; one index per dimension. One overload per rank, as of arrays, for the place of the
  /// call.
  Queue<T> operator()(const Bound& i0, Where where = Where::current()) const
    requires(R == 1)
  {
    return at({i0}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, Where where = Where::current()) const
    requires(R == 2)
  {
    return at({i0, i1}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, Where where = Where::current()) const
    requires(R == 3)
  {
    return at({i0, i1, i2}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3,
                      Where where = Where::current()) const
    requires(R == 4)
  {
    return at({i0, i1, i2, i3}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                      Where where = Where::current()) const
    requires(R == 5)
  {
    return at({i0, i1, i2, i3, i4}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                      const Bound& i5, Where where = Where::current()) const
    requires(R == 6)
  {
    return at({i0, i1, i2, i3, i4, i5}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                      const Bound& i5, const Bound& i6, Where where = Where::current()) const
    requires(R == 7)
  {
    return at({i0, i1, i2, i3, i4, i5, i6}, where);
  }
  Queue<T> operator()(const Bound& i0, const Bound& i1, const Bound& i2, const Bound& i3, const Bound& i4,
                      const Bound& i5, const Bound& i6, const Bound& i7, Where where = Where::current()) const
    requires(R == 8)
  {
    return at({i0, i1, i2, i3, i4, i5, i6, i7}, where);
  }
  template <typename... I>
    requires(sizeof...(I) != R && (std::convertible_to<I, Bound> && ...))
  Queue<T> operator()(const I&...) const {
    static_assert(detail::kNever<I...>, "the number of indices differs from the number of dimensions of the stream");
    return Queue<T>(ref_);
  }
  /// The same for any rank.
  Queue<T> at(const std::array<Bound, R>& indices, Where where = Where::current()) const {
    return Queue<T>(detail::element(ref_, indices.data(), R, where));
  }
  std::string name() const { return detail::name_of(ref_); }
  const detail::WindowRef& ref() const noexcept { return ref_; }

 private:
  detail::WindowRef ref_;
};

template <typename T>
class Stream<T, 0> : public Queue<T> {
 public:
  using Queue<T>::Queue;
  std::string name() const { return detail::name_of(this->ref()); }
};

/// How many values a queue holds at most, 0 for no limit. A type of its own, since numbers in braces are extents of an
/// array of queues: `g.stream<double>("s", sdfg::Capacity(N))`.
class Capacity {
 public:
  Capacity() = default;
  explicit Capacity(const Index& values) : values_(values) {}
  const Index& values() const noexcept { return values_; }

 private:
  Index values_ = 0;
};

/// Options of `g.consume`.
struct ConsumeOptions {
  std::string label;
  Index workers = 1;
  Schedule schedule = Schedule::kDefault;
};

}  // namespace sdfg
