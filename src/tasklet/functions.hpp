// The table of math functions: Python spellings, arity, the rule for the type of the result.
#pragma once

#include <span>
#include <string_view>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

// How the type of a result follows from the promoted type P of the arguments.
enum class TypeRule : std::uint8_t {
  kReal,             // P; not complex; bool counts as int32
  kSame,             // P, complex gives its component (abs); bool counts as int32
  kFloating,         // P if floating, float64 for integers and bool; not complex
  kFloatingComplex,  // P if floating or complex, float64 for integers and bool
  kInteger,          // P; integers and bool only
  kPredicate,        // bool, of any numbers
  kComponent,        // the component type of P
  kNumber,           // P unchanged
  kMakeComplex,      // complex64 of float32 arguments, else complex128; not complex
};

struct FunctionInfo {
  Function function;
  std::string_view name;     // canonical Python spelling
  std::string_view aliases;  // further spellings, separated by spaces
  int min_args;
  int max_args;
  TypeRule rule;
};

const FunctionInfo& info_of(Function f) noexcept;
std::span<const FunctionInfo> all_functions() noexcept;

// The name after a module prefix that is known to hold math functions and types ("math.", "dace.math.", "numpy.", ...);
// the name itself when it has none.
std::string_view without_module(std::string_view name) noexcept;
// Types that a call may cast to: "float32", "dace.float32", "np.float64", "int", "double", ...
std::optional<Type> cast_type_from_string(std::string_view name);
// Operators under the name of a function: "bitwise_and", "Eq", "left_shift", "Mod", ...
std::optional<BinaryOp> operator_from_function(std::string_view name) noexcept;

bool is_comparison(BinaryOp op) noexcept;
bool is_logical(BinaryOp op) noexcept;
// The type in which the operands of a binary operator are computed: the promoted one, also for comparisons.
Type operand_type(BinaryOp op, const Type& left, const Type& right);

}  // namespace sdfg::tasklet
