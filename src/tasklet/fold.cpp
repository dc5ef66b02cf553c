// Folding of signs and casts of literals.
#include "tasklet/fold.hpp"

#include <limits>

#include "tasklet/value.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

std::int64_t wrapping_negate(std::int64_t v) {
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v));
}

Value value_of(const Literal& literal) {
  return std::visit(
      Overloaded{[](bool v) { return Value::boolean(v); }, [](std::int64_t v) { return Value::integer(v); },
                 [](std::uint64_t v) { return Value::integer(static_cast<std::int64_t>(v), ScalarType::kUInt64); },
                 [](double v) { return Value::floating(v); }, [](std::complex<double> v) { return Value::complex(v); }},
      literal.value);
}

Expr literal_of(const Value& value) {
  const ScalarType type = value.type();
  if (type == ScalarType::kBool) return Expr::literal(value.as_bool());
  if (is_complex(type)) return Expr::literal(value.as_complex(), type);
  if (is_floating(type)) return Expr::literal(value.as_double(), type);
  return Expr::literal(value.as_int(), type);
}

}  // namespace

std::optional<Expr> negate_literal(const Expr& e) {
  const Literal* literal = std::get_if<Literal>(&e.node());
  if (literal == nullptr || std::holds_alternative<bool>(literal->value)) return std::nullopt;
  Literal negated = *literal;
  if (auto* v = std::get_if<std::int64_t>(&negated.value)) {
    if (*v == std::numeric_limits<std::int64_t>::min() && literal->weak) return std::nullopt;
    *v = wrapping_negate(*v);
  } else if (auto* u = std::get_if<std::uint64_t>(&negated.value)) {
    // 9223372036854775808 alone is a weak uint64; with its sign it is the smallest int64.
    if (literal->weak && *u == std::uint64_t{1} << 63) {
      negated.value = std::numeric_limits<std::int64_t>::min();
    } else if (literal->weak) {
      return std::nullopt;
    } else {
      *u = 0 - *u;
    }
  } else if (auto* d = std::get_if<double>(&negated.value)) {
    *d = -*d;
  } else if (auto* c = std::get_if<std::complex<double>>(&negated.value)) {
    *c = -*c;
  }
  if (!literal->weak && e.type().is_scalar() && !std::holds_alternative<double>(negated.value) &&
      !std::holds_alternative<std::complex<double>>(negated.value)) {
    return literal_of(value_of(negated).cast(e.type().scalar())).with_column(e.column());
  }
  return Expr(negated, e.type(), e.column());
}

std::optional<Expr> cast_literal(const Type& to, const Expr& e) {
  const Literal* literal = std::get_if<Literal>(&e.node());
  if (literal == nullptr || !to.is_scalar()) return std::nullopt;
  Value value = value_of(*literal);
  if (e.type().is_scalar() && !literal->weak) value = value.cast(e.type().scalar());
  return literal_of(value.cast(to.scalar())).with_column(e.column());
}

std::optional<std::int64_t> integer_literal(const Expr& e) {
  const Literal* literal = std::get_if<Literal>(&e.node());
  if (literal == nullptr) return std::nullopt;
  if (const auto* v = std::get_if<std::int64_t>(&literal->value)) return *v;
  if (const auto* u = std::get_if<std::uint64_t>(&literal->value)) {
    if (*u <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*u);
  }
  return std::nullopt;
}

}  // namespace sdfg::tasklet
