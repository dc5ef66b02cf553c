// Compiles host code: opens the compiler library when first needed and waits for its lanes.
#pragma once

#include <future>
#include <span>
#include <vector>

#include "compile/request.hpp"

namespace sdfg::compile {

class CompilerService;

// Blocks until a lane has compiled the request. Bad source is a result with ok == false and diagnostics.
// Throws Error: environment, when the compiler library is missing or from another build. Any thread.
CompileResult compile_host(const CompileRequest& request);

// Starts a compilation; the future is never abandoned.
std::future<CompileResult> start_compile_host(CompileRequest request);

// All requests, in the lanes at once; results in the order of the requests.
std::vector<CompileResult> compile_host_all(std::span<const CompileRequest> requests);

// Lanes that may run at once; 0 is the default (usable cores, at most 8).
void set_compile_lanes(int lanes);

// Whether the compiler library has been opened in this process.
bool compiler_opened() noexcept;

// The opened library's interface, for other users of Clang (analysis of C++ tasklets). Opens it if need be.
CompilerService& compiler_service();

}  // namespace sdfg::compile
