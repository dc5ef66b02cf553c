// Correct kernels on the emulated device: every word of the vocabulary, under every schedule.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <typeinfo>

#include "kernels.hpp"

namespace test_kernels {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr Schedule kSchedules[] = {Schedule::kForward, Schedule::kReverse, Schedule::kRandom};

Settings all_checks(Schedule schedule, std::uint64_t seed = 1) {
  Settings settings;
  settings.schedule = schedule;
  settings.seed = seed;
  settings.races = true;
  settings.uninitialised = true;
  return settings;
}

std::vector<float> iota(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

}  // namespace

TEST_CASE("a guarded kernel scales arrays of any extent") {
  for (const Schedule schedule : kSchedules) {
    Emulator& device = emulator(all_checks(schedule));
    Program p = make_program(device, {{"scale",
                                       {"float* A", "float a", "int n"},
                                       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "  if (i < n) A[i] = a * A[i];"}});
    for (const std::size_t n : {1u, 31u, 128u, 129u, 1009u}) {
      const Array<float> a(device, iota(n));
      launch(device, p.kernel(), shape((static_cast<std::int64_t>(n) + 127) / 128, 128), a.data(), 3.0f,
             static_cast<int>(n));
      CHECK(fault_of(device).empty());
      const std::vector<float> values = a.read();
      for (std::size_t i = 0; i < n; ++i) REQUIRE(values[i] == 3.0f * static_cast<float>(i + 1));
    }
  }
}

TEST_CASE("coordinates cover three dimensions of blocks and threads") {
  for (const Schedule schedule : kSchedules) {
    Emulator& device = emulator(all_checks(schedule, 7));
    Program p = make_program(device, {{"k",
                                       {"int* A"},
                                       "  const int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "  const int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                                       "  const int z = blockIdx.z * blockDim.z + threadIdx.z;\n"
                                       "  const int nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;\n"
                                       "  A[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;"}});
    Launch l;
    l.grid = {3, 2, 4};
    l.block = {5, 3, 2};
    const Array<int> a(device, 15 * 6 * 8);
    launch(device, p.kernel(), l, a.data());
    CHECK(fault_of(device).empty());
    const std::vector<int> values = a.read();
    for (int z = 0; z < 8; ++z)
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 15; ++x)
          REQUIRE(values[static_cast<std::size_t>((z * 6 + y) * 15 + x)] == x + 100 * y + 10000 * z);
  }
}

TEST_CASE("a block reduction by shared memory, warps and one atomic gives the sum") {
  const char* const body =
      "  SDFG_SHARED(int, parts, 32);\n"
      "  int sum = 0;\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += A[i];\n"
      "  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
      "  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;\n"
      "  __syncthreads();\n"
      "  if (threadIdx.x < 32) {\n"
      "    sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;\n"
      "    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);\n"
      "    if (threadIdx.x == 0) sdfg_atomic_add(S, sum);\n"
      "  }";
  for (const Schedule schedule : kSchedules) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      Emulator& device = emulator(all_checks(schedule, seed));
      Program p = make_program(device, {{"sum", {"const int* A", "int* S", "int n"}, body}});
      const int n = 1009;
      std::vector<int> values(static_cast<std::size_t>(n));
      std::iota(values.begin(), values.end(), 1);
      const Array<int> a(device, values);
      const Array<int> s(device, std::vector<int>(1, 0));
      launch(device, p.kernel(), shape(3, 128), a.data(), s.data(), n);
      const std::string fault = fault_of(device);
      INFO(fault);
      CHECK(fault.empty());
      CHECK(s.read()[0] == n * (n + 1) / 2);
    }
  }
}

TEST_CASE("warp operations have CUDA's meaning") {
  for (const Schedule schedule : kSchedules) {
    Emulator& device = emulator(all_checks(schedule));
    Program p = make_program(
        device, {{"k",
                  {"double* A", "int* B"},
                  "  const int t = threadIdx.x;\n  const unsigned all = 0xffffffffu;\n"
                  "  A[t] = __shfl_sync(all, t * 1.5, 5);\n"
                  "  A[32 + t] = __shfl_up_sync(all, double(t), 3);\n"
                  "  A[64 + t] = __shfl_down_sync(all, double(t), 3, 8);\n"
                  "  A[96 + t] = __shfl_xor_sync(all, double(t), 7);\n"
                  "  A[128 + t] = __shfl_sync(all, double(t), 2, 8);\n"
                  "  B[t] = int(__ballot_sync(all, t % 3 == 0));\n"
                  "  B[32 + t] = __any_sync(all, t == 31);\n  B[64 + t] = __any_sync(all, t == 32);\n"
                  "  B[96 + t] = __all_sync(all, t < 32);\n  B[128 + t] = __all_sync(all, t < 31);\n  __syncwarp();"}});
    const Array<double> a(device, 160);
    const Array<int> b(device, 160);
    launch(device, p.kernel(), shape(1, 32), a.data(), b.data());
    CHECK(fault_of(device).empty());
    const auto va = a.read();
    const auto vb = b.read();
    std::uint32_t thirds = 0;
    for (int t = 0; t < 32; t += 3) thirds |= 1u << t;
    for (int t = 0; t < 32; ++t) {
      const auto at = [&](int row) { return static_cast<std::size_t>(32 * row + t); };
      REQUIRE(va[at(0)] == 7.5);
      REQUIRE(va[at(1)] == (t >= 3 ? t - 3 : t));
      REQUIRE(va[at(2)] == (t % 8 + 3 < 8 ? t + 3 : t));
      REQUIRE(va[at(3)] == (t ^ 7));
      REQUIRE(va[at(4)] == t / 8 * 8 + 2);
      REQUIRE(vb[at(0)] == static_cast<int>(thirds));
      REQUIRE(vb[at(1)] == 1);
      REQUIRE(vb[at(2)] == 0);
      REQUIRE(vb[at(3)] == 1);
      REQUIRE(vb[at(4)] == 0);
    }
  }
}

TEST_CASE("lanes beyond the block and lanes that have left are not waited for") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k",
                                     {"int* A"},
                                     "  if (threadIdx.x == 6) return;\n"
                                     "  A[threadIdx.x] = int(__ballot_sync(0xffffffffu, 1));"}});
  const Array<int> a(device, std::vector<int>(7, -1));
  launch(device, p.kernel(), shape(1, 7), a.data());
  CHECK(fault_of(device).empty());
  CHECK(a.read() == std::vector<int>{63, 63, 63, 63, 63, 63, -1});
}

TEMPLATE_TEST_CASE("atomics work for every type of number", "", bool, std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double) {
  static const std::map<std::string, std::string> kNames = {{typeid(bool).name(), "bool"},
                                                            {typeid(std::int8_t).name(), "int8_t"},
                                                            {typeid(std::uint8_t).name(), "uint8_t"},
                                                            {typeid(std::int16_t).name(), "int16_t"},
                                                            {typeid(std::uint16_t).name(), "uint16_t"},
                                                            {typeid(std::int32_t).name(), "int32_t"},
                                                            {typeid(std::uint32_t).name(), "uint32_t"},
                                                            {typeid(std::int64_t).name(), "int64_t"},
                                                            {typeid(std::uint64_t).name(), "uint64_t"},
                                                            {typeid(float).name(), "float"},
                                                            {typeid(double).name(), "double"}};
  const std::string type = kNames.at(typeid(TestType).name());
  const bool floating = std::is_floating_point_v<TestType>;
  Emulator& device = emulator(all_checks(Schedule::kRandom, 3));
  std::string body = "  const " + type + " one = 1, v = (" + type +
                     ")(threadIdx.x + 1);\n  sdfg_atomic_add(A, one);\n"
                     "  sdfg_atomic_multiply(A + 1, (" +
                     type +
                     ")(threadIdx.x == 2 ? 3 : 1));\n"
                     "  sdfg_atomic_min(A + 2, v);\n  sdfg_atomic_max(A + 3, v);\n"
                     "  sdfg_atomic_logical_and(A + 4, v);\n  sdfg_atomic_logical_or(A + 5, v);\n"
                     "  sdfg_atomic_logical_xor(A + 6, one);\n  sdfg_atomic_exchange(A + 7, one);\n"
                     "  sdfg_atomic_update(A + 8, [&](" +
                     type + " old) { return (" + type + ")(old + one); });\n";
  if (!floating) {
    body += "  sdfg_atomic_and(A + 9, (" + type + ")6);\n  sdfg_atomic_or(A + 10, (" + type +
            ")5);\n"
            "  sdfg_atomic_xor(A + 11, one);\n";
  }
  Program p = make_program(device, {{"k", {type + "* A"}, body}});
  const std::vector<int> start = {0, 2, 50, 0, 1, 0, 0, 7, 4, 3, 2, 9};
  std::size_t bytes = sizeof(TestType) * start.size();
  std::vector<unsigned char> raw(bytes);
  const auto value = [](int v) { return static_cast<TestType>(v); };
  for (std::size_t i = 0; i < start.size(); ++i) {
    const TestType v = value(start[i]);
    std::memcpy(&raw[i * sizeof v], &v, sizeof v);
  }
  const Array<unsigned char> a(device, raw);
  launch(device, p.kernel(), shape(1, 5), a.data());
  CHECK(fault_of(device).empty());
  const auto after = a.read();
  const auto got = [&](std::size_t i) {
    TestType v;
    std::memcpy(&v, &after[i * sizeof v], sizeof v);
    return v;
  };
  const bool truth = std::is_same_v<TestType, bool>;
  CHECK(got(0) == value(truth ? 1 : 5));
  CHECK(got(1) == value(truth ? 1 : 6));
  CHECK(got(2) == value(1));
  CHECK(got(3) == value(truth ? 1 : 5));
  CHECK(got(4) == value(1));
  CHECK(got(5) == value(1));
  CHECK(got(6) == value(1));
  CHECK(got(7) == value(1));
  CHECK(got(8) == value(truth ? 1 : 9));
  if (!floating && !truth) {
    CHECK(got(9) == value(2));
    CHECK(got(10) == value(7));
    CHECK(got(11) == value(8));
  }
}

TEST_CASE("half precision and complex numbers accumulate atomically") {
  Emulator& device = emulator(all_checks(Schedule::kReverse));
  Program p = make_program(
      device,
      {{"k",
        {"sdfg_float16* H", "sdfg_bfloat16* B", "sdfg_complex64* C", "sdfg_complex128* D"},
        "  sdfg_atomic_add(H, sdfg_float16(0.5f));\n  sdfg_atomic_max(H + 1, sdfg_float16(float(threadIdx.x)));\n"
        "  sdfg_atomic_add(B, sdfg_bfloat16(2.0f));\n"
        "  sdfg_atomic_add(C, sdfg_complex64(1.0f, 2.0f));\n"
        "  sdfg_atomic_multiply(D, sdfg_complex128(0.0, 1.0));"}});
  const Array<std::uint16_t> h(device, std::vector<std::uint16_t>(2, 0));
  const Array<std::uint16_t> b(device, std::vector<std::uint16_t>(1, 0));
  const Array<float> c(device, std::vector<float>(2, 0.0f));
  const Array<double> d(device, std::vector<double>{1.0, 0.0});
  launch(device, p.kernel(), shape(1, 6), h.data(), b.data(), c.data(), d.data());
  CHECK(fault_of(device).empty());
  CHECK(h.read() == std::vector<std::uint16_t>{0x4200, 0x4500});  // 3, 5
  CHECK(b.read()[0] == 0x4140);                                   // 12
  CHECK(c.read() == std::vector<float>{6.0f, 12.0f});
  CHECK(d.read() == std::vector<double>{-1.0, 0.0});
}

TEST_CASE("asynchronous copies to shared memory arrive with the wait, not before") {
  const auto body = [](const char* wait) {
    return std::string(
               "  SDFG_SHARED(float, tile, 128);\n"
               "  sdfg_copy_async<16>(tile + 4 * threadIdx.x, A + 4 * threadIdx.x);\n"
               "  sdfg_copy_async_commit();\n") +
           wait + "  __syncthreads();\n  B[threadIdx.x] = tile[127 - threadIdx.x];";
  };
  Emulator& device = emulator(all_checks(Schedule::kForward));
  const Array<float> a(device, iota(128));
  const Array<float> b(device, 32);
  Program good = make_program(device, {{"k", {"const float* A", "float* B"}, body("  sdfg_copy_async_wait<0>();\n")}});
  launch(device, good.kernel(), shape(1, 32), a.data(), b.data());
  CHECK(fault_of(device).empty());
  CHECK(b.read()[0] == 128.0f);
  Program bad = make_program(device, {{"k", {"const float* A", "float* B"}, body("  sdfg_copy_async_wait<1>();\n")}});
  launch(device, bad.kernel(), shape(1, 32), a.data(), b.data());
  CHECK(has(fault_of(device), "that nothing has written"));
}

TEST_CASE("constants, device functions, register arrays and read-only loads") {
  Emulator& device = emulator(all_checks(Schedule::kReverse));
  Program p = make_program(
      device,
      {{"k",
        {"const double* A", "double* B"},
        "  double local[5];\n  for (int i = 0; i < 5; ++i) local[i] = table[i] * "
        "sdfg_load_readonly(A + i);\n"
        "  B[threadIdx.x] = pick(local, threadIdx.x) + sdfg_sqrt(pick(fours, threadIdx.x));"}},
      "static __constant__ const double table[5] = {1, 2, 3, 4, 5};\n__constant__ double fours[5] = {4, 4, 4, 4, "
      "4};\n"
      "__device__ __noinline__ double pick(const double* from, int i) { return from[4 - i]; }\n");
  const Array<double> a(device, std::vector<double>{1, 1, 1, 1, 10});
  const Array<double> b(device, 5);
  launch(device, p.kernel(), shape(1, 5), a.data(), b.data());
  const std::string fault = fault_of(device);
  INFO(fault);
  CHECK(fault.empty());
  CHECK(b.read() == std::vector<double>{52, 6, 5, 4, 3});
}

TEST_CASE("a cooperative launch meets at the grid barrier, within what is resident") {
  const char* const body =
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;\n"
      "  for (int k = 0; k < 3; ++k) {\n    B[i] = A[(i + 1) % n] + A[i];\n    SDFG_GRID_BARRIER();\n"
      "    A[i] = B[i];\n    SDFG_GRID_BARRIER();\n  }";
  for (const Schedule schedule : kSchedules) {
    Emulator& device = emulator(all_checks(schedule, 5));
    Program p = make_program(device, {{"k", {"int* A", "int* B"}, body}});
    const Array<int> a(device, std::vector<int>(4 * 33, 1));
    const Array<int> b(device, 4 * 33);
    Launch l = shape(4, 33);
    l.cooperative = true;
    launch(device, p.kernel(), l, a.data(), b.data());
    const std::string fault = fault_of(device);
    INFO(fault);
    CHECK(fault.empty());
    CHECK(a.read() == std::vector<int>(4 * 33, 8));
    l.cooperative = false;
    launch(device, p.kernel(), l, a.data(), b.data());
    CHECK(has(fault_of(device), "its launch is not cooperative"));
    l.cooperative = true;
    l.grid = {1000, 1, 1};
    CHECK_THROWS_WITH(launch(device, p.kernel(), l, a.data(), b.data()), Catch::Contains("fit on the device at once"));
  }
}

TEST_CASE("fills and strided copies reach what they name and nothing else") {
  Emulator& device = emulator();
  Stream& stream = device.default_stream();
  const Array<float> a(device, std::vector<float>(4 * 7, 0.0f));
  Fill fill;
  fill.memory = a.data() + 1;
  const float value = 2.5f;
  std::memcpy(fill.value.data(), &value, 4);
  fill.width = 4;
  fill.count = {3, 2};
  fill.pitch = 7 * 4;
  CHECK_FALSE(fill.uniform());
  device.fill(stream, fill);
  std::vector<float> expected(28, 0.0f);
  for (const std::size_t i : {1u, 2u, 8u, 9u, 15u, 16u}) expected[i] = 2.5f;
  CHECK(a.read() == expected);
  // Two planes of two rows out of it, backwards.
  std::vector<float> out(12, -1.0f);
  Copy copy;
  copy.to = out.data() + 8;
  copy.from = a.data() + 1;
  copy.from_space = Space::kDevice;
  copy.bytes = 8;
  copy.count = {2, 2};
  copy.to_stride = {-16, -8};
  copy.from_stride = {56, 28};
  device.copy(stream, copy);
  device.synchronise(stream);
  CHECK(out == std::vector<float>{-1, -1, 0, 0, 2.5f, 2.5f, 2.5f, 2.5f, 2.5f, 2.5f, -1, -1});
  const emulated::Ledger ledger = device.ledger();
  CHECK(ledger.total.fills.count == 1);
  CHECK(ledger.total.fills.bytes == 24);
  CHECK(ledger.total.to_host.count == 2);
}

TEST_CASE("a small graph costs little and accesses are checked quickly", "[speed]") {
  Emulator& device = emulator();
  Program p = make_program(
      device,
      {{"k", {"float* A", "int n"}, "  for (int i = threadIdx.x; i < n; i += blockDim.x) A[i] = A[i] * 0.5f + 1.0f;"}});
  const Array<float> a(device, iota(1 << 16));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) launch(device, p.kernel(), shape(1, 128), a.data(), 1 << 16);
  CHECK(fault_of(device).empty());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  WARN("checked accesses per second: " << 40.0 * 2 * (1 << 16) / spent.count() / 1e6 << " million");
  const auto fixed = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    launch(device, p.kernel(), shape(1, 32), a.data(), 32);
    device.synchronise(device.default_stream());
  }
  const std::chrono::duration<double> each = std::chrono::steady_clock::now() - fixed;
  WARN("microseconds per launch and wait: " << each.count() * 1e3);
}

}  // namespace test_kernels
