// Matrix products by packed, register-blocked tiles: c = alpha a b + beta old, for float and double in any strides.
//
// Source of the scheme: Goto, van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34 (2008):
// panels of both operands are copied so that the innermost loop reads them contiguously, and a block of the result
// stays in registers. The columns of the result are vectors; a result whose rows are contiguous instead is computed
// transposed.
#pragma once

#include <functional>

#include "library/expand.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

// Which elements of a square result are computed.
enum class Triangle : std::uint8_t { kAll, kLower, kUpper };

// A matrix in a container: `part` gives the elements of some rows and columns; neighbours in a column are `row`
// elements apart in memory, neighbours in a row `column`.
struct MatrixView {
  std::string data;
  std::function<ir::Subset(const ir::Range& rows, const ir::Range& columns)> part;
  Expr row, column;
  MatrixView transposed() const;
};

struct Product {
  ScalarType type = ScalarType::kFloat64;
  Expr m, n, k;  // a is m x k, b is k x n
  MatrixView a, b, c;
  const MatrixView* old = nullptr;  // what beta multiplies; nullptr: c itself
  double alpha = 1.0, beta = 0.0;
  Triangle triangle = Triangle::kAll;
};

// A condition on the sizes under which packing pays: for an If around packed_product; a literal when it is decided.
tasklet::Expr packing_pays(const Product& p);

// Appends the tiles. Needs m, n and k to be positive.
void packed_product(const Emitter& e, const Product& p, const ExpandOptions& options);

}  // namespace sdfg::library
