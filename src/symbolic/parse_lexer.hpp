// Tokens of expression text.
#pragma once

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

}  // namespace sdfg::symbolic
