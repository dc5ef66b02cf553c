// What influences the preparation of a graph for CPU code. Every field is part of the cache key.
#pragma once

#include <cstdint>

#include "base/digest.hpp"

namespace sdfg::transform {

struct PrepareOptions {
  int opt_level = 3;                     // 0: no reductions by privatisation and no simd
  bool parallel = true;                  // maps without a schedule may use threads
  std::int64_t parallel_min_work = 256;  // innermost iterations below which a map without a schedule stays sequential
  std::int64_t max_stack_bytes = 64 * 1024;  // largest array that goes to the stack

  void write(ByteWriter& out) const {
    out.i64(opt_level);
    out.boolean(parallel);
    out.i64(parallel_min_work);
    out.i64(max_stack_bytes);
  }
};

}  // namespace sdfg::transform
