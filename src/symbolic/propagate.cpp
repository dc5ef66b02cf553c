// The image of a subset while a symbol runs over a range.
#include <algorithm>

#include "symbolic/dimension.hpp"
#include "symbolic/interval.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

struct Image {
  Range range;
  bool exact = false;
  bool empties = false;  // empty whenever the symbol has no value
};

bool names(const Range& range, std::string_view symbol) {
  return depends_on(range.begin, symbol) || depends_on(range.end, symbol) || depends_on(range.step, symbol) ||
         depends_on(range.tile, symbol);
}

class Propagation {
 public:
  Propagation(std::string_view symbol, const Dimension& over, const Facts& facts)
      : symbol_(symbol),
        over_(over),
        inside_(facts.with_bounds(symbol_, over.low, over.high).with_bounds(symbol_, over.low, over.last)) {
    if (over.step.is_integer() && over.step.value() > 1) {
      // low + k step lies in one residue class when low does.
      const Residue low = residue_of(over.low, facts);
      const std::int64_t modulus = gcd_of(low.modulus, over.step.value());
      if (modulus > 1) inside_ = inside_.with_congruence(symbol_, modulus, low.residue);
    }
  }

  std::optional<Image> of(const Range& range) const {
    if (depends_on(range.step, symbol_) || depends_on(range.tile, symbol_)) return box(range);
    if (range.begin == range.end) return of_index(range);
    return of_window(range);
  }

 private:
  Expr at(const Expr& e, const Expr& value) const { return substitute(e, symbol_, value); }

  // Bounds over all iterations; exact ones are taken at some iteration.
  struct Bound {
    Expr value;
    bool exact = false;
  };

  std::optional<Bound> lowest(const Expr& e) const {
    if (std::optional<Expr> bound = lower_over(e, symbol_, over_.low, over_.last, inside_))
      return Bound{std::move(*bound), true};
    // Term by term: what has no trend may still lie in a constant interval.
    std::vector<Expr> parts;
    const SumView view = sum_view(e);
    parts.emplace_back(view.constant);
    for (const Expr& term : view.terms) {
      if (std::optional<Expr> bound = lower_over(term, symbol_, over_.low, over_.last, inside_)) {
        parts.push_back(std::move(*bound));
      } else if (const Interval interval = interval_of(term, inside_); interval.low) {
        parts.emplace_back(*interval.low);
      } else if (std::optional<Expr> symbolic = symbolic_lower(term)) {
        parts.push_back(std::move(*symbolic));
      } else {
        return std::nullopt;
      }
    }
    return Bound{sum(parts), false};
  }

  // k * (a mod b) with b free of the symbol.
  std::optional<Expr> symbolic_lower(const Expr& term) const {
    const TermView t = term_view(term);
    if (t.factors.size() != 1 || t.factors[0].kind() != Kind::kMod) return std::nullopt;
    const Expr& modulus = t.factors[0].args()[1];
    if (depends_on(modulus, symbol_) || !is_yes(is_positive(modulus, inside_))) return std::nullopt;
    return t.coefficient > 0 ? Expr(0) : scale(modulus - Expr(1), t.coefficient);
  }

  std::optional<Bound> highest(const Expr& e) const {
    if (std::optional<Expr> bound = upper_over(e, symbol_, over_.low, over_.last, inside_))
      return Bound{std::move(*bound), true};
    std::optional<Bound> bound = lowest(-e);
    if (bound) bound->value = -bound->value;
    return bound;
  }

  // Every element between the lowest and the highest one.
  std::optional<Image> box(const Range& range) const {
    const std::optional<Bound> low = lowest(range.begin);
    const std::optional<Bound> other_low = lowest(range.end);
    const std::optional<Bound> high = highest(range.end + range.tile - 1);
    const std::optional<Bound> other_high = highest(range.begin + range.tile - 1);
    if (!low || !high) return std::nullopt;
    const bool ascending = is_yes(is_positive(range.step, inside_)) || range.begin == range.end;
    if (ascending) return Image{{low->value, high->value, 1, 1}, false, false};
    if (!other_low || !other_high) return std::nullopt;
    return Image{{min(low->value, other_low->value), max(high->value, other_high->value), 1, 1}, false, false};
  }

  std::optional<Image> of_index(const Range& range) const {
    const std::optional<AffineIn> affine = affine_in(range.begin, symbol_);
    if (affine && !over_.single) {
      if (is_yes(is_positive(affine->slope, inside_))) {
        return Image{{at(range.begin, over_.low), at(range.begin, over_.high), affine->slope * over_.step, range.tile},
                     true,
                     true};
      }
      if (is_yes(is_positive(-affine->slope, inside_))) {
        return Image{{at(range.begin, over_.last), at(range.begin, over_.low), -affine->slope * over_.step, range.tile},
                     true,
                     true};
      }
    }
    return box(range);
  }

  std::optional<Image> of_window(const Range& range) const {
    const std::optional<Dimension> d = dimension_of(range, inside_);
    if (!d) return box(range);
    const std::optional<Bound> low = lowest(d->low);
    const std::optional<Bound> high = highest(d->high);
    if (!low || !high) return std::nullopt;
    const bool points = d->step.is_one() && d->tile.is_one();
    if (points) return Image{{low->value, high->value, 1, 1}, low->exact && high->exact && connected(*d), false};
    // Strided windows keep their step when all start in one residue class.
    const std::optional<AffineIn> start = affine_in(d->low, symbol_);
    if (start && low->exact && is_yes(is_multiple_of_step(start->slope * over_.step, d->step, inside_))) {
      return Image{{low->value, high->value, d->step, d->tile}, high->exact && connected(*d), false};
    }
    const std::optional<Bound> last = highest(d->element_bound());
    if (!last) return std::nullopt;
    return Image{{low->value, last->value, 1, 1}, false, false};
  }

  // Windows of neighbouring iterations leave no gap between them, and none is empty.
  bool connected(const Dimension& d) const {
    if (!is_yes(d.nonempty)) return false;
    if (over_.single) return true;
    const Expr next = Expr::symbol(symbol_) + over_.step;
    const Facts neighbours = inside_.with_bounds(symbol_, std::nullopt, over_.last - over_.step);
    return is_yes(is_less_equal(at(d.low, next), d.high + 1, neighbours)) &&
           is_yes(is_less_equal(d.low, at(d.high, next) + 1, neighbours));
  }

  std::string symbol_;
  const Dimension& over_;
  Facts inside_;
};

Range simplified(const Range& range, const Facts& facts) {
  const Expr begin = simplify(range.begin, facts);
  return {begin, range.begin == range.end ? begin : simplify(range.end, facts), simplify(range.step, facts),
          simplify(range.tile, facts)};
}

}  // namespace

std::optional<Propagated> propagate(const Subset& s, std::string_view symbol, const Range& range, const Facts& facts) {
  if (names(range, symbol)) return std::nullopt;
  std::optional<Dimension> over = dimension_of(range, facts);
  if (!over) return std::nullopt;
  bool whole = true;
  if (!over->tile.is_one()) {
    // A superset of the values is enough for a cover.
    over->high = over->last = over->element_bound();
    over->step = 1;
    over->single = false;
    whole = false;
  }
  const Propagation propagation(symbol, *over, facts);
  Propagated result;
  std::vector<Range> ranges;
  ranges.reserve(s.rank());
  int moving = 0;
  bool empties = false;
  bool exact = whole;
  for (const Range& dimension : s.ranges()) {
    if (!names(dimension, symbol)) {
      ranges.push_back(dimension);
      continue;
    }
    ++moving;
    if (over->single) {
      const Substitution value{{std::string(symbol), over->low}};
      ranges.push_back(substitute(Subset({dimension}), value)[0]);
      continue;
    }
    const std::optional<Image> image = propagation.of(dimension);
    if (!image) return std::nullopt;
    ranges.push_back(simplified(image->range, facts));
    exact = exact && image->exact;
    empties = empties || image->empties;
  }
  result.subset = std::move(ranges);
  // Two dimensions that move together cover a diagonal, not a box; without iterations nothing is covered at all.
  result.exact = exact && (moving <= 1 || over->single) && (over->nonempty == Truth::kYes || (empties && moving == 1));
  return result;
}

}  // namespace sdfg::symbolic
