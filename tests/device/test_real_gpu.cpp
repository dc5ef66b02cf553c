// The CUDA back end on a real GPU. Left out, with a notice, where there is none.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <iostream>
#include <random>
#include <sdfg/device.hpp>
#include <sdfg/error.hpp>

#include "compile/nvrtc.hpp"
#include "device/cuda/open.hpp"
#include "device/device.hpp"
#include "kernels.hpp"
#include "lower/abi.hpp"
#include "runtime/device_program.hpp"
#include "runtime/program.hpp"

namespace test_real_gpu {

using namespace sdfg;
using namespace sdfg::device;

namespace {

std::shared_ptr<Device> gpu() {
  static const std::shared_ptr<Device> device = []() -> std::shared_ptr<Device> {
    try {
      return open({DeviceChoice::Kind::kCuda, 0});
    } catch (const Error& error) {
      std::cerr << "NOTICE: the tests on a GPU are left out: " << error.what() << "\n";
      return nullptr;
    }
  }();
  return device;
}

const char* const kText = R"(
extern "C" __global__ void scale(float* x, float a, long n) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a * x[i];
}
extern "C" __global__ void empty() {}
extern "C" __global__ void fault(float* x) { x[(long)1 << 40] = 1; }
extern "C" __global__ void slow(float* x, long turns) {
  float v = x[0];
  for (long i = 0; i < turns; ++i) v = v * 0.999999f + 1e-6f;
  x[0] = v;
}
extern "C" __global__ void tile(float* x) {
  extern __shared__ float t[];
  for (int i = threadIdx.x; i < 20000; i += blockDim.x) t[i] = i;
  __syncthreads();
  x[threadIdx.x] = t[19999 - threadIdx.x];
}
)";

std::unique_ptr<Module> load(Device& device) {
  const compiler::DeviceBuild build = compiler::device_build_for(device.target().architecture);
  compiler::CompileRequest request;
  request.kind = build.kind;
  request.cpu = build.architecture;
  request.source = kText;
  const compiler::CompileResult result = compiler::compile_device(request);
  REQUIRE(result.ok);
  ModuleImage image;
  const auto add = [&](const char* name, std::vector<std::int32_t> bytes) {
    KernelInfo info;
    info.name = name;
    for (const std::int32_t b : bytes) info.parameters.push_back({b, false, false, false, -1});
    image.kernels.push_back(std::move(info));
  };
  add("scale", {8, 4, 8});
  add("empty", {});
  add("fault", {8});
  add("slow", {8, 8});
  add("tile", {8});
  image.binary = result.payload;
  return device.load_module(image);
}

using test::shape;

void scale(Device& device, Module& module, Stream& stream, float* x, float a, std::int64_t n) {
  void* arguments[] = {&x, &a, &n};
  device.launch(stream, module.kernel(0), shape((n + 255) / 256, 256), arguments);
}

void move(Device& device, Stream& stream, void* to, Space to_space, const void* from, Space from_space,
          std::size_t bytes) {
  Copy copy;
  copy.to = to;
  copy.from = from;
  copy.to_space = to_space;
  copy.from_space = from_space;
  copy.bytes = static_cast<std::int64_t>(bytes);
  device.copy(stream, copy);
}

}  // namespace

TEST_CASE("a GPU runs a kernel of NVRTC's", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  const DeviceTarget& t = device.target();
  WARN(t.name << ", " << t.architecture << ", " << t.multiprocessors << " multiprocessors, " << t.memory_bytes / 1e9
              << " GB at " << t.memory_bytes_per_second / 1e12 << " TB/s, L2 " << t.l2_bytes << ", shared "
              << device.limits().shared << ", parameters " << device.limits().parameter_bytes);
  const auto module = load(device);
  Stream& stream = device.default_stream();
  for (const std::size_t n : {1u, 255u, 256u, 257u, 100003u}) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
    auto* x = static_cast<float*>(device.allocate(stream, static_cast<std::int64_t>(n * 4)));
    CHECK(reinterpret_cast<std::uintptr_t>(x) % 256 == 0);
    move(device, stream, x, Space::kDevice, values.data(), Space::kHost, n * 4);
    scale(device, *module, stream, x, 3.0f, static_cast<std::int64_t>(n));
    move(device, stream, values.data(), Space::kHost, x, Space::kDevice, n * 4);
    device.synchronise(stream);
    device.release(stream, x);
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) good = good && values[i] == 3.0f * static_cast<float>(i);
    CHECK(good);
  }
  // More shared memory than comes without asking.
  auto* x = static_cast<float*>(device.allocate(stream, 4 * 128));
  Launch l = shape(1, 128);
  l.shared = 80000;
  void* arguments[] = {&x};
  device.launch(stream, module->kernel(4), l, arguments);
  std::vector<float> values(128);
  move(device, stream, values.data(), Space::kHost, x, Space::kDevice, 512);
  device.synchronise(stream);
  CHECK(values[0] == 19999.0f);
  CHECK(values[127] == 19872.0f);
  l.cooperative = true;
  l.grid[0] = 4;
  device.launch(stream, module->kernel(4), l, arguments);
  device.synchronise(stream);
  CHECK(device.resident_blocks(module->kernel(4), 128, 80000) >= t.multiprocessors);
  device.release(stream, x);
  CHECK_FALSE(device.take_fault());
}

TEST_CASE("a GPU moves regions of every shape", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  Stream& stream = device.default_stream();
  constexpr std::size_t kBytes = 1 << 20;
  std::vector<unsigned char> host(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 251);
  auto* a = static_cast<unsigned char*>(device.allocate(stream, kBytes));
  auto* b = static_cast<unsigned char*>(device.allocate(stream, kBytes));
  auto* pinned = static_cast<unsigned char*>(device.pinned_allocate(kBytes));
  std::memcpy(pinned, host.data(), kBytes);
  const std::vector<unsigned char> ones(kBytes, 1);
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    Copy copy;
    copy.bytes = pick(1, 64);
    copy.count = {pick(1, 5), pick(1, 7)};
    const auto strides = [&](std::array<std::int64_t, 2>& s) {
      s[1] = copy.bytes + pick(0, 2) * pick(0, 40);
      s[0] = s[1] * copy.count[1] + pick(0, 2) * pick(0, 300);
      if (pick(0, 5) == 0) s[0] = s[1] * (copy.count[1] + pick(0, 3));
      if (pick(0, 6) == 0) s[1] = -s[1];
      if (pick(0, 9) == 0) s[0] = -s[0];
    };
    strides(copy.to_stride);
    strides(copy.from_stride);
    const int kind = round % 5;  // to device, to host, on the device, from pinned, to pinned
    const std::size_t middle = kBytes / 2;
    std::vector<unsigned char> result(kBytes, 1);
    std::vector<unsigned char> expected(kBytes, 1);
    for (std::int64_t i = 0; i < copy.count[0]; ++i)
      for (std::int64_t j = 0; j < copy.count[1]; ++j)
        std::memcpy(expected.data() + static_cast<std::int64_t>(middle) + i * copy.to_stride[0] + j * copy.to_stride[1],
                    host.data() + static_cast<std::int64_t>(middle) + i * copy.from_stride[0] + j * copy.from_stride[1],
                    static_cast<std::size_t>(copy.bytes));
    move(device, stream, a, Space::kDevice, host.data(), Space::kHost, kBytes);
    move(device, stream, b, Space::kDevice, ones.data(), Space::kHost, kBytes);
    const unsigned char* from = kind == 0 ? host.data() : kind == 3 ? pinned : a;
    unsigned char* to = kind == 1 ? result.data() : kind == 4 ? pinned : b;
    copy.from_space = kind == 0 ? Space::kHost : kind == 3 ? Space::kPinned : Space::kDevice;
    copy.to_space = kind == 1 ? Space::kHost : kind == 4 ? Space::kPinned : Space::kDevice;
    if (kind == 4) {
      device.synchronise(stream);
      std::memset(pinned, 1, kBytes);
    }
    copy.from = from + middle;
    copy.to = to + middle;
    device.copy(stream, copy);
    if (copy.to_space == Space::kDevice) move(device, stream, result.data(), Space::kHost, b, Space::kDevice, kBytes);
    device.synchronise(stream);
    if (kind == 4) {
      std::memcpy(result.data(), pinned, kBytes);
      std::memcpy(pinned, host.data(), kBytes);
    }
    INFO("kind " << kind << " bytes " << copy.bytes << " count " << copy.count[0] << "x" << copy.count[1] << " to "
                 << copy.to_stride[0] << "," << copy.to_stride[1] << " from " << copy.from_stride[0] << ","
                 << copy.from_stride[1]);
    REQUIRE((result == expected));
  }
  for (const std::int64_t width : {1, 2, 4, 8, 16}) {
    for (const int kind : {0, 1, 2}) {
      for (const std::int64_t rows : {1, 3}) {
        Fill fill;
        fill.memory = a;
        fill.width = width;
        for (std::size_t i = 0; i < 16; ++i)
          fill.value[i] = static_cast<std::uint8_t>(kind == 0 ? 9 : kind == 1 ? 1 + i % 4 : 1 + i);
        fill.count = {rows, 1000};
        fill.pitch = 1000 * width + 16;
        move(device, stream, a, Space::kDevice, ones.data(), Space::kHost, kBytes);
        device.fill(stream, fill);
        std::vector<unsigned char> result(kBytes);
        move(device, stream, result.data(), Space::kHost, a, Space::kDevice, kBytes);
        device.synchronise(stream);
        std::vector<unsigned char> expected(kBytes, 1);
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t i = 0; i < 1000; ++i)
            std::memcpy(expected.data() + r * fill.pitch + i * width, fill.value.data(),
                        static_cast<std::size_t>(width));
        CHECK((result == expected));
      }
    }
  }
  device.release(stream, a);
  device.release(stream, b);
  device.synchronise(stream);
  device.pinned_release(pinned);
  CHECK_FALSE(device.take_fault());
}

TEST_CASE("a GPU's streams are ordered by events, and recorded work repeats", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  const auto module = load(device);
  const auto first = device.make_stream();
  const auto second = device.make_stream();
  const auto event = device.make_event();
  auto* x = static_cast<float*>(device.allocate(*first, 4));
  for (int round = 0; round < 20; ++round) {
    const float start = 0.5f;
    move(device, *first, x, Space::kDevice, &start, Space::kHost, 4);
    std::int64_t turns = 200000;
    void* arguments[] = {&x, &turns};
    device.launch(*first, module->kernel(3), shape(1, 1), arguments);
    device.record(*event, *first);
    device.wait(*second, *event);
    scale(device, *module, *second, x, 2.0f, 1);
    float end = 0;
    move(device, *second, &end, Space::kHost, x, Space::kDevice, 4);
    device.synchronise(*second);
    REQUIRE(end > 1.1f);  // twice what the slow kernel left
  }
  const float one = 1.0f;
  move(device, *first, x, Space::kDevice, &one, Space::kHost, 4);
  device.synchronise(*first);
  device.begin_capture(*first);
  for (int i = 0; i < 3; ++i) scale(device, *module, *first, x, 2.0f, 1);
  const auto graph = device.end_capture(*first);
  device.launch_graph(*first, *graph);
  device.launch_graph(*first, *graph);
  float end = 0;
  move(device, *first, &end, Space::kHost, x, Space::kDevice, 4);
  device.synchronise(*first);
  CHECK(end == 64.0f);
  const auto adopted = device.adopt_stream(first->native());
  scale(device, *module, *adopted, x, 0.5f, 1);
  move(device, *adopted, &end, Space::kHost, x, Space::kDevice, 4);
  device.synchronise(*adopted);
  CHECK(end == 32.0f);
  device.release(*first, x);
}

TEST_CASE("a GPU's memory stays flat, and running out is an error of its class", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  Stream& stream = device.default_stream();
  for (int i = 0; i < 2000; ++i) device.release(stream, device.allocate(stream, std::int64_t{256} << 20));
  device.synchronise(stream);
  try {
    device.allocate(stream, std::int64_t{4} << 40);
    FAIL("4 TiB were allocated");
  } catch (const Error& error) {
    CHECK(error.error_class() == ErrorClass::kResource);
  }
  void* after = device.allocate(stream, 1000);
  device.release(stream, after);
  device.synchronise(stream);
  for (int i = 0; i < 20; ++i) load(device);
}

TEST_CASE("a launch costs hardly more than the driver's", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  const auto module = load(device);
  Stream& stream = device.default_stream();
  const auto& api = cuda::Driver::instance()->api();
  driver_abi::Function function = nullptr;
  driver_abi::Module bare = nullptr;
  {
    compiler::CompileRequest request;
    const compiler::DeviceBuild build = compiler::device_build_for(device.target().architecture);
    request.kind = build.kind;
    request.cpu = build.architecture;
    request.source = kText;
    std::vector<std::uint8_t> code = compiler::compile_device(request).payload;
    code.push_back(0);
    REQUIRE(api.module_load(&bare, code.data(), 0, nullptr, nullptr) == 0);
    REQUIRE(api.module_function(&function, bare, "empty") == 0);
  }
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](auto&& one) {
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      device.synchronise(stream);
      const auto begin = Clock::now();
      for (int i = 0; i < 500; ++i) one();
      best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 500);
    }
    device.synchronise(stream);
    return best;
  };
  void* none[] = {nullptr};
  const Launch l = shape(1, 32);
  auto* const native = static_cast<driver_abi::Stream>(stream.native());
  for (int i = 0; i < 2; ++i) {
    const double direct = timed([&] { api.launch(function, 1, 1, 1, 32, 1, 1, 0, native, none, nullptr); });
    const double ours = timed([&] {
      const Device::Scope inner(device);
      device.launch(stream, module->kernel(1), l, none);
    });
    WARN("launch: driver " << direct << " us, with scope and checks " << ours << " us, ratio " << ours / direct);
    CHECK(ours < 1.3 * direct);
  }
  api.module_unload(bare);
}

TEST_CASE("a compiled function of one kernel costs hardly more than the driver's launch", "[gpu]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const std::string text =
      lower::abi_prelude() +
      "extern \"C\" int sdfg_packed(void* const* args) {\n"
      "  sdfg_call call = {};\n  call.program = sdfg_program;\n"
      "  if (sdfg_abi->device_begin(&call)) {\n"
      "    float* x = *(float* const*)args[0];\n    float a = *(const float*)args[1];\n    long n = *(const "
      "long*)args[2];\n"
      "    const sdfg_launch l = {{(n + 255) / 256, 1, 1}, {256, 1, 1}, 0, 0};\n    void* a3[] = {&x, &a, &n};\n"
      "    sdfg_abi->device_launch(&call, 0, 0, &l, a3, 0);\n  }\n"
      "  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);\n  return call.status;\n}\n";
  const auto object = compiler::compile_host(test::checked_request(text, compiler::MemoryChecks::kNone));
  REQUIRE(object.ok);
  const compiler::DeviceBuild build = compiler::device_build_for(device.target().architecture, device.driver_version());
  compiler::CompileRequest request;
  request.kind = build.kind;
  request.cpu = build.architecture;
  request.source = kText;
  std::vector<std::uint8_t> code = compiler::compile_device(request).payload;
  runtime::DevicePart part;
  part.device = gpu();
  part.code = code;
  lower::Kernel kernel;
  kernel.name = "scale";
  kernel.ordinal = 0;
  kernel.parameters = {
      {"x", 8, true, false, false, -1}, {"a", 4, false, false, false, -1}, {"n", 8, false, false, false, -1}};
  part.kernels = {kernel};
  runtime::ProgramInfo info;
  info.name = "one_kernel";
  info.elements = {{"map 'i'", {}}};
  const auto program = runtime::Program::load(object.payload, info, std::move(part));

  DeviceArray<float> array({DeviceChoice::Kind::kCuda, 0}, std::vector<float>(1000, 1.0f));
  float* x = array.data();
  float a = 1.0f;
  std::int64_t n = 1000;
  void* arguments[] = {&x, &a, &n};
  const auto& api = cuda::Driver::instance()->api();
  driver_abi::Module bare = nullptr;
  driver_abi::Function function = nullptr;
  using Clock = std::chrono::steady_clock;
  Stream& stream = device.default_stream();
  auto* const native = static_cast<driver_abi::Stream>(stream.native());
  const auto timed = [&](auto&& one) {
    double best = 1e9;
    for (int round = 0; round < 30; ++round) {
      const Device::Scope scope(device);
      device.synchronise(stream);
      const auto begin = Clock::now();
      for (int i = 0; i < 500; ++i) one();
      best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 500);
    }
    return best;
  };
  {
    const Device::Scope scope(device);
    code.push_back(0);
    REQUIRE(api.module_load(&bare, code.data(), 0, nullptr, nullptr) == 0);
    REQUIRE(api.module_function(&function, bare, "scale") == 0);
  }
  for (int i = 0; i < 300; ++i) program->packed_entry()(arguments);  // warm
  for (int i = 0; i < 2; ++i) {
    const double direct = timed([&] { api.launch(function, 4, 1, 1, 256, 1, 1, 0, native, arguments, nullptr); });
    const double ours = timed([&] { program->packed_entry()(arguments); });
    WARN("one-kernel function: driver " << direct << " us, function " << ours << " us, ratio " << ours / direct);
    CHECK(ours < 1.5 * direct);
  }
  const Device::Scope scope(device);
  device.synchronise(stream);
  CHECK(array.download()[999] == 1.0f);
  api.module_unload(bare);
}

// Last, in a process of its own: it loses the device.
TEST_CASE("a kernel's fault loses the device with an error that says so", "[.lost]") {
  if (!gpu()) return;
  Device& device = *gpu();
  const Device::Scope scope(device);
  const auto module = load(device);
  auto* x = static_cast<float*>(device.allocate(device.default_stream(), 4));
  void* arguments[] = {&x};
  device.launch(device.default_stream(), module->kernel(2), shape(1, 1), arguments);
  try {
    device.synchronise(device.default_stream());
    FAIL("the fault was not seen");
  } catch (const Error& error) {
    WARN(error.what());
    CHECK(error.error_class() == ErrorClass::kDeviceLost);
  }
  CHECK(device.lost());
}

}  // namespace test_real_gpu
