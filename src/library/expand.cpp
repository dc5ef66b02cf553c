// Takes library nodes out of their states: the state is split in front of and behind the node, the expansion stands
// between.
#include "library/expand.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "ir/device.hpp"
#include "ir/sharing.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

namespace {

const Operand* find(const std::vector<Operand>& all, std::string_view connector) {
  for (const Operand& o : all) {
    if (o.connector() == connector) return &o;
  }
  return nullptr;
}

class Expansion {
 public:
  Expansion(ir::Graph& g, const ExpandOptions& options, std::vector<std::string>* reasons)
      : graph_(g), options_(options), device_options_(options), reasons_(reasons), names_(code_names(g.body)) {
    device_options_.opt_level = std::min(options.opt_level, 1);
    device_options_.host_code = false;
  }

  void sequence(ir::Sequence& s) {
    std::vector<std::unique_ptr<ir::Element>> items = std::move(s.items);
    s.items.clear();
    for (auto& item : items) {
      if (auto* state = std::get_if<ir::State>(&item->kind)) {
        split(std::move(item), *state, s);
        continue;
      }
      const auto* map = std::get_if<ir::Map>(&item->kind);
      const bool kernel = map != nullptr && map->schedule == ir::Schedule::kDevice;
      kernels_ += kernel ? 1 : 0;
      for (ir::Sequence* child : ir::child_sequences(*item)) sequence(*child);
      kernels_ -= kernel ? 1 : 0;
      s.items.push_back(std::move(item));
    }
  }

 private:
  // A fill of device memory stays: the device does it without a kernel.
  bool expands(const ir::State& state, const ir::Node& node) const {
    const auto* library = std::get_if<ir::Library>(&node.kind);
    if (library == nullptr || !std::holds_alternative<ir::Fill>(library->op)) return library != nullptr;
    for (const ir::Memlet* m : state.out_edges(node.id)) {
      const ir::Node* to = state.find_node(m->dst);
      const auto* access = to == nullptr ? nullptr : std::get_if<ir::Access>(&to->kind);
      if (access == nullptr || m->wcr || !ir::in_device_memory(graph_, access->data)) return true;
    }
    return false;
  }

  // Appends the state, or its parts with the expansions between them.
  void split(std::unique_ptr<ir::Element> element, ir::State& state, ir::Sequence& out) {
    const std::vector<ir::Id> order = state.topological_order();
    std::vector<ir::Id> libraries;
    for (const ir::Id id : order) {
      if (expands(state, *state.find_node(id))) libraries.push_back(id);
    }
    if (libraries.empty()) {
      out.items.push_back(std::move(element));
      return;
    }
    // Part of a node: how many library nodes come before it in topological order. An edge belongs to its code node, a
    // copy to its destination; access nodes are made anew in each part that uses them.
    std::map<ir::Id, std::size_t> part;
    std::size_t now = 0;
    for (const ir::Id id : order) {
      part[id] = now;
      if (now < libraries.size() && id == libraries[now]) ++now;
    }
    auto is_access = [&](ir::Id id) { return std::holds_alternative<ir::Access>(state.find_node(id)->kind); };
    auto is_library = [&](ir::Id id) { return expands(state, *state.find_node(id)); };
    std::vector<ir::State> parts(libraries.size() + 1);
    std::vector<std::map<ir::Id, ir::Id>> made(parts.size());
    auto node_in = [&](std::size_t p, ir::Id id) {
      auto [it, fresh] = made[p].emplace(id, 0);
      if (fresh) {
        ir::Node copy = *state.find_node(id);
        // The first part that uses a node keeps its id, so that reports still find it.
        copy.id = used_.insert(id).second ? id : graph_.new_id();
        it->second = copy.id;
        parts[p].nodes.push_back(std::move(copy));
      }
      return it->second;
    };
    for (const ir::Id id : order) {
      if (!is_access(id) && !is_library(id)) node_in(part[id], id);
    }
    for (const ir::Memlet& m : state.edges) {
      if (is_library(m.src) || is_library(m.dst)) continue;
      const std::size_t p = !is_access(m.dst) ? part[m.dst] : !is_access(m.src) ? part[m.src] : part[m.dst];
      if (!is_access(m.src) && part[m.src] != p) {
        if (m.is_order_only()) continue;  // the parts run in order
        throw Error(ErrorClass::kUsage, "a value passed directly between tasklets crosses a library node",
                    ir::places_of(graph_, m.id), "write it to a scalar");
      }
      if (m.is_order_only() && part[m.src] != part[m.dst]) continue;
      ir::Memlet copy = m;
      copy.src = node_in(p, m.src);
      copy.dst = node_in(p, m.dst);
      parts[p].edges.push_back(std::move(copy));
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (!parts[p].nodes.empty()) {
        ir::Element& e = graph_.append(out, std::move(parts[p]), element->label, element->location);
        if (!element_used_) e.id = element->id;
        element_used_ = true;
      }
      if (p < libraries.size()) expand_node(state, *state.find_node(libraries[p]), out);
    }
    element_used_ = false;
  }

  const ir::Container& root(const std::string& data) const {
    return ir::root_of(graph_, graph_.containers.at(data.substr(0, data.find('.'))));
  }

  // Does the node work on device memory?
  bool on_device(const ir::State& state, ir::Id id) const {
    return std::any_of(state.edges.begin(), state.edges.end(), [&](const ir::Memlet& m) {
      if (m.src != id && m.dst != id) return false;
      const ir::Node* other = state.find_node(m.src == id ? m.dst : m.src);
      const auto* access = other == nullptr ? nullptr : std::get_if<ir::Access>(&other->kind);
      return access != nullptr && ir::in_device_memory(graph_, access->data);
    });
  }

  void expand_node(const ir::State& state, const ir::Node& node, ir::Sequence& out) {
    const auto& library = std::get<ir::Library>(node.kind);
    const std::string label = node.label.empty() ? std::string(ir::name_of(library.op)) : node.label;
    ir::Block block;
    ir::Element& element = graph_.append(out, std::move(block), label, node.location);
    element.id = node.id;  // reports about the block are about the node
    auto& body = std::get<ir::Block>(element.kind);
    Emitter emitter(graph_, body.body, label, node.location, names_);
    Node n;
    n.library = &library;
    n.emitter = &emitter;
    n.reasons = reasons_;
    const bool device = kernels_ == 0 && on_device(state, node.id);
    n.makes_kernels = device;
    n.options = device || kernels_ > 0 ? &device_options_ : &options_;
    try {
      std::set<const ir::Container*> read;
      for (const ir::Memlet* m : state.in_edges(node.id)) {
        if (m->is_order_only()) continue;
        const auto& access = std::get<ir::Access>(state.find_node(m->src)->kind);
        n.inputs.emplace_back(graph_, access.data, *m->src_subset, m->dst_connector);
        read.insert(&root(access.data));
      }
      // In the order in which the node lists its connectors.
      auto position = [](const std::vector<std::string>& names, const Operand& o) {
        return std::find(names.begin(), names.end(), o.connector()) - names.begin();
      };
      std::stable_sort(n.inputs.begin(), n.inputs.end(), [&](const Operand& a, const Operand& b) {
        return position(library.inputs, a) < position(library.inputs, b);
      });
      struct Later {
        std::string from;
        ir::Subset from_at;
        std::string to;
        ir::Subset to_at;
        std::optional<ir::Wcr> wcr;
      };
      std::vector<Later> later;
      for (const ir::Memlet* m : state.out_edges(node.id)) {
        if (m->is_order_only()) continue;
        const auto& access = std::get<ir::Access>(state.find_node(m->dst)->kind);
        const bool moves = std::holds_alternative<ir::Copy>(library.op);
        const bool shared = std::any_of(read.begin(), read.end(), [&](const ir::Container* source) {
          return ir::may_share_memory(graph_, *source, root(access.data));
        });
        if (!m->wcr && (moves || !shared)) {
          n.outputs.emplace_back(graph_, access.data, *m->dst_subset, m->src_connector);
          continue;
        }
        // The result may overlap an operand, or is accumulated: it is computed aside.
        const Operand wanted(graph_, access.data, *m->dst_subset, m->src_connector);
        ir::Container c;
        c.name = graph_.unique_name(label + "_result");
        c.kind = wanted.rank() == 0 ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray;
        c.type = wanted.type();
        c.transient = true;
        if (wanted.rank() > 0) c.layout = ir::Layout::packed(wanted.extents());
        const ir::Subset all = ir::Subset::full(c.layout.shape());
        body.locals.push_back(c.name);
        n.own.push_back(c.name);
        later.push_back({c.name, all, access.data, *m->dst_subset, m->wcr});
        if (ir::reads_output(library, m->src_connector)) emitter.copy(access.data, *m->dst_subset, c.name, all);
        const std::string data = c.name;
        graph_.containers.insert(std::move(c));
        n.outputs.emplace_back(graph_, data, all, m->src_connector);
      }
      std::visit([&](const auto& op) { expand(op, n); }, library.op);
      for (const Later& l : later) emitter.copy(l.from, l.from_at, l.to, l.to_at, l.wcr);
      if (device) put_on_device(body);
    } catch (const Error& e) {
      std::vector<Error::Place> places = e.places();
      if (places.empty()) places = ir::places_of(graph_, element.id);
      throw Error(e.error_class(), e.message(), std::move(places), e.hint());
    }
  }

  // Whether the host would have to look into memory to find its way through these elements.
  bool decides_by_memory(const ir::Sequence& s) const {
    bool found = false;
    const auto reads = [&](const tasklet::Expr& e) {
      const tasklet::Uses uses = tasklet::uses_of(e);
      for (const auto* names : {&uses.read, &uses.subscripted}) {
        for (const std::string& name : *names) found = found || ir::resolve(graph_, name) != nullptr;
      }
    };
    ir::walk(s, [&](const ir::Element& e, const ir::Ancestors& outer) {
      for (const ir::Element* o : outer) {
        if (std::holds_alternative<ir::Map>(o->kind)) return;
      }
      if (const auto* f = std::get_if<ir::For>(&e.kind)) {
        for (const tasklet::Expr* x : {&f->init, &f->condition, &f->update}) reads(*x);
      } else if (const auto* w = std::get_if<ir::While>(&e.kind)) {
        reads(w->condition);
      } else if (const auto* i = std::get_if<ir::If>(&e.kind)) {
        for (const ir::If::Branch& b : i->branches) reads(b.condition);
      } else if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
        for (const ir::Assign::Item& item : a->items) reads(item.value);
      }
    });
    return found;
  }

  // Scalar code between the maps (first values of sums, say) that the host can't run.
  bool computes_in_device_memory(const ir::Element& e) const {
    const auto* s = std::get_if<ir::State>(&e.kind);
    return s != nullptr && std::any_of(s->edges.begin(), s->edges.end(), [&](const ir::Memlet& m) {
             const ir::Node* from = s->find_node(m.src);
             const ir::Node* to = s->find_node(m.dst);
             const auto* code = std::get_if<ir::Tasklet>(&from->kind);
             if (code == nullptr) code = std::get_if<ir::Tasklet>(&to->kind);
             const auto* memory = std::get_if<ir::Access>(&to->kind);
             if (memory == nullptr) memory = std::get_if<ir::Access>(&from->kind);
             return code != nullptr && memory != nullptr && code->code.language != tasklet::Language::kCpp &&
                    !m.is_order_only() && ir::in_device_memory(graph_, memory->data);
           });
  }

  std::unique_ptr<ir::Element> kernel_of_one_thread(std::unique_ptr<ir::Element> state) {
    ir::Symbol point;
    point.name = graph_.unique_name("once");
    point.binder = ir::BinderKind::kMapParameter;
    ir::Map map;
    map.params.push_back(point.name);
    map.ranges.push_back(ir::Range::index(0));
    map.schedule = ir::Schedule::kDevice;
    map.gpu_block_size = {1, 1, 1};
    graph_.symbols.insert(std::move(point));
    const std::string label = state->label;
    const SourceLocation location = state->location;
    map.body.items.push_back(std::move(state));
    return std::make_unique<ir::Element>(ir::Element{graph_.new_id(), label, location, std::move(map)});
  }

  void put_on_device(ir::Block& block) {
    if (decides_by_memory(block.body)) {
      ir::Map map;
      ir::Symbol point;
      point.name = Emitter(graph_, block.body, {}, {}, names_).fresh_symbol("point");
      point.binder = ir::BinderKind::kMapParameter;
      map.params.push_back(point.name);
      map.ranges.push_back(ir::Range::index(0));
      map.schedule = ir::Schedule::kDevice;
      map.body = std::move(block.body);
      graph_.symbols.insert(std::move(point));
      block.body = ir::Sequence();
      graph_.append(block.body, std::move(map));
    }
    const std::function<void(ir::Sequence&)> outermost = [&](ir::Sequence& s) {
      for (auto& item : s.items) {
        if (computes_in_device_memory(*item)) item = kernel_of_one_thread(std::move(item));
        if (auto* map = std::get_if<ir::Map>(&item->kind)) {
          if (map->schedule == ir::Schedule::kDefault) map->schedule = ir::Schedule::kDevice;
          continue;
        }
        if (auto* inner = std::get_if<ir::Block>(&item->kind)) to_device_memory(inner->locals);
        for (ir::Sequence* child : ir::child_sequences(*item)) outermost(*child);
      }
    };
    to_device_memory(block.locals);
    outermost(block.body);
  }

  void to_device_memory(const std::vector<std::string>& locals) {
    for (const std::string& name : locals) {
      ir::Container& c = graph_.containers.at(name);
      if (!c.is_scalar() && c.storage == ir::Storage::kDefault) c.storage = ir::Storage::kGpuGlobal;
    }
  }

  int kernels_ = 0;  // device maps around the element at hand
  ir::Graph& graph_;
  const ExpandOptions& options_;
  ExpandOptions device_options_;  // loop nests: kernels are made of maps, not of code for the host
  std::vector<std::string>* reasons_;
  CodeNames names_;
  std::set<ir::Id> used_;
  bool element_used_ = false;
};

}  // namespace

const Operand* Node::find_in(std::string_view connector) const {
  return find(inputs, connector);
}
const Operand* Node::find_out(std::string_view connector) const {
  return find(outputs, connector);
}
const Operand& Node::in(std::string_view connector) const {
  if (const Operand* o = find_in(connector)) return *o;
  emitter->fail("has no input '" + std::string(connector) + "'");
}
const Operand& Node::out(std::string_view connector) const {
  if (const Operand* o = find_out(connector)) return *o;
  emitter->fail("has no output '" + std::string(connector) + "'");
}
const Operand& Node::only_in() const {
  if (inputs.size() != 1) emitter->fail("has " + std::to_string(inputs.size()) + " inputs instead of one");
  return inputs.front();
}
const Operand& Node::only_out() const {
  if (outputs.size() != 1) emitter->fail("has " + std::to_string(outputs.size()) + " outputs instead of one");
  return outputs.front();
}
void Node::reason(const std::string& text) const {
  if (reasons != nullptr)
    reasons->push_back(std::string(ir::name_of(library->op)) + " '" + emitter->label() + "': " + text);
}

void expand_library_nodes(ir::Graph& g, const ExpandOptions& options, std::vector<std::string>* reasons) {
  Expansion(g, options, reasons).sequence(g.body);
}

}  // namespace sdfg::library
