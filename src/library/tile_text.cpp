// Spelling for the text of tiles.
#include "library/tile_text.hpp"

#include <cstdio>

namespace sdfg::library {

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

std::string number(double v, ScalarType t) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", v);
  return "(" + std::string(t == ScalarType::kFloat32 ? "float" : "double") + ")" +
         (v < 0 ? "(" + std::string(text) + ")" : text);
}

std::string spelled(const Emitter& e, const char* wish, const Expr& value) {
  if (const auto constant = value.constant()) return std::to_string(*constant) + "L";
  if (value.kind() == symbolic::Kind::kSymbol) return value.name();
  return e.assign(wish, tasklet::from_symbolic(value)).name();
}

}  // namespace sdfg::library
