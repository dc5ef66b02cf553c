// Library nodes that multiply: the BLAS family, Einsum, TensorDot and the sparse products.
#include <algorithm>
#include <map>

#include "interpret/tensor.hpp"

namespace sdfg::interpret {

namespace {

template <typename T>
std::size_t at(T k) {
  return static_cast<std::size_t>(k);
}

struct Matrix {  // a row-major matrix in a vector of numbers, perhaps seen transposed
  std::int64_t rows, columns;
  bool transposed;
  std::int64_t offset = 0;
  std::int64_t index(std::int64_t i, std::int64_t j) const {
    return offset + (transposed ? j * rows + i : i * columns + j);
  }
};

Matrix matrix_of(const Tensor& t, bool transposed) {
  const std::size_t r = t.rank();
  const std::int64_t rows = t.shape()[r - 2], columns = t.shape()[r - 1];
  return transposed ? Matrix{columns, rows, true} : Matrix{rows, columns, false};
}

// What beta multiplies: the input `cin` when there is one, what the output holds otherwise. Not read at all when beta
// is zero.
template <typename T>
std::vector<T> addend(const Operands& operands, const Tensor& out, std::string_view cin, Complex beta) {
  if (beta == 0.0) return std::vector<T>(at(out.size()), T{});
  if (!operands.has_in(cin)) return out.read<T>();
  const Tensor in = operands.in(cin);
  if (in.size() != out.size()) fail_shape(operands, "adds " + in.text() + " to " + out.text());
  return in.read<T>();
}

// c = alpha * op(a) op(b) + beta * c with NumPy's broadcasting of all but the last two dimensions.
void multiply(const Operands& operands, const Tensor& a, const Tensor& b, Tensor& c, bool trans_a, bool trans_b,
              Complex alpha, Complex beta) {
  const Matrix ma = matrix_of(a, trans_a), mb = matrix_of(b, trans_b), mc = matrix_of(c, false);
  if (ma.columns != mb.rows || ma.rows != mc.rows || mb.columns != mc.columns)
    fail_shape(operands,
               "multiplies " + a.text() + " with " + b.text() + " to " + c.text() + ", whose extents don't match");
  // Batch dimensions of the output, aligned at the right as NumPy does.
  const std::size_t batch_rank = c.rank() - 2;
  const std::int64_t batches = mc.rows * mc.columns == 0 ? 0 : c.size() / (mc.rows * mc.columns);
  const auto batch_of = [&](const Tensor& t, std::int64_t batch) {
    std::int64_t index = 0, stride = 1, rest = batch;
    for (std::size_t back = 0; back < batch_rank; ++back) {
      const std::int64_t extent = c.shape()[batch_rank - 1 - back];
      const std::int64_t here = rest % extent;
      rest /= extent;
      if (back + 2 >= t.rank()) continue;
      const std::int64_t own = t.shape()[t.rank() - 3 - back];
      if (own != extent && own != 1) fail_shape(operands, "can't broadcast " + t.text() + " to " + c.text());
      index += (own == 1 ? 0 : here) * stride;
      stride *= own;
    }
    return index;
  };
  if (std::max(a.rank(), b.rank()) > c.rank())
    fail_shape(operands,
               "multiplies " + a.text() + " with " + b.text() + " to " + c.text() + ", which has too few dimensions");
  with_number({a.type(), b.type(), c.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> va = a.read<T>(), vb = b.read<T>();
    std::vector<T> vc = addend<T>(operands, c, "_cin", beta);
    const T ta = number_of<T>(alpha), tb = number_of<T>(beta);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      Matrix pa = ma, pb = mb, pc = mc;
      pa.offset = batch_of(a, batch) * ma.rows * ma.columns;
      pb.offset = batch_of(b, batch) * mb.rows * mb.columns;
      pc.offset = batch * mc.rows * mc.columns;
      for (std::int64_t i = 0; i < mc.rows; ++i)
        for (std::int64_t j = 0; j < mc.columns; ++j) {
          T sum{};
          for (std::int64_t k = 0; k < ma.columns; ++k) sum += va[at(pa.index(i, k))] * vb[at(pb.index(k, j))];
          T& out = vc[at(pc.index(i, j))];
          out = beta == 0.0 ? ta * sum : ta * sum + tb * out;
        }
    }
    c.write(vc);
  });
}

}  // namespace

void run_op(const ir::Gemm& op, const Operands& operands) {
  Tensor a = operands.in("_a"), b = operands.in("_b"), c = operands.out("_c");
  a.fit(2);
  b.fit(2);
  c.fit(2);
  multiply(operands, a, b, c, op.trans_a, op.trans_b, op.alpha, op.beta);
}

void run_op(const ir::BatchedMatMul& op, const Operands& operands) {
  const Tensor a = operands.in("_a"), b = operands.in("_b");
  Tensor c = operands.out("_c");
  if (a.rank() < 2 || b.rank() < 2 || c.rank() < 2) fail_shape(operands, "needs operands with at least two dimensions");
  multiply(operands, a, b, c, op.trans_a, op.trans_b, op.alpha, op.beta);
}

// NumPy's rule: a vector on the left is a row, on the right a column, and that dimension is absent from the result.
// Dimensions of the memlets that are single indices count only where they make the extents match.
void run_op(const ir::MatMul&, const Operands& operands) {
  Tensor a = operands.in("_a"), b = operands.in("_b"), c = operands.out("_c");
  const auto as_matrices = [](const Tensor& x, bool left) {
    std::vector<std::int64_t> s = x.shape();
    if (s.size() == 1) s.insert(left ? s.begin() : s.end(), 1);
    return s;
  };
  const auto fits = [&] {
    if (a.rank() == 0 || b.rank() == 0) return false;
    const auto sa = as_matrices(a, true), sb = as_matrices(b, false);
    return sa.back() == sb[sb.size() - 2];
  };
  if (!fits()) {
    a.squeeze();
    if (!fits()) b.squeeze();
  }
  if (!fits()) fail_shape(operands, "multiplies " + a.text() + " with " + b.text() + ", whose extents don't match");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const auto sa = as_matrices(a, true), sb = as_matrices(b, false);
  // The output's own shape says only how many elements there are and how the batch is laid out: rebuild it by the rule.
  std::vector<std::int64_t> sc;
  const std::size_t batch_rank = std::max(sa.size(), sb.size()) - 2;
  for (std::size_t d = 0; d < batch_rank; ++d) {
    const auto extent = [&](const std::vector<std::int64_t>& s) {
      return d + s.size() < batch_rank + 2 ? 1 : s[d + s.size() - batch_rank - 2];
    };
    sc.push_back(extent(sa) == 1 ? extent(sb) : extent(sa));
  }
  sc.push_back(sa[sa.size() - 2]);
  sc.push_back(sb.back());
  if (product(sc) != c.size())
    fail_shape(operands,
               "multiplies " + a.text() + " with " + b.text() + " to " + c.text() + ", whose extents don't match");
  if (row) a.reshape(sa);
  if (column) b.reshape(sb);
  c.reshape(sc);
  multiply(operands, a, b, c, false, false, 1.0, 0.0);
}

void run_op(const ir::Gemv& op, const Operands& operands) {
  Tensor a = operands.in("_A"), x = operands.in("_x"), y = operands.out("_y");
  a.fit(2);
  const Matrix m = matrix_of(a, op.trans_a);
  if (x.size() != m.columns || y.size() != m.rows)
    fail_shape(operands, "multiplies " + a.text() + (op.trans_a ? " transposed" : "") + " with " + x.text() + " to " +
                             y.text() + ", whose extents don't match");
  with_number({a.type(), x.type(), y.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> va = a.read<T>(), vx = x.read<T>();
    std::vector<T> vy = addend<T>(operands, y, "_y", op.beta);
    for (std::int64_t i = 0; i < m.rows; ++i) {
      T sum{};
      for (std::int64_t k = 0; k < m.columns; ++k) sum += va[at(m.index(i, k))] * vx[at(k)];
      T& out = vy[at(i)];
      out = number_of<T>(op.alpha) * sum + (op.beta == 0.0 ? T{} : number_of<T>(op.beta) * out);
    }
    y.write(vy);
  });
}

void run_op(const ir::Ger& op, const Operands& operands) {
  Tensor x = operands.in("_x"), y = operands.in("_y"), a = operands.in("_A"), r = operands.out("_res");
  if (a.size() != x.size() * y.size() || r.size() != a.size())
    fail_shape(operands, "adds the product of " + x.text() + " and " + y.text() + " to " + a.text() + " in " +
                             r.text() + ", whose extents don't match");
  with_number({a.type(), x.type(), y.type(), r.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> vx = x.read<T>(), vy = y.read<T>();
    std::vector<T> va = a.read<T>();
    for (std::int64_t i = 0; i < x.size(); ++i)
      for (std::int64_t j = 0; j < y.size(); ++j)
        va[at(i * y.size() + j)] += number_of<T>(op.alpha) * vx[at(i)] * vy[at(j)];
    r.write(va);
  });
}

void run_op(const ir::Dot&, const Operands& operands) {
  Tensor x = operands.in("_x"), y = operands.in("_y"), r = operands.out("_result");
  if (x.size() != y.size() || r.size() != 1)
    fail_shape(operands, "multiplies " + x.text() + " with " + y.text() + " to " + r.text());
  with_number({x.type(), y.type(), r.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> vx = x.read<T>(), vy = y.read<T>();
    T sum{};
    for (std::size_t k = 0; k < vx.size(); ++k) sum += vx[k] * vy[k];
    r.write(std::vector<T>{sum});
  });
}

void run_op(const ir::Axpy& op, const Operands& operands) {
  Tensor x = operands.in("_x"), y = operands.in("_y"), r = operands.out("_res");
  if (x.size() != y.size() || r.size() != x.size())
    fail_shape(operands, "adds " + x.text() + " and " + y.text() + " to " + r.text());
  with_number({x.type(), y.type(), r.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> vx = x.read<T>();
    std::vector<T> vy = y.read<T>();
    for (std::size_t k = 0; k < vx.size(); ++k) vy[k] += number_of<T>(op.a) * vx[k];
    r.write(vy);
  });
}

// Only the triangle that `lower` names is written, as BLAS does.
void run_op(const ir::Syrk& op, const Operands& operands) {
  Tensor a = operands.in("_a"), c = operands.out("_c");
  a.fit(2);
  c.fit(2);
  const Matrix m = matrix_of(a, op.trans);
  if (c.shape()[0] != m.rows || c.shape()[1] != m.rows)
    fail_shape(operands, "multiplies " + a.text() + " with its transpose to " + c.text());
  with_number({a.type(), c.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> va = a.read<T>(), old = addend<T>(operands, c, "_cin", op.beta);
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = op.lower ? 0 : i; j < (op.lower ? i + 1 : m.rows); ++j) {
        T sum{};
        for (std::int64_t k = 0; k < m.columns; ++k) sum += va[at(m.index(i, k))] * va[at(m.index(j, k))];
        sum = number_of<T>(op.alpha) * sum + (op.beta == 0.0 ? T{} : number_of<T>(op.beta) * old[at(i * m.rows + j)]);
        c.set(i * m.rows + j, value_of(sum));
      }
  });
}

namespace {

// out[...] = alpha * sum of the products of all operands over the labels that the output lacks, + beta * out.
void contract(const Operands& operands, std::vector<Tensor>& in, Tensor& out,
              const std::vector<std::vector<int>>& labels, const std::vector<int>& out_labels, Complex alpha,
              Complex beta) {
  std::map<int, std::int64_t> extent;
  const auto check = [&](const Tensor& t, const std::vector<int>& of) {
    for (std::size_t d = 0; d < of.size(); ++d) {
      auto [it, fresh] = extent.emplace(of[d], t.shape()[d]);
      if (!fresh && it->second != t.shape()[d])
        fail_shape(operands, "has operand " + t.text() + ", whose dimension " + std::to_string(d) +
                                 " should have extent " + std::to_string(it->second));
    }
  };
  for (std::size_t i = 0; i < in.size(); ++i) check(in[i], labels[i]);
  check(out, out_labels);
  // All labels: the output's first, then the summed ones.
  std::vector<int> order = out_labels;
  for (const auto& [label, size] : extent)
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  std::vector<std::int64_t> sizes;
  for (int l : order) sizes.push_back(extent.at(l));
  const auto strides_of = [&](const Tensor& t, const std::vector<int>& of) {
    std::vector<std::int64_t> s(order.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = of.size(); d-- > 0; stride *= t.shape()[d])
      s[at(std::find(order.begin(), order.end(), of[d]) - order.begin())] += stride;
    return s;
  };
  std::vector<std::vector<std::int64_t>> strides;
  for (std::size_t i = 0; i < in.size(); ++i) strides.push_back(strides_of(in[i], labels[i]));
  const std::vector<std::int64_t> out_strides = strides_of(out, out_labels);
  NumberKind kind = number_kind(out.type());
  for (const Tensor& t : in) kind = std::max(kind, number_kind(t.type()));
  const ScalarType common = kind == NumberKind::kInteger ? ScalarType::kInt64
                            : kind == NumberKind::kReal  ? ScalarType::kFloat64
                                                         : ScalarType::kComplex128;
  with_number({common}, [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::vector<T>> values;
    for (const Tensor& t : in) values.push_back(t.read<T>());
    std::vector<T> sums(at(out.size()), T{});
    const std::int64_t total = product(sizes);
    std::vector<std::int64_t> counter(order.size(), 0);
    for (std::int64_t n = 0; n < total; ++n) {
      T term{1};
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::int64_t from = 0;
        for (std::size_t d = 0; d < counter.size(); ++d) from += counter[d] * strides[i][d];
        term *= values[i][at(from)];
      }
      std::int64_t to = 0;
      for (std::size_t d = 0; d < counter.size(); ++d) to += counter[d] * out_strides[d];
      sums[at(to)] += term;
      for (std::size_t d = counter.size(); d-- > 0;) {
        if (++counter[d] < sizes[d]) break;
        counter[d] = 0;
      }
    }
    const std::vector<T> old = beta == 0.0 ? std::vector<T>() : out.read<T>();
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] = number_of<T>(alpha) * sums[k] + (beta == 0.0 ? T{} : number_of<T>(beta) * old[k]);
    out.write(sums);
  });
}

}  // namespace

void run_op(const ir::Einsum& op, const Operands& operands) {
  std::string text;
  for (char c : op.equation)
    if (c != ' ') text += c;
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::vector<int>> labels(1);
  std::map<int, int> uses;
  for (char c : left) {
    if (c == ',') {
      labels.emplace_back();
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.back().push_back(c);
      ++uses[c];
    } else {
      fail_shape(operands,
                 "has the equation '" + op.equation + "', in which '" + std::string(1, c) + "' is not understood");
    }
  }
  std::vector<int> out_labels;
  if (arrow != std::string::npos) {
    for (char c : text.substr(arrow + 2)) {
      if (!uses.contains(c))
        fail_shape(operands, "has the equation '" + op.equation + "', whose result has the label '" +
                                 std::string(1, c) + "' of no operand");
      out_labels.push_back(c);
    }
  } else {
    for (const auto& [label, count] : uses)
      if (count == 1) out_labels.push_back(label);
  }
  if (labels.size() != operands.num_inputs())
    fail_shape(operands,
               "has " + std::to_string(operands.num_inputs()) + " operands for the equation '" + op.equation + "'");
  // Operands of the equation are the node's inputs in the order the node lists them.
  std::vector<Tensor> in;
  const auto& names = operands.step().library->inputs;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    in.push_back(names.size() == labels.size() && operands.has_in(names[i]) ? operands.in(names[i])
                                                                            : operands.in_at(i));
    in.back().fit(labels[i].size());
  }
  Tensor out = operands.only_out();
  out.fit(out_labels.size());
  contract(operands, in, out, labels, out_labels, op.alpha, op.beta);
}

void run_op(const ir::TensorDot& op, const Operands& operands) {
  Tensor left = operands.in("_left_tensor"), right = operands.in("_right_tensor"), out = operands.out("_out_tensor");
  if (op.left_axes.size() != op.right_axes.size()) fail_shape(operands, "contracts different numbers of axes");
  std::vector<std::vector<int>> labels(2);
  int next = 0;
  for (std::size_t d = 0; d < left.rank(); ++d) labels[0].push_back(next++);
  for (std::size_t d = 0; d < right.rank(); ++d) labels[1].push_back(next++);
  const auto axis = [&](int a, std::size_t rank) {
    const int wrapped = a < 0 ? a + static_cast<int>(rank) : a;
    if (wrapped < 0 || wrapped >= static_cast<int>(rank))
      fail_shape(operands,
                 "contracts axis " + std::to_string(a) + " of a tensor with " + std::to_string(rank) + " dimensions");
    return at(wrapped);
  };
  std::vector<int> contracted;
  for (std::size_t k = 0; k < op.left_axes.size(); ++k) {
    const int label = labels[0][axis(op.left_axes[k], left.rank())];
    labels[1][axis(op.right_axes[k], right.rank())] = label;
    contracted.push_back(label);
  }
  std::vector<int> result;
  for (const auto& side : labels)
    for (int l : side)
      if (std::find(contracted.begin(), contracted.end(), l) == contracted.end()) result.push_back(l);
  std::vector<int> out_labels = result;
  if (!op.permutation.empty()) {
    if (op.permutation.size() != result.size())
      fail_shape(operands, "permutes " + std::to_string(op.permutation.size()) + " of " +
                               std::to_string(result.size()) + " dimensions");
    for (std::size_t d = 0; d < result.size(); ++d) out_labels[d] = result[axis(op.permutation[d], result.size())];
  }
  out.fit(out_labels.size());
  std::vector<Tensor> in{left, right};
  contract(operands, in, out, labels, out_labels, 1.0, 0.0);
}

namespace {

// c[:, n] = alpha * op(A) b[:, n] + beta * c[:, n] for a CSR matrix; b and c as rows x columns.
void sparse_multiply(const Operands& operands, const Tensor& b, Tensor& c, std::int64_t b_rows, std::int64_t columns,
                     bool trans_a, bool trans_b, Complex alpha, Complex beta) {
  const Tensor rows = operands.in("_a_rows"), cols = operands.in("_a_cols"), vals = operands.in("_a_vals");
  const std::int64_t m = rows.size() - 1;
  if (m < 0) fail_shape(operands, "has no row pointers");
  const std::int64_t c_rows = columns == 0 ? 0 : c.size() / columns;
  const Matrix mb = trans_b ? Matrix{b_rows, columns, true} : Matrix{b_rows, columns, false};
  if (columns != 0 && (c_rows * columns != c.size() || (trans_a ? b_rows : c_rows) != m))
    fail_shape(operands, "multiplies a matrix of " + std::to_string(m) + " rows with " + b.text() + " to " + c.text() +
                             ", whose extents don't match");
  with_number({vals.type(), b.type(), c.type()}, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> va = vals.read<T>(), vb = b.read<T>();
    std::vector<T> vc = addend<T>(operands, c, "_cin", beta);
    for (T& v : vc) v = beta == 0.0 ? T{} : number_of<T>(beta) * v;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t k = rows.get(i).as_int(); k < rows.get(i + 1).as_int(); ++k) {
        if (k < 0 || k >= vals.size() || k >= cols.size())
          throw Error(ErrorClass::kLaunch, "row " + std::to_string(i) + " of a sparse matrix refers to entry " +
                                               std::to_string(k) + " of " + std::to_string(vals.size()));
        const std::int64_t j = cols.get(k).as_int();
        const std::int64_t from = trans_a ? i : j, to = trans_a ? j : i;
        if (from < 0 || from >= b_rows || to < 0 || (columns != 0 && to >= c_rows))
          throw Error(ErrorClass::kLaunch, "entry " + std::to_string(k) + " of a sparse matrix lies in column " +
                                               std::to_string(j) + ", outside the operands");
        for (std::int64_t n = 0; n < columns; ++n)
          vc[at(to * columns + n)] += number_of<T>(alpha) * va[at(k)] * vb[at(mb.index(from, n))];
      }
    c.write(vc);
  });
}

}  // namespace

void run_op(const ir::Csrmv& op, const Operands& operands) {
  const Tensor b = operands.in("_b");
  Tensor c = operands.out("_c");
  sparse_multiply(operands, b, c, b.size(), 1, op.trans, false, op.alpha, op.beta);
}

void run_op(const ir::Csrmm& op, const Operands& operands) {
  Tensor b = operands.in("_b"), c = operands.out("_c");
  b.fit(2);
  c.fit(2);
  const std::int64_t b_rows = b.shape()[op.trans_b ? 1 : 0], columns = b.shape()[op.trans_b ? 0 : 1];
  if (c.shape()[1] != columns)
    fail_shape(operands, "multiplies with " + b.text() + " to " + c.text() + ", whose extents don't match");
  sparse_multiply(operands, b, c, b_rows, columns, op.trans_a, op.trans_b, op.alpha, op.beta);
}

}  // namespace sdfg::interpret
