// Generated C++ of typed expressions, compiled by Clang at -O2, against their evaluation, for every operator, function
// and type.
#include <dlfcn.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "../support/folder.hpp"
#include "tasklet/print_cpp.hpp"
#include "tasklet/value.hpp"
#include "typed_names.hpp"

namespace compiled_test {

using namespace sdfg;
using namespace sdfg::tasklet;

namespace {

constexpr std::size_t kSlot = 16;  // bytes per variable

struct Variable {
  std::string name;
  ScalarType type;
};

std::vector<Variable> variables() {
  std::vector<Variable> result;
  for (const auto& [name, type] : tests::names()) {
    if (type.is_scalar()) result.push_back({name, type.scalar()});
  }
  return result;
}

bool have_clang() {
  return std::system("clang++-22 --version > /dev/null 2>&1") == 0;
}

// A shared object of functions, one per expression, that is removed when the test ends.
class Compiled {
 public:
  Compiled(const std::vector<Expr>& exprs, const std::string& flags) {
    std::string code = "struct In {\n";
    for (const Variable& v : variables()) code += "  alignas(16) " + cpp_type(v.type) + " " + v.name + ";\n";
    code += "};\n";
    CppStyle style;
    style.name = [](std::string_view name, const Type&) { return "in." + std::string(name); };
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      code += "extern \"C\" void f" + std::to_string(i) + "(const In& in, " + cpp_type(exprs[i].type()) +
              "* out) { *out = " + to_cpp_as(exprs[i], exprs[i].type(), style) + "; }\n";
    }
    code = cpp_helpers(code) + code;
    std::ofstream(folder_ / "code.cpp") << code;
    const std::string base = folder_ / "code";
    const std::string command =
        "clang++-22 -std=c++20 -O2 -fwrapv -ffp-contract=off -Wall -Wno-unused-variable -Wno-tautological-compare "
        "-Wno-bool-operation "
        "-Wno-constant-logical-operand -Wno-self-assign -Wno-unused-function -Wno-literal-conversion -Werror -shared "
        "-fPIC " +
        flags + " -o " + base + ".so " + base + ".cpp -lm > " + base + ".log 2>&1";
    const int status = std::system(command.c_str());
    if (status != 0) {
      std::ifstream log(base + ".log");
      const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
      FAIL(text.substr(0, 4000));
    }
    handle_ = ::dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  Value run(std::size_t index, ScalarType type, const unsigned char* in) const {
    alignas(16) unsigned char out[16] = {};
    reinterpret_cast<void (*)(const void*, void*)>(::dlsym(handle_, ("f" + std::to_string(index)).c_str()))(in, out);
    return Value::load(out, type);
  }

 private:
  test::Folder folder_;
  void* handle_ = nullptr;
};

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }

  Value value(ScalarType type) {
    if (type == ScalarType::kBool) return Value::boolean(below(2) == 1);
    if (is_complex(type)) return Value::complex({real(), real()}, type);
    if (is_floating(type)) return Value::floating(real(), type);
    const std::int64_t edges[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  7,
                                  -5,
                                  63,
                                  64,
                                  std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max()};
    const int kind = below(4);
    if (kind == 0) return Value::integer(edges[below(std::size(edges))], type);
    if (kind == 1) return Value::integer(static_cast<std::int64_t>(engine_()), type);
    // The smallest and largest of the type and their neighbours.
    if (kind == 2) {
      const auto offset = static_cast<std::uint64_t>(std::int64_t{below(5)} - 2);  // unsigned: the sum may wrap
      return Value::integer(static_cast<std::int64_t>((std::uint64_t{1} << (8 * size_of(type) - 1)) + offset), type);
    }
    return Value::integer(below(41) - 20, type);
  }

 private:
  double real() {
    const double edges[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            0.5,
                            1.5,
                            2.5,
                            -2.5,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            1e-310,
                            3e38,
                            65504.0,
                            1e19,
                            -3e9,
                            5e-8,
                            255.5};
    const int kind = below(5);
    if (kind == 0) return edges[below(std::size(edges))];
    if (kind == 1) return below(201) - 100;
    if (kind == 2) return std::bit_cast<double>(engine_());
    return std::uniform_real_distribution<double>(-10, 10)(engine_);
  }
  std::mt19937_64 engine_;
};

using Row = std::vector<Value>;

Machine machine_of(const Row& row) {
  Machine machine;
  machine.read_name = [&row](std::string_view name) -> std::optional<Value> {
    static const std::vector<Variable> kVariables = variables();
    for (std::size_t i = 0; i < kVariables.size(); ++i) {
      if (kVariables[i].name == name) return row[i];
    }
    return std::nullopt;
  };
  return machine;
}

bool close(double a, double b, double scale, double ulps, ScalarType type) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (ulps == 0 || std::isinf(a) || std::isinf(b)) return false;
  const double epsilon = type == ScalarType::kFloat16    ? 0x1p-10
                         : type == ScalarType::kBFloat16 ? 0x1p-7
                         : type == ScalarType::kFloat32  ? 0x1p-23
                                                         : 0x1p-52;
  const double tiny = type == ScalarType::kFloat64 ? 5e-324 : type == ScalarType::kFloat32 ? 1.5e-45 : 6e-8;
  return std::fabs(a - b) <= ulps * std::max(epsilon * scale, tiny);
}

// Equal, where the sign of zero counts unless min or max chose it; `ulps` units for what the C library computed.
bool agree(const Value& a, const Value& b, double ulps, bool signed_zero) {
  if (a.type() != b.type()) return false;
  if (is_integer(a.type()) || a.type() == ScalarType::kBool) return a.as_int() == b.as_int();
  const std::complex<double> x = a.as_complex();
  const std::complex<double> y = b.as_complex();
  const double scale = std::max(std::fabs(x.real()), std::fabs(x.imag()));
  const ScalarType part = component_of(a.type());
  const auto zero_signs = [](double p, double q) { return p != 0 || q != 0 || std::signbit(p) == std::signbit(q); };
  if (!close(x.real(), y.real(), scale, ulps, part) || !close(x.imag(), y.imag(), scale, ulps, part)) return false;
  return !signed_zero || ulps > 0 || (zero_signs(x.real(), y.real()) && zero_signs(x.imag(), y.imag()));
}

bool mentions_min_max(const Expr& e) {
  if (const Call* call = std::get_if<Call>(&e.node())) {
    if (call->function == Function::kMin || call->function == Function::kMax) return true;
  }
  for (const Expr& child : e.children()) {
    if (mentions_min_max(child)) return true;
  }
  return false;
}

void compare(const std::vector<Expr>& exprs, std::uint64_t seed, double ulps, const std::string& flags,
             int row_count = 60) {
  const std::vector<Variable> all = variables();
  Rng rng(seed);
  std::vector<Row> rows;
  for (int r = 0; r < row_count; ++r) {
    Row row;
    for (const Variable& v : all) row.push_back(rng.value(v.type));
    rows.push_back(std::move(row));
  }
  const Compiled compiled(exprs, flags);
  std::vector<unsigned char> in(all.size() * kSlot + 16);
  unsigned char* base = in.data() + (16 - reinterpret_cast<std::uintptr_t>(in.data()) % 16) % 16;
  int failures = 0;
  for (const Row& row : rows) {
    for (std::size_t v = 0; v < all.size(); ++v) row[v].store(base + v * kSlot);
    const Machine machine = machine_of(row);
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      const ScalarType type = exprs[i].type().scalar();
      const Value expected = evaluate(exprs[i], machine);
      const Value got = compiled.run(i, type, base);
      if (agree(expected, got, ulps, !mentions_min_max(exprs[i]))) continue;
      std::string values;
      for (const std::string& name : uses_of(exprs[i]).read)
        values += " " + name + "=" + machine.read_name(name)->str();
      UNSCOPED_INFO(to_python(exprs[i]) << " -> " << to_cpp(exprs[i], {}) << ": evaluated " << expected.str()
                                        << ", compiled " << got.str() << " with" << values);
      if (++failures == 20) FAIL("and more");
    }
  }
  CHECK(failures == 0);
}

std::optional<Expr> try_typed(const Expr& e) {
  try {
    return infer_types(e, tests::environment());
  } catch (const Error&) {
    return std::nullopt;
  }
}

const BinaryOp kAllBinary[] = {BinaryOp::kAdd,          BinaryOp::kSub,       BinaryOp::kMul,        BinaryOp::kDiv,
                               BinaryOp::kFloorDiv,     BinaryOp::kMod,       BinaryOp::kBitAnd,     BinaryOp::kBitOr,
                               BinaryOp::kBitXor,       BinaryOp::kShiftLeft, BinaryOp::kShiftRight, BinaryOp::kEqual,
                               BinaryOp::kNotEqual,     BinaryOp::kLess,      BinaryOp::kLessEqual,  BinaryOp::kGreater,
                               BinaryOp::kGreaterEqual, BinaryOp::kAnd,       BinaryOp::kOr};

// Functions without rounding freedom.
const Function kExact[] = {
    Function::kMin,        Function::kMax,         Function::kAbs,     Function::kSign,    Function::kRound,
    Function::kCeil,       Function::kFloor,       Function::kTrunc,   Function::kSqrt,    Function::kIsNan,
    Function::kIsInf,      Function::kIsFinite,    Function::kSignbit, Function::kConj,    Function::kReal,
    Function::kImag,       Function::kMakeComplex, Function::kGcd,     Function::kLcm,     Function::kHeaviside,
    Function::kReciprocal, Function::kIntFloor,    Function::kIntCeil, Function::kCppMod,  Function::kFmod,
    Function::kCopysign,   Function::kFma,         Function::kDeg2Rad, Function::kRad2Deg, Function::kRsqrt};

Expr random_expr(Rng& rng, int depth, const std::vector<Variable>& all) {
  if (depth == 0 || rng.below(8) == 0) {
    const int kind = rng.below(6);
    if (kind == 0) return Expr::weak(rng.below(12) - 3);
    if (kind == 1) return Expr::literal(0.25 * (rng.below(40) - 20));
    return Expr::name(all[static_cast<std::size_t>(rng.below(static_cast<int>(all.size())))].name);
  }
  const auto inner = [&] { return random_expr(rng, depth - 1, all); };
  switch (rng.below(9)) {
    case 0: {
      const UnaryOp ops[] = {UnaryOp::kNegate, UnaryOp::kNot, UnaryOp::kBitNot};
      return Expr::unary(ops[rng.below(3)], inner());
    }
    case 1: return Expr::select(inner(), inner(), inner());
    case 2: return Expr::cast(static_cast<ScalarType>(rng.below(kScalarTypeCount)), inner());
    case 3: {
      // Square roots of complex numbers and their kin go through hypot.
      const Function f = kExact[rng.below(std::size(kExact))];
      std::vector<Expr> args{inner()};
      if (f == Function::kMin || f == Function::kMax || f == Function::kMakeComplex || f == Function::kGcd ||
          f == Function::kLcm || f == Function::kIntFloor || f == Function::kIntCeil || f == Function::kCppMod ||
          f == Function::kFmod || f == Function::kCopysign) {
        args.push_back(inner());
      }
      if (f == Function::kFma) args.insert(args.end(), {inner(), inner()});
      return Expr::call(f, std::move(args));
    }
    case 4: return Expr::binary(BinaryOp::kPow, inner(), Expr::weak(rng.below(8) - 2));
    default: return Expr::binary(kAllBinary[rng.below(std::size(kAllBinary))], inner(), inner());
  }
}

// Complex square roots and magnitudes use hypot, whose compiled form may differ in the last place. Which zero a minimum
// of 0.0 and -0.0 gives is not defined, and an operation on it may tell.
bool is_exact(const Expr& e, bool outermost = true) {
  const Call* call = std::get_if<Call>(&e.node());
  if (call != nullptr && is_complex(call->args[0].type().scalar()) &&
      (call->function == Function::kAbs || call->function == Function::kSqrt || call->function == Function::kRsqrt)) {
    return false;
  }
  const bool extremum = call != nullptr && (call->function == Function::kMin || call->function == Function::kMax);
  if (extremum && !outermost && is_floating(e.type().scalar())) return false;
  for (const Expr& child : e.children()) {
    if (!is_exact(child, false)) return false;
  }
  return true;
}

std::uint64_t first_seed() {
  const char* text = std::getenv("SDFG_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("compiled operators agree with evaluation on all pairs of types") {
  if (!have_clang()) {
    WARN("clang++-22 is not installed: the comparison with compiled code is skipped");
    return;
  }
  Rng rng(first_seed());
  std::vector<Expr> exprs;
  for (const BinaryOp op : kAllBinary) {
    for (const Variable& a : variables()) {
      for (const Variable& b : variables()) {
        // One of the four combinations of names of each pair of types; `bf16` starts with b, too.
        const bool second = a.name.size() > 1 && a.name.back() == 'b';
        const bool other = b.name.size() > 1 && b.name.back() == 'b';
        if (second || !other || rng.below(2) == 0) continue;
        if (const std::optional<Expr> e = try_typed(Expr::binary(op, Expr::name(a.name), Expr::name(b.name))))
          exprs.push_back(*e);
      }
    }
  }
  for (const Variable& a : variables()) {
    for (const UnaryOp op : {UnaryOp::kNegate, UnaryOp::kNot, UnaryOp::kBitNot}) {
      if (const std::optional<Expr> e = try_typed(Expr::unary(op, Expr::name(a.name)))) exprs.push_back(*e);
    }
    for (int t = 0; t < kScalarTypeCount; ++t) {
      if (const std::optional<Expr> e = try_typed(Expr::cast(static_cast<ScalarType>(t), Expr::name(a.name))))
        exprs.push_back(*e);
    }
    for (const char* text :
         {"@ ** 2", "@ ** 3", "@ ** 7",    "@ ** -3",    "@ ** 0", "@ ** 1", "2 ** @",        "@ << 3",
          "@ >> 3", "@ // 3", "@ % 7",     "7 // @",     "-7 % @", "@ + 1",  "1 - @",         "@ * 300",
          "@ / 3",  "@ == 2", "max(@, 3)", "min(@, -1)", "~@",     "@ & 6",  "@ if @ else 0", "3 if b else @"}) {
      std::string source(text);
      for (std::size_t at = source.find('@'); at != std::string::npos; at = source.find('@', at))
        source.replace(at, 1, a.name);
      if (const std::optional<Expr> e = try_typed(parse_expression(source))) {
        const Binary* power = std::get_if<Binary>(&e->node());
        const bool inexact = power != nullptr && power->op == BinaryOp::kPow && !is_integer(e->type().scalar()) &&
                             source.starts_with("2 **");
        if (!inexact) exprs.push_back(*e);
      }
    }
  }
  compare(exprs, first_seed(), 0, "-march=native");
  compare(exprs, first_seed() + 1, 0, "", 10);
}

TEST_CASE("compiled functions agree with evaluation") {
  if (!have_clang()) return;
  std::vector<Expr> exact;
  std::vector<Expr> rounded;
  for (int i = 0; i <= static_cast<int>(Function::kCppMod); ++i) {
    const auto f = static_cast<Function>(i);
    for (const Variable& a : variables()) {
      std::vector<std::vector<Expr>> forms{{Expr::name(a.name)}};
      for (const char* b : {"i32", "f32", "f64", "u8", "f16"}) forms.push_back({Expr::name(a.name), Expr::name(b)});
      forms.push_back({Expr::name(a.name),
                       Expr::name(a.name == "b" ? "bb" : a.name.substr(0, a.name.find_last_not_of('b') + 1) + "b")});
      forms.push_back({Expr::name(a.name), Expr::name("f64"), Expr::name("i8")});
      for (std::vector<Expr>& args : forms) {
        const std::optional<Expr> e = try_typed(Expr::call(f, std::move(args)));
        if (!e) continue;
        const bool is_pure =
            std::find(std::begin(kExact), std::end(kExact), f) != std::end(kExact) || (f == Function::kIpow);
        (is_pure && is_exact(*e) ? exact : rounded).push_back(*e);
      }
    }
  }
  compare(exact, first_seed() + 2, 0, "-march=native");
  compare(rounded, first_seed() + 3, 4, "-march=native");
}

TEST_CASE("compiled random expressions agree with evaluation") {
  if (!have_clang()) return;
  const std::vector<Variable> all = variables();
  Rng rng(first_seed() + 4);
  std::vector<Expr> exprs;
  while (exprs.size() < 600) {
    const std::optional<Expr> e = try_typed(random_expr(rng, 4, all));
    if (e && e->type().is_scalar() && is_exact(*e)) exprs.push_back(*e);
  }
  compare(exprs, first_seed() + 5, 0, "-march=native");
}

}  // namespace compiled_test
