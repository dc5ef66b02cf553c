// One compilation of host code with Clang, on the calling thread.
#pragma once

#include "compile/clang/submit.hpp"
#include "compile/request.hpp"

namespace sdfg::compiler {

// Registers the X86 target and takes over LLVM's fatal-error handling; once per process, before the first
// compile_source.
void initialise_llvm(void (*on_fatal)(void*, const char* reason, bool),
                     void (*on_no_memory)(void*, const char* reason, bool));

// Tells Clang where the stack of the calling thread begins; once per thread.
void prepare_thread();

// Needs a large stack. Reads nothing but the request; writes nothing but the result. Never throws, but does not return
// when LLVM meets a fatal error (see Lanes). `submit` gets further work of a request that may be divided; without it
// all is done on this thread, with the same result.
CompileResult compile_source(const CompileRequest& request, const Submit& submit = {});

}  // namespace sdfg::compiler
