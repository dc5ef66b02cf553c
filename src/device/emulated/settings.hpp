// Knobs of the emulated device, for tests and for SDFG_CHECK.
#pragma once

#include <cstdint>

namespace sdfg::device::emulated {

// The order in which what is unordered runs: threads of a block, blocks of a grid, work of different streams.
//   kForward  ascending; work in the order it was queued
//   kReverse  descending; of the streams, only what is waited for, newest first
//   kRandom   by `seed`
enum class Schedule : std::uint8_t { kForward, kReverse, kRandom };

struct Settings {
  Schedule schedule = Schedule::kForward;
  std::uint64_t seed = 1;
  int warp_size = 32;                                 // 1 to 32, a power of two
  bool races = false;                                 // conflicting accesses of threads that nothing orders
  bool uninitialised = false;                         // kernels that read what was never written
  std::int64_t resident_blocks = 128;                 // of a cooperative launch
  std::int64_t step_budget = std::int64_t{4} << 30;   // turns of loops in one launch before it counts as hanging
  std::int64_t memory_bytes = std::int64_t{8} << 30;  // of the device: allocations beyond it fail
  // The n-th call of the device from now on fails (1 is the next one; 0: none). Which calls count: all that may throw.
  std::int64_t fail_at = 0;
};

}  // namespace sdfg::device::emulated
