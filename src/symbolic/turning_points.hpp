// Where an expression may be least or largest while a symbol runs over a range.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

// low, low + step, ..., high: high is one of them, so the range is not empty; step >= 1.
struct Lattice {
  Expr low;
  Expr high;
  std::int64_t step = 1;
};

// Values of the symbol in the lattice: its ends, and the places around which parts of `e` turn or jump (multiples of
// divisors, crossings in minima and maxima, edges of conditions), as far as the facts show that they lie inside. Where
// `e` has one such part, and that is affine in the symbol inside, both extremes are taken at one of them; of a small
// constant range all values are returned. Never more than kTurningPoints.
inline constexpr std::size_t kTurningPoints = 24;
std::vector<Expr> turning_points(const Expr& e, const std::string& symbol, const Lattice& over, const Facts& facts);

}  // namespace sdfg::symbolic
