// Conditions without the negations that state machines and their raising leave: `not (not c)`, `not (i < N)`.
#include "io/importer.hpp"

namespace sdfg::io {

namespace {

using tasklet::BinaryOp;

std::optional<BinaryOp> opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual: return BinaryOp::kNotEqual;
    case BinaryOp::kNotEqual: return BinaryOp::kEqual;
    case BinaryOp::kLess: return BinaryOp::kGreaterEqual;
    case BinaryOp::kLessEqual: return BinaryOp::kGreater;
    case BinaryOp::kGreater: return BinaryOp::kLessEqual;
    case BinaryOp::kGreaterEqual: return BinaryOp::kLess;
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod:
    case BinaryOp::kPow:
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor:
    case BinaryOp::kAnd:
    case BinaryOp::kOr: break;
  }
  return std::nullopt;
}

bool is_whole(const tasklet::Expr& e) {
  const Type& t = e.type();
  return t.is_scalar() && (is_integer(t.scalar()) || t.scalar() == ScalarType::kBool);
}

// What is true exactly where `e` is false, without a negation in front; nothing where there is none. An order of
// floating numbers has no opposite: with a NaN both are false.
std::optional<tasklet::Expr> without_not(const tasklet::Expr& e) {
  if (const auto* u = std::get_if<tasklet::Unary>(&e.node()); u != nullptr && u->op == tasklet::UnaryOp::kNot)
    return e.children()[0];
  const auto* b = std::get_if<tasklet::Binary>(&e.node());
  if (b == nullptr) return std::nullopt;
  const tasklet::Expr &x = e.children()[0], &y = e.children()[1];
  const bool equality = b->op == BinaryOp::kEqual || b->op == BinaryOp::kNotEqual;
  if (const auto op = opposite(b->op); op && (equality || (is_whole(x) && is_whole(y))))
    return tasklet::Expr::binary(*op, x, y);
  if (b->op != BinaryOp::kAnd && b->op != BinaryOp::kOr) return std::nullopt;
  const auto p = without_not(x), q = without_not(y);
  if (!p || !q) return std::nullopt;
  return tasklet::Expr::binary(b->op == BinaryOp::kAnd ? BinaryOp::kOr : BinaryOp::kAnd, *p, *q);
}

}  // namespace

tasklet::Expr plain_condition(const tasklet::Expr& condition) {
  if (const auto* u = std::get_if<tasklet::Unary>(&condition.node()); u != nullptr && u->op == tasklet::UnaryOp::kNot) {
    if (const auto plain = without_not(condition.children()[0])) return plain_condition(*plain);
    return condition;
  }
  const auto* b = std::get_if<tasklet::Binary>(&condition.node());
  if (b == nullptr || (b->op != BinaryOp::kAnd && b->op != BinaryOp::kOr)) return condition;
  return tasklet::Expr::binary(b->op, plain_condition(condition.children()[0]),
                               plain_condition(condition.children()[1]));
}

}  // namespace sdfg::io
