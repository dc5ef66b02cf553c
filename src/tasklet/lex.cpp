// The tokenizer of the Python subset.
#include "tasklet/lex.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sdfg::tasklet {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Bytes of multi-byte UTF-8 characters count as letters, as nearly all do in Python.
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) {
  return starts_name(c) || is_digit(c);
}

constexpr std::array<std::string_view, 24> kLongOperators = {"**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>",
                                                             "==",  "!=",  "<=",  ">=",  "+=", "-=", "*=", "/=",
                                                             "%=",  "&=",  "|=",  "^=",  "->", ":=", "@=", "<>"};

class Lexer {
 public:
  Lexer(std::string_view text, bool one_expression) : text_(text), one_expression_(one_expression) {}

  std::vector<Token> run() {
    while (!at_end()) {
      if (line_start_ && brackets_.empty() && !one_expression_) {
        if (!read_indentation()) continue;
      }
      read_token();
    }
    if (!brackets_.empty()) {
      throw_syntax(text_, brackets_.back().line, brackets_.back().column,
                   "'" + std::string(brackets_.back().text) + "' is never closed");
    }
    if (!one_expression_) {
      end_line();
      for (std::size_t i = 1; i < indents_.size(); ++i) push(TokenKind::kDedent, 0);
    }
    push(TokenKind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::uint32_t column() const { return static_cast<std::uint32_t>(at_ - line_begin_ + 1); }

  void push(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(std::min(at_, text_.size()), length), line_, column()});
    at_ += length;
  }
  [[noreturn]] void fail(const std::string& message, std::string hint = {}) const {
    throw_syntax(text_, line_, column(), message, std::move(hint));
  }
  void next_line() {
    ++at_;
    ++line_;
    line_begin_ = at_;
  }
  void end_line() {
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::kNewline && tokens_.back().kind != TokenKind::kDedent &&
        tokens_.back().kind != TokenKind::kIndent) {
      push(TokenKind::kNewline, 0);
    }
    line_start_ = true;
  }

  // False when the line has no code.
  bool read_indentation() {
    int width = 0;
    while (peek() == ' ' || peek() == '\t' || peek() == '\f') {
      width = peek() == '\t' ? (width / 8 + 1) * 8 : width + 1;
      ++at_;
    }
    if (peek() == '#') skip_comment();
    if (peek() == '\r') ++at_;
    if (at_end()) return false;
    if (peek() == '\n') {
      next_line();
      return false;
    }
    line_start_ = false;
    if (indents_.empty()) {
      indents_.push_back(width);
    } else if (width > indents_.back()) {
      indents_.push_back(width);
      push(TokenKind::kIndent, 0);
    } else {
      while (indents_.size() > 1 && width < indents_.back()) {
        indents_.pop_back();
        push(TokenKind::kDedent, 0);
      }
      if (width != indents_.back()) fail("the indentation of this line matches no enclosing block");
    }
    return true;
  }

  void skip_comment() {
    while (!at_end() && peek() != '\n') ++at_;
  }

  void read_token() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '\n') {
      if (brackets_.empty() && !one_expression_) end_line();
      next_line();
    } else if (c == '#') {
      skip_comment();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\r' ? 2 : 1;
      next_line();
    } else if (starts_name(c)) {
      std::size_t length = 1;
      while (continues_name(peek(length))) ++length;
      push(TokenKind::kName, length);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      read_number();
    } else if (c == '"' || c == '\'') {
      read_string();
    } else {
      read_operator();
    }
  }

  void read_number() {
    std::size_t length = 1;
    const bool prefixed =
        peek() == '0' && std::string_view("xXbBoO").find(peek(1)) != std::string_view::npos && peek(1) != '\0';
    while (true) {
      const char c = peek(length);
      const char before = peek(length - 1);
      const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && !prefixed;
      if (!continues_name(c) && c != '.' && !exponent_sign) break;
      ++length;
    }
    push(TokenKind::kNumber, length);
  }

  void read_string() {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::string_view close = text_.substr(at_, triple ? 3 : 1);
    std::size_t length = close.size();
    std::uint32_t lines = 0;
    std::size_t begin = line_begin_;
    while (text_.substr(std::min(at_ + length, text_.size()), close.size()) != close) {
      if (at_ + length >= text_.size() || (!triple && peek(length) == '\n')) fail("this string is never closed");
      if (peek(length) == '\\') ++length;
      if (peek(length) == '\n') {
        ++lines;
        begin = at_ + length + 1;
      }
      ++length;
    }
    push(TokenKind::kString, length + close.size());
    line_ += lines;
    line_begin_ = begin;
  }

  void read_operator() {
    const char c = peek();
    for (const std::string_view op : kLongOperators) {
      if (text_.substr(at_, op.size()) == op) return push(TokenKind::kOperator, op.size());
    }
    if (std::string_view("+-*/%@&|^~<>()[]{},:.;=").find(c) == std::string_view::npos) {
      fail("unexpected character '" + std::string(1, c) + "'");
    }
    push(TokenKind::kOperator, 1);
    if (c == '(' || c == '[' || c == '{') {
      brackets_.push_back(tokens_.back());
    } else if (c == ')' || c == ']' || c == '}') {
      const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (brackets_.empty() || brackets_.back().text[0] != open) {
        throw_syntax(text_, tokens_.back().line, tokens_.back().column, "'" + std::string(1, c) + "' closes nothing");
      }
      brackets_.pop_back();
    }
  }

  std::string_view text_;
  bool one_expression_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  bool line_start_ = true;
  std::vector<int> indents_;
  std::vector<Token> brackets_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, bool one_expression) {
  return Lexer(text, one_expression).run();
}

void throw_syntax(std::string_view text, std::uint32_t line, std::uint32_t column, const std::string& message,
                  std::string hint) {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < line && begin != std::string_view::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  std::string source(begin == std::string_view::npos ? std::string_view() : text.substr(begin));
  source = source.substr(0, source.find('\n'));
  if (source.size() > 160) source = source.substr(0, 157) + "...";
  throw Error(ErrorClass::kGraph,
              "In the code '" + source + "' (line " + std::to_string(line) + ", column " + std::to_string(column) +
                  "): " + message + ".",
              {}, std::move(hint));
}

}  // namespace sdfg::tasklet
