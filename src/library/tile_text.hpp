// Pieces of the C++ text that expansions with tiles are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "library/emit.hpp"

namespace sdfg::library {

// The text with each word on the left taken by the one on the right.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words);
// A constant of float or double.
std::string number(double v, ScalarType t);
// A size or stride as text of a tasklet behind `e`: a number, or the name of a symbol, if need be a new one like
// `wish`.
std::string spelled(const Emitter& e, const char* wish, const Expr& value);

}  // namespace sdfg::library
