// Our OpenMP entries: results with any number of threads, teams of concurrent callers, what idle workers cost.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "compile_source.hpp"
#include "openmp_source.hpp"
#include "runtime/call_error.hpp"
#include "runtime/loader.hpp"
#include "runtime/process.hpp"
#include "runtime/program.hpp"
#include "runtime/threads.hpp"

namespace test_threads {

using namespace sdfg;
using namespace sdfg::runtime;

namespace {

std::shared_ptr<const LoadedCode> load(const test::Bytes& object) {
  const std::span<const std::uint8_t> span(object);
  return load_objects({&span, 1}, {});
}

const test::Bytes& openmp_object() {
  static const test::Bytes object = test::compile_source(test::openmp_source(), "-O2 -fopenmp");
  return object;
}

template <typename Signature>
Signature* function(const LoadedCode& code, const char* name) {
  void* address = code.find(name);
  REQUIRE(address != nullptr);
  return reinterpret_cast<Signature*>(address);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace

TEST_CASE("OpenMP code gives the right results with any number of threads", "[threads]") {
  for (const char* level : {"-O0", "-O2"}) {
    const auto code = load(test::compile_source(test::openmp_source(), std::string(level) + " -fopenmp"));
    auto* check = function<long(long)>(*code, "check");
    for (const int threads : {1, 2, 5, 8}) {
      const ThreadScope scope(threads);
      for (const long n : {0L, 1L, 2L, 7L, 97L, 1000L, 4999L}) {
        INFO(level << ", " << threads << " threads, n = " << n);
        CHECK(check(n) == 0);
      }
    }
  }
}

TEST_CASE("A sum has the same bits in every run with the same number of threads", "[threads]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  std::vector<double> x(10007);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) * 1.7) * std::pow(10.0, i % 17);
  for (const int threads : {2, 3, 8}) {
    const ThreadScope scope(threads);
    const double first = sum(x.data(), static_cast<long>(x.size()));
    for (int i = 0; i < 200; ++i) {
      const double again = sum(x.data(), static_cast<long>(x.size()));
      REQUIRE(std::memcmp(&first, &again, sizeof(first)) == 0);
    }
  }
}

TEST_CASE("Callers on several host threads at once", "[threads]") {
  std::vector<std::thread> hosts;
  std::atomic<long> wrong{0};
  for (int t = 0; t < 6; ++t) {
    hosts.emplace_back([&, t] {
      // Each its own copy of the code: the source keeps its state in statics.
      const auto code = load(openmp_object());
      auto* check = reinterpret_cast<long (*)(long)>(code->find("check"));
      const ThreadScope scope(1 + t);
      for (int i = 0; i < 10; ++i) {
        if (check(211 + t) != 0) ++wrong;
      }
    });
  }
  for (auto& host : hosts) host.join();
  CHECK(wrong == 0);
}

TEST_CASE("More callers than there may be threads get smaller teams, and right results", "[threads]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  const std::vector<double> ones(3001, 1.0);
  std::vector<std::thread> hosts;
  std::atomic<long> wrong{0};
  for (int t = 0; t < 24; ++t) {
    hosts.emplace_back([&] {
      const ThreadScope scope(16);
      for (int i = 0; i < 20; ++i) {
        if (sum(ones.data(), 3001) != 3001) ++wrong;
      }
    });
  }
  for (auto& host : hosts) host.join();
  CHECK(wrong == 0);
  CHECK(thread_stats().workers <= std::max({4 * usable_cpus(), 32}));
}

TEST_CASE("Idle workers burn no CPU", "[threads]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  const std::vector<double> ones(1000, 1.0);
  {
    const ThreadScope scope(usable_cpus());
    for (int i = 0; i < 50; ++i) sum(ones.data(), 1000);
  }
  usleep(10'000);
  const double before = cpu_seconds();
  usleep(300'000);
  CHECK(cpu_seconds() - before < 0.01);
}

TEST_CASE("Workers take over the caller's rounding mode, and the caller keeps its own", "[threads]") {
  const auto code = load(test::compile_source(R"(
    extern "C" void third(double* out, long n) {
      #pragma omp parallel for schedule(static, 1)
      for (long i = 0; i < n; ++i) { volatile double one = 1, three = 3; out[i] = one / three; }
    })",
                                              "-O1 -fopenmp"));
  auto* third = function<void(double*, long)>(*code, "third");
  const unsigned before = _mm_getcsr();
  const ThreadScope scope(4);
  std::vector<double> out(16);
  for (const unsigned mode : {_MM_ROUND_UP, _MM_ROUND_NEAREST, _MM_ROUND_DOWN}) {
    _MM_SET_ROUNDING_MODE(mode);
    third(out.data(), 16);
    const unsigned after = _MM_GET_ROUNDING_MODE();
    _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST);
    CHECK(after == mode);
    for (const double value : out) CHECK(value == out[0]);
    const double expected = mode == _MM_ROUND_UP ? std::nextafter(1.0 / 3, 1) : 1.0 / 3;
    CHECK(out[0] == expected);
  }
  _mm_setcsr(before);
}

TEST_CASE("Worker threads block the host's signals", "[threads]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  const std::vector<double> ones(100, 1.0);
  static std::atomic<pthread_t> handled_by{};
  struct sigaction action{};
  struct sigaction old{};
  action.sa_handler = [](int) { handled_by = pthread_self(); };
  sigaction(SIGUSR2, &action, &old);
  const ThreadScope scope(4);
  for (int i = 0; i < 20; ++i) {
    sum(ones.data(), 100);
    kill(getpid(), SIGUSR2);
  }
  sigaction(SIGUSR2, &old, nullptr);
  CHECK(pthread_equal(handled_by.load(), pthread_self()));
}

#if !defined(__SANITIZE_ADDRESS__)  // which needs address space itself
TEST_CASE("When the system gives no threads a region runs with fewer", "[threads]") {
  // In a child, whose limit does not touch this process.
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test_runtime", "[.no-threads]", static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("Helper of the test before: no address space for stacks", "[.no-threads]") {
  const auto code = load(openmp_object());
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;  // every further mapping fails
  setrlimit(RLIMIT_AS, &limit);
  const ThreadScope scope(4);
  auto* sum = reinterpret_cast<double (*)(const double*, long)>(code->find("sum_of"));
  static const double ones[5] = {1, 1, 1, 1, 1};
  const double result = sum(ones, 5);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
  CHECK(result == 5);
  CHECK(thread_stats().workers == 0);
}

TEST_CASE("A forked child gets an error and a right result, and does not hang", "[threads]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  const std::vector<double> ones(100, 1.0);
  const ThreadScope scope(4);
  REQUIRE(sum(ones.data(), 100) == 100);
  REQUIRE_FALSE(in_forked_child());
  const pid_t child = fork();
  if (child == 0) {
    int wrong = in_forked_child() ? 0 : 1;
    clear_last_error();
    if (sum(ones.data(), 100) != 100) wrong |= 2;
    if (last_error() == nullptr || last_error()->error_class() != ErrorClass::kUsage) wrong |= 4;
    try {
      load(openmp_object());
      wrong |= 8;
    } catch (const Error& error) {
      if (error.error_class() != ErrorClass::kUsage) wrong |= 16;
    }
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(sum(ones.data(), 100) == 100);
}

TEST_CASE("Containers allocated inside a parallel region belong to its threads", "[threads]") {
  const auto program = Program::load(test::compile_program(R"(
    extern "C" int sdfg_entry(long n, long* out) {
      sdfg_call call = {}; call.program = sdfg_program;
      long total = 0;
      #pragma omp parallel for schedule(dynamic) reduction(+ : total)
      for (long i = 0; i < n; ++i) {
        long* t = (long*)sdfg_abi->allocate(&call, 1000 * 8, 64, 0);
        for (long k = 0; k < 1000; ++k) t[k] = i;
        asm volatile("" : : "r"(t) : "memory");
        long bad = sdfg_abi->thread_index() >= sdfg_abi->thread_count();
        for (long k = 0; k < 1000; ++k) bad += t[k] != i;
        total += bad ? 1000000 : 1;
        sdfg_abi->release(&call, t);
      }
      *out = total;
      if (call.arena || call.status) sdfg_abi->finish(&call);
      return call.status;
    })",
                                                           "-O1 -fopenmp"),
                                     {"inner", {}, {}, 0});
  auto* entry = reinterpret_cast<int (*)(long, long*)>(program->entry());
  const ThreadScope scope(5);
  for (int i = 0; i < 20; ++i) {
    long total = 0;
    CHECK(entry(301, &total) == 0);
    CHECK(total == 301);
  }
}

TEST_CASE("Starting a region is cheap", "[threads][.timing]") {
  const auto code = load(openmp_object());
  auto* sum = function<double(const double*, long)>(*code, "sum_of");
  const std::vector<double> ones(64, 1.0);
  for (const int threads : {1, 2, 4, 8, 16}) {
    const ThreadScope scope(threads);
    sum(ones.data(), 64);
    const std::int64_t begin = now_ns();
    for (int i = 0; i < 2000; ++i) sum(ones.data(), 64);
    const double each = static_cast<double>(now_ns() - begin) / 2000;
    WARN(threads << " threads: " << each << " ns");
  }
}

}  // namespace test_threads
