// Finds out what the C++ tasklets of a graph do, before passes ask.
#pragma once

#include "ir/graph.hpp"
#include "tasklet/analyse_cpp.hpp"

namespace sdfg::jit {

// Fills `code.cpp` of every C++ tasklet that has no facts yet. Equal tasklets are analysed once.
void analyse_cpp_tasklets(ir::Graph& g, const tasklet::CppAnalyser& analyse);

}  // namespace sdfg::jit
