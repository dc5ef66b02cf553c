// How much a map does: the number of innermost iterations, as a product of trip counts over the symbols around it.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "symbolic/facts.hpp"

namespace sdfg::analysis {

// Iterations of the map times those of the largest nest of loops inside; nothing when that depends on more than symbols
// from outside (loops that end by a condition on data, triangular nests, data-dependent bounds). The factors are kept
// apart, outermost first: multiplied out they would be unreadable. A single constant when all of them are.
std::optional<std::vector<symbolic::Expr>> work_of(const ir::Map& map, const symbolic::Facts& facts);

}  // namespace sdfg::analysis
