// The preludes of kernel text. Meanings are those of device_text.hpp; nothing here depends on a graph.
#include "codegen/device_text.hpp"

namespace sdfg::codegen {

namespace {

// Integers of the sizes that generated text names come with the helpers of scalar code; here only built-in types, so
// that both definitions of the same names agree on LP64.
//
// Atomics: what the hardware has natively, and compare-and-swap on the bits for everything else. Elements of one and
// two bytes are swapped inside their word, elements of sixteen bytes under one of 64 locks (sums of two doubles are two
// sums, as nobody can see them apart before the kernel ends).
constexpr const char* kMacros = R"(
#define SDFG_SHARED(type, name, count) __shared__ __align__(16) unsigned char name##_bytes[sizeof(type) * (count)]; type* const name = reinterpret_cast<type*>(name##_bytes)
#define SDFG_DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) unsigned char sdfg_dynamic_bytes[]; type* const name = reinterpret_cast<type*>(sdfg_dynamic_bytes)
#define SDFG_GRID_BARRIER() sdfg_grid_barrier()
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SDFG_AWAIT_EARLIER() asm volatile("griddepcontrol.wait;" ::: "memory")
#define SDFG_ADMIT_LATER() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define SDFG_AWAIT_EARLIER()
#define SDFG_ADMIT_LATER()
#endif

)";

constexpr const char* kReadonly = R"(
template <typename T>
__device__ __forceinline__ T sdfg_load_readonly(const T* address) {
  if constexpr (sizeof(T) == 4) {
    const unsigned int bits = __ldg(reinterpret_cast<const unsigned int*>(address));
    return *reinterpret_cast<const T*>(&bits);
  } else if constexpr (sizeof(T) == 8) {
    const unsigned long long bits = __ldg(reinterpret_cast<const unsigned long long*>(address));
    return *reinterpret_cast<const T*>(&bits);
  } else {
    return *address;
  }
}

)";

constexpr const char* kAtomics = R"(
template <typename To, typename From>
__device__ __forceinline__ To sdfg_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits of another size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

__device__ unsigned int sdfg_atomic_locks[64];

template <typename T, typename Function>
__device__ T sdfg_atomic_update(T* address, Function function) {
  if constexpr (sizeof(T) == 4) {
    unsigned int* const word = reinterpret_cast<unsigned int*>(address);
    unsigned int seen = *word, expected;
    do {
      expected = seen;
      const T next = function(sdfg_bits<T>(expected));
      seen = atomicCAS(word, expected, sdfg_bits<unsigned int>(next));
    } while (seen != expected);
    return sdfg_bits<T>(seen);
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long* const word = reinterpret_cast<unsigned long long*>(address);
    unsigned long long seen = *word, expected;
    do {
      expected = seen;
      const T next = function(sdfg_bits<T>(expected));
      seen = atomicCAS(word, expected, sdfg_bits<unsigned long long>(next));
    } while (seen != expected);
    return sdfg_bits<T>(seen);
  } else if constexpr (sizeof(T) == 1 || sizeof(T) == 2) {
    const unsigned long long place = reinterpret_cast<unsigned long long>(address);
    unsigned int* const word = reinterpret_cast<unsigned int*>(place & ~3ull);
    const unsigned int shift = static_cast<unsigned int>(place & 3ull) * 8;
    const unsigned int mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    unsigned int seen = *word, expected;
    T old;
    do {
      expected = seen;
      const unsigned int part = (expected & mask) >> shift;
      memcpy(&old, &part, sizeof(T));
      const T next = function(old);
      unsigned int bits = 0;
      memcpy(&bits, &next, sizeof(T));
      seen = atomicCAS(word, expected, (expected & ~mask) | (bits << shift));
    } while (seen != expected);
    return old;
  } else {
    unsigned int* const lock = &sdfg_atomic_locks[(reinterpret_cast<unsigned long long>(address) / sizeof(T)) % 64];
    T old;
    for (bool done = false; !done;) {
      if (atomicExch(lock, 1u) == 0u) {
        __threadfence();
        unsigned int words[sizeof(T) / 4];
        volatile unsigned int* const place = reinterpret_cast<volatile unsigned int*>(address);
        for (unsigned int w = 0; w < sizeof(T) / 4; ++w) words[w] = place[w];
        memcpy(&old, words, sizeof(T));
        const T next = function(old);
        memcpy(words, &next, sizeof(T));
        for (unsigned int w = 0; w < sizeof(T) / 4; ++w) place[w] = words[w];
        __threadfence();
        atomicExch(lock, 0u);
        done = true;
      }
    }
    return old;
  }
}

template <typename T>
__device__ __forceinline__ T sdfg_atomic_add(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return old + value; });
}
__device__ __forceinline__ int sdfg_atomic_add(int* address, int value) { return atomicAdd(address, value); }
__device__ __forceinline__ unsigned int sdfg_atomic_add(unsigned int* address, unsigned int value) { return atomicAdd(address, value); }
__device__ __forceinline__ long sdfg_atomic_add(long* address, long value) {
  return static_cast<long>(atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
__device__ __forceinline__ unsigned long sdfg_atomic_add(unsigned long* address, unsigned long value) {
  return static_cast<unsigned long>(atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
__device__ __forceinline__ float sdfg_atomic_add(float* address, float value) { return atomicAdd(address, value); }
__device__ __forceinline__ double sdfg_atomic_add(double* address, double value) { return atomicAdd(address, value); }

template <typename T>
__device__ __forceinline__ T sdfg_atomic_multiply(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return old * value; });
}

// A NaN loses against a number, as in the scalar functions.
template <typename T>
__device__ __forceinline__ T sdfg_atomic_min(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return value < old || old != old ? value : old; });
}
__device__ __forceinline__ int sdfg_atomic_min(int* address, int value) { return atomicMin(address, value); }
__device__ __forceinline__ unsigned int sdfg_atomic_min(unsigned int* address, unsigned int value) { return atomicMin(address, value); }
__device__ __forceinline__ long sdfg_atomic_min(long* address, long value) { return static_cast<long>(atomicMin(reinterpret_cast<long long*>(address), static_cast<long long>(value))); }
__device__ __forceinline__ unsigned long sdfg_atomic_min(unsigned long* address, unsigned long value) { return static_cast<unsigned long>(atomicMin(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value))); }

template <typename T>
__device__ __forceinline__ T sdfg_atomic_max(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return old < value || old != old ? value : old; });
}
__device__ __forceinline__ int sdfg_atomic_max(int* address, int value) { return atomicMax(address, value); }
__device__ __forceinline__ unsigned int sdfg_atomic_max(unsigned int* address, unsigned int value) { return atomicMax(address, value); }
__device__ __forceinline__ long sdfg_atomic_max(long* address, long value) { return static_cast<long>(atomicMax(reinterpret_cast<long long*>(address), static_cast<long long>(value))); }
__device__ __forceinline__ unsigned long sdfg_atomic_max(unsigned long* address, unsigned long value) { return static_cast<unsigned long>(atomicMax(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value))); }

#define SDFG_BITWISE(name, native, op)                                                                                       \
  template <typename T>                                                                                                      \
  __device__ __forceinline__ T sdfg_atomic_##name(T* address, T value) {                                                     \
    return sdfg_atomic_update(address, [value](T old) -> T { return static_cast<T>(old op value); });                        \
  }                                                                                                                          \
  __device__ __forceinline__ int sdfg_atomic_##name(int* address, int value) { return native(address, value); }              \
  __device__ __forceinline__ unsigned int sdfg_atomic_##name(unsigned int* address, unsigned int value) { return native(address, value); } \
  __device__ __forceinline__ long sdfg_atomic_##name(long* address, long value) {                                            \
    return static_cast<long>(native(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value))); \
  }                                                                                                                          \
  __device__ __forceinline__ unsigned long sdfg_atomic_##name(unsigned long* address, unsigned long value) {                 \
    return static_cast<unsigned long>(native(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value))); \
  }
SDFG_BITWISE(and, atomicAnd, &)
SDFG_BITWISE(or, atomicOr, |)
SDFG_BITWISE(xor, atomicXor, ^)
#undef SDFG_BITWISE

template <typename T>
__device__ __forceinline__ T sdfg_atomic_logical_and(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return static_cast<T>((old != T(0)) && (value != T(0))); });
}
template <typename T>
__device__ __forceinline__ T sdfg_atomic_logical_or(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return static_cast<T>((old != T(0)) || (value != T(0))); });
}
template <typename T>
__device__ __forceinline__ T sdfg_atomic_logical_xor(T* address, T value) {
  return sdfg_atomic_update(address, [value](T old) -> T { return static_cast<T>((old != T(0)) != (value != T(0))); });
}
template <typename T>
__device__ __forceinline__ T sdfg_atomic_exchange(T* address, T value) {
  return sdfg_atomic_update(address, [value](T) -> T { return value; });
}

)";

constexpr const char* kAsync = R"(
template <int bytes>
__device__ __forceinline__ void sdfg_copy_async(void* to_shared, const void* from_global) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "copies of 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned int to = static_cast<unsigned int>(__cvta_generic_to_shared(to_shared));
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from_global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from_global), "n"(bytes) : "memory");
  }
#else
  memcpy(to_shared, from_global, bytes);
#endif
}
__device__ __forceinline__ void sdfg_copy_async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int pending>
__device__ __forceinline__ void sdfg_copy_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

)";

constexpr const char* kGridBarrier = R"(
// All blocks are resident. Each arrival adds one, the first block's adds what makes the sum of a round flip the top
// bit, so that no round needs a reset.
__device__ unsigned int sdfg_grid_arrived;
__device__ __forceinline__ void sdfg_grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    __threadfence();
    const unsigned int before = atomicAdd(&sdfg_grid_arrived, first ? 0x80000000u - (blocks - 1) : 1u);
    while ((((*static_cast<volatile unsigned int*>(&sdfg_grid_arrived)) ^ before) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
)";

}  // namespace

const std::string& device_prelude(DeviceDialect dialect) {
  static const std::string& cuda =
      *new std::string(std::string(kMacros) + kReadonly + kAtomics + kAsync + kGridBarrier);
  switch (dialect) {
    case DeviceDialect::kCuda: return cuda;
    case DeviceDialect::kEmulated: return emulated_prelude();
  }
  return cuda;
}

std::string device_prelude_for(DeviceDialect dialect, std::string_view kernels) {
  switch (dialect) {
    case DeviceDialect::kEmulated: return emulated_prelude();
    case DeviceDialect::kCuda: break;
  }
  const auto used = [&](std::string_view word) { return kernels.find(word) != std::string_view::npos; };
  std::string out = kMacros;
  if (used("sdfg_load_readonly")) out += kReadonly;
  if (used("sdfg_atomic_")) out += kAtomics;
  if (used("sdfg_copy_async")) out += kAsync;
  if (used("SDFG_GRID_BARRIER")) out += kGridBarrier;
  return out;
}

}  // namespace sdfg::codegen
