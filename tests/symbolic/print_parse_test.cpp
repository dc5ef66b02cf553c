// Printers and parsers of expressions and subsets.
#include <catch2/catch.hpp>
#include <sdfg/error.hpp>

#include "symbolic/print.hpp"

namespace print_parse_test {

using namespace sdfg::symbolic;

namespace {

const Expr i = Expr::symbol("i");
const Expr n = Expr::symbol("N");
const Expr m = Expr::symbol("M");

ParseOptions typed() {
  ParseOptions options;
  options.typed = true;
  return options;
}

std::string error_of(std::string_view text, const ParseOptions& options = {}) {
  try {
    return "no error: " + parse_python(text, options).str();
  } catch (const sdfg::Error& e) {
    return e.message();
  }
}

}  // namespace

TEST_CASE("Python syntax is read with Python's precedence") {
  CHECK(parse_python("N + 2*i - 1") == n + 2 * i - 1);
  CHECK(parse_python("-N//2") == floor_div(-n, 2));
  CHECK(parse_python("-N**2") == -(n * n));
  CHECK(parse_python("2**N") == pow(2, n));
  CHECK(parse_python("N % 3 + 1") == mod(n, 3) + 1);
  CHECK(parse_python("i if i < N else N") == select(lt(i, n), i, n));
  CHECK(parse_python("0 <= i < N") == logical_and(ge(i, 0), lt(i, n)));
  CHECK(parse_python("not i == N or N > 1 and True") == logical_or(ne(i, n), gt(n, 1)));
  CHECK(parse_python("A[i, N - 1]") == Expr::read("A", {i, n - 1}));
  CHECK(parse_python("st.x[i]") == Expr::read("st.x", {i}));
  CHECK(parse_python("s + 1", {}, [](std::string_view name) { return name == "s"; }) == Expr::read("s", {}) + 1);
  CHECK(parse_python("~i & 7 << 1") == bit_and(bit_not(i), 14));
}

TEST_CASE("functions and fractions of the file format") {
  CHECK(parse_python("int_floor(N, 2)") == floor_div(n, 2));
  CHECK(parse_python("int_ceil(N, M)") == ceil_div(n, m));
  CHECK(parse_python("floor(1/2*$N)", typed()) == floor_div(n, 2));
  CHECK(parse_python("ceiling(1/3*$N)", typed()) == ceil_div(n, 3));
  CHECK(parse_python("4*(N/2)") == 2 * n);
  CHECK(parse_python("floor(N/2 + 1/2)") == floor_div(n + 1, 2));
  CHECK(parse_python("floor((2*i + 1)*N/(4*N))") == floor_div(2 * i + 1, 4));
  CHECK(parse_python("N*M/M") == n);
  CHECK(parse_python("Min(N, 3, M)") == min(min(n, m), 3));
  CHECK(parse_python("IfExpr(Eq(N, 3), i, Mod(i, 2))") == select(eq(n, 3), i, mod(i, 2)));
  CHECK(parse_python("SymExpr(N, 2*N)") == n);
  CHECK(parse_python("dace.int64(N) + 3") == n + 3);
  CHECK(parse_python("left_shift(N, 2)") == 4 * n);
  CHECK(parse_python("f(i, 2)") == Expr::call("f", {i, 2}));
  CHECK(parse_python("ipow(N, 2)") == n * n);
  CHECK(parse_python("2.0*N") == 2 * n);
}

TEST_CASE("typed symbols report their types") {
  std::string seen;
  ParseOptions options = typed();
  options.on_symbol_type = [&](const std::string& symbol, const std::string& dtype) {
    seen += symbol + ":" + dtype + " ";
  };
  CHECK(parse_python("-1 + symbol($M, dtype=dace.int64, positive=True) * $N", options) == m * n - 1);
  CHECK(seen == "M:int64 N:int32 ");
  CHECK(parse_python("3i64 + $N", options) == n + 3);
}

TEST_CASE("printed expressions") {
  CHECK(to_dace(m * 2 - 1, [](const std::string&) { return std::string("dtype=dace.int64"); }) ==
        "-1 + 2*symbol($M, dtype=dace.int64)");
  CHECK(to_dace(floor_div(n, 2), {}) == "int_floor($N, 2)");
  CHECK(to_dace_plain(min(n + 1, 4)) == "Min(4, N + 1)");
  CppPrinter cpp;
  CHECK(to_cpp(floor_div(n, 2) + i, cpp) == "i + sdfg_floor_div(N, 2)");
  CHECK(to_cpp(select(lt(i, n), i, n), cpp) == "i < N ? i : N");
  CHECK(to_cpp(n * n * i - 5000000000, cpp) == "N * N * i - 5000000000L");
  CHECK_THROWS_AS(to_cpp(Expr::read("A", {i}), cpp), sdfg::Error);
}

TEST_CASE("subsets are read and printed half-open") {
  const Subset s = parse_subset("0:N, i, 2:M:3, 0:N:4:4, N - 1:-1:-1");
  REQUIRE(s.rank() == 5);
  CHECK(s[0] == Range{0, n - 1, 1, 1});
  CHECK(s[1] == Range::index(i));
  CHECK(s[2] == Range{2, m - 1, 3, 1});
  CHECK(s[3] == Range{0, n - 1, 4, 4});
  CHECK(s[4] == Range{n - 1, 0, -1, 1});
  CHECK(s.str() == "0:N, i, 2:M:3, 0:N:4:4, N - 1:-1:-1");
  CHECK(s[2].count() == max(ceil_div(m - 2, 3), 0));
  CHECK(s[4].count() == max(n, 0));
  CHECK(parse_subset("0:min(N, i + 4)|i + 4")[0].end == min(n, i + 4) - 1);
  CHECK(Subset::full(std::vector<Expr>{n, m}).str() == "0:N, 0:M");
  CHECK(parse_subset("").rank() == 0);
}

TEST_CASE("parse errors name the text and the column") {
  CHECK(error_of("N +") ==
        "can't parse the expression 'N +': expected an expression instead of the end of the text at column 4");
  CHECK(error_of("N ) 2") == "can't parse the expression 'N ) 2': unexpected ')' at column 3");
  CHECK(error_of("N", typed()) == "can't parse the expression 'N': the name 'N' lacks the '$' of a symbol at column 1");
  CHECK(error_of("1.5*N") == "can't parse the expression '1.5*N': '1.5' is not a 64-bit integer at column 1");
  CHECK(error_of("99999999999999999999").find("is not a 64-bit integer") != std::string::npos);
  CHECK(error_of("N/2").find("is a fraction") != std::string::npos);
  CHECK(error_of("N // 0").find("division by zero") != std::string::npos);
  CHECK(error_of("oo*N").find("'oo' is not an integer") != std::string::npos);
  CHECK(error_of("Mod(N)").find("'Mod' takes 2 arguments, not 1") != std::string::npos);
  CHECK(error_of("N @ 2").find("unexpected character '@'") != std::string::npos);
  CHECK(error_of(std::string(100000, '(')).find("nested more than 200 levels deep") != std::string::npos);
  CHECK(error_of(std::string(100000, '-') + "N").find("nested more than 200 levels deep") != std::string::npos);
  CHECK_THROWS_AS(parse_subset("0:"), sdfg::Error);
}

}  // namespace print_parse_test
