// Types of expressions, weak literals, powers, locals.
#include <catch2/catch.hpp>
#include <map>

#include "tasklet/code.hpp"

namespace infer_test {

using namespace sdfg;
using namespace sdfg::tasklet;

namespace {

using Names = std::map<std::string, Type, std::less<>>;

TypeEnvironment environment(const Names& names) {
  TypeEnvironment env;
  env.name = [&names](std::string_view name) -> std::optional<Type> {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional<Type>(found->second);
  };
  env.element = [](std::string_view base) -> std::optional<Type> {
    return base == "A" ? std::optional<Type>(ScalarType::kFloat32) : std::nullopt;
  };
  return env;
}

const Names kNames = {{"b", ScalarType::kBool},
                      {"i8", ScalarType::kInt8},
                      {"u8", ScalarType::kUInt8},
                      {"i32", ScalarType::kInt32},
                      {"u32", ScalarType::kUInt32},
                      {"i64", ScalarType::kInt64},
                      {"f16", ScalarType::kFloat16},
                      {"f32", ScalarType::kFloat32},
                      {"f64", ScalarType::kFloat64},
                      {"c64", ScalarType::kComplex64},
                      {"p", Type::pointer(ScalarType::kInt16)},
                      {"v", Type::vector(ScalarType::kFloat32, 4)},
                      {"st", Type::structure("Pt", {{"x", ScalarType::kFloat32}, {"n", ScalarType::kInt16}})},
                      {"cb", Type::callback({ScalarType::kFloat64}, {ScalarType::kFloat32})}};

Expr typed(const std::string& text) {
  return infer_types(parse_expression(text), environment(kNames));
}
std::string type_of(const std::string& text) {
  const Expr e = typed(text);
  CHECK(infer_types(e, environment(kNames)) == e);                               // idempotent
  CHECK(infer_types(parse_expression(to_python(e)), environment(kNames)) == e);  // and readable
  return e.type().str();
}

std::string failure(const std::string& text) {
  try {
    infer_types(parse_body(text), environment(kNames));
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("operators give promoted types") {
  CHECK(type_of("i8 + i8") == "int8");
  CHECK(type_of("i8 + u8") == "uint8");
  CHECK(type_of("i32 + i64") == "int64");
  CHECK(type_of("i32 * f32") == "float32");
  CHECK(type_of("f32 + f64") == "float64");
  CHECK(type_of("f16 * f32") == "float32");
  CHECK(type_of("c64 + f64") == "complex128");
  CHECK(type_of("b + b") == "int32");
  CHECK(type_of("b & b") == "bool");
  CHECK(type_of("~b") == "bool");
  CHECK(type_of("i32 / i32") == "float64");
  CHECK(type_of("f32 / i64") == "float32");
  CHECK(type_of("i32 // i64") == "int64");
  CHECK(type_of("i32 << 2") == "int32");
  CHECK(type_of("f32 < i32") == "bool");
  CHECK(type_of("f32 and i32") == "bool");
  CHECK(type_of("v * f32") == "vector<float32, 4>");
  CHECK(type_of("st.x * st.n") == "float32");
  CHECK(type_of("p[3]") == "int16");
  CHECK(type_of("A[i32]") == "float32");
  CHECK(type_of("cb(1)") == "float64");
  CHECK(type_of("c64.real") == "float32");
  CHECK(type_of("p is None") == "bool");
}

TEST_CASE("weak literals take the type of the other operand") {
  CHECK(type_of("i8 + 1") == "int8");
  CHECK(type_of("i8 + 300") == "int64");
  CHECK(type_of("u8 + -1") == "int64");
  CHECK(type_of("f32 * 2") == "float32");
  CHECK(type_of("2 - f16") == "float16");
  CHECK(type_of("f32 * 2.0") == "float64");
  CHECK(type_of("1 + 2") == "int64");
  CHECK(type_of("i32 + (2 * 3 - 1)") == "int32");
  CHECK(type_of("max(f32, 0)") == "float32");
  CHECK(type_of("0 if b else f32") == "float32");
  CHECK(type_of("i32 + (1 if b else 0)") == "int32");
  CHECK(type_of("1 / 2") == "float64");
  CHECK(type_of("c64 * 2") == "complex64");
  CHECK(type_of("b + 1") == "int64");
  CHECK(type_of("i64 == 18446744073709551615") == "bool");
}

TEST_CASE("functions give the types of their rule") {
  CHECK(type_of("sin(i32)") == "float64");
  CHECK(type_of("sin(f32)") == "float32");
  CHECK(type_of("sqrt(c64)") == "complex64");
  CHECK(type_of("abs(c64)") == "float32");
  CHECK(type_of("abs(i8)") == "int8");
  CHECK(type_of("floor(f16)") == "float16");
  CHECK(type_of("isnan(f16)") == "bool");
  CHECK(type_of("gcd(i8, i32)") == "int32");
  CHECK(type_of("dace.complex64(f32, f32)") == "complex64");
  CHECK(type_of("heaviside(f32, 0)") == "float32");
}

TEST_CASE("powers are resolved") {
  const auto text = [](const std::string& t) { return to_python(typed(t)); };
  CHECK(text("f64 ** dace.float64(2)") == "(f64 ** 2)");
  CHECK(text("f32 ** 2.0") == "(dace.float64(f32) ** 2)");
  CHECK(text("f32 ** dace.float32(3)") == "(f32 ** 3)");
  CHECK(text("f64 ** 0.5") == "(f64 ** 0.5)");
  CHECK(text("f64 ** -0.5") == "(f64 ** (- 0.5))");
  CHECK(text("f64 ** 2.5") == "(f64 ** 2.5)");
  CHECK(text("f64 ** 100.0") == "(f64 ** 100.0)");
  CHECK(text("i32 ** -1") == "(dace.float64(i32) ** (- 1))");
  CHECK(text("c64 ** dace.complex64(2)") == "(c64 ** 2)");
  CHECK(type_of("i32 ** 2") == "int32");
  CHECK(type_of("i32 ** i64") == "int64");
  CHECK(type_of("f32 ** i64") == "float32");
  CHECK(type_of("f32 ** 0") == "float32");
  CHECK(type_of("2 ** i32") == "int32");
}

TEST_CASE("locals get the promoted type of their assignments") {
  const auto locals_of = [](const std::string& text) {
    std::vector<std::pair<std::string, Type>> locals;
    const Body body = infer_types(parse_body(text), environment(kNames), &locals);
    std::vector<std::pair<std::string, Type>> again;
    CHECK(equal(infer_types(body, environment(kNames), &again), body));
    CHECK(again == locals);
    std::string result;
    for (const auto& [name, type] : locals) result += name + ":" + type.str() + " ";
    return result;
  };
  CHECK(locals_of("t = f32 * f32\nf64 = t") == "t:float32 ");
  CHECK(locals_of("s = 0\nwhile b:\n    s += f32\n    k = s") == "s:float32 k:float32 ");
  CHECK(locals_of("s = 0\ns = s + i32\ns = f64") == "s:float64 ");
  CHECK(locals_of("x = y\ny = f32\nx = 1").empty() == false);
  CHECK(locals_of("for i in range(i32): i64 += i") == "__range0:int64 __stop0:int32 i:int64 ");
  CHECK(locals_of("i32 = 3").empty());
}

TEST_CASE("assigned literals take the type of the target") {
  const Body body = infer_types(parse_body("f32 = 0\ni8 += 1"), environment(kNames));
  CHECK(std::get<Assign>(body[0].node).value.type() == Type(ScalarType::kFloat32));
  CHECK(std::get<Update>(body[1].node).value.type() == Type(ScalarType::kInt8));
}

TEST_CASE("what has no type is named") {
  CHECK(failure("i32 = zz + 1") == "The name 'zz' is not known in this code.");
  CHECK(failure("i32 = foo(1)") == "The function 'foo' is not known in this code.");
  CHECK(failure("i32 = B[0]") == "The array 'B' is not known in this code.");
  CHECK(failure("i32 = A[f32]") == "The index 'f32' of 'A' has the type float32, not an integer type.");
  CHECK(failure("i32 = f32 & i32") == "Operator '&' is not defined for operands of types float32 and int32.");
  CHECK(failure("b = c64 < f32") == "Operator '<' is not defined for operands of types complex64 and float32.");
  CHECK(failure("f32 = erf(c64)") == "Function 'erf' is not defined for arguments of types (complex64).");
  CHECK(failure("x = x + 1").find("'x' is read, but no assignment gives it a type") != std::string::npos);
  CHECK(failure("i32 = st").find("cannot be assigned to 'i32'") != std::string::npos);
}

}  // namespace infer_test
