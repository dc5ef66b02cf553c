// Provers.
#include "symbolic/facts.hpp"

namespace sdfg::symbolic {
Truth is_nonnegative(const Expr& e, const Facts&) {
  return e.is_integer() ? (e.value() >= 0 ? Truth::kYes : Truth::kNo) : Truth::kUnknown;
}
Truth is_positive(const Expr& e, const Facts& facts) {
  return is_nonnegative(e - 1, facts);
}
Truth is_zero(const Expr& e, const Facts&) {
  return e.is_integer() ? (e.value() == 0 ? Truth::kYes : Truth::kNo) : Truth::kUnknown;
}
}  // namespace sdfg::symbolic
