// C++ text put before a C++ tasklet that is analysed: names it may expect, as declarations without meaning.
#pragma once

#include <string>

#include "tasklet/analyse_cpp.hpp"

namespace sdfg::compiler {

// Integer types, pure math functions globally and in std, dace and dace::math, complex numbers.
const std::string& analysis_prelude();

// "double", "dace::complex128", "float*", ...; the declarations that structures and opaque types need are appended to
// `declarations`, once each.
std::string spelling(const Type& type, std::string& declarations, std::vector<std::string>& declared);

}  // namespace sdfg::compiler
