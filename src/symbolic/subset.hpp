// Ranges and subsets: rectangular (strided, tiled) sets of container elements, with three-valued set questions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbolic/expr.hpp"
#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

// begin, begin + step, ... up to and including at most `end`; each point stands for `tile` consecutive elements. A
// negative step counts down to `end`. Empty when no point satisfies the bound.
struct Range {
  Expr begin;
  Expr end;  // inclusive
  Expr step = 1;
  Expr tile = 1;

  static Range index(const Expr& at) { return {at, at, 1, 1}; }
  static Range half_open(const Expr& from, const Expr& to, const Expr& by = 1) { return {from, to - 1, by, 1}; }
  bool is_index() const { return begin == end && tile.is_one(); }  // provably one element
  Expr count() const;                                              // points: max(0, floor((end - begin) / step) + 1)
  Expr nominal_count() const;  // count() without the clamp at 0, for ranges known to have end >= begin - 1
  Expr size() const;           // elements: count * tile
  std::string str() const;     // as in Subset::str
  bool operator==(const Range&) const = default;
};

// One Range per dimension of a container. Rank 0 is the one element of a scalar.
class Subset {
 public:
  Subset() = default;
  Subset(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}  // NOLINT(google-explicit-constructor)
  static Subset index(std::span<const Expr> indices);
  static Subset index(std::initializer_list<Expr> indices);
  static Subset full(std::span<const Expr> shape);  // 0 .. extent-1 in each dimension

  std::size_t rank() const { return ranges_.size(); }
  const std::vector<Range>& ranges() const { return ranges_; }
  const Range& operator[](std::size_t d) const { return ranges_[d]; }
  bool is_index() const;  // one element
  std::vector<Expr> begins() const;
  Expr num_elements() const;  // product of sizes
  std::vector<Expr> sizes() const;
  SymbolSet free_symbols() const;
  std::string str() const;  // "0:N, i, 2:M:3" (half-open, Python style)
  bool operator==(const Subset&) const = default;

 private:
  std::vector<Range> ranges_;
};

Subset substitute(const Subset& s, const Substitution& by);
Subset rename_reads(const Subset& s, const std::map<std::string, std::string, std::less<>>& names);
// Adds `by` to every begin and end.
Subset offset(const Subset& s, std::span<const Expr> by);
// The elements of the outer container that `inner` selects within the window `outer` (inner index 0 = outer.begin;
// steps multiply). Throws Error(kUsage) on unequal ranks; dimensions of `outer` that are single indices may be absent
// from `inner` (squeezed).
Subset compose(const Subset& outer, const Subset& inner);
// Does `outer` contain every element of `inner`?
Truth covers(const Subset& outer, const Subset& inner, const Facts& facts);
Truth intersects(const Subset& a, const Subset& b, const Facts& facts);
Truth is_empty(const Subset& s, const Facts& facts);
// The smallest rectangular set that surely contains both (bounding box), exact when one covers the other.
Subset bounding_union(const Subset& a, const Subset& b, const Facts& facts);
// A set contained in the intersection's bounding box; nothing when provably disjoint.
std::optional<Subset> bounding_intersection(const Subset& a, const Subset& b, const Facts& facts);
// The image of `s` when `symbol` runs over `range`: covers every access; `exact` says whether nothing more is covered.
struct Propagated {
  Subset subset;
  bool exact = false;
};
std::optional<Propagated> propagate(const Subset& s, std::string_view symbol, const Range& range, const Facts& facts);

}  // namespace sdfg::symbolic
