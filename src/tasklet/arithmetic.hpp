// The arithmetic of scalar code as templates over machine types: the definition that value.cpp and generated helpers
// share.
//
// Integers wrap. Division and remainder by zero give 0, the smallest integer divided by -1 wraps to itself: generated
// code never traps. A shift by a negative count or by the width or more gives 0 (left, and right of unsigned) or the
// sign (right of signed).
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace sdfg::tasklet::arithmetic {

template <typename T>
using Bits = std::make_unsigned_t<T>;

// Arithmetic of narrow types happens in 64 bits and is cut to the type, so that no intermediate overflows.
template <std::integral T>
T add(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <std::integral T>
T sub(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
template <std::integral T>
T mul(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <std::floating_point T>
T add(T a, T b) {
  return a + b;
}
template <std::floating_point T>
T sub(T a, T b) {
  return a - b;
}
template <std::floating_point T>
T mul(T a, T b) {
  return a * b;
}
template <std::floating_point T>
T div(T a, T b) {
  return a / b;
}

template <typename T>
std::complex<T> add(std::complex<T> a, std::complex<T> b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <typename T>
std::complex<T> sub(std::complex<T> a, std::complex<T> b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
// The plain formula: no recovery of infinities, which would cost branches in every product.
template <typename T>
std::complex<T> mul(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
// Smith's method: no overflow of the squared magnitude.
template <typename T>
std::complex<T> div(std::complex<T> a, std::complex<T> b) {
  if (std::fabs(b.real()) >= std::fabs(b.imag())) {
    const T ratio = b.imag() / b.real();
    const T scale = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale};
  }
  const T ratio = b.real() / b.imag();
  const T scale = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale};
}

// Truncated division, as C's.
template <std::integral T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return sub(T{0}, a);
  }
  return static_cast<T>(a / b);
}
template <std::integral T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <std::floating_point T>
T remainder(T a, T b) {
  return std::fmod(a, b);
}

template <std::integral T>
T floor_div(T a, T b) {
  const T q = quotient(a, b);
  const T r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
}
template <std::integral T>
T ceil_div(T a, T b) {
  const T q = quotient(a, b);
  const T r = remainder(a, b);
  return r != 0 && (r < 0) == (b < 0) ? static_cast<T>(q + 1) : q;
}
template <std::integral T>
T mod(T a, T b) {
  const T r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
// Python's and NumPy's: the quotient belongs to the exact remainder, so 1.0 // 0.1 is 9.
template <std::floating_point T>
T floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T r = std::fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(T{0}, a / b);
  const T whole = std::floor(q);
  return q - whole > T{0.5} ? whole + 1 : whole;
}
template <std::floating_point T>
T mod(T a, T b) {
  const T r = std::fmod(a, b);
  if (r == 0) return b == 0 ? r : std::copysign(T{0}, b);
  return (b < 0) != (r < 0) ? r + b : r;
}
template <std::floating_point T>
T ceil_div(T a, T b) {
  return std::ceil(a / b);
}

template <std::integral T>
T shift_left(T a, T count) {
  if (count < 0 || static_cast<Bits<T>>(count) >= 8 * sizeof(T)) return 0;
  return static_cast<T>(static_cast<std::uint64_t>(a) << count);
}
template <std::integral T>
T shift_right(T a, T count) {
  if (count < 0 || static_cast<Bits<T>>(count) >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> count);
}

template <typename T>
T one() {
  return T{1};
}
// Squares and multiplies from the lowest bit of the exponent; no product with one, which would turn infinities into
// NaN.
template <typename T>
T power(T base, std::uint64_t n) {
  if (n == 0) return one<T>();
  for (; (n & 1U) == 0; n >>= 1U) base = mul(base, base);
  T result = base;
  while ((n >>= 1U) != 0) {
    base = mul(base, base);
    if ((n & 1U) != 0) result = mul(result, base);
  }
  return result;
}
// A negative exponent: the truncated reciprocal of an integer, the reciprocal of anything else.
template <typename T>
T ipow(T base, std::int64_t n) {
  if (n >= 0) return power(base, static_cast<std::uint64_t>(n));
  if constexpr (std::integral<T>) {
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<T>) {
      if (base == -1) return (n & 1) != 0 ? static_cast<T>(-1) : T{1};
    }
    return 0;
  } else {
    return div(one<T>(), power(base, 0 - static_cast<std::uint64_t>(n)));
  }
}

template <std::integral T>
T absolute(T a) {
  return a < 0 ? sub(T{0}, a) : a;
}
template <std::integral T>
T gcd(T a, T b) {
  auto x = static_cast<Bits<T>>(absolute(a));
  auto y = static_cast<Bits<T>>(absolute(b));
  while (y != 0) {
    const auto r = static_cast<Bits<T>>(x % y);
    x = y;
    y = r;
  }
  return static_cast<T>(x);
}
template <std::integral T>
T lcm(T a, T b) {
  if (a == 0 || b == 0) return 0;
  const auto g = static_cast<std::uint64_t>(static_cast<Bits<T>>(gcd(a, b)));
  const auto x = static_cast<std::uint64_t>(static_cast<Bits<T>>(absolute(a)));
  const auto y = static_cast<std::uint64_t>(static_cast<Bits<T>>(absolute(b)));
  return static_cast<T>(x / g * y);
}

// Complex functions from real ones.
template <typename T>
std::complex<T> exp(std::complex<T> z) {
  const T e = std::exp(z.real());
  return z.imag() == 0 ? std::complex<T>(e, z.imag()) : std::complex<T>(e * std::cos(z.imag()), e * std::sin(z.imag()));
}
template <typename T>
std::complex<T> log(std::complex<T> z) {
  return {std::log(std::hypot(z.real(), z.imag())), std::atan2(z.imag(), z.real())};
}
template <typename T>
std::complex<T> sqrt(std::complex<T> z) {
  if (z.real() == 0 && z.imag() == 0) return {T{0}, z.imag()};
  const T m = std::sqrt((std::fabs(z.real()) + std::hypot(z.real(), z.imag())) * T{0.5});
  if (z.real() >= 0) return {m, z.imag() / (2 * m)};
  return {std::fabs(z.imag()) / (2 * m), std::copysign(m, z.imag())};
}
template <typename T>
std::complex<T> sin(std::complex<T> z) {
  return {std::sin(z.real()) * std::cosh(z.imag()), std::cos(z.real()) * std::sinh(z.imag())};
}
template <typename T>
std::complex<T> cos(std::complex<T> z) {
  return {std::cos(z.real()) * std::cosh(z.imag()), -(std::sin(z.real()) * std::sinh(z.imag()))};
}
template <typename T>
std::complex<T> sinh(std::complex<T> z) {
  return {std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag())};
}
template <typename T>
std::complex<T> cosh(std::complex<T> z) {
  return {std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag())};
}
// tanh(x + iy) = (sinh 2x + i sin 2y) / (cosh 2x + cos 2y); where cosh overflows the result is its limit.
template <typename T>
std::complex<T> tanh(std::complex<T> z) {
  const T x = 2 * z.real();
  const T y = 2 * z.imag();
  if (std::fabs(x) > T{80}) return {std::copysign(T{1}, x), std::copysign(T{0}, std::sin(y))};
  const T scale = std::cosh(x) + std::cos(y);
  return {std::sinh(x) / scale, std::sin(y) / scale};
}
template <typename T>
std::complex<T> tan(std::complex<T> z) {
  const std::complex<T> t = arithmetic::tanh(std::complex<T>(-z.imag(), z.real()));
  return {t.imag(), -t.real()};
}
template <typename T>
std::complex<T> pow(std::complex<T> a, std::complex<T> b) {
  if (b.real() == 0 && b.imag() == 0) return {T{1}, T{0}};
  if (a.real() == 0 && a.imag() == 0) return {T{0}, T{0}};
  return arithmetic::exp(mul(b, arithmetic::log(a)));
}

}  // namespace sdfg::tasklet::arithmetic
