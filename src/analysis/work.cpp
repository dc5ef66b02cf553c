// Multiplies trip counts along nests.
#include "analysis/work.hpp"

#include <set>

namespace sdfg::analysis {

namespace {

using symbolic::Expr;

struct Estimate {
  bool known = true;
  std::vector<Expr> factors;
  Expr count() const { return symbolic::product(factors); }
};

// Trip count without the guard against empty ranges: an estimate that is compared with a threshold needs none.
Expr trips(const ir::Range& r) {
  if (r.step.is_one()) return r.end - r.begin + 1;
  return symbolic::floor_div(r.end - r.begin, r.step) + 1;
}

Estimate work_of(const ir::Sequence& s, std::set<std::string, std::less<>>& bound, const symbolic::Facts& facts);

Estimate times(const Expr& count, const Estimate& inner, const std::set<std::string, std::less<>>& bound) {
  for (const std::string& name : symbolic::free_symbols(count)) {
    if (bound.contains(name)) return {false, {}};
  }
  if (!inner.known) return inner;
  Estimate out;
  out.factors.push_back(count);
  out.factors.insert(out.factors.end(), inner.factors.begin(), inner.factors.end());
  return out;
}

Estimate work_of(const ir::Element& e, std::set<std::string, std::less<>>& bound, const symbolic::Facts& facts) {
  if (const auto* m = std::get_if<ir::Map>(&e.kind)) {
    for (const std::string& p : m->params) bound.insert(p);
    Estimate inner = work_of(m->body, bound, facts);
    for (std::size_t d = m->ranges.size(); d-- > 0;) inner = times(trips(m->ranges[d]), inner, bound);
    return inner;
  }
  if (const auto* f = std::get_if<ir::For>(&e.kind)) {
    const auto loop = ir::canonical(*f);
    if (!loop) return {false, {}};
    bound.insert(f->variable);
    const Estimate inner = work_of(f->body, bound, facts);
    const ir::Range r = loop->step > 0 ? ir::Range{loop->begin, loop->end, Expr(loop->step), 1}
                                       : ir::Range{loop->end, loop->begin, Expr(-loop->step), 1};
    return times(trips(r), inner, bound);
  }
  if (std::holds_alternative<ir::While>(e.kind) || std::holds_alternative<ir::Consume>(e.kind)) return {false, {}};
  if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
    for (const auto& item : a->items) bound.insert(item.symbol);
  }
  Estimate largest;
  for (const ir::Sequence* child : ir::child_sequences(e)) {
    const Estimate inner = work_of(*child, bound, facts);
    if (!inner.known) return inner;
    if (largest.factors.empty() || symbolic::is_less(largest.count(), inner.count(), facts) == symbolic::Truth::kYes)
      largest = inner;
  }
  return largest;
}

Estimate work_of(const ir::Sequence& s, std::set<std::string, std::less<>>& bound, const symbolic::Facts& facts) {
  Estimate largest;
  for (const auto& item : s.items) {
    const Estimate one = work_of(*item, bound, facts);
    if (!one.known) return one;
    if (largest.factors.empty() || symbolic::is_less(largest.count(), one.count(), facts) == symbolic::Truth::kYes)
      largest = one;
  }
  return largest;
}

}  // namespace

std::optional<std::vector<Expr>> work_of(const ir::Map& map, const symbolic::Facts& facts) {
  std::set<std::string, std::less<>> bound(map.params.begin(), map.params.end());
  Estimate inner = work_of(map.body, bound, facts);
  for (std::size_t d = map.ranges.size(); d-- > 0;) inner = times(trips(map.ranges[d]), inner, bound);
  if (!inner.known) return std::nullopt;
  const Expr all = inner.count();
  if (all.constant()) return std::vector<Expr>{all};
  std::erase_if(inner.factors, [](const Expr& f) { return f.is_one(); });
  return inner.factors;
}

}  // namespace sdfg::analysis
