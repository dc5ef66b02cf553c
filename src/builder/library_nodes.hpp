// The graph's library operations from the public ones.
#pragma once

#include <sdfg/library_nodes.hpp>

#include "ir/library.hpp"

namespace sdfg::detail {

ir::LibraryOp library_op(const nodes::Any& operation);

}  // namespace sdfg::detail
