// Nodes of expressions: leaves, hashing, the structural order, and the arithmetic that every constructor shares.
#include "symbolic/expr.hpp"

#include <array>
#include <limits>
#include <sdfg/error.hpp>

#include "symbolic/node.hpp"
#include "symbolic/print.hpp"

namespace sdfg::symbolic {

namespace {

constexpr std::int64_t kSmallestCached = -64;
constexpr std::int64_t kLargestCached = 256;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  hash *= 0xBF58476D1CE4E5B9ULL;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

bool is_small_constant_power(Kind kind, const std::vector<Expr>& args) {
  return kind == Kind::kPow && args.size() == 2 && args[1].is_integer();
}

bool is_boolean_kind(Kind kind, const std::vector<Expr>& args) {
  switch (kind) {
    case Kind::kBoolean:
    case Kind::kEqual:
    case Kind::kNotEqual:
    case Kind::kLessEqual:
    case Kind::kLess:
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot: return true;
    case Kind::kSelect: return args.size() == 3 && args[1].is_boolean_valued() && args[2].is_boolean_valued();
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
    case Kind::kShiftRight: return false;
  }
  return false;
}

// May an operation of this kind be undefined for some values of its operands?
bool may_fault(Kind kind, const std::vector<Expr>& args) {
  switch (kind) {
    case Kind::kRead:
    case Kind::kCall: return true;
    case Kind::kPow:
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
    case Kind::kMod:
    case Kind::kShiftLeft:
    case Kind::kShiftRight: return !args[1].is_integer();
    case Kind::kInteger:
    case Kind::kBoolean:
    case Kind::kSymbol:
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAbs:
    case Kind::kSelect:
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
    case Kind::kBitNot: return false;
  }
  return false;
}

void fill_derived(Expr::Node& node) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind) + 1, static_cast<std::uint64_t>(node.value));
  if (!node.name.empty()) hash = mix(hash, hash_text(node.name));
  node.boolean = is_boolean_kind(node.kind, node.args);
  node.reads = node.kind == Kind::kRead;
  node.calls = node.kind == Kind::kCall;
  node.polynomial = node.kind == Kind::kInteger || node.kind == Kind::kSymbol || node.kind == Kind::kAdd ||
                    node.kind == Kind::kMul || is_small_constant_power(node.kind, node.args);
  if (node.kind == Kind::kSymbol) node.symbols = symbol_bit(node.name);
  int depth = 0;
  int faults = 0;
  for (const Expr& arg : node.args) {
    const Expr::Node& child = ExprAccess::node(arg);
    hash = mix(hash, child.hash);
    node.reads |= child.reads;
    node.calls |= child.calls;
    node.polynomial &= child.polynomial;
    node.symbols |= child.symbols;
    depth = std::max<int>(depth, child.depth + 1);
    faults = std::max<int>(faults, child.faults);
  }
  if (depth > kMaxDepth) {
    throw Error(ErrorClass::kLimit, "an expression is nested more than " + std::to_string(kMaxDepth) +
                                        " levels deep (at a " + std::string(to_string(node.kind)) + ")");
  }
  if (may_fault(node.kind, node.args)) ++faults;
  node.depth = static_cast<std::uint16_t>(depth);
  node.faults = static_cast<std::uint8_t>(std::min(faults, 255));
  node.hash = hash;
}

// Nodes of small integers and of the two booleans live for ever; expressions refer to them without counting references.
struct Constants {
  std::array<Expr::Node, static_cast<std::size_t>(kLargestCached - kSmallestCached + 1)> integers;
  std::array<Expr::Node, 2> booleans;
  Constants() {
    for (std::int64_t value = kSmallestCached; value <= kLargestCached; ++value) {
      Expr::Node& node = integers[static_cast<std::size_t>(value - kSmallestCached)];
      node.value = value;
      fill_derived(node);
    }
    for (std::size_t i = 0; i < booleans.size(); ++i) {
      booleans[i].kind = Kind::kBoolean;
      booleans[i].value = static_cast<std::int64_t>(i);
      fill_derived(booleans[i]);
    }
  }
};

const Constants& constants() {
  // Never destroyed: expressions in other static objects may outlive any order of destruction.
  static const Constants& table = *new Constants;
  return table;
}

std::shared_ptr<const Expr::Node> immortal(const Expr::Node& node) noexcept {
  return {std::shared_ptr<const Expr::Node>(), &node};
}

std::shared_ptr<const Expr::Node> integer_node(std::int64_t value) {
  if (value >= kSmallestCached && value <= kLargestCached) {
    return immortal(constants().integers[static_cast<std::size_t>(value - kSmallestCached)]);
  }
  auto node = std::make_shared<Expr::Node>();
  node->value = value;
  fill_derived(*node);
  return node;
}

const std::string& empty_name() noexcept {
  static const std::string& empty = *new std::string;
  return empty;
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::kInteger: return "integer";
    case Kind::kBoolean: return "boolean";
    case Kind::kSymbol: return "symbol";
    case Kind::kRead: return "container read";
    case Kind::kCall: return "call";
    case Kind::kAdd: return "sum";
    case Kind::kMul: return "product";
    case Kind::kPow: return "power";
    case Kind::kFloorDiv: return "floor division";
    case Kind::kCeilDiv: return "ceiling division";
    case Kind::kMod: return "modulo";
    case Kind::kMin: return "minimum";
    case Kind::kMax: return "maximum";
    case Kind::kAbs: return "absolute value";
    case Kind::kSelect: return "selection";
    case Kind::kEqual: return "equality";
    case Kind::kNotEqual: return "inequality";
    case Kind::kLessEqual: return "less-or-equal comparison";
    case Kind::kLess: return "less comparison";
    case Kind::kAnd: return "logical and";
    case Kind::kOr: return "logical or";
    case Kind::kNot: return "logical not";
    case Kind::kBitAnd: return "bitwise and";
    case Kind::kBitOr: return "bitwise or";
    case Kind::kBitXor: return "bitwise exclusive or";
    case Kind::kBitNot: return "bitwise not";
    case Kind::kShiftLeft: return "left shift";
    case Kind::kShiftRight: return "right shift";
  }
  return "";
}

const Expr::Node& ExprAccess::node(const Expr& e) noexcept {
  // A moved-from expression reads as 0.
  if (!e.node_) return constants().integers[static_cast<std::size_t>(-kSmallestCached)];
  return *e.node_;
}

Expr ExprAccess::make_leaf(Kind kind, std::int64_t value, std::string name, std::vector<Expr> args) {
  auto node = std::make_shared<Expr::Node>();
  node->kind = kind;
  node->value = value;
  node->name = std::move(name);
  node->args = std::move(args);
  fill_derived(*node);
  return Expr(std::shared_ptr<const Expr::Node>(std::move(node)));
}

Expr ExprAccess::make(Kind kind, std::vector<Expr> args) {
  return make_leaf(kind, 0, {}, std::move(args));
}

std::uint64_t symbol_bit(std::string_view name) noexcept {
  const std::uint64_t hash = hash_text(name);
  return std::uint64_t{1} << ((hash ^ (hash >> 32)) & 63U);
}

Expr::Expr() : node_(immortal(constants().integers[static_cast<std::size_t>(-kSmallestCached)])) {}
Expr::Expr(std::int64_t value) : node_(integer_node(value)) {}

Expr Expr::boolean(bool value) {
  return Expr(immortal(constants().booleans[value ? 1 : 0]));
}

Expr Expr::symbol(std::string name) {
  if (name.empty()) throw Error(ErrorClass::kUsage, "a symbol must have a name");
  return ExprAccess::make_leaf(Kind::kSymbol, 0, std::move(name), {});
}

Expr Expr::read(std::string container, std::vector<Expr> indices) {
  if (container.empty()) throw Error(ErrorClass::kUsage, "a read must name a container");
  for (Expr& index : indices) index = as_integer(index);
  return ExprAccess::make_leaf(Kind::kRead, 0, std::move(container), std::move(indices));
}

Expr Expr::call(std::string function, std::vector<Expr> args) {
  if (function.empty()) throw Error(ErrorClass::kUsage, "a call must name a function");
  return ExprAccess::make_leaf(Kind::kCall, 0, std::move(function), std::move(args));
}

Kind Expr::kind() const noexcept {
  return ExprAccess::node(*this).kind;
}

std::int64_t Expr::value() const noexcept {
  return ExprAccess::node(*this).value;
}

const std::string& Expr::name() const noexcept {
  return node_ ? node_->name : empty_name();
}

std::span<const Expr> Expr::args() const noexcept {
  return ExprAccess::node(*this).args;
}

std::uint64_t Expr::hash() const noexcept {
  return ExprAccess::node(*this).hash;
}

bool Expr::is_boolean_valued() const noexcept {
  return ExprAccess::node(*this).boolean;
}

std::optional<std::int64_t> Expr::constant() const noexcept {
  if (!is_integer()) return std::nullopt;
  return value();
}

bool operator==(const Expr& a, const Expr& b) noexcept {
  if (a.node_ == b.node_) return true;
  return a.hash() == b.hash() && compare(a, b) == 0;
}

std::string Expr::str() const {
  return to_python(*this);
}

int compare(const Expr& a, const Expr& b) noexcept {
  const Expr::Node& x = ExprAccess::node(a);
  const Expr::Node& y = ExprAccess::node(b);
  if (&x == &y) return 0;
  if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;
  if (x.value != y.value) return x.value < y.value ? -1 : 1;
  if (const int names = x.name.compare(y.name); names != 0) return names < 0 ? -1 : 1;
  const std::size_t common = std::min(x.args.size(), y.args.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compare(x.args[i], y.args[i]); order != 0) return order;
  }
  if (x.args.size() != y.args.size()) return x.args.size() < y.args.size() ? -1 : 1;
  return 0;
}

void throw_overflow(std::string_view operation, std::int64_t a, std::int64_t b) {
  throw Error(ErrorClass::kLimit, "64-bit integer overflow in a symbolic expression: " + std::to_string(a) + " " +
                                      std::string(operation) + " " + std::to_string(b));
}

void throw_division_by_zero(std::string_view operation, const Expr& numerator) {
  throw Error(ErrorClass::kLimit,
              std::string(operation) + " by zero in a symbolic expression: the numerator is " + numerator.str());
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow("+", a, b);
  return result;
}

std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) throw_overflow("-", a, b);
  return result;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow("*", a, b);
  return result;
}

std::int64_t checked_neg(std::int64_t a) {
  return checked_sub(0, a);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == -1) return checked_neg(a);
  const std::int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t remainder = a % b;
  return (remainder != 0 && ((remainder < 0) != (b < 0))) ? remainder + b : remainder;
}

std::int64_t gcd_of(std::int64_t a, std::int64_t b) {
  const auto magnitude = [](std::int64_t x) {
    return x < 0 ? ~static_cast<std::uint64_t>(x) + 1 : static_cast<std::uint64_t>(x);
  };
  const std::uint64_t result = std::gcd(magnitude(a), magnitude(b));
  if (result > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) throw_overflow("gcd", a, b);
  return static_cast<std::int64_t>(result);
}

}  // namespace sdfg::symbolic
