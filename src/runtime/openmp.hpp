// The OpenMP entries that Clang's output calls, as a table of names and addresses for the loader.
//
// They are ordinary functions with private names here: a host that links libomp or libgomp keeps its own `__kmpc_*`,
// `GOMP_*` and `omp_*`, and generated code never sees those.
#pragma once

#include <sdfg/options.hpp>
#include <span>

namespace sdfg::runtime {

struct OpenMpEntry {
  const char* name;
  void* address;
};

// Our own entries, over runtime/threads.
std::span<const OpenMpEntry> openmp_entries();

// The backend of the process: the first choice stands, since the arenas and the loaded code depend on it. Throws
// Error(kUsage) for another one later and Error(kEnvironment) when libomp is asked for and can't be opened.
void choose_threads_backend(ThreadsBackend wanted);

// With the backend libomp, LLVM's OpenMP runtime for comparison: one that is in the process already, else one
// that is opened. nullptr with our own threads (the default), and when none can be opened.
struct ForeignOpenMp {
  void* handle = nullptr;
  int (*thread_num)() = nullptr;
  int (*num_threads)() = nullptr;
  int (*max_threads)() = nullptr;
  int (*in_parallel)() = nullptr;
};
const ForeignOpenMp* foreign_openmp() noexcept;

}  // namespace sdfg::runtime
