// Products with matrices in CSR form.
#include <functional>

#include "library/device_calls.hpp"
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

// What both products have in common: the call without its own numbers; nothing, with the reason, if cuSPARSE can't.
std::optional<DeviceCallText> sparse_call(const Node& n, DeviceFunction f, const Operand& b, const Operand& c,
                                          const Expr& columns, bool trans_a, std::complex<double> alpha,
                                          std::complex<double> beta) {
  if (!n.makes_kernels || !n.options->device_library || n.options->opt_level < 1) return std::nullopt;
  const auto no = [&](const std::string& why) {
    n.reason("kernels: " + why);
    return std::nullopt;
  };
  const Operand rows = n.in("_a_rows").fitted(1), cols = n.in("_a_cols").fitted(1), vals = n.in("_a_vals").fitted(1);
  const Operand* cin = n.find_in("_cin");
  const ScalarType t = c.type();
  switch (t) {
    case ScalarType::kFloat32:
    case ScalarType::kFloat64:
    case ScalarType::kComplex64:
    case ScalarType::kComplex128: break;
    default: return no("cuSPARSE has no such product of " + std::string(to_string(t)));
  }
  if (vals.type() != t || b.type() != t || (beta != 0.0 && cin != nullptr && cin->type() != t))
    return no("elements of different types");
  if (rows.type() != cols.type() || (rows.type() != ScalarType::kInt32 && rows.type() != ScalarType::kInt64))
    return no("indices of type " + std::string(to_string(rows.type())));
  for (const Operand* o : {&rows, &cols, &vals}) {
    if (!o->stride(0).is_one()) return no(o->text() + " is not contiguous");
  }
  for (const Operand* o : {&rows, &cols, &vals, &b, &c}) {
    if (!is_reachable(n, *o)) return no(o->text() + " is in memory of the host");
  }
  if (!is_complex(t) && (alpha.imag() != 0 || beta.imag() != 0)) return no("complex factors of real matrices");
  if (!may_call(n, f)) return std::nullopt;
  if (beta != 0.0 && cin != nullptr) n.emitter->copy(cin->data(), cin->subset(), c.data(), c.subset());
  DeviceCallText d;
  d.function = f;
  d.type = t;
  d.alpha = alpha;
  d.beta = beta;
  d.numbers = {rows.extent(0) - 1, columns, vals.extent(0), size_of(rows.type()), trans_a ? 1 : 0};
  d.read = {{"rows", rows.data(), rows.subset()},
            {"cols", cols.data(), cols.subset()},
            {"vals", vals.data(), vals.subset()},
            {"b", b.data(), b.subset()}};
  d.written = {{"c", c.data(), c.subset()}};
  d.reads_written = beta != 0.0;
  n.reason("cuSPARSE " + std::string(name_of(f)) + ", " + std::string(to_string(t)));
  return d;
}

}  // namespace

void expand(const ir::Csrmv& op, const Node& n) {
  const Operand b = n.in("_b").fitted(1), c = n.out("_c").fitted(1);
  if (b.stride(0).is_one() && c.stride(0).is_one()) {
    if (const auto call =
            sparse_call(n, DeviceFunction::kCsrmv, b, c, (op.trans ? c : b).extent(0), op.trans, op.alpha, op.beta)) {
      device_call(*n.emitter, *call);
      return;
    }
  }
  auto vector = [](const Operand& o) {
    return [&o](const Expr& i, const Expr&) { return o.element(std::vector<Expr>{i}); };
  };
  sparse_multiply(n, b, c, 1, vector(b), vector(c), op.trans, op.alpha, op.beta);
}

void expand(const ir::Csrmm& op, const Node& n) {
  const Operand b = n.in("_b").fitted(2), c = n.out("_c").fitted(2);
  const auto b_layout = by_columns(b.stride(0), b.stride(1)), c_layout = by_columns(c.stride(0), c.stride(1));
  if (b_layout && c_layout) {
    const Expr columns = op.trans_a ? c.extent(0) : b.extent(op.trans_b ? 1 : 0);
    if (auto call = sparse_call(n, DeviceFunction::kCsrmm, b, c, columns, op.trans_a, op.alpha, op.beta)) {
      const auto add = [&](const Expr& number) { call->numbers.push_back(number); };
      add(c.extent(1));
      add(b_layout->transposed ? 1 : 0);
      add(b_layout->ld);
      add(op.trans_b ? 1 : 0);
      add(c_layout->transposed ? 1 : 0);
      add(c_layout->ld);
      device_call(*n.emitter, *call);
      return;
    }
  }
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
