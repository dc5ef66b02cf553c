// Values and their arithmetic against the C++ standard library and NumPy's rules.
#include "tasklet/value.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tasklet/half.hpp"
#include "typed_names.hpp"

namespace value_test {

using namespace sdfg;
using namespace sdfg::tasklet;
using tests::typed;

namespace {

Value f64(double v) {
  return Value::floating(v);
}
Value f32(double v) {
  return Value::floating(v, ScalarType::kFloat32);
}
Value i64(std::int64_t v) {
  return Value::integer(v);
}
Value i32(std::int64_t v) {
  return Value::integer(v, ScalarType::kInt32);
}
Value i8(std::int64_t v) {
  return Value::integer(v, ScalarType::kInt8);
}
Value u64(std::uint64_t v) {
  return Value::integer(static_cast<std::int64_t>(v), ScalarType::kUInt64);
}

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text(const Value& v) {
  return std::string(to_string(v.type())) + " " + v.str();
}
std::string op(BinaryOp o, const Value& a, const Value& b) {
  return text(apply(o, a, b));
}
std::string fn(Function f, std::vector<Value> args) {
  return text(tasklet::apply(f, std::span<const Value>(args)));
}

}  // namespace

TEST_CASE("integers wrap in their type") {
  CHECK(op(BinaryOp::kAdd, i8(127), i8(1)) == "int8 -128");
  CHECK(op(BinaryOp::kMul, i8(100), i8(3)) == "int8 44");
  CHECK(op(BinaryOp::kAdd, i64(kMax), i64(1)) == "int64 -9223372036854775808");
  CHECK(op(BinaryOp::kSub, u64(0), u64(1)) == "uint64 18446744073709551615");
  CHECK(op(BinaryOp::kMul, i32(65536), i32(65536)) == "int32 0");
  CHECK(text(apply(UnaryOp::kNegate, i8(-128))) == "int8 -128");
  CHECK(text(apply(UnaryOp::kBitNot, Value::integer(1, ScalarType::kUInt8))) == "uint8 254");
  CHECK(text(apply(UnaryOp::kBitNot, Value::boolean(true))) == "bool False");
  CHECK(op(BinaryOp::kLess, i64(-1), u64(1)) == "bool False");
}

TEST_CASE("floor division and modulo follow Python's signs") {
  CHECK(op(BinaryOp::kFloorDiv, i64(-7), i64(2)) == "int64 -4");
  CHECK(op(BinaryOp::kMod, i64(-7), i64(2)) == "int64 1");
  CHECK(op(BinaryOp::kFloorDiv, i64(7), i64(-2)) == "int64 -4");
  CHECK(op(BinaryOp::kMod, i64(7), i64(-2)) == "int64 -1");
  CHECK(op(BinaryOp::kFloorDiv, f64(-7), f64(2)) == "float64 -4.0");
  CHECK(op(BinaryOp::kMod, f64(-7), f64(2)) == "float64 1.0");
  CHECK(op(BinaryOp::kFloorDiv, f64(1), f64(0.1)) == "float64 9.0");
  CHECK(op(BinaryOp::kMod, f64(-0.0), f64(3)) == "float64 0.0");
  CHECK(op(BinaryOp::kMod, f64(3), f64(-3)) == "float64 -0.0");
  CHECK(op(BinaryOp::kFloorDiv, f64(1), f64(0)) == "float64 inf");
  CHECK(fn(Function::kCppMod, {i64(-7), i64(2)}) == "int64 -1");
  CHECK(fn(Function::kIntCeil, {i64(7), i64(2)}) == "int64 4");
  CHECK(fn(Function::kIntCeil, {i64(-7), i64(2)}) == "int64 -3");
  for (std::int64_t a = -9; a <= 9; ++a) {
    for (std::int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      CHECK(apply(BinaryOp::kFloorDiv, i64(a), i64(b)).as_int() ==
            static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
      CHECK(apply(BinaryOp::kFloorDiv, i64(a), i64(b)).as_int() * b + apply(BinaryOp::kMod, i64(a), i64(b)).as_int() ==
            a);
    }
  }
}

TEST_CASE("integer division never traps") {
  CHECK(op(BinaryOp::kFloorDiv, i64(5), i64(0)) == "int64 0");
  CHECK(op(BinaryOp::kMod, i64(5), i64(0)) == "int64 0");
  CHECK(op(BinaryOp::kFloorDiv, i64(kMin), i64(-1)) == "int64 -9223372036854775808");
  CHECK(op(BinaryOp::kMod, i64(kMin), i64(-1)) == "int64 0");
  CHECK(op(BinaryOp::kDiv, i64(1), i64(0)) == "float64 inf");
}

TEST_CASE("shifts beyond the width give zero or the sign") {
  CHECK(op(BinaryOp::kShiftLeft, i32(1), i32(31)) == "int32 -2147483648");
  CHECK(op(BinaryOp::kShiftLeft, i32(1), i32(32)) == "int32 0");
  CHECK(op(BinaryOp::kShiftLeft, i32(1), i32(-1)) == "int32 0");
  CHECK(op(BinaryOp::kShiftRight, i32(-8), i32(1)) == "int32 -4");
  CHECK(op(BinaryOp::kShiftRight, i32(-8), i32(40)) == "int32 -1");
  CHECK(op(BinaryOp::kShiftRight, u64(8), u64(64)) == "uint64 0");
}

TEST_CASE("powers") {
  CHECK(op(BinaryOp::kPow, i64(3), i64(4)) == "int64 81");
  CHECK(op(BinaryOp::kPow, i64(0), i64(0)) == "int64 1");
  CHECK(op(BinaryOp::kPow, i64(-2), i64(0)) == "int64 1");
  CHECK(op(BinaryOp::kPow, i64((std::int64_t{1} << 53) + 1), i64(1)) == "int64 9007199254740993");
  CHECK(op(BinaryOp::kPow, i64(2), i64(-1)) == "int64 0");
  CHECK(op(BinaryOp::kPow, i64(-1), i64(-3)) == "int64 -1");
  CHECK(op(BinaryOp::kPow, u64(3), u64(41)) == "uint64 " + std::to_string([] {
                                                 std::uint64_t r = 1;
                                                 for (int i = 0; i < 41; ++i) r *= 3;
                                                 return r;
                                               }()));
  CHECK(op(BinaryOp::kPow, f64(-2), i64(3)) == "float64 -8.0");
  CHECK(op(BinaryOp::kPow, f64(2), i64(-2)) == "float64 0.25");
  CHECK(op(BinaryOp::kPow, f64(1.0000001), i64(1000000)) == "float64 " + f64(std::pow(1.0000001, 1e6)).str());
  CHECK(op(BinaryOp::kPow, f64(2), f64(0.5)) == "float64 " + f64(std::pow(2, 0.5)).str());
  CHECK(op(BinaryOp::kPow, f64(kInf), i64(2)) == "float64 inf");
  CHECK(op(BinaryOp::kPow, Value::complex({0, 1}), i64(2)) == "complex128 (-1.0+0.0j)");
  CHECK(fn(Function::kIpow, {f32(3), i64(3)}) == "float32 27.0");
}

TEST_CASE("minimum and maximum prefer numbers to NaN") {
  CHECK(fn(Function::kMin, {f64(kNan), f64(1)}) == "float64 1.0");
  CHECK(fn(Function::kMax, {f64(1), f64(kNan)}) == "float64 1.0");
  CHECK(fn(Function::kMax, {f64(kNan), f64(kNan)}) == "float64 nan");
  CHECK(fn(Function::kMin, {i8(-3), Value::integer(2, ScalarType::kInt16)}) == "int16 -3");
}

TEST_CASE("arithmetic rounds in its type") {
  CHECK(op(BinaryOp::kAdd, f32(1), f32(1e-8)) == "float32 1.0");
  CHECK(op(BinaryOp::kDiv, f32(1), f32(3)) == "float32 " + f32(1.0F / 3.0F).str());
  CHECK(op(BinaryOp::kMul, Value::floating(0.1, ScalarType::kFloat16), Value::floating(3, ScalarType::kFloat16))
            .starts_with("float16 0.2998"));
  CHECK(op(BinaryOp::kAdd, Value::floating(256, ScalarType::kBFloat16), Value::floating(1, ScalarType::kBFloat16)) ==
        "bfloat16 256.0");
  CHECK(op(BinaryOp::kAdd, Value::floating(60000, ScalarType::kFloat16),
           Value::floating(60000, ScalarType::kFloat16)) == "float16 inf");
  CHECK(op(BinaryOp::kAdd, Value::floating(1, ScalarType::kFloat16), Value::floating(1, ScalarType::kBFloat16)) ==
        "float32 2.0");
}

TEST_CASE("casts saturate, wrap and round as documented") {
  CHECK(text(f64(1e300).cast(ScalarType::kInt32)) == "int32 2147483647");
  CHECK(text(f64(-1e300).cast(ScalarType::kInt64)) == "int64 -9223372036854775808");
  CHECK(text(f64(kNan).cast(ScalarType::kInt8)) == "int8 0");
  CHECK(text(f64(-1.5).cast(ScalarType::kUInt8)) == "uint8 0");
  CHECK(text(f64(300).cast(ScalarType::kUInt8)) == "uint8 255");
  CHECK(text(f64(1e19).cast(ScalarType::kUInt64)) == "uint64 10000000000000000000");
  CHECK(text(f64(-2.9).cast(ScalarType::kInt16)) == "int16 -2");
  CHECK(text(i64(300).cast(ScalarType::kInt8)) == "int8 44");
  CHECK(text(i64((1 << 24) + 1).cast(ScalarType::kFloat32)) == "float32 16777216.0");
  CHECK(text(u64(~std::uint64_t{0}).cast(ScalarType::kFloat64)) == "float64 18446744073709551616.0");
  CHECK(text(f64(kNan).cast(ScalarType::kBool)) == "bool True");
  CHECK(text(Value::complex({3, 4}).cast(ScalarType::kFloat32)) == "float32 3.0");
  // Both halves of a tie, and a double that must not round twice.
  CHECK(text(f64(1.0 + 0x1p-11 + 0x1p-40).cast(ScalarType::kFloat16)) ==
        text(f64(1.0 + 0x1p-10).cast(ScalarType::kFloat16)));
  CHECK(text(f64(1.0 + 0x1p-11).cast(ScalarType::kFloat16)) == "float16 1.0");
  CHECK(text(f64(1.0 + 0x1p-8 + 0x1p-40).cast(ScalarType::kBFloat16)) ==
        text(f64(1.0 + 0x1p-7).cast(ScalarType::kBFloat16)));
}

TEST_CASE("all 16-bit patterns survive a round trip") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const BFloat16 bfloat{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(to_float(half)) &&
        !(half_from(to_float(half)) == half && half_from(static_cast<double>(to_float(half))) == half))
      FAIL(bits);
    if (!std::isnan(to_float(bfloat)) && !(bfloat16_from(to_float(bfloat)) == bfloat)) FAIL(bits);
  }
  CHECK(to_float(Half{0x3C00}) == 1.0F);
  CHECK(to_float(Half{0x0001}) == 0x1p-24F);
  CHECK(half_from(65519.0).bits == 0x7BFF);
  CHECK(half_from(65520.0).bits == 0x7C00);
}

TEST_CASE("memory holds every type") {
  for (int t = 0; t < kScalarTypeCount; ++t) {
    const auto type = static_cast<ScalarType>(t);
    const Value v = is_complex(type) ? Value::complex({1.5, -2}, type) : Value::floating(-1.5).cast(type);
    std::array<unsigned char, 16> memory{};
    v.store(memory.data());
    CHECK(Value::load(memory.data(), type) == v);
  }
}

TEST_CASE("functions agree with the standard library") {
  const std::pair<Function, double (*)(double)> unary[] = {
      {Function::kExp, std::exp},       {Function::kExp2, std::exp2},       {Function::kExpm1, std::expm1},
      {Function::kLog, std::log},       {Function::kLog2, std::log2},       {Function::kLog10, std::log10},
      {Function::kLog1p, std::log1p},   {Function::kSqrt, std::sqrt},       {Function::kCbrt, std::cbrt},
      {Function::kSin, std::sin},       {Function::kCos, std::cos},         {Function::kTan, std::tan},
      {Function::kAsin, std::asin},     {Function::kAcos, std::acos},       {Function::kAtan, std::atan},
      {Function::kSinh, std::sinh},     {Function::kCosh, std::cosh},       {Function::kTanh, std::tanh},
      {Function::kAsinh, std::asinh},   {Function::kAcosh, std::acosh},     {Function::kAtanh, std::atanh},
      {Function::kErf, std::erf},       {Function::kErfc, std::erfc},       {Function::kLgamma, std::lgamma},
      {Function::kTgamma, std::tgamma}, {Function::kCeil, std::ceil},       {Function::kFloor, std::floor},
      {Function::kTrunc, std::trunc},   {Function::kRound, std::nearbyint}, {Function::kAbs, std::fabs}};
  for (const auto& [f, reference] : unary) {
    for (const double x : {0.25, 0.9, 1.5, 2.5, -0.5, 7.0}) CHECK(fn(f, {f64(x)}) == text(f64(reference(x))));
  }
  CHECK(fn(Function::kRound, {f64(2.5)}) == "float64 2.0");
  CHECK(fn(Function::kSin, {f32(0.3F)}) == text(f32(std::sin(0.3F))));
  CHECK(fn(Function::kSin, {i32(1)}) == text(f64(std::sin(1.0))));
  CHECK(fn(Function::kAtan2, {f64(1), f64(-2)}) == text(f64(std::atan2(1.0, -2.0))));
  CHECK(fn(Function::kHypot, {f64(3), f64(4)}) == "float64 5.0");
  CHECK(fn(Function::kPow, {i32(2), i32(-1)}) == "float64 0.5");
  CHECK(fn(Function::kSign, {f64(-3)}) == "float64 -1.0");
  CHECK(fn(Function::kSign, {f64(kNan)}) == "float64 nan");
  CHECK(fn(Function::kHeaviside, {f64(0)}) == "float64 0.5");
  CHECK(fn(Function::kHeaviside, {f64(0), f64(1)}) == "float64 1.0");
  CHECK(fn(Function::kGcd, {i64(-12), i64(18)}) == "int64 6");
  CHECK(fn(Function::kGcd, {i64(kMin), i64(0)}) == "int64 -9223372036854775808");
  CHECK(fn(Function::kLcm, {i64(4), i64(-6)}) == "int64 12");
  CHECK(fn(Function::kDeg2Rad, {f64(180)}) == text(f64(M_PI)));
  CHECK(fn(Function::kIsFinite, {Value::complex({1, kInf})}) == "bool False");
  CHECK(fn(Function::kSignbit, {f64(-0.0)}) == "bool True");
  CHECK(fn(Function::kFma, {f64(2), f64(3), f64(4)}) == "float64 10.0");
  CHECK(fn(Function::kMakeComplex, {f32(1), f32(2)}) == "complex64 (1.0+2.0j)");
}

TEST_CASE("complex functions agree with the standard library") {
  const std::pair<Function, std::complex<double> (*)(const std::complex<double>&)> unary[] = {
      {Function::kExp, std::exp},   {Function::kLog, std::log},   {Function::kSqrt, std::sqrt},
      {Function::kSin, std::sin},   {Function::kCos, std::cos},   {Function::kTan, std::tan},
      {Function::kSinh, std::sinh}, {Function::kCosh, std::cosh}, {Function::kTanh, std::tanh}};
  for (const auto& [f, reference] : unary) {
    for (const std::complex<double> z : {std::complex<double>(0.3, 0.7), {-1.2, 0.4}, {2, -3}, {-4, 0}, {0, -2}}) {
      const std::array<Value, 1> args{Value::complex(z)};
      CHECK(std::abs(tasklet::apply(f, args).as_complex() - reference(z)) <=
            1e-14 * std::max(1.0, std::abs(reference(z))));
    }
  }
  CHECK(op(BinaryOp::kMul, Value::complex({1, 2}), Value::complex({3, -1})) == "complex128 (5.0+5.0j)");
  CHECK(op(BinaryOp::kDiv, Value::complex({4, 2}), Value::complex({2, 2})) == "complex128 (1.5-0.5j)");
  CHECK(op(BinaryOp::kDiv, Value::complex({1e300, 1e300}), Value::complex({1e300, 1e300})) == "complex128 (1.0+0.0j)");
  CHECK(fn(Function::kAbs, {Value::complex({3, 4}, ScalarType::kComplex64)}) == "float32 5.0");
}

TEST_CASE("undefined operations are errors") {
  CHECK_THROWS_AS(apply(BinaryOp::kLess, Value::complex({1, 0}), f64(1)), Error);
  CHECK_THROWS_AS(apply(BinaryOp::kBitAnd, f64(1), i64(1)), Error);
  CHECK_THROWS_AS(fn(Function::kErf, {Value::complex({1, 0})}), Error);
}

namespace {

// Runs a body on float64 `x`, int64 `n` and an array `A` of three float64; gives the names written.
struct Run {
  std::map<std::string, Value, std::less<>> names{{"f64", f64(2.5)}, {"i64", i64(5)}, {"b", Value::boolean(false)}};
  std::array<double, 3> array{1, 2, 3};
  int calls = 0;

  void operator()(const std::string& source, std::int64_t max_steps = 1000) {
    std::vector<std::pair<std::string, Type>> locals;
    const Body body = infer_types(parse_body(source), tests::environment(), &locals);
    Machine machine;
    machine.max_steps = max_steps;
    machine.read_name = [this](std::string_view name) -> std::optional<Value> {
      const auto found = names.find(name);
      return found == names.end() ? std::nullopt : std::optional<Value>(found->second);
    };
    machine.write_name = [this](std::string_view name, const Value& v) {
      const auto found = names.find(name);
      if (found == names.end()) return false;
      found->second = v;
      return true;
    };
    machine.read_element = [this](std::string_view, std::span<const std::int64_t> i) {
      return f64(array.at(static_cast<std::size_t>(i[0])));
    };
    machine.write_element = [this](std::string_view, std::span<const std::int64_t> i, const Value& v) {
      array.at(static_cast<std::size_t>(i[0])) = v.as_double();
    };
    machine.call = [this](std::string_view, std::span<const Value> args) {
      ++calls;
      return f64(args[0].as_double() * 10);
    };
    execute(body, machine, locals);
  }
};

}  // namespace

TEST_CASE("bodies execute") {
  Run run;
  run("s = 0\nfor i in range(i64):\n    if i == 1: continue\n    if i == 4: break\n    s += i\ni64 = s");
  CHECK(run.names.at("i64").str() == "5");
  run("for i in range(2, -1, -1):\n    A[i] *= f64");
  CHECK(run.array == std::array<double, 3>{2.5, 5, 7.5});
  run("if f64 > 3:\n    b = True\nelif f64 > 2:\n    f64 = cb(f64)\nelse:\n    f64 = 0");
  CHECK(run.names.at("f64").str() == "25.0");
  CHECK(run.calls == 1);
  CHECK_FALSE(run.names.at("b").as_bool());
  run("i64 = f64 / 2");
  CHECK(text(run.names.at("i64")) == "int64 12");
  // The operand that is not needed is not read: A has no element 7.
  run("b = f64 < 0 and A[7] > 0\nf64 = A[7] if b else 1");
  CHECK(run.names.at("f64").str() == "1.0");
  CHECK_THROWS_AS(run("while True:\n    f64 += 1"), Error);
  CHECK_THROWS_AS(run("if b:\n    t = 1\ni64 = t"), Error);
  CHECK_THROWS_AS(run("f32 = 1.0\nf64 = u8"), Error);
}

TEST_CASE("scalar code and symbolic expressions translate into each other") {
  const auto view = [](const std::string& source) -> std::string {
    const std::optional<symbolic::Expr> e = to_symbolic(parse_expression(source));
    return e ? e->str() : "none";
  };
  using symbolic::Expr;
  const Expr n = Expr::symbol("N");
  const Expr i = Expr::symbol("i");
  CHECK(to_symbolic(parse_expression("(i + 1) * N - i")) == std::optional((i + 1) * n - i));
  CHECK(to_symbolic(parse_expression("N // 2 + N % 3")) ==
        std::optional(symbolic::floor_div(n, 2) + symbolic::mod(n, 3)));
  CHECK(to_symbolic(parse_expression("min(N, 4, i)")) == std::optional(symbolic::min(symbolic::min(n, 4), i)));
  CHECK(to_symbolic(parse_expression("int_ceil(N, 2)")) == std::optional(symbolic::ceil_div(n, 2)));
  CHECK(to_symbolic(parse_expression("ceiling(N / 2)")) == std::optional(symbolic::ceil_div(n, 2)));
  CHECK(to_symbolic(parse_expression("i < N and not (i == 3)")) ==
        std::optional(symbolic::logical_and(symbolic::lt(i, n), symbolic::ne(i, 3))));
  CHECK(to_symbolic(parse_expression("A[i, 2] + 1")) == std::optional(Expr::read("A", {i, 2}) + 1));
  CHECK(to_symbolic(parse_expression("N ** 2")) == std::optional(n * n));
  CHECK(view("N / 2") == "none");
  CHECK(view("N + 0.5") == "none");
  CHECK(view("sin(N)") == "none");
  CHECK(view("f(N)") == "none");
  CHECK(to_symbolic(typed("f64 > 1")) == std::nullopt);
  CHECK(to_symbolic(typed("i64 and b")) ==
        std::optional(symbolic::logical_and(symbolic::ne(Expr::symbol("i64"), 0), Expr::symbol("b"))));
  for (const Expr& e : {(i + 1) * n - i * 3, symbolic::floor_div(n, 2), symbolic::min(n, i - 4),
                        symbolic::select(symbolic::lt(i, n), i, n - 1), symbolic::mod(n, i), symbolic::ceil_div(n, 8),
                        symbolic::pow(n, i), symbolic::abs(n - i), symbolic::shift_left(Expr(1), i)}) {
    const tasklet::Expr code = from_symbolic(e);
    CHECK(code.type() == Type(ScalarType::kInt64));
    CHECK(to_symbolic(code) == std::optional(e));
  }
  CHECK(to_python(from_symbolic(n - i + 1)) == "((N - i) + 1)");
  CHECK(to_python(from_symbolic(symbolic::lt(i, n))) == "(i < N)");
  CHECK(from_symbolic(symbolic::lt(i, n)).type() == Type(ScalarType::kBool));
}

}  // namespace value_test
