// Tokens of Python text: names, numbers, operators, and the line and indentation structure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

enum class TokenKind : std::uint8_t { kName, kNumber, kString, kOperator, kNewline, kIndent, kDedent, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // into the source
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

// Throws Error(kGraph) on characters that no token starts with, on unbalanced brackets and on inconsistent indentation.
// The whole text may be indented. With `one_expression`, line ends and indentation mean nothing.
std::vector<Token> tokenize(std::string_view text, bool one_expression);

// An error of class graph about the text, saying where.
[[noreturn]] void throw_syntax(std::string_view text, std::uint32_t line, std::uint32_t column,
                               const std::string& message, std::string hint = {});

}  // namespace sdfg::tasklet
