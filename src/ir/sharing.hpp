// Which containers may lie in the same memory: everything that computes one from another part by part asks here first.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::ir {

// May an element of one be an element of the other? Containers with the same root, two that were both declared as
// overlapping others, and references, which point anywhere.
bool may_share_memory(const Graph& g, const Container& a, const Container& b);

}  // namespace sdfg::ir
