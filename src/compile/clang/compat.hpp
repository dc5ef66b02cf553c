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

struct CallWithModule : llvm::PassInfoMixin<CallWithModule> {
  std::function<void(llvm::Module&)> function;
  bool changes;
  CallWithModule(std::function<void(llvm::Module&)> f, bool c) : function(std::move(f)), changes(c) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    function(module);
    return changes ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Calls `started`, which may change the module, before the optimiser's first pass, and `finished` after its last.
inline void watch_optimiser(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> started,
                            std::function<void()> finished) {
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back(
      [started = std::move(started), finished = std::move(finished)](llvm::PassBuilder& builder) {
        builder.registerPipelineStartEPCallback([started](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
          passes.addPass(CallWithModule(started, true));
        });
        builder.registerOptimizerLastEPCallback(
            [finished](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
              passes.addPass(CallWithModule([finished](llvm::Module&) { finished(); }, false));
            });
      });
}

// For level 0: inlines what the source keeps to itself and removes what is plainly redundant.
inline void tidy(clang::CompilerInvocation& invocation) {
  const auto inline_local = [](llvm::Module& module) {
    for (llvm::Function& function : module) {
      if (function.isDeclaration() || !function.hasLocalLinkage() || function.hasFnAttribute(llvm::Attribute::Cold) ||
          function.hasAddressTaken())
        continue;
      function.removeFnAttr(llvm::Attribute::NoInline);  // level 0 marks all functions so
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  };
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back([inline_local](llvm::PassBuilder& builder) {
    builder.registerPipelineStartEPCallback([inline_local](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
      passes.addPass(CallWithModule(inline_local, true));
    });
    builder.registerOptimizerLastEPCallback(
        [](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
          llvm::FunctionPassManager each;
          each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
          each.addPass(llvm::EarlyCSEPass());
          each.addPass(llvm::InstCombinePass());
          each.addPass(llvm::SimplifyCFGPass());
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
        });
  });
}

// Calls `change` with the optimised module, after every other pass.
inline void change_optimised(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> change) {
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back([change = std::move(change)](llvm::PassBuilder& builder) {
    builder.registerOptimizerLastEPCallback(
        [change](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
          passes.addPass(CallWithModule(change, true));
        });
  });
}

// The optimiser's own passes for OpenMP look for device code; on the host they found nothing in two seconds of a large
// program's five. They run for modules that say they contain OpenMP, and nothing else reads that.
inline void forget_openmp(llvm::Module& module) {
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (flags == nullptr) return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands()) {
    const auto* name = llvm::dyn_cast<llvm::MDString>(flag->getOperand(1));
    if (name == nullptr || name->getString() != "openmp") kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode* flag : kept) flags->addOperand(flag);
}

}  // namespace sdfg::compiler
