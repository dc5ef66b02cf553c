// Values of symbols that satisfy the facts: one example refutes what no search can prove.
#pragma once

#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

// Signs that an expression takes for some values that satisfy the facts. False says nothing.
struct SeenSigns {
  bool negative = false;
  bool nonnegative = false;
};

SeenSigns seen_signs(const Expr& e, const Facts& facts);

}  // namespace sdfg::symbolic
