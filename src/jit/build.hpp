// From a graph to a loaded program: passes, lowering, printing, compiling, loading. One call makes one program; caching
// is the caller's.
#pragma once

#include <memory>
#include <mutex>
#include <sdfg/function.hpp>
#include <sdfg/options.hpp>
#include <string>
#include <vector>

#include "base/target.hpp"
#include "codegen/print.hpp"
#include "ir/graph.hpp"
#include "jit/placement.hpp"
#include "lower/kernel.hpp"
#include "runtime/cache_entry.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/program.hpp"

namespace sdfg::jit {

// What was decided about an element: an ordinal of the graph, so that each graph sees its own names and lines.
struct Decision {
  std::int32_t ordinal = 0;
  std::string text;
};

// The files that a compilation is to leave besides its program.
struct WantedFiles {
  std::string graph;  // its name, which those of the files begin with
  EnumSet<Dump> dump;
  std::string dump_dir;
  std::string bundle_dir;  // of every compilation

  WantedFiles(const ir::Graph& g, const Options& resolved);
  bool none() const { return dump.empty() && bundle_dir.empty(); }
  bool operator==(const WantedFiles&) const = default;
};

// What equal graphs share.
struct CompiledProgram {
  std::shared_ptr<runtime::Program> program;
  // The host code, in the objects that the compiler divided it into; kept while no disk cache has it, and for good when
  // each Function loads its own copy (own_instance).
  std::vector<std::vector<std::uint8_t>> objects;
  bool own_instance = false;  // Persistent or External containers: state belongs to a Function
  runtime::ProgramInfo info;
  std::string source;
  codegen::SourceMap map;
  std::string graph_text;
  std::vector<std::string> explanations;
  std::vector<Decision> decisions;                // of maps on the host, in the order of the graph
  std::vector<std::string> lapack;                // functions of LAPACK that the code may call
  std::vector<DeviceLibrary> device_libraries;    // that the code calls
  std::vector<compiler::Diagnostic> diagnostics;  // of the compiler, with lines of `source`
  // The device half; empty without one.
  Placement placement;
  std::string device_source;
  codegen::SourceMap device_map;
  std::vector<compiler::Diagnostic> device_diagnostics;  // with lines of `device_source`
  std::vector<std::uint8_t> device_code;                 // kept as long as `objects`
  std::vector<lower::Kernel> kernels;
  CompileStats stats;

  // What build() has written for this program: who asks for other files, or finds the program on disk, has it built
  // again. Guarded by `disks_mutex`.
  std::vector<WantedFiles> files;

  // Disk caches that have been given the program, or gave it. The mutex guards `objects` and `device_code` too, unless
  // own_instance: then they don't change.
  std::mutex disks_mutex;
  std::vector<runtime::DiskCache*> disks;
};

// Everything that the result depends on besides the graph: resolved options, target, builds. Computed once per distinct
// options.
std::vector<std::uint8_t> environment_record(const Options& resolved, const HostTarget& target);

// Validates, transforms, lowers, compiles and loads. Throws Error.
std::shared_ptr<CompiledProgram> build(const ir::Graph& g, const Options& resolved, const HostTarget& target,
                                       const Placement& placement);
// The same from a cache entry: loads. Throws Error(kLoad).
std::shared_ptr<CompiledProgram> from_entry(const ir::Graph& g, const Options& resolved, const Placement& placement,
                                            runtime::CacheEntry entry);
// Another instance of a program whose code was kept.
std::shared_ptr<runtime::Program> load(const CompiledProgram& p, const Options& resolved);
// What goes to disk.
runtime::CacheEntry to_entry(const CompiledProgram& p, std::vector<std::uint8_t> record);

// "jacobi.cpp:14:7: warning: ...": compiler messages in terms of a calling graph.
std::vector<std::string> mapped_diagnostics(const CompiledProgram& p, const std::vector<Error::Place>& places);

}  // namespace sdfg::jit
