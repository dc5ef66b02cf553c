// One pass over the text with a stack of what is open.
#include "io/json_scan.hpp"

#include <algorithm>
#include <vector>

namespace sdfg::io {

namespace {

struct Open {
  bool object = false;
  std::size_t index = 0;      // of a list: the element that is being read
  std::size_t first_key = 0;  // of an object: where its keys begin in the common list
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  JsonScan run() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      switch (text_[i]) {
        case '"': i = string(i); break;
        case '{':
        case '[':
          ++out_.values;
          open_.push_back({text_[i] == '{', 0, keys_.size()});
          out_.depth = std::max(out_.depth, static_cast<int>(std::min<std::size_t>(open_.size(), 1U << 30)));
          break;
        case '}':
        case ']':
          if (open_.empty()) return out_;  // malformed
          close();
          break;
        case ',':
          ++out_.values;
          if (!open_.empty()) ++open_.back().index;
          break;
        case ':':
          if (!open_.empty() && open_.back().object) keys_.push_back(last_string_);
          break;
      }
    }
    return out_;
  }

 private:
  // The position of the closing quote.
  std::size_t string(std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < text_.size() && text_[i] != '"') i += text_[i] == '\\' ? 2 : 1;
    i = std::min(i, text_.size());
    last_string_ = text_.substr(begin + 1, i - begin - 1);
    return i;
  }

  void close() {
    const Open at = open_.back();
    if (at.object && out_.duplicate.empty()) {
      std::vector<std::string_view> own(keys_.begin() + static_cast<std::ptrdiff_t>(at.first_key), keys_.end());
      std::sort(own.begin(), own.end());
      if (const auto twice = std::adjacent_find(own.begin(), own.end()); twice != own.end()) {
        keys_.resize(at.first_key);
        out_.duplicate = path() + "." + std::string(*twice);
      }
    }
    if (at.object) keys_.resize(at.first_key);
    open_.pop_back();
  }

  // Of the innermost open bracket; the last key of each object around it leads to it.
  std::string path() const {
    std::string out = "$";
    for (std::size_t k = 0; k + 1 < open_.size(); ++k) {
      if (!open_[k].object) {
        out += "[" + std::to_string(open_[k].index) + "]";
        continue;
      }
      const std::size_t end = open_[k + 1].first_key;  // keys of brackets further in come after
      if (end > open_[k].first_key && end <= keys_.size()) out += "." + std::string(keys_[end - 1]);
    }
    return out;
  }

  std::string_view text_;
  std::string_view last_string_;
  std::vector<Open> open_;
  std::vector<std::string_view> keys_;  // of all open objects, outermost first
  JsonScan out_;
};

}  // namespace

JsonScan scan_json(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace sdfg::io
