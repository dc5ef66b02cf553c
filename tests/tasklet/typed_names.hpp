// Names of every type for tests of scalar code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tasklet/code.hpp"

namespace sdfg::tests {

using Names = std::map<std::string, Type, std::less<>>;

// "b", "i8", ..., "c128", each also with a trailing "b" for a second name of the type.
inline const Names& names() {
  static const Names kNames = [] {
    Names names;
    const std::pair<const char*, ScalarType> scalars[] = {
        {"b", ScalarType::kBool},      {"i8", ScalarType::kInt8},       {"i16", ScalarType::kInt16},
        {"i32", ScalarType::kInt32},   {"i64", ScalarType::kInt64},     {"u8", ScalarType::kUInt8},
        {"u16", ScalarType::kUInt16},  {"u32", ScalarType::kUInt32},    {"u64", ScalarType::kUInt64},
        {"f16", ScalarType::kFloat16}, {"bf16", ScalarType::kBFloat16}, {"f32", ScalarType::kFloat32},
        {"f64", ScalarType::kFloat64}, {"c64", ScalarType::kComplex64}, {"c128", ScalarType::kComplex128}};
    for (const auto& [name, type] : scalars) {
      names.emplace(name, type);
      names.emplace(std::string(name) + "b", type);
    }
    names.emplace("cb", Type::callback({ScalarType::kFloat64}, {ScalarType::kFloat32}));
    return names;
  }();
  return kNames;
}

inline tasklet::TypeEnvironment environment() {
  tasklet::TypeEnvironment env;
  env.name = [](std::string_view name) -> std::optional<Type> {
    const auto found = names().find(name);
    return found == names().end() ? std::nullopt : std::optional<Type>(found->second);
  };
  env.element = [](std::string_view base) -> std::optional<Type> {
    return base == "A" ? std::optional<Type>(ScalarType::kFloat64) : std::nullopt;
  };
  return env;
}

inline tasklet::Expr typed(const std::string& text) {
  return tasklet::infer_types(tasklet::parse_expression(text), environment());
}

}  // namespace sdfg::tests
