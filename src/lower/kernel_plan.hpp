// How the points of a device map lie on blocks and threads: one answer for the kernel's text and for its launch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::lower {

inline constexpr std::int64_t kMostBlocksX = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMostBlocksYz = 65535;
inline constexpr std::int64_t kMostThreads = 1024;
inline constexpr std::int64_t kWarpSize = 32;

// One of x, y and z. The dimensions it carries are counted together, the last one fastest; what differs from their true
// number of points (ranges that depend on other parameters) is cut off by a guard.
struct KernelAxis {
  std::vector<std::size_t> dimensions;  // of the map, in its order; empty: the axis has one point
  std::vector<symbolic::Expr> counts;   // of each: points, or a bound of them; over symbols from outside the map
  symbolic::Expr points = 1;            // product
  std::int64_t threads = 1;             // per block
  std::int64_t most_blocks = 1;         // cap of the grid
  bool strided = false;                 // the grid may be smaller than the points: threads take several in strides
  bool runs = false;      // instead of strides: blocks take runs of neighbours, which share what they read
  std::int64_t lead = 0;  // threads in front of the first point, so that warps touch whole lines of memory
};

struct KernelPlan {
  std::array<KernelAxis, 3> axes;  // x, y, z
  std::vector<std::size_t> loops;  // dimensions that each thread (or block) runs through by itself
  bool blockwise = false;          // points belong to blocks: the map holds thread-block maps
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

// `facts` hold outside of the map.
KernelPlan plan_kernel(const ir::Graph& g, const ir::Map& m, const symbolic::Facts& facts);

}  // namespace sdfg::lower
