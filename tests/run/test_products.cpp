// Matrix products: every layout, transposition, scaling and size, on both sides of the limits of the packed tiles.
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "harness.hpp"

namespace test_products {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;

// Rows first, columns first, or rows with gaps.
enum class Form { kRows, kColumns, kGaps };

ir::Layout layout(Form form, const std::string& rows, const std::string& columns) {
  const auto shape = Maker::extents(rows + ", " + columns);
  switch (form) {
    case Form::kRows: return ir::Layout::packed(shape);
    case Form::kColumns: return ir::Layout::column_major(shape);
    case Form::kGaps: return ir::Layout::strided(shape, Maker::extents("2 * (" + columns + ") + 3, 2"));
  }
  return {};
}

struct Strides {
  std::int64_t row, column, size;
};
Strides strides(Form form, std::int64_t rows, std::int64_t columns) {
  switch (form) {
    case Form::kRows: return {columns, 1, rows * columns};
    case Form::kColumns: return {1, rows, rows * columns};
    case Form::kGaps:
      return {2 * columns + 3, 2, rows > 0 && columns > 0 ? 1 + (rows - 1) * (2 * columns + 3) + (columns - 1) * 2 : 1};
  }
  return {};
}

struct Gemm {
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  Form a = Form::kRows, b = Form::kRows, c = Form::kRows;
  bool addend = false;
};

template <typename T>
void check_gemm(const Gemm& form, const std::vector<std::array<std::int64_t, 3>>& sizes, double tolerance) {
  Maker m;
  m.array("A", kScalarTypeOf<T>, form.trans_a ? layout(form.a, "K", "M") : layout(form.a, "M", "K"));
  m.array("B", kScalarTypeOf<T>, form.trans_b ? layout(form.b, "N", "K") : layout(form.b, "K", "N"));
  m.array("C", kScalarTypeOf<T>, layout(form.c, "M", "N"));
  if (form.addend) m.array("D", kScalarTypeOf<T>, "M, N");
  for (const char* s : {"M", "N", "K"}) m.symbol(s);
  std::vector<std::string> inputs = {"_a = A", "_b = B"};
  if (form.addend) inputs.push_back("_cin = D");
  m.library(m.body(), ir::Gemm{form.trans_a, form.trans_b, form.alpha, form.beta}, inputs, {"_c = C"});
  for (const auto& [rows, columns, summed] : sizes) {
    const Strides sa = form.trans_a ? strides(form.a, summed, rows) : strides(form.a, rows, summed);
    const Strides sb = form.trans_b ? strides(form.b, columns, summed) : strides(form.b, summed, columns);
    const Strides sc = strides(form.c, rows, columns);
    Memory start;
    std::vector<T> c = numbers<T>(sc.size, 3);
    if (form.beta == 0 && std::numeric_limits<T>::has_quiet_NaN)
      c.assign(c.size(), std::numeric_limits<T>::quiet_NaN());  // beta = 0 reads nothing
    start.array("A", numbers<T>(sa.size)).array("B", numbers<T>(sb.size, 2)).array("C", c);
    if (form.addend) start.array("D", numbers<T>(rows * columns, 4));
    start.value("M", rows).value("N", columns).value("K", summed);
    check(
        m, start,
        [&](Memory& w) {
          const auto pa = w.get<T>("A");
          const auto pb = w.get<T>("B");
          auto pc = w.get<T>("C");
          const auto at = [](std::int64_t i, std::int64_t j, const Strides& s, bool t) {
            return static_cast<std::size_t>(t ? j * s.row + i * s.column : i * s.row + j * s.column);
          };
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              T sum = 0;
              for (std::int64_t k = 0; k < summed; ++k)
                sum += pa[at(i, k, sa, form.trans_a)] * pb[at(k, j, sb, form.trans_b)];
              T& out = pc[at(i, j, sc, false)];
              const T old = form.beta == 0 ? T(0)
                            : form.addend  ? w.get<T>("D")[static_cast<std::size_t>(i * columns + j)]
                                           : out;
              out = static_cast<T>(form.alpha) * sum + static_cast<T>(form.beta) * old;
            }
          }
        },
        tolerance);
  }
}

const std::vector<std::array<std::int64_t, 3>> kSizes = {{0, 5, 7},     {5, 0, 7},      {6, 5, 0},    {1, 1, 1},
                                                         {7, 9, 11},    {32, 32, 32},   {33, 35, 37}, {8, 200, 31},
                                                         {97, 13, 300}, {101, 211, 257}};

}  // namespace

TEST_CASE("products of rows", "[run]") {
  check_gemm<double>({}, kSizes, kReassociated);
  check_gemm<float>({}, {{33, 35, 37}, {101, 50, 257}}, 1e-4);
}
TEST_CASE("products of transposed operands", "[run]") {
  const std::vector<std::array<std::int64_t, 3>> few = {{3, 4, 5}, {41, 43, 47}};
  check_gemm<double>({.trans_a = true}, few, kReassociated);
  check_gemm<double>({.trans_b = true}, few, kReassociated);
  check_gemm<double>({.trans_a = true, .trans_b = true}, few, kReassociated);
}
// Expansions make symbols and connectors of their own, among them each of these names.
TEST_CASE("symbols of the graph may have the names that expansions like", "[run]") {
  using Names = std::array<const char*, 3>;
  for (const Names& names : {Names{"a", "b", "c"}, Names{"out", "before", "old"}, Names{"from", "to", "rows"},
                             Names{"columns", "deep", "count"}, Names{"row", "column", "tile"}, Names{"x", "y", "i"},
                             Names{"k", "sum", "a_row"}}) {
    const std::string m = names[0], n = names[1], k = names[2];
    Maker g;
    g.array("A", kD, m + ", " + k);
    g.array("B", kD, k + ", " + n);
    g.array("C", kD, m + ", " + n);
    g.array("v", kD, k);
    g.array("w", kD, m);
    for (const char* s : names) g.symbol(s);
    g.library(g.body(), ir::Gemm{false, false, 2.0, -1.0}, {"_a = A", "_b = B"}, {"_c = C"});
    g.library(g.body(), ir::Gemv{false, 1.0, 1.0}, {"_A = A", "_x = v"}, {"_y = w"});
    for (const auto& [rows, columns, summed] : std::vector<std::array<std::int64_t, 3>>{{3, 5, 2}, {41, 67, 31}}) {
      Memory start;
      start.array("A", numbers(rows * summed)).array("B", numbers(summed * columns, 2));
      start.array("C", numbers(rows * columns, 3)).array("v", numbers(summed, 4)).array("w", numbers(rows, 5));
      start.value(m, rows).value(n, columns).value(k, summed);
      check(
          g, start,
          [&](Memory& t) {
            const auto a = t.get<double>("A"), b = t.get<double>("B"), v = t.get<double>("v");
            auto c = t.get<double>("C"), w = t.get<double>("w");
            const auto at = [](std::int64_t i, std::int64_t width, std::int64_t j) {
              return static_cast<std::size_t>(i * width + j);
            };
            for (std::int64_t i = 0; i < rows; ++i) {
              for (std::int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (std::int64_t l = 0; l < summed; ++l) sum += a[at(i, summed, l)] * b[at(l, columns, j)];
                c[at(i, columns, j)] = 2.0 * sum - c[at(i, columns, j)];
              }
              for (std::int64_t l = 0; l < summed; ++l) w[at(i, 1, 0)] += a[at(i, summed, l)] * v[at(l, 1, 0)];
            }
          },
          kReassociated);
    }
  }
}
TEST_CASE("products of columns and of matrices with gaps", "[run]") {
  const std::vector<std::array<std::int64_t, 3>> few = {{3, 4, 5}, {41, 67, 300}};
  check_gemm<double>({.a = Form::kColumns, .b = Form::kColumns, .c = Form::kColumns}, few, kReassociated);
  check_gemm<double>({.a = Form::kRows, .b = Form::kColumns, .c = Form::kColumns}, few, kReassociated);
  check_gemm<double>({.a = Form::kGaps, .b = Form::kGaps, .c = Form::kGaps}, few, kReassociated);
}
TEST_CASE("products that scale and add", "[run]") {
  const std::vector<std::array<std::int64_t, 3>> few = {{3, 4, 5}, {41, 67, 300}, {9, 33, 0}};
  check_gemm<double>({.alpha = -1.5, .beta = 0.5}, few, kReassociated);
  check_gemm<double>({.beta = 1, .c = Form::kColumns}, few, kReassociated);
  check_gemm<double>({.alpha = 2, .beta = -1, .addend = true}, few, kReassociated);
  check_gemm<double>({.alpha = 2, .beta = -1, .c = Form::kColumns, .addend = true}, few, kReassociated);
}
TEST_CASE("products of integers take the loop nest", "[run]") {
  check_gemm<std::int64_t>({.beta = 1}, {{0, 1, 2}, {33, 35, 37}}, kExact);
}
TEST_CASE("products of complex numbers take the loop nest", "[run]") {
  Maker m;
  for (const char* name : {"A", "B", "C"}) m.array(name, ScalarType::kComplex128, "N, N");
  m.symbol("N");
  m.library(m.body(), ir::Gemm{false, false, {0.0, 1.0}, 0.0}, {"_a = A", "_b = B"}, {"_c = C"});
  const std::int64_t n = 37;
  std::vector<std::complex<double>> a, b;
  for (int i = 0; i < n * n; ++i) a.emplace_back(i % 7, i % 3), b.emplace_back(i % 5, -(i % 4));
  Memory start;
  start.array("A", a).array("B", b).array("C", a).value("N", n);
  check(m, start, [&](Memory& w) {
    auto c = w.get<std::complex<double>>("C");
    for (std::size_t i = 0; i < 37; ++i) {
      for (std::size_t j = 0; j < 37; ++j) {
        std::complex<double> sum = 0;
        for (std::size_t k = 0; k < 37; ++k) sum += a[i * 37 + k] * b[k * 37 + j];
        c[i * 37 + j] = std::complex<double>(0, 1) * sum;
      }
    }
  });
}
TEST_CASE("batched products", "[run]") {
  Maker m;
  m.array("A", kD, "2, M, K");
  m.array("B", kD, "2, K, N");
  m.array("C", kD, "2, M, N");
  for (const char* s : {"M", "N", "K"}) m.symbol(s);
  m.library(m.body(), ir::BatchedMatMul{}, {"_a = A", "_b = B"}, {"_c = C"});
  for (const auto& [rows, columns, summed] : std::vector<std::array<std::int64_t, 3>>{{2, 3, 1}, {33, 50, 35}}) {
    Memory start;
    start.array("A", numbers(2 * rows * summed)).array("B", numbers(2 * summed * columns, 2));
    start.array("C", numbers(2 * rows * columns, 3)).value("M", rows).value("N", columns).value("K", summed);
    check(
        m, start,
        [&](Memory& w) {
          const auto a = w.get<double>("A");
          const auto b = w.get<double>("B");
          auto c = w.get<double>("C");
          for (std::int64_t t = 0; t < 2; ++t) {
            for (std::int64_t i = 0; i < rows; ++i) {
              for (std::int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (std::int64_t k = 0; k < summed; ++k)
                  sum += a[static_cast<std::size_t>((t * rows + i) * summed + k)] *
                         b[static_cast<std::size_t>((t * summed + k) * columns + j)];
                c[static_cast<std::size_t>((t * rows + i) * columns + j)] = sum;
              }
            }
          }
        },
        kReassociated);
  }
}
TEST_CASE("symmetric products write one triangle", "[run]") {
  for (const bool lower : {true, false}) {
    for (const bool trans : {false, true}) {
      Maker m;
      m.array("A", kD, trans ? "K, N" : "N, K");
      m.array("C", kD, "N, N");
      m.symbol("N");
      m.symbol("K");
      m.library(m.body(), ir::Syrk{trans, lower, 2.0, -1.0}, {"_a = A"}, {"_c = C"});
      for (const auto& [order, summed] : std::vector<std::array<std::int64_t, 2>>{{0, 3}, {5, 3}, {113, 270}}) {
        Memory start;
        start.array("A", numbers(order * summed)).array("C", numbers(order * order, 2));
        start.value("N", order).value("K", summed);
        check(
            m, start,
            [&](Memory& w) {
              const auto a = w.get<double>("A");
              auto c = w.get<double>("C");
              for (std::int64_t i = 0; i < order; ++i) {
                for (std::int64_t j = lower ? 0 : i; j < (lower ? i + 1 : order); ++j) {
                  double sum = 0;
                  for (std::int64_t k = 0; k < summed; ++k)
                    sum += a[static_cast<std::size_t>(trans ? k * order + i : i * summed + k)] *
                           a[static_cast<std::size_t>(trans ? k * order + j : j * summed + k)];
                  double& out = c[static_cast<std::size_t>(i * order + j)];
                  out = 2.0 * sum - out;
                }
              }
            },
            kReassociated);
      }
    }
  }
}

}  // namespace test_products
