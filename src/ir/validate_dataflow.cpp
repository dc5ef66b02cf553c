// Rules of dataflow: nodes, connectors, the shape of memlets, ranks, volumes, WCR, tasklet code.
#include <algorithm>
#include <map>

#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;
using symbolic::Truth;

namespace {

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::kBitAnd || op == ReduceOp::kBitOr || op == ReduceOp::kBitXor;
}

class StateChecker {
 public:
  StateChecker(Report& report, const Scope& scope, const State& state)
      : report_(report), g_(report.g), scope_(scope), s_(state) {}

  void run() {
    if (!check_ends()) return;
    check_acyclic();
    const std::size_t before = report_.count();
    for (const Node& n : s_.nodes) check_node(n);
    for (const Memlet& m : s_.edges) check_memlet(m);
    // Code has types only when its connectors have.
    if (report_.count() != before) return;
    for (const Node& n : s_.nodes) {
      if (const auto* t = std::get_if<Tasklet>(&n.kind)) check_code(n, *t);
      if (std::holds_alternative<Library>(n.kind)) check_library_node(n);
    }
  }

 private:
  void add(Rule rule, Id id, std::string message, std::string hint = {}) {
    report_.add(rule, scope_, id, std::move(message), std::move(hint));
  }
  std::string name_of_data(std::string_view path) const { return quoted(report_.container(path)); }
  std::string what(const Memlet& m) const { return describe(g_, s_, m); }

  // ---- Graph of the state ----

  bool check_ends() {
    bool good = true;
    for (const Memlet& m : s_.edges) {
      for (Id end : {m.src, m.dst}) {
        if (s_.find_node(end) != nullptr) continue;
        add(Rule::kMemletShape, m.id, "a memlet ends at node " + std::to_string(end) + ", which is not in its state");
        good = false;
      }
    }
    return good;
  }

  void check_acyclic() {
    try {
      (void)s_.topological_order();
    } catch (const Error& error) {
      add(Rule::kCycle, scope_.element().id, error.message());
    }
  }

  // ---- Nodes and connectors ----

  void check_node(const Node& n) {
    if (const auto* a = std::get_if<Access>(&n.kind)) {
      const bool alone = std::none_of(s_.edges.begin(), s_.edges.end(),
                                      [&](const Memlet& m) { return m.src == n.id || m.dst == n.id; });
      if (alone) add(Rule::kIsolatedNode, n.id, describe(g_, n) + " has no memlets");
      check_reference(n, *a);
      return;
    }
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    if (const auto* t = std::get_if<Tasklet>(&n.kind)) {
      for (const Connector& c : t->inputs) inputs.push_back(c.name);
      for (const Connector& c : t->outputs) outputs.push_back(c.name);
      check_names(n, inputs, outputs);
    } else {
      const auto& l = std::get<Library>(n.kind);
      inputs = l.inputs;
      outputs = l.outputs;
    }
    check_connectors(n, inputs, "input",
                     [](const Memlet& m, Id id) { return m.dst == id ? &m.dst_connector : nullptr; });
    check_connectors(n, outputs, "output",
                     [](const Memlet& m, Id id) { return m.src == id ? &m.src_connector : nullptr; });
  }

  void check_names(const Node& n, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    for (const auto* list : {&inputs, &outputs}) {
      for (const std::string& name : *list) {
        const Container* c = g_.containers.find(name);
        if (!is_identifier(name)) {
          add(Rule::kName, n.id, "connector " + quoted(name) + " of " + describe(g_, n) + " is not an identifier",
              identifier_hint(name));
        } else if (g_.symbols.contains(name)) {
          add(Rule::kConnectorClash, n.id,
              "connector " + quoted(name) + " of " + describe(g_, n) + " is also a symbol");
        } else if (c != nullptr && c->constant) {
          add(Rule::kConnectorClash, n.id,
              "connector " + quoted(name) + " of " + describe(g_, n) + " is also a constant");
        }
      }
    }
    for (const std::string& name : inputs) {
      if (contains(outputs, name)) {
        add(Rule::kConnectorClash, n.id,
            "connector " + quoted(name) + " of " + describe(g_, n) + " is both an input and an output");
      }
    }
  }

  template <typename F>
  void check_connectors(const Node& n, const std::vector<std::string>& names, const std::string& side,
                        const F& connector_of) {
    std::map<std::string, int, std::less<>> edges;
    for (const std::string& name : names) {
      if (!edges.emplace(name, 0).second) {
        add(Rule::kConnectorDuplicate, n.id, describe(g_, n) + " has two " + side + " connectors " + quoted(name));
      }
    }
    for (const Memlet& m : s_.edges) {
      const std::string* name = connector_of(m, n.id);
      if (name == nullptr || name->empty()) continue;
      const auto found = edges.find(*name);
      if (found == edges.end()) {
        add(Rule::kConnectorMissing, m.id,
            what(m) + " uses " + side + " connector " + quoted(*name) + ", which " + describe(g_, n) +
                " does not have");
      } else if (++found->second == 2) {
        add(Rule::kConnectorDuplicate, m.id,
            side + " connector " + quoted(*name) + " of " + describe(g_, n) + " has two memlets");
      }
    }
    for (const auto& [name, count] : edges) {
      if (count == 0) {
        add(Rule::kConnectorDangling, n.id,
            side + " connector " + quoted(name) + " of " + describe(g_, n) + " has no memlet");
      }
    }
  }

  void check_reference(const Node& n, const Access& a) {
    const Container* c = resolve(g_, a.data);
    if (c == nullptr || c->kind != ContainerKind::kReference) return;
    bool set = false;
    for_each_element(g_.body, [&](const Element& e) {
      const auto* state = std::get_if<State>(&e.kind);
      if (set || state == nullptr) return;
      for (const Memlet& m : state->edges) {
        const Access* to = m.set_reference ? access_at(*state, m.dst) : nullptr;
        set = set || (to != nullptr && to->data == a.data);
      }
    });
    if (!set) add(Rule::kReferenceUnset, n.id, "reference " + name_of_data(a.data) + " is used but never set");
  }

  // ---- Memlets ----

  void check_memlet(const Memlet& m) {
    const Access* from = access_at(s_, m.src);
    const Access* to = access_at(s_, m.dst);
    if (m.is_order_only()) {
      if (m.wcr || m.set_reference)
        add(Rule::kMemletShape, m.id, what(m) + " moves nothing, but has a WCR or sets a reference");
      return;
    }
    if (!check_shape(m, from, to)) return;
    if (from != nullptr) check_subset(m, from->data, *m.src_subset);
    if (to != nullptr) check_subset(m, to->data, *m.dst_subset);
    if (from != nullptr && to != nullptr) check_copy(m, *from, *to);
    if (m.wcr) check_wcr(m, to);
    if (m.set_reference) check_set_reference(m, from, to);
    if (to != nullptr && !m.set_reference) check_written(m, *to);
  }

  // Both subsets and connectors exactly where the ends ask for them.
  bool check_shape(const Memlet& m, const Access* from, const Access* to) {
    std::string fault;
    if (from != nullptr && !m.src_subset) fault = "has no subset of " + name_of_data(from->data);
    if (to != nullptr && !m.dst_subset) fault = "has no subset of " + name_of_data(to->data);
    if (from == nullptr && m.src_subset) fault = "has a source subset, but starts at code";
    if (to == nullptr && m.dst_subset) fault = "has a destination subset, but ends at code";
    if (from == nullptr && m.src_connector.empty()) fault = "names no output connector";
    if (to == nullptr && m.dst_connector.empty()) fault = "names no input connector";
    if (from != nullptr && !m.src_connector.empty())
      fault = "names connector " + quoted(m.src_connector) + " of an access";
    if (to != nullptr && !m.dst_connector.empty())
      fault = "names connector " + quoted(m.dst_connector) + " of an access";
    if (!fault.empty()) add(Rule::kMemletShape, m.id, what(m) + " " + fault);
    return fault.empty();
  }

  void check_subset(const Memlet& m, const std::string& data, const Subset& subset) {
    const Container* c = resolve(g_, data);
    if (c == nullptr) return;
    if (subset.rank() != c->rank()) {
      add(Rule::kSubsetRank, m.id,
          report_.show(data, subset) + " has " + plural(subset.rank(), "dimension") + ", but " + name_of_data(data) +
              " has rank " + std::to_string(c->rank()));
    }
    for (const Range& r : subset.ranges()) {
      for (const Expr* e : {&r.begin, &r.end, &r.step, &r.tile}) {
        if (!symbolic::has_reads(*e) && !symbolic::has_calls(*e)) continue;
        add(Rule::kSubsetUsesRead, m.id,
            report_.show(data, subset) + " uses " + report_.show(*e) + ", which reads a container",
            "assign the value to a symbol before the state, or index a pointer connector in the tasklet");
        return;
      }
      if (symbolic::is_zero(r.step, scope_.facts) == Truth::kYes) {
        add(Rule::kSubsetRank, m.id, report_.show(data, subset) + " has a step of 0");
      }
    }
  }

  bool is_stream(const Access& a) const {
    const Container* c = resolve(g_, a.data);
    return c != nullptr && c->kind == ContainerKind::kStream;
  }

  void check_copy(const Memlet& m, const Access& from, const Access& to) {
    if (m.set_reference || is_stream(from) || is_stream(to) || m.dynamic || m.allow_oob) return;
    const Container* a = resolve(g_, from.data);
    const Container* b = resolve(g_, to.data);
    if (a == nullptr || b == nullptr) return;
    const auto lanes = [](const Container& c) {
      return Expr(c.type.kind() == Type::Kind::kVector ? c.type.lanes() : 1);
    };
    for (const auto* side : {&m.src_subset, &m.dst_subset}) {
      for (const Range& r : (*side)->ranges()) {
        // An empty range is fine; one that ends more than a step before its beginning is a mistake.
        if (r.step.is_one() && symbolic::is_nonnegative(r.end - r.begin + 1, scope_.facts) == Truth::kNo) {
          add(Rule::kCopyVolume, m.id,
              "the copy of " + report_.show(from.data, *m.src_subset) + " to " + report_.show(to.data, *m.dst_subset) +
                  " has the negative extent " + report_.show(r.end - r.begin + 1));
          return;
        }
      }
    }
    const Expr moved = m.src_subset->num_elements() * lanes(*a);
    const Expr stored = m.dst_subset->num_elements() * lanes(*b);
    if (moved == stored || symbolic::is_equal(moved, stored, scope_.facts) != Truth::kNo) return;
    add(Rule::kCopyVolume, m.id,
        "the copy of " + report_.show(from.data, *m.src_subset) + " to " + report_.show(to.data, *m.dst_subset) +
            " moves " + report_.show(moved) + " elements into " + report_.show(stored));
  }

  void check_wcr(const Memlet& m, const Access* to) {
    const std::string op(to_string(m.wcr->op));
    if (to == nullptr) {
      add(Rule::kWcrTarget, m.id, what(m) + " has a WCR, but writes no container");
      return;
    }
    const Container* c = resolve(g_, to->data);
    if (c == nullptr) return;
    if (m.set_reference) add(Rule::kWcrTarget, m.id, what(m) + " sets a reference with a WCR");
    if (c->kind == ContainerKind::kStream) {
      add(Rule::kWcrTarget, m.id, what(m) + " accumulates into stream " + name_of_data(to->data));
      return;
    }
    const bool numeric = c->type.is_scalar() || c->type.kind() == Type::Kind::kVector;
    const bool number_op = m.wcr->op != ReduceOp::kExchange && m.wcr->op != ReduceOp::kCustom;
    if (number_op && !numeric) {
      add(Rule::kWcrTarget, m.id,
          "the WCR " + op + " has no meaning for " + c->type.str() + " elements of " + name_of_data(to->data));
    } else if (numeric && is_bitwise(m.wcr->op) && (is_floating(c->type.scalar()) || is_complex(c->type.scalar()))) {
      add(Rule::kWcrTarget, m.id,
          "the WCR " + op + " has no meaning for " + c->type.str() + " elements of " + name_of_data(to->data));
    } else if (numeric && (m.wcr->op == ReduceOp::kMin || m.wcr->op == ReduceOp::kMax) &&
               is_complex(c->type.scalar())) {
      add(Rule::kWcrTarget, m.id,
          "the WCR " + op + " has no meaning for " + c->type.str() + " elements of " + name_of_data(to->data));
    }
    if (m.wcr->op != ReduceOp::kCustom) return;
    const tasklet::Uses uses = tasklet::uses_of(m.wcr->custom);
    for (const std::string& name : uses.read) {
      if (name == "a" || name == "b" || g_.symbols.contains(name)) continue;
      add(Rule::kWcrTarget, m.id, "the custom WCR of " + what(m) + " uses " + quoted(name),
          "its names are a, the old value, and b, the new one");
    }
  }

  void check_set_reference(const Memlet& m, const Access* from, const Access* to) {
    const Container* c = to == nullptr ? nullptr : resolve(g_, to->data);
    if (c != nullptr && c->kind != ContainerKind::kReference) {
      add(Rule::kMemletShape, m.id,
          what(m) + " sets " + name_of_data(to->data) + ", which is no reference but " +
              (c->kind == ContainerKind::kArray ? "an " : "a ") + std::string(to_string(c->kind)));
    }
    if (to == nullptr) add(Rule::kMemletShape, m.id, what(m) + " sets a reference, but ends at code");
    if (from != nullptr && is_stream(*from)) add(Rule::kStreamUse, m.id, what(m) + " takes the address of a stream");
  }

  void check_written(const Memlet& m, const Access& to) {
    const Container* c = resolve(g_, to.data);
    if (c == nullptr) return;
    const Container& root = root_of(g_, *c);
    if (root.constant) {
      add(Rule::kReadOnly, m.id,
          what(m) + " writes constant " + name_of_data(root.name) +
              (&root == c ? std::string() : " through view " + name_of_data(to.data)));
    }
  }

  // ---- Tasklets ----

  void check_code(const Node& n, const Tasklet& t) {
    check_connector_types(n, t);
    if (t.code.language == tasklet::Language::kCpp) {
      check_cpp(n, t);
      return;
    }
    const tasklet::Uses uses = tasklet::uses_of(t.code.body);
    for (const Connector& c : t.inputs) {
      if (!contains(uses.written, c.name)) continue;
      const Type type = connector_type(g_, s_, n, c.name, false);
      if (type.kind() == Type::Kind::kPointer) continue;
      add(Rule::kTaskletCode, n.id, describe(g_, n) + " assigns to its input " + quoted(c.name),
          "use a local variable, or an output connector");
    }
    for (const Connector& c : t.outputs) {
      if (contains(uses.written, c.name) || contains(uses.subscripted, c.name) || is_dynamic_output(n, c) ||
          contains(uses.read, c.name)) {
        continue;
      }
      add(Rule::kTaskletCode, n.id, describe(g_, n) + " never assigns its output " + quoted(c.name));
    }
    const tasklet::TypeEnvironment env = type_environment(g_, s_, n);
    if (!check_known_names(n, uses, env)) return;
    check_subscripts(n, t.code.body);
    std::vector<std::pair<std::string, Type>> locals;
    try {
      (void)tasklet::infer_types(t.code.body, env, &locals);
    } catch (const Error& error) {
      add(Rule::kTaskletTypes, n.id, "the code of " + describe(g_, n) + " has no types: " + error.message());
      return;
    }
  }

  bool is_dynamic_output(const Node& n, const Connector& c) const {
    return std::any_of(s_.edges.begin(), s_.edges.end(),
                       [&](const Memlet& m) { return m.src == n.id && m.src_connector == c.name && m.dynamic; });
  }

  bool check_known_names(const Node& n, const tasklet::Uses& uses, const tasklet::TypeEnvironment& env) {
    bool good = true;
    for (const auto* names : {&uses.read, &uses.called}) {
      for (const std::string& name : *names) {
        if (contains(uses.written, name) || env.name(name)) continue;
        std::string hint;
        if (g_.containers.contains(name)) hint = "containers are read through input connectors";
        add(Rule::kTaskletCode, n.id,
            describe(g_, n) + " uses " + quoted(name) + ", which is no connector, local variable or symbol", hint);
        good = false;
      }
    }
    for (const std::string& base : uses.subscripted) {
      if (contains(uses.written, base) || env.element(base)) continue;
      const bool value = env.name(base).has_value();
      add(Rule::kTaskletCode, n.id,
          describe(g_, n) + " indexes " + quoted(base) +
              (value ? ", which is a single value" : ", which is no connector, local variable or constant"));
      good = false;
    }
    return good;
  }

  // Dimensions of a pointer connector: those of its memlet that aren't single indices.
  std::optional<std::size_t> rank_of(const Node& n, const std::string& base) const {
    for (const Memlet& m : s_.edges) {
      const bool in = m.dst == n.id && m.dst_connector == base && m.src_subset;
      const bool out = m.src == n.id && m.src_connector == base && m.dst_subset;
      if (!in && !out) continue;
      const std::vector<Range>& ranges = (in ? m.src_subset : m.dst_subset)->ranges();
      return static_cast<std::size_t>(
          std::count_if(ranges.begin(), ranges.end(), [](const Range& r) { return !r.is_index(); }));
    }
    const Container* c = resolve(g_, base);
    if (c != nullptr && c->constant) return c->rank();
    return std::nullopt;
  }

  void check_subscripts(const Node& n, const tasklet::Expr& e) {
    if (const auto* read = std::get_if<tasklet::Subscript>(&e.node())) {
      const std::optional<std::size_t> rank = rank_of(n, read->base);
      // Connectors with a type of their own may be vectors or plain pointers, which take one index whatever the
      // memlet's rank.
      const std::size_t count = read->indices.size();
      if (rank && *rank != count && !(count == 1 && has_own_type(n, read->base)) && !(count == 1 && *rank == 0)) {
        add(Rule::kAccessShape, n.id,
            describe(g_, n) + " indexes " + quoted(read->base) + " with " + plural(count, "index") +
                ", but its memlet has " + plural(*rank, "dimension") + " longer than one");
      }
    }
    for (const tasklet::Expr& child : e.children()) check_subscripts(n, child);
  }

  void check_subscripts(const Node& n, const tasklet::Body& body) {
    for (const tasklet::Statement& statement : body) {
      std::visit(
          [&](const auto& st) {
            using K = std::remove_cvref_t<decltype(st)>;
            if constexpr (std::is_same_v<K, tasklet::Assign> || std::is_same_v<K, tasklet::Update>) {
              check_subscripts(n, st.target);
              check_subscripts(n, st.value);
            } else if constexpr (std::is_same_v<K, tasklet::If>) {
              for (const tasklet::IfBranch& branch : st.branches) {
                check_subscripts(n, branch.condition);
                check_subscripts(n, branch.body);
              }
            } else if constexpr (std::is_same_v<K, tasklet::While>) {
              check_subscripts(n, st.condition);
              check_subscripts(n, st.body);
            } else if constexpr (std::is_same_v<K, tasklet::Evaluate>) {
              check_subscripts(n, st.value);
            } else {
              static_assert(std::is_same_v<K, tasklet::Break> || std::is_same_v<K, tasklet::Continue>);
            }
          },
          statement.node);
    }
  }

  bool has_own_type(const Node& n, const std::string& connector) const {
    const auto& t = std::get<Tasklet>(n.kind);
    for (const auto* list : {&t.inputs, &t.outputs}) {
      for (const Connector& c : *list) {
        if (c.name == connector) return !c.type.is_void();
      }
    }
    return true;
  }

  // A connector's own type must fit what its memlet moves.
  void check_connector_types(const Node& n, const Tasklet& t) {
    for (const bool output : {false, true}) {
      for (const Connector& c : output ? t.outputs : t.inputs) {
        if (c.type.is_void()) continue;
        for (const Memlet& m : s_.edges) {
          const bool mine =
              output ? m.src == n.id && m.src_connector == c.name : m.dst == n.id && m.dst_connector == c.name;
          if (mine) check_connector_type(n, c, m, output);
        }
      }
    }
  }

  void check_connector_type(const Node& n, const Connector& c, const Memlet& m, bool output) {
    const Access* a = access_at(s_, output ? m.dst : m.src);
    const Container* data = a == nullptr ? nullptr : resolve(g_, a->data);
    const std::optional<Subset>& subset = output ? m.dst_subset : m.src_subset;
    if (data == nullptr || !subset || data->type.is_void() || data->kind == ContainerKind::kStream) return;
    const std::string who = "connector " + quoted(c.name) + " of " + describe(g_, n) + " has type " + c.type.str();
    const std::string moved = ", but its memlet moves " + data->type.str() + " elements";
    if (c.type.kind() == Type::Kind::kPointer) {
      if (!c.type.pointee().is_void() && !(c.type.pointee() == data->type) && !(data->type == c.type)) {
        add(Rule::kTaskletTypes, n.id, who + moved, "a pointer does not convert its elements");
      }
      return;
    }
    if (c.type.is_scalar() && !subset->is_index() && !m.dynamic &&
        symbolic::is_equal(subset->num_elements(), 1, scope_.facts) == Truth::kNo) {
      add(Rule::kTaskletTypes, n.id,
          who + ", but its memlet moves " + report_.show(subset->num_elements()) + " elements");
    }
    if (c.type.kind() == Type::Kind::kVector && data->type.is_scalar()) {
      if (symbolic::is_equal(subset->num_elements(), c.type.lanes(), scope_.facts) == Truth::kNo) {
        add(Rule::kTaskletTypes, n.id,
            who + ", but its memlet moves " + report_.show(subset->num_elements()) + " elements");
      }
      return;
    }
    const bool both_scalar = c.type.is_scalar() && data->type.is_scalar();
    const bool loses = both_scalar && (output ? is_complex(c.type.scalar()) && !is_complex(data->type.scalar())
                                              : is_complex(data->type.scalar()) && !is_complex(c.type.scalar()));
    const bool other_kind = !both_scalar && c.type.kind() != data->type.kind() &&
                            c.type.kind() != Type::Kind::kOpaque && data->type.kind() != Type::Kind::kOpaque;
    if (loses || other_kind) add(Rule::kTaskletTypes, n.id, who + moved);
  }

  void check_cpp(const Node& n, const Tasklet& t) {
    if (!t.code.cpp) return;  // not analysed yet
    for (const Connector& c : t.outputs) {
      if (contains(t.code.cpp->writes, c.name) || contains(t.code.cpp->reads, c.name) || is_dynamic_output(n, c))
        continue;
      add(Rule::kTaskletCode, n.id, describe(g_, n) + " never assigns its output " + quoted(c.name));
    }
  }

  void check_library_node(const Node& n) {
    std::vector<Problem> problems;
    check_library(g_, s_, n, problems, scope_.facts);
    for (Problem& p : problems) {
      p.places = places_of(g_, scope_.path, p.id);
      report_.add(std::move(p));
    }
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  const State& s_;
};

}  // namespace

void check_dataflow(Report& report, const Scope& scope, const State& state) {
  StateChecker(report, scope, state).run();
}

}  // namespace sdfg::ir::validation
