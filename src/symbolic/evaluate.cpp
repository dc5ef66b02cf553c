// Evaluation of expressions for given values, with exact arithmetic.
#include <exception>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

__extension__ typedef __int128 Wide;

std::int64_t narrow(Wide value, const Expr& e) {
  const auto result = static_cast<std::int64_t>(value);
  if (result != value) {
    throw Error(ErrorClass::kLimit, "64-bit integer overflow in the value of the expression " + e.str());
  }
  return result;
}

class Evaluator {
 public:
  explicit Evaluator(const Valuation& values) : values_(values) {}

  std::int64_t operator()(const Expr& e) const { return narrow(wide(e), e); }

 private:
  // Sums and products are carried in 128 bits: canonical forms may have larger intermediate values than the form as
  // written.
  Wide wide(const Expr& e) const {
    switch (e.kind()) {
      case Kind::kInteger:
      case Kind::kBoolean: return e.value();
      case Kind::kSymbol: return named(values_.symbol ? values_.symbol(e.name()) : std::nullopt, e);
      case Kind::kRead: {
        const std::vector<std::int64_t> indices = all(e);
        return named(values_.read ? values_.read(e.name(), indices) : std::nullopt, e);
      }
      case Kind::kCall: {
        const std::vector<std::int64_t> args = all(e);
        return named(values_.call ? values_.call(e.name(), args) : std::nullopt, e);
      }
      case Kind::kAdd: {
        Wide total = 0;
        for (const Expr& arg : e.args()) {
          if (__builtin_add_overflow(total, wide(arg), &total)) overflow(e);
        }
        return total;
      }
      case Kind::kMul: {
        Wide total = 1;
        bool overflowed = false;
        bool zero = false;
        for (const Expr& arg : e.args()) {
          const Wide factor = wide(arg);
          zero |= factor == 0;
          overflowed |= __builtin_mul_overflow(total, factor, &total);
        }
        if (zero) return 0;
        if (overflowed) overflow(e);
        return total;
      }
      case Kind::kPow: return power(e);
      case Kind::kFloorDiv: return floor_quotient((*this)(e.args()[0]), divisor(e));
      case Kind::kCeilDiv: {
        const std::int64_t a = (*this)(e.args()[0]);
        const std::int64_t b = divisor(e);
        return Wide{floor_quotient(a, b)} + (floor_remainder(a, b) != 0 ? 1 : 0);
      }
      case Kind::kMod: return floor_remainder((*this)(e.args()[0]), divisor(e));
      case Kind::kMin:
      case Kind::kMax: {
        Wide best = wide(e.args()[0]);
        for (const Expr& arg : e.args().subspan(1)) {
          const Wide value = wide(arg);
          if (e.kind() == Kind::kMin ? value < best : value > best) best = value;
        }
        return best;
      }
      case Kind::kAbs: {
        const Wide value = wide(e.args()[0]);
        return value < 0 ? -value : value;
      }
      case Kind::kSelect: return wide(wide(e.args()[0]) != 0 ? e.args()[1] : e.args()[2]);
      case Kind::kEqual: return wide(e.args()[0]) == wide(e.args()[1]) ? 1 : 0;
      case Kind::kNotEqual: return wide(e.args()[0]) != wide(e.args()[1]) ? 1 : 0;
      case Kind::kLessEqual: return wide(e.args()[0]) <= wide(e.args()[1]) ? 1 : 0;
      case Kind::kLess: return wide(e.args()[0]) < wide(e.args()[1]) ? 1 : 0;
      case Kind::kAnd: return junction(e, false);
      case Kind::kOr: return junction(e, true);
      case Kind::kNot: return wide(e.args()[0]) == 0 ? 1 : 0;
      case Kind::kBitAnd:
      case Kind::kBitOr:
      case Kind::kBitXor: {
        std::int64_t result = (*this)(e.args()[0]);
        for (const Expr& arg : e.args().subspan(1)) {
          const std::int64_t value = (*this)(arg);
          if (e.kind() == Kind::kBitAnd) {
            result &= value;
          } else if (e.kind() == Kind::kBitOr) {
            result |= value;
          } else {
            result ^= value;
          }
        }
        return result;
      }
      case Kind::kBitNot: return ~(*this)(e.args()[0]);
      case Kind::kShiftLeft: {
        const std::int64_t value = (*this)(e.args()[0]);
        const std::int64_t amount = shift(e);
        if (value == 0) return 0;
        if (amount > 63) overflow(e);
        return Wide{value} * (Wide{1} << amount);
      }
      case Kind::kShiftRight: {
        const std::int64_t value = (*this)(e.args()[0]);
        const std::int64_t amount = shift(e);
        return value >> (amount > 63 ? 63 : amount);
      }
    }
    return 0;
  }

  // An operand that decides settles the result even when another one is undefined: the order of operands carries no
  // meaning.
  Wide junction(const Expr& e, bool deciding) const {
    std::exception_ptr failure;
    for (const Expr& arg : e.args()) {
      try {
        if ((wide(arg) != 0) == deciding) return deciding ? 1 : 0;
      } catch (const Error&) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    return deciding ? 0 : 1;
  }

  Wide power(const Expr& e) const {
    const std::int64_t base = (*this)(e.args()[0]);
    const std::int64_t exponent = (*this)(e.args()[1]);
    if (exponent < 0) {
      throw Error(ErrorClass::kLimit,
                  "the power " + e.str() + " has the negative exponent " + std::to_string(exponent));
    }
    if (exponent == 0 || base == 1) return 1;
    if (base == 0) return 0;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    Wide result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) {
      if (__builtin_mul_overflow(result, Wide{base}, &result)) overflow(e);
    }
    return result;
  }

  std::int64_t divisor(const Expr& e) const {
    const std::int64_t value = (*this)(e.args()[1]);
    if (value == 0) {
      throw Error(ErrorClass::kLimit, "division by zero in " + e.str() + ": " + e.args()[1].str() + " is 0");
    }
    return value;
  }

  std::int64_t shift(const Expr& e) const {
    const std::int64_t amount = (*this)(e.args()[1]);
    if (amount < 0) {
      throw Error(ErrorClass::kLimit, "the shift amount of " + e.str() + " is negative: " + std::to_string(amount));
    }
    return amount;
  }

  std::vector<std::int64_t> all(const Expr& e) const {
    std::vector<std::int64_t> values;
    values.reserve(e.args().size());
    for (const Expr& arg : e.args()) values.push_back((*this)(arg));
    return values;
  }

  static std::int64_t named(std::optional<std::int64_t> value, const Expr& e) {
    if (!value) {
      throw Error(ErrorClass::kUsage,
                  "no value is known for the " + std::string(to_string(e.kind())) + " '" + e.str() + "'");
    }
    return *value;
  }

  [[noreturn]] static void overflow(const Expr& e) {
    throw Error(ErrorClass::kLimit, "64-bit integer overflow in the value of the expression " + e.str());
  }

  const Valuation& values_;
};

}  // namespace

std::int64_t evaluate(const Expr& e, const Valuation& values) {
  return Evaluator(values)(e);
}

std::int64_t evaluate(const Expr& e, const std::map<std::string, std::int64_t, std::less<>>& symbols) {
  Valuation values;
  values.symbol = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto at = symbols.find(name);
    if (at == symbols.end()) return std::nullopt;
    return at->second;
  };
  return evaluate(e, values);
}

}  // namespace sdfg::symbolic
