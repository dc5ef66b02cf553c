// The pool of teams and the workers' life.
#include "runtime/threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <sdfg/options.hpp>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/call_error.hpp"
#include "runtime/openmp.hpp"
#include "runtime/process.hpp"

namespace sdfg::runtime {
namespace {

// Long enough to bridge the serial code between two regions of one call, too short to be seen as load between calls.
constexpr std::int64_t kIdleSpin = 20'000;
constexpr std::int64_t kTeamSpin = 50'000;
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr int kMostThreads = 1024;  // of one team

std::atomic<int> default_threads{0};

// Rounding, flush-to-zero and masks of the caller hold in its workers too, so that a value does not depend on the
// thread that computes it.
std::uint32_t float_mode() noexcept {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fU;
#else
  return 0;
#endif
}

void set_float_mode([[maybe_unused]] std::uint32_t mode) noexcept {
#if defined(__x86_64__)
  if ((_mm_getcsr() & ~0x3fU) != mode) _mm_setcsr(mode);
#endif
}

int environment_threads() noexcept {
  static const int threads = [] {
    try {
      return std::min(resolve(Options{}).num_threads.value_or(0), kMostThreads);
    } catch (...) {
      return 0;  // an ill-formed variable is reported where options are resolved for a compilation
    }
  }();
  return threads;
}

}  // namespace

#ifdef __clang__  // a thread's own objects end with the thread
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
ThreadContext& thread_context() noexcept {
  static thread_local ThreadContext context;
  return context;
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

void ThreadContext::enter_serial() {
  ++serial_depth;
  outer_loops.push_back(std::exchange(loop, {}));
}

void ThreadContext::leave_serial() noexcept {
  --serial_depth;
  loop = outer_loops.back();
  outer_loops.pop_back();
}

int max_threads() noexcept {
  if (const int n = thread_context().override_threads; n > 0) return n;
  if (const int n = default_threads.load(std::memory_order_relaxed); n > 0) return n;
  if (const int n = environment_threads(); n > 0) return n;
  return usable_cpus();
}

void set_default_threads(int n) noexcept {
  default_threads.store(n < 1 ? 0 : std::min(n, kMostThreads), std::memory_order_relaxed);
}

ThreadScope::ThreadScope(int n) noexcept : saved_(thread_context().override_threads) {
  thread_context().override_threads = n < 1 ? saved_ : std::min(n, kMostThreads);
}

ThreadScope::~ThreadScope() {
  thread_context().override_threads = saved_;
}

int thread_index() noexcept {
  if (const ForeignOpenMp* other = foreign_openmp()) return other->thread_num();
  return thread_context().index;
}

int thread_count() noexcept {
  if (const ForeignOpenMp* other = foreign_openmp()) {
    return other->in_parallel() != 0 ? other->num_threads() : other->max_threads();
  }
  const ThreadContext& context = thread_context();
  return context.team != nullptr ? context.team->size() : context.serial_depth > 0 ? 1 : max_threads();
}

Team::Team() : reduce_(1) {
  for (std::uint32_t i = 0; i < kLoops; ++i) loops_[i].sequence.store(i);
}

void Team::barrier() noexcept {
  if (size_ == 1) return;
  const std::uint32_t generation = barrier_.load();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    barrier_.store(generation + 1);
  } else {
    barrier_.wait_while(generation, spin_ns_);
  }
}

// Runs one index of the current region in the calling thread.
void Team::work(int index) noexcept {
  ThreadContext& context = thread_context();
  context.team = this;
  context.index = index;
  context.loops = context.singles = context.reductions = 0;
  context.loop = {};
  body_(index, argument_);
  context.team = nullptr;
  context.index = 0;
}

void* worker_main(void* raw) {
  auto* slot = static_cast<WorkerSlot*>(raw);
  std::uint32_t seen = 0;
  std::int64_t spin = kIdleSpin;
  for (;;) {
    slot->start.wait_while(seen, spin);
    seen = slot->start.load();
    Team* team = slot->team;
    set_float_mode(team->float_mode_);
    team->work(slot->index);
    spin = std::min(kIdleSpin, team->spin_ns_);
    // The last one signals; nothing of the team may be touched after that by the others of this region.
    if (team->running_.fetch_sub(1, std::memory_order_acq_rel) == 1) team->done_.store(team->done_.load() + 1);
  }
  return nullptr;
}

// Owns all teams and threads; never destroyed, so that exit neither blocks nor pulls memory from under sleeping
// workers.
class ThreadPool {
 public:
  static ThreadPool& instance() {
    static auto* const pool = new ThreadPool;
    return *pool;
  }

  void run(int wanted, RegionBody body, void* argument) noexcept {
    Team* team = take(wanted);
    if (team == nullptr) {
      run_alone(body, argument);
      return;
    }
    grow(*team, wanted);
    team->run(wanted, body, argument);
    give_back(team);
  }

  // A region of one thread in the caller.
  static void run_alone(RegionBody body, void* argument) noexcept {
    ThreadContext& context = thread_context();
    context.enter_serial();
    body(0, argument);
    context.leave_serial();
  }

  ThreadStats stats() {
    const std::lock_guard lock(mutex_);
    return {workers_, static_cast<int>(idle_.size())};
  }

 private:
  // An idle team of at least the wanted size, else the largest idle one if the process has its threads already, else a
  // new one.
  Team* take(int wanted) noexcept {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
      const auto here = std::prev(it.base());
      if (best == idle_.end() || capacity(*here) > capacity(*best)) best = here;
      if (capacity(*here) >= wanted) {
        best = here;
        break;
      }
    }
    if (best != idle_.end()) {
      Team* team = *best;
      idle_.erase(best);
      return team;
    }
    if (workers_ >= worker_limit(wanted)) return nullptr;
    try {
      idle_.reserve(static_cast<std::size_t>(++teams_));  // so that giving back can't fail
      return new Team;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void give_back(Team* team) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(team);
  }

  static int capacity(const Team* team) noexcept { return static_cast<int>(team->workers_.size()) + 1; }

  // Room for several concurrent callers with full teams.
  static int worker_limit(int wanted) noexcept { return std::max({4 * usable_cpus(), 2 * wanted, 32}); }

  void grow(Team& team, int wanted) noexcept {
    while (capacity(&team) < wanted) {
      {
        const std::lock_guard lock(mutex_);
        if (workers_ >= worker_limit(wanted)) return;
        ++workers_;
      }
      if (!add_worker(team)) {
        const std::lock_guard lock(mutex_);
        --workers_;
        return;
      }
    }
  }

  static bool add_worker(Team& team) noexcept {
    try {
      auto slot = std::make_unique<WorkerSlot>();
      slot->team = &team;
      slot->index = capacity(&team);
      team.workers_.reserve(team.workers_.size() + 1);
      if (team.reduce_.size() < static_cast<std::size_t>(slot->index) + 1) {
        std::vector<Team::ReduceSlot>(2 * team.reduce_.size() + 1).swap(team.reduce_);
      }
      pthread_attr_t attributes;
      if (pthread_attr_init(&attributes) != 0) return false;
      pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
      pthread_attr_setstacksize(&attributes, kStackBytes);
      // The host's signals are for the host's threads.
      sigset_t all;
      sigset_t before;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      pthread_t thread{};
      const bool made = pthread_create(&thread, &attributes, &worker_main, slot.get()) == 0;
      if (made) pthread_setname_np(thread, "sdfg-worker");
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      pthread_attr_destroy(&attributes);
      if (made) team.workers_.push_back(std::move(slot));
      return made;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  std::mutex mutex_;
  std::vector<Team*> idle_;  // the most recently used last
  int workers_ = 0;
  int teams_ = 0;
};

void Team::run(int wanted, RegionBody body, void* argument) noexcept {
  size_ = std::min(wanted, static_cast<int>(workers_.size()) + 1);
  if (size_ == 1) {
    ThreadPool::run_alone(body, argument);
    return;
  }
  spin_ns_ = size_ <= usable_cpus() ? kTeamSpin : 0;
  body_ = body;
  argument_ = argument;
  float_mode_ = float_mode();
  single_.store(0, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kLoops; ++i) {
    loops_[i].sequence.store(i);
    loops_[i].next.store(0, std::memory_order_relaxed);
    loops_[i].finished.store(0, std::memory_order_relaxed);
  }
  for (int i = 0; i < size_; ++i) {
    reduce_slot(i).ready.store(0);
    reduce_slot(i).taken.store(0);
  }
  running_.store(size_ - 1, std::memory_order_relaxed);
  const std::uint32_t before = done_.load();
  for (int i = 0; i + 1 < size_; ++i) {
    WaitWord& start = workers_[static_cast<std::size_t>(i)]->start;
    start.store(start.load() + 1);
  }
  work(0);
  done_.wait_while(before, spin_ns_);
}

void run_region(int wanted, RegionBody body, void* argument) noexcept {
  ThreadContext& context = thread_context();
  const bool nested = context.team != nullptr || context.serial_depth > 0;
  if (in_forked_child()) {
    set_last_error(Error(ErrorClass::kUsage,
                         "a compiled function was called in a forked child of the process; its parallel "
                         "regions ran with one thread",
                         {}, "start workers before the first use of sdfg, or exec after fork"));
    return ThreadPool::run_alone(body, argument);
  }
  if (nested || wanted <= 1) return ThreadPool::run_alone(body, argument);
  ThreadPool::instance().run(std::min(wanted, kMostThreads), body, argument);
}

ThreadStats thread_stats() noexcept {
  return ThreadPool::instance().stats();
}

}  // namespace sdfg::runtime
