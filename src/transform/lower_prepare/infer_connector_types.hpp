// Gives every tasklet connector without a type the one that its memlet implies.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

bool infer_connector_types(ir::Graph& g);

}  // namespace sdfg::transform
