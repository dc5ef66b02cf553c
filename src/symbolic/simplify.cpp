// Simplification with facts: what the provers decide disappears.
#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/facts_table.hpp"
#include "symbolic/interval.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

std::optional<Expr> fixed_symbol(const Expr& symbol, const Facts& facts) {
  const std::optional<Expr> low = facts.lower(symbol.name());
  const std::optional<Expr> high = facts.upper(symbol.name());
  if (low && high && low->is_integer() && *low == *high) return low;
  return std::nullopt;
}

// Drops operands that another one always beats.
std::optional<Expr> simplify_extreme(const Expr& e, const Facts& facts) {
  const bool smallest = e.kind() == Kind::kMin;
  std::vector<Expr> kept(e.args().begin(), e.args().end());
  bool changed = false;
  for (std::size_t i = 0; i < kept.size();) {
    bool beaten = false;
    for (std::size_t j = 0; j < kept.size() && !beaten; ++j) {
      if (i == j) continue;
      const Truth order = smallest ? is_less_equal(kept[j], kept[i], facts) : is_less_equal(kept[i], kept[j], facts);
      beaten = order == Truth::kYes;
    }
    if (beaten) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      changed = true;
    } else {
      ++i;
    }
  }
  if (!changed) return std::nullopt;
  return rebuild(e, std::move(kept));
}

// The one value that floor(a / b) has, when the facts leave only one near 0.
std::optional<std::int64_t> small_quotient(const Expr& a, const Expr& b, const Facts& facts) {
  const Interval numerator = interval_of(a, facts);
  if (b.is_integer() && b.value() > 0 && numerator.low && numerator.high) {
    const std::int64_t low = floor_quotient(*numerator.low, b.value());
    if (low == floor_quotient(*numerator.high, b.value())) return low;
    return std::nullopt;
  }
  if (is_positive(b, facts) != Truth::kYes) return std::nullopt;
  if (is_nonnegative(a, facts) == Truth::kYes) {
    if (is_less(a, b, facts) == Truth::kYes) return 0;
    return std::nullopt;
  }
  if (is_positive(-a, facts) == Truth::kYes && is_nonnegative(a + b, facts) == Truth::kYes) return -1;
  return std::nullopt;
}

// a = multiple + rest with `multiple` divisible by the constant for all values.
struct Multiples {
  Expr multiple;
  Expr rest;
};

Multiples split_multiples(const Expr& a, std::int64_t divisor, const Facts& facts) {
  const SumView view = sum_view(a);
  std::vector<Expr> multiples;
  std::vector<Expr> rests{Expr(view.constant)};
  for (const Expr& term : view.terms) {
    (is_multiple_of(term, divisor, facts) == Truth::kYes ? multiples : rests).push_back(term);
  }
  return {sum(multiples), sum(rests)};
}

std::optional<Expr> simplify_floor(const Expr& e, const Facts& facts) {
  const Expr& a = e.args()[0];
  const Expr& b = e.args()[1];
  if (const auto value = small_quotient(a, b, facts)) return Expr(*value);
  if (!b.is_integer()) return std::nullopt;
  // floor((m + r) / b) with m a multiple of b: the division of m stays exact, r may vanish.
  const Multiples split = split_multiples(a, b.value(), facts);
  if (split.multiple.is_zero() || split.rest.is_zero()) return std::nullopt;
  return floor_div(split.multiple, b) + floor_div(split.rest, b);
}

std::optional<Expr> simplify_ceil(const Expr& e, const Facts& facts) {
  const Expr& a = e.args()[0];
  const Expr& b = e.args()[1];
  // ceil(a / b) = floor((a - 1) / b) + 1 for positive b
  if (is_positive(b, facts) != Truth::kYes) return std::nullopt;
  if (const auto value = small_quotient(a - Expr(1), b, facts)) return Expr(checked_add(*value, 1));
  return std::nullopt;
}

std::optional<Expr> simplify_mod(const Expr& e, const Facts& facts) {
  const Expr& a = e.args()[0];
  const Expr& b = e.args()[1];
  if (const auto quotient = small_quotient(a, b, facts)) return a - b * Expr(*quotient);
  if (!b.is_integer()) return std::nullopt;
  const Residue known = residue_of(a, facts);
  if (known.modulus % b.value() == 0) return Expr(floor_remainder(known.residue, b.value()));
  const Multiples split = split_multiples(a, b.value(), facts);
  if (split.multiple.is_zero()) return std::nullopt;
  return mod(split.rest, b);
}

// k b (x // b) + k (x % b) is k x.
std::optional<Expr> simplify_sum(const Expr& e) {
  const SumView view = sum_view(e);
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    for (const Expr& factor : t.factors) {
      if (factor.kind() != Kind::kMod) continue;
      std::vector<Expr> others{Expr(t.coefficient)};
      for (const Expr& other : t.factors) {
        if (&other != &factor) others.push_back(other);
      }
      const Expr k = product(others);
      const Expr partner = k * factor.args()[1] * floor_div(factor.args()[0], factor.args()[1]);
      const SumView needed = sum_view(partner);
      const bool present = !needed.terms.empty() && needed.terms.size() <= view.terms.size() &&
                           std::all_of(needed.terms.begin(), needed.terms.end(), [&](const Expr& part) {
                             return std::find(view.terms.begin(), view.terms.end(), part) != view.terms.end();
                           });
      if (present) return e - term - partner + k * factor.args()[0];
    }
  }
  return std::nullopt;
}

std::optional<Expr> simplify_abs(const Expr& e, const Facts& facts) {
  const Expr& a = e.args()[0];
  if (is_nonnegative(a, facts) == Truth::kYes) return a;
  if (is_nonnegative(-a, facts) == Truth::kYes) return -a;
  return std::nullopt;
}

std::optional<Expr> simplify_condition(const Expr& e, const Facts& facts) {
  switch (is_true(e, facts)) {
    case Truth::kYes: return Expr::boolean(true);
    case Truth::kNo: return Expr::boolean(false);
    case Truth::kUnknown: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Expr> simplify_node(const Expr& e, const Facts& facts) {
  switch (e.kind()) {
    case Kind::kSymbol: return fixed_symbol(e, facts);
    case Kind::kAdd:
      if (ExprAccess::node(e).polynomial) return std::nullopt;
      return simplify_sum(e);
    case Kind::kFloorDiv: return simplify_floor(e, facts);
    case Kind::kCeilDiv: return simplify_ceil(e, facts);
    case Kind::kMod: return simplify_mod(e, facts);
    case Kind::kMin:
    case Kind::kMax: return simplify_extreme(e, facts);
    case Kind::kAbs: return simplify_abs(e, facts);
    case Kind::kSelect:
      switch (is_true(e.args()[0], facts)) {
        case Truth::kYes: return e.args()[1];
        case Truth::kNo: return e.args()[2];
        case Truth::kUnknown: return std::nullopt;
      }
      return std::nullopt;
    case Kind::kEqual:
    case Kind::kNotEqual:
    case Kind::kLessEqual:
    case Kind::kLess:
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot: return simplify_condition(e, facts);
    case Kind::kInteger:
    case Kind::kBoolean:
    case Kind::kRead:
    case Kind::kCall:
    case Kind::kMul:
    case Kind::kPow:
    case Kind::kBitAnd:
    case Kind::kBitOr:
    case Kind::kBitXor:
    case Kind::kBitNot:
    case Kind::kShiftLeft:
    case Kind::kShiftRight: return std::nullopt;
  }
  return std::nullopt;
}

constexpr int kRounds = 4;

// In polynomials only symbols with one known value change.
bool nothing_to_do(const Expr& e, const Facts& facts) {
  const Expr::Node& node = ExprAccess::node(e);
  if (!node.polynomial) return false;
  if (FactsAccess::table(facts) == nullptr) return true;
  if (node.kind == Kind::kSymbol) return !fixed_symbol(e, facts);
  return std::all_of(node.args.begin(), node.args.end(), [&](const Expr& arg) { return nothing_to_do(arg, facts); });
}

}  // namespace

Expr simplify(const Expr& e, const Facts& facts) {
  if (e.kind() == Kind::kBoolean || nothing_to_do(e, facts)) return e;
  Expr result = e;
  for (int round = 0; round < kRounds; ++round) {
    const Expr before = result;
    try {
      result = rewrite(before, [&](const Expr& node) { return simplify_node(node, facts); });
    } catch (const Error&) {
      return before;  // the rewritten form would overflow
    }
    if (result == before) break;
  }
  return result;
}

}  // namespace sdfg::symbolic
