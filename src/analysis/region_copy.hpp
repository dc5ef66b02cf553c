// Which copies are a rectangular region of runs that lie together on both sides: what a copy engine can do.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "symbolic/facts.hpp"

namespace sdfg::analysis {

// Element (k_0, k_1, ...) of the outer dimensions starts a run of `run` elements on both sides, at the sum of k_d times
// the strides (in elements) from the first element of each subset.
struct RegionCopy {
  struct Dimension {
    symbolic::Expr size;
    symbolic::Expr from_stride;
    symbolic::Expr to_stride;
  };
  std::vector<Dimension> dimensions;  // outermost first
  symbolic::Expr run = 1;
};

// Nothing when the two sides cut their elements differently, so that no such region is known. Sizes that can't be
// compared count as different.
std::optional<RegionCopy> region_copy(const ir::Subset& from, const ir::Layout& from_layout, const ir::Subset& to,
                                      const ir::Layout& to_layout, const symbolic::Facts& facts);

// The copy that a memlet between two access nodes, or a Copy node, asks of a copy engine; nothing when it needs a
// kernel (or a loop): an accumulation, a change of type, a change of shape.
std::optional<RegionCopy> region_copy(const ir::Graph& g, std::string_view from, const ir::Subset& from_subset,
                                      std::string_view to, const ir::Subset& to_subset, bool accumulates,
                                      const symbolic::Facts& facts);

}  // namespace sdfg::analysis
