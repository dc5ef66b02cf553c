// Exact conversions of float16 and bfloat16: one rounding to nearest even, whatever the source.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <sdfg/types.hpp>

namespace sdfg::tasklet {

// Rounds to float so that rounding the result once more to a narrower type gives what rounding `value` directly would
// (round to odd).
inline float float_for_rounding(double value) {
  const float nearest = static_cast<float>(value);
  if (!(std::fabs(value) < 1e39) || static_cast<double>(nearest) == value) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if ((bits & 1U) != 0) return nearest;
  // An even nearest value moves towards the exact one, onto its odd neighbour.
  const bool too_large = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  bits = too_large ? bits - 1U : bits + 1U;
  return std::bit_cast<float>(bits);
}

inline BFloat16 bfloat16_from(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16)};
}
inline BFloat16 bfloat16_from(double value) {
  return bfloat16_from(float_for_rounding(value));
}
inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline Half half_from(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return {static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU))};
  if (magnitude >= 0x47800000U) return {static_cast<std::uint16_t>(sign | 0x7C00U)};  // 65536 and more, infinity
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 0.5 aligns the unit of the last place with that of 2^-24, and rounds.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3F000000U))};
  }
  const std::uint32_t rounded = magnitude + 0xC8000FFFU + ((magnitude >> 13) & 1U);  // exponent bias from 127 to 15
  return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
}
inline Half half_from(double value) {
  return half_from(float_for_rounding(value));
}
inline float to_float(Half value) {
  const std::uint32_t sign = (static_cast<std::uint32_t>(value.bits) & 0x8000U) << 16;
  const std::uint32_t magnitude = value.bits & 0x7FFFU;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  if (magnitude < 0x400U) {
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
    return (sign != 0) ? -subnormal : subnormal;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
}

}  // namespace sdfg::tasklet
