// Loops whose launches are recorded once and replayed: which loops, when, and what happens when that fails.
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <sdfg/compile.hpp>
#include <sdfg/device.hpp>

#include "compiled.hpp"
#include "device/emulated/emulator.hpp"
#include "programs.hpp"
#include "runtime/repeat.hpp"

namespace test_repeat {

using namespace sdfg;
using namespace sdfg::test;

namespace {

const DeviceChoice kHere{DeviceChoice::Kind::kEmulated, 0};

Options emulated(Toggle graphs = Toggle::kAuto) {
  Options o;
  o.device = kHere;
  o.cache = CacheMode::kOff;
  o.opt_level = 1;
  o.gpu_graphs = graphs;
  return o;
}

device::emulated::Emulator& emulator() {
  auto& e = static_cast<device::emulated::Emulator&>(*device::open(kHere));
  e.set_settings({});
  e.reset_ledger();
  return e;
}

// A loop over t with what `body` puts into it; x and y are the caller's, on the device.
ir::Graph loop_with(const std::function<void(Maker&, ir::Sequence&)>& body, const std::string& condition = "t < T",
                    const std::string& update = "t + 1") {
  Maker m("loop");
  m.array("x", ScalarType::kInt64, "N").storage = ir::Storage::kGpuGlobal;
  m.array("y", ScalarType::kInt64, "N").storage = ir::Storage::kGpuGlobal;
  m.symbol("N");
  m.symbol("T");
  body(m, m.loop(m.body(), "t", "0", condition, update));
  return std::move(m.g);
}

void kernel(Maker& m, ir::Sequence& in, const std::string& i, const std::string& from, const std::string& to,
            const std::string& code = "o = a + 1") {
  m.tasklet(m.map(in, i, "0:N", ir::Schedule::kDevice), code, {"a = " + from + "[" + i + "]"},
            {"o = " + to + "[" + i + "]"});
}

void two_kernels(Maker& m, ir::Sequence& t) {
  kernel(m, t, "i", "x", "y");
  kernel(m, t, "j", "y", "x");
}

std::string source(const ir::Graph& g, const Options& o = emulated()) {
  return compiled(g, o).source();
}
bool repeats(const ir::Graph& g, const Options& o = emulated()) {
  return source(g, o).find("sdfg_abi->device_repeat_begin") != std::string::npos;
}

struct Arrays {
  explicit Arrays(std::size_t n)
      : x(kHere, std::vector<std::int64_t>(n, 0)), y(kHere, std::vector<std::int64_t>(n, 0)) {}
  DeviceArray<std::int64_t> x, y;
  void call(const AnyFunction& f, std::int64_t n, std::int64_t trips) {
    std::int64_t* px = x.data();
    std::int64_t* py = y.data();
    void* arguments[] = {&px, &py, &n, &trips};
    f.call_packed(arguments);
  }
};

}  // namespace

TEST_CASE("a loop that only launches kernels is told to the device") {
  const std::string text = source(loop_with(two_kernels));
  INFO(text);
  CHECK(text.find("sdfg_abi->device_repeat_begin(call, 0, T, ") != std::string::npos);
  CHECK(text.find("sdfg_abi->device_repeat_end(call);") != std::string::npos);
  const std::string stepped = source(loop_with(two_kernels, "t <= T", "t + 3"));
  const std::size_t at = stepped.find("rounds = ");
  CHECK(stepped.substr(at, stepped.find(';', at) - at) ==
        "rounds = sdfg_abi->device_repeat_begin(call, 0, sdfg_floor_div(T, 3) + 1, 2)");
  Options null_stream = emulated();
  null_stream.gpu_streams = -1;
  CHECK(source(loop_with(two_kernels), null_stream).find("device_repeat_begin(call, -1, T, ") != std::string::npos);
}

TEST_CASE("loops that do more than repeating their launches are left alone") {
  const auto uses = [](const std::string& code) {
    return loop_with([&](Maker& m, ir::Sequence& t) { kernel(m, t, "i", "x", "y", code); });
  };
  CHECK(repeats(uses("o = a + T")));
  CHECK(!repeats(uses("o = a + t")));
  CHECK(!repeats(loop_with([](Maker& m, ir::Sequence& t) {
    m.tasklet(m.map(t, "i", "0:min(N, t)", ir::Schedule::kDevice), "o = a", {"a = x[i]"}, {"o = y[i]"});
  })));
  CHECK(!repeats(loop_with([](Maker& m, ir::Sequence& t) {  // a copy
    kernel(m, t, "i", "x", "y");
    m.copy(t, "y[0:N]", "x[0:N]");
  })));
  CHECK(!repeats(loop_with([](Maker& m, ir::Sequence& t) {  // host work
    m.assigned("s");
    m.assign(t, {{"s", "t + 1"}});
    kernel(m, t, "i", "x", "y");
  })));
  CHECK(!repeats(loop_with([](Maker& m, ir::Sequence& t) {  // memory
    auto& b = m.block(t);
    m.transient("d", ScalarType::kInt64, "N", &b).storage = ir::Storage::kGpuGlobal;
    kernel(m, b.body, "i", "x", "d");
    kernel(m, b.body, "j", "d", "y");
  })));
  CHECK(!repeats(loop_with([](Maker& m, ir::Sequence& t) {  // several streams
    kernel(m, t, "i", "x", "x");
    kernel(m, t, "j", "y", "y");
  })));
  // Of two loops the inner one.
  const std::string text = source(
      loop_with([](Maker& m, ir::Sequence& t) { kernel(m, m.loop(t, "u", "0", "u < t", "u + 1"), "i", "x", "y"); }));
  INFO(text);
  CHECK(text.find("device_repeat_begin(call, 0, t, ") != std::string::npos);
  CHECK(text.find("sdfg_abi->device_repeat_begin") == text.rfind("sdfg_abi->device_repeat_begin"));
}

TEST_CASE("graphs hold few kernels and leave few iterations over") {
  CHECK(runtime::iterations_of_graph(500, 2) == 25);
  CHECK(runtime::iterations_of_graph(1000000, 2) == 125);
  CHECK(runtime::iterations_of_graph(0, 1) == 1);
  CHECK(runtime::iterations_of_graph(5, 1) == 5);
  CHECK(runtime::iterations_of_graph(31, 1) == 31);
  CHECK(runtime::iterations_of_graph(64, 1) == 32);
  CHECK(runtime::iterations_of_graph(67, 1) == 33);
  CHECK(runtime::iterations_of_graph(100, 500) == 1);
  for (std::int64_t trips = 1; trips < 300; ++trips) {
    const std::int64_t n = runtime::iterations_of_graph(trips, 1);
    REQUIRE((n >= 1 && n <= std::min<std::int64_t>(trips, 43)));
    REQUIRE(trips % n <= trips % std::min<std::int64_t>(trips, 32));
  }
}

TEST_CASE("recorded loops launch what plain loops launch") {
  auto& device = emulator();
  for (const Toggle graphs : {Toggle::kAuto, Toggle::kOn, Toggle::kOff}) {
    const AnyFunction f = compiled(loop_with(two_kernels), emulated(graphs));
    for (const std::int64_t trips : {-3, 0, 1, 2, 15, 16, 17, 33, 64, 1000}) {
      Arrays a(7);
      device.reset_ledger();
      a.call(f, 7, trips);
      const auto ledger = device.ledger();
      const std::int64_t done = std::max<std::int64_t>(trips, 0);
      INFO("graphs " << static_cast<int>(graphs) << ", trips " << trips);
      CHECK(ledger.total.launches == 2 * done);
      CHECK(a.x.download() == std::vector<std::int64_t>(7, 2 * done));
      const bool recorded = graphs == Toggle::kOn ? trips >= 2 : graphs == Toggle::kAuto && trips >= 64;
      CHECK(ledger.graphs_recorded == (recorded ? 1 : 0));
      CHECK((ledger.graphs_launched > 0) == recorded);
      if (trips == 1000 && recorded) CHECK(ledger.graphs_launched == 20);
    }
  }
}

TEST_CASE("loops in steps are counted right where they are empty, too") {
  for (const std::string update : {"t + 3", "t + 1"}) {
    const AnyFunction f = compiled(loop_with(two_kernels, "t <= T", update), emulated(Toggle::kOn));
    for (const std::int64_t last : {-7, -4, -3, -2, -1, 0, 1, 2, 3, 8, 200}) {
      std::int64_t trips = 0;
      for (std::int64_t t = 0; t <= last; t += update == "t + 3" ? 3 : 1) ++trips;
      Arrays a(7);
      a.call(f, 7, last);
      INFO(update << " up to " << last);
      CHECK(a.x.download() == std::vector<std::int64_t>(7, 2 * trips));
    }
  }
}

TEST_CASE("a later call with the same arguments uses the graph of the earlier one") {
  auto& device = emulator();
  const AnyFunction f = compiled(loop_with(two_kernels), emulated());
  Arrays a(7), b(7);
  const auto recorded = [&](Arrays& arrays, std::int64_t trips) {
    device.reset_ledger();
    arrays.call(f, 7, trips);
    return device.ledger().graphs_recorded;
  };
  CHECK(recorded(a, 100) == 1);
  CHECK(recorded(a, 100) == 0);
  CHECK(recorded(a, 200) == 0);
  CHECK(recorded(b, 100) == 1);
  CHECK(recorded(a, 100) == 1);
  CHECK(a.x.download() == std::vector<std::int64_t>(7, 1000));
  CHECK(b.x.download() == std::vector<std::int64_t>(7, 200));
}

TEST_CASE("what can't be recorded is launched one by one") {
  auto& device = emulator();
  int fallbacks = 0, reported = 0;
  for (std::int64_t fail_at = 1; fail_at < 60; ++fail_at) {
    const AnyFunction f = compiled(loop_with(two_kernels), emulated(Toggle::kOn));
    Arrays a(7);
    device.reset_ledger();
    device::emulated::Settings settings;
    settings.fail_at = fail_at;
    device.set_settings(settings);
    try {
      a.call(f, 7, 5);
      device.set_settings({});
      REQUIRE(a.x.download() == std::vector<std::int64_t>(7, 10));
      fallbacks += device.ledger().graphs_launched == 0 ? 1 : 0;
    } catch (const Error& e) {
      device.set_settings({});
      ++reported;
      CHECK(e.message().find("as the emulator's settings ask") != std::string::npos);
    }
    // The next call is none the worse.
    Arrays b(7);
    b.call(f, 7, 5);
    REQUIRE(b.x.download() == std::vector<std::int64_t>(7, 10));
  }
  CHECK(fallbacks >= 10);  // making the stream, beginning, ten launches, ending
  CHECK(reported >= 1);    // launching the graph
}

TEST_CASE("a call on a stream that the application records becomes part of its recording") {
  auto& device = emulator();
  const AnyFunction f = compiled(loop_with(two_kernels), emulated(Toggle::kOn));
  Arrays a(7);
  const auto stream = device.make_stream();
  {
    const UseStream use(stream->native());
    device.begin_capture(*stream);
    a.call(f, 7, 20);
  }
  const auto graph = device.end_capture(*stream);
  CHECK(device.ledger().graphs_recorded == 1);
  CHECK(device.ledger().total.launches == 0);
  device.launch_graph(*stream, *graph);
  device.launch_graph(*stream, *graph);
  device.synchronise(*stream);
  CHECK(a.x.download() == std::vector<std::int64_t>(7, 80));
}

TEST_CASE("waiting after each launch, and times per element, need launches of their own") {
  Options o = emulated(Toggle::kOn);
  o.gpu_sync = true;
  CHECK(!repeats(loop_with(two_kernels), o));
  o.gpu_sync = false;
  o.profile = EnumSet<Profile>{Profile::kTable};
  CHECK(!repeats(loop_with(two_kernels), o));
  CHECK(!repeats(loop_with(two_kernels), emulated(Toggle::kOff)));
}

TEST_CASE("an argument of a launch that the device refuses is reported from inside a recorded loop") {
  auto& device = emulator();
  const AnyFunction f = compiled(loop_with(two_kernels), emulated(Toggle::kOn));
  Arrays a(7);
  std::int64_t host[7] = {};
  std::int64_t* px = host;  // no memory of the device
  std::int64_t* py = a.y.data();
  std::int64_t n = 7, trips = 20;
  void* arguments[] = {&px, &py, &n, &trips};
  CHECK_THROWS_AS(f.call_packed(arguments), Error);
  device.drain();
  (void)device.take_fault();
  a.call(f, 7, 20);
  CHECK(a.x.download() == std::vector<std::int64_t>(7, 40));
}

}  // namespace test_repeat
