// The table of environment variables: one row per variable and field of Options.
#pragma once

#include <cstdint>
#include <sdfg/options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

struct Variable {
  std::string_view name;           // "SDFG_OPT"
  std::string_view type;           // readable: "0 to 3", "list of bounds, races, nan, uninitialised"
  std::string_view default_value;  // as one would write it
  std::string_view help;
  bool in_key;  // influences generated code
  // Throws Error naming `where` (the variable or the field), the value and the nearest valid value or an example.
  void (*read)(Options& options, std::string_view value, std::string_view where);
  // Empty when the field is unset. read(write(x)) gives x.
  bool (*is_set)(const Options& options);
  std::string (*write)(const Options& options);
  // Words that `read` knows: names, units, prefixes. `type` or `help` lists each.
  std::vector<std::string> (*words)();
};

std::span<const Variable> variables();

// Names of variables that are set but not in the table, with a sentence and the nearest name; sorted.
std::vector<std::string> unknown_variable_warnings();

// Everything in resolved options that influences the text or object of a graph, for cache keys. Not included, because
// the caller resolves them first: labels of `host_maps` (to ordinals), `target_cpu` and `gpu_arch` (to targets).
std::vector<std::uint8_t> bytes_for_key(const Options& resolved);

// "variable | type | default | meaning" as a Markdown table, for the README.
std::string variables_as_markdown();

}  // namespace sdfg
