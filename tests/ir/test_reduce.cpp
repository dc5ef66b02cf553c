// Identities of reductions.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/reduce.hpp"

namespace test_reduce {

using namespace sdfg;
using ir::identity_of;
using ir::ReduceOp;

TEST_CASE("identities lie at the ends of their types") {
  CHECK(identity_of(ReduceOp::kMin, ScalarType::kInt8)->as_int() == 127);
  CHECK(identity_of(ReduceOp::kMax, ScalarType::kInt8)->as_int() == -128);
  CHECK(identity_of(ReduceOp::kMin, ScalarType::kInt64)->as_int() == std::numeric_limits<std::int64_t>::max());
  CHECK(identity_of(ReduceOp::kMax, ScalarType::kInt64)->as_int() == std::numeric_limits<std::int64_t>::min());
  CHECK(identity_of(ReduceOp::kMin, ScalarType::kUInt16)->as_int() == 65535);
  CHECK(identity_of(ReduceOp::kMax, ScalarType::kUInt16)->as_int() == 0);
  CHECK(identity_of(ReduceOp::kMin, ScalarType::kBool)->as_bool());
  CHECK_FALSE(identity_of(ReduceOp::kMax, ScalarType::kBool)->as_bool());
  CHECK(std::isinf(identity_of(ReduceOp::kMin, ScalarType::kFloat16)->as_double()));
  CHECK(identity_of(ReduceOp::kMax, ScalarType::kFloat32)->as_double() < -1e38);
  CHECK(identity_of(ReduceOp::kBitAnd, ScalarType::kUInt32)->as_int() == 4294967295);
  CHECK(identity_of(ReduceOp::kProduct, ScalarType::kComplex64)->as_complex() == std::complex<double>(1, 0));
  CHECK(identity_of(ReduceOp::kSum, ScalarType::kFloat64)->type() == ScalarType::kFloat64);
}

TEST_CASE("what has no identity says so") {
  CHECK_FALSE(identity_of(ReduceOp::kExchange, ScalarType::kInt32));
  CHECK_FALSE(identity_of(ReduceOp::kCustom, ScalarType::kInt32));
  CHECK_FALSE(identity_of(ReduceOp::kMin, ScalarType::kComplex128));
  CHECK_FALSE(identity_of(ReduceOp::kBitOr, ScalarType::kFloat64));
}

}  // namespace test_reduce
