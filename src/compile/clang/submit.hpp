// How a compilation hands work to other lanes.
#pragma once

#include <functional>
#include <string>

namespace sdfg::compiler {

// Runs `work` on another lane some time, or calls `failed` with a sentence; one of the two, once.
using Submit = std::function<void(std::function<void()> work, std::function<void(std::string)> failed)>;

}  // namespace sdfg::compiler
