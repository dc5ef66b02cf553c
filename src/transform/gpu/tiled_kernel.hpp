// Internal to transform/gpu: the kernel that computes a contraction by tiles.
#pragma once

#include <memory>

#include "library/emit.hpp"
#include "transform/gpu/contraction.hpp"

namespace sdfg::transform {

// Threads of a block form a grid of (rows / thread_rows) x (columns / thread_columns), each with a tile of its own in
// registers.
struct Tiles {
  std::int64_t rows = 0, columns = 0, summed = 0;  // of a block
  std::int64_t thread_rows = 0, thread_columns = 0;
  int blocks_at_once = 1;  // on a multiprocessor, at least: what registers are rationed for

  std::int64_t threads() const { return (rows / thread_rows) * (columns / thread_columns); }
};

symbolic::Expr points_of(const std::vector<Label>& labels);

// How many of the summed labels, from the last one on, are counted together; those before are loops around.
std::size_t flattened_sums(const DeviceContraction& c);

// The kernel's element. Labels of `c` are in the order in which they are to be flattened, the last one fastest.
// `names`: those in code, which symbols must not have.
std::unique_ptr<ir::Element> tiled_kernel(ir::Graph& g, const DeviceContraction& c, const Tiles& tiles,
                                          const ir::Element& kernel, const symbolic::Facts& outside,
                                          library::CodeNames& names);

}  // namespace sdfg::transform
