// Lowers a graph to statements for the host CPU.
#pragma once

#include "ir/graph.hpp"
#include "lower/options.hpp"
#include "lower/unit.hpp"

namespace sdfg::lower {

// The graph must be valid and prepared (transform/lower_prepare): schedules, storages and WCR lowerings decided,
// library nodes expanded. What is still undecided is lowered in the safe way (sequential, on the heap, atomic inside
// parallel maps). Throws Error(kUsage) naming the element for what host code can't express.
Unit lower_host(const ir::Graph& g, const LowerOptions& options = {});

}  // namespace sdfg::lower
