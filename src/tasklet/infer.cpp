// Type inference: weak literals, powers, members, and the types of local variables.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "tasklet/code.hpp"
#include "tasklet/fold.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/value.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

constexpr std::int64_t kMaxFoldedExponent = 64;

// Thrown inside the fixed-point iteration for a local whose type is not known yet.
struct NotYetTyped {
  std::string name;
};

struct Local {
  Type type;                      // void: not known yet
  bool weak = true;               // only weak literals were assigned so far
  bool declared_outside = false;  // the environment knows it, but not its type
};

[[noreturn]] void throw_unknown(const std::string& what, const std::string& name, std::string hint = {}) {
  throw Error(ErrorClass::kGraph, "The " + what + " '" + name + "' is not known in this code.", {}, std::move(hint));
}

// Integer expressions of weak literals only: they adapt to the type of the other operand.
bool is_weak(const Expr& e) {
  return std::visit(Overloaded{[](const Literal& n) { return n.weak; },
                               [](const Unary& n) { return n.op == UnaryOp::kNegate && is_weak(n.operand[0]); },
                               [](const Binary& n) {
                                 const bool ring =
                                     n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub || n.op == BinaryOp::kMul;
                                 return ring && is_weak(n.operands[0]) && is_weak(n.operands[1]);
                               },
                               [](const Select& n) { return is_weak(n.parts[1]) && is_weak(n.parts[2]); },
                               [](const Name&) { return false; }, [](const Subscript&) { return false; },
                               [](const Call&) { return false; }, [](const ExternalCall&) { return false; },
                               [](const Cast&) { return false; }},
                    e.node());
}

bool fits(std::int64_t v, ScalarType type) {
  if (!is_integer(type)) return true;
  const int bits = 8 * size_of(type);
  if (is_unsigned(type)) return v >= 0 && (bits == 64 || v < (std::int64_t{1} << bits));
  return bits == 64 || (v >= -(std::int64_t{1} << (bits - 1)) && v < (std::int64_t{1} << (bits - 1)));
}

bool weak_fits(const Expr& e, ScalarType type) {
  if (const Literal* literal = std::get_if<Literal>(&e.node())) {
    if (const auto* v = std::get_if<std::int64_t>(&literal->value)) return fits(*v, type);
    if (std::holds_alternative<std::uint64_t>(literal->value)) return type == ScalarType::kUInt64 || !is_integer(type);
    return true;
  }
  if (std::holds_alternative<Unary>(e.node())) return is_signed(type) && weak_fits(e.children()[0], type);
  const std::span<const Expr> parts = e.children().subspan(std::holds_alternative<Select>(e.node()) ? 1 : 0);
  return std::all_of(parts.begin(), parts.end(), [&](const Expr& part) { return weak_fits(part, type); });
}

Literal literal_in(const Literal& literal, ScalarType type) {
  const auto convert = [&](auto v) {
    Literal result{v, literal.weak};
    if (type == ScalarType::kBool)
      result.value = v != 0;
    else if (is_complex(type))
      result.value = Value::complex(static_cast<double>(v), type).as_complex();
    else if (is_floating(type))
      result.value = Value::floating(static_cast<double>(v), type).as_double();
    else if (is_unsigned(type))
      result.value = static_cast<std::uint64_t>(v);
    else
      result.value = static_cast<std::int64_t>(v);
    return result;
  };
  if (const auto* v = std::get_if<std::int64_t>(&literal.value)) return convert(*v);
  if (const auto* u = std::get_if<std::uint64_t>(&literal.value)) return convert(*u);
  return literal;
}

// A weak expression, untyped, in a type it fits in.
Expr weak_in(const Expr& e, ScalarType type) {
  if (const Literal* literal = std::get_if<Literal>(&e.node()))
    return Expr(literal_in(*literal, type), type, e.column());
  std::vector<Expr> children(e.children().begin(), e.children().end());
  for (std::size_t i = std::holds_alternative<Select>(e.node()) ? 1 : 0; i < children.size(); ++i)
    children[i] = weak_in(children[i], type);
  return e.with_children(std::move(children)).with_type(type);
}

ScalarType natural_type(const Expr& weak) {
  return weak_fits(weak, ScalarType::kInt64) ? ScalarType::kInt64 : ScalarType::kUInt64;
}

class Inference {
 public:
  explicit Inference(const TypeEnvironment& env) : env_(env) {}

  std::map<std::string, Local, std::less<>> locals;
  std::vector<std::string> local_order;

  Expr infer(const Expr& e) const {
    Expr typed = infer_open(e);
    return is_weak(typed) ? weak_in(typed, natural_type(typed)) : typed;
  }

  // Leaves a weak expression without a type, for the operator around it to decide.
  Expr infer_open(const Expr& e) const {
    return std::visit(
        Overloaded{[&](const Literal& n) { return literal(n, e); }, [&](const Name& n) { return name(n.name, e); },
                   [&](const Subscript& n) { return subscript(n, e); }, [&](const Unary& n) { return unary(n, e); },
                   [&](const Binary& n) { return binary(n, e); }, [&](const Select& n) { return select(n, e); },
                   [&](const Call& n) { return call(n, e); }, [&](const ExternalCall& n) { return external(n, e); },
                   [&](const Cast& n) { return cast(n, e); }},
        e.node());
  }

  // The value of an assignment to a target of a known type: weak literals take it.
  Expr infer_for(const Expr& value, const Type& target) const {
    Expr typed = infer_open(value);
    if (!is_weak(typed)) return typed;
    if (target.is_scalar() && weak_fits(typed, target.scalar())) return weak_in(typed, target.scalar());
    return weak_in(typed, natural_type(typed));
  }

  // Nothing when the name must become a local.
  std::optional<Type> known_type(const std::string& n) const {
    std::optional<Type> type = env_.name ? env_.name(n) : std::nullopt;
    return type ? type : member_type(n);
  }

  Type element_type(const std::string& base) const {
    if (env_.element) {
      if (const std::optional<Type> type = env_.element(base)) return *type;
    }
    // An indexed local or connector that is a pointer or a vector.
    std::optional<Type> type = known_type(base);
    if (const auto local = locals.find(base); !type && local != locals.end()) type = local->second.type;
    if (type && type->kind() == Type::Kind::kPointer) return type->pointee();
    if (type && type->kind() == Type::Kind::kVector) return type->scalar();
    throw_unknown("array", base);
  }

 private:
  std::optional<Type> member_type(const std::string& n) const {
    const std::size_t dot = n.rfind('.');
    if (dot == std::string::npos || !env_.name) return std::nullopt;
    std::optional<Type> owner = known_type(n.substr(0, dot));
    if (owner && owner->kind() == Type::Kind::kPointer) owner = owner->pointee();
    if (!owner || owner->kind() != Type::Kind::kStruct) return std::nullopt;
    for (const StructField& field : owner->structure().fields) {
      if (field.name == n.substr(dot + 1)) return field.type;
    }
    return std::nullopt;
  }

  Expr literal(const Literal& n, const Expr& e) const {
    if (n.weak) {
      // A typed tree is inferred again: back to the integer of the text.
      Literal open = n;
      if (const double* real = std::get_if<double>(&n.value)) open.value = static_cast<std::int64_t>(*real);
      if (const auto* complex = std::get_if<std::complex<double>>(&n.value))
        open.value = static_cast<std::int64_t>(complex->real());
      if (const auto* whole = std::get_if<std::uint64_t>(&n.value); whole != nullptr && *whole >> 63 == 0) {
        open.value = static_cast<std::int64_t>(*whole);
      }
      return Expr(open, {}, e.column());
    }
    if (!e.type().is_void()) return e;
    const Type type = std::visit(
        Overloaded{[](bool) { return ScalarType::kBool; }, [](std::int64_t) { return ScalarType::kInt64; },
                   [](std::uint64_t) { return ScalarType::kUInt64; }, [](double) { return ScalarType::kFloat64; },
                   [](const std::complex<double>&) { return ScalarType::kComplex128; }},
        n.value);
    return e.with_type(type);
  }

  Expr name(const std::string& n, const Expr& e) const {
    if (n == "None") return e.with_type(Type::pointer(Type()));
    if (const auto local = locals.find(n); local != locals.end()) {
      if (local->second.type.is_void()) throw NotYetTyped{n};
      return e.with_type(local->second.type);
    }
    if (const std::optional<Type> type = known_type(n)) {
      if (type->is_void()) throw NotYetTyped{n};
      return e.with_type(*type);
    }
    const std::size_t dot = n.rfind('.');
    if (dot != std::string::npos && (n.ends_with(".real") || n.ends_with(".imag"))) {
      return infer(Expr::call(n.ends_with(".real") ? Function::kReal : Function::kImag,
                              {Expr::name(n.substr(0, dot)).with_column(e.column())})
                       .with_column(e.column()));
    }
    if (n == "pi") return Expr::literal(std::numbers::pi).with_column(e.column());
    if (n == "E") return Expr::literal(std::numbers::e).with_column(e.column());
    if (n == "oo") return Expr::literal(std::numeric_limits<double>::infinity()).with_column(e.column());
    if (n == "I") return Expr::literal(std::complex<double>(0, 1)).with_column(e.column());
    throw_unknown("name", n);
  }

  Expr subscript(const Subscript& n, const Expr& e) const {
    std::vector<Expr> indices;
    for (const Expr& index : n.indices) {
      indices.push_back(infer(index));
      const Type& type = indices.back().type();
      if (!type.is_scalar() || is_floating(type.scalar()) || is_complex(type.scalar())) {
        throw Error(ErrorClass::kGraph, "The index '" + to_python(index) + "' of '" + n.base + "' has the type " +
                                            type.str() + ", not an integer type.");
      }
    }
    return e.with_children(std::move(indices)).with_type(element_type(n.base));
  }

  Expr unary(const Unary& n, const Expr& e) const {
    Expr operand = infer_open(n.operand[0]);
    if (is_weak(operand) && n.op == UnaryOp::kNegate) return e.with_children({std::move(operand)}).with_type({});
    if (is_weak(operand)) operand = weak_in(operand, natural_type(operand));
    const Type type = result_type(n.op, operand.type());
    return e.with_children({std::move(operand)}).with_type(type);
  }

  // Types two operands; a weak one takes the type of the other if it fits.
  void settle(Expr& left, Expr& right) const {
    const auto adapt = [](Expr& weak, const Type& other) {
      const bool number = other.kind() == Type::Kind::kScalar || other.kind() == Type::Kind::kVector;
      if (number && other.scalar() != ScalarType::kBool && weak_fits(weak, other.scalar())) {
        weak = weak_in(weak, other.scalar());
      } else {
        weak = weak_in(weak, natural_type(weak));
      }
    };
    const bool left_weak = is_weak(left);
    const bool right_weak = is_weak(right);
    if (left_weak && right_weak) {
      const bool wide = natural_type(left) == ScalarType::kUInt64 || natural_type(right) == ScalarType::kUInt64;
      const ScalarType type = wide && weak_fits(left, ScalarType::kUInt64) && weak_fits(right, ScalarType::kUInt64)
                                  ? ScalarType::kUInt64
                                  : ScalarType::kInt64;
      left = weak_in(left, type);
      right = weak_in(right, type);
    } else if (left_weak) {
      adapt(left, right.type());
    } else if (right_weak) {
      adapt(right, left.type());
    }
  }

  Expr binary(const Binary& n, const Expr& e) const {
    Expr left = infer_open(n.operands[0]);
    Expr right = infer_open(n.operands[1]);
    const bool ring = n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub || n.op == BinaryOp::kMul;
    if (ring && is_weak(left) && is_weak(right))
      return e.with_children({std::move(left), std::move(right)}).with_type({});
    if (n.op == BinaryOp::kPow) return power(std::move(left), std::move(right), e);
    settle(left, right);
    const Type type = result_type(n.op, left.type(), right.type());
    return e.with_children({std::move(left), std::move(right)}).with_type(type);
  }

  Expr power(Expr base, Expr exponent, const Expr& e) const {
    const bool weak_exponent = is_weak(exponent);
    if (is_weak(base))
      base = weak_in(base, !weak_exponent && exponent.type().is_scalar() &&
                                   exponent.type().scalar() != ScalarType::kBool &&
                                   weak_fits(base, exponent.type().scalar())
                               ? exponent.type().scalar()
                               : natural_type(base));
    if (weak_exponent) exponent = weak_in(exponent, ScalarType::kInt64);
    const Type type = result_type(BinaryOp::kPow, base.type(), weak_exponent ? base.type() : exponent.type());
    const bool floating = is_floating(type.scalar()) || is_complex(type.scalar());
    if (const Literal* literal = std::get_if<Literal>(&exponent.node());
        literal != nullptr && floating && type.is_scalar()) {
      const double* value = std::get_if<double>(&literal->value);
      const auto* complex = std::get_if<std::complex<double>>(&literal->value);
      std::optional<double> real;
      if (value != nullptr) real = *value;
      if (complex != nullptr && complex->imag() == 0) real = complex->real();
      if (real) {
        if (!(base.type() == type)) base = cast_literal(type, base).value_or(Expr::cast(type, base));
        // Powers of +-0.5 stay powers: roots differ from them at -0.0 and -inf. The compiler takes roots where the
        // floating-point options allow it.
        if (std::trunc(*real) == *real && std::fabs(*real) <= static_cast<double>(kMaxFoldedExponent)) {
          exponent = weak_in(Expr::weak(static_cast<std::int64_t>(*real)), ScalarType::kInt64);
        }
      }
    }
    const std::optional<std::int64_t> whole = integer_literal(exponent);
    if (whole && *whole < 0 && !floating) {
      const Type real = ScalarType::kFloat64;
      base = cast_literal(real, base).value_or(Expr::cast(real, base));
      return e.with_children({std::move(base), std::move(exponent)}).with_type(real);
    }
    return e.with_children({std::move(base), std::move(exponent)}).with_type(type);
  }

  Expr select(const Select& n, const Expr& e) const {
    Expr condition = infer(n.parts[0]);
    check_condition(condition);
    Expr yes = infer_open(n.parts[1]);
    Expr no = infer_open(n.parts[2]);
    if (is_weak(yes) && is_weak(no))
      return e.with_children({std::move(condition), std::move(yes), std::move(no)}).with_type({});
    settle(yes, no);
    Type type = yes.type();
    if (!(yes.type() == no.type())) {
      if (!yes.type().is_scalar() || !no.type().is_scalar()) {
        throw Error(ErrorClass::kGraph, "The branches of '" + to_python(e) + "' have the types " + yes.type().str() +
                                            " and " + no.type().str() + ", which have no common type.");
      }
      type = promote(yes.type().scalar(), no.type().scalar());
    }
    return e.with_children({std::move(condition), std::move(yes), std::move(no)}).with_type(type);
  }

  Expr call(const Call& n, const Expr& e) const {
    std::vector<Expr> args;
    for (const Expr& arg : n.args) args.push_back(infer_open(arg));
    if (n.function == Function::kIpow && args.size() == 2) {
      return power_call(std::move(args), e);
    }
    // Weak arguments take the type of the first other one they fit in.
    const auto strong = std::find_if(args.begin(), args.end(), [](const Expr& arg) { return !is_weak(arg); });
    for (Expr& arg : args) {
      if (!is_weak(arg)) continue;
      Expr other = strong == args.end() ? arg : *strong;
      settle(arg, other);
    }
    std::vector<Type> types;
    for (const Expr& arg : args) types.push_back(arg.type());
    const Type type = result_type(n.function, types);
    return e.with_children(std::move(args)).with_type(type);
  }

  Expr power_call(std::vector<Expr> args, const Expr& e) const {
    for (Expr& arg : args) {
      if (is_weak(arg)) arg = weak_in(arg, natural_type(arg));
    }
    const Type& exponent = args[1].type();
    if (!exponent.is_scalar() || is_floating(exponent.scalar()) || is_complex(exponent.scalar())) {
      throw Error(ErrorClass::kGraph,
                  "The exponent of '" + to_python(e) + "' has the type " + exponent.str() + "; ipow needs an integer.");
    }
    const std::vector<Type> types{args[0].type(), exponent};
    const Type type = result_type(Function::kIpow, types);
    return e.with_children(std::move(args)).with_type(type);
  }

  Expr external(const ExternalCall& n, const Expr& e) const {
    const std::optional<Type> type = known_type(n.callee);
    if (!type) {
      // Streams: `s.pop()` gives an element, `s.push(x)` nothing.
      const std::size_t dot = n.callee.rfind('.');
      if (dot == std::string::npos || (!n.callee.ends_with(".push") && !n.callee.ends_with(".pop")))
        throw_unknown("function", n.callee);
      const Type element = element_type(n.callee.substr(0, dot));
      std::vector<Expr> args;
      for (const Expr& arg : n.args) args.push_back(infer_for(arg, element));
      return e.with_children(std::move(args)).with_type(n.callee.ends_with(".pop") ? element : Type());
    }
    std::vector<Expr> args;
    const bool callback = type->kind() == Type::Kind::kCallback;
    for (std::size_t i = 0; i < n.args.size(); ++i) {
      const bool declared = callback && i < type->callback().arguments.size();
      args.push_back(declared ? infer_for(n.args[i], type->callback().arguments[i]) : infer(n.args[i]));
    }
    if (type->is_scalar())
      return e.with_children(std::move(args)).with_type(*type);  // a function declared by its result
    const bool one_result = callback && type->callback().returns.size() == 1;
    return e.with_children(std::move(args)).with_type(one_result ? type->callback().returns[0] : Type());
  }

  Expr cast(const Cast& n, const Expr& e) const {
    Expr operand = infer_open(n.operand[0]);
    if (const std::optional<Expr> folded = cast_literal(n.to, operand)) return folded->with_column(e.column());
    if (is_weak(operand)) operand = weak_in(operand, natural_type(operand));
    if (operand.type().kind() != Type::Kind::kScalar && operand.type().kind() != n.to.kind() &&
        !(operand.type().kind() == Type::Kind::kVector && n.to.is_scalar())) {
      throw Error(ErrorClass::kGraph, "A value of type " + operand.type().str() + " cannot be cast to " + n.to.str() +
                                          " in '" + to_python(e) + "'.");
    }
    Type to = n.to;
    if (operand.type().kind() == Type::Kind::kVector && to.is_scalar())
      to = Type::vector(to.scalar(), operand.type().lanes());
    return e.with_children({std::move(operand)}).with_type(to);
  }

 public:
  static void check_condition(const Expr& condition) {
    const Type::Kind kind = condition.type().kind();
    if (kind != Type::Kind::kScalar && kind != Type::Kind::kPointer && kind != Type::Kind::kVector) {
      throw Error(ErrorClass::kGraph, "The condition '" + to_python(condition) + "' has the type " +
                                          condition.type().str() + ", which is neither true nor false.");
    }
  }

 private:
  const TypeEnvironment& env_;
};

// Collects locals until their types are stable, then types the statements.
class BodyInference {
 public:
  explicit BodyInference(const TypeEnvironment& env) : inference_(env) {}

  Body run(const Body& body, std::vector<std::pair<std::string, Type>>* locals) {
    declare(body);
    // Types only grow, through at most the number of scalar types per local.
    const std::size_t most_rounds = 2 + inference_.locals.size() * kScalarTypeCount;
    for (std::size_t round = 0; round < most_rounds; ++round) {
      changed_ = false;
      collect(body);
      if (!changed_) break;
    }
    Body typed;
    try {
      typed = type(body);
    } catch (const NotYetTyped& unknown) {
      throw Error(ErrorClass::kGraph,
                  "The local variable '" + unknown.name + "' is read, but no assignment gives it a type.");
    }
    if (locals != nullptr) {
      for (const std::string& name : inference_.local_order) {
        const Local& local = inference_.locals.find(name)->second;
        if (!local.declared_outside) locals->emplace_back(name, local.type);
      }
    }
    return typed;
  }

 private:
  // Names that are assigned and that the environment does not type are locals.
  void declare(const Body& body) {
    for (const Statement& statement : body) {
      if (const Assign* assign = std::get_if<Assign>(&statement.node)) {
        declare_target(assign->target);
      } else if (const Update* update = std::get_if<Update>(&statement.node)) {
        declare_target(update->target);
      } else if (const If* node = std::get_if<If>(&statement.node)) {
        for (const IfBranch& branch : node->branches) declare(branch.body);
      } else if (const While* loop = std::get_if<While>(&statement.node)) {
        declare(loop->body);
      }
    }
  }

  void declare_target(const Expr& target) {
    const Name* name = std::get_if<Name>(&target.node());
    if (name == nullptr || inference_.locals.contains(name->name)) return;
    const std::optional<Type> known = inference_.known_type(name->name);
    if (known && !known->is_void()) return;
    if (name->name.find('.') != std::string::npos) throw_unknown("name", name->name);
    Local local;
    local.declared_outside = known.has_value();
    inference_.locals.emplace(name->name, local);
    inference_.local_order.push_back(name->name);
  }

  void note(const Expr& target, const Expr& value) {
    const Name* name = std::get_if<Name>(&target.node());
    if (name == nullptr) return;
    const auto found = inference_.locals.find(name->name);
    if (found == inference_.locals.end()) return;
    Local& local = found->second;
    try {
      const Expr typed = inference_.infer_open(value);
      const bool weak = is_weak(typed);
      const Type type = weak ? Type(natural_type(typed)) : typed.type();
      if (type.is_void()) return;
      Type merged = type;
      if (!local.type.is_void() && !(local.type == type)) {
        if (weak && !local.weak) {
          const bool number = local.type.is_scalar() && local.type.scalar() != ScalarType::kBool;
          merged = number && weak_fits(typed, local.type.scalar()) ? local.type : merge(name->name, local.type, type);
        } else if (local.weak && !weak && type.is_scalar() && type.scalar() != ScalarType::kBool) {
          merged = type;
        } else {
          merged = merge(name->name, local.type, type);
        }
      }
      const bool still_weak = local.weak && weak;
      if (!(merged == local.type) || still_weak != local.weak) changed_ = true;
      local.type = merged;
      local.weak = still_weak;
    } catch (const NotYetTyped&) {
      // A later round knows more.
    }
  }

  static Type merge(const std::string& name, const Type& a, const Type& b) {
    if (a == b) return a;
    const auto number = [](const Type& t) {
      return t.kind() == Type::Kind::kScalar || t.kind() == Type::Kind::kVector;
    };
    if (!number(a) || !number(b)) {
      throw Error(ErrorClass::kGraph, "The local variable '" + name + "' is assigned values of the types " + a.str() +
                                          " and " + b.str() + ", which have no common type.");
    }
    const ScalarType scalar = promote(a.scalar(), b.scalar());
    if (a.is_scalar() && b.is_scalar()) return scalar;
    return Type::vector(scalar, std::max(a.lanes(), b.lanes()));
  }

  void collect(const Body& body) {
    for (const Statement& statement : body) {
      if (const Assign* assign = std::get_if<Assign>(&statement.node)) {
        note(assign->target, assign->value);
      } else if (const Update* update = std::get_if<Update>(&statement.node)) {
        note(update->target, Expr::binary(update->op, update->target, update->value));
      } else if (const If* node = std::get_if<If>(&statement.node)) {
        for (const IfBranch& branch : node->branches) collect(branch.body);
      } else if (const While* loop = std::get_if<While>(&statement.node)) {
        collect(loop->body);
      }
    }
  }

  Expr target(const Expr& e) const { return inference_.infer(e); }

  Expr condition(const Expr& e) const {
    Expr typed = inference_.infer(e);
    Inference::check_condition(typed);
    return typed;
  }

  static void check_assignable(const Expr& to, const Expr& value) {
    const bool numbers = to.type().is_scalar() && value.type().is_scalar();
    const bool spread = to.type().kind() == Type::Kind::kVector &&
                        (value.type().is_scalar() || value.type().lanes() == to.type().lanes());
    const bool pointers = to.type().kind() == Type::Kind::kPointer && value.type().kind() == Type::Kind::kPointer;
    if (numbers || spread || pointers || to.type() == value.type()) return;
    throw Error(ErrorClass::kGraph, "A value of type " + (value.type().is_void() ? "nothing" : value.type().str()) +
                                        " cannot be assigned to '" + to_python(to) + "' of type " + to.type().str() +
                                        ".");
  }

  // The value of `target op= value`, typed as the right operand of the operator.
  Expr update_value(const Update& update, const Expr& to) const {
    const Expr whole = inference_.infer(Expr::binary(update.op, update.target, update.value));
    check_assignable(to, whole);
    if (update.op == BinaryOp::kPow) return inference_.infer(update.value);
    if (whole.children().size() == 2) return whole.children()[1];
    return inference_.infer(update.value);
  }

  Body type(const Body& body) {
    Body typed;
    for (const Statement& statement : body) {
      try {
        typed.push_back({type_node(statement.node), statement.line});
      } catch (const Error& error) {
        if (statement.line == 0 || !error.places().empty()) throw;
        throw Error(error.error_class(), error.message(),
                    {{"in line " + std::to_string(statement.line) + " of the code", {}}}, error.hint());
      }
    }
    return typed;
  }

  decltype(Statement::node) type_node(const decltype(Statement::node)& node) {
    using Node = decltype(Statement::node);
    return std::visit(
        Overloaded{[&](const Assign& n) -> Node {
                     Expr to = target(n.target);
                     Expr value = inference_.infer_for(n.value, to.type());
                     check_assignable(to, value);
                     return Assign{std::move(to), std::move(value)};
                   },
                   [&](const Update& n) -> Node {
                     Expr to = target(n.target);
                     // A power is resolved as an expression of its own.
                     if (n.op == BinaryOp::kPow) {
                       Expr value = inference_.infer(Expr::binary(n.op, n.target, n.value));
                       check_assignable(to, value);
                       return Assign{std::move(to), std::move(value)};
                     }
                     Expr value = update_value(n, to);
                     return Update{std::move(to), n.op, std::move(value)};
                   },
                   [&](const If& n) -> Node {
                     If result;
                     for (const IfBranch& branch : n.branches) {
                       Expr test = condition(branch.condition);
                       result.branches.push_back({std::move(test), type(branch.body)});
                     }
                     return result;
                   },
                   [&](const While& n) -> Node {
                     Expr test = condition(n.condition);
                     return While{std::move(test), type(n.body)};
                   },
                   [](const Break&) -> Node { return Break{}; }, [](const Continue&) -> Node { return Continue{}; },
                   [&](const Evaluate& n) -> Node { return Evaluate{inference_.infer(n.value)}; }},
        node);
  }

  Inference inference_;
  bool changed_ = false;
};

}  // namespace

Expr infer_types(const Expr& e, const TypeEnvironment& env) {
  try {
    return Inference(env).infer(e);
  } catch (const NotYetTyped& unknown) {
    throw Error(ErrorClass::kGraph, "The type of '" + unknown.name + "' is not known yet.");
  }
}

Body infer_types(const Body& body, const TypeEnvironment& env, std::vector<std::pair<std::string, Type>>* locals) {
  return BodyInference(env).run(body, locals);
}

}  // namespace sdfg::tasklet
