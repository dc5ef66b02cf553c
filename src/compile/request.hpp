// What a compiler needs and what it answers. Compilation is a pure function of the request; nothing else may influence
// the result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.hpp"

namespace sdfg::compiler {

// kHostAssembly and kHostIr give text (AT&T assembly, LLVM IR after optimisation) of what kHostObject would give; for
// dumps.
enum class CodeKind : std::uint8_t { kHostObject, kCubin, kPtx, kHostAssembly, kHostIr };

// Floating-point freedoms. All false with contract true is the default ("IEEE, contraction as C++ allows it").
struct FpOptions {
  bool contract = true;
  bool reassociate = false;
  bool finite = false;
  bool approximate = false;  // reciprocals and approximate functions; contraction across statements
  bool operator==(const FpOptions&) const = default;
};

// Checked code for the emulated device (host kinds only): accesses to memory go through the emulator's table, see
// codegen/emulator_table.hpp. The code is compiled at level 1, whatever `opt_level` says.
//   kKernel  the text of kernels: every access but those to the thread's own variables is checked and translated
//   kHost    the host half: an access to device memory is reported instead of faulting
enum class MemoryChecks : std::uint8_t { kNone, kHost, kKernel };

struct CompileRequest {
  CodeKind kind = CodeKind::kHostObject;
  std::string name;                   // file name shown in diagnostics; part of debug info, so part of the key
  std::string source;                 // free-standing text
  std::string triple;                 // host: e.g. x86_64-pc-linux-gnu
  std::string cpu;                    // host: LLVM's CPU name ("native" already resolved); device: "sm_90"
  std::vector<std::string> features;  // host: explicit, sorted, "+avx2" / "-avx512f"
  int opt_level = 3;                  // 0..3
  FpOptions fp;
  bool openmp = false;  // -fopenmp: parallel pragmas become __kmpc_* calls
  bool debug_info = false;
  MemoryChecks checks = MemoryChecks::kNone;
  // A large program may become several objects, which are optimised at the same time. How it is divided follows from
  // its code alone.
  bool divide = false;
  // Short code that runs each statement once at most: levels above 0 tidy it and leave it at that, which takes half the
  // time. Loops in it would be slow.
  bool straight = false;
  std::vector<std::string> flags;      // further flags, verbatim, in order
  std::vector<std::string> build_ids;  // everything that takes part: this library, LLVM/Clang or NVRTC, the runtime ABI

  Digest digest() const;  // of every field
};

enum class Severity : std::uint8_t { kNote, kRemark, kWarning, kError, kFatal };

// A compiler message with its place in CompileRequest::source (line 0: none). The caller maps it through the source
// map.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text;
};

struct PhaseTime {
  std::string phase;  // "frontend", "optimise", "codegen", ...
  std::int64_t nanoseconds = 0;
};

// What a compilation failed of. Only kCode says something about the source; the next attempt may end otherwise after
// the others.
enum class Fault : std::uint8_t {
  kCode,
  kResource,     // memory, threads, time, or somebody ended the process that compiled
  kEnvironment,  // a part of the installation can't be used
};

struct CompileResult {
  bool ok = false;
  Fault fault = Fault::kCode;                   // without `ok`
  bool timed_out = false;                       // says the calling process, never what compiles; a fault of resources
  std::vector<std::uint8_t> payload;            // ELF object, cubin or PTX
  std::vector<std::vector<std::uint8_t>> more;  // with `divide`: objects to be linked with the payload
  std::vector<Diagnostic> diagnostics;
  std::vector<PhaseTime> times;
};

}  // namespace sdfg::compiler
