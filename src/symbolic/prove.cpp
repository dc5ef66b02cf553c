// Provers: every question becomes "is e >= 0 everywhere?", answered by intervals and then by a bounded search that
// eliminates one atom after the other with its bounds.
#include <algorithm>
#include <sdfg/error.hpp>
#include <unordered_map>

#include "symbolic/facts_table.hpp"
#include "symbolic/interval.hpp"
#include "symbolic/node.hpp"
#include "symbolic/samples.hpp"

namespace sdfg::symbolic {

namespace {

// Goals looked at for one question. Failing proofs cost all of it, so it bounds the price of "unknown".
constexpr int kGoals = 64;
// What most proofs need; only after that many, examples are looked at.
constexpr int kFirstGoals = 8;
// Eliminations in a row.
constexpr int kDepth = 12;
constexpr int kRankDepth = 8;
constexpr std::size_t kMaxConditions = 24;
constexpr std::size_t kMaxTerms = 40;

// What must be shown: every goal of one alternative, under its own facts when there are any.
struct Goal {
  Expr e;
  std::optional<Facts> facts;
};
using Alternative = std::vector<Goal>;

enum class Sign : std::uint8_t { kNonnegative, kNonpositive, kUnknown };

// e = slope * atom + rest.
struct Split {
  Expr slope;
  Expr rest;
};

bool mentions(const Expr& e, const Expr& atom) {
  if ((ExprAccess::node(e).symbols & ExprAccess::node(atom).symbols) != ExprAccess::node(atom).symbols) return false;
  if (e == atom) return true;
  return std::any_of(e.args().begin(), e.args().end(), [&](const Expr& arg) { return mentions(arg, atom); });
}

// Nothing when e is not affine in the atom as it stands (other atoms may still contain it).
std::optional<Split> split_at(const Expr& e, const Expr& atom) {
  const SumView view = sum_view(e);
  std::vector<Expr> slopes;
  std::vector<Expr> rests{Expr(view.constant)};
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    const auto at = std::find(t.factors.begin(), t.factors.end(), atom);
    if (at == t.factors.end()) {
      for (const Expr& factor : t.factors) {
        if (factor.kind() == Kind::kPow && factor.args()[0] == atom) return std::nullopt;
      }
      rests.push_back(term);
      continue;
    }
    std::vector<Expr> others{Expr(t.coefficient)};
    for (const Expr& factor : t.factors) {
      if (&factor != &*at) others.push_back(factor);
    }
    slopes.push_back(product(others));
  }
  return Split{sum(slopes), sum(rests)};
}

class Prover {
 public:
  explicit Prover(const Facts& facts, int goals = kGoals)
      : facts_(facts), table_(FactsAccess::table(facts)), goals_(goals) {}

  bool nonnegative(const Expr& e) {
    try {
      return prove(e, kDepth);
    } catch (const Error&) {
      return false;  // a coefficient of the search overflowed
    }
  }

 private:
  // Divides by the content, rounding the constant down: g x + r >= 0 exactly when x + floor(r / g) >= 0.
  static Expr normalised(const Expr& e) {
    const std::int64_t g = content(e);
    if (g <= 1) return e;
    const std::int64_t constant = sum_view(e).constant;
    return divide_exactly(e - Expr(constant), g) + Expr(floor_quotient(constant, g));
  }

  bool prove(const Expr& raw, int depth) {
    const Expr e = normalised(as_integer(raw));
    if (e.is_integer()) return e.value() >= 0;
    const Interval quick = interval_of(e, facts_);
    if (quick.low && *quick.low >= 0) return true;
    if (quick.high && *quick.high < 0) return false;
    if (depth == 0 || goals_ <= 0 || sum_view(e).terms.size() > kMaxTerms) return false;
    const auto [failed, fresh] = failed_.try_emplace(e, depth);
    if (!fresh) {
      if (failed->second >= depth) return false;
      failed->second = depth;
    }
    --goals_;
    const bool proved = search(e, depth);
    if (proved) failed_.erase(e);
    return proved;
  }

  bool search(const Expr& e, int depth) {
    if (known_not_equal(e + Expr(1)) && prove(e + Expr(1), depth - 1)) return true;
    if (by_conditions(e, depth, Match::kExact)) return true;
    const std::vector<Expr> atoms = atoms_of(e);
    if (!atoms.empty() && is_decisive(e, atoms.front())) return eliminate(e, atoms.front(), depth);
    for (const Expr& atom : atoms) {
      if (eliminate(e, atom, depth)) return true;
      if (goals_ <= 0) return false;
    }
    return by_conditions(e, depth, Match::kAny);
  }

  // Is the elimination of the first atom the only way on? It is when the atom occurs linearly and nowhere else, no
  // condition names it, and its bounds on the side that matters are one, or are all needed: the goal holds exactly when
  // what remains does.
  bool is_decisive(const Expr& e, const Expr& atom) {
    const std::optional<Split> split = split_at(e, atom);
    if (!split || mentions(split->slope, atom) || mentions(split->rest, atom)) return false;
    const Interval slope = interval_of(split->slope, facts_);
    const bool up = slope.low && *slope.low > 0;
    if (!up && !(slope.high && *slope.high < 0)) return false;
    const std::vector<Expr>& conditions = facts_.conditions();
    if (std::any_of(conditions.begin(), conditions.end(), [&](const Expr& c) { return mentions(c, atom); }))
      return false;
    if (atom.kind() == Kind::kMin || atom.kind() == Kind::kMax) return (atom.kind() == Kind::kMin) == up;
    if (atom.kind() == Kind::kAbs) return !up;
    if (atom.kind() == Kind::kSelect || atom.kind() == Kind::kRead || atom.kind() == Kind::kCall) return true;
    if (atom.kind() != Kind::kSymbol) return false;
    const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(atom.name()) : nullptr;
    return entry == nullptr || (up ? entry->lower : entry->upper).size() <= 1;
  }

  bool holds(const Alternative& alternative, int depth) {
    return std::all_of(alternative.begin(), alternative.end(), [&](const Goal& goal) {
      if (!goal.facts) return prove(goal.e, depth - 1);
      Prover inner(*goal.facts);
      inner.goals_ = goals_ / 2;
      const int given = inner.goals_;
      const bool proved = inner.prove(goal.e, depth - 1);
      goals_ -= given - inner.goals_;
      return proved;
    });
  }

  Sign sign_of(const Expr& e, int depth) {
    const Interval quick = interval_of(e, facts_);
    if (quick.low && *quick.low >= 0) return Sign::kNonnegative;
    if (quick.high && *quick.high <= 0) return Sign::kNonpositive;
    if (depth <= 1) return Sign::kUnknown;
    const int shallow = std::min(depth - 1, 3);
    if (prove(e, shallow)) return Sign::kNonnegative;
    if (prove(-e, shallow)) return Sign::kNonpositive;
    return Sign::kUnknown;
  }

  // Atoms whose bounds name other atoms come first: eliminating N before i <= N - 1 would lose the connection.
  std::vector<Expr> atoms_of(const Expr& e) {
    std::vector<std::pair<int, Expr>> ranked;
    for (const Expr& term : sum_view(e).terms) {
      for (const Expr& factor : term_view(term).factors) {
        const Expr& atom =
            factor.kind() == Kind::kPow && factor.args()[0].kind() == Kind::kSymbol ? factor.args()[0] : factor;
        const bool seen =
            std::any_of(ranked.begin(), ranked.end(), [&](const auto& known) { return known.second == atom; });
        if (!seen) ranked.emplace_back(rank_of(atom, kRankDepth), atom);
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : compare(a.second, b.second) < 0;
    });
    std::vector<Expr> atoms;
    for (auto& [rank, atom] : ranked) atoms.push_back(std::move(atom));
    return atoms;
  }

  int rank_of(const Expr& e, int depth) {
    if (depth == 0 || e.is_integer()) return 0;
    int rank = 0;
    if (e.kind() == Kind::kSymbol) {
      const auto known = ranks_.find(e);
      if (known != ranks_.end()) return known->second;
      const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(e.name()) : nullptr;
      if (entry != nullptr) {
        for (const std::vector<Expr>* bounds : {&entry->lower, &entry->upper}) {
          for (const Expr& bound : *bounds) {
            if (!bound.is_integer()) rank = std::max(rank, 1 + rank_of(bound, depth - 1));
          }
        }
      }
      if (depth == kRankDepth) ranks_.emplace(e, rank);
      return rank;
    }
    for (const Expr& arg : e.args()) rank = std::max(rank, rank_of(arg, depth - 1));
    return e.kind() == Kind::kAdd || e.kind() == Kind::kMul ? rank : rank + 1;
  }

  bool eliminate(const Expr& e, const Expr& atom, int depth) {
    const std::optional<Split> split = split_at(e, atom);
    if (!split) return eliminate_from_powers(e, atom, depth);
    if (mentions(split->slope, atom)) return false;
    const Sign sign = sign_of(split->slope, depth);
    if (sign == Sign::kUnknown) return eliminate_both_ways(*split, atom, depth);
    for (const Alternative& alternative : alternatives(atom, *split, sign, depth)) {
      if (holds(alternative, depth)) return true;
      if (goals_ <= 0) return false;
    }
    return false;
  }

  // An affine function is non-negative between two points when it is at both.
  bool eliminate_both_ways(const Split& split, const Expr& atom, int depth) {
    if (atom.kind() != Kind::kSymbol || table_ == nullptr) return false;
    const Facts::Table::Entry* entry = table_->find(atom.name());
    if (entry == nullptr) return false;
    for (const Expr& low : entry->lower) {
      if (!prove(split.slope * low + split.rest, depth - 1)) continue;
      for (const Expr& high : entry->upper) {
        if (prove(split.slope * high + split.rest, depth - 1)) return true;
      }
    }
    return false;
  }

  // Terms with a power of the symbol: one factor is replaced by its bound where all the others are non-negative.
  bool eliminate_from_powers(const Expr& e, const Expr& atom, int depth) {
    if (atom.kind() != Kind::kSymbol || table_ == nullptr) return false;
    const Facts::Table::Entry* entry = table_->find(atom.name());
    if (entry == nullptr) return false;
    const SumView view = sum_view(e);
    for (const Expr& term : view.terms) {
      const TermView t = term_view(term);
      const auto at =
          std::find_if(t.factors.begin(), t.factors.end(), [&](const Expr& f) { return base_of(f) == atom; });
      if (at == t.factors.end()) continue;
      const Expr exponent = exponent_of(*at);
      if (!exponent.is_integer()) continue;
      std::vector<Expr> others{pow(atom, exponent - Expr(1))};
      for (const Expr& factor : t.factors) {
        if (&factor != &*at) others.push_back(factor);
      }
      const Expr rest = product(others);
      if (sign_of(rest, depth) != Sign::kNonnegative) continue;
      // x^n >= x^(n-1) for every integer x >= 0 and n >= 2.
      const bool grows = t.coefficient > 0 && exponent.value() >= 2 && sign_of(atom, depth) == Sign::kNonnegative;
      if (grows && prove(e - term + scale(rest, t.coefficient), depth - 1)) return true;
      for (const Expr& bound : t.coefficient > 0 ? entry->lower : entry->upper) {
        if (prove(e - term + scale(rest * bound, t.coefficient), depth - 1)) return true;
      }
    }
    return false;
  }

  // Ways to show slope * atom + rest >= 0 from the bounds of the atom, for a slope of known sign.
  std::vector<Alternative> alternatives(const Expr& atom, const Split& split, Sign sign, int depth) {
    const auto& [slope, rest] = split;
    const bool up = sign == Sign::kNonnegative;  // a lower bound of the atom is wanted
    std::vector<Alternative> result;
    const auto with = [&](const Expr& bound) { return Goal{slope * bound + rest, std::nullopt}; };
    const auto try_bound = [&](const Expr& bound) { result.push_back({with(bound)}); };
    const Interval quick = interval_of(atom, facts_);
    const std::optional<std::int64_t> constant = up ? quick.low : quick.high;
    const std::span<const Expr> a = atom.args();
    switch (atom.kind()) {
      case Kind::kSymbol: {
        const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(atom.name()) : nullptr;
        if (entry == nullptr) break;
        for (const Expr& bound : up ? entry->lower : entry->upper) {
          if (!bound.is_integer()) try_bound(bound);
        }
        break;
      }
      case Kind::kFloorDiv:
      case Kind::kCeilDiv: {
        if (!positive(a[1], depth)) break;
        // b m lies in [a - b + 1, a] for the floor and in [a, a + b - 1] for the ceiling. e >= 0 follows from b e > -b.
        const Expr& b = a[1];
        const Expr slack = b - Expr(1);
        Expr numerator = a[0];
        if (atom.kind() == Kind::kFloorDiv && up) numerator -= slack;
        if (atom.kind() == Kind::kCeilDiv && !up) numerator += slack;
        result.push_back({Goal{slope * numerator + b * rest + slack, std::nullopt}});
        if (!up && prove(a[0], std::min(depth - 1, 3))) try_bound(a[0]);  // dividing makes nothing larger
        break;
      }
      case Kind::kMod:
        if (!positive(a[1], depth)) break;
        if (up) {
          try_bound(0);
        } else {
          try_bound(a[1] - Expr(1));
          if (prove(a[0], std::min(depth - 1, 3))) try_bound(a[0]);
        }
        // The quotient helps only where it can cancel.
        if (const Expr quotient = floor_div(a[0], a[1]); mentions(rest, quotient)) try_bound(a[0] - a[1] * quotient);
        break;
      case Kind::kMin:
      case Kind::kMax: {
        const bool all = (atom.kind() == Kind::kMin) == up;
        Alternative every;
        for (const Expr& arg : a) {
          if (all) {
            every.push_back(with(arg));
          } else {
            try_bound(arg);
          }
        }
        if (all) result.push_back(std::move(every));
        break;
      }
      case Kind::kAbs:
        if (up) {
          try_bound(a[0]);
          try_bound(-a[0]);
        } else {
          result.push_back({with(a[0]), with(-a[0])});
        }
        break;
      case Kind::kSelect:
        result.push_back({Goal{slope * a[1] + rest, facts_.with_condition(a[0])},
                          Goal{slope * a[2] + rest, facts_.with_condition(logical_not(a[0]))}});
        break;
      case Kind::kPow:
        // A base of at least 1 is a lower bound of its powers.
        if (up && a[1].is_integer() && positive(a[0], depth)) try_bound(a[0]);
        break;
      case Kind::kBitAnd:
        if (up) break;
        for (const Expr& arg : a) {
          if (prove(arg, std::min(depth - 1, 3))) try_bound(arg);
        }
        break;
      case Kind::kShiftRight:
        if (!up && prove(a[0], std::min(depth - 1, 3))) try_bound(a[0]);
        break;
      case Kind::kShiftLeft:
        if (up && prove(a[0], std::min(depth - 1, 3))) try_bound(a[0]);
        break;
      case Kind::kInteger:
      case Kind::kBoolean:
      case Kind::kRead:
      case Kind::kCall:
      case Kind::kAdd:
      case Kind::kMul:
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kNot:
      case Kind::kBitOr:
      case Kind::kBitXor:
      case Kind::kBitNot: break;
    }
    if (constant) try_bound(*constant);
    return result;
  }

  bool positive(const Expr& e, int depth) {
    const Interval quick = interval_of(e, facts_);
    if (quick.low && *quick.low >= 1) return true;
    if (e.is_integer() || depth <= 1) return false;
    return prove(e - Expr(1), std::min(depth - 1, 3));
  }

  bool known_not_equal(const Expr& e) const {
    if (table_ == nullptr || !table_->literals) return false;
    const Expr inequality = ne(e, 0);
    return inequality.is_true() ||
           std::find(table_->literals->begin(), table_->literals->end(), inequality) != table_->literals->end();
  }

  enum class Match : std::uint8_t { kExact, kAny };

  // e >= 0 follows from s e - u c >= -(s - 1) for a condition c >= 0, positive s and non-negative u.
  bool by_conditions(const Expr& e, int depth, Match match) {
    std::size_t looked_at = 0;
    for (const Expr& condition : facts_.conditions()) {
      if ((ExprAccess::node(condition).symbols & ExprAccess::node(e).symbols) == 0) continue;
      if (match == Match::kExact) {
        const Expr difference = e - condition;
        if (difference.is_integer() && difference.value() >= 0) return true;
        continue;
      }
      if (++looked_at > kMaxConditions) return false;
      if (by_condition(e, condition, depth)) return true;
      if (goals_ <= 0) return false;
    }
    return false;
  }

  bool by_condition(const Expr& e, const Expr& condition, int depth) {
    for (const Expr& known : sum_view(condition).terms) {
      const TermView k = term_view(known);
      for (const Expr& term : sum_view(e).terms) {
        const TermView t = term_view(term);
        if ((t.coefficient < 0) != (k.coefficient < 0)) continue;
        const std::optional<Expr> others = quotient_of_factors(t.factors, k.factors);
        if (!others || (!others->is_one() && sign_of(*others, depth) != Sign::kNonnegative)) continue;
        const std::int64_t g = gcd_of(t.coefficient, k.coefficient);
        const std::int64_t sign = k.coefficient < 0 ? -1 : 1;
        const std::int64_t s = checked_mul(k.coefficient / g, sign);
        const std::int64_t u = checked_mul(t.coefficient / g, sign);
        if (prove(scale(e, s) - scale(condition * *others, u) + Expr(s - 1), depth - 1)) return true;
        if (goals_ <= 0) return false;
      }
    }
    return false;
  }

  // Factors of `all` that remain when those of `part` are taken out; nothing when some are missing.
  static std::optional<Expr> quotient_of_factors(std::span<const Expr> all, std::span<const Expr> part) {
    if (part.size() > all.size()) return std::nullopt;
    std::vector<Expr> rest;
    std::size_t j = 0;
    for (const Expr& factor : all) {
      if (j < part.size() && factor == part[j]) {
        ++j;
      } else {
        rest.push_back(factor);
      }
    }
    if (j != part.size()) return std::nullopt;
    return product(rest);
  }

  Facts facts_;
  const Facts::Table* table_;
  int goals_;
  std::unordered_map<Expr, int, ExprHash>
      failed_;  // goals in work or given up, with the depth they had; looked up only
  std::unordered_map<Expr, int, ExprHash> ranks_;
};

bool proves_nonnegative(const Expr& e, const Facts& facts, int goals) {
  return Prover(facts, goals).nonnegative(e);
}

// Negation that can't fail: nothing on overflow.
std::optional<Expr> minus_one_minus(const Expr& e) {
  try {
    return Expr(-1) - e;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool has_literal(const Expr& condition, const Facts& facts) {
  const Facts::Table* table = FactsAccess::table(facts);
  return table != nullptr && table->literals &&
         std::find(table->literals->begin(), table->literals->end(), condition) != table->literals->end();
}

Truth is_true_junction(const Expr& condition, const Facts& facts) {
  const bool conjunction = condition.kind() == Kind::kAnd;
  Truth result = conjunction ? Truth::kYes : Truth::kNo;
  for (const Expr& arg : condition.args()) {
    const Truth part = is_true(arg, facts);
    result = conjunction ? result && part : result || part;
  }
  return result;
}

// Does a bound of another one of these symbols name `symbol`?
bool bounds_another(const std::string& symbol, const SymbolSet& symbols, const Facts& facts) {
  return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& other) {
    if (other == symbol) return false;
    const std::optional<Expr> low = facts.lower(other);
    const std::optional<Expr> high = facts.upper(other);
    return (low && depends_on(*low, symbol)) || (high && depends_on(*high, symbol));
  });
}

}  // namespace

Truth is_nonnegative(const Expr& e, const Facts& facts) {
  if (e.is_integer()) return e.value() >= 0 ? Truth::kYes : Truth::kNo;
  const Interval quick = interval_of(e, facts);
  if (quick.low && *quick.low >= 0) return Truth::kYes;
  if (quick.high && *quick.high < 0) return Truth::kNo;
  const std::optional<Expr> negative = minus_one_minus(e);
  if (proves_nonnegative(e, facts, kFirstGoals)) return Truth::kYes;
  if (negative && proves_nonnegative(*negative, facts, kFirstGoals)) return Truth::kNo;
  const SeenSigns seen = seen_signs(e, facts);
  if (!seen.negative && proves_nonnegative(e, facts, kGoals)) return Truth::kYes;
  if (!seen.nonnegative && negative && proves_nonnegative(*negative, facts, kGoals)) return Truth::kNo;
  return Truth::kUnknown;
}

Truth is_positive(const Expr& e, const Facts& facts) {
  if (e.is_integer()) return e.value() > 0 ? Truth::kYes : Truth::kNo;
  return is_nonnegative(e - Expr(1), facts);
}

Truth is_zero(const Expr& e, const Facts& facts) {
  if (e.is_integer()) return e.value() == 0 ? Truth::kYes : Truth::kNo;
  const Interval quick = interval_of(e, facts);
  if (quick.low && quick.high && *quick.low == 0 && *quick.high == 0) return Truth::kYes;
  if ((quick.low && *quick.low > 0) || (quick.high && *quick.high < 0)) return Truth::kNo;
  const Residue residue = residue_of(e, facts);
  if (residue.modulus != 1 && residue.residue != 0) return Truth::kNo;
  const Expr equality = eq(e, 0);
  if (equality.is_true()) return Truth::kYes;
  if (equality.is_false() || has_literal(logical_not(equality), facts)) return Truth::kNo;
  const Truth nonnegative = is_nonnegative(e, facts);
  if (nonnegative == Truth::kNo) return Truth::kNo;
  const Truth nonpositive = is_nonnegative(-e, facts);
  if (nonpositive == Truth::kNo) return Truth::kNo;
  if (nonnegative == Truth::kYes && nonpositive == Truth::kYes) return Truth::kYes;
  return Truth::kUnknown;
}

Truth is_true(const Expr& raw, const Facts& facts) {
  const Expr condition = as_boolean(raw);
  if (condition.kind() == Kind::kBoolean) return condition.is_true() ? Truth::kYes : Truth::kNo;
  if (has_literal(condition, facts)) return Truth::kYes;
  if (has_literal(logical_not(condition), facts)) return Truth::kNo;
  const std::span<const Expr> a = condition.args();
  switch (condition.kind()) {
    case Kind::kLessEqual: return is_less_equal(a[0], a[1], facts);
    case Kind::kLess: return is_less(a[0], a[1], facts);
    case Kind::kEqual:
    case Kind::kNotEqual: {
      Truth equal = Truth::kUnknown;
      if (a[0].is_boolean_valued() && a[1].is_boolean_valued()) {
        const Truth left = is_true(a[0], facts);
        const Truth right = is_true(a[1], facts);
        if (left != Truth::kUnknown && right != Truth::kUnknown) equal = left == right ? Truth::kYes : Truth::kNo;
      } else {
        equal = is_equal(a[0], a[1], facts);
      }
      return condition.kind() == Kind::kEqual ? equal : !equal;
    }
    case Kind::kAnd:
    case Kind::kOr: return is_true_junction(condition, facts);
    case Kind::kNot: return !is_true(a[0], facts);
    case Kind::kSelect: {
      const Truth which = is_true(a[0], facts);
      if (which != Truth::kUnknown) return is_true(which == Truth::kYes ? a[1] : a[2], facts);
      const Truth left = is_true(a[1], facts.with_condition(a[0]));
      const Truth right = is_true(a[2], facts.with_condition(logical_not(a[0])));
      return left == right ? left : Truth::kUnknown;
    }
    case Kind::kInteger:
    case Kind::kBoolean:
    case Kind::kSymbol:
    case Kind::kRead:
    case Kind::kCall:
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kPow:
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
    case Kind::kMod:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAbs:
    case Kind::kBitAnd:
    case Kind::kBitOr:
    case Kind::kBitXor:
    case Kind::kBitNot:
    case Kind::kShiftLeft:
    case Kind::kShiftRight: break;  // never boolean valued
  }
  return Truth::kUnknown;
}

Truth is_multiple_of(const Expr& e, std::int64_t divisor, const Facts& facts) {
  if (divisor == 0) return is_zero(e, facts);
  if (e.is_integer()) return floor_remainder(e.value(), divisor) == 0 ? Truth::kYes : Truth::kNo;
  if (mod(e, divisor).is_zero()) return Truth::kYes;
  const Residue known = residue_of(e, facts);
  const std::int64_t common = gcd_of(known.modulus, divisor);
  if (known.residue % common != 0) return Truth::kNo;
  return common == gcd_of(divisor, 0) ? Truth::kYes : Truth::kUnknown;
}

std::optional<std::int64_t> constant_lower(const Expr& e, const Facts& facts) {
  std::optional<std::int64_t> best = interval_of(e, facts).low;
  // Eliminates symbols with symbolic bounds one by one: i <= N - 1 bounds N - i although N and i are unbounded.
  Expr reduced = e;
  for (int step = 0; step < kDepth; ++step) {
    std::optional<Expr> next;
    const SymbolSet names = free_symbols(reduced);
    for (const std::string& name : names) {
      if (bounds_another(name, names, facts)) continue;
      const std::optional<AffineIn> affine = affine_in(reduced, name);
      if (!affine || !affine->slope.is_integer()) continue;
      const std::optional<Expr> bound = affine->slope.value() > 0 ? facts.lower(name) : facts.upper(name);
      if (!bound || bound->is_integer()) continue;
      try {
        next = affine->slope * *bound + affine->rest;
      } catch (const Error&) {
        return best;
      }
      break;
    }
    if (!next) break;
    reduced = std::move(*next);
    const std::optional<std::int64_t> low = interval_of(reduced, facts).low;
    if (low && (!best || *low > *best)) best = low;
  }
  return best;
}

std::optional<std::int64_t> constant_upper(const Expr& e, const Facts& facts) {
  try {
    const std::optional<std::int64_t> low = constant_lower(-e, facts);
    if (!low) return std::nullopt;
    return checked_neg(*low);
  } catch (const Error&) {
    return interval_of(e, facts).high;
  }
}

}  // namespace sdfg::symbolic
