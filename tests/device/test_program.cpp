// Programs with a device half on the emulated device: generated-like host code through the runtime ABI.
#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <sdfg/device.hpp>
#include <thread>

#include "kernels.hpp"
#include "lower/abi.hpp"
#include "runtime/device_program.hpp"
#include "runtime/program.hpp"

namespace test_program {

using namespace sdfg;
using namespace sdfg::test;

namespace {

// Ordinals: 0 container 'A' (host), 1 container 'tmp' (device), 2 the kernel's map, 3 a host tasklet.
std::vector<Error::Place> elements() {
  return {{"container 'A'", {"user.cpp", 1, 1}},
          {"container 'tmp'", {"user.cpp", 2, 1}},
          {"map 'i'", {"user.cpp", 3, 1}},
          {"tasklet 'host'", {"user.cpp", 4, 1}}};
}

const char* const kKernel =
    "extern \"C\" __global__ void twice(float* __restrict__ tmp, long n) {\n"
    "  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) tmp[i] = 2.0f * tmp[i];\n"
    "}\n"
    "extern \"C\" void twice_run(void* const* a) { twice(*(float**)a[0], *(long*)a[1]); }\n";

// `body` sees `call`, `A` and `n`.
std::string host_text(const std::string& body) {
  return lower::abi_prelude() + "static void body(sdfg_call* call, float* A, long n) {\n" + body +
         "\n}\n"
         "extern \"C\" int sdfg_packed(void* const* args) {\n"
         "  sdfg_call call = {};\n"
         "  call.program = sdfg_program;\n"
         "  body(&call, *(float* const*)args[0], *(const long*)args[1]);\n"
         "  if (call.arena || call.status || call.flags) { const int status = call.status; sdfg_abi->finish(&call); "
         "return status ? status : call.status; }\n"
         "  return 0;\n"
         "}\n";
}

const char* const kCopyIn =
    "  sdfg_copy in = {tmp, A, 2, 0, n * 4, {1, 1}, {0, 0}, {0, 0}};\n  sdfg_abi->device_copy(call, 0, &in, 0);\n";
const char* const kLaunch =
    "  sdfg_launch l = {{(n + 127) / 128, 1, 1}, {128, 1, 1}, 0, 0};\n  void* a[] = {&tmp, &n};\n"
    "  sdfg_abi->device_launch(call, 0, 0, &l, a, 2);\n";
const char* const kCopyOut =
    "  sdfg_copy out = {A, tmp, 0, 2, n * 4, {1, 1}, {0, 0}, {0, 0}};\n  sdfg_abi->device_copy(call, 0, &out, 0);\n";
const char* const kAllocate =
    "  if (!sdfg_abi->device_begin(call)) return;\n  float* tmp = (float*)sdfg_abi->device_allocate(call, 0, n * 4, "
    "1);\n";
const char* const kRelease = "  sdfg_abi->device_release(call, 0, tmp);\n";

std::shared_ptr<runtime::Program> load(const std::string& body, int streams = 0, const std::string& kernels = kKernel,
                                       bool synchronise = false, bool checks = false) {
  const std::string host = host_text(body);
  const std::string text = codegen::emulated_prelude() + kernels;
  const auto object = compiler::compile_host(checked_request(host, compiler::MemoryChecks::kHost));
  const auto code = compiler::compile_host(checked_request(text, compiler::MemoryChecks::kKernel));
  REQUIRE(object.ok);
  REQUIRE(code.ok);
  runtime::DevicePart part;
  part.device = open({DeviceChoice::Kind::kEmulated, 0});
  lower::Kernel kernel;
  kernel.name = "twice";
  kernel.ordinal = 2;
  kernel.parameters = {{"tmp", 8, true, false, true, 1}, {"n", 8, false, false, false, -1}};
  part.kernels = {kernel};
  part.code = code.payload;
  part.streams = streams;
  part.synchronise = synchronise;
  part.check_races = part.check_uninitialised = checks;
  // Every line of the kernels is the tasklet's, too.
  part.origin_of_line.assign(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), 3);
  // Every line of the host text is the tasklet's.
  part.host_origin_of_line.assign(static_cast<std::size_t>(std::count(host.begin(), host.end(), '\n')), 3);
  runtime::ProgramInfo info;
  info.name = "graph";
  info.elements = elements();
  return runtime::Program::load(object.payload, info, std::move(part));
}

struct Outcome {
  int status = 0;
  std::string error;
  std::vector<float> values;
};

Outcome call(runtime::Program& program, std::int64_t n) {
  Outcome outcome;
  outcome.values.resize(static_cast<std::size_t>(n));
  std::iota(outcome.values.begin(), outcome.values.end(), 1.0f);
  float* data = outcome.values.data();
  void* arguments[] = {&data, &n};
  runtime::clear_last_error();
  outcome.status = program.packed_entry()(arguments);
  if (const Error* error = runtime::last_error()) outcome.error = error->what();
  return outcome;
}

void check_twice(const Outcome& outcome) {
  CHECK(outcome.status == 0);
  CHECK(outcome.error.empty());
  for (std::size_t i = 0; i < outcome.values.size(); ++i)
    REQUIRE(outcome.values[i] == 2.0f * static_cast<float>(i + 1));
}

}  // namespace

TEST_CASE("a program copies, launches and copies back under every schedule and stream mode") {
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse, Schedule::kRandom}) {
    for (const int streams : {-1, 0, 2}) {
      Settings settings;
      settings.schedule = schedule;
      settings.races = settings.uninitialised = true;
      Emulator& device = emulator(settings);
      const auto program = load(std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut + kRelease, streams);
      for (const std::int64_t n : {0, 1, 127, 128, 129, 1009}) check_twice(call(*program, n));
      const emulated::Ledger ledger = device.ledger();
      CHECK(ledger.total.launches == 5);  // an empty grid launches nothing
      CHECK(ledger.total.to_device.count == 5);
      CHECK(ledger.total.to_host.bytes == 4 * (1 + 127 + 128 + 129 + 1009));
      CHECK(ledger.by_ordinal.at(2).launches == 5);
      CHECK(ledger.live_allocations == 0);
    }
  }
}

TEST_CASE("a call that fails gives back its memory and the next one works") {
  Emulator& device = emulator();
  const auto program = load(std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut + kRelease);
  check_twice(call(*program, 100));
  for (int n = 1; n < 12; ++n) {
    Settings settings;
    settings.fail_at = n;
    device.set_settings(settings);
    const Outcome outcome = call(*program, 100);
    device.set_settings({});
    if (outcome.status == 0) break;
    CHECK(has(outcome.error, "as the emulator's settings ask"));
    CHECK(device.ledger().live_allocations == 0);
    check_twice(call(*program, 100));
    REQUIRE(n < 10);
  }
}

TEST_CASE("a missing copy is found in the kernel, with kernel, container and line") {
  Settings settings;
  settings.uninitialised = true;
  emulator(settings);
  const auto program = load(std::string(kAllocate) + kLaunch + kCopyOut + kRelease);
  const Outcome outcome = call(*program, 10);
  CHECK(outcome.status != 0);
  CHECK(has(outcome.error, "kernel 'twice' reads"));
  CHECK(has(outcome.error, "that nothing has written"));
  CHECK(has(outcome.error, "container 'tmp'"));
  CHECK(has(outcome.error, "map 'i'"));
  CHECK(has(outcome.error, "user.cpp:3"));
}

TEST_CASE("a program may ask for checks of its own") {
  emulator();
  const std::string body = std::string(kAllocate) + kLaunch + kCopyOut + kRelease;
  CHECK(call(*load(body), 10).error.empty());
  CHECK(has(call(*load(body, 0, kKernel, false, true), 10).error, "that nothing has written"));
}

TEST_CASE("host code that touches device memory is reported, not killed") {
  emulator();
  for (const char* access : {"  A[0] = tmp[2];\n", "  tmp[3] = A[0];\n", "  __builtin_memcpy(A, tmp, n * 4);\n"}) {
    const auto program = load(std::string(kAllocate) + kCopyIn + access + kLaunch + kCopyOut + kRelease);
    const Outcome outcome = call(*program, 10);
    INFO(access << outcome.error);
    CHECK(outcome.status != 0);
    CHECK(has(outcome.error, "host code"));
    CHECK(has(outcome.error, "of device memory: container 'tmp'"));
    CHECK(has(outcome.error, "tasklet 'host'"));
  }
}

TEST_CASE("host code that reads what a copy still writes is reported; after a wait it is fine") {
  emulator();
  const std::string before = std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut;
  const auto wrong = load(before + "  A[1] = A[0] + 1.0f;\n" + kRelease);
  const Outcome outcome = call(*wrong, 10);
  CHECK(has(outcome.error, "memory that a copy from the device still writes"));
  CHECK(has(outcome.error, "tasklet 'host'"));
  const auto right = load(before + "  sdfg_abi->device_synchronise(call, 0, 3);\n  A[1] = A[0] + 1.0f;\n" + kRelease);
  const Outcome good = call(*right, 10);
  CHECK(good.error.empty());
  CHECK(good.values[1] == 3.0f);
}

TEST_CASE("pinned memory that a copy still reads must not be written") {
  emulator();
  const std::string begin = std::string(kAllocate) +
                            "  float* p = (float*)sdfg_abi->pinned_allocate(call, n * 4, 0);\n"
                            "  for (long i = 0; i < n; ++i) p[i] = A[i];\n"
                            "  sdfg_copy in = {tmp, p, 2, 1, n * 4, {1, 1}, {0, 0}, {0, 0}};\n"
                            "  sdfg_abi->device_copy(call, 0, &in, 0);\n";
  const std::string end = std::string(kLaunch) + kCopyOut + kRelease +
                          "  sdfg_abi->device_synchronise(call, 0, 3);\n  sdfg_abi->pinned_release(call, p);\n";
  check_twice(call(*load(begin + end), 33));
  CHECK(has(call(*load(begin + "  p[3] = 0.0f;\n" + end), 33).error, "memory that a copy to the device still reads"));
  // Left behind: the call itself waits and gives it back.
  check_twice(call(*load(begin + kLaunch + kCopyOut + kRelease), 33));
  CHECK(emulator().ledger().live_pinned == 0);
}

TEST_CASE("streams of the plan are ordered by events, and their results are there when the call returns") {
  const std::string two =
      std::string(kAllocate) + kCopyIn +
      "  sdfg_abi->device_record(call, 0, 0);\n  sdfg_abi->device_wait(call, 3, 0);\n"
      "  sdfg_launch l = {{(n + 127) / 128, 1, 1}, {128, 1, 1}, 0, 0};\n  void* a[] = {&tmp, &n};\n"
      "  sdfg_abi->device_launch(call, 3, 0, &l, a, 2);\n"
      "  sdfg_copy out = {A, tmp, 0, 2, n * 4, {1, 1}, {0, 0}, {0, 0}};\n  sdfg_abi->device_copy(call, 3, &out, 0);\n"
      "  sdfg_abi->device_release(call, 3, tmp);\n";
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse, Schedule::kRandom}) {
    for (const int streams : {-1, 0, 1, 2}) {
      Settings settings;
      settings.schedule = schedule;
      emulator(settings);
      const auto program = load(two, streams);
      for (int i = 0; i < 3; ++i) check_twice(call(*program, 300));
    }
  }
}

TEST_CASE("the base stream is the application's where it says so") {
  Emulator& device = emulator();
  const auto program = load(std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut + kRelease);
  const auto stream = device.make_stream();
  {
    const UseStream use(stream->native());
    check_twice(call(*program, 50));
  }
  program->device()->set_stream(stream->native());
  check_twice(call(*program, 50));
  program->device()->set_stream(nullptr);
  int foreign = 0;
  const UseStream wrong(&foreign);
  CHECK(has(call(*program, 50).error, "no stream of the emulated device"));
}

TEST_CASE("persistent device memory keeps its values between calls, until another size or a reset") {
  emulator();
  const auto program = load(
      "  if (!sdfg_abi->device_begin(call)) return;\n"
      "  float* tmp = (float*)sdfg_abi->device_persistent(call, 1, n * 4, 1);\n" +
      std::string(kLaunch) +
      "  sdfg_copy out = {A, tmp, 0, 2, n * 4, {1, 1}, {0, 0}, {0, 0}};\n  sdfg_abi->device_copy(call, 0, &out, 0);\n"
      "  sdfg_abi->device_synchronise(call, 0, 3);\n"
      "  sdfg_copy in = {tmp, A, 2, 0, n * 4, {1, 1}, {0, 0}, {0, 0}};\n"
      "  A[0] = A[0] + 1.0f;\n  sdfg_abi->device_copy(call, 0, &in, 0);\n");
  CHECK(call(*program, 4).values[0] == 1.0f);
  CHECK(call(*program, 4).values[0] == 3.0f);
  CHECK(call(*program, 4).values[0] == 7.0f);
  CHECK(call(*program, 5).values[0] == 1.0f);
  program->reset_persistent();
  CHECK(call(*program, 5).values[0] == 1.0f);
}

TEST_CASE("device buffers of the application go in as arguments") {
  const DeviceChoice choice{DeviceChoice::Kind::kEmulated, 0};
  REQUIRE(device_available(choice));
  Emulator& device = emulator();
  {
    const auto program = load("  float* tmp = A;\n" + std::string(kLaunch));
    std::vector<float> values(77);
    std::iota(values.begin(), values.end(), 1.0f);
    DeviceArray<float> array(choice, values);
    float* address = array.data();
    std::int64_t n = 77;
    void* arguments[] = {&address, &n};
    CHECK(program->packed_entry()(arguments) == 0);
    CHECK(program->packed_entry()(arguments) == 0);
    const std::vector<float> after = array.download();
    for (std::size_t i = 0; i < after.size(); ++i) REQUIRE(after[i] == 4.0f * static_cast<float>(i + 1));
    DeviceBuffer buffer(choice, 16);
    CHECK_THROWS_AS(buffer.upload(values.data(), 8, 9), Error);
    DeviceBuffer moved = std::move(buffer);
    CHECK(moved.size() == 16);
    CHECK(buffer.data() == nullptr);
  }
  device.synchronise(device.default_stream());
  CHECK(device.ledger().live_allocations == 0);
}

TEST_CASE("a program without a device says so") {
  const auto object = compiler::compile_host(
      checked_request(host_text(std::string(kAllocate) + kRelease), compiler::MemoryChecks::kHost));
  REQUIRE(object.ok);
  runtime::ProgramInfo info;
  info.name = "graph";
  info.elements = elements();
  const auto program = runtime::Program::load(object.payload, info);
  CHECK(has(call(*program, 3).error, "loaded without a device"));
}

TEST_CASE("a fault names the element of its line, and SDFG_GPU_SYNC tells it at the launch") {
  emulator();
  const std::string kernels =
      "extern \"C\" __global__ void twice(float* __restrict__ tmp, long n) {\n"
      "  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i <= n) tmp[i] = 2.0f;\n"
      "}\n"
      "extern \"C\" void twice_run(void* const* a) { twice(*(float**)a[0], *(long*)a[1]); }\n";
  for (const bool synchronise : {false, true}) {
    const auto program = load(std::string(kAllocate) + kLaunch + "  A[0] = call->status ? 5.0f : 6.0f;\n" + kRelease, 0,
                              kernels, synchronise);
    const Outcome outcome = call(*program, 20);
    INFO(outcome.error);
    CHECK(has(outcome.error, "kernel 'twice' writes 4 bytes outside of container 'tmp' (80 bytes)"));
    CHECK(has(outcome.error, "tasklet 'host'"));
    CHECK(outcome.values[0] == (synchronise ? 5.0f : 6.0f));
  }
}

TEST_CASE("threads call programs of the emulated device at the same time") {
  emulator();
  const auto program = load(std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut + kRelease);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Outcome outcome = call(*program, 100 + t);
        good += outcome.status == 0 &&
                        outcome.values[static_cast<std::size_t>(99 + t)] == 2.0f * static_cast<float>(100 + t)
                    ? 1
                    : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 80);
}

TEST_CASE("waits that a call needs are counted, and no others") {
  Emulator& device = emulator();
  const auto copies = load(std::string(kAllocate) + kCopyIn + kLaunch + kCopyOut + kRelease);
  const auto resident = load("  float* tmp = A;\n" + std::string(kLaunch));
  call(*copies, 10);
  CHECK(device.ledger().total.synchronises == 1);
  const DeviceArray<float> array({DeviceChoice::Kind::kEmulated, 0}, std::vector<float>(10, 1.0f));
  device.reset_ledger();
  float* address = array.data();
  std::int64_t n = 10;
  void* arguments[] = {&address, &n};
  CHECK(resident->packed_entry()(arguments) == 0);
  CHECK(device.ledger().total.synchronises == 0);
  CHECK(device.ledger().total.launches == 1);
}

}  // namespace test_program
