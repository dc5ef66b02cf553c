// Everything that depends on the version of LLVM and Clang.
#pragma once

#include <llvm/Config/llvm-config.h>

#include <functional>

#include "compile/clang/llvm.hpp"

#if LLVM_VERSION_MAJOR != 22
#error "this library is written for LLVM 22; adapt compat.hpp"
#endif

namespace sdfg::compiler {

// A CompilerInstance that sees `files` and nothing else, and reports to `consumer` and nowhere else. The order matters:
// the file system before diagnostics, diagnostics before the file manager, or Clang falls back to the real file system
// and stderr.
inline std::unique_ptr<clang::CompilerInstance> make_instance(std::shared_ptr<clang::CompilerInvocation> invocation,
                                                              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
                                                              clang::DiagnosticConsumer& consumer) {
  auto instance = std::make_unique<clang::CompilerInstance>(std::move(invocation));
  instance->setVirtualFileSystem(std::move(files));
  instance->createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
  instance->setVerboseOutputStream(llvm::nulls());
  instance->createFileManager();
  instance->createSourceManager();
  return instance;
}

// Calls `started` before the optimiser's first pass and `finished` after its last.
inline void watch_optimiser(clang::CompilerInvocation& invocation, std::function<void()> started,
                            std::function<void()> finished) {
  struct Call : llvm::PassInfoMixin<Call> {
    std::function<void()> function;
    explicit Call(std::function<void()> f) : function(std::move(f)) {}
    llvm::PreservedAnalyses run(llvm::Module&, llvm::ModuleAnalysisManager&) {
      function();
      return llvm::PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
  };
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back(
      [started = std::move(started), finished = std::move(finished)](llvm::PassBuilder& builder) {
        builder.registerPipelineStartEPCallback(
            [started](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(Call(started)); });
        builder.registerOptimizerLastEPCallback(
            [finished](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
              passes.addPass(Call(finished));
            });
      });
}

// Calls `change` with the optimised module, after every other pass.
inline void change_optimised(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> change) {
  struct Change : llvm::PassInfoMixin<Change> {
    std::function<void(llvm::Module&)> function;
    explicit Change(std::function<void(llvm::Module&)> f) : function(std::move(f)) {}
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
      function(module);
      return llvm::PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
  };
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back([change = std::move(change)](llvm::PassBuilder& builder) {
    builder.registerOptimizerLastEPCallback([change](llvm::ModulePassManager& passes, llvm::OptimizationLevel,
                                                     llvm::ThinOrFullLTOPhase) { passes.addPass(Change(change)); });
  });
}

}  // namespace sdfg::compiler
