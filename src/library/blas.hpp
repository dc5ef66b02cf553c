// Products by the BLAS of the machine, for nodes that ask for it by name: our own tiles were measured to be as fast.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "library/packed.hpp"
#include "library/packed_vector.hpp"

namespace sdfg::library {

// The expansion that a node names: "pure", "loops"; "tiles", "packed"; "BLAS", "OpenBLAS", "MKL". Other names are said
// in the reasons and leave the choice to the library.
enum class Wanted : std::uint8_t { kChoose, kLoops, kTiles, kBlas };
Wanted wanted_by(const Node& n);

struct BlasCall {
  std::string function;                  // "dgemv_"
  tasklet::Expr fits;                    // what the sizes and strides must be for a call; empty products don't fit
  std::function<void(Emitter&)> append;  // of a vector product
  std::function<void(Emitter&, const Product& one)> append_product;  // of a matrix product, of one batch
};
// Nothing when the function is not there or the operands are neither row- nor column-major; the reasons say which.
// The product's strides decide; those of every batch are the same.
std::optional<BlasCall> blas_call(const Node& n, const Product& p);
std::optional<BlasCall> blas_call(const Node& n, const VectorProduct& p);

}  // namespace sdfg::library
