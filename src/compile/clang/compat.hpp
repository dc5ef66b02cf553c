// Everything that depends on the version of LLVM and Clang.
#pragma once

#include <functional>
#include <memory>

#include "compile/clang/clang.hpp"

namespace sdfg::compiler {

// A CompilerInstance that sees `files` and nothing else, and reports to `consumer` and nowhere else.
std::unique_ptr<clang::CompilerInstance> make_instance(std::shared_ptr<clang::CompilerInvocation> invocation,
                                                       llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
                                                       clang::DiagnosticConsumer& consumer);

// Calls `started`, which may change the module, before the optimiser's first pass, and `finished` after its last.
void watch_optimiser(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> started,
                     std::function<void()> finished);

// For level 0: inlines what the source keeps to itself and removes what is plainly redundant.
void tidy(clang::CompilerInvocation& invocation);

// Calls `change` with the optimised module, after every other pass.
void change_optimised(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> change);

// The optimiser's own passes for OpenMP look for device code; on the host they found nothing in two seconds of a large
// program's five. They run for modules that say they contain OpenMP, and nothing else reads that.
void forget_openmp(llvm::Module& module);

}  // namespace sdfg::compiler
