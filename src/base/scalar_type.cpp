// Properties of the basic element types and the promotion rule.
#include <algorithm>
#include <array>
#include <sdfg/types.hpp>

namespace sdfg {

namespace {

enum class Class : std::uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex };

struct Row {
  std::string_view name;
  Class kind;
  int size;
};

// In the order of ScalarType.
constexpr std::array<Row, kScalarTypeCount> kRows = {{
    {"bool", Class::kBool, 1},
    {"int8", Class::kSigned, 1},
    {"int16", Class::kSigned, 2},
    {"int32", Class::kSigned, 4},
    {"int64", Class::kSigned, 8},
    {"uint8", Class::kUnsigned, 1},
    {"uint16", Class::kUnsigned, 2},
    {"uint32", Class::kUnsigned, 4},
    {"uint64", Class::kUnsigned, 8},
    {"float16", Class::kFloat, 2},
    {"bfloat16", Class::kFloat, 2},
    {"float32", Class::kFloat, 4},
    {"float64", Class::kFloat, 8},
    {"complex64", Class::kComplex, 8},
    {"complex128", Class::kComplex, 16},
}};

constexpr const Row& row(ScalarType type) {
  return kRows[static_cast<std::size_t>(type)];
}

ScalarType complex_of(ScalarType component) {
  return component == ScalarType::kFloat64 ? ScalarType::kComplex128 : ScalarType::kComplex64;
}

ScalarType promote_floats(ScalarType left, ScalarType right) {
  if (left == right) return left;
  if (size_of(left) != size_of(right)) return size_of(left) > size_of(right) ? left : right;
  return ScalarType::kFloat32;  // float16 with bfloat16: neither holds the other's values
}

}  // namespace

std::string_view to_string(ScalarType type) noexcept {
  return row(type).name;
}

std::optional<ScalarType> scalar_type_from_string(std::string_view name) noexcept {
  if (name == "bool_") return ScalarType::kBool;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<ScalarType>(i);
  }
  return std::nullopt;
}

int size_of(ScalarType type) noexcept {
  return row(type).size;
}
bool is_integer(ScalarType type) noexcept {
  return row(type).kind == Class::kSigned || row(type).kind == Class::kUnsigned;
}
bool is_signed(ScalarType type) noexcept {
  return row(type).kind != Class::kBool && row(type).kind != Class::kUnsigned;
}
bool is_unsigned(ScalarType type) noexcept {
  return row(type).kind == Class::kUnsigned;
}
bool is_floating(ScalarType type) noexcept {
  return row(type).kind == Class::kFloat;
}
bool is_complex(ScalarType type) noexcept {
  return row(type).kind == Class::kComplex;
}

ScalarType component_of(ScalarType type) noexcept {
  if (type == ScalarType::kComplex64) return ScalarType::kFloat32;
  if (type == ScalarType::kComplex128) return ScalarType::kFloat64;
  return type;
}

ScalarType promote(ScalarType left, ScalarType right) noexcept {
  if (is_complex(left) || is_complex(right)) {
    const ScalarType a = component_of(left);
    const ScalarType b = component_of(right);
    if (!is_floating(a)) return right;
    if (!is_floating(b)) return left;
    return complex_of(promote_floats(a, b));
  }
  if (is_floating(left) && is_floating(right)) return promote_floats(left, right);
  if (is_floating(left)) return left;
  if (is_floating(right)) return right;
  if (left == ScalarType::kBool && right == ScalarType::kBool) return ScalarType::kInt32;
  if (left == ScalarType::kBool) return right;
  if (right == ScalarType::kBool) return left;
  if (size_of(left) != size_of(right)) return size_of(left) > size_of(right) ? left : right;
  return is_unsigned(left) ? left : right;
}

}  // namespace sdfg
