// One dimension of a subset in a form that set questions can use: ascending, with the emptiness known.
#pragma once

#include <optional>

#include "symbolic/facts.hpp"
#include "symbolic/subset.hpp"

namespace sdfg::symbolic {

// The points low, low + step, ... , last, where last <= high; each stands for `tile` consecutive elements.
struct Dimension {
  Expr low;
  Expr high;  // a bound of the points, simpler than `last`
  Expr last;  // the last point when there is one
  Expr step;  // positive
  Expr tile;
  bool single = false;  // one point by its form
  Truth nonempty = Truth::kUnknown;

  Expr last_element() const { return last + tile - 1; }
  Expr element_bound() const { return high + tile - 1; }
};

// Nothing when the direction of the range is unknown.
std::optional<Dimension> dimension_of(const Range& range, const Facts& facts);

// e is a multiple of a positive step that may be symbolic.
Truth is_multiple_of_step(const Expr& e, const Expr& step, const Facts& facts);

// No gaps between the points: every element from the first to the last belongs to it.
bool is_contiguous(const Dimension& d, const Facts& facts);

}  // namespace sdfg::symbolic
