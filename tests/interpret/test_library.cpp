// Library nodes against hand-written loops: shapes, layouts, types, empty extents.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "../support/make.hpp"
#include "interpret/interpreter.hpp"

namespace test_library {

using namespace sdfg;
using interpret::Arguments;
using test::Maker;
using Complex = std::complex<double>;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;
constexpr ScalarType kI = ScalarType::kInt64;

std::vector<double> numbers(std::size_t n, int seed = 1) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<double>((static_cast<int>(i) * 37 + seed * 11) % 17) / 4.0 - 2.0;
  return out;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(a[i] - b[i]) <= 1e-12 * (1.0 + std::abs(b[i])));
}

}  // namespace

TEST_CASE("Gemm with transposes, alpha and beta", "[interpret][library]") {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (double beta : {0.0, 0.5})
        for (auto [n, k, p] : {std::tuple(2, 3, 5), std::tuple(1, 1, 1), std::tuple(3, 0, 2), std::tuple(0, 2, 3)}) {
          Maker m;
          for (const char* s : {"N", "K", "P"}) m.symbol(s);
          m.array("A", kD, ta ? "K, N" : "N, K");
          m.array("B", kD, tb ? "P, K" : "K, P");
          m.array("C", kD, ir::Layout::column_major(Maker::extents("N, P")));
          m.library(m.body(), ir::Gemm{ta, tb, 2.0, beta}, {"_a = A", "_b = B"}, {"_c = C"});
          const auto size = [](int x, int y) { return static_cast<std::size_t>(x * y); };
          std::vector<double> a = numbers(size(n, k)), b = numbers(size(k, p), 2), c = numbers(size(n, p), 3);
          if (beta == 0.0)
            for (double& v : c) v = std::numeric_limits<double>::quiet_NaN();
          std::vector<double> want = c;
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < p; ++j) {
              double sum = 0;
              for (int l = 0; l < k; ++l)
                sum += a[size(1, ta ? l * n + i : i * k + l)] * b[size(1, tb ? j * k + l : l * p + j)];
              double& w = want[size(1, i + j * n)];
              w = 2.0 * sum + (beta == 0.0 ? 0.0 : beta * w);
            }
          interpret::run(
              m.g,
              Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("N", n).set("K", k).set("P", p));
          check_close(c, want);
        }
}

TEST_CASE("MatMul broadcasts leading dimensions and takes vectors", "[interpret][library]") {
  Maker m;
  m.array("A", kI, "2, 1, 3, 4");
  m.array("B", kI, "5, 4, 2");
  m.array("C", kI, "2, 5, 3, 2");
  m.array("x", kI, "4");
  m.array("y", kI, "3");
  m.library(m.body(), ir::MatMul{}, {"_a = A", "_b = B"}, {"_c = C"});
  m.library(m.body(), ir::MatMul{}, {"_a = A[1, 0, 0:3, 0:4]", "_b = x"}, {"_c = y"});
  std::vector<std::int64_t> a(24), b(40), c(60), x{1, -2, 3, 4}, y(3);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int64_t>(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int64_t>(i % 5) - 2;
  interpret::run(
      m.g, Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("x", x.data()).set("y", y.data()));
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          std::int64_t sum = 0;
          for (std::size_t k = 0; k < 4; ++k) sum += a[p * 12 + i * 4 + k] * b[q * 8 + k * 2 + j];
          REQUIRE(c[((p * 5 + q) * 3 + i) * 2 + j] == sum);
        }
  for (std::size_t i = 0; i < 3; ++i) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += a[12 + i * 4 + k] * x[k];
    REQUIRE(y[i] == sum);
  }
}

TEST_CASE("integer products wrap in the element type", "[interpret][library]") {
  Maker m;
  m.array("x", ScalarType::kUInt8, "3");
  m.array("r", ScalarType::kUInt8, "1");
  m.library(m.body(), ir::Dot{}, {"_x = x", "_y = x"}, {"_result = r"});
  std::vector<std::uint8_t> x{200, 100, 7}, r(1);
  interpret::run(m.g, Arguments().set("x", x.data()).set("r", r.data()));
  REQUIRE(r[0] == static_cast<std::uint8_t>(200 * 200 + 100 * 100 + 49));
}

TEST_CASE("Gemv, Ger and Axpy", "[interpret][library]") {
  for (bool trans : {false, true}) {
    Maker m;
    m.array("A", kD, "3, 5");
    m.array("x", kD, trans ? "3" : "5");
    m.array("y", kD, trans ? "5" : "3");
    m.library(m.body(), ir::Gemv{trans, 2.0, -1.0}, {"_A = A", "_x = x"}, {"_y = y"});
    std::vector<double> a = numbers(15), x = numbers(trans ? 3 : 5, 2), y = numbers(trans ? 5 : 3, 3), want = y;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) sum += (trans ? a[k * 5 + i] : a[i * 5 + k]) * x[k];
      want[i] = 2 * sum - want[i];
    }
    interpret::run(m.g, Arguments().set("A", a.data()).set("x", x.data()).set("y", y.data()));
    check_close(y, want);
  }
  Maker m;
  m.array("x", kD, "3");
  m.array("y", kD, "4");
  m.array("A", kD, "3, 4");
  m.array("z", kD, "3");
  m.library(m.body(), ir::Ger{0.5}, {"_x = x", "_y = y", "_A = A"}, {"_res = A"});
  m.library(m.body(), ir::Axpy{3.0}, {"_x = x", "_y = A[0:3, 1]"}, {"_res = z"});
  std::vector<double> x = numbers(3), y = numbers(4, 2), a = numbers(12, 3), z(3), want = a;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) want[i * 4 + j] += 0.5 * x[i] * y[j];
  interpret::run(m.g, Arguments().set("x", x.data()).set("y", y.data()).set("A", a.data()).set("z", z.data()));
  check_close(a, want);
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(z[i] == 3 * x[i] + a[i * 4 + 1]);
}

TEST_CASE("Syrk writes the triangle that it names", "[interpret][library]") {
  Maker m;
  m.array("A", kD, "3, 2");
  m.array("C", kD, "3, 3");
  m.library(m.body(), ir::Syrk{false, true, 1.0, 0.0}, {"_a = A"}, {"_c = C"});
  std::vector<double> a = numbers(6), c(9, -7.0);
  interpret::run(m.g, Arguments().set("A", a.data()).set("C", c.data()));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      REQUIRE(c[3 * i + j] == (j > i ? -7.0 : a[2 * i] * a[2 * j] + a[2 * i + 1] * a[2 * j + 1]));
}

TEST_CASE("Einsum and TensorDot contract by label", "[interpret][library]") {
  Maker m;
  m.array("A", kD, "2, 3, 4");
  m.array("B", kD, "4, 3");
  m.array("C", kD, "3, 2");
  m.array("D", kD, "2");
  m.array("T", kD, "3, 2");
  m.library(m.body(), ir::Einsum{"aij,ji->ia", 1.0, 0.0}, {"x = A", "y = B"}, {"o = C"});
  m.library(m.body(), ir::Einsum{"aij,ji->a", 2.0, 1.0}, {"x = A", "y = B"}, {"o = D"});
  m.library(m.body(), ir::TensorDot{{2}, {0}, {}}, {"_left_tensor = A[0:2, 1, 0:4]", "_right_tensor = B"},
            {"_out_tensor = A[0:2, 0:3, 0]"});
  std::vector<double> a = numbers(24), b = numbers(12, 2), c(6), d{10, 20}, t(6);
  const std::vector<double> a0 = a;
  Maker n;  // the same contraction with a permuted result
  n.array("A", kD, "2, 4");
  n.array("B", kD, "4, 3");
  n.array("T", kD, "3, 2");
  n.library(n.body(), ir::TensorDot{{1}, {0}, {1, 0}}, {"_left_tensor = A", "_right_tensor = B"}, {"_out_tensor = T"});
  std::vector<double> left(8);
  for (std::size_t k = 0; k < 8; ++k) left[k] = a0[k / 4 * 12 + 4 + k % 4];
  m.g.body.items.pop_back();
  interpret::run(
      m.g, Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("D", d.data()).set("T", t.data()));
  interpret::run(n.g, Arguments().set("A", left.data()).set("B", b.data()).set("T", t.data()));
  for (std::size_t p = 0; p < 2; ++p) {
    double all = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = 0, dot = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        sum += a0[p * 12 + i * 4 + j] * b[j * 3 + i];
        dot += left[p * 4 + j] * b[j * 3 + i];
      }
      REQUIRE(c[i * 2 + p] == Approx(sum));
      REQUIRE(t[i * 2 + p] == Approx(dot));
      all += sum;
    }
    REQUIRE(d[p] == Approx(2 * all + 10.0 * static_cast<double>(p + 1)));
  }
}

TEST_CASE("Reduce folds axes from an identity or onto what is there", "[interpret][library]") {
  Maker m;
  m.symbol("N");
  m.array("A", kI, "N, 3, 4");
  m.array("B", kI, "3");
  m.array("C", kI, "1");
  m.array("M", kI, "N, 4");
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kSum, {}, {0, -1}, tasklet::Value::integer(0)}, {"_in = A"},
            {"_out = B"});
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kSum, {}, {}, {}}, {"_in = A"}, {"_out = C"});
  m.library(
      m.body(),
      ir::Reduce{
          ir::ReduceOp::kCustom, tasklet::parse_expression("a if a > b else b"), {1}, tasklet::Value::integer(-1000)},
      {"_in = A"}, {"_out = M"});
  for (std::int64_t n : {0, 1, 5}) {
    std::vector<std::int64_t> a(static_cast<std::size_t>(n * 12)), b{7, 7, 7}, c{100},
        x(static_cast<std::size_t>(n * 4), 5);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int64_t>(i * 29 % 23) - 11;
    std::vector<std::int64_t> sums(3, 0), maxima(x.size(), -1000);
    std::int64_t all = 100;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sums[i / 4 % 3] += a[i];
      all += a[i];
      auto& top = maxima[i / 12 * 4 + i % 4];
      top = std::max(top, a[i]);
    }
    interpret::run(m.g,
                   Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("M", x.data()).set("N", n));
    REQUIRE(b == sums);
    REQUIRE(c[0] == all);
    REQUIRE(x == maxima);
  }
}

TEST_CASE("Scan and ArgReduce run along an axis", "[interpret][library]") {
  Maker m;
  m.array("A", kI, "3, 4");
  m.array("P", kI, "3, 4");
  m.array("Q", kI, "3, 4");
  m.array("I", kI, "4");
  m.array("V", kI, "4");
  m.array("J", kI, "1");
  m.library(m.body(), ir::Scan{ir::ReduceOp::kSum, false, 0}, {"_in = A"}, {"_out = P"});
  m.library(m.body(), ir::Scan{ir::ReduceOp::kMax, true, 1}, {"_in = A"}, {"_out = Q"});
  m.library(m.body(), ir::ArgReduce{true, 0}, {"_in = A"}, {"_idx = I", "_value = V"});
  m.library(m.body(), ir::ArgReduce{false, {}}, {"_in = A"}, {"_idx = J"});
  std::vector<std::int64_t> a{3, -1, 4, 1, 5, -9, 2, 6, 5, 3, 5, -9}, p(12), q(12), i(4), v(4), j(1);
  interpret::run(m.g, Arguments()
                          .set("A", a.data())
                          .set("P", p.data())
                          .set("Q", q.data())
                          .set("I", i.data())
                          .set("V", v.data())
                          .set("J", j.data()));
  REQUIRE(p == std::vector<std::int64_t>{3, -1, 4, 1, 8, -10, 6, 7, 13, -7, 11, -2});
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  REQUIRE(q == std::vector<std::int64_t>{low, 3, 3, 4, low, 5, 5, 5, low, 5, 5, 5});
  REQUIRE(i == std::vector<std::int64_t>{1, 2, 2, 1});
  REQUIRE(v == std::vector<std::int64_t>{5, 3, 5, 6});
  REQUIRE(j[0] == 5);
}

TEST_CASE("Copy, Fill, Transpose and TensorTranspose", "[interpret][library]") {
  Maker m;
  m.array("A", kD, "2, 3, 4");
  m.array("B", kD, "4, 2, 3");
  m.array("C", kD, "4, 3");
  m.array("D", ScalarType::kFloat32, "6");
  m.library(m.body(), ir::Fill{tasklet::Value::floating(1.0)}, {}, {"_out = B"});
  m.library(m.body(), ir::TensorTranspose{{2, 0, 1}, 2.0, 3.0}, {"_inp_tensor = A"}, {"_out_tensor = B"});
  m.library(m.body(), ir::Transpose{}, {"_inp = A[1, 0:3, 0:4]"}, {"_out = C"});
  m.library(m.body(), ir::Copy{}, {"_in = A[0:2, 0:3, 3]"}, {"_out = D[0:6]"});
  std::vector<double> a = numbers(24), b(24), c(12);
  std::vector<float> d(6);
  interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("D", d.data()));
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) {
        REQUIRE(b[(k * 2 + i) * 3 + j] == 2 * a[(i * 3 + j) * 4 + k] + 3);
        if (i == 1) REQUIRE(c[k * 3 + j] == a[(i * 3 + j) * 4 + k]);
        if (k == 3) REQUIRE(d[i * 3 + j] == static_cast<float>(a[(i * 3 + j) * 4 + k]));
      }
}

TEST_CASE("Cholesky, Potrf, Solve, Inv, Getrf and Getrs agree with what they promise", "[interpret][library]") {
  const std::size_t n = 5;
  std::vector<double> g = numbers(n * n), spd(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) spd[i * n + j] += g[i * n + k] * g[j * n + k];
      if (i == j) spd[i * n + j] += 4.0;
    }
  g[0] = 0.0;  // needs a pivot
  for (bool lower : {true, false}) {
    Maker m;
    m.array("A", kD, "5, 5");
    m.array("L", kD, "5, 5");
    m.array("X", kD, "5, 5");
    m.array("info", ScalarType::kInt32, "1");
    m.library(m.body(), ir::Cholesky{lower}, {"_a = A"}, {"_b = L"});
    m.library(m.body(), ir::Potrf{lower}, {"_xin = A"}, {"_xout = X", "_res = info"});
    std::vector<double> a = spd, l(n * n), x(n * n);
    std::int32_t info = -1;
    interpret::run(m.g, Arguments().set("A", a.data()).set("L", l.data()).set("X", x.data()).set("info", &info));
    REQUIRE(info == 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += lower ? l[i * n + k] * l[j * n + k] : l[k * n + i] * l[k * n + j];
        REQUIRE(sum == Approx(spd[i * n + j]));
        REQUIRE(x[i * n + j] == ((lower ? j > i : j < i) ? spd[i * n + j] : l[i * n + j]));
      }
  }
  Maker m;
  m.array("A", kD, "5, 5");
  m.array("B", kD, "5, 2");
  m.array("X", kD, "5, 2");
  m.array("Y", kD, "5, 2");
  m.array("R", kD, "5, 5");
  m.transient("LU", kD, "5, 5");
  m.transient("piv", ScalarType::kInt32, "5");
  m.transient("info", ScalarType::kInt32, "1");
  m.library(m.body(), ir::Solve{}, {"_ain = A", "_bin = B"}, {"_bout = X"});
  m.library(m.body(), ir::Inv{}, {"_ain = A"}, {"_aout = R"});
  m.library(m.body(), ir::Getrf{}, {"_xin = A"}, {"_xout = LU", "_ipiv = piv", "_res = info"});
  m.library(m.body(), ir::Getrs{}, {"_a = LU", "_ipiv = piv", "_rhs_in = B"}, {"_rhs_out = Y", "_res = info"});
  std::vector<double> b = numbers(2 * n, 4), x(2 * n), y(2 * n), r(n * n);
  interpret::run(
      m.g, Arguments().set("A", g.data()).set("B", b.data()).set("X", x.data()).set("Y", y.data()).set("R", r.data()));
  check_close(y, x);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 2; ++c) {
      double ax = 0, rb = 0;
      for (std::size_t k = 0; k < n; ++k) {
        ax += g[i * n + k] * x[k * 2 + c];
        rb += r[i * n + k] * b[k * 2 + c];
      }
      REQUIRE(std::abs(ax - b[i * 2 + c]) < 1e-10);
      REQUIRE(std::abs(rb - x[i * 2 + c]) < 1e-10);
    }
}

TEST_CASE("FFT is the discrete Fourier transform and IFFT undoes it", "[interpret][library]") {
  for (std::int64_t n : {0, 1, 7, 12}) {
    Maker m;
    m.symbol("N");
    for (const char* a : {"A", "B", "C"}) m.array(a, ScalarType::kComplex128, "N");
    m.library(m.body(), ir::Fft{false, 1, false}, {"_inp = A"}, {"_out = B"});
    m.library(m.body(), ir::Fft{true, 1, true}, {"_inp = B"}, {"_out = C"});
    std::vector<Complex> a(static_cast<std::size_t>(n)), b(a.size()), c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = {static_cast<double>(i) - 2.0, 0.5 * static_cast<double>(i * i % 5)};
    interpret::run(m.g, Arguments().set("A", a.data()).set("B", b.data()).set("C", c.data()).set("N", n));
    for (std::size_t k = 0; k < a.size(); ++k) {
      Complex sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * std::exp(Complex(0, -2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(n)));
      REQUIRE(std::abs(b[k] - sum) < 1e-10);
      REQUIRE(std::abs(c[k] - a[k]) < 1e-10);
    }
  }
}

TEST_CASE("sparse products in CSR form", "[interpret][library]") {
  // [1 0 2; 0 0 0; 0 3 0; 4 5 6]
  std::vector<std::int32_t> rows{0, 2, 2, 3, 6}, cols{0, 2, 1, 0, 1, 2};
  std::vector<double> vals{1, 2, 3, 4, 5, 6}, x{1, 2, 3}, y{1, 1, 1, 1}, z{1, 1, 1}, b = {1, 2, 3, 4, 5, 6}, c(8);
  Maker m;
  m.array("r", ScalarType::kInt32, "5");
  m.array("k", ScalarType::kInt32, "6");
  m.array("v", kD, "6");
  m.array("x", kD, "3");
  m.array("y", kD, "4");
  m.array("z", kD, "3");
  m.array("B", kD, "3, 2");
  m.array("C", kD, "4, 2");
  m.library(m.body(), ir::Csrmv{2.0, 1.0, false}, {"_a_rows = r", "_a_cols = k", "_a_vals = v", "_b = x"}, {"_c = y"});
  m.library(m.body(), ir::Csrmv{1.0, 0.0, true}, {"_a_rows = r", "_a_cols = k", "_a_vals = v", "_b = y"}, {"_c = z"});
  m.library(m.body(), ir::Csrmm{1.0, 0.0, false, false}, {"_a_rows = r", "_a_cols = k", "_a_vals = v", "_b = B"},
            {"_c = C"});
  interpret::run(m.g, Arguments()
                          .set("r", rows.data())
                          .set("k", cols.data())
                          .set("v", vals.data())
                          .set("x", x.data())
                          .set("y", y.data())
                          .set("z", z.data())
                          .set("B", b.data())
                          .set("C", c.data()));
  REQUIRE(y == std::vector<double>{15, 1, 13, 65});
  REQUIRE(z == std::vector<double>{15 + 4 * 65, 3 * 13 + 5 * 65, 2 * 15 + 6 * 65});
  REQUIRE(c == std::vector<double>{11, 14, 0, 0, 9, 12, 49, 64});
}

TEST_CASE("operands of wrong shapes are refused", "[interpret][library]") {
  Maker m;
  m.array("A", kD, "2, 3");
  m.array("C", kD, "2, 2");
  m.library(m.body(), ir::Gemm{}, {"_a = A", "_b = A"}, {"_c = C"});
  std::vector<double> a(6), c(4);
  REQUIRE_THROWS_WITH(interpret::run(m.g, Arguments().set("A", a.data()).set("C", c.data())),
                      Catch::Contains("library node Gemm multiplies '_a' [2, 3] with '_b' [2, 3] to '_c' [2, 2]"));
}

}  // namespace test_library
