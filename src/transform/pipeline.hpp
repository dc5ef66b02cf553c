// A list of passes by name, and what SDFG_PASSES, SDFG_SKIP_PASSES and SDFG_VERIFY do with it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::transform {

struct Pass {
  std::string_view name;  // of its file
  bool required = false;  // later stages rely on it: it is never left out
  std::function<void(ir::Graph&)> run;
};

struct PassSelection {
  std::vector<std::string> only;  // empty: all; else these and the required ones, in the pipeline's order
  std::vector<std::string> skip;
  bool verify = false;                                               // validate after every pass
  std::function<void(std::string_view pass, const ir::Graph&)> ran;  // after every pass; may be empty
};

// Throws Error(kUsage) naming the nearest pass for a name that no pipeline of this library has, and for a required pass
// in `skip`.
void check_selection(const PassSelection& selection);

// Runs the passes in their order. With `verify`, a graph that a pass broke is an Error(kInternal) naming the pass.
void run_passes(ir::Graph& g, std::span<const Pass> passes, const PassSelection& selection);

}  // namespace sdfg::transform
