// Handles that are empty, were moved from or have outlived what they belong to: an error, never a crash.
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <sdfg/jit.hpp>
#include <string>
#include <utility>

#include "scale.hpp"

namespace test_handles {

using namespace sdfg;
using test::plain;
using test::Scale;

namespace {

template <typename F>
std::string usage(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kUsage);
    return e.message();
  }
  return "no error";
}

const std::string kMovedBuilder = "a builder is used that was moved from";
const std::string kEmptyFunction = "an empty function was used; assign it the result of compile() first";

}  // namespace

TEST_CASE("a builder that was moved from refuses everything but an assignment") {
  Builder a("a");
  const Builder b = std::move(a);
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  CHECK(usage([&] { a.symbol("K"); }) == kMovedBuilder);
  CHECK(usage([&] { a.array<double>("A", {3}); }) == kMovedBuilder);
  CHECK(usage([&] { a.callback<void()>("f"); }) == kMovedBuilder);
  CHECK(usage([&] { a.loop("i", 0, 3, [] {}); }) == kMovedBuilder);
  CHECK(usage([&] { a.map({"i", 0, 3}, [](auto) {}); }) == kMovedBuilder);
  CHECK(usage([&] { a.block("b", [] {}); }) == kMovedBuilder);
  CHECK(usage([&] { a.state("s", [](State&) {}); }) == kMovedBuilder);
  CHECK(usage([&] { a.break_(); }) == kMovedBuilder);
  CHECK(usage([&] { a.return_(); }) == kMovedBuilder);
  CHECK(usage([&] { a.name(); }) == kMovedBuilder);
  CHECK(usage([&] { a.text(); }) == kMovedBuilder);
  CHECK(usage([&] { a.graph(); }) == kMovedBuilder);
  CHECK(usage([&] { a.check(); }) == kMovedBuilder);
  CHECK(usage([&] { compile(a, plain()); }) == kMovedBuilder);
  Builder outer("outer");
  CHECK(usage([&] { outer.call(a, {}); }) == kMovedBuilder);
  CHECK(usage([&] { a.call(outer, {}); }) == kMovedBuilder);
  a = Builder("again");
  CHECK(a.name() == "again");
  // NOLINTEND(bugprone-use-after-move)
  CHECK(b.name() == "a");
}

TEST_CASE("callbacks and branches of a builder that is gone") {
  std::optional<Callback<double(double)>> callback;
  std::optional<IfChain> chain;
  {
    Builder g("gone");
    const Index N = g.symbol("N");
    callback.emplace(g.callback<double(double)>("f"));
    chain.emplace(g.if_(N > 1, [] {}));
  }
  const std::string gone = "a handle of graph 'gone' is used after its builder was destroyed";
  CHECK(usage([&] { (*callback)(2.0); }) == gone);
  CHECK(usage([&] { chain->else_([] {}); }) == gone);
  CHECK(usage([&] { chain->else_if(Value<bool>(true), [] {}); }) == gone);
}

TEST_CASE("a builder replaced inside one of its bodies") {
  Builder g("first");
  g.block("body", [&] { g = Builder("second"); });
  CHECK(g.name() == "second");
  CHECK_NOTHROW(g.check());
}

TEST_CASE("an empty function is refused by calls and by typed handles") {
  const AnyFunction none;
  const Function<Scale> typed;
  double x = 1;
  CHECK(usage([&] { typed(&x, 1); }) == kEmptyFunction);
  CHECK(typed.get() == nullptr);
  CHECK(usage([&] { Function<Scale>{none}; }) == kEmptyFunction);
  CHECK(usage([&] { none.call_packed(nullptr); }) == kEmptyFunction);
  CHECK(x == 1);
}

TEST_CASE("a function that was moved from is empty") {
  double x = 1;
  Function<Scale> f = compile<Scale>(test::scale("moved", 2), plain());
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  Function<Scale> g = std::move(f);
  CHECK(!f);
  CHECK(f.get() == nullptr);
  CHECK(usage([&] { f(&x, 1); }) == kEmptyFunction);
  CHECK(usage([&] { f.name(); }) == kEmptyFunction);
  f = std::move(g);
  CHECK(usage([&] { g(&x, 1); }) == kEmptyFunction);
  f(&x, 1);
  CHECK(x == 2);
  const Function<Scale> copy = f;
  const AnyFunction any = std::move(f);
  CHECK(usage([&] { f(&x, 1); }) == kEmptyFunction);
  CHECK(any.name() == "moved");
  Function<Scale> h(any);
  AnyFunction other;
  other = std::move(h);
  CHECK(usage([&] { h(&x, 1); }) == kEmptyFunction);
  CHECK(other.name() == "moved");
  // NOLINTEND(bugprone-use-after-move)
  copy(&x, 1);
  CHECK(x == 4);
}

TEST_CASE("a bound call that was moved from") {
  double x = 1;
  const AnyFunction f = compile(test::scale("bound", 3), plain());
  BoundCall call = f.bind("A", &x);
  call.bind("N", 1);
  BoundCall other = std::move(call);
  const std::string moved = "a call with bound arguments is used that was moved from";
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  CHECK(usage([&] { call.call(); }) == moved);
  CHECK(usage([&] { call.bind("A", &x); }) == moved);
  CHECK(usage([&] { call.bind("N", 1); }) == moved);
  CHECK(usage([&] { call.bind("N", 1.0); }) == moved);
  CHECK(usage([&] { call.bind_function("f", nullptr); }) == moved);
  // NOLINTEND(bugprone-use-after-move)
  other.call();
  CHECK(x == 3);
}

TEST_CASE("a graph that was moved from is still the graph") {
  Graph g = test::scale("graph", 2).graph();
  const Graph other = std::move(g);
  CHECK(g.digest() == other.digest());  // NOLINT(bugprone-use-after-move): what is tested
}

}  // namespace test_handles
