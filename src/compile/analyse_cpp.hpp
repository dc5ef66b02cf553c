// The analysis of C++ tasklets: which names they read, write and declare, and whether they do anything else.
#pragma once

#include "tasklet/analyse_cpp.hpp"

namespace sdfg::compiler {

// Parses the text with Clang (a few milliseconds, more for the first use in a process, which opens the compiler
// library). Any thread; may be handed on as a tasklet::CppAnalyser. Throws Error of class environment when the compiler
// is missing.
tasklet::CppFacts analyse_cpp(const tasklet::CppTask& task);

}  // namespace sdfg::compiler
