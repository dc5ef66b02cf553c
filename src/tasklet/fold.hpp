// Folding of signs and casts of literals, shared by the parser and by type inference.
#pragma once

#include <optional>

#include "tasklet/code.hpp"

namespace sdfg::tasklet {

// The literal with the opposite sign; nothing for booleans and other expressions. Integers wrap in their type.
std::optional<Expr> negate_literal(const Expr& e);
// The literal converted exactly as a cast at run time would; nothing when `e` is no literal or `to` no basic type.
std::optional<Expr> cast_literal(const Type& to, const Expr& e);
// A literal of an integer (weak or not) as a number; nothing when it does not fit in int64 or `e` is no integer
// literal.
std::optional<std::int64_t> integer_literal(const Expr& e);

}  // namespace sdfg::tasklet
