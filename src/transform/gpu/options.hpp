// What influences the preparation of kernels. Every field is part of the cache key.
#pragma once

#include <array>
#include <cstdint>

#include "base/digest.hpp"

namespace sdfg::transform {

struct DeviceOptions {
  std::array<std::int64_t, 3> block{128, 1, 1};  // of kernels that don't say
  int streams = 0;                               // 0: as many as useful; -1: the null stream; n: at most n
  bool strict = false;                           // reductions in one fixed order: the same bits in every run
  int opt_level = 3;                             // 0: every accumulation is an atomic operation of its own

  void write(ByteWriter& out) const {
    for (const std::int64_t n : block) out.i64(n);
    out.i64(streams);
    out.boolean(strict);
    out.i64(opt_level);
  }
};

}  // namespace sdfg::transform
