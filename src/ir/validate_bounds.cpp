// Subsets that provably leave their container.
//
// What counts as provable: some element that the memlet claims to move lies outside in every run in which the memlet is
// reached at all (so the ranges around it are not empty; where they surely are, the walk drops what is reported), with
// extents of arguments at least 0 and the declared bounds of symbols. Nothing is assumed about how large a symbol is:
// A[i + 1] for i in 0:N is wrong for every N, A[5] of N elements is not provably wrong.
#include <algorithm>

#include "ir/validate_internal.hpp"

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
  Iteration it{&owner, depth, symbol, begin, end, true, true};
  if (!step.is_integer() || step.is_zero()) {
    it.attained = false;
  } else if (step.value() > 0) {
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

// The extreme value of an index over the iterations around it, as far as it is surely taken.
struct Extreme {
  Expr value;
  std::vector<std::pair<const Iteration*, Expr>> at;  // the iterations it is taken in, outermost last
};

class BoundsChecker {
 public:
  BoundsChecker(Report& report, const Scope& scope, const State& state)
      : report_(report), g_(report.g), scope_(scope), s_(state), iterations_(iterations_around(scope)) {}

  void run() {
    for (const Memlet& m : s_.edges) {
      if (m.dynamic || m.allow_oob || m.is_order_only()) continue;
      if (const Access* a = access_at(s_, m.src); a != nullptr && m.src_subset) check(m, a->data, *m.src_subset, false);
      if (const Access* a = access_at(s_, m.dst); a != nullptr && m.dst_subset) check(m, a->data, *m.dst_subset, true);
    }
  }

 private:
  void check(const Memlet& m, const std::string& data, const Subset& subset, bool writes) {
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
        if (report_high(m, data, subset, writes, d, last, extent, length)) return;
      }
      if (last_exact || !down) {
        if (report_low(m, data, subset, writes, d, first, length)) return;
      }
    }
  }

  // `length`, when given, is at least 0 where the subset is not empty.
  Extreme extreme(const Expr& index, Side side, std::optional<Expr>& length) const {
    Extreme x{index, {}};
    // Ranges inside the one being fixed, as they are after the iterations inside have been fixed.
    std::vector<Expr> lengths;
    for (const Iteration& it : iterations_) {
      if (!it.always || !it.attained) return x;
      const bool used =
          symbolic::depends_on(x.value, it.symbol) || (length && symbolic::depends_on(*length, it.symbol));
      const bool shapes = std::any_of(lengths.begin(), lengths.end(),
                                      [&](const Expr& l) { return symbolic::depends_on(l, it.symbol); });
      if (used || shapes) {
        std::optional<Expr> at =
            symbolic::depends_on(x.value, it.symbol) ? end_of(x.value, it, side) : std::optional(it.high);
        if (!at) return x;
        std::vector<Expr> fixed;
        for (const Expr& l : lengths) {
          fixed.push_back(symbolic::substitute(l, it.symbol, *at));
          if (symbolic::depends_on(l, it.symbol) && !holds(fixed.back(), scope_.facts)) return x;
        }
        if (length && symbolic::depends_on(*length, it.symbol)) {
          const Expr there = symbolic::substitute(*length, it.symbol, *at);
          if (!holds(there, scope_.facts)) return x;
          length = there;
        }
        lengths = std::move(fixed);
        if (symbolic::depends_on(x.value, it.symbol)) {
          x.value = symbolic::substitute(x.value, it.symbol, *at);
          x.at.emplace_back(&it, *at);
        }
      }
      lengths.push_back(it.high - it.low);
    }
    return x;
  }

  // Which end of the iteration's range gives the extreme value of an index that is affine in it.
  std::optional<Expr> end_of(const Expr& index, const Iteration& it, Side side) const {
    const std::optional<symbolic::AffineIn> view = symbolic::affine_in(index, it.symbol);
    if (!view) return std::nullopt;
    const bool rising = holds(view->slope, scope_.facts);
    if (!rising && !holds(-view->slope, scope_.facts)) return std::nullopt;
    return rising == (side == Side::kHigh) ? it.high : it.low;
  }

  std::string subject(const Extreme& x) const {
    if (!x.at.empty()) return describe(g_, *x.at.front().first->owner);
    for (const Iteration& it : iterations_) return describe(g_, *it.owner);
    return describe(g_, scope_.element());
  }

  std::string when(const Extreme& x, Side side) const {
    std::string text;
    for (const auto& [it, at] : x.at) {
      text += text.empty() ? " for " : " and ";
      text += report_.symbol(it->symbol);
      const bool top = at == it->high;
      text += top ? " up to " : " down to ";
      text += report_.show(at);
    }
    (void)side;
    return text;
  }

  bool report_high(const Memlet& m, const std::string& data, const Subset& subset, bool writes, std::size_t d,
                   const Expr& index, const Expr& extent, std::optional<Expr> length) {
    if ((extent - 1 - index).is_integer() && (extent - 1 - index).value() >= 0) return false;
    const Extreme x = extreme(index, Side::kHigh, length);
    if (length && !holds(*length, scope_.facts)) return false;
    if (!holds(x.value - extent, scope_.facts)) return false;
    report_.add(Rule::kSubsetBounds, scope_, m.id,
                subject(x) + (writes ? " writes " : " reads ") + report_.show(data, subset) + when(x, Side::kHigh) +
                    ", outside " + report_.container(data) + "'s extent " + report_.show(extent) + " in dimension " +
                    std::to_string(d),
                hint(x, index, extent - 1 - x.value));
    return true;
  }

  bool report_low(const Memlet& m, const std::string& data, const Subset& subset, bool writes, std::size_t d,
                  const Expr& index, std::optional<Expr> length) {
    if (index.is_integer() && index.value() >= 0) return false;
    const Extreme x = extreme(index, Side::kLow, length);
    if (length && !holds(*length, scope_.facts)) return false;
    if (!holds(Expr(-1) - x.value, scope_.facts)) return false;
    report_.add(Rule::kSubsetBounds, scope_, m.id,
                subject(x) + (writes ? " writes " : " reads ") + report_.show(data, subset) + when(x, Side::kLow) +
                    ", before " + report_.container(data) + "'s first element in dimension " + std::to_string(d),
                hint(x, index, -x.value));
    return true;
  }

  // How far one end of the only range involved has to move; upper bounds are told as the builder takes them, exclusive.
  std::string hint(const Extreme& x, const Expr& index, const Expr& missing) const {
    if (x.at.size() != 1) return {};
    const auto& [it, at] = x.at.front();
    const std::optional<symbolic::AffineIn> view = symbolic::affine_in(index, it->symbol);
    if (!view || !(view->slope.is_one() || view->slope == Expr(-1))) return {};
    const Expr end = view->slope.is_one() ? at + missing : at - missing;
    const bool top = at == it->high;
    if (it->high == it->low) return {};
    const std::string owner = std::holds_alternative<Map>(it->owner->kind) ? "map" : "loop";
    return "the " + owner + "'s " + (top ? "upper" : "lower") + " bound for " + report_.symbol(it->symbol) +
           " would have to be " + report_.show(top ? end + 1 : end);
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  const State& s_;
  std::vector<Iteration> iterations_;
};

}  // namespace

void check_bounds(Report& report, const Scope& scope, const State& state) {
  BoundsChecker(report, scope, state).run();
}

}  // namespace sdfg::ir::validation
