// What the provers must be able to show.
#include "symbolic/facts.hpp"

#include <catch2/catch.hpp>
#include <sdfg/error.hpp>

#include "symbolic/print.hpp"

namespace facts_test {

using namespace sdfg::symbolic;

namespace {

const Expr i = Expr::symbol("i");
const Expr j = Expr::symbol("j");
const Expr k = Expr::symbol("k");
const Expr n = Expr::symbol("N");
const Expr m = Expr::symbol("M");

Facts loop_facts() {
  return Facts().with_positive("N").with_positive("M").with_bounds("i", 0, n - 1).with_bounds("j", 0, m - 1);
}

}  // namespace

TEST_CASE("linear bounds with symbolic ends") {
  const Facts inner = Facts().with_bounds("i", 0, n - 2);
  CHECK(is_less_equal(i + 1, n - 1, inner) == Truth::kYes);
  CHECK(is_less_equal(i + 2, n - 1, inner) == Truth::kUnknown);
  CHECK(is_less_equal(n, i, inner) == Truth::kNo);
  const Facts facts = loop_facts();
  CHECK(is_less(i * m + j, n * m, facts) == Truth::kYes);
  CHECK(is_nonnegative(i * m + j, facts) == Truth::kYes);
  CHECK(is_nonnegative((n - 1) * (m - 1), facts) == Truth::kYes);
  CHECK(is_zero(i - n, facts) == Truth::kNo);
  CHECK(is_zero(i - j, facts) == Truth::kUnknown);
  // Three nested levels: i * M * K + j * K + k < N * M * K
  const Expr p = Expr::symbol("K");
  const Facts deep = facts.with_positive("K").with_bounds("k", 0, p - 1);
  CHECK(is_less(i * m * p + j * p + k, n * m * p, deep) == Truth::kYes);
}

TEST_CASE("triangular loops") {
  const Facts facts = Facts().with_bounds("i", 0, n - 1).with_bounds("j", i + 1, n - 1);
  CHECK(is_less(i, j, facts) == Truth::kYes);
  CHECK(is_less(j, n, facts) == Truth::kYes);
  CHECK(is_nonnegative(j, facts) == Truth::kYes);
  CHECK(is_zero(i - j, facts) == Truth::kNo);
}

TEST_CASE("minima, maxima and tiles") {
  const Facts facts = Facts().with_positive("N").with_bounds("i", 0, n - 1).with_bounds("j", i, min(i + 31, n - 1));
  CHECK(is_less(j, n, facts) == Truth::kYes);
  CHECK(is_less_equal(j - i, 31, facts) == Truth::kYes);
  CHECK(is_nonnegative(min(n, 32), facts) == Truth::kYes);
  CHECK(is_less_equal(min(i, j), n, facts) == Truth::kYes);
  CHECK(simplify(min(n, i), facts) == i);
  CHECK(simplify(max(0, i), facts) == i);
  CHECK(simplify(max(n - i, 0), facts) == n - i);
}

TEST_CASE("divisions and modulo") {
  const Facts facts = loop_facts();
  CHECK(simplify(floor_div(i * m + j, m), facts) == i);
  CHECK(simplify(mod(i * m + j, m), facts) == j);
  CHECK(is_nonnegative(floor_div(i, 4), facts) == Truth::kYes);
  CHECK(is_less_equal(4 * floor_div(i, 4), i, facts) == Truth::kYes);
  CHECK(is_less_equal(floor_div(i, 4), i, facts) == Truth::kYes);
  CHECK(is_less_equal(floor_div(n - 1, 2) * 2, n - 1, facts) == Truth::kYes);
  CHECK(is_less(mod(i, 4), 4, facts) == Truth::kYes);
  CHECK(is_nonnegative(n - mod(i, m) - 1 + m, facts) == Truth::kYes);
  const Facts flat = Facts().with_positive("N").with_positive("M").with_bounds("k", 0, n * m - 1);
  CHECK(is_less(floor_div(k, m), n, flat) == Truth::kYes);
  CHECK(is_nonnegative(k - mod(k, m), flat) == Truth::kYes);
  CHECK(simplify(m * floor_div(k, m) + mod(k, m), flat) == k);
  CHECK(simplify(ceil_div(i + 1, n), facts) == Expr(1));
}

TEST_CASE("congruences") {
  const Facts facts = Facts().with_bounds("i", 0, n - 1).with_congruence("i", 4, 0).with_congruence("N", 8, 0);
  CHECK(is_multiple_of(i + 8, 4, facts) == Truth::kYes);
  CHECK(is_multiple_of(i + 2, 4, facts) == Truth::kNo);
  CHECK(is_multiple_of(i + 2, 2, facts) == Truth::kYes);
  CHECK(is_multiple_of(i * n, 32, facts) == Truth::kYes);
  CHECK(is_multiple_of(j, 2, facts) == Truth::kUnknown);
  CHECK(simplify(mod(i + j, 4), facts) == mod(j, 4));
  CHECK(simplify(mod(i + 3, 4), facts) == Expr(3));
  CHECK(simplify(floor_div(i + 3, 4), facts) == floor_div(i, 4));
  CHECK(is_zero(i - 2, facts) == Truth::kNo);
}

TEST_CASE("conditions") {
  const Facts facts =
      Facts().with_condition(logical_and(lt(i, n), ge(i, m))).with_condition(ne(k, 0)).with_nonnegative("k");
  CHECK(is_less_equal(m + 1, n, facts) == Truth::kYes);
  CHECK(is_true(lt(i, n), facts) == Truth::kYes);
  CHECK(is_true(ge(i, n), facts) == Truth::kNo);
  CHECK(is_positive(k, facts) == Truth::kYes);
  CHECK(simplify(select(ge(i, m), 7, 9), facts) == Expr(7));
  CHECK(is_true(ne(k, 0), facts) == Truth::kYes);
  const Expr flag = Expr::read("flag", {});
  CHECK(is_true(flag, Facts().with_condition(flag)) == Truth::kYes);
  CHECK(is_true(logical_not(flag), Facts().with_condition(flag)) == Truth::kNo);
  CHECK(simplify(n, Facts().with_condition(eq(n, 5))) == Expr(5));
  CHECK(is_nonnegative(n * j - m * j, Facts().with_condition(ge(n, m)).with_nonnegative("j")) == Truth::kYes);
}

TEST_CASE("squares and powers") {
  const Facts facts = loop_facts();
  CHECK(is_nonnegative(i * i, Facts()) == Truth::kYes);
  CHECK(is_nonnegative(i * i - i, facts) == Truth::kYes);
  CHECK(is_positive(pow(n, k), facts) == Truth::kYes);
  CHECK(is_positive(n * n * m, facts) == Truth::kYes);
}

TEST_CASE("bounds intersect and are reported") {
  const Facts facts = Facts().with_bounds("N", 1, 100).with_bounds("N", 5, 200).with_congruence("N", 5, 7);
  CHECK(facts.lower("N") == Expr(5));
  CHECK(facts.upper("N") == Expr(100));
  CHECK(facts.congruence("N") == std::pair<std::int64_t, std::int64_t>(5, 2));
  CHECK_FALSE(facts.lower("M"));
  CHECK(constant_lower(n + 2, facts) == 7);
  CHECK(constant_upper(3 * n, facts) == 300);
  CHECK(constant_lower(m - i, Facts().with_bounds("i", 0, m - 1)) == 1);
  CHECK_FALSE(constant_upper(m, facts));
  CHECK(facts.with_nonnegative("M").lower("M") == Expr(0));
  CHECK_THROWS_AS(Facts().with_congruence("N", 0, 1), sdfg::Error);
}

TEST_CASE("bounds over a symbol") {
  const Facts facts = loop_facts();
  CHECK(lower_over(n - i, "i", 0, n - 1, facts) == Expr(1));
  CHECK(upper_over(i * m, "i", 0, n - 1, facts) == n * m - m);
  CHECK(upper_over(floor_div(i, 2), "i", 0, n - 1, facts) == floor_div(n - 1, 2));
  CHECK(upper_over(min(i + 3, m), "i", 0, n - 1, facts) == min(n + 2, m));
  CHECK(upper_over(i * i, "i", 0, n - 1, facts) == (n - 1) * (n - 1));
  CHECK(lower_over(k * i, "i", 0, 5, Facts()) == min(0, 5 * k));
  CHECK_FALSE(upper_over(mod(i, 3), "i", 0, n - 1, facts));
  CHECK_FALSE(upper_over(Expr::read("A", {i}), "i", 0, n - 1, facts));
}

TEST_CASE("circular and contradictory facts end in an answer") {
  const Facts circular = Facts().with_bounds("i", j, j + 1).with_bounds("j", i, i + 1);
  CHECK(is_nonnegative(i - j, circular) != Truth::kNo);
  CHECK(is_nonnegative(i + n, circular) == Truth::kUnknown);
  const Facts empty = Facts().with_bounds("i", 5, 3);
  CHECK_NOTHROW(is_nonnegative(i - 4, empty));
  // The branch for M == 0 contradicts M >= 1: its divisor has crossed bounds.
  const Expr branch = select(eq(m, 0), k, -3) * ceil_div(5, m);
  CHECK_NOTHROW(is_nonnegative(branch, Facts().with_positive("M").with_nonnegative("k")));
}

TEST_CASE("C++ text uses plain division where the facts allow it") {
  const Facts facts = loop_facts();
  CHECK(to_cpp(floor_div(i, 2) + mod(j, n), {}, facts) == "i / 2 + j % N");
  CHECK(to_cpp(floor_div(i - j, 2), {}, facts) == "sdfg_floor_div(i - j, 2)");
}

}  // namespace facts_test
