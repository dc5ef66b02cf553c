// Replacing identifiers in the C++ text of tasklets.
#include "ir/cpp_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/words.hpp"

namespace sdfg::ir {

namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Cuts text into identifiers that stand for a name, and everything else.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The next piece; `name` tells which sort. Empty at the end.
  std::string_view next(bool& name) {
    const std::size_t begin = at_;
    name = false;
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (starts_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      if (at_ < text_.size() && text_[at_] == '"' && word.ends_with('R')) {
        skip_raw_string();
      } else {
        name = !member_;
        member_ = false;
        return word;
      }
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      // Numbers swallow their suffixes and exponents, so that 1e5f or 0xAB is no name.
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '\'')) ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return text_.substr(begin, at_ - begin);
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
      return text_.substr(begin, at_ - begin);
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
      return text_.substr(begin, 1);
    } else if (text_.substr(at_, 2) == "->" || text_.substr(at_, 2) == "::") {
      at_ += 2;
      member_ = true;
      return text_.substr(begin, 2);
    } else {
      ++at_;
      member_ = c == '.';
      return text_.substr(begin, 1);
    }
    member_ = false;
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool member_ = false;
};

}  // namespace

std::string replace_identifiers(std::string_view text, const std::map<std::string, std::string, std::less<>>& by) {
  std::string out;
  Scanner scanner(text);
  bool name = false;
  for (std::string_view piece = scanner.next(name); !piece.empty(); piece = scanner.next(name)) {
    const auto found = name ? by.find(piece) : by.end();
    out += found == by.end() ? piece : std::string_view(found->second);
  }
  return out;
}

std::vector<std::string> identifiers_of(std::string_view text) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  Scanner scanner(text);
  bool name = false;
  for (std::string_view piece = scanner.next(name); !piece.empty(); piece = scanner.next(name)) {
    if (name && seen.insert(piece).second) names.emplace_back(piece);
  }
  return names;
}

}  // namespace sdfg::ir
