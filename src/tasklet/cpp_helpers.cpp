// The helper functions of generated code: free-standing C++ that Clang (host) and NVRTC (device) accept.
//
// Each helper is a snippet of its own, so that a unit carries only what it calls: cold compiles are counted in
// milliseconds.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "tasklet/print_cpp.hpp"

namespace sdfg::tasklet {

namespace {

constexpr std::string_view kPreamble = R"(#ifndef SDFG_FN
#ifdef __CUDACC__
#define SDFG_FN __device__ __forceinline__
#define SDFG_METHOD __device__ __forceinline__
#define SDFG_MATH(f) ::f
#else
#define SDFG_FN static inline
#define SDFG_METHOD inline
#define SDFG_MATH(f) __builtin_##f
#endif
#endif
)";

// What the C headers of LP64 systems define, so a unit may include these headers as well.
constexpr std::string_view kTypes =
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned "
    "long "
    "uint64_t;\n";

struct Snippet {
  std::string names;  // what it defines, separated by spaces
  std::string text;
};

// A function of the C library in both precisions.
Snippet library_function(const std::string& name, int arity, const std::string& spelled = {}) {
  const std::string callee = spelled.empty() ? name : spelled;
  const auto overload = [&](const std::string& type, const std::string& suffix) {
    static constexpr std::array<std::string_view, 3> kNames = {"x", "y", "z"};
    std::string parameters;
    std::string arguments;
    for (int i = 0; i < arity; ++i) {
      const std::string parameter(kNames[static_cast<std::size_t>(i)]);
      parameters += (i == 0 ? "" : ", ") + type + " " + parameter;
      arguments += (i == 0 ? "" : ", ") + parameter;
    }
    return "SDFG_FN " + type + " sdfg_" + name + "(" + parameters + ") { return SDFG_MATH(" + callee + suffix + ")(" +
           arguments + "); }\n";
  };
  return {"sdfg_" + name, overload("double", "") + overload("float", "f")};
}

std::vector<Snippet> make_snippets() {
  std::vector<Snippet> all;
  const auto add = [&](std::string names, std::string_view text) {
    all.push_back({std::move(names), std::string(text)});
  };

  add("SDFG_INF SDFG_INFF SDFG_NAN SDFG_NANF", R"(#ifdef __CUDACC__
#define SDFG_INF __longlong_as_double(0x7ff0000000000000LL)
#define SDFG_NAN __longlong_as_double(0x7ff8000000000000LL)
#define SDFG_INFF __int_as_float(0x7f800000)
#define SDFG_NANF __int_as_float(0x7fc00000)
#else
#define SDFG_INF __builtin_inf()
#define SDFG_NAN __builtin_nan("")
#define SDFG_INFF __builtin_inff()
#define SDFG_NANF __builtin_nanf("")
#endif
)");

  for (const char* name : {"exp",   "exp2",  "expm1", "log",  "log2", "log10",  "log1p", "sqrt",  "cbrt",
                           "sin",   "cos",   "tan",   "asin", "acos", "atan",   "sinh",  "cosh",  "tanh",
                           "asinh", "acosh", "atanh", "erf",  "erfc", "tgamma", "ceil",  "floor", "trunc"}) {
    all.push_back(library_function(name, 1));
  }
  all.push_back(library_function("round", 1, "rint"));  // to nearest, ties to even
  for (const char* name : {"pow", "atan2", "hypot", "fmod", "copysign"}) all.push_back(library_function(name, 2));
  all.push_back(library_function("fma", 3));
  // lgamma writes the global signgam on hosts.
  add("sdfg_lgamma", R"(#ifdef __CUDACC__
SDFG_FN double sdfg_lgamma(double x) { return ::lgamma(x); }
SDFG_FN float sdfg_lgamma(float x) { return ::lgammaf(x); }
#else
extern "C" double lgamma_r(double, int*);
extern "C" float lgammaf_r(float, int*);
SDFG_FN double sdfg_lgamma(double x) { int sign; return lgamma_r(x, &sign); }
SDFG_FN float sdfg_lgamma(float x) { int sign; return lgammaf_r(x, &sign); }
#endif
)");
  add("sdfg_rsqrt", R"(SDFG_FN double sdfg_rsqrt(double x) { return 1.0 / SDFG_MATH(sqrt)(x); }
SDFG_FN float sdfg_rsqrt(float x) { return 1.0f / SDFG_MATH(sqrtf)(x); }
)");

  // Minimum and maximum: a NaN loses against a number (IEEE maxNum).
  for (const std::string name : {"min", "max"}) {
    const std::string less = name == "min" ? "b < a ? b : a" : "a < b ? b : a";
    add("sdfg_" + name, "template <class A, class B> SDFG_FN auto sdfg_" + name +
                            "(A x, B y) -> decltype(x + y) {\n"
                            "  const decltype(x + y) a = x, b = y;\n  return " +
                            less +
                            ";\n}\n"
                            "#ifdef __CUDACC__\n"
                            "SDFG_FN double sdfg_" +
                            name + "(double a, double b) { return ::f" + name +
                            "(a, b); }\n"
                            "SDFG_FN float sdfg_" +
                            name + "(float a, float b) { return ::f" + name +
                            "f(a, b); }\n"
                            "#else\n"
                            "SDFG_FN double sdfg_" +
                            name + "(double a, double b) { return __builtin_elementwise_" + name +
                            "(a, b); }\n"
                            "SDFG_FN float sdfg_" +
                            name + "(float a, float b) { return __builtin_elementwise_" + name +
                            "(a, b); }\n"
                            "#endif\n");
  }
  add("sdfg_abs", R"(template <class A> SDFG_FN auto sdfg_abs(A a) -> decltype(+a) { return a < 0 ? -a : +a; }
SDFG_FN double sdfg_abs(double a) { return SDFG_MATH(fabs)(a); }
SDFG_FN float sdfg_abs(float a) { return SDFG_MATH(fabsf)(a); }
)");
  add("sdfg_sign", R"(template <class A> SDFG_FN auto sdfg_sign(A a) -> decltype(+a) { return (a > 0) - (a < 0); }
SDFG_FN double sdfg_sign(double a) { return a != a ? a : double((a > 0) - (a < 0)); }
SDFG_FN float sdfg_sign(float a) { return a != a ? a : float((a > 0) - (a < 0)); }
)");
  add("sdfg_heaviside", R"(template <class T> SDFG_FN T sdfg_heaviside(T x, T at_zero) {
  return x != x ? x : x < 0 ? T(0) : x > 0 ? T(1) : at_zero;
}
)");
  add("sdfg_isnan", "template <class T> SDFG_FN bool sdfg_isnan(T x) { return x != x; }\n");
  add("sdfg_isfinite", "template <class T> SDFG_FN bool sdfg_isfinite(T x) { return x - x == 0; }\n");
  add("sdfg_isinf", "template <class T> SDFG_FN bool sdfg_isinf(T x) { return x == x && x - x != 0; }\n");
  add("sdfg_signbit", R"(SDFG_FN bool sdfg_signbit(double x) { return SDFG_MATH(copysign)(1.0, x) < 0; }
SDFG_FN bool sdfg_signbit(float x) { return SDFG_MATH(copysignf)(1.0f, x) < 0; }
)");

  // Integer division: by zero it gives 0, and -1 divides the smallest integer into itself; nothing traps.
  add("sdfg_quo", R"(template <class A, class B> SDFG_FN auto sdfg_quo(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T a = x, b = y;
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return T(0) - a;
  return a / b;
}
)");
  add("sdfg_rem", R"(template <class A, class B> SDFG_FN auto sdfg_rem(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T a = x, b = y;
  if (b == 0 || (T(-1) < T(0) && b == T(-1))) return 0;
  return a % b;
}
)");
  add("sdfg_floor_div", R"(template <class A, class B> SDFG_FN auto sdfg_floor_div(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T b = y, q = sdfg_quo(x, y), r = sdfg_rem(x, y);
  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}
template <class T> SDFG_FN T sdfg_floor_quotient(T a, T b, T r) {
  if (b == 0) return a / b;
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return sdfg_copysign(T(0), a / b);
  const T whole = sdfg_floor(q);
  return q - whole > T(0.5) ? whole + 1 : whole;
}
SDFG_FN double sdfg_floor_div(double a, double b) { return sdfg_floor_quotient(a, b, sdfg_fmod(a, b)); }
SDFG_FN float sdfg_floor_div(float a, float b) { return sdfg_floor_quotient(a, b, sdfg_fmod(a, b)); }
)");
  add("sdfg_ceil_div", R"(template <class A, class B> SDFG_FN auto sdfg_ceil_div(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T b = y, q = sdfg_quo(x, y), r = sdfg_rem(x, y);
  return r != 0 && (r < 0) == (b < 0) ? q + 1 : q;
}
SDFG_FN double sdfg_ceil_div(double a, double b) { return SDFG_MATH(ceil)(a / b); }
SDFG_FN float sdfg_ceil_div(float a, float b) { return SDFG_MATH(ceilf)(a / b); }
)");
  add("sdfg_mod", R"(template <class A, class B> SDFG_FN auto sdfg_mod(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T b = y, r = sdfg_rem(x, y);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T> SDFG_FN T sdfg_signed_rest(T b, T r) {
  if (r == 0) return b == 0 ? r : sdfg_copysign(T(0), b);
  return (b < 0) != (r < 0) ? r + b : r;
}
SDFG_FN double sdfg_mod(double a, double b) { return sdfg_signed_rest(b, sdfg_fmod(a, b)); }
SDFG_FN float sdfg_mod(float a, float b) { return sdfg_signed_rest(b, sdfg_fmod(a, b)); }
)");
  // Shifts by a negative count or by the width and more: 0, or the sign.
  add("sdfg_shl", R"(template <class T, class N> SDFG_FN T sdfg_shl(T a, N n) {
  return n < 0 || uint64_t(n) >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << n);
}
)");
  add("sdfg_shr", R"(template <class T, class N> SDFG_FN T sdfg_shr(T a, N n) {
  return n < 0 || uint64_t(n) >= 8 * sizeof(T) ? (a < 0 ? T(-1) : T(0)) : T(a >> n);
}
)");
  add("sdfg_gcd", R"(template <class T> SDFG_FN T sdfg_gcd_of(T a, T b) {
  uint64_t x = a < 0 ? 0 - uint64_t(a) : uint64_t(a), y = b < 0 ? 0 - uint64_t(b) : uint64_t(b);
  while (y != 0) {
    const uint64_t r = x % y;
    x = y;
    y = r;
  }
  return T(x);
}
template <class A, class B> SDFG_FN auto sdfg_gcd(A a, B b) -> decltype(a + b) { return sdfg_gcd_of<decltype(a + b)>(a, b); }
)");
  add("sdfg_lcm", R"(template <class A, class B> SDFG_FN auto sdfg_lcm(A x, B y) -> decltype(x + y) {
  typedef decltype(x + y) T;
  const T a = x, b = y, g = sdfg_gcd(a, b);
  if (a == 0 || b == 0) return 0;
  const uint64_t u = a < 0 ? 0 - uint64_t(a) : uint64_t(a), v = b < 0 ? 0 - uint64_t(b) : uint64_t(b);
  return T(u / (g < 0 ? 0 - uint64_t(g) : uint64_t(g)) * v);
}
)");

  // Powers square and multiply from the lowest bit of the exponent; the order of the products is part of the
  // definition.
  add("sdfg_power", R"(template <class T> SDFG_FN T sdfg_power(T x, uint64_t n) {
  if (n == 0) return T(1);
  for (; (n & 1) == 0; n >>= 1) x = x * x;
  T r = x;
  while (n >>= 1) {
    x = x * x;
    if (n & 1) r = r * x;
  }
  return r;
}
)");
  // Of integers: a negative exponent gives the truncated reciprocal.
  add("sdfg_ipow", R"(template <class A, class N> SDFG_FN auto sdfg_ipow(A a, N n) -> decltype(a + n) {
  typedef decltype(a + n) T;
  const T x = a;
  if (n < 0) return x == 1 ? T(1) : T(-1) < T(0) && x == T(-1) ? (n & 1 ? T(-1) : T(1)) : T(0);
  return sdfg_power<T>(x, uint64_t(n));
}
)");
  // Of floating and complex numbers with an integer exponent.
  add("sdfg_powi", R"(template <class T, class N> SDFG_FN T sdfg_powi(T x, N n) {
  return n < 0 ? T(1) / sdfg_power(x, 0 - uint64_t(n)) : sdfg_power(x, uint64_t(n));
}
)");
  add("sdfg_pown", R"(template <class T, class N> SDFG_FN T sdfg_pown(T x, N n) {
  return (n < 0 ? n >= N(-64) : n <= N(64)) ? sdfg_powi(x, n) : sdfg_pow(x, T(n));
}
)");

  // Towards zero, saturating; NaN gives 0.
  add("sdfg_to_int", R"(template <class T, class F> SDFG_FN T sdfg_to_int(F x) {
  const bool has_sign = T(-1) < T(0);
  const int bits = 8 * int(sizeof(T));
  const T low = has_sign ? T(uint64_t(1) << (bits - 1)) : T(0), high = T(~low);
  const F limit = F(uint64_t(1) << (bits - 1)) * F(has_sign ? 1 : 2);
  if (!(x < limit)) return x != x ? T(0) : high;
  if (has_sign ? x < -limit : x <= F(-1)) return low;
  return T(x);
}
)");

  add("sdfg_bits sdfg_from_bits", R"(#ifdef __CUDACC__
SDFG_FN uint32_t sdfg_bits(float x) { return __float_as_uint(x); }
SDFG_FN float sdfg_from_bits(uint32_t x) { return __uint_as_float(x); }
#else
SDFG_FN uint32_t sdfg_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
SDFG_FN float sdfg_from_bits(uint32_t x) { return __builtin_bit_cast(float, x); }
#endif
)");
  // Rounds to odd: rounding the result to 16 bits then equals rounding the double directly.
  add("sdfg_narrow", R"(SDFG_FN float sdfg_narrow(double x) {
  const float f = float(x);
  const double a = x < 0 ? -x : x, b = f < 0 ? -double(f) : double(f);
  if (!(a < 1e39) || a == b || (sdfg_bits(f) & 1) != 0) return f;
  return sdfg_from_bits(b > a ? sdfg_bits(f) - 1 : sdfg_bits(f) + 1);
}
)");
  add("sdfg_float16", R"(#if defined(__CUDACC__)
SDFG_FN uint16_t sdfg_half_bits(float x) { uint16_t h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
SDFG_FN float sdfg_half_value(uint16_t h) { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
#elif defined(__F16C__)
SDFG_FN uint16_t sdfg_half_bits(float x) { return __builtin_bit_cast(uint16_t, (_Float16)x); }
SDFG_FN float sdfg_half_value(uint16_t h) { return (float)__builtin_bit_cast(_Float16, h); }
#else
SDFG_FN uint16_t sdfg_half_bits(float x) {
  const uint32_t bits = sdfg_bits(x), sign = bits >> 16 & 0x8000, m = bits & 0x7fffffff;
  if (m > 0x7f800000) return uint16_t(sign | 0x7e00 | (m >> 13 & 0x3ff));
  if (m >= 0x47800000) return uint16_t(sign | 0x7c00);
  if (m < 0x38800000) return uint16_t(sign | (sdfg_bits(sdfg_from_bits(m) + 0.5f) - 0x3f000000));
  return uint16_t(sign | (m + 0xc8000fff + (m >> 13 & 1)) >> 13);
}
SDFG_FN float sdfg_half_value(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16, m = h & 0x7fff;
  if (m >= 0x7c00) return sdfg_from_bits(sign | 0x7f800000 | (m & 0x3ff) << 13);
  if (m < 0x400) return sign ? -(float(m) * 0x1p-24f) : float(m) * 0x1p-24f;
  return sdfg_from_bits(sign | ((m << 13) + 0x38000000));
}
#endif
struct sdfg_float16 {
  uint16_t bits;
  sdfg_float16() = default;
  SDFG_METHOD sdfg_float16(float x) : bits(sdfg_half_bits(x)) {}
  SDFG_METHOD sdfg_float16(double x) : bits(sdfg_half_bits(sdfg_narrow(x))) {}
  SDFG_METHOD operator float() const { return sdfg_half_value(bits); }
};
)");
  add("sdfg_bfloat16", R"(SDFG_FN uint16_t sdfg_bfloat_bits(float x) {
  const uint32_t bits = sdfg_bits(x);
  return uint16_t(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
struct sdfg_bfloat16 {
  uint16_t bits;
  sdfg_bfloat16() = default;
  SDFG_METHOD sdfg_bfloat16(float x) : bits(sdfg_bfloat_bits(x)) {}
  SDFG_METHOD sdfg_bfloat16(double x) : bits(sdfg_bfloat_bits(sdfg_narrow(x))) {}
  SDFG_METHOD operator float() const { return sdfg_from_bits(uint32_t(bits) << 16); }
};
)");

  add("sdfg_complex sdfg_complex64 sdfg_complex128", R"(template <class T> struct sdfg_complex {
  T re, im;
  sdfg_complex() = default;
  SDFG_METHOD constexpr sdfg_complex(T r, T i = T(0)) : re(r), im(i) {}
  template <class U> SDFG_METHOD constexpr explicit sdfg_complex(sdfg_complex<U> z) : re(T(z.re)), im(T(z.im)) {}
};
typedef sdfg_complex<float> sdfg_complex64;
typedef sdfg_complex<double> sdfg_complex128;
template <class T> SDFG_FN sdfg_complex<T> operator+(sdfg_complex<T> a, sdfg_complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> SDFG_FN sdfg_complex<T> operator-(sdfg_complex<T> a, sdfg_complex<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> SDFG_FN sdfg_complex<T> operator-(sdfg_complex<T> a) { return {-a.re, -a.im}; }
template <class T> SDFG_FN sdfg_complex<T> operator*(sdfg_complex<T> a, sdfg_complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> SDFG_FN sdfg_complex<T> operator/(sdfg_complex<T> a, sdfg_complex<T> b) {
  if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
    const T q = b.im / b.re, s = b.re + b.im * q;
    return {(a.re + a.im * q) / s, (a.im - a.re * q) / s};
  }
  const T q = b.re / b.im, s = b.re * q + b.im;
  return {(a.re * q + a.im) / s, (a.im * q - a.re) / s};
}
template <class T> SDFG_FN bool operator==(sdfg_complex<T> a, sdfg_complex<T> b) { return a.re == b.re && a.im == b.im; }
template <class T> SDFG_FN bool operator!=(sdfg_complex<T> a, sdfg_complex<T> b) { return !(a == b); }
template <class T> SDFG_FN sdfg_complex<T>& operator+=(sdfg_complex<T>& a, sdfg_complex<T> b) { return a = a + b; }
template <class T> SDFG_FN sdfg_complex<T>& operator-=(sdfg_complex<T>& a, sdfg_complex<T> b) { return a = a - b; }
template <class T> SDFG_FN sdfg_complex<T>& operator*=(sdfg_complex<T>& a, sdfg_complex<T> b) { return a = a * b; }
template <class T> SDFG_FN sdfg_complex<T>& operator/=(sdfg_complex<T>& a, sdfg_complex<T> b) { return a = a / b; }
)");
  add("sdfg_conj",
      "template <class T> SDFG_FN sdfg_complex<T> sdfg_conj(sdfg_complex<T> z) { return {z.re, -z.im}; }\n");
  add("sdfg_cabs", "template <class T> SDFG_FN T sdfg_cabs(sdfg_complex<T> z) { return sdfg_hypot(z.re, z.im); }\n");
  add("sdfg_cisnan",
      "template <class T> SDFG_FN bool sdfg_cisnan(sdfg_complex<T> z) { return sdfg_isnan(z.re) || sdfg_isnan(z.im); "
      "}\n");
  add("sdfg_cisinf",
      "template <class T> SDFG_FN bool sdfg_cisinf(sdfg_complex<T> z) { return sdfg_isinf(z.re) || sdfg_isinf(z.im); "
      "}\n");
  add("sdfg_cisfinite",
      "template <class T> SDFG_FN bool sdfg_cisfinite(sdfg_complex<T> z) { return sdfg_isfinite(z.re) && "
      "sdfg_isfinite(z.im); }\n");
  add("sdfg_cexp", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_cexp(sdfg_complex<T> z) {
  const T e = sdfg_exp(z.re);
  return z.im == 0 ? sdfg_complex<T>(e, z.im) : sdfg_complex<T>(e * sdfg_cos(z.im), e * sdfg_sin(z.im));
}
)");
  add("sdfg_clog", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_clog(sdfg_complex<T> z) {
  return {sdfg_log(sdfg_hypot(z.re, z.im)), sdfg_atan2(z.im, z.re)};
}
)");
  add("sdfg_csqrt", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_csqrt(sdfg_complex<T> z) {
  if (z.re == 0 && z.im == 0) return {T(0), z.im};
  const T m = sdfg_sqrt((sdfg_abs(z.re) + sdfg_hypot(z.re, z.im)) * T(0.5));
  if (z.re >= 0) return {m, z.im / (2 * m)};
  return {sdfg_abs(z.im) / (2 * m), sdfg_copysign(m, z.im)};
}
)");
  add("sdfg_csin", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_csin(sdfg_complex<T> z) {
  return {sdfg_sin(z.re) * sdfg_cosh(z.im), sdfg_cos(z.re) * sdfg_sinh(z.im)};
}
)");
  add("sdfg_ccos", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_ccos(sdfg_complex<T> z) {
  return {sdfg_cos(z.re) * sdfg_cosh(z.im), -(sdfg_sin(z.re) * sdfg_sinh(z.im))};
}
)");
  add("sdfg_csinh", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_csinh(sdfg_complex<T> z) {
  return {sdfg_sinh(z.re) * sdfg_cos(z.im), sdfg_cosh(z.re) * sdfg_sin(z.im)};
}
)");
  add("sdfg_ccosh", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_ccosh(sdfg_complex<T> z) {
  return {sdfg_cosh(z.re) * sdfg_cos(z.im), sdfg_sinh(z.re) * sdfg_sin(z.im)};
}
)");
  add("sdfg_ctanh", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_ctanh(sdfg_complex<T> z) {
  const T x = 2 * z.re, y = 2 * z.im;
  if (sdfg_abs(x) > T(80)) return {sdfg_copysign(T(1), x), sdfg_copysign(T(0), sdfg_sin(y))};
  const T s = sdfg_cosh(x) + sdfg_cos(y);
  return {sdfg_sinh(x) / s, sdfg_sin(y) / s};
}
)");
  add("sdfg_ctan", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_ctan(sdfg_complex<T> z) {
  const sdfg_complex<T> t = sdfg_ctanh(sdfg_complex<T>(-z.im, z.re));
  return {t.im, -t.re};
}
)");
  add("sdfg_cpow", R"(template <class T> SDFG_FN sdfg_complex<T> sdfg_cpow(sdfg_complex<T> a, sdfg_complex<T> b) {
  if (b.re == 0 && b.im == 0) return {T(1), T(0)};
  if (a.re == 0 && a.im == 0) return {T(0), T(0)};
  return sdfg_cexp(b * sdfg_clog(a));
}
)");
  add("sdfg_cpown", R"(template <class T, class N> SDFG_FN sdfg_complex<T> sdfg_cpown(sdfg_complex<T> x, N n) {
  return (n < 0 ? n >= N(-64) : n <= N(64)) ? sdfg_powi(x, n) : sdfg_cpow(x, sdfg_complex<T>(T(n)));
}
)");
  add("sdfg_vec",
      "#ifndef __CUDACC__\ntemplate <class T, int N> using sdfg_vec = T "
      "__attribute__((ext_vector_type(N)));\n#endif\n");
  return all;
}

bool continues_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class HelperTable {
 public:
  HelperTable() : snippets_(make_snippets()) {
    for (std::size_t i = 0; i < snippets_.size(); ++i) {
      std::string_view names = snippets_[i].names;
      while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        index_.emplace_back(std::string(names.substr(0, end)), i);
        names.remove_prefix(std::min(end + 1, names.size()));
      }
    }
    std::sort(index_.begin(), index_.end());
    for (std::size_t i = 0; i < snippets_.size(); ++i) uses_.push_back(used_by(snippets_[i].text, i));
  }

  const std::vector<Snippet>& snippets() const { return snippets_; }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = std::lower_bound(index_.begin(), index_.end(), name,
                                        [](const auto& entry, std::string_view n) { return entry.first < n; });
    if (found == index_.end() || found->first != name) return std::nullopt;
    return found->second;
  }

  // The helpers that occur in a text, as positions in the table.
  std::vector<std::size_t> used_by(std::string_view code, std::size_t except = static_cast<std::size_t>(-1)) const {
    std::vector<std::size_t> used;
    for (std::size_t at = 0; at < code.size();) {
      if (!continues_identifier(code[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < code.size() && continues_identifier(code[end])) ++end;
      const std::string_view word = code.substr(at, end - at);
      at = end;
      if (!word.starts_with("sdfg_") && !word.starts_with("SDFG_")) continue;
      const std::optional<std::size_t> found = find(word);
      if (found && *found != except && std::find(used.begin(), used.end(), *found) == used.end())
        used.push_back(*found);
    }
    return used;
  }

  // Definitions in an order in which each comes after what it uses.
  std::string closure(std::string_view code) const {
    std::vector<std::size_t> needed = used_by(code);
    if (needed.empty()) return {};
    std::string text(kPreamble);
    std::vector<bool> done(snippets_.size(), false);
    std::sort(needed.begin(), needed.end());
    for (const std::size_t i : needed) define(i, done, text);
    return text;
  }

 private:
  void define(std::size_t i, std::vector<bool>& done, std::string& text) const {
    if (done[i]) return;
    done[i] = true;
    for (const std::size_t dependency : uses_[i]) define(dependency, done, text);
    text += snippets_[i].text;
  }

  std::vector<Snippet> snippets_;
  std::vector<std::pair<std::string, std::size_t>> index_;
  std::vector<std::vector<std::size_t>> uses_;
};

const HelperTable& table() {
  static const HelperTable& kTable = *new HelperTable;
  return kTable;
}

}  // namespace

std::string cpp_helper_definitions(std::string_view code) {
  return table().closure(code);
}

std::string cpp_helpers(std::string_view code) {
  return std::string(kTypes) + table().closure(code);
}

std::string all_cpp_helpers() {
  std::string names;
  for (const Snippet& snippet : table().snippets()) names += snippet.names + " ";
  return cpp_helpers(names);
}

bool is_cpp_helper(std::string_view identifier) {
  return table().find(identifier).has_value();
}

}  // namespace sdfg::tasklet
