// Text of the blocks and the map around them.
#include "library/packed_vector.hpp"

#include "library/tile_text.hpp"

namespace sdfg::library {

namespace {

// Below this the loop nest is as fast, and its text shorter.
constexpr std::int64_t kLeastWork = 32 * 32;
// Elements of the matrix that one thread should at least get.
constexpr std::int64_t kShare = 1 << 14;
// Partial results of one thread when columns are contiguous: at most what stays in the first-level cache, since long
// runs of each column suit the memory; at least a few vectors.
constexpr std::int64_t kColumnTile = 2048, kLeastColumnTile = 64;

// File-scope text; @T is the element type, @S a suffix for it.
constexpr const char* kRows = R"(
typedef @T sdfg_vector_@S __attribute__((vector_size(@BYTES)));
typedef @T sdfg_loose_@S __attribute__((vector_size(@BYTES), aligned(sizeof(@T)), may_alias));
// y = alpha a x + beta old for rows of neighbours, four at a time.
static void sdfg_rows_times_@S(const @T* __restrict a, int64_t a_row, const @T* __restrict x, int64_t depth,
                               @T* y, int64_t y_step, const @T* old, int64_t old_step, @T alpha, @T beta, int64_t rows) {
  for (int64_t i = 0; i < rows; i += 4) {
    // Rows beyond the last are read as the last one and not stored.
    const int64_t height = rows - i < 4 ? rows - i : 4;
    const @T* from[4];
    for (int r = 0; r < 4; ++r) from[r] = a + (i + (r < height ? r : height - 1)) * a_row;
    sdfg_vector_@S sum[4][2] = {};
    int64_t p = 0;
    for (; p + 2 * @LANES <= depth; p += 2 * @LANES) {
      const sdfg_vector_@S x0 = *(const sdfg_loose_@S*)(x + p), x1 = *(const sdfg_loose_@S*)(x + p + @LANES);
#pragma clang loop unroll(full)
      for (int r = 0; r < 4; ++r) {
        sum[r][0] += *(const sdfg_loose_@S*)(from[r] + p) * x0;
        sum[r][1] += *(const sdfg_loose_@S*)(from[r] + p + @LANES) * x1;
      }
    }
    @T total[4];
#pragma clang loop unroll(full)
    for (int r = 0; r < 4; ++r) {
      const sdfg_vector_@S both = sum[r][0] + sum[r][1];
      total[r] = 0;
#pragma clang loop unroll(full)
      for (int v = 0; v < @LANES; ++v) total[r] += both[v];
    }
    for (; p < depth; ++p) {
      for (int r = 0; r < 4; ++r) total[r] += from[r][p] * x[p];
    }
    for (int64_t r = 0; r < height; ++r) {
      @T value = alpha * total[r];
      if (beta != 0) value += beta * old[(i + r) * old_step];
      y[(i + r) * y_step] = value;
    }
  }
}
)";

constexpr const char* kColumns = R"(
typedef @T sdfg_vector_@S __attribute__((vector_size(@BYTES)));
typedef @T sdfg_loose_@S __attribute__((vector_size(@BYTES), aligned(sizeof(@T)), may_alias));
// y = alpha a x + beta old for at most @TILE rows of a matrix whose columns are contiguous, four columns at a time.
static void sdfg_columns_times_@S(const @T* __restrict a, int64_t a_column, const @T* x, int64_t x_step, int64_t depth,
                                  @T* y, int64_t y_step, const @T* old, int64_t old_step, @T alpha, @T beta, int64_t rows) {
  alignas(64) @T sum[@TILE];
  for (int64_t i = 0; i < rows; ++i) sum[i] = 0;
  int64_t q = 0;
  for (; q + 4 <= depth; q += 4) {
    const @T *c0 = a + q * a_column, *c1 = c0 + a_column, *c2 = c1 + a_column, *c3 = c2 + a_column;
    const @T x0 = x[q * x_step], x1 = x[(q + 1) * x_step], x2 = x[(q + 2) * x_step], x3 = x[(q + 3) * x_step];
    int64_t i = 0;
    for (; i + @LANES <= rows; i += @LANES) {
      *(sdfg_vector_@S*)(sum + i) += x0 * *(const sdfg_loose_@S*)(c0 + i) + x1 * *(const sdfg_loose_@S*)(c1 + i) +
                                     x2 * *(const sdfg_loose_@S*)(c2 + i) + x3 * *(const sdfg_loose_@S*)(c3 + i);
    }
    for (; i < rows; ++i) sum[i] += x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
  }
  for (; q < depth; ++q) {
    for (int64_t i = 0; i < rows; ++i) sum[i] += x[q * x_step] * a[q * a_column + i];
  }
  for (int64_t i = 0; i < rows; ++i) {
    @T value = alpha * sum[i];
    if (beta != 0) value += beta * old[i * old_step];
    y[i * y_step] = value;
  }
}
)";

// Appends `body` with the rows of one thread's share: equal ones, within the limits.
void with_column_tile(const Emitter& e, const Expr& rows, const std::function<void(Emitter&, const Expr&)>& body) {
  Emitter here = e;
  if (const auto constant = rows.constant(); constant && *constant <= kLeastColumnTile) {
    body(here, rows);
    return;
  }
  here.with_transient("threads", ScalarType::kInt64, {}, [&](Emitter& inner, const std::string& threads) {
    inner.cpp({}, {{"result", threads, {}}}, "*$result = sdfg_abi->thread_count();", "");
    const Expr count = inner.assign("threads", element_of(threads, {}, ScalarType::kInt64));
    const Expr share = symbolic::ceil_div(rows, count * Expr(kLeastColumnTile)) * Expr(kLeastColumnTile);
    const Expr tile = symbolic::max(Expr(kLeastColumnTile), symbolic::min(share, Expr(kColumnTile)));
    body(inner, inner.assign("tile", tasklet::from_symbolic(tile)));
  });
}

}  // namespace

bool has_blocks(const VectorProduct& p) {
  return p.a.column.is_one() || p.a.row.is_one();
}

tasklet::Expr blocks_pay(const VectorProduct& p) {
  // The loop nest walks columns badly, whatever their length.
  const std::int64_t least = p.a.column.is_one() ? kLeastWork : 1;
  return tasklet::from_symbolic(symbolic::ge(symbolic::min(p.m, Expr(least)) * symbolic::min(p.k, Expr(least)), least));
}

void blocked_vector_product(const Emitter& e, const VectorProduct& p, const ExpandOptions& options) {
  const bool by_rows = p.a.column.is_one();
  const bool single = p.type == ScalarType::kFloat32;
  const std::string suffix = single ? "f32" : "f64";
  const std::string helpers =
      replaced(by_rows ? kRows : kColumns, {{"@TILE", std::to_string(kColumnTile)},
                                            {"@T", single ? "float" : "double"},
                                            {"@S", suffix},
                                            {"@BYTES", std::to_string(options.vector_bytes)},
                                            {"@LANES", std::to_string(options.vector_bytes / size_of(p.type))}});
  const VectorView& old = p.old != nullptr ? *p.old : p.y;
  const auto multiply = [&](Emitter& at, const VectorView& x, const Expr& tile) {
    const std::string stride = spelled(at, "a_stride", by_rows ? p.a.row : p.a.column);
    const std::string x_step = spelled(at, "x_step", x.step), y_step = spelled(at, "y_step", p.y.step);
    const std::string old_step = spelled(at, "old_step", old.step), depth = spelled(at, "depth", p.k);
    ir::Map& map = at.map({{"block", symbolic::ceil_div(p.m, tile)}}, [&](Emitter& inner, std::vector<Expr> q) {
      const Expr from = inner.assign("from", tasklet::from_symbolic(q[0] * tile));
      const Expr rows = inner.assign("rows", tasklet::from_symbolic(symbolic::min(p.m - from, tile)));
      const ir::Range own{from, symbolic::min(from + tile, p.m) - 1, 1, 1}, all = ir::Range::half_open(0, p.k);
      std::vector<Pointer> inputs{{"a", p.a.data, p.a.part(own, all)}, {"x", x.data, x.part(all)}};
      if (p.beta != 0.0) inputs.push_back({"old", old.data, old.part(own)});
      const std::string tail = "$y, " + y_step + ", " + (p.beta != 0.0 ? "$old, " + old_step : "$y, " + y_step) + ", " +
                               number(p.alpha, p.type) + ", " + number(p.beta, p.type) + ", " + rows.name() + ");";
      inner.cpp(
          inputs, {{"y", p.y.data, p.y.part(own)}},
          by_rows ? "sdfg_rows_times_" + suffix + "($a, " + stride + ", $x, " + depth + ", " + tail
                  : "sdfg_columns_times_" + suffix + "($a, " + stride + ", $x, " + x_step + ", " + depth + ", " + tail,
          helpers);
    });
    map.schedule = ir::Schedule::kParallel;
  };
  Emitter here = e;
  if (!by_rows) {
    with_column_tile(here, p.m, [&](Emitter& inner, const Expr& tile) { multiply(inner, p.x, tile); });
    return;
  }
  const Expr tile = here.assign(
      "tile", tasklet::from_symbolic(Expr(4) * symbolic::max(Expr(1), symbolic::floor_div(Expr(kShare / 4), p.k))));
  if (p.x.step.is_one()) {
    multiply(here, p.x, tile);
    return;
  }
  // Rows meet x along neighbours.
  here.with_transient("x_packed", p.type, {p.k}, [&](Emitter& inner, const std::string& packed) {
    inner.map({{"i", p.k}}, [&](Emitter& at, std::vector<Expr> q) {
      at.compute({{"x", p.x.data, p.x.part(ir::Range::index(q[0]))}}, name("x", p.type),
                 {packed, ir::Subset::index({q[0]}), {}});
    });
    multiply(inner, {packed, [](const ir::Range& r) { return ir::Subset({r}); }, Expr(1)}, tile);
  });
}

}  // namespace sdfg::library
