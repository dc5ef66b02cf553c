// What influences the lowering of a graph to statements. Every field is part of the cache key.
#pragma once

#include <cstdint>

#include "base/digest.hpp"

namespace sdfg::lower {

struct LowerOptions {
  int opt_level = 3;   // 0: no simd marks
  bool openmp = true;  // false: parallel maps become loops
  std::int64_t parallel_min_work =
      256;  // innermost iterations below which a parallel map doesn't fork (tested at run time)
  std::int64_t max_stack_bytes = 64 * 1024;  // of all containers on the stack of one function together
  bool check_bounds = false;                 // every access reports indices outside its container
  bool device = false;                       // there is a device: pinned memory is the driver's
  bool check_numbers = false;                // every floating-point write reports a value that is no number
  bool observe = false;                      // the entry reports its calls (call_begin, call_end)
  bool trace = false;                        // outermost maps, states and library nodes report their times
  bool index_helpers = true;                 // false: index polynomials are written out at every access
  bool repeat_launches = false;              // loops that only launch kernels tell the device so (repeat.cpp)

  void write(ByteWriter& out) const {
    out.i64(opt_level);
    out.u8(openmp ? 1 : 0);
    out.i64(parallel_min_work);
    out.i64(max_stack_bytes);
    out.u8(check_bounds ? 1 : 0);
    out.u8(device ? 1 : 0);
    out.u8(check_numbers ? 1 : 0);
    out.u8(observe ? 1 : 0);
    out.u8(trace ? 1 : 0);
    out.u8(index_helpers ? 1 : 0);
    out.u8(repeat_launches ? 1 : 0);
  }
};

}  // namespace sdfg::lower
