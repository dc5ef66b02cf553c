// Makes code check its accesses to memory, for the emulated device.
#pragma once

#include "compile/clang/llvm.hpp"
#include "compile/request.hpp"

namespace sdfg::compiler {

// Runs after optimisation; needs line tables. In kernels, an access whose object is not a variable of the thread or a
// constant of the module goes through the table's `access`, which also says where the bytes are; accesses to such
// variables by a computed index are checked against their extent; each turn of a loop ticks. In host code, every such
// access is shown to the table's `host_access`. Pointers into other address spaces than 0 are the prelude's own and
// left alone.
void check_memory(llvm::Module& module, MemoryChecks checks);

}  // namespace sdfg::compiler
