// What is known of symbols at a place of the graph, and the canonical view of counted loops.
#include <algorithm>

#include "ir/sites.hpp"

namespace sdfg::ir {

using symbolic::Expr;
using symbolic::Facts;
using symbolic::Kind;
using symbolic::SymbolSet;

namespace {

// Symbols whose value may change while the body runs.
SymbolSet assigned_in(const Sequence& body) {
  SymbolSet assigned;
  for_each_element(body, [&](const Element& e) {
    if (const auto* assign = std::get_if<Assign>(&e.kind)) {
      for (const Assign::Item& item : assign->items) assigned.insert(item.symbol);
    }
  });
  return assigned;
}

bool is_fixed(const Expr& e, const SymbolSet& changing) {
  if (symbolic::has_reads(e) || symbolic::has_calls(e)) return false;
  if (changing.empty()) return true;
  const SymbolSet used = symbolic::free_symbols(e);
  return std::none_of(used.begin(), used.end(), [&](const std::string& s) { return changing.contains(s); });
}

Facts with_extents(Facts facts, const Container& c) {
  for (const Expr& extent : c.layout.shape()) {
    if (extent.kind() == Kind::kSymbol) {
      facts = facts.with_nonnegative(extent.name());
    } else if (!extent.is_integer()) {
      facts = facts.with_condition(symbolic::ge(extent, 0));
    }
  }
  return facts;
}

Facts with_range(Facts facts, const std::string& symbol, const Expr& begin, const Expr& end, const Expr& step,
                 const SymbolSet& changing) {
  if (changing.contains(symbol)) return facts;
  const bool begin_fixed = is_fixed(begin, changing);
  const bool end_fixed = is_fixed(end, changing);
  const bool down = step.is_integer() && step.value() < 0;
  const std::optional<Expr> low =
      down ? (end_fixed ? std::optional(end) : std::nullopt) : (begin_fixed ? std::optional(begin) : std::nullopt);
  const std::optional<Expr> high =
      down ? (begin_fixed ? std::optional(begin) : std::nullopt) : (end_fixed ? std::optional(end) : std::nullopt);
  facts = facts.with_bounds(symbol, low, high);
  // The body runs, so the range is not empty.
  if (low && high && !(*high - *low).is_integer()) facts = facts.with_condition(symbolic::le(*low, *high));
  if (step.is_integer() && begin.is_integer() && std::abs(step.value()) > 1) {
    const std::int64_t modulus = std::abs(step.value());
    facts = facts.with_congruence(symbol, modulus, ((begin.value() % modulus) + modulus) % modulus);
  }
  return facts;
}

// Conjuncts one by one, so that a part over containers doesn't hide what the rest says.
Facts with_condition(Facts facts, const Expr& condition, const SymbolSet& changing) {
  if (condition.kind() == Kind::kAnd) {
    for (const Expr& part : condition.args()) facts = with_condition(facts, part, changing);
    return facts;
  }
  if (condition.kind() == Kind::kBoolean || !condition.is_boolean_valued() || !is_fixed(condition, changing)) {
    return facts;
  }
  return facts.with_condition(condition);
}

Facts with_code_condition(const Facts& facts, const tasklet::Expr& condition, bool holds, const SymbolSet& changing) {
  const std::optional<Expr> symbolic = tasklet::to_symbolic(condition);
  if (!symbolic || !symbolic->is_boolean_valued()) return facts;
  return with_condition(facts, holds ? *symbolic : symbolic::logical_not(*symbolic), changing);
}

}  // namespace

Facts base_facts(const Graph& g) {
  Facts facts;
  for (const Symbol& s : g.symbols) {
    if (s.lower || s.upper) facts = facts.with_bounds(s.name, s.lower, s.upper);
  }
  for (const Container& c : g.containers) {
    if (!c.transient && c.kind != ContainerKind::kView) facts = with_extents(facts, c);
  }
  return facts;
}

Facts facts_inside(const Graph& g, Facts facts, const Element& e, const Sequence& child) {
  if (const auto* block = std::get_if<Block>(&e.kind)) {
    // Extents of an allocated container are non-negative, and what they use is immutable while it lives.
    for (const std::string& name : block->locals) {
      const Container* c = g.containers.find(name);
      if (c != nullptr && c->kind != ContainerKind::kView) facts = with_extents(facts, *c);
    }
    return facts;
  }
  if (const auto* loop = std::get_if<For>(&e.kind)) {
    const std::optional<CanonicalLoop> view = canonical(*loop);
    return view ? with_range(facts, loop->variable, view->begin, view->end, view->step, assigned_in(child)) : facts;
  }
  if (const auto* loop = std::get_if<While>(&e.kind)) {
    return loop->test_first ? with_code_condition(facts, loop->condition, true, assigned_in(child)) : facts;
  }
  if (const auto* branching = std::get_if<If>(&e.kind)) {
    const SymbolSet changing = assigned_in(child);
    for (const If::Branch& branch : branching->branches) {
      const bool taken = &branch.body == &child;
      facts = with_code_condition(facts, branch.condition, taken, changing);
      if (taken) break;
    }
    return facts;
  }
  if (const auto* map = std::get_if<Map>(&e.kind)) {
    const SymbolSet changing = assigned_in(child);
    for (std::size_t d = 0; d < map->params.size() && d < map->ranges.size(); ++d) {
      const Range& r = map->ranges[d];
      facts = with_range(facts, map->params[d], r.begin, r.end, r.step, changing);
    }
    return facts;
  }
  if (const auto* consume = std::get_if<Consume>(&e.kind)) {
    const SymbolSet changing = assigned_in(child);
    if (consume->worker.empty()) return facts;
    return with_range(facts, consume->worker, 0, consume->num_workers - 1, 1, changing);
  }
  return facts;
}

Facts facts_at(const Graph& g, const std::vector<const Element*>& path) {
  Facts facts = base_facts(g);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::vector<const Sequence*> children = child_sequences(*path[i]);
    if (children.empty()) continue;
    const Sequence* inside = nullptr;
    if (i + 1 < path.size()) {
      for (const Sequence* child : children) {
        const bool holds_next = std::any_of(child->items.begin(), child->items.end(),
                                            [&](const auto& item) { return item.get() == path[i + 1]; });
        if (holds_next) inside = child;
      }
    } else if (children.size() == 1 && !std::holds_alternative<If>(path[i]->kind)) {
      inside = children.front();
    }
    if (inside != nullptr) facts = facts_inside(g, std::move(facts), *path[i], *inside);
  }
  return facts;
}

// ---- Canonical loops ------------------------------------------------------------------------------------------------

namespace {

// Bound of `variable` that a comparison states: variable <= upper, or variable >= lower.
struct Bounds {
  std::optional<Expr> lower;
  std::optional<Expr> upper;
};

std::optional<Bounds> bounds_of(const Expr& condition, const std::string& variable) {
  if (condition.kind() == Kind::kAnd) {
    Bounds all;
    for (const Expr& part : condition.args()) {
      const std::optional<Bounds> one = bounds_of(part, variable);
      if (!one) return std::nullopt;
      if (one->lower) all.lower = all.lower ? symbolic::max(*all.lower, *one->lower) : *one->lower;
      if (one->upper) all.upper = all.upper ? symbolic::min(*all.upper, *one->upper) : *one->upper;
    }
    return all;
  }
  if (condition.kind() != Kind::kLessEqual && condition.kind() != Kind::kLess) return std::nullopt;
  const Expr strict = condition.kind() == Kind::kLess ? 1 : 0;
  const std::optional<symbolic::AffineIn> view =
      symbolic::affine_in(condition.args()[0] - condition.args()[1] + strict, variable);
  if (!view || !view->slope.is_integer() || view->slope.is_zero()) return std::nullopt;
  // slope * variable + rest <= 0
  const std::int64_t slope = view->slope.value();
  if (slope > 0) return Bounds{std::nullopt, symbolic::floor_div(-view->rest, slope)};
  return Bounds{symbolic::ceil_div(view->rest, Expr(0) - view->slope), std::nullopt};
}

// `variable != end` stops exactly at `end` when steps of one lead there.
std::optional<Bounds> bounds_of_not_equal(const Expr& condition, const std::string& variable, const Expr& begin,
                                          std::int64_t step) {
  if (condition.kind() != Kind::kNotEqual || (step != 1 && step != -1)) return std::nullopt;
  const std::optional<symbolic::AffineIn> view =
      symbolic::affine_in(condition.args()[0] - condition.args()[1], variable);
  if (!view || !view->slope.is_integer() || std::abs(view->slope.value()) != 1) return std::nullopt;
  const Expr stop = view->slope.value() == 1 ? -view->rest : view->rest;
  const Expr distance = step == 1 ? stop - begin : begin - stop;
  if (symbolic::is_nonnegative(distance, {}) != symbolic::Truth::kYes) return std::nullopt;
  return step == 1 ? Bounds{std::nullopt, stop - 1} : Bounds{stop + 1, std::nullopt};
}

}  // namespace

std::optional<CanonicalLoop> canonical(const For& loop) {
  const std::optional<Expr> begin = tasklet::to_symbolic(loop.init);
  const std::optional<Expr> condition = tasklet::to_symbolic(loop.condition);
  const std::optional<Expr> update = tasklet::to_symbolic(loop.update);
  if (!begin || !condition || !update || begin->is_boolean_valued()) return std::nullopt;
  const std::optional<symbolic::AffineIn> next = symbolic::affine_in(*update, loop.variable);
  if (!next || !next->slope.is_one() || !next->rest.is_integer() || next->rest.is_zero()) return std::nullopt;
  const std::int64_t step = next->rest.value();

  SymbolSet changing = assigned_in(loop.body);
  if (changing.contains(loop.variable)) return std::nullopt;
  changing.insert(loop.variable);

  std::optional<Bounds> bounds = bounds_of_not_equal(*condition, loop.variable, *begin, step);
  if (!bounds) bounds = bounds_of(*condition, loop.variable);
  if (!bounds || (step > 0 ? bounds->lower.has_value() : bounds->upper.has_value())) return std::nullopt;
  const std::optional<Expr>& last = step > 0 ? bounds->upper : bounds->lower;
  if (!last || !is_fixed(*begin, changing) || !is_fixed(*last, changing)) return std::nullopt;

  // A body that runs before the first test runs at least once; the test then speaks of the value before or after the
  // update.
  Expr end = *last;
  switch (loop.form) {
    case LoopForm::kTestFirst: return CanonicalLoop{*begin, end, step};
    case LoopForm::kUpdateThenTest: break;
    case LoopForm::kTestThenUpdate: end += step; break;
  }
  return CanonicalLoop{*begin, step > 0 ? symbolic::max(*begin, end) : symbolic::min(*begin, end), step};
}

}  // namespace sdfg::ir
