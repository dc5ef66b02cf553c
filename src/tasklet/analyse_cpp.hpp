// What the analysis of a C++ tasklet is told. `compile` implements it with Clang; rooms above take it as a CppAnalyser.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

// A name that the text may use without declaring it.
struct CppName {
  enum class Role : std::uint8_t { kInput, kOutput, kInOut, kSymbol };
  std::string name;
  Type type;  // of an element; void: not known, any use is taken as both reading and writing
  Role role = Role::kInput;
  bool is_pointer = false;  // `T* name` instead of a value or reference
};

struct CppTask {
  std::string text;         // statements
  std::string global_text;  // declarations at file scope
  std::vector<CppName> names;
};

// Never fails: what can't be understood is answered on the safe side (everything mentioned is read, outputs are
// written, side effects).
using CppAnalyser = std::function<CppFacts(const CppTask&)>;

}  // namespace sdfg::tasklet
