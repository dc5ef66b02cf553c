// C++ text of typed scalar code, for host compilers without headers and for NVRTC alike, and the helper functions it
// calls.
//
// The text computes what tasklet/value.hpp defines, bit for bit where the C library's functions agree (a compiler may
// still contract a * b + c). It must be compiled with -fwrapv: signed overflow wraps. An operand of a C++ operator is
// cast only where C's conversions would differ from ours. float16 and bfloat16 are structures that hold the 16 bits and
// compute in float, rounding after every operation; complex numbers are structures `sdfg_complex<T>` with the memory
// layout of std::complex.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

// How names are spelled. Every callback may be empty. What a callback gives stands where a primary expression does: an
// identifier, a call, a subscript, or something in parentheses.
struct CppStyle {
  std::function<std::string(std::string_view name, const Type& type)> name;  // default: the name
  // Default: `base[index]` of one index, `base` of none, else an Error. The indices are C++ text of integers.
  std::function<std::string(const Subscript& node, std::span<const std::string> indices)> subscript;
  std::function<std::string(std::string_view callee, std::span<const std::string> args)>
      call;  // default: `callee(args)`
  // True if the value is known not to be negative: `//` and `%` by a positive literal become `/` and `%`.
  std::function<bool(const Expr& e)> nonnegative;
  // A whole statement without its semicolon that stores `value` (already of the target's type); default `target =
  // value`. Nothing: the default form. Updates come as the stored value, too, when this is set and answers for the
  // target.
  std::function<std::optional<std::string>(const Expr& target, const std::string& value)> store;
};

// The expression; and its value converted for a variable of a type (implicitly where C++ does so correctly).
std::string to_cpp(const Expr& e, const CppStyle& style);
std::string to_cpp_as(const Expr& e, const Type& target, const CppStyle& style);
// A condition: an expression that C++ can test.
std::string to_cpp_condition(const Expr& e, const CppStyle& style);
// A constant of a type, for initialisers.
std::string cpp_literal(const Expr& literal);

struct CppLine {
  int indent = 0;  // in levels
  std::string text;
  std::uint32_t line = 0;  // of the tasklet's own text, 0 when unknown
};
// The statements. Locals are declared where they are first assigned if that covers all their uses (`const` when it is
// their only assignment), else on top with the value 0.
std::vector<CppLine> to_cpp(const Body& body, const std::vector<std::pair<std::string, Type>>& locals,
                            const CppStyle& style);

// "bool", "int8_t", ..., "double", "sdfg_float16", "sdfg_complex64"; pointers with a star; names of structures and
// opaque types; vectors as "sdfg_vec<float, 4>" (hosts only).
std::string cpp_type(ScalarType type);
std::string cpp_type(const Type& type);

// The definitions of all helpers (identifiers starting with `sdfg_` or `SDFG_`) that occur in `code`, and of what these
// use, for file scope; empty if there are none. Identifiers not in the table of helpers are left to the caller, as are
// `int64_t` and its kin.
std::string cpp_helper_definitions(std::string_view code);
// The same with the integer types in front.
std::string cpp_helpers(std::string_view code);
// All helpers, for tests and documentation.
std::string all_cpp_helpers();
bool is_cpp_helper(std::string_view identifier);

}  // namespace sdfg::tasklet
