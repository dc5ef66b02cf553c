// The smallest program that computes something, and the options of tests that leave no traces on disk.
#pragma once

#include <cstdint>
#include <sdfg/jit.hpp>
#include <string>

namespace sdfg::test {

inline Options plain() {
  Options o;
  o.cache = CacheMode::kMemory;
  return o;
}

using Scale = void(double*, std::int64_t);
inline Builder scale(const std::string& name, double factor) {
  Builder g(name);
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = factor * A(i); });
  return g;
}

}  // namespace sdfg::test
