// Properties of random expressions: no rewriting changes a value, forms do not depend on the order of construction.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "random_expr.hpp"
#include "symbolic/facts.hpp"
#include "symbolic/print.hpp"

namespace property_test {

using namespace sdfg::symbolic;
using namespace sdfg::symbolic::testing;

namespace {

// Checks e against the values that its construction must have given. Returns false at the first difference.
bool agrees(const Expr& e, const Results& results, const std::array<Values, kValuations>& valuations) {
  for (std::size_t v = 0; v < kValuations; ++v) {
    if (!results[v]) continue;
    std::int64_t value = 0;
    try {
      value = evaluate(e, valuations[v]);
    } catch (const sdfg::Error& error) {
      UNSCOPED_INFO(error.what());
      return false;
    }
    if (value != *results[v]) {
      UNSCOPED_INFO("valuation " << v << ": " << value << " instead of " << *results[v]);
      return false;
    }
  }
  return true;
}

// A random expression whose constants stay in range.
std::optional<Sample> sample(RandomExpressions& random, int depth) {
  try {
    return random.between(0, 3) == 0 ? random.boolean(depth) : random.integer(depth);
  } catch (const sdfg::Error& error) {
    return std::nullopt;
  }
}

constexpr std::uint32_t kSeeds = 4000;

}  // namespace

TEST_CASE("construction keeps values") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomExpressions random(seed);
    const auto s = sample(random, 1 + static_cast<int>(seed % 4));
    if (!s) continue;
    INFO("seed " << seed << ": " << s->e.str());
    REQUIRE(agrees(s->e, s->results, random.valuations));
  }
}

TEST_CASE("rebuilding a canonical form gives the same form") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomExpressions random(seed);
    const auto s = sample(random, 1 + static_cast<int>(seed % 4));
    if (!s) continue;
    INFO("seed " << seed << ": " << s->e.str());
    const Expr again = rewrite(
        s->e, [](const Expr& node) { return std::optional(rebuild(node, {node.args().begin(), node.args().end()})); });
    REQUIRE(agrees(again, s->results, random.valuations));
    REQUIRE(again == s->e);
  }
}

TEST_CASE("printed text reads back as the same expression") {
  ParseOptions typed;
  typed.typed = true;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomExpressions random(seed);
    const auto s = sample(random, 1 + static_cast<int>(seed % 4));
    if (!s) continue;
    const std::string python = to_python(s->e);
    INFO("seed " << seed << ": " << python);
    REQUIRE(parse_python(python) == s->e);
    const std::string dace = to_dace(s->e, {});
    INFO("typed: " << dace);
    REQUIRE(parse_python(dace, typed) == s->e);
    const std::string plain = to_dace_plain(s->e);
    INFO("plain: " << plain);
    REQUIRE(parse_python(plain) == s->e);
  }
}

TEST_CASE("substitution commutes with evaluation") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomExpressions random(seed);
    const auto s = sample(random, 3);
    if (!s || s->e.is_integer()) continue;
    // Replaces each symbol by another one plus a constant and evaluates at the values that undo it.
    const Substitution by{{"i", Expr::symbol("j") + 2}, {"j", Expr::symbol("i")}, {"N", Expr::symbol("N") * 1 - 3}};
    Expr replaced;
    try {
      replaced = substitute(s->e, by);
    } catch (const sdfg::Error&) {
      continue;
    }
    std::array<Values, kValuations> moved = random.valuations;
    for (Values& values : moved) {
      const Values old = values;
      values["j"] = old.at("i") - 2;
      values["i"] = old.at("j");
      values["N"] = old.at("N") + 3;
    }
    INFO("seed " << seed << ": " << s->e.str() << " -> " << replaced.str());
    REQUIRE(agrees(replaced, s->results, moved));
  }
}

TEST_CASE("sums and products do not depend on the order of construction") {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    RandomExpressions random(seed);
    std::vector<Expr> parts;
    for (int n = 0; n < 5; ++n) {
      if (const auto s = sample(random, 2); s && !s->boolean) parts.push_back(s->e);
    }
    try {
      const Expr total = sum(parts);
      const Expr all = product(parts);
      Expr extreme = parts.empty() ? Expr(0) : parts[0];
      for (const Expr& part : parts) extreme = min(extreme, part);
      for (int round = 0; round < 4; ++round) {
        for (std::size_t n = parts.size(); n > 1; --n)
          std::swap(parts[n - 1], parts[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(n) - 1))]);
        Expr folded_sum = 0;
        Expr folded_product = 1;
        Expr folded_extreme = parts.empty() ? Expr(0) : parts[0];
        for (const Expr& part : parts) {
          folded_sum = part + folded_sum;
          folded_product = folded_product * part;
          folded_extreme = min(part, folded_extreme);
        }
        INFO("seed " << seed);
        REQUIRE(folded_sum == total);
        REQUIRE(folded_product == all);
        REQUIRE(folded_extreme == extreme);
        REQUIRE(folded_sum.str() == total.str());
        REQUIRE(folded_sum.hash() == total.hash());
      }
    } catch (const sdfg::Error&) {
      continue;
    }
  }
}

TEST_CASE("simplification under facts keeps the values that satisfy the facts") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    RandomExpressions random(seed, 0, 12);
    // Values: 0 <= i <= N - 1, 0 <= j < M, k a multiple of 4, N, M >= 1.
    for (Values& values : random.valuations) {
      values["N"] = random.between(1, 9);
      values["M"] = random.between(1, 9);
      values["i"] = random.between(0, values["N"] - 1);
      values["j"] = random.between(0, values["M"] - 1);
      values["k"] = 4 * random.between(0, 5);
    }
    const Expr n = Expr::symbol("N");
    const Expr m = Expr::symbol("M");
    const Facts facts = Facts()
                            .with_positive("N")
                            .with_positive("M")
                            .with_bounds("i", 0, n - 1)
                            .with_bounds("j", 0, m - 1)
                            .with_nonnegative("k")
                            .with_congruence("k", 4, 0);
    const auto s = sample(random, 1 + static_cast<int>(seed % 3));
    if (!s) continue;
    const Expr simple = simplify(s->e, facts);
    INFO("seed " << seed << ": " << s->e.str() << " -> " << simple.str());
    REQUIRE(agrees(simple, s->results, random.valuations));
    // The same for every answer of the provers.
    if (s->boolean) {
      const Truth truth = is_true(s->e, facts);
      for (const auto& value : s->results) {
        if (value && truth != Truth::kUnknown) REQUIRE((*value != 0) == (truth == Truth::kYes));
      }
      continue;
    }
    Truth nonnegative = Truth::kUnknown;
    Truth zero = Truth::kUnknown;
    Truth multiple = Truth::kUnknown;
    std::optional<std::int64_t> low;
    std::optional<std::int64_t> high;
    try {
      nonnegative = is_nonnegative(s->e, facts);
      zero = is_zero(s->e, facts);
      multiple = is_multiple_of(s->e, 4, facts);
      low = constant_lower(s->e, facts);
      high = constant_upper(s->e, facts);
    } catch (const sdfg::Error&) {
      continue;
    }
    INFO("nonnegative " << to_string(nonnegative) << ", zero " << to_string(zero) << ", multiple of 4 "
                        << to_string(multiple));
    for (const auto& value : s->results) {
      if (!value) continue;
      if (nonnegative != Truth::kUnknown) REQUIRE((*value >= 0) == (nonnegative == Truth::kYes));
      if (zero != Truth::kUnknown) REQUIRE((*value == 0) == (zero == Truth::kYes));
      if (multiple != Truth::kUnknown) REQUIRE((*value % 4 == 0) == (multiple == Truth::kYes));
      if (low) REQUIRE(*value >= *low);
      if (high) REQUIRE(*value <= *high);
    }
  }
}

TEST_CASE("extreme constants give exact values or errors, never wrapped ones") {
  __extension__ typedef __int128 Wide;
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> constants = {kMin, kMin + 1, kMin / 2, -2, -1, 0, 1, 2, 3, kMax / 2, kMax - 1, kMax};
  const Expr x = Expr::symbol("x");
  int exact = 0;
  const auto must_be = [&](auto build, const Values& values, Wide expected) {
    Expr e;
    std::int64_t value = 0;
    try {
      e = build();
      value = evaluate(e, values);
    } catch (const sdfg::Error& error) {
      return error.error_class() == sdfg::ErrorClass::kLimit;
    }
    exact += 1;
    try {
      (void)simplify(e, Facts().with_bounds("x", kMin, kMax));
      (void)is_zero(e, Facts().with_nonnegative("x"));
      (void)to_python(e);
      (void)to_cpp(e, {});
    } catch (const sdfg::Error& error) {
      if (error.error_class() != sdfg::ErrorClass::kLimit) return false;
    }
    return value == expected;
  };
  for (const std::int64_t a : constants) {
    for (const std::int64_t b : constants) {
      for (const std::int64_t v : {kMin, std::int64_t{-3}, std::int64_t{0}, std::int64_t{5}, kMax}) {
        INFO(a << ", " << b << ", x = " << v);
        const Values values{{"x", v}};
        REQUIRE(must_be([&] { return (x + a) + b; }, values, Wide{v} + a + b));
        REQUIRE(must_be([&] { return (x - a) - b; }, values, Wide{v} - a - b));
        REQUIRE(must_be([&] { return x * a + b; }, values, Wide{v} * a + b));
        REQUIRE(must_be([&] { return max(x, a) + b; }, values, Wide{std::max(v, a)} + b));
        REQUIRE(must_be([&] { return le(x * a, b); }, values, Wide{v} * a <= b));
        REQUIRE(must_be([&] { return eq(x + a, b); }, values, Wide{v} + a == b));
        REQUIRE(must_be([&] { return abs(a * x); }, values, Wide{v} * a < 0 ? -(Wide{v} * a) : Wide{v} * a));
        if (b == 0) continue;
        Wide floor = (Wide{v} + a) / b;
        if (floor * b != Wide{v} + a && ((Wide{v} + a < 0) != (b < 0))) --floor;
        REQUIRE(must_be([&] { return floor_div(x + a, b); }, values, floor));
        REQUIRE(must_be([&] { return mod(x + a, b); }, values, Wide{v} + a - floor * b));
      }
    }
  }
  CHECK(exact > 2000);
}

}  // namespace property_test
