// Random graphs that mean the same in every order of their map iterations: control flow, maps, WCR, views,
// data-dependent sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../run/targets.hpp"
#include "../support/make.hpp"

namespace sdfg::test {

// The same sequence on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

struct Generated {
  std::uint64_t seed = 0;
  ir::Graph graph{"random"};
  // Accumulated in any order: floating contents may differ by rounding. Never read by the graph.
  std::vector<std::string> sinks;
};

Generated generate(std::uint64_t seed);

// Arguments for a graph: extents by `variant`, contents by the seed. Works for shrunk graphs, too.
Memory arguments_for(const ir::Graph& graph, std::uint64_t seed, int variant);
inline constexpr int kVariants = 3;

}  // namespace sdfg::test
