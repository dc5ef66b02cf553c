// How sums and comparisons are laid out for readers: shared by the printers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbolic/expr.hpp"

namespace sdfg::symbolic {

enum class ConstantPlace : std::uint8_t { kFirst, kLast };

// A term of a sum; without factors it is the constant. Refers into the printed expression.
struct PrintedTerm {
  std::int64_t coefficient = 0;
  std::span<const Expr> factors;
};

// Positive terms first, so that `N - 1 - i` needs no leading sign.
std::vector<PrintedTerm> printed_terms(const Expr& e, ConstantPlace place);

std::string printed_magnitude(std::int64_t value);

// `i - N + 1 <= 0` as `i < N`.
struct PrintedComparison {
  Expr left;
  std::string op;
  Expr right;
};
PrintedComparison printed_comparison(const Expr& e);

}  // namespace sdfg::symbolic
