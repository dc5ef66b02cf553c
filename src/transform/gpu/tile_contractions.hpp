// Computes sums of products tile by tile: operands pass through shared memory, sums stay in registers.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "transform/gpu/options.hpp"

namespace sdfg::transform {

// A kernel that adds up products of two operands, each indexed by functions affine in the parameters (a matrix product,
// a contraction over several dimensions, a convolution), becomes a product of matrices: parameters that move the result
// with the first operand are flattened to rows, with the second to columns, those that only the operands have to the
// summed dimension. Nothing is copied to form these matrices: addresses come from the flattened numbers. Each sum is
// added up in the order that the kernel gives, onto what the result held. `strict`: not where code behind the sum
// accumulates, which would then need atomic operations. Where the extents decide at run time whether
// tiles pay, a branch keeps the kernel beside them. Kernels whose block size was set by hand stay. `explanations` gets
// a line per decision, also one that says why a kernel that adds up products of two or more elements has no tiles.
bool tile_contractions(ir::Graph& g, bool strict = false, std::vector<std::string>* explanations = nullptr);

}  // namespace sdfg::transform
