// What the interpreter refuses, with the values involved.
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/make.hpp"
#include "interpret/interpreter.hpp"

namespace test_errors {

using namespace sdfg;
using interpret::Arguments;
using test::Maker;

namespace {
constexpr ScalarType kD = ScalarType::kFloat64;

Error error_of(const Maker& m, const Arguments& arguments) {
  try {
    interpret::run(m.g, arguments);
  } catch (const Error& e) {
    return e;
  }
  FAIL("no error");
  throw 0;
}
}  // namespace

TEST_CASE("an access out of bounds names container, index, extent and element", "[interpret]") {
  Maker m;
  m.array("A", kD, "N, 4");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = a", {"a = A[i, i]"}, {"o = A[i, 0]"});
  std::vector<double> a(7 * 4);
  const Error e = error_of(m, Arguments().set("A", a.data()).set("N", 7));
  REQUIRE(e.message() == "A[4, 4] is out of bounds: index 4 in dimension 1 of 'A', extent 4");
  REQUIRE(e.error_class() == ErrorClass::kLaunch);
  REQUIRE(e.places().size() >= 2);
}

TEST_CASE("a memlet may be exempt from bounds, but not from its memory", "[interpret]") {
  Maker m;
  m.array("B", kD, "1");
  m.transient("T", kD, "2, 3");
  auto& body = m.map(m.body(), "i, j", "0:2, 0:3");
  m.tasklet(body, "o = 3 * i + j", {}, {"o = T[i, j]"});
  m.tasklet(m.body(), "o = t", {"t = T[0, 4] | oob"}, {"o = B[0]"});
  double b = 0;
  interpret::run(m.g, Arguments().set("B", &b));
  REQUIRE(b == 4);
  m.tasklet(m.body(), "o = t", {"t = T[1, 4] | oob"}, {"o = B[0]"});
  REQUIRE(error_of(m, Arguments().set("B", &b)).message() ==
          "element number 7 of 'T' lies outside its memory of 6 elements");
}

TEST_CASE("negative extents are refused at the call", "[interpret]") {
  Maker m;
  m.array("A", kD, "N - 3");
  m.symbol("N");
  std::vector<double> a(1);
  const Error e = error_of(m, Arguments().set("A", a.data()).set("N", 1));
  REQUIRE(e.error_class() == ErrorClass::kUsage);
  REQUIRE(e.message() == "extent -2 of dimension 0 of container 'A' is negative (N - 3)");
}

TEST_CASE("overflow in extents and sizes is refused", "[interpret]") {
  Maker m;
  m.array("A", kD, "N * N");
  m.symbol("N");
  std::vector<double> a(1);
  const Error e = error_of(m, Arguments().set("A", a.data()).set("N", std::int64_t{1} << 40));
  REQUIRE(e.error_class() == ErrorClass::kLimit);
  REQUIRE_THAT(e.message(), Catch::Contains("'A'"));

  Maker k;
  k.array("B", kD, "N, N");
  k.symbol("N");
  const Error f = error_of(k, Arguments().set("B", a.data()).set("N", std::int64_t{1} << 33));
  REQUIRE(f.error_class() == ErrorClass::kLimit);
  REQUIRE(f.message() == "the number of elements of container 'B' overflows 64-bit integers");
}

TEST_CASE("missing, unknown and unsuitable arguments are refused", "[interpret]") {
  Maker m;
  m.array("A", kD, "N");
  m.symbol("N");
  std::vector<double> a(1);
  REQUIRE(error_of(m, Arguments().set("A", a.data())).message() == "no argument was given for symbol 'N'");
  REQUIRE(error_of(m, Arguments().set("N", 1)).message() == "no argument was given for container 'A'");
  REQUIRE(error_of(m, Arguments().set("A", a.data()).set("N", 1).set("M", 1)).message() ==
          "graph 'test' has no parameter 'M'");
  REQUIRE(error_of(m, Arguments().set("A", a.data()).set("N", a.data())).message() ==
          "the argument for symbol 'N' is no value");
  REQUIRE(error_of(m, Arguments().set("A", nullptr).set("N", 1)).message() ==
          "the address of container 'A' is null, but it has 8 bytes");
}

TEST_CASE("a map's step must be positive", "[interpret]") {
  Maker m;
  m.array("A", kD, "4");
  m.symbol("S");
  auto& body = m.map(m.body(), "i", "0:4:S");
  m.tasklet(body, "o = 1", {}, {"o = A[i]"});
  std::vector<double> a(4);
  REQUIRE(error_of(m, Arguments().set("A", a.data()).set("S", -1)).message() == "the step -1 of a map is not positive");
  REQUIRE_THAT(error_of(m, Arguments().set("A", a.data()).set("S", 0)).message(), Catch::Contains("step 0"));
}

TEST_CASE("tasklets of C++ text are refused, naming the tasklet", "[interpret]") {
  Maker m;
  m.array("A", kD, "4");
  ir::Tasklet& t = m.tasklet(m.body(), "o = 1", {}, {"o = A[0]"});
  t.code = {tasklet::Language::kCpp, {}, "o = 1;", "", {}};
  std::vector<double> a(4);
  REQUIRE_THAT(error_of(m, Arguments().set("A", a.data())).message(), Catch::Contains("C++ text"));
}

}  // namespace test_errors
