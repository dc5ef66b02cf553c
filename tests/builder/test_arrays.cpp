// Whole arrays: element-wise expressions, broadcasting, slices, reductions, products.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>

#include "graph_text.hpp"
#include "run.hpp"

namespace test_arrays {

using namespace sdfg;
using test::Arguments;

namespace {

std::vector<double> numbers(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 1.0 + 0.5 * static_cast<double>((i * 7) % 11);
  return v;
}

}  // namespace

TEST_CASE("element-wise expressions become one map without temporaries") {
  Builder g("elementwise");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M});
  auto B = g.array<double>("B", {N, M});
  auto C = g.array<double>("C", {N, M});
  C = A + 2.0 * B;
  C += where(A > B, A, 0.0);
  C = max(C, B) / 2;
  CHECK(builder::graph_of(g).containers.size() == 3);
  CHECK(test::count(test::elements_of(g), "map ") == 3);
  std::vector<double> a = numbers(6), b(6, 2.0), c(6);
  test::run(g, Arguments().set("N", 2).set("M", 3).set("A", a.data()).set("B", b.data()).set("C", c.data()));
  for (std::size_t i = 0; i < 6; ++i) CHECK(c[i] == std::max(a[i] + 2 * b[i] + (a[i] > b[i] ? a[i] : 0.0), b[i]) / 2);
}

TEST_CASE("broadcasting follows NumPy") {
  Builder g("broadcast");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M});
  auto row = g.array<double>("row", {M});
  auto column = g.array<double>("column", {N, 1});
  auto C = g.array<double>("C", {N, M});
  auto s = g.array<double>("s");
  C = A * row + column - s;
  C = C + row * row;
  C.slice(0, all) = 7;
  C.slice(all, 0) += column.slice(all, 0);
  std::vector<double> a = numbers(6), r = {1, 2, 3}, col = {10, 20}, c(6);
  double sv = 0.25;
  test::run(g, Arguments()
                   .set("N", 2)
                   .set("M", 3)
                   .set("A", a.data())
                   .set("row", r.data())
                   .set("column", col.data())
                   .set("C", c.data())
                   .set("s", &sv));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double want = i == 0 ? 7 : a[i * 3 + j] * r[j] + col[i] - 0.25 + r[j] * r[j];
      if (j == 0) want += col[i];
      CHECK(c[i * 3 + j] == want);
    }
  }
}

TEST_CASE("a right side that reads its target elsewhere is evaluated first") {
  Builder g("alias");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto V = g.array<double>("V", {N});
  A = transpose(A) + A;
  V.slice(range(1, N)) = V.slice(range(0, N - 1));
  V = V.slice(range(N - 1, -1, -1)) * 1.0;
  V += V(0);
  double a[] = {1, 2, 3, 4}, v[] = {5, 6};
  test::run(g, Arguments().set("N", 2).set("A", a).set("V", v));
  CHECK(a[1] == 5);
  CHECK(a[2] == 5);
  CHECK(v[0] == 10);
  CHECK(v[1] == 10);
}

TEST_CASE("reductions over everything and over axes") {
  Builder g("reductions");
  auto N = g.symbol("N"), M = g.symbol("M"), K = g.symbol("K");
  auto A = g.array<double>("A", {N, M, K});
  auto total = g.array<double>("total", {5});
  auto S0 = g.array<double>("S0", {M, K});
  auto S1 = g.array<double>("S1", {N, K});
  auto S02 = g.array<double>("S02", {M});
  auto X = g.array<double>("X", {N, M});
  total(0) = sum(A);
  total(1) = prod(A.slice(0, 0, all));
  total(2) = min(A);
  total(3) = max(A * 2.0);
  total(4) = mean(A) + N;
  S0 = sum(A, 0);
  S1 = max(A, axes(1));
  S02 = sum(A, axes(0, 2));
  X = mean(A, -1);
  std::vector<double> a = numbers(2 * 3 * 5), t(5), s0(15), s1(10), s02(3), x(6);
  test::run(g,
            Arguments()
                .set("N", 2)
                .set("M", 3)
                .set("K", 5)
                .set("A", a.data())
                .set("total", t.data())
                .set("S0", s0.data())
                .set("S1", s1.data())
                .set("S02", s02.data())
                .set("X", x.data()),
            interpret::MapOrder::kShuffled);
  double all_sum = 0, low = 1e9, high = -1e9, product = 1;
  for (double v : a) {
    all_sum += v;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  for (std::size_t k = 0; k < 5; ++k) product *= a[k];
  CHECK(t[0] == Approx(all_sum));
  CHECK(t[1] == Approx(product));
  CHECK(t[2] == low);
  CHECK(t[3] == high * 2);
  CHECK(t[4] == Approx(all_sum / 30 + 2));
  for (std::size_t j = 0; j < 3; ++j) {
    double both = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK(s0[j * 5 + k] == Approx(a[j * 5 + k] + a[15 + j * 5 + k]));
      both += a[j * 5 + k] + a[15 + j * 5 + k];
    }
    CHECK(s02[j] == Approx(both));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK(s1[i * 5 + k] == std::max({a[i * 15 + k], a[i * 15 + 5 + k], a[i * 15 + 10 + k]}));
    }
  }
  CHECK(x[4] == Approx((a[20] + a[21] + a[22] + a[23] + a[24]) / 5));
}

TEST_CASE("reductions of integers and of nothing") {
  Builder g("integers");
  auto N = g.symbol("N");
  auto A = g.array<std::int8_t>("A", {N});
  auto F = g.array<bool>("F", {N});
  auto R = g.array<std::int64_t>("R", {4});
  auto D = g.array<double>("D", {1});
  R(0) = sum(A);
  R(1) = min(A);
  R(2) = max(A);
  R(3) = sum(F);
  D(0) = mean(A);
  std::int8_t a[] = {100, 100, -1};
  bool f[] = {true, false, true};
  std::int64_t r[4];
  double d = 0;
  test::run(g, Arguments().set("N", 3).set("A", a).set("F", f).set("R", r).set("D", &d));
  CHECK(r[0] == 199);
  CHECK(r[1] == -1);
  CHECK(r[2] == 100);
  CHECK(r[3] == 2);
  CHECK(d == Approx(199.0 / 3));
  test::run(g, Arguments().set("N", 0).set("A", a).set("F", f).set("R", r).set("D", &d));
  CHECK(r[0] == 0);
  CHECK(r[1] == 127);
  CHECK(r[2] == -128);
}

TEST_CASE("matmul goes straight into its target and follows NumPy's rules") {
  Builder g("products");
  auto N = g.symbol("N"), M = g.symbol("M"), K = g.symbol("K"), B = g.symbol("B");
  auto A = g.array<double>("A", {N, K});
  auto X = g.array<double>("X", {K, M});
  auto C = g.array<double>("C", {N, M});
  auto v = g.array<double>("v", {K});
  auto y = g.array<double>("y", {N});
  auto z = g.array<double>("z", {M});
  auto d = g.array<double>("d");
  auto batch = g.array<double>("batch", {B, N, K});
  auto out = g.array<double>("out", {B, N, M});
  C = matmul(A, X);
  CHECK(builder::graph_of(g).containers.size() == 9);
  y = matmul(A, v);
  z = matmul(v, X);
  d = matmul(v, v);
  out = matmul(batch, X);
  C = C + 2.0 * matmul(A, X + X);
  const std::size_t n = 2, m = 3, k = 5, b = 2;
  std::vector<double> a = numbers(n * k), x = numbers(k * m), c(n * m), vv = numbers(k), yy(n), zz(m),
                      bb = numbers(b * n * k), oo(b * n * m);
  double dd = 0;
  test::run(g, Arguments()
                   .set("N", 2)
                   .set("M", 3)
                   .set("K", 5)
                   .set("B", 2)
                   .set("A", a.data())
                   .set("X", x.data())
                   .set("C", c.data())
                   .set("v", vv.data())
                   .set("y", yy.data())
                   .set("z", zz.data())
                   .set("d", &dd)
                   .set("batch", bb.data())
                   .set("out", oo.data()));
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < m; ++j) {
      double want = 0;
      for (std::size_t p = 0; p < k; ++p) want += a[i * k + p] * x[p * m + j];
      CHECK(c[i * m + j] == Approx(5 * want));
    }
    for (std::size_t p = 0; p < k; ++p) row += a[i * k + p] * vv[p];
    CHECK(yy[i] == Approx(row));
  }
  for (std::size_t j = 0; j < m; ++j) {
    double want = 0;
    for (std::size_t p = 0; p < k; ++p) want += vv[p] * x[p * m + j];
    CHECK(zz[j] == Approx(want));
  }
  double want = 0, last = 0;
  for (std::size_t p = 0; p < k; ++p) {
    want += vv[p] * vv[p];
    last += bb[(n + 1) * k + p] * x[p * m + 2];
  }
  CHECK(dd == Approx(want));
  CHECK(oo[n * m + m + 2] == Approx(last));
}

TEST_CASE("transposes, constant arrays, and matrix products of themselves") {
  Builder g("shapes");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, M, 2});
  auto T = g.array<double>("T", {2, N, M});
  auto S = g.array<double>("S", {N, N});
  auto O = g.array<double>("O", {N, N});
  T = transpose(A, {2, 0, 1});
  O = ones_like(S) * 3.0;
  S = zeros_like(O) + full_like(S, 2);
  S = matmul(S, S);
  std::vector<double> a = numbers(12), t(12), s(4), o(4);
  test::run(
      g,
      Arguments().set("N", 2).set("M", 3).set("A", a.data()).set("T", t.data()).set("S", s.data()).set("O", o.data()));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 2; ++k) CHECK(t[k * 6 + i * 3 + j] == a[i * 6 + j * 2 + k]);
    }
  }
  CHECK(s == std::vector<double>{8, 8, 8, 8});
  CHECK(o == std::vector<double>{3, 3, 3, 3});
}

TEST_CASE("whole-array accumulation inside a map is a WCR, alone an update") {
  Builder g("scatter");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, 3});
  auto s = g.array<double>("s", {3});
  s = 0.0;
  g.map({"i", 0, N}, [&](auto i) { s += A.slice(i, all); });
  s *= 2.0;
  CHECK(test::count(test::elements_of(g), "wcr") == 1);
  std::vector<double> a = numbers(12), sv(3);
  test::run(g, Arguments().set("N", 4).set("A", a.data()).set("s", sv.data()), interpret::MapOrder::kReverse);
  CHECK(sv[1] == Approx(2 * (a[1] + a[4] + a[7] + a[10])));
}

TEST_CASE("rank-0 arrays mix with scalars and arrays") {
  Builder g("rank0");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto s = g.array<double>("s");
  s = sum(A) / N;
  A -= s;
  g.map({"i", 0, N}, [&](auto i) { A(i) = select(A(i) > s, s(), A(i)); });
  double a[] = {1, 2, 6}, sv = 0;
  test::run(g, Arguments().set("N", 3).set("A", a).set("s", &sv));
  CHECK(sv == 3);
  CHECK(a[0] == -2);
  CHECK(a[2] == 3);
}

TEST_CASE("operations that become library nodes") {
  Builder g("operations");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N});
  auto L = g.array<double>("L", {N, N});
  auto b = g.array<double>("b", {N});
  auto x = g.array<double>("x", {N});
  auto I = g.array<double>("I", {N, N});
  auto c = g.array<double>("c", {N});
  auto k = g.array<std::int64_t>("k", {3});
  auto z = g.array<double>("z", {N});
  L = cholesky(A);
  x = solve(A, b * 2.0);
  I = inv(A.slice(all, all));
  c = cumsum(b) + 1.0;
  k(0) = argmax(b);
  k.slice(range(1, 3)) = argmin(A.slice(range(0, 2), all), 1);
  z = real(ifft(fft(b)));
  double a[] = {4, 2, 2, 3}, l[4], bv[] = {1, 2}, xv[2], iv[4], cv[2], zv[2];
  std::int64_t kv[3];
  test::run(g, Arguments()
                   .set("N", 2)
                   .set("A", a)
                   .set("L", l)
                   .set("b", bv)
                   .set("x", xv)
                   .set("I", iv)
                   .set("c", cv)
                   .set("k", kv)
                   .set("z", zv));
  CHECK(l[0] == 2);
  CHECK(l[2] == 1);
  CHECK(l[3] == Approx(std::sqrt(2.0)));
  CHECK(4 * xv[0] + 2 * xv[1] == Approx(2));
  CHECK(2 * xv[0] + 3 * xv[1] == Approx(4));
  CHECK(iv[0] == Approx(3.0 / 8));
  CHECK(iv[1] == Approx(-2.0 / 8));
  CHECK(cv[0] == 2);
  CHECK(cv[1] == 4);
  CHECK(kv[0] == 1);
  CHECK(kv[1] == 1);
  CHECK(kv[2] == 0);
  CHECK(zv[0] == Approx(1));
  CHECK(zv[1] == Approx(2));
}

}  // namespace test_arrays
