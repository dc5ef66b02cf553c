// Names that the parser knows: functions of the file format, types of casts, constants that are no integers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace sdfg::symbolic {

// What a function name of the file format means. Unknown names become opaque calls.
enum class Function : std::uint8_t {
  kMin,
  kMax,
  kFloorDiv,
  kCeilDiv,
  kFloor,
  kCeiling,
  kMod,
  kAbs,
  kAnd,
  kOr,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kSelect,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kShiftLeft,
  kShiftRight,
  kPower,
  kApproximated,
  kSubscript,
  kAttribute,
  kSymbol,
};

struct FunctionName {
  std::string_view name;
  Function function;
  int arity;  // -1: one or more
};

// nullptr: none of ours.
const FunctionName* find_function(std::string_view name);

inline constexpr std::array<std::string_view, 22> kIntegerTypes = {
    "int8",    "int16",   "int32",    "int64",    "uint8",    "uint16", "uint32",  "uint64",
    "int",     "long",    "short",    "size_t",   "char",     "int8_t", "int16_t", "int32_t",
    "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint"};
inline constexpr std::array<std::string_view, 3> kBooleanTypes = {"bool", "bool_", "boolean"};
inline constexpr std::array<std::string_view, 10> kFloatTypes = {
    "float", "double", "float16", "float32", "float64", "complex", "bfloat16", "complex64", "complex128", "half"};
inline constexpr std::array<std::string_view, 8> kNonIntegers = {"pi", "E", "I", "oo", "nan", "inf", "zoo", "NaN"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Without its module: `dace.int64` and `int64` name the same type.
inline std::string_view type_name(std::string_view name) {
  for (const std::string_view prefix : {"dace.", "dtypes.", "np.", "numpy.", "std::"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

}  // namespace sdfg::symbolic
