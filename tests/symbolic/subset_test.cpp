// Ranges and subsets: named cases, and every answer of random ones against enumeration.
#include "symbolic/subset.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <sdfg/error.hpp>
#include <set>

#include "symbolic/print.hpp"

namespace subset_test {

using namespace sdfg::symbolic;

namespace {

using Values = std::map<std::string, std::int64_t, std::less<>>;
// Sorted; the coordinates of a point are packed into one number.
using Points = std::vector<std::int64_t>;

const Expr i = Expr::symbol("i");
const Expr n = Expr::symbol("N");
const Expr m = Expr::symbol("M");

// The elements of a range in order, tiles flattened.
std::vector<std::int64_t> elements(const Range& r, const Values& values) {
  const std::int64_t begin = evaluate(r.begin, values);
  const std::int64_t end = evaluate(r.end, values);
  const std::int64_t step = evaluate(r.step, values);
  const std::int64_t tile = evaluate(r.tile, values);
  std::vector<std::int64_t> result;
  if (begin == end) {
    for (std::int64_t t = 0; t < tile; ++t) result.push_back(begin + t);
    return result;
  }
  for (std::int64_t at = begin; step > 0 ? at <= end : at >= end; at += step) {
    for (std::int64_t t = 0; t < tile; ++t) result.push_back(at + t);
  }
  return result;
}

Points sorted(Points all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Points points(const Subset& s, const Values& values) {
  constexpr std::int64_t kWidth = 1 << 20;
  Points result{0};
  for (const Range& range : s.ranges()) {
    const Points here = elements(range, values);
    Points next;
    next.reserve(here.size() * result.size());
    for (const std::int64_t p : result) {
      for (const std::int64_t x : here) next.push_back(p * kWidth + x + kWidth / 2);
    }
    result = std::move(next);
  }
  return sorted(std::move(result));
}

bool includes(const Points& outer, const Points& inner) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

Points common_points(const Points& a, const Points& b) {
  Points both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// An assertion without the cost of one while it holds: there are millions.
void must_hold(bool holds, const char* what, const Values& values) {
  if (holds) return;
  FAIL(what << " does not hold for N=" << values.at("N") << " M=" << values.at("M") << " i=" << values.at("i"));
}

// 1 <= N <= 6, 1 <= M <= 4, 0 <= i <= N - 1
Facts facts() {
  return Facts().with_bounds("N", 1, 6).with_bounds("M", 1, 4).with_bounds("i", 0, n - 1);
}

std::vector<Values> worlds() {
  std::vector<Values> result;
  for (std::int64_t nv = 1; nv <= 6; ++nv) {
    for (std::int64_t mv = 1; mv <= 4; ++mv) {
      for (std::int64_t iv = 0; iv < nv; ++iv) result.push_back({{"N", nv}, {"M", mv}, {"i", iv}});
    }
  }
  return result;
}

class RandomSubsets {
 public:
  explicit RandomSubsets(std::uint32_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Expr position() {
    switch (between(0, 9)) {
      case 0: return 0;
      case 1: return between(-2, 5);
      case 2: return i;
      case 3: return i + between(-2, 3);
      case 4: return n - between(0, 2);
      case 5: return 2 * i + between(0, 1);
      case 6: return n - 1 - i;
      case 7: return m + between(-1, 1);
      case 8: return min(n - 1, i + m);
      default: return i * m + between(0, 2);
    }
  }

  Range range() {
    const Expr begin = position();
    if (between(0, 3) == 0) return Range::index(begin);
    const std::int64_t kind = between(0, 9);
    const Expr step = kind < 5 ? Expr(1)
                               : (kind == 5   ? Expr(2)
                                  : kind == 6 ? Expr(3)
                                  : kind == 7 ? Expr(-1)
                                  : kind == 8 ? Expr(-2)
                                              : m);
    const Expr tile = between(0, 5) == 0 ? Expr(between(2, 3)) : Expr(1);
    Expr end = between(0, 1) == 0 ? position()
                                  : begin + (step.is_integer() && step.value() < 0 ? -between(0, 5) : between(0, 5));
    return {begin, end, step, tile};
  }

  Subset subset(std::size_t rank) {
    std::vector<Range> ranges;
    for (std::size_t d = 0; d < rank; ++d) ranges.push_back(range());
    return ranges;
  }

 private:
  std::mt19937 random_;
};

constexpr std::uint32_t kSeeds = 1500;
// Each asks some hundred questions of the provers.
constexpr std::uint32_t kCoverSeeds = 400;

}  // namespace

TEST_CASE("sizes and emptiness agree with enumeration") {
  const auto all = worlds();
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomSubsets random(seed);
    const Subset s = random.subset(1 + seed % 2);
    const Truth empty = is_empty(s, facts());
    const Expr count = simplify(s.num_elements(), facts());
    INFO("seed " << seed << ": [" << s.str() << "], empty: " << to_string(empty) << ", elements " << count.str());
    for (const Values& values : all) {
      std::int64_t expected = 1;
      for (const Range& range : s.ranges()) expected *= static_cast<std::int64_t>(elements(range, values).size());
      must_hold(evaluate(count, values) == expected, "the number of elements", values);
      must_hold(empty == Truth::kUnknown || (expected == 0) == (empty == Truth::kYes), "emptiness", values);
    }
  }
}

TEST_CASE("cover, intersection and bounding boxes agree with enumeration") {
  const auto all = worlds();
  int decided = 0;
  for (std::uint32_t seed = 0; seed < kCoverSeeds; ++seed) {
    RandomSubsets random(seed);
    const std::size_t rank = 1 + seed % 2;
    const Subset a = random.subset(rank);
    const Subset b = random.subset(rank);
    const Truth cover = covers(a, b, facts());
    const Truth cut = intersects(a, b, facts());
    const Subset joined = bounding_union(a, b, facts());
    const std::optional<Subset> common = bounding_intersection(a, b, facts());
    decided += (cover != Truth::kUnknown) + (cut != Truth::kUnknown);
    INFO("seed " << seed << ": [" << a.str() << "] and [" << b.str() << "], covers: " << to_string(cover)
                 << ", intersects: " << to_string(cut) << ", union [" << joined.str() << "], intersection ["
                 << (common ? common->str() : "none") << "]");
    for (const Values& values : all) {
      const Points x = points(a, values);
      const Points y = points(b, values);
      must_hold(cover == Truth::kUnknown || includes(x, y) == (cover == Truth::kYes), "cover", values);
      const Points both = common_points(x, y);
      must_hold(cut == Truth::kUnknown || both.empty() != (cut == Truth::kYes), "intersection", values);
      const Points u = points(joined, values);
      must_hold(includes(u, x) && includes(u, y), "the union's cover", values);
      must_hold(common ? includes(points(*common, values), both) : both.empty(), "the intersection's cover", values);
    }
  }
  // Not vacuous: about a third of the random questions has one answer in all worlds.
  CHECK(decided > 150);
}

TEST_CASE("composition selects within the window") {
  const auto all = worlds();
  int composed = 0;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomSubsets random(seed);
    const Range outer = random.range();
    const Range inner = random.range();
    std::optional<Subset> result;
    try {
      result = compose(Subset({outer}), Subset({inner}));
    } catch (const sdfg::Error&) {
      continue;
    }
    INFO("seed " << seed << ": [" << outer.str() << "] o [" << inner.str() << "] = [" << result->str() << "]");
    for (const Values& values : all) {
      const auto window = elements(outer, values);
      Points expected;
      bool inside = true;
      for (const std::int64_t at : elements(inner, values)) {
        if (at < 0 || at >= static_cast<std::int64_t>(window.size())) {
          inside = false;
          break;
        }
        expected.push_back(window[static_cast<std::size_t>(at)]);
      }
      if (!inside) continue;
      ++composed;
      must_hold(sorted(elements((*result)[0], values)) == sorted(expected), "the composition", values);
    }
  }
  CHECK(composed > 1000);
}

TEST_CASE("propagation covers every iteration, exactly when it says so") {
  const auto all = worlds();
  int exact = 0;
  int known = 0;
  const Expr p = Expr::symbol("p");
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomSubsets random(seed);
    Range over = random.range();
    if (seed % 3 == 0) over = Range::half_open(0, n, Expr(random.between(1, 3)));
    const auto image_position = [&]() -> Expr {
      switch (random.between(0, 9)) {
        case 0: return p;
        case 1: return p + random.between(-2, 2);
        case 2: return 2 * p;
        case 3: return -p + 5;
        case 4: return p * m;
        case 5: return floor_div(p, 2);
        case 6: return mod(p, 3);
        case 7: return min(n - 1, p + random.between(0, 3));
        case 8: return p * p;
        default: return random.position();
      }
    };
    std::vector<Range> ranges;
    for (std::size_t d = 0; d < 1 + seed % 2; ++d) {
      Range r = Range::index(image_position());
      if (random.between(0, 1) == 0) {
        r.end = random.between(0, 1) == 0 ? image_position() : r.begin + random.between(0, 4);
        if (random.between(0, 3) == 0) r.step = random.between(2, 3);
        if (random.between(0, 5) == 0) r.tile = 2;
      }
      ranges.push_back(r);
    }
    const Subset s = ranges;
    const std::optional<Propagated> image = propagate(s, "p", over, facts());
    if (!image) continue;
    ++known;
    exact += image->exact;
    INFO("seed " << seed << ": [" << s.str() << "] for p in " << over.str() << " = [" << image->subset.str() << "]"
                 << (image->exact ? " exactly" : ""));
    for (const Values& values : all) {
      Points expected;
      for (const std::int64_t value : elements(over, values)) {
        Values inside = values;
        inside["p"] = value;
        const Points here = points(s, inside);
        expected.insert(expected.end(), here.begin(), here.end());
      }
      expected = sorted(std::move(expected));
      const Points covered = points(image->subset, values);
      must_hold(includes(covered, expected), "the cover", values);
      must_hold(!image->exact || covered == expected, "exactness", values);
    }
  }
  CHECK(known > 500);
  CHECK(exact > 150);
}

TEST_CASE("propagation of the usual accesses is exact and readable") {
  const Facts f = Facts().with_positive("N").with_positive("M");
  const auto image = [&](const char* subset, const char* range) {
    const auto result = propagate(parse_subset(subset), "p", parse_subset(range)[0], f);
    return result ? result->subset.str() + (result->exact ? " exact" : "") : std::string("unknown");
  };
  CHECK(image("p", "0:N") == "0:N exact");
  CHECK(image("p + 1, i", "0:N") == "1:N + 1, i exact");
  CHECK(image("p - 1:p + 2", "1:N + 1") == "0:N + 2 exact");
  CHECK(image("2*p", "0:N") == "0:2*N - 1:2 exact");
  CHECK(image("N - 1 - p", "0:N") == "0:N exact");
  CHECK(image("p, p", "0:N") == "0:N, 0:N");
  CHECK(image("0:p + 1", "0:N") == "0:N exact");
  CHECK(image("p:min(p + 32, N)", "0:N:32") == "0:N exact");
  CHECK(image("p*M:p*M + M", "0:N") == "0:M*N exact");
  CHECK(image("p % 3", "0:N") == "0:3");
  CHECK(image("A[p]", "0:N") == "unknown");
  CHECK(image("i", "0:N") == "i exact");
}

TEST_CASE("named questions") {
  const Facts f = Facts().with_positive("N").with_bounds("i", 0, n - 2);
  const auto s = [](const char* text) { return parse_subset(text); };
  CHECK(covers(s("0:N"), s("i + 1"), f) == Truth::kYes);
  CHECK(covers(s("0:N"), s("i + 2"), f) == Truth::kUnknown);
  CHECK(covers(s("0:N"), s("N"), f) == Truth::kNo);
  CHECK(covers(s("0:N, 0:M"), s("i, 0:M"), f) == Truth::kYes);
  CHECK(covers(s("0:N:2"), s("0:N:4"), f) == Truth::kYes);
  CHECK(covers(s("0:N:2"), s("1"), f) == Truth::kNo);
  CHECK(covers(s("0:8"), s("0:N"), f) == Truth::kUnknown);
  CHECK(covers(Subset(), Subset(), f) == Truth::kYes);
  CHECK(covers(s("0:N"), s("0:N, 0:M"), f) == Truth::kUnknown);
  CHECK(intersects(s("i"), s("i + 1"), f) == Truth::kNo);
  CHECK(intersects(s("0:N:2"), s("1:N:2"), f) == Truth::kNo);
  CHECK(intersects(s("0:i + 1"), s("i:N"), f) == Truth::kYes);
  CHECK(intersects(s("0:i"), s("i:N"), f) == Truth::kNo);
  CHECK(intersects(s("i, 0"), s("i, 1"), f) == Truth::kNo);
  CHECK(is_empty(s("0:N"), f) == Truth::kNo);
  CHECK(is_empty(s("5:3"), f) == Truth::kYes);
  CHECK(bounding_union(s("0:4"), s("4:N"), Facts().with_bounds("N", 8, std::nullopt)).str() == "0:N");
  CHECK(compose(s("i:i + 10:2, 4"), s("1:3")).str() == "i + 2:i + 5:2, 4");
  CHECK(offset(s("0:N, i"), std::vector<Expr>{1, 2}).str() == "1:N + 1, i + 2");
  CHECK_THROWS_AS(compose(s("0:N, 0:M"), s("0:2, 0:2, 0:2")), sdfg::Error);
  CHECK_THROWS_AS(offset(s("0:N"), std::vector<Expr>{1, 2}), sdfg::Error);
  CHECK_THROWS_AS(bounding_union(s("0:N"), s("0:N, 1"), f), sdfg::Error);
}

}  // namespace subset_test
