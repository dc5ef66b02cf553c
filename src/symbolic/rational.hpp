// Exact fractions of expressions: what the division sign of expression text means until it cancels or is rounded.
#pragma once

#include <optional>
#include <utility>

#include "symbolic/expr.hpp"

namespace sdfg::symbolic {

// numerator / denominator in lowest terms as far as constants and common factors tell; a constant denominator is
// positive.
struct Rational {
  Expr numerator;
  Expr denominator = 1;

  Rational() = default;
  Rational(Expr value) : numerator(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  std::optional<Expr> integer() const;  // the value when the denominator has cancelled
  Rational negated() const { return make(-numerator, denominator); }
  // Towards zero, as a cast to an integer type does.
  Rational truncated() const;
  // Numerators over a common positive constant denominator; nothing when a denominator is symbolic and they differ.
  std::optional<std::pair<Expr, Expr>> over_common_denominator(const Rational& other) const;
  Expr common_denominator(const Rational& other) const;

  static Rational make(const Expr& numerator, const Expr& denominator);
};

Rational operator+(const Rational& a, const Rational& b);
Rational operator*(const Rational& a, const Rational& b);
Rational operator/(const Rational& a, const Rational& b);

}  // namespace sdfg::symbolic
