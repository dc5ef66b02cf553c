// Threads with large stacks that Clang runs on; each job has one lane for itself.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "compile/clang/submit.hpp"

namespace sdfg::compiler {

// Invariants: a job ends or fails, and only once; the first job of the process runs alone; a lane that LLVM's
// fatal-error handler ran on never returns to work (LLVM's state below it is unknown) and another takes its place.
class Lanes {
 public:
  // The one instance; never destroyed, since lanes may still run while the process exits.
  static Lanes& instance();

  void set_limit(int lanes) noexcept;
  // One of the two is called, once: `work` on a lane; `failed`, when LLVM gave up in it or no lane can be started.
  void submit(std::function<void()> work, JobFailed failed) noexcept;
  // Part of a job that runs now: goes before the jobs that wait. In the first job of the process, which runs alone, not
  // before `warm_up` has been called on its thread.
  void submit_part(std::function<void()> work, JobFailed failed, const std::function<void()>& warm_up) noexcept;

 private:
  struct Job {
    std::function<void()> work;  // must not throw
    JobFailed failed;
  };

  Lanes();
  static void on_fatal(void*, const char* reason, bool);
  static void on_no_memory(void*, const char* reason, bool);
  [[noreturn]] static void give_up(Fault fault, std::string reason);
  static void* thread_main(void* self);
  bool start_lane() noexcept;  // needs mutex_
  bool queue(std::unique_ptr<Job> job, bool first) noexcept;
  void work() noexcept;
  void finish_job() noexcept;  // needs mutex_

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Job>> queue_;
  int limit_ = 1;
  int lanes_ = 0;    // able to take jobs
  int idle_ = 0;     // of these, waiting
  int running_ = 0;  // jobs in work
  bool warm_ = false;
};

}  // namespace sdfg::compiler
