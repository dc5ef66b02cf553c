// Reads a C++ tasklet with Clang, on the calling thread.
#pragma once

#include "tasklet/analyse_cpp.hpp"

namespace sdfg::compiler {

// What is known without parsing: tokens only, everything else on the safe side.
tasklet::CppFacts facts_from_tokens(const tasklet::CppTask& task);

// Needs a large stack and prepare_thread().
tasklet::CppFacts facts_from_syntax(const tasklet::CppTask& task);

}  // namespace sdfg::compiler
