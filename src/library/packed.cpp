// Text of the tiles and the maps around them.
#include "library/packed.hpp"

#include <algorithm>

#include "library/tile_text.hpp"

namespace sdfg::library {

namespace {

// Elements of the summed dimension in one panel; panels of this depth stay in the second-level cache.
constexpr int kDepth = 256;
// Products below this are left to the loop nest: packing would cost more than it saves.
constexpr std::int64_t kLeastProduct = 32 * 32 * 32;
constexpr std::int64_t kLeastSide = 8;

struct Shape {
  int bytes;    // of a vector
  int lanes;    // elements of a vector
  int rows;     // of a register block
  int vectors;  // columns of a register block, in vectors
  int columns() const { return lanes * vectors; }
};

// Accumulators fill three quarters of the vector registers: 32 with AVX-512, else 16.
Shape shape_for(ScalarType t, int vector_bytes) {
  const int lanes = vector_bytes / size_of(t);
  return vector_bytes >= 64 ? Shape{vector_bytes, lanes, 8, 3} : Shape{vector_bytes, lanes, 4, 3};
}

// File-scope text; @T is the element type, @S a suffix for it.
constexpr const char* kHelpers = R"(
typedef @T sdfg_vector_@S __attribute__((vector_size(@BYTES)));
typedef @T sdfg_loose_@S __attribute__((vector_size(@BYTES), aligned(sizeof(@T)), may_alias));
// Copies `width` neighbours at a time, `depth` steps along, zeros beyond `count`.
template <int width>
static void sdfg_pack_@S(const @T* from, int64_t across, int64_t along, int64_t count, int64_t depth, @T* to) {
  for (int64_t i = 0; i < count; i += width, from += width * across, to += width * depth) {
    if (count - i >= width) {
      if (across == 1) {
        for (int64_t p = 0; p < depth; ++p)
          for (int r = 0; r < width; ++r) to[p * width + r] = from[p * along + r];
      } else {
        for (int64_t p = 0; p < depth; ++p)
          for (int r = 0; r < width; ++r) to[p * width + r] = from[p * along + r * across];
      }
    } else {
      for (int64_t p = 0; p < depth; ++p)
        for (int r = 0; r < width; ++r) to[p * width + r] = i + r < count ? from[p * along + r * across] : (@T)0;
    }
  }
}
// c = alpha a b + beta old for a block of @ROWS rows and @COLUMNS columns in registers, of which rows x columns exist;
// elements with keep_lower (row - column + diagonal >= 0) or keep_upper (<= 0) only.
static inline void sdfg_block_@S(const @T* __restrict a, const @T* __restrict b, int64_t depth, @T* c, int64_t c_row, int64_t c_column,
                                 const @T* old, int64_t old_row, int64_t old_column, @T alpha, @T beta,
                                 int64_t rows, int64_t columns, int64_t diagonal, int keep_lower, int keep_upper) {
  sdfg_vector_@S sum[@ROWS][@VECTORS] = {};
  for (int64_t p = 0; p < depth; ++p, a += @ROWS, b += @COLUMNS) {
    sdfg_vector_@S x[@VECTORS];
#pragma clang loop unroll(full)
    for (int v = 0; v < @VECTORS; ++v) x[v] = *(const sdfg_loose_@S*)(b + v * @LANES);
#pragma clang loop unroll(full)
    for (int r = 0; r < @ROWS; ++r) {
#pragma clang loop unroll(full)
      for (int v = 0; v < @VECTORS; ++v) sum[r][v] += a[r] * x[v];
    }
  }
  const bool whole = rows == @ROWS && columns == @COLUMNS && (!keep_lower || diagonal >= @COLUMNS) && (!keep_upper || diagonal <= -@ROWS);
  if (whole && c_column == 1 && (beta == 0 || old_column == 1)) {
#pragma clang loop unroll(full)
    for (int r = 0; r < @ROWS; ++r) {
#pragma clang loop unroll(full)
      for (int v = 0; v < @VECTORS; ++v) {
        sdfg_vector_@S value = alpha * sum[r][v];
        if (beta != 0) value += beta * *(const sdfg_loose_@S*)(old + r * old_row + v * @LANES);
        *(sdfg_loose_@S*)(c + r * c_row + v * @LANES) = value;
      }
    }
    return;
  }
  alignas(64) @T buffer[@ROWS * @COLUMNS];
#pragma clang loop unroll(full)
  for (int r = 0; r < @ROWS; ++r) {
#pragma clang loop unroll(full)
    for (int v = 0; v < @VECTORS; ++v) *(sdfg_loose_@S*)(buffer + r * @COLUMNS + v * @LANES) = sum[r][v];
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t q = 0; q < columns; ++q) {
      if ((keep_lower && r - q + diagonal < 0) || (keep_upper && r - q + diagonal > 0)) continue;
      @T value = alpha * buffer[r * @COLUMNS + q];
      if (beta != 0) value += beta * old[r * old_row + q * old_column];
      c[r * c_row + q * c_column] = value;
    }
  }
}
// A tile of the result from packed panels; `diagonal` is its first row minus its first column.
static void sdfg_tile_@S(const @T* __restrict a, const @T* __restrict b, int64_t depth, @T* c, int64_t c_row, int64_t c_column,
                         const @T* old, int64_t old_row, int64_t old_column, @T alpha, @T beta,
                         int64_t rows, int64_t columns, int64_t diagonal, int keep_lower, int keep_upper) {
  for (int64_t j = 0; j < columns; j += @COLUMNS) {
    const int64_t width = columns - j < @COLUMNS ? columns - j : @COLUMNS;
    for (int64_t i = 0; i < rows; i += @ROWS) {
      const int64_t height = rows - i < @ROWS ? rows - i : @ROWS;
      const int64_t here = diagonal + i - j;
      if ((keep_lower && here + height - 1 < 0) || (keep_upper && here - (width - 1) > 0)) continue;
      sdfg_block_@S(a + i * depth, b + j * depth, depth, c + i * c_row + j * c_column, c_row, c_column,
                    old + i * old_row + j * old_column, old_row, old_column, alpha, beta, height, width, here, keep_lower, keep_upper);
    }
  }
}
)";

}  // namespace

MatrixView MatrixView::transposed() const {
  return {data, [part = part](const ir::Range& rows, const ir::Range& columns) { return part(columns, rows); }, column,
          row};
}

tasklet::Expr packing_pays(const Product& p) {
  Expr pays = Expr::boolean(true);
  for (const Expr& side : {p.m, p.n, p.k}) pays = symbolic::logical_and(pays, symbolic::ge(side, kLeastSide));
  // In steps, so that no product of three large sizes is formed.
  pays =
      symbolic::logical_and(pays, symbolic::ge(symbolic::min(p.m, kLeastProduct) * symbolic::min(p.n, kLeastProduct) *
                                                   symbolic::min(p.k, kLeastProduct),
                                               kLeastProduct));
  return tasklet::from_symbolic(pays);
}

void packed_product(const Emitter& e, const Product& given, const ExpandOptions& options) {
  Product p = given;
  std::optional<MatrixView> old;
  if (p.old != nullptr) old = *p.old;
  if (p.c.row.is_one() && !p.c.column.is_one()) {
    // c^T = b^T a^T: vectors then run along c's contiguous rows.
    const MatrixView a = p.a.transposed();
    p.a = p.b.transposed();
    p.b = a;
    p.c = p.c.transposed();
    if (old) old = old->transposed();
    std::swap(p.m, p.n);
    if (p.triangle != Triangle::kAll) p.triangle = p.triangle == Triangle::kLower ? Triangle::kUpper : Triangle::kLower;
  }
  const Shape shape = shape_for(p.type, options.vector_bytes);
  const std::string suffix = p.type == ScalarType::kFloat32 ? "f32" : "f64";
  const std::string type = p.type == ScalarType::kFloat32 ? "float" : "double";
  const std::string helpers = replaced(kHelpers, {{"@T", type},
                                                  {"@S", suffix},
                                                  {"@BYTES", std::to_string(shape.bytes)},
                                                  {"@LANES", std::to_string(shape.lanes)},
                                                  {"@ROWS", std::to_string(shape.rows)},
                                                  {"@COLUMNS", std::to_string(shape.columns())},
                                                  {"@VECTORS", std::to_string(shape.vectors)}});
  // Tiles of whole register blocks, so that each starts where the packed rows before it end.
  const std::int64_t row_tile = 96 / shape.rows * shape.rows;
  const std::int64_t column_tile = std::int64_t{8} * shape.columns();
  const auto padded = [](const Expr& size, std::int64_t by) { return symbolic::ceil_div(size, by) * Expr(by); };
  // Elements from .. from + tile - 1 of `size`, as a range and as their number.
  const auto part = [](const Expr& from, const Expr& tile, const Expr& size) {
    return ir::Range{from, symbolic::min(from + tile, size) - 1, 1, 1};
  };
  const auto parallel = [](ir::Map& map) { map.schedule = ir::Schedule::kParallel; };

  const auto name_of = [&](const char* wish, const Expr& value) { return spelled(e, wish, value); };
  const std::string a_row = name_of("a_row", p.a.row), a_column = name_of("a_column", p.a.column);
  const std::string b_row = name_of("b_row", p.b.row), b_column = name_of("b_column", p.b.column);
  const std::string c_row = name_of("c_row", p.c.row), c_column = name_of("c_column", p.c.column);
  const std::string old_row = old ? name_of("old_row", old->row) : c_row;
  const std::string old_column = old ? name_of("old_column", old->column) : c_column;

  const Expr panel = symbolic::min(p.k, Expr(kDepth));
  e.with_transient(
      "a_panels", p.type, {padded(p.m, shape.rows) * panel}, [&](Emitter& with_a, const std::string& a_panels) {
        with_a.with_transient(
            "b_panels", p.type, {padded(p.n, shape.columns()) * panel},
            [&](Emitter& with_b, const std::string& b_panels) {
              with_b.loop("panel", 0, symbolic::ceil_div(p.k, kDepth), [&](Emitter& step, const Expr& at) {
                const Expr first = at * Expr(kDepth);
                const Expr depth =
                    step.assign("deep", tasklet::from_symbolic(symbolic::min(p.k - first, Expr(kDepth))));
                const ir::Range summed = part(first, kDepth, p.k);
                // Rows from .. of a packed operand: `depth` elements for each.
                const auto packed = [&](const Expr& from, std::int64_t tile, const Expr& size, int block) {
                  const Expr end = symbolic::min(from + Expr(tile), padded(size, block));
                  return ir::Subset({ir::Range{from * depth, end * depth - 1, 1, 1}});
                };
                const auto pack = [&](const char* wish, const MatrixView& from, const std::string& to, const Expr& size,
                                      int block, std::int64_t tile, bool by_rows) {
                  parallel(step.map({{wish, symbolic::ceil_div(size, tile)}}, [&](Emitter& inner, std::vector<Expr> q) {
                    const Expr start = inner.assign("from", tasklet::from_symbolic(q[0] * Expr(tile)));
                    const Expr count =
                        inner.assign("count", tasklet::from_symbolic(symbolic::min(size - start, Expr(tile))));
                    const ir::Range own = part(start, tile, size);
                    inner.cpp({{"from", from.data, by_rows ? from.part(own, summed) : from.part(summed, own)}},
                              {{"to", to, packed(start, tile, size, block)}},
                              "sdfg_pack_" + suffix + "<" + std::to_string(block) + ">($from, " +
                                  (by_rows ? a_row + ", " + a_column : b_column + ", " + b_row) + ", " + count.name() +
                                  ", " + depth.name() + ", $to);",
                              helpers);
                  }));
                };
                pack("a_tile", p.a, a_panels, p.m, shape.rows, row_tile, true);
                pack("b_tile", p.b, b_panels, p.n, shape.columns(), column_tile, false);
                // One dimension of tiles: it is shared out whole, and neighbours in a row reuse the panel of a.
                const Expr across = symbolic::ceil_div(p.n, column_tile);
                parallel(step.map({{"tile", symbolic::ceil_div(p.m, row_tile) * across}}, [&](Emitter& inner,
                                                                                              std::vector<Expr> q) {
                  const Expr row =
                      inner.assign("row", tasklet::from_symbolic(symbolic::floor_div(q[0], across) * Expr(row_tile)));
                  const Expr column =
                      inner.assign("column", tasklet::from_symbolic(symbolic::mod(q[0], across) * Expr(column_tile)));
                  const Expr rows =
                      inner.assign("rows", tasklet::from_symbolic(symbolic::min(p.m - row, Expr(row_tile))));
                  const Expr columns =
                      inner.assign("columns", tasklet::from_symbolic(symbolic::min(p.n - column, Expr(column_tile))));
                  const ir::Range own_rows = part(row, row_tile, p.m), own_columns = part(column, column_tile, p.n);
                  std::vector<Pointer> inputs{{"a", a_panels, packed(row, row_tile, p.m, shape.rows)},
                                              {"b", b_panels, packed(column, column_tile, p.n, shape.columns())},
                                              {"before", p.c.data, p.c.part(own_rows, own_columns)}};
                  if (old) inputs.push_back({"old", old->data, old->part(own_rows, own_columns)});
                  // The first panel scales what was there, the others add to what the ones before left.
                  const std::string start = at.name() + " == 0";
                  const auto first_or = [&](const std::string& one, const std::string& other) {
                    return one == other ? one : start + " ? " + one + " : " + other;
                  };
                  inner.cpp(inputs, {{"c", p.c.data, p.c.part(own_rows, own_columns)}},
                            "sdfg_tile_" + suffix + "($a, $b, " + depth.name() + ", $c, " + c_row + ", " + c_column +
                                ",\n    " + (old ? first_or("$old", "$before") : "$before") + ", " +
                                first_or(old_row, c_row) + ", " + first_or(old_column, c_column) + ", " +
                                number(p.alpha, p.type) + ", " + first_or(number(p.beta, p.type), "(" + type + ")1") +
                                ",\n    " + rows.name() + ", " + columns.name() + ", " + row.name() + " - " +
                                column.name() + ", " +
                                (p.triangle == Triangle::kLower   ? "1, 0"
                                 : p.triangle == Triangle::kUpper ? "0, 1"
                                                                  : "0, 0") +
                                ");",
                            helpers);
                }));
              });
            });
      });
}

}  // namespace sdfg::library
