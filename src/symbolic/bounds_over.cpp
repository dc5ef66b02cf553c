// Bounds of an expression while a symbol runs over an interval.
#include <sdfg/error.hpp>

#include "symbolic/facts.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

enum class Trend : std::uint8_t { kConstant, kRising, kFalling, kUnknown };

Trend reversed(Trend trend) {
  switch (trend) {
    case Trend::kConstant: return Trend::kConstant;
    case Trend::kRising: return Trend::kFalling;
    case Trend::kFalling: return Trend::kRising;
    case Trend::kUnknown: return Trend::kUnknown;
  }
  return Trend::kUnknown;
}

Trend both(Trend a, Trend b) {
  if (a == Trend::kConstant) return b;
  if (b == Trend::kConstant) return a;
  return a == b ? a : Trend::kUnknown;
}

Trend signed_trend(Trend trend, Truth nonnegative, Truth nonpositive) {
  if (trend == Trend::kConstant) return trend;
  if (nonnegative == Truth::kYes) return trend;
  return nonpositive == Truth::kYes ? reversed(trend) : Trend::kUnknown;
}

// The trend that the structure shows; `facts` hold the interval of the symbol.
Trend trend_of(const Expr& e, std::string_view symbol, const Facts& facts) {
  if (!depends_on(e, symbol)) return Trend::kConstant;
  const std::span<const Expr> a = e.args();
  const auto of = [&](const Expr& part) { return trend_of(part, symbol, facts); };
  switch (e.kind()) {
    case Kind::kSymbol: return Trend::kRising;
    case Kind::kAdd: {
      Trend total = Trend::kConstant;
      for (const Expr& term : a) total = both(total, of(term));
      return total;
    }
    case Kind::kMul: {
      // f * g rises when both rise and both are non-negative; a constant factor may have any known sign.
      Trend total = Trend::kConstant;
      Expr so_far = 1;
      for (const Expr& factor : a) {
        const Trend trend = of(factor);
        const Trend left = signed_trend(total, is_nonnegative(factor, facts), is_nonnegative(-factor, facts));
        const Trend right = signed_trend(trend, is_nonnegative(so_far, facts), is_nonnegative(-so_far, facts));
        total = both(left, right);
        if (total == Trend::kUnknown) return total;
        so_far *= factor;
      }
      return total;
    }
    case Kind::kPow:
      if (depends_on(a[1], symbol)) {
        if (depends_on(a[0], symbol) || is_positive(a[0], facts) != Truth::kYes) return Trend::kUnknown;
        return of(a[1]);
      }
      if (is_nonnegative(a[0], facts) == Truth::kYes && is_nonnegative(a[1], facts) == Truth::kYes) return of(a[0]);
      return Trend::kUnknown;
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
      if (depends_on(a[1], symbol)) return Trend::kUnknown;
      return signed_trend(of(a[0]), is_positive(a[1], facts), is_positive(-a[1], facts));
    case Kind::kMin:
    case Kind::kMax: {
      Trend total = Trend::kConstant;
      for (const Expr& arg : a) total = both(total, of(arg));
      return total;
    }
    case Kind::kInteger:
    case Kind::kBoolean:
    case Kind::kRead:
    case Kind::kCall:
    case Kind::kMod:
    case Kind::kAbs:
    case Kind::kSelect:
    case Kind::kEqual:
    case Kind::kNotEqual:
    case Kind::kLessEqual:
    case Kind::kLess:
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot:
    case Kind::kBitAnd:
    case Kind::kBitOr:
    case Kind::kBitXor:
    case Kind::kBitNot:
    case Kind::kShiftLeft:
    case Kind::kShiftRight: return Trend::kUnknown;
  }
  return Trend::kUnknown;
}

Trend trend_over(const Expr& e, std::string_view symbol, const Expr& low, const Expr& high, const Facts& facts) {
  const Facts inside = facts.with_bounds(std::string(symbol), low, high);
  const Trend structural = trend_of(e, symbol, inside);
  if (structural != Trend::kUnknown) return structural;
  // The difference of neighbours decides what the structure alone doesn't show, such as i * i - i.
  const Expr difference = substitute(e, symbol, Expr::symbol(std::string(symbol)) + Expr(1)) - e;
  const Facts neighbours = facts.with_bounds(std::string(symbol), low, high - Expr(1));
  if (is_nonnegative(difference, neighbours) == Truth::kYes) return Trend::kRising;
  if (is_nonnegative(-difference, neighbours) == Truth::kYes) return Trend::kFalling;
  return Trend::kUnknown;
}

}  // namespace

std::optional<Expr> lower_over(const Expr& e, std::string_view symbol, const Expr& low, const Expr& high,
                               const Facts& facts) {
  if (!depends_on(e, symbol)) return e;
  switch (trend_over(e, symbol, low, high, facts)) {
    case Trend::kConstant:
    case Trend::kRising: return substitute(e, symbol, low);
    case Trend::kFalling: return substitute(e, symbol, high);
    case Trend::kUnknown: break;
  }
  // An affine expression is least at one of the ends, whatever the sign of its slope.
  if (affine_in(e, symbol)) return min(substitute(e, symbol, low), substitute(e, symbol, high));
  return std::nullopt;
}

std::optional<Expr> upper_over(const Expr& e, std::string_view symbol, const Expr& low, const Expr& high,
                               const Facts& facts) {
  const std::optional<Expr> lowest = lower_over(-e, symbol, low, high, facts);
  if (!lowest) return std::nullopt;
  // -min(a, b) is not rewritten to max(-a, -b), so it is built that way.
  if (lowest->kind() == Kind::kMin && affine_in(e, symbol)) {
    return max(substitute(e, symbol, low), substitute(e, symbol, high));
  }
  return -*lowest;
}

}  // namespace sdfg::symbolic
