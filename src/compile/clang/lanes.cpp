// Starts lanes on demand, hands them jobs, and parks those that LLVM gave up on.
#include "compile/clang/lanes.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "compile/clang/host_compiler.hpp"

namespace sdfg::compiler {

namespace {

// Deeply nested expressions recurse in parser, code generation and selection; untouched pages cost nothing.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;
constexpr int kMostLanes = 8;

int default_limit() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::clamp(cores, 1, kMostLanes);
}

// The job of this thread, for the fatal-error handler, which gets no context.
thread_local JobFailed* current_failed = nullptr;

}  // namespace

Lanes& Lanes::instance() {
  static Lanes* const lanes = new Lanes;
  return *lanes;
}

Lanes::Lanes() : limit_(default_limit()) {
  initialise_llvm(&Lanes::on_fatal, &Lanes::on_no_memory);
}

void Lanes::set_limit(int lanes) noexcept {
  const std::scoped_lock lock(mutex_);
  limit_ = lanes > 0 ? lanes : default_limit();
  wake_.notify_all();
}

bool Lanes::queue(std::unique_ptr<Job> job, bool first) noexcept {
  const std::scoped_lock lock(mutex_);
  const bool waiting_lane = idle_ > static_cast<int>(queue_.size());
  if (!waiting_lane && lanes_ < limit_ && !start_lane() && lanes_ == 0) return false;
  queue_.insert(first ? queue_.begin() : queue_.end(), std::move(job));
  wake_.notify_all();
  return true;
}

void Lanes::submit(std::function<void()> work, JobFailed failed) noexcept {
  if (!queue(std::make_unique<Job>(Job{std::move(work), failed}), false))
    failed(Fault::kResource, "no thread could be started for the compiler");
}

void Lanes::submit_part(std::function<void()> work, JobFailed failed, const std::function<void()>& warm_up) noexcept {
  bool warm = false;
  {
    const std::scoped_lock lock(mutex_);
    warm = warm_;
  }
  if (!warm) {
    warm_up();
    const std::scoped_lock lock(mutex_);
    warm_ = true;
  }
  if (!queue(std::make_unique<Job>(Job{std::move(work), failed}), true))
    failed(Fault::kResource, "no thread could be started for the compiler");
}

bool Lanes::start_lane() noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  bool started = false;
  if (pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
      pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0) {
    // The host's signals are for the host's threads; faults stay deliverable.
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    started = pthread_create(&thread, &attributes, &Lanes::thread_main, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (started) ++lanes_;
  return started;
}

void* Lanes::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "sdfg-compile");
  prepare_thread();
  static_cast<Lanes*>(self)->work();
  return nullptr;
}

void Lanes::finish_job() noexcept {
  --running_;
  warm_ = true;
  wake_.notify_all();
}

void Lanes::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return lanes_ > limit_ || (!queue_.empty() && (warm_ || running_ == 0)); });
    --idle_;
    if (lanes_ > limit_) break;
    const std::unique_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    current_failed = &job->failed;
    job->work();
    current_failed = nullptr;
    lock.lock();
    finish_job();
  }
  --lanes_;
}

void Lanes::on_fatal(void*, const char* reason, bool) {
  give_up(Fault::kCode, std::string("the compiler gave up: ") + reason);
}

void Lanes::on_no_memory(void*, const char* reason, bool) {
  give_up(Fault::kResource, std::string("there was no memory left for the compiler: ") + reason);
}

void Lanes::give_up(Fault fault, std::string reason) {
  if (auto* failed = std::exchange(current_failed, nullptr)) {
    Lanes& lanes = instance();
    {
      const std::scoped_lock lock(lanes.mutex_);
      --lanes.lanes_;
      lanes.finish_job();
      if (!lanes.queue_.empty() && lanes.lanes_ < lanes.limit_) lanes.start_lane();
    }
    (*failed)(fault, std::move(reason));
  }
  // Returning would end the process, and unwinding would leave LLVM's locks and tables as they are: stay here for ever.
  while (true) pause();
}

}  // namespace sdfg::compiler
