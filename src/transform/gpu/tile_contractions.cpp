// Chooses tiles by the types and extents, and puts tiled kernels beside or in place of those that are written.
#include "transform/gpu/tile_contractions.hpp"

#include <algorithm>

#include "library/emit.hpp"
#include "transform/gpu/adds_products.hpp"
#include "transform/gpu/kernels.hpp"
#include "transform/gpu/tiled_kernel.hpp"

namespace sdfg::transform {

namespace {

using symbolic::Expr;
using symbolic::Truth;

// Below these, threads without work or steps without reuse eat what tiles save.
constexpr std::int64_t kLeastSide = 16;      // rows, columns
constexpr std::int64_t kLeastSum = 8;        // summed places that are flattened
constexpr std::int64_t kLeastPoints = 1024;  // rows x columns
constexpr std::int64_t kSumPerBlock = 512;   // few blocks would be long over a long sum; plain kernels share it out
constexpr std::int64_t kEnoughBlocks = 128;  // about as many as a large device has multiprocessors
constexpr std::int64_t kHalfTile = 64;

// Tiles for large and for small results, the fastest of those tried on an H200 (2048^3, 56 x 56 convolutions).
// Registers are the limit: 64 sums of 4 bytes fit twice 256 threads into a multiprocessor, wider ones fewer.
Tiles large_tiles(std::int64_t bytes, bool narrow) {
  if (bytes > 8) return {64, 64, 8, 4, 4};
  if (bytes > 4) return {128, 64, 8, 8, 8};
  return narrow ? Tiles{128, 64, 16, 8, 4, 2} : Tiles{128, 128, 16, 8, 8, 2};
}
Tiles small_tiles(std::int64_t bytes) {
  if (bytes > 8) return {64, 64, 8, 4, 4};
  return {64, 64, bytes > 4 ? 8 : 16, 8, 4};
}

// The last label is the one whose neighbours lie side by side, so that neighbouring threads read (write) a line.
void put_last(std::vector<Label>& labels, const std::map<std::string, Expr, std::less<>>& strides) {
  const auto side_by_side = std::ranges::find_if(labels, [&](const Label& l) {
    const auto it = strides.find(l.symbol);
    return it != strides.end() && it->second.is_one();
  });
  if (side_by_side == labels.end()) return;
  std::rotate(side_by_side, side_by_side + 1, labels.end());
}

// By label, how far neighbours in the result lie apart: in the sum's container, or in that which the work of a point
// writes with a sum of its own.
std::map<std::string, Expr, std::less<>> result_strides(const ir::Graph& g, const DeviceContraction& c) {
  std::string data = c.sum;
  std::optional<ir::Subset> at = c.sum_at;
  if (c.sum_is_local) {
    at.reset();
    for (const Piece& p : c.after) {
      const auto& s = std::get<ir::State>(p.element->kind);
      for (const ir::Memlet& m : s.edges) {
        const ir::Access* to = access_of(s, m.dst);
        if (to == nullptr || !m.dst_subset || !in_device_memory(g, to->data)) continue;
        data = to->data;
        at = m.dst_subset;
      }
    }
  }
  std::map<std::string, Expr, std::less<>> out;
  const ir::Container* result = g.containers.find(data);
  if (result == nullptr || !at || at->rank() != result->rank()) return out;
  Expr address = 0;
  for (std::size_t d = 0; d < result->rank(); ++d) address += (*at)[d].begin * result->layout.strides()[d];
  for (const std::vector<Label>* labels : {&c.rows, &c.columns}) {
    for (const Label& l : *labels) {
      if (const auto affine = symbolic::affine_in(address, l.symbol)) out.emplace(l.symbol, affine->slope * l.step);
    }
  }
  return out;
}

// Columns run along what is contiguous in the result, rows and summed places along what is in the operands.
void order_labels(const ir::Graph& g, DeviceContraction& c) {
  const std::map<std::string, Expr, std::less<>> result = result_strides(g, c);
  const auto contiguous = [&](const std::vector<Label>& labels) {
    return std::ranges::any_of(labels, [&](const Label& l) {
      const auto it = result.find(l.symbol);
      return it != result.end() && it->second.is_one();
    });
  };
  if (contiguous(c.rows)) {
    std::swap(c.rows, c.columns);
    std::swap(c.a, c.b);
  }
  put_last(c.rows, c.a.strides);
  put_last(c.columns, c.b.strides);
  if (contiguous(c.columns)) put_last(c.columns, result);
  // Sums of loops keep their order.
  if (std::ranges::any_of(c.summed, [](const Label& l) { return l.ordered; })) return;
  if (!c.b.stride(c.columns.back()).is_one()) put_last(c.summed, c.b.strides);
  if (!c.a.stride(c.rows.back()).is_one()) put_last(c.summed, c.a.strides);
}

std::string names_of(const std::vector<Label>& labels) {
  std::string out;
  for (const Label& l : labels) out += (out.empty() ? "" : " ") + l.symbol;
  return out;
}
std::string size_text(const Tiles& t) {
  return std::to_string(t.rows) + " x " + std::to_string(t.columns) + " x " + std::to_string(t.summed);
}

bool accumulates_behind(const DeviceContraction& c) {
  return std::ranges::any_of(c.after, [](const Piece& p) {
    return std::ranges::any_of(std::get<ir::State>(p.element->kind).edges,
                               [](const ir::Memlet& m) { return m.wcr.has_value(); });
  });
}

class Tiling {
 public:
  Tiling(ir::Graph& g, bool strict, std::vector<std::string>* explanations)
      : g_(g), strict_(strict), explanations_(explanations), names_(library::code_names(g.body)) {}

  bool run() {
    visit(g_.body, ir::base_facts(g_));
    return changed_;
  }

 private:
  void visit(ir::Sequence& s, const symbolic::Facts& facts) {
    for (auto& item : s.items) {
      if (is_kernel(*item)) {
        kernel(item, facts);
        continue;
      }
      for (ir::Sequence* child : ir::child_sequences(*item)) visit(*child, ir::facts_inside(g_, facts, *item, *child));
    }
  }

  void explain(const ir::Element& e, const std::string& what) const {
    if (explanations_ != nullptr) explanations_->push_back(ir::describe(g_, e) + ": " + what);
  }

  void kernel(std::unique_ptr<ir::Element>& item, const symbolic::Facts& facts) {
    const auto& m = std::get<ir::Map>(item->kind);
    if (holds(m.body, ir::Schedule::kThreadBlock) || holds(m.body, ir::Schedule::kWarp)) {
      if (adds_products(*item)) explain(*item, "no tiles: its thread-block maps were written by hand");
      return;
    }
    std::string why;
    std::optional<DeviceContraction> c = contraction_of(g_, *item, facts, why);
    if (!c) {
      if (!why.empty()) explain(*item, "no tiles: " + why);
      return;
    }
    if (!m.gpu_block_size.empty() || !m.gpu_launch_bounds.empty() || m.gpu_max_registers > 0 || m.gpu_max_blocks > 0) {
      explain(*item, "no tiles: its block size or launch bounds were set by hand");
      return;
    }
    if (strict_ && accumulates_behind(*c)) {
      explain(*item, "no tiles: what stands behind the sum accumulates, and SDFG_FP=strict fixes the order of that");
      return;
    }
    order_labels(g_, *c);
    choose(item, *c, facts);
  }

  void choose(std::unique_ptr<ir::Element>& item, const DeviceContraction& c, const symbolic::Facts& facts) {
    const Expr rows = points_of(c.rows), columns = points_of(c.columns), batch = points_of(c.batch);
    const std::vector<Label> inner(c.summed.end() - static_cast<std::ptrdiff_t>(flattened_sums(c)), c.summed.end());
    const auto blocks = [&](const Expr& points, std::int64_t tile) {
      return symbolic::floor_div(points + (tile - 1), tile);
    };
    const auto simplified = [&](const Expr& e) { return symbolic::simplify(e, facts); };
    const Expr halves = blocks(rows, kHalfTile) * blocks(columns, kHalfTile) * batch;
    const Expr conditions[] = {symbolic::ge(rows, kLeastSide), symbolic::ge(columns, kLeastSide),
                               symbolic::ge(points_of(inner), kLeastSum), symbolic::ge(rows * columns, kLeastPoints),
                               symbolic::le(points_of(c.summed), halves * kSumPerBlock)};
    Expr pays = c.sum_is_local ? Expr::boolean(true) : simplified(ir::resolve(g_, c.sum)->layout.elements_apart());
    if (pays.is_false()) {
      explain(*item, "no tiles: elements of '" + c.sum + "' may share a place");
      return;
    }
    for (const Expr& condition : conditions) pays = symbolic::logical_and(pays, simplified(condition));
    const std::string what = "rows " + names_of(c.rows) + ", columns " + names_of(c.columns) +
                             (c.batch.empty() ? "" : ", batch " + names_of(c.batch)) + ", summed " + names_of(c.summed);
    if (pays.is_false()) {
      explain(*item, "no tiles: the extents are too small for them, or the sums too long for few (" + what + ")");
      return;
    }
    const std::int64_t bytes = std::max({size_of(c.type), size_of(c.a.type), size_of(c.b.type)});
    const bool narrow = symbolic::is_less_equal(columns, kHalfTile, facts) == Truth::kYes;
    const Tiles large = large_tiles(bytes, narrow), small = small_tiles(bytes);
    const Expr many =
        simplified(symbolic::ge(blocks(rows, large.rows) * blocks(columns, large.columns) * batch, kEnoughBlocks));
    const bool one_size = large.rows == small.rows && large.columns == small.columns;
    std::string text = "a product of matrices by tiles";
    ir::Sequence made;
    const library::Emitter e(g_, made, item->label, item->location, names_);
    const auto put = [&](library::Emitter& at, const Tiles& t) {
      at.sequence().items.push_back(tiled_kernel(g_, c, t, *item, facts, names_));
    };
    const auto tiled = [&](library::Emitter& at) {
      if (one_size || many.is_false()) {
        put(at, small);
        text += " of " + size_text(small);
      } else if (many.is_true()) {
        put(at, large);
        text += " of " + size_text(large);
      } else {
        at.branch(
            tasklet::from_symbolic(many), [&](library::Emitter& x) { put(x, large); },
            [&](library::Emitter& x) { put(x, small); });
        text += " of " + size_text(large) + " where these make enough blocks, else of " + size_text(small);
      }
    };
    library::Emitter start = e;
    if (pays.is_true()) {
      tiled(start);
    } else {
      // The original moves in last: the pieces of the tiled kernel are copied from it.
      e.branch(tasklet::from_symbolic(pays), tiled, [](library::Emitter&) {});
      text += ", where the extents are worth it at run time";
    }
    explain(*item, text + ": " + what);
    std::unique_ptr<ir::Element> result = std::move(made.items.front());
    if (!pays.is_true()) std::get<ir::If>(result->kind).branches.back().body.items.push_back(std::move(item));
    item = std::move(result);
    changed_ = true;
  }

  ir::Graph& g_;
  bool strict_;
  std::vector<std::string>* explanations_;
  library::CodeNames names_;
  bool changed_ = false;
};

}  // namespace

bool tile_contractions(ir::Graph& g, bool strict, std::vector<std::string>* explanations) {
  return Tiling(g, strict, explanations).run();
}

}  // namespace sdfg::transform
