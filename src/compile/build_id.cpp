// Texts that identify the parts of the compiler.
#include "compile/build_id.hpp"

#include <llvm/Config/llvm-config.h>

namespace sdfg::compiler {

const std::string& llvm_build_id() {
  static const std::string& id = *new std::string("llvm " LLVM_VERSION_STRING);
  return id;
}

std::vector<std::string> host_build_ids() {
  return {library_build_id(), llvm_build_id()};
}

}  // namespace sdfg::compiler
