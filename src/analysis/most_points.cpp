// A minimum is at most each of its arguments.
#include "analysis/most_points.hpp"

#include <algorithm>

namespace sdfg::analysis {

namespace {

using symbolic::Expr;

std::optional<std::int64_t> upper(const Expr& e, const symbolic::Facts& facts, int depth) {
  std::optional<std::int64_t> best = symbolic::constant_upper(e, facts);
  if (depth == 0) return best;
  for (const auto& [term, coefficient] : symbolic::linear_terms(e).terms) {
    if (term.kind() != symbolic::Kind::kMin || coefficient <= 0) continue;
    const Expr rest = e - Expr(coefficient) * term;
    for (const Expr& argument : term.args()) {
      const auto bound = upper(rest + Expr(coefficient) * argument, facts, depth - 1);
      if (bound) best = best ? std::min(*best, *bound) : *bound;
    }
  }
  return best;
}

}  // namespace

std::optional<std::int64_t> most_points(const ir::Range& r, const symbolic::Facts& facts) {
  const auto span = upper(r.end - r.begin, facts, 3);
  if (!span) return std::nullopt;
  const std::int64_t step = std::max<std::int64_t>(r.step.constant().value_or(1), 1);
  return std::max<std::int64_t>(*span < 0 ? 1 : *span / step + 1, 1);
}

}  // namespace sdfg::analysis
