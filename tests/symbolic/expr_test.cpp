// Canonical forms, queries and evaluation of expressions.
#include "symbolic/expr.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <sdfg/error.hpp>

#include "symbolic/print.hpp"

namespace expr_test {

using namespace sdfg::symbolic;

namespace {

const Expr i = Expr::symbol("i");
const Expr j = Expr::symbol("j");
const Expr n = Expr::symbol("N");
const Expr m = Expr::symbol("M");
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("equal polynomials have identical forms") {
  CHECK((i + j) * (i - j) == i * i - j * j);
  CHECK(pow(i + 1, 3) == i * i * i + 3 * i * i + 3 * i + 1);
  CHECK((i + j + n) * m == m * n + j * m + i * m);
  CHECK(i - i == Expr(0));
  CHECK(2 * (i + 3) - 2 * i == Expr(6));
  CHECK(pow(i, 2) * i == pow(i, 3));
  CHECK(pow(n, m) * n == pow(n, m + 1));
}

TEST_CASE("terms are ordered by structure and printed for readers") {
  CHECK((i * n + j + 5).str() == "N*i + j + 5");
  CHECK((n - i - 1).str() == "N - i - 1");
  CHECK((1 - n).str() == "1 - N");
  CHECK((-i).str() == "-i");
  CHECK((n * n).str() == "N**2");
  CHECK((-floor_div(n, 2)).str() == "-(N//2)");
}

TEST_CASE("divisions and modulo take exact multiples out") {
  CHECK(floor_div(n * i + j, n) == i + floor_div(j, n));
  CHECK(mod(n * i + j, n) == mod(j, n));
  CHECK(floor_div(4 * i + 7, 4) == i + 1);
  CHECK(mod(5 * i + 7, 4) == mod(i + 3, 4));
  CHECK(mod(4 * i + 6, 8).str() == "4*((i + 1) % 2) + 2");
  CHECK(ceil_div(n, 2) == floor_div(n + 1, 2));
  CHECK(floor_div(n - 1, 2) + 1 == floor_div(n + 1, 2));
  CHECK(floor_div(floor_div(n, 2), 3) == floor_div(n, 6));
  CHECK(floor_div(n * (m + 1), m + 1) == n);
  CHECK(floor_div(n * i, n * m) == floor_div(i, m));
  CHECK(floor_div(-7, 2) == Expr(-4));
  CHECK(mod(-7, 2) == Expr(1));
  CHECK(mod(7, -2) == Expr(-1));
  CHECK(shift_left(i, 3) == 8 * i);
  CHECK(shift_right(i, 3) == floor_div(i, 8));
}

TEST_CASE("minima, maxima and selections drop what can't matter") {
  CHECK(min(n, n + 1) == n);
  CHECK(max(n + 3, max(n + 1, m)) == max(m, n + 3));
  CHECK(min(i, max(i, j)) == i);
  CHECK(select(lt(i, 0), 4, 4) == Expr(4));
  CHECK(select(lt(i, n), i, j) == select(ge(i, n), j, i));
  CHECK(abs(-2 * i) == 2 * abs(i));
}

TEST_CASE("comparisons are normalised") {
  CHECK(lt(i, n) == le(i + 1, n));
  CHECK(gt(2 * i, 3) == ge(i, 2));
  CHECK(eq(2 * i, 3).is_false());
  CHECK(ne(2 * i, 2 * j) == ne(j, i));
  CHECK(logical_not(lt(i, n)) == ge(i, n));
  CHECK(lt(i, n).str() == "i < N");
  CHECK(le(i + 1, n - 2).str() == "i + 3 <= N");
  CHECK(ge(n, 1).str() == "N > 0");
  CHECK(eq(i, n - 1).str() == "N == i + 1");
  CHECK(logical_and(lt(i, n), ge(i, n)).is_false());
  CHECK(logical_or(lt(i, n), ge(i, n)).is_true());
}

TEST_CASE("guards stay in front of what they guard") {
  const Expr read = Expr::read("A", {i});
  CHECK(logical_and(gt(read, 0), lt(i, n)).str() == "i < N and A[i] > 0");
}

TEST_CASE("overflow and division by zero are errors") {
  CHECK_THROWS_AS(Expr(kLargest) + 1, sdfg::Error);
  CHECK_THROWS_AS(Expr(kLargest) * 2, sdfg::Error);
  CHECK_THROWS_AS((i + kLargest) + 1, sdfg::Error);
  CHECK_THROWS_AS(i * kLargest * 2, sdfg::Error);
  CHECK_THROWS_AS(pow(Expr(10), 19), sdfg::Error);
  CHECK_THROWS_AS(floor_div(i, 0), sdfg::Error);
  CHECK_THROWS_AS(mod(i, 0), sdfg::Error);
  CHECK_THROWS_AS(pow(i, -1), sdfg::Error);
  CHECK_THROWS_AS(evaluate(i * i, {{"i", kLargest}}), sdfg::Error);
  CHECK_THROWS_AS(evaluate(floor_div(i, j), {{"i", 1}, {"j", 0}}), sdfg::Error);
  CHECK_THROWS_AS(evaluate(i, {{"j", 0}}), sdfg::Error);
}

TEST_CASE("substitution is simultaneous and canonicalises") {
  CHECK(substitute(i + 2 * j, {{"i", j}, {"j", i}}) == j + 2 * i);
  CHECK(substitute(floor_div(i, n), "i", n * j) == j);
  CHECK(substitute(Expr::read("A", {i}), "i", 3) == Expr::read("A", {3}));
  CHECK(rename_reads(Expr::read("A", {i}), {{"A", "B"}}) == Expr::read("B", {i}));
}

TEST_CASE("affine and linear views") {
  const auto affine = affine_in(n * i + 3 * i + j - 1, "i");
  REQUIRE(affine);
  CHECK(affine->slope == n + 3);
  CHECK(affine->rest == j - 1);
  CHECK_FALSE(affine_in(i * i, "i"));
  CHECK_FALSE(affine_in(floor_div(i, 2), "i"));
  const Linear linear = linear_terms(2 * n * i - j + 7);
  CHECK(linear.constant == 7);
  REQUIRE(linear.terms.size() == 2);
  CHECK(linear.terms[0] == std::pair(n * i, std::int64_t{2}));
  CHECK(linear.terms[1] == std::pair(j, std::int64_t{-1}));
}

TEST_CASE("products of sums beyond the term budget stay products") {
  std::vector<Expr> left;
  std::vector<Expr> right;
  for (int k = 0; k < 40; ++k) {
    left.push_back(Expr::symbol("a" + std::to_string(k)));
    right.push_back(Expr::symbol("b" + std::to_string(k)));
  }
  const Expr a = sum(left);
  const Expr b = sum(right);
  CHECK((a * b).kind() == Kind::kMul);
  CHECK(a * b == b * a);
  CHECK((a * b) * i == i * (b * a));
  CHECK((a * a).kind() == Kind::kPow);
  CHECK(a * a * a == pow(a, 3));
}

TEST_CASE("nesting beyond the limit is an error, not a crash") {
  Expr deep = i;
  CHECK_THROWS_AS(
      [&] {
        for (int k = 0; k < 100000; ++k) deep = max(mod(deep, n), j);
      }(),
      sdfg::Error);
}

}  // namespace expr_test
