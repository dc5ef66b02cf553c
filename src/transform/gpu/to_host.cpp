// Schedules and storages first; then registers per thread.
#include "transform/gpu/to_host.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/most_points.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using symbolic::Expr;

// Registers declared at the block's level that thread-block maps write: one per thread on a device.
class Registers {
 public:
  Registers(ir::Graph& g, ir::Element& kernel, const symbolic::Facts& facts) : g_(g), kernel_(kernel), facts_(facts) {}

  bool run() {
    collect(kernel_, facts_, nullptr);
    bool changed = false;
    for (const std::string& name : declared_) {
      if (!written_.contains(name)) continue;
      widen(g_.containers.at(name));
      changed = true;
    }
    return changed;
  }

 private:
  struct Threads {
    const ir::Map* map;
    std::vector<Expr> counts;
  };

  void collect(ir::Element& e, const symbolic::Facts& facts, const Threads* threads) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    Threads here;
    if (m != nullptr && m->schedule == ir::Schedule::kThreadBlock && threads == nullptr) {
      here.map = m;
      for (const ir::Range& r : m->ranges) {
        const symbolic::Facts inside = ir::facts_inside(g_, facts, e, m->body);
        const auto most = analysis::most_points(r, inside);
        here.counts.push_back(most ? Expr(*most) : r.count());
      }
      maps_.push_back(here);
      threads = &here;
    }
    if (const auto* b = std::get_if<ir::Block>(&e.kind); b != nullptr && threads == nullptr) {
      for (const std::string& name : b->locals) {
        const ir::Container& c = g_.containers.at(name);
        if (c.storage == ir::Storage::kRegister &&
            (c.kind == ir::ContainerKind::kArray || c.kind == ir::ContainerKind::kScalar))
          declared_.push_back(name);
      }
    }
    if (const auto* s = std::get_if<ir::State>(&e.kind); s != nullptr && threads != nullptr) {
      for (const ir::Memlet& edge : s->edges) {
        const ir::Access* to = access_of(*s, edge.dst);
        // Accumulations of all threads go into one value.
        if (to != nullptr && !edge.is_order_only() && !edge.wcr) written_.insert(to->data);
      }
    }
    for (ir::Sequence* child : ir::child_sequences(e)) {
      const symbolic::Facts inside = ir::facts_inside(g_, facts, e, *child);
      for (auto& item : child->items) collect(*item, inside, threads);
    }
  }

  // One leading dimension per direction of the threads, those of the last dimensions of each map.
  void widen(ir::Container& c) {
    std::size_t rank = 0;
    for (const Threads& t : maps_) rank = std::max(rank, t.counts.size());
    ir::Extents shape(rank, Expr(1));
    for (const Threads& t : maps_) {
      for (std::size_t d = 0; d < t.counts.size(); ++d) {
        Expr& extent = shape[rank - t.counts.size() + d];
        extent = symbolic::max(extent, t.counts[d]);
      }
    }
    ir::Extents strides(rank), offset(rank, Expr(0));
    Expr step = c.layout.total_size();
    for (std::size_t d = rank; d-- > 0;) {
      strides[d] = step;
      step = step * shape[d];
    }
    const ir::Layout old = c.layout;
    shape.insert(shape.end(), old.shape().begin(), old.shape().end());
    strides.insert(strides.end(), old.strides().begin(), old.strides().end());
    offset.insert(offset.end(), old.offset().begin(), old.offset().end());
    c.layout = ir::Layout::strided(shape, strides, step, offset, old.start_offset());
    c.kind = ir::ContainerKind::kArray;
    c.storage = ir::Storage::kDefault;
    rewrite(kernel_, c.name, std::vector<ir::Range>(rank, ir::Range::index(0)));
  }

  void rewrite(ir::Element& e, const std::string& name, std::vector<ir::Range> slice) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    const auto known = std::ranges::find_if(maps_, [&](const Threads& t) { return t.map == m; });
    if (m != nullptr && known != maps_.end()) {
      for (std::size_t d = 0; d < m->params.size(); ++d) {
        const ir::Range& r = m->ranges[d];
        const Expr moved = Expr::symbol(m->params[d]) - r.begin;
        slice[slice.size() - m->params.size() + d] =
            ir::Range::index(r.step.is_one() ? moved : symbolic::floor_div(moved, r.step));
      }
    }
    prefix_accesses(e, name, slice);
    for (ir::Sequence* child : ir::child_sequences(e)) {
      for (auto& item : child->items) rewrite(*item, name, slice);
    }
  }

  ir::Graph& g_;
  ir::Element& kernel_;
  const symbolic::Facts& facts_;
  std::vector<Threads> maps_;
  std::vector<std::string> declared_;
  std::set<std::string, std::less<>> written_;
};

// Whether the element was one of a device.
bool change_schedule(ir::Element& e) {
  auto* m = std::get_if<ir::Map>(&e.kind);
  if (m == nullptr) return false;
  switch (m->schedule) {
    case ir::Schedule::kDevice: m->schedule = ir::Schedule::kDefault; return true;
    case ir::Schedule::kThreadBlock:
    case ir::Schedule::kWarp: m->schedule = ir::Schedule::kSequential; return true;
    case ir::Schedule::kDefault:
    case ir::Schedule::kSequential:
    case ir::Schedule::kParallel: break;
  }
  return false;
}

// Labels are given by users; a map without one is known by its parameters, as everywhere in messages.
bool is_called(const ir::Element& e, const std::string& label) {
  const auto& m = std::get<ir::Map>(e.kind);
  if (!e.label.empty()) return e.label == label;
  std::string params;
  for (const std::string& p : m.params) params += (params.empty() ? "" : ", ") + p;
  return params == label;
}

}  // namespace

KeptOnHost keep_on_host(ir::Graph& g, const std::vector<std::string>& labels) {
  KeptOnHost out;
  std::set<std::string, std::less<>> known;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    if (!std::holds_alternative<ir::Map>(e.kind)) return;
    for (const std::string& label : labels) {
      if (is_called(e, label)) known.insert(label);
    }
  });
  for (const std::string& label : labels) {
    if (!known.contains(label)) out.unknown.push_back(label);
  }
  for_each_kernel(g, [&](ir::Element& kernel, const symbolic::Facts& facts) {
    if (std::ranges::none_of(labels, [&](const std::string& label) { return is_called(kernel, label); })) return;
    symbolic::SymbolSet touched = ir::containers_read(g, kernel);
    touched.merge(ir::containers_written(g, kernel));
    for (const std::string& name : touched) {
      if (!in_device_memory(g, name)) continue;
      const ir::Container& c = *ir::resolve(g, name);
      throw Error(ErrorClass::kUsage,
                  ir::describe(g, kernel) + " can't run on the host: it uses '" + (c.label.empty() ? c.name : c.label) +
                      "', which lives in device memory",
                  ir::places_of(g, kernel.id), "copy it to memory of the host first, or take the map out of the list");
    }
    Registers(g, kernel, facts).run();
    change_schedule(kernel);
    ir::walk(std::get<ir::Map>(kernel.kind).body, [&](ir::Element& e) {
      change_schedule(e);
      for (const std::string& name : ir::containers_declared(e)) {
        ir::Container& c = g.containers.at(name);
        if (c.storage == ir::Storage::kGpuShared) c.storage = ir::Storage::kDefault;
      }
    });
    out.changed = true;
  });
  return out;
}

bool to_host(ir::Graph& g) {
  bool changed = false;
  for_each_kernel(g, [&](ir::Element& kernel, const symbolic::Facts& facts) {
    changed = Registers(g, kernel, facts).run() || changed;
  });
  ir::walk(g.body, [&](ir::Element& e) {
    e.issue.reset();
    changed = change_schedule(e) || changed;
  });
  for (ir::Container& c : g.containers) {
    if (c.storage == ir::Storage::kGpuGlobal || c.storage == ir::Storage::kPinned) {
      c.storage = c.lifetime == ir::Lifetime::kScope && c.transient ? ir::Storage::kDefault : ir::Storage::kHeap;
      changed = true;
    } else if (c.storage == ir::Storage::kGpuShared) {
      c.storage = ir::Storage::kDefault;
      changed = true;
    }
  }
  return changed;
}

}  // namespace sdfg::transform
