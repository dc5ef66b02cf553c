// Products of matrices and vectors in device memory by cuBLAS.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "library/contraction.hpp"
#include "library/device_calls.hpp"

namespace sdfg::library {

namespace {

// The contraction of two operands as a (batched) matrix product: at most one summed label, at most one of each operand
// that stays, and labels that all three share.
struct ProductLabels {
  std::optional<int> m, n, k;
  Labels batch;
};

std::optional<ProductLabels> product_labels(const Contraction& c) {
  if (c.in.size() != 2) return std::nullopt;
  const auto has = [](const Labels& labels, int l) {
    return std::find(labels.begin(), labels.end(), l) != labels.end();
  };
  for (const Labels* labels : {&c.labels[0], &c.labels[1], &c.out_labels}) {
    if (std::set<int>(labels->begin(), labels->end()).size() != labels->size()) return std::nullopt;
  }
  ProductLabels out;
  std::set<int> all(c.labels[0].begin(), c.labels[0].end());
  all.insert(c.labels[1].begin(), c.labels[1].end());
  for (const int l : all) {
    const bool a = has(c.labels[0], l), b = has(c.labels[1], l), o = has(c.out_labels, l);
    if (a && b && o) {
      out.batch.push_back(l);
      continue;
    }
    if (!o && !(a && b)) return std::nullopt;  // summed over one operand alone
    std::optional<int>& place = a && b ? out.k : a ? out.m : out.n;
    if (place) return std::nullopt;
    place = l;
  }
  for (const int l : c.out_labels) {
    if (!all.contains(l)) return std::nullopt;
  }
  return out;
}

// A matrix of an operand and the distances in it.
struct Matrix {
  const Operand* operand = nullptr;
  const Labels* labels = nullptr;
  Expr row, column;
  Matrix transposed() const { return {operand, labels, column, row}; }
};

class LibraryProduct {
 public:
  LibraryProduct(const Node& n, const Contraction& c, const ProductLabels& p)
      : n_(n), c_(c), p_(p), type_(c.out.type()), extent_(extents_of(n, c)) {}

  bool run() {
    if (!p_.k) {
      return no("a product without a sum reads and writes each element once: nothing is faster than one kernel");
    }
    if (!p_.m && !p_.n && p_.batch.empty()) return dot();
    if (p_.batch.empty() && p_.m.has_value() != p_.n.has_value()) return gemv();
    return gemm();
  }

 private:
  bool no(const std::string& why) const {
    n_.reason("kernels: " + why);
    return false;
  }
  Expr extent(const std::optional<int>& label) const { return label ? extent_.at(*label) : Expr(1); }
  Expr stride(std::size_t operand, const std::optional<int>& label) const {
    return label ? stride_in(c_.in[operand], c_.labels[operand], *label) : Expr(0);
  }

  DeviceCallText call(DeviceFunction f) const {
    DeviceCallText out;
    out.function = f;
    out.type = type_;
    out.alpha = c_.alpha;
    out.beta = c_.beta;
    return out;
  }
  // What beta multiplies has to stand in the result.
  void bring_addend(const Emitter& e) const {
    if (c_.beta != 0.0 && c_.addend != nullptr)
      e.copy(c_.addend->data(), c_.addend->subset(), c_.out.data(), c_.out.subset());
  }

  bool dot() const {
    if (c_.alpha != 1.0 || c_.beta != 0.0) return no("dot products have no factors");
    if (!may_call(n_, DeviceFunction::kDot)) return false;
    DeviceCallText d = call(DeviceFunction::kDot);
    d.numbers = {extent(p_.k), stride(0, p_.k), stride(1, p_.k)};
    d.read = {{"x", c_.in[0].data(), c_.in[0].subset()}, {"y", c_.in[1].data(), c_.in[1].subset()}};
    d.written = {{"result", c_.out.data(), c_.out.subset()}};
    device_call(*n_.emitter, d);
    n_.reason("cuBLAS dot, " + std::string(to_string(type_)));
    return true;
  }

  bool gemv() const {
    const std::size_t a = p_.m ? 0 : 1, x = 1 - a;
    const std::optional<int>& kept = p_.m ? p_.m : p_.n;
    const auto layout = by_columns(stride(a, kept), stride(a, p_.k));
    if (!layout) return no("neither rows nor columns of " + c_.in[a].text() + " are contiguous");
    if (!may_call(n_, DeviceFunction::kGemv)) return false;
    bring_addend(*n_.emitter);
    DeviceCallText d = call(DeviceFunction::kGemv);
    const Expr rows = layout->transposed ? extent(p_.k) : extent(kept);
    const Expr columns = layout->transposed ? extent(kept) : extent(p_.k);
    d.numbers = {rows,       columns,         layout->transposed ? 1 : 0,
                 layout->ld, stride(x, p_.k), stride_in(c_.out, c_.out_labels, *kept)};
    d.read = {{"a", c_.in[a].data(), c_.in[a].subset()}, {"x", c_.in[x].data(), c_.in[x].subset()}};
    d.written = {{"y", c_.out.data(), c_.out.subset()}};
    d.reads_written = c_.beta != 0.0;
    device_call(*n_.emitter, d);
    n_.reason("cuBLAS gemv, " + std::string(to_string(type_)) +
              (layout->transposed ? ", the matrix by rows" : ", the matrix by columns"));
    return true;
  }

  // Where a label is missing, there is one row or column, and any distance will do.
  Matrix matrix(const Operand& o, const Labels& labels, const std::optional<int>& row,
                const std::optional<int>& column) const {
    Matrix m{&o, &labels, row ? stride_in(o, labels, *row) : Expr(1), column ? stride_in(o, labels, *column) : Expr(1)};
    if (!row && column) m.row = m.column.is_one() ? extent_.at(*column) : Expr(1);
    if (row && !column) m.column = m.row.is_one() ? extent_.at(*row) : Expr(1);
    return m;
  }

  bool gemm() {
    Matrix a = matrix(c_.in[0], c_.labels[0], p_.m, p_.k);
    Matrix b = matrix(c_.in[1], c_.labels[1], p_.k, p_.n);
    Matrix c = matrix(c_.out, c_.out_labels, p_.m, p_.n);
    Expr m = extent(p_.m), n = extent(p_.n);
    const bool by_rows = !c.row.is_one();
    if (by_rows) {  // c^T = b^T a^T
      const Matrix old = a;
      a = b.transposed();
      b = old.transposed();
      c = c.transposed();
      std::swap(m, n);
    }
    if (!c.row.is_one()) return no("neither rows nor columns of " + c_.out.text() + " are contiguous");
    const auto a_layout = by_columns(a.row, a.column), b_layout = by_columns(b.row, b.column);
    if (!a_layout || !b_layout) {
      return no("neither rows nor columns of " + (a_layout ? b : a).operand->text() + " are contiguous");
    }
    if (!may_call(n_, DeviceFunction::kGemm)) return false;
    bring_addend(*n_.emitter);
    // The innermost batch is the call's own, others are loops.
    Labels loops = p_.batch;
    std::optional<int> batch;
    if (!loops.empty()) {
      batch = *std::ranges::max_element(
          loops, {}, [&](int l) { return std::ranges::find(c_.out_labels, l) - c_.out_labels.begin(); });
      std::erase(loops, *batch);
    }
    const auto along = [&](const Matrix& x) { return batch ? stride_in(*x.operand, *x.labels, *batch) : Expr(0); };
    DeviceCallText d = call(DeviceFunction::kGemm);
    d.numbers = {m,
                 n,
                 extent(p_.k),
                 a_layout->transposed ? 1 : 0,
                 a_layout->ld,
                 along(a),
                 b_layout->transposed ? 1 : 0,
                 b_layout->ld,
                 along(b),
                 c.column,
                 along(c),
                 batch ? extent_.at(*batch) : Expr(1)};
    d.reads_written = c_.beta != 0.0;
    std::map<int, Expr> at;
    const std::function<void(const Emitter&, std::size_t)> emit = [&](const Emitter& here, std::size_t next) {
      if (next < loops.size()) {
        here.loop("batch", 0, extent_.at(loops[next]), [&](Emitter& inner, const Expr& i) {
          at[loops[next]] = i;
          emit(inner, next + 1);
        });
        return;
      }
      const auto window = [&](const Matrix& x) {
        std::vector<ir::Range> ranges;
        for (const int l : *x.labels) {
          const auto fixed = at.find(l);
          ranges.push_back(fixed != at.end() ? ir::Range::index(fixed->second)
                                             : ir::Range::half_open(0, extent_.at(l)));
        }
        return x.operand->part(ranges);
      };
      DeviceCallText one = d;
      one.read = {{"a", a.operand->data(), window(a)}, {"b", b.operand->data(), window(b)}};
      one.written = {{"c", c.operand->data(), window(c)}};
      device_call(here, one);
    };
    emit(*n_.emitter, 0);
    n_.reason("cuBLAS gemm, " + std::string(to_string(type_)) + ", the result by " + (by_rows ? "rows" : "columns") +
              (batch ? ", batched" : ""));
    return true;
  }

  const Node& n_;
  const Contraction& c_;
  const ProductLabels& p_;
  ScalarType type_;
  std::map<int, Expr> extent_;
};

bool is_blas_type(ScalarType t) {
  return t == ScalarType::kFloat32 || t == ScalarType::kFloat64 || t == ScalarType::kComplex64 ||
         t == ScalarType::kComplex128;
}

}  // namespace

bool syrk_by_library(const ir::Syrk& op, const Node& n) {
  if (!n.makes_kernels || !n.options->device_library || n.options->opt_level < 1) return false;
  const Operand a = n.in("_a").fitted(2), c = n.out("_c").fitted(2);
  const ScalarType t = c.type();
  const auto no = [&](const std::string& why) {
    n.reason("kernels: " + why);
    return false;
  };
  if (!is_blas_type(t)) return no("cuBLAS has no such product of " + std::string(to_string(t)));
  if (a.type() != t) return no("elements of different types");
  for (const Operand* o : {&a, &c}) {
    if (!is_reachable(n, *o)) return no(o->text() + " is in memory of the host");
  }
  if (!is_complex(t) && (op.alpha.imag() != 0 || op.beta.imag() != 0)) return no("complex factors of real matrices");
  // Copied into the result it would replace the other triangle as well.
  if (op.beta != 0.0 && n.find_in("_cin") != nullptr) return no("the triangle to be added is another matrix's");
  const auto a_layout = by_columns(a.stride(0), a.stride(1)), c_layout = by_columns(c.stride(0), c.stride(1));
  if (!a_layout || !c_layout) {
    return no("neither rows nor columns of " + (a_layout ? c : a).text() + " are contiguous");
  }
  if (!may_call(n, DeviceFunction::kSyrk)) return false;
  DeviceCallText d;
  d.function = DeviceFunction::kSyrk;
  d.type = t;
  d.alpha = op.alpha;
  d.beta = op.beta;
  d.numbers = {c.extent(0),
               a.extent(op.trans ? 0 : 1),
               op.trans != a_layout->transposed ? 1 : 0,
               op.lower != c_layout->transposed ? 1 : 0,
               a_layout->ld,
               c_layout->ld};
  d.read = {{"a", a.data(), a.subset()}};
  d.written = {{"c", c.data(), c.subset()}};
  d.reads_written = true;  // the other triangle stays
  device_call(*n.emitter, d);
  n.reason("cuBLAS syrk, " + std::string(to_string(t)) +
           (c_layout->transposed ? ", the result by rows" : ", the result by columns"));
  return true;
}

bool contract_by_library(const Node& n, const Contraction& c) {
  if (!n.makes_kernels || !n.options->device_library || n.options->opt_level < 1 || c.in.size() != 2) return false;
  const auto no = [&](const std::string& why) {
    n.reason("kernels: " + why);
    return false;
  };
  const std::optional<ProductLabels> labels = product_labels(c);
  if (!labels) return no("no product of two matrices or vectors");
  const ScalarType t = c.out.type();
  const bool half = t == ScalarType::kFloat16 || t == ScalarType::kBFloat16;
  const bool product_of_matrices = labels->m && labels->n && labels->k;
  if (!is_blas_type(t) && !(half && product_of_matrices))
    return no("cuBLAS has no such product of " + std::string(to_string(t)));
  for (const Operand& o : c.in) {
    if (o.type() != t) return no("elements of different types");
  }
  for (const Operand* o : {&c.in[0], &c.in[1], &c.out}) {
    if (!is_reachable(n, *o)) return no(o->text() + " is in memory of the host");
  }
  if (c.beta != 0.0 && c.addend != nullptr && c.addend->type() != t) return no("elements of different types");
  if (!is_complex(t) && (c.alpha.imag() != 0 || c.beta.imag() != 0)) return no("complex factors of real matrices");
  return LibraryProduct(n, c, *labels).run();
}

}  // namespace sdfg::library
