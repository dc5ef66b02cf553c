// SDFG_REPRO_DIR: a folder with all that a compilation was made from, to be sent with a report.
#pragma once

#include <sdfg/error.hpp>
#include <sdfg/options.hpp>
#include <string>

#include "base/target.hpp"
#include "ir/graph.hpp"

namespace sdfg::jit {

// Writes FOLDER/<graph>-<digest>/: graph.txt (the graph as text), options.txt (every variable with its effective
// value), environment.txt (target and builds), source.cpp when there is one, error.txt when there is one. Never throws:
// what can't be written is one warning.
void write_reproducer(const ir::Graph& g, const Options& resolved, const HostTarget& target, const std::string& source,
                      const Error* error);

}  // namespace sdfg::jit
