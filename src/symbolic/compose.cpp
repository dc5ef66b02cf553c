// Subsets of windows: which elements of the outer container a subset of a window selects.
#include <sdfg/error.hpp>

#include "symbolic/subset.hpp"

namespace sdfg::symbolic {

namespace {

[[noreturn]] void not_rectangular(const Range& outer, const Range& inner) {
  throw Error(ErrorClass::kUsage,
              "the range " + inner.str() + " of the window " + outer.str() + " is not a strided range");
}

// Position `i` of a window whose points stand for `tile` elements each.
Expr element_at(const Range& outer, const Expr& i) {
  if (outer.tile.is_one()) return outer.begin + i * outer.step;
  if (outer.tile == outer.step) return outer.begin + i;
  return outer.begin + floor_div(i, outer.tile) * outer.step + mod(i, outer.tile);
}

Range compose_dimension(const Range& outer, const Range& inner) {
  if (inner.is_index()) return Range::index(element_at(outer, inner.begin));
  const bool unit = outer.step.is_one() || outer.begin == outer.end;
  if (outer.tile.is_one() || outer.tile == outer.step) {
    const bool consecutive = (outer.tile.is_one() && unit) || !outer.tile.is_one();
    if (consecutive) {
      return {outer.begin + inner.begin, outer.begin + inner.end, inner.step, inner.tile};
    }
    // Elements of an inner tile lie an outer step apart: no tile of the outer container.
    if (!inner.tile.is_one()) not_rectangular(outer, inner);
    return {element_at(outer, inner.begin), element_at(outer, inner.end), outer.step * inner.step, 1};
  }
  if (inner.begin == inner.end && inner.tile.is_one()) return Range::index(element_at(outer, inner.begin));
  const bool whole = inner.begin.is_zero() && inner.step.is_one() && inner.tile.is_one() &&
                     (inner.end + 1 == outer.size() || inner.end + 1 == outer.nominal_count() * outer.tile);
  if (whole) return outer;
  if (outer.begin == outer.end) return {outer.begin + inner.begin, outer.begin + inner.end, inner.step, inner.tile};
  not_rectangular(outer, inner);
}

}  // namespace

Subset compose(const Subset& outer, const Subset& inner) {
  std::size_t windows = 0;
  for (const Range& range : outer.ranges()) windows += range.is_index() ? 0 : 1;
  const bool squeezed = inner.rank() != outer.rank();
  if (squeezed && inner.rank() != windows) {
    throw Error(ErrorClass::kUsage,
                "the subset [" + inner.str() + "] of rank " + std::to_string(inner.rank()) +
                    " does not fit the window [" + outer.str() + "] of rank " + std::to_string(outer.rank()) +
                    (windows == outer.rank() ? "" : ", " + std::to_string(windows) + " without single indices"));
  }
  std::vector<Range> ranges;
  ranges.reserve(outer.rank());
  std::size_t next = 0;
  for (const Range& range : outer.ranges()) {
    if (squeezed && range.is_index()) {
      ranges.push_back(range);
    } else {
      ranges.push_back(compose_dimension(range, inner[next++]));
    }
  }
  return ranges;
}

}  // namespace sdfg::symbolic
