// The table of identities.
#include "ir/reduce.hpp"

#include <limits>

namespace sdfg::ir {

namespace {

using tasklet::Value;

Value largest(ScalarType type) {
  if (is_floating(type)) return Value::floating(std::numeric_limits<double>::infinity(), type);
  if (type == ScalarType::kBool) return Value::boolean(true);
  if (!is_signed(type)) return Value::integer(-1, type);
  return Value::integer(std::numeric_limits<std::int64_t>::max() >> (64 - 8 * size_of(type)), type);
}
Value smallest(ScalarType type) {
  if (is_floating(type)) return Value::floating(-std::numeric_limits<double>::infinity(), type);
  if (!is_signed(type)) return Value::integer(0).cast(type);
  return Value::integer(std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(type)), type);
}

}  // namespace

std::optional<Value> identity_of(ReduceOp op, ScalarType type) {
  const bool bits = is_integer(type) || type == ScalarType::kBool;
  switch (op) {
    case ReduceOp::kSum: return Value::integer(0).cast(type);
    case ReduceOp::kProduct: return Value::integer(1).cast(type);
    case ReduceOp::kLogicalOr:
    case ReduceOp::kLogicalXor: return is_complex(type) ? std::nullopt : std::optional(Value::integer(0).cast(type));
    case ReduceOp::kLogicalAnd: return is_complex(type) ? std::nullopt : std::optional(Value::integer(1).cast(type));
    case ReduceOp::kBitOr:
    case ReduceOp::kBitXor: return bits ? std::optional(Value::integer(0).cast(type)) : std::nullopt;
    case ReduceOp::kBitAnd:
      if (!bits) return std::nullopt;
      return type == ScalarType::kBool ? Value::boolean(true) : Value::integer(-1, type);
    case ReduceOp::kMin: return is_complex(type) ? std::nullopt : std::optional(largest(type));
    case ReduceOp::kMax: return is_complex(type) ? std::nullopt : std::optional(smallest(type));
    case ReduceOp::kExchange:
    case ReduceOp::kCustom: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sdfg::ir
