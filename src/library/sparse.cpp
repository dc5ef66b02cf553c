// Products with matrices in CSR form.
#include "library/expansions.hpp"

namespace sdfg::library {

namespace {

// c = alpha op(A) b + beta c with b and c seen as rows x columns; `b_at` and `c_at` name their elements.
void sparse_multiply(const Node& n, const Operand& b, const Operand& c, const Expr& columns,
                     const std::function<ir::Subset(const Expr&, const Expr&)>& b_at,
                     const std::function<ir::Subset(const Expr&, const Expr&)>& c_at, bool trans_a,
                     std::complex<double> alpha, std::complex<double> beta) {
  const Operand rows = n.in("_a_rows").fitted(1), cols = n.in("_a_cols").fitted(1), vals = n.in("_a_vals").fitted(1);
  const Operand* cin = n.find_in("_cin");
  const ScalarType t = c.type();
  const Expr m = rows.extent(0) - 1;
  const Expr c_rows = c.extent(0);
  n.reason(trans_a ? "scatter of the rows" : "one sum per row");
  n.emitter->map({{"i", c_rows}, {"j", columns}}, [&](Emitter& e, std::vector<Expr> p) {
    if (beta == 0.0) {
      e.compute({}, literal(0.0, t), {c.data(), c_at(p[0], p[1]), {}});
    } else {
      const Operand old = cin != nullptr ? cin->fitted(c.rank()) : c;
      const std::vector<Expr> at(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(c.rank()));
      e.compute({{"old", old.data(), old.element(at)}}, cast(scaled(beta, name("old", old.type()), t), t),
                {c.data(), c_at(p[0], p[1]), {}});
    }
  });
  n.emitter->map({{"row", m}}, [&](Emitter& e, std::vector<Expr> p) {
    const Expr row = p[0];
    auto pointer = [&](const Expr& i) {
      std::vector<Expr> at = rows.element(std::vector<Expr>{i}).begins();
      return element_of(rows.data(), at, rows.type());
    };
    const Expr begin = e.assign("begin", pointer(row)), end = e.assign("end", pointer(row + 1));
    e.loop("k", begin, end, [&](Emitter& entry, const Expr& k) {
      const Expr column =
          entry.assign("column", element_of(cols.data(), cols.element(std::vector<Expr>{k}).begins(), cols.type()));
      const Expr from = trans_a ? row : column, to = trans_a ? column : row;
      entry.map({{"j", columns}}, [&](Emitter& inner, std::vector<Expr> q) {
        const tasklet::Expr product = mul(name("a", vals.type()), name("b", b.type()));
        inner.compute({{"a", vals.data(), vals.element(std::vector<Expr>{k})}, {"b", b.data(), b_at(from, q[0])}},
                      cast(scaled(alpha, product, t), t), {c.data(), c_at(to, q[0]), ir::Wcr{}});
      });
    });
  });
}

}  // namespace

void expand(const ir::Csrmv& op, const Node& n) {
  const Operand b = n.in("_b").fitted(1), c = n.out("_c").fitted(1);
  auto vector = [](const Operand& o) {
    return [&o](const Expr& i, const Expr&) { return o.element(std::vector<Expr>{i}); };
  };
  sparse_multiply(n, b, c, 1, vector(b), vector(c), op.trans, op.alpha, op.beta);
}

void expand(const ir::Csrmm& op, const Node& n) {
  const Operand b = n.in("_b").fitted(2), c = n.out("_c").fitted(2);
  auto b_at = [&](const Expr& i, const Expr& j) {
    return op.trans_b ? b.element(std::vector<Expr>{j, i}) : b.element(std::vector<Expr>{i, j});
  };
  auto c_at = [&](const Expr& i, const Expr& j) { return c.element(std::vector<Expr>{i, j}); };
  sparse_multiply(n, b, c, c.extent(1), b_at, c_at, op.trans_a, op.alpha, op.beta);
}

void expand(const ir::UnknownLibrary& op, const Node& n) {
  throw Error(ErrorClass::kUsage, "library node '" + n.emitter->label() + "' is of class '" + op.class_path +
                                      "', which is not known here and can't be executed");
}

}  // namespace sdfg::library
