// Factorisations and what is built on them, as loops over a packed copy of the matrix: Cholesky, LU with partial
// pivoting, triangular solves. Sources: Golub, Van Loan, "Matrix Computations", 4th ed., algorithms 4.2.3 (outer
// product form by rows) and 3.4.1.
#include <functional>
#include <optional>

#include "library/blas.hpp"
#include "library/device_calls.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

namespace {

using tasklet::BinaryOp;
using tasklet::Function;

// The type that a factorisation computes in.
ScalarType field_of(ScalarType t) {
  return is_floating(t) || is_complex(t) ? t : ScalarType::kFloat64;
}

tasklet::Expr conjugate(const tasklet::Expr& e, ScalarType t) {
  return is_complex(t) ? call(Function::kConj, {e}) : e;
}

// A packed n x n (or n x m) copy of an operand, in type t.
void load(const Emitter& e, const Operand& from, const std::string& to, ScalarType t) {
  e.map({{"i", from.extent(0)}, {"j", from.rank() > 1 ? from.extent(1) : Expr(1)}},
        [&](Emitter& inner, const std::vector<Expr>& p) {
          const std::vector<Expr> source(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(from.rank()));
          inner.compute({{"a", from.data(), from.element(source)}}, cast(name("a", from.type()), t),
                        {to, element_at({p[0], p[1]}), {}});
        });
}
void store(const Emitter& e, const std::string& from, ScalarType t, const Operand& to) {
  e.map({{"i", to.extent(0)}, {"j", to.rank() > 1 ? to.extent(1) : Expr(1)}},
        [&](Emitter& inner, const std::vector<Expr>& p) {
          const std::vector<Expr> target(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(to.rank()));
          inner.compute({{"a", from, element_at({p[0], p[1]})}}, cast(name("a", t), to.type()),
                        {to.data(), to.element(target), {}});
        });
}

Expr order_of(const Node& n, const Operand& a) {
  if (a.rank() != 2 || (a.extent(0) - a.extent(1)).constant().value_or(0) != 0)
    n.emitter->fail("needs a square matrix, but has " + a.text());
  return a.extent(0);
}

// ---- LAPACK ----

// Below this order a call costs more than it saves.
constexpr std::int64_t kLeastOrder = 64;
constexpr std::int64_t kMostOrder = 2147483647;  // LAPACK counts in 32 bits

// The function with the prefix of the type, if it is there.
std::optional<std::string> lapack(const Node& n, ScalarType t, const std::string& name) {
  const ExpandOptions& o = *n.options;
  if (!o.host_code || o.opt_level < 1 || !o.lapack || wanted_by(n) == Wanted::kLoops) return std::nullopt;
  std::string full;
  switch (t) {
    case ScalarType::kFloat32: full = "s"; break;
    case ScalarType::kFloat64: full = "d"; break;
    case ScalarType::kComplex64: full = "c"; break;
    case ScalarType::kComplex128: full = "z"; break;
    default: return std::nullopt;
  }
  full += name + "_";
  return o.lapack(full) ? std::optional(full) : std::nullopt;
}

tasklet::Expr worth_a_call(const Expr& order) {
  return tasklet::from_symbolic(
      symbolic::logical_and(symbolic::ge(order, kLeastOrder), symbolic::le(order, kMostOrder)));
}

// The order as C++ text of a tasklet inside `e`.
std::string order_text(const Emitter& e, const Expr& order) {
  if (const auto constant = order.constant()) return std::to_string(*constant);
  return order.kind() == symbolic::Kind::kSymbol ? order.name()
                                                 : e.assign("order", tasklet::from_symbolic(order)).name();
}

// Row-major lower is LAPACK's upper: it sees the transpose.
void cholesky_by_lapack(const Emitter& e, const std::string& function, const std::string& w, const Expr& n, bool lower,
                        const std::string& info) {
  const std::string order = order_text(e, n);
  const ir::Subset all = ir::Subset::full(e.graph().containers.at(w).layout.shape());
  e.cpp({{"matrix", w, all}}, {{"factor", w, all}, {"result", info, {}}},
        "typedef void (*potrf)(const char*, const int*, void*, const int*, int*, long);\n"
        "const int sdfg_order = (int)" +
            order +
            ";\n"
            "int sdfg_status = 0;\n"
            "if (potrf f = (potrf)sdfg_abi->library(call, 1, \"" +
            function + "\")) f(\"" + (lower ? "U" : "L") +
            "\", &sdfg_order, (void*)$factor, &sdfg_order, &sdfg_status, 1);\n"
            "*$result = sdfg_status;",
        "");
}

// LAPACK's matrices are column-major, and rows are what is to be swapped: the factorisation runs on a transposed copy.
void factorise_by_lapack(const Emitter& e, const std::string& function, const std::string& w, const Expr& n,
                         ScalarType t, const std::string& pivots, const std::string& info) {
  e.with_transient("columns", t, {n, n}, [&](Emitter& outer, const std::string& columns) {
    outer.with_transient("swaps", ScalarType::kInt32, {n}, [&](Emitter& body, const std::string& swaps) {
      body.map({{"i", n}, {"j", n}}, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner.compute({{"a", w, element_at({p[0], p[1]})}}, name("a", t), {columns, element_at({p[1], p[0]}), {}});
      });
      const std::string order = order_text(body, n);
      const ir::Subset all = ir::Subset::full(body.graph().containers.at(columns).layout.shape());
      const ir::Subset all_swaps = ir::Subset::full(body.graph().containers.at(swaps).layout.shape());
      body.cpp({{"matrix", columns, all}}, {{"factor", columns, all}, {"rows", swaps, all_swaps}, {"result", info, {}}},
               "typedef void (*getrf)(const int*, const int*, void*, const int*, int*, int*);\n"
               "const int sdfg_order = (int)" +
                   order +
                   ";\n"
                   "int sdfg_status = 0;\n"
                   "if (getrf f = (getrf)sdfg_abi->library(call, 1, \"" +
                   function +
                   "\")) f(&sdfg_order, &sdfg_order, (void*)$factor, &sdfg_order, $rows, &sdfg_status);\n"
                   "*$result = sdfg_status;",
               "");
      body.map({{"i", n}, {"j", n}}, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner.compute({{"a", columns, element_at({p[1], p[0]})}}, name("a", t), {w, element_at({p[0], p[1]}), {}});
      });
      body.map({{"i", n}}, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner.compute(
            {{"p", swaps, element_at({p[0]})}},
            sub(cast(name("p", ScalarType::kInt32), ScalarType::kInt64), tasklet::Expr::literal(std::int64_t{1})),
            {pivots, element_at({p[0]}), {}});
      });
    });
  });
}

// The named triangle of `w` becomes the factor; the other keeps its contents. `info` (int64) becomes 0 or the order of
// the first minor that is not positive definite, where it stops.
void cholesky_by_loops(const Emitter& e, const std::string& w, const Expr& n, ScalarType t, bool lower,
                       const std::string& info) {
  auto element = [&](const Expr& i, const Expr& j) { return lower ? element_at({i, j}) : element_at({j, i}); };
  e.compute({}, tasklet::Expr::literal(std::int64_t{0}), {info, {}, {}});
  e.loop("j", 0, n, [&](Emitter& column, const Expr& j) {
    // value(i, j) - sum_k value(i, k) conj(value(j, k)) into `sum`
    auto reduced = [&](Emitter& here, const Expr& i, const std::string& sum) {
      here.compute({{"a", w, element(i, j)}}, name("a", t), {sum, {}, {}});
      here.map({{"k", j}}, [&](Emitter& term, const std::vector<Expr>& p) {
        const tasklet::Expr product = mul(name("a", t), conjugate(name("b", t), t));
        term.compute({{"a", w, element(i, p[0])}, {"b", w, element(j, p[0])}},
                     tasklet::Expr::unary(tasklet::UnaryOp::kNegate, product), {sum, {}, ir::Wcr{}});
      });
    };
    column.with_transient("diagonal", t, {}, [&](Emitter& body, const std::string& diagonal) {
      reduced(body, j, diagonal);
      const ScalarType real = component_of(t);
      const tasklet::Expr d = element_of(diagonal, {}, t);
      const tasklet::Expr real_d = is_complex(t) ? call(Function::kReal, {d}) : d;
      body.branch(tasklet::Expr::unary(tasklet::UnaryOp::kNot, binary(BinaryOp::kGreater, real_d, literal(0.0, real))),
                  [&](Emitter& stop) {
                    stop.compute({}, tasklet::from_symbolic(j + 1), {info, {}, {}});
                    stop.leave_loop();
                  });
      const tasklet::Expr value = is_complex(t) ? call(Function::kReal, {name("d", t)}) : name("d", t);
      body.compute({{"d", diagonal, {}}}, cast(call(Function::kSqrt, {value}), t), {diagonal, {}, {}});
      body.compute({{"d", diagonal, {}}}, name("d", t), {w, element(j, j), {}});
      body.map_ranges({{"i", ir::Range{j + 1, n - 1, 1, 1}}}, [&](Emitter& row, const std::vector<Expr>& p) {
        row.with_transient("sum", t, {}, [&](Emitter& deep, const std::string& sum) {
          reduced(deep, p[0], sum);
          deep.compute({{"s", sum, {}}, {"d", diagonal, {}}}, binary(BinaryOp::kDiv, name("s", t), name("d", t)),
                       {w, element(p[0], j), {}});
        });
      });
    });
  });
}

tasklet::Expr magnitude(const tasklet::Expr& e, ScalarType t) {
  if (!is_complex(t)) return call(Function::kAbs, {e});
  return add(call(Function::kAbs, {call(Function::kReal, {e})}),
             call(Function::kAbs, {call(Function::kImag, {e})}));  // LAPACK's pivot rule
}

void swap_rows(const Emitter& e, const std::string& w, const Expr& first, const Expr& second, const Expr& columns,
               ScalarType t) {
  e.map({{"k", columns}}, [&](Emitter& inner, const std::vector<Expr>& p) {
    inner.with_transient("kept", t, {}, [&](Emitter& body, const std::string& kept) {
      body.compute({{"a", w, element_at({first, p[0]})}}, name("a", t), {kept, {}, {}});
      body.compute({{"a", w, element_at({second, p[0]})}}, name("a", t), {w, element_at({first, p[0]}), {}});
      body.compute({{"a", kept, {}}}, name("a", t), {w, element_at({second, p[0]}), {}});
    });
  });
}

// P W = L U in place; `pivots` (int64) hold the rows that were swapped, counted from zero; `info` the 1-based first
// zero pivot or 0.
void factorise_by_loops(const Emitter& e, const std::string& w, const Expr& n, ScalarType t, const std::string& pivots,
                        const std::string& info) {
  const ScalarType real = component_of(t);
  e.compute({}, tasklet::Expr::literal(std::int64_t{0}), {info, {}, {}});
  e.loop("j", 0, n, [&](Emitter& column, const Expr& j) {
    column.with_transient("largest", real, {}, [&](Emitter& body, const std::string& largest) {
      body.compute({{"a", w, element_at({j, j})}}, magnitude(name("a", t), t), {largest, {}, {}});
      body.compute({}, tasklet::from_symbolic(j), {pivots, element_at({j}), {}});
      body.loop("i", j + 1, n, [&](Emitter& row, const Expr& i) {
        row.branch(binary(BinaryOp::kGreater, magnitude(element_of(w, {i, j}, t), t), element_of(largest, {}, real)),
                   [&](Emitter& take) {
                     take.compute({{"a", w, element_at({i, j})}}, magnitude(name("a", t), t), {largest, {}, {}});
                     take.compute({}, tasklet::from_symbolic(i), {pivots, element_at({j}), {}});
                   });
      });
      const Expr pivot = body.assign("pivot", element_of(pivots, {j}, ScalarType::kInt64));
      swap_rows(body, w, j, pivot, n, t);
      body.branch(
          binary(BinaryOp::kEqual, element_of(w, {j, j}, t), literal(0.0, t)),
          [&](Emitter& singular) {
            singular.branch(binary(BinaryOp::kEqual, element_of(info, {}, ScalarType::kInt64),
                                   tasklet::Expr::literal(std::int64_t{0})),
                            [&](Emitter& first) { first.compute({}, tasklet::from_symbolic(j + 1), {info, {}, {}}); });
          },
          [&](Emitter& regular) {
            regular.map_ranges({{"i", ir::Range{j + 1, n - 1, 1, 1}}}, [&](Emitter& row, const std::vector<Expr>& p) {
              const Expr& i = p[0];
              row.compute({{"a", w, element_at({i, j})}, {"d", w, element_at({j, j})}},
                          binary(BinaryOp::kDiv, name("a", t), name("d", t)), {w, element_at({i, j}), {}});
              row.map_ranges({{"k", ir::Range{j + 1, n - 1, 1, 1}}}, [&](Emitter& inner, const std::vector<Expr>& q) {
                inner.compute(
                    {{"a", w, element_at({i, q[0]})}, {"l", w, element_at({i, j})}, {"u", w, element_at({j, q[0]})}},
                    sub(name("a", t), mul(name("l", t), name("u", t))), {w, element_at({i, q[0]}), {}});
              });
            });
          });
    });
  });
}

// By LAPACK where it is there and the order is worth a call, else by loops.
void cholesky(const Node& node, const Emitter& e, const std::string& w, const Expr& n, ScalarType t, bool lower,
              const std::string& info) {
  const std::optional<std::string> function = lapack(node, t, "potrf");
  if (!function) {
    node.reason("loops");
    cholesky_by_loops(e, w, n, t, lower, info);
    return;
  }
  node.reason("LAPACK's " + *function + " for matrices that are worth a call, else loops");
  e.branch(
      worth_a_call(n), [&](Emitter& large) { cholesky_by_lapack(large, *function, w, n, lower, info); },
      [&](Emitter& small) { cholesky_by_loops(small, w, n, t, lower, info); });
}

void factorise(const Node& node, const Emitter& e, const std::string& w, const Expr& n, ScalarType t,
               const std::string& pivots, const std::string& info) {
  const std::optional<std::string> function = lapack(node, t, "getrf");
  if (!function) {
    node.reason("loops");
    factorise_by_loops(e, w, n, t, pivots, info);
    return;
  }
  node.reason("LAPACK's " + *function + " for matrices that are worth a call, else loops");
  e.branch(
      worth_a_call(n), [&](Emitter& large) { factorise_by_lapack(large, *function, w, n, t, pivots, info); },
      [&](Emitter& small) { factorise_by_loops(small, w, n, t, pivots, info); });
}

// Solves with the factors in `lu`; `x` (n x columns) holds the right-hand sides and becomes the solutions.
void substitute(const Emitter& e, const std::string& lu, const std::string& pivots, const Expr& n, const std::string& x,
                const Expr& columns, ScalarType t) {
  e.loop("i", 0, n, [&](Emitter& row, const Expr& i) {
    const Expr pivot = row.assign("pivot", element_of(pivots, {i}, ScalarType::kInt64));
    swap_rows(row, x, i, pivot, columns, t);
  });
  auto eliminate = [&](Emitter& row, const Expr& i, const Expr& from, const Expr& to) {
    row.loop("k", from, to, [&](Emitter& inner, const Expr& k) {
      inner.map({{"c", columns}}, [&](Emitter& body, const std::vector<Expr>& p) {
        body.compute({{"a", x, element_at({i, p[0]})}, {"f", lu, element_at({i, k})}, {"b", x, element_at({k, p[0]})}},
                     sub(name("a", t), mul(name("f", t), name("b", t))), {x, element_at({i, p[0]}), {}});
      });
    });
  };
  e.loop("i", 0, n, [&](Emitter& row, const Expr& i) { eliminate(row, i, 0, i); });
  e.loop("back", 0, n, [&](Emitter& row, const Expr& back) {
    const Expr i = n - 1 - back;
    eliminate(row, i, i + 1, n);
    row.map({{"c", columns}}, [&](Emitter& body, const std::vector<Expr>& p) {
      body.compute({{"a", x, element_at({i, p[0]})}, {"d", lu, element_at({i, i})}},
                   binary(BinaryOp::kDiv, name("a", t), name("d", t)), {x, element_at({i, p[0]}), {}});
    });
  });
}

void set_result(const Node& n, const Emitter& e, const std::string& info) {
  const Operand* res = n.find_out("_res");
  if (res == nullptr) return;
  const ir::Container& c = e.graph().containers.at(info);
  e.compute({{"status", info, c.is_scalar() ? ir::Subset() : element_at({0})}},
            cast(name("status", c.type.scalar()), res->type()), {res->data(), res->fitted(0).element({}), {}});
}

// Whether a factorisation of the node is cuSOLVER's.
bool by_solver(const Node& n, ScalarType t, DeviceFunction f) {
  if (!n.makes_kernels || !n.options->device_library || n.options->opt_level < 1) return false;
  switch (t) {
    case ScalarType::kFloat32:
    case ScalarType::kFloat64:
    case ScalarType::kComplex64:
    case ScalarType::kComplex128: break;
    default: n.reason("kernels: cuSOLVER knows no " + std::string(to_string(t))); return false;
  }
  if (!may_call(n, f)) return false;
  n.reason("cuSOLVER " + std::string(name_of(f)) + ", " + std::string(to_string(t)) +
           (n.find_out("_res") != nullptr ? "; its status goes to _res" : "; its status is read back"));
  return true;
}

Pointer whole(const Emitter& e, const char* connector, const std::string& data) {
  return {connector, data, ir::Subset::full(e.graph().containers.at(data).layout.shape())};
}

// The rows of `w` are columns for cuSOLVER.
void solver_cholesky(const Node& n, const Emitter& e, const std::string& w, const Expr& order, ScalarType t, bool lower,
                     const std::string& info) {
  DeviceCallText d;
  d.function = DeviceFunction::kPotrf;
  d.type = t;
  d.numbers = {order, lower ? 0 : 1, order, n.find_out("_res") == nullptr ? 1 : 0};
  d.written = {whole(e, "matrix", w), whole(e, "status", info)};
  d.reads_written = true;
  device_call(e, d);
}

// Factors of the matrix whose columns are the rows of `w`, in place.
void solver_factorise(const Node& n, const Emitter& e, const std::string& w, const Expr& order, ScalarType t,
                      const std::string& pivots, const std::string& info) {
  DeviceCallText d;
  d.function = DeviceFunction::kGetrf;
  d.type = t;
  d.numbers = {order, order, n.find_out("_res") == nullptr ? 1 : 0};
  d.written = {whole(e, "matrix", w), whole(e, "pivots", pivots), whole(e, "status", info)};
  d.reads_written = true;
  device_call(e, d);
}

// `x` holds the right-hand sides as rows and gets the solutions so.
void solver_substitute(const Emitter& e, const std::string& lu, const std::string& pivots, const Expr& order,
                       const std::string& x, const Expr& columns, bool transposed, ScalarType t,
                       const std::string& info) {
  DeviceCallText d;
  d.function = DeviceFunction::kGetrs;
  d.type = t;
  d.numbers = {order, columns, transposed ? 1 : 0, order, order};
  d.read = {whole(e, "lu", lu), whole(e, "pivots", pivots)};
  d.written = {whole(e, "x", x), whole(e, "status", info)};
  d.reads_written = true;
  device_call(e, d);
}

// A packed copy with rows and columns exchanged, or back.
void load_transposed(const Emitter& e, const Operand& from, const std::string& to, ScalarType t) {
  e.map({{"i", from.extent(0)}, {"j", from.rank() > 1 ? from.extent(1) : Expr(1)}},
        [&](Emitter& inner, const std::vector<Expr>& p) {
          const std::vector<Expr> source(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(from.rank()));
          inner.compute({{"a", from.data(), from.element(source)}}, cast(name("a", from.type()), t),
                        {to, element_at({p[1], p[0]}), {}});
        });
}
void store_transposed(const Emitter& e, const std::string& from, ScalarType t, const Operand& to) {
  e.map({{"i", to.extent(0)}, {"j", to.rank() > 1 ? to.extent(1) : Expr(1)}},
        [&](Emitter& inner, const std::vector<Expr>& p) {
          const std::vector<Expr> target(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(to.rank()));
          inner.compute({{"a", from, element_at({p[1], p[0]})}}, cast(name("a", t), to.type()),
                        {to.data(), to.element(target), {}});
        });
}

// With a packed copy of the matrix and a status; these are an array in device memory where cuSOLVER sets it.
enum class Layout : std::uint8_t { kRows, kColumns };
void with_matrix(const Node& n, const Operand& in, bool solver, Layout layout,
                 const std::function<void(Emitter&, const std::string& w, const Expr& order, ScalarType t,
                                          const std::string& info)>& body) {
  const Operand a = in.fitted(2);
  const Expr order = order_of(n, a);
  const ScalarType t = field_of(a.type());
  n.emitter->with_transient("matrix", t, {order, order}, [&](Emitter& outer, const std::string& w) {
    (layout == Layout::kRows ? load : load_transposed)(outer, a, w, t);
    outer.with_transient("info", solver ? ScalarType::kInt32 : ScalarType::kInt64,
                         solver ? std::vector<Expr>{1} : std::vector<Expr>{},
                         [&](Emitter& e, const std::string& info) { body(e, w, order, t, info); });
  });
}

}  // namespace

// A matrix that is not positive definite gives NaN from the first bad column on.
void expand(const ir::Cholesky& op, const Node& n) {
  const Operand out = n.out("_b").fitted(2);
  const bool solver = by_solver(n, field_of(n.in("_a").type()), DeviceFunction::kPotrf);
  with_matrix(
      n, n.in("_a"), solver, Layout::kRows,
      [&](Emitter& e, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
        if (solver) {
          solver_cholesky(n, e, w, order, t, op.lower, info);
          e.map({{"i", order}, {"j", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
            const Expr outside = op.lower ? symbolic::gt(p[1], p[0]) : symbolic::lt(p[1], p[0]);
            inner.compute(
                {{"a", w, element_at({p[0], p[1]})}},
                cast(tasklet::Expr::select(tasklet::from_symbolic(outside), literal(0.0, t), name("a", t)), out.type()),
                {out.data(), out.element(p), {}});
          });
          return;
        }
        cholesky(n, e, w, order, t, op.lower, info);
        const tasklet::Expr bad =
            binary(BinaryOp::kNotEqual, name("info", ScalarType::kInt64), tasklet::Expr::literal(std::int64_t{0}));
        e.map({{"i", order}, {"j", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
          const Expr outside = op.lower ? symbolic::gt(p[1], p[0]) : symbolic::lt(p[1], p[0]);
          const tasklet::Expr nan = cast(tasklet::Expr::literal(__builtin_nan(""), ScalarType::kFloat64), t);
          const tasklet::Expr value = tasklet::Expr::select(tasklet::from_symbolic(outside), literal(0.0, t),
                                                            tasklet::Expr::select(bad, nan, name("a", t)));
          inner.compute({{"a", w, element_at({p[0], p[1]})}, {"info", info, {}}}, cast(value, out.type()),
                        {out.data(), out.element(p), {}});
        });
      });
}

void expand(const ir::Potrf& op, const Node& n) {
  const Operand out = n.out("_xout").fitted(2);
  const bool solver = by_solver(n, field_of(n.in("_xin").type()), DeviceFunction::kPotrf);
  with_matrix(n, n.in("_xin"), solver, Layout::kRows,
              [&](Emitter& e, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                if (solver)
                  solver_cholesky(n, e, w, order, t, op.lower, info);
                else
                  cholesky(n, e, w, order, t, op.lower, info);
                store(e, w, t, out);
                set_result(n, e, info);
              });
}

void expand(const ir::Getrf&, const Node& n) {
  const Operand out = n.out("_xout").fitted(2), ipiv = n.out("_ipiv").fitted(1);
  if (by_solver(n, field_of(n.in("_xin").type()), DeviceFunction::kGetrf)) {
    with_matrix(
        n, n.in("_xin"), true, Layout::kColumns,
        [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
          outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
            solver_factorise(n, e, w, order, t, pivots, info);
            store_transposed(e, w, t, out);
            e.map({{"i", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
              inner.compute({{"p", pivots, element_at({p[0]})}}, cast(name("p", ScalarType::kInt64), ipiv.type()),
                            {ipiv.data(), ipiv.element(p), {}});
            });
            set_result(n, e, info);
          });
        });
    return;
  }
  with_matrix(n, n.in("_xin"), false, Layout::kRows,
              [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
                  factorise(n, e, w, order, t, pivots, info);
                  store(e, w, t, out);
                  e.map({{"i", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
                    const tasklet::Expr one_based =
                        add(name("p", ScalarType::kInt64), tasklet::Expr::literal(std::int64_t{1}));
                    inner.compute({{"p", pivots, element_at({p[0]})}}, cast(one_based, ipiv.type()),
                                  {ipiv.data(), ipiv.element(p), {}});
                  });
                  set_result(n, e, info);
                });
              });
}

namespace {

void solve_with(const Node& n, const Emitter& e, const std::string& lu, const std::string& pivots, const Expr& order,
                ScalarType t, const Operand& rhs, const Operand& out) {
  const Expr columns = rhs.rank() > 1 ? rhs.extent(1) : Expr(1);
  if (rhs.rank() == 0 || rhs.rank() > 2) n.emitter->fail("has the right-hand side " + rhs.text());
  e.with_transient("solution", t, {order, columns}, [&](Emitter& body, const std::string& x) {
    load(body, rhs, x, t);
    substitute(body, lu, pivots, order, x, columns, t);
    store(body, x, t, out);
  });
}

// `lu` as solver_factorise leaves it; transposed: of the matrix whose rows were its rows.
void solver_solve(const Emitter& e, const std::string& lu, const std::string& pivots, const Expr& order, ScalarType t,
                  const Operand& rhs, const Operand& out, bool transposed, const std::string& info) {
  const Expr columns = rhs.rank() > 1 ? rhs.extent(1) : Expr(1);
  e.with_transient("solution", t, {columns, order}, [&](Emitter& body, const std::string& x) {
    load_transposed(body, rhs, x, t);
    solver_substitute(body, lu, pivots, order, x, columns, transposed, t, info);
    store_transposed(body, x, t, out);
  });
}

Operand right_side(const Operand& o) {
  return o.squeezed().rank() <= 1 ? o.fitted(1) : o.fitted(2);
}

}  // namespace

void expand(const ir::Getrs&, const Node& n) {
  const Operand ipiv = n.in("_ipiv").fitted(1), rhs = right_side(n.in("_rhs_in")),
                out = n.out("_rhs_out").fitted(rhs.rank());
  if (by_solver(n, field_of(n.in("_a").type()), DeviceFunction::kGetrs)) {
    with_matrix(
        n, n.in("_a"), true, Layout::kColumns,
        [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
          outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
            e.map({{"i", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
              inner.compute({{"p", ipiv.data(), ipiv.element(p)}}, cast(name("p", ipiv.type()), ScalarType::kInt64),
                            {pivots, element_at({p[0]}), {}});
            });
            solver_solve(e, w, pivots, order, t, rhs, out, false, info);
            set_result(n, e, info);
          });
        });
    return;
  }
  with_matrix(n, n.in("_a"), false, Layout::kRows,
              [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
                  e.map({{"i", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
                    const tasklet::Expr zero_based =
                        sub(cast(name("p", ipiv.type()), ScalarType::kInt64), tasklet::Expr::literal(std::int64_t{1}));
                    inner.compute({{"p", ipiv.data(), ipiv.element(p)}}, zero_based, {pivots, element_at({p[0]}), {}});
                  });
                  e.compute({}, tasklet::Expr::literal(std::int64_t{0}), {info, {}, {}});
                  solve_with(n, e, w, pivots, order, t, rhs, out);
                  set_result(n, e, info);
                });
              });
}

// A singular matrix gives infinities and NaN, by the division by its zero pivot.
void expand(const ir::Solve&, const Node& n) {
  const Operand rhs = right_side(n.in("_bin")), out = n.out("_bout").fitted(rhs.rank());
  if (by_solver(n, field_of(n.in("_ain").type()), DeviceFunction::kGetrf)) {
    with_matrix(n, n.in("_ain"), true, Layout::kRows,
                [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                  outer.with_transient("pivots", ScalarType::kInt64, {order},
                                       [&](Emitter& e, const std::string& pivots) {
                                         solver_factorise(n, e, w, order, t, pivots, info);
                                         solver_solve(e, w, pivots, order, t, rhs, out, true, info);
                                       });
                });
    return;
  }
  with_matrix(n, n.in("_ain"), false, Layout::kRows,
              [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
                  factorise(n, e, w, order, t, pivots, info);
                  solve_with(n, e, w, pivots, order, t, rhs, out);
                });
              });
}

void expand(const ir::Inv&, const Node& n) {
  const Operand out = n.out("_aout").fitted(2);
  const bool solver = by_solver(n, field_of(n.in("_ain").type()), DeviceFunction::kGetrf);
  with_matrix(n, n.in("_ain"), solver, Layout::kRows,
              [&](Emitter& outer, const std::string& w, const Expr& order, ScalarType t, const std::string& info) {
                outer.with_transient("pivots", ScalarType::kInt64, {order}, [&](Emitter& e, const std::string& pivots) {
                  if (solver)
                    solver_factorise(n, e, w, order, t, pivots, info);
                  else
                    factorise(n, e, w, order, t, pivots, info);
                  e.with_transient("solution", t, {order, order}, [&](Emitter& body, const std::string& x) {
                    body.map({{"i", order}, {"j", order}}, [&](Emitter& inner, const std::vector<Expr>& p) {
                      inner.compute({},
                                    tasklet::Expr::select(tasklet::from_symbolic(symbolic::eq(p[0], p[1])),
                                                          literal(1.0, t), literal(0.0, t)),
                                    {x, element_at({p[0], p[1]}), {}});
                    });
                    if (solver) {
                      solver_substitute(body, w, pivots, order, x, order, true, t, info);
                      store_transposed(body, x, t, out);
                      return;
                    }
                    substitute(body, w, pivots, order, x, order, t);
                    store(body, x, t, out);
                  });
                });
              });
}

}  // namespace sdfg::library
