// A 32-bit word that threads wait on: bounded spin, then futex. A store wakes the sleepers, and costs no system call
// without.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace sdfg::runtime {

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

inline void futex_wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

inline std::int64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class WaitWord {
 public:
  explicit WaitWord(std::uint32_t value = 0) noexcept : value_(value) {}

  std::uint32_t load() const noexcept { return value_.load(std::memory_order_acquire); }

  void store(std::uint32_t value) noexcept {
    // Sequentially consistent with the waiter's order "count itself, then look": one of the two sees the other.
    value_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(value_, INT_MAX);
  }

  // Returns when the value differs from `old`. Spins for about `spin_ns`, which may be 0.
  void wait_while(std::uint32_t old, std::int64_t spin_ns) noexcept {
    if (load() != old) return;
    if (spin_ns > 0) {
      const std::int64_t end = now_ns() + spin_ns;
      do {
        for (int i = 0; i < 32; ++i) {
          if (load() != old) return;
          cpu_relax();
        }
      } while (now_ns() < end);
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while (value_.load(std::memory_order_seq_cst) == old) futex_wait(value_, old);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t> value_;
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace sdfg::runtime
