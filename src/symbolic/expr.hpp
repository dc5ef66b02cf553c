// Exact integer and boolean expressions: immutable, canonical by construction, compared and ordered by structure.
//
// A symbol is its name; types and assumptions live in tables elsewhere (Facts, ir::Graph), never on occurrences. Every
// constructor below rewrites only by identities that hold for all integer values of the symbols, so an expression never
// changes its value: where the un-rewritten form would be undefined (division by zero), the rewritten one may be
// anything. Overflow of the exact 64-bit arithmetic on constants throws Error(kLimit).
//
// Canonical form: sums are flat, sorted, with one constant and one coefficient per monomial; products are flat and
// sorted with one leading constant and are distributed over sums of a product (so equal polynomials have identical
// forms); integral powers of sums with small constant exponents are expanded; min/max/and/or are flat, sorted and
// without duplicates; comparisons are `difference (==|!=|<|<=) 0` normalised by content, with kLess turned into
// kLessEqual for integers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg::symbolic {

enum class Kind : std::uint8_t {
  kInteger,   // value()
  kBoolean,   // value() is 0 or 1
  kSymbol,    // name()
  kRead,      // name()[args...]: the value of a container element; an opaque leaf with index arguments; rank 0 allowed
  kCall,      // name()(args...): an opaque pure function
  kAdd,       // args: at least two
  kMul,       // args: at least two; an integer factor comes first
  kPow,       // args: base, exponent; exponent not a small constant or base not a sum
  kFloorDiv,  // args: numerator, denominator; rounds to -infinity
  kCeilDiv,   // rounds to +infinity
  kMod,       // Python's sign rule: a - b * floor(a / b)
  kMin,
  kMax,  // args: at least two
  kAbs,
  kSelect,  // args: condition, then, else
  kEqual,
  kNotEqual,
  kLessEqual,
  kLess,  // two integer arguments; boolean result (kLess occurs only with boolean/opaque sides)
  kAnd,
  kOr,  // at least two boolean arguments
  kNot,
  kBitAnd,
  kBitOr,
  kBitXor,  // two or more, two's complement
  kBitNot,
  kShiftLeft,
  kShiftRight,  // arithmetic shifts
};

// Name of a kind for messages: "floor division", ...
std::string_view to_string(Kind kind) noexcept;

class Expr {
 public:
  Expr();                                                      // integer 0
  Expr(std::int64_t value);                                    // NOLINT(google-explicit-constructor)
  Expr(int value) : Expr(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  static Expr boolean(bool value);
  static Expr symbol(std::string name);
  static Expr read(std::string container, std::vector<Expr> indices);
  static Expr call(std::string function, std::vector<Expr> args);

  Kind kind() const noexcept;
  std::int64_t value() const noexcept;       // of kInteger and kBoolean, else 0
  const std::string& name() const noexcept;  // of kSymbol, kRead, kCall, else ""
  std::span<const Expr> args() const noexcept;
  std::uint64_t hash() const noexcept;  // of the structure; the same in every process

  bool is_integer() const noexcept { return kind() == Kind::kInteger; }
  bool is_boolean_valued() const noexcept;                // comparison, logic or boolean constant
  std::optional<std::int64_t> constant() const noexcept;  // value of kInteger
  bool is_zero() const noexcept { return is_integer() && value() == 0; }
  bool is_one() const noexcept { return is_integer() && value() == 1; }
  bool is_true() const noexcept { return kind() == Kind::kBoolean && value() == 1; }
  bool is_false() const noexcept { return kind() == Kind::kBoolean && value() == 0; }

  friend bool operator==(const Expr& a, const Expr& b) noexcept;  // structural, i.e. equality of canonical forms
  std::string str() const;                                        // to_python(*this)

  struct Node;  // internal

 private:
  friend struct ExprAccess;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// Total order by structure: -1, 0, 1. Independent of addresses and hashes.
int compare(const Expr& a, const Expr& b) noexcept;
struct ExprLess {
  bool operator()(const Expr& a, const Expr& b) const noexcept { return compare(a, b) < 0; }
};
struct ExprHash {
  std::size_t operator()(const Expr& e) const noexcept { return e.hash(); }
};

// Builders. All canonicalise.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
inline Expr& operator+=(Expr& a, const Expr& b) {
  return a = a + b;
}
inline Expr& operator-=(Expr& a, const Expr& b) {
  return a = a - b;
}
inline Expr& operator*=(Expr& a, const Expr& b) {
  return a = a * b;
}
Expr sum(std::span<const Expr> terms);
Expr product(std::span<const Expr> factors);
Expr floor_div(const Expr& a, const Expr& b);  // throws Error(kLimit) when b is the constant 0, as do ceil_div and mod
Expr ceil_div(const Expr& a, const Expr& b);
Expr mod(const Expr& a, const Expr& b);
Expr pow(const Expr& base, const Expr& exponent);  // throws for a constant negative exponent
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr abs(const Expr& a);
Expr select(const Expr& condition, const Expr& then_value, const Expr& else_value);
Expr eq(const Expr& a, const Expr& b);
Expr ne(const Expr& a, const Expr& b);
Expr lt(const Expr& a, const Expr& b);
Expr le(const Expr& a, const Expr& b);
Expr gt(const Expr& a, const Expr& b);
Expr ge(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);
Expr bit_and(const Expr& a, const Expr& b);
Expr bit_or(const Expr& a, const Expr& b);
Expr bit_xor(const Expr& a, const Expr& b);
Expr bit_not(const Expr& a);
Expr shift_left(const Expr& a, const Expr& b);
Expr shift_right(const Expr& a, const Expr& b);
// The same node kind with other arguments, canonicalised: what every rewriting uses to rebuild.
Expr rebuild(const Expr& like, std::vector<Expr> args);

// Queries.
using SymbolSet = std::set<std::string, std::less<>>;
SymbolSet free_symbols(const Expr& e);     // names of kSymbol leaves, also inside indices of reads
SymbolSet read_containers(const Expr& e);  // names of kRead leaves
bool depends_on(const Expr& e, std::string_view symbol);
bool has_reads(const Expr& e);
bool has_calls(const Expr& e);

// Substitution of symbols, simultaneous, without capture questions (names are unique binders).
using Substitution = std::map<std::string, Expr, std::less<>>;
Expr substitute(const Expr& e, const Substitution& by);
Expr substitute(const Expr& e, std::string_view symbol, const Expr& by);
// Renames containers of reads.
Expr rename_reads(const Expr& e, const std::map<std::string, std::string, std::less<>>& names);
// Bottom-up rewriting: `rule` sees a node whose arguments are already rewritten; nothing = keep.
Expr rewrite(const Expr& e, const std::function<std::optional<Expr>(const Expr&)>& rule);

// e = constant + sum of coefficient_i * term_i, terms are symbols, reads, calls or non-linear monomials; nothing if not
// integer valued.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<Expr, std::int64_t>> terms;
};
Linear linear_terms(const Expr& e);
// e = slope * symbol + rest with slope and rest free of the symbol; nothing if e is not affine in it.
struct AffineIn {
  Expr slope;
  Expr rest;
};
std::optional<AffineIn> affine_in(const Expr& e, std::string_view symbol);

// Evaluation with exact arithmetic; overflow throws Error(kLimit), division by zero Error(kLimit), an unknown name
// Error(kUsage).
struct Valuation {
  std::function<std::optional<std::int64_t>(std::string_view symbol)> symbol;
  std::function<std::optional<std::int64_t>(std::string_view container, std::span<const std::int64_t> indices)> read;
  std::function<std::optional<std::int64_t>(std::string_view function, std::span<const std::int64_t> args)> call;
};
std::int64_t evaluate(const Expr& e, const Valuation& values);  // booleans give 0 or 1
std::int64_t evaluate(const Expr& e, const std::map<std::string, std::int64_t, std::less<>>& symbols);

}  // namespace sdfg::symbolic
