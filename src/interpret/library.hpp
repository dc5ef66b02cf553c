// What each library node means, in plain loops over scalar values, for all element types and layouts.
#pragma once

#include "interpret/plan.hpp"

namespace sdfg::interpret {

// Runs one library node. Throws Error(kGraph) for operands of the wrong rank, shape or type.
void run_library(const plan::LibraryStep& step, Frame& frame);

}  // namespace sdfg::interpret
