// What is recorded while programs are compiled and run: the trace file, the table of times, names for profilers.
#pragma once

#include <cstdint>
#include <sdfg/function.hpp>
#include <sdfg/options.hpp>
#include <string>

#include "jit/build.hpp"

namespace sdfg::jit {

// What generated code must report for these options.
struct Instrumentation {
  bool calls = false;     // LowerOptions::observe
  bool elements = false;  // LowerOptions::trace
};
Instrumentation instrumentation(const Options& resolved);

// Attaches what the options ask for to a freshly loaded program of a graph. Throws what watch_calls throws.
void observe(runtime::Program& program, const std::shared_ptr<runtime::Program>& keep, const ir::Graph& g,
             const Options& resolved);

// Writes trace files and prints tables of times now; done anyway when the process ends.
void write_records();

// Adds the phases of a compilation that began at `begin_ns` to the trace file, if there is one.
void trace_compilation(const Options& resolved, const std::string& graph, std::int64_t begin_ns,
                       const CompileStats& stats);

}  // namespace sdfg::jit
