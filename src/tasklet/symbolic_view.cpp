// Translation between scalar code and symbolic integer expressions.
#include <algorithm>

#include "symbolic/print_terms.hpp"
#include "tasklet/code.hpp"
#include "tasklet/fold.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

using Maybe = std::optional<symbolic::Expr>;

// An untyped name or read counts as an integer; the symbolic side models no overflow.
bool has_view(const Type& type) {
  return type.is_void() || (type.is_scalar() && (is_integer(type.scalar()) || type.scalar() == ScalarType::kBool));
}

bool is_boolean(const Expr& e) {
  return e.type().is_scalar() && e.type().scalar() == ScalarType::kBool;
}

// As a condition: integers are true when not zero.
symbolic::Expr truth_of(const Expr& e, const symbolic::Expr& view) {
  const bool integer = e.type().is_scalar() && is_integer(e.type().scalar());
  if (view.is_integer()) return symbolic::Expr::boolean(!view.is_zero());
  return integer && !view.is_boolean_valued() ? symbolic::ne(view, 0) : view;
}

// As a number: booleans are 0 or 1.
symbolic::Expr number_of(const symbolic::Expr& view) {
  return view.is_boolean_valued() ? symbolic::select(view, 1, 0) : view;
}

Maybe view_of_binary(const Binary& n) {
  const Maybe left = to_symbolic(n.operands[0]);
  const Maybe right = to_symbolic(n.operands[1]);
  if (!left || !right) return std::nullopt;
  if (n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr) {
    const symbolic::Expr a = truth_of(n.operands[0], *left);
    const symbolic::Expr b = truth_of(n.operands[1], *right);
    return n.op == BinaryOp::kAnd ? symbolic::logical_and(a, b) : symbolic::logical_or(a, b);
  }
  const bool booleans = left->is_boolean_valued() && right->is_boolean_valued();
  if (booleans) {
    // Equality and the bit operators of conditions are logic.
    const auto both = symbolic::logical_and(*left, *right);
    const auto neither = symbolic::logical_and(symbolic::logical_not(*left), symbolic::logical_not(*right));
    if (n.op == BinaryOp::kBitAnd) return both;
    if (n.op == BinaryOp::kBitOr) return symbolic::logical_or(*left, *right);
    if (n.op == BinaryOp::kEqual) return symbolic::logical_or(both, neither);
    if (n.op == BinaryOp::kNotEqual || n.op == BinaryOp::kBitXor)
      return symbolic::logical_not(symbolic::logical_or(both, neither));
  }
  const symbolic::Expr a = number_of(*left);
  const symbolic::Expr b = number_of(*right);
  switch (n.op) {
    case BinaryOp::kAdd: return a + b;
    case BinaryOp::kSub: return a - b;
    case BinaryOp::kMul: return a * b;
    case BinaryOp::kDiv: return std::nullopt;
    case BinaryOp::kFloorDiv: return b.is_zero() ? Maybe() : symbolic::floor_div(a, b);
    case BinaryOp::kMod: return b.is_zero() ? Maybe() : symbolic::mod(a, b);
    case BinaryOp::kPow: return b.is_integer() && b.value() >= 0 ? symbolic::pow(a, b) : Maybe();
    case BinaryOp::kBitAnd: return symbolic::bit_and(a, b);
    case BinaryOp::kBitOr: return symbolic::bit_or(a, b);
    case BinaryOp::kBitXor: return symbolic::bit_xor(a, b);
    case BinaryOp::kShiftLeft: return symbolic::shift_left(a, b);
    case BinaryOp::kShiftRight: return symbolic::shift_right(a, b);
    case BinaryOp::kEqual: return symbolic::eq(a, b);
    case BinaryOp::kNotEqual: return symbolic::ne(a, b);
    case BinaryOp::kLess: return symbolic::lt(a, b);
    case BinaryOp::kLessEqual: return symbolic::le(a, b);
    case BinaryOp::kGreater: return symbolic::gt(a, b);
    case BinaryOp::kGreaterEqual: return symbolic::ge(a, b);
    case BinaryOp::kAnd:
    case BinaryOp::kOr: break;
  }
  return std::nullopt;
}

Maybe view_of_call(const Call& n) {
  std::vector<symbolic::Expr> args;
  for (const Expr& arg : n.args) {
    const Maybe view = to_symbolic(arg);
    if (!view) return std::nullopt;
    args.push_back(number_of(*view));
  }
  if (n.function == Function::kMin && args.size() == 2) return symbolic::min(args[0], args[1]);
  if (n.function == Function::kMax && args.size() == 2) return symbolic::max(args[0], args[1]);
  if (n.function == Function::kAbs && args.size() == 1) return symbolic::abs(args[0]);
  if (n.function == Function::kIpow && args.size() == 2) {
    return args[1].is_integer() && args[1].value() < 0 ? Maybe() : symbolic::pow(args[0], args[1]);
  }
  const bool divides = n.function == Function::kIntFloor || n.function == Function::kIntCeil;
  if (divides && args.size() == 2 && !args[1].is_zero()) {
    return n.function == Function::kIntFloor ? symbolic::floor_div(args[0], args[1])
                                             : symbolic::ceil_div(args[0], args[1]);
  }
  return std::nullopt;
}

// floor(a / b), ceil(a / b) of integers, as files write them.
Maybe view_of_rounded_quotient(const Call& n) {
  if ((n.function != Function::kFloor && n.function != Function::kCeil) || n.args.size() != 1) return std::nullopt;
  const Binary* quotient = std::get_if<Binary>(&n.args[0].node());
  if (quotient == nullptr || quotient->op != BinaryOp::kDiv) return std::nullopt;
  const Maybe a = to_symbolic(quotient->operands[0]);
  const Maybe b = to_symbolic(quotient->operands[1]);
  if (!a || !b || b->is_zero()) return std::nullopt;
  return n.function == Function::kFloor ? symbolic::floor_div(number_of(*a), number_of(*b))
                                        : symbolic::ceil_div(number_of(*a), number_of(*b));
}

Expr from(const symbolic::Expr& e);

Expr chain(const symbolic::Expr& e, const auto& combine) {
  Expr result = from(e.args()[0]);
  for (std::size_t i = 1; i < e.args().size(); ++i) result = combine(std::move(result), from(e.args()[i]));
  return result;
}

Expr chain(const symbolic::Expr& e, BinaryOp op) {
  return chain(e, [op](Expr a, Expr b) { return Expr::binary(op, std::move(a), std::move(b)); });
}

// A sum with its subtractions: the terms with a positive sign first, the constant last.
Expr from_sum(const symbolic::Expr& e) {
  std::optional<Expr> result;
  const auto append = [&](const symbolic::Expr& term, bool negated) {
    if (!result) {
      result = from(negated ? -term : term);
    } else {
      result = Expr::binary(negated ? BinaryOp::kSub : BinaryOp::kAdd, *result, from(term));
    }
  };
  // The smallest integer has no opposite.
  const auto factor = [](const symbolic::Expr& term) {
    const bool scaled = term.kind() == symbolic::Kind::kMul && term.args()[0].is_integer();
    return term.is_integer() ? term.value() : scaled ? term.args()[0].value() : 1;
  };
  const auto is_negative = [&](const symbolic::Expr& term) { return factor(term) < 0 && factor(term) != INT64_MIN; };
  for (const symbolic::Expr& term : e.args()) {
    if (!term.is_integer() && !is_negative(term)) append(term, false);
  }
  for (const symbolic::Expr& term : e.args()) {
    if (!term.is_integer() && is_negative(term)) append(-term, true);
  }
  for (const symbolic::Expr& term : e.args()) {
    if (term.is_integer()) append(is_negative(term) ? -term : term, is_negative(term));
  }
  return *result;
}

// Canonical comparisons are `difference <= 0`; code has two sides.
Expr from_comparison(const symbolic::Expr& e) {
  const symbolic::PrintedComparison c = symbolic::printed_comparison(e);
  const BinaryOp op = c.op == "=="   ? BinaryOp::kEqual
                      : c.op == "!=" ? BinaryOp::kNotEqual
                      : c.op == "<"  ? BinaryOp::kLess
                      : c.op == "<=" ? BinaryOp::kLessEqual
                      : c.op == ">"  ? BinaryOp::kGreater
                                     : BinaryOp::kGreaterEqual;
  return Expr::binary(op, from(c.left), from(c.right));
}

std::vector<Expr> from_all(std::span<const symbolic::Expr> args) {
  std::vector<Expr> result;
  for (const symbolic::Expr& arg : args) result.push_back(from(arg));
  return result;
}

Expr from(const symbolic::Expr& e) {
  using K = symbolic::Kind;
  const auto binary = [&](BinaryOp op) { return Expr::binary(op, from(e.args()[0]), from(e.args()[1])); };
  switch (e.kind()) {
    case K::kInteger: return Expr::weak(e.value());
    case K::kBoolean: return Expr::literal(e.value() != 0);
    case K::kSymbol: return Expr::name(e.name());
    case K::kRead: return Expr::subscript(e.name(), from_all(e.args()));
    case K::kCall:
      if (const std::optional<Function> function = function_from_string(e.name()))
        return Expr::call(*function, from_all(e.args()));
      return Expr(ExternalCall{e.name(), from_all(e.args())});
    case K::kAdd: return from_sum(e);
    case K::kMul:
      if (e.args()[0].is_integer() && e.args()[0].value() == -1) return Expr::unary(UnaryOp::kNegate, from(-e));
      return chain(e, BinaryOp::kMul);
    case K::kPow: return Expr::call(Function::kIpow, from_all(e.args()));
    case K::kFloorDiv: return binary(BinaryOp::kFloorDiv);
    case K::kCeilDiv: return Expr::call(Function::kIntCeil, from_all(e.args()));
    case K::kMod: return binary(BinaryOp::kMod);
    case K::kMin:
      return chain(e, [](Expr a, Expr b) { return Expr::call(Function::kMin, {std::move(a), std::move(b)}); });
    case K::kMax:
      return chain(e, [](Expr a, Expr b) { return Expr::call(Function::kMax, {std::move(a), std::move(b)}); });
    case K::kAbs: return Expr::call(Function::kAbs, from_all(e.args()));
    case K::kSelect: return Expr::select(from(e.args()[0]), from(e.args()[1]), from(e.args()[2]));
    case K::kEqual:
    case K::kNotEqual:
    case K::kLessEqual:
    case K::kLess: return from_comparison(e);
    case K::kAnd: return chain(e, BinaryOp::kAnd);
    case K::kOr: return chain(e, BinaryOp::kOr);
    case K::kNot: return Expr::unary(UnaryOp::kNot, from(e.args()[0]));
    case K::kBitAnd: return chain(e, BinaryOp::kBitAnd);
    case K::kBitOr: return chain(e, BinaryOp::kBitOr);
    case K::kBitXor: return chain(e, BinaryOp::kBitXor);
    case K::kBitNot: return Expr::unary(UnaryOp::kBitNot, from(e.args()[0]));
    case K::kShiftLeft: return binary(BinaryOp::kShiftLeft);
    case K::kShiftRight: return binary(BinaryOp::kShiftRight);
  }
  return Expr();
}

}  // namespace

std::optional<symbolic::Expr> to_symbolic(const Expr& e) {
  return std::visit(
      Overloaded{[&](const Literal& n) -> Maybe {
                   if (const bool* v = std::get_if<bool>(&n.value)) return symbolic::Expr::boolean(*v);
                   if (const std::optional<std::int64_t> v = integer_literal(e)) return symbolic::Expr(*v);
                   return std::nullopt;
                 },
                 [&](const Name& n) -> Maybe { return has_view(e.type()) ? symbolic::Expr::symbol(n.name) : Maybe(); },
                 [&](const Subscript& n) -> Maybe {
                   if (!has_view(e.type())) return std::nullopt;
                   std::vector<symbolic::Expr> indices;
                   for (const Expr& index : n.indices) {
                     const Maybe view = to_symbolic(index);
                     if (!view) return std::nullopt;
                     indices.push_back(number_of(*view));
                   }
                   return symbolic::Expr::read(n.base, std::move(indices));
                 },
                 [&](const Unary& n) -> Maybe {
                   const Maybe operand = to_symbolic(n.operand[0]);
                   if (!operand) return std::nullopt;
                   switch (n.op) {
                     case UnaryOp::kNegate: return -number_of(*operand);
                     case UnaryOp::kNot: return symbolic::logical_not(truth_of(n.operand[0], *operand));
                     case UnaryOp::kBitNot:
                       if (is_boolean(n.operand[0]) || operand->is_boolean_valued())
                         return symbolic::logical_not(*operand);
                       return symbolic::bit_not(*operand);
                   }
                   return std::nullopt;
                 },
                 [](const Binary& n) { return view_of_binary(n); },
                 [](const Select& n) -> Maybe {
                   const Maybe condition = to_symbolic(n.parts[0]);
                   const Maybe yes = to_symbolic(n.parts[1]);
                   const Maybe no = to_symbolic(n.parts[2]);
                   if (!condition || !yes || !no) return std::nullopt;
                   const bool booleans = yes->is_boolean_valued() && no->is_boolean_valued();
                   return symbolic::select(truth_of(n.parts[0], *condition), booleans ? *yes : number_of(*yes),
                                           booleans ? *no : number_of(*no));
                 },
                 [](const Call& n) -> Maybe {
                   if (const Maybe quotient = view_of_rounded_quotient(n)) return quotient;
                   return view_of_call(n);
                 },
                 [](const ExternalCall&) -> Maybe { return std::nullopt; },
                 [](const Cast& n) -> Maybe {
                   if (!n.to.is_scalar() || n.operand[0].type().is_void()) return std::nullopt;
                   const Maybe operand = to_symbolic(n.operand[0]);
                   if (!operand) return std::nullopt;
                   if (n.to.scalar() == ScalarType::kBool) return truth_of(n.operand[0], *operand);
                   return is_integer(n.to.scalar()) ? Maybe(number_of(*operand)) : Maybe();
                 }},
      e.node());
}

Expr from_symbolic(const symbolic::Expr& e, const std::function<Type(std::string_view symbol)>& type_of) {
  TypeEnvironment env;
  env.name = [&](std::string_view name) -> std::optional<Type> {
    Type type = type_of ? type_of(name) : Type();
    return type.is_void() ? Type(ScalarType::kInt64) : type;
  };
  env.element = [&](std::string_view) -> std::optional<Type> { return Type(ScalarType::kInt64); };
  return infer_types(from(e), env);
}

}  // namespace sdfg::tasklet
