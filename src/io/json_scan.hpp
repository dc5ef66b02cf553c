// A look at JSON text before it is parsed: what would cost too much memory, and keys that an object gives twice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sdfg::io {

struct JsonScan {
  int depth = 0;           // deepest nesting of brackets
  std::size_t values = 0;  // upper bound of values, from commas, colons and brackets
  std::string duplicate;   // "$.a[3].key" of the first key that its object already has; empty: none
};

// Of well-formed text; of any other text the result means nothing, but the scan ends and touches nothing outside.
// Keys are compared as they are written: the parser would keep the last of two equal ones silently.
JsonScan scan_json(std::string_view text);

}  // namespace sdfg::io
