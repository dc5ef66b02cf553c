// Set questions about subsets: emptiness, cover, intersection, and their bounding boxes.
#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/dimension.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

std::optional<Dimension> dimension_of(const Range& range, const Facts& facts) {
  Dimension d;
  d.tile = range.tile;
  if (range.begin == range.end) {
    d.low = d.high = d.last = range.begin;
    d.step = 1;
    d.single = true;
    d.nonempty = is_positive(range.tile, facts);
    return d;
  }
  const Expr distance = range.end - range.begin;
  if (is_positive(range.step, facts) == Truth::kYes) {
    d.low = range.begin;
    d.high = range.end;
    d.last = range.step.is_one() ? range.end : range.begin + range.step * floor_div(distance, range.step);
    d.step = range.step;
    d.nonempty = is_nonnegative(distance, facts) && is_positive(range.tile, facts);
    return d;
  }
  if (is_positive(-range.step, facts) == Truth::kYes) {
    d.low = range.begin + range.step * floor_div(distance, range.step);
    d.high = d.last = range.begin;
    d.step = -range.step;
    d.nonempty = is_nonnegative(-distance, facts) && is_positive(range.tile, facts);
    return d;
  }
  return std::nullopt;
}

Truth is_multiple_of_step(const Expr& e, const Expr& step, const Facts& facts) {
  if (e.is_zero()) return Truth::kYes;
  if (step.is_integer()) return is_multiple_of(e, step.value(), facts);
  return mod(e, step).is_zero() ? Truth::kYes : Truth::kUnknown;
}

bool is_contiguous(const Dimension& d, const Facts& facts) {
  return d.single || d.step.is_one() || is_less_equal(d.step, d.tile, facts) == Truth::kYes;
}

namespace {

// Points whose neighbours are no points of it.
bool has_gaps(const Dimension& d, const Facts& facts) {
  return d.tile.is_one() && (d.single || is_less(1, d.step, facts) == Truth::kYes);
}

// `inside` has elements by assumption.
bool surely_covers(const Dimension& outer, const Dimension& inside, const Facts& facts) {
  // Tiles reach beyond their point, so an empty outer dimension would not show in the comparison of its ends.
  if (!outer.tile.is_one() && !is_yes(outer.nonempty)) return false;
  if (!is_yes(is_less_equal(outer.low, inside.low, facts))) return false;
  if (is_contiguous(outer, facts)) {
    const Expr last = outer.last_element();
    return is_yes(is_less_equal(inside.element_bound(), last, facts)) ||
           is_yes(is_less_equal(inside.last_element(), last, facts));
  }
  return is_yes(is_multiple_of_step(inside.low - outer.low, outer.step, facts)) &&
         (inside.single || is_yes(is_multiple_of_step(inside.step, outer.step, facts))) &&
         is_yes(is_less_equal(inside.tile, outer.tile, facts)) &&
         (is_yes(is_less_equal(inside.high, outer.high, facts)) ||
          is_yes(is_less_equal(inside.last, outer.high, facts)));
}

bool surely_misses_some(const Dimension& outer, const Dimension& inside, const Facts& facts) {
  if (is_no(outer.nonempty)) return true;
  if (is_yes(is_less(inside.low, outer.low, facts))) return true;
  if (is_yes(is_less(outer.element_bound(), inside.last_element(), facts))) return true;
  if (!has_gaps(outer, facts)) return false;
  if (!outer.single && is_no(is_multiple_of_step(inside.low - outer.low, outer.step, facts))) return true;
  // Two neighbouring elements can't both be points of a set with gaps.
  if (is_yes(is_less(1, inside.tile, facts))) return true;
  const bool two_points = !inside.single && is_yes(is_less(inside.low, inside.last, facts));
  if (!two_points) return false;
  if (inside.step.is_one() || outer.single) return true;
  return is_no(is_multiple_of_step(inside.step, outer.step, facts));
}

Facts assume_nonempty(const Subset& s, const Facts& facts) {
  Facts result = facts;
  for (const Range& range : s.ranges()) {
    if (range.begin == range.end) continue;
    if (const std::optional<Dimension> d = dimension_of(range, facts)) {
      result =
          result.with_condition(le(range.step.is_integer() && range.step.value() < 0 ? range.end : d->low, d->high));
    }
  }
  return result;
}

Truth covers_dimension(const Range& outer, const Range& inside, const Facts& facts) {
  if (outer == inside) return Truth::kYes;
  const std::optional<Dimension> o = dimension_of(outer, facts);
  const std::optional<Dimension> n = dimension_of(inside, facts);
  if (!o || !n) return Truth::kUnknown;
  if (surely_covers(*o, *n, facts)) return Truth::kYes;
  return surely_misses_some(*o, *n, facts) ? Truth::kNo : Truth::kUnknown;
}

// Exact answer for constant dimensions, both not empty: is there k, l, u, v with a + k s + u = b + l t + v?
std::optional<bool> constant_intersection(const Dimension& a, const Dimension& b) {
  for (const Dimension* d : {&a, &b}) {
    for (const Expr* part : {&d->low, &d->last, &d->step, &d->tile}) {
      if (!part->is_integer()) return std::nullopt;
    }
  }
  constexpr std::int64_t kEnumerated = 4096;
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;  // no sum below overflows
  for (const Dimension* d : {&a, &b}) {
    for (const Expr* part : {&d->low, &d->last, &d->step, &d->tile}) {
      if (part->value() > kLargest || part->value() < -kLargest) return std::nullopt;
    }
  }
  const auto points = [](const Dimension& d) { return (d.last.value() - d.low.value()) / d.step.value() + 1; };
  const bool a_smaller = points(a) <= points(b);
  const Dimension& few = a_smaller ? a : b;
  const Dimension& many = a_smaller ? b : a;
  if (points(few) > kEnumerated) return std::nullopt;
  for (std::int64_t at = few.low.value(); at <= few.last.value(); at += few.step.value()) {
    // The last point of `many` that starts at or before the end of this tile.
    const std::int64_t end = std::min(at + few.tile.value() - 1, many.last.value());
    if (end < many.low.value()) continue;
    const std::int64_t point = many.low.value() + (end - many.low.value()) / many.step.value() * many.step.value();
    if (point + many.tile.value() - 1 >= at) return true;
  }
  return false;
}

Truth intersects_dimension(const Range& first, const Range& second, const Facts& facts) {
  const std::optional<Dimension> x = dimension_of(first, facts);
  const std::optional<Dimension> y = dimension_of(second, facts);
  if (!x || !y) return Truth::kUnknown;
  if (is_no(x->nonempty) || is_no(y->nonempty)) return Truth::kNo;
  if (is_yes(is_less(x->element_bound(), y->low, facts)) || is_yes(is_less(y->element_bound(), x->low, facts)) ||
      is_yes(is_less(x->last_element(), y->low, facts)) || is_yes(is_less(y->last_element(), x->low, facts))) {
    return Truth::kNo;
  }
  const Expr difference = x->low - y->low;
  const bool points = x->tile.is_one() && y->tile.is_one();
  if (points) {
    // Points of both lie in residue classes; classes that differ never meet. A single point joins the other one's
    // classes.
    const bool only_single = x->single && y->single;
    if (only_single) {
      const Truth same = is_zero(difference, facts);
      if (same != Truth::kUnknown) return same;
    } else if ((x->single || x->step.is_integer()) && (y->single || y->step.is_integer())) {
      const std::int64_t g = gcd_of(x->single ? 0 : x->step.value(), y->single ? 0 : y->step.value());
      if (is_no(is_multiple_of(difference, g, facts))) return Truth::kNo;
    }
  }
  if (!is_yes(x->nonempty) || !is_yes(y->nonempty)) return Truth::kUnknown;
  if (first == second || is_yes(is_zero(difference, facts))) return Truth::kYes;
  if (const std::optional<bool> exact = constant_intersection(*x, *y)) return *exact ? Truth::kYes : Truth::kNo;
  const bool overlap = is_yes(is_less_equal(x->low, y->last_element(), facts)) &&
                       is_yes(is_less_equal(y->low, x->last_element(), facts));
  if (overlap && is_contiguous(*x, facts) && is_contiguous(*y, facts)) return Truth::kYes;
  if (overlap && points && !x->single && !y->single && x->step == y->step &&
      is_yes(is_multiple_of_step(difference, x->step, facts))) {
    return Truth::kYes;
  }
  if (surely_covers(*x, *y, facts) || surely_covers(*y, *x, facts)) return Truth::kYes;
  return Truth::kUnknown;
}

Range simplified(const Expr& low, const Expr& high, const Expr& step, const Expr& tile, const Facts& facts) {
  const Expr begin = simplify(low, facts);
  return {begin, low == high ? begin : simplify(high, facts), step, tile};
}

// First and last element, whatever the direction.
struct Box {
  Expr low;
  Expr high;
};

Box box_of(const Range& range, const Facts& facts) {
  if (const std::optional<Dimension> d = dimension_of(range, facts)) return {d->low, d->element_bound()};
  return {min(range.begin, range.end), max(range.begin, range.end) + range.tile - 1};
}

Range union_of(const Range& a, const Range& b, const Facts& facts) {
  if (is_yes(covers_dimension(a, b, facts))) return a;
  if (is_yes(covers_dimension(b, a, facts))) return b;
  const std::optional<Dimension> x = dimension_of(a, facts);
  const std::optional<Dimension> y = dimension_of(b, facts);
  if (x && y && x->tile == y->tile) {
    // Points of one residue class stay points of it.
    const Expr step = x->single ? y->step : x->step;
    const bool same_step = x->single || y->single || x->step == y->step;
    if (same_step && !(x->single && y->single) && is_yes(is_multiple_of_step(x->low - y->low, step, facts))) {
      return simplified(min(x->low, y->low), max(x->high, y->high), step, x->tile, facts);
    }
  }
  const Box first = box_of(a, facts);
  const Box second = box_of(b, facts);
  return simplified(min(first.low, second.low), max(first.high, second.high), 1, 1, facts);
}

Range intersection_of(const Range& a, const Range& b, const Facts& facts) {
  if (is_yes(covers_dimension(a, b, facts))) return b;
  if (is_yes(covers_dimension(b, a, facts))) return a;
  const std::optional<Dimension> x = dimension_of(a, facts);
  const std::optional<Dimension> y = dimension_of(b, facts);
  if (x && y && x->tile.is_one() && y->tile.is_one() && x->step == y->step && !x->single && !y->single &&
      is_yes(is_multiple_of_step(x->low - y->low, x->step, facts))) {
    return simplified(max(x->low, y->low), min(x->high, y->high), x->step, 1, facts);
  }
  const Box first = box_of(a, facts);
  const Box second = box_of(b, facts);
  return simplified(max(first.low, second.low), min(first.high, second.high), 1, 1, facts);
}

void require_equal_rank(const Subset& a, const Subset& b, std::string_view operation) {
  if (a.rank() == b.rank()) return;
  throw Error(ErrorClass::kUsage, "the " + std::string(operation) + " of [" + a.str() + "] (rank " +
                                      std::to_string(a.rank()) + ") and [" + b.str() + "] (rank " +
                                      std::to_string(b.rank()) + ") needs equal ranks");
}

}  // namespace

Truth is_empty(const Subset& s, const Facts& facts) {
  Truth nonempty = Truth::kYes;
  for (const Range& range : s.ranges()) {
    const std::optional<Dimension> d = dimension_of(range, facts);
    nonempty = nonempty && (d ? d->nonempty : Truth::kUnknown);
  }
  return !nonempty;
}

Truth covers(const Subset& outer, const Subset& inner, const Facts& facts) {
  if (outer.rank() != inner.rank()) return Truth::kUnknown;
  if (outer == inner) return Truth::kYes;
  const Truth empty = is_empty(inner, facts);
  if (empty == Truth::kYes) return Truth::kYes;
  const Facts inside = empty == Truth::kNo ? facts : assume_nonempty(inner, facts);
  Truth all = Truth::kYes;
  for (std::size_t d = 0; d < outer.rank(); ++d) {
    all = all && covers_dimension(outer[d], inner[d], inside);
    if (all == Truth::kNo) break;
  }
  // A missed element exists only when there is an element at all.
  if (all == Truth::kNo && empty != Truth::kNo) return Truth::kUnknown;
  return all;
}

Truth intersects(const Subset& a, const Subset& b, const Facts& facts) {
  if (a.rank() != b.rank()) return Truth::kUnknown;
  if (is_empty(a, facts) == Truth::kYes || is_empty(b, facts) == Truth::kYes) return Truth::kNo;
  // Disjointness may be shown where both have elements: otherwise they are disjoint anyway.
  const Facts inside = assume_nonempty(b, assume_nonempty(a, facts));
  Truth all = Truth::kYes;
  for (std::size_t d = 0; d < a.rank() && all != Truth::kNo; ++d) {
    Truth here = intersects_dimension(a[d], b[d], inside);
    if (here == Truth::kYes) here = intersects_dimension(a[d], b[d], facts);
    all = all && here;
  }
  return all;
}

Subset bounding_union(const Subset& a, const Subset& b, const Facts& facts) {
  require_equal_rank(a, b, "union");
  if (is_empty(a, facts) == Truth::kYes) return b;
  if (is_empty(b, facts) == Truth::kYes) return a;
  if (covers(a, b, facts) == Truth::kYes) return a;
  if (covers(b, a, facts) == Truth::kYes) return b;
  std::vector<Range> ranges;
  ranges.reserve(a.rank());
  for (std::size_t d = 0; d < a.rank(); ++d) ranges.push_back(union_of(a[d], b[d], facts));
  return ranges;
}

std::optional<Subset> bounding_intersection(const Subset& a, const Subset& b, const Facts& facts) {
  require_equal_rank(a, b, "intersection");
  if (intersects(a, b, facts) == Truth::kNo) return std::nullopt;
  if (covers(a, b, facts) == Truth::kYes) return b;
  if (covers(b, a, facts) == Truth::kYes) return a;
  std::vector<Range> ranges;
  ranges.reserve(a.rank());
  for (std::size_t d = 0; d < a.rank(); ++d) ranges.push_back(intersection_of(a[d], b[d], facts));
  return ranges;
}

}  // namespace sdfg::symbolic
