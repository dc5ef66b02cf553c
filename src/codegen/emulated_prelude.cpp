// Kernel text's vocabulary in terms of the emulator's table.
#include "codegen/device_text.hpp"
#include "codegen/emulator_table.hpp"

namespace sdfg::codegen {

namespace {

// The table and what it gives is in another address space, which tells the checking pass to leave it alone.
constexpr const char* kHead = R"(typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
struct sdfg_dim3 { uint32_t x, y, z; };
struct sdfg_emulator_table {
)";

constexpr const char* kTail = R"(  sdfg_dim3 thread, block, block_extent, grid_extent;
};
#define SDFG_UNCHECKED __attribute__((address_space(1)))
extern "C" { const sdfg_emulator_table SDFG_UNCHECKED* sdfg_emulator; }
#define threadIdx (sdfg_emulator->thread)
#define blockIdx (sdfg_emulator->block)
#define blockDim (sdfg_emulator->block_extent)
#define gridDim (sdfg_emulator->grid_extent)
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define SDFG_SHARED(type, name, count) \
  type* const name = (type*)sdfg_emulator->shared(__COUNTER__, sizeof(type) * (count), alignof(type), __LINE__)
#define SDFG_DYNAMIC_SHARED(type, name) type* const name = (type*)sdfg_emulator->dynamic_shared(__LINE__)
#define __syncthreads() sdfg_emulator->barrier(__LINE__)
#define SDFG_GRID_BARRIER() sdfg_emulator->grid_barrier(__LINE__)
#define SDFG_AWAIT_EARLIER()
#define SDFG_ADMIT_LATER()

template <class T> static inline T __shfl_sync(uint32_t mask, T value, int lane, int width = 32, int line = __builtin_LINE()) {
  T result;
  sdfg_emulator->warp(0, mask, &value, &result, sizeof(T), lane, width, line);
  return result;
}
template <class T> static inline T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  T result;
  sdfg_emulator->warp(1, mask, &value, &result, sizeof(T), int(delta), width, line);
  return result;
}
template <class T> static inline T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  T result;
  sdfg_emulator->warp(2, mask, &value, &result, sizeof(T), int(delta), width, line);
  return result;
}
template <class T> static inline T __shfl_xor_sync(uint32_t mask, T value, int lanes, int width = 32, int line = __builtin_LINE()) {
  T result;
  sdfg_emulator->warp(3, mask, &value, &result, sizeof(T), lanes, width, line);
  return result;
}
static inline void __syncwarp(uint32_t mask = 0xffffffffu, int line = __builtin_LINE()) {
  sdfg_emulator->warp(4, mask, nullptr, nullptr, 0, 0, 32, line);
}
static inline uint32_t __ballot_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  uint32_t result;
  sdfg_emulator->warp(5, mask, &predicate, &result, 4, 0, 32, line);
  return result;
}
static inline int __any_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  int result;
  sdfg_emulator->warp(6, mask, &predicate, &result, 4, 0, 32, line);
  return result;
}
static inline int __all_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  int result;
  sdfg_emulator->warp(7, mask, &predicate, &result, 4, 0, 32, line);
  return result;
}

// One thread runs at a time, so an update needs no machine instruction of its own; the table is told that it is atomic.
template <class T> static inline T* sdfg_atomic_place(T* address, int line) {
  // The result in the other address space, or the optimiser would drop a cast there and back.
  typedef void SDFG_UNCHECKED* (*sdfg_access)(const void*, uint64_t);
  return (T*)((sdfg_access)sdfg_emulator->access)(
      address, sizeof(T) | 3ull << 16 | uint64_t(__builtin_ctzl(alignof(T))) << 18 | uint64_t(line) << 32);
}
template <class T, class F> static inline T sdfg_atomic_apply(T* address, F function, int line) {
  T* const place = sdfg_atomic_place(address, line);
  const T old = *place;
  *place = function(old);
  return old;
}
template <class T, class F> static inline T sdfg_atomic_update(T* address, F function, int line = __builtin_LINE()) {
  return sdfg_atomic_apply(address, function, line);
}
// A NaN loses against a number.
template <class T> static inline T sdfg_lesser(T a, T b) { return b < a || a != a ? b : a; }
template <class T> static inline T sdfg_greater(T a, T b) { return a < b || a != a ? b : a; }
#define SDFG_ATOMIC(name, expression)                                                              \
  template <class T> static inline T sdfg_atomic_##name(T* address, T b, int line = __builtin_LINE()) { \
    return sdfg_atomic_apply(address, [b](T a) -> T { return expression; }, line);                 \
  }
SDFG_ATOMIC(add, T(a + b))
SDFG_ATOMIC(multiply, T(a * b))
SDFG_ATOMIC(min, sdfg_lesser(a, b))
SDFG_ATOMIC(max, sdfg_greater(a, b))
SDFG_ATOMIC(and, T(a & b))
SDFG_ATOMIC(or, T(a | b))
SDFG_ATOMIC(xor, T(a ^ b))
SDFG_ATOMIC(logical_and, T(a && b))
SDFG_ATOMIC(logical_or, T(a || b))
SDFG_ATOMIC(logical_xor, T((a != T(0)) != (b != T(0))))
SDFG_ATOMIC(exchange, b)
#undef SDFG_ATOMIC

static inline void __threadfence() {}
static inline void __threadfence_block() {}
template <class T> static inline T sdfg_load_readonly(const T* address) { return *address; }
template <int bytes> static inline void sdfg_copy_async(void* to, const void* from, int line = __builtin_LINE()) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "sdfg_copy_async moves 4, 8 or 16 bytes");
  sdfg_emulator->copy_async(to, from, bytes, line);
}
static inline void sdfg_copy_async_commit() { sdfg_emulator->commit_async(); }
template <int pending> static inline void sdfg_copy_async_wait() { sdfg_emulator->wait_async(pending); }
)";

}  // namespace

const std::string& emulated_prelude() {
  static const std::string& text = *new std::string([] {
    std::string out = kHead;
#define SDFG_PRINT_ENTRY(result, name, parameters) out += "  " #result " (*" #name ")" #parameters ";\n";
    SDFG_EMULATOR_ENTRIES(SDFG_PRINT_ENTRY)
#undef SDFG_PRINT_ENTRY
    return out + kTail;
  }());
  return text;
}

}  // namespace sdfg::codegen
