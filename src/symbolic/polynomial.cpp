// Sums, products and powers in canonical form: sorted monomials with one coefficient each, products distributed over
// sums.
#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

// Writes merged, sorted terms into one expression.
class SumBuilder {
 public:
  explicit SumBuilder(std::size_t capacity) { args_.reserve(capacity + 1); }

  void term(const TermView& view) {
    if (view.coefficient == 0) return;
    args_.push_back(view.coefficient == view.source_coefficient ? *view.source
                                                                : make_term(view.coefficient, view.factors));
  }

  Expr finish(std::int64_t constant) {
    if (args_.empty()) return constant;
    if (constant == 0 && args_.size() == 1) return std::move(args_.front());
    if (constant != 0) args_.insert(args_.begin(), Expr(constant));
    return ExprAccess::make(Kind::kAdd, std::move(args_));
  }

 private:
  std::vector<Expr> args_;
};

bool same_factors(std::span<const Expr> a, std::span<const Expr> b) {
  return compare_factors(a, b) == 0;
}

int compare_factor(const Expr& a, const Expr& b) noexcept {
  if (const int bases = compare(base_of(a), base_of(b)); bases != 0) return bases;
  const bool a_power = a.kind() == Kind::kPow;
  const bool b_power = b.kind() == Kind::kPow;
  if (a_power && b_power) return compare(a.args()[1], b.args()[1]);
  return static_cast<int>(a_power) - static_cast<int>(b_power);
}

Expr multiply(const Expr& a, const Expr& b);

std::vector<Expr> terms_of(const Expr& e) {
  if (e.kind() == Kind::kAdd) return {e.args().begin(), e.args().end()};
  return {e};
}

std::size_t term_count(const Expr& e) {
  return e.kind() == Kind::kAdd ? e.args().size() : 1;
}

// Both are monomials or integers.
Expr multiply_monomials(const Expr& a, const Expr& b) {
  if (a.is_integer()) return scale(b, a.value());
  if (b.is_integer()) return scale(a, b.value());
  const TermView x = term_view(a);
  const TermView y = term_view(b);
  std::int64_t coefficient = checked_mul(x.coefficient, y.coefficient);
  std::vector<Expr> factors;
  factors.reserve(x.factors.size() + y.factors.size());
  std::vector<Expr> pending;  // merged powers that are no longer powers
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.factors.size() || j < y.factors.size()) {
    int order = 0;
    if (i == x.factors.size()) {
      order = 1;
    } else if (j == y.factors.size()) {
      order = -1;
    } else {
      order = compare(base_of(x.factors[i]), base_of(y.factors[j]));
    }
    if (order < 0) {
      factors.push_back(x.factors[i++]);
    } else if (order > 0) {
      factors.push_back(y.factors[j++]);
    } else {
      const Expr& base = base_of(x.factors[i]);
      const Expr exponent = exponent_of(x.factors[i]) + exponent_of(y.factors[j]);
      if (base.is_boolean_valued()) {
        factors.push_back(base);  // 0 and 1 are their own powers
      } else if (exponent.is_zero()) {
        // contributes 1
      } else if (exponent.is_one()) {
        pending.push_back(base);
      } else if (base.is_integer() && exponent.is_integer()) {
        pending.push_back(pow(base, exponent));
      } else {
        factors.push_back(ExprAccess::make(Kind::kPow, {base, exponent}));
      }
      ++i;
      ++j;
    }
  }
  Expr result = factors.empty() ? Expr(coefficient) : make_term(coefficient, factors);
  for (const Expr& factor : pending) result = multiply(result, factor);
  return result;
}

bool has_factor_with_base(const Expr& monomial, const Expr& base) {
  if (monomial.is_integer()) return false;
  const TermView view = term_view(monomial);
  return std::any_of(view.factors.begin(), view.factors.end(), [&](const Expr& f) { return base_of(f) == base; });
}

Expr distribute(const Expr& a, const Expr& b) {
  const std::vector<Expr> left = terms_of(a);
  const std::vector<Expr> right = terms_of(b);
  std::vector<Expr> products;
  products.reserve(left.size() * right.size());
  for (const Expr& x : left) {
    for (const Expr& y : right) products.push_back(multiply_monomials(x, y));
  }
  return sum(products);
}

// Sums beyond the term budget become factors of one product.
Expr multiply_unexpanded(const Expr& a, const Expr& b) {
  const auto as_monomial_factors = [](const Expr& e) {
    return e.kind() == Kind::kAdd ? std::span(&e, 1) : term_view(e).factors;
  };
  const std::span<const Expr> x = as_monomial_factors(a);
  const std::span<const Expr> y = as_monomial_factors(b);
  std::int64_t coefficient = 1;
  if (a.kind() != Kind::kAdd) coefficient = checked_mul(coefficient, term_view(a).coefficient);
  if (b.kind() != Kind::kAdd) coefficient = checked_mul(coefficient, term_view(b).coefficient);
  std::vector<Expr> factors(x.begin(), x.end());
  for (const Expr& factor : y) {
    const auto at = std::lower_bound(factors.begin(), factors.end(), factor,
                                     [](const Expr& p, const Expr& q) { return compare(base_of(p), base_of(q)) < 0; });
    if (at != factors.end() && base_of(*at) == base_of(factor)) {
      const Expr exponent = exponent_of(*at) + exponent_of(factor);
      if (exponent.is_zero()) {
        factors.erase(at);
      } else {
        *at = exponent.is_one() ? base_of(factor) : ExprAccess::make(Kind::kPow, {base_of(factor), exponent});
      }
    } else {
      factors.insert(at, factor);
    }
  }
  if (factors.size() <= 1) return factors.empty() ? Expr(coefficient) : scale(factors[0], coefficient);
  return make_term(coefficient, factors);
}

Expr multiply(const Expr& a, const Expr& b) {
  const bool a_sum = a.kind() == Kind::kAdd;
  const bool b_sum = b.kind() == Kind::kAdd;
  if (a.is_integer()) return scale(b, a.value());
  if (b.is_integer()) return scale(a, b.value());
  if (!a_sum && !b_sum) return multiply_monomials(a, b);
  if (a_sum && !b_sum && has_factor_with_base(b, a)) return multiply_unexpanded(a, b);
  if (b_sum && !a_sum && has_factor_with_base(a, b)) return multiply_unexpanded(a, b);
  const std::size_t left = term_count(a);
  const std::size_t right = term_count(b);
  if (left == 1 || right == 1 || left * right <= kTermBudget) return distribute(a, b);
  return multiply_unexpanded(a, b);
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (std::int64_t i = 0; i < exponent; ++i) result = checked_mul(result, base);  // at most 63 rounds before overflow
  return result;
}

// Whether the n-th power of a sum of k different atoms stays within the budget at every step, as repeated products
// would.
bool power_fits_budget(std::size_t k, std::int64_t n) {
  std::size_t count = 1;
  for (std::int64_t i = 1; i < n; ++i) {
    count = count * (k + static_cast<std::size_t>(i) - 1) / static_cast<std::size_t>(i);
    if (count * k > kTermBudget) return false;
  }
  return true;
}

}  // namespace

const Expr& as_integer(const Expr& e) noexcept {
  static const Expr& zero = *new Expr(0);
  static const Expr& one = *new Expr(1);
  if (e.kind() != Kind::kBoolean) return e;
  return e.value() != 0 ? one : zero;
}

const Expr& base_of(const Expr& factor) noexcept {
  return factor.kind() == Kind::kPow ? factor.args()[0] : factor;
}

Expr exponent_of(const Expr& factor) {
  return factor.kind() == Kind::kPow ? factor.args()[1] : Expr(1);
}

TermView term_view(const Expr& e) {
  if (e.kind() != Kind::kMul) return {std::span(&e, 1), 1, &e, 1};
  const std::span<const Expr> args = e.args();
  if (!args[0].is_integer()) return {args, 1, &e, 1};
  return {args.subspan(1), args[0].value(), &e, args[0].value()};
}

SumView sum_view(const Expr& e) {
  if (e.is_integer()) return {e.value(), {}};
  if (e.kind() != Kind::kAdd) return {0, std::span(&e, 1)};
  const std::span<const Expr> args = e.args();
  if (args[0].is_integer()) return {args[0].value(), args.subspan(1)};
  return {0, args};
}

// Monomials with more factors come first, then the structural order of the factors decides.
int compare_factors(std::span<const Expr> a, std::span<const Expr> b) noexcept {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int order = compare_factor(a[i], b[i]); order != 0) return order;
  }
  return 0;
}

Expr make_term(std::int64_t coefficient, std::span<const Expr> factors) {
  if (coefficient == 0) return 0;
  if (coefficient == 1 && factors.size() == 1) return factors[0];
  std::vector<Expr> args;
  args.reserve(factors.size() + 1);
  if (coefficient != 1) args.emplace_back(coefficient);
  args.insert(args.end(), factors.begin(), factors.end());
  return ExprAccess::make(Kind::kMul, std::move(args));
}

Expr scale(const Expr& a, std::int64_t k) {
  if (k == 1) return a;
  if (k == 0) return 0;
  return add_scaled(Expr(), a, k);
}

Expr add_scaled(const Expr& a, const Expr& b, std::int64_t k) {
  const SumView x = sum_view(a);
  const SumView y = sum_view(b);
  const std::int64_t constant = checked_add(x.constant, checked_mul(k, y.constant));
  if (y.terms.empty() && constant == x.constant) return a;
  SumBuilder builder(x.terms.size() + y.terms.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    if (j == y.terms.size()) {
      builder.term(term_view(x.terms[i++]));
      continue;
    }
    TermView right = term_view(y.terms[j]);
    if (i == x.terms.size()) {
      right.coefficient = checked_mul(right.coefficient, k);
      builder.term(right);
      ++j;
      continue;
    }
    TermView left = term_view(x.terms[i]);
    const int order = compare_factors(left.factors, right.factors);
    if (order < 0) {
      builder.term(left);
      ++i;
    } else if (order > 0) {
      right.coefficient = checked_mul(right.coefficient, k);
      builder.term(right);
      ++j;
    } else {
      left.coefficient = checked_add(left.coefficient, checked_mul(right.coefficient, k));
      builder.term(left);
      ++i;
      ++j;
    }
  }
  return builder.finish(constant);
}

Expr operator+(const Expr& a, const Expr& b) {
  return add_scaled(as_integer(a), as_integer(b), 1);
}
Expr operator-(const Expr& a, const Expr& b) {
  return add_scaled(as_integer(a), as_integer(b), -1);
}
Expr operator-(const Expr& a) {
  return scale(as_integer(a), -1);
}
Expr operator*(const Expr& a, const Expr& b) {
  return multiply(as_integer(a), as_integer(b));
}

Expr sum(std::span<const Expr> terms) {
  std::int64_t constant = 0;
  std::vector<TermView> views;
  views.reserve(terms.size());
  for (const Expr& term : terms) {
    const SumView view = sum_view(as_integer(term));
    constant = checked_add(constant, view.constant);
    for (const Expr& t : view.terms) views.push_back(term_view(t));
  }
  std::stable_sort(views.begin(), views.end(),
                   [](const TermView& a, const TermView& b) { return compare_factors(a.factors, b.factors) < 0; });
  SumBuilder builder(views.size());
  for (std::size_t i = 0; i < views.size();) {
    TermView merged = views[i++];
    for (; i < views.size() && same_factors(merged.factors, views[i].factors); ++i) {
      merged.coefficient = checked_add(merged.coefficient, views[i].coefficient);
    }
    builder.term(merged);
  }
  return builder.finish(constant);
}

Expr product(std::span<const Expr> factors) {
  // Monomials first: fewer intermediate terms, and the same order whatever the order of the arguments.
  std::vector<Expr> ordered;
  ordered.reserve(factors.size());
  for (const Expr& factor : factors) ordered.push_back(as_integer(factor));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Expr& a, const Expr& b) {
    const std::size_t x = term_count(a);
    const std::size_t y = term_count(b);
    return x != y ? x < y : compare(a, b) < 0;
  });
  Expr result = 1;
  for (const Expr& factor : ordered) result = multiply(result, factor);
  return result;
}

Expr pow(const Expr& raw_base, const Expr& raw_exponent) {
  const Expr& base = as_integer(raw_base);
  const Expr& exponent = as_integer(raw_exponent);
  if (base.is_one()) return 1;
  if (!exponent.is_integer()) {
    if (base.kind() == Kind::kPow) return pow(base.args()[0], base.args()[1] * exponent);
    return ExprAccess::make(Kind::kPow, {base, exponent});
  }
  const std::int64_t n = exponent.value();
  if (n < 0) {
    throw Error(ErrorClass::kLimit, "a power with the negative exponent " + std::to_string(n) +
                                        " is not an integer expression: the base is " + base.str());
  }
  if (n == 0) return 1;
  if (n == 1) return base;
  switch (base.kind()) {
    case Kind::kInteger: return integer_power(base.value(), n);
    case Kind::kPow: return pow(base.args()[0], base.args()[1] * exponent);
    case Kind::kMul: {
      Expr result = 1;
      for (const Expr& factor : base.args()) result = multiply(result, pow(factor, exponent));
      return result;
    }
    case Kind::kAdd: {
      if (n > kMaxExpandedExponent || !power_fits_budget(base.args().size(), n)) break;
      Expr result = base;
      for (std::int64_t i = 1; i < n; ++i) result = distribute(result, base);
      return result;
    }
    case Kind::kBoolean:
    case Kind::kSymbol:
    case Kind::kRead:
    case Kind::kCall:
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
    case Kind::kMod:
    case Kind::kMin:
    case Kind::kMax:
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
    case Kind::kShiftRight: break;
  }
  if (base.is_boolean_valued()) return base;  // 0 and 1 are their own powers
  return ExprAccess::make(Kind::kPow, {base, exponent});
}

std::int64_t content(const Expr& e) {
  std::int64_t result = 0;
  for (const Expr& term : sum_view(e).terms) result = gcd_of(result, term_view(term).coefficient);
  return result;
}

Expr divide_exactly(const Expr& e, std::int64_t divisor) {
  if (divisor == 1) return e;
  const SumView view = sum_view(e);
  std::vector<Expr> terms;
  terms.reserve(view.terms.size() + 1);
  if (view.constant != 0) terms.emplace_back(floor_quotient(view.constant, divisor));
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    terms.push_back(make_term(floor_quotient(t.coefficient, divisor), t.factors));
  }
  return sum(terms);
}

int leading_sign(const Expr& e) {
  const SumView view = sum_view(e);
  const std::int64_t leading = view.terms.empty() ? view.constant : term_view(view.terms.front()).coefficient;
  return leading < 0 ? -1 : (leading > 0 ? 1 : 0);
}

}  // namespace sdfg::symbolic
