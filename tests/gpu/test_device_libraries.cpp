// Calls of device libraries: what goes to them, and what they are asked for. A stand-in for the libraries computes on
// the host what it is asked for, on the memory of the emulated device.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <sdfg/compile.hpp>
#include <sdfg/device.hpp>

#include "../device/fake_libraries.hpp"
#include "device/cuda/library_calls.hpp"
#include "device/cuda/library_files.hpp"
#include "device/emulated/emulator.hpp"
#include "interpret/interpreter.hpp"
#include "programs.hpp"

namespace test_device_libraries {

using namespace sdfg;
using namespace sdfg::test;

namespace {

const DeviceChoice kHere{DeviceChoice::Kind::kEmulated, 0};

// While it lives, the emulated device has libraries.
class Libraries {
 public:
  Libraries() : calls_(emulator()) {
    for (const DeviceLibrary l :
         {DeviceLibrary::kBlas, DeviceLibrary::kSolver, DeviceLibrary::kFft, DeviceLibrary::kSparse})
      device::cuda::prefer_library_file(l, SDFG_FAKE_LIBRARIES);
    void* file = dlopen(SDFG_FAKE_LIBRARIES, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(file != nullptr);
    fake_ = reinterpret_cast<FakeLibraries* (*)()>(dlsym(file, "sdfg_fake_libraries"))();
    *fake_ = {};
    const device::emulated::Emulator::View view = emulator().view();
    reinterpret_cast<void (*)(const void*, std::uint64_t, void*)>(dlsym(file, "sdfg_fake_view"))(view.base, view.size,
                                                                                                 view.real);
    emulator().set_settings({});
    emulator().set_library_hook([this](device::Stream& stream, const device::LibraryCall& call,
                                       const device::Site& site) { calls_.call(stream, call, site); });
  }
  ~Libraries() { emulator().set_library_hook({}); }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

  FakeLibraries& fake() { return *fake_; }
  bool called(const std::string& start) const {
    for (const std::string& c : fake_->calls) {
      if (c.starts_with(start)) return true;
    }
    return false;
  }

  static device::emulated::Emulator& emulator() {
    return static_cast<device::emulated::Emulator&>(*device::open(kHere));
  }

 private:
  device::cuda::LibraryCalls calls_;
  FakeLibraries* fake_ = nullptr;
};

Options emulated() {
  Options o;
  o.device = kHere;
  o.cache = CacheMode::kOff;
  return o;
}

AnyFunction compiled(const ir::Graph& g, const Options& o = emulated()) {
  return compile(sdfg::Graph(std::make_shared<const ir::Graph>(g.clone())), o);
}

// One node on device arrays of the caller.
ir::Graph with_node(const std::function<void(Gpu&)>& build) {
  Gpu m("one");
  build(m);
  m.finish();
  return std::move(m.g);
}

ir::Graph product(const Type& type) {
  return with_node([&](Gpu& m) {
    m.in("A", type, "M, K");
    m.in("B", type, "K, N");
    m.inout("C", type, "M, N");
    for (const char* s : {"M", "N", "K"}) m.symbol(s);
    m.library(m.body(), ir::Gemm{}, {"_a = gA", "_b = gB"}, {"_c = gC"});
  });
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("library programs compute by the libraries what the interpreter computes") {
  Libraries libraries;
  int programs_run = 0;
  for (const Program& p : programs()) {
    if (!p.name.starts_with("library ")) continue;
    const Made made = make(p);
    for (const int level : {1, 3}) {
      Options o = emulated();
      o.opt_level = level;
      const AnyFunction f = compiled(made.graph, o);
      for (const std::int64_t n : {1, 2, 7, 13, 0}) {
        INFO(p.name << ", N = " << n << "\n" << f.explain());
        Memory want = made.memory(n), got = made.memory(n);
        interpret::Instance(made.graph, {}).run(interpret::Arguments::from_packed(made.graph, want.pack(made.graph)));
        f.call_packed(got.pack(made.graph));
        CHECK(got.difference(want, [&](const std::string&) { return std::max(p.tolerance, 1e-12); }).empty());
        for (const std::string& fault : libraries.fake().faults) FAIL_CHECK(fault);
        libraries.fake().faults.clear();
      }
    }
    ++programs_run;
  }
  CHECK(programs_run >= 30);
  for (const char* name : {"gemm", "gemv", "dot", "syrk", "potrf", "getrf", "getrs", "fft", "spmv", "spmm", "scal"}) {
    INFO(name);
    CHECK(libraries.called(name));
  }
}

TEST_CASE("the type, the layout and the presence of a library decide, and the reason is recorded") {
  const auto reason = [](const ir::Graph& g) { return compiled(g).explain(); };
  CHECK(reason(product(ScalarType::kFloat64)).find("the emulated device has no cuBLAS") != std::string::npos);
  Libraries libraries;
  CHECK(reason(product(ScalarType::kFloat64)).find("cuBLAS gemm, float64, the result by rows") != std::string::npos);
  CHECK(reason(product(ScalarType::kInt32)).find("cuBLAS has no such product of int32") != std::string::npos);
  const ir::Graph strided = with_node([](Gpu& m) {
    m.in("A", ScalarType::kFloat64, "M, 2 * K");
    m.in("B", ScalarType::kFloat64, "K, N");
    m.inout("C", ScalarType::kFloat64, "M, N");
    for (const char* s : {"M", "N", "K"}) m.symbol(s);
    m.library(m.body(), ir::Gemm{}, {"_a = gA[0:M, 0:2 * K:2]", "_b = gB"}, {"_c = gC"});
  });
  CHECK(reason(strided).find("are contiguous") != std::string::npos);
}

TEST_CASE("arguments of a product are those of matrices by columns") {
  Libraries libraries;
  const ir::Graph g = product(ScalarType::kFloat64);
  Memory memory;
  memory.array("A", numbers(3 * 5)).array("B", numbers(5 * 4)).array("C", numbers(3 * 4));
  memory.value("M", std::int64_t{3}).value("N", std::int64_t{4}).value("K", std::int64_t{5});
  compiled(g).call_packed(memory.pack(g));
  // C^T (4 x 3) = B^T A^T: neither is transposed for cuBLAS; rows of B have 4 elements, of A 5.
  REQUIRE(libraries.fake().calls.size() == 1);
  CHECK(libraries.fake().calls[0] == "gemm 0 0 4 3 5 4 0 5 0 4 0 1");
}

TEST_CASE("a matrix that can't be factorised is an error of the call unless the graph asks for the status") {
  Libraries libraries;
  const auto graph = [](bool status) {
    return with_node([&](Gpu& m) {
      m.in("A", ScalarType::kFloat64, "N, N");
      m.inout("L", ScalarType::kFloat64, "N, N");
      if (status) m.inout("I", ScalarType::kInt32, "1");
      m.symbol("N");
      if (status)
        m.library(m.body(), ir::Potrf{}, {"_xin = gA"}, {"_xout = gL", "_res = gI[0]"});
      else
        m.library(m.body(), ir::Cholesky{}, {"_a = gA"}, {"_b = gL"});
    });
  };
  Memory memory;
  memory.array("A", std::vector<double>{4, 2, 2, 1 - 8.0})
      .array("L", std::vector<double>(4))
      .value("N", std::int64_t{2});
  memory.array("I", std::vector<std::int32_t>{-1});
  const ir::Graph asked = graph(true), silent = graph(false);
  compiled(asked).call_packed(memory.pack(asked));
  CHECK(memory.get<std::int32_t>("I")[0] == 2);
  const std::string text = error_of([&] { compiled(silent).call_packed(memory.pack(silent)); });
  INFO(text);
  CHECK(text.find("the leading minor of order 2 is not positive definite") != std::string::npos);
  CHECK(text.find("Cholesky") != std::string::npos);

  const ir::Graph solve = with_node([](Gpu& m) {
    m.in("A", ScalarType::kFloat64, "N, N");
    m.inout("x", ScalarType::kFloat64, "N");
    m.symbol("N");
    m.library(m.body(), ir::Solve{}, {"_ain = gA", "_bin = gx"}, {"_bout = gx"});
  });
  Memory singular;
  singular.array("A", std::vector<double>{1, 2, 2, 4})
      .array("x", std::vector<double>{1, 1})
      .value("N", std::int64_t{2});
  const std::string zero = error_of([&] { compiled(solve).call_packed(singular.pack(solve)); });
  INFO(zero);
  CHECK(zero.find("pivot 2 is zero") != std::string::npos);
}

TEST_CASE("a status of a library becomes an error that names the node, and the next call works") {
  Libraries libraries;
  const ir::Graph g = product(ScalarType::kFloat64);
  const AnyFunction f = compiled(g);
  Memory memory;
  memory.array("A", numbers(1)).array("B", numbers(1)).array("C", numbers(1));
  memory.value("M", std::int64_t{1}).value("N", std::int64_t{1}).value("K", std::int64_t{1});
  libraries.fake().fail_with = 14;
  const std::string text = error_of([&] { f.call_packed(memory.pack(g)); });
  INFO(text);
  CHECK(text.find("cuBLAS failed in 'gemm' (the product, status 14)") != std::string::npos);
  libraries.fake().fail_with = 0;
  f.call_packed(memory.pack(g));
  CHECK(memory.get<double>("C")[0] == memory.get<double>("A")[0] * memory.get<double>("B")[0]);
}

TEST_CASE("handles, plans and descriptors are made once and not left behind") {
  Libraries libraries;
  const ir::Graph g = with_node([](Gpu& m) {
    m.inout("A", ScalarType::kComplex128, "N");
    m.symbol("N");
    m.library(m.body(), ir::Fft{}, {"_inp = gA"}, {"_out = gA"});
  });
  const AnyFunction f = compiled(g);
  for (const std::int64_t n : {4, 5, 4, 5, 4}) {
    Memory memory;
    memory.array("A", numbers<std::complex<double>>(n)).value("N", n);
    f.call_packed(memory.pack(g));
  }
  CHECK(libraries.fake().made == 2);
  CHECK(libraries.fake().alive == 2);
  for (const std::int64_t n : {1,  2,  3,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                               20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}) {
    Memory memory;
    memory.array("A", numbers<std::complex<double>>(n)).value("N", n);
    f.call_packed(memory.pack(g));
  }
  CHECK(libraries.fake().alive == 32);
}

TEST_CASE("loops that call libraries are not recorded") {
  Libraries libraries;
  Gpu m("looped");
  m.in("A", ScalarType::kFloat64, "N, N");
  m.in("x", ScalarType::kFloat64, "N");
  m.inout("y", ScalarType::kFloat64, "N");
  m.symbol("N");
  auto& loop = m.loop(m.body(), "t", "0", "t < 200", "t + 1");
  m.library(loop, ir::Gemv{false, 1.0, 0.5}, {"_A = gA", "_x = gx"}, {"_y = gy"});
  m.finish();
  const AnyFunction f = compiled(m.g);
  CHECK(f.source().find("device_repeat_begin(call") == std::string::npos);
  Memory want, got;
  for (Memory* memory : {&want, &got})
    memory->array("A", numbers(9)).array("x", numbers(3)).array("y", numbers(3)).value("N", std::int64_t{3});
  interpret::Instance(m.g, {}).run(interpret::Arguments::from_packed(m.g, want.pack(m.g)));
  f.call_packed(got.pack(m.g));
  CHECK(got.difference(want, [](const std::string&) { return 1e-12; }).empty());
  CHECK(libraries.fake().calls.size() == 200);
}

}  // namespace test_device_libraries
