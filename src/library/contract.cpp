// Sums of products: the BLAS family, Einsum, TensorDot, by tiles, BLAS or the one loop nest that serves all.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "library/blas.hpp"
#include "library/contraction.hpp"
#include "library/packed.hpp"
#include "library/packed_vector.hpp"

namespace sdfg::library {

namespace {

// The contraction as a (batched) product of matrices, or of a matrix and a vector: one summed label, one label of each
// operand that stays (none of a vector), and labels that all three share.
struct AsProduct {
  std::optional<int> m, n;
  int k = 0;
  Labels batch;
};

std::optional<AsProduct> as_product(const Contraction& c) {
  if (c.in.size() != 2 || c.alpha.imag() != 0 || c.beta.imag() != 0) return std::nullopt;
  const ScalarType t = c.out.type();
  if (t != ScalarType::kFloat32 && t != ScalarType::kFloat64) return std::nullopt;
  if (c.in[0].type() != t || c.in[1].type() != t || (c.addend != nullptr && c.addend->type() != t)) return std::nullopt;
  const auto has = [](const Labels& labels, int l) {
    return std::find(labels.begin(), labels.end(), l) != labels.end();
  };
  for (const Labels* labels : {&c.labels[0], &c.labels[1], &c.out_labels}) {
    if (std::set<int>(labels->begin(), labels->end()).size() != labels->size()) return std::nullopt;
  }
  AsProduct out;
  int summed = 0;
  std::set<int> all(c.labels[0].begin(), c.labels[0].end());
  all.insert(c.labels[1].begin(), c.labels[1].end());
  for (const int l : all) {
    const bool a = has(c.labels[0], l), b = has(c.labels[1], l), o = has(c.out_labels, l);
    std::optional<int>& side = a ? out.m : out.n;
    if (a && b && o) {
      out.batch.push_back(l);
    } else if (a && b) {
      out.k = l, ++summed;
    } else if (o && !side) {
      side = l;
    } else {
      return std::nullopt;  // summed over one operand alone, or a second label of one
    }
  }
  for (const int l : c.out_labels) {
    if (!all.contains(l)) return std::nullopt;
  }
  if (summed != 1 || (!out.m && !out.n)) return std::nullopt;
  return out;
}

// The matrix of labels (row, column) in an operand, the other labels being at fixed places.
MatrixView matrix_of(const Operand& o, const Labels& labels, int row, int column, const std::map<int, Expr>& batch) {
  MatrixView v;
  v.data = o.data();
  v.row = stride_in(o, labels, row);
  v.column = stride_in(o, labels, column);
  v.part = [o, labels, row, column, batch](const ir::Range& rows, const ir::Range& columns) {
    std::vector<ir::Range> ranges;
    for (const int l : labels)
      ranges.push_back(l == row ? rows : l == column ? columns : ir::Range::index(batch.at(l)));
    return o.part(ranges);
  };
  return v;
}

VectorView vector_of(const Operand& o, const Labels& labels) {
  return {o.data(), [o](const ir::Range& elements) { return o.part(std::vector<ir::Range>{elements}); },
          stride_in(o, labels, labels.front())};
}

// One of several ways to compute a product, under a condition on the sizes; a way of more than one is behind a branch.
void choose(const Node& n, const Contraction& c, const tasklet::Expr& pays, const std::string& what,
            const std::function<void(Emitter&)>& way) {
  const auto* decided = std::get_if<tasklet::Literal>(&pays.node());
  if (decided != nullptr && std::get<bool>(decided->value)) {
    n.reason(what + ": the sizes are known to be worth it");
    Emitter here = *n.emitter;
    way(here);
  } else if (decided != nullptr) {
    loop_nest(n, c);
  } else {
    n.reason(what + " where the sizes are worth it at run time, else:");
    n.emitter->branch(pays, way, [&](Emitter& small) {
      Node other = n;
      other.emitter = &small;
      loop_nest(other, c);
    });
  }
}

// A matrix and a vector; batches are left to the loop nest, which shares them among threads.
void contract_vector(const Node& n, const Contraction& c, const AsProduct& product, Wanted wanted) {
  const std::map<int, Expr> extent = extents_of(n, c);
  const std::size_t matrix = product.m ? 0 : 1;
  const int row = product.m ? *product.m : *product.n;
  VectorProduct p;
  p.type = c.out.type();
  p.m = extent.at(row);
  p.k = extent.at(product.k);
  p.alpha = c.alpha.real();
  p.beta = c.beta.real();
  p.a = matrix_of(c.in[matrix], c.labels[matrix], row, product.k, {});
  p.x = vector_of(c.in[1 - matrix], c.labels[1 - matrix]);
  p.y = vector_of(c.out, c.out_labels);
  std::optional<VectorView> old;
  if (c.addend != nullptr && c.beta != 0.0) old = vector_of(*c.addend, c.out_labels);
  p.old = old ? &*old : nullptr;
  if (wanted == Wanted::kBlas) {
    if (const auto call = blas_call(n, p)) {
      choose(n, c, call->fits, "BLAS's " + call->function + ", as asked for,", call->append);
      return;
    }
  }
  if (!has_blocks(p)) {
    loop_nest(n, c);
    return;
  }
  choose(n, c, blocks_pay(p), "register blocks along contiguous elements of the matrix",
         [&](Emitter& here) { blocked_vector_product(here, p, *n.options); });
}

void contract(const Node& n, const Contraction& c) {
  const Wanted wanted = wanted_by(n);
  if (wanted != Wanted::kLoops && contract_by_library(n, c)) return;
  const bool may_block =
      n.options->host_code && wanted != Wanted::kLoops && (n.options->opt_level >= 2 || wanted != Wanted::kChoose);
  const std::optional<AsProduct> product = may_block ? as_product(c) : std::nullopt;
  if (!product) {
    if (wanted == Wanted::kTiles || wanted == Wanted::kBlas)
      n.reason(n.options->host_code ? "neither tiles nor BLAS compute this; loops instead" : "loops for a kernel");
    loop_nest(n, c);
    return;
  }
  if (!product->m || !product->n) {
    if (product->batch.empty())
      contract_vector(n, c, *product, wanted);
    else
      loop_nest(n, c);
    return;
  }
  const std::map<int, Expr> extent = extents_of(n, c);
  Product p;
  p.type = c.out.type();
  p.m = extent.at(*product->m);
  p.n = extent.at(*product->n);
  p.k = extent.at(product->k);
  p.alpha = c.alpha.real();
  p.beta = c.beta.real();
  // `way` with the matrices of each batch.
  const auto each = [&](Emitter& start, const std::function<void(Emitter&, const Product&)>& way) {
    std::map<int, Expr> at;
    const std::function<void(Emitter&, std::size_t)> batches = [&](Emitter& here, std::size_t next) {
      if (next < product->batch.size()) {
        here.loop("batch", 0, extent.at(product->batch[next]), [&](Emitter& inner, const Expr& b) {
          at[product->batch[next]] = b;
          batches(inner, next + 1);
        });
        return;
      }
      Product one = p;
      one.a = matrix_of(c.in[0], c.labels[0], *product->m, product->k, at);
      one.b = matrix_of(c.in[1], c.labels[1], product->k, *product->n, at);
      one.c = matrix_of(c.out, c.out_labels, *product->m, *product->n, at);
      std::optional<MatrixView> old;
      if (c.addend != nullptr && c.beta != 0.0) old = matrix_of(*c.addend, c.out_labels, *product->m, *product->n, at);
      one.old = old ? &*old : nullptr;
      way(here, one);
    };
    batches(start, 0);
  };
  if (wanted == Wanted::kBlas) {
    Product strides = p;  // the same for all batches
    std::map<int, Expr> at;
    for (const int l : product->batch) at[l] = 0;
    strides.a = matrix_of(c.in[0], c.labels[0], *product->m, product->k, at);
    strides.b = matrix_of(c.in[1], c.labels[1], product->k, *product->n, at);
    strides.c = matrix_of(c.out, c.out_labels, *product->m, *product->n, at);
    if (const auto call = blas_call(n, strides)) {
      choose(n, c, call->fits, "BLAS's " + call->function + ", as asked for,", [&](Emitter& here) {
        each(here, [&](Emitter& inner, const Product& one) { call->append_product(inner, one); });
      });
      return;
    }
  }
  choose(n, c, packing_pays(p), "packed tiles", [&](Emitter& here) {
    each(here, [&](Emitter& inner, const Product& one) { packed_product(inner, one, *n.options); });
  });
}

Labels counted(int first, std::size_t count) {
  Labels out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// c = alpha op(a) op(b) + beta c with broadcasting of leading dimensions. Labels: batch dimensions of c counted from
// the right are 100, 101, ...; rows 0, columns 1, summed 2.
void multiply(const Node& n, const Operand& a, const Operand& b, const Operand& c, const Labels& a_last,
              const Labels& b_last, const Labels& c_last, std::complex<double> alpha, std::complex<double> beta) {
  Contraction x;
  x.in = {a, b};
  x.out = c;
  x.alpha = alpha;
  x.beta = beta;
  x.addend = n.find_in("_cin");
  auto with_batch = [](const Operand& o, const Labels& last) {
    Labels labels;
    const std::size_t batch = o.rank() - last.size();
    for (std::size_t d = 0; d < batch; ++d) labels.push_back(100 + static_cast<int>(batch - 1 - d));
    labels.insert(labels.end(), last.begin(), last.end());
    return labels;
  };
  x.labels = {with_batch(a, a_last), with_batch(b, b_last)};
  x.out_labels = with_batch(c, c_last);
  // A batch dimension of extent one is broadcast: it stays at its only index.
  for (std::size_t k = 0; k < 2; ++k) {
    Operand& o = x.in[k];
    const std::size_t batch = o.rank() - (k == 0 ? a_last : b_last).size();
    Labels kept;
    std::size_t wanted = o.rank();
    for (std::size_t d = 0; d < o.rank(); ++d) {
      const bool is_batch = d < batch;
      const std::size_t back = is_batch ? batch - 1 - d : 0;
      const std::size_t c_batch = c.rank() - c_last.size();
      const bool broadcast =
          is_batch && o.extent(d).is_one() && back < c_batch && !c.extent(c_batch - 1 - back).is_one();
      if (broadcast)
        --wanted;
      else
        kept.push_back(x.labels[k][d]);
    }
    if (wanted != o.rank()) {
      o = o.fitted(wanted);
      x.labels[k] = kept;
    }
  }
  contract(n, x);
}

}  // namespace

void expand(const ir::Gemm& op, const Node& n) {
  multiply(n, n.in("_a").fitted(2), n.in("_b").fitted(2), n.out("_c").fitted(2),
           op.trans_a ? Labels{2, 0} : Labels{0, 2}, op.trans_b ? Labels{1, 2} : Labels{2, 1}, {0, 1}, op.alpha,
           op.beta);
}

void expand(const ir::BatchedMatMul& op, const Node& n) {
  const Operand &a = n.in("_a"), &b = n.in("_b"), &c = n.out("_c");
  if (a.rank() < 2 || b.rank() < 2 || c.rank() < 2) n.emitter->fail("needs operands with at least two dimensions");
  multiply(n, a, b, c, op.trans_a ? Labels{2, 0} : Labels{0, 2}, op.trans_b ? Labels{1, 2} : Labels{2, 1}, {0, 1},
           op.alpha, op.beta);
}

// NumPy's rule: a vector on the left is a row, on the right a column, and that dimension is absent from the result.
// Dimensions of the memlets that are single indices count only where they make the extents match.
void expand(const ir::MatMul&, const Node& n) {
  Operand a = n.in("_a"), b = n.in("_b"), c = n.out("_c");
  auto fits = [&] {
    if (a.rank() == 0 || b.rank() == 0) return false;
    return a.extent(a.rank() - 1) == b.extent(b.rank() == 1 ? 0 : b.rank() - 2);
  };
  if (!fits()) {
    a = a.squeezed();
    if (!fits()) b = b.squeezed();
  }
  if (a.rank() == 0 || b.rank() == 0)
    n.emitter->fail("multiplies " + n.in("_a").text() + " with " + n.in("_b").text() + ", whose extents don't match");
  // The result's own dimensions say whether single indices of the operands count as extents of one.
  auto wanted = [&] {
    const std::size_t left = a.rank() + (a.rank() == 1 ? 1 : 0), right = b.rank() + (b.rank() == 1 ? 1 : 0);
    return std::max(left, right) - (a.rank() == 1 ? 1 : 0) - (b.rank() == 1 ? 1 : 0);
  };
  if (wanted() > c.rank() && a.squeezed().rank() > 0) a = a.squeezed();
  if (wanted() > c.rank() && b.squeezed().rank() > 0) b = b.squeezed();
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Labels last;
  if (!row) last.push_back(0);
  if (!column) last.push_back(1);
  c = c.fitted(wanted());
  multiply(n, a, b, c, row ? Labels{2} : Labels{0, 2}, column ? Labels{2} : Labels{2, 1}, last, 1.0, 0.0);
}

void expand(const ir::Gemv& op, const Node& n) {
  Contraction x;
  x.in = {n.in("_A").fitted(2), n.in("_x").fitted(1)};
  x.labels = {op.trans_a ? Labels{2, 0} : Labels{0, 2}, {2}};
  x.out = n.out("_y").fitted(1);
  x.out_labels = {0};
  x.alpha = op.alpha;
  x.beta = op.beta;
  Operand old;
  if (n.find_in("_y") != nullptr) {
    old = n.find_in("_y")->fitted(1);
    x.addend = &old;
  }
  contract(n, x);
}

void expand(const ir::Dot&, const Node& n) {
  Contraction x;
  x.in = {n.in("_x").fitted(1), n.in("_y").fitted(1)};
  x.labels = {{0}, {0}};
  x.out = n.out("_result").fitted(0);
  contract(n, x);
}

void expand(const ir::Ger& op, const Node& n) {
  Contraction x;
  x.in = {n.in("_x").fitted(1), n.in("_y").fitted(1)};
  x.labels = {{0}, {1}};
  x.out = n.out("_res").fitted(2);
  x.out_labels = {0, 1};
  x.alpha = op.alpha;
  x.beta = 1.0;
  const Operand old = n.in("_A").fitted(2);
  x.addend = &old;
  contract(n, x);
}

void expand(const ir::Axpy& op, const Node& n) {
  Contraction x;
  const Operand r = n.out("_res");
  x.out = r.squeezed().rank() <= 1 ? r.fitted(1) : r;
  x.out_labels = counted(0, x.out.rank());
  x.in = {n.in("_x").fitted(x.out.rank())};
  x.labels = {x.out_labels};
  x.alpha = op.a;
  x.beta = 1.0;
  const Operand old = n.in("_y").fitted(x.out.rank());
  x.addend = &old;
  contract(n, x);
}

// Only the triangle that `lower` names is written, as BLAS does.
namespace {

// One sum for each element of the triangle.
void triangle_of_sums(const ir::Syrk& op, const Node& n) {
  const Operand a = n.in("_a").fitted(2), c = n.out("_c").fitted(2);
  const Operand old = n.find_in("_cin") != nullptr ? n.find_in("_cin")->fitted(2) : c;
  const Expr rows = c.extent(0), inner = a.extent(op.trans ? 0 : 1);
  const ScalarType t = c.type();
  n.reason("triangle of sums");
  n.emitter->map({{"i", rows}}, [&](Emitter& at_row, std::vector<Expr> p) {
    const Expr i = p[0];
    at_row.map_ranges({{"j", op.lower ? ir::Range{0, i, 1, 1} : ir::Range{i, rows - 1, 1, 1}}},
                      [&](Emitter& at, std::vector<Expr> q) {
                        const Expr j = q[0];
                        at.with_transient("sum", t, {}, [&](Emitter& body, const std::string& sum) {
                          body.compute({}, literal(0.0, t), {sum, {}, {}});
                          body.map({{"k", inner}}, [&](Emitter& term, std::vector<Expr> r) {
                            auto element = [&](const Expr& m) {
                              return op.trans ? a.element(std::vector<Expr>{r[0], m})
                                              : a.element(std::vector<Expr>{m, r[0]});
                            };
                            term.compute({{"a", a.data(), element(i)}, {"b", a.data(), element(j)}},
                                         cast(mul(name("a", a.type()), name("b", a.type())), t), {sum, {}, ir::Wcr{}});
                          });
                          std::vector<Read> reads{{"sum", sum, {}}};
                          tasklet::Expr code = scaled(op.alpha, name("sum", t), t);
                          if (op.beta != 0.0) {
                            reads.push_back({"old", old.data(), old.element(std::vector<Expr>{i, j})});
                            code = add(code, scaled(op.beta, name("old", old.type()), t));
                          }
                          body.compute(reads, cast(code, t), {c.data(), c.element(std::vector<Expr>{i, j}), {}});
                        });
                      });
  });
}

}  // namespace

void expand(const ir::Syrk& op, const Node& n) {
  const Operand a = n.in("_a").fitted(2), c = n.out("_c").fitted(2);
  const Operand* cin = n.find_in("_cin");
  const Wanted wanted = wanted_by(n);
  if (wanted != Wanted::kLoops && syrk_by_library(op, n)) return;
  const bool tiles = n.options->host_code && (n.options->opt_level >= 2 || wanted == Wanted::kTiles) &&
                     wanted != Wanted::kLoops &&
                     (c.type() == ScalarType::kFloat64 || c.type() == ScalarType::kFloat32) && a.type() == c.type() &&
                     (cin == nullptr || cin->type() == c.type()) && op.alpha.imag() == 0 && op.beta.imag() == 0;
  if (wanted == Wanted::kBlas) n.reason("asks for BLAS, which is only called for Gemm and Gemv");
  if (!tiles) {
    triangle_of_sums(op, n);
    return;
  }
  Product p;
  p.type = c.type();
  p.m = p.n = c.extent(0);
  p.k = a.extent(op.trans ? 0 : 1);
  p.alpha = op.alpha.real();
  p.beta = op.beta.real();
  p.triangle = op.lower ? Triangle::kLower : Triangle::kUpper;
  const Labels rows{0, 1};
  const MatrixView whole = matrix_of(a, rows, 0, 1, {});
  p.a = op.trans ? whole.transposed() : whole;
  p.b = op.trans ? whole : whole.transposed();
  p.c = matrix_of(c, rows, 0, 1, {});
  std::optional<MatrixView> old;
  if (cin != nullptr && p.beta != 0.0) old = matrix_of(cin->fitted(2), rows, 0, 1, {});
  p.old = old ? &*old : nullptr;
  n.reason("packed tiles where the sizes are worth it, else:");
  n.emitter->branch(
      packing_pays(p), [&](Emitter& here) { packed_product(here, p, *n.options); },
      [&](Emitter& small) {
        Node other = n;
        other.emitter = &small;
        triangle_of_sums(op, other);
      });
}

void expand(const ir::Einsum& op, const Node& n) {
  std::string text;
  for (const char ch : op.equation) {
    if (ch != ' ') text += ch;
  }
  const std::size_t arrow = text.find("->");
  Contraction x;
  x.labels.resize(1);
  std::map<int, int> uses;
  for (const char ch : text.substr(0, arrow)) {
    if (ch == ',') {
      x.labels.emplace_back();
    } else if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      x.labels.back().push_back(ch);
      ++uses[ch];
    } else {
      n.emitter->fail("has the equation '" + op.equation + "', in which '" + std::string(1, ch) +
                      "' is not understood");
    }
  }
  if (arrow != std::string::npos) {
    for (const char ch : text.substr(arrow + 2)) {
      if (!uses.contains(ch))
        n.emitter->fail("has the equation '" + op.equation + "', whose result has the label '" + std::string(1, ch) +
                        "' of no operand");
      x.out_labels.push_back(ch);
    }
  } else {
    for (const auto& [label, count] : uses) {
      if (count == 1) x.out_labels.push_back(label);
    }
  }
  if (x.labels.size() != n.inputs.size())
    n.emitter->fail("has " + std::to_string(n.inputs.size()) + " operands for the equation '" + op.equation + "'");
  for (std::size_t k = 0; k < x.labels.size(); ++k) x.in.push_back(n.inputs[k].fitted(x.labels[k].size()));
  x.out = n.only_out().fitted(x.out_labels.size());
  x.alpha = op.alpha;
  x.beta = op.beta;
  contract(n, x);
}

void expand(const ir::TensorDot& op, const Node& n) {
  const Operand &left = n.in("_left_tensor"), &right = n.in("_right_tensor");
  if (op.left_axes.size() != op.right_axes.size()) n.emitter->fail("contracts different numbers of axes");
  Contraction x;
  x.labels = {counted(0, left.rank()), counted(static_cast<int>(left.rank()), right.rank())};
  auto axis = [&](int a, std::size_t rank) {
    const int wrapped = a < 0 ? a + static_cast<int>(rank) : a;
    if (wrapped < 0 || wrapped >= static_cast<int>(rank))
      n.emitter->fail("names axis " + std::to_string(a) + " of a tensor with " + std::to_string(rank) + " dimensions");
    return static_cast<std::size_t>(wrapped);
  };
  std::set<int> contracted;
  for (std::size_t k = 0; k < op.left_axes.size(); ++k) {
    const int label = x.labels[0][axis(op.left_axes[k], left.rank())];
    x.labels[1][axis(op.right_axes[k], right.rank())] = label;
    contracted.insert(label);
  }
  Labels result;
  for (const Labels& side : x.labels) {
    for (const int l : side) {
      if (!contracted.contains(l)) result.push_back(l);
    }
  }
  x.out_labels = result;
  if (!op.permutation.empty()) {
    if (op.permutation.size() != result.size())
      n.emitter->fail("permutes " + std::to_string(op.permutation.size()) + " of " + std::to_string(result.size()) +
                      " dimensions");
    for (std::size_t d = 0; d < result.size(); ++d) x.out_labels[d] = result[axis(op.permutation[d], result.size())];
  }
  x.in = {left, right};
  x.out = n.out("_out_tensor").fitted(x.out_labels.size());
  contract(n, x);
}

}  // namespace sdfg::library
