// Arithmetic of exact fractions of expressions.
#include "symbolic/rational.hpp"

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

std::optional<Expr> Rational::integer() const {
  if (denominator.is_one()) return numerator;
  return std::nullopt;
}

Rational Rational::make(const Expr& numerator, const Expr& denominator) {
  if (denominator.is_one()) return numerator;
  Rational result;
  if (denominator.is_integer()) {
    std::int64_t g = gcd_of(gcd_of(content(numerator), sum_view(as_integer(numerator)).constant), denominator.value());
    if (denominator.value() < 0) g = -g;
    result.numerator = divide_exactly(as_integer(numerator), g);
    result.denominator = denominator.value() / g;
    return result;
  }
  // An exact division leaves no remainder; otherwise a symbolic division has had its common factors cancelled.
  const Expr quotient = floor_div(numerator, denominator);
  if (mod(numerator, denominator).is_zero()) return quotient;
  const bool cancelled = quotient.kind() == Kind::kFloorDiv && !quotient.args()[1].is_integer();
  result.numerator = cancelled ? quotient.args()[0] : numerator;
  result.denominator = cancelled ? quotient.args()[1] : denominator;
  return result;
}

Rational Rational::truncated() const {
  return select(ge(numerator * denominator, 0), floor_div(numerator, denominator), ceil_div(numerator, denominator));
}

std::optional<std::pair<Expr, Expr>> Rational::over_common_denominator(const Rational& other) const {
  if (denominator.is_one() && other.denominator.is_one()) return std::pair(numerator, other.numerator);
  if (!denominator.is_integer() || !other.denominator.is_integer()) return std::nullopt;
  const Expr common = common_denominator(other);
  return std::pair(numerator * floor_div(common, denominator), other.numerator * floor_div(common, other.denominator));
}

Expr Rational::common_denominator(const Rational& other) const {
  if (denominator == other.denominator) return denominator;
  if (denominator.is_integer() && other.denominator.is_integer()) {
    const std::int64_t a = denominator.value();
    const std::int64_t b = other.denominator.value();
    return checked_mul(a / gcd_of(a, b), b);
  }
  return denominator * other.denominator;
}

Rational operator+(const Rational& a, const Rational& b) {
  if (a.denominator == b.denominator) return Rational::make(a.numerator + b.numerator, a.denominator);
  const Expr common = a.common_denominator(b);
  return Rational::make(a.numerator * floor_div(common, a.denominator) + b.numerator * floor_div(common, b.denominator),
                        common);
}

Rational operator*(const Rational& a, const Rational& b) {
  return Rational::make(a.numerator * b.numerator, a.denominator * b.denominator);
}

Rational operator/(const Rational& a, const Rational& b) {
  return Rational::make(a.numerator * b.denominator, a.denominator * b.numerator);
}

}  // namespace sdfg::symbolic
