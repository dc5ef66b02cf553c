// The parser of expressions and subsets in Python syntax and in DaCe's typed syntax.
#include <algorithm>
#include <limits>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"
#include "symbolic/parse_lexer.hpp"
#include "symbolic/parse_names.hpp"
#include "symbolic/print.hpp"
#include "symbolic/rational.hpp"

namespace sdfg::symbolic {

namespace {

enum class BarMeaning : std::uint8_t { kBitwiseOr, kApproximation };

class Parser : private TokenReader {
 public:
  Parser(std::string_view text, const ParseOptions& options, const std::function<bool(std::string_view)>& is_container)
      : TokenReader(text), options_(options), is_container_(is_container) {}

  Expr whole_expression() {
    const Expr result = integer(conditional());
    if (peek().kind != TokenKind::kEnd) fail("unexpected " + describe(peek()));
    return result;
  }

  Subset whole_subset() {
    std::vector<Range> ranges;
    bar_ = BarMeaning::kApproximation;
    if (peek().kind == TokenKind::kEnd) return ranges;
    ranges.push_back(range());
    while (accept(",")) {
      if (peek().kind == TokenKind::kEnd) break;
      ranges.push_back(range());
    }
    if (peek().kind != TokenKind::kEnd) fail("unexpected " + describe(peek()));
    return ranges;
  }

 private:
  // Counts nesting while a nested construct is parsed.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > parser_.options_.max_depth) {
        parser_.fail_at(parser_.peek().column,
                        "nested more than " + std::to_string(parser_.options_.max_depth) + " levels deep",
                        ErrorClass::kLimit);
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  Expr integer(const Rational& value) const {
    if (const std::optional<Expr> exact = value.integer()) return *exact;
    fail("the value (" + value.numerator.str() + ")/(" + value.denominator.str() +
         ") is a fraction; only floor(...), ceiling(...) or a factor that cancels makes it an integer");
  }

  Expr integer_conditional() { return integer(conditional()); }

  Range range() {
    Range result;
    result.begin = part();
    if (!accept(":")) {
      result.end = result.begin;
      return result;
    }
    const Expr end = part();
    if (accept(":")) {
      result.step = part();
      if (accept(":")) result.tile = part();
    }
    const bool downwards = result.step.is_integer() && result.step.value() < 0;
    result.end = downwards ? end + 1 : end - 1;
    return result;
  }

  // `exact|approximate` stands for the exact value.
  Expr part() {
    if (is(":") || is(",") || peek().kind == TokenKind::kEnd) fail("a bound is missing before " + describe(peek()));
    const Expr exact = integer_conditional();
    if (accept("|")) integer_conditional();
    return exact;
  }

  Rational conditional() {
    const Nesting nesting(*this);
    Rational value = disjunction();
    if (!accept_word("if")) return value;
    const Expr condition = integer(disjunction());
    if (!accept_word("else")) fail("expected 'else' instead of " + describe(peek()));
    const Rational otherwise = conditional();
    return combine_scaled(value, otherwise, [&](const Expr& a, const Expr& b) { return select(condition, a, b); });
  }

  Rational disjunction() {
    Rational value = conjunction();
    while (accept_word("or") || accept("||")) {
      const Expr right = integer(conjunction());
      value = logical_or(integer(value), right);
    }
    return value;
  }

  Rational conjunction() {
    Rational value = negation();
    while (accept_word("and") || accept("&&")) {
      const Expr right = integer(negation());
      value = logical_and(integer(value), right);
    }
    return value;
  }

  Rational negation() {
    if (accept_word("not") || accept("!")) {
      const Nesting nesting(*this);
      return logical_not(integer(negation()));
    }
    return comparison();
  }

  std::optional<std::string_view> comparison_operator() {
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (accept(op)) return op;
    }
    if (accept_word("is")) return accept_word("not") ? "is not" : "is";
    return std::nullopt;
  }

  // Chains mean what they mean in Python: a < b < c is a < b and b < c.
  Rational comparison() {
    Rational left = bitwise_or();
    std::optional<Expr> all;
    while (const auto op = comparison_operator()) {
      const Rational right = bitwise_or();
      const Expr single = compared(*op, left, right);
      all = all ? logical_and(*all, single) : single;
      left = right;
    }
    if (all) return *all;
    return left;
  }

  Expr compared(std::string_view op, const Rational& a, const Rational& b) const {
    if (op == "is" || op == "is not") return Expr::call(op == "is" ? "Is" : "IsNot", {integer(a), integer(b)});
    const std::optional<std::pair<Expr, Expr>> sides = a.over_common_denominator(b);
    if (!sides) fail("fractions with symbolic denominators can't be compared");
    const auto& [x, y] = *sides;
    if (op == "==") return eq(x, y);
    if (op == "!=") return ne(x, y);
    if (op == "<=") return le(x, y);
    if (op == ">=") return ge(x, y);
    if (op == "<") return lt(x, y);
    return gt(x, y);
  }

  Rational bitwise_or() {
    Rational value = bitwise_xor();
    while (!(bar_ == BarMeaning::kApproximation && brackets_ == 0) && accept("|")) {
      value = bit_or(integer(value), integer(bitwise_xor()));
    }
    return value;
  }

  Rational bitwise_xor() {
    Rational value = bitwise_and();
    while (accept("^")) value = bit_xor(integer(value), integer(bitwise_and()));
    return value;
  }

  Rational bitwise_and() {
    Rational value = shift();
    while (accept("&")) value = bit_and(integer(value), integer(shift()));
    return value;
  }

  Rational shift() {
    Rational value = additive();
    while (true) {
      if (accept("<<")) {
        value = shift_left(integer(value), integer(additive()));
      } else if (accept(">>")) {
        value = shift_right(integer(value), integer(additive()));
      } else {
        return value;
      }
    }
  }

  Rational additive() {
    Rational value = multiplicative();
    while (true) {
      if (accept("+")) {
        value = value + multiplicative();
      } else if (accept("-")) {
        value = value + multiplicative().negated();
      } else {
        return value;
      }
    }
  }

  Rational multiplicative() {
    Rational value = unary();
    while (true) {
      if (accept("*")) {
        value = value * unary();
      } else if (accept("//")) {
        value = floor_of(value / unary_divisor());
      } else if (accept("/")) {
        value = value / unary_divisor();
      } else if (accept("%")) {
        const Expr left = integer(value);
        value = mod(left, integer(unary_divisor()));
      } else {
        return value;
      }
    }
  }

  Rational unary_divisor() {
    const std::size_t column = peek().column;
    Rational divisor = unary();
    if (divisor.numerator.is_zero()) fail_at(column, "division by zero");
    return divisor;
  }

  Rational unary() {
    if (accept("-")) {
      const Nesting nesting(*this);
      return unary().negated();
    }
    if (accept("+")) {
      const Nesting nesting(*this);
      return unary();
    }
    if (accept("~")) {
      const Nesting nesting(*this);
      return inverted(integer(unary()));
    }
    return power();
  }

  // The typed syntax prints logical negation as `~`.
  Expr inverted(const Expr& operand) const {
    if (options_.typed && (operand.is_boolean_valued() || is_boolean_symbol(operand))) return logical_not(operand);
    return bit_not(operand);
  }

  bool is_boolean_symbol(const Expr& e) const {
    return e.kind() == Kind::kSymbol && boolean_symbols_.contains(e.name());
  }

  Rational power() {
    const Rational base = primary();
    if (!accept("**")) return base;
    const Nesting nesting(*this);
    const Expr exponent = integer(unary());
    return raised(base, exponent);
  }

  Rational raised(const Rational& base, const Expr& exponent) const {
    if (exponent.is_integer() && exponent.value() < 0) {
      if (base.numerator.is_zero()) fail("0 is raised to a negative power");
      const Expr positive = -exponent;
      return Rational(pow(base.denominator, positive)) / Rational(pow(base.numerator, positive));
    }
    if (base.denominator.is_one()) return pow(base.numerator, exponent);
    return Rational(pow(base.numerator, exponent)) / Rational(pow(base.denominator, exponent));
  }

  Rational primary() {
    const Token token = peek();
    switch (token.kind) {
      case TokenKind::kNumber: next(); return number(token);
      case TokenKind::kName: next(); return named(token);
      case TokenKind::kSymbol: next(); return subscripted(token, symbol(token, {}));
      case TokenKind::kOperator:
        if (accept("(")) {
          const Nesting nesting(*this);
          ++brackets_;
          Rational value = conditional();
          --brackets_;
          expect(")");
          return value;
        }
        fail("expected an expression instead of " + describe(token));
      case TokenKind::kEnd: fail("expected an expression instead of the end of the text");
    }
    fail("expected an expression");
  }

  Rational number(const Token& token) const {
    const std::optional<std::int64_t> value = integer_literal(token.text);
    if (!value) fail_at(token.column, "'" + std::string(token.text) + "' is not a 64-bit integer");
    return Expr(*value);
  }

  Expr symbol(const Token& token, std::string_view dtype) {
    const std::string name(token.text.starts_with("$") ? token.text.substr(1) : token.text);
    if (name == "?") fail_at(token.column, "the symbol is undefined ('$?')");
    if (!dtype.empty()) {
      if (is_one_of(kBooleanTypes, type_name(dtype))) boolean_symbols_.insert(name);
      if (options_.on_symbol_type) options_.on_symbol_type(name, std::string(type_name(dtype)));
    } else if (options_.typed && options_.on_symbol_type) {
      options_.on_symbol_type(name, "int32");
    }
    return Expr::symbol(name);
  }

  // `$A[i]`: a subscript after a symbol is a read.
  Rational subscripted(const Token& token, const Expr& plain) {
    if (!is("[")) return plain;
    return Expr::read(std::string(token.text.starts_with("$") ? token.text.substr(1) : token.text), subscript());
  }

  std::vector<Expr> subscript() {
    const Nesting nesting(*this);
    expect("[");
    ++brackets_;
    std::vector<Expr> indices;
    if (!is("]")) {
      indices.push_back(integer_conditional());
      while (accept(",")) {
        if (is("]")) break;
        indices.push_back(integer_conditional());
      }
    }
    --brackets_;
    if (is(":")) fail("a range can't be read as a value");
    expect("]");
    return indices;
  }

  // Names with their member parts: `st.x`, `dace.int64`.
  Token path(const Token& first) {
    Token result = first;
    while (is(".") && peek(1).kind == TokenKind::kName) {
      next();
      const Token& member = next();
      result.text = text().substr(first.column, member.column + member.text.size() - first.column);
    }
    return result;
  }

  bool is_container(std::string_view name) const { return is_container_ && is_container_(name); }

  Rational named(const Token& first) {
    if (first.text == "True" || first.text == "true") return Expr::boolean(true);
    if (first.text == "False" || first.text == "false") return Expr::boolean(false);
    if (first.text == "None" || first.text == "NoneSymbol" || first.text == "nullptr") return Expr::call("None", {});
    for (const std::string_view word : {"and", "or", "not", "if", "else", "is", "in", "lambda", "for"}) {
      if (first.text == word) fail_at(first.column, "expected an expression instead of '" + std::string(word) + "'");
    }
    const Token name = path(first);
    if (is("(")) return called(name);
    if (is("[")) return Expr::read(std::string(name.text), subscript());
    if (is_container(name.text)) return Expr::read(std::string(name.text), {});
    // In the plain syntax "I", "E" and "pi" are ordinary names: nothing tells a symbol from the constant.
    const bool plain_name = !options_.typed && (name.text == "I" || name.text == "E" || name.text == "pi");
    if (!plain_name && is_one_of(kNonIntegers, name.text)) {
      fail_at(name.column, "the constant '" + std::string(name.text) + "' is not an integer");
    }
    if (options_.typed) fail_at(name.column, "the name '" + std::string(name.text) + "' lacks the '$' of a symbol");
    return Expr::symbol(std::string(name.text));
  }

  Rational called(const Token& name) {
    const Nesting nesting(*this);
    expect("(");
    ++brackets_;
    const FunctionName* known = is_container(name.text) ? nullptr : find_function(name.text);
    Rational result;
    if (known != nullptr && known->function == Function::kSymbol) {
      result = typed_symbol();
    } else if (known != nullptr && known->function == Function::kSubscript) {
      result = subscript_call();
    } else if (known != nullptr && known->function == Function::kAttribute) {
      result = attribute_call();
    } else {
      result = plain_call(name, known);
    }
    --brackets_;
    expect(")");
    return result;
  }

  // symbol($N, dtype=dace.int64, positive=True): the assumptions are the symbol table's business, not the occurrence's.
  Rational typed_symbol() {
    const Token token = next();
    if (token.kind != TokenKind::kSymbol && token.kind != TokenKind::kName) {
      fail_at(token.column, "expected a symbol instead of " + describe(token));
    }
    std::string dtype;
    while (accept(",")) {
      const Token key = next();
      if (key.kind != TokenKind::kName)
        fail_at(key.column, "expected the name of an assumption instead of " + describe(key));
      expect("=");
      const Token value = next();
      if (value.kind != TokenKind::kName)
        fail_at(value.column, "expected a type or True instead of " + describe(value));
      const Token full = path(value);
      if (key.text == "dtype") dtype = full.text;
    }
    return symbol(token, dtype);
  }

  Token container_name() {
    const Token token = next();
    if (token.kind == TokenKind::kName) return path(token);
    if (token.kind == TokenKind::kSymbol) return {TokenKind::kName, token.text.substr(1), token.column + 1};
    fail_at(token.column, "expected the name of a container instead of " + describe(token));
  }

  Rational subscript_call() {
    const Token container = container_name();
    std::vector<Expr> indices;
    while (accept(",")) indices.push_back(integer_conditional());
    return Expr::read(std::string(container.text), std::move(indices));
  }

  Rational attribute_call() {
    const Token object = container_name();
    expect(",");
    const Token member = container_name();
    std::string name = std::string(object.text) + "." + std::string(member.text);
    if (options_.typed || is_container(name)) return Expr::read(std::move(name), {});
    return Expr::symbol(std::move(name));
  }

  Rational plain_call(const Token& name, const FunctionName* known) {
    std::vector<Rational> args;
    while (!is(")")) {
      args.push_back(conditional());
      if (!accept(",")) break;
    }
    if (known != nullptr) {
      if (known->arity >= 0 ? args.size() != static_cast<std::size_t>(known->arity) : args.empty()) {
        fail_at(name.column, "'" + std::string(name.text) + "' takes " +
                                 (known->arity >= 0 ? std::to_string(known->arity) : std::string("one or more")) +
                                 " arguments, not " + std::to_string(args.size()));
      }
      return applied(name, known->function, args);
    }
    const std::string_view type = type_name(name.text);
    if (args.size() == 1 && !is_container(name.text)) {
      if (is_one_of(kIntegerTypes, type)) return cast(args[0], type);
      if (is_one_of(kBooleanTypes, type)) return cast_to_boolean(args[0], type);
      if (is_one_of(kFloatTypes, type)) {
        const std::optional<Expr> value = args[0].integer();
        if (value && value->kind() == Kind::kSymbol) return cast(args[0], type);
        fail_at(name.column, "a value of type '" + std::string(type) + "' is not an integer");
      }
    }
    std::vector<Expr> exact;
    exact.reserve(args.size());
    for (const Rational& arg : args) exact.push_back(integer(arg));
    if (is_container(name.text)) return Expr::read(std::string(name.text), std::move(exact));
    return Expr::call(std::string(name.text), std::move(exact));
  }

  // A cast of a symbol retypes the symbol; any other cast to an integer type keeps the value.
  Rational cast(const Rational& value, std::string_view type) const {
    const std::optional<Expr> exact = value.integer();
    if (!exact) return value.truncated();
    if (exact->kind() == Kind::kSymbol && options_.on_symbol_type)
      options_.on_symbol_type(exact->name(), std::string(type));
    return *exact;
  }

  Rational cast_to_boolean(const Rational& value, std::string_view type) {
    const Expr exact = integer(value);
    if (exact.kind() == Kind::kSymbol) {
      boolean_symbols_.insert(exact.name());
      if (options_.on_symbol_type) options_.on_symbol_type(exact.name(), std::string(type));
      return exact;
    }
    return as_boolean(exact);
  }

  static Rational floor_of(const Rational& value) { return floor_div(value.numerator, value.denominator); }
  static Rational ceiling_of(const Rational& value) { return ceil_div(value.numerator, value.denominator); }

  template <typename Combine>
  Rational combine_scaled(const Rational& a, const Rational& b, const Combine& combine) const {
    if (a.denominator.is_one() && b.denominator.is_one()) return Rational(combine(a.numerator, b.numerator));
    const std::optional<std::pair<Expr, Expr>> sides = a.over_common_denominator(b);
    if (!sides) fail("fractions with symbolic denominators can't be combined here");
    return Rational(combine(sides->first, sides->second)) / Rational(a.common_denominator(b));
  }

  Rational folded(const std::vector<Rational>& args, Expr (*combine)(const Expr&, const Expr&)) const {
    Rational result = args[0];
    for (std::size_t i = 1; i < args.size(); ++i) result = combine_scaled(result, args[i], combine);
    return result;
  }

  Rational nonzero(const Token& name, const Rational& divisor) const {
    if (divisor.numerator.is_zero()) fail_at(name.column, "division by zero");
    return divisor;
  }

  Rational applied(const Token& name, Function function, const std::vector<Rational>& args) const {
    const auto exact = [&](std::size_t i) { return integer(args[i]); };
    switch (function) {
      case Function::kMin: return folded(args, min);
      case Function::kMax: return folded(args, max);
      case Function::kFloorDiv: return floor_of(args[0] / nonzero(name, args[1]));
      case Function::kCeilDiv: return ceiling_of(args[0] / nonzero(name, args[1]));
      case Function::kFloor: return floor_of(args[0]);
      case Function::kCeiling: return ceiling_of(args[0]);
      case Function::kMod: return mod(exact(0), integer(nonzero(name, args[1])));
      case Function::kAbs: return Rational(abs(args[0].numerator)) / Rational(abs(args[0].denominator));
      case Function::kAnd: return conjoined(args, logical_and);
      case Function::kOr: return conjoined(args, logical_or);
      case Function::kNot: return logical_not(exact(0));
      case Function::kEqual: return compared("==", args[0], args[1]);
      case Function::kNotEqual: return compared("!=", args[0], args[1]);
      case Function::kLess: return compared("<", args[0], args[1]);
      case Function::kLessEqual: return compared("<=", args[0], args[1]);
      case Function::kGreater: return compared(">", args[0], args[1]);
      case Function::kGreaterEqual: return compared(">=", args[0], args[1]);
      case Function::kSelect: {
        const Expr condition = exact(0);
        return combine_scaled(args[1], args[2], [&](const Expr& a, const Expr& b) { return select(condition, a, b); });
      }
      case Function::kBitAnd: return bit_and(exact(0), exact(1));
      case Function::kBitOr: return bit_or(exact(0), exact(1));
      case Function::kBitXor: return bit_xor(exact(0), exact(1));
      case Function::kBitNot: return bit_not(exact(0));
      case Function::kShiftLeft: return shift_left(exact(0), exact(1));
      case Function::kShiftRight: return shift_right(exact(0), exact(1));
      case Function::kPower: return raised(args[0], exact(1));
      case Function::kApproximated: return args[0];
      case Function::kSubscript:
      case Function::kAttribute:
      case Function::kSymbol: break;  // parsed by their own rules
    }
    fail_at(name.column, "'" + std::string(name.text) + "' can't be called here");
  }

  Rational conjoined(const std::vector<Rational>& args, Expr (*combine)(const Expr&, const Expr&)) const {
    Expr result = as_boolean(integer(args[0]));
    for (std::size_t i = 1; i < args.size(); ++i) result = combine(result, integer(args[i]));
    return result;
  }

  const ParseOptions& options_;
  const std::function<bool(std::string_view)>& is_container_;
  int depth_ = 0;
  int brackets_ = 0;
  BarMeaning bar_ = BarMeaning::kBitwiseOr;
  SymbolSet boolean_symbols_;
};

}  // namespace

Expr parse_python(std::string_view text, const ParseOptions& options,
                  const std::function<bool(std::string_view)>& is_container) {
  return Parser(text, options, is_container).whole_expression();
}

Subset parse_subset(std::string_view text, const ParseOptions& options,
                    const std::function<bool(std::string_view)>& is_container) {
  return Parser(text, options, is_container).whole_subset();
}

}  // namespace sdfg::symbolic
