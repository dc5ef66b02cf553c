/// Integer expressions over symbols: extents, bounds and indices.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <sdfg/export.hpp>
#include <source_location>
#include <string>
#include <type_traits>

namespace sdfg {

/// The place of a call in the user's program; captured by default arguments.
using Where = std::source_location;

namespace detail {
struct IndexNode;

template <typename T>
concept IndexInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

[[noreturn]] SDFG_EXPORT void index_too_large(std::uint64_t value, Where where);
}  // namespace detail

/// An exact 64-bit integer expression over symbols, map parameters and loop variables. A value type; cheap to copy.
///
/// `/` and `%` round towards minus infinity (`floor_div` and Python's `%`): the same as C++ for operands that are not
/// negative, and the reading that index algebra can simplify. An Index names its symbols: one that is assigned again
/// later (`g.assign`) is read where the Index is used. Overflow of constants throws Error(kLimit).
class SDFG_EXPORT Index {
 public:
  template <detail::IndexInteger T>
  Index(T value, Where where = Where::current())
      : constant_(static_cast<std::int64_t>(value)) {  // NOLINT: a literal is an index
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (constant_ < 0) detail::index_too_large(value, where);
    }
  }
  explicit Index(std::shared_ptr<const detail::IndexNode> node) : node_(std::move(node)) {}

  /// The expression as text with the names of the graph, for messages.
  std::string str() const;

  const std::shared_ptr<const detail::IndexNode>& node() const noexcept { return node_; }  ///< null for constants
  std::int64_t constant() const noexcept { return constant_; }                             ///< when node() is null

 private:
  std::shared_ptr<const detail::IndexNode> node_;
  std::int64_t constant_ = 0;
};

SDFG_EXPORT Index operator+(const Index& a, const Index& b);
SDFG_EXPORT Index operator-(const Index& a, const Index& b);
SDFG_EXPORT Index operator*(const Index& a, const Index& b);
SDFG_EXPORT Index operator/(const Index& a, const Index& b);
SDFG_EXPORT Index operator%(const Index& a, const Index& b);
SDFG_EXPORT Index operator-(const Index& a);
/// Division rounding towards minus infinity.
SDFG_EXPORT Index floor_div(const Index& a, const Index& b);
/// Division rounding towards plus infinity: the number of blocks of `b` that hold `a` elements.
SDFG_EXPORT Index ceil_div(const Index& a, const Index& b);
SDFG_EXPORT Index min(const Index& a, const Index& b);
SDFG_EXPORT Index max(const Index& a, const Index& b);
SDFG_EXPORT Index abs(const Index& a);

}  // namespace sdfg
