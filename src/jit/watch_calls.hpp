// Looks at calls of a compiled function with the eyes of the reference interpreter: SDFG_VALIDATE, and the checks of
// SDFG_CHECK that need more than the generated code can see.
#pragma once

#include <memory>
#include <sdfg/options.hpp>

#include "ir/graph.hpp"
#include "runtime/program.hpp"

namespace sdfg::jit {

// Whether calls are to be compared or checked at all.
bool wants_interpreter(const Options& resolved);

// validate: the interpreter runs on copies of the arguments after the call (the first one of the program, or each), and
// results that differ are an Error. check=uninitialised: it runs before the call and reports reads of elements that
// nobody wrote. check=races: it runs with the iterations of maps in two orders, and results that differ are an Error.
// What the interpreter can't run (C++ tasklets, callbacks, device-resident arguments) is one warning for validate and
// an Error(kUsage) for the checks, which somebody asked for.
std::shared_ptr<runtime::Program::CallObserver> watch_calls(const ir::Graph& g, const Options& resolved);

}  // namespace sdfg::jit
