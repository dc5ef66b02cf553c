// Scalar values of every element type and their exact machine arithmetic: what the interpreter and constant folding
// compute with.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

// A value of a basic type. float16/bfloat16/float32 are kept rounded to their type; integers wrapped to their width.
class Value {
 public:
  Value() = default;
  static Value boolean(bool v);
  static Value integer(std::int64_t v, ScalarType type = ScalarType::kInt64);  // wraps into type
  static Value floating(double v, ScalarType type = ScalarType::kFloat64);     // rounds to type
  static Value complex(std::complex<double> v, ScalarType type = ScalarType::kComplex128);
  static Value load(const void* memory, ScalarType type);
  void store(void* memory) const;

  ScalarType type() const noexcept { return type_; }
  bool as_bool() const;
  std::int64_t as_int() const;  // integers by value (uint64 by bits), floats truncated
  double as_double() const;
  std::complex<double> as_complex() const;
  Value cast(
      ScalarType to) const;  // C's conversions; out-of-range float to integer saturates (documented), NaN gives 0
  std::string str() const;
  bool operator==(const Value&) const = default;

 private:
  ScalarType type_ = ScalarType::kBool;
  std::variant<std::int64_t, double, std::complex<double>> value_ = std::int64_t{0};
};

Value apply(BinaryOp op, const Value& a, const Value& b);  // promotes first, then computes in the result type
Value apply(UnaryOp op, const Value& a);
Value apply(Function f, std::span<const Value> args);

// Running code. Connectors and locals live in `names`; subscripts go through the callbacks.
struct Machine {
  std::function<std::optional<Value>(std::string_view name)> read_name;       // not a local
  std::function<bool(std::string_view name, const Value& value)> write_name;  // false: it is a local
  std::function<Value(std::string_view base, std::span<const std::int64_t> indices)> read_element;
  std::function<void(std::string_view base, std::span<const std::int64_t> indices, const Value&)> write_element;
  std::function<Value(std::string_view callee, std::span<const Value> args)> call;
  std::int64_t max_steps = std::int64_t{1} << 40;
};
Value evaluate(const Expr& e, const Machine& machine);  // typed expressions only
void execute(const Body& body, const Machine& machine, const std::vector<std::pair<std::string, Type>>& locals);

}  // namespace sdfg::tasklet
