// Internal to the C++ printer: text with its precedence and its C++ type.
#pragma once

#include <string>
#include <utility>

#include "tasklet/code.hpp"
#include "tasklet/print_cpp.hpp"

namespace sdfg::tasklet {

constexpr bool is_half(ScalarType t) {
  return t == ScalarType::kFloat16 || t == ScalarType::kBFloat16;
}

// Binding strength in C++, weakest first.
enum class CppLevel : std::uint8_t {
  kConditional,
  kDisjunction,
  kConjunction,
  kBitwiseOr,
  kBitwiseXor,
  kBitwiseAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom,
};

// The value of a typed expression; C++ may hold a narrow integer, which arithmetic promotes, in an int of the same
// value.
struct CppText {
  std::string text;
  CppLevel level = CppLevel::kAtom;
  ScalarType type = ScalarType::kInt32;  // what the C++ expression has

  std::string at_least(CppLevel needed) const { return level >= needed ? text : "(" + text + ")"; }
};

class CppPrinter {
 public:
  explicit CppPrinter(const CppStyle& style) : style_(style) {}

  CppText print(const Expr& e) const;
  CppText condition(const Expr& e) const;
  CppText as(const Expr& e, ScalarType to) const;  // converted, in exactly this C++ type

 private:
  CppText exactly(const CppText& text, ScalarType from, ScalarType to) const;
  CppText value(const Expr& e, ScalarType to) const;
  CppText operand(const Expr& e, ScalarType type) const;
  CppText as_computed(const Expr& e, ScalarType type) const;
  CppText rounded(CppText text, ScalarType type) const;
  CppText finish(CppText text, ScalarType type, bool overflows) const;
  // Operands such that C's conversions compute a binary operator in the type (in float for the 16-bit types).
  std::pair<CppText, CppText> operands(const Expr& left, const Expr& right, ScalarType type) const;
  std::pair<CppText, CppText> exact_operands(const Expr& left, const Expr& right, ScalarType type) const;

  CppText name(const Name& n, const Expr& e) const;
  CppText subscript(const Subscript& n, const Expr& e) const;
  CppText unary(const Unary& n, const Expr& e) const;
  CppText binary(const Binary& n, const Expr& e) const;
  CppText vector_binary(const Binary& n, const Expr& e) const;
  CppText division(BinaryOp op, const Expr& left, const Expr& right, ScalarType type) const;
  CppText shift(BinaryOp op, const Expr& left, const Expr& right, ScalarType type) const;
  CppText integer_power(const Expr& base, const Expr& exponent, ScalarType type) const;
  CppText power(const Expr& base, const Expr& exponent, ScalarType type) const;
  CppText product(const CppText& factor, std::int64_t n, ScalarType type) const;
  CppText select(const Select& n, const Expr& e) const;
  CppText call(const Call& n, const Expr& e) const;  // print_cpp_call.cpp
  CppText real_call(const Call& n, const Expr& e, ScalarType type) const;
  CppText complex_call(const Call& n, const Expr& e, ScalarType type) const;
  CppText predicate_call(const Call& n) const;
  CppText vector_call(const Call& n, const Expr& e) const;
  CppText external(const ExternalCall& n, const Expr& e) const;
  CppText cast(const Cast& n, const Expr& e) const;

  const CppStyle& style_;
};

}  // namespace sdfg::tasklet
