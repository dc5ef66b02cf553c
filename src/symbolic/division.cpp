// Floor and ceiling division, modulo and shifts in canonical form: exact multiples of the divisor are taken out.
#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

// a = quotient * b + numerator * factor and b = denominator * factor, for a divisor that is not a constant. Cancelling
// `factor` is sound because the division is undefined where it is 0.
struct Reduced {
  Expr quotient;
  Expr numerator;
  Expr denominator;
  Expr factor = 1;
};

// monomial / divisor when that is exact for all values for which the divisor is not 0.
std::optional<Expr> exact_quotient(const Expr& monomial, const TermView& divisor) {
  if (monomial.is_integer()) {
    if (!divisor.factors.empty() || monomial.value() % divisor.coefficient != 0) return std::nullopt;
    return Expr(floor_quotient(monomial.value(), divisor.coefficient));
  }
  const TermView view = term_view(monomial);
  if (divisor.coefficient == -1 || view.coefficient % divisor.coefficient == 0) {
    std::vector<Expr> rest;
    std::size_t j = 0;
    for (const Expr& factor : view.factors) {
      if (j == divisor.factors.size() || compare(base_of(divisor.factors[j]), base_of(factor)) != 0) {
        rest.push_back(factor);
        continue;
      }
      const Expr exponent = exponent_of(factor) - exponent_of(divisor.factors[j++]);
      if (!exponent.is_integer() || exponent.value() < 0) return std::nullopt;
      if (!exponent.is_zero()) rest.push_back(pow(base_of(factor), exponent));
    }
    if (j != divisor.factors.size()) return std::nullopt;
    const std::int64_t coefficient = floor_quotient(view.coefficient, divisor.coefficient);
    return rest.empty() ? Expr(coefficient) : product(rest) * Expr(coefficient);
  }
  return std::nullopt;
}

// Product of the factors common to every term of both sums.
Expr common_factor(const Expr& a, const Expr& b) {
  const SumView first = sum_view(b);
  const SumView second = sum_view(a);
  std::int64_t coefficient = gcd_of(first.constant, second.constant);
  for (const SumView& view : {first, second}) {
    for (const Expr& term : view.terms) coefficient = gcd_of(coefficient, term_view(term).coefficient);
  }
  if (coefficient == 0) coefficient = 1;
  if (first.constant != 0 || second.constant != 0 || first.terms.empty() || second.terms.empty()) return coefficient;
  const TermView seed = term_view(first.terms.front());
  std::vector<Expr> common;
  for (const Expr& factor : seed.factors) {
    const Expr& base = base_of(factor);
    std::optional<std::int64_t> least;
    bool everywhere = true;
    for (const SumView& view : {first, second}) {
      for (const Expr& term : view.terms) {
        const TermView t = term_view(term);
        const auto at =
            std::find_if(t.factors.begin(), t.factors.end(), [&](const Expr& f) { return base_of(f) == base; });
        const std::optional<std::int64_t> exponent = at == t.factors.end() ? std::nullopt : exponent_of(*at).constant();
        everywhere = everywhere && exponent.has_value();
        if (exponent) least = least ? std::min(*least, *exponent) : *exponent;
      }
    }
    if (everywhere && least) common.push_back(pow(base, *least));
  }
  return product(common) * Expr(coefficient);
}

Expr divide_terms(const Expr& e, const TermView& divisor) {
  std::vector<Expr> quotients;
  const SumView view = sum_view(e);
  if (view.constant != 0) quotients.push_back(*exact_quotient(Expr(view.constant), divisor));
  for (const Expr& term : view.terms) quotients.push_back(*exact_quotient(term, divisor));
  return sum(quotients);
}

// Polynomial division by a sum: takes multiples of the divisor out while its leading term divides a term of the rest.
constexpr int kDivisionSteps = 32;

Reduced reduce_by_sum(const Expr& a, const Expr& b) try {
  Reduced result{0, a, b, 1};
  const TermView lead = term_view(sum_view(b).terms.front());
  for (int step = 0; step < kDivisionSteps; ++step) {
    std::optional<Expr> quotient;
    for (const Expr& term : sum_view(result.numerator).terms) {
      quotient = exact_quotient(term, lead);
      if (quotient) break;
    }
    if (!quotient) return result;
    result.quotient += *quotient;
    result.numerator -= *quotient * b;
  }
  return {0, a, b, 1};  // the term order gave no end: leave the division as it is
} catch (const Error&) {
  return {0, a, b, 1};  // coefficients of the quotient overflow, those of the division as written do not
}

Reduced reduce_by_monomial(const Expr& a, const Expr& b) {
  const TermView divisor = term_view(b);
  std::vector<Expr> quotients;
  std::vector<Expr> rest;
  const SumView view = sum_view(a);
  if (view.constant != 0) rest.emplace_back(view.constant);
  for (const Expr& term : view.terms) {
    if (std::optional<Expr> quotient = exact_quotient(term, divisor)) {
      quotients.push_back(std::move(*quotient));
    } else {
      rest.push_back(term);
    }
  }
  return {sum(quotients), sum(rest), b, 1};
}

// `b` is not an integer.
Reduced reduce(const Expr& a, const Expr& b) {
  Reduced result = b.kind() == Kind::kAdd ? reduce_by_sum(a, b) : reduce_by_monomial(a, b);
  if (result.numerator.is_zero()) return result;
  result.factor = common_factor(result.numerator, b);
  if (!result.factor.is_one()) {
    const bool constant = result.factor.is_integer();
    const TermView factor = constant ? TermView{{}, result.factor.value(), nullptr, 1} : term_view(result.factor);
    result.numerator = divide_terms(result.numerator, factor);
    result.denominator = divide_terms(b, factor);
  }
  if (leading_sign(result.denominator) < 0) {
    result.numerator = -result.numerator;
    result.denominator = -result.denominator;
    result.factor = -result.factor;
  }
  return result;
}

// floor(a / c), c > 1
Expr floor_div_constant(const Expr& a, std::int64_t c) {
  const std::int64_t g = gcd_of(content(a), c);
  Expr numerator = a;
  if (g > 1) {
    // floor((g x + r) / (g c)) = floor((x + floor(r / g)) / c)
    const std::int64_t constant = sum_view(a).constant;
    numerator = divide_exactly(a - Expr(constant), g) + Expr(floor_quotient(constant, g));
    c /= g;
    if (c == 1) return numerator;
  }
  const SumView view = sum_view(numerator);
  std::vector<Expr> quotients;
  std::vector<Expr> rest;
  quotients.emplace_back(floor_quotient(view.constant, c));
  rest.emplace_back(floor_remainder(view.constant, c));
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    const std::int64_t quotient = t.coefficient / c;
    if (quotient == 0) {
      rest.push_back(term);
      continue;
    }
    quotients.push_back(make_term(quotient, t.factors));
    rest.push_back(make_term(t.coefficient - quotient * c, t.factors));
  }
  const Expr remaining = sum(rest);
  if (remaining.is_integer()) return sum(quotients);  // the remainder of a constant is below c
  const SumView inner = sum_view(remaining);
  if (inner.terms.size() == 1 && inner.terms[0].kind() == Kind::kFloorDiv) {
    // floor((floor(x / d) + r) / c) = floor((x + r d) / (d c)) for every d and positive c
    const Expr& x = inner.terms[0].args()[0];
    const Expr& d = inner.terms[0].args()[1];
    std::int64_t scaled = 0;
    const bool fits = !d.is_integer() || (!__builtin_mul_overflow(d.value(), c, &scaled) &&
                                          !__builtin_mul_overflow(d.value(), inner.constant, &scaled));
    if (fits) {
      quotients.push_back(floor_div(x + Expr(inner.constant) * d, d * Expr(c)));
      return sum(quotients);
    }
  }
  quotients.push_back(ExprAccess::make(Kind::kFloorDiv, {remaining, Expr(c)}));
  return sum(quotients);
}

// a mod c, c > 1
Expr mod_constant(const Expr& a, std::int64_t c) {
  const SumView view = sum_view(a);
  std::vector<Expr> rest;
  rest.emplace_back(floor_remainder(view.constant, c));
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    // The representative of smallest magnitude, positive on a tie.
    std::int64_t coefficient = floor_remainder(t.coefficient, c);
    if (coefficient > c / 2) coefficient -= c;
    if (coefficient == 0) continue;
    if (t.factors.size() == 1 && t.factors[0].kind() == Kind::kMod) {
      const std::optional<std::int64_t> modulus = t.factors[0].args()[1].constant();
      std::int64_t scaled = 0;
      if (modulus && !__builtin_mul_overflow(*modulus, coefficient, &scaled) && scaled % c == 0) {
        return mod_constant(a - term + t.factors[0].args()[0] * Expr(coefficient), c);
      }
    }
    rest.push_back(make_term(coefficient, t.factors));
  }
  const Expr remaining = sum(rest);
  if (remaining.is_integer()) return floor_remainder(remaining.value(), c);
  const std::int64_t g = gcd_of(content(remaining), c);
  if (g == 1) return ExprAccess::make(Kind::kMod, {remaining, Expr(c)});
  // (g x + r) mod (g c) = g ((x + floor(r / g)) mod c) + r mod g
  const std::int64_t constant = sum_view(remaining).constant;
  const Expr inner = divide_exactly(remaining - Expr(constant), g) + Expr(floor_quotient(constant, g));
  const Expr modulo = c / g == 1 ? Expr(0) : mod_constant(inner, c / g);
  return scale(modulo, g) + Expr(floor_remainder(constant, g));
}

constexpr std::int64_t kBits = 63;

void check_shift(const Expr& amount, std::string_view operation) {
  if (amount.is_integer() && amount.value() < 0) {
    throw Error(ErrorClass::kLimit,
                std::string(operation) + " by the negative amount " + std::to_string(amount.value()));
  }
}

}  // namespace

Expr floor_div(const Expr& raw_a, const Expr& raw_b) {
  const Expr& a = as_integer(raw_a);
  const Expr& b = as_integer(raw_b);
  if (b.is_integer()) {
    const std::int64_t c = b.value();
    if (c == 0) throw_division_by_zero("floor division", a);
    if (a.is_integer()) return floor_quotient(a.value(), c);
    if (c == 1) return a;
    if (c == -1) return -a;
    return c > 0 ? floor_div_constant(a, c) : floor_div_constant(-a, checked_neg(c));
  }
  if (a.is_zero()) return 0;
  if (a == b) return 1;
  const Reduced r = reduce(a, b);
  if (r.numerator.is_zero()) return r.quotient;
  if (r.denominator.is_integer()) return r.quotient + floor_div(r.numerator, r.denominator);
  return r.quotient + ExprAccess::make(Kind::kFloorDiv, {r.numerator, r.denominator});
}

Expr ceil_div(const Expr& raw_a, const Expr& raw_b) {
  const Expr& a = as_integer(raw_a);
  const Expr& b = as_integer(raw_b);
  if (b.is_integer()) {
    const std::int64_t c = b.value();
    if (c == 0) throw_division_by_zero("ceiling division", a);
    // One form for constant divisors, so that ceil(N / 2) and floor((N + 1) / 2) are equal.
    if (c < 0) return -floor_div(a, checked_neg(c));
    if (a.is_integer()) return checked_add(floor_quotient(a.value(), c), floor_remainder(a.value(), c) != 0 ? 1 : 0);
    return floor_div(a + Expr(c - 1), c);
  }
  if (a.is_zero()) return 0;
  if (a == b) return 1;
  const Reduced r = reduce(a, b);
  if (r.numerator.is_zero()) return r.quotient;
  if (r.denominator.is_integer()) return r.quotient + ceil_div(r.numerator, r.denominator);
  return r.quotient + ExprAccess::make(Kind::kCeilDiv, {r.numerator, r.denominator});
}

Expr mod(const Expr& raw_a, const Expr& raw_b) {
  const Expr& a = as_integer(raw_a);
  const Expr& b = as_integer(raw_b);
  if (b.is_integer()) {
    const std::int64_t c = b.value();
    if (c == 0) throw_division_by_zero("modulo", a);
    if (a.is_integer()) return floor_remainder(a.value(), c);
    if (c == 1 || c == -1) return 0;
    return c > 0 ? mod_constant(a, c) : -mod_constant(-a, checked_neg(c));
  }
  if (a.is_zero() || a == b) return 0;
  const Reduced r = reduce(a, b);
  if (r.numerator.is_zero()) return 0;
  if (r.denominator.is_integer()) return r.factor * mod(r.numerator, r.denominator);
  return r.factor * ExprAccess::make(Kind::kMod, {r.numerator, r.denominator});
}

Expr shift_left(const Expr& raw_a, const Expr& raw_amount) {
  const Expr& a = as_integer(raw_a);
  const Expr& amount = as_integer(raw_amount);
  check_shift(amount, "left shift");
  if (a.is_zero()) return 0;
  if (amount.is_integer()) {
    if (amount.value() < kBits) return a * Expr(std::int64_t{1} << amount.value());
    if (a.is_integer()) throw_overflow("<<", a.value(), amount.value());
  }
  return ExprAccess::make(Kind::kShiftLeft, {a, amount});
}

Expr shift_right(const Expr& raw_a, const Expr& raw_amount) {
  const Expr& a = as_integer(raw_a);
  const Expr& amount = as_integer(raw_amount);
  check_shift(amount, "right shift");
  if (a.is_zero()) return 0;
  if (amount.is_integer()) {
    if (amount.value() < kBits) return floor_div(a, Expr(std::int64_t{1} << amount.value()));
    return select(lt(a, 0), -1, 0);
  }
  return ExprAccess::make(Kind::kShiftRight, {a, amount});
}

}  // namespace sdfg::symbolic
