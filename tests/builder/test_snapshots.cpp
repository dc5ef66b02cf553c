// A value keeps what it was when it was made.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_snapshots {

using namespace sdfg;
using test::Arguments;

TEST_CASE("swapping two elements needs no temporary by hand") {
  Builder g("swap");
  auto A = g.array<double>("A", {2});
  Value<double> x = A(0);
  A(0) = A(1);
  A(1) = x;
  double a[] = {1, 2};
  test::run(g, Arguments().set("A", a));
  CHECK(a[0] == 2);
  CHECK(a[1] == 1);
}

TEST_CASE("an update of an element in place makes no copy") {
  Builder g("update");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  g.map({"i", 0, N}, [&](auto i) { A(i) = A(i) * A(i) + 1.0; });
  CHECK(test::count(test::elements_of(g), "state\n") == 1);
  CHECK(builder::graph_of(g).containers.size() == 1);
}

TEST_CASE("an expression of several values keeps all of them") {
  Builder g("mixed");
  auto A = g.array<double>("A", {3});
  auto x = A(0) + A(1);
  auto y = x * 2.0;
  A(0) = 100;
  auto z = x + A(0);
  A(1) = 200;
  A(2) = x + y + z;  // 3 + 6 + 103
  double a[] = {1, 2, 0};
  test::run(g, Arguments().set("A", a));
  CHECK(a[2] == 112);
}

TEST_CASE("a value made before a loop is not read again inside") {
  Builder g("loop");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  Value<double> first = A(0);
  g.loop("i", 0, N, [&](auto i) { A(i) = first + A(i); });
  double a[] = {1, 2, 3, 4};
  test::run(g, Arguments().set("N", 4).set("A", a));
  CHECK(a[0] == 2);
  CHECK(a[1] == 3);
  CHECK(a[3] == 5);
}

TEST_CASE("a value made in a loop and used in a map inside it") {
  Builder g("pivot");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  g.loop("k", 0, N, [&](auto k) {
    auto p = A(k, k) * 1.0;
    g.map({"j", 0, N}, [&](auto j) { A(k, j) = A(k, j) / p; });
  });
  double a[] = {2, 4, 3, 6};
  for (const auto order : {interpret::MapOrder::kForward, interpret::MapOrder::kReverse}) {
    double b[] = {a[0], a[1], a[2], a[3]};
    test::run(g, Arguments().set("N", 2).set("A", b), order);
    CHECK(b[0] == 1);
    CHECK(b[1] == 2);
    CHECK(b[2] == 0.5);
    CHECK(b[3] == 1);
  }
}

TEST_CASE("stores in one branch keep a value for the other and for what follows") {
  Builder g("branch");
  auto A = g.array<double>("A", {3});
  Value<double> x = A(0);
  g.if_(A(1) > 0.0, [&] { A(0) = 7; }, [&] { A(1) = x; });
  A(2) = x;
  for (const double sign : {1.0, -1.0}) {
    double a[] = {5, sign, 0};
    test::run(g, Arguments().set("A", a));
    CHECK(a[0] == (sign > 0 ? 7 : 5));
    CHECK(a[1] == (sign > 0 ? 1 : 5));
    CHECK(a[2] == 5);
  }
}

TEST_CASE("stores through a view count for the viewed array") {
  Builder g("views");
  auto A = g.array<double>("A", {4});
  auto V = g.view("V", A.slice(range(1, 4)));
  Value<double> x = A(1);
  V(0) = 9;
  A(0) = x;
  Value<double> y = V(1);
  A(2) = 8;
  A(3) = y;
  double a[] = {1, 2, 3, 4};
  test::run(g, Arguments().set("A", a));
  CHECK(a[0] == 2);
  CHECK(a[1] == 9);
  CHECK(a[2] == 8);
  CHECK(a[3] == 3);
}

TEST_CASE("whole-array expressions are snapshots too") {
  Builder g("arrays");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto B = g.array<double>("B", {N});
  auto X = A + 1.0;
  auto S = sum(A);
  A = 0.0;
  B = X * S;
  double a[] = {1, 2, 3}, b[3];
  test::run(g, Arguments().set("N", 3).set("A", a).set("B", b));
  CHECK(b[0] == 12);
  CHECK(b[2] == 24);
  CHECK(a[1] == 0);
}

TEST_CASE("values made at one place keep their order") {
  Builder g("order");
  auto A = g.array<double>("A", {4});
  Value<double> x = A(0);
  auto S = sum(A);
  auto y = x + S;
  A(0) = 50;
  A(1) = y;
  A(2) = x;
  A(3) = S;
  double a[] = {1, 2, 3, 4};
  test::run(g, Arguments().set("A", a));
  CHECK(a[1] == 11);
  CHECK(a[2] == 1);
  CHECK(a[3] == 10);
}

TEST_CASE("a value of a symbol that is assigned again") {
  Builder g("symbols");
  auto A = g.array<std::int64_t>("A", {3});
  auto k = g.assign("k", 5);
  Value<std::int64_t> before = k * 2;
  g.assign(k, k + 1);
  A(0) = before;
  A(1) = k;
  A(2) = k * 2;
  std::int64_t a[3];
  test::run(g, Arguments().set("A", a));
  CHECK(a[0] == 10);
  CHECK(a[1] == 6);
  CHECK(a[2] == 12);
}

TEST_CASE("a reference may point anywhere: stores through it keep every value") {
  Builder g("reference");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto B = g.array<double>("B", {N});
  auto R = g.reference<double>("R", {N});
  g.if_(A(0) > 0.0, [&] { g.point(R, A); }, [&] { g.point(R, B); });
  Value<double> x = A(0);
  R(0) = 3.0;
  B(1) = x;
  double a[] = {2, 0}, b[] = {4, 0};
  test::run(g, Arguments().set("N", 2).set("A", a).set("B", b));
  CHECK(a[0] == 3);
  CHECK(b[1] == 2);
}

TEST_CASE("kept values of sized arrays are declared where their size is known") {
  Builder g("sized");
  auto n = g.array<std::int64_t>("n");
  auto A = g.array<double>("A", {8});
  auto B = g.array<double>("B", {8});
  auto e = g.extent_of(n);
  auto X = A.slice(range(0, e)) * 2.0;
  A = 0.0;
  auto m = g.extent_of(n());
  B.slice(range(0, e)) = X;
  std::int64_t count = 3;
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {};
  static_cast<void>(m);
  test::run(g, Arguments().set("n", &count).set("A", a).set("B", b));
  CHECK(b[0] == 2);
  CHECK(b[2] == 6);
  CHECK(b[3] == 0);
}

namespace {

// B begins so many elements after A, in one piece of memory; a statement reads all of A before it stores to B.
constexpr std::size_t kN = 4, kShift = 1;

struct Statement {
  const char* name;
  std::function<void(Builder&, const Array<double, 2>& A, const Array<double, 2>& B)> build;
  std::function<double(const std::vector<double>& a, const std::vector<double>& b, std::size_t i, std::size_t j)>
      result;  // of B(i, j)
};

double product(const std::vector<double>& a, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t k = 0; k < kN; ++k) sum += a[i * kN + k] * a[k * kN + j];
  return sum;
}

const std::vector<Statement>& statements() {
  using Data = std::vector<double>;
  static const std::vector<Statement> kinds = {
      {"assignment", [](Builder&, const auto& A, auto B) { B = A + 1.0; },
       [](const Data& a, const Data&, auto i, auto j) { return a[i * kN + j] + 1; }},
      {"assignment of slices",
       [](Builder&, const auto& A, auto B) { B.slice(range(1, 3), all) = A.slice(range(0, 2), all) * 2.0; },
       [](const Data& a, const Data& b, auto i, auto j) {
         return i == 1 || i == 2 ? 2 * a[(i - 1) * kN + j] : b[i * kN + j];
       }},
      {"one element repeated", [](Builder&, const auto& A, auto B) { B = B * 0.0 + A(0, 1); },
       [](const Data& a, const Data&, auto, auto) { return a[1]; }},
      {"augmented assignment", [](Builder&, const auto& A, auto B) { B += A; },
       [](const Data& a, const Data& b, auto i, auto j) { return b[i * kN + j] + a[i * kN + j]; }},
      {"division", [](Builder&, const auto& A, auto B) { B /= A; },
       [](const Data& a, const Data& b, auto i, auto j) { return b[i * kN + j] / a[i * kN + j]; }},
      {"maximum in place", [](Builder&, const auto& A, auto B) { B.accumulate(Reduce::max, A * 3.0); },
       [](const Data& a, const Data& b, auto i, auto j) { return std::max(b[i * kN + j], 3 * a[i * kN + j]); }},
      {"sum to one row", [](Builder&, const auto& A, auto B) { B.slice(0, all) = sum(A, axes(0)); },
       [](const Data& a, const Data& b, auto i, auto j) {
         return i == 0 ? a[j] + a[kN + j] + a[2 * kN + j] + a[3 * kN + j] : b[i * kN + j];
       }},
      {"sum to one element", [](Builder&, const auto& A, auto B) { B(0, 0) = sum(A); },
       [](const Data& a, const Data& b, auto i, auto j) {
         return i + j == 0 ? std::accumulate(a.begin(), a.begin() + kN * kN, 0.0) : b[i * kN + j];
       }},
      {"product of matrices", [](Builder&, const auto& A, auto B) { B = matmul(A, A); },
       [](const Data& a, const Data&, auto i, auto j) { return product(a, i, j); }},
      {"transposition", [](Builder&, const auto& A, auto B) { B = transpose(A); },
       [](const Data& a, const Data&, auto i, auto j) { return a[j * kN + i]; }},
      {"copy", [](Builder&, const auto& A, auto B) { B.copy(A); },
       [](const Data& a, const Data&, auto i, auto j) { return a[i * kN + j]; }},
      {"through views",
       [](Builder& g, const auto& A, auto B) {
         auto V = g.view("V", A.slice(all, all));
         auto W = g.view("W", B.slice(all, all));
         W = V - 1.0;
       },
       [](const Data& a, const Data&, auto i, auto j) { return a[i * kN + j] - 1; }},
  };
  return kinds;
}

Builder overlapping(const Statement& s, bool may_alias) {
  Builder g("overlapping");
  auto A = g.array<double>("A", {kN, kN}, {.may_alias = may_alias});
  auto B = g.array<double>("B", {kN, kN}, {.may_alias = may_alias});
  s.build(g, A, B);
  return g;
}

}  // namespace

TEST_CASE("a statement on arguments that may overlap reads all of its operands before it stores") {
  for (const Statement& s : statements()) {
    for (const auto order : {interpret::MapOrder::kForward, interpret::MapOrder::kReverse}) {
      INFO(s.name);
      std::vector<double> memory(kN * kN + kShift);
      for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = 1 + static_cast<double>(k * k % 7);
      const std::vector<double> a(memory.begin(), memory.end() - kShift), b(memory.begin() + kShift, memory.end());
      const Builder g = overlapping(s, true);
      test::run(g, Arguments().set("A", memory.data()).set("B", memory.data() + kShift), order);
      for (std::size_t i = 0; i < kN; ++i)
        for (std::size_t j = 0; j < kN; ++j) CHECK(memory[kShift + i * kN + j] == Approx(s.result(a, b, i, j)));
    }
  }
}

TEST_CASE("a statement on arguments that don't overlap needs no temporary") {
  for (const Statement& s : statements()) {
    INFO(s.name);
    const std::string text = test::whole_text(overlapping(s, false));
    CHECK(!test::contains(text, "_value"));
    CHECK(!test::contains(text, "_copy"));
  }
}

TEST_CASE("a statement that reads a reference may read its target") {
  Builder g("reference");
  auto A = g.array<double>("A", {6});
  auto R = g.reference<double>("R", {4});
  g.point(R, A.slice(range(0, 4)));
  A.slice(range(1, 5)) = R + 1.0;
  double a[] = {1, 1, 1, 1, 1, 6};
  test::run(g, Arguments().set("A", a));
  CHECK(std::vector<double>(a, a + 6) == std::vector<double>{1, 2, 2, 2, 2, 6});
}

}  // namespace test_snapshots
