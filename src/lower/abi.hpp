// The runtime ABI: everything generated host code may call besides libm, libc's mem* and the OpenMP entries of `runtime/threads`.
//
// One list defines the table: `lower` prints it as the C++ prelude of generated text, `runtime` fills it. Each host object defines
//   extern "C" const sdfg_abi_table* sdfg_abi;   (writable; the loader stores the table's address)
//   extern "C" void* sdfg_program;               (writable; the loader stores the runtime's Program of this code)
// and the entries
//   extern "C" int32_t sdfg_entry(<parameters>); (plain C signature of the graph: the raw function pointer; returns the status, 0 = done,
//                                                 which callers through a pointer of type void(...) ignore)
//   extern "C" int32_t sdfg_packed(void* const*); (args[i] points to parameter i: pointers for containers, values for scalars)
// An entry makes an sdfg_call on its stack, zeroes it, calls the body, and calls `finish` if `arena`, `status` or `flags` is set.
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.hpp"

namespace sdfg::lower {

// State of one call of a function. Lives on the stack of the generated entry; generated text declares it as `sdfg_call`.
struct CallState {
  void* program;        // copy of sdfg_program
  void* arena;          // acquired at the first allocation of the call
  std::int32_t status;  // 0, or the code of the first failure (written atomically; parallel bodies test it)
  std::int32_t flags;
  void* device;         // GPU state of the call, acquired at the first device operation
  void* reserved[3];
};

// Codes of `fail`. The runtime turns them into Error texts with the names of the calling graph.
enum class FailCode : std::int32_t {
  kNone = 0,
  kOutOfMemory = 1,       // values: bytes
  kNegativeExtent = 2,    // values: dimension, extent
  kOverflow = 3,          // values: none; integer overflow in the extent or size of the container
  kOutOfBounds = 4,       // values: dimension, index, extent
  kZeroStep = 5,          // values: step
  kDivisionByZero = 6,    // values: none; in a symbolic expression
  kAssertion = 7,         // values: free
  kUninitialised = 8,     // values: flat index
  kRace = 9,              // values: flat index
  kNotFinite = 10,        // values: flat index
  kCallback = 11,         // an exception left a callback; its text is kept per thread
  kDevice = 12,           // a device operation failed; the device room recorded the error
};

// X(result, name, parameters): one line per entry, in table order. Append only; any change changes abi_digest().
// `ordinal` is the canonical ordinal of an element or container (ir::Ordinals), -1 if none.
// clang-format off
#define SDFG_ABI_ENTRIES(X)                                                                                        \
  X(void*, allocate, (sdfg_call* call, int64_t bytes, int64_t alignment, int32_t ordinal))                          \
  X(void, release, (sdfg_call* call, void* memory))                                                                 \
  X(void, fail, (sdfg_call* call, int32_t code, int32_t ordinal, const int64_t* values, int32_t count))             \
  X(void, finish, (sdfg_call* call))                                                                                \
  X(void*, persistent, (sdfg_call* call, int32_t ordinal, int64_t bytes, int64_t alignment, int32_t zero))          \
  X(void*, external, (sdfg_call* call, int32_t ordinal, int64_t offset, int64_t bytes))                             \
  X(void*, library, (sdfg_call* call, int32_t library, const char* symbol))                                        \
  X(int32_t, thread_index, ())                                                                                     \
  X(int32_t, thread_count, ())                                                                                     \
  X(void*, stream_make, (sdfg_call* call, int64_t element_bytes, int64_t capacity))                                 \
  X(void, stream_free, (sdfg_call* call, void* stream))                                                            \
  X(int32_t, stream_push, (sdfg_call* call, void* stream, const void* value))                                       \
  X(int32_t, stream_pop, (sdfg_call* call, void* stream, void* value))                                              \
  X(int64_t, stream_size, (void* stream))                                                                          \
  X(int64_t, clock, ())                                                                                            \
  X(void, trace, (sdfg_call* call, int32_t ordinal, int64_t begin, int64_t end))
// clang-format on

// C++ text that declares sdfg_call, sdfg_abi_table, sdfg_abi and sdfg_program, for the head of every generated host source.
const std::string& abi_prelude();
// Digest of the prelude: part of every compile request and cache record.
const Digest& abi_digest();

}  // namespace sdfg::lower
