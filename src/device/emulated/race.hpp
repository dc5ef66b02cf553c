// The shadow of one location: who wrote and read it last, and whether two accesses are ordered.
#pragma once

#include <cstdint>

namespace sdfg::device::emulated {

// One access. All zero means none: launches count from 1. A grid barrier counts as the begin of another launch, since
// it orders everything before it with everything after it.
struct RaceAccess {
  std::uint32_t launch = 0;
  std::uint32_t block = 0;       // linear
  std::uint32_t epoch = 0;       // block barriers passed
  std::uint32_t warp_epoch = 0;  // warp operations passed
  std::uint32_t line = 0;
  std::uint16_t thread = 0;  // linear in the block
  std::uint8_t bytes = 0;    // which of the four bytes, a bit each
  bool atomic = false;
};

// Two readers: a writer conflicts with one of them at least, if it is a third thread.
struct RaceCell {
  RaceAccess writer;
  RaceAccess readers[2];
};

// Whether nothing orders `before` and `now`, of which at least one writes.
inline bool conflict(const RaceAccess& before, const RaceAccess& now, unsigned warp_size, bool shared) {
  if (before.launch != now.launch || (before.bytes & now.bytes) == 0 || (before.atomic && now.atomic)) return false;
  if (before.block != now.block) return !shared;
  if (before.thread == now.thread || before.epoch != now.epoch) return false;
  return before.thread / warp_size != now.thread / warp_size || before.warp_epoch == now.warp_epoch;
}

}  // namespace sdfg::device::emulated
