// Tasklets, memlets, copies and WCR against hand-written loops.
#include <catch2/catch.hpp>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../support/make.hpp"
#include "interpret/interpreter.hpp"

namespace test_dataflow {

using namespace sdfg;
using interpret::Arguments;
using interpret::MapOrder;
using tasklet::Value;
using test::Maker;

namespace {
std::vector<double> ramp(std::size_t n, double from = 1.0, double step = 0.75) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = from + step * static_cast<double>(i);
  return out;
}
constexpr ScalarType kD = ScalarType::kFloat64;
}  // namespace

TEST_CASE("a map of a tasklet computes every element", "[interpret]") {
  Maker m;
  m.array("A", kD, "N, M");
  m.array("B", kD, "N, M");
  m.symbol("N");
  m.symbol("M");
  auto& body = m.map(m.body(), "i, j", "0:N, 0:M");
  m.tasklet(body, "o = 2 * a + i - j", {"a = A[i, j]"}, {"o = B[i, j]"});
  interpret::Instance instance(m.g);
  for (auto [n, k] : {std::pair(0, 3), std::pair(3, 0), std::pair(1, 1), std::pair(5, 7)}) {
    for (MapOrder order : {MapOrder::kForward, MapOrder::kReverse, MapOrder::kShuffled}) {
      instance.set_options({order, 7, true});
      std::vector<double> a = ramp(static_cast<std::size_t>(n * k)), b(a.size(), -1.0);
      instance.run(Arguments().set("A", a.data()).set("B", b.data()).set("N", n).set("M", k));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) {
          const auto at = static_cast<std::size_t>(i * k + j);
          REQUIRE(b[at] == 2 * a[at] + i - j);
        }
    }
  }
}

TEST_CASE("a copy moves elements in row-major order of both subsets", "[interpret]") {
  Maker m;
  m.array("A", kD, "4, 6");
  m.array("B", kD, "12");
  m.copy(m.body(), "A[0:4:2, 0:6]", "B[0:12]");
  std::vector<double> a = ramp(24), b(12);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  for (std::size_t k = 0; k < 12; ++k) REQUIRE(b[k] == a[k / 6 * 12 + k % 6]);
}

TEST_CASE("a copy converts types and accumulates with WCR", "[interpret]") {
  Maker m;
  m.array("A", kD, "3");
  m.array("B", ScalarType::kInt32, "3");
  m.copy(m.body(), "A[0:3]", "B[0:3] | sum");
  std::vector<double> a{1.75, -2.5, 3.0};
  std::vector<std::int32_t> b{10, 20, 30};
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  REQUIRE(b == std::vector<std::int32_t>{11, 18, 33});
}

TEST_CASE("an overlapping copy reads everything before it writes", "[interpret]") {
  Maker m;
  m.array("A", ScalarType::kInt64, "5");
  m.copy(m.body(), "A[0:4]", "A[1:5]");
  std::vector<std::int64_t> a{1, 2, 3, 4, 5};
  interpret::run(m.g, Arguments().set("A", a.data()));
  REQUIRE(a == std::vector<std::int64_t>{1, 1, 2, 3, 4});
}

TEST_CASE("a copy of unequal counts is an error", "[interpret]") {
  Maker m;
  m.array("A", kD, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  m.copy(m.body(), "A[0:N - 1]", "B[0:N]");
  std::vector<double> a(4), b(4);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("N", 4)),
                      Catch::Contains("reads 3 elements and writes 4"));
}

TEST_CASE("every WCR operator accumulates", "[interpret]") {
  struct Case {
    const char* op;
    std::int64_t start;
    std::int64_t want;
  };
  const std::vector<std::int64_t> values{6, 3, 12, 5};
  const Case cases[] = {{"sum", 1, 27},
                        {"product", 2, 2160},
                        {"min", 9, 3},
                        {"max", 9, 12},
                        {"band", 15, 0},
                        {"bor", 16, 31},
                        {"bxor", 1, 6 ^ 3 ^ 12 ^ 5 ^ 1},
                        {"and", 1, 1},
                        {"or", 0, 1},
                        {"xor", 1, 1},
                        {"custom a * 2 + b", 1, 0}};
  for (const Case& c : cases) {
    Maker m;
    m.array("A", ScalarType::kInt64, "N");
    m.array("B", ScalarType::kInt64, "1");
    m.symbol("N");
    auto& body = m.map(m.body(), "i", "0:N");
    m.tasklet(body, "o = a", {"a = A[i]"}, {std::string("o = B[0] | ") + c.op});
    std::vector<std::int64_t> a = values, b{c.start};
    interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("N", 4));
    std::int64_t want = c.want;
    if (std::string_view(c.op).starts_with("custom")) {
      want = c.start;
      for (std::int64_t v : values) want = want * 2 + v;
    }
    INFO(c.op);
    REQUIRE(b[0] == want);
  }
}

TEST_CASE("the exchange WCR keeps the last value in the chosen order", "[interpret]") {
  Maker m;
  m.array("B", ScalarType::kInt64, "1");
  auto& body = m.map(m.body(), "i", "0:5");
  m.tasklet(body, "o = i", {}, {"o = B[0] | exchange"});
  std::int64_t b = -1;
  interpret::run(m.g, Arguments().set("B", &b), {MapOrder::kForward, 0, false});
  REQUIRE(b == 4);
  interpret::run(m.g, Arguments().set("B", &b), {MapOrder::kReverse, 0, false});
  REQUIRE(b == 0);
}

TEST_CASE("a dynamic WCR output accumulates at every write statement", "[interpret]") {
  Maker m;
  m.array("A", ScalarType::kInt64, "4");
  m.array("B", ScalarType::kInt64, "1");
  auto& body = m.map(m.body(), "i", "0:4");
  m.tasklet(body, "if a > 2:\n    o = a\n    o = 100", {"a = A[i]"}, {"o = B[0] | sum | dynamic"});
  std::vector<std::int64_t> a{1, 5, 2, 7}, b{0};
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  REQUIRE(b[0] == 5 + 7 + 200);
}

TEST_CASE("a dynamic output leaves untouched what the code doesn't write", "[interpret]") {
  Maker m;
  m.array("A", ScalarType::kInt64, "4");
  m.array("B", ScalarType::kInt64, "4");
  auto& body = m.map(m.body(), "i", "0:4");
  m.tasklet(body, "if a > 2:\n    o = a", {"a = A[i]"}, {"o = B[i] | dynamic"});
  std::vector<std::int64_t> a{1, 5, 2, 7}, b{10, 20, 30, 40};
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  REQUIRE(b == std::vector<std::int64_t>{10, 5, 30, 7});
}

TEST_CASE("an output that is not dynamic must be assigned", "[interpret]") {
  Maker m;
  m.array("B", ScalarType::kInt64, "4");
  auto& body = m.map(m.body(), "i", "0:4");
  m.tasklet(body, "if i > 2:\n    o = 1", {}, {"o = B[i]"});
  std::vector<std::int64_t> b(4);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", b.data())), Catch::Contains("'o' was not assigned"));
}

TEST_CASE("pointer connectors are subscripted from the begin of their subset", "[interpret]") {
  Maker m;
  m.array("A", kD, "N, 8");
  m.array("I", ScalarType::kInt32, "N");
  m.array("B", kD, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = row[k] + row[0]", {"row = A[i, 2:8:2]", "k = I[i]"}, {"o = B[i]"});
  std::vector<double> a = ramp(5 * 8), b(5);
  std::vector<std::int32_t> index{0, 2, 1, 2, 0};
  interpret::run(m.g, Arguments().set("A", a.data()).set("I", index.data()).set("B", b.data()).set("N", 5));
  for (std::size_t i = 0; i < 5; ++i)
    REQUIRE(b[i] == a[i * 8 + 2 + 2 * static_cast<std::size_t>(index[i])] + a[i * 8 + 2]);
}

TEST_CASE("indirect writes through a pointer connector accumulate with WCR", "[interpret]") {
  Maker m;
  m.array("V", ScalarType::kInt64, "N");
  m.array("H", ScalarType::kInt64, "4");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "h[v % 4] = 1", {"v = V[i]"}, {"h = H[0:4] | sum | dynamic"});
  std::vector<std::int64_t> v{0, 1, 5, 9, 2, 4, 4}, h(4);
  interpret::run(m.g, Arguments().set("V", v.data()).set("H", h.data()).set("N", 7));
  REQUIRE(h == std::vector<std::int64_t>{3, 3, 1, 0});
}

TEST_CASE("an access outside of a connector's memlet is an error", "[interpret]") {
  Maker m;
  m.array("A", kD, "8");
  m.array("B", kD, "1");
  m.tasklet(m.body(), "o = a[3]", {"a = A[2:5]"}, {"o = B[0]"});
  std::vector<double> a(8), b(1);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data())),
                      Catch::Contains("index 3 of a connector is outside its memlet on 'A'"));
}

TEST_CASE("register edges pass values between tasklets", "[interpret]") {
  Maker m;
  m.array("A", kD, "3");
  m.array("B", kD, "3");
  auto& body = m.map(m.body(), "i", "0:3");
  ir::State& s = m.state(body);
  m.tasklet(s, "t = a * 2\nu = 1.5", {"a = A[i]"}, {});
  const ir::Id first = s.nodes.back().id;
  m.tasklet(s, "o = x - y", {}, {"o = B[i]"});
  ir::Id second = 0;
  for (const auto& n : s.nodes)
    if (std::holds_alternative<ir::Tasklet>(n.kind) && n.id != first) second = n.id;
  std::get<ir::Tasklet>(s.find_node(first)->kind).outputs = {{"t", kD}, {"u", kD}};
  std::get<ir::Tasklet>(s.find_node(second)->kind).inputs = {{"x", kD}, {"y", kD}};
  for (auto [from, to] : {std::pair("t", "x"), std::pair("u", "y")}) {
    ir::Memlet& e = m.edge(s, first, second);
    e.src_connector = from;
    e.dst_connector = to;
  }
  std::vector<double> a{1, 2, 3}, b(3);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  REQUIRE(b == std::vector<double>{0.5, 2.5, 4.5});
}

TEST_CASE("code in tasklets: loops, branches, locals and functions", "[interpret]") {
  Maker m;
  m.array("A", ScalarType::kInt64, "N");
  m.array("B", ScalarType::kInt64, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  // Steps of the Collatz sequence.
  m.tasklet(body,
            "steps = 0\nv = a\nwhile v > 1:\n    if v % 2 == 0:\n        v = v // 2\n    else:\n        v = 3 * v + "
            "1\n    steps += 1\n    if steps > 50: break\no = steps",
            {"a = A[i]"}, {"o = B[i]"});
  std::vector<std::int64_t> a{1, 2, 3, 7, 27}, b(5);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("N", 5));
  REQUIRE(b == std::vector<std::int64_t>{0, 1, 7, 16, 51});
}

TEST_CASE("complex and half elements are computed in their own types", "[interpret]") {
  Maker m;
  m.array("A", ScalarType::kComplex64, "2");
  m.array("B", ScalarType::kComplex64, "2");
  m.array("H", ScalarType::kFloat16, "2");
  auto& body = m.map(m.body(), "i", "0:2");
  m.tasklet(body, "o = a * a + 1", {"a = A[i]"}, {"o = B[i]"});
  auto& second = m.map(m.body(), "k", "0:2");
  m.tasklet(second, "o = h + h", {"h = H[k]"}, {"o = H[k]"});
  std::vector<std::complex<float>> a{{1, 2}, {0.5F, -1}}, b(2);
  std::vector<Half> h{{0x3C00}, {0x3555}};  // 1, about 1/3
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("H", h.data()));
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(std::abs(b[i] - (a[i] * a[i] + 1.0F)) < 1e-6F);
  REQUIRE(h[0].bits == 0x4000);
  REQUIRE(h[1].bits == 0x3955);
}

TEST_CASE("vector elements run lane by lane", "[interpret]") {
  Maker m;
  m.array("A", Type::vector(ScalarType::kFloat32, 4), "3");
  m.array("B", Type::vector(ScalarType::kFloat32, 4), "3");
  m.scalar_argument("s", ScalarType::kFloat32);
  auto& body = m.map(m.body(), "i", "0:3");
  m.tasklet(body, "o = a * k", {"a = A[i]", "k = s"}, {"o = B[i]"});
  std::vector<float> a(12), b(12);
  std::iota(a.begin(), a.end(), 1.0F);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("s", 0.5F));
  for (std::size_t i = 0; i < 12; ++i) REQUIRE(b[i] == a[i] * 0.5F);
}

TEST_CASE("callbacks receive values and addresses", "[interpret]") {
  Maker m;
  m.array("A", kD, "4");
  m.array("B", kD, "1");
  m.symbol("f", Type::callback({Type(kD)}, {Type(kD), Type::pointer(kD)}));
  m.tasklet(m.body(), "o = f(2.5, a)", {"a = A[1:4]"}, {"o = B[0]"});
  std::vector<double> a{1, 2, 3, 4}, b(1);
  interpret::run(
      m.g,
      Arguments().set("A", a.data()).set("B", b.data()).set("f", interpret::Callback([](auto args) {
                                                              const auto* p =
                                                                  static_cast<const double*>(std::get<void*>(args[1]));
                                                              return Value::floating(
                                                                  std::get<Value>(args[0]).as_double() * p[0] + p[2]);
                                                            })));
  REQUIRE(b[0] == 2.5 * 2 + 4);
}

namespace {
double weigh(double x, std::int32_t k, const double* p, float y) {
  return x * k + p[1] + static_cast<double>(y);
}
}  // namespace

TEST_CASE("C functions are called through packed arguments", "[interpret]") {
  Maker m;
  m.array("A", kD, "2");
  m.array("B", kD, "1");
  m.symbol("f", Type::callback({Type(kD)},
                               {Type(kD), Type(ScalarType::kInt32), Type::pointer(kD), Type(ScalarType::kFloat32)}));
  m.symbol("K");
  m.tasklet(m.body(), "o = f(2.5, K, a, 0.25)", {"a = A[0:2]"}, {"o = B[0]"});
  std::vector<double> a{1, 2}, b(1);
  std::int64_t k = 3;
  double *pa = a.data(), *pb = b.data();
  auto* function = &weigh;
  void* packed[] = {&pa, &pb, &function, &k};
  interpret::run(m.g, Arguments::from_packed(m.g, packed));
  REQUIRE(b[0] == 2.5 * 3 + 2 + 0.25);
}

}  // namespace test_dataflow
