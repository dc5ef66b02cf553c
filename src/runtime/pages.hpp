// Sizes in whole pages.
#pragma once

#include <cstddef>

namespace sdfg::runtime {

constexpr std::size_t kPage = 4096;

// The least multiple of `alignment`, a power of two, from `value` on.
constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace sdfg::runtime
