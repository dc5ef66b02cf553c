// Calls of Fortran's gemm and gemv: column-major, every argument by its address.
#include "library/blas.hpp"

#include "library/tile_text.hpp"

namespace sdfg::library {

namespace {

constexpr std::int64_t kMost = 2147483647;  // BLAS counts in 32 bits

// A matrix as BLAS sees it: column-major as it is or transposed, or neither.
struct Stored {
  bool transposed = false;
  Expr leading;  // distance of columns
};
std::optional<Stored> stored(const MatrixView& v) {
  if (v.row.is_one()) return Stored{false, v.column};
  if (v.column.is_one()) return Stored{true, v.row};
  return std::nullopt;
}

std::optional<std::string> function_for(const Node& n, ScalarType t, const std::string& name) {
  const std::string full = (t == ScalarType::kFloat32 ? "s" : "d") + name + "_";
  // LAPACK's library brings BLAS along.
  if (n.options->lapack && n.options->lapack(full)) return full;
  n.reason("BLAS's " + full + ", which it asks for, is not there");
  return std::nullopt;
}

Expr fits(const Expr& size) {
  return symbolic::logical_and(symbolic::ge(size, Expr(1)), symbolic::le(size, Expr(kMost)));
}
// The leading dimension of a matrix that holds rows x columns.
Expr fits(const Stored& m, const Expr& rows, const Expr& columns) {
  return symbolic::logical_and(symbolic::ge(m.leading, m.transposed ? columns : rows),
                               symbolic::le(m.leading, Expr(kMost)));
}

std::string integers(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (const auto& [name, value] : values) out += "const int " + name + " = (int)" + value + ";\n";
  return out;
}

// c = beta old, which BLAS then takes as what is there.
void take_over(const Emitter& e, const Product& p) {
  if (p.old == nullptr || p.beta == 0.0) return;
  e.map({{"i", p.m}, {"j", p.n}}, [&](Emitter& at, std::vector<Expr> q) {
    const auto element = [&](const MatrixView& v) { return v.part(ir::Range::index(q[0]), ir::Range::index(q[1])); };
    at.compute({{"old", p.old->data, element(*p.old)}}, name("old", p.type), {p.c.data, element(p.c), {}});
  });
}
void take_over(const Emitter& e, const VectorProduct& p) {
  if (p.old == nullptr || p.beta == 0.0) return;
  e.map({{"i", p.m}}, [&](Emitter& at, std::vector<Expr> q) {
    at.compute({{"old", p.old->data, p.old->part(ir::Range::index(q[0]))}}, name("old", p.type),
               {p.y.data, p.y.part(ir::Range::index(q[0])), {}});
  });
}

}  // namespace

Wanted wanted_by(const Node& n) {
  const std::string& asked = n.library->implementation;
  if (asked.empty()) return Wanted::kChoose;
  if (asked == "pure" || asked == "loops") return Wanted::kLoops;
  if (asked == "tiles" || asked == "packed") return Wanted::kTiles;
  if (asked == "BLAS" || asked == "OpenBLAS" || asked == "MKL") return Wanted::kBlas;
  n.reason("asks for '" + asked + "', which is no expansion for the host; chosen by operands instead");
  return Wanted::kChoose;
}

std::optional<BlasCall> blas_call(const Node& n, const Product& given) {
  const std::optional<std::string> function = function_for(n, given.type, "gemm");
  if (!function) return std::nullopt;
  // A result whose rows are contiguous is computed transposed.
  const auto oriented = [](Product p) {
    if (p.c.row.is_one()) return p;
    const MatrixView a = p.a.transposed();
    p.a = p.b.transposed();
    p.b = a;
    p.c = p.c.transposed();
    std::swap(p.m, p.n);
    return p;
  };
  const Product shape = oriented(given);
  const auto a = stored(shape.a), b = stored(shape.b), c = stored(shape.c);
  if (!a || !b || !c || c->transposed) {
    n.reason("BLAS's " + *function + ", which it asks for, needs rows or columns without gaps");
    return std::nullopt;
  }
  BlasCall out;
  out.function = *function;
  Expr condition = Expr::boolean(true);
  for (const Expr& part : {fits(shape.m), fits(shape.n), fits(shape.k), fits(*a, shape.m, shape.k),
                           fits(*b, shape.k, shape.n), fits(*c, shape.m, shape.n)})
    condition = symbolic::logical_and(condition, part);
  out.fits = tasklet::from_symbolic(condition);
  out.append_product = [oriented, a = *a, b = *b, c = *c, function = *function](Emitter& e, const Product& one) {
    take_over(e, one);
    const Product p = oriented(one);
    const std::string t = p.type == ScalarType::kFloat32 ? "float" : "double";
    const std::string sizes = integers({{"sdfg_m", spelled(e, "m", p.m)},
                                        {"sdfg_n", spelled(e, "n", p.n)},
                                        {"sdfg_k", spelled(e, "k", p.k)},
                                        {"sdfg_lda", spelled(e, "lda", a.leading)},
                                        {"sdfg_ldb", spelled(e, "ldb", b.leading)},
                                        {"sdfg_ldc", spelled(e, "ldc", c.leading)}});
    const ir::Range rows = ir::Range::half_open(0, p.m), columns = ir::Range::half_open(0, p.n),
                    inner = ir::Range::half_open(0, p.k);
    const auto letter = [](const Stored& s) { return std::string(s.transposed ? "\"T\"" : "\"N\""); };
    e.cpp(
        {{"a", p.a.data, p.a.part(rows, inner)},
         {"b", p.b.data, p.b.part(inner, columns)},
         {"before", p.c.data, p.c.part(rows, columns)}},
        {{"c", p.c.data, p.c.part(rows, columns)}},
        "typedef void (*gemm)(const char*, const char*, const int*, const int*, const int*, const void*, const void*, "
        "const int*,\n                     const void*, const int*, const void*, void*, const int*, long, long);\n" +
            sizes + "const " + t + " sdfg_alpha = " + number(p.alpha, p.type) +
            ", sdfg_beta = " + number(p.beta, p.type) +
            ";\n"
            "if (gemm f = (gemm)sdfg_abi->library(call, 1, \"" +
            function + "\")) f(" + letter(a) + ", " + letter(b) +
            ", &sdfg_m, &sdfg_n, &sdfg_k, &sdfg_alpha, $a, &sdfg_lda, $b, &sdfg_ldb, &sdfg_beta, $c, &sdfg_ldc, 1, 1);",
        "");
  };
  return out;
}

std::optional<BlasCall> blas_call(const Node& n, const VectorProduct& p) {
  const std::optional<std::string> function = function_for(n, p.type, "gemv");
  if (!function) return std::nullopt;
  const auto a = stored(p.a);
  if (!a) {
    n.reason("BLAS's " + *function + ", which it asks for, needs rows or columns without gaps");
    return std::nullopt;
  }
  BlasCall out;
  out.function = *function;
  Expr condition = Expr::boolean(true);
  // A negative step counts from the other end there.
  for (const Expr& part : {fits(p.m), fits(p.k), fits(*a, p.m, p.k), fits(p.x.step), fits(p.y.step)})
    condition = symbolic::logical_and(condition, part);
  out.fits = tasklet::from_symbolic(condition);
  out.append = [p, old = p.old != nullptr ? std::optional(*p.old) : std::nullopt, a = *a,
                function = *function](Emitter& e) {
    VectorProduct own = p;
    own.old = old ? &*old : nullptr;
    take_over(e, own);
    const std::string t = p.type == ScalarType::kFloat32 ? "float" : "double";
    // The sizes are those of the matrix as it is stored.
    const Expr& rows = a.transposed ? p.k : p.m;
    const Expr& columns = a.transposed ? p.m : p.k;
    const std::string sizes = integers({{"sdfg_m", spelled(e, "m", rows)},
                                        {"sdfg_n", spelled(e, "n", columns)},
                                        {"sdfg_lda", spelled(e, "lda", a.leading)},
                                        {"sdfg_x", spelled(e, "x_step", p.x.step)},
                                        {"sdfg_y", spelled(e, "y_step", p.y.step)}});
    const ir::Range m = ir::Range::half_open(0, p.m), k = ir::Range::half_open(0, p.k);
    e.cpp(
        {{"a", p.a.data, p.a.part(m, k)}, {"x", p.x.data, p.x.part(k)}, {"before", p.y.data, p.y.part(m)}},
        {{"y", p.y.data, p.y.part(m)}},
        "typedef void (*gemv)(const char*, const int*, const int*, const void*, const void*, const int*, const void*, "
        "const int*,\n                     const void*, void*, const int*, long);\n" +
            sizes + "const " + t + " sdfg_alpha = " + number(p.alpha, p.type) +
            ", sdfg_beta = " + number(p.beta, p.type) +
            ";\n"
            "if (gemv f = (gemv)sdfg_abi->library(call, 1, \"" +
            function + "\")) f(\"" + (a.transposed ? "T" : "N") +
            "\", &sdfg_m, &sdfg_n, &sdfg_alpha, $a, &sdfg_lda, $x, &sdfg_x, &sdfg_beta, $y, &sdfg_y, 1);",
        "");
  };
  return out;
}

}  // namespace sdfg::library
