// Products of a matrix and a vector: every layout, stride, transposition, scaling, size and type, by each expansion.
#include <array>
#include <complex>
#include <limits>
#include <sdfg/compile.hpp>

#include "harness.hpp"

namespace test_matrix_vector {

using namespace sdfg;
using namespace sdfg::test;

namespace {

enum class Form { kRows, kColumns, kGaps };

struct Gemv {
  bool trans = false;
  double alpha = 1, beta = 0;
  Form a = Form::kRows;
  std::int64_t x_step = 1, y_step = 1;
  bool addend = false;
  std::string implementation = {};
};

using Sizes = std::vector<std::array<std::int64_t, 2>>;  // of the result, of the sum
const Sizes kSizes = {{0, 5}, {6, 0}, {1, 1}, {3, 700}, {5, 7}, {33, 32}, {97, 41}, {1030, 53}, {4, 5000}};
const Sizes kFew = {{5, 7}, {97, 41}, {6, 0}};

template <typename T>
Maker maker(const Gemv& form) {
  Maker m;
  const std::string rows = form.trans ? "K" : "M", columns = form.trans ? "M" : "K";
  const auto shape = Maker::extents(rows + ", " + columns);
  m.array("A", kScalarTypeOf<T>,
          form.a == Form::kRows      ? ir::Layout::packed(shape)
          : form.a == Form::kColumns ? ir::Layout::column_major(shape)
                                     : ir::Layout::strided(shape, Maker::extents("2 * (" + columns + ") + 3, 2")));
  const auto line = [](const char* extent, std::int64_t step) {
    return ir::Layout::strided(Maker::extents(extent), {symbolic::Expr(step)});
  };
  m.array("x", kScalarTypeOf<T>, line("K", form.x_step));
  m.array("y", kScalarTypeOf<T>, line("M", form.y_step));
  if (form.addend) m.array("z", kScalarTypeOf<T>, "M");
  m.symbol("M");
  m.symbol("K");
  std::vector<std::string> inputs = {"_A = A", "_x = x"};
  if (form.addend) inputs.push_back("_y = z");
  m.library(m.body(), ir::Gemv{form.trans, form.alpha, form.beta}, inputs, {"_y = y"}).implementation =
      form.implementation;
  return m;
}

template <typename T>
void check_gemv(const Gemv& form, const Sizes& sizes, double tolerance = kReassociated) {
  const Maker m = maker<T>(form);
  for (const auto& [result, summed] : sizes) {
    INFO("sizes " << result << ", " << summed << ", implementation '" << form.implementation << "'");
    const std::int64_t rows = form.trans ? summed : result, columns = form.trans ? result : summed;
    const std::int64_t row = form.a == Form::kRows ? columns : form.a == Form::kColumns ? 1 : 2 * columns + 3;
    const std::int64_t column = form.a == Form::kRows ? 1 : form.a == Form::kColumns ? rows : 2;
    const auto room = [](std::int64_t count, std::int64_t step) { return count > 0 ? (count - 1) * step + 1 : 1; };
    std::vector<T> y = numbers<T>(room(result, form.y_step), 3);
    if (form.beta == 0 && std::numeric_limits<T>::has_quiet_NaN)
      y.assign(y.size(), std::numeric_limits<T>::quiet_NaN());  // beta = 0 reads nothing
    Memory start;
    start.array("A", numbers<T>(rows > 0 && columns > 0 ? 1 + (rows - 1) * row + (columns - 1) * column : 1));
    start.array("x", numbers<T>(room(summed, form.x_step), 2)).array("y", y);
    if (form.addend) start.array("z", numbers<T>(result, 4));
    start.value("M", result).value("K", summed);
    check(
        m, start,
        [&](Memory& w) {
          for (std::int64_t i = 0; i < result; ++i) {
            T sum = 0;
            for (std::int64_t k = 0; k < summed; ++k)
              sum += w.get<T>("A")[at(form.trans ? k * row + i * column : i * row + k * column)] *
                     w.get<T>("x")[at(k * form.x_step)];
            T& out = w.get<T>("y")[at(i * form.y_step)];
            const T old = form.beta == 0 ? T(0) : form.addend ? w.get<T>("z")[at(i)] : out;
            out = static_cast<T>(form.alpha) * sum + static_cast<T>(form.beta) * old;
          }
        },
        tolerance);
  }
}

}  // namespace

TEST_CASE("a matrix of rows or columns times a vector", "[run]") {
  check_gemv<double>({}, kSizes);
  check_gemv<double>({.a = Form::kColumns}, kSizes);
  check_gemv<double>({.trans = true}, kSizes);
  check_gemv<double>({.trans = true, .a = Form::kColumns}, kFew);
  check_gemv<float>({}, {{5, 7}, {97, 41}}, 1e-5);
  check_gemv<float>({.trans = true}, {{5, 7}, {97, 41}}, 1e-5);
}

TEST_CASE("a matrix times a vector with gaps in any of them", "[run]") {
  check_gemv<double>({.a = Form::kGaps}, kFew);
  for (const bool trans : {false, true}) check_gemv<double>({.trans = trans, .x_step = 3, .y_step = 2}, kFew);
}

TEST_CASE("a matrix times a vector, scaled and added", "[run]") {
  for (const bool trans : {false, true}) {
    check_gemv<double>({.trans = trans, .alpha = -1.5, .beta = 0.5}, kFew);
    check_gemv<double>({.trans = trans, .alpha = 2, .beta = -1, .addend = true}, kFew);
  }
}

TEST_CASE("a matrix times a vector of integers", "[run]") {
  check_gemv<std::int64_t>({.beta = 1}, kFew, kExact);
}

TEST_CASE("expansions that are asked for by name compute the same", "[run]") {
  for (const char* name : {"pure", "tiles", "OpenBLAS", "unheard of"}) {
    for (const bool trans : {false, true}) {
      check_gemv<double>({.trans = trans, .implementation = name}, {{0, 5}, {6, 0}, {5, 7}, {97, 41}});
      check_gemv<double>(
          {.trans = trans, .alpha = 2, .beta = -1, .x_step = 2, .y_step = 3, .addend = true, .implementation = name},
          {{5, 7}});
    }
    check_gemv<double>({.beta = 0.5, .a = Form::kGaps, .implementation = name}, {{5, 7}});
    check_gemv<std::int64_t>({.implementation = name}, {{5, 7}}, kExact);
  }
}

TEST_CASE("a product of matrices by name", "[run]") {
  for (const char* name : {"pure", "tiles", "OpenBLAS"}) {
    for (const bool columns : {false, true}) {
      Maker m;
      m.symbol("M");
      m.symbol("N");
      m.symbol("K");
      m.array("A", ScalarType::kFloat64, "M, K");
      m.array("B", ScalarType::kFloat64, "N, K");
      const auto shape = Maker::extents("M, N");
      m.array("C", ScalarType::kFloat64, columns ? ir::Layout::column_major(shape) : ir::Layout::packed(shape));
      m.library(m.body(), ir::Gemm{false, true, 2.0, -1.0}, {"_a = A", "_b = B"}, {"_c = C"}).implementation = name;
      for (const auto& [rows, width, summed] :
           std::vector<std::array<std::int64_t, 3>>{{0, 2, 3}, {2, 3, 0}, {5, 7, 3}, {33, 50, 41}}) {
        Memory start;
        start.array("A", numbers(rows * summed)).array("B", numbers(width * summed, 2));
        start.array("C", numbers(rows * width, 3)).value("M", rows).value("N", width).value("K", summed);
        check(
            m, start,
            [&](Memory& w) {
              for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < width; ++j) {
                  double sum = 0;
                  for (std::int64_t k = 0; k < summed; ++k)
                    sum += w.get<double>("A")[at(i * summed + k)] * w.get<double>("B")[at(j * summed + k)];
                  double& c = w.get<double>("C")[at(columns ? j * rows + i : i * width + j)];
                  c = 2 * sum - c;
                }
              }
            },
            kReassociated);
      }
    }
  }
}

TEST_CASE("the expansion that was taken, and why, is told", "[run]") {
  const auto compiled = [](const char* name) {
    sdfg::Options options;
    options.opt_level = 3;
    options.cache = CacheMode::kOff;
    options.device = DeviceChoice{DeviceChoice::Kind::kCpu, 0};
    return compile(sdfg::Graph(std::make_shared<const ir::Graph>(maker<double>({.implementation = name}).g.clone())),
                   options);
  };
  const auto says = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  const std::string own = compiled("").source(), loops = compiled("pure").source();
  CHECK(says(own, "sdfg_rows_times_f64"));
  CHECK_FALSE(says(own, "dgemv_"));
  CHECK_FALSE(says(loops, "sdfg_rows_times_f64"));
  const auto blas = compiled("OpenBLAS");
  CHECK(says(blas.explain(), "dgemv_"));
  // Without a BLAS the reason says so, and the blocks are taken.
  CHECK(says(blas.source(), "dgemv_") != says(blas.explain(), "is not there"));
  CHECK(says(compiled("unheard of").explain(), "'unheard of'"));
}

}  // namespace test_matrix_vector
