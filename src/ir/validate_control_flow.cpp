// Rules of control flow: maps, loops, branches, assignments, exits, schedules.
#include <algorithm>

#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;
using symbolic::Truth;

namespace {

bool runs_on_device(Schedule s) {
  switch (s) {
    case Schedule::kDevice:
    case Schedule::kThreadBlock:
    case Schedule::kWarp: return true;
    case Schedule::kDefault:
    case Schedule::kSequential:
    case Schedule::kParallel: return false;
  }
  return false;
}

class ElementChecker {
 public:
  ElementChecker(Report& report, const Scope& scope) : report_(report), g_(report.g), scope_(scope) {}

  void run() {
    std::visit([&](const auto& kind) { check(kind); }, scope_.element().kind);
  }

 private:
  const Element& element() const { return scope_.element(); }
  std::string here() const { return describe(g_, element()); }
  void add(Rule rule, std::string message, std::string hint = {}) {
    report_.add(rule, scope_, element().id, std::move(message), std::move(hint));
  }

  void check(const State&) {}
  void check(const Block&) {}

  // The type of code of control flow; nothing when it has none, which is reported.
  std::optional<Type> type_of(const tasklet::Expr& e, const std::string& what) {
    try {
      return tasklet::infer_types(e, type_environment(g_)).type();
    } catch (const Error& error) {
      const tasklet::Uses uses = tasklet::uses_of(e);
      for (const auto* names : {&uses.read, &uses.called}) {
        for (const std::string& name : *names) {
          if (!g_.symbols.contains(name)) return std::nullopt;  // an unknown name, reported as such
        }
      }
      for (const std::string& base : uses.subscripted) {
        if (resolve(g_, base) == nullptr) return std::nullopt;
      }
      add(Rule::kConditionType, what + " has no type: " + error.message());
      return std::nullopt;
    }
  }

  void check_subscripts(const tasklet::Expr& e, const std::string& what) {
    if (const auto* read = std::get_if<tasklet::Subscript>(&e.node())) {
      const Container* c = resolve(g_, read->base);
      if (c != nullptr && c->kind == ContainerKind::kStream) {
        add(Rule::kStreamUse, what + " reads stream " + quoted(report_.container(read->base)) + " like an array");
      } else if (c != nullptr && c->rank() != read->indices.size()) {
        add(Rule::kAccessShape, what + " reads " + quoted(report_.container(read->base)) + " of rank " +
                                    std::to_string(c->rank()) + " with " + std::to_string(read->indices.size()) +
                                    (read->indices.size() == 1 ? " index" : " indices"));
      }
    }
    for (const tasklet::Expr& child : e.children()) check_subscripts(child, what);
  }

  void check_condition(const tasklet::Expr& e, const std::string& what) {
    check_subscripts(e, what);
    const std::optional<Type> type = type_of(e, what);
    if (type && (!type->is_scalar() || is_complex(type->scalar()))) {
      add(Rule::kConditionType, what + " has type " + type->str() + ", which is neither true nor false",
          "compare it with something");
    }
  }

  void check_index_value(Rule rule, const tasklet::Expr& e, const std::string& what) {
    check_subscripts(e, what);
    const std::optional<Type> type = type_of(e, what);
    if (type && (!type->is_scalar() || is_complex(type->scalar()))) {
      add(rule, what + " has type " + type->str() + ", which does not convert to an integer");
    }
  }

  void check(const Assign& a) {
    NameSet seen;
    for (const Assign::Item& item : a.items) {
      const Symbol* s = g_.symbols.find(item.symbol);
      if (!seen.insert(item.symbol).second) {
        add(Rule::kAssignTarget, quoted(report_.symbol(item.symbol)) + " is assigned twice at once");
      }
      if (g_.containers.contains(item.symbol)) {
        add(Rule::kAssignTarget,
            "container " + quoted(report_.container(item.symbol)) + " is the target of a symbol assignment",
            "write it in a state");
      } else if (s == nullptr) {
        add(Rule::kAssignTarget, "the assigned " + quoted(item.symbol) + " is not in the symbol table");
      } else if (s->binder == BinderKind::kLoopVariable) {
        const bool in_loop = std::any_of(scope_.path.begin(), scope_.path.end(), [&](const Element* e) {
          const auto* loop = std::get_if<For>(&e->kind);
          return loop != nullptr && loop->variable == item.symbol;
        });
        add(in_loop ? Rule::kLoopVariable : Rule::kAssignTarget,
            "loop variable " + quoted(report_.symbol(item.symbol)) + " is assigned" +
                (in_loop ? " in the loop's own body" : ""),
            "use a while loop over an assigned symbol");
      } else if (s->binder != BinderKind::kAssigned) {
        add(Rule::kAssignTarget,
            std::string(to_string(s->binder)) + " " + quoted(report_.symbol(item.symbol)) + " is assigned",
            "assign to a symbol of its own");
      }
      check_index_value(Rule::kAssignTarget, item.value, "the value of " + quoted(report_.symbol(item.symbol)));
    }
  }

  void check(const For& f) {
    const std::string variable = quoted(report_.symbol(f.variable));
    for (std::size_t k = 0; k + 1 < scope_.path.size(); ++k) {
      const auto* outer = std::get_if<For>(&scope_.path[k]->kind);
      if (outer != nullptr && outer->variable == f.variable) {
        add(Rule::kLoopVariable, here() + " is inside another loop over " + variable);
      }
    }
    check_index_value(Rule::kLoopVariable, f.init, "the first value of " + here());
    check_index_value(Rule::kLoopVariable, f.update, "the update of " + here());
    check_condition(f.condition, "the condition of " + here());
    if (f.unroll_factor < 0) {
      add(Rule::kLoopVariable, here() + " has the negative unroll factor " + std::to_string(f.unroll_factor));
    }
    const std::optional<Expr> next = tasklet::to_symbolic(f.update);
    if (next && *next == Expr::symbol(f.variable)) {
      add(Rule::kLoopVariable, here() + " never changes its variable", "use a while loop if that is meant");
    }
  }

  void check(const While& w) { check_condition(w.condition, "the condition of " + here()); }

  void check(const If& i) {
    for (std::size_t k = 0; k < i.branches.size(); ++k) {
      check_condition(i.branches[k].condition, "condition " + std::to_string(k) + " of " + here());
    }
  }

  void check(const Map& m) {
    if (m.params.empty()) add(Rule::kMapParameters, "a map has no parameters");
    if (m.params.size() != m.ranges.size()) {
      add(Rule::kMapParameters, here() + " has " + std::to_string(m.params.size()) + " parameters and " +
                                    std::to_string(m.ranges.size()) + " ranges");
      return;
    }
    NameSet seen;
    for (std::size_t d = 0; d < m.params.size(); ++d) {
      const std::string param = quoted(report_.symbol(m.params[d]));
      const Range& r = m.ranges[d];
      if (!seen.insert(m.params[d]).second) add(Rule::kMapParameters, here() + " has two parameters " + param);
      for (const Expr* e : {&r.begin, &r.end, &r.step}) {
        if (!symbolic::has_reads(*e) && !symbolic::has_calls(*e)) continue;
        add(Rule::kMapRange,
            "the range of " + param + " in " + here() + " uses " + report_.show(*e) + ", which reads a container",
            "assign the value to a symbol before the map");
      }
      if (!r.tile.is_one()) {
        add(Rule::kMapRange,
            "the range of " + param + " in " + here() + " has the tile " + report_.show(r.tile) +
                "; tiles belong to subsets",
            "use a step and a map inside");
      }
      if (symbolic::is_positive(r.step, scope_.facts) == Truth::kNo) {
        add(Rule::kMapStep, "the step " + report_.show(r.step) + " of " + param + " in " + here() + " is not positive");
      }
    }
    if (m.collapse < 0 || m.collapse > static_cast<int>(m.params.size())) {
      add(Rule::kMapParameters, here() + " collapses " + std::to_string(m.collapse) + " of its " +
                                    std::to_string(m.params.size()) + " dimensions");
    }
    if (m.num_threads < 0 || m.omp_chunk < 0 || m.gpu_max_registers < 0) {
      add(Rule::kMapParameters, here() + " has a negative number of threads, chunk size or register limit");
    }
    if (m.gpu_block_size.size() > 3 ||
        std::any_of(m.gpu_block_size.begin(), m.gpu_block_size.end(), [](std::int64_t n) { return n < 1; })) {
      add(Rule::kMapParameters, here() + " has a thread-block size that is not one to three positive numbers");
    }
    check_nesting(m.schedule);
  }

  void check(const Consume& c) {
    const Container* stream = resolve(g_, c.stream);
    if (stream != nullptr && stream->kind != ContainerKind::kStream) {
      add(Rule::kStreamUse, here() + " pops from " + std::string(to_string(stream->kind)) + " " +
                                quoted(report_.container(c.stream)) + ", which is no stream");
    }
    if (c.chunk_size < 1)
      add(Rule::kStreamUse, here() + " pops chunks of " + std::to_string(c.chunk_size) + " elements");
    if (symbolic::is_positive(c.num_workers, scope_.facts) == Truth::kNo) {
      add(Rule::kMapRange, here() + " has " + report_.show(c.num_workers) + " workers");
    }
    if (c.condition) check_condition(*c.condition, "the condition of " + here());
    check_nesting(c.schedule);
  }

  void check_nesting(Schedule s) {
    const Element* device = nullptr;
    const Element* block = nullptr;
    const Element* warp = nullptr;
    for (std::size_t k = 0; k + 1 < scope_.path.size(); ++k) {
      const auto* outer = std::get_if<Map>(&scope_.path[k]->kind);
      if (outer == nullptr) continue;
      if (outer->schedule == Schedule::kDevice) device = scope_.path[k];
      if (outer->schedule == Schedule::kThreadBlock) block = scope_.path[k];
      if (outer->schedule == Schedule::kWarp) warp = scope_.path[k];
    }
    const auto nested = [&](const Element* outer, const std::string& why) {
      add(Rule::kScheduleNesting, std::string(to_string(s)) + " " + here() + why + " " + describe(g_, *outer));
    };
    const auto missing = [&](const char* wanted) {
      add(Rule::kScheduleNesting, std::string(to_string(s)) + " " + here() + " is not inside a " + wanted + " map");
    };
    switch (s) {
      case Schedule::kDefault:
      case Schedule::kSequential: break;
      case Schedule::kParallel:
        if (device != nullptr) nested(device, " is inside the kernel of");
        break;
      case Schedule::kDevice:
        if (device != nullptr) nested(device, " is inside the kernel of");
        break;
      case Schedule::kThreadBlock:
        if (device == nullptr) missing("Device");
        if (block != nullptr) nested(block, " is inside the ThreadBlock");
        break;
      case Schedule::kWarp:
        if (block == nullptr) missing("ThreadBlock");
        if (warp != nullptr) nested(warp, " is inside the Warp");
        break;
    }
    if (std::holds_alternative<Consume>(element().kind) && runs_on_device(s)) {
      add(Rule::kScheduleNesting, here() + " can't have the schedule " + std::string(to_string(s)));
    }
  }

  void check(const Exit& x) {
    const std::string word = x.kind == Exit::Kind::kBreak ? "break" : "continue";
    for (auto it = scope_.path.rbegin() + 1; it != scope_.path.rend(); ++it) {
      const Element& outer = **it;
      const bool crosses = std::holds_alternative<Map>(outer.kind) || std::holds_alternative<Consume>(outer.kind);
      if (outer.id != x.target) {
        if (!crosses) continue;
        add(Rule::kExitTarget, word + " would leave " + describe(g_, outer),
            "only the current iteration of a map can end early");
        return;
      }
      const bool loop = std::holds_alternative<For>(outer.kind) || std::holds_alternative<While>(outer.kind);
      const bool fits =
          x.kind == Exit::Kind::kBreak ? loop || std::holds_alternative<Block>(outer.kind) : loop || crosses;
      if (!fits) {
        add(Rule::kExitTarget, word + " has " + describe(g_, outer) + " as its target",
            x.kind == Exit::Kind::kBreak ? "break leaves a loop or a block" : "continue goes on with a loop or a map");
      }
      return;
    }
    add(Rule::kExitTarget, word + " has no enclosing element " + std::to_string(x.target) + " as its target");
  }

  void check(const Return&) {
    for (const Element* outer : scope_.path) {
      if (std::holds_alternative<Map>(outer->kind) || std::holds_alternative<Consume>(outer->kind)) {
        add(Rule::kReturnInMap, "return inside " + describe(g_, *outer));
        return;
      }
    }
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
};

}  // namespace

void check_control_flow(Report& report, const Scope& scope) {
  ElementChecker(report, scope).run();
}

}  // namespace sdfg::ir::validation
