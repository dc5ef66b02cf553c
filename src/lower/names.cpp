// Sanitises names and keeps them apart.
#include "lower/names.hpp"

#include <algorithm>
#include <array>

#include "base/words.hpp"

namespace sdfg::lower {

namespace {

// Keywords of C++20 and its alternative tokens, names that generated text uses itself, C library functions that Clang
// declares as builtins (a redeclaration with another type is a warning), and macros that compilers predefine without
// underscores.
constexpr auto kReserved = std::to_array<std::string_view>({
    "abort",       "abs",
    "acos",        "acosh",
    "alignas",     "alignof",
    "and",         "and_eq",
    "asin",        "asinh",
    "asm",         "atan",
    "atan2",       "atanh",
    "auto",        "bitand",
    "bitor",       "bool",
    "break",       "call",
    "calloc",      "case",
    "catch",       "cbrt",
    "ceil",        "char",
    "char16_t",    "char32_t",
    "char8_t",     "class",
    "co_await",    "co_return",
    "co_yield",    "compl",
    "concept",     "const",
    "const_cast",  "consteval",
    "constexpr",   "constinit",
    "continue",    "copysign",
    "cos",         "cosh",
    "decltype",    "default",
    "delete",      "do",
    "double",      "dynamic_cast",
    "else",        "enum",
    "erf",         "erfc",
    "exit",        "exp",
    "exp2",        "explicit",
    "expm1",       "export",
    "extern",      "fabs",
    "false",       "float",
    "floor",       "fma",
    "fmax",        "fmin",
    "fmod",        "for",
    "free",        "friend",
    "gamma",       "goto",
    "hypot",       "i386",
    "if",          "inline",
    "int",         "int16_t",
    "int32_t",     "int64_t",
    "int8_t",      "isfinite",
    "isinf",       "isnan",
    "j0",          "j1",
    "jn",          "labs",
    "lgamma",      "linux",
    "llabs",       "log",
    "log10",       "log1p",
    "log2",        "long",
    "main",        "malloc",
    "memcmp",      "memcpy",
    "memmove",     "memset",
    "mutable",     "namespace",
    "new",         "noexcept",
    "not",         "not_eq",
    "nullptr",     "operator",
    "or",          "or_eq",
    "pow",         "printf",
    "private",     "protected",
    "public",      "realloc",
    "register",    "reinterpret_cast",
    "remainder",   "requires",
    "return",      "rint",
    "round",       "short",
    "signbit",     "signed",
    "sin",         "sinh",
    "sizeof",      "sqrt",
    "static",      "static_assert",
    "static_cast", "strlen",
    "struct",      "switch",
    "tan",         "tanh",
    "template",    "tgamma",
    "this",        "thread_local",
    "throw",       "true",
    "trunc",       "try",
    "typedef",     "typeid",
    "typename",    "uint16_t",
    "uint32_t",    "uint64_t",
    "uint8_t",     "union",
    "unix",        "unsigned",
    "using",       "virtual",
    "void",        "volatile",
    "wchar_t",     "while",
    "xor",         "xor_eq",
    "y0",          "y1",
    "yn",
});

}  // namespace

std::string sanitised(std::string_view wish) {
  std::string out;
  for (const char c : wish) {
    const char next = is_word(c) ? c : '_';
    if (next == '_' && !out.empty() && out.back() == '_') continue;  // two underscores are reserved
    out.push_back(next);
  }
  constexpr std::size_t kLongest = 60;
  if (out.size() > kLongest) out.resize(kLongest);
  const bool starts_badly = out.empty() || out.front() == '_' || (out.front() >= '0' && out.front() <= '9');
  if (starts_badly) out.insert(0, "v");
  if (out.starts_with("sdfg_") || out.starts_with("omp_") ||
      std::ranges::binary_search(kReserved, std::string_view(out)))
    out += "_";
  return out;
}

bool Names::taken(std::string_view identifier) const {
  return taken_.find(identifier) != taken_.end();
}

std::string Names::fresh(std::string_view wish) {
  const std::string base = sanitised(wish);
  std::string name = base;
  for (int i = 1; taken(name); ++i) name = base + (base.ends_with('_') ? "" : "_") + std::to_string(i);
  taken_.insert(name);
  return name;
}

const std::string& Names::of(std::string_view name) {
  auto it = of_name_.find(name);
  if (it == of_name_.end()) it = of_name_.emplace(std::string(name), fresh(name)).first;
  return it->second;
}

std::string comment_text(std::string_view label) {
  constexpr std::size_t kLongest = 80;
  std::string out;
  for (const char c : label) {
    if (out.size() == kLongest) {
      out += "...";
      break;
    }
    // A backslash at the end of a comment line would swallow the next line; `??/` was a trigraph for it.
    out.push_back(c >= ' ' && c <= '~' && c != '\\' && c != '?' ? c : '_');
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace sdfg::lower
