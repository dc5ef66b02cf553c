// Finds the module that holds this code through the dynamic linker.
#include "compile/locate.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace sdfg::compiler {

std::vector<std::string> paths_beside_library(std::string_view name) {
  std::vector<std::string> paths;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&paths_beside_library), &info) == 0 || info.dli_fname == nullptr)
    return paths;
  std::error_code error;
  // A program is named as it was called, which may be relative to another folder.
  std::filesystem::path module = std::filesystem::canonical(info.dli_fname, error);
  if (error) module = std::filesystem::canonical("/proc/self/exe", error);
  if (error) return paths;
  paths.push_back((module.parent_path() / name).string());
  paths.push_back((module.parent_path().parent_path() / "lib" / name).string());
  return paths;
}

}  // namespace sdfg::compiler
