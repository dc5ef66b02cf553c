// One host, many cases: what the library does to the process it lives in. Exit code 0: as promised; 77: can't be tried
// here.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "../support/folder.hpp"
#include "cases.hpp"

namespace {

using process::check_scale;
using process::compile_scale;

int failures = 0;

void check(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

void check_right(const std::string& problem) {
  check(problem.empty(), problem);
}

sdfg::Options without_disk() {
  sdfg::Options options;
  options.cache = sdfg::CacheMode::kMemory;
  return options;
}

void results() {
  const auto function = compile_scale(3, without_disk());
  for (const std::int64_t n : {0, 1, 7, 1000, 100003}) check_right(check_scale(function, 3, n));
}

// A forked child may not use the runtime; it gets errors, not hangs or crashes, and the parent goes on.
void forked() {
  const auto function = compile_scale(3, without_disk());
  check_right(check_scale(function, 3, 50000));
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    const auto refused = [&](int bit, const std::function<void()>& use) {
      try {
        use();
        wrong |= bit;
      } catch (const sdfg::Error& error) {
        if (error.error_class() != sdfg::ErrorClass::kUsage) wrong |= bit;
      }
    };
    refused(1, [] { compile_scale(4, without_disk()); });
    refused(2, [] { compile_scale(3, without_disk()); });
    refused(4, [&] { check_scale(function, 3, 50000); });
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's wait status is " + std::to_string(status));
  check_right(check_scale(function, 3, 50000));
  check_right(check_scale(compile_scale(5, without_disk()), 5, 100));
  // A child that ends normally runs destructors of functions; they must not touch the parent's code.
  const pid_t ends = fork();
  if (ends == 0) {
    const auto* copy = new sdfg::Function<process::Scale>(function);
    delete copy;
    std::exit(0);
  }
  waitpid(ends, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child that exits has wait status " + std::to_string(status));
  check_right(check_scale(function, 3, 50000));
}

void fork_exec() {
  check_right(check_scale(compile_scale(3, without_disk()), 3, 100));
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "host", "results", static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the program after exec failed");
}

std::vector<void*> signal_handlers() {
  std::vector<void*> all;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0) all.push_back(reinterpret_cast<void*>(action.sa_sigaction));
  }
  return all;
}

unsigned float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fU;
#else
  return 0;
#endif
}

// Signal handlers, floating-point mode, blocked signals, working folder, file-creation mask, locale, stdout and stderr.
void isolation() {
  const auto handlers = signal_handlers();
  const unsigned mode = float_mode();
  const auto blocked = [] {
    sigset_t mask;
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    std::vector<int> numbers;
    for (int number = 1; number < NSIG; ++number) {
      if (sigismember(&mask, number) == 1) numbers.push_back(number);
    }
    return numbers;
  };
  const auto blocked_before = blocked();
  char folder[4096];
  check(getcwd(folder, sizeof(folder)) != nullptr, "no working folder");
  std::FILE* capture = std::tmpfile();
  if (capture == nullptr) std::exit(77);
  std::fflush(nullptr);
  const int out = dup(1);
  const int err = dup(2);
  dup2(fileno(capture), 1);
  dup2(fileno(capture), 2);
  std::string problem;
  std::string refused;
  {
    const auto function = compile_scale(3, without_disk());
    problem = check_scale(function, 3, 50000);
    sdfg::Builder broken("broken");
    auto N = broken.symbol("N");
    auto x = broken.array<double>("x", {N});
    try {
      broken.map({"i", 0, N}, [&](auto i) { x(i) = x(i) * 2; });
      sdfg::compile<void(float*, std::int64_t)>(broken, without_disk());
    } catch (const sdfg::Error& error) {
      refused = error.what();
    }
  }
  std::fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  std::fseek(capture, 0, SEEK_END);
  const long written = std::ftell(capture);
  if (written > 0) {
    std::rewind(capture);
    char text[512] = {};
    check(std::fread(text, 1, sizeof(text) - 1, capture) > 0, "the capture can't be read");
    std::fprintf(stderr, "written: %s\n", text);
  }
  check(written == 0, "something was written to stdout or stderr");
  check_right(problem);
  check(!refused.empty(), "a wrong signature was accepted");
  check(signal_handlers() == handlers, "a signal handler changed");
  check(float_mode() == mode, "the floating-point mode changed");
  check(blocked() == blocked_before, "the signal mask changed");
  char folder_after[4096];
  check(getcwd(folder_after, sizeof(folder_after)) != nullptr && std::strcmp(folder, folder_after) == 0,
        "the working folder changed");
}

// Another copy of LLVM in the process, global as Python loads its extensions, before and after ours works.
void second_llvm() {
  check_right(check_scale(compile_scale(2, without_disk()), 2, 100));
  void* library = dlopen("libLLVM.so.22.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) library = dlopen(SDFG_LLVM_LIBDIR "/libLLVM.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::exit(77);
  using Handle = void*;
  const auto symbol = [&](const char* name) {
    void* address = dlsym(library, name);
    check(address != nullptr, std::string("no ") + name);
    return address;
  };
  for (int round = 0; round < 2; ++round) {
    Handle context = reinterpret_cast<Handle (*)()>(symbol("LLVMContextCreate"))();
    Handle buffer = reinterpret_cast<Handle (*)(const char*, std::size_t, const char*)>(
        symbol("LLVMCreateMemoryBufferWithMemoryRangeCopy"))("define i32 @f(i32 %x) { ret i32 %x }", 36, "unit");
    Handle module = nullptr;
    char* message = nullptr;
    const int failed = reinterpret_cast<int (*)(Handle, Handle, Handle*, char**)>(symbol("LLVMParseIRInContext"))(
        context, buffer, &module, &message);
    check(failed == 0, "the other LLVM can't parse");
    char* text = reinterpret_cast<char* (*)(Handle)>(symbol("LLVMPrintModuleToString"))(module);
    check(std::strstr(text, "@f") != nullptr, "the other LLVM prints nothing");
    check_right(check_scale(compile_scale(10 + round, without_disk()), 10 + round, 1000));
    reinterpret_cast<void (*)(char*)>(symbol("LLVMDisposeMessage"))(text);
    reinterpret_cast<void (*)(Handle)>(symbol("LLVMDisposeModule"))(module);
    reinterpret_cast<void (*)(Handle)>(symbol("LLVMContextDispose"))(context);
  }
}

// exit() in the middle of a compilation in another thread: the process ends, at once and with its code.
void exit_while_compiling() {
  const pid_t child = fork();  // before any use of the library
  if (child == 0) {
    std::atomic<bool> started{false};
    std::thread([&] {
      started = true;
      for (int i = 0;; ++i) compile_scale(100 + i, without_disk());
    }).detach();
    while (!started) usleep(1000);
    usleep(150'000);
    std::exit(42);
  }
  int status = 0;
  for (int i = 0; i < 300; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) {
      check(WIFEXITED(status) && WEXITSTATUS(status) == 42,
            "exit during a compilation gave status " + std::to_string(status));
      return;
    }
    usleep(100'000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  check(false, "exit during a compilation hangs");
}

struct CallsAtExit {
  sdfg::Function<process::Scale> function;
  ~CallsAtExit() {
    if (function && !check_scale(function, 6, 20000).empty()) _exit(1);
  }
};

// A function in a static object is called during static destruction, after the library's own statics were made.
void exit_with_functions() {
  static CallsAtExit late;
  late.function = compile_scale(6, without_disk());
  check_right(check_scale(late.function, 6, 20000));
}

void one_compile() {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&] {
      if (!check_scale(compile_scale(7, without_disk()), 7, 1000).empty()) ++wrong;
    });
  }
  for (auto& thread : threads) thread.join();
  check(wrong == 0, "a thread got wrong results");
  check(sdfg::statistics().compilations == 1,
        "32 threads made " + std::to_string(sdfg::statistics().compilations) + " compilations");
}

std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

long resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

// Many programs, compiled, called and dropped: mappings and memory stay flat.
void unload() {
  const char* wanted = std::getenv("SDFG_TEST_COMPILES");  // 1,000 for the long run
  const int count = wanted != nullptr ? std::atoi(wanted) : 60;
  const auto one = [&](int i) {
    check_right(check_scale(compile_scale(1000 + i, without_disk()), 1000 + i, 500));
    sdfg::clear_memory_cache();
  };
  for (int i = 0; i < 20; ++i) one(-i);
  [[maybe_unused]] const std::size_t maps = mappings();
  [[maybe_unused]] const long resident = resident_kib();
  for (int i = 1; i <= count; ++i) one(i);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("NOTICE: mappings and memory are not compared: the sanitizer's own grow");
#else
  check(mappings() <= maps + 8, "mappings grew from " + std::to_string(maps) + " to " + std::to_string(mappings()));
  check(resident_kib() <= resident + 4096 + count * 8,
        "memory grew from " + std::to_string(resident) + " to " + std::to_string(resident_kib()) + " KiB");
#endif
  check(sdfg::statistics().loaded_programs == 0, "programs are still loaded");
}

// A second process finds on disk what the first made: they agree on the key, and the result is right.
void disk_between_processes() {
  const sdfg::test::Folder folder;
  sdfg::Options options;
  options.cache = sdfg::CacheMode::kOn;
  options.cache_dir = folder / "cache";
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();  // before any use of the library
    if (child == 0) {
      const auto function = compile_scale(9, options);
      const bool right = check_scale(function, 9, 1000).empty();
      const auto origin = function.stats().origin;
      const auto expected = i == 0 ? sdfg::CompileStats::Origin::kCompiled : sdfg::CompileStats::Origin::kDisk;
      _exit(!right ? 1 : origin != expected ? 2 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "process " + std::to_string(i) + " has wait status " + std::to_string(status));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> cases = {
      {"results", results},
      {"fork", forked},
      {"fork_exec", fork_exec},
      {"isolation", isolation},
      {"second_llvm", second_llvm},
      {"exit_while_compiling", exit_while_compiling},
      {"exit_with_functions", exit_with_functions},
      {"one_compile", one_compile},
      {"unload", unload},
      {"disk_between_processes", disk_between_processes},
  };
  const auto it = cases.find(count > 1 ? arguments[1] : "");
  if (it == cases.end()) return std::fputs("usage: host CASE\n", stderr), 2;
  try {
    it->second();
  } catch (const std::exception& error) {
    check(false, std::string("an exception: ") + error.what());
  }
  return failures == 0 ? 0 : 1;
}
