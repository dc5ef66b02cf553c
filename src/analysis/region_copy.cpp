// Drops dimensions of one element, then pairs the sides dimension by dimension, or cuts a gap-free side like the other.
#include "analysis/region_copy.hpp"

#include <algorithm>

namespace sdfg::analysis {

namespace {

using symbolic::Expr;
using symbolic::Truth;

struct Running {
  Expr size;
  Expr stride;
};

std::vector<Running> running(const ir::Subset& s, const ir::Layout& layout, const symbolic::Facts& facts) {
  std::vector<Running> out;
  for (std::size_t d = 0; d < s.rank(); ++d) {
    // A whole dimension has the extent's elements, which no container lets be negative.
    const bool whole = s[d].begin.is_zero() && s[d].step.is_one() && s[d].end + 1 == layout.shape()[d];
    const Expr size = whole ? layout.shape()[d] : symbolic::simplify(s[d].size(), facts);
    if (!size.is_one()) out.push_back({size, s[d].step * layout.strides()[d]});
  }
  return out;
}

bool tiled(const ir::Subset& s) {
  return std::ranges::any_of(s.ranges(), [](const ir::Range& r) { return !r.tile.is_one(); });
}

bool gap_free(const std::vector<Running>& dims, const symbolic::Facts& facts) {
  Expr length = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (symbolic::is_equal(dims[d].stride, length, facts) != Truth::kYes) return false;
    length = length * dims[d].size;
  }
  return true;
}

// Strides of a gap-free row-major block of these sizes.
std::vector<Running> packed_like(const std::vector<Running>& dims) {
  std::vector<Running> out = dims;
  Expr length = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    out[d].stride = length;
    length = length * dims[d].size;
  }
  return out;
}

}  // namespace

std::optional<RegionCopy> region_copy(const ir::Subset& from, const ir::Layout& from_layout, const ir::Subset& to,
                                      const ir::Layout& to_layout, const symbolic::Facts& facts) {
  if (tiled(from) || tiled(to)) return std::nullopt;
  std::vector<Running> a = running(from, from_layout, facts);
  std::vector<Running> b = running(to, to_layout, facts);
  const bool a_whole = gap_free(a, facts), b_whole = gap_free(b, facts);
  RegionCopy out;
  if (a_whole && b_whole) {
    for (const Running& r : b) out.run = out.run * r.size;
    return out;
  }
  const bool same = a.size() == b.size() && [&] {
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (symbolic::is_equal(a[d].size, b[d].size, facts) != Truth::kYes) return false;
    }
    return true;
  }();
  if (!same) {
    Expr of_a = 1, of_b = 1;
    for (const Running& r : a) of_a = of_a * r.size;
    for (const Running& r : b) of_b = of_b * r.size;
    if ((!a_whole && !b_whole) || symbolic::is_equal(of_a, of_b, facts) != Truth::kYes) return std::nullopt;
    if (a_whole)
      a = packed_like(b);
    else
      b = packed_like(a);
  }
  // Sides of one shape may be walked in any common order: whatever continues the run on both does, also in column-major
  // layouts.
  const auto extends_run = [&](std::size_t d) {
    return symbolic::is_equal(a[d].stride, out.run, facts) == Truth::kYes &&
           symbolic::is_equal(b[d].stride, out.run, facts) == Truth::kYes;
  };
  for (std::size_t d = a.size(); d-- > 0;) {
    if (!extends_run(d)) continue;
    out.run = out.run * a[d].size;
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(d));
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(d));
    d = a.size();
  }
  for (std::size_t d = 0; d < a.size(); ++d) {
    const RegionCopy::Dimension next{a[d].size, a[d].stride, b[d].stride};
    // Two dimensions that lie together like one on both sides are one.
    if (!out.dimensions.empty()) {
      RegionCopy::Dimension& last = out.dimensions.back();
      if (symbolic::is_equal(last.from_stride, next.from_stride * next.size, facts) == Truth::kYes &&
          symbolic::is_equal(last.to_stride, next.to_stride * next.size, facts) == Truth::kYes) {
        last = {last.size * next.size, next.from_stride, next.to_stride};
        continue;
      }
    }
    out.dimensions.push_back(next);
  }
  return out;
}

std::optional<RegionCopy> region_copy(const ir::Graph& g, std::string_view from, const ir::Subset& from_subset,
                                      std::string_view to, const ir::Subset& to_subset, bool accumulates,
                                      const symbolic::Facts& facts) {
  const ir::Container* a = ir::resolve(g, from);
  const ir::Container* b = ir::resolve(g, to);
  if (a == nullptr || b == nullptr || accumulates || !(a->type == b->type)) return std::nullopt;
  return region_copy(from_subset, a->layout, to_subset, b->layout, facts);
}

}  // namespace sdfg::analysis
