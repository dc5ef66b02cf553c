// How device graphs are compiled: placement, arguments that stay on the device, sources, caches, errors.
#include <catch2/catch.hpp>
#include <sdfg/compile.hpp>
#include <sdfg/device.hpp>

#include "../support/folder.hpp"
#include "device/emulated/emulator.hpp"
#include "programs.hpp"

namespace test_compile {

using namespace sdfg;
using namespace sdfg::test;

namespace {

Options emulated() {
  Options o;
  o.device = DeviceChoice{DeviceChoice::Kind::kEmulated, 0};
  o.cache = CacheMode::kOff;
  return o;
}

sdfg::Graph handle(const ir::Graph& g) {
  return sdfg::Graph(std::make_shared<const ir::Graph>(g.clone()));
}

// x and y are the caller's, on the device; s is a scalar of the host.
ir::Graph axpy() {
  Maker m("axpy");
  m.array("x", ScalarType::kFloat64, "N").storage = ir::Storage::kGpuGlobal;
  m.array("y", ScalarType::kFloat64, "N").storage = ir::Storage::kGpuGlobal;
  m.scalar_argument("s", ScalarType::kFloat64);
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N", ir::Schedule::kDevice), "o = s * a + b", {"s = s", "a = x[i]", "b = y[i]"},
            {"o = y[i]"});
  return std::move(m.g);
}

device::emulated::Emulator& emulator() {
  auto& e = static_cast<device::emulated::Emulator&>(*device::open({DeviceChoice::Kind::kEmulated, 0}));
  e.set_settings({});
  e.reset_ledger();
  return e;
}

}  // namespace

TEST_CASE("arguments on the device are passed by their address and cause no copies") {
  const AnyFunction f = compile(handle(axpy()), emulated());
  auto& device = emulator();
  const DeviceChoice here{DeviceChoice::Kind::kEmulated, 0};
  std::vector<double> x(1000), y(1000, 1.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  DeviceArray<double> dx(here, x), dy(here, y);
  device.reset_ledger();
  double* px = dx.data();
  double* py = dy.data();
  double s = 0.5;
  std::int64_t n = 1000;
  void* arguments[] = {&px, &py, &s, &n};
  f.call_packed(arguments);
  f.call_packed(arguments);
  const auto ledger = device.ledger();
  CHECK(ledger.total.launches == 2);
  CHECK(ledger.total.to_device.count + ledger.total.to_host.count == 0);
  CHECK(ledger.total.allocations == 0);
  const std::vector<double> result = dy.download();
  for (std::size_t i = 0; i < result.size(); ++i) REQUIRE(result[i] == 1.0 + static_cast<double>(i));
}

TEST_CASE("the source shows the host's half and the kernels, and explain says where they run") {
  const AnyFunction f = compile(handle(axpy()), emulated());
  CHECK(f.source().find("sdfg_abi->device_launch(call, 0, 0, &launch") != std::string::npos);
  CHECK(f.source().find("__global__ __launch_bounds__(128) void axpy_i(") != std::string::npos);
  CHECK(f.explain().find("kernels run on the emulated device") != std::string::npos);
  CHECK(f.explain().find("map 'i': a kernel in blocks of 128 x 1 x 1") != std::string::npos);
  CHECK(f.stats().device_ns > 0);
}

TEST_CASE("without a device, auto takes maps of the host; the CPU can be asked for") {
  Options o = emulated();
  o.device = DeviceChoice{DeviceChoice::Kind::kCpu, 0};
  const AnyFunction f = compile(handle(axpy()), o);
  CHECK(f.source().find("device_launch(call") == std::string::npos);
  CHECK(f.explain().find("kernels run as maps of the host") != std::string::npos);
  std::vector<double> x(10, 2.0), y(10, 1.0);
  double* px = x.data();
  double* py = y.data();
  double s = 3.0;
  std::int64_t n = 10;
  void* arguments[] = {&px, &py, &s, &n};
  f.call_packed(arguments);
  CHECK(y == std::vector<double>(10, 7.0));
  if (!device::cuda_available()) {
    o.device = DeviceChoice{DeviceChoice::Kind::kAuto, 0};
    CHECK(compile(handle(axpy()), o).explain().find("there is no CUDA device") != std::string::npos);
    o.device = DeviceChoice{DeviceChoice::Kind::kCuda, 0};
    CHECK_THROWS_AS(compile(handle(axpy()), o), Error);
  }
}

TEST_CASE("a program with kernels comes back from the disk cache") {
  const test::Folder folder;
  Options o = emulated();
  o.cache = CacheMode::kOn;
  o.cache_dir = folder.str();
  const Program* program = nullptr;
  for (const Program& p : programs()) {
    if (p.name == "jacobi 2d") program = &p;
  }
  REQUIRE(program != nullptr);
  const Made made = make(*program);
  const auto run = [&](const AnyFunction& f) {
    Memory memory = made.memory(20);
    f.call_packed(memory.pack(made.graph));
    const auto a = memory.get<double>("A");
    return std::vector<double>(a.begin(), a.end());
  };
  const AnyFunction first = compile(handle(made.graph), o);
  CHECK(first.stats().origin == CompileStats::Origin::kCompiled);
  const std::vector<double> expected = run(first);
  clear_memory_cache();
  const AnyFunction second = compile(handle(made.graph), o);
  CHECK(second.stats().origin == CompileStats::Origin::kDisk);
  CHECK(run(second) == expected);
  CHECK(second.source() == first.source());
  // Another block size is another program, and so is another target.
  o.gpu_block_size = BlockSize{{64, 1, 1}};
  CHECK(compile(handle(made.graph), o).stats().origin == CompileStats::Origin::kCompiled);
  o.device = DeviceChoice{DeviceChoice::Kind::kCpu, 0};
  CHECK(compile(handle(made.graph), o).stats().origin == CompileStats::Origin::kCompiled);
}

TEST_CASE("a kernel that reaches memory of the host is refused by name") {
  Gpu m("host_memory");
  m.array("A", ScalarType::kFloat64, "N");
  m.device("d", ScalarType::kFloat64, "N");
  m.symbol("N");
  m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = A[i]"}, {"o = d[i]"});
  try {
    compile(handle(m.g), emulated());
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kGraph);
    CHECK(e.message().find("'A'") != std::string::npos);
    CHECK(e.message().find("map 'i'") != std::string::npos);
  }
}

TEST_CASE("code that the kernels' compiler refuses is reported with its element") {
  Gpu m("refused");
  m.inout("A", ScalarType::kFloat64, "N");
  m.symbol("N");
  auto& k = m.kernel("i", "0:N");
  ir::Tasklet& t = m.tasklet(k, "o = a", {"a = gA[i]"}, {"o = gA[i]"});
  t.code = {};
  t.code.language = tasklet::Language::kCpp;
  t.code.text = "o = a +;";
  m.finish();
  std::get<ir::State>(k.items[0]->kind).nodes[1].label = "broken";
  try {
    compile(handle(m.g), emulated());
    FAIL("no error");
  } catch (const Error& e) {
    INFO(e.what());
    CHECK(e.error_class() == ErrorClass::kCompile);
    CHECK(std::string(e.what()).find("tasklet 'broken'") != std::string::npos);
  }
}

TEST_CASE("C++ tasklets run in kernels") {
  Gpu m("native");
  m.inout("A", ScalarType::kFloat64, "N");
  m.symbol("N");
  ir::Tasklet& t = m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = gA[i]"});
  t.code = {};
  t.code.language = tasklet::Language::kCpp;
  t.code.text = "o = twice(a) + 1;";
  t.code.global_text = "static double twice(double x) { return 2 * x; }";
  m.finish();
  const AnyFunction f = compile(handle(m.g), emulated());
  Memory memory;
  memory.array("A", std::vector<double>{1.0, 2.0, 3.0}).value("N", std::int64_t{3});
  f.call_packed(memory.pack(m.g));
  CHECK(memory.get<double>("A")[2] == 7.0);
}

TEST_CASE("too many threads in a block are refused by their number") {
  Gpu m("threads");
  m.inout("A", ScalarType::kFloat64, "N");
  m.symbol("N");
  auto& e = m.map_element(m.body(), "i", "0:N", ir::Schedule::kDevice);
  std::get<ir::Map>(e.kind).gpu_block_size = {512, 4, 1};
  m.tasklet(Maker::body_of(e), "o = 1.0", {}, {"o = gA[i]"});
  m.finish();
  try {
    compile(handle(m.g), emulated());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message().find("512 x 4 x 1") != std::string::npos);
  }
}

TEST_CASE("waiting and copying do not grow with the number of kernels") {
  const auto count = [](std::int64_t steps) {
    Gpu m("steps");
    m.inout("A", ScalarType::kFloat64, "N");
    m.inout("B", ScalarType::kFloat64, "N");
    m.symbol("N");
    auto& t = m.loop(m.body(), "t", "0", "t < " + std::to_string(steps), "t + 1");
    m.tasklet(m.kernel("i", "1:N - 1", &t), "o = a + b", {"a = gA[i - 1]", "b = gA[i + 1]"}, {"o = gB[i]"});
    m.tasklet(m.kernel("j", "1:N - 1", &t), "o = a + b", {"a = gB[j - 1]", "b = gB[j + 1]"}, {"o = gA[j]"});
    m.finish();
    const AnyFunction f = compile(handle(m.g), emulated());
    auto& device = emulator();
    Memory memory;
    memory.array("A", numbers(50)).array("B", numbers(50, 2)).value("N", std::int64_t{50});
    f.call_packed(memory.pack(m.g));
    return device.ledger().total;
  };
  const auto few = count(2), many = count(20);
  CHECK(few.launches == 4);
  CHECK(many.launches == 40);
  CHECK(many.synchronises == few.synchronises);
  CHECK(many.to_device.count == 2);
  CHECK(many.to_host.count == 2);
}

TEST_CASE("blocks take runs of rows when there are many") {
  Builder g("rows");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M}, {.storage = Storage::kGpuGlobal});
  auto B = g.array<double>("B", {N, M}, {.storage = Storage::kGpuGlobal});
  g.map({"i", 1, N - 1}, {"j", 0, M}, [&](auto i, auto j) { B(i, j) = A(i - 1, j) + A(i, j) + A(i + 1, j); },
        {.schedule = Schedule::kDevice});
  const auto f = compile<void(double*, double*, std::int64_t, std::int64_t)>(g.graph(), emulated());
  CHECK(f.source().find("sdfg_runs(") != std::string::npos);
  const DeviceChoice here{DeviceChoice::Kind::kEmulated, 0};
  for (const std::int64_t n : {3, 5, 16400, 70001}) {
    const std::int64_t m = 3;
    std::vector<double> a(static_cast<std::size_t>(n * m));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 101);
    DeviceArray<double> da(here, a), db(here, std::vector<double>(a.size(), -1.0));
    f(da.data(), db.data(), n, m);
    const std::vector<double> b = db.download();
    for (std::size_t i = 0; i < b.size(); ++i) {
      const bool inner = i >= 3 && i + 3 < b.size();
      REQUIRE(b[i] == (inner ? a[i - 3] + a[i] + a[i + 3] : -1.0));
    }
  }
}

TEST_CASE("warps begin at lines of memory: threads in front of the first point have no work") {
  const auto text = [](const char* from, const char* to, const Type& type, const char* written) {
    Maker m("lines");
    m.array("A", type, "N, 2 * N").storage = ir::Storage::kGpuGlobal;
    m.array("B", type, "N, 2 * N").storage = ir::Storage::kGpuGlobal;
    m.symbol("N");
    m.tasklet(m.map(m.body(), "i, j", std::string("0:N, ") + from + ":" + to, ir::Schedule::kDevice), "o = a",
              {"a = A[i, j]"}, {std::string("o = B[i, ") + written + "]"});
    return compile(handle(m.g), emulated()).source();
  };
  const auto lead = [](const std::string& source) {
    const std::size_t at = source.find("{{sdfg_blocks_after(");
    if (at == std::string::npos) return std::string("0");
    const std::size_t end = source.find(')', source.find("128, ", at));
    return source.substr(source.rfind(' ', end) + 1, end - source.rfind(' ', end) - 1);
  };
  CHECK(lead(text("1", "N - 1", ScalarType::kFloat64, "j")) == "1");
  CHECK(lead(text("0", "N - 1", ScalarType::kFloat64, "j + 1")) == "1");  // as files have it
  CHECK(lead(text("0", "N", ScalarType::kFloat64, "j")) == "0");
  CHECK(lead(text("16", "N", ScalarType::kFloat64, "j")) == "0");
  CHECK(lead(text("16", "N", ScalarType::kFloat32, "j")) == "16");
  CHECK(lead(text("5", "N", ScalarType::kComplex128, "j")) == "5");
  CHECK(lead(text("N // 2", "N", ScalarType::kFloat64, "j")) == "0");                     // not known
  CHECK(lead(text("1", "N - 1", ScalarType::kFloat64, "2 * j")) == "1");                  // what is read counts, then
  CHECK(text("1", "129", ScalarType::kFloat64, "j").find("{{1, ") != std::string::npos);  // one block stays one
  CHECK(text("1", "N", ScalarType::kFloat64, "j").find("j >= 1 && j < N") != std::string::npos);
}

TEST_CASE("a transposition on the device goes through tiles of shared memory") {
  Builder g("transposition");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<float>("A", {N, M}, {.storage = Storage::kGpuGlobal});
  auto B = g.array<float>("B", {M, N}, {.storage = Storage::kGpuGlobal});
  g.state("transpose", [&](State& s) {
    auto node = s.library("transpose", nodes::Transpose{});
    s.edge(s.access(A), node["_inp"]);
    s.edge(node["_out"], s.access(B));
  });
  const auto f = compile<void(float*, float*, std::int64_t, std::int64_t)>(g.graph(), emulated());
  CHECK(f.source().find("SDFG_SHARED(float") != std::string::npos);
  const DeviceChoice here{DeviceChoice::Kind::kEmulated, 0};
  for (const auto& [n, m] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 5}, {1, 1}, {32, 32}, {33, 31}, {7, 97}}) {
    std::vector<float> a(static_cast<std::size_t>(n * m));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
    DeviceArray<float> da(here, a), db(here, std::vector<float>(a.size(), -1.0F));
    f(da.data(), db.data(), n, m);
    const std::vector<float> b = db.download();
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < m; ++j)
        REQUIRE(b[static_cast<std::size_t>(j * n + i)] == a[static_cast<std::size_t>(i * m + j)]);
    }
  }
}

}  // namespace test_compile
