// Lifetimes and kinds of containers: blocks, views, references, streams, structures, constants, persistent and external
// memory.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../support/make.hpp"
#include "interpret/interpreter.hpp"

namespace test_containers {

using namespace sdfg;
using interpret::Arguments;
using test::Maker;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;
}  // namespace

TEST_CASE("a block's container is fresh at every entry and sized by symbols of that moment", "[interpret]") {
  Maker m;
  m.array("B", kI, "5");
  auto& body = m.loop(m.body(), "i", "0", "i < 5", "i + 1");
  auto& block = m.block(body);
  m.transient("T", kI, "i + 1", &block).zeroed = true;
  auto& fill = m.map(block.body, "j", "0:i + 1");
  m.tasklet(fill, "o = t + j", {"t = T[j]"}, {"o = T[j]"});
  auto& add = m.map(block.body, "k", "0:i + 1");
  m.tasklet(add, "o = t", {"t = T[k]"}, {"o = B[i] | sum"});
  std::vector<std::int64_t> b(5, 0);
  interpret::run(m.g, Arguments().set("B", b.data()));
  REQUIRE(b == std::vector<std::int64_t>{0, 1, 3, 6, 10});
}

TEST_CASE("fresh transients are poisoned, and reading them can be an error", "[interpret]") {
  Maker m;
  m.array("B", kD, "1");
  m.transient("T", kD, "3");
  m.tasklet(m.body(), "o = t", {"t = T[1]"}, {"o = B[0]"});
  double b = 0;
  interpret::run(m.g, Arguments().set("B", &b));
  REQUIRE(std::isnan(b));
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", &b), {interpret::MapOrder::kForward, 0, true}),
                      Catch::Contains("element number 1 of 'T' is read before it was written"));
}

TEST_CASE("a copy of unwritten elements to the caller's memory is an error", "[interpret]") {
  Maker m;
  m.array("B", kD, "3");
  m.transient("T", kD, "3");
  m.tasklet(m.body(), "o = 5", {}, {"o = T[1]"});
  m.copy(m.body(), "T[1:3]", "B[0:2]");
  std::vector<double> b(3, 0.0);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", b.data()), {interpret::MapOrder::kForward, 0, true}),
                      Catch::Contains("element number 2 of 'T' is read before it was written"));
}

TEST_CASE("copies carry the flags of written elements along", "[interpret]") {
  Maker m;
  m.array("B", kD, "1");
  m.transient("T", kD, "3");
  m.transient("U", kD, "3");
  m.tasklet(m.body(), "o = 5", {}, {"o = T[2]"});
  m.copy(m.body(), "T[0:3]", "U[0:3]");
  m.tasklet(m.body(), "o = t", {"t = U[2]"}, {"o = B[0]"});
  double b = 0;
  interpret::run(m.g, Arguments().set("B", &b), {interpret::MapOrder::kForward, 0, true});
  REQUIRE(b == 5);
  m.tasklet(m.body(), "o = t", {"t = U[1]"}, {"o = B[0]"});
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", &b), {interpret::MapOrder::kForward, 0, true}),
                      Catch::Contains("of 'U' is read before"));
}

TEST_CASE("strides, offsets and start offsets place elements", "[interpret]") {
  Maker m;
  m.symbol("N");
  ir::Layout layout = ir::Layout::strided(Maker::extents("N, 3"), Maker::extents("1, N + 2"), Maker::extents("40")[0],
                                          Maker::extents("-1, 1"), 4);
  m.array("A", kI, layout);
  auto& body = m.map(m.body(), "i, j", "1:N + 1, -1:2");
  m.tasklet(body, "o = 10 * i + j", {}, {"o = A[i, j]"});
  const std::int64_t n = 4;
  std::vector<std::int64_t> a(40, -1), want(40, -1);
  interpret::run(m.g, Arguments().set("A", a.data()).set("N", n));
  for (std::int64_t i = 1; i <= n; ++i)
    for (std::int64_t j = -1; j < 2; ++j) want[static_cast<std::size_t>(4 + (i - 1) + (j + 1) * (n + 2))] = 10 * i + j;
  REQUIRE(a == want);
}

TEST_CASE("a view writes through to what it shows, with its own layout and type", "[interpret]") {
  Maker m;
  m.array("A", kD, "4, 6");
  m.view("row", kD, ir::Layout::packed(Maker::extents("6")), "A[2, 0:6]");
  m.view("column", kD, ir::Layout::strided(Maker::extents("4"), Maker::extents("6")), "A[0:4, 1]");
  m.view("bits", kI, ir::Layout::packed(Maker::extents("24")), "A[0:4, 0:6]");
  m.view("middle", kD, ir::Layout::packed(Maker::extents("2")), "row[3:5]");
  auto& body = m.map(m.body(), "i", "0:6");
  m.tasklet(body, "o = i", {}, {"o = row[i]"});
  auto& second = m.map(m.body(), "j", "0:4");
  m.tasklet(second, "o = 100 + j", {}, {"o = column[j]"});
  m.tasklet(m.body(), "o = 0", {}, {"o = bits[0]"});
  m.tasklet(m.body(), "o = -5", {}, {"o = middle[1]"});
  std::vector<double> a(24, -1.0), want(24, -1.0);
  interpret::run(m.g, Arguments().set("A", a.data()));
  for (std::size_t i = 0; i < 6; ++i) want[12 + i] = static_cast<double>(i);
  for (std::size_t j = 0; j < 4; ++j) want[6 * j + 1] = 100.0 + static_cast<double>(j);
  want[0] = 0.0;
  want[16] = -5;
  REQUIRE(a == want);
}

TEST_CASE("a view of a moving window is bound at each entry of its block", "[interpret]") {
  Maker m;
  m.array("A", kI, "3, 4");
  auto& body = m.loop(m.body(), "i", "0", "i < 3", "i + 1");
  auto& block = m.block(body);
  m.view("row", kI, ir::Layout::packed(Maker::extents("4")), "A[i, 0:4]", &block);
  m.tasklet(block.body, "o = i + 1", {}, {"o = row[i]"});
  std::vector<std::int64_t> a(12), want(12);
  interpret::run(m.g, Arguments().set("A", a.data()));
  for (std::size_t i = 0; i < 3; ++i) want[4 * i + i] = static_cast<std::int64_t>(i) + 1;
  REQUIRE(a == want);
}

TEST_CASE("a reference shows what it was set to last", "[interpret]") {
  Maker m;
  m.array("A", kI, "4");
  m.array("B", kI, "4");
  m.array("L", kI, "2");
  m.reference("R", kI, "2");
  m.view("V", kI, ir::Layout::packed(Maker::extents("1")), "R[1]");
  auto& loop = m.loop(m.body(), "i", "0", "i < 2", "i + 1");
  auto& branch = m.if_(loop, {"i == 0", ""});
  m.copy(branch.branches[0].body, "A[1:3]", "R").set_reference = true;
  m.copy(branch.branches[1].body, "B[2:4]", "R").set_reference = true;
  m.tasklet(loop, "o = r", {"r = V[0]"}, {"o = L[i]"});
  m.tasklet(loop, "o = 0", {}, {"o = R[0]"});
  std::vector<std::int64_t> a{1, 2, 3, 4}, b{5, 6, 7, 8}, l(2);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("L", l.data()));
  REQUIRE(l == std::vector<std::int64_t>{3, 8});
  REQUIRE(a == std::vector<std::int64_t>{1, 0, 3, 4});
  REQUIRE(b == std::vector<std::int64_t>{5, 6, 0, 8});
}

TEST_CASE("a reference that was not set is an error", "[interpret]") {
  Maker m;
  m.reference("R", kI, "2");
  m.tasklet(m.body(), "o = 0", {}, {"o = R[0]"});
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments()), Catch::Contains("reference 'R' is used before it was set"));
}

TEST_CASE("streams are queues for tasklets, copies and consume scopes", "[interpret]") {
  Maker m;
  m.array("A", kI, "5");
  m.array("B", kI, "3");
  m.array("C", kI, "1");
  m.stream("S", kI);
  m.stream("T", kI, "2");
  m.copy(m.body(), "A[0:5]", "S");
  m.tasklet(m.body(), "o = s + 100", {"s = S"}, {"o = T[1]"});
  m.tasklet(m.body(), "o = s", {"s = S"}, {"o = T[1]"});
  m.tasklet(m.body(), "o = 7", {}, {"o = T[1]"});
  m.copy(m.body(), "T[1]", "B[0:3]");
  // Work may make more work.
  ir::Consume consume;
  consume.stream = "S";
  consume.element = "e";
  consume.worker = "w";
  consume.num_workers = 2;
  m.g.symbols.insert({"w", kI, ir::BinderKind::kMapParameter, {}, {}, {}, {}});
  ir::Container element;
  element.name = "e";
  element.kind = ir::ContainerKind::kScalar;
  element.type = kI;
  element.transient = true;
  m.g.containers.insert(element);
  auto& body = std::get<ir::Consume>(m.g.append(m.body(), std::move(consume)).kind).body;
  m.tasklet(body, "o = v", {"v = e"}, {"o = C[0] | sum"});
  auto& more = m.if_(body, {"e > 3"}).branches[0].body;
  m.tasklet(more, "o = v - 3", {"v = e"}, {"o = S"});
  std::vector<std::int64_t> a{1, 2, 3, 4, 5}, b(3), c{0};
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()));
  REQUIRE(b == std::vector<std::int64_t>{101, 2, 7});
  REQUIRE(c[0] == 3 + 4 + 5 + 1 + 2);
}

TEST_CASE("dynamic stream connectors pop and push as the code says", "[interpret]") {
  Maker m;
  m.array("A", kI, "4");
  m.array("B", kI, "4");
  m.stream("S", kI);
  auto& body = m.map(m.body(), "i", "0:4");
  m.tasklet(body, "if a > 2:\n    o = a", {"a = A[i]"}, {"o = S | dynamic"});
  m.copy(m.body(), "S", "B[0:4]");
  std::vector<std::int64_t> a{1, 5, 2, 7}, b(4, -1);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()));
  REQUIRE(b == std::vector<std::int64_t>{5, 7, -1, -1});
}

TEST_CASE("popping an empty stream is an error", "[interpret]") {
  Maker m;
  m.array("B", kI, "1");
  m.stream("S", kI);
  m.tasklet(m.body(), "o = s", {"s = S"}, {"o = B[0]"});
  std::int64_t b = 0;
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", &b)),
                      Catch::Contains("stream 'S' is popped while it is empty"));
}

namespace {
ir::Container member(const std::string& name, Type type, ir::ContainerKind kind, ir::Layout layout) {
  ir::Container c;
  c.name = name;
  c.type = std::move(type);
  c.kind = kind;
  c.layout = std::move(layout);
  return c;
}
}  // namespace

TEST_CASE("members of structures are reached by path, scalars in place and arrays by pointer", "[interpret]") {
  Maker m;
  m.symbol("N");
  ir::Container inner = member("inner", {}, ir::ContainerKind::kStructure, {});
  inner.members = {member("y", kD, ir::ContainerKind::kScalar, {})};
  ir::Container st = member("st", {}, ir::ContainerKind::kStructure, {});
  st.members = {member("flag", ScalarType::kInt8, ir::ContainerKind::kScalar, {}),
                member("x", kD, ir::ContainerKind::kArray, ir::Layout::packed(Maker::extents("N"))), inner};
  m.g.containers.insert(st);
  m.g.parameters.insert(m.g.parameters.begin(), "st");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = v * f", {"v = st.x[i]", "f = st.flag"}, {"o = st.x[i]"});
  m.tasklet(m.body(), "o = v + 1", {"v = st.inner.y"}, {"o = st.inner.y"});
  struct Inner {
    double y;
  } in{1.5};
  std::vector<double> x{1, 2, 3};
  struct Outer {
    std::int8_t flag;
    double* x;
    Inner* inner;
  } out{4, x.data(), &in};
  interpret::run(m.g, Arguments().set("st", &out).set("N", 3));
  REQUIRE(x == std::vector<double>{4, 8, 12});
  REQUIRE(in.y == 2.5);
}

TEST_CASE("transient structures own their members", "[interpret]") {
  Maker m;
  m.array("B", kD, "3");
  ir::Container st = member("st", {}, ir::ContainerKind::kStructure, {});
  st.members = {member("k", kI, ir::ContainerKind::kScalar, {}),
                member("x", kD, ir::ContainerKind::kArray, ir::Layout::packed(Maker::extents("3")))};
  st.transient = true;
  m.g.containers.insert(st);
  m.g.locals.push_back("st");
  m.tasklet(m.body(), "o = 4", {}, {"o = st.k"});
  auto& fill = m.map(m.body(), "i", "0:3");
  m.tasklet(fill, "o = k * i", {"k = st.k"}, {"o = st.x[i]"});
  m.copy(m.body(), "st.x[0:3]", "B[0:3]");
  std::vector<double> b(3);
  interpret::run(m.g, Arguments().set("B", b.data()));
  REQUIRE(b == std::vector<double>{0, 4, 8});
}

TEST_CASE("a view of an element of a container array follows its pointer", "[interpret]") {
  Maker m;
  ir::Container ca =
      member("CA", Type::pointer(kD), ir::ContainerKind::kContainerArray, ir::Layout::packed(Maker::extents("3")));
  ca.members = {member("e", kD, ir::ContainerKind::kArray, ir::Layout::packed(Maker::extents("4")))};
  m.g.containers.insert(ca);
  m.g.parameters.push_back("CA");
  auto& body = m.loop(m.body(), "i", "0", "i < 3", "i + 1");
  auto& block = m.block(body);
  m.view("v", kD, ir::Layout::packed(Maker::extents("4")), "CA[i]", &block);
  m.tasklet(block.body, "o = i + 1", {}, {"o = v[i]"});
  std::vector<std::vector<double>> rows(3, std::vector<double>(4));
  std::vector<double*> pointers{rows[0].data(), rows[1].data(), rows[2].data()};
  interpret::run(m.g, Arguments().set("CA", pointers.data()));
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(rows[i][i] == static_cast<double>(i) + 1);
}

TEST_CASE("constants are read-only data", "[interpret]") {
  Maker m;
  m.array("B", kD, "3");
  m.constant<double>("W", "3", {0.25, 0.5, 0.125});
  m.constant<std::int32_t>("K", "", {7});
  auto& body = m.map(m.body(), "i", "0:3");
  m.tasklet(body, "o = w * k", {"w = W[i]", "k = K"}, {"o = B[i]"});
  std::vector<double> b(3);
  interpret::run(m.g, Arguments().set("B", b.data()));
  REQUIRE(b == std::vector<double>{1.75, 3.5, 0.875});
  m.tasklet(m.body(), "o = 1", {}, {"o = W[0]"});
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("B", b.data())), Catch::Contains("'W' is a constant"));
}

TEST_CASE("persistent containers keep their contents in an instance", "[interpret]") {
  Maker m;
  m.array("B", kI, "1");
  m.persistent("count", kI, "", true);
  m.tasklet(m.body(), "o = c + 1\np = c + 1", {"c = count"}, {"o = count", "p = B[0]"});
  interpret::Instance one(m.g), other(m.g);
  std::int64_t b = 0;
  for (std::int64_t k = 1; k < 4; ++k) {
    one.run(Arguments().set("B", &b));
    REQUIRE(b == k);
  }
  other.run(Arguments().set("B", &b));
  REQUIRE(b == 1);
}

TEST_CASE("external containers live in the caller's workspace", "[interpret]") {
  Maker m;
  m.array("B", kI, "1");
  m.symbol("N");
  m.persistent("X", ScalarType::kInt32, "N", false, ir::Lifetime::kExternal);
  m.persistent("Y", kI, "2", false, ir::Lifetime::kExternal);
  m.tasklet(m.body(), "o = 5", {}, {"o = X[N - 1]"});
  m.tasklet(m.body(), "o = 6", {}, {"o = Y[1]"});
  m.tasklet(m.body(), "o = x + y", {"x = X[N - 1]", "y = Y[1]"}, {"o = B[0]"});
  interpret::Instance instance(m.g);
  std::int64_t b = 0;
  Arguments arguments;
  arguments.set("B", &b).set("N", 3);
  const std::int64_t size = instance.workspace_size(ir::Storage::kDefault, arguments);
  REQUIRE(size == 128);
  std::vector<std::int64_t> memory(16, -1);
  instance.run(arguments.set_workspace(ir::Storage::kDefault, memory.data()));
  REQUIRE(b == 11);
  REQUIRE(memory[9] == 6);
  interpret::run(m.g, Arguments().set("B", &b).set("N", 3));  // without a workspace
  REQUIRE(b == 11);
}

TEST_CASE("scalars are passed by value", "[interpret]") {
  Maker m;
  m.array("B", kD, "2");
  m.scalar_argument("s", kD);
  m.symbol("flag", ScalarType::kBool);
  m.tasklet(m.body(), "o = v if flag else -v", {"v = s"}, {"o = B[1]"});
  std::vector<double> b(2);
  interpret::run(m.g, Arguments().set("B", b.data()).set("s", 2.5).set("flag", false));
  REQUIRE(b[1] == -2.5);
}

}  // namespace test_containers
