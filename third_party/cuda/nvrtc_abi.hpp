// The part of NVRTC's C interface that is used here, so that neither headers nor the library are needed to build.
//
// Facts of the ABI only: names, values and signatures, the same in CUDA 12 and 13.
#pragma once

#include <cstddef>

namespace sdfg::nvrtc_abi {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 1;
inline constexpr Result kInvalidOption = 5;
inline constexpr Result kCompilation = 6;

struct ProgramHandle;
using Program = ProgramHandle*;

// X(result, member, C name, parameters): members of Table.
#define SDFG_NVRTC_FUNCTIONS(X)                                                                             \
  X(const char*, error_string, nvrtcGetErrorString, (Result))                                               \
  X(Result, version, nvrtcVersion, (int* major, int* minor))                                                \
  X(Result, count_architectures, nvrtcGetNumSupportedArchs, (int* count))                                   \
  X(Result, architectures, nvrtcGetSupportedArchs, (int* numbers))                                          \
  X(Result, create, nvrtcCreateProgram,                                                                     \
    (Program * program, const char* source, const char* name, int headers, const char* const* header_texts, \
     const char* const* header_names))                                                                      \
  X(Result, destroy, nvrtcDestroyProgram, (Program * program))                                              \
  X(Result, compile, nvrtcCompileProgram, (Program program, int count, const char* const* options))         \
  X(Result, log_size, nvrtcGetProgramLogSize, (Program program, std::size_t* size))                         \
  X(Result, log, nvrtcGetProgramLog, (Program program, char* text))                                         \
  X(Result, ptx_size, nvrtcGetPTXSize, (Program program, std::size_t* size))                                \
  X(Result, ptx, nvrtcGetPTX, (Program program, char* bytes))                                               \
  X(Result, cubin_size, nvrtcGetCUBINSize, (Program program, std::size_t* size))                            \
  X(Result, cubin, nvrtcGetCUBIN, (Program program, char* bytes))

struct Table {
#define SDFG_MEMBER(result, member, name, parameters) result(*member) parameters = nullptr;
  SDFG_NVRTC_FUNCTIONS(SDFG_MEMBER)
#undef SDFG_MEMBER
};

}  // namespace sdfg::nvrtc_abi
