// The runtime ABI: everything generated host code may call besides libm, libc's mem* and the OpenMP entries of
// `runtime/threads`.
//
// One list defines the table: `lower` prints it as the C++ prelude of generated text, `runtime` fills it. Each host
// object defines
//   extern "C" const sdfg_abi_table* sdfg_abi;   (writable; the loader stores the table's address)
//   extern "C" void* sdfg_program;               (writable; the loader stores the runtime's Program of this code)
// and the entries
//   extern "C" int32_t sdfg_entry(<parameters>); (plain C signature of the graph: the raw function pointer; returns the
//   status, 0 = done,
//                                                 which callers through a pointer of type void(...) ignore)
//   extern "C" int32_t sdfg_packed(void* const*); (args[i] points to parameter i: pointers for containers, values for
//   scalars)
// An entry makes an sdfg_call on its stack, zeroes it, calls the body, and calls `finish` if `arena`, `status` or
// `flags` is set.
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.hpp"

namespace sdfg::lower {

// State of one call of a function. Lives on the stack of the generated entry; generated text declares it as
// `sdfg_call`.
struct CallState {
  void* program;        // copy of sdfg_program
  void* arena;          // acquired at the first allocation of the call
  std::int32_t status;  // 0, or the code of the first failure (written atomically; parallel bodies test it)
  std::int32_t flags;
  void* device;  // GPU state of the call, acquired at the first device operation
  void* reserved[3];
};

// Codes of `fail`. The runtime turns them into Error texts with the names of the calling graph.
enum class FailCode : std::int32_t {
  kNone = 0,
  kOutOfMemory = 1,     // values: bytes
  kNegativeExtent = 2,  // values: dimension, extent; or -1, elements in all; or -2, bytes in all
  kOverflow = 3,        // values: none; integer overflow in the extent or size of the container
  kOutOfBounds = 4,     // values: dimension, index, extent
  kZeroStep = 5,        // values: step
  kStreamFull = 6,      // values: capacity, 0 when it is the caller's to know
  kAssertion = 7,       // values: free
  kUninitialised = 8,   // values: flat index
  kRace = 9,            // values: flat index
  kNotFinite = 10,      // values: flat index
  kCallback = 11,       // an exception left a callback; its text is kept per thread
  kDevice = 12,         // a device operation failed; the device room recorded the error
  // Reported by the runtime's own entries (which return null then); generated code need not use them.
  kWorkspace = 13,    // values: bytes needed, bytes given
  kLibrary = 14,      // values: HostLibrary; a library or its function is not available
  kForkedChild = 15,  // values: none
  kRecursion = 16,    // values: none; a program with persistent containers was entered while its own call runs
  kObserver = 17,     // values: none; what watches the call found it wrong, its Error is the cause
  // Of generated code again.
  kStreamEmpty = 18,       // values: none; a stream was popped that had nothing
  kNegativeCapacity = 19,  // values: capacity
};

// The libraries that the `library` entry knows. Symbols have C linkage: cblas_dgemm, dgetrf_, LAPACKE_dgetrf,
// fftw_plan_dft...
enum class HostLibrary : std::int32_t { kBlas = 0, kLapack = 1, kLapacke = 2, kFftw = 3, kFftwSingle = 4, kMpi = 5 };
inline constexpr int kHostLibraryCount = 6;

// The address spaces of a copy. Device memory is not the host's to touch; pinned memory is both's.
enum class MemorySpace : std::int32_t { kHost = 0, kPinned = 1, kDevice = 2 };

// One copy of a rectangular region of up to three dimensions, outermost first; generated text declares it as
// `sdfg_copy`. `bytes` is the length of a contiguous run; element (i, j) of `count` starts at i * stride[0] + j *
// stride[1] bytes. A missing dimension has count 1. The device room picks the driver's call (one, two or three
// dimensions, or a loop of these).
struct DeviceCopy {
  void* to;
  const void* from;
  std::int32_t to_space;    // MemorySpace
  std::int32_t from_space;  // MemorySpace
  std::int64_t bytes;
  std::int64_t count[2];
  std::int64_t to_stride[2];
  std::int64_t from_stride[2];
};

// One launch; generated text declares it as `sdfg_launch`. An extent of the grid that is not positive means no work.
struct DeviceLaunch {
  std::int64_t grid[3];      // blocks in x, y, z
  std::int64_t block[3];     // threads in x, y, z
  std::int64_t shared;       // bytes of dynamic shared memory
  std::int32_t cooperative;  // 1: all blocks are resident at once (grid barriers)
};

// How the entries behave:
//   allocate     aligned to at least 64 bytes (more if asked); bytes 0 gives a valid pointer; null after it reported a
//   failure.
//                Inside a parallel region each thread has a part of its own: no contention.
//   release      null is fine; any order, cheapest in reverse order of allocation. May be left out before `finish`.
//   fail         only the first failure of a call is kept; sets status. Callable from any thread of a parallel region.
//   persistent   outside parallel regions only; zeroed when new or when the size changed; the first one waits until no
//   other
//                call of this Program runs, so `finish` must follow (flags is set)
//   external     base of the caller's workspace + offset; null after it reported kWorkspace
//   library      null after it reported kLibrary
//   thread_index index in the outermost parallel region of the call, 0 outside; thread_count: its size, and outside of
//   a region
//                the most threads that one would get (so that buffers per thread can be sized before it)
//   stream_push  1, or 0 when the queue is at its capacity; stream_pop: 1, or 0 when it is empty. Both are thread-safe;
//   the caller reports kStreamFull and kStreamEmpty
//   clock        monotonic nanoseconds; trace: sums times per ordinal (and feeds the trace file)
//   call_begin   code lowered to be observed only: first in the entry; arguments as in sdfg_packed
//   call_end     instead of `finish`, always: waits for the device, lets the observer look at the results, finishes
//
// The device entries report failures by `fail` with kDevice (the whole Error is kept by the device room) and set
// kCallUsesDevice. `stream` is a number chosen by the stream plan, 0 first; -1 is the null stream; with a caller's
// stream number 0 is that one. Work of one stream runs in order; different streams are ordered by events only. All are
// called from the thread that entered the function, never from a parallel region.
//   device_begin        1, or 0 when there is no usable device (reported): first device entry of a call, cheap after
//                       that. `finish` waits for what host-visible memory still depends on and for nothing else.
//   device_allocate     stream-ordered, at least 256-byte aligned; bytes 0 gives a valid address; null after a report
//   device_release      stream-ordered; null is fine
//   device_persistent   as persistent, in device memory
//   pinned_allocate     pinned host memory of the call; pinned_release waits for no one: the plan does
//   device_copy         asynchronous on the stream where the memory allows it; pageable host memory is read before it
//                       returns and written only after device_synchronise
//   device_fill         `count[0]` rows of `count[1]` elements of `width` (1, 2, 4, 8 or 16) bytes from `value`; rows
//                       `pitch` bytes apart
//   device_launch       `kernel` indexes lower::DeviceModule::kernels; arguments[i] points to parameter i; an empty
//                       grid launches nothing
//   device_record       marks event `event` (a number of the call) on the stream; device_wait: later work of the
//                       stream waits for it
//   device_synchronise  the host waits for the stream
//   device_call         `function` (DeviceFunction) of a device library on the stream; arguments: its numbers, its
//                       scalars, then the addresses of its operands, as base/device_function.hpp says
//   device_repeat_begin a loop of `trips` iterations that only launch kernels on the stream, in each the same with the
//                       same arguments, begins: how many of its iterations the code runs itself. All of them, or the
//                       first alone, whose launches are kept then. Not positive: none. 0 after a report.
//   device_repeat_end   repeats what was kept for the iterations that the code did not run

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
  X(void, trace, (sdfg_call* call, int32_t ordinal, int64_t begin, int64_t end))                                    \
  X(void, call_begin, (sdfg_call* call, void* const* arguments))                                                    \
  X(void, call_end, (sdfg_call* call, void* const* arguments))                                                      \
  X(int32_t, device_begin, (sdfg_call* call))                                                                       \
  X(void*, device_allocate, (sdfg_call* call, int32_t stream, int64_t bytes, int32_t ordinal))                      \
  X(void, device_release, (sdfg_call* call, int32_t stream, void* memory))                                          \
  X(void*, device_persistent, (sdfg_call* call, int32_t ordinal, int64_t bytes, int32_t zero))                      \
  X(void*, pinned_allocate, (sdfg_call* call, int64_t bytes, int32_t ordinal))                                      \
  X(void, pinned_release, (sdfg_call* call, void* memory))                                                          \
  X(void, device_copy, (sdfg_call* call, int32_t stream, const sdfg_copy* copy, int32_t ordinal))                   \
  X(void, device_fill, (sdfg_call* call, int32_t stream, void* memory, const void* value, int64_t width,            \
                        const int64_t* count, int64_t pitch, int32_t ordinal))                                      \
  X(void, device_launch, (sdfg_call* call, int32_t stream, int32_t kernel, const sdfg_launch* launch,               \
                          void* const* arguments, int32_t ordinal))                                                 \
  X(void, device_record, (sdfg_call* call, int32_t stream, int32_t event))                                          \
  X(void, device_wait, (sdfg_call* call, int32_t stream, int32_t event))                                            \
  X(void, device_synchronise, (sdfg_call* call, int32_t stream, int32_t ordinal))                                   \
  X(void, device_call, (sdfg_call* call, int32_t stream, int32_t function, void* const* arguments, int32_t ordinal)) \
  X(int64_t, device_repeat_begin, (sdfg_call* call, int32_t stream, int64_t trips, int32_t ordinal))                \
  X(void, device_repeat_end, (sdfg_call* call))
// clang-format on

// C++ text that declares sdfg_call, sdfg_abi_table, sdfg_abi and sdfg_program, for the head of every generated host
// source.
const std::string& abi_prelude();
// The integer types and the two slots, for sources that use nothing else of it: a third of a millisecond less.
const std::string& abi_slots();
// Digest of the prelude: part of every compile request and cache record.
const Digest& abi_digest();

}  // namespace sdfg::lower
