// Makes a failing graph smaller while it keeps failing.
#pragma once

#include <functional>

#include "ir/graph.hpp"

namespace sdfg::test {

// `fails` must hold for `graph` and is asked for every candidate; a candidate that is no proper graph must give false.
// Returns the smallest graph found with at most `budget` questions.
ir::Graph shrink(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails, int budget = 2000);

}  // namespace sdfg::test
