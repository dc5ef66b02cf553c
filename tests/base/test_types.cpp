// Element types: names, promotion, layout in memory, comparison.
#include <catch2/catch.hpp>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>

namespace test_types {

using sdfg::promote;
using sdfg::ScalarType;
using sdfg::Type;

namespace {

std::vector<ScalarType> all_types() {
  std::vector<ScalarType> types;
  for (int i = 0; i < sdfg::kScalarTypeCount; ++i) types.push_back(static_cast<ScalarType>(i));
  return types;
}

}  // namespace

TEST_CASE("names of basic types convert both ways") {
  for (ScalarType type : all_types()) CHECK(sdfg::scalar_type_from_string(to_string(type)) == type);
  CHECK(sdfg::scalar_type_from_string("bool_") == ScalarType::kBool);
  CHECK_FALSE(sdfg::scalar_type_from_string("float").has_value());
}

TEST_CASE("promotion is commutative and, except for bool, idempotent") {
  for (ScalarType a : all_types()) {
    for (ScalarType b : all_types()) CHECK(promote(a, b) == promote(b, a));
    if (a != ScalarType::kBool) CHECK(promote(a, a) == a);
  }
}

TEST_CASE("promotion follows the documented rule") {
  using enum ScalarType;
  CHECK(promote(kInt64, kFloat16) == kFloat16);
  CHECK(promote(kFloat16, kBFloat16) == kFloat32);
  CHECK(promote(kFloat32, kBFloat16) == kFloat32);
  CHECK(promote(kFloat32, kFloat64) == kFloat64);
  CHECK(promote(kComplex64, kFloat64) == kComplex128);
  CHECK(promote(kComplex64, kInt64) == kComplex64);
  CHECK(promote(kComplex64, kFloat16) == kComplex64);
  CHECK(promote(kComplex64, kComplex128) == kComplex128);
  CHECK(promote(kInt32, kUInt32) == kUInt32);
  CHECK(promote(kInt64, kUInt32) == kInt64);
  CHECK(promote(kUInt8, kInt8) == kUInt8);
  CHECK(promote(kBool, kInt8) == kInt8);
  CHECK(promote(kBool, kBool) == kInt32);
}

TEST_CASE("sizes and classes of basic types") {
  CHECK(sdfg::size_of(ScalarType::kComplex128) == 16);
  CHECK(sdfg::size_of(ScalarType::kBFloat16) == 2);
  CHECK(sdfg::is_integer(ScalarType::kUInt8));
  CHECK_FALSE(sdfg::is_integer(ScalarType::kBool));
  CHECK_FALSE(sdfg::is_signed(ScalarType::kBool));
  CHECK(sdfg::is_signed(ScalarType::kComplex64));
  CHECK(sdfg::component_of(ScalarType::kComplex64) == ScalarType::kFloat32);
  CHECK(sdfg::component_of(ScalarType::kInt8) == ScalarType::kInt8);
}

TEST_CASE("structures are laid out as in C") {
  struct Sample {
    char a;
    double b;
    std::int16_t c;
  };
  const Type type =
      Type::structure("Sample", {{"a", ScalarType::kInt8}, {"b", ScalarType::kFloat64}, {"c", ScalarType::kInt16}});
  CHECK(type.size() == sizeof(Sample));
  CHECK(type.alignment() == alignof(Sample));
  const Type nested = Type::structure("Outer", {{"x", ScalarType::kInt8}, {"s", type}});
  CHECK(nested.size() == 32);
  CHECK(Type::structure("Empty", {}).size() == 1);
}

TEST_CASE("vectors align to their size only when it is a power of two") {
  CHECK(Type::vector(ScalarType::kFloat32, 4).alignment() == 16);
  CHECK(Type::vector(ScalarType::kFloat32, 3).alignment() == 4);
  CHECK(Type::vector(ScalarType::kFloat32, 3).size() == 12);
  CHECK_THROWS_AS(Type::vector(ScalarType::kFloat32, 0), sdfg::Error);
}

TEST_CASE("types are compared by structure") {
  CHECK(Type::pointer(ScalarType::kInt32) == Type::pointer(ScalarType::kInt32));
  CHECK_FALSE(Type::pointer(ScalarType::kInt32) == Type::pointer(ScalarType::kInt64));
  CHECK_FALSE(Type(ScalarType::kInt32) == Type::vector(ScalarType::kInt32, 1));
  CHECK(Type::structure("P", {{"x", ScalarType::kInt32}}) == Type::structure("P", {{"x", ScalarType::kInt32}}));
  CHECK_FALSE(Type::structure("P", {{"x", ScalarType::kInt32}}) == Type::structure("P", {{"y", ScalarType::kInt32}}));
  CHECK(Type() == Type());
}

TEST_CASE("the text of a type is readable") {
  CHECK(Type(ScalarType::kFloat64).str() == "float64");
  CHECK(Type::vector(ScalarType::kFloat32, 4).str() == "vector<float32, 4>");
  CHECK(Type::pointer(ScalarType::kInt32).str() == "pointer<int32>");
  CHECK(Type::structure("Pt", {}).str() == "struct Pt");
  CHECK(Type::opaque("MPI_Request").str() == "opaque<MPI_Request>");
  CHECK(Type::callback({ScalarType::kFloat64}, {ScalarType::kFloat64}).str() == "callback(float64) -> float64");
  CHECK(Type::callback({}, {}).str() == "callback() -> void");
}

TEST_CASE("asking a type for what it is not is an error") {
  CHECK_THROWS_AS(Type(ScalarType::kInt32).pointee(), sdfg::Error);
  CHECK_THROWS_AS(Type().structure(), sdfg::Error);
}

}  // namespace test_types
