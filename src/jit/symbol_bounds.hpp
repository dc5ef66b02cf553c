// Values of symbols against the bounds that a graph states for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ir/graph.hpp"

namespace sdfg::jit {

// "symbol 'M' is 2, the graph needs at least N = 3" for the first value, by name, that is outside; nothing when none
// is. Bounds over symbols without a value are passed over.
std::optional<std::string> broken_symbol_bound(const ir::Graph& g,
                                               const std::map<std::string, std::int64_t, std::less<>>& values);

}  // namespace sdfg::jit
