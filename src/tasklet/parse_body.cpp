// Statements of the Python subset.
#include <algorithm>
#include <cctype>

#include "tasklet/fold.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/parse.hpp"

namespace sdfg::tasklet {

namespace {

std::optional<BinaryOp> update_operator(std::string_view token) {
  if (token == "+=") return BinaryOp::kAdd;
  if (token == "-=") return BinaryOp::kSub;
  if (token == "*=") return BinaryOp::kMul;
  if (token == "/=") return BinaryOp::kDiv;
  if (token == "//=") return BinaryOp::kFloorDiv;
  if (token == "%=") return BinaryOp::kMod;
  if (token == "**=") return BinaryOp::kPow;
  if (token == "&=") return BinaryOp::kBitAnd;
  if (token == "|=") return BinaryOp::kBitOr;
  if (token == "^=") return BinaryOp::kBitXor;
  if (token == "<<=") return BinaryOp::kShiftLeft;
  if (token == ">>=") return BinaryOp::kShiftRight;
  return std::nullopt;
}

class BodyParser : ExpressionParser {
 public:
  explicit BodyParser(std::string_view text) : ExpressionParser(text, false) {
    for (const Token& token : tokens_) {
      if (token.kind == TokenKind::kName) names_.emplace(token.text);
    }
  }

  Body run() {
    Body body;
    while (peek().kind != TokenKind::kEnd) {
      if (peek().kind == TokenKind::kIndent) fail(peek(), "unexpected indentation");
      parse_statement(body);
    }
    return body;
  }

 private:
  static constexpr int kMaxBlocks = 100;

  std::string fresh_name(const std::string& stem) {
    for (int i = 0;; ++i) {
      std::string name = "__" + stem + std::to_string(i);
      if (names_.insert(name).second) return name;
    }
  }

  static void add(Body& body, const Token& at, decltype(Statement::node) node) {
    body.push_back({std::move(node), at.line});
  }

  void end_statement() {
    if (accept_op(";")) {
      if (peek().kind == TokenKind::kNewline) next();
      return;
    }
    if (peek().kind == TokenKind::kNewline) {
      next();
      return;
    }
    if (peek().kind != TokenKind::kEnd && peek().kind != TokenKind::kDedent) {
      fail(peek(), "unexpected " + describe(peek()) + " after a statement");
    }
  }

  void parse_statement(Body& body) {
    const Token& at = peek();
    if (at.kind == TokenKind::kName) {
      if (at.text == "if") return parse_if(body);
      if (at.text == "while") return parse_while(body);
      if (at.text == "for") return parse_for(body);
      if (at.text == "elif" || at.text == "else") fail(at, "'" + std::string(at.text) + "' without a matching 'if'");
    }
    parse_simple_statement(body);
    end_statement();
  }

  Body parse_suite(std::string_view after) {
    expect_op(":", after);
    if (++blocks_ > kMaxBlocks) {
      throw Error(ErrorClass::kLimit, "Statements in line " + std::to_string(peek().line) + " are nested deeper than " +
                                          std::to_string(kMaxBlocks) + " levels.");
    }
    Body body;
    if (peek().kind != TokenKind::kNewline) {
      // Simple statements on the same line.
      while (true) {
        parse_simple_statement(body);
        if (!accept_op(";") || peek().kind == TokenKind::kNewline) break;
      }
      if (peek().kind == TokenKind::kNewline) {
        next();
      } else if (peek().kind != TokenKind::kEnd && peek().kind != TokenKind::kDedent) {
        fail(peek(), "unexpected " + describe(peek()) + " after a statement");
      }
    } else {
      next();
      if (peek().kind != TokenKind::kIndent) fail(peek(), "expected an indented block after " + std::string(after));
      next();
      while (peek().kind != TokenKind::kDedent && peek().kind != TokenKind::kEnd) {
        if (peek().kind == TokenKind::kIndent) fail(peek(), "unexpected indentation");
        parse_statement(body);
      }
      if (peek().kind == TokenKind::kDedent) next();
    }
    --blocks_;
    return body;
  }

  void parse_if(Body& body) {
    const Token& at = next();
    If node;
    Expr condition = parse_test();
    Body suite = parse_suite("the condition");
    node.branches.push_back({std::move(condition), std::move(suite)});
    while (accept_word("elif")) {
      Expr other = parse_test();
      Body other_suite = parse_suite("the condition");
      node.branches.push_back({std::move(other), std::move(other_suite)});
    }
    if (accept_word("else")) node.branches.push_back({Expr::literal(true), parse_suite("'else'")});
    add(body, at, std::move(node));
  }

  void refuse_else(std::string_view loop) {
    if (is_word("else")) fail(peek(), "'else' after a '" + std::string(loop) + "' loop is not supported");
  }

  void parse_while(Body& body) {
    const Token& at = next();
    Expr condition = parse_test();
    ++loops_;
    Body suite = parse_suite("the condition");
    --loops_;
    refuse_else("while");
    add(body, at, While{std::move(condition), std::move(suite)});
  }

  // The counter moves on before the body, so that `continue` needs no special care; as in Python, the body cannot
  // change the range.
  void parse_for(Body& body) {
    const Token& at = next();
    const Token& variable = next();
    if (variable.kind != TokenKind::kName || is_keyword(variable.text))
      fail(variable, "expected a loop variable, found " + describe(variable));
    if (!accept_word("in")) fail(peek(), "expected 'in' after the loop variable, found " + describe(peek()));
    const Token& iterable = peek();
    Expr call = parse_test();
    const auto* range = std::get_if<ExternalCall>(&call.node());
    if (range == nullptr || range->callee != "range" || range->args.empty() || range->args.size() > 3) {
      fail(iterable, "a 'for' loop can only iterate over range(...)");
    }
    Expr begin = range->args.size() == 1 ? Expr::weak(0) : range->args[0];
    Expr end = range->args.size() == 1 ? range->args[0] : range->args[1];
    Expr step = range->args.size() == 3 ? range->args[2] : Expr::weak(1);
    const std::string counter = fresh_name("range");
    add(body, at, Assign{Expr::name(counter), begin});
    const auto once = [&](Expr& value, const std::string& stem) {
      if (std::holds_alternative<Literal>(value.node())) return;
      const std::string name = fresh_name(stem);
      add(body, at, Assign{Expr::name(name), value});
      value = Expr::name(name);
    };
    once(end, "stop");
    once(step, "step");
    Expr up = Expr::binary(BinaryOp::kLess, Expr::name(counter), end);
    Expr down = Expr::binary(BinaryOp::kGreater, Expr::name(counter), end);
    Expr condition = up;
    if (const std::optional<std::int64_t> literal = integer_literal(step)) {
      if (*literal == 0) fail(iterable, "the step of range(...) must not be zero");
      if (*literal < 0) condition = down;
    } else {
      condition = Expr::select(Expr::binary(BinaryOp::kGreater, step, Expr::weak(0)), up, down);
    }
    ++loops_;
    Body suite;
    add(suite, at, Assign{Expr(Name{std::string(variable.text)}, {}, variable.column), Expr::name(counter)});
    add(suite, at, Update{Expr::name(counter), BinaryOp::kAdd, step});
    Body inner = parse_suite("range(...)");
    --loops_;
    refuse_else("for");
    std::move(inner.begin(), inner.end(), std::back_inserter(suite));
    add(body, at, While{std::move(condition), std::move(suite)});
  }

  void parse_simple_statement(Body& body) {
    const Token& at = peek();
    if (at.kind == TokenKind::kString) {  // a documentation string
      next();
      return;
    }
    if (at.kind == TokenKind::kName) {
      if (accept_word("pass")) return;
      if (at.text == "break" || at.text == "continue") {
        next();
        if (loops_ == 0) fail(at, "'" + std::string(at.text) + "' outside a loop");
        if (at.text == "break") return add(body, at, Break{});
        return add(body, at, Continue{});
      }
      static constexpr std::string_view kRefused[] = {"return", "def",      "class", "import", "from",
                                                      "global", "nonlocal", "del",   "assert", "raise",
                                                      "try",    "with",     "yield", "async",  "await"};
      if (std::find(std::begin(kRefused), std::end(kRefused), at.text) != std::end(kRefused)) {
        fail(at, "the statement '" + std::string(at.text) + "' is not supported in scalar code");
      }
    }
    parse_assignment(body);
  }

  std::vector<Expr> parse_list() {
    std::vector<Expr> list;
    const bool open = is_op("(") && closes_as_tuple();
    if (open) next();
    list.push_back(parse_test());
    while (accept_op(",")) {
      if (is_op("=") || is_op(")") || peek().kind == TokenKind::kNewline) break;
      list.push_back(parse_test());
    }
    if (open) expect_op(")", "a tuple");
    return list;
  }

  // Whether the parenthesis here encloses a tuple.
  bool closes_as_tuple() const {
    int depth = 0;
    for (std::size_t i = 0; peek(i).kind != TokenKind::kEnd; ++i) {
      if (is_op("(", i) || is_op("[", i)) ++depth;
      if (is_op(")", i) || is_op("]", i)) --depth;
      if (depth == 1 && is_op(",", i)) return true;
      if (depth == 0) return false;
    }
    return false;
  }

  void check_target(const Expr& target, const Token& at) const {
    const bool name = std::holds_alternative<Name>(target.node());
    if (!name && !std::holds_alternative<Subscript>(target.node()))
      fail(at, "only names and subscripts can be assigned to");
    if (name && std::get<Name>(target.node()).name == "None") fail(at, "'None' cannot be assigned to");
  }

  void parse_assignment(Body& body) {
    const Token& at = peek();
    std::vector<std::vector<Expr>> sides{parse_list()};
    if (peek().kind == TokenKind::kOperator) {
      if (const std::optional<BinaryOp> op = update_operator(peek().text)) {
        if (sides[0].size() != 1) fail(at, "only one target can be updated");
        check_target(sides[0][0], at);
        next();
        Expr value = parse_test();
        return add(body, at, Update{sides[0][0], *op, std::move(value)});
      }
    }
    if (sides[0].size() == 1 && accept_op(":")) return parse_annotated(body, sides[0][0], at);
    while (accept_op("=")) sides.push_back(parse_list());
    if (sides.size() == 1) {
      if (sides[0].size() != 1) fail(at, "tuples are not supported in scalar code");
      return add(body, at, Evaluate{std::move(sides[0][0])});
    }
    assign_all(body, sides, at);
  }

  void parse_annotated(Body& body, const Expr& target, const Token& at) {
    check_target(target, at);
    const Token& annotation = peek();
    const Expr type_name = parse_test();
    if (!accept_op("=")) return;
    Expr value = parse_test();
    const Name* name = std::get_if<Name>(&type_name.node());
    const std::optional<Type> type = name == nullptr ? std::nullopt : cast_type_from_string(name->name);
    if (!type) fail(annotation, "the annotation of a variable must name a basic type");
    value = cast_literal(*type, value).value_or(Expr::cast(*type, value));
    add(body, at, Assign{target, std::move(value)});
  }

  // All values are read before anything is written; what that could change goes through hidden locals.
  void assign_all(Body& body, std::vector<std::vector<Expr>>& sides, const Token& at) {
    std::vector<Expr> values = std::move(sides.back());
    sides.pop_back();
    std::size_t targets = 0;
    for (const std::vector<Expr>& side : sides) {
      targets += side.size();
      if (side.size() != values.size()) {
        fail(at, std::to_string(values.size()) + " values cannot be assigned to " + std::to_string(side.size()) +
                     " targets");
      }
      for (const Expr& target : side) check_target(target, at);
    }
    if (targets > 1) {
      for (Expr& value : values) {
        if (std::holds_alternative<Literal>(value.node())) continue;
        const std::string name = fresh_name("value");
        add(body, at, Assign{Expr::name(name), value});
        value = Expr::name(name);
      }
    }
    for (const std::vector<Expr>& side : sides) {
      for (std::size_t i = 0; i < side.size(); ++i) add(body, at, Assign{side[i], values[i]});
    }
  }

  std::set<std::string, std::less<>> names_;
  int blocks_ = 0;
  int loops_ = 0;
};

}  // namespace

Body parse_body(std::string_view text) {
  return BodyParser(text).run();
}

}  // namespace sdfg::tasklet
