// Prints a lowered unit as C++ text with a source map.
#pragma once

#include <string>
#include <vector>

#include "lower/unit.hpp"

namespace sdfg::codegen {

// Spelling knobs: none changes what the program computes.
struct Style {
  int indent = 2;
  bool labels = true;                         // comments with the labels of elements
  bool const_locals = true;                   // `const` on locals that are assigned once
  bool braces = false;                        // braces around single statements, too
  bool hoist_loops = false;                   // counters of sequential loops declared in front of them
  bool inclusive_bounds = false;              // `i <= N - 1` where the default is `i < N`
  std::string index_qualifier = "constexpr";  // or "inline __attribute__((always_inline)) constexpr"
};

// Canonical ordinals (ir::Ordinals) by line; -1 where a line belongs to no element.
struct SourceMap {
  std::vector<int> origin_of_line;  // [0] is line 1
  int origin(std::size_t line) const {
    return line >= 1 && line <= origin_of_line.size() ? origin_of_line[line - 1] : -1;
  }
};

struct Source {
  std::string text;
  SourceMap map;
};

Source print(const lower::Unit& unit, const Style& style = {});

}  // namespace sdfg::codegen
