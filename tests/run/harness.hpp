// Runs one graph on every target and requires what plain loops give.
#pragma once

#include <catch2/catch.hpp>
#include <functional>

#include "../support/make.hpp"
#include "targets.hpp"

namespace sdfg::test {

using Reference = std::function<void(Memory&)>;

inline constexpr double kRounded = 1e-12;  // the same operations, perhaps contracted
inline constexpr double kReassociated = 1e-9;

// Runs the graph on each target from a copy of `start`, `calls` times, and requires what `reference` makes of another
// copy.
void check(const ir::Graph& graph, const Memory& start, const Reference& reference, double tolerance = kRounded,
           int calls = 1);
inline void check(const Maker& m, const Memory& start, const Reference& reference, double tolerance = kRounded,
                  int calls = 1) {
  check(m.g, start, reference, tolerance, calls);
}

}  // namespace sdfg::test
