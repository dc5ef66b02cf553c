// C++ text of expressions and statements: what it looks like, and that compiled it computes what evaluation defines.
#include "tasklet/print_cpp.hpp"

#include <catch2/catch.hpp>

#include "typed_names.hpp"

namespace print_cpp_test {

using namespace sdfg;
using namespace sdfg::tasklet;
using tests::typed;

namespace {

std::string cpp(const std::string& text) {
  return to_cpp(typed(text), {});
}

std::string lines_of(const std::string& text) {
  std::vector<std::pair<std::string, Type>> locals;
  const Body body = infer_types(parse_body(text), tests::environment(), &locals);
  std::string result;
  for (const CppLine& line : to_cpp(body, locals, {}))
    result += std::string(static_cast<std::size_t>(line.indent) * 2, ' ') + line.text + "\n";
  return result;
}

}  // namespace

TEST_CASE("C++ text needs few parentheses and few casts") {
  CHECK(cpp("f64 + f64b * f64") == "f64 + f64b * f64");
  CHECK(cpp("(f64 + f64b) * f64") == "(f64 + f64b) * f64");
  CHECK(cpp("f64 - (f64b - f64)") == "f64 - (f64b - f64)");
  CHECK(cpp("-f64 ** 2") == "-(f64 * f64)");
  CHECK(cpp("i64 + 1") == "i64 + 1");
  CHECK(cpp("i64 * i32") == "i64 * i32");
  CHECK(cpp("f32 * 2") == "f32 * 2.0f");
  CHECK(cpp("f32 * i64") == "f32 * i64");
  CHECK(cpp("i32 / i64") == "double(i32) / i64");
  CHECK(cpp("1 / i64") == "1.0 / i64");
  CHECK(cpp("i8 + i8") == "int8_t(i8 + i8)");
  CHECK(cpp("i8 & i8") == "i8 & i8");
  CHECK(cpp("i8 < u8") == "uint8_t(i8) < u8");
  CHECK(cpp("u16 * u16") == "uint16_t(uint32_t(u16) * u16)");
  CHECK(cpp("0 <= i64 < 10") == "0 <= i64 && i64 < 10");
  CHECK(cpp("b or b and not b") == "b || (b && !b)");
  CHECK(cpp("f64 if b else 0") == "b ? f64 : 0.0");
  CHECK(cpp("dace.int32(f64)") == "sdfg_to_int<int32_t>(f64)");
  CHECK(cpp("dace.float32(i64)") == "float(i64)");
  CHECK(cpp("max(f32, 0)") == "sdfg_max(f32, 0.0f)");
  CHECK(cpp("min(i64, 10)") == "sdfg_min(i64, 10)");
  CHECK(cpp("i64 // 2") == "sdfg_floor_div(i64, 2)");
  CHECK(cpp("u64 // 2") == "u64 / 2");
  CHECK(cpp("u64 % 8") == "u64 % 8");
  CHECK(cpp("f64 ** 3") == "f64 * f64 * f64");
  CHECK(cpp("f64 ** 5") == "sdfg_powi(f64, 5)");
  CHECK(cpp("f64 ** -1") == "sdfg_powi(f64, -1)");
  CHECK(cpp("f64 ** 0.5") == "sdfg_pow(f64, 0.5)");
  CHECK(cpp("f64 ** f64b") == "sdfg_pow(f64, f64b)");
  CHECK(cpp("i64 ** 4") == "sdfg_ipow(i64, 4)");
  CHECK(cpp("f16 + f16") == "sdfg_float16(float(f16) + float(f16))");
  CHECK(cpp("f16 * 2") == "sdfg_float16(float(f16) * 2.0f)");
  CHECK(cpp("c128 * 2j") == "c128 * sdfg_complex128(0.0, 2.0)");
  CHECK(cpp("c128 + f64") == "c128 + sdfg_complex128(f64)");
  CHECK(cpp("abs(c64)") == "sdfg_cabs(c64)");
  CHECK(cpp("c64.real") == "c64.re");
  CHECK(cpp("i64 << 3") == "i64 << 3");
  CHECK(cpp("i64 << i64b") == "sdfg_shl<int64_t>(i64, i64b)");
  CHECK(cpp("exp(-f64)") == "sdfg_exp(-f64)");
}

TEST_CASE("literals are exact") {
  CHECK(cpp("0.1") == "0.1");
  CHECK(cpp("dace.float32(0.1)") == "0.1f");
  CHECK(cpp("1e300 * 10") == "1e+300 * 10.0");
  CHECK(cpp("inf") == "SDFG_INF");
  CHECK(cpp("-inf") == "-SDFG_INF");
  CHECK(cpp("dace.float32(nan)") == "SDFG_NANF");
  CHECK(cpp("5000000000") == "5000000000L");
  CHECK(cpp("-9223372036854775808") == "(-9223372036854775807L - 1)");
  CHECK(cpp("i64 - -1") == "i64 - -1");
  CHECK(cpp_literal(Expr::literal(std::int64_t{2}, ScalarType::kInt64)) == "2L");
  CHECK(cpp_literal(Expr::literal(std::int64_t{-1}, ScalarType::kUInt64)) == "18446744073709551615UL");
  CHECK(cpp_literal(Expr::literal(std::int64_t{3}, ScalarType::kInt8)) == "int8_t(3)");
}

TEST_CASE("facts turn floor division into division") {
  CppStyle style;
  style.nonnegative = [](const Expr& e) { return to_python(e) == "i64"; };
  CHECK(to_cpp(typed("i64 // 4"), style) == "i64 / 4");
  CHECK(to_cpp(typed("i64 % 4"), style) == "i64 % 4");
  CHECK(to_cpp(typed("i64b // 4"), style) == "sdfg_floor_div(i64b, 4)");
  CHECK(to_cpp(typed("i64 // i64b"), style) == "sdfg_floor_div(i64, i64b)");
}

TEST_CASE("names, subscripts, calls and stores are spelled by the caller") {
  CppStyle style;
  style.name = [](std::string_view name, const Type&) { return "(*" + std::string(name) + ")"; };
  style.subscript = [](const Subscript& node, std::span<const std::string> indices) {
    return node.base + "[" + node.base + "_idx(" + indices[0] + ", " + indices[1] + ")]";
  };
  style.call = [](std::string_view callee, std::span<const std::string> args) {
    return "env->" + std::string(callee) + "(" + args[0] + ")";
  };
  style.store = [](const Expr& target, const std::string& value) -> std::optional<std::string> {
    return "push(" + to_python(target) + ", " + value + ")";
  };
  CHECK(to_cpp(typed("A[i64, i64 + 1] * f64"), style) == "A[A_idx((*i64), (*i64) + 1)] * (*f64)");
  CHECK(to_cpp(typed("cb(f32)"), style) == "env->cb((*f32))");
  CHECK(to_cpp(infer_types(parse_body("f64 += 1"), tests::environment()), {}, style)[0].text ==
        "push(f64, (*f64) + 1.0);");
  CHECK_THROWS_AS(to_cpp(typed("A[i64, i64]"), {}), Error);
}

TEST_CASE("statements become lines") {
  CHECK(lines_of("t = f64 * 2\nf64b = t + 1") == "const double t = f64 * 2.0;\nf64b = t + 1.0;\n");
  CHECK(lines_of("s = 0.0\nwhile i64 > 0:\n    s += f64\n    i64 -= 1\nf64b = s") ==
        "double s = 0.0;\nwhile (i64 > 0) {\n  s += f64;\n  i64 -= 1;\n}\nf64b = s;\n");
  CHECK(lines_of("if b:\n    t = f64\nelif i64 == 2:\n    t = 1\nelse:\n    t = 2\nf64b = t") ==
        "double t = 0.0;\nif (b) {\n  t = f64;\n} else if (i64 == 2) {\n  t = 1.0;\n} else {\n  t = 2.0;\n}\nf64b = "
        "t;\n");
  CHECK(lines_of("if b:\n    t = f64\n    f64b = t") == "if (b) {\n  const double t = f64;\n  f64b = t;\n}\n");
  CHECK(lines_of("i32 = f64\ni32 += f64\nf32 = f64\nb = i64\nf16 = f64") ==
        "i32 = sdfg_to_int<int32_t>(f64);\ni32 = sdfg_to_int<int32_t>(i32 + f64);\nf32 = f64;\nb = i64;\nf16 = "
        "sdfg_float16(f64);\n");
  CHECK(lines_of("i64 //= 3\ni8 += 1\nf16 *= 2") ==
        "i64 = sdfg_floor_div(i64, 3);\ni8 += 1;\nf16 = sdfg_float16(float(f16) * 2.0f);\n");
  CHECK(lines_of("for i in range(i64): f64 += i") ==
        "int64_t __range0 = 0;\nconst int64_t __stop0 = i64;\nwhile (__range0 < __stop0) {\n  const int64_t i = "
        "__range0;\n  __range0 += 1;\n"
        "  f64 += i;\n}\n");
}

TEST_CASE("only the helpers that occur are emitted, after what they use") {
  const std::string none = cpp_helpers("double x = y;");
  CHECK(none.find("sdfg_") == std::string::npos);
  const std::string text = cpp_helpers("a = sdfg_floor_div(i, 2);");
  CHECK(text.find("sdfg_quo") < text.find("sdfg_floor_div"));
  CHECK(text.find("sdfg_fmod") != std::string::npos);
  CHECK(text.find("sdfg_complex") == std::string::npos);
  CHECK(is_cpp_helper("sdfg_max"));
  CHECK_FALSE(is_cpp_helper("sdfg_something"));
  for (const char* name :
       {"sdfg_min", "sdfg_max", "sdfg_floor_div", "sdfg_ceil_div", "sdfg_mod", "sdfg_ipow", "sdfg_abs"})
    CHECK(is_cpp_helper(name));
}

}  // namespace print_cpp_test
