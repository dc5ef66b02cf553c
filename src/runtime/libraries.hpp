// Functions of host libraries (BLAS, LAPACK, FFT, MPI) that generated code calls through the `library` entry of the
// ABI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lower/abi.hpp"

namespace sdfg::runtime {

// Address of `symbol`; opens the library at first use, privately, from the first candidate that loads. Answers are
// kept, so a repeated look-up costs one shared lock and one hash. Throws Error of class environment that names what was
// tried.
void* library_symbol(lower::HostLibrary library, std::string_view symbol);

// Files to try before the built-in candidates; for an option or a test. Has no effect once the library is open.
void prefer_library_file(lower::HostLibrary library, std::string path);

}  // namespace sdfg::runtime
