// Compiles in helper processes: a compilation that takes too long is ended, and one that crashes takes nothing with it.
#pragma once

#include <cstdint>

#include "compile/request.hpp"

namespace sdfg::compiler {

inline constexpr const char* kHelperProgram = "sdfg-compile-helper";

// Blocks. One helper per concurrent call, kept for the next ones. `timeout_seconds` 0 means none. Never throws for what
// goes wrong in the helper (the result says so); Error of class environment when the helper program is missing.
CompileResult compile_in_helper(const CompileRequest& request, std::int64_t timeout_seconds);

}  // namespace sdfg::compiler
