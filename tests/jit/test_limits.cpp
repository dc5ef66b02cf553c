// Calls and programs at their limits: sizes that can't be, memory that does not fit, code that never runs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <sdfg/device.hpp>
#include <sdfg/jit.hpp>
#include <sdfg/log.hpp>
#include <vector>

#include "scale.hpp"

namespace test_limits {

namespace {

using namespace sdfg;

using sdfg::test::plain;
using sdfg::test::scale;
using sdfg::test::Scale;

struct Told {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string message = "no error";
  std::string hint;
};
Told told(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.error_class(), e.message(), e.hint()};
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a negative extent is told as one, also of a container with the shape of an argument") {
  Builder g("negative");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, 3});
  auto copy = g.transient<double>("copy", {N, 3});
  auto own = g.transient<double>("own", {M});
  copy.copy(A);
  own(0) = 1.0;
  A.copy(copy);
  A(0, 0) = A(0, 0) + own(0);
  const auto f = compile<void(double*, std::int64_t, std::int64_t)>(g, plain());
  double a[3] = {1, 2, 3};
  f(a, 1, 1);
  CHECK(a[0] == 2);
  const Told shaped = told([&] { f(a, -2, 1); });
  CHECK(shaped.error_class == ErrorClass::kLaunch);
  CHECK(contains(shaped.message, "'copy' would have -6 elements: an extent is negative"));
  const Told plain_one = told([&] { f(a, 1, -2); });
  CHECK(plain_one.error_class == ErrorClass::kLaunch);
  CHECK(contains(plain_one.message, "'own' would have the extent -2 in dimension 0"));
  const Told large = told([&] { f(a, std::int64_t{1} << 62, 1); });
  CHECK(large.error_class == ErrorClass::kLimit);
  CHECK(contains(large.message, "the size of"));
}

TEST_CASE("a negative capacity of a stream is told as one") {
  Builder g("capacities");
  auto N = g.symbol("N");
  auto A = g.array<std::int64_t>("A", {4});
  auto s = g.stream<std::int64_t>("s", Capacity(N));
  s.push(A(0));
  A(1) = s.pop();
  const auto f = compile<void(std::int64_t*, std::int64_t)>(g, plain());
  std::int64_t a[4] = {7};
  f(a, 1);
  CHECK(a[1] == 7);
  const Told negative = told([&] { f(a, -3); });
  CHECK(negative.error_class == ErrorClass::kLaunch);
  CHECK(contains(negative.message, "'s' would have the capacity -3"));
}

TEST_CASE("numbers in braces are extents of an array of streams, and a capacity is a Capacity") {
  Builder g("queues");
  auto N = g.symbol("N"), room = g.symbol("room");
  auto A = g.array<double>("A", {N});
  auto B = g.array<double>("B", {N});
  auto q = g.stream<double>("q", {N});
  auto bounded = g.stream<double>("bounded", {2, 3}, Capacity(room));
  static_assert(std::is_same_v<decltype(q), Stream<double, 1>>);
  static_assert(std::is_same_v<decltype(bounded), Stream<double, 2>>);
  static_assert(std::is_same_v<decltype(g.stream<double>("one", Capacity(N))), Stream<double, 0>>);
  static_assert(std::is_same_v<decltype(g.stream<double>("some", {4})), Stream<double, 1>>);
  g.loop("i", 0, N, [&](auto i) {
    q(i).push(A(i));
    q(i).push(2.0 * A(i));
  });
  g.loop("i", 0, N, [&](auto i) {
    auto first = q(N - 1 - i).pop();
    B(i) = first + 100.0 * q(N - 1 - i).pop();
  });
  g.loop("i", 0, 2, [&](auto i) { bounded(1, i).push(B(0)); });
  bounded(1, 1).push(A(0));
  const auto f = compile<void(double*, double*, std::int64_t, std::int64_t)>(g, plain());
  std::vector<double> a = {1, 2, 3}, b(3);
  f(a.data(), b.data(), 3, 2);
  CHECK(b == std::vector<double>{603, 402, 201});
  const Told full = told([&] { f(a.data(), b.data(), 3, 1); });
  CHECK(full.error_class == ErrorClass::kLaunch);
  CHECK(contains(full.message, "'bounded' is full: it has room for 1 elements"));
}

TEST_CASE("an index outside an array of streams is reported, with bounds checks and without") {
  Builder g("queue_bounds");
  auto N = g.symbol("N"), K = g.symbol("K");
  auto A = g.array<double>("A", {N});
  auto q = g.stream<double>("q", {N});
  q(K).push(A(0));
  A(0) = 2.0 * q(K).pop();
  for (const bool checked : {true, false}) {
    Options o = plain();
    if (checked) o.check = EnumSet<Check>{Check::kBounds};
    const auto f = compile<void(double*, std::int64_t, std::int64_t)>(g, o);
    double a[3] = {4};
    f(a, 3, 2);
    CHECK(a[0] == 8);
    for (const std::int64_t k : {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 40}) {
      const Told outside = told([&] { f(a, 3, k); });
      CHECK(outside.error_class == ErrorClass::kLaunch);
      CHECK(contains(outside.message, "the index " + std::to_string(k) + " is outside the extent 3 of"));
      CHECK(contains(outside.message, "'q'"));
    }
    const Told empty = told([&] { f(a, 0, 0); });
    CHECK(empty.error_class == ErrorClass::kLaunch);
    CHECK(contains(empty.message, "the index 0 is outside the extent 0 of"));
  }
}

TEST_CASE("bounds are checked against extents that are quotients and remainders") {
  Builder g("quotients");
  auto N = g.symbol("N"), K = g.symbol("K");
  auto A = g.array<double>("A", {sdfg::ceil_div(N, 4), N % 4 + 1});
  g.map({"i", 0, sdfg::ceil_div(N, 4)}, [&](auto i) { A(i + K, N % 4) = 2.0; });
  Options o = plain();
  o.check = EnumSet<Check>{Check::kBounds};
  const auto f = compile<void(double*, std::int64_t, std::int64_t)>(g, o);
  std::vector<double> a(4, 1.0);
  f(a.data(), 5, 0);
  CHECK(a == std::vector<double>{1, 2, 1, 2});
  const Told outside = told([&] { f(a.data(), 5, 1); });
  CHECK(outside.error_class == ErrorClass::kLaunch);
  CHECK(contains(outside.message, "the index 2 is outside the extent 2 of"));
}

TEST_CASE("with bounds checks a view lies inside what it shows, also a view of a view") {
  Builder g("views");
  auto N = g.symbol("N"), K = g.symbol("K");
  auto A = g.array<double>("A", {N, 3});
  auto V = g.view("V", A.slice(range(0, 4), 1));
  auto W = g.view("W", V.slice(range(K, K + 2)));
  W(1) = 7.0;
  g.loop("r", 0, 2, [&](auto r) {
    auto row = g.view("row", W.slice(range(r, r + K)));
    g.map({"i", 0, K}, [&](auto i) { row(i) = row(i) + 1.0; });
  });
  Options o = plain();
  o.check = EnumSet<Check>{Check::kBounds};
  const auto f = compile<void(double*, std::int64_t, std::int64_t)>(g, o);
  std::vector<double> a(24);
  f(a.data(), 8, 1);
  CHECK(a[4] == 1);
  CHECK(a[7] == 8);
  f(a.data(), 8, 0);  // rows are empty then, wherever they begin
  CHECK(a[4] == 7);
  const auto outside = [&](std::int64_t n, std::int64_t k, const std::string& what) {
    const Told error = told([&] { f(a.data(), n, k); });
    INFO(error.message);
    CHECK(error.error_class == ErrorClass::kLaunch);
    CHECK(contains(error.message, what));
  };
  outside(8, 3, "the index 4 is outside the extent 4 of container 'V'");
  outside(8, -1, "the index -1 is outside the extent 4 of container 'V'");
  outside(3, 0, "the index 3 is outside the extent 3 of container 'A'");
  outside(8, 2, "the index 2 is outside the extent 2 of container 'W'");
}

TEST_CASE("an index outside an array of one stream is reported") {
  Builder g("one_queue");
  auto K = g.symbol("K");
  auto A = g.array<double>("A", {4});
  auto q = g.stream<double>("q", {1});
  g.map({"i", 0, 4}, [&](auto i) { q(K * i).push(A(i)); });
  A(0) = q(0).pop();
  const auto f = compile<void(double*, std::int64_t)>(g, plain());
  double a[4] = {4, 4, 4, 4};
  f(a, 0);
  CHECK(a[0] == 4);
  const Told outside = told([&] { f(a, 1); });
  CHECK(outside.error_class == ErrorClass::kLaunch);
  CHECK(contains(outside.message, "is outside the extent 1 of"));
}

TEST_CASE("a host expression on device memory says which map to write instead") {
  Options o = plain();
  o.device = DeviceChoice{DeviceChoice::Kind::kEmulated, 0};
  const std::string hint =
      "expressions and slices of whole arrays are host code; write the elements in a map with the Device schedule, as "
      "in "
      "g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the host";
  for (const bool sliced : {false, true}) {
    Builder g("whole");
    auto N = g.symbol("N");
    auto A = g.array<double>("A", {N}, {.storage = Storage::kGpuGlobal});
    if (sliced) A.slice(range(1, N)) = 2.0;
    if (!sliced) A = 2.0;
    const Told refused = told([&] { static_cast<void>(compile(g, o)); });
    CHECK(refused.error_class == ErrorClass::kGraph);
    INFO(refused.message);
    CHECK(refused.message.ends_with(" writes 'A' in GpuGlobal storage on the host"));
    CHECK(refused.hint == hint);
  }
  Builder g("instead");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N}, {.storage = Storage::kGpuGlobal});
  g.map({"i", 0, N}, [&](auto i) { A(i) = 2.0; }, {.schedule = Schedule::kDevice});
  CHECK_NOTHROW(compile(g, o));
}

TEST_CASE("a symbolic step inside a kernel is refused with what to declare, and taken once it is declared") {
  Options o = plain();
  o.device = DeviceChoice{DeviceChoice::Kind::kEmulated, 0};
  for (const bool bounded : {false, true}) {
    Builder g("steps");
    auto N = g.symbol("N");
    auto S = g.symbol("S", bounded ? SymbolOptions{.lower = 1} : SymbolOptions{});
    auto A = g.array<double>("A", {N, N}, {.storage = Storage::kGpuGlobal});
    g.map({"i", 0, N},
          [&](auto i) { g.map({"j", 0, N, S}, [&](auto j) { A(i, j) = 2.0; }, {.schedule = Schedule::kSequential}); },
          {.schedule = Schedule::kDevice});
    const Told error = told([&] {
      const auto f = compile<void(double*, std::int64_t, std::int64_t)>(g, o);
      const DeviceArray<double> a(*o.device, std::vector<double>(9));
      f(a.data(), 3, 2);
      CHECK(a.download() == std::vector<double>{2, 0, 2, 2, 0, 2, 2, 0, 2});
    });
    if (bounded) {
      CHECK(error.message == "no error");
      continue;
    }
    CHECK(error.error_class == ErrorClass::kUsage);
    CHECK(error.message == "A kernel can't express a step that may not be positive: S.");
    CHECK(error.hint ==
          "declare a lower bound with which it is positive, as in g.symbol(\"S\", {.lower = 1}), or use a constant "
          "step");
  }
}

TEST_CASE("nesting beyond the limit is an error of limits") {
  Builder g("deep");
  auto A = g.array<double>("A", {1});
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) {
      A(0) = 1.0;
      return;
    }
    g.loop("i", 0, 2, [&](auto) { nest(depth - 1); });
  };
  nest(230);
  const Told deep = told([&] { compile<void(double*)>(g, plain()); });
  CHECK(deep.error_class == ErrorClass::kLimit);
  CHECK(contains(deep.message, "nested deeper than the limit of 200"));
}

TEST_CASE("loops and maps that never run may say anything") {
  Builder g("never");
  auto N = g.symbol("N"), T = g.symbol("T");
  auto A = g.array<double>("A", {N});
  g.loop("i", 0, 0, [&](auto i) { A(i % N) = 1.0; });
  g.map({"i", 3, 3}, [&](auto i) { A(i % N) = 2.0; });
  g.loop("t", 0, T, [&](auto) {
    g.loop("i", N, N, [&](auto i) { A(i) = A(i - 1); });
    g.loop("i", N, N - N, [&](auto i) { A(i) = A(i - 1); });
    g.map({"i", 0, N}, {"j", N + 1, N}, [&](auto i, auto j) { A(j) = A(i - 1); });
  });
  A(0) = 5.0;
  double a[2] = {1, 2};
  compile<void(double*, std::int64_t, std::int64_t)>(g, plain())(a, 2, 3);
  CHECK(a[0] == 5);
  CHECK(a[1] == 2);
}

TEST_CASE("a workspace that is not aligned, or is none, is refused") {
  Builder g("workspace");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto w = g.external<double>("w", {N});
  g.map({"i", 0, N}, [&](auto i) { w(i) = A(i); });
  g.map({"i", 0, N}, [&](auto i) { A(i) = w(N - 1 - i); });
  const auto f = compile<Scale>(g, plain());
  alignas(64) double memory[64];
  const std::int64_t symbols[] = {3};
  const std::int64_t bytes = f.workspace_size(symbols);
  const Told askew = told([&] { f.set_workspace(memory + 1, bytes); });
  CHECK(askew.error_class == ErrorClass::kUsage);
  CHECK(contains(askew.message,
                 "the workspace of 'workspace' begins 8 bytes after a multiple of 64 bytes, but its "
                 "alignment has to be 64"));
  CHECK(told([&] { f.set_workspace(nullptr, bytes); }).error_class == ErrorClass::kUsage);
  CHECK(told([&] { f.set_workspace(memory, -1); }).error_class == ErrorClass::kUsage);
  f.set_workspace(memory, bytes);
  double a[3] = {1, 2, 3};
  f(a, 3);
  CHECK(a[0] == 3);
  f.set_workspace(nullptr, 0);
  CHECK(told([&] { f(a, 3); }).message != "no error");
}

TEST_CASE("a persistent container of another size starts anew, and a warning says so") {
  Builder g("resized");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto sum = g.persistent<double>("running", {N});
  g.map({"i", 0, N}, [&](auto i) { sum(i) += A(i); });
  A.copy(sum);
  const auto f = compile<Scale>(g, plain());
  const auto warned = [] {
    const std::vector<LogRecord> said = recent_warnings();
    return std::count_if(said.begin(), said.end(), [](const LogRecord& r) {
      return contains(r.text, "'running' of graph 'resized' is persistent and has another size");
    });
  };
  std::vector<double> a = {1, 2, 3};
  f(a.data(), 3);
  f(a.data(), 3);
  CHECK(a == std::vector<double>{2, 4, 6});
  CHECK(warned() == 0);
  std::vector<double> b = {1, 1};
  f(b.data(), 2);
  CHECK(b == std::vector<double>{1, 1});
  f(a.data(), 3);
  CHECK(a == std::vector<double>{2, 4, 6});
  CHECK(warned() == 1);
}

TEST_CASE("a result that holds a function has no error to look at") {
  auto made = try_compile<Scale>(scale("fine", 2), plain());
  REQUIRE(made);
  const Told asked = told([&] { static_cast<void>(made.error()); });
  CHECK(asked.error_class == ErrorClass::kUsage);
  CHECK(asked.message == "the compilation succeeded, so there is no error to look at");
  const auto failed = try_compile<void(float*, std::int64_t)>(scale("fine", 2), plain());
  REQUIRE_FALSE(failed);
  CHECK(failed.error().error_class() == ErrorClass::kUsage);
}

TEST_CASE("callbacks are declared in signatures as C++ does") {
  Builder g("calling");
  auto A = g.array<double>("A", {2});
  auto n = g.symbol("n");
  auto f = g.callback<double(double, std::int64_t)>("f");
  auto done = g.callback<void()>("done");
  A(1) = f(A(0), n);
  done();
  CHECK(compile(g, plain()).signature() == "void(double* A, int64_t n, double (*f)(double, int64_t), void (*done)())");
}

TEST_CASE("argmax and argmin pass over NaN and give 0 for no elements") {
  Builder g("extremes");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto R = g.array<std::int64_t>("R", {2});
  R(0) = argmax(A);
  R(1) = argmin(A);
  const auto f = compile<void(double*, std::int64_t*, std::int64_t)>(g, plain());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto results = [&](std::vector<double> a) {
    std::vector<std::int64_t> r = {-1, -1};
    f(a.data(), r.data(), static_cast<std::int64_t>(a.size()));
    return r;
  };
  CHECK(results({kNan, 2, 7, 7, kNan, 1, 1}) == std::vector<std::int64_t>{2, 5});
  CHECK(results({kNan, kNan}) == std::vector<std::int64_t>{0, 0});
  CHECK(results({}) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("division and remainder of integers by zero give 0") {
  Builder g("divided");
  auto A = g.array<std::int64_t>("A", {4});
  auto x = g.scalar<std::int64_t>("x");
  A(0) = A(0) / x;
  A(1) = A(1) % x;
  A(2) = floor_div(A(2), x);
  A(3) = floor_mod(A(3), x);
  std::int64_t a[4] = {7, 7, 7, 7};
  compile<void(std::int64_t*, std::int64_t)>(g, plain())(a, 0);
  for (const std::int64_t v : a) CHECK(v == 0);
}

}  // namespace test_limits
