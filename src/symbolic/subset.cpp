// Ranges and subsets: sizes, substitution, offset, printing.
#include "symbolic/subset.hpp"

#include <sdfg/error.hpp>

namespace sdfg::symbolic {

Expr Range::count() const {
  if (begin == end) return 1;
  return max(nominal_count(), 0);
}

Expr Range::nominal_count() const {
  if (begin == end) return 1;
  return floor_div(end - begin, step) + 1;
}

Expr Range::size() const {
  return count() * tile;
}

Subset Subset::index(std::span<const Expr> indices) {
  std::vector<Range> ranges;
  ranges.reserve(indices.size());
  for (const Expr& index : indices) ranges.push_back(Range::index(index));
  return ranges;
}

Subset Subset::index(std::initializer_list<Expr> indices) {
  return index(std::span(indices.begin(), indices.size()));
}

Subset Subset::full(std::span<const Expr> shape) {
  std::vector<Range> ranges;
  ranges.reserve(shape.size());
  for (const Expr& extent : shape) ranges.push_back(Range::half_open(0, extent));
  return ranges;
}

bool Subset::is_index() const {
  for (const Range& range : ranges_) {
    if (!range.is_index()) return false;
  }
  return true;
}

std::vector<Expr> Subset::begins() const {
  std::vector<Expr> result;
  result.reserve(ranges_.size());
  for (const Range& range : ranges_) result.push_back(range.begin);
  return result;
}

Expr Subset::num_elements() const {
  const std::vector<Expr> factors = sizes();
  return product(factors);
}

std::vector<Expr> Subset::sizes() const {
  std::vector<Expr> result;
  result.reserve(ranges_.size());
  for (const Range& range : ranges_) result.push_back(range.size());
  return result;
}

SymbolSet Subset::free_symbols() const {
  SymbolSet names;
  for (const Range& range : ranges_) {
    for (const Expr* part : {&range.begin, &range.end, &range.step, &range.tile})
      names.merge(symbolic::free_symbols(*part));
  }
  return names;
}

std::string Subset::str() const {
  std::string text;
  for (const Range& range : ranges_) {
    if (!text.empty()) text += ", ";
    text += range.str();
  }
  return text;
}

std::string Range::str() const {
  if (is_index()) return begin.str();
  const bool downwards = step.is_integer() && step.value() < 0;
  std::string text = begin.str() + ":" + (downwards ? end - 1 : end + 1).str();
  if (!step.is_one() || !tile.is_one()) text += ":" + step.str();
  if (!tile.is_one()) text += ":" + tile.str();
  return text;
}

Subset substitute(const Subset& s, const Substitution& by) {
  std::vector<Range> ranges;
  ranges.reserve(s.rank());
  for (const Range& r : s.ranges()) {
    const Expr begin = substitute(r.begin, by);
    ranges.push_back(
        {begin, r.begin == r.end ? begin : substitute(r.end, by), substitute(r.step, by), substitute(r.tile, by)});
  }
  return ranges;
}

Subset rename_reads(const Subset& s, const std::map<std::string, std::string, std::less<>>& names) {
  std::vector<Range> ranges;
  ranges.reserve(s.rank());
  for (const Range& r : s.ranges()) {
    ranges.push_back({rename_reads(r.begin, names), rename_reads(r.end, names), rename_reads(r.step, names),
                      rename_reads(r.tile, names)});
  }
  return ranges;
}

Subset offset(const Subset& s, std::span<const Expr> by) {
  if (by.size() != s.rank()) {
    throw Error(ErrorClass::kUsage, "an offset of rank " + std::to_string(by.size()) + " can't move the subset [" +
                                        s.str() + "] of rank " + std::to_string(s.rank()));
  }
  std::vector<Range> ranges;
  ranges.reserve(s.rank());
  for (std::size_t d = 0; d < s.rank(); ++d) {
    const Expr begin = s[d].begin + by[d];
    ranges.push_back({begin, s[d].begin == s[d].end ? begin : s[d].end + by[d], s[d].step, s[d].tile});
  }
  return ranges;
}

}  // namespace sdfg::symbolic
