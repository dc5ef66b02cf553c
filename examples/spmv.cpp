// Sparse matrix times vector in CSR form: a map whose range is read from the row pointers.
#include "example.hpp"

int main(int argc, char** argv) {
  example::arguments(argc, argv);
  sdfg::Builder g("spmv");
  auto rows = g.symbol("rows"), columns = g.symbol("columns"), nonzeros = g.symbol("nonzeros");
  auto row_start = g.array<std::int64_t>("row_start", {rows + 1});
  auto column = g.array<std::int32_t>("column", {nonzeros});
  auto value = g.array<double>("value", {nonzeros});
  auto x = g.array<double>("x", {columns}), y = g.array<double>("y", {rows});
  g.map({"i", 0, rows}, [&](auto i) {
    auto sum = g.local("sum", 0.0);
    g.map({"k", row_start(i), row_start(i + 1)}, [&](auto k) { sum += value(k) * x(column(k)); });
    y(i) = sum();
  });

  auto spmv = sdfg::compile(g);
  example::report(spmv);

  const std::int64_t m = 5003, n = 4001;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> index;
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < m; ++i) {
    const int count = static_cast<int>(random() % 9);  // some rows are empty
    for (int c = 0; c < count; ++c) index.push_back(static_cast<std::int32_t>(random() % n));
    start.push_back(static_cast<std::int64_t>(index.size()));
  }
  const std::vector<double> values = example::numbers(index.size(), 3), xs = example::numbers(n, 4);
  std::vector<double> got(m), expected(m, 0.0);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t k = start[i]; k < start[i + 1]; ++k) expected[i] += values[k] * xs[index[k]];
  }
  spmv.bind("row_start", start.data())
      .bind("column", index.data())
      .bind("value", values.data())
      .bind("x", xs.data())
      .bind("y", got.data())
      .bind("rows", m)
      .bind("columns", n)
      .bind("nonzeros", static_cast<std::int64_t>(index.size()))
      .call();
  return example::check("spmv", example::difference(got, expected), 1e-13);
}
