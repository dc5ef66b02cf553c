// Subsets, and reads in conditions and assignments, that provably leave their container.
//
// What counts as provable: some element that the memlet claims to move lies outside in every run in which the memlet is
// reached at all (so the ranges around it are not empty; where they surely are, the walk drops what is reported), with
// extents of arguments at least 0 and the declared bounds of symbols. Nothing is assumed about how large a symbol is:
// A[i + 1] for i in 0:N is wrong for every N, A[5] of N elements is not provably wrong.
//
// An index is followed to the iterations in which it is extreme: to one end of each range where it is affine, else to
// the turning points of its quotients, remainders, minima and conditions.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ir/validate_internal.hpp"
#include "symbolic/turning_points.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;
using symbolic::Facts;
using symbolic::Truth;

namespace {

bool may_exit(const Sequence& s) {
  bool found = false;
  for_each_element(s, [&](const Element& e) {
    found = found || std::holds_alternative<Exit>(e.kind) || std::holds_alternative<Return>(e.kind);
  });
  return found;
}

// A condition over parameters of the graph alone is the same in every iteration of everything.
bool is_constant_in_call(const Graph& g, const tasklet::Expr& condition) {
  const std::optional<Expr> view = tasklet::to_symbolic(condition);
  if (!view || symbolic::has_reads(*view) || symbolic::has_calls(*view)) return false;
  const symbolic::SymbolSet used = symbolic::free_symbols(*view);
  return std::all_of(used.begin(), used.end(), [&](const std::string& name) {
    const Symbol* s = g.symbols.find(name);
    return s != nullptr && s->binder == BinderKind::kParameter;
  });
}

Iteration iteration(const Element& owner, std::size_t depth, const std::string& symbol, const Expr& begin,
                    const Expr& end, const Expr& step) {
  Iteration it{&owner, depth, symbol, begin, end, 1, true, true};
  if (!step.is_integer() || step.is_zero() || step.value() == std::numeric_limits<std::int64_t>::min()) {
    it.attained = false;
    return it;
  }
  it.step = std::abs(step.value());
  if (step.value() > 0) {
    if (!step.is_one()) it.high = begin + step * symbolic::floor_div(end - begin, step);
  } else {
    it.high = begin;
    it.low = step == Expr(-1) ? end : begin + step * symbolic::floor_div(end - begin, step);
  }
  return it;
}

}  // namespace

Level level_of(const Graph& g, const Element& e, std::size_t depth) {
  Level level;
  for (const Sequence* child : child_sequences(e)) level.may_exit = level.may_exit || may_exit(*child);
  if (const auto* block = std::get_if<Block>(&e.kind))
    level.declared.insert(block->locals.begin(), block->locals.end());
  if (const auto* consume = std::get_if<Consume>(&e.kind)) level.declared.insert(consume->element);
  if (const auto* map = std::get_if<Map>(&e.kind)) {
    for (std::size_t d = 0; d < std::min(map->params.size(), map->ranges.size()); ++d) {
      const Range& r = map->ranges[d];
      level.iterations.push_back(iteration(e, depth, map->params[d], r.begin, r.end, r.step));
    }
  } else if (const auto* loop = std::get_if<For>(&e.kind)) {
    const std::optional<CanonicalLoop> view = canonical(*loop);
    level.conditional = !view;
    if (view) level.iterations.push_back(iteration(e, depth, loop->variable, view->begin, view->end, view->step));
  } else if (const auto* branch = std::get_if<If>(&e.kind)) {
    for (const If::Branch& b : branch->branches) {
      level.conditional = level.conditional || !is_constant_in_call(g, b.condition);
    }
  } else if (std::holds_alternative<While>(e.kind) || std::holds_alternative<Consume>(e.kind)) {
    level.conditional = true;
  }
  return level;
}

std::vector<Iteration> iterations_around(const Scope& scope) {
  std::vector<Iteration> all;
  bool always = true;
  for (auto level = scope.levels.rbegin(); level != scope.levels.rend(); ++level) {
    always = always && !level->may_exit;
    for (auto it = level->iterations.rbegin(); it != level->iterations.rend(); ++it) {
      all.push_back(*it);
      all.back().always = always;
    }
    always = always && !level->conditional;
  }
  return all;
}

namespace {

bool holds(const Expr& e, const Facts& facts) {
  if (e.is_integer()) return e.value() >= 0;
  return symbolic::is_nonnegative(e, facts) == Truth::kYes;
}

bool is_literal(const tasklet::Expr& condition, bool value) {
  const std::optional<Expr> view = tasklet::to_symbolic(condition);
  return view && (value ? view->is_true() : view->is_false());
}

// Does the element's own condition, as written, keep every run out of the part that holds `next`?
bool shuts_out(const Element& e, const Element& next) {
  if (const auto* loop = std::get_if<While>(&e.kind)) return loop->test_first && is_literal(loop->condition, false);
  const auto* branching = std::get_if<If>(&e.kind);
  if (branching == nullptr) return false;
  for (const If::Branch& branch : branching->branches) {
    const bool taken = std::any_of(branch.body.items.begin(), branch.body.items.end(),
                                   [&](const auto& item) { return item.get() == &next; });
    if (taken) return is_literal(branch.condition, false);
    if (is_literal(branch.condition, true)) return true;
  }
  return false;
}

}  // namespace

bool surely_not_reached(const Scope& scope) {
  const auto is_negative = [&](const Expr& e) { return holds(Expr(-1) - e, scope.facts); };
  for (std::size_t k = 0; k + 1 < scope.path.size(); ++k) {
    for (const Iteration& it : scope.levels[k].iterations) {
      if (it.attained && is_negative(it.high - it.low)) return true;
    }
    if (shuts_out(*scope.path[k], *scope.path[k + 1])) return true;
  }
  const std::vector<Expr>& conditions = scope.facts.conditions();
  return std::any_of(conditions.begin(), conditions.end(), is_negative);
}

namespace {

enum class Side { kLow, kHigh };

// Iterations around a memlet with what is known of its index there.
struct Place {
  Expr excess;                                            // how far the index is outside; at least 0 where it is
  std::optional<Expr> length;                             // at least 0 where the subset is not empty
  std::vector<Expr> lengths;                              // at least 0 where the ranges inside are not empty
  std::vector<std::pair<const Iteration*, Expr>> chosen;  // the iterations it is in, outermost last
};

// Looks for a place that the run surely gets to, where the excess is provably not negative.
class PlaceSearch {
 public:
  PlaceSearch(const std::vector<Iteration>& iterations, const Facts& facts) : iterations_(iterations), facts_(facts) {}

  std::optional<Place> find(Expr excess, std::optional<Expr> length) {
    facts_ = with_divisors(excess, std::move(facts_));
    Place anywhere{std::move(excess), std::move(length), {}, {}};
    const bool affine = std::all_of(iterations_.begin(), iterations_.end(), [&](const Iteration& it) {
      return symbolic::affine_in(anywhere.excess, it.symbol).has_value();
    });
    if (!affine) {
      switch (symbolic::is_nonnegative(anywhere.excess, facts_)) {
        case Truth::kNo: return std::nullopt;
        case Truth::kYes:
          if (!anywhere.length || holds(*anywhere.length, facts_)) return anywhere;
          break;
        case Truth::kUnknown: break;
      }
    }
    return from(0, std::move(anywhere));
  }

 private:
  // Where the index has a value, what it surely divides by is not 0.
  static Facts with_divisors(const Expr& e, Facts facts) {
    switch (e.kind()) {
      case symbolic::Kind::kFloorDiv:
      case symbolic::Kind::kCeilDiv:
      case symbolic::Kind::kMod:
        if (const Expr& divisor = e.args()[1]; !divisor.is_integer()) {
          if (symbolic::is_nonnegative(divisor, facts) == Truth::kYes)
            facts = facts.with_condition(symbolic::ge(divisor, 1));
        }
        break;
      case symbolic::Kind::kSelect: return with_divisors(e.args()[0], std::move(facts));
      case symbolic::Kind::kAnd:
      case symbolic::Kind::kOr: return facts;  // the second argument may not be looked at
      case symbolic::Kind::kInteger:
      case symbolic::Kind::kBoolean:
      case symbolic::Kind::kSymbol:
      case symbolic::Kind::kRead:
      case symbolic::Kind::kCall:
      case symbolic::Kind::kAdd:
      case symbolic::Kind::kMul:
      case symbolic::Kind::kPow:
      case symbolic::Kind::kMin:
      case symbolic::Kind::kMax:
      case symbolic::Kind::kAbs:
      case symbolic::Kind::kEqual:
      case symbolic::Kind::kNotEqual:
      case symbolic::Kind::kLessEqual:
      case symbolic::Kind::kLess:
      case symbolic::Kind::kNot:
      case symbolic::Kind::kBitAnd:
      case symbolic::Kind::kBitOr:
      case symbolic::Kind::kBitXor:
      case symbolic::Kind::kBitNot:
      case symbolic::Kind::kShiftLeft:
      case symbolic::Kind::kShiftRight: break;
    }
    for (const Expr& arg : e.args()) facts = with_divisors(arg, std::move(facts));
    return facts;
  }

  // Goes outwards from the iteration number k. Where no iteration can be chosen, all of them have to be outside.
  std::optional<Place> from(std::size_t k, Place place) {
    for (; k < iterations_.size(); ++k) {
      const Iteration& it = iterations_[k];
      if (!it.always || !it.attained) break;
      const auto depends = [&](const Expr& e) { return symbolic::depends_on(e, it.symbol); };
      if (depends(place.excess) || (place.length && depends(*place.length)) ||
          std::any_of(place.lengths.begin(), place.lengths.end(), depends)) {
        bool looked = false;
        for (const Expr& value : values_to_try(place.excess, it)) {
          std::optional<Place> next = at(place, it, value);
          if (!next) continue;
          looked = true;
          if (std::optional<Place> found = from(k + 1, std::move(*next))) return found;
        }
        if (looked) return std::nullopt;
        break;
      }
      place.lengths.push_back(it.high - it.low);
    }
    if (budget_-- <= 0 || (place.length && !holds(*place.length, facts_))) return std::nullopt;
    if (!holds(symbolic::simplify(place.excess, facts_), facts_)) return std::nullopt;
    return place;
  }

  std::vector<Expr> values_to_try(const Expr& excess, const Iteration& it) const {
    if (!symbolic::depends_on(excess, it.symbol)) return {it.high};
    if (const std::optional<symbolic::AffineIn> view = symbolic::affine_in(excess, it.symbol)) {
      if (holds(view->slope, facts_)) return {it.high};
      if (holds(-view->slope, facts_)) return {it.low};
      return {};
    }
    return symbolic::turning_points(excess, it.symbol, {it.low, it.high, it.step}, facts_);
  }

  // Nothing when a range inside, or the subset, may be empty there.
  std::optional<Place> at(const Place& place, const Iteration& it, const Expr& value) const {
    Place next;
    const auto there = [&](const Expr& e) { return symbolic::substitute(e, it.symbol, value); };
    for (const Expr& l : place.lengths) {
      next.lengths.push_back(there(l));
      if (symbolic::depends_on(l, it.symbol) && !holds(next.lengths.back(), facts_)) return std::nullopt;
    }
    if (place.length) {
      next.length = there(*place.length);
      if (symbolic::depends_on(*place.length, it.symbol) && !holds(*next.length, facts_)) return std::nullopt;
    }
    next.lengths.push_back(it.high - it.low);
    next.chosen = place.chosen;
    if (symbolic::depends_on(place.excess, it.symbol)) next.chosen.emplace_back(&it, value);
    next.excess = there(place.excess);
    return next;
  }

  const std::vector<Iteration>& iterations_;
  Facts facts_;
  int budget_ = 64;  // places looked at; what is not affine multiplies them
};

bool reads_elements(const tasklet::Expr& code) {
  const auto* read = std::get_if<tasklet::Subscript>(&code.node());
  return (read != nullptr && !read->indices.empty()) ||
         std::any_of(code.children().begin(), code.children().end(), reads_elements);
}

class BoundsChecker {
 public:
  BoundsChecker(Report& report, const Scope& scope, std::vector<Iteration> iterations)
      : report_(report), g_(report.g), scope_(scope), iterations_(std::move(iterations)) {}

  void memlets(const State& s) {
    for (const Memlet& m : s.edges) {
      if (m.dynamic || m.allow_oob || m.is_order_only()) continue;
      if (const Access* a = access_at(s, m.src); a != nullptr && m.src_subset)
        check(m.id, a->data, *m.src_subset, false);
      if (const Access* a = access_at(s, m.dst); a != nullptr && m.dst_subset)
        check(m.id, a->data, *m.dst_subset, true);
    }
  }

  // What the code reads whatever its values are.
  void reads(const tasklet::Expr& code) {
    if (const auto* read = std::get_if<tasklet::Subscript>(&code.node())) {
      std::vector<Expr> at;
      for (const tasklet::Expr& index : read->indices) {
        if (std::optional<Expr> view = tasklet::to_symbolic(index)) at.push_back(std::move(*view));
      }
      if (at.size() == read->indices.size()) check(scope_.element().id, read->base, Subset::index(at), false);
    }
    const auto* binary = std::get_if<tasklet::Binary>(&code.node());
    const bool first_only =
        std::holds_alternative<tasklet::Select>(code.node()) ||
        (binary != nullptr && (binary->op == tasklet::BinaryOp::kAnd || binary->op == tasklet::BinaryOp::kOr));
    for (const tasklet::Expr& child : code.children()) {
      reads(child);
      if (first_only) break;
    }
  }

 private:
  void check(Id id, const std::string& data, const Subset& subset, bool writes) {
    const Container* c = resolve(g_, data);
    if (c == nullptr || c->rank() != subset.rank()) return;
    for (std::size_t d = 0; d < subset.rank(); ++d) {
      const Range& r = subset[d];
      const Expr& extent = c->layout.shape()[d];
      const Expr& offset = c->layout.offset()[d];
      const bool down = r.step.is_integer() && r.step.value() < 0;
      if (!r.is_index() && !r.step.is_integer()) continue;
      const Expr first = (down ? r.end : r.begin) + offset;
      const Expr last = (down ? r.begin : r.end) + offset + (r.tile - 1);
      // Of a strided range only the first element is known to be moved exactly.
      const bool last_exact = r.is_index() || r.step.is_one() || r.step == Expr(-1);
      const std::optional<Expr> length =
          r.is_index() ? std::nullopt : std::optional(down ? r.begin - r.end : r.end - r.begin);
      if (last_exact || down) {
        if (report(Side::kHigh, id, data, subset, writes, d, last, extent, length)) return;
      }
      if (last_exact || !down) {
        if (report(Side::kLow, id, data, subset, writes, d, first, extent, length)) return;
      }
    }
  }

  std::string subject(const Place& place) const {
    if (!place.chosen.empty()) return describe(g_, *place.chosen.front().first->owner);
    for (const Iteration& it : iterations_) return describe(g_, *it.owner);
    return describe(g_, scope_.element());
  }

  std::string when(const Place& place) const {
    std::string text;
    for (const auto& [it, at] : place.chosen) {
      text += text.empty() ? " for " : " and ";
      text += report_.symbol(it->symbol);
      text += at == it->high ? " up to " : (at == it->low ? " down to " : " = ");
      text += report_.show(at);
    }
    return text;
  }

  // Reports an index that surely lies beyond the last or before the first element.
  bool report(Side side, Id id, const std::string& data, const Subset& subset, bool writes, std::size_t d,
              const Expr& index, const Expr& extent, const std::optional<Expr>& length) {
    const Expr excess = side == Side::kHigh ? index - extent : Expr(-1) - index;
    if (excess.is_integer() && excess.value() < 0) return false;
    const std::optional<Place> place = PlaceSearch(iterations_, scope_.facts).find(excess, length);
    if (!place) return false;
    const std::string where = " in dimension " + std::to_string(d);
    report_.add(
        Rule::kSubsetBounds, scope_, id,
        subject(*place) + (writes ? " writes " : " reads ") + report_.show(data, subset) + when(*place) +
            (side == Side::kHigh ? ", outside " + report_.container(data) + "'s extent " + report_.show(extent) + where
                                 : ", before " + report_.container(data) + "'s first element" + where),
        hint(*place, excess));
    return true;
  }

  // How far one end of the only range involved has to move; upper bounds are told as the builder takes them, exclusive.
  std::string hint(const Place& place, const Expr& excess) const {
    if (place.chosen.size() != 1) return {};
    const auto& [it, at] = place.chosen.front();
    const std::optional<symbolic::AffineIn> view = symbolic::affine_in(excess, it->symbol);
    if (!view || !(view->slope.is_one() || view->slope == Expr(-1))) return {};
    const Expr missing = place.excess + 1;
    const Expr end = view->slope.is_one() ? at - missing : at + missing;
    const bool top = at == it->high;
    if (it->high == it->low) return {};
    const std::string owner = std::holds_alternative<Map>(it->owner->kind) ? "map" : "loop";
    return "the " + owner + "'s " + (top ? "upper" : "lower") + " bound for " + report_.symbol(it->symbol) +
           " would have to be " + report_.show(top ? end + 1 : end);
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  std::vector<Iteration> iterations_;
};

}  // namespace

void check_bounds(Report& report, const Scope& scope) {
  const Element& e = scope.element();
  if (const auto* state = std::get_if<State>(&e.kind)) {
    BoundsChecker(report, scope, iterations_around(scope)).memlets(*state);
    return;
  }
  std::vector<const tasklet::Expr*> codes;
  if (const auto* assign = std::get_if<Assign>(&e.kind)) {
    for (const Assign::Item& item : assign->items) codes.push_back(&item.value);
  } else if (const auto* branching = std::get_if<If>(&e.kind)) {
    if (!branching->branches.empty()) codes.push_back(&branching->branches.front().condition);
  } else if (const auto* loop = std::get_if<While>(&e.kind)) {
    if (loop->test_first) codes.push_back(&loop->condition);
  } else if (const auto* counted = std::get_if<For>(&e.kind)) {
    codes.push_back(&counted->init);
  }
  std::erase_if(codes, [](const tasklet::Expr* code) { return !reads_elements(*code); });
  if (codes.empty()) return;
  Scope around = scope;
  around.levels.pop_back();  // its own iterations and conditions come later
  BoundsChecker checker(report, scope, iterations_around(around));
  for (const tasklet::Expr* code : codes) checker.reads(*code);
}

}  // namespace sdfg::ir::validation
