// The closed set of functions outside an object that generated host code may call by name.
#pragma once

#include <string_view>

namespace sdfg::runtime {

// Address of an allowed external function, nullptr if the name is not allowed or not available on this system:
// libc's mem* and strlen, libm, libmvec (`_ZGV...`), helpers of the compiler's run-time library, and the OpenMP entries
// of runtime/threads. Never searches the symbols of the process: what a host defines under these names is not seen.
void* find_external(std::string_view name);

}  // namespace sdfg::runtime
