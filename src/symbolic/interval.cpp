// Interval arithmetic with infinite ends over expressions.
#include "symbolic/interval.hpp"

#include <algorithm>
#include <limits>

#include "symbolic/facts_table.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

__extension__ typedef __int128 Wide;

// A number or an infinity. Everything beyond 64 bits counts as infinite, which only widens intervals.
struct Extended {
  int infinity = 0;  // -1, 0, 1
  std::int64_t value = 0;
};

Extended extended(Wide value) {
  if (value > std::numeric_limits<std::int64_t>::max()) return {1, 0};
  if (value < std::numeric_limits<std::int64_t>::min()) return {-1, 0};
  return {0, static_cast<std::int64_t>(value)};
}

bool less(const Extended& a, const Extended& b) {
  if (a.infinity != b.infinity) return a.infinity < b.infinity;
  return a.infinity == 0 && a.value < b.value;
}

int sign(const Extended& a) {
  if (a.infinity != 0) return a.infinity;
  return a.value < 0 ? -1 : (a.value > 0 ? 1 : 0);
}

Extended times(const Extended& a, const Extended& b) {
  if (sign(a) == 0 || sign(b) == 0) return {};
  if (a.infinity != 0 || b.infinity != 0) return {sign(a) * sign(b), 0};
  return extended(Wide{a.value} * b.value);
}

// Ends of one sign only meet in sums.
Extended plus(const Extended& a, const Extended& b) {
  if (a.infinity != 0) return a;
  if (b.infinity != 0) return b;
  return extended(Wide{a.value} + b.value);
}

struct Ends {
  Extended low{-1, 0};
  Extended high{1, 0};
};

Ends exactly(std::int64_t value) {
  return {{0, value}, {0, value}};
}

Ends between(std::int64_t low, std::int64_t high) {
  return {{0, low}, {0, high}};
}

Ends hull(const Ends& a, const Ends& b) {
  return {less(b.low, a.low) ? b.low : a.low, less(a.high, b.high) ? b.high : a.high};
}

Ends times(const Ends& a, const Ends& b) {
  Ends result{times(a.low, b.low), times(a.low, b.low)};
  for (const Extended& x : {a.low, a.high}) {
    for (const Extended& y : {b.low, b.high}) {
      const Extended corner = times(x, y);
      result = hull(result, {corner, corner});
    }
  }
  return result;
}

bool at_least(const Extended& a, std::int64_t value) {
  return !less(a, Extended{0, value});
}
bool at_most(const Extended& a, std::int64_t value) {
  return !less(Extended{0, value}, a);
}

enum class Rounding : std::uint8_t { kDown, kUp };

// a / b for b >= 1, where both may be infinite.
Extended quotient(const Extended& a, const Extended& b, Rounding rounding) {
  if (b.infinity != 0) {
    // The limit for a growing divisor: 0 or one step beside it.
    if (rounding == Rounding::kDown) return {0, sign(a) < 0 ? -1 : 0};
    return {0, sign(a) > 0 ? 1 : 0};
  }
  if (a.infinity != 0) return a;
  const std::int64_t floor = floor_quotient(a.value, b.value);
  return {0, rounding == Rounding::kUp && floor_remainder(a.value, b.value) != 0 ? floor + 1 : floor};
}

Ends quotient(const Ends& a, const Ends& b, Rounding rounding) {
  if (!at_least(b.low, 1)) {
    // Magnitudes never grow when the divisor is not known to be positive.
    if (a.low.infinity != 0 || a.high.infinity != 0 || a.low.value == std::numeric_limits<std::int64_t>::min())
      return {};
    const std::int64_t largest = std::max(std::abs(a.low.value), std::abs(a.high.value));
    return between(-largest, largest);
  }
  // Contradictory facts (a branch that is never taken) give crossed ends: any answer is right there, dividing by 0 is
  // not.
  const Extended largest = less(b.high, b.low) ? b.low : b.high;
  Ends result;
  result.low = quotient(a.low, b.low, rounding);
  result.high = quotient(a.high, b.low, rounding);
  const Extended low = quotient(a.low, largest, rounding);
  const Extended high = quotient(a.high, largest, rounding);
  // With both infinite the quotient takes every value of that sign.
  if (a.low.infinity == 0 && less(low, result.low)) result.low = low;
  if (a.high.infinity == 0 && less(result.high, high)) result.high = high;
  return result;
}

Ends modulo(const Ends& a, const Ends& b) {
  if (at_least(b.low, 1)) {
    if (at_least(a.low, 0) && b.low.infinity == 0 && at_most(a.high, b.low.value - 1)) return a;
    Ends result{{0, 0}, b.high};
    if (b.high.infinity == 0) result.high.value -= 1;
    if (at_least(a.low, 0) && less(a.high, result.high)) result.high = a.high;
    return result;
  }
  if (at_most(b.high, -1)) return {plus(b.low, {0, 1}), {0, 0}};
  return {};
}

Ends power(const Ends& base, std::int64_t exponent) {
  if (exponent == 0) return exactly(1);
  // Repeated corner products; beyond 64 rounds any base but -1, 0 and 1 is infinite anyway.
  const std::int64_t rounds = exponent > 64 ? 64 + exponent % 2 : exponent;
  const auto raised = [&](const Extended& x) {
    Extended result{0, 1};
    for (std::int64_t i = 0; i < rounds; ++i) result = times(result, x);
    return result;
  };
  const Extended low = raised(base.low);
  const Extended high = raised(base.high);
  if (exponent % 2 != 0) return {low, high};
  if (at_least(base.low, 0)) return {low, high};
  if (at_most(base.high, 0)) return {high, low};
  return {{0, 0}, less(low, high) ? high : low};
}

Ends finite_or_outward(Ends ends) {
  if (ends.low.infinity > 0) ends.low = {0, std::numeric_limits<std::int64_t>::max()};
  if (ends.high.infinity < 0) ends.high = {0, std::numeric_limits<std::int64_t>::min()};
  return ends;
}

// How far bounds that name other symbols are followed.
constexpr int kFollow = 6;
// Operations looked at in one query.
constexpr int kIntervalVisits = 400;

class Intervals {
 public:
  explicit Intervals(const Facts& facts) : table_(FactsAccess::table(facts)) {}

  // Lower ends beyond 64 bits are weakened to the largest integer (and upper ends likewise), so that infinities of one
  // end have one sign only.
  Ends of(const Expr& e, int follow) { return finite_or_outward(raw(e, follow)); }

 private:
  Ends raw(const Expr& e, int follow) {
    if (e.is_integer() || e.kind() == Kind::kBoolean) return exactly(e.value());
    if (--visits_ < 0) return e.is_boolean_valued() ? between(0, 1) : Ends{};
    if (e.is_boolean_valued()) return between(0, 1);
    const std::span<const Expr> a = e.args();
    switch (e.kind()) {
      case Kind::kSymbol: return symbol(e.name(), follow);
      case Kind::kAdd: {
        Ends total = exactly(0);
        for (const Expr& term : a) {
          const Ends ends = of(term, follow);
          total = finite_or_outward({plus(total.low, ends.low), plus(total.high, ends.high)});
          if (total.low.infinity != 0 && total.high.infinity != 0) return {};
        }
        return total;
      }
      case Kind::kMul: {
        Ends total = exactly(1);
        for (const Expr& factor : a) total = times(total, of(factor, follow));
        return total;
      }
      case Kind::kPow: {
        const Ends base = of(a[0], follow);
        if (a[1].is_integer()) return power(base, a[1].value());
        if (at_least(base.low, 1)) return {{0, 1}, {1, 0}};
        if (at_least(base.low, 0)) return {{0, 0}, {1, 0}};
        return {};
      }
      case Kind::kFloorDiv: return quotient(of(a[0], follow), of(a[1], follow), Rounding::kDown);
      case Kind::kCeilDiv: return quotient(of(a[0], follow), of(a[1], follow), Rounding::kUp);
      case Kind::kMod: return modulo(of(a[0], follow), of(a[1], follow));
      case Kind::kMin:
      case Kind::kMax: {
        const bool smallest = e.kind() == Kind::kMin;
        Ends result = of(a[0], follow);
        for (const Expr& arg : a.subspan(1)) {
          const Ends ends = of(arg, follow);
          if (less(ends.low, result.low) == smallest) result.low = ends.low;
          if (less(ends.high, result.high) == smallest) result.high = ends.high;
        }
        return result;
      }
      case Kind::kAbs: {
        const Ends inner = of(a[0], follow);
        const Ends mirrored = times(inner, exactly(-1));
        if (at_least(inner.low, 0)) return inner;
        if (at_most(inner.high, 0)) return mirrored;
        return {{0, 0}, less(inner.high, mirrored.high) ? mirrored.high : inner.high};
      }
      case Kind::kSelect: return hull(of(a[1], follow), of(a[2], follow));
      case Kind::kBitAnd: {
        Ends result;
        for (const Expr& arg : a) {
          const Ends ends = of(arg, follow);
          if (!at_least(ends.low, 0)) continue;
          result.low = {0, 0};
          if (less(ends.high, result.high)) result.high = ends.high;
        }
        return result;
      }
      case Kind::kBitOr:
      case Kind::kBitXor: {
        Extended largest{0, 0};
        for (const Expr& arg : a) {
          const Ends ends = of(arg, follow);
          if (!at_least(ends.low, 0)) return {};
          if (less(largest, ends.high)) largest = ends.high;
        }
        if (largest.infinity != 0) return {{0, 0}, {1, 0}};
        std::int64_t mask = 0;
        while (mask < largest.value) mask = mask * 2 + 1;
        return between(0, mask);
      }
      case Kind::kShiftLeft: {
        const Ends value = of(a[0], follow);
        if (at_least(value.low, 0)) return {value.low, {1, 0}};
        return {};
      }
      case Kind::kShiftRight: {
        const Ends value = of(a[0], follow);
        return hull(value, at_least(value.low, 0) ? exactly(0) : hull(exactly(-1), exactly(0)));
      }
      case Kind::kInteger:
      case Kind::kBoolean:
      case Kind::kRead:
      case Kind::kCall:
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kNot:
      case Kind::kBitNot: return {};
    }
    return {};
  }

  Ends symbol(const std::string& name, int follow) {
    Ends result;
    const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(name) : nullptr;
    if (entry == nullptr) return result;
    for (const Expr& bound : entry->lower) {
      if (follow == 0 && !bound.is_integer()) continue;
      const Extended low = of(bound, follow - 1).low;
      if (less(result.low, low)) result.low = low;
    }
    for (const Expr& bound : entry->upper) {
      if (follow == 0 && !bound.is_integer()) continue;
      const Extended high = of(bound, follow - 1).high;
      if (less(high, result.high)) result.high = high;
    }
    return result;
  }

  const Facts::Table* table_;
  int visits_ = kIntervalVisits;
};

std::optional<std::int64_t> finite(const Extended& end) {
  if (end.infinity != 0) return std::nullopt;
  return end.value;
}

}  // namespace

Interval interval_of(const Expr& e, const Facts& facts) {
  const Ends ends = Intervals(facts).of(e, kFollow);
  return {finite(ends.low), finite(ends.high)};
}

}  // namespace sdfg::symbolic
