// The switch, for x86-64, and the stacks.
#include "device/emulated/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <sdfg/error.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
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
  munmap(low_, kStackBytes + kGuardBytes);
}

void Fiber::start(Body body, void* argument) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  // An abandoned fiber leaves the marks of its frames behind.
  ASAN_UNPOISON_MEMORY_REGION(low_ + kGuardBytes, kStackBytes);
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
  sdfg_switch_stack(from != nullptr ? &from->stack_pointer_ : main, to != nullptr ? to->stack_pointer_ : *main);
}

}  // namespace sdfg::device::emulated
