// Places where expressions may be extreme: in the range, and among them both extremes of what has one such part.
#include "symbolic/turning_points.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "random_expr.hpp"

namespace turning_points_test {

using namespace sdfg::symbolic;
using namespace sdfg::symbolic::testing;

namespace {

// low, low + step, ... up to the high that step reaches from a given end.
struct Case {
  std::int64_t low, count, step;
  std::int64_t high() const { return low + step * (count - 1); }
};

Case random_case(RandomExpressions& random) {
  return {random.between(-30, 30), random.between(1, 90), random.between(1, 7)};
}

}  // namespace

TEST_CASE("every turning point lies in the range") {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    RandomExpressions random(seed);
    std::optional<Sample> sample;
    try {
      sample = random.integer(1 + static_cast<int>(seed % 3));
    } catch (const sdfg::Error&) {
      continue;
    }
    const Case c = random_case(random);
    // Both ends as they are, or both above an N that is known from below only.
    const bool moved = seed % 2 == 0;
    const Expr shift = moved ? Expr::symbol("N") : Expr(0);
    const Facts facts = Facts().with_bounds("N", Expr(2), std::nullopt).with_bounds("M", Expr(1), Expr(9));
    const Lattice over{shift + Expr(c.low), shift + Expr(c.high()), c.step};
    for (const Expr& point : turning_points(sample->e, "i", over, facts)) {
      INFO("seed " << seed << ": " << sample->e.str() << " at " << point.str());
      CHECK_FALSE(depends_on(point, "i"));
      for (std::int64_t n = 2; n < 9; ++n) {
        for (std::int64_t m = 1; m < 10; m += 2) {
          const Values values{{"N", n}, {"M", m}, {"j", n - 5}, {"k", 3 * m}};
          std::int64_t value = 0;
          try {
            value = evaluate(point, values) - (moved ? n : 0);
          } catch (const sdfg::Error&) {
            continue;  // a divisor that is 0
          }
          REQUIRE(value >= c.low);
          REQUIRE(value <= c.high());
          REQUIRE((value - c.low) % c.step == 0);
        }
      }
    }
  }
}

TEST_CASE("both extremes of a remainder, a quotient, a minimum or a selection are at turning points") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    RandomExpressions random(seed);
    const Case c = random_case(random);
    const Expr i = Expr::symbol("i");
    const auto line = [&] { return Expr(random.between(-9, 9)) * i + Expr(random.between(-40, 40)); };
    const Expr divisor = random.between(2, 13);
    Expr part;
    switch (random.between(0, 5)) {
      case 0: part = mod(line(), divisor); break;
      case 1: part = floor_div(line(), divisor); break;
      case 2: part = ceil_div(line(), divisor); break;
      case 3: part = min(line(), line()); break;
      case 4: part = abs(line()); break;
      default: part = select(le(line(), line()), line(), line()); break;
    }
    const Expr e = Expr(random.between(-4, 4)) * part + Expr(random.between(-9, 9));
    const Lattice over{Expr(c.low), Expr(c.high()), c.step};
    INFO("seed " << seed << ": " << e.str() << " over " << c.low << ", " << c.low + c.step << ", ... " << c.high());
    std::vector<std::int64_t> all, some;
    for (std::int64_t k = 0; k < c.count; ++k) all.push_back(evaluate(e, Values{{"i", c.low + k * c.step}}));
    for (const Expr& point : turning_points(e, "i", over, {})) {
      REQUIRE(point.is_integer());
      some.push_back(evaluate(e, Values{{"i", point.value()}}));
    }
    REQUIRE(*std::min_element(some.begin(), some.end()) == *std::min_element(all.begin(), all.end()));
    REQUIRE(*std::max_element(some.begin(), some.end()) == *std::max_element(all.begin(), all.end()));
  }
}

TEST_CASE("turning points of a symbolic divisor stay in the range") {
  const Expr i = Expr::symbol("i"), N = Expr::symbol("N");
  const Facts facts = Facts().with_bounds("N", Expr(1), std::nullopt);
  const Lattice over{Expr(0), N * Expr(3) - Expr(1), 1};
  std::vector<std::int64_t> residues;
  for (const Expr& point : turning_points(mod(i + Expr(2), N), "i", over, facts)) {
    const std::int64_t value = evaluate(point, Values{{"N", 7}});
    CHECK(value >= 0);
    CHECK(value < 21);
    residues.push_back((value + 2) % 7);
  }
  CHECK(std::find(residues.begin(), residues.end(), 0) != residues.end());
  CHECK(std::find(residues.begin(), residues.end(), 6) != residues.end());
}

}  // namespace turning_points_test
