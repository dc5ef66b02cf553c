/// Closed sets and options that the builder takes: reductions, schedules, storages, options of maps, loops and
/// containers.
#pragma once

#include <cstdint>
#include <optional>
#include <sdfg/index.hpp>
#include <string>
#include <vector>

namespace sdfg {

/// How concurrent or repeated writes to one element combine. The order of the combined values is not defined.
enum class Reduce : std::uint8_t {
  sum,
  product,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor,
  exchange,  ///< the last writer wins, whoever that is
};

/// Where the points of a map run.
enum class Schedule : std::uint8_t {
  kDefault,      ///< the optimiser decides
  kSequential,   ///< one after the other
  kParallel,     ///< CPU threads
  kDevice,       ///< a GPU kernel
  kThreadBlock,  ///< threads of a GPU block; inside a kDevice map
  kWarp,         ///< lanes of a warp; inside a kThreadBlock map
};

/// OpenMP's schedule kinds, for kParallel maps.
enum class OmpSchedule : std::uint8_t { kDefault, kStatic, kDynamic, kGuided };

/// Where a container's elements are kept. Kernels reach kGpuGlobal (of an argument: the caller passes a device
/// address), kGpuShared (declared in a kernel, one instance per block), kPinned, kRegister and kDefault containers of
/// their own, and scalars by value; code of the host reaches everything but the first two.
enum class Storage : std::uint8_t { kDefault, kRegister, kHeap, kPinned, kThreadLocal, kGpuGlobal, kGpuShared };

/// Options of a map, all optional: `g.map({"i", 0, N}, body, {.schedule = sdfg::Schedule::kParallel})`.
struct MapOptions {
  Schedule schedule = Schedule::kDefault;
  std::string label = {};  ///< shown in messages and traces; empty: the parameters
  bool unroll = false;
  int collapse = 0;     ///< dimensions shared among CPU threads together; 0: decided
  int num_threads = 0;  ///< 0: the runtime's
  OmpSchedule omp_schedule = OmpSchedule::kDefault;
  std::int64_t omp_chunk = 0;
  bool simd = false;  ///< promises that the innermost dimension may be vectorised
  /// Of a kDevice map: threads of a block in x (the map's last dimension), y and z; at most 1,024, 64 of them in z.
  /// Empty: the extents of the thread-block maps inside where they are constants, else SDFG_GPU_BLOCK_SIZE.
  std::vector<std::int64_t> gpu_block_size = {};
  std::string gpu_launch_bounds = {};  ///< text of CUDA's __launch_bounds__; empty: the block size; "-1": none
  int gpu_max_registers = 0;  ///< per thread (CUDA's __maxnreg__, instead of launch bounds); 0: the compiler decides
};

/// Options of a counted loop.
struct LoopOptions {
  std::string label = {};
  bool unroll = false;
  int unroll_factor = 0;
};

/// When a loop made by `g.for_` tests and updates.
enum class LoopForm : std::uint8_t {
  kTestFirst,       ///< for (init; condition; update) body
  kUpdateThenTest,  ///< init; do { body; update; } while (condition)
  kTestThenUpdate,  ///< init; forever { body; if (!condition) break; update; }
};

/// Options of a container, all optional: `g.array<float>("A", {N, M}, {.column_major = true})`.
struct ArrayOptions {
  Storage storage = Storage::kDefault;
  bool column_major = false;             ///< the first dimension is the contiguous one
  std::vector<Index> strides = {};       ///< in elements, one per dimension; empty: packed
  std::vector<Index> offset = {};        ///< added to each index: -1 makes indices start at 1; empty: zero
  std::optional<Index> start = {};       ///< elements before the first one
  std::optional<Index> total_size = {};  ///< elements to allocate
  std::int64_t alignment = 0;            ///< bytes; 0: 64 for owned memory, the element's for arguments
  bool may_alias = false;                ///< may overlap other arguments; otherwise code relies on it not doing so
  bool zeroed = false;                   ///< transients: filled with zero when their scope is entered
};

}  // namespace sdfg
