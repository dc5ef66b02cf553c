// The recursive-descent parser of Python expressions; the statement parser builds on it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tasklet/code.hpp"
#include "tasklet/lex.hpp"

namespace sdfg::tasklet {

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, bool one_expression) : text_(text), tokens_(tokenize(text, one_expression)) {}

  Expr parse_single();           // the whole text
  Lambda parse_single_lambda();  // the whole text

 protected:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is_op(std::string_view op, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kOperator && peek(ahead).text == op;
  }
  bool is_word(std::string_view word, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kName && peek(ahead).text == word;
  }
  bool accept_op(std::string_view op) { return is_op(op) && (next(), true); }
  bool accept_word(std::string_view word) { return is_word(word) && (next(), true); }
  void expect_op(std::string_view op, std::string_view after);
  [[noreturn]] void fail(const Token& at, const std::string& message, std::string hint = {}) const {
    throw_syntax(text_, at.line, at.column, message, std::move(hint));
  }

  Expr parse_test();  // any expression
  static bool is_keyword(std::string_view word);
  static std::string describe(const Token& token);

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;

 private:
  class Nesting;
  Expr parse_or();
  Expr parse_and();
  Expr parse_not();
  Expr parse_comparison();
  Expr parse_binary(int level);
  Expr parse_unary();
  Expr parse_power();
  Expr parse_primary();
  Expr parse_atom();
  Expr parse_number();
  Expr parse_call(const std::string& callee, const Token& at);
  Expr parse_subscripts(std::string base, const Token& at);
  std::vector<Expr> parse_arguments(const Token& at);
  Expr build(Expr e, const Token& at) const;  // sets the column and checks the depth

  int nesting_ = 0;
};

}  // namespace sdfg::tasklet
