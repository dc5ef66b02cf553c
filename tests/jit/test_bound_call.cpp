// Calls with arguments by name: what is converted, solved from shapes, and refused.
#include <catch2/catch.hpp>
#include <complex>
#include <cstdint>
#include <limits>
#include <sdfg/jit.hpp>
#include <vector>

namespace test_bound_call {

namespace {

using namespace sdfg;

template <typename F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kUsage);
    return e.message() + (e.hint().empty() ? "" : " | " + e.hint());
  }
  return "no error";
}

Options plain() {
  Options o;
  o.cache = CacheMode::kMemory;
  return o;
}

// R[i, j] = a * X[i, j] + b[j], with rows of X and R of M + 1 elements.
AnyFunction shifted() {
  static const AnyFunction f = [] {
    Builder g("shifted");
    auto N = g.symbol("N");
    auto M = g.symbol<std::int32_t>("M");
    auto X = g.array<double>("X", {N, M + 1});
    auto b = g.array<float>("b", {2 * M});
    auto R = g.array<double>("R", {N, M + 1});
    auto a = g.scalar<double>("a");
    g.map({"i", 0, N}, {"j", 0, M + 1}, [&](auto i, auto j) { R(i, j) = a * X(i, j) + b(j % (2 * M)); });
    return compile(g, plain());
  }();
  return f;
}

struct Data {
  std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> b = {10, 20, 30, 40, 50, 60};
  std::vector<double> r = std::vector<double>(8, -1.0);
  ArrayRef<const double> X() const { return {x.data(), {2, 4}}; }
  ArrayRef<const float> B() const { return {b.data(), {6}}; }
  ArrayRef<double> R() { return {r.data(), {2, 4}}; }
};

}  // namespace

TEST_CASE("symbols that are not bound follow from the extents") {
  Data d;
  shifted().bind("X", d.X()).bind("b", d.B()).bind("R", d.R()).bind("a", 2).call();
  CHECK(d.r == std::vector<double>{12, 24, 36, 48, 20, 32, 44, 56});
}

TEST_CASE("plain pointers need the symbols") {
  Data d;
  CHECK(message([&] {
          shifted().bind("X", d.x.data()).bind("b", d.b.data()).bind("R", d.r.data()).bind("a", 1.0).call();
        }) == "call of 'shifted': not bound: 'N', 'M'");
  shifted()
      .bind("X", d.x.data())
      .bind("b", d.b.data())
      .bind("R", d.r.data())
      .bind("a", 1.0f)
      .bind("N", 2u)
      .bind("M", std::int64_t{3})
      .call();
  CHECK(d.r == std::vector<double>{11, 22, 33, 44, 15, 26, 37, 48});
}

TEST_CASE("arguments of the wrong name, kind or type are refused where they are bound") {
  Data d;
  std::vector<float> narrow(8);
  const std::vector<double> fixed(8);
  CHECK(message([&] {
          shifted().bind("Y", d.x.data());
        }).starts_with("call of 'shifted': there is no parameter 'Y'; the signature is "));
  CHECK(message([&] { shifted().bind("X", 1.0); }) == "call of 'shifted': parameter 'X' is not passed by value");
  CHECK(message([&] { shifted().bind("a", d.x.data()); }) ==
        "call of 'shifted': parameter 'a' is passed by value, not by pointer");
  CHECK(message([&] { shifted().bind("X", narrow.data()); }) ==
        "call of 'shifted': parameter 'X' has element type float64, bound was a pointer to float32");
  CHECK(message([&] { shifted().bind("R", fixed.data()); }) ==
        "call of 'shifted': parameter 'R' is written, so it can't be bound to const data");
  CHECK(message([&] { shifted().bind("N", 2.5); }) ==
        "call of 'shifted': parameter 'N' has type int64, bound was a float64");
  CHECK(message([&] { shifted().bind("a", std::complex<double>(1, 2)); }) ==
        "call of 'shifted': parameter 'a' has type float64, bound was a complex128");
  CHECK(message([&] { shifted().bind("M", std::int64_t{1} << 40); }) ==
        "call of 'shifted': the value 1099511627776 does not fit parameter 'M' of type int32");
  CHECK(message([&] { shifted().bind("a", (std::int64_t{1} << 53) + 1); }) ==
        "call of 'shifted': the value 9007199254740993 does not fit parameter 'a' of type float64");
}

TEST_CASE("shapes that disagree are refused at the call") {
  Data d;
  CHECK(message([&] { shifted().bind("X", ArrayRef<const double>{d.x.data(), {8}}); }) ==
        "call of 'shifted': parameter 'X' has 2 dimensions, the extents {8} have 1");
  CHECK(
      message([&] {
        shifted().bind("X", d.X()).bind("b", d.B()).bind("R", ArrayRef<double>{d.r.data(), {2, 3}}).bind("a", 1).call();
      }) == "call of 'shifted': extent 1 of 'R' is 3, the graph needs M + 1 = 4");
  CHECK(message([&] {
          shifted().bind("X", d.X()).bind("b", ArrayRef<float>{d.b.data(), {5}}).bind("R", d.R()).bind("a", 1).call();
        }) == "call of 'shifted': extent 0 of 'b' is 5, the graph needs 2*M = 6");
}

TEST_CASE("an extent that no value of its symbol gives is told with array, extent and value") {
  Builder g("odd");
  auto M = g.symbol("M");
  auto K = g.symbol("K");
  auto A = g.array<double>("A", {2 * M + 1});
  auto S = g.array<double>("S", {K * K, M});
  g.map({"i", 0, 2 * M + 1}, [&](auto i) { A(i) = 1.0; });
  g.map({"i", 0, M}, [&](auto i) { S(0, i) = 2.0; });
  const AnyFunction f = compile(g, plain());
  std::vector<double> a(9), s(16);
  const auto with = [&](std::int64_t extent, std::int64_t rows, std::int64_t columns) {
    return message([&] {
      f.bind("A", ArrayRef<double>{a.data(), {extent}}).bind("S", ArrayRef<double>{s.data(), {rows, columns}}).call();
    });
  };
  CHECK(message([&] { f.bind("A", ArrayRef<double>{a.data(), {8}}).bind("S", s.data()).bind("K", 2).call(); }) ==
        "call of 'odd': extent 0 of 'A' is 8, and no M gives 2*M + 1 = 8");
  // Another array gives M: then the extents disagree.
  CHECK(with(8, 4, 4).starts_with("call of 'odd': not bound: 'K' | extent 0 of 'S', K**2 = 4, does not tell K"));
  CHECK(
      message([&] {
        f.bind("A", ArrayRef<double>{a.data(), {8}}).bind("S", ArrayRef<double>{s.data(), {4, 4}}).bind("K", 2).call();
      }) == "call of 'odd': extent 0 of 'A' is 8, the graph needs 2*M + 1 = 9");
  f.bind("A", ArrayRef<double>{a.data(), {9}}).bind("S", ArrayRef<double>{s.data(), {4, 4}}).bind("K", 2).call();
  CHECK(a == std::vector<double>(9, 1.0));
}

TEST_CASE("symbols beyond the bounds that the graph states are refused at the call") {
  Builder g("bounded");
  auto N = g.symbol("N", {.lower = 1, .upper = 100});
  auto M = g.symbol("M", {.lower = N, .upper = 2 * N});
  auto A = g.array<double>("A", {N, M});
  A(0, 0) = 1.0;
  const AnyFunction f = compile(g, plain());
  std::vector<double> a(12);
  f.bind("A", a.data()).bind("N", 3).bind("M", 4).call();
  CHECK(a[0] == 1);
  const auto with = [&](int n, int m) {
    return message([&] { f.bind("A", a.data()).bind("N", n).bind("M", m).call(); });
  };
  CHECK(with(0, 0) == "call of 'bounded': symbol 'N' is 0, the graph needs at least 1");
  CHECK(with(101, 101) == "call of 'bounded': symbol 'N' is 101, the graph needs at most 100");
  CHECK(with(3, 2) == "call of 'bounded': symbol 'M' is 2, the graph needs at least N = 3");
  CHECK(with(3, 7) == "call of 'bounded': symbol 'M' is 7, the graph needs at most 2*N = 6");
  // Solved from extents, too.
  CHECK(message([&] { f.bind("A", ArrayRef<double>{a.data(), {4, 3}}).call(); }) ==
        "call of 'bounded': symbol 'M' is 3, the graph needs at least N = 4");
}

TEST_CASE("a null pointer is taken only for what has no elements") {
  Data d;
  const ArrayRef<const double> nothing{nullptr, {2, 4}};
  CHECK(message([&] { shifted().bind("X", nothing).bind("b", d.B()).bind("R", d.R()).bind("a", 1).call(); }) ==
        "call of 'shifted': parameter 'X' was bound to a null pointer, but has 8 elements");
  shifted()
      .bind("X", static_cast<const double*>(nullptr))
      .bind("b", d.b.data())
      .bind("R", static_cast<double*>(nullptr))
      .bind("a", 1)
      .bind("N", 0)
      .bind("M", 3)
      .call();
}

TEST_CASE("symbols are solved from the shapes of each call anew") {
  Builder g("again");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = 1.0; });
  const AnyFunction f = compile(g, plain());
  std::vector<double> a(5);
  BoundCall call = f.bind("A", ArrayRef<double>{a.data(), {2}});
  call.call();
  CHECK(a == std::vector<double>{1, 1, 0, 0, 0});
  call.bind("A", ArrayRef<double>{a.data(), {5}}).call();
  CHECK(a == std::vector<double>(5, 1.0));
  call.bind("A", a.data());
  CHECK(message([&] { call.call(); }) == "call of 'again': not bound: 'N'");
}

TEST_CASE("values of symbols that make an extent negative are refused") {
  Builder g("shrunk");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {3, N + 2});
  g.map({"i", 0, N}, [&](auto i) { A(2, i) = 1.0; });
  const AnyFunction f = compile(g, plain());
  std::vector<double> a(6);
  f.bind("A", a.data()).bind("N", 0).call();
  CHECK(message([&] { f.bind("A", a.data()).bind("N", -5).call(); }) ==
        "call of 'shrunk': extent 1 of 'A' would be N + 2 = -3");
}

TEST_CASE("values baked in keep the bounds that the graph states") {
  Builder g("baked");
  auto N = g.symbol("N", {.lower = 2, .upper = 10});
  auto M = g.symbol("M", {.lower = N});
  auto A = g.array<double>("A", {N, M});
  A(0, 0) = 1.0;
  const auto with = [&](std::map<std::string, std::int64_t> values) {
    Options o = plain();
    o.specialize = std::move(values);
    return message([&] { compile(g, o); });
  };
  CHECK(with({{"N", 11}}) == "Options::specialize of 'baked': symbol 'N' is 11, the graph needs at most 10");
  CHECK(with({{"N", 1}}) == "Options::specialize of 'baked': symbol 'N' is 1, the graph needs at least 2");
  CHECK(with({{"N", 5}, {"M", 4}}) ==
        "Options::specialize of 'baked': symbol 'M' is 4, the graph needs at least N = 5");
  Options o = plain();
  o.specialize = {{"N", 5}, {"M", 5}};
  compile(g, o);
}

TEST_CASE("an error tells the places of its own graph, also when another one failed alike") {
  const auto error_of = [](const char* label) {
    Builder g("failing");
    auto N = g.symbol("N");
    auto A = g.array<double>("A", {N});
    g.map({label, 0, N + 1}, [&](auto i) { A(i) = 1.0; });
    try {
      compile(g, plain());
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error_of("first").find("map 'first'") != std::string::npos);
  CHECK(error_of("second").find("map 'second'") != std::string::npos);
}

}  // namespace test_bound_call
