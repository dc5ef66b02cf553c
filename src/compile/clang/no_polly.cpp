// Debian's Clang asks for the Polly plug-in when it builds a pass pipeline; this library does without it.
#include <llvm/Config/llvm-config.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <llvm/Plugins/PassPlugin.h>
#pragma GCC diagnostic pop

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no polly", LLVM_VERSION_STRING, [](llvm::PassBuilder&) {}};
}
