// Element statements: stores, accumulation, indices read from arrays, arithmetic on every type.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <numeric>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_statements {

using namespace sdfg;
using test::Arguments;

namespace {

std::vector<double> numbers(std::size_t n, double from = 1.0, double step = 0.5) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = from + step * static_cast<double>(i);
  return v;
}

}  // namespace

TEST_CASE("axpy with a scalar parameter") {
  Builder g("axpy");
  auto N = g.symbol("N");
  auto a = g.scalar<double>("a");
  auto X = g.array<double>("X", {N});
  auto Y = g.array<double>("Y", {N});
  g.map({"i", 0, N}, [&](auto i) { Y(i) = a * X(i) + Y(i); });
  for (std::int64_t n : {0, 1, 7}) {
    std::vector<double> x = numbers(static_cast<std::size_t>(n)), y = numbers(static_cast<std::size_t>(n), -3.0),
                        want = y;
    for (std::size_t i = 0; i < x.size(); ++i) want[i] += 2.5 * x[i];
    test::run(g, Arguments().set("N", n).set("a", 2.5).set("X", x.data()).set("Y", y.data()));
    CHECK(y == want);
  }
}

TEST_CASE("a long chain of operations continues in local variables") {
  Builder g("chain");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto R = g.array<double>("R");
  Value<double> sum = A(0) + 0.0;
  double want = 2.0;
  for (int k = 1; k <= 1000; ++k) {
    sum = k % 3 == 0 ? sum * 0.5 + A(0) : sum + 1.0;
    want = k % 3 == 0 ? want * 0.5 + 2.0 : want + 1.0;
  }
  R = sum;
  std::uint32_t deepest = 0;
  ir::walk(builder::graph_of(g).body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* state = std::get_if<ir::State>(&e.kind);
    if (state == nullptr) return;
    for (const ir::Node& n : state->nodes) {
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t == nullptr) continue;
      for (const tasklet::Statement& s : t->code.body)
        deepest = std::max(deepest, std::get<tasklet::Assign>(s.node).value.depth());
    }
  });
  CHECK(deepest > 1);
  CHECK(deepest <= 66);
  double a = 2.0, r = 0.0;
  test::run(g, Arguments().set("N", 1).set("A", &a).set("R", &r));
  CHECK(r == want);
}

TEST_CASE("the reduction of six lines: += in a map is a WCR") {
  Builder g("total");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto s = g.array<double>("s");
  s = 0.0;
  g.map({"i", 0, N}, [&](auto i) { s += A(i); });
  CHECK(test::contains(test::elements_of(g), "wcr sum"));
  std::vector<double> a = numbers(11);
  double total = -1;
  test::run(g, Arguments().set("N", 11).set("A", a.data()).set("s", &total), interpret::MapOrder::kShuffled);
  CHECK(total == Approx(std::accumulate(a.begin(), a.end(), 0.0)));
}

TEST_CASE("+= in a loop, or on a container of the map's own body, is an update in program order") {
  Builder g("updates");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto s = g.array<double>("s");
  auto R = g.array<double>("R", {N});
  s = 1.0;
  g.loop("i", 0, N, [&](auto i) {
    s += A(i);
    s *= 2;
  });
  g.map({"i", 0, N}, [&](auto i) {
    auto t = g.local("t", 0.0);
    g.loop("k", 0, i + 1, [&](auto k) { t += A(k); });
    t -= 1;
    R(i) = t;
  });
  CHECK_FALSE(test::contains(test::elements_of(g), "wcr"));
  std::vector<double> a = numbers(5), r(5, 0.0);
  double s_value = 0, want = 1, prefix = 0;
  for (double x : a) want = (want + x) * 2;
  test::run(g, Arguments().set("N", 5).set("A", a.data()).set("s", &s_value).set("R", r.data()),
            interpret::MapOrder::kReverse);
  CHECK(s_value == Approx(want));
  for (std::size_t i = 0; i < 5; ++i) {
    prefix += a[i];
    CHECK(r[i] == Approx(prefix - 1));
  }
}

TEST_CASE("every way to accumulate, in a map and in a loop") {
  for (const bool in_map : {true, false}) {
    Builder g("accumulate");
    auto N = g.symbol("N");
    auto A = g.array<std::int32_t>("A", {N});
    auto F = g.array<bool>("F", {N});
    auto R = g.array<std::int32_t>("R", {9});
    auto P = g.array<bool>("P", {3});
    const auto body = [&](auto i) {
      R(0).accumulate(Reduce::sum, A(i));
      R(1).accumulate(Reduce::product, A(i));
      R(2).accumulate(Reduce::min, A(i));
      R(3).accumulate(Reduce::max, A(i));
      R(4).accumulate(Reduce::bit_and, A(i));
      R(5).accumulate(Reduce::bit_or, A(i));
      R(6).accumulate(Reduce::bit_xor, A(i));
      R(7) -= A(i);
      R(8) *= A(i);
      P(0).accumulate(Reduce::logical_and, F(i));
      P(1).accumulate(Reduce::logical_or, F(i));
      P(2).accumulate(Reduce::logical_xor, F(i));
    };
    if (in_map) {
      g.map({"i", 0, N}, body);
    } else {
      g.loop("i", 0, N, body);
    }
    CHECK(test::count(test::elements_of(g), "wcr") == (in_map ? 12 : 0));
    std::int32_t a[] = {6, 3, 14, 2};
    bool f[] = {true, false, true, true};
    std::int32_t r[] = {0, 1, 1000, -1000, -1, 0, 0, 5, 2};
    bool p[] = {true, false, false};
    test::run(g, Arguments().set("N", 4).set("A", a).set("F", f).set("R", r).set("P", p));
    const std::int32_t want[] = {25, 504, 2, 14, 6 & 3 & 14 & 2, 6 | 3 | 14 | 2, 6 ^ 3 ^ 14 ^ 2, -20, 1008};
    for (int k = 0; k < 9; ++k) CHECK(r[k] == want[k]);
    CHECK(p[0] == false);
    CHECK(p[1] == true);
    CHECK(p[2] == true);
  }
}

TEST_CASE("indices read from arrays become symbols before the statement") {
  Builder g("gather");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto I = g.array<std::int32_t>("I", {N});
  auto A = g.array<double>("A", {M});
  auto B = g.array<double>("B", {N});
  auto H = g.array<std::int64_t>("H", {M});
  g.map({"i", 0, N}, [&](auto i) {
    B(i) = A(I(i)) + A(I(i) + 1);
    H(I(i)) += 1;
  });
  CHECK(test::contains(test::elements_of(g), "= dace.int64(I[i])"));
  std::int32_t index[] = {2, 0, 2, 1, 2};
  std::vector<double> a = {1, 10, 100, 1000}, b(5, 0.0);
  std::int64_t h[4] = {};
  test::run(g, Arguments().set("N", 5).set("M", 4).set("I", index).set("A", a.data()).set("B", b.data()).set("H", h));
  CHECK(b == std::vector<double>{1100, 11, 1100, 110, 1100});
  CHECK(h[0] == 1);
  CHECK(h[1] == 1);
  CHECK(h[2] == 3);
  CHECK(h[3] == 0);
}

TEST_CASE("a sparse matrix-vector product: bounds of a map read from an array") {
  Builder g("spmv");
  auto R = g.symbol("R"), NNZ = g.symbol("NNZ"), C = g.symbol("C");
  auto rows = g.array<std::int32_t>("rows", {R + 1});
  auto cols = g.array<std::int32_t>("cols", {NNZ});
  auto vals = g.array<double>("vals", {NNZ});
  auto x = g.array<double>("x", {C});
  auto y = g.array<double>("y", {R});
  g.map({"i", 0, R}, [&](auto i) {
    y(i) = 0.0;
    g.map({"k", rows(i), rows(i + 1)}, [&](auto k) { y(i) += vals(k) * x(cols(k)); });
  });
  std::int32_t r[] = {0, 2, 2, 5}, c[] = {0, 3, 1, 2, 3};
  double v[] = {1, 2, 3, 4, 5}, xv[] = {1, 10, 100, 1000}, yv[3] = {};
  test::run(
      g,
      Arguments().set("R", 3).set("NNZ", 5).set("C", 4).set("rows", r).set("cols", c).set("vals", v).set("x", xv).set(
          "y", yv));
  CHECK(yv[0] == 2001);
  CHECK(yv[1] == 0);
  CHECK(yv[2] == 30 + 400 + 5000);
}

TEST_CASE("A(i, j) = B(i, j) writes; a copy of the handle names the same element") {
  Builder g("write");
  auto A = g.array<double>("A", {2, 3});
  auto B = g.array<double>("B", {2, 3});
  A(0, 1) = B(1, 2);
  auto e = A(1, 0);
  e = B(0, 0);
  double a[6] = {}, b[6] = {1, 2, 3, 4, 5, 6};
  test::run(g, Arguments().set("A", a).set("B", b));
  CHECK(a[1] == 6);
  CHECK(a[3] == 1);
}

TEST_CASE("integer division and remainder of values follow C++, those of indices round down") {
  Builder g("division");
  auto N = g.symbol("N");
  auto A = g.array<std::int32_t>("A", {N});
  auto B = g.array<std::int32_t>("B", {N});
  auto R = g.array<std::int32_t>("R", {4, N});
  auto U = g.array<std::uint8_t>("U", {3});
  auto K = g.array<std::int64_t>("K", {4});
  g.map({"i", 0, N}, [&](auto i) {
    R(0, i) = A(i) / B(i);
    R(1, i) = A(i) % B(i);
    R(2, i) = floor_div(A(i), B(i));
    R(3, i) = floor_mod(A(i), B(i));
  });
  U(1) = U(0) / 3;
  U(2) = U(0) % 3;
  K(0) = cast<std::int64_t>(Value<std::int64_t>(N));
  K(1) = -N / 2;
  K(2) = -N % 4;
  K(3) = ceil_div(N, 4);
  std::int32_t a[] = {7, -7, 7, -7, 0}, b[] = {2, 2, -2, -2, 5}, r[20];
  std::uint8_t u[] = {250, 0, 0};
  std::int64_t k[4];
  test::run(g, Arguments().set("N", 5).set("A", a).set("B", b).set("R", r).set("U", u).set("K", k));
  for (int i = 0; i < 5; ++i) {
    CHECK(r[i] == a[i] / b[i]);
    CHECK(r[5 + i] == a[i] % b[i]);
    CHECK(r[10 + i] == static_cast<int>(std::floor(a[i] / static_cast<double>(b[i]))));
    CHECK(r[15 + i] == a[i] - b[i] * static_cast<int>(std::floor(a[i] / static_cast<double>(b[i]))));
  }
  CHECK(u[1] == 250 / 3);
  CHECK(u[2] == 250 % 3);
  CHECK(k[0] == 5);
  CHECK(k[1] == -3);
  CHECK(k[2] == 3);
  CHECK(k[3] == 2);
}

TEST_CASE("types of expressions") {
  Builder g("types");
  auto F = g.array<float>("F", {4});
  auto D = g.array<double>("D", {4});
  auto I = g.array<std::int8_t>("I", {4});
  auto Z = g.array<std::complex<double>>("Z", {4});
  auto H = g.array<Half>("H", {4});
  auto N = g.symbol<std::int32_t>("N");
  STATIC_REQUIRE(std::is_same_v<decltype(F(0) + 1), Value<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(F(0) + 1.0), Value<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(I(0) + 1), Value<std::int8_t>>);
  STATIC_REQUIRE(std::is_same_v<decltype(I(0) + I(1)), Value<std::int8_t>>);
  STATIC_REQUIRE(std::is_same_v<decltype(I(0) * F(0)), Value<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(F(0) + N), Value<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(N + 1), Index>);
  STATIC_REQUIRE(std::is_same_v<decltype(N * 0.5), Value<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(N < 3), Value<bool>>);
  STATIC_REQUIRE(std::is_same_v<decltype(D(0) == D(1)), Value<bool>>);
  STATIC_REQUIRE(std::is_same_v<decltype(Z(0) * F(0)), Value<std::complex<double>>>);
  STATIC_REQUIRE(std::is_same_v<decltype(abs(Z(0))), Value<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(sqrt(I(0))), Value<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(H(0) * H(1)), Value<Half>>);
  STATIC_REQUIRE(std::is_same_v<decltype(H(0) * F(1)), Value<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(D + F), Expression<double, 1>>);
  STATIC_REQUIRE(std::is_same_v<decltype(sum(I)), Value<std::int64_t>>);
  STATIC_REQUIRE(std::is_same_v<decltype(mean(I)), Value<double>>);
  for (int a = 0; a < kScalarTypeCount; ++a) {
    for (int b = 0; b < kScalarTypeCount; ++b) {
      const auto x = static_cast<ScalarType>(a), y = static_cast<ScalarType>(b);
      INFO(to_string(x) << " " << to_string(y));
      CHECK(detail::promoted(x, y) == promote(x, y));
    }
  }
}

TEST_CASE("values of every type are computed in the type C++ gives them") {
  Builder g("values");
  auto I = g.array<std::int8_t>("I", {2});
  auto F = g.array<float>("F", {4});
  auto D = g.array<double>("D", {12});
  auto Z = g.array<std::complex<double>>("Z", {3});
  auto C = g.array<std::complex<float>>("C", {1});
  auto H = g.array<Half>("H", {2});
  auto U = g.array<std::uint32_t>("U", {3});
  auto N = g.symbol<std::int32_t>("N");
  I(1) = I(0) + 1;  // wraps in int8
  F(1) = F(0) * 3 + I(0);
  F(2) = cast<float>(D(0) * 2.0);
  F(3) = 0.1;  // a constant rounds
  D(1) = F(0) + 0.5;
  D(2) = N * N;  // exact in 64 bits
  D(3) = select(D(0) > 1.0 && !(F(0) < 0.0f), D(0), -D(0));
  D(4) = pow(D(0), 3) + pow(2.0, D(0));
  D(5) = sqrt(D(0)) + sin(D(0)) * exp(-D(0)) + atan2(D(0), 2.0);
  D(6) = min(D(0), 2) + max(F(0), D(0));
  D(7) = abs(Z(0)) + real(Z(0)) * imag(Z(0));
  D(8) = fma(D(0), 2.0, 1.0) + floor(D(0)) + fmod(D(0), 1.0);
  D(9) = cast<double>(cast<std::int32_t>(D(0) * -2.0));
  D(10) = cast<double>(isnan(D(0) / 0.0 - D(0) / 0.0));
  D(11) = hypot(D(0), 2.0) + copysign(D(0), -1.0);
  Z(1) = Z(0) * conj(Z(0)) + 1.0;
  Z(2) = make_complex(D(0), 2.0) * std::complex<double>(0, 1);
  C(0) = C(0) * 2 + 1.0f;
  H(1) = H(0) * 2 + H(0);
  U(1) = ((U(0) << 3) ^ (U(0) & 5u)) | 1u;
  U(2) = ~U(0) >> 4;
  std::int8_t i[] = {127, 0};
  float f[] = {1.5f, 0, 0, 0};
  double d[12] = {1.25};
  std::complex<double> z[] = {{3, 4}, 0, 0};
  std::complex<float> c[] = {{1, -1}};
  Half h[] = {{0x3c00}, {0}};  // 1.0
  std::uint32_t u[] = {0xdeadbeef, 0, 0};
  const std::int32_t n = 100000;
  test::run(
      g, Arguments().set("I", i).set("F", f).set("D", d).set("Z", z).set("C", c).set("H", h).set("U", u).set("N", n));
  CHECK(i[1] == -128);
  CHECK(f[1] == 1.5f * 3 + -0.0f + 127);
  CHECK(f[2] == 2.5f);
  CHECK(f[3] == 0.1f);
  CHECK(d[1] == 2.0);
  CHECK(d[2] == 1e10);
  CHECK(d[3] == 1.25);
  CHECK(d[4] == Approx(std::pow(1.25, 3) + std::pow(2.0, 1.25)));
  CHECK(d[5] == Approx(std::sqrt(1.25) + std::sin(1.25) * std::exp(-1.25) + std::atan2(1.25, 2.0)));
  CHECK(d[6] == 1.25 + 1.5);
  CHECK(d[7] == 5 + 12);
  CHECK(d[8] == 3.5 + 1 + 0.25);
  CHECK(d[9] == -2);
  CHECK(d[10] == 1);
  CHECK(d[11] == Approx(std::hypot(1.25, 2.0) - 1.25));
  CHECK(z[1] == std::complex<double>(26, 0));
  CHECK(z[2] == std::complex<double>(-2, 1.25));
  CHECK(c[0] == std::complex<float>(3, -2));
  CHECK(h[1].bits == 0x4200);  // 3.0
  CHECK(u[1] == (((0xdeadbeefu << 3) ^ (0xdeadbeefu & 5u)) | 1u));
  CHECK(u[2] == (~0xdeadbeefu >> 4));
}

TEST_CASE("a value used twice is computed once") {
  Builder g("shared");
  auto A = g.array<double>("A", {2});
  auto d = A(0) - 1.0;
  A(1) = d * d + d;
  const std::string text = test::elements_of(g);
  INFO(text);
  CHECK(test::contains(text, "v0 = (in0 - 1.0)"));
  double a[] = {4, 0};
  test::run(g, Arguments().set("A", a));
  CHECK(a[1] == 12);
}

TEST_CASE("connectors avoid the names of symbols") {
  Builder g("clash");
  auto n = g.symbol("in0"), m = g.symbol("out");
  auto A = g.array<double>("A", {n + m});
  A(n) = A(m) + n;
  double a[] = {1, 2, 3, 4, 5};
  test::run(g, Arguments().set("in0", 2).set("out", 3).set("A", a));
  CHECK(a[2] == 6);
}

TEST_CASE("a parameter declared later takes a name that connectors already use") {
  Builder g("later");
  auto A = g.array<double>("A", {4});
  A(0) = (A(1) + 1.0) * (A(1) + 1.0);
  auto d = A(1) - 1.0;
  A(2) = d * d + A(0);
  auto out = g.symbol("out"), in0 = g.symbol("in0"), v0 = g.symbol("v0");
  A(3) = A(2) + out + in0 + v0;
  double a[] = {0, 2, 0, 0};
  test::run(g, Arguments().set("A", a).set("out", 1).set("in0", 10).set("v0", 100));
  CHECK(a[0] == 9);
  CHECK(a[2] == 10);
  CHECK(a[3] == 121);
}

TEST_CASE("select reads both of its sides, so both must be inside their arrays") {
  {
    Builder g("certain");
    auto N = g.symbol("N");
    auto A = g.array<double>("A", {N}), B = g.array<double>("B", {N});
    g.map({"i", 0, N}, [&](auto i) { B(i) = select(i > 0, A(i - 1), 0.0); });
    CHECK_THROWS_WITH(ir::check(builder::graph_of(g)),
                      Catch::Contains("map 'i' reads A[i - 1] for i down to 0, before A's first element"));
  }
  {
    Builder g("depends");
    auto N = g.symbol("N");
    auto A = g.array<double>("A", {N}), B = g.array<double>("B", {1});
    B(0) = select(N > 5, A(5), -1.0);
    std::vector<double> a(6, 2.0), b(1);
    test::run(g, Arguments().set("N", 6).set("A", a.data()).set("B", b.data()));
    CHECK(b[0] == 2);
    CHECK_THROWS_AS(test::run(g, Arguments().set("N", 3).set("A", a.data()).set("B", b.data())), Error);
  }
  Builder g("instead");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N}), B = g.array<double>("B", {N}), C = g.array<double>("C", {N});
  g.map({"i", 0, N}, [&](auto i) { B(i) = select(i > 0, A(sdfg::max(i - 1, 0)), 0.0); });
  g.map({"i", 0, N}, [&](auto i) { g.if_(i > 0, [&] { C(i) = A(i - 1); }).else_([&] { C(i) = 0.0; }); });
  std::vector<double> a = {1, 2, 3}, b(3), c(3);
  test::run(g, Arguments().set("N", 3).set("A", a.data()).set("B", b.data()).set("C", c.data()));
  CHECK(b == std::vector<double>{0, 1, 2});
  CHECK(c == b);
}

}  // namespace test_statements
