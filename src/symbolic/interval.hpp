// Constant intervals and residue classes of expressions under facts: the quick part of every proof.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

// Inclusive; a missing bound is infinite.
struct Interval {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
};

Interval interval_of(const Expr& e, const Facts& facts);

// All values are `residue` modulo `modulus`; modulus 0 means the one value `residue`, modulus 1 means nothing is known.
struct Residue {
  std::int64_t modulus = 1;
  std::int64_t residue = 0;
};

Residue residue_of(const Expr& e, const Facts& facts);

}  // namespace sdfg::symbolic
