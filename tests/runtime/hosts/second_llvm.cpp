// A host that opens another copy of LLVM (as Mesa or PyTorch bring along) and compiles with it, before and after our
// loader works. Exit code 0: both work, or there is no other LLVM to open.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "../compile_source.hpp"
#include "runtime/loader.hpp"

namespace {

template <typename Function>
Function* symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) std::printf("no %s\n", name);
  return reinterpret_cast<Function*>(address);
}

// Compiles a module from text with the other LLVM's LLJIT and calls its function.
bool other_llvm_works(void* library, int value) {
  using Handle = void*;
  symbol<void()>(library, "LLVMInitializeX86TargetInfo")();
  symbol<void()>(library, "LLVMInitializeX86Target")();
  symbol<void()>(library, "LLVMInitializeX86TargetMC")();
  symbol<void()>(library, "LLVMInitializeX86AsmPrinter")();
  char text[256];
  std::snprintf(text, sizeof(text), "define i32 @f(i32 %%x) { %%y = mul i32 %%x, %d ret i32 %%y }", value);
  Handle buffer = symbol<Handle(const char*, std::size_t, const char*)>(
      library, "LLVMCreateMemoryBufferWithMemoryRangeCopy")(text, std::strlen(text), "unit");
  Handle context = symbol<Handle()>(library, "LLVMContextCreate")();
  Handle module = nullptr;
  char* message = nullptr;
  if (symbol<int(Handle, Handle, Handle*, char**)>(library, "LLVMParseIRInContext")(context, buffer, &module,
                                                                                    &message) != 0) {
    return std::printf("parse: %s\n", message), false;
  }
  auto* wrap = reinterpret_cast<Handle (*)(Handle)>(dlsym(library, "LLVMOrcCreateNewThreadSafeContextFromLLVMContext"));
  Handle safe = wrap != nullptr ? wrap(context) : nullptr;
  if (safe == nullptr) return std::puts("no thread-safe context"), false;
  Handle wrapped = symbol<Handle(Handle, Handle)>(library, "LLVMOrcCreateNewThreadSafeModule")(module, safe);
  symbol<void(Handle)>(library, "LLVMOrcDisposeThreadSafeContext")(safe);  // the module keeps its own part in it
  Handle jit = nullptr;
  if (symbol<Handle(Handle*, Handle)>(library, "LLVMOrcCreateLLJIT")(&jit, nullptr) != nullptr) return false;
  Handle dylib = symbol<Handle(Handle)>(library, "LLVMOrcLLJITGetMainJITDylib")(jit);
  if (symbol<Handle(Handle, Handle, Handle)>(library, "LLVMOrcLLJITAddLLVMIRModule")(jit, dylib, wrapped) != nullptr)
    return false;
  std::uint64_t address = 0;
  if (symbol<Handle(Handle, std::uint64_t*, const char*)>(library, "LLVMOrcLLJITLookup")(jit, &address, "f") != nullptr)
    return false;
  const bool right = reinterpret_cast<int (*)(int)>(address)(6) == 6 * value;
  return symbol<Handle(Handle)>(library, "LLVMOrcDisposeLLJIT")(jit) == nullptr && right;
}

bool ours_works(int value) {
  const auto object =
      sdfg::test::compile_source("extern \"C\" int f(int x) { return x * " + std::to_string(value) + "; }");
  const std::span<const std::uint8_t> span(object);
  const auto code = sdfg::runtime::load_objects({&span, 1}, {});
  return reinterpret_cast<int (*)(int)>(code->find("f"))(6) == 6 * value;
}

}  // namespace

int main() {
  void* library = dlopen("libLLVM.so.22.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) library = dlopen(SDFG_LLVM_LIBDIR "/libLLVM.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return std::puts("there is no shared LLVM here"), 0;
  for (int i = 2; i < 5; ++i) {
    if (!other_llvm_works(library, i)) return std::puts("the other LLVM fails"), 1;
    if (!ours_works(i)) return std::puts("our loader fails"), 1;
  }
  return 0;
}
