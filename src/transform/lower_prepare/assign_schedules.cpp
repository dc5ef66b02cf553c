// Walks down with the schedule around; maps under a parallel one become sequential.
#include "transform/lower_prepare/assign_schedules.hpp"

#include "analysis/work.hpp"

namespace sdfg::transform {

namespace {

class Assigner {
 public:
  Assigner(ir::Graph& g, const PrepareOptions& options) : g_(g), options_(options) {}

  bool sequence(ir::Sequence& s, const symbolic::Facts& facts, bool in_parallel) {
    bool changed = false;
    for (auto& item : s.items) changed = element(*item, facts, in_parallel) || changed;
    return changed;
  }

 private:
  bool element(ir::Element& e, const symbolic::Facts& facts, bool in_parallel) {
    bool changed = false;
    bool inside = in_parallel;
    if (auto* m = std::get_if<ir::Map>(&e.kind)) {
      changed = map(*m, facts, in_parallel);
      inside = in_parallel || m->schedule == ir::Schedule::kParallel || is_device(m->schedule);
    } else if (auto* c = std::get_if<ir::Consume>(&e.kind)) {
      if (c->schedule == ir::Schedule::kDefault) {
        c->schedule = in_parallel || !options_.parallel ? ir::Schedule::kSequential : ir::Schedule::kParallel;
        changed = true;
      }
      inside = in_parallel || c->schedule == ir::Schedule::kParallel;
    }
    for (ir::Sequence* child : ir::child_sequences(e)) {
      changed = sequence(*child, ir::facts_inside(g_, facts, e, *child), inside) || changed;
    }
    return changed;
  }

  static bool is_device(ir::Schedule s) {
    return s == ir::Schedule::kDevice || s == ir::Schedule::kThreadBlock || s == ir::Schedule::kWarp;
  }

  bool map(ir::Map& m, const symbolic::Facts& facts, bool in_parallel) {
    bool changed = false;
    if (m.schedule == ir::Schedule::kParallel && in_parallel) {
      m.schedule = ir::Schedule::kSequential;
      changed = true;
    }
    if (m.schedule == ir::Schedule::kDefault) {
      m.schedule = in_parallel || !worth_threads(m, facts) ? ir::Schedule::kSequential : ir::Schedule::kParallel;
      changed = true;
    }
    if (m.schedule == ir::Schedule::kParallel && m.collapse == 0) {
      m.collapse = collapsed(m);
      changed = true;
    }
    return changed;
  }

  bool worth_threads(const ir::Map& m, const symbolic::Facts& facts) const {
    if (!options_.parallel) return false;
    // One iteration leaves nothing to share; what is inside may still be parallel.
    symbolic::Expr iterations = 1;
    for (const ir::Range& r : m.ranges) iterations = iterations * r.count();
    if (symbolic::is_less_equal(iterations, 1, facts) == symbolic::Truth::kYes) return false;
    const auto work = analysis::work_of(m, facts);  // a constant alone, or several factors
    return !work || !work->front().constant() || *work->front().constant() >= options_.parallel_min_work;
  }

  // Sharing more dimensions costs divisions per iteration: only where the outer ones are too few for many threads.
  static int collapsed(const ir::Map& m) {
    constexpr std::int64_t kEnough = 64;
    std::int64_t shared = 1;
    std::size_t d = 0;
    for (; d < m.ranges.size(); ++d) {
      if (shared >= kEnough) break;
      const ir::Range& r = m.ranges[d];
      bool dependent = false;
      for (std::size_t p = 0; p < d; ++p)
        dependent = dependent || depends_on(r.begin, m.params[p]) || depends_on(r.end, m.params[p]);
      if (dependent) break;
      const auto count = r.count().constant();
      if (!count) {
        ++d;
        break;
      }
      shared *= std::max<std::int64_t>(*count, 1);
    }
    return static_cast<int>(std::max<std::size_t>(d, 1));
  }

  ir::Graph& g_;
  const PrepareOptions& options_;
};

}  // namespace

bool assign_schedules(ir::Graph& g, const PrepareOptions& options) {
  return Assigner(g, options).sequence(g.body, ir::base_facts(g), false);
}

}  // namespace sdfg::transform
