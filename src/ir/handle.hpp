// What the public handle of a graph computes at most once.
#pragma once

#include <mutex>
#include <sdfg/graph.hpp>

#include "base/digest.hpp"

namespace sdfg {

struct Graph::Derived {
  std::once_flag digest_once;
  Digest digest;
};

// The digest of the graph's canonical form; computed at the first call. Any thread.
const Digest& digest_of_graph(const Graph& graph);

}  // namespace sdfg
