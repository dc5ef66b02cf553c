// Values: construction, memory, conversions, text.
#include "tasklet/value.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tasklet/half.hpp"

namespace sdfg::tasklet {

namespace {

std::int64_t wrap(std::int64_t v, ScalarType type) {
  switch (type) {
    case ScalarType::kBool: return v != 0 ? 1 : 0;
    case ScalarType::kInt8: return static_cast<std::int8_t>(v);
    case ScalarType::kInt16: return static_cast<std::int16_t>(v);
    case ScalarType::kInt32: return static_cast<std::int32_t>(v);
    case ScalarType::kUInt8: return static_cast<std::uint8_t>(v);
    case ScalarType::kUInt16: return static_cast<std::uint16_t>(v);
    case ScalarType::kUInt32: return static_cast<std::uint32_t>(v);
    case ScalarType::kInt64:
    case ScalarType::kUInt64:
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
    case ScalarType::kFloat32:
    case ScalarType::kFloat64:
    case ScalarType::kComplex64:
    case ScalarType::kComplex128: break;
  }
  return v;
}

double round_to(double v, ScalarType type) {
  switch (type) {
    case ScalarType::kFloat16: return static_cast<double>(to_float(half_from(v)));
    case ScalarType::kBFloat16: return static_cast<double>(to_float(bfloat16_from(v)));
    case ScalarType::kFloat32:
    case ScalarType::kComplex64: return static_cast<double>(static_cast<float>(v));
    case ScalarType::kBool:
    case ScalarType::kInt8:
    case ScalarType::kInt16:
    case ScalarType::kInt32:
    case ScalarType::kInt64:
    case ScalarType::kUInt8:
    case ScalarType::kUInt16:
    case ScalarType::kUInt32:
    case ScalarType::kUInt64:
    case ScalarType::kFloat64:
    case ScalarType::kComplex128: break;
  }
  return v;
}

// Truncates towards zero; saturates; NaN gives 0. The bits of a uint64 come as int64.
std::int64_t to_integer(double v, ScalarType type) {
  if (std::isnan(v)) return 0;
  const int bits = 8 * size_of(type);
  const bool has_sign = is_signed(type);
  const double limit = std::ldexp(1.0, has_sign ? bits - 1 : bits);  // one past the largest value
  if (v >= limit) {
    return has_sign ? std::numeric_limits<std::int64_t>::max() >> (64 - bits)
                    : static_cast<std::int64_t>(std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
  }
  if (has_sign)
    return v <= -limit ? std::numeric_limits<std::int64_t>::min() >> (64 - bits) : static_cast<std::int64_t>(v);
  if (v <= -1.0) return 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(v < 0 ? 0.0 : v));
}

// Integers become float16 and bfloat16 by way of float32, everything else with one rounding.
double integer_to_floating(std::int64_t v, ScalarType from, ScalarType to) {
  const bool large = from == ScalarType::kUInt64;
  if (to == ScalarType::kFloat64 || to == ScalarType::kComplex128) {
    return large ? static_cast<double>(static_cast<std::uint64_t>(v)) : static_cast<double>(v);
  }
  const float narrow = large ? static_cast<float>(static_cast<std::uint64_t>(v)) : static_cast<float>(v);
  return round_to(static_cast<double>(narrow), to);
}

template <typename T>
T read(const void* memory) {
  T v;
  std::memcpy(&v, memory, sizeof v);
  return v;
}

template <typename T>
void write(void* memory, T v) {
  std::memcpy(memory, &v, sizeof v);
}

std::string shortest(double v, ScalarType type) {
  if (std::isnan(v)) return "nan";
  char buffer[64];
  const auto result = type == ScalarType::kFloat32 || type == ScalarType::kComplex64
                          ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v))
                          : std::to_chars(buffer, buffer + sizeof buffer, v);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Value Value::boolean(bool v) {
  Value result;
  result.value_ = std::int64_t{v ? 1 : 0};
  return result;
}

Value Value::integer(std::int64_t v, ScalarType type) {
  if (is_floating(type) || is_complex(type)) return integer(v).cast(type);
  Value result;
  result.type_ = type;
  result.value_ = wrap(v, type);
  return result;
}

Value Value::floating(double v, ScalarType type) {
  if (is_complex(type)) return complex(v, type);
  Value result;
  result.type_ = is_floating(type) ? type : ScalarType::kFloat64;
  result.value_ = round_to(v, type);
  return is_floating(type) ? result : result.cast(type);
}

Value Value::complex(std::complex<double> v, ScalarType type) {
  Value result;
  result.type_ = is_complex(type) ? type : ScalarType::kComplex128;
  result.value_ = std::complex<double>(round_to(v.real(), type), round_to(v.imag(), type));
  return is_complex(type) ? result : result.cast(type);
}

Value Value::load(const void* memory, ScalarType type) {
  switch (type) {
    case ScalarType::kBool: return boolean(read<std::uint8_t>(memory) != 0);
    case ScalarType::kInt8: return integer(read<std::int8_t>(memory), type);
    case ScalarType::kInt16: return integer(read<std::int16_t>(memory), type);
    case ScalarType::kInt32: return integer(read<std::int32_t>(memory), type);
    case ScalarType::kInt64: return integer(read<std::int64_t>(memory), type);
    case ScalarType::kUInt8: return integer(read<std::uint8_t>(memory), type);
    case ScalarType::kUInt16: return integer(read<std::uint16_t>(memory), type);
    case ScalarType::kUInt32: return integer(read<std::uint32_t>(memory), type);
    case ScalarType::kUInt64: return integer(read<std::int64_t>(memory), type);
    case ScalarType::kFloat16: return floating(static_cast<double>(to_float(read<Half>(memory))), type);
    case ScalarType::kBFloat16: return floating(static_cast<double>(to_float(read<BFloat16>(memory))), type);
    case ScalarType::kFloat32: return floating(static_cast<double>(read<float>(memory)), type);
    case ScalarType::kFloat64: return floating(read<double>(memory), type);
    case ScalarType::kComplex64: return complex(std::complex<double>(read<std::complex<float>>(memory)), type);
    case ScalarType::kComplex128: return complex(read<std::complex<double>>(memory), type);
  }
  return {};
}

void Value::store(void* memory) const {
  switch (type_) {
    case ScalarType::kBool: return write(memory, static_cast<std::uint8_t>(as_bool() ? 1 : 0));
    case ScalarType::kInt8:
    case ScalarType::kUInt8: return write(memory, static_cast<std::uint8_t>(as_int()));
    case ScalarType::kInt16:
    case ScalarType::kUInt16: return write(memory, static_cast<std::uint16_t>(as_int()));
    case ScalarType::kInt32:
    case ScalarType::kUInt32: return write(memory, static_cast<std::uint32_t>(as_int()));
    case ScalarType::kInt64:
    case ScalarType::kUInt64: return write(memory, as_int());
    case ScalarType::kFloat16: return write(memory, half_from(as_double()));
    case ScalarType::kBFloat16: return write(memory, bfloat16_from(as_double()));
    case ScalarType::kFloat32: return write(memory, static_cast<float>(as_double()));
    case ScalarType::kFloat64: return write(memory, as_double());
    case ScalarType::kComplex64: return write(memory, std::complex<float>(as_complex()));
    case ScalarType::kComplex128: return write(memory, as_complex());
  }
}

bool Value::as_bool() const {
  if (const auto* v = std::get_if<std::int64_t>(&value_)) return *v != 0;
  if (const auto* v = std::get_if<double>(&value_)) return *v != 0;
  return std::get<std::complex<double>>(value_) != 0.0;
}

std::int64_t Value::as_int() const {
  if (const auto* v = std::get_if<std::int64_t>(&value_)) return *v;
  return to_integer(as_double(), ScalarType::kInt64);
}

double Value::as_double() const {
  if (const auto* v = std::get_if<std::int64_t>(&value_)) return integer_to_floating(*v, type_, ScalarType::kFloat64);
  if (const auto* v = std::get_if<double>(&value_)) return *v;
  return std::get<std::complex<double>>(value_).real();
}

std::complex<double> Value::as_complex() const {
  if (const auto* v = std::get_if<std::complex<double>>(&value_)) return *v;
  return as_double();
}

Value Value::cast(ScalarType to) const {
  if (to == type_) return *this;
  if (to == ScalarType::kBool) return boolean(as_bool());
  const auto* whole = std::get_if<std::int64_t>(&value_);
  Value result;
  result.type_ = to;
  if (is_complex(to)) {
    if (whole != nullptr) {
      result.value_ = std::complex<double>(integer_to_floating(*whole, type_, to));
      return result;
    }
    return complex(as_complex(), to);
  }
  if (is_floating(to)) {
    result.value_ = whole != nullptr ? integer_to_floating(*whole, type_, to) : round_to(as_double(), to);
    return result;
  }
  result.value_ = whole != nullptr ? wrap(*whole, to) : wrap(to_integer(as_double(), to), to);
  return result;
}

std::string Value::str() const {
  if (type_ == ScalarType::kBool) return as_bool() ? "True" : "False";
  if (type_ == ScalarType::kUInt64) return std::to_string(static_cast<std::uint64_t>(as_int()));
  if (is_complex(type_)) {
    const std::complex<double> v = as_complex();
    const std::string im = shortest(v.imag(), type_);
    return "(" + shortest(v.real(), type_) + (im[0] == '-' ? "" : "+") + im + "j)";
  }
  if (is_floating(type_)) return shortest(as_double(), type_);
  return std::to_string(as_int());
}

}  // namespace sdfg::tasklet
