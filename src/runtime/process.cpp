// Fork detection by a page that the kernel wipes in children, with pthread_atfork where that is missing.
#include "runtime/process.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sdfg/error.hpp>
#include <string>
#include <thread>
#include <vector>

namespace sdfg::runtime {
namespace {

// 1 in the original process, 0 in a forked child. A getpid() per call was rejected: it is a system call.
struct ForkMark {
  volatile int* word = nullptr;
  ForkMark() noexcept {
    static int fallback = 1;
    const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, bytes, MADV_WIPEONFORK) == 0) {
      word = static_cast<int*>(page);
    } else {
      if (page != MAP_FAILED) munmap(page, bytes);
      word = &fallback;
      pthread_atfork(nullptr, nullptr, [] { fallback = 0; });
    }
    *word = 1;
  }
};

const ForkMark& fork_mark() noexcept {
  static const ForkMark mark;
  return mark;
}

}  // namespace

bool in_forked_child() noexcept {
  return *fork_mark().word == 0;
}

void require_original_process(const char* what) {
  if (!in_forked_child()) return;
  throw Error(ErrorClass::kUsage,
              std::string(what) + " was called in a forked child of the process (pid " + std::to_string(getpid()) +
                  "), which has none of the runtime's threads and shares its code with the parent",
              {}, "start workers before the first use of sdfg, or exec after fork");
}

int usable_cpus() noexcept {
  static const int count = [] {
    // The kernel's mask may be wider than cpu_set_t, so grow until sched_getaffinity accepts the buffer.
    for (std::size_t cpus = 1024; cpus <= (std::size_t{1} << 20); cpus *= 4) {
      cpu_set_t* set = CPU_ALLOC(cpus);
      if (set == nullptr) break;
      const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
      CPU_ZERO_S(bytes, set);
      const bool ok = sched_getaffinity(0, bytes, set) == 0;
      const int found = ok ? CPU_COUNT_S(bytes, set) : 0;
      CPU_FREE(set);
      if (ok) return found > 0 ? found : 1;
    }
    const unsigned hardware = std::thread::hardware_concurrency();
    return hardware > 0 ? static_cast<int>(hardware) : 1;
  }();
  return count;
}

}  // namespace sdfg::runtime
