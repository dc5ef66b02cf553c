// Decides how each accumulating write is done: plainly where no two threads meet in an element, atomically elsewhere.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

bool decide_wcr_lowering(ir::Graph& g);

}  // namespace sdfg::transform
