// bfloat16 conversions with one rounding.
#include "runtime/float_helpers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace sdfg::runtime {
namespace {

// The bits of the result sit in the low 16 bits of the register that returns the float.
float in_register(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

std::uint32_t round_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return (bits >> 16) | 0x40U;
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}

}  // namespace

float bfloat_to_float(float raw) noexcept {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(raw) << 16);
}

float float_to_bfloat(float value) noexcept {
  return in_register(round_to_bfloat(value));
}

float double_to_bfloat(double value) noexcept {
  // Round to odd in float first: then the second rounding sees whether anything was cut off (no double rounding).
  auto narrow = static_cast<float>(value);
  const auto back = static_cast<double>(narrow);
  if (back != value && !std::isnan(value)) {
    auto bits = std::bit_cast<std::uint32_t>(narrow);
    if (std::fabs(back) > std::fabs(value)) --bits;  // toward zero; from infinity to the largest finite value
    narrow = std::bit_cast<float>(bits | 1U);
  }
  return in_register(round_to_bfloat(narrow));
}

}  // namespace sdfg::runtime
