// Random expressions together with the values that they must have, computed without the expression library.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <sdfg/error.hpp>
#include <string>
#include <vector>

#include "symbolic/expr.hpp"

namespace sdfg::symbolic::testing {

inline constexpr std::size_t kValuations = 12;
inline const std::array<std::string, 5> kNames = {"i", "j", "N", "M", "k"};
using Values = std::map<std::string, std::int64_t, std::less<>>;

// Nothing = undefined (division by zero, negative exponent) or too large to be interesting.
using Results = std::array<std::optional<std::int64_t>, kValuations>;

struct Sample {
  Expr e;
  Results results;
  bool boolean = false;
};

class RandomExpressions {
 public:
  explicit RandomExpressions(std::uint32_t seed, std::int64_t low = -9, std::int64_t high = 9) : random_(seed) {
    for (Values& values : valuations) {
      for (const std::string& name : kNames) values[name] = between(low, high);
    }
  }

  std::array<Values, kValuations> valuations;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Sample integer(int depth) {
    if (depth == 0) return leaf();
    switch (between(0, 17)) {
      case 0: return leaf();
      case 1:
      case 2:
      case 3:
        return apply(integer(depth - 1), integer(depth - 1), [](const Expr& a, const Expr& b) { return a + b; }, add);
      case 4:
        return apply(
            integer(depth - 1), integer(depth - 1), [](const Expr& a, const Expr& b) { return a - b; }, subtract);
      case 5:
      case 6:
        return apply(
            integer(depth - 1), integer(depth - 1), [](const Expr& a, const Expr& b) { return a * b; }, multiply);
      case 7: return apply(integer(depth - 1), integer(depth - 1), floor_div, floor_of);
      case 8: return apply(integer(depth - 1), constant(), floor_div, floor_of);
      case 9:
        return apply(integer(depth - 1), between(0, 1) == 0 ? constant() : integer(depth - 1), ceil_div, ceiling_of);
      case 10: return apply(integer(depth - 1), between(0, 1) == 0 ? constant() : integer(depth - 1), mod, modulo);
      case 11:
        return apply(integer(depth - 1), integer(depth - 1), min,
                     [](auto a, auto b) { return std::optional(a < b ? a : b); });
      case 12:
        return apply(integer(depth - 1), integer(depth - 1), max,
                     [](auto a, auto b) { return std::optional(a < b ? b : a); });
      case 13:
        return apply(
            integer(depth - 1), constant(), [](const Expr& a, const Expr&) { return abs(a); },
            [](auto a, auto) { return std::optional(a < 0 ? -a : a); });
      case 14: {
        const Sample condition = boolean(depth - 1);
        const Sample a = integer(depth - 1);
        const Sample b = integer(depth - 1);
        Sample result{select(condition.e, a.e, b.e), {}, false};
        for (std::size_t v = 0; v < kValuations; ++v) {
          if (condition.results[v]) result.results[v] = *condition.results[v] != 0 ? a.results[v] : b.results[v];
        }
        return result;
      }
      case 15: {
        const std::int64_t exponent = between(0, 3);
        return apply(integer(depth - 1), number(exponent), pow, power);
      }
      case 16: {
        using Operation = Expr (*)(const Expr&, const Expr&);
        const auto which = between(0, 2);
        const Operation operation = which == 0 ? bit_and : (which == 1 ? bit_or : bit_xor);
        return apply(integer(depth - 1), integer(depth - 1), operation, [which](auto a, auto b) {
          return std::optional(which == 0 ? a & b : (which == 1 ? a | b : a ^ b));
        });
      }
      default: {
        const bool left = between(0, 1) == 0;
        return apply(integer(depth - 1), between(0, 2) == 0 ? leaf() : number(between(0, 5)),
                     left ? shift_left : shift_right, [left](auto a, auto b) -> std::optional<std::int64_t> {
                       if (b < 0 || b > 20) return std::nullopt;
                       return left ? a * (std::int64_t{1} << b) : a >> b;
                     });
      }
    }
  }

  Sample boolean(int depth) {
    switch (between(0, depth == 0 ? 2 : 7)) {
      case 0:
      case 3: return compared(depth, lt, [](auto a, auto b) { return a < b; });
      case 1:
      case 4: return compared(depth, eq, [](auto a, auto b) { return a == b; });
      case 2: return compared(depth, ge, [](auto a, auto b) { return a >= b; });
      case 5: return joined(depth, logical_and, true);
      case 6: return joined(depth, logical_or, false);
      default: {
        Sample inner = boolean(depth - 1);
        inner.e = logical_not(inner.e);
        for (auto& value : inner.results) {
          if (value) value = 1 - *value;
        }
        return inner;
      }
    }
  }

 private:
  static std::optional<std::int64_t> small(std::int64_t value) {
    if (value > (std::int64_t{1} << 40) || value < -(std::int64_t{1} << 40)) return std::nullopt;
    return value;
  }
  static std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) { return a + b; }
  static std::optional<std::int64_t> subtract(std::int64_t a, std::int64_t b) { return a - b; }
  static std::optional<std::int64_t> multiply(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
  }
  static std::optional<std::int64_t> floor_of(std::int64_t a, std::int64_t b) {
    if (b == 0) return std::nullopt;
    // Counted, not copied from the library: the largest q with q * b <= a (>= for a negative divisor).
    std::int64_t q = a / b;
    while (b > 0 ? q * b > a : q * b < a) --q;
    return q;
  }
  static std::optional<std::int64_t> ceiling_of(std::int64_t a, std::int64_t b) {
    const auto floor = floor_of(-a, b);
    if (!floor) return std::nullopt;
    return -*floor;
  }
  static std::optional<std::int64_t> modulo(std::int64_t a, std::int64_t b) {
    const auto floor = floor_of(a, b);
    if (!floor) return std::nullopt;
    return a - b * *floor;
  }
  static std::optional<std::int64_t> power(std::int64_t a, std::int64_t b) {
    std::optional<std::int64_t> result = 1;
    for (std::int64_t n = 0; n < b && result; ++n)
      result = small(*result) ? multiply(*small(*result), a) : std::nullopt;
    return result;
  }

  template <typename Build, typename Compute>
  Sample apply(const Sample& a, const Sample& b, Build build, Compute compute) {
    Sample result;
    result.e = build(a.e, b.e);
    for (std::size_t v = 0; v < kValuations; ++v) {
      if (!a.results[v] || !b.results[v]) continue;
      if (const auto value = compute(*a.results[v], *b.results[v])) result.results[v] = small(*value);
    }
    return result;
  }

  template <typename Compute>
  Sample compared(int depth, Expr (*build)(const Expr&, const Expr&), Compute compute) {
    const int inner = depth == 0 ? 0 : depth - 1;
    Sample result = apply(integer(inner), integer(inner), build,
                          [&](auto a, auto b) { return std::optional<std::int64_t>(compute(a, b)); });
    result.boolean = true;
    return result;
  }

  Sample joined(int depth, Expr (*build)(const Expr&, const Expr&), bool conjunction) {
    Sample result = apply(boolean(depth - 1), boolean(depth - 1), build, [&](auto a, auto b) {
      return std::optional<std::int64_t>(conjunction ? (a != 0 && b != 0) : (a != 0 || b != 0));
    });
    result.boolean = true;
    return result;
  }

  Sample number(std::int64_t value) {
    Sample result{value, {}, false};
    result.results.fill(value);
    return result;
  }

  Sample constant() { return number(between(-6, 6) | 1); }

  Sample leaf() {
    if (between(0, 3) == 0) return number(between(-7, 7));
    const std::string& name = kNames[static_cast<std::size_t>(between(0, kNames.size() - 1))];
    Sample result{Expr::symbol(name), {}, false};
    for (std::size_t v = 0; v < kValuations; ++v) result.results[v] = valuations[v].at(name);
    return result;
  }

  std::mt19937 random_;
};

}  // namespace sdfg::symbolic::testing
