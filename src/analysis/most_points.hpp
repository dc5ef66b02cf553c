// A constant bound of the number of points of a range.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph.hpp"
#include "symbolic/facts.hpp"

namespace sdfg::analysis {

// At least the points of a range with unit or other positive step, at least 1; nothing when no constant bound is known.
// Tiles as b:min(N, b + 32) have 32.
std::optional<std::int64_t> most_points(const ir::Range& r, const symbolic::Facts& facts);

}  // namespace sdfg::analysis
