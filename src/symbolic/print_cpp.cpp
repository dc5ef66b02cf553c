// The printer of C++ expressions of 64-bit integers.
#include <limits>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"
#include "symbolic/print.hpp"
#include "symbolic/print_terms.hpp"

namespace sdfg::symbolic {

namespace {

namespace cpp {

// Binding strength in C++, weakest first.
enum Level : int {
  kConditional,
  kDisjunction,
  kConjunction,
  kBitwiseOr,
  kBitwiseXor,
  kBitwiseAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom,
};

struct Text {
  std::string text;
  Level level = kAtom;
};

class Printer {
 public:
  Printer(const CppPrinter& spelling, const Facts& facts) : spelling_(spelling), facts_(facts) {}

  std::string operator()(const Expr& e) const { return print(e).text; }

 private:
  static std::string wrap(Level level, Text text) {
    if (text.level >= level) return std::move(text.text);
    return "(" + text.text + ")";
  }

  std::string at_least(Level level, const Expr& e) const { return wrap(level, print(e)); }

  static Text literal(std::int64_t value) {
    if (value == std::numeric_limits<std::int64_t>::min()) return {"(-9223372036854775807L - 1)", kAtom};
    const bool fits =
        value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
    return {std::to_string(value) + (fits ? "" : "L"), value < 0 ? kUnary : kAtom};
  }

  Text helper(std::string_view name, std::span<const Expr> args) const {
    std::string text = spelling_.function_prefix + std::string(name) + "(";
    for (std::size_t i = 0; i < args.size(); ++i) text += (i == 0 ? "" : ", ") + print(args[i]).text;
    return {text + ")", kAtom};
  }

  // Helpers take two arguments; more of them nest.
  Text nested_helper(std::string_view name, std::span<const Expr> args) const {
    std::string text = print(args[0]).text;
    for (const Expr& arg : args.subspan(1)) {
      text = spelling_.function_prefix + std::string(name) + "(" + text + ", " + print(arg).text + ")";
    }
    return {text, kAtom};
  }

  // Operands of mixed bitwise and logical operators are parenthesised unless atomic: compilers warn, readers stumble.
  Text joined(std::string_view op, Level level, Level operand, std::span<const Expr> args) const {
    std::string text;
    for (const Expr& arg : args) {
      if (!text.empty()) text += op;
      text += at_least(operand, arg);
    }
    return {text, level};
  }

  Text product_of(std::int64_t coefficient, std::span<const Expr> factors) const {
    if (factors.empty()) return literal(coefficient);
    if (coefficient == 1 && factors.size() == 1) return print(factors[0]);
    std::string text;
    if (coefficient != 1) text = literal(coefficient).text;
    for (const Expr& factor : factors) {
      if (!text.empty()) text += " * ";
      text += at_least(factor.kind() == Kind::kPow ? kProduct : kUnary, factor);
    }
    return {text, kProduct};
  }

  Text sum_of(const Expr& e) const {
    std::string text;
    const std::vector<PrintedTerm> terms = printed_terms(e, ConstantPlace::kLast);
    for (const PrintedTerm& term : terms) {
      const bool lowest = term.coefficient == std::numeric_limits<std::int64_t>::min();
      const bool negative = term.coefficient < 0 && !lowest;
      if (text.empty()) {
        if (negative) text += "-";
      } else {
        text += negative ? " - " : " + ";
      }
      // A leading sign binds tighter than the division that may follow it: -(N / 2).
      const bool alone = text == "-" && term.factors.size() == 1 && term.coefficient == -1;
      text +=
          wrap(alone ? kUnary : kProduct, product_of(negative ? -term.coefficient : term.coefficient, term.factors));
    }
    if (terms.size() != 1) return {text, kSum};
    return {text, terms[0].factors.empty() ? kUnary : kProduct};
  }

  Text quotient(std::string_view op, std::string_view name, const Expr& e) const {
    const std::span<const Expr> a = e.args();
    if (is_nonnegative(a[0], facts_) == Truth::kYes && is_positive(a[1], facts_) == Truth::kYes) {
      const Level left = a[0].kind() == Kind::kMul ? kProduct : kUnary;
      return {at_least(left, a[0]) + std::string(op) + at_least(kUnary, a[1]), kProduct};
    }
    return helper(name, a);
  }

  Text power(const Expr& e) const {
    const std::span<const Expr> a = e.args();
    constexpr std::int64_t kLongestProduct = 4;
    if (a[0].kind() != Kind::kSymbol || !a[1].is_integer() || a[1].value() > kLongestProduct) return helper("ipow", a);
    const std::string factor = print(a[0]).text;
    std::string text = factor;
    for (std::int64_t i = 1; i < a[1].value(); ++i) text += " * " + factor;
    return {text, kProduct};
  }

  Text comparison(const Expr& e) const {
    const PrintedComparison c = printed_comparison(e);
    const Level level = c.op == "==" || c.op == "!=" ? kEquality : kRelation;
    return {at_least(kShift, c.left) + " " + c.op + " " + at_least(kShift, c.right), level};
  }

  Text print(const Expr& e) const {
    const std::span<const Expr> a = e.args();
    switch (e.kind()) {
      case Kind::kInteger: return literal(e.value());
      case Kind::kBoolean: return {e.value() != 0 ? "true" : "false", kAtom};
      case Kind::kSymbol: return {spelling_.symbol ? spelling_.symbol(e.name()) : e.name(), kAtom};
      case Kind::kRead:
        if (!spelling_.read) {
          throw Error(ErrorClass::kUsage, "the C++ text of " + e.str() + " needs a spelling for reads of containers");
        }
        return {spelling_.read(e.name(), a), kAtom};
      case Kind::kCall: {
        std::string text = e.name() + "(";
        for (std::size_t i = 0; i < a.size(); ++i) text += (i == 0 ? "" : ", ") + print(a[i]).text;
        return {text + ")", kAtom};
      }
      case Kind::kAdd: return sum_of(e);
      case Kind::kMul:
        if (term_view(e).coefficient < 0) return sum_of(e);
        return product_of(term_view(e).coefficient, term_view(e).factors);
      case Kind::kPow: return power(e);
      case Kind::kFloorDiv: return quotient(" / ", "floor_div", e);
      case Kind::kCeilDiv: return helper("ceil_div", a);
      case Kind::kMod: return quotient(" % ", "mod", e);
      case Kind::kMin: return nested_helper("min", a);
      case Kind::kMax: return nested_helper("max", a);
      case Kind::kAbs: return helper("abs", a);
      case Kind::kSelect:
        return {
            at_least(kDisjunction, a[0]) + " ? " + at_least(kDisjunction, a[1]) + " : " + at_least(kDisjunction, a[2]),
            kConditional};
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess: return comparison(e);
      case Kind::kAnd: return joined(" && ", kConjunction, kEquality, a);
      case Kind::kOr: return joined(" || ", kDisjunction, kEquality, a);
      case Kind::kNot: return {"!" + at_least(kUnary, a[0]), kUnary};
      case Kind::kBitAnd: return joined(" & ", kBitwiseAnd, kUnary, a);
      case Kind::kBitOr: return joined(" | ", kBitwiseOr, kUnary, a);
      case Kind::kBitXor: return joined(" ^ ", kBitwiseXor, kUnary, a);
      case Kind::kBitNot: return {"~" + at_least(kUnary, a[0]), kUnary};
      case Kind::kShiftLeft: return joined(" << ", kShift, kUnary, a);
      case Kind::kShiftRight: return joined(" >> ", kShift, kUnary, a);
    }
    return {};
  }

  const CppPrinter& spelling_;
  const Facts& facts_;
};

}  // namespace cpp

}  // namespace

std::string to_cpp(const Expr& e, const CppPrinter& printer, const Facts& facts) {
  return cpp::Printer(printer, facts)(e);
}

}  // namespace sdfg::symbolic
