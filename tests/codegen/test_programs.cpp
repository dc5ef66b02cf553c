// Emitted programs, one per construct, run against plain loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "run_tools.hpp"
#include "support/graph_tools.hpp"

namespace test_programs {

using namespace sdfg;
using namespace sdfg::test;
using ir::ReduceOp;

namespace {

std::vector<double> numbers(std::int64_t n, std::int64_t seed = 1) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k)
    v[static_cast<std::size_t>(k)] = static_cast<double>(((k + seed) * 7919) % 1009 - 500) / 8.0;
  return v;
}

RunOptions sequential() {
  RunOptions o;
  o.prepare.opt_level = 0;
  o.prepare.parallel = false;
  o.lower.opt_level = 0;
  o.optimisation = "-O0";
  return o;
}

const std::vector<RunOptions>& both() {
  static const std::vector<RunOptions> list{RunOptions(), sequential()};
  return list;
}

ir::Graph matmul() {
  ir::Graph g("matmul");
  array(g, "A", ScalarType::kFloat64, {"M", "K"});
  array(g, "B", ScalarType::kFloat64, {"K", "N"});
  array(g, "C", ScalarType::kFloat64, {"M", "N"});
  for (const char* s : {"M", "N", "K"}) symbol(g, s);
  ir::Element& m = map(g, g.body, {{"i", "0:M"}, {"j", "0:N"}, {"k", "0:K"}});
  compute(g, body(m), "multiply", "out = a * b", {{"a", "A", "i, k"}, {"b", "B", "k, j"}},
          {accumulate("out", "C", "i, j", ReduceOp::kSum)});
  return g;
}

}  // namespace

TEST_CASE("a matrix product accumulates into what is there") {
  for (const RunOptions& o : both()) {
    Compiled f(matmul(), o);
    for (const auto& [m, n, k] : {std::tuple<int, int, int>{0, 3, 2}, {1, 1, 1}, {7, 5, 3}, {31, 17, 23}}) {
      const std::vector<double> a = numbers(m * k), b = numbers(k * n, 5);
      std::vector<double> c = numbers(m * n, 9), expected = c;
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          for (int q = 0; q < k; ++q) expected[i * n + j] += a[i * k + q] * b[q * n + j];
        }
      }
      f(a.data(), b.data(), c.data(), std::int64_t{m}, std::int64_t{n}, std::int64_t{k});
      for (std::size_t x = 0; x < c.size(); ++x) CHECK(c[x] == Approx(expected[x]).epsilon(1e-12));
    }
  }
}

TEST_CASE("a nested sum keeps its element in a register") {
  ir::Graph g("nested");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "y", ScalarType::kFloat64, {"M"});
  symbol(g, "M");
  symbol(g, "N");
  ir::Element& outer = map(g, g.body, {{"i", "0:M"}});
  ir::Element& inner = map(g, body(outer), {{"j", "0:N"}});
  compute(g, body(inner), "add", "out = a", {{"a", "A", "i, j"}}, {accumulate("out", "y", "i", ReduceOp::kSum)});
  Compiled f(g);
  check_golden("nested_sum.cpp", own_part(f.text()));
  CHECK(f.text().find("atomic") == std::string::npos);
  const std::vector<double> a = numbers(13 * 29);
  std::vector<double> y(13, 2.0);
  f(a.data(), y.data(), std::int64_t{13}, std::int64_t{29});
  for (int i = 0; i < 13; ++i)
    CHECK(y[i] == Approx(2.0 + std::accumulate(a.begin() + i * 29, a.begin() + (i + 1) * 29, 0.0)));
}

TEST_CASE("sums, products, minima and maxima over a parallel map use clauses") {
  for (const RunOptions& o : both()) {
    ir::Graph g("reduce");
    array(g, "A", ScalarType::kFloat64, {"N"});
    scalar(g, "s", ScalarType::kFloat64, false);
    scalar(g, "lo", ScalarType::kFloat64, false);
    scalar(g, "hi", ScalarType::kFloat64, false);
    array(g, "count", ScalarType::kInt32, {"3"});
    symbol(g, "N");
    ir::Element& m =
        map(g, g.body, {{"i", "0:N"}}, o.prepare.parallel ? ir::Schedule::kParallel : ir::Schedule::kDefault);
    compute(g, body(m), "sum", "out = a", {{"a", "A", "i"}}, {accumulate("out", "s", "", ReduceOp::kSum)});
    compute(g, body(m), "low", "out = a", {{"a", "A", "i"}}, {accumulate("out", "lo", "", ReduceOp::kMin)});
    compute(g, body(m), "high", "out = a", {{"a", "A", "i"}}, {accumulate("out", "hi", "", ReduceOp::kMax)});
    compute(g, body(m), "positive", "out = 1 if a > 0 else 0", {{"a", "A", "i"}},
            {accumulate("out", "count", "1", ReduceOp::kSum)});
    Compiled f(g, o);
    CHECK(f.text().find("atomic") == std::string::npos);
    if (o.prepare.parallel) CHECK(f.text().find("reduction(") != std::string::npos);
    for (const std::int64_t n : {0, 1, 7, 1000}) {
      const std::vector<double> a = numbers(n);
      double s = 10, lo = 0.5, hi = -0.5;
      std::int32_t count[3] = {7, 8, 9};
      f(a.data(), &s, &lo, &hi, &count[0], n);
      CHECK(s == Approx(10 + std::accumulate(a.begin(), a.end(), 0.0)));
      CHECK(lo == (n ? std::min(0.5, *std::min_element(a.begin(), a.end())) : 0.5));
      CHECK(hi == (n ? std::max(-0.5, *std::max_element(a.begin(), a.end())) : -0.5));
      CHECK(count[0] == 7);
      CHECK(count[1] == 8 + std::count_if(a.begin(), a.end(), [](double v) { return v > 0; }));
      CHECK(count[2] == 9);
    }
  }
}

TEST_CASE("an indirect histogram is atomic in parallel and plain in sequence") {
  ir::Graph g("histogram");
  array(g, "bin", ScalarType::kInt64, {"N"});
  array(g, "h", ScalarType::kFloat64, {"B"});
  array(g, "hc", ScalarType::kComplex128, {"B"});
  array(g, "hm", ScalarType::kInt32, {"B"});
  symbol(g, "N");
  symbol(g, "B");
  symbol(g, "b", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, ir::Schedule::kParallel);
  ir::Assign a;
  a.items.push_back({"b", expression("bin[i]")});
  g.append(body(m), std::move(a));
  compute(g, body(m), "count", "out = 1.0", {}, {accumulate("out", "h", "b", ReduceOp::kSum)});
  compute(g, body(m), "turn", "out = 1.0", {}, {accumulate("out", "hc", "b", ReduceOp::kSum)});
  compute(g, body(m), "largest", "out = i", {}, {accumulate("out", "hm", "b", ReduceOp::kMax)});
  Compiled f(g);
  CHECK(f.text().find("sdfg_atomic_add") != std::string::npos);
  const std::int64_t n = 10007, bins = 13;
  std::vector<std::int64_t> bin(n);
  for (std::int64_t k = 0; k < n; ++k) bin[k] = (k * k) % bins;
  std::vector<double> h(bins, 1.0), expected(bins, 1.0);
  std::vector<std::complex<double>> hc(bins);
  std::vector<std::int32_t> hm(bins, -1), largest(bins, -1);
  for (std::int64_t k = 0; k < n; ++k) {
    expected[bin[k]] += 1.0;
    largest[bin[k]] = static_cast<std::int32_t>(k);
  }
  f(bin.data(), h.data(), hc.data(), hm.data(), n, bins);
  CHECK(h == expected);
  CHECK(hm == largest);
  for (std::int64_t k = 0; k < bins; ++k) CHECK(hc[k].real() == expected[k] - 1.0);
}

TEST_CASE("breaks, continues and returns leave nested loops and release memory") {
  for (const RunOptions& o : both()) {
    ir::Graph g("exits");
    array(g, "out", ScalarType::kInt64, {"4"});
    symbol(g, "N");
    ir::Element& outer = loop(g, g.body, "i", "0", "i < N", "i + 1");
    ir::Element& inner = loop(g, body(outer), "j", "0", "j < N", "j + 1");
    // A block with heap memory inside both loops; leaving it any way must release it.
    ir::Element& b = g.append(body(inner), ir::Block());
    container(g, "tmp", ScalarType::kFloat64, ir::Layout::packed(extents({"N + 1"})), true);
    std::get<ir::Block>(b.kind).locals.push_back("tmp");
    compute(g, body(b), "set", "v = 1.0", {}, {{"v", "tmp", "j"}});
    const auto when = [&](const std::string& condition, auto kind) {
      ir::If i;
      i.branches.push_back({expression(condition), {}});
      ir::Element& e = g.append(body(b), std::move(i));
      g.append(body(e), std::move(kind));
    };
    when("j == 1 and i == 0", ir::Exit{ir::Exit::Kind::kContinue, outer.id});
    when("j == 2", ir::Exit{ir::Exit::Kind::kContinue, inner.id});
    when("j == 4", ir::Exit{ir::Exit::Kind::kBreak, inner.id});
    when("j == 3 and i == 5", ir::Exit{ir::Exit::Kind::kBreak, b.id});
    when("i == 7", ir::Exit{ir::Exit::Kind::kBreak, outer.id});
    when("i == 6 and N == 6 + 3", ir::Return{});
    compute(g, body(b), "count", "v = old + tmp", {{"old", "out", "0"}, {"tmp", "tmp", "j"}}, {{"v", "out", "0"}});
    compute(g, g.body, "end", "v = 1", {}, {{"v", "out", "1"}});
    Compiled f(g, o);
    for (const std::int64_t n : {0, 1, 2, 6, 9, 12}) {
      std::int64_t out[4] = {0, 0, 0, 0}, count = 0, end = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          if (j == 1 && i == 0) goto next_i;
          if (j == 2) continue;
          if (j == 4) break;
          if (j == 3 && i == 5) continue;
          if (i == 7) goto done;
          if (i == 6 && n == 9) {
            end = 0;
            goto done;
          }
          ++count;
        }
      next_i:;
      }
    done:
      CHECK(f(&out[0], n) == 0);
      CHECK(out[0] == count);
      CHECK(out[1] == end);
      CHECK(f.report().live == 0);
      CHECK((n == 0 || f.report().allocations > 0));
      CHECK(f.report().finished == (n == 0 ? 0 : 1));
    }
  }
}

TEST_CASE("the three forms of loops continue with their update") {
  for (const auto form : {ir::LoopForm::kTestFirst, ir::LoopForm::kUpdateThenTest, ir::LoopForm::kTestThenUpdate}) {
    ir::Graph g("forms");
    array(g, "out", ScalarType::kInt64, {"2"});
    symbol(g, "N");
    ir::Element& l = loop(g, g.body, "i", "0", "i < N", "i + 2", form);
    ir::If skip;
    skip.branches.push_back({expression("i == 4"), {}});
    ir::Element& e = g.append(body(l), std::move(skip));
    g.append(body(e), ir::Exit{ir::Exit::Kind::kContinue, l.id});
    compute(g, body(l), "count", "v = old + 1", {{"old", "out", "0"}}, {{"v", "out", "0"}});
    Compiled f(g);
    for (const std::int64_t n : {0, 1, 5, 6, 11}) {
      std::int64_t out[2] = {0, 0}, count = 0;
      std::int64_t i = 0;
      if (form == ir::LoopForm::kTestFirst) {
        for (; i < n; i += 2) count += i == 4 ? 0 : 1;
      } else if (form == ir::LoopForm::kUpdateThenTest) {
        do {
          count += i == 4 ? 0 : 1;
          i += 2;
        } while (i < n);
      } else {
        for (;; i += 2) {
          count += i == 4 ? 0 : 1;
          if (!(i < n)) break;
        }
      }
      f(&out[0], n);
      CHECK(out[0] == count);
    }
  }
}

TEST_CASE("symbols are assigned in parallel and kept through while loops") {
  ir::Graph g("fibonacci");
  array(g, "out", ScalarType::kInt64, {"3"});
  symbol(g, "N");
  for (const char* s : {"a", "b", "k"}) symbol(g, s, ir::BinderKind::kAssigned);
  ir::Assign start;
  start.items = {{"a", expression("0")}, {"b", expression("1")}, {"k", expression("0")}};
  g.append(g.body, std::move(start));
  ir::While w;
  w.condition = expression("k < N");
  ir::Element& e = g.append(g.body, std::move(w));
  ir::Assign step;
  step.items = {{"a", expression("b")}, {"b", expression("a + b")}, {"k", expression("k + 1")}};
  g.append(body(e), std::move(step));
  compute(g, g.body, "store", "v = a", {}, {{"v", "out", "0"}});
  compute(g, g.body, "store", "v = b", {}, {{"v", "out", "1"}});
  Compiled f(g);
  std::int64_t out[3] = {0, 0, 0};
  f(&out[0], std::int64_t{10});
  CHECK(out[0] == 55);
  CHECK(out[1] == 89);
}

TEST_CASE("data-dependent extents, negative extents and overflow are checked") {
  ir::Graph g("sizes");
  array(g, "n", ScalarType::kInt64, {"2"});
  array(g, "out", ScalarType::kFloat64, {"1"});
  symbol(g, "p", ir::BinderKind::kAssigned);
  symbol(g, "q", ir::BinderKind::kAssigned);
  ir::Assign a;
  a.items = {{"p", expression("n[0]")}, {"q", expression("n[1]")}};
  g.append(g.body, std::move(a));
  ir::Element& b = g.append(g.body, ir::Block());
  container(g, "tmp", ScalarType::kFloat64, ir::Layout::packed(extents({"p", "q"})), true).zeroed = true;
  std::get<ir::Block>(b.kind).locals.push_back("tmp");
  ir::Element& m = map(g, body(b), {{"i", "0:p"}, {"j", "0:q"}});
  compute(g, body(m), "fill", "v = i + 2 * j", {}, {{"v", "tmp", "i, j"}});
  ir::Element& r = map(g, body(b), {{"i2", "0:p"}, {"j2", "0:q"}});
  compute(g, body(r), "sum", "v = t", {{"t", "tmp", "i2, j2"}}, {accumulate("v", "out", "0", ReduceOp::kSum)});
  Compiled f(g);
  check_golden("data_dependent.cpp", own_part(f.text()));
  std::int64_t n[2] = {5, 7};
  double out = 0;
  CHECK(f(&n[0], &out) == 0);
  CHECK(out == 280);
  CHECK(f.report().live == 0);
  n[0] = 0;
  CHECK(f(&n[0], &out) == 0);
  n[0] = -3;
  CHECK(f(&n[0], &out) == 2);
  CHECK(f.report().values == std::vector<std::int64_t>{0, -3});
  CHECK(f.report().finished == 1);
  n[0] = std::int64_t{1} << 40;
  n[1] = std::int64_t{1} << 40;
  CHECK(f(&n[0], &out) == 3);
  n[1] = 1;
  CHECK(f(&n[0], &out) == 1);  // out of memory
  CHECK(f.report().live == 0);
}

TEST_CASE("layouts with strides, offsets and start offsets address what they say") {
  ir::Graph g("layouts");
  g.parameters = {"F", "P", "S"};
  container(g, "F", ScalarType::kFloat64, ir::Layout::column_major(extents({"M", "N"})), false);
  container(g, "P", ScalarType::kFloat64,
            ir::Layout::strided(extents({"M", "N + 1"}), extents({"N + 3", "1"}), {}, extents({"0", "1"}), 2), false);
  container(g, "S", ScalarType::kInt16, ir::Layout::strided(extents({"M", "N"}), extents({"2 * N", "2"})), false);
  symbol(g, "M");
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:M"}, {"j", "0:N"}});
  compute(g, body(m), "set", "f = 10 * i + j\np = f\ns = i - j", {},
          {{"f", "F", "i, j"}, {"p", "P", "i, j"}, {"s", "S", "i, j"}});
  Compiled f(g);
  check_golden("layouts.cpp", own_part(f.text()));
  const std::int64_t rows = 5, columns = 7;
  std::vector<double> column_major(rows * columns, -1), padded(2 + rows * (columns + 3) + 8, -1);
  std::vector<std::int16_t> strided(2 * rows * columns, -99);
  f(column_major.data(), padded.data(), strided.data(), rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      CHECK(column_major[i + j * rows] == 10 * i + j);
      CHECK(padded[2 + i * (columns + 3) + j + 1] == 10 * i + j);
      CHECK(strided[i * 2 * columns + 2 * j] == i - j);
      CHECK(strided[i * 2 * columns + 2 * j + 1] == -99);
    }
  }
}

TEST_CASE("copies: contiguous, rows, strided, reshaped, transposed order, overlapping") {
  ir::Graph g("copies");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "B", ScalarType::kFloat64, {"M", "N"});
  array(g, "R", ScalarType::kFloat64, {"N", "M"});
  array(g, "E", ScalarType::kFloat32, {"M", "N"});
  array(g, "O", ScalarType::kFloat64, {"M", "N"});
  symbol(g, "M");
  symbol(g, "N");
  copy(g, g.body, "A", "0:M, 0:N", "B", "0:M, 0:N");
  copy(g, g.body, "A", "1:M, 1:N", "B", "0:M-1, 0:N-1");
  copy(g, g.body, "A", "0:M:2, 0", "B", "0:M:2, N-1");
  copy(g, g.body, "A", "0:M, 0:N", "R", "0:N, 0:M");
  copy(g, g.body, "A", "0:M, 0:N", "E", "0:M, 0:N");
  copy(g, g.body, "A", "0:M, 0:N", "O", "0:M, 0:N");
  copy(g, g.body, "O", "0:M-1, 0:N", "O", "1:M, 0:N");
  copy(g, g.body, "O", "0:M, 0:N-1", "O", "0:M, 1:N");
  for (const RunOptions& o : both()) {
    Compiled f(g, o);
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 3}, {5, 4}, {7, 11}}) {
      const std::vector<double> a = numbers(m * n);
      std::vector<double> b(m * n), r(m * n), o2(m * n);
      std::vector<float> e(m * n);
      CHECK(f(a.data(), b.data(), r.data(), e.data(), o2.data(), m, n) == 0);
      std::vector<double> eb = a, eo = a;
      for (std::int64_t i = 1; i < m; ++i) {
        for (std::int64_t j = 1; j < n; ++j) eb[(i - 1) * n + j - 1] = a[i * n + j];
      }
      for (std::int64_t i = 0; i < m; i += 2) eb[i * n + n - 1] = a[i * n];
      std::vector<double> before = eo;
      for (std::int64_t i = 0; i + 1 < m; ++i) std::copy_n(before.begin() + i * n, n, eo.begin() + (i + 1) * n);
      before = eo;
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j + 1 < n; ++j) eo[i * n + j + 1] = before[i * n + j];
      }
      CHECK(b == eb);
      CHECK(r == a);
      CHECK(o2 == eo);
      for (std::int64_t k = 0; k < m * n; ++k) CHECK(e[k] == static_cast<float>(a[k]));
      CHECK(f.report().live == 0);
    }
  }
}

TEST_CASE("views address their window, also with another element type") {
  ir::Graph g("views");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  array(g, "bits", ScalarType::kInt64, {"N"});
  symbol(g, "M");
  symbol(g, "N");
  ir::Container& v = container(g, "v", ScalarType::kFloat64, ir::Layout::strided(extents({"M"}), extents({"N"})), true);
  v.kind = ir::ContainerKind::kView;
  v.viewed = "A";
  v.viewed_subset = subset("0:M, 1");
  ir::Container& w = container(g, "w", ScalarType::kInt64, ir::Layout::packed(extents({"N"})), true);
  w.kind = ir::ContainerKind::kView;
  w.viewed = "A";
  w.viewed_subset = subset("M-1, 0:N");
  g.locals = {"v", "w"};
  ir::Element& m = map(g, g.body, {{"i", "0:M"}});
  compute(g, body(m), "column", "out = x + 1.0", {{"x", "v", "i"}}, {{"out", "v", "i"}});
  ir::Element& n = map(g, g.body, {{"j", "0:N"}});
  compute(g, body(n), "bits", "out = x", {{"x", "w", "j"}}, {{"out", "bits", "j"}});
  for (const RunOptions& o : both()) {
    Compiled f(g, o);
    std::vector<double> a = numbers(5 * 3), expected = a;
    std::vector<std::int64_t> bits(3);
    f(a.data(), bits.data(), std::int64_t{5}, std::int64_t{3});
    for (int i = 0; i < 5; ++i) expected[i * 3 + 1] += 1.0;
    CHECK(a == expected);
    for (int j = 0; j < 3; ++j) CHECK(std::bit_cast<double>(bits[j]) == expected[12 + j]);
  }
}

TEST_CASE("dynamic outputs leave untouched what is not assigned") {
  ir::Graph g("dynamic");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  scalar(g, "s", ScalarType::kFloat64, false);
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  Port out{"out", "B", "i", true, {}};
  Port sum = accumulate("total", "s", "", ReduceOp::kSum);
  sum.dynamic = true;
  compute(g, body(m), "positive", "if a > 0:\n  out = a\n  total = a", {{"a", "A", "i"}}, {out, sum});
  for (const RunOptions& o : both()) {
    Compiled f(g, o);
    const std::vector<double> a = numbers(101);
    std::vector<double> b(101, -7.0);
    double s = 1.0, expected = 1.0;
    f(a.data(), b.data(), &s, std::int64_t{101});
    for (std::size_t k = 0; k < a.size(); ++k) {
      CHECK(b[k] == (a[k] > 0 ? a[k] : -7.0));
      expected += a[k] > 0 ? a[k] : 0;
    }
    CHECK(s == Approx(expected));
  }
}

TEST_CASE("registers connect tasklets, constants are tables, scalars are const where they are written once") {
  ir::Graph g("values");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  scalar(g, "alpha", ScalarType::kFloat64, false);
  symbol(g, "N");
  ir::Container& table = container(g, "weights", ScalarType::kFloat64, ir::Layout::packed(extents({"2"})), true);
  const double weights[2] = {0.1, -3.0};
  table.constant.emplace(reinterpret_cast<const std::uint8_t*>(weights),
                         reinterpret_cast<const std::uint8_t*>(weights) + sizeof weights);
  ir::Element& m = map(g, g.body, {{"i", "0:N"}});
  ir::Element& b = g.append(body(m), ir::Block());
  ir::Container& t = container(g, "twice", ScalarType::kFloat64, ir::Layout(), true);
  t.kind = ir::ContainerKind::kScalar;
  std::get<ir::Block>(b.kind).locals.push_back("twice");
  compute(g, body(b), "double it", "out = 2 * a", {{"a", "A", "i"}}, {{"out", "twice", ""}});
  ir::Element& e = g.append(body(b), ir::State(), "chain");
  auto& s = std::get<ir::State>(e.kind);
  const ir::Id first = tasklet_in(g, s, "scale", "x = a * alpha * w",
                                  {{"a", "twice", ""}, {"alpha", "alpha", ""}, {"w", "weights", "1"}}, {});
  std::get<ir::Tasklet>(s.find_node(first)->kind).outputs.push_back({"x", {}});
  const ir::Id second = tasklet_in(g, s, "shift", "out = y + 1.0", {}, {{"out", "B", "i"}});
  std::get<ir::Tasklet>(s.find_node(second)->kind).inputs.push_back({"y", {}});
  ir::Memlet edge;
  edge.id = g.new_id();
  edge.src = first;
  edge.dst = second;
  edge.src_connector = "x";
  edge.dst_connector = "y";
  s.edges.push_back(edge);
  Compiled f(g);
  check_golden("values.cpp", own_part(f.text()));
  const std::vector<double> a = numbers(33);
  std::vector<double> out(33);
  f(a.data(), out.data(), 0.5, std::int64_t{33});
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(out[k] == 2 * a[k] * 0.5 * -3.0 + 1.0);
}

TEST_CASE("names of users never reach the text as they are") {
  ir::Graph g("for");
  array(g, "double", ScalarType::kFloat64, {"while"});
  array(g, "sdfg_call", ScalarType::kFloat64, {"while"});
  symbol(g, "while");
  ir::Element& m = map(g, g.body, {{"int64_t", "0:while"}});
  m.label = "map */ \n#error ?\?/\\";
  compute(g, body(m), "copy // \\\n}", "out = a", {{"a", "double", "int64_t"}}, {{"out", "sdfg_call", "int64_t"}});
  Compiled f(g);
  const std::vector<double> a = numbers(5);
  std::vector<double> b(5);
  f(a.data(), b.data(), std::int64_t{5});
  CHECK(a == b);
}

TEST_CASE("packed calls take the addresses of arguments") {
  Compiled f(jacobi_2d());
  std::vector<double> a = numbers(49), b = a, a2 = a, b2 = a;
  std::int64_t n = 7, steps = 3;
  double *pa = a2.data(), *pb = b2.data();
  f(a.data(), b.data(), n, steps);
  CHECK(f.packed({&pa, &pb, &n, &steps}) == 0);
  CHECK(a == a2);
}

TEST_CASE("text doesn't depend on addresses") {
  const std::string first = emitted(matmul());
  for (int k = 0; k < 3; ++k) CHECK(emitted(matmul()) == first);
}

}  // namespace test_programs
