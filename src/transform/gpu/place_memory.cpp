// Collects who touches what, then changes storages, adds twins and moves declarations.
#include "transform/gpu/place_memory.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using symbolic::Expr;
using Names = std::set<std::string, std::less<>>;

// Names of containers that an element reads or writes, itself and below, views and what they show.
Names touched(const ir::Graph& g, const ir::Element& e) {
  Names out;
  for (const std::string& n : ir::containers_read(g, e)) out.insert(n);
  for (const std::string& n : ir::containers_written(g, e)) out.insert(n);
  return out;
}

struct HostUses {
  Names kernels;         // touched by a kernel
  Names kernel_written;  // written by one
  Names host;            // touched by states of the host
  Names control;         // read by control flow of the host
};

HostUses uses_of(const ir::Graph& g) {
  HostUses out;
  const auto walk = [&](const auto& self, const ir::Sequence& s) -> void {
    for (const auto& owned : s.items) {
      const ir::Element* item = owned.get();
      if (is_kernel(*item)) {
        out.kernels.merge(touched(g, *item));
        for (const std::string& n : ir::containers_written(g, *item)) out.kernel_written.insert(n);
        continue;
      }
      const std::vector<const ir::Sequence*> children = ir::child_sequences(*item);
      if (std::holds_alternative<ir::State>(item->kind)) {
        out.host.merge(touched(g, *item));
        continue;
      }
      // What the header itself reads: everything of an element without its children.
      Names all = touched(g, *item), below;
      for (const ir::Sequence* child : children) {
        for (const auto& inner : child->items) below.merge(touched(g, *inner));
      }
      if (children.empty() || std::holds_alternative<ir::Consume>(item->kind)) {
        out.control.merge(all);
      } else if (const auto* f = std::get_if<ir::For>(&item->kind)) {
        for (const tasklet::Expr* e : {&f->init, &f->condition, &f->update}) {
          for (const std::string& n : tasklet::uses_of(*e).subscripted) out.control.insert(n.substr(0, n.find('.')));
        }
      } else if (const auto* w = std::get_if<ir::While>(&item->kind)) {
        for (const std::string& n : tasklet::uses_of(w->condition).subscripted)
          out.control.insert(n.substr(0, n.find('.')));
      } else if (const auto* i = std::get_if<ir::If>(&item->kind)) {
        for (const ir::If::Branch& b : i->branches) {
          for (const std::string& n : tasklet::uses_of(b.condition).subscripted)
            out.control.insert(n.substr(0, n.find('.')));
        }
      }
      for (const ir::Sequence* child : children) self(self, *child);
    }
  };
  walk(walk, g.body);
  return out;
}

bool is_viewed(const ir::Graph& g, const std::string& name) {
  for (const ir::Container& c : g.containers) {
    if (c.kind == ir::ContainerKind::kView && c.viewed.substr(0, c.viewed.find('.')) == name) return true;
  }
  return false;
}

void rename_in(ir::Graph& g, ir::Element& e, const std::string& from, const std::string& to) {
  std::map<std::string, std::string, std::less<>> names{{from, to}};
  for (ir::Sequence* child : ir::child_sequences(e)) ir::rename_containers(g, *child, names);
  if (auto* m = std::get_if<ir::Map>(&e.kind)) {
    for (ir::Map::Reduction& r : m->reductions) {
      if (r.container == from) r.container = to;
    }
  }
}

std::unique_ptr<ir::Element> copy_of(ir::Graph& g, const std::string& from, const std::string& to) {
  ir::State s;
  s.nodes.push_back({g.new_id(), {}, {}, ir::Access{from}});
  s.nodes.push_back({g.new_id(), {}, {}, ir::Access{to}});
  ir::Memlet m;
  m.id = g.new_id();
  m.src = s.nodes[0].id;
  m.dst = s.nodes[1].id;
  m.src_subset = ir::Subset();
  m.dst_subset = ir::Subset();
  s.edges.push_back(std::move(m));
  return std::make_unique<ir::Element>(ir::Element{g.new_id(), {}, {}, std::move(s)});
}

// Copies around every kernel that writes the scalar.
void add_twin(ir::Graph& g, ir::Container& c) {
  ir::Container twin;
  twin.name = g.unique_name("device_" + c.name);
  twin.kind = ir::ContainerKind::kScalar;
  twin.type = c.type;
  twin.storage = ir::Storage::kGpuGlobal;
  twin.transient = true;
  twin.label = c.label.empty() ? c.name : c.label;
  twin.location = c.location;
  const std::string host = c.name, device = g.containers.insert(std::move(twin)).name;
  g.locals.push_back(device);
  const auto walk = [&](const auto& self, ir::Sequence& s) -> void {
    for (std::size_t k = 0; k < s.items.size(); ++k) {
      ir::Element& e = *s.items[k];
      if (!is_kernel(e)) {
        for (ir::Sequence* child : ir::child_sequences(e)) self(self, *child);
        continue;
      }
      if (!ir::containers_written(g, e).contains(host)) continue;
      rename_in(g, e, host, device);
      // A write that may not happen leaves what was there.
      s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(k), copy_of(g, host, device));
      s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(k + 2), copy_of(g, device, host));
      k += 2;
    }
  };
  walk(walk, g.body);
}

}  // namespace

bool place_host_containers(ir::Graph& g) {
  const HostUses uses = uses_of(g);
  Names inside;  // declared in kernels
  for_each_kernel(g, [&](ir::Element& e, const symbolic::Facts&) {
    for (const std::string& n : ir::containers_declared(e)) inside.insert(n);
  });
  bool changed = false;
  std::vector<std::string> twins;
  for (ir::Container& c : g.containers) {
    if (c.constant || inside.contains(c.name) || c.storage == ir::Storage::kGpuGlobal ||
        c.storage == ir::Storage::kGpuShared || c.storage == ir::Storage::kPinned || !uses.kernels.contains(c.name))
      continue;
    if (c.kind == ir::ContainerKind::kArray && c.storage == ir::Storage::kDefault && c.transient &&
        !uses.control.contains(c.name)) {
      c.storage = ir::Storage::kGpuGlobal;
      changed = true;
    } else if (c.is_scalar() && uses.kernel_written.contains(c.name) && !is_viewed(g, c.name)) {
      if (c.transient && !uses.host.contains(c.name) && !uses.control.contains(c.name)) {
        c.storage = ir::Storage::kGpuGlobal;
      } else {
        twins.push_back(c.name);
      }
      changed = true;
    }
  }
  for (const std::string& name : twins) add_twin(g, g.containers.at(name));
  return changed;
}

namespace {

constexpr std::int64_t kRegisterBytes = 4096;     // of one array of a thread
constexpr std::int64_t kSharedBytes = 32 * 1024;  // of all arrays that become shared memory of a kernel
constexpr std::int64_t kRegisterElements = 64;    // of an array in device memory that becomes one of a thread

class KernelMemory {
 public:
  KernelMemory(ir::Graph& g, ir::Element& kernel, const symbolic::Facts& facts)
      : g_(g),
        kernel_(kernel),
        outside_(facts),
        blockwise_(holds(std::get<ir::Map>(kernel.kind).body, ir::Schedule::kThreadBlock)) {}

  // Names of containers to declare around the kernel.
  std::vector<std::string> run() {
    visit(kernel_, outside_);
    for (ir::Element* e : ordered_) run_in_order(*e);
    return std::move(moved_);
  }

 private:
  struct Point {
    std::string parameter;
    Expr begin, step, count;
  };

  void visit(ir::Element& e, const symbolic::Facts& facts) {
    auto* m = std::get_if<ir::Map>(&e.kind);
    const bool parallel = m != nullptr && m->schedule != ir::Schedule::kSequential;
    const std::size_t before = points_.size();
    if (m != nullptr && !parallel) sequential_.push_back(&e);
    if (parallel) {
      for (std::size_t d = 0; d < m->params.size(); ++d) {
        const ir::Range& r = m->ranges[d];
        points_.push_back({m->params[d], r.begin, r.step, bounded(r.count(), r, facts)});
      }
      if (m->schedule != ir::Schedule::kDevice) ++threads_;
    }
    if (auto* b = std::get_if<ir::Block>(&e.kind)) {
      const std::vector<std::string> locals = b->locals;
      for (const std::string& name : locals) place(*b, g_.containers.at(name), facts);
    }
    for (ir::Sequence* child : ir::child_sequences(e)) {
      const symbolic::Facts inside = ir::facts_inside(g_, facts, e, *child);
      for (auto& item : child->items) visit(*item, inside);
    }
    if (parallel && m->schedule != ir::Schedule::kDevice) --threads_;
    if (m != nullptr && !parallel) sequential_.pop_back();
    points_.resize(before);
  }

  // Turns a sequential map whose points use the same memory, one after the other, into loops: a map says that its
  // points could as well run at once.
  void run_in_order(ir::Element& e) {
    const auto& map = std::get<ir::Map>(e.kind);
    const symbolic::Facts facts = ir::facts_at(g_, ir::path_to(g_, e.id));
    for (const ir::Range& r : map.ranges) {
      if (symbolic::is_positive(r.step, facts) != symbolic::Truth::kYes) return;
    }
    ir::Map m = std::move(std::get<ir::Map>(e.kind));
    const tasklet::TypeEnvironment types = ir::type_environment(g_);
    const auto typed = [&](const tasklet::Expr& x) { return tasklet::infer_types(x, types); };
    ir::Sequence body = std::move(m.body);
    for (std::size_t d = m.params.size(); d-- > 0;) {
      const ir::Range& r = m.ranges[d];
      g_.symbols.find(m.params[d])->binder = ir::BinderKind::kLoopVariable;
      const Expr variable = Expr::symbol(m.params[d]);
      ir::For f;
      f.variable = m.params[d];
      f.init = typed(tasklet::from_symbolic(r.begin));
      f.condition = typed(tasklet::Expr::binary(tasklet::BinaryOp::kLessEqual, tasklet::from_symbolic(variable),
                                                tasklet::from_symbolic(r.end)));
      f.update = typed(tasklet::from_symbolic(variable + r.step));
      f.unroll = m.unroll && d + 1 == m.params.size();
      f.body = std::move(body);
      if (d == 0) {
        e.kind = std::move(f);
        return;
      }
      auto inner = std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, e.location, std::move(f)});
      if (d + 1 == m.params.size()) retarget(std::get<ir::For>(inner->kind).body, e.id, inner->id);
      body = ir::Sequence();
      body.items.push_back(std::move(inner));
    }
  }

  // What ended an iteration of the map ends one of its innermost loop.
  static void retarget(ir::Sequence& s, ir::Id from, ir::Id to) {
    ir::walk(s, [&](ir::Element& e) {
      if (auto* x = std::get_if<ir::Exit>(&e.kind); x != nullptr && x->target == from) x->target = to;
    });
  }

  // A bound over what the kernel binds; the ranges of the points around are known.
  Expr bounded(Expr e, const ir::Range& r, const symbolic::Facts& facts) {
    if (std::ranges::none_of(points_, [&](const Point& p) { return depends_on(e, p.parameter); })) {
      return symbolic::simplify(e, facts);
    }
    e = r.end - r.begin + 1;
    return over_points(e, facts);
  }

  Expr over_points(Expr e, const symbolic::Facts& facts) const {
    for (std::size_t k = points_.size(); k-- > 0;) {
      const Point& p = points_[k];
      if (!depends_on(e, p.parameter)) continue;
      const auto most = symbolic::upper_over(e, p.parameter, p.begin, p.begin + p.step * (p.count - 1), facts);
      if (!most) return Expr::symbol("?");
      e = *most;
    }
    return symbolic::simplify(symbolic::max(e, 0), facts);
  }

  std::optional<std::int64_t> bytes_of(const ir::Container& c) const {
    const auto n = c.layout.total_size().constant();
    std::int64_t bytes = 0;
    if (!n || *n < 0 || __builtin_mul_overflow(*n, std::max<std::int64_t>(c.type.size(), 1), &bytes))
      return std::nullopt;
    return bytes;
  }

  // Does a thread-block map below write it, other than by accumulation? Reading does not need a common place.
  bool used_by_threads(const std::string& name, bool writes_only) const {
    bool found = false;
    const auto walk = [&](const auto& self, const ir::Sequence& s, bool threads) -> void {
      for (const auto& item : s.items) {
        const bool inside = threads || is_map_of(*item, ir::Schedule::kThreadBlock);
        if (inside && !threads) {
          found = found || ir::containers_written(g_, *item).contains(name) ||
                  (!writes_only && ir::containers_read(g_, *item).contains(name));
        }
        for (const ir::Sequence* child : ir::child_sequences(*item)) self(self, *child, inside);
      }
    };
    walk(walk, std::get<ir::Map>(kernel_.kind).body, false);
    return found;
  }

  bool accumulated(const std::string& name) const {
    bool found = false;
    ir::walk(std::get<ir::Map>(kernel_.kind).body, [&](const ir::Element& e, const ir::Ancestors&) {
      const auto* s = std::get_if<ir::State>(&e.kind);
      if (s == nullptr) return;
      for (const ir::Memlet& m : s->edges) {
        const ir::Access* a = access_of(*s, m.dst);
        found = found || (m.wcr && a != nullptr && a->data == name);
      }
    });
    return found;
  }

  void place(ir::Block& block, ir::Container& c, const symbolic::Facts& facts) {
    if (c.kind != ir::ContainerKind::kArray && c.kind != ir::ContainerKind::kScalar) return;
    if (c.lifetime != ir::Lifetime::kScope) return;
    const auto bytes = bytes_of(c);
    const bool of_block = blockwise_ && threads_ == 0;
    switch (c.storage) {
      case ir::Storage::kGpuShared: return;
      case ir::Storage::kRegister:
        if (bytes) return;
        break;
      case ir::Storage::kDefault:
      case ir::Storage::kHeap:
      case ir::Storage::kPinned:
      case ir::Storage::kThreadLocal:
        if (of_block) {
          // What the threads of a block share is shared memory; what each computes for itself is a register.
          if (c.is_scalar()) {
            c.storage = used_by_threads(c.name, true) ? ir::Storage::kGpuShared : ir::Storage::kRegister;
            return;
          }
          if (bytes && *bytes <= kSharedBytes - shared_) {
            shared_ += *bytes;
            c.storage = ir::Storage::kGpuShared;
            return;
          }
          break;
        }
        if (bytes && *bytes <= kRegisterBytes) {
          c.storage = ir::Storage::kRegister;
          return;
        }
        break;
      case ir::Storage::kGpuGlobal:
        if (c.is_scalar() ||
            (!of_block && bytes && c.layout.total_size().value() <= kRegisterElements && !accumulated(c.name))) {
          c.storage = of_block && used_by_threads(c.name, true) ? ir::Storage::kGpuShared : ir::Storage::kRegister;
          return;
        }
        break;
    }
    move_out(block, c, facts);
  }

  [[noreturn]] void fail(const ir::Container& c, const std::string& what) const {
    throw Error(
        ErrorClass::kGraph,
        "The transient '" + (c.label.empty() ? c.name : c.label) + "' inside " + ir::describe(g_, kernel_) + " " + what,
        {{"container '" + c.name + "'", c.location}}, "declare it outside of the kernel");
  }

  void move_out(ir::Block& block, ir::Container& c, const symbolic::Facts& facts) {
    const symbolic::SymbolSet bound = ir::symbols_bound(kernel_);
    const auto visible = [&](const Expr& e) {
      return std::ranges::none_of(symbolic::free_symbols(e),
                                  [&](const std::string& s) { return bound.contains(s) || s == "?"; });
    };
    ir::Extents shape = c.layout.shape(), strides = c.layout.strides(), offset = c.layout.offset();
    Expr total = c.layout.total_size();
    if (!visible(total) || !std::ranges::all_of(shape, visible)) {
      // Packed in the largest extents that any point needs.
      if (!c.layout.is_packed()) fail(c, "has a layout that depends on the point.");
      total = 1;
      for (std::size_t d = shape.size(); d-- > 0;) {
        Expr most = over_points(shape[d], facts);
        if (!visible(most)) most = bound_by_use(shape[d], visible);
        shape[d] = most;
        if (!visible(shape[d])) fail(c, "has an extent that is known only inside.");
        strides[d] = total;
        total = total * shape[d];
      }
    }
    std::vector<ir::Range> slice;
    ir::Extents outer_shape, outer_strides;
    Expr step = total;
    for (std::size_t k = points_.size(); k-- > 0;) {
      const Point& p = points_[k];
      if (!visible(p.count)) fail(c, "is needed once per point, but the number of points is known only inside.");
      outer_shape.insert(outer_shape.begin(), p.count);
      outer_strides.insert(outer_strides.begin(), step);
      step = step * p.count;
      const Expr moved = Expr::symbol(p.parameter) - p.begin;
      slice.insert(slice.begin(), ir::Range::index(p.step.is_one() ? moved : symbolic::floor_div(moved, p.step)));
    }
    const std::size_t extra = slice.size();
    outer_shape.insert(outer_shape.end(), shape.begin(), shape.end());
    outer_strides.insert(outer_strides.end(), strides.begin(), strides.end());
    offset.insert(offset.begin(), extra, Expr(0));
    c.layout = ir::Layout::strided(outer_shape, outer_strides, step, offset, c.layout.start_offset());
    c.kind = ir::ContainerKind::kArray;
    c.storage = ir::Storage::kGpuGlobal;
    rewrite(c.name, slice);
    for (ir::Element* e : sequential_) {
      if (std::ranges::find(ordered_, e) == ordered_.end()) ordered_.push_back(e);
    }
    std::erase(block.locals, c.name);
    moved_.push_back(c.name);
    if (!c.zeroed) return;
    // Every entry of the block finds zeros.
    c.zeroed = false;
    ir::State s;
    ir::Library fill;
    fill.op = ir::Fill{tasklet::Value::integer(0, ScalarType::kInt64)};
    fill.outputs = {"_out"};
    s.nodes.push_back({g_.new_id(), {}, {}, std::move(fill)});
    s.nodes.push_back({g_.new_id(), {}, {}, ir::Access{c.name}});
    ir::Memlet m;
    m.id = g_.new_id();
    m.src = s.nodes[0].id;
    m.dst = s.nodes[1].id;
    m.src_connector = "_out";
    const ir::Extents own(c.layout.shape().begin() + static_cast<std::ptrdiff_t>(extra), c.layout.shape().end());
    m.dst_subset = prefixed(slice, ir::Subset::full(own));
    s.edges.push_back(std::move(m));
    block.body.items.insert(block.body.items.begin(),
                            std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, {}, std::move(s)}));
  }

  // Where a map inside runs over as many points as the extent has elements and each point touches another element of a
  // container from outside, the extent is at most that container's. "?" if nothing of the kind is found.
  Expr bound_by_use(const Expr& extent, const std::function<bool(const Expr&)>& visible) const {
    Expr found = Expr::symbol("?");
    const auto look = [&](const ir::Sequence& s, const ir::Map& m, std::size_t d) {
      ir::walk(s, [&](const ir::Element& e, const ir::Ancestors&) {
        const auto* state = std::get_if<ir::State>(&e.kind);
        if (state == nullptr) return;
        for (const ir::Memlet& edge : state->edges) {
          for (const bool source : {true, false}) {
            const ir::Access* a = access_of(*state, source ? edge.src : edge.dst);
            const auto& subset = source ? edge.src_subset : edge.dst_subset;
            const ir::Container* c = a == nullptr ? nullptr : ir::resolve(g_, a->data);
            if (c == nullptr || !subset || edge.allow_oob || edge.dynamic) continue;
            for (std::size_t k = 0; k < subset->rank() && k < c->rank(); ++k) {
              const auto affine = symbolic::affine_in((*subset)[k].begin, m.params[d]);
              if ((*subset)[k].is_index() && affine && affine->slope.is_one() && visible(c->layout.shape()[k]))
                found = c->layout.shape()[k];
            }
          }
        }
      });
    };
    ir::walk(std::get<ir::Map>(kernel_.kind).body, [&](const ir::Element& e, const ir::Ancestors&) {
      const auto* m = std::get_if<ir::Map>(&e.kind);
      if (m == nullptr || !(found == Expr::symbol("?"))) return;
      for (std::size_t d = 0; d < m->ranges.size(); ++d) {
        const ir::Range& r = m->ranges[d];
        if (r.step.is_one() && r.end - r.begin + 1 == extent) look(m->body, *m, d);
      }
    });
    return found;
  }

  void rewrite(const std::string& name, const std::vector<ir::Range>& slice) {
    for (ir::Container& v : g_.containers) {
      if (v.kind == ir::ContainerKind::kView && v.viewed == name) v.viewed_subset = prefixed(slice, v.viewed_subset);
    }
    ir::walk(std::get<ir::Map>(kernel_.kind).body, [&](ir::Element& e) { prefix_accesses(e, name, slice); });
  }

  ir::Graph& g_;
  ir::Element& kernel_;
  const symbolic::Facts& outside_;
  bool blockwise_;
  int threads_ = 0;  // thread-block and warp maps around
  std::int64_t shared_ = 0;
  std::vector<Point> points_;
  std::vector<ir::Element*> sequential_;  // maps around
  std::vector<ir::Element*> ordered_;     // sequential maps around memory that moved out
  std::vector<std::string> moved_;
};

}  // namespace

bool place_kernel_memory(ir::Graph& g) {
  bool changed = false;
  const auto walk = [&](const auto& self, ir::Sequence& s, const symbolic::Facts& facts) -> void {
    for (auto& item : s.items) {
      if (!is_kernel(*item)) {
        for (ir::Sequence* child : ir::child_sequences(*item))
          self(self, *child, ir::facts_inside(g, facts, *item, *child));
        continue;
      }
      std::vector<std::string> moved = KernelMemory(g, *item, facts).run();
      changed = true;
      if (moved.empty()) continue;
      ir::Block around;
      around.locals = std::move(moved);
      around.body.items.push_back(std::move(item));
      item = std::make_unique<ir::Element>(ir::Element{g.new_id(), {}, {}, std::move(around)});
    }
  };
  walk(walk, g.body, ir::base_facts(g));
  return changed;
}

}  // namespace sdfg::transform
