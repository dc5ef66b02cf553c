// What kernel text, and host text, calls of the emulated device: one list, from which the prelude of kernel text, the
// checking pass of the compiler and the emulator itself take the layout of the table.
//
// Each checked object defines `extern "C" <pointer> sdfg_emulator`; the loader stores the table's address. The first
// entries are called by code that the checking pass inserts, the others by the prelude. `what` packs an access:
//   bits 0-15 size in bytes, bit 16 it writes, bit 17 it is atomic, bits 18-21 log2 of the alignment it relies on,
//   bits 32-63 line of the text.
// `access` returns where the bytes really are; after a violation, which is recorded, memory that does no harm.
#pragma once

#include <cstdint>

namespace sdfg::codegen {

inline constexpr std::uint64_t kAccessSizeMask = 0xffff;
inline constexpr std::uint64_t kAccessWrite = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kAccessAtomic = std::uint64_t{1} << 17;
inline constexpr unsigned kAccessAlignmentShift = 18;
inline constexpr std::uint64_t kAccessAlignmentMask = 15;
inline constexpr unsigned kAccessLineShift = 32;

// Kinds of the `warp` entry. The shuffles take `lane` as CUDA's functions take their third argument.
enum class WarpOperation : std::int32_t {
  kShuffle = 0,
  kShuffleUp = 1,
  kShuffleDown = 2,
  kShuffleXor = 3,
  kSynchronise = 4,
  kBallot = 5,  // of an int, into an unsigned
  kAny = 6,     // of an int, into an int
  kAll = 7,
};

// X(result, name, parameters), in table order. The types are spelled as both the prelude and C++ headers know them.
// clang-format off
#define SDFG_EMULATOR_ENTRIES(X)                                                                              \
  X(void*, access, (const void* address, uint64_t what))                                                      \
  X(void*, object_access, (const void* address, uint64_t what, const void* object, uint64_t bytes))           \
  X(void, copy, (void* to, const void* from, uint64_t bytes, uint64_t what))                                  \
  X(void, fill, (void* to, int32_t value, uint64_t bytes, uint64_t what))                                     \
  X(void*, host_access, (const void* address, uint64_t what))                                                 \
  X(void*, host_range, (const void* address, uint64_t bytes, uint64_t what))                                  \
  X(void, tick, (uint32_t line))                                                                              \
  X(void, barrier, (uint32_t line))                                                                           \
  X(void, grid_barrier, (uint32_t line))                                                                      \
  X(void, warp, (int32_t operation, uint32_t mask, const void* value, void* result, int32_t bytes,            \
                 int32_t lane, int32_t width, uint32_t line))                                                 \
  X(void*, shared, (int32_t site, uint64_t bytes, uint64_t alignment, uint32_t line))                         \
  X(void*, dynamic_shared, (uint32_t line))                                                                   \
  X(void, copy_async, (void* to, const void* from, uint64_t bytes, uint32_t line))                            \
  X(void, commit_async, ())                                                                                   \
  X(void, wait_async, (int32_t pending))
// clang-format on

// Positions of the entries that the checking pass calls.
enum class EmulatorEntry : std::uint32_t {
#define SDFG_POSITION(result, name, parameters) name,
  SDFG_EMULATOR_ENTRIES(SDFG_POSITION)
#undef SDFG_POSITION
};

using std::int32_t;
using std::uint32_t;
using std::uint64_t;

struct EmulatorDim {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

// The coordinates of the thread that runs follow the entries.
struct EmulatorTable {
#define SDFG_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  SDFG_EMULATOR_ENTRIES(SDFG_MEMBER)
#undef SDFG_MEMBER
  EmulatorDim thread;
  EmulatorDim block;
  EmulatorDim block_extent;
  EmulatorDim grid_extent;
};

}  // namespace sdfg::codegen
