// Rules of library nodes, operation by operation.
#include <algorithm>

#include "ir/validate_operands.hpp"

namespace sdfg::ir {

namespace {

using symbolic::Expr;
using symbolic::Truth;
using validation::Operand;

class LibraryChecker : public validation::OperandChecker {
 public:
  using OperandChecker::OperandChecker;

  void run() {
    const std::size_t before = problems_.size();
    check_connectors();
    collect();
    for (const auto& [side, operands] : {std::pair(&l_.inputs, &inputs_), std::pair(&l_.outputs, &outputs_)}) {
      for (const std::string& name : *side) {
        if (!operands->contains(name)) add(Rule::kLibraryShape, "needs a container at '" + name + "'");
      }
    }
    if (problems_.size() != before) return;
    std::visit([&](const auto& op) { check(op); }, l_.op);
  }

 private:
  void check(const MatMul&) {
    same_types();
    numeric();
    const Operand* a = in("_a");
    const Operand* b = in("_b");
    const Operand* c = out("_c");
    if (a == nullptr || b == nullptr || c == nullptr) return;
    if (a->sizes.empty() || b->sizes.empty()) {
      add(Rule::kLibraryShape, "needs at least one dimension at '_a' and '_b'");
      return;
    }
    const std::size_t ra = a->sizes.size();
    const std::size_t rb = b->sizes.size();
    // Indices into a container leave dimensions of one element, so only unambiguous ranks are compared.
    same(a->sizes[ra - 1], "columns of '_a'", b->sizes[rb == 1 ? 0 : rb - 2], "rows of '_b'");
    Expr rows = ra == 1 ? Expr(1) : a->sizes[ra - 2];
    Expr columns = rb == 1 ? Expr(1) : b->sizes[rb - 1];
    std::vector<Expr> shape;
    for (std::size_t d = std::max(ra, rb); d-- > 2;) {
      const Expr x = d < ra ? a->sizes[ra - 1 - d] : Expr(1);
      const Expr y = d < rb ? b->sizes[rb - 1 - d] : Expr(1);
      if (!x.is_one() && !y.is_one()) same(x, "batch extent of '_a'", y, "batch extent of '_b'");
      shape.push_back(x.is_one() ? y : x);
    }
    shape.push_back(rows);
    shape.push_back(columns);
    const Expr wanted = symbolic::product(shape);
    if (differ(wanted, symbolic::product(c->sizes))) {
      add(Rule::kLibraryShape, "gives the shape " + text(squeezed(shape)) + ", but '_c' has " + text(c->sizes));
    }
  }

  void product_of(bool trans_a, bool trans_b, std::size_t batch) {
    same_types();
    numeric();
    // A plain matrix is the same one for the whole batch.
    const auto rank = [&](const Operand* o) { return batch == 1 && o != nullptr && o->sizes.size() > 2 ? 3U : 2U; };
    const auto a = as_rank(in("_a"), rank(in("_a")));
    const auto b = as_rank(in("_b"), rank(in("_b")));
    const auto c = as_rank(out("_c"), 2 + batch);
    if (!a || !b || !c) return;
    const auto dim = [](const std::vector<Expr>& m, std::size_t d, bool trans) {
      return m[m.size() - 2 + (trans ? 1 - d : d)];
    };
    same(dim(*a, 1, trans_a), "columns of '_a'", dim(*b, 0, trans_b), "rows of '_b'");
    same(dim(*a, 0, trans_a), "rows of '_a'", dim(*c, 0, false), "rows of '_c'");
    same(dim(*b, 1, trans_b), "columns of '_b'", dim(*c, 1, false), "columns of '_c'");
    if (batch == 1) {
      if (a->size() == 3) same((*a)[0], "a batch in '_a'", (*c)[0], "a batch in '_c'");
      if (b->size() == 3) same((*b)[0], "a batch in '_b'", (*c)[0], "a batch in '_c'");
    }
    same_shape(in("_cin"), out("_c"));
  }

  void check(const Gemm& o) { product_of(o.trans_a, o.trans_b, 0); }
  void check(const BatchedMatMul& o) { product_of(o.trans_a, o.trans_b, 1); }

  void check(const Gemv& o) {
    same_types();
    numeric();
    const auto a = as_rank(in("_A"), 2);
    const auto x = as_rank(in("_x"), 1);
    const auto y = as_rank(out("_y"), 1);
    if (!a || !x || !y) return;
    same((*a)[o.trans_a ? 0 : 1], o.trans_a ? "rows of '_A'" : "columns of '_A'", (*x)[0], "an extent of '_x'");
    same((*a)[o.trans_a ? 1 : 0], o.trans_a ? "columns of '_A'" : "rows of '_A'", (*y)[0], "an extent of '_y'");
    same_shape(in("_y"), out("_y"));
  }

  void check(const Ger&) {
    same_types();
    numeric();
    const auto a = as_rank(in("_A"), 2);
    const auto x = as_rank(in("_x"), 1);
    const auto y = as_rank(in("_y"), 1);
    if (!a || !x || !y) return;
    same((*a)[0], "rows of '_A'", (*x)[0], "an extent of '_x'");
    same((*a)[1], "columns of '_A'", (*y)[0], "an extent of '_y'");
    same_shape(in("_A"), out("_res"));
  }

  void check(const Dot&) {
    same_types();
    numeric();
    same_count(in("_x"), in("_y"));
    (void)as_rank(out("_result"), 0);
  }

  void check(const Axpy&) {
    same_types();
    numeric();
    same_count(in("_x"), in("_y"));
    same_count(in("_x"), out("_res"));
  }

  void check(const Syrk& o) {
    same_types();
    numeric();
    const auto a = as_rank(in("_a"), 2);
    const auto c = as_rank(out("_c"), 2);
    square(c, "_c");
    if (a && c) same((*a)[o.trans ? 1 : 0], o.trans ? "columns of '_a'" : "rows of '_a'", (*c)[0], "rows of '_c'");
    same_shape(in("_cin"), out("_c"));
  }

  void check(const Einsum& o) {
    same_types();
    numeric();
    const std::size_t arrow = o.equation.find("->");
    if (arrow == std::string::npos || o.equation.find('.') != std::string::npos) {
      add(Rule::kLibraryShape, "has the equation '" + o.equation + "', which is not of the form 'ij,jk->ik'");
      return;
    }
    std::vector<std::string> terms{""};
    for (char c : o.equation.substr(0, arrow)) {
      if (c == ',') {
        terms.emplace_back();
      } else if (c != ' ') {
        terms.back() += c;
      }
    }
    std::string result;
    for (char c : o.equation.substr(arrow + 2)) {
      if (c != ' ') result += c;
    }
    if (terms.size() != l_.inputs.size() || l_.outputs.size() != 1) {
      add(Rule::kLibraryShape, "has the equation '" + o.equation + "' of " + std::to_string(terms.size()) +
                                   " operands, but " + std::to_string(l_.inputs.size()) + " inputs and " +
                                   std::to_string(l_.outputs.size()) + " outputs");
      return;
    }
    std::map<char, std::pair<Expr, std::string>> extents;
    const auto bind = [&](const std::string& letters, const Operand* operand) {
      const auto shape = as_rank(operand, letters.size());
      if (!shape) return;
      for (std::size_t d = 0; d < letters.size(); ++d) {
        const auto [known, is_new] = extents.emplace(letters[d], std::pair((*shape)[d], operand->connector));
        if (is_new) continue;
        const std::string index = std::string("index ") + letters[d];
        same(known->second.first, index + " in '" + known->second.second + "'", (*shape)[d],
             index + " in '" + operand->connector + "'");
      }
    };
    for (std::size_t k = 0; k < terms.size(); ++k) bind(terms[k], in(l_.inputs[k]));
    for (char c : result) {
      if (!extents.contains(c))
        add(Rule::kLibraryShape, "has the equation '" + o.equation + "', whose result uses the unknown index " + c);
    }
    bind(result, out(l_.outputs[0]));
  }

  // Axes as positions, or a problem.
  std::optional<std::vector<std::size_t>> positions(const std::vector<int>& axes, std::size_t rank,
                                                    const std::string& connector) {
    std::vector<std::size_t> found;
    for (int axis : axes) {
      const int at = axis < 0 ? axis + static_cast<int>(rank) : axis;
      if (at < 0 || at >= static_cast<int>(rank)) {
        add(Rule::kLibraryShape, "has axis " + std::to_string(axis) + ", but '" + connector + "' has " +
                                     std::to_string(rank) + " dimensions");
        return std::nullopt;
      }
      if (std::find(found.begin(), found.end(), static_cast<std::size_t>(at)) != found.end()) {
        add(Rule::kLibraryShape, "names axis " + std::to_string(axis) + " twice");
        return std::nullopt;
      }
      found.push_back(static_cast<std::size_t>(at));
    }
    return found;
  }

  void reduces(const Operand* from, const Operand* to, const std::vector<std::size_t>& axes) {
    std::vector<Expr> kept;
    for (std::size_t d = 0; d < from->sizes.size(); ++d) {
      if (!axes.empty() && std::find(axes.begin(), axes.end(), d) == axes.end()) kept.push_back(from->sizes[d]);
    }
    if (!differ(symbolic::product(kept), symbolic::product(to->sizes))) return;
    add(Rule::kLibraryShape, "reduces '" + from->connector + "' of shape " + text(from->sizes) + " to " + text(kept) +
                                 ", but '" + to->connector + "' has " + text(to->sizes));
  }

  void accumulates(ReduceOp op, const Operand* o) {
    const ScalarType type =
        o->type.is_scalar() || o->type.kind() == Type::Kind::kVector ? o->type.scalar() : ScalarType::kBool;
    const bool bitwise = op == ReduceOp::kBitAnd || op == ReduceOp::kBitOr || op == ReduceOp::kBitXor;
    const bool ordered = op == ReduceOp::kMin || op == ReduceOp::kMax;
    if ((bitwise && (is_floating(type) || is_complex(type))) || (ordered && is_complex(type))) {
      add(Rule::kLibraryTypes, "can't form the " + std::string(to_string(op)) + " of " + o->type.str() + " elements");
    }
    if (op == ReduceOp::kExchange) add(Rule::kLibraryTypes, "can't reduce by exchange");
  }

  void check(const Reduce& o) {
    same_types();
    numeric();
    const Operand* from = in("_in");
    const Operand* to = out("_out");
    if (from == nullptr || to == nullptr) return;
    const auto axes = positions(o.axes, from->sizes.size(), "_in");
    if (axes) reduces(from, to, *axes);
    accumulates(o.op, from);
    if (o.op == ReduceOp::kCustom) {
      for (const std::string& name : tasklet::uses_of(o.custom).read) {
        if (name == "a" || name == "b" || g_.symbols.contains(name)) continue;
        add(Rule::kWcrTarget, "has a custom operation that uses '" + name + "'",
            "its names are a, the old value, and b, the new one");
      }
    }
  }

  void check(const Copy&) {
    same_types();
    same_count(in("_in"), out("_out"));
  }

  void check(const Fill&) { numeric(); }

  void check(const Transpose&) {
    same_types();
    const auto a = as_rank(in("_inp"), 2);
    const auto b = as_rank(out("_out"), 2);
    if (!a || !b) return;
    same((*a)[0], "rows of '_inp'", (*b)[1], "columns of '_out'");
    same((*a)[1], "columns of '_inp'", (*b)[0], "rows of '_out'");
  }

  void check(const TensorTranspose& o) {
    same_types();
    const Operand* from = in("_inp_tensor");
    const Operand* to = out("_out_tensor");
    const auto a = as_rank(from, o.axes.size());
    const auto b = as_rank(to, o.axes.size());
    const auto axes = positions(o.axes, o.axes.size(), "_inp_tensor");
    if (!a || !b || !axes) return;
    for (std::size_t d = 0; d < axes->size(); ++d) {
      same((*a)[(*axes)[d]], "extent " + std::to_string((*axes)[d]) + " of '_inp_tensor'", (*b)[d],
           "extent " + std::to_string(d) + " of '_out_tensor'");
    }
  }

  void check(const TensorDot& o) {
    same_types();
    numeric();
    const Operand* left = in("_left_tensor");
    const Operand* right = in("_right_tensor");
    const Operand* to = out("_out_tensor");
    if (left == nullptr || right == nullptr || to == nullptr) return;
    if (o.left_axes.size() != o.right_axes.size()) {
      add(Rule::kLibraryShape, "contracts " + std::to_string(o.left_axes.size()) + " axes of '_left_tensor' with " +
                                   std::to_string(o.right_axes.size()) + " of '_right_tensor'");
      return;
    }
    const auto l = positions(o.left_axes, left->sizes.size(), "_left_tensor");
    const auto r = positions(o.right_axes, right->sizes.size(), "_right_tensor");
    if (!l || !r) return;
    std::vector<Expr> shape;
    for (std::size_t k = 0; k < l->size(); ++k) {
      same(left->sizes[(*l)[k]], "extent " + std::to_string((*l)[k]) + " of '_left_tensor'", right->sizes[(*r)[k]],
           "extent " + std::to_string((*r)[k]) + " of '_right_tensor'");
    }
    const auto keep = [&](const std::vector<Expr>& sizes, const std::vector<std::size_t>& axes) {
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) shape.push_back(sizes[d]);
      }
    };
    keep(left->sizes, *l);
    keep(right->sizes, *r);
    if (!o.permutation.empty() && o.permutation.size() != shape.size()) {
      add(Rule::kLibraryShape,
          "permutes " + std::to_string(o.permutation.size()) + " of " + std::to_string(shape.size()) + " dimensions");
      return;
    }
    if (!positions(o.permutation, shape.size(), "_out_tensor")) return;
    if (differ(symbolic::product(shape), symbolic::product(to->sizes))) {
      add(Rule::kLibraryShape, "gives the shape " + text(shape) + ", but '_out_tensor' has " + text(to->sizes));
    }
  }

  void check(const Cholesky&) {
    same_types();
    floating(in("_a"));
    square(as_rank(in("_a"), 2), "_a");
    same_shape(in("_a"), out("_b"));
  }

  void check(const Potrf&) {
    pair_types(in("_xin"), out("_xout"));
    floating(in("_xin"));
    square(as_rank(in("_xin"), 2), "_xin");
    same_shape(in("_xin"), out("_xout"));
    integers(out("_res"));
  }

  void check(const Getrf&) {
    pair_types(in("_xin"), out("_xout"));
    floating(in("_xin"));
    const auto a = as_rank(in("_xin"), 2);
    square(a, "_xin");
    same_shape(in("_xin"), out("_xout"));
    integers(out("_ipiv"));
    integers(out("_res"));
    const auto p = as_rank(out("_ipiv"), 1);
    if (a && p) same((*a)[0], "rows of '_xin'", (*p)[0], "an extent of '_ipiv'");
  }

  void check(const Getrs&) {
    pair_types(in("_a"), in("_rhs_in"));
    pair_types(in("_a"), out("_rhs_out"));
    floating(in("_a"));
    const auto a = as_rank(in("_a"), 2);
    square(a, "_a");
    integers(in("_ipiv"));
    integers(out("_res"));
    same_shape(in("_rhs_in"), out("_rhs_out"));
    right_hand_side(a, "_a", in("_rhs_in"));
  }

  // One vector, or columns of them.
  void right_hand_side(const std::optional<std::vector<Expr>>& a, const std::string& name, const Operand* b) {
    if (!a || b == nullptr) return;
    const std::vector<Expr> shape = b->sizes.size() > 2 ? squeezed(b->sizes) : b->sizes;
    if (shape.empty() || shape.size() > 2) return;
    same((*a)[0], "rows of '" + name + "'", shape[0], "rows of '" + b->connector + "'");
  }

  void check(const Solve&) {
    same_types();
    floating(in("_ain"));
    const auto a = as_rank(in("_ain"), 2);
    square(a, "_ain");
    right_hand_side(a, "_ain", in("_bin"));
    same_shape(in("_bin"), out("_bout"));
  }

  void check(const Inv&) {
    same_types();
    floating(in("_ain"));
    square(as_rank(in("_ain"), 2), "_ain");
    same_shape(in("_ain"), out("_aout"));
  }

  void check(const Fft&) {
    same_shape(in("_inp"), out("_out"));
    const Operand* to = out("_out");
    if (to != nullptr && !(to->type.is_scalar() && is_complex(to->type.scalar()))) {
      add(Rule::kLibraryTypes, "needs complex elements at '_out', but they have type " + to->type.str());
    }
    const Operand* from = in("_inp");
    if (from != nullptr && !from->type.is_scalar())
      add(Rule::kLibraryTypes, "can't transform " + from->type.str() + " elements");
  }

  void sparse_matrix() {
    integers(in("_a_rows"));
    integers(in("_a_cols"));
    pair_types(in("_a_vals"), in("_b"));
    pair_types(in("_a_vals"), out("_c"));
    same_count(in("_a_cols"), in("_a_vals"));
    same_shape(in("_cin"), out("_c"));
  }

  void check(const Csrmv& o) {
    sparse_matrix();
    const auto rows = as_rank(in("_a_rows"), 1);
    const auto b = as_rank(in("_b"), 1);
    const auto c = as_rank(out("_c"), 1);
    if (rows && b && c)
      same((*rows)[0] - 1, "rows of the matrix", o.trans ? (*b)[0] : (*c)[0],
           o.trans ? "an extent of '_b'" : "an extent of '_c'");
  }

  void check(const Csrmm& o) {
    sparse_matrix();
    const auto rows = as_rank(in("_a_rows"), 1);
    const auto b = as_rank(in("_b"), 2);
    const auto c = as_rank(out("_c"), 2);
    if (!rows || !b || !c) return;
    if (!o.trans_a) same((*rows)[0] - 1, "rows of the matrix", (*c)[0], "rows of '_c'");
    same((*b)[o.trans_b ? 0 : 1], o.trans_b ? "rows of '_b'" : "columns of '_b'", (*c)[1], "columns of '_c'");
  }

  void check(const Scan& o) {
    same_types();
    numeric();
    same_shape(in("_in"), out("_out"));
    if (in("_in") == nullptr) return;
    (void)positions({o.axis}, in("_in")->sizes.size(), "_in");
    accumulates(o.op, in("_in"));
    if (o.op == ReduceOp::kCustom) add(Rule::kLibraryTypes, "can't scan by a custom operation");
  }

  void check(const ArgReduce& o) {
    numeric();
    const Operand* from = in("_in");
    const Operand* to = out("_idx");
    if (from == nullptr || to == nullptr) return;
    if (from->type.is_scalar() && is_complex(from->type.scalar())) {
      add(Rule::kLibraryTypes, "can't order the " + from->type.str() + " elements at '_in'");
    }
    integers(to);
    pair_types(from, out("_value"));
    std::vector<int> axes;
    if (o.axis) axes.push_back(*o.axis);
    const auto at = positions(axes, from->sizes.size(), "_in");
    if (!at) return;
    reduces(from, to, *at);
    if (out("_value") != nullptr) reduces(from, out("_value"), *at);
  }

  void check(const UnknownLibrary&) {}
};

}  // namespace

void check_library(const Graph& g, const State& s, const Node& node, std::vector<Problem>& problems,
                   const symbolic::Facts& facts) {
  LibraryChecker(g, s, node, problems, facts).run();
}

}  // namespace sdfg::ir
