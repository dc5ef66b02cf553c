// How a compilation hands work to other lanes.
#pragma once

#include <functional>
#include <string>

#include "compile/request.hpp"

namespace sdfg::compiler {

// Called with a sentence instead of work that no lane could do, or that LLVM gave up in.
using JobFailed = std::function<void(Fault, std::string)>;

// Runs `work` on another lane some time, or calls `failed`; one of the two, once.
using Submit = std::function<void(std::function<void()> work, JobFailed failed)>;

}  // namespace sdfg::compiler
