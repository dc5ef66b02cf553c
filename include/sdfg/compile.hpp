/// Compiling graphs: from a Builder or a loaded Graph to a function.
#pragma once

#include <exception>
#include <future>
#include <sdfg/builder.hpp>
#include <sdfg/export.hpp>
#include <sdfg/function.hpp>
#include <sdfg/graph.hpp>
#include <sdfg/options.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sdfg {

/// Compiles a graph, or takes the result from memory or disk when the same was compiled before.
///
/// May block: on another thread that compiles the same graph, on Clang, on the disk. Thread rule: any thread, any
/// number at once. Throws Error: kGraph for a broken graph, kCompile, kLoad, kUsage for options, kResource,
/// kEnvironment. A failed compilation fails again with the same error, at once, as long as the process lives.
SDFG_EXPORT AnyFunction compile(const Graph& graph, const Options& options = {});

/// The same with a C++ signature: `compile<void(double*, std::int64_t)>(graph)`. Throws Error(kUsage) naming both
/// signatures when the graph's differs.
template <typename Signature>
Function<Signature> compile(const Graph& graph, const Options& options = {}) {
  return Function<Signature>(compile(graph, options));
}
template <typename Signature>
Function<Signature> compile(const Builder& builder, const Options& options = {}) {
  return Function<Signature>(compile(builder.graph(), options));
}
inline AnyFunction compile(const Builder& builder, const Options& options = {}) {
  return compile(builder.graph(), options);
}

/// Never throws an sdfg::Error: the result holds the function or the error.
template <typename Signature, typename Source>
CompileResult<Signature> try_compile(const Source& source, const Options& options = {}) {
  try {
    return compile<Signature>(source, options);
  } catch (const Error& error) {
    return error;
  }
}

/// Compiles in the background. The graph is taken when the call is made; the builder may be changed afterwards.
SDFG_EXPORT std::future<AnyFunction> compile_async(const Graph& graph, const Options& options = {});
template <typename Signature>
std::future<Function<Signature>> compile_async(const Builder& builder, const Options& options = {}) {
  return std::async(std::launch::deferred, [pending = compile_async(builder.graph(), options).share()] {
    return Function<Signature>(pending.get());
  });
}

/// Compiles all graphs, using all compile lanes, and leaves the results in the caches. Throws the first error after all
/// are done.
SDFG_EXPORT void precompile(std::span<const Graph> graphs, const Options& options = {});

/// Counters of this process since it started.
struct Statistics {
  std::int64_t compilations = 0;  ///< programs built by Clang or NVRTC
  std::int64_t memory_hits = 0;
  std::int64_t disk_hits = 0;
  std::int64_t failures = 0;         ///< compilations that failed (each counted once)
  std::int64_t loaded_programs = 0;  ///< programs whose code is in memory now
  std::int64_t specializations = 0;  ///< variants made by Options::specialize
};
SDFG_EXPORT Statistics statistics();

/// Drops the programs that the memory cache keeps and that no Function uses.
SDFG_EXPORT void clear_memory_cache();

}  // namespace sdfg
