// Element types: every width, half precision, complex, mixed promotion, bit operations.
#include <cmath>
#include <complex>

#include "harness.hpp"

namespace test_types {

using namespace sdfg;
using namespace sdfg::test;

namespace {

template <typename T>
void check_arithmetic() {
  Maker m;
  const ScalarType type = kScalarTypeOf<T>;
  m.array("A", type, "N");
  m.array("B", type, "N");
  m.array("C", type, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a * b + a - b", {"a = A[i]", "b = B[i]"}, {"o = C[i]"});
  Memory start;
  start.array("A", numbers<T>(53)).array("B", numbers<T>(53, 2)).array("C", numbers<T>(53, 3)).value("N", 53);
  check(m, start, [](Memory& w) {
    auto a = w.get<T>("A"), b = w.get<T>("B"), c = w.get<T>("C");
    for (std::size_t i = 0; i < a.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        const auto x = static_cast<std::uint64_t>(a[i]), y = static_cast<std::uint64_t>(b[i]);
        c[i] = static_cast<T>(x * y + x - y);
      } else {
        c[i] = a[i] * b[i] + a[i] - b[i];
      }
    }
  });
}

float from_half(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const float mantissa = static_cast<float>(h & 1023);
  const float value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0F + mantissa, exponent - 25);
  return (h & 0x8000) != 0 ? -value : value;
}

}  // namespace

TEST_CASE("arithmetic in every integer type wraps in that type", "[run]") {
  check_arithmetic<std::int8_t>();
  check_arithmetic<std::int16_t>();
  check_arithmetic<std::int32_t>();
  check_arithmetic<std::int64_t>();
  check_arithmetic<std::uint8_t>();
  check_arithmetic<std::uint16_t>();
  check_arithmetic<std::uint32_t>();
  check_arithmetic<std::uint64_t>();
}
TEST_CASE("arithmetic in float32 and complex types", "[run]") {
  check_arithmetic<float>();
  check_arithmetic<std::complex<float>>();
  check_arithmetic<std::complex<double>>();
}

TEST_CASE("half precision is stored rounded", "[run]") {
  Maker m;
  m.array("A", ScalarType::kFloat32, "N");
  m.array("H", ScalarType::kFloat16, "N");
  m.array("B", ScalarType::kFloat32, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = a", {"a = A[i]"}, {"o = H[i]"});
  m.tasklet(body, "o = h + h", {"h = H[i]"}, {"o = B[i]"});
  std::vector<float> a = numbers<float>(37);
  for (float& v : a) v = v * 1.001F + 0.0003F;
  Memory start;
  start.array("A", a).array("H", std::vector<Half>(37)).array("B", numbers<float>(37, 2)).value("N", 37);
  // The rounding itself is the interpreter's, checked bit by bit elsewhere; here: within half a unit, and doubled
  // exactly.
  for (const Target& target : targets()) {
    INFO("target " << target.name);
    Memory got = start;
    target.prepare(m.g)->run(got);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float h = from_half(got.get<Half>("H")[i].bits);
      REQUIRE(std::abs(h - a[i]) <= std::abs(a[i]) / 2048.0F + 1e-7F);
      REQUIRE(got.get<float>("B")[i] == 2 * h);
    }
  }
}

TEST_CASE("mixed types promote", "[run]") {
  Maker m;
  m.array("I", ScalarType::kInt32, "N");
  m.array("U", ScalarType::kUInt8, "N");
  m.array("F", ScalarType::kFloat32, "N");
  m.array("D", ScalarType::kFloat64, "N");
  m.array("O", ScalarType::kFloat64, "N");
  m.array("P", ScalarType::kInt64, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = k * f + u * d + k / 2\np = k * 2 + u",
            {"k = I[i]", "u = U[i]", "f = F[i]", "d = D[i]"}, {"o = O[i]", "p = P[i]"});
  Memory start;
  start.array("I", numbers<std::int32_t>(29))
      .array("U", numbers<std::uint8_t>(29, 2))
      .array("F", numbers<float>(29, 3))
      .array("D", numbers(29, 4))
      .array("O", numbers(29))
      .array("P", numbers<std::int64_t>(29))
      .value("N", 29);
  check(m, start, [](Memory& w) {
    auto k = w.get<std::int32_t>("I");
    auto u = w.get<std::uint8_t>("U");
    auto f = w.get<float>("F");
    auto d = w.get<double>("D");
    for (std::size_t i = 0; i < k.size(); ++i) {
      w.get<double>("O")[i] = static_cast<double>(static_cast<float>(k[i]) * f[i]) + u[i] * d[i] + k[i] / 2.0;
      w.get<std::int64_t>("P")[i] = k[i] * 2 + u[i];
    }
  });
}

TEST_CASE("bit operations and shifts", "[run]") {
  Maker m;
  m.array("A", ScalarType::kInt32, "N");
  m.array("U", ScalarType::kUInt32, "N");
  m.array("B", ScalarType::kInt32, "N");
  m.array("C", ScalarType::kUInt32, "N");
  m.symbol("N");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = ((a & 21) | (a << 3)) ^ ~(a >> 2)", {"a = A[i]"}, {"o = B[i]"});
  m.tasklet(body, "o = (u >> 1) ^ (u << 30)", {"u = U[i]"}, {"o = C[i]"});
  Memory start;
  start.array("A", numbers<std::int32_t>(31))
      .array("U", numbers<std::uint32_t>(31, 2))
      .array("B", numbers<std::int32_t>(31, 3))
      .array("C", numbers<std::uint32_t>(31, 4))
      .value("N", 31);
  check(m, start, [](Memory& w) {
    auto a = w.get<std::int32_t>("A");
    auto u = w.get<std::uint32_t>("U");
    for (std::size_t i = 0; i < a.size(); ++i) {
      w.get<std::int32_t>("B")[i] =
          ((a[i] & 21) | static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) << 3)) ^ ~(a[i] >> 2);
      w.get<std::uint32_t>("C")[i] = (u[i] >> 1) ^ (u[i] << 30);
    }
  });
}

TEST_CASE("casts between types", "[run]") {
  Maker m;
  m.array("A", ScalarType::kFloat64, "N");
  m.array("B", ScalarType::kFloat64, "N");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = dace.int32(a) + dace.float32(a) * 0.1 + dace.uint8(dace.int64(a) + 300)",
            {"a = A[i]"}, {"o = B[i]"});
  Memory start;
  start.array("A", numbers(41)).array("B", numbers(41, 2)).value("N", 41);
  check(m, start, [](Memory& w) {
    auto a = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < a.size(); ++i)
      b[i] = static_cast<double>(static_cast<std::int32_t>(a[i])) +
             static_cast<double>(static_cast<float>(a[i])) * 0.1 +
             static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(a[i]) + 300));
  });
}

TEST_CASE("boolean arrays and symbols", "[run]") {
  Maker m;
  m.array("A", ScalarType::kFloat64, "N");
  m.array("B", ScalarType::kBool, "N");
  m.array("R", ScalarType::kInt64, "1");
  m.symbol("N");
  m.symbol("flip", ScalarType::kBool);
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = (a > 0) != flip", {"a = A[i]"}, {"o = B[i]"});
  m.tasklet(m.map(m.body(), "j", "0:N"), "o = 1 if b else 0", {"b = B[j]"}, {"o = R[0] | sum"});
  for (bool flip : {false, true}) {
    Memory start;
    start.array("A", numbers(30))
        .array("B", std::vector<std::uint8_t>(30, 0))
        .array("R", std::vector<std::int64_t>{0})
        .value("N", 30)
        .value("flip", flip);
    check(m, start, [flip](Memory& w) {
      auto a = w.get<double>("A");
      for (std::size_t i = 0; i < a.size(); ++i) {
        w.get<std::uint8_t>("B")[i] = (a[i] > 0) != flip ? 1 : 0;
        w.get<std::int64_t>("R")[0] += w.get<std::uint8_t>("B")[i];
      }
    });
  }
}

TEST_CASE("mathematical functions", "[run]") {
  Maker m;
  m.array("A", ScalarType::kFloat64, "N");
  m.array("B", ScalarType::kFloat64, "N, 8");
  m.symbol("N");
  m.tasklet(m.map(m.body(), "i", "0:N"),
            "b[0] = floor(a) + ceil(a * 1.5)\nb[1] = a ** 3 + abs(a)\nb[2] = log(abs(a) + 1)\nb[3] = atan2(a, "
            "2.0)\nb[4] = tanh(a)\nb[5] = sqrt(abs(a)) ** 2\nb[6] = min(a, 1.0, -a)\nb[7] = "
            "sign(a) + cosh(a / 8)",
            {"a = A[i]"}, {"b = B[i, 0:8]"});
  Memory start;
  start.array("A", numbers(31)).array("B", numbers(31 * 8, 2)).value("N", 31);
  check(m, start, [](Memory& w) {
    auto in = w.get<double>("A"), b = w.get<double>("B");
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double a = in[i];
      double* o = &b[i * 8];
      o[0] = std::floor(a) + std::ceil(a * 1.5);
      o[1] = a * a * a + std::abs(a);
      o[2] = std::log(std::abs(a) + 1);
      o[3] = std::atan2(a, 2.0);
      o[4] = std::tanh(a);
      o[5] = std::sqrt(std::abs(a)) * std::sqrt(std::abs(a));
      o[6] = std::min({a, 1.0, -a});
      o[7] = (a > 0 ? 1 : a < 0 ? -1 : 0) + std::cosh(a / 8);
    }
  });
}

}  // namespace test_types
