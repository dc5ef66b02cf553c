// Leaves one of several functions that are written alike.
#pragma once

#include "compile/clang/llvm.hpp"

namespace sdfg::compiler {

// Programs repeat themselves: the sweeps of a stencil, the steps of a solver, a nested graph that is used twice. Their
// parallel loops and pieces come out of the front end as equal functions, and all that follows would be done for each.
// Before the optimiser, whose choices for one copy must not depend on another. Functions count as equal when they are
// the same instruction by instruction, with the same marks and the same callees or ones that are equal in turn. Merged
// are only those that nobody can tell apart by their address, and that callers would not have inlined because they
// have one caller. Not LLVM's MergeFunctions: it takes loops with different marks for equal, and aliasing classes, too.
//
// Nothing for modules with debug information, in which every function has lines of its own.
void merge_equal_functions(llvm::Module& module);

}  // namespace sdfg::compiler
