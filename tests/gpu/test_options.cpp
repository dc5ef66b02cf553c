// Every option of the device rooms is set once, and what it is for is seen to happen.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <sdfg/compile.hpp>
#include <sdfg/log.hpp>

#include "base/env.hpp"
#include "compiled.hpp"
#include "device/emulated/emulator.hpp"
#include "jit/function_impl.hpp"
#include "programs.hpp"
#include "runtime/device_program.hpp"

namespace test_options {

using namespace sdfg;
using namespace sdfg::test;

namespace {

Options emulated() {
  return options_on(DeviceChoice::Kind::kEmulated);
}

// A copy in, a loop of a kernel, a copy out.
ir::Graph graph() {
  Gpu m("options");
  m.inout("A", ScalarType::kFloat64, "N");
  m.symbol("N");
  auto& t = m.loop(m.body(), "t", "0", "t < 9", "t + 1");
  m.tasklet(m.kernel("i", "0:N", &t), "o = a + 1", {"a = gA[i]"}, {"o = gA[i]"});
  m.finish();
  return std::move(m.g);
}

std::string source(const Options& o) {
  return compiled(graph(), o).source();
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}
runtime::DeviceProgram& device_of(const AnyFunction& f) {
  return *f.impl().program->device();
}

void host_maps() {
  // A kernel over memory of the host, with threads and shared memory, before one on the device.
  Gpu m("host_maps");
  m.array("B", ScalarType::kInt64, "N");
  m.inout("A", ScalarType::kInt64, "N");
  m.symbol("N");
  auto& outer = m.map_element(m.body(), "b", "0:N:4", ir::Schedule::kDevice);
  outer.label = "blocks";
  auto& block = m.block(Maker::body_of(outer));
  m.shared("tile", ScalarType::kInt64, "4", block);
  m.tasklet(m.threads(block.body, "l", "0:min(4, N - b)"), "o = 10 * (b + l)", {}, {"o = tile[l]"});
  m.tasklet(m.threads(block.body, "k", "0:min(4, N - b)"), "o = v + 1", {"v = tile[k]"}, {"o = B[b + k]"});
  m.tasklet(m.kernel("i", "0:N"), "o = a + 1", {"a = gA[i]"}, {"o = gA[i]"});
  m.finish();

  Options o = emulated();
  CHECK(has(message([&] { compiled(m.g, o); }), "'B'"));
  o.host_maps = HostMaps{HostMaps::Mode::kNamed, {"blocks", "no_such_map"}};
  for (int round = 0; round < 2; ++round) {
    const AnyFunction f = compiled(m.g, o);
    CHECK(has(f.source(), "device_launch(call, 0, 0, "));
    CHECK(!has(f.source(), "device_launch(call, 0, 1, "));
    Memory memory;
    memory.array("B", std::vector<std::int64_t>(6, 0)).array("A", std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
    memory.value("N", std::int64_t{6});
    f.call_packed(memory.pack(m.g));
    for (std::int64_t i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(memory.get<std::int64_t>("B")[at] == 10 * i + 1);
      CHECK(memory.get<std::int64_t>("A")[at] == i + 2);
    }
  }
  const std::vector<LogRecord> warnings = recent_warnings();
  CHECK(std::count_if(warnings.begin(), warnings.end(), [](const LogRecord& r) {
          return has(r.text, "SDFG_HOST_MAPS names 'no_such_map', which is no map of graph 'host_maps'");
        }) == 1);
  o.host_maps->labels = {"blocks", "i"};
  CHECK(message([&] { compiled(m.g, o); }) ==
        "map 'i' can't run on the host: it uses 'gA', which lives in device memory");
}

const std::map<std::string, std::function<void()>>& cases() {
  static const std::map<std::string, std::function<void()>> table = {
      {"SDFG_DEVICE",
       [] {
         Options o = emulated();
         CHECK(has(compiled(graph(), o).explain(), "kernels run on the emulated device"));
         CHECK(has(source(o), "sdfg_abi->device_launch"));
         o.device = DeviceChoice{DeviceChoice::Kind::kCpu, 0};
         CHECK(has(compiled(graph(), o).explain(), "SDFG_DEVICE=cpu"));
         CHECK(!has(source(o), "sdfg_abi->device_launch"));
       }},
      {"SDFG_HOST_MAPS", host_maps},
      {"SDFG_GPU_ARCH",
       [] {
         Options o = emulated();
         o.device = DeviceChoice{DeviceChoice::Kind::kCuda, 0};
         o.gpu_arch = "hopper";
         CHECK(message([&] { compiled(graph(), o); }) == "'hopper' is no GPU architecture");
         o.gpu_arch = "sm_90";
         CHECK(!has(message([&] { compiled(graph(), o); }), "is no GPU architecture"));
       }},
      {"SDFG_GPU_BLOCK_SIZE",
       [] {
         Options o = emulated();
         o.gpu_block_size = BlockSize{{96, 1, 1}};
         CHECK(has(source(o), "__launch_bounds__(96)"));
         CHECK(has(source(emulated()), "__launch_bounds__(128)"));
       }},
      {"SDFG_GPU_STREAMS",
       [] {
         Options o = emulated();
         o.gpu_streams = -1;
         const AnyFunction f = compiled(graph(), o);
         CHECK(has(f.source(), "device_launch(call, -1, "));
         CHECK(device_of(f).streams() == -1);
         CHECK(has(source(emulated()), "device_launch(call, 0, "));
       }},
      {"SDFG_GPU_GRAPHS",
       [] {
         Options o = emulated();
         CHECK(has(source(o), "sdfg_abi->device_repeat_begin"));
         o.gpu_graphs = Toggle::kOff;
         CHECK(!has(source(o), "sdfg_abi->device_repeat_begin"));
         o.gpu_graphs = Toggle::kOn;
         CHECK(device_of(compiled(graph(), o)).graphs() == Toggle::kOn);
       }},
      {"SDFG_GPU_SYNC",
       [] {
         Options o = emulated();
         CHECK(!device_of(compiled(graph(), o)).synchronises());
         o.gpu_sync = true;
         CHECK(device_of(compiled(graph(), o)).synchronises());
       }},
      {"SDFG_GPU_POOL_MAX",
       [] {
         Options o = emulated();
         o.gpu_pool_max = 4096;
         compiled(graph(), o);
         auto& device = static_cast<device::emulated::Emulator&>(*device::open(*o.device));
         CHECK(device.ledger().pool_cap == 4096);
         compiled(graph(), emulated());
         CHECK(device.ledger().pool_cap == 0);
       }},
  };
  return table;
}

}  // namespace

TEST_CASE("every option of devices reaches its reader") {
  for (const auto& [name, test] : cases()) {
    DYNAMIC_SECTION(name) {
      const auto known = variables();
      REQUIRE(std::any_of(known.begin(), known.end(), [&](const Variable& v) { return v.name == name; }));
      test();
    }
  }
}

}  // namespace test_options
