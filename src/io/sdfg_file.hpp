// `.sdfg` files in and out: bytes (gzip or plain) to a graph and back.
#pragma once

#include <sdfg/sdfg_file.hpp>
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

struct WrittenGraph {
  std::string bytes;
  std::vector<std::string> warnings;
};
// The bytes of a graph's file. Throws Error(kGraph) naming what the dialect can't express.
WrittenGraph write_bytes(const ir::Graph& graph, const SaveOptions& options);
// Writes beside the file first, so that a failure leaves an old file as it was. Error(kUsage) when it can't be written.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace sdfg::io
