// Hands C++ tasklets to the compiler library.
#include "compile/analyse_cpp.hpp"

#include "compile/compiler.hpp"
#include "compile/service.hpp"

namespace sdfg::compiler {

tasklet::CppFacts analyse_cpp(const tasklet::CppTask& task) {
  return compiler_service().analyse_cpp(task);
}

}  // namespace sdfg::compiler
