// What identifiers of every language here are made of.
#pragma once

namespace sdfg {

// A letter of ASCII, a digit or an underscore, whatever the locale.
constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace sdfg
