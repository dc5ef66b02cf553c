// Printers of Python syntax and of the two DaCe syntaxes: one precedence-driven printer with a table of spellings.
#include "symbolic/print.hpp"

#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"
#include "symbolic/print_terms.hpp"

namespace sdfg::symbolic {

std::vector<PrintedTerm> printed_terms(const Expr& e, ConstantPlace place) {
  const SumView view = sum_view(e);
  std::vector<PrintedTerm> terms;
  const auto add_all = [&](bool negative) {
    for (const Expr& term : view.terms) {
      const TermView t = term_view(term);
      if ((t.coefficient < 0) == negative) terms.push_back({t.coefficient, t.factors});
    }
  };
  if (place == ConstantPlace::kFirst && view.constant != 0) terms.push_back({view.constant, {}});
  add_all(false);
  const bool leads = place == ConstantPlace::kLast && view.constant > 0 && terms.empty();
  if (leads) terms.push_back({view.constant, {}});
  add_all(true);
  if (place == ConstantPlace::kLast && view.constant != 0 && !leads) terms.push_back({view.constant, {}});
  return terms;
}

std::string printed_magnitude(std::int64_t value) {
  std::string text = std::to_string(value);
  if (value < 0) text.erase(0, 1);
  return text;
}

PrintedComparison printed_comparison(const Expr& e) try {
  const bool boolean_sides = e.args()[0].is_boolean_valued() && e.args()[1].is_boolean_valued();
  const auto plain = [&](std::string_view op) { return PrintedComparison{e.args()[0], std::string(op), e.args()[1]}; };
  if (e.kind() == Kind::kLess) return plain("<");
  if (boolean_sides || !e.args()[1].is_zero()) {
    return plain(e.kind() == Kind::kEqual ? "==" : (e.kind() == Kind::kNotEqual ? "!=" : "<="));
  }
  // difference (op) 0 with the negative terms moved to the right
  const SumView view = sum_view(e.args()[0]);
  std::vector<Expr> left;
  std::vector<Expr> right;
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    if (t.coefficient > 0) {
      left.push_back(term);
    } else {
      right.push_back(-term);
    }
  }
  const Expr lhs = sum(left);
  const Expr rhs = sum(right);
  if (e.kind() != Kind::kLessEqual) {
    const std::string op = e.kind() == Kind::kEqual ? "==" : "!=";
    if (left.empty()) return {rhs, op, Expr(view.constant)};
    return {lhs, op, rhs - Expr(view.constant)};
  }
  if (left.empty()) {
    if (view.constant == 1) return {rhs, ">", Expr(0)};
    return {rhs, ">=", Expr(view.constant)};
  }
  if (view.constant == 1) return {lhs, "<", rhs};
  if (view.constant > 0 && !right.empty()) return {lhs + Expr(view.constant), "<=", rhs};
  return {lhs, "<=", rhs - Expr(view.constant)};
} catch (const Error&) {
  // The sides overflow when terms move; what is printed must not.
  const std::string op = e.kind() == Kind::kEqual ? "==" : e.kind() == Kind::kNotEqual ? "!=" : "<=";
  return {e.args()[0], op, e.args()[1]};
}

namespace {

enum class Syntax : std::uint8_t { kPython, kDaceTyped, kDacePlain };

// Binding strength of an expression's outermost operator, Python's order.
enum Level : int {
  kConditional,
  kDisjunction,
  kConjunction,
  kNegation,
  kComparison,
  kBitwiseOr,
  kBitwiseXor,
  kBitwiseAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kAtom,
};

struct Text {
  std::string text;
  Level level = kAtom;
};

class Printer {
 public:
  Printer(Syntax syntax, const std::function<std::string(const std::string&)>& attributes)
      : syntax_(syntax), attributes_(attributes) {}

  std::string operator()(const Expr& e) const { return print(e).text; }

 private:
  bool python() const { return syntax_ == Syntax::kPython; }

  std::string at_least(Level level, const Expr& e) const { return wrap(level, print(e)); }

  static std::string wrap(Level level, Text text) {
    if (text.level >= level) return std::move(text.text);
    return "(" + text.text + ")";
  }

  std::string list(std::span<const Expr> args) const {
    std::string text;
    for (const Expr& arg : args) {
      if (!text.empty()) text += ", ";
      text += print(arg).text;
    }
    return text;
  }

  Text call(std::string_view function, std::span<const Expr> args) const {
    return {std::string(function) + "(" + list(args) + ")", kAtom};
  }

  Text joined(std::string_view op, Level level, std::span<const Expr> args) const {
    std::string text;
    for (const Expr& arg : args) {
      if (!text.empty()) text += op;
      text += at_least(static_cast<Level>(level + 1), arg);
    }
    return {text, level};
  }

  Text binary(std::string_view op, Level level, const Expr& a, const Expr& b) const {
    return {at_least(level, a) + std::string(op) + at_least(static_cast<Level>(level + 1), b), level};
  }

  Text symbol(const std::string& name) const {
    if (syntax_ != Syntax::kDaceTyped) return {name, kAtom};
    std::string attributes = attributes_ ? attributes_(name) : std::string();
    if (attributes.empty()) return {"$" + name, kAtom};
    if (attributes.starts_with(", ")) attributes.erase(0, 2);
    return {"symbol($" + name + ", " + attributes + ")", kAtom};
  }

  Text read(const Expr& e) const {
    if (syntax_ == Syntax::kDaceTyped) {
      std::string text = "Subscript(" + e.name();
      for (const Expr& index : e.args()) text += ", " + print(index).text;
      return {text + ")", kAtom};
    }
    if (e.args().empty()) return {e.name(), kAtom};
    return {e.name() + "[" + list(e.args()) + "]", kAtom};
  }

  // coefficient (its sign is the caller's business) times factors
  Text product_of(std::int64_t coefficient, std::span<const Expr> factors) const {
    const std::string magnitude = printed_magnitude(coefficient);
    if (factors.empty()) return {magnitude, kAtom};
    const bool with_number = magnitude != "1";
    if (!with_number && factors.size() == 1) return print(factors[0]);
    std::string text = with_number ? magnitude : std::string();
    for (const Expr& factor : factors) {
      if (!text.empty()) text += "*";
      text += at_least(kUnary, factor);
    }
    return {text, kProduct};
  }

  Text sum_of(const Expr& e) const {
    const ConstantPlace place = syntax_ == Syntax::kDaceTyped ? ConstantPlace::kFirst : ConstantPlace::kLast;
    std::string text;
    const std::vector<PrintedTerm> terms = printed_terms(e, place);
    for (const PrintedTerm& term : terms) {
      const bool negative = term.coefficient < 0;
      if (text.empty()) {
        if (negative) text += "-";
      } else {
        text += negative ? " - " : " + ";
      }
      // A leading sign binds tighter than the division that may follow it: -(N//2).
      const bool alone = text == "-" && term.factors.size() == 1 && term.coefficient == -1;
      text += wrap(alone ? kUnary : kProduct, product_of(term.coefficient, term.factors));
    }
    if (terms.size() != 1) return {text, kSum};
    // `-2*N` reads as `(-2)*N`: the sign binds tighter than the product that follows.
    return {text, terms[0].factors.empty() ? kUnary : kProduct};
  }

  Text print(const Expr& e) const {
    const std::span<const Expr> a = e.args();
    switch (e.kind()) {
      case Kind::kInteger: return {std::to_string(e.value()), e.value() < 0 ? kUnary : kAtom};
      case Kind::kBoolean: return {e.value() != 0 ? "True" : "False", kAtom};
      case Kind::kSymbol: return symbol(e.name());
      case Kind::kRead: return read(e);
      case Kind::kCall: return call(e.name(), a);
      case Kind::kAdd: return sum_of(e);
      case Kind::kMul:
        if (term_view(e).coefficient < 0) return sum_of(e);
        return product_of(term_view(e).coefficient, term_view(e).factors);
      case Kind::kPow: return {at_least(kAtom, a[0]) + "**" + at_least(kUnary, a[1]), kPower};
      case Kind::kFloorDiv:
        if (!python()) return call("int_floor", a);
        return quotient("//", a);
      case Kind::kCeilDiv: return call("int_ceil", a);
      case Kind::kMod:
        if (syntax_ == Syntax::kDaceTyped) return call("Mod", a);
        return quotient(" % ", a);
      case Kind::kMin: return call(python() ? "min" : "Min", a);
      case Kind::kMax: return call(python() ? "max" : "Max", a);
      case Kind::kAbs: return call(python() ? "abs" : "Abs", a);
      case Kind::kSelect:
        if (!python()) return call("IfExpr", a);
        return {at_least(kDisjunction, a[1]) + " if " + at_least(kDisjunction, a[0]) + " else " +
                    at_least(kDisjunction, a[2]),
                kConditional};
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess: {
        const PrintedComparison c = printed_comparison(e);
        return {at_least(kBitwiseOr, c.left) + " " + c.op + " " + at_least(kBitwiseOr, c.right), kComparison};
      }
      case Kind::kAnd: return joined(" and ", kConjunction, a);
      case Kind::kOr: return joined(" or ", kDisjunction, a);
      case Kind::kNot: return {"not " + at_least(kNegation, a[0]), kNegation};
      case Kind::kBitAnd: return python() ? joined(" & ", kBitwiseAnd, a) : nested("bitwise_and", a);
      case Kind::kBitOr: return python() ? joined(" | ", kBitwiseOr, a) : nested("bitwise_or", a);
      case Kind::kBitXor: return python() ? joined(" ^ ", kBitwiseXor, a) : nested("bitwise_xor", a);
      case Kind::kBitNot: return python() ? Text{"~" + at_least(kUnary, a[0]), kUnary} : call("bitwise_invert", a);
      case Kind::kShiftLeft: return python() ? binary(" << ", kShift, a[0], a[1]) : call("left_shift", a);
      case Kind::kShiftRight: return python() ? binary(" >> ", kShift, a[0], a[1]) : call("right_shift", a);
    }
    return {};
  }

  // `a*b//c` is read as `(a*b)//c`; another division on the left gets parentheses for the reader.
  Text quotient(std::string_view op, std::span<const Expr> a) const {
    const Level left = a[0].kind() == Kind::kMul ? kProduct : kUnary;
    return {at_least(left, a[0]) + std::string(op) + at_least(kUnary, a[1]), kProduct};
  }

  Text nested(std::string_view function, std::span<const Expr> args) const {
    std::string text = print(args[0]).text;
    for (const Expr& arg : args.subspan(1)) text = std::string(function) + "(" + text + ", " + print(arg).text + ")";
    return {text, kAtom};
  }

  Syntax syntax_;
  const std::function<std::string(const std::string&)>& attributes_;
};

}  // namespace

std::string to_python(const Expr& e) {
  if (e.kind() == Kind::kSymbol) return e.name();
  if (e.is_integer()) return std::to_string(e.value());
  return Printer(Syntax::kPython, {})(e);
}

std::string to_dace(const Expr& e, const std::function<std::string(const std::string& symbol)>& attributes) {
  return Printer(Syntax::kDaceTyped, attributes)(e);
}

std::string to_dace_plain(const Expr& e) {
  return Printer(Syntax::kDacePlain, {})(e);
}

}  // namespace sdfg::symbolic
