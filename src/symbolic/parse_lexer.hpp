// Tokens of expression text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sdfg/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg::symbolic {

enum class TokenKind : std::uint8_t { kNumber, kName, kSymbol, kOperator, kEnd };

// `text` refers into the parsed text; a kSymbol includes its '$'.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::size_t column = 0;  // from 0
};

// Ends with a kEnd token. Throws Error(kGraph) at a character that starts no token.
std::vector<Token> tokenize(std::string_view text);

// The value of `12`, `0x1F`, `1_000`, `2.0`, `3i64`, `2u8`: nothing when it is no integer or does not fit.
std::optional<std::int64_t> integer_literal(std::string_view text);

[[noreturn]] void throw_parse_error(std::string_view text, std::size_t column, const std::string& what,
                                    ErrorClass error_class = ErrorClass::kGraph);

// Walks the tokens of a text.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  [[noreturn]] void fail(const std::string& what) const { fail_at(peek().column, what); }
  [[noreturn]] void fail_at(std::size_t column, const std::string& what,
                            ErrorClass error_class = ErrorClass::kGraph) const {
    throw_parse_error(text_, column, what, error_class);
  }

  static std::string describe(const Token& token) {
    return token.kind == TokenKind::kEnd ? std::string("end of the text") : "'" + std::string(token.text) + "'";
  }

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is(std::string_view text) const { return peek().kind == TokenKind::kOperator && peek().text == text; }
  bool is_word(std::string_view text) const { return peek().kind == TokenKind::kName && peek().text == text; }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
  }
  bool accept_word(std::string_view text) {
    if (!is_word(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "' instead of " + describe(peek()));
  }

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace sdfg::symbolic
