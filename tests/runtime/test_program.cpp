// Programs: entries, the runtime's table, memory of calls, call errors.
#include <catch2/catch.hpp>
#include <cstring>
#include <sdfg/error.hpp>
#include <thread>

#include "compile_source.hpp"
#include "runtime/program.hpp"

namespace test_program {

using namespace sdfg;
using namespace sdfg::runtime;
using sdfg::test::compile_program;

namespace {

ProgramInfo info() {
  return {"wave", {{"container 'tmp'", {"wave.cpp", 12, 3}}, {"map 'i, j'", {"wave.cpp", 14, 7}}}, "layout", 0};
}

std::shared_ptr<Program> load(const std::string& text, const std::string& flags = "-O2") {
  return Program::load(compile_program(text, flags), info());
}

template <typename... Arguments>
auto entry(const Program& program) {
  return reinterpret_cast<void (*)(Arguments...)>(program.entry());
}

}  // namespace

TEST_CASE("The packed entry gets pointers to the parameters", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(double* a, long n) { for (long i = 0; i < n; ++i) a[i] *= 2; }
    extern "C" int32_t sdfg_packed(void* const* args) { sdfg_entry(*(double**)args[0], *(long*)args[1]); return 5; })");
  double data[3] = {1, 2, 3};
  double* pointer = data;
  long count = 3;
  void* const arguments[] = {&pointer, &count};
  CHECK(program->packed_entry()(arguments) == 5);
  CHECK(data[2] == 6);
  entry<double*, long> (*program)(data, 2);
  CHECK(data[0] == 4);
  CHECK(data[2] == 6);
  CHECK(program->info().argument_layout == "layout");
}

TEST_CASE("An object without an entry is refused", "[program]") {
  CHECK_THROWS_WITH(load("extern \"C\" void other() {}"), Catch::Contains("sdfg_entry"));
}

TEST_CASE("Transients are aligned, distinct, and kept between calls", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long n, void** out) {
      sdfg_call call = {}; call.program = sdfg_program;
      out[0] = sdfg_abi->allocate(&call, n, 64, 0);
      out[1] = sdfg_abi->allocate(&call, n, 4096, 0);
      sdfg_abi->release(&call, out[1]);
      out[2] = sdfg_abi->allocate(&call, 0, 64, 0);
      out[3] = sdfg_abi->allocate(&call, 3 * n, 64, 0);
      __builtin_memset(out[0], 1, n); __builtin_memset(out[3], 2, 3 * n);
      sdfg_abi->finish(&call);
    })",
                            "-O2 -fno-builtin");
  for (const long n : {1L, 63L, 1000L, 100003L, 5000011L}) {
    void* first[4] = {};
    entry<long, void**> (*program)(n, first);
    CHECK(reinterpret_cast<std::uintptr_t>(first[0]) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(first[1]) % 4096 == 0);
    CHECK(first[2] != nullptr);
    CHECK(first[0] != first[3]);
    void* second[4] = {};
    void* third[4] = {};
    entry<long, void**> (*program)(n, second);
    entry<long, void**> (*program)(n, third);
    CHECK(second[0] == third[0]);
  }
  CHECK(program->arenas().held_bytes() > 0);
  program->arenas().set_cap(0);
  CHECK(program->arenas().held_bytes() == 0);
}

TEST_CASE("A failure names the container and the user's line", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long bytes) {
      sdfg_call call = {}; call.program = sdfg_program;
      void* tmp = sdfg_abi->allocate(&call, bytes, 64, 0);
      if (!tmp) { int64_t v[2] = {1, -1}; sdfg_abi->fail(&call, 2, 1, v, 2); }  // not the first: ignored
      if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
    })");
  clear_last_error();
  entry<long> (*program)(100);
  CHECK(last_error() == nullptr);
  entry<long> (*program)(1L << 60);
  REQUIRE(last_error() != nullptr);
  CHECK(last_error()->error_class() == ErrorClass::kResource);
  CHECK_THAT(last_error()->what(), Catch::Contains("container 'tmp' needs 1152921504606846976 bytes") &&
                                       Catch::Contains("wave.cpp:12:3") && Catch::Contains("graph 'wave'"));
  REQUIRE(last_failure() != nullptr);
  CHECK(last_failure()->ordinal == 0);
  CHECK_THAT(describe(*last_failure(), {}, "twin").what(), Catch::Contains("element 0"));
  entry<long> (*program)(-5);
  CHECK(last_error()->error_class() == ErrorClass::kLaunch);
  CHECK_THAT(last_error()->what(), Catch::Contains("container 'tmp' would have -5 bytes: an extent is negative"));
  clear_last_error();
  CHECK(last_error() == nullptr);
}

TEST_CASE("The last error is kept per thread", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long v) {
      sdfg_call call = {}; call.program = sdfg_program;
      int64_t values[3] = {0, v, 7}; if (v) sdfg_abi->fail(&call, 4, 0, values, 3);
      if (call.status) sdfg_abi->finish(&call);
    })");
  clear_last_error();
  std::string text;
  std::thread([&] {
    entry<long> (*program)(9);
    text = last_error()->message();
  }).join();
  CHECK(text == "the index 9 is outside the extent 7 of container 'tmp' in dimension 0");
  CHECK(last_error() == nullptr);
}

TEST_CASE("Persistent containers live from call to call, and their calls take turns", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long n, long* out) {
      sdfg_call call = {}; call.program = sdfg_program;
      long* state = (long*)sdfg_abi->persistent(&call, 0, n * 8, 64, 1);
      long seen = state[0];
      for (int i = 0; i < 100; ++i) asm volatile("");
      state[0] = seen + 1; *out = state[0];
      if (call.flags) sdfg_abi->finish(&call);
    })");
  long value = 0;
  entry<long, long*> (*program)(10, &value);
  CHECK(value == 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      long mine = 0;
      for (int i = 0; i < 500; ++i) entry<long, long*> (*program)(10, &mine);
    });
  }
  for (auto& thread : threads) thread.join();
  entry<long, long*> (*program)(10, &value);
  CHECK(value == 2002);
  entry<long, long*> (*program)(11, &value);
  CHECK(value == 1);
  program->reset_persistent();
  entry<long, long*> (*program)(11, &value);
  CHECK(value == 1);
}

TEST_CASE("Entering a program with persistent containers from its own call is an error, not a deadlock", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(void (*callback)()) {
      sdfg_call call = {}; call.program = sdfg_program;
      if (sdfg_abi->persistent(&call, 0, 8, 64, 1) && callback) callback();
      if (call.flags || call.status) sdfg_abi->finish(&call);
    })");
  static Program* self = nullptr;
  self = program.get();
  clear_last_error();
  entry<void (*)()> (*program)([] { entry<void (*)()> (*self)(nullptr); });
  REQUIRE(last_error() != nullptr);
  CHECK(last_error()->error_class() == ErrorClass::kUsage);
}

TEST_CASE("External containers lie in the caller's workspace", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long bytes, void** out) {
      sdfg_call call = {}; call.program = sdfg_program;
      *out = sdfg_abi->external(&call, 0, 128, bytes);
      if (call.status) sdfg_abi->finish(&call);
    })");
  void* out = nullptr;
  clear_last_error();
  entry<long, void**> (*program)(64, &out);
  CHECK(out == nullptr);
  REQUIRE(last_error() != nullptr);
  CHECK_THAT(last_error()->message(), Catch::Contains("at least 192 bytes, but the one set has 0"));
  alignas(64) static char workspace[192];
  program->set_workspace(workspace, sizeof(workspace));
  clear_last_error();
  entry<long, void**> (*program)(64, &out);
  CHECK(out == workspace + 128);
  entry<long, void**> (*program)(65, &out);
  CHECK(out == nullptr);
  CHECK(last_error() != nullptr);
}

TEST_CASE("Streams are first in, first out, and grow", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(long n, long capacity, long* out) {
      sdfg_call call = {}; call.program = sdfg_program;
      void* s = sdfg_abi->stream_make(&call, 8, capacity);
      long pushed = 0;
      for (long i = 0; i < n; ++i) pushed += sdfg_abi->stream_push(&call, s, &i);
      out[0] = pushed; out[1] = sdfg_abi->stream_size(s);
      long v = -1, popped = 0, ordered = 1;
      while (sdfg_abi->stream_pop(&call, s, &v)) { ordered &= v == popped; ++popped; if (popped % 3 == 0) { } }
      out[2] = popped; out[3] = ordered;
      sdfg_abi->stream_free(&call, s);
      if (call.status) sdfg_abi->finish(&call);
    })");
  long out[4];
  clear_last_error();
  for (const long n : {0L, 1L, 17L, 1009L}) {
    entry<long, long, long*> (*program)(n, 0, out);
    CHECK(out[0] == n);
    CHECK(out[1] == n);
    CHECK(out[2] == n);
    CHECK(out[3] == 1);
  }
  entry<long, long, long*> (*program)(10, 7, out);
  CHECK(out[0] == 7);
  CHECK(out[2] == 7);
  CHECK(last_error() == nullptr);
}

TEST_CASE("Library functions are found by name, and a missing one is said", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry(int library, const char* name, void** out) {
      sdfg_call call = {}; call.program = sdfg_program;
      *out = sdfg_abi->library(&call, library, name);
      if (call.status) sdfg_abi->finish(&call);
    })");
  void* out = nullptr;
  clear_last_error();
  entry<int, const char*, void**> (*program)(0, "cblas_dgemm", &out);
  if (out == nullptr) {
    WARN("no BLAS on this machine");
    return;
  }
  CHECK(last_error() == nullptr);
  entry<int, const char*, void**> (*program)(0, "cblas_no_such_function", &out);
  CHECK(out == nullptr);
  REQUIRE(last_error() != nullptr);
  CHECK(last_error()->error_class() == ErrorClass::kEnvironment);
  CHECK_THAT(last_error()->message(), Catch::Contains("cblas_no_such_function"));
}

TEST_CASE("Times reported by the code are summed per element", "[program]") {
  const auto program = load(R"(
    extern "C" void sdfg_entry() {
      sdfg_call call = {}; call.program = sdfg_program;
      sdfg_abi->trace(&call, 1, 100, 150);
      sdfg_abi->trace(&call, 1, 200, 230);
      sdfg_abi->trace(&call, 99, 0, 1);
    })");
  int events = 0;
  program->set_trace_sink([&](std::int32_t, int, std::int64_t, std::int64_t) { ++events; });
  entry<> (*program)();
  const auto profile = program->profile();
  REQUIRE(profile.size() == 2);
  CHECK(profile[0].calls == 0);
  CHECK(profile[1].calls == 2);
  CHECK(profile[1].total_ns == 80);
  CHECK(profile[1].min_ns == 30);
  CHECK(profile[1].max_ns == 50);
  CHECK(events == 3);
}

}  // namespace test_program
