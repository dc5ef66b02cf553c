// Internal to ir: replacing identifiers in the C++ text of tasklets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg::ir {

// Replaces whole identifiers, except in comments, literals and directives' names, and except members (`a.x`, `p->x`,
// `n::x`).
std::string replace_identifiers(std::string_view text, const std::map<std::string, std::string, std::less<>>& by);
// The identifiers of the text, each once, in order of first occurrence.
std::vector<std::string> identifiers_of(std::string_view text);

}  // namespace sdfg::ir
