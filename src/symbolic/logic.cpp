// Comparisons, logic, selection, minima, maxima and bit operations in canonical form.
#include <algorithm>
#include <limits>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

enum class Extreme : std::uint8_t { kMinimum, kMaximum };

Kind kind_of(Extreme extreme) {
  return extreme == Extreme::kMinimum ? Kind::kMin : Kind::kMax;
}

bool better(Extreme extreme, std::int64_t a, std::int64_t b) {
  return extreme == Extreme::kMinimum ? a < b : a > b;
}

void flatten(Kind kind, const Expr& e, std::vector<Expr>& into) {
  if (e.kind() == kind) {
    into.insert(into.end(), e.args().begin(), e.args().end());
  } else {
    into.push_back(e);
  }
}

bool contains(std::span<const Expr> args, const Expr& e) {
  return std::find(args.begin(), args.end(), e) != args.end();
}

// Of operands that differ by a constant only the extreme one stays; min(x, max(x, y)) is x.
Expr extreme_of(Extreme extreme, const Expr& a, const Expr& b) {
  if (a == b) return a;
  if (a.is_integer() && b.is_integer()) return better(extreme, a.value(), b.value()) ? a : b;
  std::vector<Expr> args;
  flatten(kind_of(extreme), a, args);
  flatten(kind_of(extreme), b, args);
  struct Offset {
    Expr rest;
    std::int64_t constant;
  };
  std::vector<Offset> parts;
  for (const Expr& arg : args) {
    const std::int64_t constant = sum_view(arg).constant;
    const Expr rest = constant == 0 ? arg : arg - Expr(constant);
    const auto at = std::find_if(parts.begin(), parts.end(), [&](const Offset& o) { return o.rest == rest; });
    if (at == parts.end()) {
      parts.push_back({rest, constant});
    } else if (better(extreme, constant, at->constant)) {
      at->constant = constant;
    }
  }
  args.clear();
  for (const Offset& part : parts) args.push_back(part.rest + Expr(part.constant));
  const Kind opposite = kind_of(extreme == Extreme::kMinimum ? Extreme::kMaximum : Extreme::kMinimum);
  std::vector<Expr> kept;
  for (const Expr& arg : args) {
    const bool absorbed = arg.kind() == opposite && std::any_of(args.begin(), args.end(), [&](const Expr& other) {
                            return contains(arg.args(), other);
                          });
    if (!absorbed) kept.push_back(arg);
  }
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end(), ExprLess());
  return ExprAccess::make(kind_of(extreme), std::move(kept));
}

// difference <= 0, divided by its content and rounded inwards.
Expr nonpositive(const Expr& difference) {
  if (difference.is_integer()) return Expr::boolean(difference.value() <= 0);
  const std::int64_t g = content(difference);
  if (g == 1) return ExprAccess::make(Kind::kLessEqual, {difference, Expr(0)});
  const std::int64_t constant = sum_view(difference).constant;
  const std::int64_t rounded = floor_quotient(constant, g) + (floor_remainder(constant, g) != 0 ? 1 : 0);
  return ExprAccess::make(Kind::kLessEqual, {divide_exactly(difference - Expr(constant), g) + Expr(rounded), Expr(0)});
}

Expr compare_equal(const Expr& a, const Expr& b, bool equal) {
  const Kind kind = equal ? Kind::kEqual : Kind::kNotEqual;
  if (a == b) return Expr::boolean(equal);
  if (a.is_boolean_valued() && b.is_boolean_valued()) {
    if (a.kind() == Kind::kBoolean) return a.is_true() == equal ? b : logical_not(b);
    if (b.kind() == Kind::kBoolean) return b.is_true() == equal ? a : logical_not(a);
    if (a == logical_not(b)) return Expr::boolean(!equal);
    return ExprAccess::make(kind, compare(a, b) < 0 ? std::vector<Expr>{a, b} : std::vector<Expr>{b, a});
  }
  Expr difference = a - b;
  if (difference.is_integer()) return Expr::boolean((difference.value() == 0) == equal);
  const std::int64_t g = content(difference);
  if (sum_view(difference).constant % g != 0) return Expr::boolean(!equal);
  difference = divide_exactly(difference, g);
  if (leading_sign(difference) < 0) difference = -difference;
  return ExprAccess::make(kind, {difference, Expr(0)});
}

enum class Junction : std::uint8_t { kConjunction, kDisjunction };

// Operands that may be undefined come last, so that evaluation from left to right meets guards such as `i < N` before
// `A[i]`.
Expr junction_of(Junction junction, const Expr& a, const Expr& b) {
  const Kind kind = junction == Junction::kConjunction ? Kind::kAnd : Kind::kOr;
  const bool neutral = junction == Junction::kConjunction;
  std::vector<Expr> all;
  flatten(kind, as_boolean(a), all);
  flatten(kind, as_boolean(b), all);
  std::vector<Expr> args;
  for (const Expr& arg : all) {
    if (arg.kind() == Kind::kBoolean) {
      if (arg.is_true() == neutral) continue;
      return Expr::boolean(!neutral);
    }
    if (!contains(args, arg)) args.push_back(arg);
  }
  if (args.empty()) return Expr::boolean(neutral);
  if (args.size() == 1) return args[0];
  for (const Expr& arg : args) {
    if (contains(args, logical_not(arg))) return Expr::boolean(!neutral);
  }
  std::sort(args.begin(), args.end(), [](const Expr& x, const Expr& y) {
    const int faults_x = ExprAccess::node(x).faults;
    const int faults_y = ExprAccess::node(y).faults;
    return faults_x != faults_y ? faults_x < faults_y : compare(x, y) < 0;
  });
  return ExprAccess::make(kind, std::move(args));
}

enum class Bits : std::uint8_t { kAnd, kOr, kXor };

std::int64_t apply(Bits operation, std::int64_t a, std::int64_t b) {
  switch (operation) {
    case Bits::kAnd: return a & b;
    case Bits::kOr: return a | b;
    case Bits::kXor: return a ^ b;
  }
  return 0;
}

Kind kind_of(Bits operation) {
  switch (operation) {
    case Bits::kAnd: return Kind::kBitAnd;
    case Bits::kOr: return Kind::kBitOr;
    case Bits::kXor: return Kind::kBitXor;
  }
  return Kind::kBitAnd;
}

Expr bits_of(Bits operation, const Expr& raw_a, const Expr& raw_b) {
  std::vector<Expr> all;
  flatten(kind_of(operation), as_integer(raw_a), all);
  flatten(kind_of(operation), as_integer(raw_b), all);
  const std::int64_t neutral = operation == Bits::kAnd ? -1 : 0;
  std::int64_t constant = neutral;
  std::vector<Expr> args;
  for (const Expr& arg : all) {
    if (arg.is_integer()) {
      constant = apply(operation, constant, arg.value());
      continue;
    }
    const auto at = std::find(args.begin(), args.end(), arg);
    if (at == args.end()) {
      args.push_back(arg);
    } else if (operation == Bits::kXor) {
      args.erase(at);
    }
  }
  if (operation == Bits::kAnd && constant == 0) return 0;
  if (operation == Bits::kOr && constant == -1) return -1;
  if (args.empty()) return constant;
  if (operation == Bits::kXor && constant == -1) {
    constant = 0;
    if (args.size() == 1) return -args[0] - Expr(1);
    std::sort(args.begin(), args.end(), ExprLess());
    return -ExprAccess::make(Kind::kBitXor, std::move(args)) - Expr(1);
  }
  if (constant == neutral && args.size() == 1) return args[0];
  std::sort(args.begin(), args.end(), ExprLess());
  if (constant != neutral) args.insert(args.begin(), Expr(constant));
  return ExprAccess::make(kind_of(operation), std::move(args));
}

}  // namespace

Expr as_boolean(const Expr& e) {
  if (e.is_boolean_valued()) return e;
  return ne(e, 0);
}

Expr min(const Expr& a, const Expr& b) {
  return extreme_of(Extreme::kMinimum, as_integer(a), as_integer(b));
}
Expr max(const Expr& a, const Expr& b) {
  return extreme_of(Extreme::kMaximum, as_integer(a), as_integer(b));
}

Expr abs(const Expr& raw) {
  const Expr& a = as_integer(raw);
  if (a.is_integer()) return a.value() < 0 ? checked_neg(a.value()) : a.value();
  if (a.kind() == Kind::kAbs || a.is_boolean_valued()) return a;
  std::int64_t g = gcd_of(content(a), sum_view(a).constant);
  if (leading_sign(a) < 0) g = -g;
  Expr inner = divide_exactly(a, g);
  if (inner.kind() == Kind::kAbs) return scale(inner, g < 0 ? -g : g);
  return scale(ExprAccess::make(Kind::kAbs, {std::move(inner)}), g < 0 ? -g : g);
}

Expr select(const Expr& raw_condition, const Expr& then_value, const Expr& else_value) {
  const Expr condition = as_boolean(raw_condition);
  if (condition.is_true()) return then_value;
  if (condition.is_false()) return else_value;
  if (then_value == else_value) return then_value;
  if (then_value.is_true() && else_value.is_false()) return condition;
  if (then_value.is_false() && else_value.is_true()) return logical_not(condition);
  // Of a condition and its negation the smaller form is kept.
  const Expr negated = logical_not(condition);
  if (compare(negated, condition) < 0) return ExprAccess::make(Kind::kSelect, {negated, else_value, then_value});
  return ExprAccess::make(Kind::kSelect, {condition, then_value, else_value});
}

Expr eq(const Expr& a, const Expr& b) {
  return compare_equal(a, b, true);
}
Expr ne(const Expr& a, const Expr& b) {
  return compare_equal(a, b, false);
}
Expr le(const Expr& a, const Expr& b) {
  return nonpositive(a - b);
}
Expr lt(const Expr& a, const Expr& b) {
  return nonpositive(a - b + Expr(1));
}
Expr gt(const Expr& a, const Expr& b) {
  return lt(b, a);
}
Expr ge(const Expr& a, const Expr& b) {
  return le(b, a);
}

Expr logical_and(const Expr& a, const Expr& b) {
  return junction_of(Junction::kConjunction, a, b);
}
Expr logical_or(const Expr& a, const Expr& b) {
  return junction_of(Junction::kDisjunction, a, b);
}

// Negation moves inwards (De Morgan), so kNot does not occur in canonical forms.
Expr logical_not(const Expr& raw) {
  const Expr a = as_boolean(raw);
  switch (a.kind()) {
    case Kind::kBoolean: return Expr::boolean(a.value() == 0);
    case Kind::kEqual: return ExprAccess::make(Kind::kNotEqual, {a.args().begin(), a.args().end()});
    case Kind::kNotEqual: return ExprAccess::make(Kind::kEqual, {a.args().begin(), a.args().end()});
    case Kind::kLessEqual: return nonpositive(Expr(1) - a.args()[0]);
    case Kind::kLess: return le(a.args()[1], a.args()[0]);
    case Kind::kAnd:
    case Kind::kOr: {
      std::vector<Expr> negated;
      for (const Expr& arg : a.args()) negated.push_back(logical_not(arg));
      const Kind dual = a.kind() == Kind::kAnd ? Kind::kOr : Kind::kAnd;
      return rebuild(ExprAccess::make(dual, {}), std::move(negated));
    }
    case Kind::kNot: return a.args()[0];
    case Kind::kSelect: return select(a.args()[0], logical_not(a.args()[1]), logical_not(a.args()[2]));
    case Kind::kInteger:
    case Kind::kSymbol:
    case Kind::kRead:
    case Kind::kCall:
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kPow:
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
    case Kind::kMod:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAbs:
    case Kind::kBitAnd:
    case Kind::kBitOr:
    case Kind::kBitXor:
    case Kind::kBitNot:
    case Kind::kShiftLeft:
    case Kind::kShiftRight: break;  // never boolean valued
  }
  return ExprAccess::make(Kind::kNot, {a});
}

Expr bit_and(const Expr& a, const Expr& b) {
  if (a.is_boolean_valued() && b.is_boolean_valued()) return logical_and(a, b);
  return bits_of(Bits::kAnd, a, b);
}

Expr bit_or(const Expr& a, const Expr& b) {
  if (a.is_boolean_valued() && b.is_boolean_valued()) return logical_or(a, b);
  return bits_of(Bits::kOr, a, b);
}

Expr bit_xor(const Expr& a, const Expr& b) {
  if (a.is_boolean_valued() && b.is_boolean_valued()) return ne(a, b);
  return bits_of(Bits::kXor, a, b);
}

// Two's complement: ~a is -a - 1, so kBitNot does not occur in canonical forms.
Expr bit_not(const Expr& a) {
  return Expr(-1) - a;
}

}  // namespace sdfg::symbolic
