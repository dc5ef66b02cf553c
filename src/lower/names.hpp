// Identifiers of generated code: made from the user's names, never equal to a keyword, a helper or each other.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sdfg::lower {

class Names {
 public:
  // The identifier of a named thing; the same for the same name.
  const std::string& of(std::string_view name);
  // A new identifier like `wish`.
  std::string fresh(std::string_view wish);
  // Whether an identifier was given out or is reserved.
  bool taken(std::string_view identifier) const;

 private:
  std::map<std::string, std::string, std::less<>> of_name_;
  std::set<std::string, std::less<>> taken_;
};

// `wish` with everything that is no letter, digit or underscore replaced, changed if C++, the compiler or generated
// code reserves it.
std::string sanitised(std::string_view wish);
// One harmless line of printable ASCII for a `//` comment.
std::string comment_text(std::string_view label);

}  // namespace sdfg::lower
