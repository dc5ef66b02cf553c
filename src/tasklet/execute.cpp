// Running typed scalar code on values.
#include <map>

#include "tasklet/value.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

using Locals = std::map<std::string, std::optional<Value>, std::less<>>;

[[noreturn]] void throw_usage(std::string message) {
  throw Error(ErrorClass::kUsage, std::move(message));
}

ScalarType scalar_of(const Expr& e) {
  if (e.type().is_scalar()) return e.type().scalar();
  throw_usage("The expression '" + to_python(e) + "' has the type " + (e.type().is_void() ? "void" : e.type().str()) +
              "; only basic types can be evaluated.");
}

class Evaluator {
 public:
  Evaluator(const Machine& machine, const Locals* locals) : machine_(machine), locals_(locals) {}

  Value evaluate(const Expr& e) const {
    return std::visit(
        Overloaded{[&](const Literal& n) { return literal(n, e); }, [&](const Name& n) { return read(n.name, e); },
                   [&](const Subscript& n) { return machine_element(n); },
                   [&](const Unary& n) { return apply(n.op, evaluate(n.operand[0])); },
                   [&](const Binary& n) { return binary(n, e); },
                   [&](const Select& n) {
                     const Value value = evaluate(evaluate(n.parts[0]).as_bool() ? n.parts[1] : n.parts[2]);
                     return value.cast(scalar_of(e));
                   },
                   [&](const Call& n) {
                     const std::vector<Value> args = all(n.args);
                     return tasklet::apply(n.function, std::span<const Value>(args));
                   },
                   [&](const ExternalCall& n) {
                     if (!machine_.call) throw_usage("The function '" + n.callee + "' cannot be called here.");
                     const std::vector<Value> args = all(n.args);
                     const Value result = machine_.call(n.callee, args);
                     return e.type().is_scalar() ? result.cast(e.type().scalar()) : result;
                   },
                   [&](const Cast& n) { return evaluate(n.operand[0]).cast(scalar_of(e)); }},
        e.node());
  }

  std::vector<std::int64_t> indices(const Subscript& n) const {
    std::vector<std::int64_t> result;
    for (const Expr& index : n.indices) result.push_back(evaluate(index).as_int());
    return result;
  }

 private:
  static Value literal(const Literal& n, const Expr& e) {
    const ScalarType type = scalar_of(e);
    return std::visit(Overloaded{[&](bool v) { return Value::boolean(v).cast(type); },
                                 [&](std::int64_t v) { return Value::integer(v).cast(type); },
                                 [&](std::uint64_t v) {
                                   return Value::integer(static_cast<std::int64_t>(v), ScalarType::kUInt64).cast(type);
                                 },
                                 [&](double v) { return Value::floating(v).cast(type); },
                                 [&](const std::complex<double>& v) { return Value::complex(v).cast(type); }},
                      n.value);
  }

  Value read(const std::string& name, const Expr& e) const {
    if (locals_ != nullptr) {
      if (const auto local = locals_->find(name); local != locals_->end()) {
        if (!local->second) throw_usage("The local variable '" + name + "' is read before it is assigned.");
        return *local->second;
      }
    }
    const std::optional<Value> value = machine_.read_name ? machine_.read_name(name) : std::nullopt;
    if (!value) throw_usage("The name '" + name + "' has no value.");
    return value->cast(scalar_of(e));
  }

  Value machine_element(const Subscript& n) const {
    if (!machine_.read_element) throw_usage("The element of '" + n.base + "' cannot be read here.");
    return machine_.read_element(n.base, indices(n));
  }

  Value binary(const Binary& n, const Expr& e) const {
    if (n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr) {
      const bool left = evaluate(n.operands[0]).as_bool();
      if (left == (n.op == BinaryOp::kOr)) return Value::boolean(left);
      return Value::boolean(evaluate(n.operands[1]).as_bool());
    }
    const ScalarType type = scalar_of(e);
    const Value left = evaluate(n.operands[0]);
    // A weak exponent does not widen an integer power; computed wider and cut, the result is the same.
    return apply(n.op, left, evaluate(n.operands[1])).cast(type);
  }

  std::vector<Value> all(const std::vector<Expr>& exprs) const {
    std::vector<Value> values;
    values.reserve(exprs.size());
    for (const Expr& e : exprs) values.push_back(evaluate(e));
    return values;
  }

  const Machine& machine_;
  const Locals* locals_;
};

enum class Flow : std::uint8_t { kNext, kBreak, kContinue };

class Executor {
 public:
  Executor(const Machine& machine, const std::vector<std::pair<std::string, Type>>& locals)
      : machine_(machine), steps_(machine.max_steps) {
    for (const auto& [name, type] : locals) {
      locals_.emplace(name, std::nullopt);
      types_.emplace(name, type);
    }
  }

  Flow run(const Body& body) {
    for (const Statement& statement : body) {
      count_step();
      const Flow flow = run(statement);
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

 private:
  void count_step() {
    if (--steps_ < 0) {
      throw Error(ErrorClass::kLimit, "The code did not end after " + std::to_string(machine_.max_steps) + " steps.");
    }
  }

  Flow run(const Statement& statement) {
    return std::visit(
        Overloaded{[&](const Assign& n) {
                     write(n.target, evaluator_.evaluate(n.value));
                     return Flow::kNext;
                   },
                   [&](const Update& n) {
                     const Value old = evaluator_.evaluate(n.target);
                     write(n.target, apply(n.op, old, evaluator_.evaluate(n.value)));
                     return Flow::kNext;
                   },
                   [&](const If& n) {
                     for (const IfBranch& branch : n.branches) {
                       if (evaluator_.evaluate(branch.condition).as_bool()) return run(branch.body);
                     }
                     return Flow::kNext;
                   },
                   [&](const While& n) {
                     while (evaluator_.evaluate(n.condition).as_bool()) {
                       count_step();
                       if (run(n.body) == Flow::kBreak) break;
                     }
                     return Flow::kNext;
                   },
                   [](const Break&) { return Flow::kBreak; }, [](const Continue&) { return Flow::kContinue; },
                   [&](const Evaluate& n) {
                     evaluator_.evaluate(n.value);
                     return Flow::kNext;
                   }},
        statement.node);
  }

  void write(const Expr& target, const Value& value) {
    if (const Subscript* subscript = std::get_if<Subscript>(&target.node())) {
      if (!machine_.write_element) throw_usage("The element of '" + subscript->base + "' cannot be written here.");
      machine_.write_element(subscript->base, evaluator_.indices(*subscript), value.cast(scalar_of(target)));
      return;
    }
    const std::string& name = std::get<Name>(target.node()).name;
    if (const auto local = locals_.find(name); local != locals_.end()) {
      const Type& type = types_.find(name)->second;
      local->second = type.is_scalar() ? value.cast(type.scalar()) : value;
      return;
    }
    const Value converted = target.type().is_scalar() ? value.cast(target.type().scalar()) : value;
    if (machine_.write_name && machine_.write_name(name, converted)) return;
    locals_[name] = converted;
    types_.emplace(name, Type(converted.type()));
  }

  const Machine& machine_;
  std::int64_t steps_;
  Locals locals_;
  std::map<std::string, Type, std::less<>> types_;
  Evaluator evaluator_{machine_, &locals_};
};

}  // namespace

Value evaluate(const Expr& e, const Machine& machine) {
  return Evaluator(machine, nullptr).evaluate(e);
}

void execute(const Body& body, const Machine& machine, const std::vector<std::pair<std::string, Type>>& locals) {
  Executor(machine, locals).run(body);
}

}  // namespace sdfg::tasklet
