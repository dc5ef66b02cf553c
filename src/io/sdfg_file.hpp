// `.sdfg` files in: bytes (gzip or plain) to a graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/dace_model.hpp"
#include "ir/graph.hpp"

namespace sdfg::io {

struct LoadedGraph {
  ir::Graph graph;
  std::vector<std::string> warnings;
};

// The graph of a file's bytes. Throws Error(kGraph) with the JSON path, or Error(kLimit).
LoadedGraph load_bytes(std::string_view bytes, const dace::ReadLimits& limits = {});
// Reads the file first; Error(kUsage) when it can't be read.
LoadedGraph load_file(const std::string& path, const dace::ReadLimits& limits = {});

}  // namespace sdfg::io
