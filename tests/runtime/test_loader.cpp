// The loader: what links, what is refused, what stays flat over many loads.
#include <xmmintrin.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sdfg/error.hpp>
#include <thread>

#include "compile_source.hpp"
#include "runtime/loader.hpp"
#include "runtime/memory_manager.hpp"

namespace test_loader {

using namespace sdfg;
using namespace sdfg::runtime;
using sdfg::test::Bytes;
using sdfg::test::compile_source;

namespace {

std::shared_ptr<const LoadedCode> load(const Bytes& object, const LoadSlots& slots = {}) {
  const std::span<const std::uint8_t> span(object);
  return load_objects({&span, 1}, slots);
}

std::shared_ptr<const LoadedCode> load_all(const std::vector<Bytes>& objects) {
  std::vector<std::span<const std::uint8_t>> spans(objects.begin(), objects.end());
  return load_objects(spans, {});
}

template <typename Signature>
Signature* function(const LoadedCode& code, const char* name) {
  void* address = code.find(name);
  REQUIRE(address != nullptr);
  return reinterpret_cast<Signature*>(address);
}

std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

std::size_t resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

std::string load_failure(const Bytes& object) {
  try {
    load(object);
  } catch (const Error& error) {
    CHECK(error.error_class() == ErrorClass::kLoad);
    return error.message();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("A loaded object's functions run and its data is writable", "[loader]") {
  const auto code = load(compile_source(R"(
    static const double table[5] = {1, 2, 3, 5, 8};
    static int calls;
    extern "C" double pick(int i) { ++calls; return table[i]; }
    extern "C" int count() { return calls; }
    extern "C" { void* sdfg_program; const void* sdfg_abi; }
    extern "C" const void* slot() { return sdfg_abi; })"),
                         {reinterpret_cast<const void*>(0x1234), nullptr});
  auto* pick = function<double(int)>(*code, "pick");
  CHECK(pick(3) == 5.0);
  CHECK(pick(4) == 8.0);
  CHECK(function<int()>(*code, "count")() == 2);
  CHECK(function<const void*()>(*code, "slot")() == reinterpret_cast<const void*>(0x1234));
  CHECK(code->find("absent") == nullptr);
}

TEST_CASE("Calls into libm, libmvec, libc's mem functions and the compiler's helpers resolve", "[loader]") {
  const auto code = load(compile_source(R"(
    extern "C" double sin(double); extern "C" float powf(float, float); extern "C" double erf(double);
    extern "C" void* memcpy(void*, const void*, unsigned long);
    typedef double v2 __attribute__((vector_size(16)));
    extern "C" v2 _ZGVbN2v_exp(v2);
    extern "C" double s(double x) { return sin(x) + erf(x); }
    extern "C" float p(float a, float b) { return powf(a, b); }
    extern "C" void copy(void* a, const void* b, unsigned long n) { memcpy(a, b, n); }
    extern "C" void vexp(double* x) { v2 v = {x[0], x[1]}; v = _ZGVbN2v_exp(v); x[0] = v[0]; x[1] = v[1]; }
    extern "C" void cmul(double* a, double* b, double* r) {
      double _Complex x, y; __real__ x = a[0]; __imag__ x = a[1]; __real__ y = b[0]; __imag__ y = b[1];
      x = x * y; r[0] = __real__ x; r[1] = __imag__ x; }
    extern "C" void cdivf(float* a, float* b, float* r) {
      float _Complex x, y; __real__ x = a[0]; __imag__ x = a[1]; __real__ y = b[0]; __imag__ y = b[1];
      x = x / y; r[0] = __real__ x; r[1] = __imag__ x; }
    extern "C" void half(const float* in, unsigned short* out) { _Float16 h = (_Float16)*in; __builtin_memcpy(out, &h, 2); }
    extern "C" float unhalf(const unsigned short* in) { _Float16 h; __builtin_memcpy(&h, in, 2); return (float)h; }
    extern "C" void brain(const float* in, unsigned short* out) { __bf16 h = (__bf16)*in; __builtin_memcpy(out, &h, 2); }
    extern "C" void brain_d(const double* in, unsigned short* out) { __bf16 h = (__bf16)*in; __builtin_memcpy(out, &h, 2); }
    extern "C" float unbrain(const unsigned short* in) { __bf16 h; __builtin_memcpy(&h, in, 2); return (float)h; }
    extern "C" long wide(long a, long b, long c) { return (long)((__int128)a * b / c); })"));
  CHECK(function<double(double)>(*code, "s")(0.7) == std::sin(0.7) + std::erf(0.7));
  CHECK(function<float(float, float)>(*code, "p")(2.5F, 3.0F) == std::pow(2.5F, 3.0F));
  char text[6] = {};
  function<void(void*, const void*, unsigned long)>(*code, "copy")(text, "abcde", 5);
  CHECK(std::string(text) == "abcde");
  double x[2] = {0.5, -1.25};
  function<void(double*)>(*code, "vexp")(x);
  CHECK(x[0] == Approx(std::exp(0.5)).epsilon(1e-15));
  CHECK(x[1] == Approx(std::exp(-1.25)).epsilon(1e-15));
  const double a[2] = {2, 3}, b[2] = {-5, 7};
  double r[2];
  function<void(const double*, const double*, double*)>(*code, "cmul")(a, b, r);
  CHECK(r[0] == -31);
  CHECK(r[1] == -1);
  const float af[2] = {4, 2}, bf[2] = {1, 1};
  float rf[2];
  function<void(const float*, const float*, float*)>(*code, "cdivf")(af, bf, rf);
  CHECK(rf[0] == 3);
  CHECK(rf[1] == -1);
  const float in = 1.5F;
  std::uint16_t bits = 0;
  function<void(const float*, std::uint16_t*)>(*code, "half")(&in, &bits);
  CHECK(bits == 0x3e00);
  CHECK(function<float(const std::uint16_t*)>(*code, "unhalf")(&bits) == 1.5F);
  function<void(const float*, std::uint16_t*)>(*code, "brain")(&in, &bits);
  CHECK(bits == 0x3fc0);
  CHECK(function<float(const std::uint16_t*)>(*code, "unbrain")(&bits) == 1.5F);
  // Halfway between two bfloat16 values plus a little: one rounding goes up, two would go down to even.
  const double tricky = 1.0 + 0.00390625 + 0x1p-40;
  function<void(const double*, std::uint16_t*)>(*code, "brain_d")(&tricky, &bits);
  CHECK(bits == 0x3f81);
  CHECK(function<long(long, long, long)>(*code, "wide")(1L << 60, 12345, 1L << 59) == 24690);
}

TEST_CASE("An unresolved symbol is an error that names it", "[loader]") {
  CHECK_THAT(load_failure(compile_source(
                 R"(extern "C" int system(const char*); extern "C" int f() { return system("true"); })")),
             Catch::Contains("'system'"));
  CHECK_THAT(load_failure(compile_source(R"(extern "C" int sdfg_missing_one(); extern "C" int sdfg_missing_two();
                                            extern "C" int f() { return sdfg_missing_two() + sdfg_missing_one(); })")),
             Catch::Contains("'sdfg_missing_one', 'sdfg_missing_two'"));
}

TEST_CASE("An object with static constructors is refused", "[loader]") {
  CHECK_THAT(load_failure(compile_source(R"(extern "C" double sin(double); double table = sin(1.5);
                                            extern "C" double f() { return table; })",
                                         "-O0")),
             Catch::Contains("static constructors"));
}

TEST_CASE("Objects of one program see each other in both directions", "[loader]") {
  std::vector<Bytes> objects;
  objects.push_back(
      compile_source(R"(extern "C" int odd(int); extern "C" int even(int n) { return n == 0 ? 1 : odd(n - 1); }
                                      extern "C" int shared = 5;)"));
  objects.push_back(compile_source(R"(extern "C" int even(int); extern "C" { extern int shared; }
                                      extern "C" int odd(int n) { return n == 0 ? 0 : even(n - 1); }
                                      extern "C" int read_shared() { return shared; })"));
  const auto code = load_all(objects);
  CHECK(function<int(int)>(*code, "even")(10) == 1);
  CHECK(function<int(int)>(*code, "odd")(10) == 0);
  CHECK(function<int()>(*code, "read_shared")() == 5);
}

TEST_CASE("Two strong definitions of one name are refused, weak ones are merged", "[loader]") {
  const Bytes strong = compile_source(R"(extern "C" int twice() { return 1; })");
  CHECK_THROWS_WITH(load_all({strong, strong}), Catch::Contains("'twice'"));
  const Bytes weak = compile_source(R"(extern "C" __attribute__((weak)) int twice() { return 2; })");
  const auto code = load_all({weak, strong, weak});
  CHECK(function<int()>(*code, "twice")() == 1);
}

TEST_CASE("Two programs with the same names do not see each other", "[loader]") {
  const auto one = load(compile_source(R"(extern "C" int f() { return 1; })"));
  const auto two = load(compile_source(R"(extern "C" int f() { return 2; })"));
  CHECK(function<int()>(*one, "f")() == 1);
  CHECK(function<int()>(*two, "f")() == 2);
  CHECK_THAT(load_failure(compile_source(R"(extern "C" int f(); extern "C" int g() { return f(); })")),
             Catch::Contains("'f'"));
}

TEST_CASE("Bytes that are no object are refused", "[loader]") {
  Bytes object = compile_source(R"(extern "C" int f() { return 1; })");
  CHECK(load_failure({}) != "nothing was thrown");
  CHECK(load_failure({1, 2, 3}) != "nothing was thrown");
  Bytes other_machine = object;
  other_machine[18] = 183;  // e_machine: AArch64
  CHECK(load_failure(other_machine) != "nothing was thrown");
  for (const std::size_t size : {std::size_t{16}, std::size_t{64}, object.size() / 2, object.size() - 1}) {
    INFO("cut to " << size << " of " << object.size());
    CHECK(load_failure(Bytes(object.begin(), object.begin() + static_cast<std::ptrdiff_t>(size))) !=
          "nothing was thrown");
  }
}

TEST_CASE("A thousand loads and unloads leave mappings and memory flat", "[loader]") {
  const Bytes object = compile_source(R"(
    static const double table[700] = {1, 2, 3};
    static double state[900];
    extern "C" double f(int i) { state[i] += table[i]; return state[i]; })");
  for (int i = 0; i < 20; ++i) load(object);
  const std::size_t maps = mappings();
  const std::size_t resident = resident_kib();
  const std::size_t used = CodeMemory::instance().stats().used_bytes;
  for (int i = 0; i < 1000; ++i) {
    const auto code = load(object);
    // Reused memory starts from zero.
    REQUIRE(function<double(int)>(*code, "f")(2) == 3);
  }
  CHECK(CodeMemory::instance().stats().used_bytes == used);
  CHECK(mappings() <= maps + 2);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps freed memory for a while
  CHECK(resident_kib() <= resident + 2048);
#else
  static_cast<void>(resident);
#endif

  std::vector<std::shared_ptr<const LoadedCode>> held;
  for (int i = 0; i < 1000; ++i) held.push_back(load(object));
  CHECK(mappings() <= maps + 8);  // the allocator's own growth
  CHECK(CodeMemory::instance().stats().regions == 1);
  for (const auto& code : held) REQUIRE(function<double(int)>(*code, "f")(0) == 1);
  held.clear();
  CHECK(CodeMemory::instance().stats().used_bytes == used);
}

TEST_CASE("Loading from many threads at once", "[loader]") {
  const Bytes object = compile_source(R"(extern "C" long f(long x) { return 3 * x + 1; })");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const auto code = load(object);
        if (reinterpret_cast<long (*)(long)>(code->find("f"))(i) != 3L * i + 1) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("Loading needs little stack", "[loader]") {
  const Bytes object =
      compile_source(R"(extern "C" double sin(double); extern "C" double f(double x) { return sin(x); })");
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 128 * 1024) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(
              &thread, &attributes,
              [](void* raw) -> void* {
                return const_cast<LoadedCode*>(load(*static_cast<const Bytes*>(raw)).get()) != nullptr ? raw : nullptr;
              },
              const_cast<Bytes*>(&object)) == 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  pthread_attr_destroy(&attributes);
  CHECK(result != nullptr);
}

TEST_CASE("Loading and calling leave MXCSR and the signal handlers as they were", "[loader]") {
  const auto handlers = [] {
    std::vector<void*> all;
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action{};
      if (sigaction(number, nullptr, &action) == 0) all.push_back(reinterpret_cast<void*>(action.sa_sigaction));
    }
    return all;
  };
  const auto before = handlers();
  const unsigned mode = _mm_getcsr() & ~0x3fU;
  const auto code = load(compile_source(R"(extern "C" double f(double x) { return x * 3; })"));
  CHECK(function<double(double)>(*code, "f")(2) == 6);
  CHECK(handlers() == before);
  CHECK((_mm_getcsr() & ~0x3fU) == mode);
}

TEST_CASE("Loading, calling and failing write nothing to stdout or stderr", "[loader]") {
  const Bytes good = compile_source(R"(extern "C" int f() { return 4; })");
  const Bytes bad = compile_source(R"(extern "C" int absent(); extern "C" int f() { return absent(); })");
  std::fflush(nullptr);
  std::FILE* capture = std::tmpfile();
  REQUIRE(capture != nullptr);
  const int out = dup(1);
  const int err = dup(2);
  dup2(fileno(capture), 1);
  dup2(fileno(capture), 2);
  const int value = reinterpret_cast<int (*)()>(load(good)->find("f"))();
  bool refused = false;
  try {
    load(bad);
  } catch (const Error&) {
    refused = true;
  }
  std::fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  std::fseek(capture, 0, SEEK_END);
  CHECK(std::ftell(capture) == 0);
  std::fclose(capture);
  CHECK(value == 4);
  CHECK(refused);
}

TEST_CASE("A small object loads in well under a millisecond", "[loader][.timing]") {
  const Bytes object =
      compile_source(R"(extern "C" double sin(double); extern "C" double f(double x) { return sin(x); })");
  using Clock = std::chrono::steady_clock;
  const auto cold = Clock::now();
  load(object);
  const auto first = Clock::now() - cold;
  const auto begin = Clock::now();
  for (int i = 0; i < 1000; ++i) load(object);
  const auto each = (Clock::now() - begin) / 1000;
  using Microseconds = std::chrono::duration<double, std::micro>;
  const double first_us = Microseconds(first).count();
  const double each_us = Microseconds(each).count();
  WARN("first " << first_us << " us, then " << each_us << " us");
  CHECK(each < std::chrono::milliseconds(1));
}

}  // namespace test_loader
