// Writes that provably meet in different iterations of a map.
//
// Provable: a write without WCR, surely carried out in every iteration, into a container that outlives the iteration,
// and the elements it writes in one iteration meet those of the next; the map's range must not be a single point for
// certain. Extents may turn out to be 1: a graph that is only right then is a bug all the same.
#include <algorithm>

#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;
using symbolic::SymbolSet;
using symbolic::Truth;

namespace {

class ConflictChecker {
 public:
  ConflictChecker(Report& report, const Scope& scope, const State& state)
      : report_(report), g_(report.g), scope_(scope), s_(state), iterations_(iterations_around(scope)) {}

  void run() {
    const bool in_map = std::any_of(iterations_.begin(), iterations_.end(),
                                    [](const Iteration& it) { return std::holds_alternative<Map>(it.owner->kind); });
    if (!in_map) return;
    for (const Memlet& m : s_.edges) {
      const Access* to = access_at(s_, m.dst);
      if (to == nullptr || !m.dst_subset || m.wcr || m.dynamic || m.set_reference) continue;
      check(m, *to);
    }
  }

 private:
  void check(const Memlet& m, const Access& to) {
    const Container* c = resolve(g_, to.data);
    if (c == nullptr) return;
    // The elements written, and every symbol that takes part in where they lie.
    SymbolSet where = m.dst_subset->free_symbols();
    const Container* at = c;
    std::string root(root_name(to.data));
    for (std::size_t hops = 0; !at->viewed.empty() && hops <= g_.containers.size(); ++hops) {
      where.merge(at->viewed_subset.free_symbols());
      where.merge(at->layout.free_symbols());
      root = root_name(at->viewed);
      at = resolve(g_, at->viewed);
      if (at == nullptr) return;
    }
    if (at->kind == ContainerKind::kStream || at->kind == ContainerKind::kReference) return;
    if (at->transient && at->lifetime != Lifetime::kScope) return;  // inside maps, one per thread
    const std::size_t declared = depth_of_declaration(root);

    // Innermost first: symbols whose value follows from iterations further out are expanded as the walk meets their
    // range.
    for (std::size_t k = 0; k < iterations_.size(); ++k) {
      const Iteration& it = iterations_[k];
      if (!it.always || declared >= it.depth + 1) return;
      const auto* map = std::get_if<Map>(&it.owner->kind);
      const bool single = it.low == it.high;
      if (map != nullptr && !single && !is_per_thread(*at, *map, declared)) {
        const bool same = !where.contains(it.symbol);
        if ((same ? is_nonempty(*m.dst_subset) : meets_next(m, *c, it)) && !shapes_inner(it) &&
            !decided_inside(where, it)) {
          report(m, to, it, same);
          return;
        }
      }
      if (where.contains(it.symbol)) {
        where.merge(symbolic::free_symbols(it.low));
        where.merge(symbolic::free_symbols(it.high));
      }
    }
  }

  // A subset that may be empty writes nothing there.
  bool is_nonempty(const Subset& s) const {
    return s.is_index() || symbolic::is_positive(s.num_elements(), scope_.facts) == Truth::kYes;
  }

  // Position in the path of the element that declares the container, counted from 1; 0: the graph.
  std::size_t depth_of_declaration(const std::string& name) const {
    for (std::size_t k = 0; k < scope_.levels.size(); ++k) {
      if (scope_.levels[k].declared.contains(name)) return k + 1;
    }
    return 0;
  }

  // A Register container of a kernel, declared around its thread-block map, has one instance per thread.
  bool is_per_thread(const Container& c, const Map& map, std::size_t declared) const {
    if (c.storage == Storage::kThreadLocal) return true;
    if (c.storage != Storage::kRegister || (map.schedule != Schedule::kThreadBlock && map.schedule != Schedule::kWarp))
      return false;
    for (std::size_t k = 0; k < declared && k < scope_.path.size(); ++k) {
      const auto* outer = std::get_if<Map>(&scope_.path[k]->kind);
      if (outer != nullptr && outer->schedule == Schedule::kDevice) return true;
    }
    return false;
  }

  // Do ranges inside depend on the iteration? Then which iterations get to the write is not known here.
  bool shapes_inner(const Iteration& it) const {
    for (const Iteration& inner : iterations_) {
      if (&inner == &it) return false;
      if (symbolic::depends_on(inner.high - inner.low, it.symbol)) return true;
    }
    return false;
  }

  // Does the place depend on a value computed inside this iteration, by an assignment or a loop without a canonical
  // form?
  bool decided_inside(const SymbolSet& where, const Iteration& it) const {
    const SymbolSet bound = symbols_bound(*it.owner);
    return std::any_of(where.begin(), where.end(), [&](const std::string& name) {
      if (!bound.contains(name)) return false;
      return std::none_of(iterations_.begin(), iterations_.end(),
                          [&](const Iteration& other) { return other.symbol == name && other.depth >= it.depth; });
    });
  }

  // Only for places that are written in one subset of the root itself: through views, windows would have to be
  // composed.
  bool meets_next(const Memlet& m, const Container& c, const Iteration& it) const {
    if (!c.viewed.empty() || !it.attained) return false;
    // Other iterations inside must be able to take the same values again.
    for (const Iteration& inner : iterations_) {
      if (&inner == &it) break;
      if (symbolic::depends_on(inner.low, it.symbol) || symbolic::depends_on(inner.high, it.symbol)) return false;
    }
    const symbolic::Substitution next{{it.symbol, Expr::symbol(it.symbol) + step_of(it)}};
    for (const Range& r : m.dst_subset->ranges()) {
      if (!r.is_index() && !r.step.is_one()) return false;
      const Expr last = r.end + (r.tile - 1);
      // Both overlap when each begins before the other ends; for affine bounds the differences are plain numbers.
      if (!is_at_least_zero(last - symbolic::substitute(r.begin, next)) ||
          !is_at_least_zero(symbolic::substitute(last, next) - r.begin)) {
        return false;
      }
    }
    return is_nonempty(*m.dst_subset);
  }

  bool is_at_least_zero(const Expr& e) const {
    return e.is_integer() ? e.value() >= 0 : symbolic::is_nonnegative(e, scope_.facts) == Truth::kYes;
  }

  static Expr step_of(const Iteration& it) {
    const auto& map = std::get<Map>(it.owner->kind);
    for (std::size_t d = 0; d < map.params.size(); ++d) {
      if (map.params[d] == it.symbol) return map.ranges[d].step;
    }
    return 1;
  }

  void report(const Memlet& m, const Access& to, const Iteration& it, bool same) {
    const std::string param = report_.symbol(it.symbol);
    report_.add(Rule::kWriteConflict, scope_, m.id,
                "iterations of " + describe(g_, *it.owner) + " that differ in " + param + " write " +
                    (same ? "the same elements " : "overlapping elements ") + report_.show(to.data, *m.dst_subset) +
                    " without a WCR",
                "accumulate (+= in the builder), or declare " + report_.container(to.data) + " inside the map");
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  const State& s_;
  std::vector<Iteration> iterations_;
};

}  // namespace

void check_conflicts(Report& report, const Scope& scope, const State& state) {
  ConflictChecker(report, scope, state).run();
}

}  // namespace sdfg::ir::validation
