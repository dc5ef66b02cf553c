// A copy in the shape that the driver's calls have.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace sdfg::device::cuda {

// The same bytes as a copy, with runs joined where both sides are contiguous, and dimensions of one element dropped.
// A dimension that is not there has count 1. `inner` is the closer one.
struct Region {
  std::int64_t bytes = 0;
  std::int64_t inner = 1;
  std::int64_t outer = 1;
  std::int64_t to_inner = 0;  // strides
  std::int64_t from_inner = 0;
  std::int64_t to_outer = 0;
  std::int64_t from_outer = 0;
};
Region simplify(const Copy& copy);

// How it can be moved: in one call of one or three dimensions (two are three of depth 1), by one call per outer
// element, or run by run.
enum class Route : std::uint8_t { kRun, kBox, kSlices, kRuns };
Route route_of(const Region& region, std::int64_t most_pitch);

}  // namespace sdfg::device::cuda
