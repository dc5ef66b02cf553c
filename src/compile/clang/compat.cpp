// Instances, and callbacks into the optimiser, as LLVM and Clang 22 want them.
#include "compile/clang/compat.hpp"

#include <llvm/Config/llvm-config.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#pragma GCC diagnostic pop

#include <utility>
#include <vector>

#if LLVM_VERSION_MAJOR != 22
#error "this library is written for LLVM 22; adapt compat.cpp"
#endif

namespace sdfg::compiler {

// The order matters: the file system before diagnostics, diagnostics before the file manager, or Clang falls back to
// the real file system and stderr.
std::unique_ptr<clang::CompilerInstance> make_instance(std::shared_ptr<clang::CompilerInvocation> invocation,
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

namespace {

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

}  // namespace

void watch_optimiser(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> started,
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

void tidy(clang::CompilerInvocation& invocation) {
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

void change_optimised(clang::CompilerInvocation& invocation, std::function<void(llvm::Module&)> change) {
  invocation.getCodeGenOpts().PassBuilderCallbacks.push_back([change = std::move(change)](llvm::PassBuilder& builder) {
    builder.registerOptimizerLastEPCallback(
        [change](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
          passes.addPass(CallWithModule(change, true));
        });
  });
}

void forget_openmp(llvm::Module& module) {
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
