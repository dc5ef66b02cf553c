// Lowers a graph to statements for the host CPU, and its device maps to kernels.
#pragma once

#include "ir/digest.hpp"
#include "ir/graph.hpp"
#include "lower/kernel.hpp"
#include "lower/options.hpp"
#include "lower/unit.hpp"

namespace sdfg::lower {

// The graph must be valid and prepared (transform/lower_prepare): schedules, storages and WCR lowerings decided,
// library nodes expanded. What is still undecided is lowered in the safe way (sequential, on the heap, atomic inside
// parallel maps). Throws Error(kUsage) naming the element for what host code can't express.
Unit lower_host(const ir::Graph& g, const LowerOptions& options = {});
// The same with the ordinals of the graph that `g` was made from by passes: what code reports is then about that graph.
// Elements that passes added report nothing.
Unit lower_host(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals);

// Both halves: kernels of device maps are in `device`, the launches in `host`. Before: transform/gpu/prepare.hpp.
struct Lowered {
  Unit host;
  DeviceModule device;
};
Lowered lower_graph(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals);

}  // namespace sdfg::lower
