// The switch, for x86-64, and the stacks.
#include "device/emulated/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <sdfg/error.hpp>
#include <utility>

// GCC and Clang (from 22 on) define the same macros.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
extern "C" {
// Unlike the public ASAN_UNPOISON_MEMORY_REGION also with allow_user_poisoning=0.
void __asan_unpoison_stack_memory(const void* low, std::size_t bytes);
}
#endif
#if defined(__SANITIZE_THREAD__)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

#if !defined(__x86_64__)
#error "the emulated device knows how to switch stacks on x86-64 only; add the switch of this machine here"
#endif

// Saves what a callee must preserve, exchanges the stack pointers, and returns on the other stack.
extern "C" void sdfg_switch_stack(void** save, void* load);
extern "C" void sdfg_start_fiber();
asm(R"(
  .text
  .p2align 4
  .hidden sdfg_switch_stack
  .globl sdfg_switch_stack
  .type sdfg_switch_stack, @function
sdfg_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size sdfg_switch_stack, .-sdfg_switch_stack

  .p2align 4
  .hidden sdfg_start_fiber
  .globl sdfg_start_fiber
  .type sdfg_start_fiber, @function
sdfg_start_fiber:
  movq %r13, %rdi
  xorl %ebp, %ebp
  callq *%r12
  ud2
  .size sdfg_start_fiber, .-sdfg_start_fiber
)");

namespace sdfg::device::emulated {

namespace {

// More than the local memory that a thread of a GPU may have (512 KiB); untouched pages cost nothing.
constexpr std::size_t kStackBytes = std::size_t{1} << 20;
constexpr std::size_t kGuardBytes = 4096;

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
namespace {

// The thread's own stack, as its first switch away tells it.
struct OwnStack {
  const void* low = nullptr;
  std::size_t bytes = 0;
  void* frames = nullptr;  // the sanitizer's, while a fiber runs
  bool left = false;       // by the switch under way
};

OwnStack& own_stack() {
  static thread_local OwnStack own;
  return own;
}

}  // namespace

// On the new stack: `frames` are those of it.
void Fiber::arrived(void* frames) noexcept {
  const void* low = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(frames, &low, &bytes);
  OwnStack& own = own_stack();
  if (!std::exchange(own.left, false)) return;
  own.low = low;
  own.bytes = bytes;
}

void Fiber::enter(void* self) {
  Fiber& fiber = *static_cast<Fiber*>(self);
  arrived(fiber.frames_);
  fiber.body_(fiber.argument_);
}

void Fiber::forget_frames() noexcept {
  if (frames_ == nullptr) return;
  // Only who is on a fiber can give its frames back: goes there and away again in name only.
  void* own = nullptr;
  const void* low = nullptr;
  std::size_t bytes = 0;
  __sanitizer_start_switch_fiber(&own, low_ + kGuardBytes, kStackBytes);
  __sanitizer_finish_switch_fiber(frames_, &low, &bytes);
  __sanitizer_start_switch_fiber(nullptr, low, bytes);
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
  frames_ = nullptr;
}
#endif

Fiber::Fiber() {
  void* memory = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorClass::kResource, "there is no memory for a thread of the emulated device");
  low_ = static_cast<std::byte*>(memory);
  mprotect(low_, kGuardBytes, PROT_NONE);
  high_ = low_ + kGuardBytes + kStackBytes;
#if defined(__SANITIZE_THREAD__)
  checker_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(checker_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  forget_frames();
#endif
  munmap(low_, kStackBytes + kGuardBytes);
}

void Fiber::start(Body body, void* argument) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  // An abandoned fiber leaves the marks of its frames behind.
  __asan_unpoison_stack_memory(low_ + kGuardBytes, kStackBytes);
  // The sanitizer's copies of those frames, of which it has few, stay taken; looking for them at every start takes
  // longer than the kernels do.
  if (++starts_ % 64 == 0) forget_frames();
  body_ = std::exchange(body, &Fiber::enter);
  argument_ = std::exchange(argument, this);
#endif
#if defined(__SANITIZE_THREAD__)
  // A body never returns, so the calls that it was in stay on the checker's own stack of calls, which is finite.
  if (++starts_ % 1024 == 0) {
    __tsan_destroy_fiber(checker_);
    checker_ = __tsan_create_fiber(0);
  }
#endif
  // What sdfg_switch_stack pops: r15, r14, r13, r12, rbx, rbp, and where it returns to.
  auto* top = reinterpret_cast<std::uint64_t*>(high_) - 9;  // so that a call from there finds the stack aligned
  std::memset(top, 0, 9 * sizeof *top);
  top[2] = reinterpret_cast<std::uint64_t>(argument);
  top[3] = reinterpret_cast<std::uint64_t>(body);
  top[6] = reinterpret_cast<std::uint64_t>(&sdfg_start_fiber);
  stack_pointer_ = top;
}

void switch_fiber(Fiber* from, Fiber* to, void** main) noexcept {
#if defined(__SANITIZE_THREAD__)
  static thread_local void* own = nullptr;
  if (from == nullptr) own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to != nullptr ? to->checker_ : own, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
  OwnStack& thread = own_stack();
  void*& frames = from != nullptr ? from->frames_ : thread.frames;
  thread.left = from == nullptr;
  if (to != nullptr) {
    __sanitizer_start_switch_fiber(&frames, to->low_ + kGuardBytes, kStackBytes);
  } else {
    __sanitizer_start_switch_fiber(&frames, thread.low, thread.bytes);
  }
#endif
  sdfg_switch_stack(from != nullptr ? &from->stack_pointer_ : main, to != nullptr ? to->stack_pointer_ : *main);
#if defined(__SANITIZE_ADDRESS__)
  Fiber::arrived(frames);
#endif
}

}  // namespace sdfg::device::emulated
