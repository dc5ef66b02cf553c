// The analysis takes every function of the prelude as pure.
#include "compile/clang/cpp_prelude.hpp"

#include <algorithm>

namespace sdfg::compiler {

namespace {

constexpr const char* kUnary[] = {
    "sin",   "cos",    "tan",    "asin", "acos",  "atan",  "sinh",  "cosh",   "tanh",      "asinh",
    "acosh", "atanh",  "exp",    "exp2", "expm1", "log",   "log2",  "log10",  "log1p",     "sqrt",
    "rsqrt", "cbrt",   "floor",  "ceil", "trunc", "round", "rint",  "fabs",   "abs",       "erf",
    "erfc",  "tgamma", "lgamma", "sign", "real",  "imag",  "conj",  "norm",   "nearbyint", "int_abs",
    "sinf",  "cosf",   "tanf",   "expf", "logf",  "sqrtf", "fabsf", "floorf", "ceilf",     "tanhf"};
constexpr const char* kBinary[] = {"pow",      "fmod",         "atan2",       "hypot",     "min",   "max",
                                   "fmin",     "fmax",         "copysign",    "remainder", "fdim",  "int_floor",
                                   "int_ceil", "int_floor_ni", "ipow",        "powf",      "fminf", "fmaxf",
                                   "fmodf",    "py_mod",       "py_floordiv", "nextafter", "ldexp"};
constexpr const char* kTernary[] = {"fma", "clamp", "heaviside"};
constexpr const char* kPredicate[] = {"isnan", "isinf", "isfinite", "signbit"};

std::string make_prelude() {
  std::string text = R"(
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long uint64_t;
typedef unsigned long size_t; typedef long ptrdiff_t; typedef unsigned long uintptr_t; typedef long intptr_t;
template <class T> struct sdfg_complex {
  T re, im;
  constexpr sdfg_complex(T r = T(), T i = T()) : re(r), im(i) {}
  template <class U> constexpr sdfg_complex(const sdfg_complex<U>& o) : re(o.re), im(o.im) {}
  T real() const; T imag() const;
  sdfg_complex& operator+=(const sdfg_complex&); sdfg_complex& operator-=(const sdfg_complex&);
  sdfg_complex& operator*=(const sdfg_complex&); sdfg_complex& operator/=(const sdfg_complex&);
  friend sdfg_complex operator+(const sdfg_complex&, const sdfg_complex&);
  friend sdfg_complex operator-(const sdfg_complex&, const sdfg_complex&);
  friend sdfg_complex operator*(const sdfg_complex&, const sdfg_complex&);
  friend sdfg_complex operator/(const sdfg_complex&, const sdfg_complex&);
  friend sdfg_complex operator-(const sdfg_complex&);
  friend bool operator==(const sdfg_complex&, const sdfg_complex&);
};
namespace sdfg_math {
template <class T> T real(const sdfg_complex<T>&); template <class T> T imag(const sdfg_complex<T>&);
template <class T> T abs(const sdfg_complex<T>&); template <class T> T norm(const sdfg_complex<T>&);
)";
  for (const char* name : kUnary) text += std::string("template <class T> T ") + name + "(const T&);\n";
  for (const char* name : kBinary) {
    text += std::string("template <class A, class B> decltype(A() + B()) ") + name + "(const A&, const B&);\n";
  }
  text +=
      "template <class T> T min(const T&, const T&);\ntemplate <class T> T max(const T&, const "
      "T&);\n";
  for (const char* name : kTernary) {
    text += std::string("template <class A, class B, class C> decltype(A() + B() + C()) ") + name +
            "(const A&, const B&, const C&);\n";
  }
  for (const char* name : kPredicate) text += std::string("template <class T> bool ") + name + "(const T&);\n";
  text += R"(}
using namespace sdfg_math;
namespace std {
using namespace sdfg_math; template <class T> using complex = sdfg_complex<T>;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t;
using ::uint64_t; using ::size_t;
}
namespace dace {
using namespace sdfg_math;
typedef bool bool_; typedef signed char int8; typedef short int16; typedef int int32; typedef long int64;
typedef unsigned char uint8; typedef unsigned short uint16; typedef unsigned int uint32; typedef unsigned long uint64;
typedef _Float16 half; typedef _Float16 float16; typedef __bf16 bfloat16; typedef float float32; typedef double float64;
typedef sdfg_complex<float> complex64; typedef sdfg_complex<double> complex128;
namespace math { using namespace sdfg_math; constexpr double pi = 3.14159265358979; }
template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
}
)";
  return text;
}

const char* spelling(ScalarType type) {
  switch (type) {
    case ScalarType::kBool: return "bool";
    case ScalarType::kInt8: return "int8_t";
    case ScalarType::kInt16: return "int16_t";
    case ScalarType::kInt32: return "int32_t";
    case ScalarType::kInt64: return "int64_t";
    case ScalarType::kUInt8: return "uint8_t";
    case ScalarType::kUInt16: return "uint16_t";
    case ScalarType::kUInt32: return "uint32_t";
    case ScalarType::kUInt64: return "uint64_t";
    case ScalarType::kFloat16: return "_Float16";
    case ScalarType::kBFloat16: return "__bf16";
    case ScalarType::kFloat32: return "float";
    case ScalarType::kFloat64: return "double";
    case ScalarType::kComplex64: return "dace::complex64";
    case ScalarType::kComplex128: return "dace::complex128";
  }
  return "void";
}

bool declare_once(const std::string& name, std::vector<std::string>& declared) {
  if (std::find(declared.begin(), declared.end(), name) != declared.end()) return false;
  declared.push_back(name);
  return true;
}

}  // namespace

const std::string& analysis_prelude() {
  static const std::string& text = *new std::string(make_prelude());
  return text;
}

std::string spelling(const Type& type, std::string& declarations, std::vector<std::string>& declared) {
  switch (type.kind()) {
    case Type::Kind::kVoid: return "void";
    case Type::Kind::kScalar: return spelling(type.scalar());
    case Type::Kind::kVector:
      return "dace::vec<" + std::string(spelling(type.scalar())) + ", " + std::to_string(type.lanes()) + ">";
    case Type::Kind::kPointer: return spelling(type.pointee(), declarations, declared) + "*";
    case Type::Kind::kStruct: {
      const StructInfo& info = type.structure();
      if (declare_once(info.name, declared)) {
        std::string fields;
        for (const StructField& field : info.fields) {
          fields += spelling(field.type, declarations, declared) + " " + field.name + "; ";
        }
        declarations += "struct " + info.name + " { " + fields + "};\n";
      }
      return info.name;
    }
    case Type::Kind::kOpaque:
      if (declare_once(type.opaque_name(), declared)) {
        declarations +=
            "typedef struct sdfg_opaque_" + std::to_string(declared.size()) + "* " + type.opaque_name() + ";\n";
      }
      return type.opaque_name();
    case Type::Kind::kCallback: {
      const CallbackInfo& info = type.callback();
      std::string arguments;
      for (const Type& argument : info.arguments) {
        if (!arguments.empty()) arguments += ", ";
        arguments += spelling(argument, declarations, declared);
      }
      const std::string result = info.returns.empty() ? "void" : spelling(info.returns.front(), declarations, declared);
      const std::string name = "sdfg_callback_" + std::to_string(declared.size());
      declared.push_back(name);
      declarations += "typedef " + result + " (*" + name + ")(" + arguments + ");\n";
      return name;
    }
  }
  return "void";
}

}  // namespace sdfg::compiler
