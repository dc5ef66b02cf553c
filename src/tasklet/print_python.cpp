// Canonical Python text of scalar code.
#include <charconv>
#include <cmath>

#include "tasklet/code.hpp"
#include "tasklet/functions.hpp"
#include "tasklet/visit.hpp"

namespace sdfg::tasklet {

namespace {

// The shortest_python text that reads back to the value, always recognisable as floating.
template <typename T>
std::string shortest_python(T value) {
  char buffer[64];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string real_text(double value, ScalarType type) {
  if (std::isnan(value)) return "nan";
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  std::string text = std::isinf(value)              ? "inf"
                     : type == ScalarType::kFloat32 ? shortest_python(static_cast<float>(magnitude))
                                                    : shortest_python(magnitude);
  return negative ? "(- " + text + ")" : text;
}

template <typename Int>
std::string integer_text(Int value) {
  std::string text = std::to_string(value);
  return text[0] == '-' ? "(- " + text.substr(1) + ")" : text;
}

std::string cast_text(ScalarType type, const std::string& inner) {
  return "dace." + std::string(to_string(type)) + "(" + inner + ")";
}

std::string literal_text(const Literal& literal, const Type& type) {
  return std::visit(Overloaded{[](bool v) { return std::string(v ? "True" : "False"); },
                               [&](std::int64_t v) {
                                 return literal.weak || !type.is_scalar() ? integer_text(v)
                                                                          : cast_text(type.scalar(), integer_text(v));
                               },
                               [&](std::uint64_t v) {
                                 return literal.weak || !type.is_scalar() ? integer_text(v)
                                                                          : cast_text(type.scalar(), integer_text(v));
                               },
                               [&](double v) {
                                 // A weak integer that inference gave a floating type.
                                 if (literal.weak) return integer_text(static_cast<std::int64_t>(v));
                                 const ScalarType scalar = type.is_scalar() ? type.scalar() : ScalarType::kFloat64;
                                 const std::string text = real_text(v, scalar);
                                 return scalar == ScalarType::kFloat64 ? text : cast_text(scalar, text);
                               },
                               [&](const std::complex<double>& v) {
                                 if (literal.weak) return integer_text(static_cast<std::int64_t>(v.real()));
                                 const ScalarType scalar = type.is_scalar() ? type.scalar() : ScalarType::kComplex128;
                                 const bool pure = v.real() == 0 && !std::signbit(v.real()) &&
                                                   !std::signbit(v.imag()) && std::isfinite(v.imag());
                                 if (pure && scalar == ScalarType::kComplex128) return shortest_python(v.imag()) + "j";
                                 const ScalarType part = component_of(scalar);
                                 return cast_text(scalar, real_text(v.real(), part) + ", " + real_text(v.imag(), part));
                               }},
                    literal.value);
}

std::string joined(std::span<const Expr> parts) {
  std::string text;
  for (const Expr& part : parts) {
    if (!text.empty()) text += ", ";
    text += to_python(part);
  }
  return text;
}

std::string type_name(const Type& type) {
  return type.is_scalar() ? "dace." + std::string(to_string(type.scalar())) : type.str();
}

void print_statements(const Body& body, int indent, std::string& out);

void print_statement(const Statement& statement, int indent, std::string& out) {
  const std::string margin(static_cast<std::size_t>(indent) * 4, ' ');
  const auto line = [&](const std::string& text) { out += margin + text + "\n"; };
  std::visit(Overloaded{[&](const Assign& n) { line(to_python(n.target) + " = " + to_python(n.value)); },
                        [&](const Update& n) {
                          line(to_python(n.target) + " " + std::string(to_string(n.op)) + "= " + to_python(n.value));
                        },
                        [&](const If& n) {
                          for (std::size_t i = 0; i < n.branches.size(); ++i) {
                            const IfBranch& branch = n.branches[i];
                            const bool last =
                                i > 0 && i + 1 == n.branches.size() && branch.condition == Expr::literal(true);
                            line(last ? "else:" : (i == 0 ? "if " : "elif ") + to_python(branch.condition) + ":");
                            print_statements(branch.body, indent + 1, out);
                          }
                        },
                        [&](const While& n) {
                          line("while " + to_python(n.condition) + ":");
                          print_statements(n.body, indent + 1, out);
                        },
                        [&](const Break&) { line("break"); }, [&](const Continue&) { line("continue"); },
                        [&](const Evaluate& n) { line(to_python(n.value)); }},
             statement.node);
}

void print_statements(const Body& body, int indent, std::string& out) {
  if (body.empty()) out += std::string(static_cast<std::size_t>(indent) * 4, ' ') + "pass\n";
  for (const Statement& statement : body) print_statement(statement, indent, out);
}

}  // namespace

std::string to_python(const Expr& e) {
  return std::visit(
      Overloaded{
          [&](const Literal& n) { return literal_text(n, e.type()); }, [](const Name& n) { return n.name; },
          [](const Subscript& n) { return n.indices.empty() ? n.base : n.base + "[" + joined(n.indices) + "]"; },
          [](const Unary& n) { return "(" + std::string(to_string(n.op)) + " " + to_python(n.operand[0]) + ")"; },
          [](const Binary& n) {
            return "(" + to_python(n.operands[0]) + " " + std::string(to_string(n.op)) + " " +
                   to_python(n.operands[1]) + ")";
          },
          [](const Select& n) {
            return "(" + to_python(n.parts[1]) + " if " + to_python(n.parts[0]) + " else " + to_python(n.parts[2]) +
                   ")";
          },
          [](const Call& n) { return std::string(to_string(n.function)) + "(" + joined(n.args) + ")"; },
          [](const ExternalCall& n) { return n.callee + "(" + joined(n.args) + ")"; },
          [](const Cast& n) {
            // make_complex directly under its cast is the constructor with two arguments.
            const auto* inner = std::get_if<Call>(&n.operand[0].node());
            if (inner != nullptr && inner->function == Function::kMakeComplex && n.to.is_scalar() &&
                is_complex(n.to.scalar())) {
              return type_name(n.to) + "(" + joined(inner->args) + ")";
            }
            return type_name(n.to) + "(" + to_python(n.operand[0]) + ")";
          }},
      e.node());
}

std::string to_python(const Body& body, int indent) {
  std::string out;
  print_statements(body, indent, out);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace sdfg::tasklet
