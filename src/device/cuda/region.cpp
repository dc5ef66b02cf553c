// Decides which of the driver's copies fits a region.
#include "device/cuda/region.hpp"

namespace sdfg::device::cuda {

Region simplify(const Copy& copy) {
  Region r;
  r.bytes = copy.bytes;
  r.outer = copy.count[0];
  r.inner = copy.count[1];
  r.to_outer = copy.to_stride[0];
  r.from_outer = copy.from_stride[0];
  r.to_inner = copy.to_stride[1];
  r.from_inner = copy.from_stride[1];
  const auto drop_inner = [&r] {
    r.inner = r.outer;
    r.to_inner = r.to_outer;
    r.from_inner = r.from_outer;
    r.outer = 1;
    r.to_outer = r.from_outer = 0;
  };
  if (r.inner == 1) drop_inner();
  while (r.inner > 1 && r.to_inner == r.bytes && r.from_inner == r.bytes) {
    r.bytes *= r.inner;
    r.inner = 1;
    drop_inner();
  }
  // Rows that follow each other at one distance on both sides are one longer sequence of rows.
  if (r.outer > 1 && r.to_outer == r.inner * r.to_inner && r.from_outer == r.inner * r.from_inner) {
    r.inner *= r.outer;
    r.outer = 1;
    r.to_outer = r.from_outer = 0;
  }
  if (r.inner == 1) r.to_inner = r.from_inner = 0;
  return r;
}

Route route_of(const Region& r, std::int64_t most_pitch) {
  if (r.inner == 1 && r.outer == 1) return Route::kRun;
  const auto is_pitch = [&](std::int64_t stride) { return stride >= r.bytes && stride <= most_pitch; };
  if (!is_pitch(r.to_inner) || !is_pitch(r.from_inner)) return Route::kRuns;
  if (r.outer == 1) return Route::kBox;
  const auto is_slice = [&](std::int64_t outer, std::int64_t inner) {
    return outer > 0 && outer % inner == 0 && outer / inner >= r.inner;
  };
  return is_slice(r.to_outer, r.to_inner) && is_slice(r.from_outer, r.from_inner) ? Route::kBox : Route::kSlices;
}

}  // namespace sdfg::device::cuda
