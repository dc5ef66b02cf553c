/// Element types of containers and scalar code: basic types, vectors, pointers, structures, opaque and callback types.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <sdfg/export.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sdfg {

/// The basic element types. Sizes are those of the C types; bool is one byte.
enum class ScalarType : std::uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kScalarTypeCount = 15;

/// IEEE binary16 as storage. Arithmetic happens in float in generated code.
struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;
};
/// bfloat16 (the upper half of a float) as storage. Arithmetic happens in float in generated code.
struct BFloat16 {
  std::uint16_t bits = 0;
  bool operator==(const BFloat16&) const = default;
};

/// DaCe's and NumPy's name: "bool", "int8", ..., "float64", "complex128".
SDFG_EXPORT std::string_view to_string(ScalarType type) noexcept;
/// The inverse of to_string; also accepts "bool_". Nothing for other names.
SDFG_EXPORT std::optional<ScalarType> scalar_type_from_string(std::string_view name) noexcept;
SDFG_EXPORT int size_of(ScalarType type) noexcept;
SDFG_EXPORT bool is_integer(ScalarType type) noexcept;   ///< signed or unsigned integer, not bool
SDFG_EXPORT bool is_signed(ScalarType type) noexcept;    ///< signed integer, floating or complex
SDFG_EXPORT bool is_unsigned(ScalarType type) noexcept;  ///< unsigned integer
SDFG_EXPORT bool is_floating(ScalarType type) noexcept;  ///< float16, bfloat16, float32, float64
SDFG_EXPORT bool is_complex(ScalarType type) noexcept;
/// The component type of a complex type; the type itself otherwise.
SDFG_EXPORT ScalarType component_of(ScalarType type) noexcept;

/// Result type of an arithmetic operator on two operands: complex > floating > integer > bool; among floats the wider;
/// float16 with bfloat16 gives float32; complex64 with float64 gives complex128; among integers the wider, at equal
/// width unsigned (DaCe's rule). bool with bool gives int32 for arithmetic, as in C.
SDFG_EXPORT ScalarType promote(ScalarType left, ScalarType right) noexcept;

class Type;

/// A field of a structure.
struct StructField;
/// Shape of a structure type; shared and immutable.
struct StructInfo;
/// Signature of a callback type; shared and immutable.
struct CallbackInfo;

/// A type of a container element, a connector or a symbol. A value type; cheap to copy; compared by structure.
class SDFG_EXPORT Type {
 public:
  enum class Kind : std::uint8_t { kVoid, kScalar, kVector, kPointer, kStruct, kOpaque, kCallback };

  Type() = default;                                                   ///< void: "to be inferred" on a connector
  Type(ScalarType scalar) : kind_(Kind::kScalar), scalar_(scalar) {}  // NOLINT(google-explicit-constructor)
  /// A vector of `lanes` elements of a basic type; lanes at least 1.
  static Type vector(ScalarType element, int lanes);
  static Type pointer(Type pointee);
  static Type structure(std::string name, std::vector<StructField> fields);
  /// Any C type by its name.
  static Type opaque(std::string c_name);
  static Type callback(std::vector<Type> returns, std::vector<Type> arguments);

  Kind kind() const noexcept { return kind_; }
  bool is_void() const noexcept { return kind_ == Kind::kVoid; }
  bool is_scalar() const noexcept { return kind_ == Kind::kScalar; }
  /// The basic type of a scalar, or of a vector's element. Requires kind kScalar or kVector.
  ScalarType scalar() const noexcept { return scalar_; }
  /// Lanes of a vector; 1 for everything else.
  int lanes() const noexcept { return lanes_; }
  const Type& pointee() const;             ///< of kPointer
  const StructInfo& structure() const;     ///< of kStruct
  const CallbackInfo& callback() const;    ///< of kCallback
  const std::string& opaque_name() const;  ///< of kOpaque

  /// Bytes of one element in memory, with C's alignment rules for structures; 0 for void and opaque types.
  std::int64_t size() const;
  /// Alignment in bytes (1 for void and opaque).
  std::int64_t alignment() const;
  /// Readable and canonical: "float64", "vector<float32, 4>", "pointer<int32>", "struct Pt", "callback(float64) ->
  /// float64".
  std::string str() const;

  friend SDFG_EXPORT bool operator==(const Type& a, const Type& b);

 private:
  struct Payload;
  Kind kind_ = Kind::kVoid;
  ScalarType scalar_ = ScalarType::kInt32;
  int lanes_ = 1;
  std::shared_ptr<const Payload> payload_;
};

struct StructField {
  std::string name;
  Type type;
  bool operator==(const StructField&) const = default;
};
struct StructInfo {
  std::string name;
  std::vector<StructField> fields;
  bool operator==(const StructInfo&) const = default;
};
struct CallbackInfo {
  std::vector<Type> returns;
  std::vector<Type> arguments;
  bool operator==(const CallbackInfo&) const = default;
};

/// The ScalarType of a C++ type; no member `value` for types that are none.
template <typename T>
struct ScalarTypeOf {};
template <>
struct ScalarTypeOf<bool> {
  static constexpr ScalarType value = ScalarType::kBool;
};
template <>
struct ScalarTypeOf<std::int8_t> {
  static constexpr ScalarType value = ScalarType::kInt8;
};
template <>
struct ScalarTypeOf<std::int16_t> {
  static constexpr ScalarType value = ScalarType::kInt16;
};
template <>
struct ScalarTypeOf<std::int32_t> {
  static constexpr ScalarType value = ScalarType::kInt32;
};
template <>
struct ScalarTypeOf<std::int64_t> {
  static constexpr ScalarType value = ScalarType::kInt64;
};
template <>
struct ScalarTypeOf<long long> {
  static constexpr ScalarType value = ScalarType::kInt64;
};
template <>
struct ScalarTypeOf<std::uint8_t> {
  static constexpr ScalarType value = ScalarType::kUInt8;
};
template <>
struct ScalarTypeOf<std::uint16_t> {
  static constexpr ScalarType value = ScalarType::kUInt16;
};
template <>
struct ScalarTypeOf<std::uint32_t> {
  static constexpr ScalarType value = ScalarType::kUInt32;
};
template <>
struct ScalarTypeOf<std::uint64_t> {
  static constexpr ScalarType value = ScalarType::kUInt64;
};
template <>
struct ScalarTypeOf<unsigned long long> {
  static constexpr ScalarType value = ScalarType::kUInt64;
};
template <>
struct ScalarTypeOf<Half> {
  static constexpr ScalarType value = ScalarType::kFloat16;
};
template <>
struct ScalarTypeOf<BFloat16> {
  static constexpr ScalarType value = ScalarType::kBFloat16;
};
template <>
struct ScalarTypeOf<float> {
  static constexpr ScalarType value = ScalarType::kFloat32;
};
template <>
struct ScalarTypeOf<double> {
  static constexpr ScalarType value = ScalarType::kFloat64;
};
template <>
struct ScalarTypeOf<std::complex<float>> {
  static constexpr ScalarType value = ScalarType::kComplex64;
};
template <>
struct ScalarTypeOf<std::complex<double>> {
  static constexpr ScalarType value = ScalarType::kComplex128;
};
template <typename T>
inline constexpr ScalarType kScalarTypeOf = ScalarTypeOf<T>::value;

}  // namespace sdfg
