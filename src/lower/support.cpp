// The texts of the helpers. They use the ABI prelude and compiler builtins only.
#include "lower/support.hpp"

namespace sdfg::lower {

namespace {

// Codes as in FailCode: 2 negative extent, 3 overflow. Out of memory is recorded by the runtime itself.
constexpr const char* kFailText = R"(
__attribute__((cold, noinline)) static void sdfg_fail(sdfg_call* call, int32_t code, int32_t ordinal, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  const int64_t values[3] = {a, b, c};
  const int32_t counts[13] = {0, 1, 2, 0, 3, 1, 0, 3, 1, 1, 1, 0, 0};
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

constexpr const char* kOwnedText = R"(
struct sdfg_owned {
  sdfg_call* call;
  void* memory;
  sdfg_owned(sdfg_call* c, sdfg_checked elements, int64_t element_bytes, int64_t alignment, int32_t ordinal) : call(c), memory(nullptr) {
    const sdfg_checked bytes = elements * element_bytes;
    if (bytes.overflow || bytes.value < 0) {
      sdfg_fail(c, 3, ordinal);
    } else {
      memory = sdfg_abi->allocate(c, bytes.value > 0 ? bytes.value : 1, alignment, ordinal);
    }
  }
  ~sdfg_owned() {
    if (memory) sdfg_abi->release(call, memory);
  }
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

constexpr const char* kOutsideText = R"(
alignas(64) static char sdfg_elsewhere[1024];
template <typename T>
static T& sdfg_outside(sdfg_call* call, int32_t ordinal, int64_t dimension, int64_t index, int64_t extent) {
  sdfg_fail(call, 4, ordinal, dimension, index, extent);
  return *reinterpret_cast<T*>(sdfg_elsewhere);
}
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

const char* text_of(Helper h) {
  switch (h) {
    case Helper::kOwned: return kOwnedText;
    case Helper::kStreamOwner: return kStreamText;
    case Helper::kChecked: return kCheckedText;
    case Helper::kFail: return kFailText;
    case Helper::kAtomicUpdate: return kAtomicUpdateText;
    case Helper::kAtomicAdd: return kAtomicAddText;
    case Helper::kOutside: return kOutsideText;
    case Helper::kFailed: return kFailedText;
  }
  return "";
}

}  // namespace

void Support::need(Helper h) {
  helpers_.insert(h);
  if (h == Helper::kOutside) helpers_.insert(Helper::kFail);
  if (h == Helper::kOwned) helpers_.insert({Helper::kFail, Helper::kChecked});
}

void Support::declare_reduction(const std::string& name, const std::string& type, const std::string& combiner,
                                const std::string& identity) {
  reductions_[name + ":" + type] = "#pragma omp declare reduction(" + name + ":" + type + ":omp_out = " + combiner +
                                   ") initializer(omp_priv = " + identity + ")\n";
}

std::string Support::text() const {
  std::string out;
  // Definitions before uses: failures first.
  for (const Helper h : {Helper::kFail, Helper::kOutside, Helper::kFailed, Helper::kChecked, Helper::kOwned,
                         Helper::kStreamOwner, Helper::kAtomicAdd, Helper::kAtomicUpdate}) {
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
