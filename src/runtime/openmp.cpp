// Clang 22's OpenMP interface (`__kmpc_*`, `omp_*`) and libatomic's generic entries on our own teams of threads.
#include "runtime/openmp.hpp"

#include <alloca.h>
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <sdfg/error.hpp>
#include <sdfg/options.hpp>
#include <string>
#include <utility>

#include "runtime/process.hpp"
#include "runtime/threads.hpp"

namespace sdfg::runtime {
namespace {

struct Ident;  // the source position that Clang passes; not read

// A region's outlined body: two thread numbers and then the captured variables, all passed as pointer-sized integers.
using Microtask = void (*)(std::int32_t* global, std::int32_t* bound, ...);

}  // namespace
}  // namespace sdfg::runtime

// Calls body(global, bound, arguments[0..count-1]) for any count. `arguments` has at least four readable entries.
// A switch over counts was rejected: it needs a limit, and passing it could not be reported from here.
extern "C" void sdfg_runtime_invoke(sdfg::runtime::Microtask body, std::int32_t* global, std::int32_t* bound,
                                    long count, void** arguments);
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .hidden sdfg_runtime_invoke
  .globl sdfg_runtime_invoke
  .type sdfg_runtime_invoke, @function
sdfg_runtime_invoke:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rax
  movq %rcx, %r10
  movq %r8, %r11
  movq %rsi, %rdi
  movq %rdx, %rsi
  cmpq $4, %r10
  jle 2f
  testb $1, %r10b
  je 1f
  subq $8, %rsp
1:
  pushq -8(%r11,%r10,8)
  decq %r10
  cmpq $4, %r10
  jg 1b
2:
  movq (%r11), %rdx
  movq 8(%r11), %rcx
  movq 16(%r11), %r8
  movq 24(%r11), %r9
  callq *%rax
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size sdfg_runtime_invoke, . - sdfg_runtime_invoke
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .hidden sdfg_runtime_invoke
  .globl sdfg_runtime_invoke
  .type sdfg_runtime_invoke, %function
sdfg_runtime_invoke:
  .cfi_startproc
  stp x29, x30, [sp, -16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  mov x29, sp
  .cfi_def_cfa_register 29
  mov x9, x0
  mov x10, x3
  mov x11, x4
  mov x0, x1
  mov x1, x2
  cmp x10, 6
  b.le 2f
  sub x12, x10, 6
  add x12, x12, 1
  and x12, x12, -2
  sub sp, sp, x12, lsl 3
  mov x13, 6
1:
  ldr x14, [x11, x13, lsl 3]
  sub x15, x13, 6
  str x14, [sp, x15, lsl 3]
  add x13, x13, 1
  cmp x13, x10
  b.lt 1b
2:
  ldp x2, x3, [x11]
  ldp x4, x5, [x11, 16]
  ldp x6, x7, [x11, 32]
  blr x9
  mov sp, x29
  ldp x29, x30, [sp], 16
  .cfi_def_cfa 31, 0
  ret
  .cfi_endproc
  .size sdfg_runtime_invoke, . - sdfg_runtime_invoke
)");
#endif

namespace sdfg::runtime {
namespace {

constexpr std::size_t kReadableArguments = 6;

struct Region {
  Microtask body;
  long count;
  void** arguments;
};

void run_microtask(int index, void* raw) {
  const auto& region = *static_cast<const Region*>(raw);
  std::int32_t global = index;
  std::int32_t bound = 0;
  sdfg_runtime_invoke(region.body, &global, &bound, region.count, region.arguments);
}

int team_size() noexcept {
  const ThreadContext& context = thread_context();
  return context.in_team() ? context.team->size() : 1;
}

int team_index() noexcept {
  const ThreadContext& context = thread_context();
  return context.in_team() ? context.index : 0;
}

// --- regions -------------------------------------------------------------------------------------------------------

void fork(std::int32_t count, Microtask body, va_list list, bool parallel) {
  const auto slots = std::max<std::size_t>(static_cast<std::size_t>(count), kReadableArguments);
  auto** arguments = static_cast<void**>(alloca(slots * sizeof(void*)));
  for (std::int32_t i = 0; i < count; ++i) arguments[i] = va_arg(list, void*);
  std::fill(arguments + count, arguments + slots, nullptr);
  Region region{body, count, arguments};
  ThreadContext& context = thread_context();
  const int requested = std::exchange(context.requested, 0);
  run_region(!parallel ? 1 : requested > 0 ? requested : max_threads(), &run_microtask, &region);
}

void fork_call(Ident*, std::int32_t count, Microtask body, ...) {
  va_list list;
  va_start(list, body);
  fork(count, body, list, true);
  va_end(list);
}

// The captured variables come in one structure here (or not at all).
void fork_call_if(Ident*, std::int32_t count, Microtask body, std::int32_t condition, void* captured) {
  std::array<void*, kReadableArguments> arguments{captured};
  Region region{body, captured != nullptr ? 1 : std::min(count, 0), arguments.data()};
  const int requested = std::exchange(thread_context().requested, 0);
  run_region(condition == 0 ? 1 : requested > 0 ? requested : max_threads(), &run_microtask, &region);
}

void push_num_threads(Ident*, std::int32_t, std::int32_t threads) {
  thread_context().requested = std::max(threads, 0);
}
void push_proc_bind(Ident*, std::int32_t, std::int32_t) {}
std::int32_t global_thread_num(Ident*) {
  return team_index();
}

void serialized_parallel(Ident*, std::int32_t) {
  ThreadContext& context = thread_context();
  context.requested = 0;
  context.enter_serial();
}
void end_serialized_parallel(Ident*, std::int32_t) {
  thread_context().leave_serial();
}

void barrier(Ident*, std::int32_t) {
  ThreadContext& context = thread_context();
  if (context.in_team()) context.team->barrier();
}
void flush(Ident*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// --- master, single, critical --------------------------------------------------------------------------------------

std::int32_t master(Ident*, std::int32_t) {
  return team_index() == 0 ? 1 : 0;
}
void end_master(Ident*, std::int32_t) {}
std::int32_t masked(Ident*, std::int32_t, std::int32_t filter) {
  return team_index() == filter ? 1 : 0;
}
void end_masked(Ident*, std::int32_t) {}

std::int32_t single(Ident*, std::int32_t) {
  ThreadContext& context = thread_context();
  if (!context.in_team()) return 1;
  // The first thread to arrive at the k-th single moves the counter from k to k + 1. It can't be ahead of a thread that
  // has passed k earlier ones, since each of those was moved by somebody.
  std::uint32_t mine = context.singles++;
  return context.team->single().compare_exchange_strong(mine, mine + 1, std::memory_order_acq_rel) ? 1 : 0;
}
void end_single(Ident*, std::int32_t) {}

// A lock in the first word of the zero-initialised name: 0 free, 1 held, 2 held and somebody may sleep.
using CriticalName = std::int32_t[8];

std::atomic<std::uint32_t>& lock_word(CriticalName* name) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::int32_t));
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(name);
}

void critical(Ident*, std::int32_t, CriticalName* name) {
  auto& word = lock_word(name);
  for (int i = 0; i < 100; ++i) {
    std::uint32_t free = 0;
    if (word.compare_exchange_weak(free, 1, std::memory_order_acquire)) return;
    cpu_relax();
  }
  while (word.exchange(2, std::memory_order_acquire) != 0) futex_wait(word, 2);
}
void critical_with_hint(Ident* place, std::int32_t thread, CriticalName* name, std::uint32_t) {
  critical(place, thread, name);
}
void end_critical(Ident*, std::int32_t, CriticalName* name) {
  auto& word = lock_word(name);
  if (word.exchange(0, std::memory_order_release) == 2) futex_wake(word, 1);
}

// --- reductions ----------------------------------------------------------------------------------------------------

using Combine = void (*)(void* into, void* from);

// Partial results are combined along a fixed binary tree over the thread indices, so a reduction over a static schedule
// gives the same bits in every run with the same number of threads. (Combining in order of arrival, as under a lock,
// does not.) Returns 1 in the thread that holds the total, 0 in the others, after their data has been read.
std::int32_t combine(void* data, Combine function) {
  ThreadContext& context = thread_context();
  if (!context.in_team() || context.team->size() == 1) return 1;
  Team& team = *context.team;
  const int index = context.index;
  const std::uint32_t sequence = ++context.reductions;
  for (int distance = 1; distance < team.size(); distance *= 2) {
    if (index % (2 * distance) != 0) {
      Team::ReduceSlot& mine = team.reduce_slot(index);
      mine.data = data;
      mine.ready.store(sequence);
      mine.taken.wait_while(sequence - 1, team.spin_ns());
      return 0;
    }
    if (index + distance >= team.size()) continue;
    Team::ReduceSlot& other = team.reduce_slot(index + distance);
    other.ready.wait_while(sequence - 1, team.spin_ns());
    function(data, other.data);
    other.taken.store(sequence);
  }
  return 1;
}

std::int32_t reduce_nowait(Ident*, std::int32_t, std::int32_t, std::size_t, void* data, Combine function,
                           CriticalName*) {
  return combine(data, function);
}
void end_reduce_nowait(Ident*, std::int32_t, CriticalName*) {}

// With an implied barrier: the others leave when the holder has added the total to the variable.
std::int32_t reduce(Ident* place, std::int32_t thread, std::int32_t, std::size_t, void* data, Combine function,
                    CriticalName*) {
  const std::int32_t holds = combine(data, function);
  if (holds == 0) barrier(place, thread);
  return holds;
}
void end_reduce(Ident* place, std::int32_t thread, CriticalName*) {
  barrier(place, thread);
}

// --- static loops --------------------------------------------------------------------------------------------------

// Clang's schedule numbers, without the modifier bits.
enum Schedule : std::int32_t {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamic = 35,
  kGuided = 36,
  kRuntime = 37,
  kAuto = 38,
  kTrapezoidal = 39,
  kStaticBalancedChunked = 45,
  kOrderedOffset = 32,  // ordered schedules are the plain ones plus this
};

std::int32_t plain_schedule(std::int32_t schedule) {
  schedule &= ~((1 << 29) | (1 << 30));
  if (schedule >= kStaticChunked + kOrderedOffset && schedule <= kTrapezoidal + kOrderedOffset)
    schedule -= kOrderedOffset;
  return schedule;
}

// Iterations of lower, lower + step, ..., upper (inclusive), in wrapping arithmetic of 64 bits.
template <typename T>
std::uint64_t trip_count(T lower, T upper, std::int64_t step) {
  if (step == 0) return 0;
  if (step > 0) {
    if (lower > upper) return 0;
    return (static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower)) / static_cast<std::uint64_t>(step) +
           1;
  }
  if (lower < upper) return 0;
  return (static_cast<std::uint64_t>(lower) - static_cast<std::uint64_t>(upper)) /
             (std::uint64_t{0} - static_cast<std::uint64_t>(step)) +
         1;
}

template <typename T, typename S>
void for_static_init(Ident*, std::int32_t, std::int32_t schedule, std::int32_t* last, T* lower, T* upper, S* stride,
                     S step, S chunk) {
  const auto size = static_cast<std::uint64_t>(team_size());
  const auto index = static_cast<std::uint64_t>(team_index());
  const std::uint64_t trip = trip_count<T>(*lower, *upper, step);
  const auto at = [&](std::uint64_t iteration) {
    return static_cast<T>(static_cast<std::uint64_t>(*lower) +
                          iteration * static_cast<std::uint64_t>(static_cast<std::int64_t>(step)));
  };
  if (trip == 0) {
    *last = 0;
    *stride = step;
    return;
  }
  if (plain_schedule(schedule) == kStaticChunked) {
    const std::uint64_t span = chunk < 1 ? 1 : static_cast<std::uint64_t>(chunk);
    *last = (trip - 1) / span % size == index ? 1 : 0;
    *stride = static_cast<S>(span * size * static_cast<std::uint64_t>(static_cast<std::int64_t>(step)));
    const T begin = at(span * index);
    // Beyond the end nothing is left for this thread; wrapped bounds would look like work.
    const bool any = span * index < trip;
    *upper = any ? at(std::min(span * index + span, trip) - 1) : static_cast<T>(*upper);
    if (any) {
      *lower = begin;
    } else {
      *lower = static_cast<T>(*upper + static_cast<T>(step));
      if ((step > 0) != (*lower > *upper)) {  // the bound is at the end of its type
        *lower = *upper;
        *upper = static_cast<T>(*upper - static_cast<T>(step));
      }
    }
    return;
  }
  // One contiguous piece per thread, sizes differing by at most one (or rounded up to `chunk` for SIMD loops).
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  if (plain_schedule(schedule) == kStaticBalancedChunked && chunk > 1) {
    const auto unit = static_cast<std::uint64_t>(chunk);
    const std::uint64_t piece = ((trip + size - 1) / size + unit - 1) / unit * unit;
    begin = std::min(trip, piece * index);
    count = std::min(piece, trip - begin);
    *last = count > 0 && begin + count == trip ? 1 : 0;
  } else {
    const std::uint64_t small = trip / size;
    const std::uint64_t extra = trip % size;
    begin = index * small + std::min(index, extra);
    count = small + (index < extra ? 1 : 0);
    *last = count > 0 && begin + count == trip ? 1 : 0;
  }
  *stride = static_cast<S>(trip * static_cast<std::uint64_t>(static_cast<std::int64_t>(step)));
  if (count == 0) {
    const T first = *lower;
    *upper = first;
    *lower = static_cast<T>(first + static_cast<T>(step));
    if ((step > 0) != (*lower > *upper)) {
      *lower = first;
      *upper = static_cast<T>(first - static_cast<T>(step));
    }
    return;
  }
  const T first = at(begin);
  *upper = at(begin + count - 1);
  *lower = first;
}
void for_static_fini(Ident*, std::int32_t) {}

// --- dynamic loops -------------------------------------------------------------------------------------------------

template <typename T, typename S>
void dispatch_init(Ident*, std::int32_t, std::int32_t schedule, T lower, T upper, S step, S chunk) {
  ThreadContext& context = thread_context();
  ThreadContext::Loop& loop = context.loop;
  loop = {};
  loop.active = true;
  loop.trip = trip_count<T>(lower, upper, step);
  loop.lower = static_cast<std::int64_t>(lower);
  loop.step = static_cast<std::int64_t>(step);
  loop.chunk =
      std::min(chunk < 1 ? std::uint64_t{1} : static_cast<std::uint64_t>(chunk), std::max<std::uint64_t>(loop.trip, 1));
  loop.kind = plain_schedule(schedule);
  if (!context.in_team() || context.team->size() == 1) {
    loop.kind = kStatic;  // all in one piece
    return;
  }
  loop.shared = loop.kind == kDynamic || loop.kind == kGuided || loop.kind == kTrapezoidal || loop.kind == kRuntime ||
                loop.kind == kAuto;
  // A slot is free again when all threads have left the loop kLoops before.
  const std::uint32_t sequence = context.loops++;
  if (!loop.shared) return;
  Team::SharedLoop& slot = context.team->loop(sequence);
  for (std::uint32_t seen = slot.sequence.load(); seen != sequence; seen = slot.sequence.load()) {
    slot.sequence.wait_while(seen, context.team->spin_ns());
  }
}

struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

Piece take_shared(ThreadContext& context) {
  const ThreadContext::Loop& loop = context.loop;
  std::atomic<std::uint64_t>& next = context.team->loop(context.loops - 1).next;
  const auto threads = static_cast<std::uint64_t>(context.team->size());
  std::uint64_t begin = next.load(std::memory_order_relaxed);
  for (;;) {
    if (begin >= loop.trip) return {};
    const std::uint64_t left = loop.trip - begin;
    const std::uint64_t share =
        loop.kind == kGuided || loop.kind == kTrapezoidal ? (left + 2 * threads - 1) / (2 * threads) : 0;
    const std::uint64_t count = std::min(std::max(share, loop.chunk), left);
    if (next.compare_exchange_weak(begin, begin + count, std::memory_order_relaxed)) return {begin, count};
  }
}

Piece take_static(ThreadContext& context) {
  ThreadContext::Loop& loop = context.loop;
  const auto size = static_cast<std::uint64_t>(team_size());
  const auto index = static_cast<std::uint64_t>(team_index());
  if (loop.kind == kStaticChunked) {
    const std::uint64_t begin = (loop.next * size + index) * loop.chunk;
    if (begin >= loop.trip) return {};
    ++loop.next;
    return {begin, std::min(loop.chunk, loop.trip - begin)};
  }
  if (loop.next++ > 0) return {};
  const std::uint64_t small = loop.trip / size;
  const std::uint64_t extra = loop.trip % size;
  return {index * small + std::min(index, extra), small + (index < extra ? 1 : 0)};
}

void leave_shared(ThreadContext& context) {
  const std::uint32_t sequence = context.loops - 1;
  Team::SharedLoop& slot = context.team->loop(sequence);
  if (slot.finished.fetch_add(1, std::memory_order_acq_rel) + 1 < context.team->size()) return;
  slot.finished.store(0, std::memory_order_relaxed);
  slot.next.store(0, std::memory_order_relaxed);
  slot.sequence.store(sequence + Team::kLoops);
}

template <typename T, typename S>
std::int32_t dispatch_next(Ident*, std::int32_t, std::int32_t* last, T* lower, T* upper, S* stride) {
  ThreadContext& context = thread_context();
  ThreadContext::Loop& loop = context.loop;
  if (!loop.active) return 0;
  const Piece piece = loop.shared ? take_shared(context) : take_static(context);
  if (piece.count == 0) {
    if (loop.shared) leave_shared(context);
    loop.active = false;
    return 0;
  }
  const auto at = [&](std::uint64_t iteration) {
    return static_cast<T>(static_cast<std::uint64_t>(loop.lower) + iteration * static_cast<std::uint64_t>(loop.step));
  };
  *lower = at(piece.begin);
  *upper = at(piece.begin + piece.count - 1);
  if (stride != nullptr) *stride = static_cast<S>(loop.step);
  if (last != nullptr) *last = piece.begin + piece.count == loop.trip ? 1 : 0;
  return 1;
}
void dispatch_fini(Ident*, std::int32_t) {}

// --- omp_* ---------------------------------------------------------------------------------------------------------

std::int32_t omp_in_parallel() {
  return thread_context().in_team() && team_size() > 1 ? 1 : 0;
}
double omp_wtime() {
  return static_cast<double>(now_ns()) * 1e-9;
}

// --- libatomic: what Clang emits for `omp atomic` on complex types -------------------------------------------------

// One lock per address class; a class is a cache line, so one object of up to a line has one lock.
class AddressLock {
 public:
  explicit AddressLock(const volatile void* address) noexcept
      : flag_(flags()[reinterpret_cast<std::uintptr_t>(address) / 64 % kFlags].flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      for (int i = 0; i < 64 && flag_.test(std::memory_order_relaxed); ++i) cpu_relax();
      if (flag_.test(std::memory_order_relaxed)) sched_yield();
    }
  }
  ~AddressLock() { flag_.clear(std::memory_order_release); }
  AddressLock(const AddressLock&) = delete;
  AddressLock& operator=(const AddressLock&) = delete;

 private:
  static constexpr std::size_t kFlags = 64;
  struct alignas(64) Line {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
  };
  static std::array<Line, kFlags>& flags() noexcept {
    static std::array<Line, kFlags> all;
    return all;
  }
  std::atomic_flag& flag_;
};

void atomic_load(std::size_t bytes, void* from, void* to, int) {
  const AddressLock lock(from);
  std::memcpy(to, from, bytes);
}
void atomic_store(std::size_t bytes, void* to, void* from, int) {
  const AddressLock lock(to);
  std::memcpy(to, from, bytes);
}
void atomic_exchange(std::size_t bytes, void* object, void* value, void* result, int) {
  const AddressLock lock(object);
  std::memcpy(result, object, bytes);
  std::memcpy(object, value, bytes);
}
bool atomic_compare_exchange(std::size_t bytes, void* object, void* expected, void* desired, int, int) {
  const AddressLock lock(object);
  if (std::memcmp(object, expected, bytes) == 0) {
    std::memcpy(object, desired, bytes);
    return true;
  }
  std::memcpy(expected, object, bytes);
  return false;
}

template <typename Function>
void* entry(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const OpenMpEntry> openmp_entries() {
  using I4 = std::int32_t;
  using U4 = std::uint32_t;
  using I8 = std::int64_t;
  using U8 = std::uint64_t;
  static const OpenMpEntry entries[] = {
      {"__kmpc_fork_call", entry(&fork_call)},
      {"__kmpc_fork_call_if", entry(&fork_call_if)},
      {"__kmpc_push_num_threads", entry(&push_num_threads)},
      {"__kmpc_push_proc_bind", entry(&push_proc_bind)},
      {"__kmpc_global_thread_num", entry(&global_thread_num)},
      {"__kmpc_serialized_parallel", entry(&serialized_parallel)},
      {"__kmpc_end_serialized_parallel", entry(&end_serialized_parallel)},
      {"__kmpc_barrier", entry(&barrier)},
      {"__kmpc_flush", entry(&flush)},
      {"__kmpc_master", entry(&master)},
      {"__kmpc_end_master", entry(&end_master)},
      {"__kmpc_masked", entry(&masked)},
      {"__kmpc_end_masked", entry(&end_masked)},
      {"__kmpc_single", entry(&single)},
      {"__kmpc_end_single", entry(&end_single)},
      {"__kmpc_critical", entry(&critical)},
      {"__kmpc_critical_with_hint", entry(&critical_with_hint)},
      {"__kmpc_end_critical", entry(&end_critical)},
      {"__kmpc_reduce", entry(&reduce)},
      {"__kmpc_end_reduce", entry(&end_reduce)},
      {"__kmpc_reduce_nowait", entry(&reduce_nowait)},
      {"__kmpc_end_reduce_nowait", entry(&end_reduce_nowait)},
      {"__kmpc_for_static_init_4", entry(&for_static_init<I4, I4>)},
      {"__kmpc_for_static_init_4u", entry(&for_static_init<U4, I4>)},
      {"__kmpc_for_static_init_8", entry(&for_static_init<I8, I8>)},
      {"__kmpc_for_static_init_8u", entry(&for_static_init<U8, I8>)},
      {"__kmpc_for_static_fini", entry(&for_static_fini)},
      {"__kmpc_dispatch_init_4", entry(&dispatch_init<I4, I4>)},
      {"__kmpc_dispatch_init_4u", entry(&dispatch_init<U4, I4>)},
      {"__kmpc_dispatch_init_8", entry(&dispatch_init<I8, I8>)},
      {"__kmpc_dispatch_init_8u", entry(&dispatch_init<U8, I8>)},
      {"__kmpc_dispatch_next_4", entry(&dispatch_next<I4, I4>)},
      {"__kmpc_dispatch_next_4u", entry(&dispatch_next<U4, I4>)},
      {"__kmpc_dispatch_next_8", entry(&dispatch_next<I8, I8>)},
      {"__kmpc_dispatch_next_8u", entry(&dispatch_next<U8, I8>)},
      {"__kmpc_dispatch_fini_4", entry(&dispatch_fini)},
      {"__kmpc_dispatch_fini_4u", entry(&dispatch_fini)},
      {"__kmpc_dispatch_fini_8", entry(&dispatch_fini)},
      {"__kmpc_dispatch_fini_8u", entry(&dispatch_fini)},
      {"__kmpc_dispatch_deinit", entry(&dispatch_fini)},
      {"omp_get_thread_num", entry(&team_index)},
      {"omp_get_num_threads", entry(&team_size)},
      {"omp_get_max_threads", entry(&max_threads)},
      {"omp_get_num_procs", entry(&usable_cpus)},
      {"omp_in_parallel", entry(&omp_in_parallel)},
      {"omp_get_wtime", entry(&omp_wtime)},
      {"__atomic_load", entry(&atomic_load)},
      {"__atomic_store", entry(&atomic_store)},
      {"__atomic_exchange", entry(&atomic_exchange)},
      {"__atomic_compare_exchange", entry(&atomic_compare_exchange)},
  };
  return entries;
}

namespace {

std::atomic<int> chosen_backend{-1};  // a ThreadsBackend; -1 until a compilation or a load needs one

ThreadsBackend backend() noexcept {
  int expected = -1;
  chosen_backend.compare_exchange_strong(expected, static_cast<int>(ThreadsBackend::kOwn));
  return static_cast<ThreadsBackend>(chosen_backend.load());
}

}  // namespace

void choose_threads_backend(ThreadsBackend wanted) {
  int before = -1;
  const int value = static_cast<int>(wanted);
  if (!chosen_backend.compare_exchange_strong(before, value) && before != value) {
    throw Error(ErrorClass::kUsage,
                "SDFG_THREADS_BACKEND can't change after the first compilation of the process, which chose " +
                    std::string(before == static_cast<int>(ThreadsBackend::kLibomp) ? "libomp" : "own"));
  }
  if (wanted == ThreadsBackend::kLibomp && foreign_openmp() == nullptr) {
    throw Error(ErrorClass::kEnvironment,
                "SDFG_THREADS_BACKEND=libomp needs LLVM's OpenMP runtime, and none of libomp.so.5, libomp.so and "
                "libiomp5.so can be opened",
                {}, "install libomp, or leave the variable unset to use the library's own threads");
  }
}

const ForeignOpenMp* foreign_openmp() noexcept {
  static const ForeignOpenMp* const found = []() -> const ForeignOpenMp* {
    if (backend() != ThreadsBackend::kLibomp) return nullptr;
    static ForeignOpenMp other;
    // A second LLVM OpenMP runtime in one process aborts it, so one that is there comes first.
    for (const int flags : {RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD, RTLD_LAZY | RTLD_LOCAL}) {
      for (const char* name : {"libomp.so.5", "libomp.so", "libiomp5.so"}) {
        if (other.handle == nullptr) other.handle = dlopen(name, flags);
      }
    }
    if (other.handle == nullptr) return nullptr;
    const auto function = [](const char* name) { return reinterpret_cast<int (*)()>(dlsym(other.handle, name)); };
    other.thread_num = function("omp_get_thread_num");
    other.num_threads = function("omp_get_num_threads");
    other.max_threads = function("omp_get_max_threads");
    other.in_parallel = function("omp_in_parallel");
    const bool whole = other.thread_num && other.num_threads && other.max_threads && other.in_parallel;
    return whole ? &other : nullptr;
  }();
  return found;
}

}  // namespace sdfg::runtime
