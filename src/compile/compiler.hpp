// Compiles host code: opens the compiler library when first needed and waits for its lanes.
#pragma once

#include <cstdint>
#include <future>
#include <sdfg/options.hpp>
#include <span>
#include <vector>

#include "compile/request.hpp"

namespace sdfg::compiler {

class CompilerService;

// How a compilation may be confined. No part of the request: it never changes a result, only whether there is one.
struct CompileLimits {
  bool helper = false;               // in a process of its own
  std::int64_t timeout_seconds = 0;  // 0: none
};

// From `compile_mode` and `compile_timeout`.
CompileLimits limits_of(const Options& resolved);

// Blocks until the request is compiled. Bad source is a result with ok == false and diagnostics; so is a crash or a
// time-out, with a diagnostic of severity kFatal. Throws Error of class environment when a part of the compiler is
// missing or from another build. Any thread.
CompileResult compile_host(const CompileRequest& request, const CompileLimits& limits = {});

// Starts a compilation; the future is never abandoned.
std::future<CompileResult> start_compile_host(CompileRequest request);

// All requests, in the lanes at once; results in the order of the requests.
std::vector<CompileResult> compile_host_all(std::span<const CompileRequest> requests, const CompileLimits& limits = {});

// Lanes that may run at once; 0 is the default (usable cores, at most 8).
void set_compile_lanes(int lanes);
int compile_lanes();  // as set; 0 for the default

// Whether the compiler library has been opened in this process.
bool compiler_opened() noexcept;

// The opened library's interface, for other users of Clang (analysis of C++ tasklets). Opens it if need be.
CompilerService& compiler_service();

}  // namespace sdfg::compiler
