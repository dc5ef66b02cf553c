// Compiles graphs of these tests for a device, without a cache.
#pragma once

#include <memory>
#include <sdfg/compile.hpp>

#include "ir/graph.hpp"

namespace sdfg::test {

inline Options options_on(DeviceChoice::Kind kind) {
  Options o;
  o.device = DeviceChoice{kind, 0};
  o.cache = CacheMode::kOff;
  o.opt_level = 1;
  return o;
}

inline AnyFunction compiled(const ir::Graph& g, const Options& options) {
  return compile(sdfg::Graph(std::make_shared<const ir::Graph>(g.clone())), options);
}

}  // namespace sdfg::test
