// The Python subset: what parses, what it means, and what is refused with which message.
#include <catch2/catch.hpp>

#include "tasklet/code.hpp"

namespace parse_test {

using namespace sdfg;
using namespace sdfg::tasklet;

namespace {

std::string round_trip(const std::string& text) {
  const Body body = parse_body(text);
  const std::string canonical = to_python(body);
  CHECK(equal(parse_body(canonical), body));
  CHECK(to_python(parse_body(canonical)) == canonical);
  return canonical;
}

std::string canonical(const std::string& text) {
  const Expr e = parse_expression(text);
  const std::string printed = to_python(e);
  CHECK(parse_expression(printed) == e);
  return printed;
}

std::string failure(const std::string& text) {
  try {
    parse_body(text);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("operators bind as in Python") {
  CHECK(canonical("a + b * c") == "(a + (b * c))");
  CHECK(canonical("a - b - c") == "((a - b) - c)");
  CHECK(canonical("-a ** 2") == "(- (a ** 2))");
  CHECK(canonical("a ** -b ** c") == "(a ** (- (b ** c)))");
  CHECK(canonical("a ** b ** c") == "(a ** (b ** c))");
  CHECK(canonical("a // b % c / d") == "(((a // b) % c) / d)");
  CHECK(canonical("a | b ^ c & d << e + f") == "(a | (b ^ (c & (d << (e + f)))))");
  CHECK(canonical("not a == b") == "(not (a == b))");
  CHECK(canonical("a or b and not c") == "(a or (b and (not c)))");
  CHECK(canonical("a if b else c if d else e") == "(a if b else (c if d else e))");
  CHECK(canonical("~a >> 3") == "((~ a) >> 3)");
  CHECK(canonical("+a") == "a");
}

TEST_CASE("comparisons chain into conjunctions") {
  CHECK(canonical("0 <= i < N") == "((0 <= i) and (i < N))");
  CHECK(canonical("a < b < c < d") == "(((a < b) and (b < c)) and (c < d))");
  CHECK_THROWS_AS(parse_expression("a < f(b) < c"), Error);
  CHECK(canonical("a is not None") == "(a != None)");
}

TEST_CASE("numbers in all notations") {
  CHECK(canonical("0x1F") == "31");
  CHECK(canonical("0b101 + 0o17") == "(5 + 15)");
  CHECK(canonical("1_000_000") == "1000000");
  CHECK(canonical("1e-5") == "1e-05");
  CHECK(canonical(".5") == "0.5");
  CHECK(canonical("2.") == "2.0");
  CHECK(canonical("1E3") == "1000.0");
  CHECK(canonical("2j") == "2.0j");
  CHECK(canonical("-1") == "(- 1)");
  CHECK(canonical("(- 1.5)") == "(- 1.5)");
  CHECK(canonical("-9223372036854775808") == "(- 9223372036854775808)");
  CHECK(canonical("18446744073709551615") == "18446744073709551615");
  CHECK(canonical("-2j") == "dace.complex128((- 0.0), (- 2.0))");
  CHECK(canonical("math.inf") == "inf");
  CHECK(canonical("-inf") == "(- inf)");
  CHECK(canonical("nan") == "nan");
  CHECK(canonical("1e400") == "inf");
  CHECK(canonical("True and False") == "(True and False)");
}

TEST_CASE("calls and casts under all their spellings") {
  CHECK(canonical("math.sin(x)") == "sin(x)");
  CHECK(canonical("dace.math.sin(np.cos(x))") == "sin(cos(x))");
  CHECK(canonical("numpy.arctan2(a, b)") == "atan2(a, b)");
  CHECK(canonical("Min(a, b, 3)") == "min(min(a, b), 3)");
  CHECK(canonical("max(a)") == "a");
  CHECK(canonical("And(a, b, c)") == "((a and b) and c)");
  CHECK(canonical("Or(Not(a), Eq(b, c))") == "((not a) or (b == c))");
  CHECK(canonical("IfExpr(Lt(a, b), a, b)") == "(a if (a < b) else b)");
  CHECK(canonical("bitwise_and(a, left_shift(b, 2))") == "(a & (b << 2))");
  CHECK(canonical("bitwise_invert(a)") == "(~ a)");
  CHECK(canonical("dace.float32(x)") == "dace.float32(x)");
  CHECK(canonical("float(x) + int(y)") == "(dace.float64(x) + dace.int64(y))");
  CHECK(canonical("dace.float32(0.2)") == "dace.float32(0.2)");
  CHECK(canonical("np.int8(300)") == "dace.int8(44)");
  CHECK(canonical("dace.float64(-3)") == "(- 3.0)");
  CHECK(canonical("complex(a, b)") == "dace.complex128(a, b)");
  CHECK(canonical("dace.complex64(1, -2)") == "dace.complex64(1.0, (- 2.0))");
  CHECK(canonical("pow(a, b)") == "(a ** b)");
  CHECK(canonical("math.pow(a, b)") == "math.pow(a, b)");
  CHECK(canonical("int_floor(N, 2)") == "int_floor(N, 2)");
  CHECK(canonical("callback(x, 1)") == "callback(x, 1)");
  CHECK(canonical("z.conj() + z.real") == "(conj(z) + z.real)");
  CHECK(canonical("(a + b).imag") == "imag((a + b))");
  CHECK(canonical("SymExpr(a, b)") == "a");
  for (int i = 0; i <= static_cast<int>(Function::kCppMod); ++i) {
    const auto f = static_cast<Function>(i);
    CHECK(function_from_string(to_string(f)) == f);
  }
}

TEST_CASE("subscripts and members") {
  CHECK(canonical("A[i, j + 1]") == "A[i, (j + 1)]");
  CHECK(canonical("A[i][j]") == "A[i, j]");
  CHECK(canonical("A[(i, j)]") == "A[i, j]");
  CHECK(canonical("A[(i + 1)]") == "A[(i + 1)]");
  CHECK(canonical("st.x[i]") == "st.x[i]");
  CHECK(canonical("threadIdx.x == 0") == "(threadIdx.x == 0)");
}

TEST_CASE("statements round trip") {
  CHECK(round_trip("x = y = 3") == "x = 3\ny = 3");
  CHECK(round_trip("a += b; c //= 2  # comment") == "a += b\nc //= 2");
  CHECK(round_trip("x: dace.float32 = 1") == "x = dace.float32(1.0)");
  CHECK(round_trip("a, b = b, a") == "__value0 = b\n__value1 = a\na = __value0\nb = __value1");
  CHECK(round_trip("if a:\n  x = 1\nelif b:\n  x = 2\nelse:\n  x = 3\n") ==
        "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3");
  CHECK(round_trip("while i < N:\n\ti += 1\n\tif i == 3: break\n\telse: continue\ny = i") ==
        "while (i < N):\n    i += 1\n    if (i == 3):\n        break\n    else:\n        continue\ny = i");
  CHECK(round_trip("    x = (1 +\n  2)\n    y = x \\\n + 1\n") == "x = (1 + 2)\ny = (x + 1)");
  CHECK(round_trip("pass") == "pass");
  CHECK(round_trip("") == "pass");
  CHECK(round_trip("A[i] = x\nf(x)") == "A[i] = x\nf(x)");
  CHECK(round_trip("'''doc'''\nx = 1\r\ny = 2\r\n") == "x = 1\ny = 2");
}

TEST_CASE("for loops over ranges become while loops") {
  CHECK(round_trip("for i in range(N):\n    s += i") ==
        "__range0 = 0\n__stop0 = N\nwhile (__range0 < __stop0):\n    i = __range0\n    __range0 += 1\n    s += i");
  CHECK(round_trip("for i in range(10, 0, -2): s += i") ==
        "__range0 = 10\nwhile (__range0 > 0):\n    i = __range0\n    __range0 += (- 2)\n    s += i");
  CHECK(round_trip("for i in range(a, b, c): pass") ==
        "__range0 = a\n__stop0 = b\n__step0 = c\nwhile ((__range0 < __stop0) if (__step0 > 0) else (__range0 > "
        "__stop0)):\n"
        "    i = __range0\n    __range0 += __step0");
}

TEST_CASE("what is wrong is named with its place") {
  CHECK(failure("x = (a + b") == "In the code 'x = (a + b' (line 1, column 5): '(' is never closed.");
  CHECK(failure("y = 1\nx = a b") == "In the code 'x = a b' (line 2, column 7): unexpected 'b' after a statement.");
  CHECK(failure("x = ") == "In the code 'x = ' (line 1, column 5): expected an expression, found the end of the line.");
  CHECK(failure("a + b = c") ==
        "In the code 'a + b = c' (line 1, column 1): only names and subscripts can be assigned to.");
  CHECK(failure("break") == "In the code 'break' (line 1, column 1): 'break' outside a loop.");
  CHECK(failure("if a:\nx = 1") ==
        "In the code 'x = 1' (line 2, column 1): expected an indented block after the condition.");
  CHECK(failure("if a:\n    x = 1\n  y = 2") ==
        "In the code '  y = 2' (line 3, column 3): the indentation of this line matches no enclosing block.");
  CHECK(failure("return x") ==
        "In the code 'return x' (line 1, column 1): the statement 'return' is not supported in scalar code.");
  CHECK(failure("x = A[1:2]") ==
        "In the code 'x = A[1:2]' (line 1, column 8): ranges are not allowed in subscripts of scalar code.");
  CHECK(failure("x = sin(a, b)") == "In the code 'x = sin(a, b)' (line 1, column 5): 'sin' takes 1 arguments, not 2.");
  CHECK(failure("x = 12abc") == "In the code 'x = 12abc' (line 1, column 5): '12abc' is not a number.");
  CHECK(failure("x = 99999999999999999999") ==
        "In the code 'x = 99999999999999999999' (line 1, column 5): the integer '99999999999999999999' needs more than "
        "64 bits.");
  CHECK(failure("x = a $ b") == "In the code 'x = a $ b' (line 1, column 7): unexpected character '$'.");
  CHECK(failure("x = 'abc") == "In the code 'x = 'abc' (line 1, column 5): this string is never closed.");
  CHECK(failure("x = f(a=1)") ==
        "In the code 'x = f(a=1)' (line 1, column 7): keyword arguments are not supported in scalar code.");
  CHECK(failure("for i in A: pass") ==
        "In the code 'for i in A: pass' (line 1, column 10): a 'for' loop can only iterate over range(...).");
  CHECK(failure("x = a @ b") ==
        "In the code 'x = a @ b' (line 1, column 7): the matrix product '@' is not defined for scalars.");
  CHECK(failure("while a:\n    pass\nelse:\n    pass") ==
        "In the code 'else:' (line 3, column 1): 'else' after a 'while' loop is not supported.");
  CHECK(failure("x = lambda a: a") ==
        "In the code 'x = lambda a: a' (line 1, column 5): a lambda is not allowed here.");
}

TEST_CASE("nesting has a limit") {
  CHECK_THROWS_AS(parse_expression(std::string(5000, '(') + "x" + std::string(5000, ')')), Error);
  CHECK_THROWS_AS(parse_expression(std::string(5000, '-') + "x"), Error);
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum += " + x";
  CHECK_THROWS_AS(parse_expression(sum), Error);
}

TEST_CASE("lambdas of conflict resolutions") {
  const Lambda lambda = parse_lambda("(lambda x, y: (x + y))");
  CHECK(lambda.parameters == std::vector<std::string>{"x", "y"});
  CHECK(to_python(lambda.value) == "(x + y)");
  CHECK_THROWS_AS(parse_lambda("lambda x, x: x"), Error);
}

TEST_CASE("uses, replacement and renaming") {
  const Body body = parse_body("t = A[i] * x\nif t > 0:\n    out = f(t)\nB[j] = out + st.x");
  const Uses uses = uses_of(body);
  CHECK(uses.read == std::vector<std::string>{"i", "x", "t", "out", "st.x", "j"});
  CHECK(uses.written == std::vector<std::string>{"t", "out", "B"});
  CHECK(uses.subscripted == std::vector<std::string>{"A", "B"});
  CHECK(uses.called == std::vector<std::string>{"f"});
  const Body swapped =
      replace_names(body, {{"x", parse_expression("a + 1")}, {"t", Expr::name("u")}, {"st", Expr::name("pt")}});
  CHECK(to_python(swapped) == "u = (A[i] * (a + 1))\nif (u > 0):\n    out = f(u)\nB[j] = (out + pt.x)");
  CHECK(to_python(rename_bases(swapped, {{"A", "C"}, {"B", "A"}})) ==
        "u = (C[i] * (a + 1))\nif (u > 0):\n    out = f(u)\nA[j] = (out + pt.x)");
  CHECK_THROWS_AS(replace_names(body, {{"t", parse_expression("a + 1")}}), Error);
}

TEST_CASE("canonical bytes differ where trees differ") {
  const auto digest = [](const std::string& text) {
    ByteWriter out;
    write_canonical(parse_body(text), out);
    return out.take();
  };
  CHECK(digest("x = a + b") == digest("x=(a+b)"));
  CHECK(digest("x = a + b") != digest("x = a - b"));
  CHECK(digest("x = 1") != digest("x = 1.0"));
  CHECK(digest("x = 0.0") != digest("x = -0.0"));
  CHECK(digest("if a:\n  x = 1\ny = 2") != digest("if a:\n  x = 1\n  y = 2"));
}

TEST_CASE("random text either parses to what prints back or is refused with an error of class graph or limit") {
  const std::string_view pieces[] = {"x",       "y",     "A[",
                                     "]",       "(",     ")",
                                     "+",       "-",     "*",
                                     "**",      "//",    "%",
                                     "<",       "==",    "=",
                                     "+=",      "\n",    "    ",
                                     "if ",     "else:", "while ",
                                     ":",       "1",     "2.5",
                                     "1j",      "0x",    ",",
                                     "sin",     "min",   "and ",
                                     "not ",    "for ",  " in ",
                                     "range(",  "~",     "&",
                                     ";",       "#",     "'",
                                     ".",       "\\\n",  "@",
                                     "\t",      "None",  "inf",
                                     "f(",      "pass",  "break",
                                     "lambda ", "e5",    "dace.float32("};
  std::uint64_t state = 12345;
  const auto next = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33);
  };
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = 1 + next() % 12; n > 0; --n) text += pieces[next() % std::size(pieces)];
    try {
      const Body body = parse_body(text);
      ++parsed;
      if (!equal(parse_body(to_python(body)), body)) FAIL(text << " printed as " << to_python(body));
    } catch (const Error& error) {
      if (error.error_class() != ErrorClass::kGraph && error.error_class() != ErrorClass::kLimit)
        FAIL(text << ": " << error.what());
    }
  }
  CHECK(parsed > 200);
}

}  // namespace parse_test
