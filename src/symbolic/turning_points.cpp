// Quotients and remainders turn where their numerator passes a multiple of the divisor: at residues 0 and divisor - 1.
// The first and the last place of each kind in the range suffice, since what lies between repeats.
#include "symbolic/turning_points.hpp"

#include <algorithm>
#include <sdfg/error.hpp>
#include <utility>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

// x with a x = 1 (mod m), for coprime a and m > 1.
std::int64_t inverse_of(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = floor_remainder(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  return floor_remainder(t0, m);
}

class TurningPoints {
 public:
  TurningPoints(const std::string& symbol, const Lattice& over, const Facts& facts)
      : symbol_(symbol), over_(over), facts_(facts), last_(floor_div(over.high - over.low, over.step)) {}

  std::vector<Expr> of(const Expr& e) {
    const bool constant = over_.low.is_integer() && last_.is_integer() && last_.value() >= 0;
    if (constant && std::cmp_less(last_.value(), kTurningPoints)) {
      for (std::int64_t k = 0; k <= last_.value(); ++k) points_.push_back(at(k));
      return std::move(points_);
    }
    points_ = {over_.high};
    add(0);
    visit(e);
    return std::move(points_);
  }

 private:
  Expr at(const Expr& k) const { return over_.low + Expr(over_.step) * k; }

  // The value number k, when it is one.
  void add(const Expr& k) {
    if (points_.size() >= kTurningPoints) return;
    const Expr inside = simplify(k, facts_);
    const Expr point = at(inside);
    if (std::find(points_.begin(), points_.end(), point) != points_.end()) return;
    if (is_nonnegative(inside, facts_) != Truth::kYes) return;
    if (is_nonnegative(last_ - inside, facts_) != Truth::kYes) return;
    points_.push_back(point);
  }

  void visit(const Expr& e) {
    if (!depends_on(e, symbol_) || points_.size() >= kTurningPoints) return;
    const std::span<const Expr> a = e.args();
    switch (e.kind()) {
      case Kind::kFloorDiv:
      case Kind::kCeilDiv:
      case Kind::kMod: multiples(a[0], a[1], e.kind() == Kind::kCeilDiv); break;
      case Kind::kMin:
      case Kind::kMax:
        for (std::size_t i = 0; i < a.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) root(a[i] - a[j]);
        }
        break;
      case Kind::kAbs: root(a[0]); break;
      case Kind::kEqual:
      case Kind::kNotEqual:
      case Kind::kLessEqual:
      case Kind::kLess:
        if (!a[0].is_boolean_valued() && !a[1].is_boolean_valued()) root(a[0] - a[1]);
        break;
      case Kind::kInteger:
      case Kind::kBoolean:
      case Kind::kSymbol:
      case Kind::kRead:
      case Kind::kCall:
      case Kind::kAdd:
      case Kind::kMul:
      case Kind::kPow:
      case Kind::kSelect:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kNot:
      case Kind::kBitAnd:
      case Kind::kBitOr:
      case Kind::kBitXor:
      case Kind::kBitNot:
      case Kind::kShiftLeft:
      case Kind::kShiftRight: break;
    }
    for (const Expr& arg : a) visit(arg);
  }

  // Both sides of where `difference` changes its sign, and the place itself.
  void root(const Expr& difference) {
    const std::optional<AffineIn> affine = affine_in(difference, symbol_);
    if (!affine || !affine->slope.is_integer() || affine->slope.is_zero()) return;
    const Expr k = floor_div(-affine->rest - affine->slope * over_.low, affine->slope * Expr(over_.step));
    for (const int beside : {0, 1, -1}) add(k + Expr(beside));
  }

  void multiples(const Expr& numerator, const Expr& divisor, bool upwards) {
    const std::optional<AffineIn> affine = affine_in(numerator, symbol_);
    if (!affine || !affine->slope.is_integer() || affine->slope.is_zero() || depends_on(divisor, symbol_)) return;
    // The numerator is first + slope k.
    const std::int64_t slope = checked_mul(affine->slope.value(), over_.step);
    const Expr first = affine->slope * over_.low + affine->rest;
    if (divisor.is_integer()) {
      constant_divisor(slope, first, divisor.value());
    } else if ((slope == 1 || slope == -1) && is_positive(divisor, facts_) == Truth::kYes) {
      symbolic_divisor(slope, first, divisor, upwards);
    }
  }

  void constant_divisor(std::int64_t slope, const Expr& first, std::int64_t divisor) {
    const std::int64_t common = gcd_of(slope, divisor);
    const std::int64_t period = divisor / common;
    if (period <= 1) return;
    // first + slope k = common (u + slope / common k) + a rest below `common`: the residues of the bracket turn.
    const Expr u = floor_div(first, common);
    const Expr inverse = inverse_of(slope / common, period);
    for (const std::int64_t residue : {period - 1, std::int64_t{0}}) {
      const Expr k = inverse * (Expr(residue) - u);
      add(last_ - mod(last_ - k, period));
      add(mod(k, period));
    }
  }

  void symbolic_divisor(std::int64_t slope, const Expr& first, const Expr& divisor, bool upwards) {
    const Expr other = first + Expr(slope) * last_;
    const Expr& low = slope == 1 ? first : other;
    const Expr& high = slope == 1 ? other : first;
    for (const int residue : {-1, 0, 1}) {
      if (residue == 1 && !upwards) continue;
      add(Expr(slope) * (divisor * floor_div(high - Expr(residue), divisor) + Expr(residue) - first));
      add(Expr(slope) * (divisor * ceil_div(low - Expr(residue), divisor) + Expr(residue) - first));
    }
  }

  const std::string& symbol_;
  const Lattice& over_;
  const Facts& facts_;
  Expr last_;  // the number of the last value
  std::vector<Expr> points_;
};

}  // namespace

std::vector<Expr> turning_points(const Expr& e, const std::string& symbol, const Lattice& over, const Facts& facts) {
  try {
    return TurningPoints(symbol, over, facts).of(e);
  } catch (const Error&) {
    return {over.high, over.low};  // a coefficient of the search overflowed
  }
}

}  // namespace sdfg::symbolic
