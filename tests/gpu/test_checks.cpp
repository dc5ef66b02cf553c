// SDFG_CHECK in kernels: what is told of a fault, and that the next call works.
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <sdfg/compile.hpp>
#include <sdfg/device.hpp>

#include "compiled.hpp"
#include "programs.hpp"

namespace test_checks {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Options checked(Check check) {
  Options o = options_on(DeviceChoice::Kind::kEmulated);
  o.check = EnumSet<Check>{check};
  return o;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Everything that an error says; nothing without one.
std::string told(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kLaunch);
    return e.what();
  }
  return {};
}

// Calls a graph with the arrays A and, if it has one, B.
std::string call(const AnyFunction& f, const Gpu& m, std::vector<double> a, std::size_t size_of_b = 0) {
  Memory memory;
  memory.value("N", static_cast<std::int64_t>(a.size())).array("A", std::move(a));
  if (size_of_b > 0) memory.array("B", std::vector<double>(size_of_b, 0.0));
  return told([&] { f.call_packed(memory.pack(m.g)); });
}

}  // namespace

TEST_CASE("a value that is no number in a kernel is an error of the call that names element and container") {
  Gpu m("numbers");
  m.inout("A", ScalarType::kFloat64, "N");
  m.symbol("N");
  m.tasklet(m.kernel("i", "0:N"), "o = a - a", {"a = gA[i]"}, {"o = gA[i]"});
  m.finish();
  const AnyFunction f = compiled(m.g, checked(Check::kNan));
  for (const std::size_t bad : {std::size_t{0}, std::size_t{2}, std::size_t{200}}) {
    std::vector<double> a(201, 1.0);
    CHECK(call(f, m, a).empty());
    a[bad] = kInfinity;
    const std::string text = call(f, m, a);
    INFO(text);
    CHECK(has(text, "a value that is no number (NaN) was written to container 'gA' by tasklet"));
    CHECK(has(text, "flat index " + std::to_string(bad)));
  }
  CHECK(call(f, m, {1.0, 2.0}).empty());
  CHECK(!has(compiled(m.g, options_on(DeviceChoice::Kind::kEmulated)).source(), "sdfg_told"));
}

TEST_CASE("accumulations in kernels are checked where they arrive, atomic ones and partial results too") {
  for (const char* index : {"i % 3", "1"}) {
    Gpu m("sums");
    m.in("A", ScalarType::kFloat64, "N");
    m.inout("B", ScalarType::kFloat64, "3");
    m.symbol("N");
    m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {std::string("o = gB[") + index + "] | sum"});
    m.finish();
    const AnyFunction f = compiled(m.g, checked(Check::kNan));
    std::vector<double> a(170, 1.0);
    CHECK(call(f, m, a, 3).empty());
    a[1] = kInfinity;
    a[151] = -kInfinity;
    const std::string text = call(f, m, a, 3);
    INFO(text);
    CHECK(has(text, "no number (NaN) was written to container 'gB'"));
    CHECK(has(text, "flat index 1"));
  }
}

TEST_CASE("faults of kernels in shared memory, registers, loops and on other streams are found") {
  Gpu m("places");
  m.inout("A", ScalarType::kFloat64, "N");
  m.inout("B", ScalarType::kFloat64, "N");
  m.symbol("N");
  auto& t = m.loop(m.body(), "t", "0", "t < 5", "t + 1");
  m.tasklet(m.kernel("i", "0:N", &t), "o = a + 1", {"a = gA[i]"}, {"o = gA[i]"});
  auto& outer = m.map_element(m.body(), "b", "0:N:4", ir::Schedule::kDevice);
  auto& block = m.block(Maker::body_of(outer));
  m.shared("tile", ScalarType::kFloat64, "4", block);
  m.tasklet(m.threads(block.body, "l", "0:min(4, N - b)"), "o = v - v", {"v = gB[b + l]"}, {"o = tile[l]"});
  m.tasklet(m.threads(block.body, "k", "0:min(4, N - b)"), "o = v + 1", {"v = tile[k]"}, {"o = gB[b + k]"});
  m.finish();
  const AnyFunction f = compiled(m.g, checked(Check::kNan));
  const auto run = [&](double a, double b) {
    Memory memory;
    memory.value("N", std::int64_t{7}).array("A", std::vector<double>(7, a)).array("B", std::vector<double>(7, b));
    return told([&] { f.call_packed(memory.pack(m.g)); });
  };
  CHECK(run(1, 2).empty());
  CHECK(has(run(1, kInfinity), "no number (NaN) was written to container 'tile'"));
  CHECK(has(run(std::numeric_limits<double>::quiet_NaN(), 1), "no number (NaN) was written to container 'gA'"));
  CHECK(run(kInfinity, 2).empty());
}

TEST_CASE("an index outside an extent is told in kernels, also where it stays inside of the container") {
  Gpu m("indices");
  m.in("A", ScalarType::kFloat64, "N");
  m.inout("B", ScalarType::kFloat64, "2, N");
  m.symbol("N");
  m.tasklet(m.kernel("i", "0:N"), "o = a[i + i // 6]", {"a = gA[0:N]"}, {"o = gB[0, i + i // 5]"});
  m.finish();
  const AnyFunction f = compiled(m.g, checked(Check::kBounds));
  CHECK(call(f, m, std::vector<double>(5, 1.0), 10).empty());
  const std::string text = call(f, m, std::vector<double>(6, 1.0), 12);
  INFO(text);
  CHECK(has(text, "the index 6 is outside the extent 6 of container 'gB' in dimension 1"));
  CHECK(call(f, m, std::vector<double>(3, 1.0), 6).empty());
  CHECK(has(call(f, m, std::vector<double>(7, 1.0), 14), "outside the extent 7 of container"));
}

TEST_CASE("a stride that lets elements meet at run time keeps every accumulation of a kernel") {
  for (const std::int64_t stride : {0, 1, 2}) {
    Builder g("meeting");
    auto N = g.symbol("N"), S = g.symbol("S");
    auto A = g.array<double>("A", {N}, {.storage = Storage::kGpuGlobal, .strides = {S}});
    g.map({"i", 0, N}, [&](auto i) { A(i) += 1.0; }, {.schedule = Schedule::kDevice});
    const auto f =
        compile<void(double*, std::int64_t, std::int64_t)>(g.graph(), options_on(DeviceChoice::Kind::kEmulated));
    CHECK(has(f.source(), "sdfg_atomic_add(&A["));
    const DeviceChoice here{DeviceChoice::Kind::kEmulated, 0};
    DeviceArray<double> a(here, std::vector<double>(300, 0.0));
    f(a.data(), 131, stride);
    const std::vector<double> result = a.download();
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const double expected = stride == 0 ? (at == 0 ? 131 : 0) : (at % stride == 0 && at / stride < 131 ? 1 : 0);
      REQUIRE(result[i] == expected);
    }
  }
}

}  // namespace test_checks
