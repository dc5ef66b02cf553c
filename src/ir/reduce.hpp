// What reductions start from.
#pragma once

#include <optional>

#include "ir/graph.hpp"

namespace sdfg::ir {

// The value that combining with changes nothing; nothing for operators and types that have none (exchange, custom
// functions, order of complex numbers, bits of floating-point numbers).
std::optional<tasklet::Value> identity_of(ReduceOp op, ScalarType type);

}  // namespace sdfg::ir
