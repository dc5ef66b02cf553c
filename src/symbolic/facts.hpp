// What is known of symbols, and three-valued proofs from it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbolic/expr.hpp"

namespace sdfg::symbolic {

enum class Truth : std::uint8_t { kNo, kYes, kUnknown };
inline Truth operator!(Truth t) {
  return t == Truth::kUnknown ? t : (t == Truth::kYes ? Truth::kNo : Truth::kYes);
}
inline bool is_yes(Truth t) {
  return t == Truth::kYes;
}
inline bool is_no(Truth t) {
  return t == Truth::kNo;
}
Truth operator&&(Truth a, Truth b);
Truth operator||(Truth a, Truth b);
std::string_view to_string(Truth t) noexcept;

// An immutable table of assumptions; `with...` return extended copies (cheap: shared structure). Bounds may be symbolic
// in other symbols (a map parameter between 0 and N-1); chains are followed with a depth budget.
class Facts {
 public:
  Facts() = default;
  Facts with_bounds(const std::string& symbol, std::optional<Expr> lower,
                    std::optional<Expr> upper) const;  // inclusive; intersects what is known
  Facts with_nonnegative(const std::string& symbol) const { return with_bounds(symbol, Expr(0), std::nullopt); }
  Facts with_positive(const std::string& symbol) const { return with_bounds(symbol, Expr(1), std::nullopt); }
  // symbol == residue (mod modulus): map parameters with steps.
  Facts with_congruence(const std::string& symbol, std::int64_t modulus, std::int64_t residue) const;
  // A boolean expression that holds here: a branch condition, a non-empty range (begin <= end).
  Facts with_condition(const Expr& condition) const;

  std::optional<Expr> lower(std::string_view symbol) const;
  std::optional<Expr> upper(std::string_view symbol) const;
  std::optional<std::pair<std::int64_t, std::int64_t>> congruence(std::string_view symbol) const;  // modulus, residue
  const std::vector<Expr>& conditions() const;  // normalised "e >= 0" forms: each Expr is >= 0

  struct Table;  // internal

 private:
  friend struct FactsAccess;
  std::shared_ptr<const Table> table_;
};

// Provers. kUnknown is always a sound answer.
Truth is_nonnegative(const Expr& e, const Facts& facts);
Truth is_positive(const Expr& e, const Facts& facts);
Truth is_zero(const Expr& e, const Facts& facts);
Truth is_true(const Expr& condition, const Facts& facts);  // of a boolean expression
inline Truth is_less_equal(const Expr& a, const Expr& b, const Facts& facts) {
  return is_nonnegative(b - a, facts);
}
inline Truth is_less(const Expr& a, const Expr& b, const Facts& facts) {
  return is_positive(b - a, facts);
}
inline Truth is_equal(const Expr& a, const Expr& b, const Facts& facts) {
  return is_zero(a - b, facts);
}
// e is a multiple of `divisor` for all values.
Truth is_multiple_of(const Expr& e, std::int64_t divisor, const Facts& facts);
// Constant bounds when the facts give them.
std::optional<std::int64_t> constant_lower(const Expr& e, const Facts& facts);
std::optional<std::int64_t> constant_upper(const Expr& e, const Facts& facts);
// Bounds of e after eliminating `symbol` by its bounds in facts; nothing when e is not monotone in it provably.
std::optional<Expr> lower_over(const Expr& e, std::string_view symbol, const Expr& low, const Expr& high,
                               const Facts& facts);
std::optional<Expr> upper_over(const Expr& e, std::string_view symbol, const Expr& low, const Expr& high,
                               const Facts& facts);

// Rewrites with facts: min/max/select/mod/floor_div/comparisons that the facts decide.
Expr simplify(const Expr& e, const Facts& facts);

}  // namespace sdfg::symbolic
