// Restricted Damerau-Levenshtein distance over the few dozen names of a table.
#include "base/suggest.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace sdfg {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Nearest {
  std::string_view name;
  int distance = std::numeric_limits<int>::max();
};

// An abbreviation is nearer than any other name that one could get by changing letters.
bool abbreviates(std::string_view name, std::string_view candidate) {
  return name.size() >= 2 && name.size() < candidate.size() &&
         std::equal(name.begin(), name.end(), candidate.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

Nearest find_nearest(std::string_view name, std::span<const std::string_view> candidates) {
  Nearest best;
  for (std::string_view candidate : candidates) {
    const int distance = abbreviates(name, candidate) ? 1 : edit_distance(name, candidate);
    if (distance < best.distance) best = {candidate, distance};
  }
  return best;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before_previous;
  std::vector<int> previous(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<int> current(b.size() + 1);
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    before_previous = std::move(previous);
    previous = std::move(current);
  }
  return previous[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  const Nearest best = find_nearest(name, candidates);
  const auto length = static_cast<int>(std::max(name.size(), best.name.size()));
  return best.distance <= std::max(1, length / 3) ? best.name : std::string_view();
}

std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates) {
  return find_nearest(name, candidates).name;
}

}  // namespace sdfg
