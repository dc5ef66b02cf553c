// Where the files that belong to this library lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sdfg::compiler {

// Paths at which `name` may lie, in order: beside the module that holds this code, and in lib/ beside that module's
// folder.
std::vector<std::string> paths_beside_library(std::string_view name);

}  // namespace sdfg::compiler
