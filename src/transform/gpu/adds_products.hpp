// Whether a kernel adds up products, in whatever way it is written: those without tiles get a line that says why.
#pragma once

#include "ir/graph.hpp"

namespace sdfg::transform {

// Somewhere in the kernel, products of at least two elements that move with it are added up over a dimension of its
// own, by `+=` or as x = x + a * b. A question of shape alone: what contraction_of finds is a part of these.
bool adds_products(const ir::Element& kernel);

}  // namespace sdfg::transform
