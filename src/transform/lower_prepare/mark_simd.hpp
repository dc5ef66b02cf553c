// Marks innermost maps whose last dimension the compiler may vectorise: no iteration depends on another but through a
// marked reduction.
#pragma once

#include "ir/graph.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::transform {

bool mark_simd(ir::Graph& g, const PrepareOptions& options);

}  // namespace sdfg::transform
