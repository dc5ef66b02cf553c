/// Streams: queues of values that points of maps fill and consume scopes drain.
#pragma once

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
  template <typename... I>
    requires(sizeof...(I) == R && R > 0 && (std::convertible_to<I, Bound> && ...))
  Queue<T> operator()(const I&... i) const {
    const Bound indices[] = {Bound(i)...};
    return Queue<T>(detail::element(ref_, indices, R, Where()));
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
