// A host that uses libgomp itself and opens libomp too, while loaded code runs on our threads. Exit code 0: all three
// give right results, in turn and at the same time.
#include <dlfcn.h>
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "../compile_source.hpp"
#include "../openmp_source.hpp"
#include "runtime/loader.hpp"
#include "runtime/threads.hpp"

namespace {

long host_sum(int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (long i = 0; i < 1000; ++i) sum += i;
  return sum;
}

std::atomic<long> visits{0};
void visit(std::int32_t*, std::int32_t*, ...) {
  ++visits;
}

}  // namespace

int main() {
  using namespace sdfg;
  const auto object = test::compile_source(test::openmp_source(), "-O2 -fopenmp");
  const std::span<const std::uint8_t> span(object);
  const auto ours = runtime::load_objects({&span, 1}, {});
  // libomp 22 itself loses lastprivate values of dynamic loops, so that with it as the backend only the rest is
  // checked.
  const bool backend = std::getenv("SDFG_THREADS_BACKEND") != nullptr;
  auto* check = reinterpret_cast<long (*)(long)>(ours->find(backend ? "check_reductions" : "check"));
  reinterpret_cast<void (*)()>(ours->find("set_values"))();
  const runtime::ThreadScope scope(3);

  void* libomp = dlopen("libomp.so.5", RTLD_NOW | RTLD_LOCAL);
  if (libomp == nullptr) libomp = dlopen(SDFG_LIBOMP_FOLDER "/libomp.so.5", RTLD_NOW | RTLD_LOCAL);
  using Fork = void (*)(void*, std::int32_t, void (*)(std::int32_t*, std::int32_t*, ...), ...);
  const auto fork = libomp != nullptr ? reinterpret_cast<Fork>(dlsym(libomp, "__kmpc_fork_call")) : nullptr;
  if (fork == nullptr) std::puts("without libomp");

  const auto round = [&](const char* what) {
    if (host_sum(3) != 499500) return std::printf("%s: libgomp is wrong\n", what), false;
    if (const long wrong = check(997); wrong != 0)
      return std::printf("%s: check %ld of ours fails\n", what, wrong), false;
    static char ident[64] = {0, 0, 0, 0, 2};
    if (fork != nullptr) fork(ident, 0, &visit);
    return true;
  };
  for (int i = 0; i < 3; ++i) {
    if (!round("in turn")) return 1;
  }
  std::atomic<bool> good{true};
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      if (host_sum(2) != 499500) good = false;
    }
  });
  for (int i = 0; i < 20; ++i) {
    if (!round("at once")) good = false;
  }
  other.join();
  return good && (fork == nullptr || visits > 0) ? 0 : 1;
}
