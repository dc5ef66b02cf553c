// Residue classes of expressions: what congruences of symbols say about sums, products and divisions.
#include <algorithm>
#include <limits>

#include "symbolic/interval.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

constexpr Residue kNothing{1, 0};

Residue normalised(std::int64_t modulus, std::int64_t residue) {
  if (modulus == 1) return kNothing;
  return {modulus, modulus == 0 ? residue : floor_remainder(residue, modulus)};
}

Residue plus(const Residue& a, const Residue& b) {
  std::int64_t residue = 0;
  if (__builtin_add_overflow(a.residue, b.residue, &residue)) return kNothing;
  return normalised(gcd_of(a.modulus, b.modulus), residue);
}

// (a + m x)(b + n y) = a b + a n y + b m x + m n x y
Residue times(const Residue& a, const Residue& b) {
  std::int64_t residue = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t both = 0;
  if (__builtin_mul_overflow(a.residue, b.residue, &residue) || __builtin_mul_overflow(a.residue, b.modulus, &left) ||
      __builtin_mul_overflow(b.residue, a.modulus, &right) || __builtin_mul_overflow(a.modulus, b.modulus, &both)) {
    return kNothing;
  }
  return normalised(gcd_of(gcd_of(left, right), both), residue);
}

// What holds for a value of either class.
Residue join(const Residue& a, const Residue& b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a.residue, b.residue, &difference)) return kNothing;
  if (difference == std::numeric_limits<std::int64_t>::min()) return kNothing;
  return normalised(gcd_of(gcd_of(a.modulus, b.modulus), difference), a.residue);
}

constexpr int kResidueVisits = 400;

class Residues {
 public:
  explicit Residues(const Facts& facts) : facts_(facts) {}

  Residue of(const Expr& e) {
    if (e.is_integer() || e.kind() == Kind::kBoolean) return {0, e.value()};
    if (--visits_ < 0) return kNothing;
    const std::span<const Expr> a = e.args();
    switch (e.kind()) {
      case Kind::kSymbol:
        if (const auto known = facts_.congruence(e.name())) return normalised(known->first, known->second);
        return kNothing;
      case Kind::kAdd: {
        Residue total{0, 0};
        for (const Expr& term : a) total = plus(total, of(term));
        return total;
      }
      case Kind::kMul: {
        Residue total{0, 1};
        for (const Expr& factor : a) total = times(total, of(factor));
        return total;
      }
      case Kind::kPow: {
        if (!a[1].is_integer() || a[1].value() > 64) return kNothing;
        const Residue base = of(a[0]);
        Residue total{0, 1};
        for (std::int64_t i = 0; i < a[1].value(); ++i) total = times(total, base);
        return total;
      }
      case Kind::kMod: {
        // a mod b is a minus a multiple of b.
        if (!a[1].is_integer()) return kNothing;
        return plus(of(a[0]), {std::abs(a[1].value()), 0});
      }
      case Kind::kMin:
      case Kind::kMax: {
        Residue total = of(a[0]);
        for (const Expr& arg : a.subspan(1)) total = join(total, of(arg));
        return total;
      }
      case Kind::kAbs: {
        const Residue inner = of(a[0]);
        return join(inner, times(inner, {0, -1}));
      }
      case Kind::kSelect: return join(of(a[1]), of(a[2]));
      case Kind::kInteger:
      case Kind::kBoolean:
      case Kind::kRead:
      case Kind::kCall:
      case Kind::kFloorDiv:
      case Kind::kCeilDiv:
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kNot:
      case Kind::kBitAnd:
      case Kind::kBitOr:
      case Kind::kBitXor:
      case Kind::kBitNot:
      case Kind::kShiftLeft:
      case Kind::kShiftRight: return kNothing;
    }
    return kNothing;
  }

 private:
  const Facts& facts_;
  int visits_ = kResidueVisits;
};

}  // namespace

Residue residue_of(const Expr& e, const Facts& facts) {
  return Residues(facts).of(e);
}

}  // namespace sdfg::symbolic
