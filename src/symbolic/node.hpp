// Internals of Expr shared by the sources of this room: the node, term views of sums and products, checked arithmetic.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbolic/expr.hpp"

namespace sdfg::symbolic {

// Everything below `args` is derived from kind, value, name and args.
struct Expr::Node {
  Kind kind = Kind::kInteger;
  bool boolean = false;     // boolean valued
  bool polynomial = true;   // integers, symbols, sums, products and constant powers only
  bool reads = false;       // contains kRead
  bool calls = false;       // contains kCall
  std::uint8_t faults = 0;  // nesting of operations that may be undefined (reads, calls, division by a non-constant)
  std::uint16_t depth = 0;  // of the tree; bounded by kMaxDepth so that recursion never exhausts the stack
  std::int64_t value = 0;
  std::uint64_t hash = 0;
  std::uint64_t symbols = 0;  // Bloom filter of the symbols inside: a clear bit proves absence
  std::string name;
  std::vector<Expr> args;
};

inline constexpr int kMaxDepth = 1000;
// Products of sums with more terms than this stay products.
inline constexpr std::size_t kTermBudget = 256;
inline constexpr std::int64_t kMaxExpandedExponent = 8;

struct ExprAccess {
  static const Expr::Node& node(const Expr& e) noexcept;
  static const Expr::Node* identity(const Expr& e) noexcept { return e.node_.get(); }
  // Wraps already canonical parts; never rewrites.
  static Expr make(Kind kind, std::vector<Expr> args);
  static Expr make_leaf(Kind kind, std::int64_t value, std::string name, std::vector<Expr> args);
};

std::uint64_t symbol_bit(std::string_view name) noexcept;

[[noreturn]] void throw_overflow(std::string_view operation, std::int64_t a, std::int64_t b);
[[noreturn]] void throw_division_by_zero(std::string_view operation, const Expr& numerator);

std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_sub(std::int64_t a, std::int64_t b);
std::int64_t checked_mul(std::int64_t a, std::int64_t b);
std::int64_t checked_neg(std::int64_t a);
// Quotient and remainder rounding to -infinity; b != 0; throws for the one overflowing pair.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b);
std::int64_t floor_remainder(std::int64_t a, std::int64_t b);
// |gcd| as a non-negative int64; gcd(0, 0) = 0. Throws when the result is 2^63.
std::int64_t gcd_of(std::int64_t a, std::int64_t b);

// A monomial seen without building it: coefficient times the factors of a product (or the one atom). Refers into
// `source`.
struct TermView {
  std::span<const Expr> factors;
  std::int64_t coefficient = 1;
  const Expr* source = nullptr;  // the expression with `source_coefficient` as its coefficient
  std::int64_t source_coefficient = 1;
};
// `e` must not be a sum or an integer.
TermView term_view(const Expr& e);
// Terms of `e` without the constant, which is returned apart.
struct SumView {
  std::int64_t constant = 0;
  std::span<const Expr> terms;  // each a monomial
};
SumView sum_view(const Expr& e);
int compare_factors(std::span<const Expr> a, std::span<const Expr> b) noexcept;
Expr make_term(std::int64_t coefficient, std::span<const Expr> factors);
// A factor seen as base and exponent.
const Expr& base_of(const Expr& factor) noexcept;
Expr exponent_of(const Expr& factor);

// a + k * b
Expr add_scaled(const Expr& a, const Expr& b, std::int64_t k);
Expr scale(const Expr& a, std::int64_t k);
// Boolean constants as integers: what arithmetic works on.
const Expr& as_integer(const Expr& e) noexcept;
// Comparison with zero of what is not boolean valued.
Expr as_boolean(const Expr& e);
// Content: gcd of the coefficients of the non-constant terms (0 when there are none).
std::int64_t content(const Expr& e);
// e with every coefficient and the constant divided exactly; the caller knows that it is exact.
Expr divide_exactly(const Expr& e, std::int64_t divisor);
// Sign of the coefficient of the first non-constant term, of the constant when there is none.
int leading_sign(const Expr& e);

}  // namespace sdfg::symbolic
