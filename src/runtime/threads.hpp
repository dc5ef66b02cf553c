// Fork-join teams of threads for parallel regions of generated code.
//
// A region takes an idle team from the pool or makes one, so callers on several host threads get teams of their own.
// Workers spin for some microseconds after a region, then sleep on a futex: nothing runs between calls. Nested regions
// are serial. The number of worker threads in the process is bounded; a region that can't get the threads it asks for
// runs with fewer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/wait_word.hpp"

namespace sdfg::runtime {

// Threads that a region started on this thread would get without a num_threads clause: the innermost ThreadScope, else
// the process default (set_default_threads, else SDFG_NUM_THREADS, else the CPUs of the process' affinity mask).
int max_threads() noexcept;
// n < 1 restores the built-in default.
void set_default_threads(int n) noexcept;

// Overrides max_threads() on this thread while it lives: the thread count of one call.
class ThreadScope {
 public:
  explicit ThreadScope(int n) noexcept;
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int saved_;
};

// Index of this thread in the outermost parallel region of the call (a nested region keeps it); 0 outside.
int thread_index() noexcept;
// Threads of the outermost parallel region; outside of one, what it would get: max_threads().
int thread_count() noexcept;

struct ThreadStats {
  int workers = 0;  // threads alive
  int idle_teams = 0;
};
ThreadStats thread_stats() noexcept;

class Team;

// What a thread knows of the regions it is in; one per thread.
struct ThreadContext {
  Team* team = nullptr;  // of the active region, nullptr outside
  int index = 0;         // in `team`
  int serial_depth = 0;  // nested regions, which have one thread
  int requested = 0;     // by a num_threads clause, for the next region
  int override_threads = 0;

  // Sequence numbers of the worksharing constructs met in this region; equal in all threads at the same construct.
  std::uint32_t loops = 0;
  std::uint32_t singles = 0;
  std::uint32_t reductions = 0;

  // The dynamic loop this thread works on.
  struct Loop {
    bool active = false;
    bool shared = false;  // iterations come from the team's counter
    int kind = 0;
    std::uint64_t trip = 0;
    std::uint64_t chunk = 0;
    std::uint64_t next = 0;  // of a static or one-thread loop
    std::int64_t lower = 0;
    std::int64_t step = 0;
  } loop;
  std::vector<Loop> outer_loops;  // of the regions around the innermost serial one

  bool in_team() const noexcept { return team != nullptr && serial_depth == 0; }
  // Begin and end of a region of one thread in this thread.
  void enter_serial();
  void leave_serial() noexcept;
};
ThreadContext& thread_context() noexcept;

// A region's body as a plain function.
using RegionBody = void (*)(int index, void* argument);
// Runs body(0..n-1) in n threads, the caller being 0, and returns when all are done; n may be less than `wanted`.
void run_region(int wanted, RegionBody body, void* argument) noexcept;

// One worker's own cache line, written by the leader to start it.
struct alignas(64) WorkerSlot {
  WaitWord start;
  Team* team = nullptr;
  int index = 0;
};

// State shared by the threads of one region at a time. The thread that runs the region as index 0 owns it meanwhile.
class Team {
 public:
  // Loops without a barrier in between may overlap: so many may be in flight.
  static constexpr std::uint32_t kLoops = 8;
  struct alignas(64) SharedLoop {
    WaitWord sequence;  // the loop that may use it
    std::atomic<std::uint64_t> next{0};
    std::atomic<int> finished{0};
  };
  struct alignas(64) ReduceSlot {
    void* data = nullptr;
    WaitWord ready;
    WaitWord taken;
  };

  Team();
  int size() const noexcept { return size_; }
  void barrier() noexcept;
  // How long waits of this region may spin; none when there are more threads than CPUs.
  std::int64_t spin_ns() const noexcept { return spin_ns_; }
  SharedLoop& loop(std::uint32_t sequence) noexcept { return loops_[sequence % kLoops]; }
  ReduceSlot& reduce_slot(int index) noexcept { return reduce_[static_cast<std::size_t>(index)]; }
  std::atomic<std::uint32_t>& single() noexcept { return single_; }

 private:
  friend class ThreadPool;
  friend void* worker_main(void* slot);

  void run(int wanted, RegionBody body, void* argument) noexcept;
  void work(int index) noexcept;

  int size_ = 1;
  std::int64_t spin_ns_ = 0;
  RegionBody body_ = nullptr;
  void* argument_ = nullptr;
  std::uint32_t float_mode_ = 0;

  std::vector<std::unique_ptr<WorkerSlot>> workers_;  // [i] runs index i + 1
  std::vector<ReduceSlot> reduce_;

  alignas(64) std::atomic<int> running_{0};
  WaitWord done_;
  alignas(64) std::atomic<int> arrived_{0};
  WaitWord barrier_;
  alignas(64) std::atomic<std::uint32_t> single_{0};
  std::array<SharedLoop, kLoops> loops_;
};

}  // namespace sdfg::runtime
