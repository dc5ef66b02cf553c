// Planted faults: each is caught by the emulated device and named.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <functional>

#include "kernels.hpp"

namespace test_faults {

using namespace sdfg;
using namespace sdfg::test;

namespace {

Settings checking() {
  Settings settings;
  settings.races = true;
  settings.uninitialised = true;
  return settings;
}

const char* const kIndex = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string line_text(std::uint32_t line) {
  return "line " + std::to_string(line);
}

}  // namespace

TEST_CASE("a wrong guard is an access outside of the container") {
  Emulator& device = emulator();
  Program p =
      make_program(device, {{"scale", {"float* A", "int n"}, std::string(kIndex) + "  if (i <= n)\n    A[i] = 1.0f;"}});
  const Array<float> a(device, 100, 0, p.names);
  launch(device, p.kernel(), shape(1, 128), a.data(), 100);
  const std::string fault = fault_of(device);
  INFO(fault);
  CHECK(has(fault, "kernel 'scale' writes 4 bytes outside of container 'A' (400 bytes), at byte 400 (element 100"));
  CHECK(has(fault, "thread (100, 0, 0) of block (0, 0, 0)"));
  CHECK(has(fault, line_text(p.line("A[i] = 1.0f"))));
  CHECK(has(fault, "map 'first'"));
  CHECK(has(fault, "user.cpp:10"));
  // The next launch is as good as any.
  launch(device, p.kernel(), shape(1, 128), a.data(), 99);
  CHECK(fault_of(device).empty());
}

TEST_CASE("an access before the begin and one far off are told apart") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"double* A", "long at"}, "  A[at] = 1.0;"}});
  const Array<double> a(device, 7, 0, p.names);
  launch(device, p.kernel(), shape(1, 1), a.data(), std::int64_t{-1});
  CHECK(has(fault_of(device), "writes 8 bytes before the begin of container 'A' (56 bytes), at byte -8 (element -1"));
  launch(device, p.kernel(), shape(1, 1), a.data(), std::int64_t{1} << 27);
  CHECK(has(fault_of(device), "belongs to no allocation"));
}

TEST_CASE("kernels reach no host memory and nothing through null") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"long A"}, "  *(float*)A = 1.0f;"}});
  float host = 0;
  launch(device, p.kernel(), shape(1, 1), reinterpret_cast<std::int64_t>(&host));
  CHECK(has(fault_of(device), "of host memory"));
  CHECK(host == 0);
  launch(device, p.kernel(), shape(1, 1), std::int64_t{0});
  CHECK(has(fault_of(device), "through a null pointer"));
  Program q = make_program(device, {{"k", {"float* A"}, "  *A = 1.0f;"}});
  CHECK(has(error_of([&] { launch(device, q.kernel(), shape(1, 1), &host); }), "gets argument 0 in host memory"));
}

TEST_CASE("released memory is no longer the kernel's") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"float* A"}, "  A[0] = 1.0f;"}});
  float* gone = nullptr;
  {
    const Array<float> a(device, 4, 0, p.names);
    gone = a.data();
  }
  CHECK(has(error_of([&] { launch(device, p.kernel(), shape(1, 1), gone); }), "which has been released"));
  // Behind the argument check's back, by an address in another argument.
  Program q = make_program(device, {{"k", {"long A"}, "  *(float*)A = 1.0f;"}});
  launch(device, q.kernel(), shape(1, 1), reinterpret_cast<std::int64_t>(gone));
  const std::string fault = fault_of(device);
  CHECK(has(fault, "of container 'A' (16 bytes), which has been released"));
  device.release(device.default_stream(), gone);
  CHECK(has(fault_of(device), "container 'A' is released twice"));
}

TEST_CASE("memory that nothing wrote is poison, and reading it is reported on request") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"const float* A", "float* B"}, "  B[0] = A[1];"}});
  const Array<float> a(device, 3, 0, p.names);
  const Array<float> b(device, 1, 1, p.names);
  launch(device, p.kernel(), shape(1, 1), a.data(), b.data());
  CHECK(fault_of(device).empty());
  CHECK(std::isnan(b.read()[0]));
  device.set_settings(checking());
  launch(device, p.kernel(), shape(1, 1), a.data(), b.data());
  CHECK(has(fault_of(device),
            "reads 4 bytes of container 'A' (12 bytes) at byte 4 (element 1 of 4 bytes) that nothing has written"));
}

TEST_CASE("a missing barrier in shared memory is a race, with both lines") {
  Emulator& device = emulator(checking());
  const auto text = [](const char* barrier) {
    return std::string("  SDFG_SHARED(float, tile, 64);\n  tile[threadIdx.x] = threadIdx.x;\n") + barrier +
           "  A[threadIdx.x] = tile[63 - threadIdx.x];";
  };
  const Array<float> a(device, 64, 0);
  Program good = make_program(device, {{"k", {"float* A"}, text("  __syncthreads();\n")}});
  launch(device, good.kernel(), shape(1, 64), a.data());
  CHECK(fault_of(device).empty());
  CHECK(a.read()[0] == 63.0f);
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse, Schedule::kRandom}) {
    Settings settings;
    settings.schedule = schedule;
    settings.races = true;
    device.set_settings(settings);
    Program bad = make_program(device, {{"k", {"float* A"}, text("")}});
    launch(device, bad.kernel(), shape(1, 64), a.data());
    const std::string fault = fault_of(device);
    INFO(fault);
    CHECK(has(fault, "race in kernel 'k'"));
    CHECK(has(fault, line_text(bad.line("tile[threadIdx.x] = "))));
    CHECK(has(fault, line_text(bad.line("A[threadIdx.x] = "))));
  }
}

TEST_CASE("a tile that is loaded again before all have read it is a race") {
  Emulator& device = emulator(checking());
  const auto text = [](const char* barrier) {
    return std::string(
               "  SDFG_SHARED(float, tile, 32);\n  float sum = 0;\n  for (int k = 0; k < 3; ++k) {\n"
               "    tile[threadIdx.x] = k;\n    __syncthreads();\n    sum += tile[31 - threadIdx.x];\n") +
           barrier + "  }\n  A[threadIdx.x] = sum;";
  };
  const Array<float> a(device, 32, 0);
  Program good = make_program(device, {{"k", {"float* A"}, text("    __syncthreads();\n")}});
  launch(device, good.kernel(), shape(1, 32), a.data());
  CHECK(fault_of(device).empty());
  Program bad = make_program(device, {{"k", {"float* A"}, text("")}});
  launch(device, bad.kernel(), shape(1, 32), a.data());
  CHECK(has(fault_of(device), "race in kernel 'k'"));
}

TEST_CASE("blocks that meet without atomics race; atomics alone do not, mixed they do") {
  Emulator& device = emulator(checking());
  const Array<int> a(device, std::vector<int>(1, 0), 0);
  const auto fault = [&](const std::string& body) {
    Program p = make_program(device, {{"k", {"int* A"}, body}});
    launch(device, p.kernel(), shape(3, 32), a.data());
    return fault_of(device);
  };
  CHECK(fault("  sdfg_atomic_add(A, 1);").empty());
  CHECK(a.read()[0] == 96);
  CHECK(has(fault("  if (threadIdx.x == 0) A[0] = A[0] + 1;"), "different blocks may only meet in atomic operations"));
  CHECK(has(fault("  if (threadIdx.x == 0 && blockIdx.x == 1) A[0] = 0;\n  sdfg_atomic_add(A, 1);"),
            "race in kernel 'k'"));
  // Different launches are ordered, and so are neighbours of less than four bytes.
  const Array<char> b(device, std::vector<char>(64, 0), 0);
  Program p = make_program(device, {{"k", {"char* A"}, "  A[threadIdx.x] = A[threadIdx.x] + 1;"}});
  launch(device, p.kernel(), shape(1, 64), b.data());
  launch(device, p.kernel(), shape(1, 64), b.data());
  CHECK(fault_of(device).empty());
  CHECK(b.read()[63] == 2);
}

TEST_CASE("a divergent barrier names both sides") {
  Emulator& device = emulator();
  const Array<int> a(device, 64, 0);
  Program two = make_program(device, {{"k",
                                       {"int* A"},
                                       "  if (threadIdx.x < 16)\n    __syncthreads();  // one\n  else\n"
                                       "    __syncthreads();  // other\n  A[threadIdx.x] = 1;"}});
  launch(device, two.kernel(), shape(1, 64), a.data());
  std::string fault = fault_of(device);
  INFO(fault);
  CHECK(has(fault, "the barrier of kernel 'k' is divergent"));
  CHECK(has(fault, line_text(two.line("// one"))));
  CHECK(has(fault, line_text(two.line("// other"))));
  Program left =
      make_program(device, {{"k", {"int* A"}, "  if (threadIdx.x >= 20) return;\n  __syncthreads();\n  A[0] = 1;"}});
  launch(device, left.kernel(), shape(1, 64), a.data());
  fault = fault_of(device);
  CHECK(has(fault, "thread (20, 0, 0) has left the kernel"));
  CHECK(has(fault, line_text(left.line("__syncthreads();\n  A[0]"))));
}

TEST_CASE("a warp operation without all lanes of its mask is reported") {
  Emulator& device = emulator();
  const Array<int> a(device, 32, 0);
  Program p = make_program(device, {{"k",
                                     {"int* A"},
                                     "  int v = threadIdx.x;\n"
                                     "  if (threadIdx.x < 8) v = __shfl_down_sync(0xffffffffu, v, 1);  // some\n"
                                     "  __syncthreads();\n  A[threadIdx.x] = v;"}});
  launch(device, p.kernel(), shape(1, 32), a.data());
  const std::string fault = fault_of(device);
  INFO(fault);
  CHECK(has(fault, "can't complete"));
  CHECK(has(fault, "__shfl_down_sync"));
  CHECK(has(fault, line_text(p.line("// some"))));
  Program q = make_program(device, {{"k", {"int* A"}, "  A[threadIdx.x] = __any_sync(0xeu, 1);"}});
  launch(device, q.kernel(), shape(1, 4), a.data());
  CHECK(has(fault_of(device), "called by lane 0, which its mask does not name"));
}

TEST_CASE("shared memory has its exact size, static and dynamic") {
  Emulator& device = emulator();
  const Array<float> a(device, 64, 0);
  Program p = make_program(device, {{"k",
                                     {"float* A"},
                                     "  SDFG_SHARED(float, tile, 63);\n  tile[threadIdx.x] = 1.0f;\n"
                                     "  A[threadIdx.x] = tile[threadIdx.x];"}});
  launch(device, p.kernel(), shape(1, 64), a.data());
  CHECK(has(fault_of(device), "writes 4 bytes outside of shared memory (252 bytes), at byte 252"));
  Program q = make_program(device, {{"k",
                                     {"float* A"},
                                     "  SDFG_DYNAMIC_SHARED(float, tile);\n  tile[threadIdx.x] = 1.0f;\n"
                                     "  A[threadIdx.x] = tile[threadIdx.x];"}});
  launch(device, q.kernel(), shape(1, 64, 256), a.data());
  CHECK(fault_of(device).empty());
  launch(device, q.kernel(), shape(1, 64, 255), a.data());
  CHECK(has(fault_of(device), "outside of dynamic shared memory (255 bytes)"));
  CHECK(has(error_of([&] { launch(device, q.kernel(), shape(1, 64, 200000), a.data()); }),
            "bytes of shared memory per block"));
  Program r = make_program(device, {{"k",
                                     {"float* A"},
                                     "  SDFG_SHARED(float, tile, 30000);\n  tile[threadIdx.x] = 1.0f;\n"
                                     "  A[threadIdx.x] = tile[threadIdx.x];"}});
  launch(device, r.kernel(), shape(1, 64), a.data());
  CHECK(has(fault_of(device), "declares 120000 bytes of shared memory"));
}

TEST_CASE("a variable of the thread is not left by a computed index") {
  Emulator& device = emulator();
  const Array<int> a(device, 64, 0);
  Program p = make_program(device, {{"k",
                                     {"int* A", "int n"},
                                     "  int local[8];\n  for (int i = 0; i < n; ++i) local[(i * 5) % 16] = i;\n"
                                     "  A[0] = local[n & 7];"}});
  launch(device, p.kernel(), shape(1, 1), a.data(), 9);
  CHECK(has(fault_of(device), "outside of a variable of 32 bytes"));
}

TEST_CASE("constant arguments are not written, even by a cast") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"const float* A", "float* B"}, "  ((float*)A)[1] = 2.0f;\n  B[0] = 1.0f;"}});
  const Array<float> a(device, std::vector<float>(4, 1.0f), 0, p.names);
  const Array<float> b(device, 4, 1, p.names);
  launch(device, p.kernel(), shape(1, 1), a.data(), b.data());
  CHECK(has(fault_of(device), "writes 4 bytes of container 'A' (16 bytes), which it got as a constant argument"));
  // Also reached as a written argument, it may be.
  launch(device, p.kernel(), shape(1, 1), a.data(), a.data());
  CHECK(fault_of(device).empty());
}

TEST_CASE("two restrict arguments may not be the same memory if one is written") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"const float* __restrict__ A", "float* __restrict__ B"}, "  B[0] = A[1];"}});
  const Array<float> a(device, std::vector<float>(4, 1.0f), 0, p.names);
  CHECK(has(error_of([&] { launch(device, p.kernel(), shape(1, 1), a.data(), a.data()); }), "__restrict__"));
  Program q = make_program(
      device, {{"k", {"const float* __restrict__ A", "const float* __restrict__ B"}, "  if (A[0] > B[1]) return;"}});
  launch(device, q.kernel(), shape(1, 1), a.data(), a.data());
  CHECK(fault_of(device).empty());
}

TEST_CASE("an access that is not aligned as its type wants is reported") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"float* A"}, "  *(double*)(A + 1) = 1.0;"}});
  const Array<float> a(device, 4, 0, p.names);
  launch(device, p.kernel(), shape(1, 1), a.data());
  CHECK(has(fault_of(device), "at byte 4, which is not aligned to the 8 bytes"));
}

TEST_CASE("launches outside of the limits are refused by name and value") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k", {"float* A"}, "  A[0] = 1.0f;", 64, 0}});
  const Array<float> a(device, 4, 0);
  const auto refused = [&](std::array<std::int64_t, 3> grid, std::array<std::int64_t, 3> block) {
    Launch l;
    l.grid = grid;
    l.block = block;
    return error_of([&] { launch(device, p.kernel(), l, a.data()); });
  };
  CHECK(has(refused({1, 1, 1}, {32, 8, 8}), "2048 threads, more than 1024"));
  CHECK(has(refused({1, 1, 1}, {1, 1, 65}), "the extent in z has to be between 1 and 64"));
  CHECK(has(refused({1, 1, 1}, {0, 1, 1}), "the extent in x has to be between 1 and 1024"));
  CHECK(has(refused({1, 65536, 1}, {1, 1, 1}), "y may have at most 65535"));
  CHECK(has(refused({std::int64_t{1} << 31, 1, 1}, {1, 1, 1}), "x may have at most 2147483647"));
  CHECK(has(refused({1, 1, 1}, {65, 1, 1}), "compiled for at most 64"));
  CHECK(refused({0, 1, 1}, {64, 1, 1}).empty());
  CHECK(refused({1, -3, 1}, {64, 1, 1}).empty());
  KernelInfo big;
  big.name = "big";
  big.parameters.assign(5000, {8, false, false, false, -1});
  CHECK(has(error_of([&] { check_parameters(device.limits(), big, {}); }), "its parameters take 40000 bytes"));
  CHECK(device.ledger().total.launches == 0);
}

TEST_CASE("a loop without end is stopped by the step budget") {
  Settings settings;
  settings.step_budget = 100000;
  Emulator& device = emulator(settings);
  const Array<int> a(device, std::vector<int>(1, 0), 0);
  Program p = make_program(device, {{"k", {"volatile int* A"}, "  while (A[0] == 0) {\n  }"}});
  launch(device, p.kernel(), shape(1, 1), a.data());
  CHECK(has(fault_of(device), "seems to hang"));
}

TEST_CASE("copies keep to their direction, their regions and one another") {
  Emulator& device = emulator();
  auto names = std::make_shared<Names>();
  names->elements = {{"container 'A'", {}}, {"container 'B'", {}}};
  const Array<float> a(device, 10, 0, names);
  const Array<float> b(device, 10, 1, names);
  std::vector<float> host(10);
  Stream& stream = device.default_stream();
  const auto refused = [&](void* to, Space to_space, const void* from, Space from_space, std::int64_t bytes) {
    Copy copy;
    copy.to = to;
    copy.from = from;
    copy.to_space = to_space;
    copy.from_space = from_space;
    copy.bytes = bytes;
    return error_of([&] { device.copy(stream, copy, {names, 0}); });
  };
  CHECK(refused(a.data(), Space::kDevice, host.data(), Space::kHost, 40).empty());
  CHECK(has(refused(a.data(), Space::kHost, host.data(), Space::kHost, 40),
            "writes device memory (container 'A'), but its direction says host memory"));
  CHECK(has(refused(a.data(), Space::kDevice, host.data(), Space::kDevice, 40),
            "reads host memory, but its direction says device memory"));
  CHECK(has(refused(host.data(), Space::kPinned, a.data(), Space::kDevice, 40),
            "pinned memory that was not allocated as such"));
  CHECK(has(refused(a.data(), Space::kDevice, host.data(), Space::kHost, 41),
            "bytes 0 to 41 of container 'A', which has 40"));
  CHECK(has(refused(a.data() + 1, Space::kDevice, a.data(), Space::kDevice, 8), "reads what it writes"));
  CHECK(refused(b.data(), Space::kDevice, a.data(), Space::kDevice, 40).empty());
  CHECK(has(refused(nullptr, Space::kDevice, a.data(), Space::kDevice, 4), "null pointer"));
  CHECK(refused(nullptr, Space::kDevice, nullptr, Space::kDevice, 0).empty());
  Copy rows;
  rows.to = b.data();
  rows.from = a.data();
  rows.to_space = rows.from_space = Space::kDevice;
  rows.bytes = 8;
  rows.count = {1, 3};
  rows.to_stride = {0, 4};
  rows.from_stride = {0, 12};
  CHECK(has(error_of([&] { device.copy(stream, rows); }), "only 4 bytes apart"));
  rows.to_stride = {0, 16};
  CHECK(error_of([&] { device.copy(stream, rows); }).empty());
  rows.count = {1, 4};
  CHECK(has(error_of([&] { device.copy(stream, rows); }), "of container 'A', which has 40"));
}

TEST_CASE("an event that was never recorded is no order") {
  Emulator& device = emulator();
  const auto event = device.make_event();
  CHECK(has(error_of([&] { device.wait(device.default_stream(), *event); }), "never recorded"));
}

TEST_CASE("memory released by one stream while another still uses it is found") {
  Settings settings;
  settings.schedule = Schedule::kReverse;
  Emulator& device = emulator(settings);
  auto names = std::make_shared<Names>();
  names->elements = {{"container 'A'", {}}};
  const auto first = device.make_stream();
  const auto second = device.make_stream();
  void* memory = device.allocate(*first, 64, {names, 0});
  std::vector<char> host(64);
  Copy copy;
  copy.to = memory;
  copy.to_space = Space::kDevice;
  copy.from = host.data();
  copy.bytes = 64;
  device.copy(*second, copy);
  device.release(*first, memory);
  CHECK(error_of([&] { device.synchronise(*first); }).empty());
  CHECK(has(error_of([&] { device.synchronise(*second); }), "another stream has released before it ran"));
}

TEST_CASE("memory runs out with the numbers") {
  Settings settings;
  settings.memory_bytes = 1000;
  Emulator& device = emulator(settings);
  const Array<char> a(device, 600, 0);
  const std::string text = error_of([&] { device.allocate(device.default_stream(), 401); });
  CHECK(has(text, "no memory for 401 bytes; 600 of 1000 are in use"));
  CHECK(has(text, "resource error"));
}

TEST_CASE("many allocations and launches keep the process small") {
  Emulator& device = emulator();
  Program p = make_program(device, {{"k",
                                     {"float* A"},
                                     "  SDFG_SHARED(float, tile, 32);\n  tile[threadIdx.x] = 1.0f;\n"
                                     "  A[threadIdx.x] = tile[threadIdx.x];"}});
  const auto resident = [] {
    long pages = 0;
    long total = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    REQUIRE(fscanf(file, "%ld %ld", &total, &pages) == 2);
    fclose(file);
    return pages / 256;  // MiB
  };
  const auto rounds = [&](int n) {
    for (int i = 0; i < n; ++i) {
      const Array<float> a(device, 32 + static_cast<std::size_t>(i % 7) * 1000);
      launch(device, p.kernel(), shape(1, 32), a.data());
      if (i % 100 == 99) CHECK(fault_of(device).empty());
    }
    CHECK(fault_of(device).empty());
  };
  rounds(6000);
  const long before = resident();
  rounds(20000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep freed memory, and marks of it
  CHECK(resident() < before + 32);
#else
  static_cast<void>(before);
#endif
  // What was released a moment ago is still known.
  float* gone = nullptr;
  {
    const Array<float> a(device, 32, 0, p.names);
    gone = a.data();
  }
  rounds(100);
  CHECK(has(error_of([&] { launch(device, p.kernel(), shape(1, 1), gone); }), "which has been released"));
}

}  // namespace test_faults
