// Expressions of the Python subset: precedence, literals, calls of functions under all their spellings.
#include "tasklet/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "tasklet/fold.hpp"
#include "tasklet/functions.hpp"

namespace sdfg::tasklet {

namespace {

constexpr int kMaxNesting = 200;

// Named constants, also under the prefixes of modules. `pi` alone may be a variable, see inference.
std::optional<double> named_constant(std::string_view name) {
  if (name == "inf" || name == "nan")
    return name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  const std::string_view bare = without_module(name);
  if (bare == name) return std::nullopt;
  if (bare == "inf" || bare == "infty" || bare == "Inf") return std::numeric_limits<double>::infinity();
  if (bare == "nan" || bare == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (bare == "pi") return std::numbers::pi;
  if (bare == "e") return std::numbers::e;
  if (bare == "tau") return 2 * std::numbers::pi;
  return std::nullopt;
}

bool contains_external_call(const Expr& e) {
  if (std::holds_alternative<ExternalCall>(e.node())) return true;
  return std::any_of(e.children().begin(), e.children().end(), contains_external_call);
}

struct Level {
  std::array<std::pair<std::string_view, BinaryOp>, 5> ops;
  std::size_t count;
};
// Left-associative operators from weak to strong.
constexpr std::array<Level, 6> kLevels = {{
    {{{{"|", BinaryOp::kBitOr}}}, 1},
    {{{{"^", BinaryOp::kBitXor}}}, 1},
    {{{{"&", BinaryOp::kBitAnd}}}, 1},
    {{{{"<<", BinaryOp::kShiftLeft}, {">>", BinaryOp::kShiftRight}}}, 2},
    {{{{"+", BinaryOp::kAdd}, {"-", BinaryOp::kSub}}}, 2},
    {{{{"*", BinaryOp::kMul}, {"/", BinaryOp::kDiv}, {"//", BinaryOp::kFloorDiv}, {"%", BinaryOp::kMod}}}, 4},
}};

std::optional<BinaryOp> comparison_from(std::string_view op) {
  if (op == "==") return BinaryOp::kEqual;
  if (op == "!=" || op == "<>") return BinaryOp::kNotEqual;
  if (op == "<") return BinaryOp::kLess;
  if (op == "<=") return BinaryOp::kLessEqual;
  if (op == ">") return BinaryOp::kGreater;
  if (op == ">=") return BinaryOp::kGreaterEqual;
  return std::nullopt;
}

}  // namespace

// Bounds the recursion of the parser itself: brackets, unary operators and conditionals.
class ExpressionParser::Nesting {
 public:
  explicit Nesting(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.nesting_ > kMaxNesting) {
      const Token& at = parser_.peek();
      throw Error(ErrorClass::kLimit, "An expression in line " + std::to_string(at.line) + ", column " +
                                          std::to_string(at.column) + " is nested deeper than " +
                                          std::to_string(kMaxNesting) + " levels.");
    }
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --parser_.nesting_; }

 private:
  ExpressionParser& parser_;
};

bool ExpressionParser::is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 35> kKeywords = {
      "and", "or",     "not",     "if",   "else",   "elif",     "while",    "for",    "in",
      "is",  "True",   "False",   "None", "pass",   "break",    "continue", "lambda", "return",
      "def", "class",  "import",  "from", "global", "nonlocal", "del",      "assert", "raise",
      "try", "except", "finally", "with", "yield",  "async",    "await",    "as"};
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

std::string ExpressionParser::describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kName:
    case TokenKind::kNumber:
    case TokenKind::kString:
    case TokenKind::kOperator: return "'" + std::string(token.text) + "'";
    case TokenKind::kNewline: return "the end of the line";
    case TokenKind::kIndent: return "an indented line";
    case TokenKind::kDedent: return "the end of the block";
    case TokenKind::kEnd: return "the end of the text";
  }
  return {};
}

void ExpressionParser::expect_op(std::string_view op, std::string_view after) {
  if (accept_op(op)) return;
  fail(peek(), "expected '" + std::string(op) + "' after " + std::string(after) + ", found " + describe(peek()));
}

Expr ExpressionParser::build(Expr e, const Token& at) const {
  if (e.depth() > kMaxDepth) {
    throw Error(ErrorClass::kLimit, "An expression in line " + std::to_string(at.line) + " has more than " +
                                        std::to_string(kMaxDepth) + " nested operations.");
  }
  return e.column() != 0 ? e : e.with_column(at.column);
}

Expr ExpressionParser::parse_single() {
  if (peek().kind == TokenKind::kEnd) fail(peek(), "expected an expression, found nothing");
  Expr e = parse_test();
  if (peek().kind != TokenKind::kEnd) fail(peek(), "unexpected " + describe(peek()) + " after an expression");
  return e;
}

Lambda ExpressionParser::parse_single_lambda() {
  int open = 0;
  while (accept_op("(")) ++open;
  if (!accept_word("lambda")) fail(peek(), "expected 'lambda', found " + describe(peek()));
  Lambda lambda;
  while (!is_op(":")) {
    if (!lambda.parameters.empty()) expect_op(",", "a parameter");
    const Token& name = next();
    if (name.kind != TokenKind::kName || is_keyword(name.text))
      fail(name, "expected a parameter name, found " + describe(name));
    if (std::find(lambda.parameters.begin(), lambda.parameters.end(), name.text) != lambda.parameters.end()) {
      fail(name, "the parameter " + describe(name) + " occurs twice");
    }
    lambda.parameters.emplace_back(name.text);
  }
  expect_op(":", "the parameters");
  lambda.value = parse_test();
  while (open-- > 0) expect_op(")", "the lambda");
  if (peek().kind != TokenKind::kEnd) fail(peek(), "unexpected " + describe(peek()) + " after a lambda");
  return lambda;
}

Expr ExpressionParser::parse_test() {
  const Nesting nesting(*this);
  const Token& at = peek();
  if (is_word("lambda")) fail(at, "a lambda is not allowed here");
  Expr value = parse_or();
  if (!accept_word("if")) return value;
  Expr condition = parse_or();
  if (!accept_word("else")) fail(peek(), "expected 'else' after the condition, found " + describe(peek()));
  Expr otherwise = parse_test();
  return build(Expr::select(std::move(condition), std::move(value), std::move(otherwise)), at);
}

Expr ExpressionParser::parse_or() {
  const Token& at = peek();
  Expr e = parse_and();
  while (accept_word("or")) e = build(Expr::binary(BinaryOp::kOr, std::move(e), parse_and()), at);
  return e;
}

Expr ExpressionParser::parse_and() {
  const Token& at = peek();
  Expr e = parse_not();
  while (accept_word("and")) e = build(Expr::binary(BinaryOp::kAnd, std::move(e), parse_not()), at);
  return e;
}

Expr ExpressionParser::parse_not() {
  const Token& at = peek();
  if (!accept_word("not")) return parse_comparison();
  const Nesting nesting(*this);
  return build(Expr::unary(UnaryOp::kNot, parse_not()), at);
}

Expr ExpressionParser::parse_comparison() {
  const Token& at = peek();
  Expr left = parse_binary(0);
  std::optional<Expr> all;
  while (true) {
    const Token& op_token = peek();
    std::optional<BinaryOp> op;
    if (op_token.kind == TokenKind::kOperator) op = comparison_from(op_token.text);
    if (is_word("is")) op = is_word("not", 1) ? BinaryOp::kNotEqual : BinaryOp::kEqual;
    if (is_word("in") || (is_word("not") && is_word("in", 1)))
      fail(op_token, "membership tests with 'in' are not supported");
    if (!op) break;
    if (next().text == "is" && *op == BinaryOp::kNotEqual) next();
    Expr right = parse_binary(0);
    if (all && contains_external_call(left)) {
      fail(op_token, "a chained comparison would call its middle operand twice", "assign it to a local variable first");
    }
    Expr test = build(Expr::binary(*op, std::move(left), right), at);
    all = all ? build(Expr::binary(BinaryOp::kAnd, std::move(*all), std::move(test)), at) : std::move(test);
    left = std::move(right);
  }
  return all ? std::move(*all) : std::move(left);
}

Expr ExpressionParser::parse_binary(int level) {
  if (level == static_cast<int>(kLevels.size())) return parse_unary();
  const Token& at = peek();
  Expr left = parse_binary(level + 1);
  while (peek().kind == TokenKind::kOperator) {
    const Level& ops = kLevels[static_cast<std::size_t>(level)];
    const auto* found = std::find_if(ops.ops.begin(), ops.ops.begin() + ops.count,
                                     [&](const auto& op) { return op.first == peek().text; });
    if (found == ops.ops.begin() + ops.count) {
      if (level + 1 == static_cast<int>(kLevels.size()) && is_op("@"))
        fail(peek(), "the matrix product '@' is not defined for scalars");
      break;
    }
    next();
    Expr right = parse_binary(level + 1);
    left = build(Expr::binary(found->second, std::move(left), std::move(right)), at);
  }
  return left;
}

Expr ExpressionParser::parse_unary() {
  const Token& at = peek();
  if (accept_op("+")) {
    const Nesting nesting(*this);
    return parse_unary();
  }
  if (accept_op("-")) {
    const Nesting nesting(*this);
    Expr operand = parse_unary();
    if (const std::optional<Expr> negated = negate_literal(operand)) return negated->with_column(at.column);
    return build(Expr::unary(UnaryOp::kNegate, std::move(operand)), at);
  }
  if (accept_op("~")) {
    const Nesting nesting(*this);
    return build(Expr::unary(UnaryOp::kBitNot, parse_unary()), at);
  }
  return parse_power();
}

Expr ExpressionParser::parse_power() {
  const Token& at = peek();
  Expr base = parse_primary();
  if (!accept_op("**")) return base;
  const Nesting nesting(*this);
  return build(Expr::binary(BinaryOp::kPow, std::move(base), parse_unary()), at);
}

Expr ExpressionParser::parse_primary() {
  const Token& at = peek();
  Expr e = parse_atom();
  while (true) {
    if (is_op(".")) {
      next();
      const Token& attribute = next();
      if (attribute.text == "real" || attribute.text == "imag") {
        e = build(Expr::call(attribute.text == "real" ? Function::kReal : Function::kImag, {std::move(e)}), at);
      } else if ((attribute.text == "conj" || attribute.text == "conjugate") && is_op("(") && is_op(")", 1)) {
        next();
        next();
        e = build(Expr::call(Function::kConj, {std::move(e)}), at);
      } else {
        fail(attribute, "the attribute " + describe(attribute) + " of an expression is not supported");
      }
    } else if (is_op("[")) {
      fail(peek(), "only names can be subscripted");
    } else if (is_op("(")) {
      fail(peek(), "only names can be called");
    } else {
      return e;
    }
  }
}

Expr ExpressionParser::parse_atom() {
  const Token& at = next();
  switch (at.kind) {
    case TokenKind::kNumber: --at_; return parse_number();
    case TokenKind::kString: fail(at, "strings are not supported in scalar code");
    case TokenKind::kOperator:
      if (at.text == "(") {
        if (is_op(")")) fail(at, "tuples are not supported in scalar code");
        Expr e = parse_test();
        if (is_op(",")) fail(peek(), "tuples are not supported in scalar code");
        expect_op(")", "an expression in parentheses");
        return e;
      }
      break;
    case TokenKind::kName: {
      if (at.text == "True" || at.text == "False") return Expr::literal(at.text == "True").with_column(at.column);
      if (is_keyword(at.text) && at.text != "None") break;
      std::string name(at.text);
      while (is_op(".") && peek(1).kind == TokenKind::kName) {
        // `.conj()` of a name is the function; other attributes are part of a dotted name.
        const bool conjugates = (is_word("conj", 1) || is_word("conjugate", 1)) && is_op("(", 2) && is_op(")", 3);
        if (conjugates) break;
        next();
        name += '.';
        name += next().text;
      }
      if (is_op("(")) return parse_call(name, at);
      if (is_op("[")) return parse_subscripts(std::move(name), at);
      if (const std::optional<double> constant = named_constant(name))
        return Expr::literal(*constant).with_column(at.column);
      return Expr(Name{std::move(name)}, {}, at.column);
    }
    case TokenKind::kNewline:
    case TokenKind::kIndent:
    case TokenKind::kDedent:
    case TokenKind::kEnd: break;
  }
  fail(at, "expected an expression, found " + describe(at));
}

Expr ExpressionParser::parse_number() {
  const Token& at = next();
  std::string digits(at.text);
  // Underscores may stand between digits only.
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_' && (i + 1 == digits.size() || !std::isalnum(static_cast<unsigned char>(digits[i + 1])))) {
      fail(at, describe(at) + " is not a number");
    }
  }
  std::erase(digits, '_');
  const bool imaginary =
      !digits.starts_with("0x") && !digits.starts_with("0X") && (digits.back() == 'j' || digits.back() == 'J');
  if (imaginary) digits.pop_back();
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char prefix = static_cast<char>(digits[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : prefix == 'o' ? 8 : 10;
    if (base != 10) digits.erase(0, 2);
  }
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const bool floating = imaginary || (base == 10 && digits.find_first_of(".eE") != std::string::npos);
  if (floating) {
    double value = 0;
    const auto [stop, status] = std::from_chars(begin, end, value);
    if (stop != end || status == std::errc::invalid_argument) fail(at, describe(at) + " is not a number");
    if (status == std::errc::result_out_of_range) {
      // from_chars leaves the value alone; Python rounds to zero or infinity.
      value = std::strtod(digits.c_str(), nullptr);
    }
    if (imaginary) return Expr::literal(std::complex<double>(0, value)).with_column(at.column);
    return Expr::literal(value).with_column(at.column);
  }
  std::uint64_t value = 0;
  const auto [stop, status] = std::from_chars(begin, end, value, base);
  if (status == std::errc::result_out_of_range) fail(at, "the integer " + describe(at) + " needs more than 64 bits");
  if (stop != end || status != std::errc()) fail(at, describe(at) + " is not a number");
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return Expr(Literal{value, true}, {}, at.column);
  return Expr::weak(static_cast<std::int64_t>(value)).with_column(at.column);
}

std::vector<Expr> ExpressionParser::parse_arguments(const Token& at) {
  std::vector<Expr> args;
  expect_op("(", "a function name");
  while (!is_op(")")) {
    if (is_op("*") || is_op("**")) fail(peek(), "argument lists cannot be unpacked here");
    if (peek().kind == TokenKind::kName && is_op("=", 1))
      fail(peek(), "keyword arguments are not supported in scalar code");
    args.push_back(parse_test());
    if (!accept_op(",") && !is_op(")")) {
      fail(peek(), "expected ',' or ')' in the arguments of " + describe(at) + ", found " + describe(peek()));
    }
  }
  next();
  return args;
}

Expr ExpressionParser::parse_subscripts(std::string base, const Token& at) {
  std::vector<Expr> indices;
  while (accept_op("[")) {  // A[i][j] is A[i, j], as in NumPy
    if (is_op("]")) fail(peek(), "expected an index, found ']'");
    while (!is_op("]")) {
      const bool parenthesised = is_op("(") && [&] {  // A[(i, j)]
        int depth = 0;
        for (std::size_t i = 0; peek(i).kind != TokenKind::kEnd; ++i) {
          if (is_op("(", i) || is_op("[", i)) ++depth;
          if (is_op(")", i) || is_op("]", i)) --depth;
          if (depth == 0) return false;
          if (depth == 1 && is_op(",", i)) return true;
        }
        return false;
      }();
      if (parenthesised) {
        next();
        while (!is_op(")")) {
          indices.push_back(parse_test());
          if (!accept_op(",")) break;
        }
        expect_op(")", "the indices");
        continue;
      }
      if (is_op(":")) fail(peek(), "ranges are not allowed in subscripts of scalar code");
      indices.push_back(parse_test());
      if (is_op(":")) fail(peek(), "ranges are not allowed in subscripts of scalar code");
      if (!accept_op(",") && !is_op("]")) fail(peek(), "expected ',' or ']' in a subscript, found " + describe(peek()));
    }
    next();
  }
  return build(Expr(Subscript{std::move(base), std::move(indices)}), at);
}

Expr ExpressionParser::parse_call(const std::string& callee, const Token& at) {
  std::vector<Expr> args = parse_arguments(at);
  const std::string_view bare = without_module(callee);
  const auto expect_count = [&](std::size_t count) {
    if (args.size() != count) {
      fail(at, "'" + callee + "' takes " + std::to_string(count) + " arguments, not " + std::to_string(args.size()));
    }
  };
  if (const std::optional<Type> type = cast_type_from_string(callee)) {
    if (args.empty()) return cast_literal(*type, Expr::weak(0)).value_or(Expr::literal(false)).with_column(at.column);
    if (args.size() == 2 && is_complex(type->scalar())) {
      const std::optional<Expr> re = cast_literal(component_of(type->scalar()), args[0]);
      const std::optional<Expr> im = cast_literal(component_of(type->scalar()), args[1]);
      if (re && im) {
        const std::complex<double> value(std::get<double>(std::get<Literal>(re->node()).value),
                                         std::get<double>(std::get<Literal>(im->node()).value));
        return Expr::literal(value, type->scalar()).with_column(at.column);
      }
      return build(Expr::cast(*type, build(Expr::call(Function::kMakeComplex, std::move(args)), at)), at);
    }
    expect_count(1);
    if (const std::optional<Expr> folded = cast_literal(*type, args[0])) return folded->with_column(at.column);
    return build(Expr::cast(*type, std::move(args[0])), at);
  }
  if (const std::optional<BinaryOp> op = operator_from_function(callee)) {
    const bool any_count = is_logical(*op) || *op == BinaryOp::kBitAnd || *op == BinaryOp::kBitOr ||
                           *op == BinaryOp::kBitXor || *op == BinaryOp::kAdd || *op == BinaryOp::kMul;
    if (!any_count || args.size() < 2) expect_count(2);
    Expr e = std::move(args[0]);
    for (std::size_t i = 1; i < args.size(); ++i) e = build(Expr::binary(*op, std::move(e), std::move(args[i])), at);
    return e;
  }
  if (bare == "Not" || bare == "NOT" || bare == "logical_not") {
    expect_count(1);
    return build(Expr::unary(UnaryOp::kNot, std::move(args[0])), at);
  }
  if (bare == "bitwise_not" || bare == "bitwise_invert" || bare == "invert" || bare == "BitwiseNot" ||
      bare == "BitwiseInvert" || bare == "__bitwise_invert") {
    expect_count(1);
    return build(Expr::unary(UnaryOp::kBitNot, std::move(args[0])), at);
  }
  if (bare == "IfExpr" || bare == "ITE" || bare == "where") {
    expect_count(3);
    return build(Expr::select(std::move(args[0]), std::move(args[1]), std::move(args[2])), at);
  }
  if (bare == "Is" || bare == "IsNot") {
    expect_count(2);
    return build(
        Expr::binary(bare == "Is" ? BinaryOp::kEqual : BinaryOp::kNotEqual, std::move(args[0]), std::move(args[1])),
        at);
  }
  if (bare == "SymExpr" && (args.size() == 1 || args.size() == 2)) return args[0];
  if (const std::optional<Function> function = function_from_string(callee)) {
    if (*function == Function::kMin || *function == Function::kMax) {
      if (args.empty()) expect_count(2);
      Expr e = std::move(args[0]);
      for (std::size_t i = 1; i < args.size(); ++i)
        e = build(Expr::call(*function, {std::move(e), std::move(args[i])}), at);
      return e;
    }
    const FunctionInfo& info = info_of(*function);
    if (static_cast<int>(args.size()) < info.min_args || static_cast<int>(args.size()) > info.max_args) {
      fail(at, "'" + callee + "' takes " + std::to_string(info.min_args) +
                   (info.max_args != info.min_args ? " to " + std::to_string(info.max_args) : "") + " arguments, not " +
                   std::to_string(args.size()));
    }
    return build(Expr::call(*function, std::move(args)), at);
  }
  return build(Expr(ExternalCall{callee, std::move(args)}), at);
}

Expr parse_expression(std::string_view text) {
  return ExpressionParser(text, true).parse_single();
}
Lambda parse_lambda(std::string_view text) {
  return ExpressionParser(text, true).parse_single_lambda();
}

}  // namespace sdfg::tasklet
