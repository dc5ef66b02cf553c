// Printers and parsers of expressions and subsets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "symbolic/expr.hpp"
#include "symbolic/subset.hpp"

namespace sdfg::symbolic {

// Python syntax, minimal parentheses, floor division as `//`, Python's `%`, `min(...)`, `t if c else f`, `A[i, j]`.
// Readable; parse_python reads it back.
std::string to_python(const Expr& e);

struct CppPrinter {
  std::function<std::string(const std::string& symbol)> symbol;  // spelling of a symbol; default: its name
  std::function<std::string(const std::string& container, std::span<const Expr> indices)>
      read;  // spelling of a read; required when reads occur
  std::string function_prefix =
      "sdfg_";  // sdfg_floor_div, sdfg_ceil_div, sdfg_mod, sdfg_min, sdfg_max, sdfg_ipow, sdfg_abs
};
// C++ text of int64_t (or bool) type. Calls of the helpers above; a floor division or modulo whose operands the facts
// prove non-negative prints as plain `/` and `%`.
std::string to_cpp(const Expr& e, const CppPrinter& printer, const Facts& facts = {});

// DaCe's typed syntax (reference dace-ir.md 2.3): `$N`, `symbol($M, dtype=dace.int64)`; constants first in sums.
// `type_suffix` gives the attributes after the name of a symbol, empty for a plain `$N` (int32).
std::string to_dace(const Expr& e, const std::function<std::string(const std::string& symbol)>& attributes);
// DaCe's plain syntax of 1.0.2: `N + 1`, `int_floor(N, 2)`, `Min(4, M)`.
std::string to_dace_plain(const Expr& e);

struct ParseOptions {
  bool typed = false;  // DaCe >= 2.0.0a4: `$name`, `symbol(...)`, typed constants
  std::function<void(const std::string& symbol, const std::string& dtype)>
      on_symbol_type;  // called for typed symbols; may be empty
  int max_depth = 200;
};
// Parses a Python-syntax expression of symbols, reads (`A[i, j]`, plain names that `is_container` claims), integers,
// booleans and the functions of dace-ir.md 1.5 (Min, Max, int_floor, int_ceil, floor(a/b), ceiling(a/b), Mod, Abs, And,
// Or, Not, Eq..., IfExpr, bitwise_*, left_shift, ipow, SymExpr (first argument), dace.int64(x)). Exact rationals are
// carried inside and must cancel or be inside floor/ceiling. Throws Error(kGraph) with the text and a column.
// Non-integer constants throw.
Expr parse_python(std::string_view text, const ParseOptions& options = {},
                  const std::function<bool(std::string_view)>& is_container = {});
// "0:N, i, 2:M:3, 0:N:4:4" (half-open ends).
Subset parse_subset(std::string_view text, const ParseOptions& options = {},
                    const std::function<bool(std::string_view)>& is_container = {});

}  // namespace sdfg::symbolic
