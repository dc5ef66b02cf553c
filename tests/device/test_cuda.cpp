// The CUDA back end over a stand-in for the driver: which calls it makes, and what it does when one fails.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "device/cuda/open.hpp"
#include "device/cuda/region.hpp"
#include "fake_driver.hpp"
#include "kernels.hpp"
#include "lower/abi.hpp"
#include "runtime/device_program.hpp"
#include "runtime/program.hpp"

namespace test_cuda {

using namespace sdfg;
using namespace sdfg::test;

namespace {

FakeDriver& fake() {
  static FakeDriver* const driver = [] {
    void* library = dlopen(SDFG_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    return reinterpret_cast<FakeDriver* (*)()>(dlsym(library, "sdfg_fake_driver"))();
  }();
  return *driver;
}

FakeDriver& fresh() {
  FakeDriver& driver = fake();
  driver.version = 12040;
  driver.devices = 2;
  driver.start_result = driver.fail_at = driver.lasting = 0;
  driver.fail_with = 2;
  driver.calls.clear();
  driver.launches.clear();
  driver.contexts.clear();
  return driver;
}

std::shared_ptr<Device> fake_device(int ordinal = 0) {
  return cuda::make_device(cuda::Driver::load(SDFG_FAKE_DRIVER), ordinal);
}

template <class F>
std::string error_of(F&& action, std::optional<ErrorClass> expected = {}) {
  try {
    action();
  } catch (const Error& error) {
    if (expected) CHECK(error.error_class() == *expected);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a driver that is missing, too old, without a device or broken is named") {
  FakeDriver& driver = fresh();
  CHECK(has(error_of([] { cuda::Driver::load("/nowhere/libcuda.so.1"); }, ErrorClass::kEnvironment),
            "no NVIDIA driver was found"));
  driver.version = 11080;
  CHECK(has(error_of([] { fake_device(); }, ErrorClass::kEnvironment),
            "supports CUDA 11.8, and at least 12.0 is needed"));
  driver.version = 13000;
  driver.start_result = 100;
  CHECK(has(error_of([] { fake_device(); }, ErrorClass::kEnvironment), "sees no GPU"));
  driver.start_result = 803;
  CHECK(has(error_of([] { fake_device(); }, ErrorClass::kEnvironment), "does not start"));
  driver.start_result = 0;
  driver.devices = 0;
  CHECK(has(error_of([] { fake_device(); }, ErrorClass::kEnvironment), "sees no GPU"));
  driver.devices = 2;
  CHECK(has(error_of([] { fake_device(2); }, ErrorClass::kEnvironment), "no CUDA device 2; the driver sees 2"));
  CHECK(error_of([] { fake_device(1); }).empty());
}

TEST_CASE("this machine's lack of a driver is an error, not a crash") {
  if (cuda_available()) return;
  CHECK_THROWS_AS(open({DeviceChoice::Kind::kCuda, 0}), Error);
  CHECK_THROWS_AS(open({DeviceChoice::Kind::kCuda, 0}), Error);
  CHECK_THROWS_AS(open({DeviceChoice::Kind::kCpu, 0}), Error);
}

TEST_CASE("a device tells what it can do") {
  fresh();
  const auto device = fake_device();
  CHECK(device->target().name == "Fake GPU");
  CHECK(device->target().architecture == "sm_90");
  CHECK(device->target().multiprocessors == 10);
  CHECK(device->target().memory_bytes_per_second == 2.0 * 1e9 * 512);
  CHECK(device->limits().shared == 232448);
  CHECK(device->limits().static_shared == 49152);
  CHECK(device->limits().parameter_bytes == 32764);
  CHECK(fake().contexts.empty());
}

TEST_CASE("opening a device that fails half way gives everything back") {
  for (int n = 1; n < 40; ++n) {
    FakeDriver& driver = fresh();
    driver.fail_at = n;
    const std::string text = error_of([] { fake_device(); });
    if (text.empty()) {
      REQUIRE(n > 10);
      return;
    }
    CHECK(has(text, "CUDA_ERROR_FAKE"));
    CHECK(driver.count("cuDevicePrimaryCtxRetain") >= driver.count("cuDevicePrimaryCtxRelease"));
    const bool retained =
        driver.count("cuDevicePrimaryCtxRetain") == 1 && driver.calls.back() != "cuDevicePrimaryCtxRetain";
    CHECK(driver.count("cuDevicePrimaryCtxRelease") == (retained ? 1 : 0));
    CHECK(driver.contexts.empty());
    CHECK(driver.streams.empty());
  }
}

TEST_CASE("the caller's context comes back, and is left alone when it is ours already") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  int other = 0;
  driver.contexts = {&other};
  driver.calls.clear();
  {
    const Device::Scope scope(*device);
    CHECK(driver.contexts.size() == 2);
    const Device::Scope inner(*device);
    CHECK(driver.contexts.size() == 2);
  }
  CHECK(driver.contexts == std::vector<void*>{&other});
  CHECK(driver.calls ==
        std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxGetCurrent", "cuCtxPopCurrent"});
}

TEST_CASE("regions take the fewest calls that move exactly their bytes") {
  struct Case {
    std::array<std::int64_t, 2> count, to, from;
    std::int64_t bytes;
    cuda::Route route;
    long calls;
  };
  const Case cases[] = {
      {{1, 1}, {0, 0}, {0, 0}, 40, cuda::Route::kRun, 1},
      {{1, 5}, {0, 8}, {0, 8}, 8, cuda::Route::kRun, 1},
      {{3, 5}, {40, 8}, {40, 8}, 8, cuda::Route::kRun, 1},
      {{1, 5}, {0, 8}, {0, 24}, 8, cuda::Route::kBox, 1},
      {{5, 1}, {16, 0}, {8, 0}, 8, cuda::Route::kBox, 1},
      {{3, 5}, {80, 16}, {120, 24}, 8, cuda::Route::kBox, 1},     // rows of one distance throughout
      {{3, 5}, {96, 16}, {200, 24}, 8, cuda::Route::kSlices, 3},  // 200 is no multiple of 24
      {{3, 5}, {96, 16}, {240, 24}, 8, cuda::Route::kBox, 1},
      {{2, 3}, {24, 8}, {300, 100}, 8, cuda::Route::kBox, 1},
      {{2, 3}, {8, 100}, {8, 100}, 8, cuda::Route::kSlices, 2},  // interleaved
      {{1, 3}, {0, 16}, {0, -8}, 8, cuda::Route::kRuns, 3},
      {{1, 2}, {0, 8}, {0, 5000}, 8, cuda::Route::kRuns, 2},  // more than the device's pitch
      {{0, 3}, {8, 8}, {8, 8}, 8, cuda::Route::kRun, 0},
  };
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const Device::Scope scope(*device);
  Stream& stream = device->default_stream();
  constexpr std::size_t kBytes = 16384;
  auto* memory = static_cast<char*>(device->allocate(stream, kBytes));
  std::vector<char> host(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) host[i] = static_cast<char>(i * 7 + i / 256);
  for (const Case& c : cases) {
    for (const bool to_device : {true, false}) {
      std::vector<char> there(kBytes, 1);
      std::vector<char> expected(kBytes, 1);
      std::memset(memory, 1, kBytes);
      if (!to_device) std::memcpy(memory, host.data(), kBytes);
      const auto start = static_cast<std::ptrdiff_t>(kBytes / 2);
      Copy copy;
      copy.bytes = c.bytes;
      copy.count = c.count;
      copy.to_stride = c.to;
      copy.from_stride = c.from;
      copy.to = (to_device ? memory : there.data()) + start;
      copy.from = (to_device ? host.data() : memory) + start;
      copy.to_space = to_device ? Space::kDevice : Space::kHost;
      copy.from_space = to_device ? Space::kHost : Space::kDevice;
      for (std::int64_t i = 0; i < c.count[0]; ++i)
        for (std::int64_t j = 0; j < c.count[1]; ++j)
          std::memcpy(&expected[static_cast<std::size_t>(start + i * c.to[0] + j * c.to[1])],
                      &host[static_cast<std::size_t>(start + i * c.from[0] + j * c.from[1])],
                      static_cast<std::size_t>(c.bytes));
      driver.calls.clear();
      device->copy(stream, copy);
      const std::vector<char> got(to_device ? memory : there.data(), (to_device ? memory : there.data()) + kBytes);
      INFO(c.count[0] << "x" << c.count[1] << " " << c.to[0] << " " << c.from[0]);
      CHECK((got == expected));
      CHECK(driver.count("cuMemcpy3DAsync") + driver.count("cuMemcpyHtoDAsync") + driver.count("cuMemcpyDtoHAsync") ==
            c.calls);
      if (c.calls > 0) CHECK(cuda::route_of(cuda::simplify(copy), 4096) == c.route);
    }
  }
  device->release(stream, memory);
}

TEST_CASE("pageable memory that the application has registered is read before a copy returns") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const Device::Scope scope(*device);
  Stream& stream = device->default_stream();
  void* memory = device->allocate(stream, 64);
  void* pinned = device->pinned_allocate(64);
  const auto syncs = [&](const void* from, Space space) {
    Copy copy;
    copy.to = memory;
    copy.from = from;
    copy.to_space = Space::kDevice;
    copy.from_space = space;
    copy.bytes = 64;
    driver.calls.clear();
    device->copy(stream, copy);
    return driver.count("cuStreamSynchronize");
  };
  const std::vector<char> host(64);
  CHECK(syncs(host.data(), Space::kHost) == 0);
  CHECK(syncs(pinned, Space::kHost) == 1);
  CHECK(syncs(pinned, Space::kPinned) == 0);
  device->release(stream, memory);
  device->pinned_release(pinned);
  CHECK(driver.pinned.empty());
}

TEST_CASE("fills of every width and value") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const Device::Scope scope(*device);
  Stream& stream = device->default_stream();
  auto* memory = static_cast<unsigned char*>(device->allocate(stream, 1024));
  for (const std::int64_t width : {1, 2, 4, 8, 16}) {
    for (const int kind : {0, 1, 2}) {  // equal bytes, equal words, all different
      for (const std::int64_t rows : {1, 3}) {
        Fill fill;
        fill.memory = memory;
        fill.width = width;
        for (std::size_t i = 0; i < 16; ++i)
          fill.value[i] = static_cast<std::uint8_t>(kind == 0 ? 9 : kind == 1 ? 1 + i % 4 : 1 + i);
        fill.count = {rows, 5};
        fill.pitch = rows == 1 ? 0 : 5 * width + 16;
        std::memset(memory, 0, 1024);
        std::vector<unsigned char> expected(1024, 0);
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t i = 0; i < 5; ++i)
            std::memcpy(&expected[static_cast<std::size_t>(r * fill.pitch + i * width)], fill.value.data(),
                        static_cast<std::size_t>(width));
        device->fill(stream, fill);
        CHECK((std::vector<unsigned char>(memory, memory + 1024) == expected));
      }
    }
  }
  device->release(stream, memory);
  CHECK(driver.memory.empty());
}

TEST_CASE("modules: kernels by name, limits from the driver, errors with its log") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const Device::Scope scope(*device);
  const auto image = [](const char* name, const std::string& text) {
    ModuleImage i;
    KernelInfo info;
    info.name = name;
    info.parameters = {{8, true, false, false, -1}, {8, false, false, false, -1}};
    i.kernels = {info};
    i.binary = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    return i;
  };
  const std::string good = "good";
  const std::string broken = "broken";
  {
    const auto module = device->load_module(image("k", good));
    CHECK(module->kernel(0).info().max_threads == 512);
    CHECK(module->kernel(0).info().shared_bytes == 16);
    CHECK(device->resident_blocks(module->kernel(0), 128, 0) == 40);
    Launch l = shape(3, 256, 64);
    long a = 77;
    long b = 88;
    void* arguments[] = {&a, &b};
    device->launch(device->default_stream(), module->kernel(0), l, arguments);
    REQUIRE(driver.launches.size() == 1);
    CHECK(driver.launches[0].kernel == "k");
    CHECK(driver.launches[0].grid[0] == 3);
    CHECK(driver.launches[0].block[0] == 256);
    CHECK(driver.launches[0].shared == 64);
    CHECK(driver.launches[0].arguments == std::vector<long>{77, 88});
    l.block[0] = 513;
    CHECK(has(error_of([&] { device->launch(device->default_stream(), module->kernel(0), l, arguments); }),
              "at most 512"));
    l.block[0] = 1;
    l.cooperative = true;
    device->launch(device->default_stream(), module->kernel(0), l, arguments);
    CHECK(driver.launches.back().cooperative);
    l.grid[1] = 0;
    device->launch(device->default_stream(), module->kernel(0), l, arguments);
    CHECK(driver.launches.size() == 2);
  }
  CHECK(driver.modules.empty());
  CHECK(has(error_of([&] { device->load_module(image("absent", good)); }, ErrorClass::kLoad), "no kernel 'absent'"));
  CHECK(driver.modules.empty());
  CHECK(has(error_of([&] { device->load_module(image("k", broken)); }, ErrorClass::kLoad), "ptxas says no"));
}

TEST_CASE("a launch overlaps the one in front of it only if its code waits and the driver can record that") {
  FakeDriver& driver = fresh();
  const std::string text = "good";
  const auto calls_for = [&](int version, bool waits, bool overlapping) {
    driver.version = version;
    const auto device = fake_device();
    const Device::Scope scope(*device);
    ModuleImage image;
    KernelInfo info;
    info.name = "k";
    info.waits = waits;
    info.parameters = {{8, true, false, false, -1}, {8, false, false, false, -1}};
    image.kernels = {info};
    image.binary = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    const auto module = device->load_module(image);
    Launch l = shape(3, 256, 64);
    l.overlapping = overlapping;
    long a = 77, b = 88;
    void* arguments[] = {&a, &b};
    const long before = driver.count("cuLaunchKernelEx");
    device->launch(device->default_stream(), module->kernel(0), l, arguments);
    CHECK(driver.launches.back().grid[0] == 3);
    CHECK(driver.launches.back().arguments == std::vector<long>{77, 88});
    return driver.count("cuLaunchKernelEx") - before;
  };
  CHECK(calls_for(12040, true, true) == 1);
  CHECK(calls_for(12040, false, true) == 0);
  CHECK(calls_for(12040, true, false) == 0);
  CHECK(calls_for(12020, true, true) == 0);
  fresh();
}

TEST_CASE("recorded work is launched again") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const Device::Scope scope(*device);
  CHECK(!device->is_capturing(device->default_stream()));
  driver.capturing = true;
  CHECK(device->is_capturing(device->default_stream()));
  driver.fail_at = 1;  // a stream that can't be asked
  driver.capturing = false;
  CHECK(device->is_capturing(device->default_stream()));
  device->begin_capture(device->default_stream());
  {
    const auto graph = device->end_capture(device->default_stream());
    device->launch_graph(device->default_stream(), *graph);
    device->launch_graph(device->default_stream(), *graph);
  }
  CHECK(driver.count("cuGraphLaunch") == 2);
  CHECK(driver.graphs.empty());
}

TEST_CASE("the pool keeps what the largest cap asks for") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  device->set_pool_cap(1000);
  CHECK(driver.release_threshold == 1000);
  device->set_pool_cap(500);
  CHECK(driver.release_threshold == 1000);
  device->set_pool_cap(0);
  CHECK(driver.release_threshold == ~0ul);
}

namespace {

// Copies in, launches on two streams, copies out: every kind of call that a program makes.
std::shared_ptr<runtime::Program> load_program(const std::shared_ptr<Device>& device, bool one_kernel = false) {
  const std::string text =
      lower::abi_prelude() +
      "static void body(sdfg_call* call, float* A, long n) {\n"
      "  if (!sdfg_abi->device_begin(call)) return;\n" +
      (one_kernel ? std::string("  float* tmp = A;\n")
                  : std::string("  float* tmp = (float*)sdfg_abi->device_allocate(call, 0, n * 4, 1);\n"
                                "  if (call->status) return;\n"
                                "  float* kept = (float*)sdfg_abi->device_persistent(call, 3, 64, 1);\n"
                                "  if (call->status) return;\n"
                                "  float* p = (float*)sdfg_abi->pinned_allocate(call, n * 4, 0);\n"
                                "  if (call->status) return;\n"
                                "  for (long i = 0; i < n; ++i) p[i] = A[i] + 1;\n"
                                "  sdfg_copy in = {tmp, p, 2, 1, n * 4, {1, 1}, {0, 0}, {0, 0}};\n"
                                "  sdfg_abi->device_copy(call, 0, &in, 0);\n"
                                "  sdfg_abi->device_record(call, 0, 0);\n  sdfg_abi->device_wait(call, 1, 0);\n")) +
      "  sdfg_launch l = {{(n + 127) / 128, 1, 1}, {128, 1, 1}, 0, 0};\n  void* a[] = {&tmp, &n};\n"
      "  sdfg_abi->device_launch(call, " +
      (one_kernel ? "0" : "1") + ", 0, &l, a, 2);\n" +
      (one_kernel ? ""
                  : "  sdfg_copy out = {A, tmp, 0, 2, n * 4, {1, 1}, {0, 0}, {0, 0}};\n"
                    "  sdfg_abi->device_copy(call, 1, &out, 0);\n  sdfg_abi->device_release(call, 1, tmp);\n") +
      "}\n"
      "extern \"C\" int sdfg_packed(void* const* args) {\n"
      "  sdfg_call call = {};\n  call.program = sdfg_program;\n"
      "  body(&call, *(float* const*)args[0], *(const long*)args[1]);\n"
      "  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);\n  return call.status;\n}\n";
  const auto object = compiler::compile_host(checked_request(text, compiler::MemoryChecks::kNone));
  REQUIRE(object.ok);
  runtime::DevicePart part;
  part.device = device;
  lower::Kernel kernel;
  kernel.name = "twice";
  kernel.ordinal = 2;
  kernel.parameters = {{"tmp", 8, true, false, true, 1}, {"n", 8, false, false, false, -1}};
  part.kernels = {kernel};
  part.code = {'c', 'u', 'b', 'i', 'n'};
  runtime::ProgramInfo info;
  info.name = "graph";
  info.elements = {
      {"container 'A'", {}}, {"container 'tmp'", {}}, {"map 'i'", {"user.cpp", 3, 1}}, {"container 'kept'", {}}};
  return runtime::Program::load(object.payload, info, std::move(part));
}

std::string call(runtime::Program& program, std::vector<float>& values) {
  float* data = values.data();
  auto n = static_cast<std::int64_t>(values.size());
  void* arguments[] = {&data, &n};
  runtime::clear_last_error();
  const int status = program.packed_entry()(arguments);
  const Error* error = runtime::last_error();
  CHECK((status != 0) == (error != nullptr));
  return error != nullptr ? error->what() : "";
}

}  // namespace

TEST_CASE("a function of one kernel costs one look at the context and one launch") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  driver.parameters = 2;
  const auto program = load_program(device, true);
  std::vector<float> values(300);
  CHECK(call(*program, values).empty());
  driver.calls.clear();
  CHECK(call(*program, values).empty());
  CHECK(driver.calls ==
        std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernel", "cuCtxPopCurrent"});
  const Device::Scope scope(*device);
  driver.calls.clear();
  CHECK(call(*program, values).empty());
  CHECK(driver.calls == std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernel"});
  CHECK(driver.launches.back().grid[0] == 3);
}

TEST_CASE("whichever call of the driver fails: one error, nothing left behind, and the next call works") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  for (const bool warm : {false, true}) {
    int failures = 0;
    for (int n = 1; n < 60; ++n) {
      const auto program = load_program(device);
      std::vector<float> values(10, 1.0f);
      if (warm) REQUIRE(call(*program, values).empty());
      const std::size_t streams = driver.streams.size();
      values.assign(10, 1.0f);
      driver.fail_at = n;
      const std::string text = call(*program, values);
      const bool reached = driver.fail_at == 0;
      driver.fail_at = 0;
      CHECK(driver.contexts.empty());
      CHECK(driver.pinned.empty());
      CHECK(driver.memory.size() <= 1);  // the persistent container
      if (!text.empty()) {
        ++failures;
        CHECK(has(text, "CUDA_ERROR_FAKE"));
        CHECK(text.find("CUDA_ERROR_FAKE") == text.rfind("CUDA_ERROR_FAKE"));
      }
      values.assign(10, 1.0f);
      CHECK(call(*program, values).empty());
      CHECK(values == std::vector<float>(10, 2.0f));
      CHECK(driver.streams.size() <= streams + 1);
      if (!reached) break;
      REQUIRE(n < 50);
    }
    CHECK(failures > (warm ? 8 : 12));
  }
  CHECK(driver.memory.empty());
  CHECK(driver.modules.empty());
  CHECK(driver.events.empty());
}

TEST_CASE("a fault that lasts loses the device: said once with what ran, and by every later call without asking") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  {
    const auto program = load_program(device);
    std::vector<float> values(10, 1.0f);
    REQUIRE(call(*program, values).empty());
    driver.calls.clear();
    // The wait at the end of the call finds it.
    REQUIRE(call(*program, values).empty());
    int at = 0;
    for (std::size_t i = 0; i < driver.calls.size(); ++i) {
      if (driver.calls[i] == "cuStreamSynchronize") at = static_cast<int>(i) + 1;
    }
    int skipped = 0;  // of the recorded calls, those that never fail
    for (int i = 0; i < at; ++i) skipped += driver.calls[static_cast<std::size_t>(i)] == "cuMemFreeHost" ? 1 : 0;
    driver.fail_at = at - skipped;
    driver.fail_with = 700;
    const std::string text = call(*program, values);
    CHECK(has(text, "device lost error"));
    CHECK(has(text, "the kernels launched last, newest first: 'twice'"));
    CHECK(has(text, "map 'i'"));
    CHECK(device->lost());
    driver.calls.clear();
    CHECK(has(call(*program, values), "was lost by an earlier call"));
    CHECK(driver.calls.empty());
  }
}

TEST_CASE("a stream of another device is refused") {
  FakeDriver& driver = fresh();
  const auto device = fake_device();
  const auto program = load_program(device);
  int foreign = 0;
  program->device()->set_stream(&foreign);
  std::vector<float> values(10, 1.0f);
  CHECK(has(call(*program, values), "belongs to another device or context"));
  const Device::Scope scope(*device);
  const auto own = device->make_stream();
  program->device()->set_stream(own->native());
  driver.launches.clear();
  const auto one = load_program(device, true);
  one->device()->set_stream(own->native());
  CHECK(call(*one, values).empty());
  CHECK(driver.launches.back().stream == own->native());
}

}  // namespace test_cuda
