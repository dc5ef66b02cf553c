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

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

struct Nearest {
  std::size_t index = 0;  // of the candidates
  int distance = std::numeric_limits<int>::max();
};

// An abbreviation is nearer than any other name that one could get by changing letters.
bool abbreviates(std::string_view name, std::string_view candidate) {
  return name.size() >= 2 && name.size() < candidate.size() && starts_with(candidate, name);
}

Nearest find_nearest(std::string_view name, std::span<const std::string_view> candidates) {
  Nearest best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const int distance = abbreviates(name, candidates[i]) ? 1 : edit_distance(name, candidates[i]);
    if (distance < best.distance) best = {i, distance};
  }
  return best;
}

// How many letters every candidate begins with: what says nothing of which one is meant.
std::size_t shared_prefix(std::span<const std::string_view> candidates) {
  if (candidates.size() < 2) return 0;
  std::size_t length = candidates[0].size();
  for (const std::string_view candidate : candidates.subspan(1)) {
    length = std::min(length, candidate.size());
    for (std::size_t i = 0; i < length; ++i) {
      if (lower(candidate[i]) != lower(candidates[0][i])) length = i;
    }
  }
  return length;
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
  std::size_t shared = shared_prefix(candidates);
  if (shared > 0 && !starts_with(name, candidates[0].substr(0, shared))) shared = 0;
  std::vector<std::string_view> rests(candidates.begin(), candidates.end());
  for (std::string_view& rest : rests) rest.remove_prefix(shared);
  const Nearest best = find_nearest(name.substr(shared), rests);
  if (candidates.empty()) return {};
  const auto longer = static_cast<int>(std::max(name.size() - shared, rests[best.index].size()));
  return best.distance <= std::max(1, longer / 3) ? candidates[best.index] : std::string_view();
}

std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates) {
  return candidates.empty() ? std::string_view() : candidates[find_nearest(name, candidates).index];
}

}  // namespace sdfg
