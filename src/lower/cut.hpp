// Cuts a very long function into several, so that the compiler has pieces of a size it likes and lanes have something
// to share.
#pragma once

#include <functional>
#include <vector>

#include "lower/unit.hpp"

namespace sdfg::lower {

// The functions that `body` was cut into, for a place before it, and `body` calling them; nothing when it is short or
// can't be cut. Runs of neighbouring statements become functions of their own that are not inlined; what they use is
// passed: pointers and what they only read by value, variables that they set by reference. A run that returns from
// `body` says so by its result. `fresh` makes identifiers that nothing else has.
//
// The body of a long loop whose iterations may run in any order is divided, too: strips of iterations go through one
// part after the other.
//
// Where a run uses both a restrict-qualified pointer and one that may point to the same memory (a view), its parameters
// are not qualified: in the run, neither comes from the other.
std::vector<Function> cut(Function& body, const std::function<Text(const Text&)>& fresh);

}  // namespace sdfg::lower
