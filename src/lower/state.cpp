// Lowers the dataflow of a state: tasklets as single lines where possible, library nodes that are plain loops,
// references.
#include <algorithm>

#include "lower/lowering.hpp"
#include "tasklet/value.hpp"

namespace sdfg::lower {

const ir::Access* access_of(const ir::State& s, ir::Id id) {
  const ir::Node* n = s.find_node(id);
  return n ? std::get_if<ir::Access>(&n->kind) : nullptr;
}

bool is_output(const ir::Tasklet& t, std::string_view name) {
  return std::ranges::any_of(t.outputs, [&](const ir::Connector& c) { return c.name == name; });
}

namespace {

// Every `x op= v` as `x = x op v`.
tasklet::Body without_updates(const tasklet::Body& body) {
  tasklet::Body out;
  for (const tasklet::Statement& s : body) {
    tasklet::Statement copy = s;
    if (const auto* u = std::get_if<tasklet::Update>(&s.node)) {
      copy.node = tasklet::Assign{u->target, tasklet::Expr::binary(u->op, u->target, u->value)};
    } else if (const auto* i = std::get_if<tasklet::If>(&s.node)) {
      tasklet::If next;
      for (const tasklet::IfBranch& b : i->branches) next.branches.push_back({b.condition, without_updates(b.body)});
      copy.node = std::move(next);
    } else if (const auto* w = std::get_if<tasklet::While>(&s.node)) {
      copy.node = tasklet::While{w->condition, without_updates(w->body)};
    }
    out.push_back(std::move(copy));
  }
  return out;
}

// Turns bounds checks off while an access of a memlet that may leave its container is spelled.
class Unchecked {
 public:
  Unchecked(bool& flag, bool on) : flag_(flag), old_(flag) { flag_ = flag_ || on; }
  ~Unchecked() { flag_ = old_; }
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;

 private:
  bool& flag_;
  bool old_;
};

// How a name is assigned in a body: by one statement that is not inside a branch or loop and precedes all reads?
struct Assignments {
  bool once_at_top = false;  // by one statement at the top of the body, before anything reads it
  bool read = false;
};

// What a body does with its names, gathered in one pass: bodies of thousands of locals are not rare.
class AssignmentTable {
 public:
  explicit AssignmentTable(const tasklet::Body& body) {
    for (std::size_t at = 0; at < body.size(); ++at) {
      const tasklet::Body one{body[at]};
      for (const std::string& name : tasklet::uses_of(one).read) {
        Entry& entry = entries_[name];
        entry.first_read = std::min(entry.first_read, at);
      }
      count(one);
      const auto* a = std::get_if<tasklet::Assign>(&body[at].node);
      const auto* target = a ? std::get_if<tasklet::Name>(&a->target.node()) : nullptr;
      if (target) entries_[target->name].at_top = at;
    }
  }

  Assignments operator[](std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return {};
    const Entry& entry = found->second;
    return {.once_at_top = entry.count == 1 && entry.at_top != kNowhere &&
                           (entry.first_read == kNowhere || entry.first_read > entry.at_top),
            .read = entry.first_read != kNowhere};
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  struct Entry {
    int count = 0;
    std::size_t first_read = kNowhere, at_top = kNowhere;
  };

  void count(const tasklet::Body& body) {
    for (const tasklet::Statement& s : body) {
      if (const auto* a = std::get_if<tasklet::Assign>(&s.node)) {
        if (const auto* target = std::get_if<tasklet::Name>(&a->target.node())) ++entries_[target->name].count;
      } else if (const auto* i = std::get_if<tasklet::If>(&s.node)) {
        for (const tasklet::IfBranch& b : i->branches) count(b.body);
      } else if (const auto* w = std::get_if<tasklet::While>(&s.node)) {
        count(w->body);
      }
    }
  }

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace

const std::string& Lowering::data_of(const ir::State& s, ir::Id access) const {
  const ir::Access* a = access_of(s, access);
  if (!a) throw Error(ErrorClass::kInternal, "a memlet that names no container is used as an access");
  return a->data;
}

void Lowering::state(const ir::Element& e, const ir::State& s) {
  if (kernel_ != nullptr) {
    if (s.barrier) {
      emit(Evaluate{"__syncthreads()"}, e.id);
      kernel_->meets = true;
    }
    if (!in_threads()) {
      block_state(s);
      return;
    }
  }
  for (const ir::Id id : s.topological_order()) {
    const ir::Node* n = s.find_node(id);
    std::visit(
        [&](const auto& kind) {
          using T = std::decay_t<decltype(kind)>;
          if constexpr (std::is_same_v<T, ir::Access>) {
            copies_into(s, *n);
          } else if constexpr (std::is_same_v<T, ir::Tasklet>) {
            tasklet_node(s, *n, kind);
          } else {
            static_assert(std::is_same_v<T, ir::Library>);
            library_node(s, *n, kind);
          }
        },
        n->kind);
  }
}

Text Lowering::target_of(const ir::State& s, const ir::Memlet& m) {
  const std::string& data = data_of(s, m.dst);
  const ir::Subset subset = m.dst_subset.value_or(ir::Subset());
  const Unchecked unchecked(unchecked_, m.allow_oob);
  if (m.wcr && m.wcr->lowering == ir::WcrLowering::kReduction) {
    for (auto it = accumulators_.rbegin(); it != accumulators_.rend(); ++it) {
      if (it->container == root_name(data) && it->op == m.wcr->op) return it->variable;
    }
  }
  return element_at(data, subset);
}

bool Lowering::is_single_queue(const ir::Container& c) {
  return c.rank() == 0 || c.layout.num_elements().is_one();
}

Text Lowering::queue_at(std::string_view stream, const ir::Subset& subset, ir::Id origin) {
  const ir::Container& c = container(stream);
  const bool one_index = subset.rank() == c.rank() && subset.is_index();
  if (!is_single_queue(c) && !one_index)
    unsupported(origin, "a use of several queues of the stream '" + c.name + "' at once");
  // Whatever checks are on: a queue that isn't there is a wild pointer, and the test costs nothing beside the push.
  if (one_index && kernel_ == nullptr) check_window({std::string(stream), subset}, origin);
  if (!c.transient) return base(stream);
  if (is_single_queue(c)) return base(stream) + ".queue";
  return base(stream) + ".queues[" + flat_index(stream, texts(subset.begins())) + "]";
}

Statement Lowering::push(std::string_view stream, const Text& queue, const Text& address, ir::Id origin) {
  const ir::Container& c = container(stream);
  needs_call_ = true;
  const Text pushed = "sdfg_abi->stream_push(call, " + queue + ", " + address + ")";
  // One that grows is never full; that there is no memory the runtime reports itself.
  if (c.transient && c.buffer_size.is_zero()) return statement(Evaluate{pushed}, ordinal(origin));
  support_.need(Helper::kFail);
  If full;
  full.branches.push_back(
      {"!" + pushed,
       {statement(Evaluate{"sdfg_fail(call, 6, " + std::to_string(container_ordinal(root_name(stream))) + ", " +
                           (c.transient ? expr(c.buffer_size) : Text("0")) + ")"})}});
  return statement(std::move(full), ordinal(origin));
}

Statement Lowering::pop(std::string_view stream, const Text& queue, const Text& address, ir::Id origin) {
  needs_call_ = true;
  support_.need(Helper::kFail);
  If empty;
  empty.branches.push_back(
      {"!sdfg_abi->stream_pop(call, " + queue + ", " + address + ")",
       {statement(Evaluate{"sdfg_fail(call, 18, " + std::to_string(container_ordinal(root_name(stream))) + ")"})}});
  return statement(std::move(empty), ordinal(origin));
}

void Lowering::write(const ir::State& s, const ir::Memlet& m, const Text& value, const Type& type, ir::Id origin,
                     Text comment) {
  const std::string& data = data_of(s, m.dst);
  const ir::Container& c = container(data);
  if (c.kind == ir::ContainerKind::kStream) {
    Statements inner = collect([&] {
      const Unchecked unchecked(unchecked_, m.allow_oob);
      const Text queue = queue_at(data, m.dst_subset.value_or(ir::Subset()), origin);
      Declare d;
      d.type = type_text(c.type);
      d.name = names_.fresh("pushed");
      d.init = converted(value, type, c.type);
      d.is_const = true;
      const Text name = d.name;
      emit(std::move(d), origin);
      emit(push(data, queue, "&" + name, origin).node, origin);
    });
    emit(Scope{std::move(inner)}, origin, std::move(comment));
    return;
  }
  if (const auto lanes = lanes_of(type, data, m.dst_subset.value_or(ir::Subset()), origin); !lanes.empty()) {
    Statements inner = collect([&] {
      Declare d;
      d.type = type_text(type);
      d.name = names_.fresh("lanes");
      d.init = value;
      d.is_const = true;
      const Text vector = d.name;
      emit(std::move(d), origin);
      for (std::size_t k = 0; k < lanes.size(); ++k) {
        ir::Memlet one = m;
        one.dst_subset = lanes[k];
        write(s, one, vector + "[" + std::to_string(k) + "]", Type(type.scalar()), origin, {});
      }
    });
    emit(Scope{std::move(inner)}, origin, std::move(comment));
    return;
  }
  const Text text = converted(value, type, c.type);
  const ir::Subset subset = m.dst_subset.value_or(ir::Subset());
  if (m.wcr) {
    ir::Wcr wcr = *m.wcr;
    if (wcr.lowering == ir::WcrLowering::kReduction) {
      const bool held = std::ranges::any_of(
          accumulators_, [&](const Accumulator& a) { return a.container == root_name(data) && a.op == wcr.op; });
      // Without the surrounding reduction (a pass moved the write out of its map) the write is an ordinary
      // accumulation.
      wcr.lowering = held ? ir::WcrLowering::kPlain : ir::WcrLowering::kUndecided;
    }
    const Text target = target_of(s, m);
    checked_accumulate({data, subset}, wcr, c.type, target, text, origin, std::move(comment));
    return;
  }
  if (uses_.written_once(data) == m.id) {
    Declare d;
    d.type = type_text(c.type);
    d.name = base(data);
    d.init = text;
    d.is_const = true;
    emit(std::move(d), origin, std::move(comment));
    check_numbers(data, subset, base(data), origin);
    return;
  }
  const Text target = target_of(s, m);
  emit(Store{target, "=", text}, origin, std::move(comment));
  check_numbers(data, subset, target, origin);
}

bool Lowering::checks_numbers_of(const Type& type) const {
  return options_.check_numbers && type.is_scalar() && (is_floating(type.scalar()) || is_complex(type.scalar()));
}

// Reports a value that is no number, with its place in the container. Infinities are the identities of minima and
// maxima.
void Lowering::check_numbers(std::string_view data, const ir::Subset& subset, const Text& target, ir::Id origin) {
  const ir::Container& c = container(data);
  if (!checks_numbers_of(c.type)) return;
  const ScalarType t = c.type.scalar();
  support_.need(Helper::kNumber);
  const Text flat = c.is_scalar() ? Text("0") : flat_index(data, texts(subset.begins()));
  std::string condition;
  for (const char* part : {".re", ".im", ""}) {
    const bool member = *part != 0;
    if (member != is_complex(t)) continue;
    condition += (condition.empty() ? "!sdfg_is_number(" : " || !sdfg_is_number(") + target + part + ")";
  }
  const Text known =
      std::to_string(ordinal(origin)) + ", " + flat + ", " + std::to_string(container_ordinal(root_name(data)));
  Text report;
  if (kernel_ != nullptr) {
    support_.need(Helper::kReport);
    report = Text("sdfg_report(") + kToldName + ", 10, " + known + ", 0)";
  } else {
    support_.need(Helper::kFail);
    needs_call_ = true;
    report = "sdfg_fail(call, 10, " + known + ")";
  }
  If test;
  test.branches.push_back({condition, {statement(Evaluate{report})}});
  emit(std::move(test), origin);
}

bool Lowering::bind_inputs(const ir::State& s, const ir::Node& n, const ir::Tasklet& t, Binding& b,
                           bool inline_values) {
  for (const ir::Memlet* m : s.in_edges(n.id)) {
    if (m->dst_connector.empty()) continue;
    if (!m->src_connector.empty()) {
      const auto it = registers_.find({m->src, m->src_connector});
      if (it == registers_.end())
        throw Error(ErrorClass::kInternal, "the register of a code edge is not defined", ir::places_of(g_, m->id));
      b.values[m->dst_connector] = it->second.first;
      continue;
    }
    const std::string& data = data_of(s, m->src);
    const ir::Container& c = container(data);
    const Type type = ir::connector_type(g_, s, n, m->dst_connector, false);
    const ir::Subset subset = m->src_subset.value_or(ir::Subset());
    const Unchecked unchecked(unchecked_, m->allow_oob);
    if (c.kind == ir::ContainerKind::kStream) {
      const Text queue = queue_at(data, subset, n.id);
      Declare d;
      d.type = type_text(c.type);
      d.name = names_.fresh(m->dst_connector);
      d.init = "{}";
      b.values[m->dst_connector] = d.name;
      const Text name = d.name;
      emit(std::move(d), n.id);
      emit(pop(data, queue, "&" + name, n.id).node, n.id);
      continue;
    }
    if (type.kind() == Type::Kind::kPointer) {
      b.windows[m->dst_connector] = {data, subset, m};
      b.values[m->dst_connector] = address_at(data, subset);
      continue;
    }
    Text value;
    if (const auto lanes = lanes_of(type, data, subset, n.id); !lanes.empty()) {
      for (const ir::Subset& lane : lanes)
        value += (value.empty() ? "{" : ", ") + converted(element_at(data, lane), c.type, Type(type.scalar()));
      value = type_text(type) + value + "}";
    } else {
      value = converted(element_at(data, subset), c.type, type);
    }
    if (inline_values) {
      b.values[m->dst_connector] = value;
      continue;
    }
    Declare d;
    d.type = type_text(type);
    d.name = names_.fresh(m->dst_connector);
    d.init = value;
    d.is_const = true;
    b.values[m->dst_connector] = d.name;
    emit(std::move(d), n.id);
  }
  for (const ir::Connector& c : t.inputs) {
    if (!b.values.contains(c.name)) {
      throw Error(ErrorClass::kGraph,
                  "The input connector '" + c.name + "' of the tasklet '" + n.label + "' has no memlet.",
                  ir::places_of(g_, n.id));
    }
  }
  return true;
}

void Lowering::statements(const ir::State& state, const tasklet::Body& body, Binding& b, ir::Id origin) {
  for (const tasklet::Statement& s : body) {
    std::visit(
        [&](const auto& node) {
          using T = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<T, tasklet::Assign>) {
            const auto* name = std::get_if<tasklet::Name>(&node.target.node());
            const std::string key = name ? name->name : std::get<tasklet::Subscript>(node.target.node()).base;
            const auto target_type = b.target_types.find(key);
            const auto immediate = b.immediate.find(key);
            if (name && immediate != b.immediate.end()) {
              write(state, *immediate->second, code(node.value, b), node.value.type(), origin, {});
              return;
            }
            if (const auto pending = b.pending.find(key); name && pending != b.pending.end()) {
              Declare d;
              d.type = type_text(pending->second);
              d.name = b.values.at(key);
              d.init = code_as(node.value, pending->second, b);
              d.is_const = true;
              emit(std::move(d), origin);
              return;
            }
            const Type type = name && target_type != b.target_types.end() ? target_type->second : node.target.type();
            const Text value = code_as(node.value, type, b);
            const auto window = b.windows.find(key);
            if (!name && window != b.windows.end() && window->second.memlet && window->second.memlet->wcr &&
                window->second.memlet->dst_subset) {
              accumulate(*window->second.memlet->wcr, type, code(node.target, b), value, origin, {});
              return;
            }
            emit(Store{code(node.target, b), "=", value}, origin);
          } else if constexpr (std::is_same_v<T, tasklet::Update>) {
            throw Error(ErrorClass::kInternal, "an update is left in normalised scalar code");
          } else if constexpr (std::is_same_v<T, tasklet::If>) {
            If out;
            for (const tasklet::IfBranch& branch : node.branches) {
              const auto* literal = std::get_if<tasklet::Literal>(&branch.condition.node());
              const bool is_else = literal && std::holds_alternative<bool>(literal->value) &&
                                   std::get<bool>(literal->value) && !out.branches.empty();
              Statements inner = collect([&] { statements(state, branch.body, b, origin); });
              out.branches.push_back({is_else ? Text() : condition(branch.condition, b), std::move(inner)});
              if (is_else) break;
            }
            emit(std::move(out), origin);
          } else if constexpr (std::is_same_v<T, tasklet::While>) {
            While out;
            out.condition = condition(node.condition, b);
            out.body = collect([&] { statements(state, node.body, b, origin); });
            emit(std::move(out), origin);
          } else if constexpr (std::is_same_v<T, tasklet::Break>) {
            emit(Break{}, origin);
          } else if constexpr (std::is_same_v<T, tasklet::Continue>) {
            emit(Continue{}, origin);
          } else {
            static_assert(std::is_same_v<T, tasklet::Evaluate>);
            emit(Evaluate{code(node.value, b)}, origin);
          }
        },
        s.node);
  }
}

void Lowering::tasklet_node(const ir::State& s, const ir::Node& n, const ir::Tasklet& t) {
  if (t.code.language == tasklet::Language::kCpp) {
    cpp_tasklet(s, n, t);
    return;
  }
  const tasklet::TypeEnvironment env = ir::type_environment(g_, s, n);
  std::vector<std::pair<std::string, Type>> locals;
  const tasklet::Body body = tasklet::infer_types(without_updates(t.code.body), env, &locals);
  std::erase_if(locals, [&](const auto& l) { return is_output(t, l.first); });
  const Text comment = comment_text(n.label);

  std::vector<const ir::Memlet*> outs;
  for (const ir::Memlet* m : s.out_edges(n.id)) {
    if (!m->src_connector.empty()) outs.push_back(m);
  }
  const bool touches_stream = std::ranges::any_of(s.in_edges(n.id), [&](const ir::Memlet* m) {
    const ir::Access* a = access_of(s, m->src);
    return a && !m->is_order_only() && container(a->data).kind == ir::ContainerKind::kStream;
  });

  // One assignment to the one output: a line.
  const auto* only = body.size() == 1 ? std::get_if<tasklet::Assign>(&body.front().node) : nullptr;
  const auto* target = only ? std::get_if<tasklet::Name>(&only->target.node()) : nullptr;
  if (only && target && is_output(t, target->name) && t.outputs.size() == 1 && locals.empty() && outs.size() == 1 &&
      !touches_stream) {
    const tasklet::Uses uses = tasklet::uses_of(only->value);
    const bool reads_itself = std::ranges::find(uses.read, target->name) != uses.read.end();
    const ir::Memlet& m = *outs.front();
    const bool to_register = !m.dst_connector.empty() && !access_of(s, m.dst);
    if (!reads_itself || (!to_register && !m.wcr)) {
      Binding b;
      bind_inputs(s, n, t, b, true);
      if (reads_itself) b.values[target->name] = element_at(data_of(s, m.dst), m.dst_subset.value_or(ir::Subset()));
      const Type wish = ir::connector_type(g_, s, n, target->name, true);
      if (wish.kind() != Type::Kind::kPointer) {
        const Type type = wish.is_void() ? only->value.type() : wish;
        const Text value = code_as(only->value, type, b);
        if (to_register) {
          Declare d;
          d.type = type_text(type);
          d.name = names_.fresh(n.label.empty() ? target->name : n.label);
          d.init = value;
          d.is_const = true;
          registers_[{n.id, target->name}] = {d.name, type};
          emit(std::move(d), n.id, comment);
        } else {
          write(s, m, value, type, n.id, comment);
        }
        return;
      }
    }
  }
  if (body.size() == 1 && std::holds_alternative<tasklet::Evaluate>(body.front().node) && outs.empty() &&
      !touches_stream) {
    Binding b;
    bind_inputs(s, n, t, b, true);
    emit(Evaluate{code(std::get<tasklet::Evaluate>(body.front().node).value, b)}, n.id, comment);
    return;
  }

  // Registers, and scalars that this tasklet alone defines, are declared outside of its braces: their readers come
  // later.
  Binding b;
  std::vector<std::tuple<const ir::Memlet*, Text, Type>> written_at_end;
  Statements tail_declarations;
  for (const ir::Connector& out : t.outputs) {
    const Type type = ir::connector_type(g_, s, n, out.name, true);
    const bool to_register = std::ranges::any_of(
        outs, [&](const ir::Memlet* m) { return m->src_connector == out.name && !access_of(s, m->dst); });
    if (to_register) {
      Declare d;
      d.type = type_text(type);
      d.name = names_.fresh(n.label.empty() ? out.name : n.label + "_" + out.name);
      d.init = "{}";
      registers_[{n.id, out.name}] = {d.name, type};
      b.values[out.name] = d.name;
      b.target_types[out.name] = type;
      emit(std::move(d), n.id);
    }
  }
  for (const ir::Memlet* m : outs) {
    if (!access_of(s, m->dst) || uses_.written_once(data_of(s, m->dst)) != m->id) continue;
    const ir::Container& c = container(data_of(s, m->dst));
    Declare d;
    d.type = type_text(c.type);
    d.name = base(c.name);
    d.init = "{}";
    emit(std::move(d), n.id);
    b.values[m->src_connector] = base(c.name);
    b.target_types[m->src_connector] = c.type;
  }
  const auto declare_local = [&](const std::string& name, const Type& type, const Assignments& uses) {
    b.values[name] = names_.fresh(name);
    b.target_types[name] = type;
    if (uses.once_at_top) {
      b.pending[name] = type;
      return;
    }
    Declare d;
    d.type = type_text(type);
    d.name = b.values[name];
    d.init = "{}";
    emit(std::move(d), n.id);
  };
  Statements inner = collect([&] {
    bind_inputs(s, n, t, b, false);
    const AssignmentTable assignments(body);
    const bool reads_memory = !b.windows.empty();  // pointer connectors: what they show must not change before the end
    for (const ir::Memlet* m : outs) {
      const std::string& name = m->src_connector;
      if (!access_of(s, m->dst)) continue;
      const std::string& data = data_of(s, m->dst);
      const ir::Container& c = container(data);
      if (uses_.written_once(data) == m->id) continue;
      const Type type = ir::connector_type(g_, s, n, name, true);
      const ir::Subset subset = m->dst_subset.value_or(ir::Subset());
      if (type.kind() == Type::Kind::kPointer) {
        b.windows[name] = {data, subset, m};
        b.values[name] = address_at(data, subset);
        continue;
      }
      const bool shared =
          std::ranges::count_if(outs, [&](const ir::Memlet* o) { return o->src_connector == name; }) > 1;
      const Assignments uses = assignments[name];
      const bool final_value = uses.once_at_top && !uses.read && type == c.type && !reads_memory;
      const bool spread = type.kind() == Type::Kind::kVector && c.type.is_scalar();  // several elements
      if (((m->dynamic && !spread) || c.kind == ir::ContainerKind::kStream || final_value) && !shared) {
        // What is not assigned must not be written: each assignment is the write. Inputs were read before.
        b.immediate[name] = m;
        if (c.kind != ir::ContainerKind::kStream) b.values[name] = element_at(data, subset);
        continue;
      }
      if (!b.values.contains(name)) declare_local(name, type, uses);
      written_at_end.emplace_back(m, b.values[name], type);
    }
    for (const auto& [name, type] : locals) declare_local(name, type, assignments[name]);
    statements(s, body, b, n.id);
    for (const auto& [m, value, type] : written_at_end) write(s, *m, value, type, n.id, {});
  });
  emit(Scope{std::move(inner)}, n.id, comment);
}

void Lowering::library_node(const ir::State& s, const ir::Node& n, const ir::Library& l) {
  const auto side = [&](const std::vector<const ir::Memlet*>& edges, std::string_view connector,
                        bool output) -> std::optional<Side> {
    for (const ir::Memlet* m : edges) {
      if ((output ? m->src_connector : m->dst_connector) != connector) continue;
      const ir::Id at = output ? m->dst : m->src;
      if (!access_of(s, at)) continue;
      return Side{data_of(s, at), (output ? m->dst_subset : m->src_subset).value_or(ir::Subset())};
    }
    return std::nullopt;
  };
  const auto in = side(s.in_edges(n.id), "_in", false);
  const auto out = side(s.out_edges(n.id), "_out", true);
  if (std::holds_alternative<ir::Copy>(l.op) && in && out) {
    copy(*in, *out, std::nullopt, n.id, comment_text(n.label));
    return;
  }
  if (const auto* f = std::get_if<ir::Fill>(&l.op); f && out) {
    fill(*out, f->value, n.id, comment_text(n.label));
    return;
  }
  unsupported(n.id, "the library node '" + std::string(ir::name_of(l.op)) + "' before its expansion");
}

void Lowering::copies_into(const ir::State& s, const ir::Node& n) {
  for (const ir::Memlet* m : s.in_edges(n.id)) {
    const ir::Access* from = access_of(s, m->src);
    if (!from || m->is_order_only()) continue;
    if (m->set_reference) {
      set_reference(s, *m);
      continue;
    }
    copy({from->data, m->src_subset.value_or(ir::Subset())}, {data_of(s, n.id), m->dst_subset.value_or(ir::Subset())},
         m->wcr, m->id, {});
  }
}

void Lowering::set_reference(const ir::State& s, const ir::Memlet& m) {
  const Text address = address_at(data_of(s, m.src), m.src_subset.value_or(ir::Subset()));
  const ir::Container& reference = container(data_of(s, m.dst));
  emit(Store{base(reference.name), "=", "(" + type_text(reference.type) + "*)" + parenthesised(address)}, m.id);
}

}  // namespace sdfg::lower
