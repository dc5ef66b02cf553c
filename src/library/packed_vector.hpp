// Products of a matrix and a vector by register blocks: y = alpha a x + beta old, for float and double.
//
// The matrix is read once, along its contiguous elements, several rows (or columns) at a time, so that each element of
// x (or each partial result) is loaded once for all of them.
#pragma once

#include <functional>

#include "library/packed.hpp"

namespace sdfg::library {

// A vector in a container; neighbours are `step` elements apart in memory.
struct VectorView {
  std::string data;
  std::function<ir::Subset(const ir::Range& elements)> part;
  Expr step;
};

struct VectorProduct {
  ScalarType type = ScalarType::kFloat64;
  Expr m, k;  // a is m x k
  MatrixView a;
  VectorView x, y;
  const VectorView* old = nullptr;  // what beta multiplies; nullptr: y itself
  double alpha = 1.0, beta = 0.0;
};

// Whether the matrix has contiguous rows or columns, which the blocks need.
bool has_blocks(const VectorProduct& p);
// A condition on the sizes under which the blocks pay; a literal when it is decided.
tasklet::Expr blocks_pay(const VectorProduct& p);
// Appends the blocks. Needs m and k to be positive.
void blocked_vector_product(const Emitter& e, const VectorProduct& p, const ExpandOptions& options);

}  // namespace sdfg::library
