// Stacks that are switched by hand: a few instructions, no system call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sdfg::device::emulated {

// A suspended flow of control and its stack. Runs `body(argument)`, which never returns: it switches away for good.
class Fiber {
 public:
  using Body = void (*)(void* argument);

  // Throws Error(kResource).
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next switch to it start `body` from the beginning, whatever it did before.
  void start(Body body, void* argument) noexcept;
  bool owns(const void* address) const noexcept { return address >= low_ && address < high_; }

 private:
  friend void switch_fiber(Fiber* from, Fiber* to, void** main) noexcept;
  // For the address sanitizer, which has to be told of every switch on both sides of it.
  static void arrived(void* frames) noexcept;
  static void enter(void* self);
  void forget_frames() noexcept;

  void* stack_pointer_ = nullptr;
  std::byte* low_ = nullptr;
  std::byte* high_ = nullptr;
  [[maybe_unused]] void* checker_ = nullptr;  // of the thread sanitizer
  [[maybe_unused]] unsigned starts_ = 0;
  [[maybe_unused]] void* frames_ = nullptr;  // of the address sanitizer, while the fiber doesn't run
  [[maybe_unused]] Body body_ = nullptr;     // what `enter` goes on with
  [[maybe_unused]] void* argument_ = nullptr;
};

// Leaves `from` and goes on in `to`; null stands for the stack of the thread itself, kept in `main`.
void switch_fiber(Fiber* from, Fiber* to, void** main) noexcept;

}  // namespace sdfg::device::emulated
