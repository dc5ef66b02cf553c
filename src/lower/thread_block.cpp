// Lowers what happens between blocks and threads: thread-block and warp maps, and what a block does once.
#include <algorithm>

#include "analysis/most_points.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

namespace {

using symbolic::Expr;
using symbolic::Truth;

bool holds_warps(const ir::Sequence& body) {
  bool found = false;
  ir::walk(body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    found = found || (m && m->schedule == ir::Schedule::kWarp);
  });
  return found;
}

// Threads along one direction: how a thread is numbered there and how many there are.
struct Lane {
  Text number;
  std::int64_t count = 1;
};

}  // namespace

// Points go to threads in strides of the block, so any block computes any map; where the block is large enough, each
// thread takes one point at most.
void Lowering::thread_block_map(const ir::Element& e, const ir::Map& m) {
  const auto& block = kernel_->plan.block;
  const std::size_t rank = m.params.size();
  const bool warps = holds_warps(m.body);
  // The last dimension takes x, the one before y, the rest z. Axes of the block beyond the map's rank join the last
  // used one. With warps inside, all points are spread over whole warps: lanes belong to the warp maps.
  std::vector<Lane> lanes(rank);
  if (warps || rank == 1) {
    const std::int64_t threads = kernel_->plan.threads();
    lanes[rank - 1] = warps ? Lane{"(" + flat_thread() + ") / " + std::to_string(kWarpSize),
                                   std::max<std::int64_t>(threads / kWarpSize, 1)}
                            : Lane{flat_thread(), threads};
  } else {
    lanes[rank - 1] = {"threadIdx.x", block[0]};
    lanes[rank - 2] = {"threadIdx.y", block[1]};
    if (rank == 2 && block[2] != 1) {
      lanes[0] = {"(threadIdx.y + " + std::to_string(block[1]) + " * threadIdx.z)", block[1] * block[2]};
    } else if (rank > 2) {
      lanes[rank - 3] = {"threadIdx.z", block[2]};
    }
  }

  const std::vector<Accumulator> partials = open_partials(e, m);
  Target t;
  t.id = e.id;
  const bool was_inside = kernel_->in_thread_block;
  kernel_->in_thread_block = true;
  Statements body = target_body(t, e, m.body, e.id);
  kernel_->in_thread_block = was_inside;

  const symbolic::Facts outside = facts_at_depth(path_.size() - 1);
  // Outermost dimensions first; dimensions without threads of their own are loops.
  const auto level = [&](const auto& self, std::size_t d) -> void {
    if (d == rank) {
      for (Statement& s : body) out_->push_back(std::move(s));
      return;
    }
    const ir::Range& r = m.ranges[d];
    const Lane& lane = lanes[d];
    const Text variable = names_.of(m.params[d]);
    const Text step = expr(r.step);
    const Expr past = r.end + 1;
    const Text inclusive = expr(r.end), exclusive = expr(past);
    const bool less = exclusive.size() <= inclusive.size() || past.constant();
    Text begin = expr(r.begin);
    if (!lane.number.empty()) {
      const Text number = "(int64_t)" + parenthesised(lane.number);
      const Text moved = step == "1" ? number : parenthesised(step) + " * " + number;
      begin = begin == "0" ? moved : parenthesised(begin) + " + " + moved;
    }
    // A bound of the number of points, over all that the bounds use.
    const auto most = analysis::most_points(r, facts());
    const auto exact = symbolic::simplify(r.count(), outside).constant();
    if (!lane.number.empty() && most && *most <= lane.count && r.step.is_one()) {
      Declare declare;
      declare.type = "int64_t";
      declare.name = variable;
      declare.init = begin;
      declare.is_const = true;
      Statements inner = collect([&] {
        emit(std::move(declare), e.id);
        if (exact && *exact == lane.count) {
          self(self, d + 1);
          return;
        }
        If test;
        Statements then = collect([&] { self(self, d + 1); });
        test.branches.push_back(
            {variable + (less ? " < " + parenthesised(exclusive) : " <= " + parenthesised(inclusive)),
             std::move(then)});
        emit(std::move(test), e.id);
      });
      if (d == 0) {
        emit(Scope{std::move(inner)}, e.id, comment_text(e.label));
      } else {
        for (Statement& s : inner) out_->push_back(std::move(s));
      }
      return;
    }
    For f;
    f.type = "int64_t";
    f.variable = variable;
    f.begin = begin;
    f.comparison = less ? Comparison::kLess : Comparison::kLessEqual;
    f.bound = less ? exclusive : inclusive;
    if (lane.number.empty()) {
      f.step = step;
    } else {
      f.step = step == "1" ? std::to_string(lane.count) : parenthesised(step) + " * " + std::to_string(lane.count);
    }
    f.body = collect([&] { self(self, d + 1); });
    emit(std::move(f), e.id, d == 0 ? comment_text(e.label) : Text());
  };
  level(level, 0);
  if (t.leave_used) emit(Label{t.leave}, e.id);
  close_partials(partials, e);
}

// The lanes of a warp share the points of the last dimension in strides of the warp.
void Lowering::warp_map(const ir::Element& e, const ir::Map& m) {
  Target t;
  t.id = e.id;
  Statements body = target_body(t, e, m.body, e.id);
  const std::int64_t threads = kernel_->plan.threads();
  const std::int64_t lanes = std::min(threads, kWarpSize);
  for (std::size_t d = m.params.size(); d-- > 0;) {
    const ir::Range& r = m.ranges[d];
    For f;
    f.type = "int64_t";
    f.variable = names_.of(m.params[d]);
    f.begin = expr(r.begin);
    f.step = expr(r.step);
    if (d + 1 == m.params.size() && lanes > 1) {
      const Text lane = "(int64_t)(" + flat_thread() + " % " + std::to_string(kWarpSize) + ")";
      const Text moved = f.step == "1" ? lane : parenthesised(f.step) + " * " + lane;
      f.begin = f.begin == "0" ? moved : parenthesised(f.begin) + " + " + moved;
      f.step = f.step == "1" ? std::to_string(lanes) : parenthesised(f.step) + " * " + std::to_string(lanes);
    }
    f.comparison = Comparison::kLessEqual;
    f.bound = expr(r.end);
    f.body = std::move(body);
    body.clear();
    body.push_back(statement(std::move(f), ordinal(e.id), d == 0 ? comment_text(e.label) : Text()));
  }
  for (Statement& s : body) out_->push_back(std::move(s));
  if (t.leave_used) emit(Label{t.leave}, e.id);
}

// A node outside of thread-block maps whose results every thread holds for itself.
bool Lowering::is_replicated(const ir::State& s, const ir::Node& n) const {
  for (const ir::Memlet* m : s.out_edges(n.id)) {
    if (m->is_order_only()) continue;
    const ir::Node* to = s.find_node(m->dst);
    const auto* a = to ? std::get_if<ir::Access>(&to->kind) : nullptr;
    if (a == nullptr) continue;  // a register edge
    const ir::Container* c = ir::resolve(g_, a->data);
    const ir::Container& root = ir::root_of(g_, *c);
    if (!kernel_->declared.contains(root.name) || root.storage == ir::Storage::kGpuShared ||
        root.storage == ir::Storage::kGpuGlobal)
      return false;
  }
  return true;
}

// The state of a whole block: values that each thread needs are computed by each, memory that the block shares is
// written by all threads together (copies, fills) or by the first one.
void Lowering::block_state(const ir::State& s) {
  const auto first_thread = [&](ir::Id id, const auto& fill) {
    Statements inner = collect(fill);
    if (inner.empty()) return;
    if (kernel_->plan.threads() == 1) {
      for (Statement& statement : inner) out_->push_back(std::move(statement));
      return;
    }
    If test;
    test.branches.push_back({flat_thread() + " == 0", std::move(inner)});
    emit(std::move(test), id);
  };
  for (const ir::Id id : s.topological_order()) {
    const ir::Node* n = s.find_node(id);
    if (const auto* a = std::get_if<ir::Access>(&n->kind)) {
      (void)a;
      copies_into(s, *n);
    } else if (const auto* t = std::get_if<ir::Tasklet>(&n->kind)) {
      if (is_replicated(s, *n))
        tasklet_node(s, *n, *t);
      else
        first_thread(id, [&] { tasklet_node(s, *n, *t); });
    } else {
      library_node(s, *n, std::get<ir::Library>(n->kind));
    }
  }
}

}  // namespace sdfg::lower
