// Expression trees of scalar code: construction, structural equality, children.
#include "tasklet/code.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

struct Expr::Impl {
  ExprNode node;
  Type type;
  std::uint32_t column = 0;
  std::uint32_t depth = 1;
};

namespace {

std::vector<Expr>* operands_of(ExprNode& node) {
  return std::visit(Overloaded{[](Literal&) -> std::vector<Expr>* { return nullptr; },
                               [](Name&) -> std::vector<Expr>* { return nullptr; },
                               [](Subscript& n) -> std::vector<Expr>* { return &n.indices; },
                               [](Unary& n) -> std::vector<Expr>* { return &n.operand; },
                               [](Binary& n) -> std::vector<Expr>* { return &n.operands; },
                               [](Select& n) -> std::vector<Expr>* { return &n.parts; },
                               [](Call& n) -> std::vector<Expr>* { return &n.args; },
                               [](ExternalCall& n) -> std::vector<Expr>* { return &n.args; },
                               [](Cast& n) -> std::vector<Expr>* { return &n.operand; }},
                    node);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Bitwise for floating values: a NaN equals itself, and 0.0 differs from -0.0.
bool same_literal(const Literal& a, const Literal& b) {
  if (a.weak != b.weak || a.value.index() != b.value.index()) return false;
  if (const double* x = std::get_if<double>(&a.value)) return same_bits(*x, std::get<double>(b.value));
  if (const auto* x = std::get_if<std::complex<double>>(&a.value)) {
    const auto& y = std::get<std::complex<double>>(b.value);
    return same_bits(x->real(), y.real()) && same_bits(x->imag(), y.imag());
  }
  return a.value == b.value;
}

bool same_head(const ExprNode& a, const ExprNode& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      Overloaded{[&](const Literal& n) { return same_literal(n, std::get<Literal>(b)); },
                 [&](const Name& n) { return n.name == std::get<Name>(b).name; },
                 [&](const Subscript& n) { return n.base == std::get<Subscript>(b).base; },
                 [&](const Unary& n) { return n.op == std::get<Unary>(b).op; },
                 [&](const Binary& n) { return n.op == std::get<Binary>(b).op; }, [](const Select&) { return true; },
                 [&](const Call& n) { return n.function == std::get<Call>(b).function; },
                 [&](const ExternalCall& n) { return n.callee == std::get<ExternalCall>(b).callee; },
                 [&](const Cast& n) { return n.to == std::get<Cast>(b).to; }},
      a);
}

}  // namespace

Expr::Expr() : Expr(literal(false)) {}

Expr::Expr(ExprNode node, Type type, std::uint32_t column) {
  auto impl = std::make_shared<Impl>();
  impl->node = std::move(node);
  impl->type = std::move(type);
  impl->column = column;
  if (const std::vector<Expr>* operands = operands_of(impl->node)) {
    for (const Expr& operand : *operands) impl->depth = std::max(impl->depth, operand.depth() + 1);
  }
  impl_ = std::move(impl);
}

Expr Expr::literal(bool value) {
  return Expr(Literal{value}, ScalarType::kBool);
}

Expr Expr::literal(std::int64_t value, ScalarType type) {
  if (type == ScalarType::kBool) return literal(value != 0);
  if (is_floating(type)) return literal(static_cast<double>(value), type);
  if (is_complex(type)) return literal(std::complex<double>(static_cast<double>(value)), type);
  if (is_unsigned(type)) return Expr(Literal{static_cast<std::uint64_t>(value)}, type);
  return Expr(Literal{value}, type);
}

Expr Expr::literal(double value, ScalarType type) {
  if (is_complex(type)) return literal(std::complex<double>(value), type);
  if (!is_floating(type)) {
    throw Error(ErrorClass::kUsage, "A floating literal cannot have the type " + std::string(to_string(type)) + ".");
  }
  return Expr(Literal{value}, type);
}

Expr Expr::literal(std::complex<double> value, ScalarType type) {
  if (!is_complex(type)) {
    throw Error(ErrorClass::kUsage, "A complex literal cannot have the type " + std::string(to_string(type)) + ".");
  }
  return Expr(Literal{value}, type);
}

Expr Expr::weak(std::int64_t value) {
  return Expr(Literal{value, true});
}
Expr Expr::name(std::string name, Type type) {
  return Expr(Name{std::move(name)}, std::move(type));
}
Expr Expr::subscript(std::string base, std::vector<Expr> indices, Type type) {
  return Expr(Subscript{std::move(base), std::move(indices)}, std::move(type));
}
Expr Expr::unary(UnaryOp op, Expr operand) {
  return Expr(Unary{op, {std::move(operand)}});
}
Expr Expr::binary(BinaryOp op, Expr left, Expr right) {
  return Expr(Binary{op, {std::move(left), std::move(right)}});
}
Expr Expr::select(Expr condition, Expr then_value, Expr else_value) {
  return Expr(Select{{std::move(condition), std::move(then_value), std::move(else_value)}});
}
Expr Expr::call(Function function, std::vector<Expr> args) {
  return Expr(Call{function, std::move(args)});
}
Expr Expr::cast(Type to, Expr operand) {
  return Expr(Cast{to, {std::move(operand)}}, to);
}

const ExprNode& Expr::node() const noexcept {
  return impl_->node;
}
const Type& Expr::type() const noexcept {
  return impl_->type;
}
std::uint32_t Expr::column() const noexcept {
  return impl_->column;
}
std::uint32_t Expr::depth() const noexcept {
  return impl_->depth;
}

std::span<const Expr> Expr::children() const noexcept {
  const std::vector<Expr>* operands = operands_of(const_cast<ExprNode&>(impl_->node));
  return operands == nullptr ? std::span<const Expr>() : std::span<const Expr>(*operands);
}

Expr Expr::with_children(std::vector<Expr> children) const {
  ExprNode copy = impl_->node;
  std::vector<Expr>* operands = operands_of(copy);
  if (operands == nullptr) return *this;
  *operands = std::move(children);
  return Expr(std::move(copy), impl_->type, impl_->column);
}

Expr Expr::with_type(Type type) const {
  return Expr(impl_->node, std::move(type), impl_->column);
}
Expr Expr::with_column(std::uint32_t column) const {
  return Expr(impl_->node, impl_->type, column);
}

bool operator==(const Expr& a, const Expr& b) {
  if (a.impl_ == b.impl_) return true;
  if (!same_head(a.node(), b.node()) || !(a.type() == b.type())) return false;
  const std::span<const Expr> x = a.children();
  const std::span<const Expr> y = b.children();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

namespace {

bool equal_statements(const Statement& a, const Statement& b) {
  if (a.node.index() != b.node.index()) return false;
  return std::visit(Overloaded{[&](const Assign& s) {
                                 const auto& t = std::get<Assign>(b.node);
                                 return s.target == t.target && s.value == t.value;
                               },
                               [&](const Update& s) {
                                 const auto& t = std::get<Update>(b.node);
                                 return s.op == t.op && s.target == t.target && s.value == t.value;
                               },
                               [&](const If& s) {
                                 const auto& t = std::get<If>(b.node);
                                 return std::equal(s.branches.begin(), s.branches.end(), t.branches.begin(),
                                                   t.branches.end(), [](const IfBranch& x, const IfBranch& y) {
                                                     return x.condition == y.condition && equal(x.body, y.body);
                                                   });
                               },
                               [&](const While& s) {
                                 const auto& t = std::get<While>(b.node);
                                 return s.condition == t.condition && equal(s.body, t.body);
                               },
                               [](const Break&) { return true; }, [](const Continue&) { return true; },
                               [&](const Evaluate& s) { return s.value == std::get<Evaluate>(b.node).value; }},
                    a.node);
}

}  // namespace

bool equal(const Body& a, const Body& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal_statements);
}

}  // namespace sdfg::tasklet
