// Prepares a graph for interpretation.
#include "interpret/plan.hpp"

#include <algorithm>
#include <set>

namespace sdfg::interpret::plan {

namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorClass::kGraph, message);
}

ScalarType arithmetic_type(const Type& type, const std::string& what) {
  if (type.kind() != Type::Kind::kScalar && type.kind() != Type::Kind::kVector)
    fail(what + " has type " + type.str() + ", which has no arithmetic value");
  return type.scalar();
}

// Orders containers so that a view comes after what it shows.
std::vector<int> ordered(const std::vector<std::string>& names, const Slots& slots,
                         const std::vector<ContainerPlan>& plans) {
  std::vector<int> wanted;
  for (const std::string& n : names) wanted.push_back(slots.container(n));
  std::vector<int> out;
  std::set<int> done, open;
  const std::function<void(int)> add = [&](int slot) {
    if (done.contains(slot)) return;
    if (!open.insert(slot).second)
      fail("view '" + slots.containers[static_cast<std::size_t>(slot)].path + "' shows itself");
    if (const auto& window = plans[static_cast<std::size_t>(slot)].window) {
      int target = window->container;
      while (slots.containers[static_cast<std::size_t>(target)].parent >= 0)
        target = slots.containers[static_cast<std::size_t>(target)].parent;
      if (std::find(wanted.begin(), wanted.end(), target) != wanted.end()) add(target);
    }
    done.insert(slot);
    out.push_back(slot);
  };
  for (int slot : wanted) add(slot);
  return out;
}

class Preparer {
 public:
  explicit Preparer(Program& program)
      : p_(program), graph_(*program.graph), slots_(program.slots), environment_(ir::type_environment(graph_)) {}

  Sequence sequence(const ir::Sequence& s) {
    Sequence out;
    for (const auto& item : s.items) out.push_back(element(*item));
    return out;
  }

 private:
  Element element(const ir::Element& e) {
    try {
      return {&e, std::visit([&](const auto& kind) -> decltype(Element::kind) { return this->prepare_kind(kind, e); },
                             e.kind)};
    } catch (const Error& error) {
      if (!error.places().empty()) throw;
      throw Error(error.error_class(), error.message(), ir::places_of(graph_, e.id), error.hint());
    }
  }

  CodeNode code(const tasklet::Expr& e) { return prepare(tasklet::infer_types(e, environment_), {}, slots_); }

  std::vector<int> symbols_bound_in(const ir::Sequence& s) {
    std::set<std::string> names;
    for (const auto& item : s.items)
      for (const std::string& n : ir::symbols_bound(*item)) names.insert(n);
    std::vector<int> out;
    for (const std::string& n : names) out.push_back(slots_.symbol(n));
    return out;
  }

  Assign prepare_kind(const ir::Assign& a, const ir::Element&) {
    Assign out;
    for (const auto& item : a.items) out.items.emplace_back(slots_.symbol(item.symbol), code(item.value));
    return out;
  }
  Block prepare_kind(const ir::Block& b, const ir::Element&) {
    return {ordered(b.locals, slots_, p_.containers), sequence(b.body)};
  }
  For prepare_kind(const ir::For& f, const ir::Element&) {
    return {slots_.symbol(f.variable), code(f.init), code(f.condition), code(f.update), f.form, sequence(f.body)};
  }
  While prepare_kind(const ir::While& w, const ir::Element&) {
    return {code(w.condition), w.test_first, sequence(w.body)};
  }
  If prepare_kind(const ir::If& i, const ir::Element&) {
    If out;
    for (const auto& b : i.branches) out.branches.emplace_back(code(b.condition), sequence(b.body));
    return out;
  }
  Map prepare_kind(const ir::Map& m, const ir::Element&) {
    if (m.params.size() != m.ranges.size())
      fail("a map has " + std::to_string(m.params.size()) + " parameters and " + std::to_string(m.ranges.size()) +
           " ranges");
    Map out;
    for (const std::string& n : m.params) out.params.push_back(slots_.symbol(n));
    for (const ir::Range& r : m.ranges)
      out.ranges.push_back(
          {Index(r.begin, slots_), Index(r.end, slots_), Index(r.step, slots_), Index(r.tile, slots_), false});
    out.assigned = symbols_bound_in(m.body);
    out.body = sequence(m.body);
    return out;
  }
  Consume prepare_kind(const ir::Consume& c, const ir::Element&) {
    Consume out;
    out.stream = slots_.container(c.stream);
    out.element = slots_.container(c.element);
    out.worker = c.worker.empty() ? -1 : slots_.symbol(c.worker);
    out.num_workers = Index(c.num_workers, slots_);
    if (c.condition) out.condition = code(*c.condition);
    out.chunk_size = c.chunk_size;
    out.assigned = symbols_bound_in(c.body);
    out.body = sequence(c.body);
    return out;
  }
  Exit prepare_kind(const ir::Exit& x, const ir::Element&) { return {x.kind, x.target}; }
  Return prepare_kind(const ir::Return&, const ir::Element&) { return {}; }

  const ir::Container& accessed(const ir::State& s, ir::Id node) const {
    const auto& access = std::get<ir::Access>(s.find_node(node)->kind);
    return *slots_.containers[static_cast<std::size_t>(slots_.container(access.data))].desc;
  }
  static bool is_access(const ir::State& s, ir::Id node) {
    return std::holds_alternative<ir::Access>(s.find_node(node)->kind);
  }

  Region region(const ir::State& s, ir::Id access, const std::optional<ir::Subset>& subset, const ir::Memlet& m) const {
    const std::string& data = std::get<ir::Access>(s.find_node(access)->kind).data;
    if (subset) return {slots_, data, *subset, m.allow_oob, m.id};
    return {slots_, data,
            ir::Subset::full(slots_.containers[static_cast<std::size_t>(slots_.container(data))].desc->layout.shape()),
            m.allow_oob, m.id};
  }

  std::optional<WcrPlan> wcr(const ir::Memlet& m, const ir::Container& target) const {
    if (!m.wcr) return {};
    return WcrPlan(m.wcr->op, m.wcr->custom, target.type, slots_);
  }

  State prepare_kind(const ir::State& s, const ir::Element&) {
    State out;
    std::map<ir::Id, int> registers;  // by memlet
    for (ir::Id id : s.topological_order()) {
      const ir::Node& node = *s.find_node(id);
      try {
        std::visit(
            Overloaded{
                [&](const ir::Access&) {
                  for (const ir::Memlet* m : s.in_edges(id))
                    if (is_access(s, m->src) && !m->is_order_only()) out.steps.emplace_back(copy(s, *m));
                },
                [&](const ir::Tasklet& t) { out.steps.emplace_back(tasklet(s, node, t, out.registers, registers)); },
                [&](const ir::Library& l) { out.steps.emplace_back(library(s, node, l)); },
            },
            node.kind);
      } catch (const Error& error) {
        if (!error.places().empty()) throw;
        throw Error(error.error_class(), error.message(), ir::places_of(graph_, id), error.hint());
      }
    }
    return out;
  }

  CopyStep copy(const ir::State& s, const ir::Memlet& m) {
    CopyStep out;
    out.memlet = m.id;
    out.src = region(s, m.src, m.src_subset, m);
    out.dst = region(s, m.dst, m.dst_subset, m);
    out.wcr = wcr(m, accessed(s, m.dst));
    out.set_reference = m.set_reference;
    return out;
  }

  TaskletStep tasklet(const ir::State& s, const ir::Node& node, const ir::Tasklet& t, int& next_register,
                      std::map<ir::Id, int>& registers) {
    if (t.code.language != tasklet::Language::kTree)
      fail("tasklet '" + node.label + "' is C++ text, which the interpreter can't run");
    TaskletStep out;
    out.node = node.id;
    CodeNames names;
    const auto local = [&](const std::string& name, ScalarType type) {
      names.locals.emplace(name, std::pair(out.locals, type));
      return out.locals++;
    };

    for (const ir::Memlet* m : s.in_edges(node.id)) {
      if (m->is_order_only()) continue;
      Port port;
      port.connector = m->dst_connector;
      const Type type = ir::connector_type(graph_, s, node, m->dst_connector, false);
      if (!is_access(s, m->src)) {
        port.kind = Port::Kind::kRegister;
        port.type = arithmetic_type(type, "connector '" + port.connector + "'");
        port.lanes = type.lanes();
        port.target = local(port.connector, port.type);
        port.reg = registers.at(m->id);
      } else {
        const ir::Container& data = accessed(s, m->src);
        port.region = region(s, m->src, m->src_subset, *m);
        if (data.kind == ir::ContainerKind::kStream) {
          port.type = arithmetic_type(data.type, "stream '" + data.name + "'");
          if (m->dynamic) {
            port.kind = Port::Kind::kQueue;
            port.target = out.queues++;
            names.pops.emplace(port.connector, std::pair(port.target, port.type));
          } else {
            port.kind = Port::Kind::kPop;
            port.target = local(port.connector, port.type);
          }
        } else if (type.kind() == Type::Kind::kPointer) {
          port.kind = Port::Kind::kPointer;
          port.target = out.pointers++;
          names.pointers.emplace(port.connector, port.target);
          if (type.pointee().kind() == Type::Kind::kVector) port.lanes = type.pointee().lanes();
        } else {
          port.type = arithmetic_type(type, "connector '" + port.connector + "'");
          port.lanes = type.lanes();
          port.target = local(port.connector, port.type);
        }
      }
      out.lanes = std::max(out.lanes, port.lanes);
      out.inputs.push_back(std::move(port));
    }

    for (const ir::Memlet* m : s.out_edges(node.id)) {
      if (m->is_order_only()) continue;
      Port port;
      port.connector = m->src_connector;
      const Type type = ir::connector_type(graph_, s, node, m->src_connector, true);
      port.lanes = type.kind() == Type::Kind::kPointer ? type.pointee().lanes() : type.lanes();
      out.lanes = std::max(out.lanes, port.lanes);
      const auto existing = names.locals.find(port.connector);
      if (!is_access(s, m->dst)) {
        port.kind = Port::Kind::kRegister;
        port.type = arithmetic_type(type, "connector '" + port.connector + "'");
        port.target = existing != names.locals.end() ? existing->second.first : local(port.connector, port.type);
        port.reg = next_register;
        registers.emplace(m->id, port.reg);
        next_register += port.lanes;
      } else {
        const ir::Container& data = accessed(s, m->dst);
        if (m->set_reference)
          fail("connector '" + port.connector + "' sets reference '" + data.name +
               "': only access nodes can be referenced here");
        port.region = region(s, m->dst, m->dst_subset, *m);
        if (data.kind == ir::ContainerKind::kStream) {
          port.type = arithmetic_type(data.type, "stream '" + data.name + "'");
          if (m->dynamic) {
            port.kind = Port::Kind::kQueue;
            port.target = out.queues++;
            names.pushes.emplace(port.connector, std::pair(port.target, port.type));
          } else {
            port.kind = Port::Kind::kPush;
            port.target = existing != names.locals.end() ? existing->second.first : local(port.connector, port.type);
          }
        } else if (type.kind() == Type::Kind::kPointer || (m->dynamic && port.region.single)) {
          // A dynamic output is written when the code assigns it, as often as it does (which WCR counts).
          port.kind = Port::Kind::kPointer;
          port.target = out.pointers++;
          names.pointers.emplace(port.connector, port.target);
          port.wcr = wcr(*m, data);
        } else {
          port.type = arithmetic_type(type, "connector '" + port.connector + "'");
          port.target = existing != names.locals.end() ? existing->second.first : local(port.connector, port.type);
          port.wcr = wcr(*m, data);
        }
      }
      out.outputs.push_back(std::move(port));
    }

    std::vector<std::pair<std::string, Type>> variables;
    const tasklet::Body body = tasklet::infer_types(t.code.body, ir::type_environment(graph_, s, node), &variables);
    for (const auto& [name, type] : variables)
      if (!names.locals.contains(name) && !names.pointers.contains(name) && !names.pushes.contains(name))
        local(name, arithmetic_type(type, "local variable '" + name + "'"));
    out.body = prepare(body, names, slots_);
    return out;
  }

  LibraryStep library(const ir::State& s, const ir::Node& node, const ir::Library& l) {
    LibraryStep out;
    out.node = node.id;
    out.library = &l;
    for (const ir::Memlet* m : s.in_edges(node.id)) {
      if (m->is_order_only()) continue;
      if (!is_access(s, m->src)) fail("input '" + m->dst_connector + "' of a library node must come from a container");
      out.inputs.push_back({m->dst_connector, region(s, m->src, m->src_subset, *m), {}});
    }
    for (const ir::Memlet* m : s.out_edges(node.id)) {
      if (m->is_order_only()) continue;
      if (!is_access(s, m->dst)) fail("output '" + m->src_connector + "' of a library node must go to a container");
      const ir::Container& data = accessed(s, m->dst);
      out.outputs.push_back({m->src_connector, region(s, m->dst, m->dst_subset, *m), wcr(*m, data)});
      if (const auto* r = std::get_if<ir::Reduce>(&l.op)) out.reduce = WcrPlan(r->op, r->custom, data.type, slots_);
      if (const auto* r = std::get_if<ir::Scan>(&l.op)) out.reduce = WcrPlan(r->op, {}, data.type, slots_);
    }
    if (const auto* f = std::get_if<ir::Fft>(&l.op)) out.factor = Index(f->factor, slots_);
    return out;
  }

  Program& p_;
  const ir::Graph& graph_;
  const Slots& slots_;
  tasklet::TypeEnvironment environment_;
};

}  // namespace

Program::Program(const ir::Graph& g) : graph(&g), slots(g) {
  for (const auto& [what, text] : {std::pair("init", &g.code.init), std::pair("exit", &g.code.exit)}) {
    if (text->find_first_not_of(" \t\r\n") != std::string::npos)
      fail("graph '" + g.name + "' has " + what + " code, C++ text, which the interpreter can't run");
  }
  containers.resize(slots.containers.size());
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const ir::Container& c = *slots.containers[i].desc;
    ContainerPlan& plan = containers[i];
    const auto indices = [&](const ir::Extents& all) {
      std::vector<Index> out;
      for (const auto& e : all) out.emplace_back(e, slots);
      return out;
    };
    plan.shape = indices(c.layout.shape());
    plan.strides = indices(c.layout.strides());
    plan.offset = indices(c.layout.offset());
    plan.offset.resize(plan.shape.size());
    plan.total_size = Index(c.layout.total_size(), slots);
    plan.start_offset = Index(c.layout.start_offset(), slots);
    plan.buffer_size = Index(c.buffer_size, slots);
    if (c.kind == ir::ContainerKind::kView) {
      plan.window = Region(slots, c.viewed, c.viewed_subset, false, 0);
      containers[static_cast<std::size_t>(plan.window->container)].views.push_back(static_cast<int>(i));
    }
    if (const int parent = slots.containers[i].parent; parent >= 0)
      containers[static_cast<std::size_t>(parent)].members.push_back(static_cast<int>(i));
    if (slots.containers[i].parent >= 0) continue;
    if (c.constant)
      constants.push_back(static_cast<int>(i));
    else if (c.transient && c.lifetime == ir::Lifetime::kPersistent)
      persistent.push_back(static_cast<int>(i));
    else if (c.transient && c.lifetime == ir::Lifetime::kExternal)
      external.push_back(static_cast<int>(i));
  }
  locals = ordered(g.locals, slots, containers);
  body = Preparer(*this).sequence(g.body);
}

}  // namespace sdfg::interpret::plan
