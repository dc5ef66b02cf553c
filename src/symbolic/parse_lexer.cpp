// Splits expression text into tokens.
#include "symbolic/parse_lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sdfg/error.hpp>

namespace sdfg::symbolic {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

// Longer operators first.
constexpr std::array<std::string_view, 33> kOperators = {
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">",
    "(",  ")",  "[",  "]",  ",",  ":",  ".",  "&",  "|",  "^",  "~", "!", "=", ";", "{", "}"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 2 + 1);
    while (true) {
      while (at_ < text_.size() &&
             (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ == text_.size()) break;
      tokens.push_back(one());
    }
    tokens.push_back({TokenKind::kEnd, {}, text_.size()});
    return tokens;
  }

 private:
  Token one() {
    const std::size_t start = at_;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      skip_number();
      return token(TokenKind::kNumber, start);
    }
    if (is_name_start(c)) {
      skip_name();
      return token(TokenKind::kName, start);
    }
    if (c == '$') {
      ++at_;
      if (at_ < text_.size() && text_[at_] == '?') {
        ++at_;
      } else {
        if (at_ == text_.size() || !is_name_start(text_[at_]))
          throw_parse_error(text_, start, "'$' is not followed by a name");
        skip_name();
      }
      return token(TokenKind::kSymbol, start);
    }
    for (const std::string_view op : kOperators) {
      if (text_.substr(at_).starts_with(op)) {
        at_ += op.size();
        return token(TokenKind::kOperator, start);
      }
    }
    throw_parse_error(text_, start, "unexpected character '" + std::string(1, c) + "'");
  }

  Token token(TokenKind kind, std::size_t start) const { return {kind, text_.substr(start, at_ - start), start}; }

  void skip_name() {
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
  }

  // Digits, a fraction, an exponent with sign, and any letters of a type suffix.
  void skip_number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign =
          (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && is_exponent();
      if (!is_name_part(c) && c != '.' && !exponent_sign) return;
      ++at_;
    }
  }

  // Was everything before the current sign a decimal number ending in 'e', as in `1e` of `1e-3`?
  bool is_exponent() const {
    std::size_t i = at_ - 1;
    while (i > 0 && (is_digit(text_[i - 1]) || text_[i - 1] == '.')) --i;
    return i < at_ - 1 && (i == 0 || !is_name_part(text_[i - 1])) && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Lexer(text).all();
}

std::optional<std::int64_t> integer_literal(std::string_view text) {
  std::string digits;
  digits.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  int base = 10;
  std::string_view rest = digits;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    base = 16;
    rest.remove_prefix(2);
  } else if (rest.starts_with("0b") || rest.starts_with("0B")) {
    base = 2;
    rest.remove_prefix(2);
  } else if (rest.starts_with("0o") || rest.starts_with("0O")) {
    base = 8;
    rest.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  // A zero fraction leaves an integer: `2.0`, `2.`
  if (base == 10 && rest.starts_with(".")) {
    rest.remove_prefix(1);
    while (rest.starts_with("0")) rest.remove_prefix(1);
  }
  constexpr std::array<std::string_view, 22> kSuffixes = {"",    "i8",  "i16",  "i32", "i64", "u8", "u16", "u32",
                                                          "u64", "f16", "bf16", "f32", "f64", "L",  "l",   "LL",
                                                          "ll",  "U",   "u",    "UL",  "ULL", "ull"};
  if (std::find(kSuffixes.begin(), kSuffixes.end(), rest) == kSuffixes.end()) return std::nullopt;
  return value;
}

void throw_parse_error(std::string_view text, std::size_t column, const std::string& what, ErrorClass error_class) {
  constexpr std::size_t kShown = 200;  // of a text that a generator may have made thousands of characters long
  const std::string shown = text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
  throw Error(error_class,
              "can't parse the expression '" + shown + "': " + what + " at column " + std::to_string(column + 1));
}

}  // namespace sdfg::symbolic
