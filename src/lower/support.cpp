// The texts of the helpers. They use the ABI prelude and compiler builtins only.
#include "lower/support.hpp"

namespace sdfg::lower {

namespace {

// Codes as in FailCode: 2 negative extent, 3 overflow. Out of memory is recorded by the runtime itself.
constexpr const char* kFailText = R"(
__attribute__((cold, noinline)) static void sdfg_fail(sdfg_call* call, int32_t code, int32_t ordinal, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  const int64_t values[3] = {a, b, c};
  const int32_t counts[20] = {0, 1, 2, 0, 3, 1, 1, 3, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  sdfg_abi->fail(call, code, ordinal, values, counts[code]);
}
)";

constexpr const char* kCheckedText = R"(
struct sdfg_checked {
  int64_t value;
  bool overflow;
  constexpr sdfg_checked(int64_t v) : value(v), overflow(false) {}
  constexpr sdfg_checked(int64_t v, bool o) : value(v), overflow(o) {}
};
static constexpr sdfg_checked operator+(sdfg_checked a, sdfg_checked b) {
  int64_t r = 0;
  const bool over = __builtin_add_overflow(a.value, b.value, &r);
  return {r, over || a.overflow || b.overflow};
}
static constexpr sdfg_checked operator-(sdfg_checked a, sdfg_checked b) {
  int64_t r = 0;
  const bool over = __builtin_sub_overflow(a.value, b.value, &r);
  return {r, over || a.overflow || b.overflow};
}
static constexpr sdfg_checked operator-(sdfg_checked a) { return sdfg_checked(0) - a; }
static constexpr sdfg_checked operator*(sdfg_checked a, sdfg_checked b) {
  int64_t r = 0;
  const bool over = __builtin_mul_overflow(a.value, b.value, &r);
  return {r, over || a.overflow || b.overflow};
}
static constexpr sdfg_checked operator/(sdfg_checked a, sdfg_checked b) {
  const bool bad = a.overflow || b.overflow || b.value == 0;
  return {bad ? 0 : a.value / b.value, bad};
}
static constexpr sdfg_checked operator%(sdfg_checked a, sdfg_checked b) {
  const bool bad = a.overflow || b.overflow || b.value == 0;
  return {bad ? 0 : a.value % b.value, bad};
}
static constexpr bool operator<(sdfg_checked a, sdfg_checked b) { return a.value < b.value; }
static constexpr bool operator<=(sdfg_checked a, sdfg_checked b) { return a.value <= b.value; }
static constexpr bool operator==(sdfg_checked a, sdfg_checked b) { return a.value == b.value; }
static constexpr bool operator!=(sdfg_checked a, sdfg_checked b) { return a.value != b.value; }
static constexpr sdfg_checked sdfg_checked_max(sdfg_checked a, sdfg_checked b) { return a < b ? b : a; }
static constexpr sdfg_checked sdfg_checked_min(sdfg_checked a, sdfg_checked b) { return b < a ? b : a; }
static constexpr sdfg_checked sdfg_checked_abs(sdfg_checked a) { return a < 0 ? -a : a; }
static constexpr sdfg_checked sdfg_checked_floor_div(sdfg_checked a, sdfg_checked b) {
  const sdfg_checked q = a / b;
  return a.value % (b.value ? b.value : 1) != 0 && ((a.value < 0) != (b.value < 0)) ? q - 1 : q;
}
static constexpr sdfg_checked sdfg_checked_ceil_div(sdfg_checked a, sdfg_checked b) { return -sdfg_checked_floor_div(-a, b); }
static constexpr sdfg_checked sdfg_checked_mod(sdfg_checked a, sdfg_checked b) { return a - sdfg_checked_floor_div(a, b) * b; }
static constexpr sdfg_checked sdfg_checked_ipow(sdfg_checked a, sdfg_checked n) {
  sdfg_checked r = 1;
  for (int64_t i = 0; i < n.value && !r.overflow; ++i) r = r * a;
  return {r.value, r.overflow || n.overflow};
}
)";

constexpr const char* kBytesText = R"(
__attribute__((noinline)) static int64_t sdfg_bytes(sdfg_call* call, sdfg_checked elements, int64_t element_bytes, int32_t ordinal) {
  const sdfg_checked bytes = elements * element_bytes;
  if (!bytes.overflow && bytes.value >= 0) return bytes.value;
  if (bytes.overflow)
    sdfg_fail(call, 3, ordinal);
  else
    sdfg_fail(call, 2, ordinal, -1, elements.value);
  return -1;
}
)";

// Out of line: a program of many arrays has these at every one of them, and the runtime's entries cost more than the
// call.
constexpr const char* kOwnedText = R"(
__attribute__((noinline)) static void* sdfg_allocate(sdfg_call* call, sdfg_checked elements, int64_t element_bytes, int64_t alignment, int32_t ordinal) {
  const int64_t bytes = sdfg_bytes(call, elements, element_bytes, ordinal);
  return bytes < 0 ? nullptr : sdfg_abi->allocate(call, bytes > 0 ? bytes : 1, alignment, ordinal);
}
__attribute__((noinline)) static void sdfg_release(sdfg_call* call, void* memory) {
  if (memory) sdfg_abi->release(call, memory);
}
struct sdfg_owned {
  sdfg_call* call;
  void* memory;
  sdfg_owned(sdfg_call* c, sdfg_checked elements, int64_t element_bytes, int64_t alignment, int32_t ordinal) : call(c), memory(sdfg_allocate(c, elements, element_bytes, alignment, ordinal)) {}
  ~sdfg_owned() { sdfg_release(call, memory); }
  sdfg_owned(const sdfg_owned&) = delete;
};
)";

constexpr const char* kStreamText = R"(
struct sdfg_stream {
  sdfg_call* call;
  void* queue;
  sdfg_stream(sdfg_call* c, int64_t element_bytes, int64_t capacity) : call(c), queue(sdfg_abi->stream_make(c, element_bytes, capacity)) {}
  ~sdfg_stream() {
    if (queue) sdfg_abi->stream_free(call, queue);
  }
  sdfg_stream(const sdfg_stream&) = delete;
};
)";

// `complete` is false when there was no memory for one of them, which the runtime has reported.
constexpr const char* kStreamsText = R"(
struct sdfg_streams {
  sdfg_call* call;
  void** queues;
  int64_t count = 0;
  bool complete = false;
  sdfg_streams(sdfg_call* c, int32_t ordinal, sdfg_checked wanted, int64_t element_bytes, int64_t capacity) : call(c), queues((void**)sdfg_allocate(c, wanted, sizeof(void*), alignof(void*), ordinal)) {
    if (!queues) return;
    for (; count < wanted.value; ++count) {
      queues[count] = sdfg_abi->stream_make(c, element_bytes, capacity);
      if (!queues[count]) return;
    }
    complete = true;
  }
  ~sdfg_streams() {
    for (int64_t i = 0; i < count; ++i) sdfg_abi->stream_free(call, queues[i]);
    sdfg_release(call, queues);
  }
  sdfg_streams(const sdfg_streams&) = delete;
};
)";

constexpr const char* kOutsideText = R"(
alignas(64) static char sdfg_elsewhere[1024];
template <typename T>
static T& sdfg_outside(sdfg_call* call, int32_t ordinal, int64_t dimension, int64_t index, int64_t extent) {
  sdfg_fail(call, 4, ordinal, dimension, index, extent);
  return *reinterpret_cast<T*>(sdfg_elsewhere);
}
)";

constexpr const char* kNumberText = R"(
#ifdef __CUDACC__
#define SDFG_NUMBER_TEST [[maybe_unused]] __device__ static inline
#else
#define SDFG_NUMBER_TEST [[maybe_unused]] static inline
#endif
SDFG_NUMBER_TEST bool sdfg_is_number(double v) { return (__builtin_bit_cast(uint64_t, v) & 0x7fffffffffffffff) <= 0x7ff0000000000000; }
SDFG_NUMBER_TEST bool sdfg_is_number(float v) { return (__builtin_bit_cast(uint32_t, v) & 0x7fffffff) <= 0x7f800000; }
template <typename T>
SDFG_NUMBER_TEST bool sdfg_is_number(const T& v) { return sdfg_is_number((float)v); }
)";

constexpr const char* kFailedText = R"(
static inline bool sdfg_failed(sdfg_call* call) { return __builtin_expect(__atomic_load_n(&call->status, __ATOMIC_RELAXED) != 0, 0); }
)";

constexpr const char* kAtomicAddText = R"(
template <typename T>
static inline void sdfg_atomic_add(T* at, T value) {
  __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
)";

// Elements up to eight bytes are compared as words of their size (the word types may alias them); larger ones take one
// of 64 locks.
constexpr const char* kAtomicUpdateText = R"(
template <int bytes> struct sdfg_word;
template <> struct sdfg_word<1> { typedef uint8_t __attribute__((may_alias)) type; };
template <> struct sdfg_word<2> { typedef uint16_t __attribute__((may_alias)) type; };
template <> struct sdfg_word<4> { typedef uint32_t __attribute__((may_alias)) type; };
template <> struct sdfg_word<8> { typedef uint64_t __attribute__((may_alias)) type; };
static int32_t sdfg_locks[64];
template <typename T, typename Operation>
static inline void sdfg_atomic_update(T* at, Operation operation) {
  if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    using word = typename sdfg_word<sizeof(T)>::type;
    word* const place = reinterpret_cast<word*>(at);
    word old_bits = __atomic_load_n(place, __ATOMIC_RELAXED);
    word new_bits;
    do {
      T old_value;
      __builtin_memcpy(&old_value, &old_bits, sizeof(T));
      const T new_value = operation(old_value);
      __builtin_memcpy(&new_bits, &new_value, sizeof(T));
    } while (!__atomic_compare_exchange_n(place, &old_bits, new_bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  } else {
    int32_t* const lock = &sdfg_locks[(reinterpret_cast<uint64_t>(at) / sizeof(T)) % 64];
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
    *at = operation(*at);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }
}
)";

constexpr const char* kDeviceOwnedText = R"(
struct sdfg_device_owned {
  sdfg_call* call;
  int32_t stream;
  void* memory;
  sdfg_device_owned(sdfg_call* c, int32_t s, sdfg_checked elements, int64_t element_bytes, int32_t ordinal) : call(c), stream(s), memory(nullptr) {
    const int64_t bytes = sdfg_bytes(c, elements, element_bytes, ordinal);
    if (bytes >= 0) memory = sdfg_abi->device_allocate(c, s, bytes, ordinal);
  }
  ~sdfg_device_owned() {
    if (memory) sdfg_abi->device_release(call, stream, memory);
  }
  sdfg_device_owned(const sdfg_device_owned&) = delete;
};
)";

constexpr const char* kPinnedOwnedText = R"(
struct sdfg_pinned_owned {
  sdfg_call* call;
  void* memory;
  sdfg_pinned_owned(sdfg_call* c, sdfg_checked elements, int64_t element_bytes, int32_t ordinal) : call(c), memory(nullptr) {
    const int64_t bytes = sdfg_bytes(c, elements, element_bytes, ordinal);
    if (bytes >= 0) memory = sdfg_abi->pinned_allocate(c, bytes, ordinal);
  }
  ~sdfg_pinned_owned() {
    if (memory) sdfg_abi->pinned_release(call, memory);
  }
  sdfg_pinned_owned(const sdfg_pinned_owned&) = delete;
};
)";

constexpr const char* kLaunchText = R"(
[[maybe_unused]] static inline int64_t sdfg_blocks(int64_t points, int64_t threads, int64_t most = 9223372036854775807) {
  const int64_t blocks = points > 0 ? (points - 1) / threads + 1 : 0;
  return blocks < most ? blocks : most;
}
// With some idle threads in front.
[[maybe_unused]] static inline int64_t sdfg_blocks_after(int64_t points, int64_t threads, int64_t lead) {
  return points > 0 ? (points + lead - 1) / threads + 1 : 0;
}
[[maybe_unused]] static inline int64_t sdfg_rest(int64_t most, int64_t used) {
  return used > 0 && used < most ? most / used : 1;
}
)";

// Points in a row that a block takes, as long as enough blocks are left for the whole device; the kernel and its launch
// have to agree. Runs of four: longer ones need more registers than they save loads.
constexpr const char* kRunText = R"(
#ifdef __CUDACC__
#define SDFG_BOTH __device__
#else
#define SDFG_BOTH
#endif
[[maybe_unused]] SDFG_BOTH static inline int64_t sdfg_run(int64_t points, int64_t across, int64_t most) {
  const int64_t work = points < 65536 && across < 65536 ? points * across : 2147483647;
  const int64_t run = work < 16384 ? 1 : work > 32768 ? 4 : work / 8192;
  return run * most >= points ? run : (points - 1) / most + 1;
}
[[maybe_unused]] SDFG_BOTH static inline int64_t sdfg_runs(int64_t points, int64_t across, int64_t most) {
  return points > 0 ? (points - 1) / sdfg_run(points, across, most) + 1 : 0;
}
)";

constexpr const char* kDeviceFillText = R"(
template <typename T>
static inline void sdfg_device_fill(sdfg_call* call, int32_t stream, void* memory, const T& value, int64_t rows, int64_t columns, int64_t pitch, int32_t ordinal) {
  const int64_t count[2] = {rows, columns};
  sdfg_abi->device_fill(call, stream, memory, &value, sizeof(T), count, pitch, ordinal);
}
)";

constexpr const char* kDeviceCopyText = R"(
static inline void sdfg_device_copy(sdfg_call* call, int32_t stream, int32_t ordinal, void* to, int32_t to_space, const void* from, int32_t from_space, int64_t bytes,
                                    int64_t count0 = 1, int64_t to_stride0 = 0, int64_t from_stride0 = 0, int64_t count1 = 1, int64_t to_stride1 = 0, int64_t from_stride1 = 0) {
  if (bytes <= 0 || count0 <= 0 || count1 <= 0) return;
  const sdfg_copy copy = {to, from, to_space, from_space, bytes, {count0, count1}, {to_stride0, to_stride1}, {from_stride0, from_stride1}};
  sdfg_abi->device_copy(call, stream, &copy, ordinal);
}
)";

// Whole warps exchange values by shuffles, the last step is in shared memory; blocks with a broken warp fold in shared
// memory only. Every thread gets the result. The order of the operations depends on the block's size alone.
constexpr const char* kBlockReduceText = R"(
#ifdef __CUDACC__
#define SDFG_COPY_BITS memcpy
#else
#define SDFG_COPY_BITS __builtin_memcpy
#endif
template <typename T>
__device__ __forceinline__ T sdfg_shuffle_down(T value, unsigned int distance) {
  if constexpr (sizeof(T) % 4 == 0) {
    unsigned int words[sizeof(T) / 4];
    SDFG_COPY_BITS(words, &value, sizeof(T));
#pragma unroll
    for (unsigned int w = 0; w < sizeof(T) / 4; ++w) words[w] = __shfl_down_sync(0xffffffffu, words[w], distance);
    SDFG_COPY_BITS(&value, words, sizeof(T));
  } else {
    unsigned int word = 0;
    SDFG_COPY_BITS(&word, &value, sizeof(T));
    word = __shfl_down_sync(0xffffffffu, word, distance);
    SDFG_COPY_BITS(&value, &word, sizeof(T));
  }
  return value;
}
template <int threads, typename T, typename Operation>
__device__ __forceinline__ T sdfg_block_reduce(unsigned int thread, T value, T* parts, Operation operation) {
  if constexpr (threads % 32 == 0) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) value = operation(value, sdfg_shuffle_down(value, distance));
    __syncthreads();
    if (thread % 32 == 0) parts[thread / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int w = 1; w < threads / 32; ++w) value = operation(value, parts[w]);
  } else {
    __syncthreads();
    parts[thread] = value;
    __syncthreads();
    value = parts[0];
    for (int t = 1; t < threads; ++t) value = operation(value, parts[t]);
  }
  return value;
}
)";

// Words of the place: whether there is a report, the code, the ordinal, three values; from the ninth on memory for
// accesses that have none.
constexpr const char* kReportsText = R"(
struct sdfg_reports {
  sdfg_call* call;
  const int32_t* streams;
  int32_t count;
  void* memory;
  sdfg_reports(sdfg_call* c, const int32_t* used, int32_t n) : call(c), streams(used), count(n), memory(sdfg_abi->device_allocate(c, 0, 1088, -1)) {
    if (!memory) return;
    sdfg_device_fill(call, 0, memory, (int64_t)0, 1, 136, 0, -1);
    sdfg_abi->device_synchronise(call, 0, -1);
  }
  ~sdfg_reports() {
    if (!memory) return;
    for (int32_t i = 0; i < count && !sdfg_failed(call); ++i) sdfg_abi->device_synchronise(call, streams[i], -1);
    if (!sdfg_failed(call)) {
      int64_t told[8] = {};
      sdfg_device_copy(call, 0, -1, told, 0, memory, 2, sizeof(told));
      sdfg_abi->device_synchronise(call, 0, -1);
      if (told[0]) sdfg_fail(call, (int32_t)told[1], (int32_t)told[2], told[3], told[4], told[5]);
    }
    sdfg_abi->device_release(call, 0, memory);
  }
  sdfg_reports(const sdfg_reports&) = delete;
};
)";

constexpr const char* kReportText = R"(
static __device__ __noinline__ void sdfg_report(int64_t* told, int64_t code, int64_t ordinal, int64_t a, int64_t b, int64_t c) {
  if (sdfg_atomic_exchange(told, (int64_t)1) != 0) return;
  told[1] = code;
  told[2] = ordinal;
  told[3] = a;
  told[4] = b;
  told[5] = c;
}
)";

constexpr const char* kOutsideHereText = R"(
template <typename T>
static __device__ T& sdfg_outside(int64_t* told, int64_t ordinal, int64_t dimension, int64_t index, int64_t extent) {
  static_assert(sizeof(T) <= 1024, "an element larger than the place for accesses outside");
  sdfg_report(told, 4, ordinal, dimension, index, extent);
  return *reinterpret_cast<T*>(told + 8);
}
)";

const char* text_of(Helper h) {
  switch (h) {
    case Helper::kOwned: return kOwnedText;
    case Helper::kStreamOwner: return kStreamText;
    case Helper::kStreamsOwner: return kStreamsText;
    case Helper::kChecked: return kCheckedText;
    case Helper::kBytes: return kBytesText;
    case Helper::kFail: return kFailText;
    case Helper::kAtomicUpdate: return kAtomicUpdateText;
    case Helper::kAtomicAdd: return kAtomicAddText;
    case Helper::kOutside: return kOutsideText;
    case Helper::kNumber: return kNumberText;
    case Helper::kFailed: return kFailedText;
    case Helper::kDeviceOwned: return kDeviceOwnedText;
    case Helper::kPinnedOwned: return kPinnedOwnedText;
    case Helper::kLaunch: return kLaunchText;
    case Helper::kRun: return kRunText;
    case Helper::kDeviceFill: return kDeviceFillText;
    case Helper::kDeviceCopy: return kDeviceCopyText;
    case Helper::kBlockReduce: return kBlockReduceText;
    case Helper::kReports: return kReportsText;
    case Helper::kReport: return kReportText;
    case Helper::kOutsideHere: return kOutsideHereText;
  }
  return "";
}

}  // namespace

void Support::need(Helper h) {
  helpers_.insert(h);
  if (h == Helper::kOutside) helpers_.insert(Helper::kFail);
  if (h == Helper::kReports)
    helpers_.insert({Helper::kFail, Helper::kFailed, Helper::kDeviceFill, Helper::kDeviceCopy});
  if (h == Helper::kOutsideHere) helpers_.insert(Helper::kReport);
  if (h == Helper::kStreamsOwner) need(Helper::kOwned);
  if (h == Helper::kOwned || h == Helper::kDeviceOwned || h == Helper::kPinnedOwned)
    helpers_.insert({Helper::kFail, Helper::kChecked, Helper::kBytes});
}

void Support::declare_reduction(const std::string& name, const std::string& type, const std::string& combiner,
                                const std::string& identity) {
  reductions_[name + ":" + type] = "#pragma omp declare reduction(" + name + ":" + type + ":omp_out = " + combiner +
                                   ") initializer(omp_priv = " + identity + ")\n";
}

std::string Support::text() const {
  std::string out;
  // Definitions before uses: failures first.
  for (const Helper h :
       {Helper::kFail,         Helper::kOutside,     Helper::kNumber,      Helper::kFailed,       Helper::kChecked,
        Helper::kBytes,        Helper::kOwned,       Helper::kStreamOwner, Helper::kStreamsOwner, Helper::kAtomicAdd,
        Helper::kAtomicUpdate, Helper::kDeviceOwned, Helper::kPinnedOwned, Helper::kLaunch,       Helper::kRun,
        Helper::kDeviceFill,   Helper::kDeviceCopy,  Helper::kBlockReduce, Helper::kReports,      Helper::kReport,
        Helper::kOutsideHere}) {
    if (helpers_.contains(h)) out += text_of(h);
  }
  return out;
}

std::string Support::reductions_text() const {
  std::string out;
  for (const auto& [key, line] : reductions_) out += line;
  return out;
}

}  // namespace sdfg::lower
