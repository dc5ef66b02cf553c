// One walk with the kernel around.
#include "transform/gpu/normalise_schedules.hpp"

#include <algorithm>

#include "analysis/region_copy.hpp"
#include "ir/sharing.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using symbolic::Expr;
using symbolic::Truth;

class Normaliser {
 public:
  explicit Normaliser(ir::Graph& g) : g_(g) {}

  bool host(ir::Sequence& s, const symbolic::Facts& facts) {
    std::vector<std::unique_ptr<ir::Element>> items = std::move(s.items);
    s.items.clear();
    for (auto& item : items) {
      if (std::holds_alternative<ir::State>(item->kind)) {
        host_state(std::move(item), s, facts);
        continue;
      }
      if (auto* m = std::get_if<ir::Map>(&item->kind)) {
        decide(*item, *m);
        if (m->schedule == ir::Schedule::kDevice) {
          flatten(*m, item->id);
          inside(m->body, false, false);
          s.items.push_back(std::move(item));
          continue;
        }
      }
      for (ir::Sequence* child : ir::child_sequences(*item)) host(*child, ir::facts_inside(g_, facts, *item, *child));
      s.items.push_back(std::move(item));
    }
    return changed_;
  }

 private:
  void set(ir::Map& m, ir::Schedule s) {
    changed_ = changed_ || m.schedule != s;
    m.schedule = s;
  }

  void decide(const ir::Element& e, ir::Map& m) {
    switch (m.schedule) {
      case ir::Schedule::kThreadBlock:
      case ir::Schedule::kWarp: set(m, ir::Schedule::kDevice); return;
      case ir::Schedule::kDefault:
      case ir::Schedule::kParallel:
        if (holds(m.body, ir::Schedule::kDevice)) {
          set(m, ir::Schedule::kSequential);
        } else if (touches_device_memory(g_, e)) {
          // Threads of the host can neither touch the memory nor issue copies.
          set(m, only_copies(m.body) ? ir::Schedule::kSequential : ir::Schedule::kDevice);
        }
        return;
      case ir::Schedule::kSequential:
      case ir::Schedule::kDevice: return;
    }
  }

  static bool only_copies(const ir::Sequence& s) {
    bool only = true;
    ir::walk(s, [&](const ir::Element& e, const ir::Ancestors&) {
      const auto* state = std::get_if<ir::State>(&e.kind);
      if (state == nullptr) return;
      for (const ir::Node& n : state->nodes) only = only && std::holds_alternative<ir::Access>(n.kind);
    });
    return only;
  }

  // A device map alone in the body adds its dimensions.
  void flatten(ir::Map& m, ir::Id owner) {
    while (m.body.items.size() == 1) {
      auto* inner = std::get_if<ir::Map>(&m.body.items.front()->kind);
      if (inner == nullptr || inner->schedule != ir::Schedule::kDevice) return;
      m.params.insert(m.params.end(), inner->params.begin(), inner->params.end());
      m.ranges.insert(m.ranges.end(), inner->ranges.begin(), inner->ranges.end());
      if (m.gpu_block_size.empty()) m.gpu_block_size = inner->gpu_block_size;
      if (m.gpu_launch_bounds.empty()) m.gpu_launch_bounds = inner->gpu_launch_bounds;
      if (m.gpu_max_registers == 0) m.gpu_max_registers = inner->gpu_max_registers;
      const ir::Id id = m.body.items.front()->id;
      ir::Sequence body = std::move(inner->body);
      // What ended the inner iteration ends the joint one.
      retarget(body, id, owner);
      m.body = std::move(body);
      changed_ = true;
    }
  }

  static void retarget(ir::Sequence& s, ir::Id from, ir::Id to) {
    ir::walk(s, [&](ir::Element& e) {
      if (auto* x = std::get_if<ir::Exit>(&e.kind); x != nullptr && x->target == from) x->target = to;
    });
  }

  void inside(ir::Sequence& s, bool threads, bool warp) {
    for (auto& item : s.items) {
      bool t = threads, w = warp;
      if (auto* m = std::get_if<ir::Map>(&item->kind)) {
        switch (m->schedule) {
          case ir::Schedule::kDefault:
          case ir::Schedule::kParallel:
          case ir::Schedule::kDevice: set(*m, ir::Schedule::kSequential); break;
          case ir::Schedule::kThreadBlock:
            if (threads) set(*m, ir::Schedule::kSequential);
            t = true;
            break;
          case ir::Schedule::kWarp:
            if (!threads || warp) set(*m, ir::Schedule::kSequential);
            w = true;
            break;
          case ir::Schedule::kSequential: break;
        }
      }
      for (ir::Sequence* child : ir::child_sequences(*item)) inside(*child, t, w);
    }
  }

  // ---- states of the host
  enum class Work { kHost, kEngine, kKernel };

  Work work_of(const ir::State& s, const symbolic::Facts& facts) const {
    Work out = Work::kHost;
    for (const ir::Node& n : s.nodes) {
      if (std::holds_alternative<ir::Access>(n.kind)) continue;
      bool device = false;
      for (const ir::Memlet& m : s.edges) {
        const ir::Access* a = m.src == n.id ? access_of(s, m.dst) : m.dst == n.id ? access_of(s, m.src) : nullptr;
        device = device || (a != nullptr && !m.is_order_only() && in_device_memory(g_, a->data));
      }
      if (!device) continue;
      if (const auto* l = std::get_if<ir::Library>(&n.kind)) {
        const bool moves = std::holds_alternative<ir::Copy>(l->op) || std::holds_alternative<ir::Fill>(l->op);
        if (moves && out == Work::kHost) out = Work::kEngine;
        continue;
      }
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t != nullptr && t->code.language == tasklet::Language::kCpp) continue;  // calls of device libraries
      out = Work::kKernel;
    }
    for (const ir::Memlet& m : s.edges) {
      const ir::Access* from = access_of(s, m.src);
      const ir::Access* to = access_of(s, m.dst);
      if (from == nullptr || to == nullptr || m.is_order_only() || m.set_reference) continue;
      const bool a = in_device_memory(g_, from->data), b = in_device_memory(g_, to->data);
      if (!a && !b) continue;
      const bool engine = analysis::region_copy(g_, from->data, m.src_subset.value_or(ir::Subset()), to->data,
                                                m.dst_subset.value_or(ir::Subset()), m.wcr.has_value(), facts)
                              .has_value();
      if (!engine && a && b)
        out = Work::kKernel;
      else if (out == Work::kHost)
        out = Work::kEngine;
    }
    return out;
  }

  // All its work is of one kind, and a kernel has one piece of work only.
  bool is_pure(const ir::State& s, const symbolic::Facts& facts) const {
    if (overlaps(s, facts)) return false;
    const Work all = work_of(s, facts);
    if (all == Work::kHost) return true;
    std::size_t pieces = 0;
    bool mixed = false;
    for (const ir::Node& n : s.nodes) {
      if (std::holds_alternative<ir::Access>(n.kind)) continue;
      ++pieces;
      mixed = mixed || (all == Work::kEngine && std::holds_alternative<ir::Tasklet>(n.kind));
    }
    for (const ir::Memlet& m : s.edges) {
      const ir::Access* from = access_of(s, m.src);
      const ir::Access* to = access_of(s, m.dst);
      if (from == nullptr || to == nullptr || m.is_order_only()) continue;
      ++pieces;
      mixed = mixed || (all == Work::kEngine && !in_device_memory(g_, from->data) && !in_device_memory(g_, to->data));
    }
    return !mixed && (all == Work::kEngine || pieces <= 1);
  }

  void host_state(std::unique_ptr<ir::Element> item, ir::Sequence& out, const symbolic::Facts& facts) {
    const auto& s = std::get<ir::State>(item->kind);
    if (is_pure(s, facts)) {
      if (work_of(s, facts) == Work::kKernel)
        kernel_of(std::move(item), out, facts);
      else
        out.items.push_back(std::move(item));
      return;
    }
    changed_ = true;
    for (auto& part : split_state(g_, *item)) {
      if (overlaps(std::get<ir::State>(part->kind), facts)) {
        through_buffer(std::move(part), out, facts);
        continue;
      }
      if (work_of(std::get<ir::State>(part->kind), facts) == Work::kKernel)
        kernel_of(std::move(part), out, facts);
      else
        out.items.push_back(std::move(part));
    }
  }

  // A copy in device memory whose sides may meet.
  bool overlaps(const ir::State& s, const symbolic::Facts& facts) const {
    for (const ir::Memlet& m : s.edges) {
      const ir::Access* from = access_of(s, m.src);
      const ir::Access* to = access_of(s, m.dst);
      if (from == nullptr || to == nullptr || m.is_order_only() || m.set_reference) continue;
      const ir::Container* a = ir::resolve(g_, from->data);
      const ir::Container* b = ir::resolve(g_, to->data);
      if (a == nullptr || b == nullptr || !in_device_memory(g_, from->data)) continue;
      if (!ir::may_share_memory(g_, *a, *b)) continue;
      if (m.src_subset && m.dst_subset && from->data == to->data &&
          (symbolic::intersects(*m.src_subset, *m.dst_subset, facts) == Truth::kNo ||
           (m.wcr && *m.src_subset == *m.dst_subset)))
        continue;
      return true;
    }
    return false;
  }

  void through_buffer(std::unique_ptr<ir::Element> item, ir::Sequence& out, const symbolic::Facts& facts) {
    changed_ = true;
    auto& s = std::get<ir::State>(item->kind);
    const auto copy = std::ranges::find_if(s.edges, [](const ir::Memlet& m) { return !m.is_order_only(); });
    const ir::Subset from = copy->src_subset.value_or(ir::Subset());
    const std::string source = access_of(s, copy->src)->data;
    ir::Container c;
    c.name = g_.unique_name(source + "_moved");
    c.type = ir::resolve(g_, source)->type;
    ir::Extents shape;
    for (const ir::Range& r : from.ranges()) shape.push_back(symbolic::simplify(r.size(), facts));
    c.kind = shape.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray;
    if (!shape.empty()) c.layout = ir::Layout::packed(shape);
    c.storage = ir::Storage::kGpuGlobal;
    c.transient = true;
    const std::string buffer = g_.containers.insert(std::move(c)).name;
    ir::Block block;
    block.locals.push_back(buffer);
    ir::State first;
    first.nodes.push_back({g_.new_id(), {}, {}, ir::Access{source}});
    first.nodes.push_back({g_.new_id(), {}, {}, ir::Access{buffer}});
    ir::Memlet m;
    m.id = g_.new_id();
    m.src = first.nodes[0].id;
    m.dst = first.nodes[1].id;
    m.src_subset = from;
    m.dst_subset = ir::Subset::full(shape);
    first.edges.push_back(std::move(m));
    const ir::Id src = copy->src;
    copy->src_subset = ir::Subset::full(shape);
    std::get<ir::Access>(s.find_node(src)->kind).data = buffer;
    auto before =
        std::make_unique<ir::Element>(ir::Element{g_.new_id(), item->label, item->location, std::move(first)});
    host_state(std::move(before), block.body, facts);
    host_state(std::move(item), block.body, facts);
    g_.append(out, std::move(block));
  }

  std::string parameter(const std::string& wish) {
    ir::Symbol s;
    s.name = g_.unique_name(wish);
    s.binder = ir::BinderKind::kMapParameter;
    return g_.symbols.insert(std::move(s)).name;
  }

  void kernel_of(std::unique_ptr<ir::Element> item, ir::Sequence& out, const symbolic::Facts& facts) {
    changed_ = true;
    auto& s = std::get<ir::State>(item->kind);
    ir::Map map;
    map.schedule = ir::Schedule::kDevice;
    const std::string label = item->label;
    const SourceLocation location = item->location;
    const bool copies =
        std::ranges::all_of(s.nodes, [](const ir::Node& n) { return std::holds_alternative<ir::Access>(n.kind); });
    if (copies && spread(s, map, facts)) {
      // The copy of one element, once per point.
    } else {
      map.params.push_back(parameter("once"));
      map.ranges.push_back({0, 0, 1, 1});
      map.gpu_block_size = {1, 1, 1};
    }
    map.body.items.push_back(std::move(item));
    g_.append(out, std::move(map), label, location);
  }

  // Turns the one copy of a state into that of one element of a map; sides of different shape stay as they are.
  bool spread(ir::State& s, ir::Map& map, const symbolic::Facts& facts) {
    ir::Memlet* edge = nullptr;
    for (ir::Memlet& m : s.edges) {
      if (m.is_order_only()) continue;
      if (edge != nullptr) return false;
      edge = &m;
    }
    if (edge == nullptr || !edge->src_subset || !edge->dst_subset) return false;
    const auto running = [&](const ir::Subset& x) {
      std::vector<std::size_t> dims;
      for (std::size_t d = 0; d < x.rank(); ++d) {
        if (!x[d].tile.is_one()) return std::vector<std::size_t>{SIZE_MAX};
        if (!symbolic::simplify(x[d].size(), facts).is_one()) dims.push_back(d);
      }
      return dims;
    };
    const std::vector<std::size_t> from = running(*edge->src_subset), to = running(*edge->dst_subset);
    if (to.empty() || from.size() > 8 || (!to.empty() && to.front() == SIZE_MAX) ||
        (!from.empty() && from.front() == SIZE_MAX))
      return false;
    bool same = from.size() == to.size();
    for (std::size_t k = 0; same && k < to.size(); ++k) {
      same = symbolic::is_equal((*edge->src_subset)[from[k]].count(), (*edge->dst_subset)[to[k]].count(), facts) ==
             Truth::kYes;
    }
    std::vector<ir::Range> target = edge->dst_subset->ranges(), source = edge->src_subset->ranges();
    Expr position = 0;
    for (const std::size_t d : to) {
      const std::string p = parameter("e" + std::to_string(map.params.size()));
      const Expr count = symbolic::simplify(edge->dst_subset->ranges()[d].count(), facts);
      map.params.push_back(p);
      map.ranges.push_back({0, count - 1, 1, 1});
      const Expr at = target[d].begin + target[d].step * Expr::symbol(p);
      target[d] = ir::Range::index(at);
      position = position * count + Expr::symbol(p);
    }
    for (std::size_t k = from.size(); k-- > 0;) {
      const ir::Range r = source[from[k]];
      const Expr count = symbolic::simplify(r.count(), facts);
      const Expr c = same ? Expr::symbol(map.params[k]) : k == 0 ? position : symbolic::mod(position, count);
      if (!same) position = symbolic::floor_div(position, count);
      source[from[k]] = ir::Range::index(r.begin + r.step * c);
    }
    edge->dst_subset = ir::Subset(std::move(target));
    edge->src_subset = ir::Subset(std::move(source));
    return true;
  }

  ir::Graph& g_;
  bool changed_ = false;
};

}  // namespace

bool normalise_schedules(ir::Graph& g) {
  return Normaliser(g).host(g.body, ir::base_facts(g));
}

}  // namespace sdfg::transform
