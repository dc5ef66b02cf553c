// Did-you-mean: the nearest of a set of names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sdfg {

// Edit distance with insertions, deletions, replacements and swaps of neighbours, ignoring case.
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, the earliest on a tie; empty when none is near enough to be meant: a third of the
// letters may differ, not counting what all candidates begin with.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);
// The same without a limit on the distance; empty only without candidates.
std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace sdfg
