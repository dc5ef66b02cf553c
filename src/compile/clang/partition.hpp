// Divides a module into parts that are optimised on their own and linked again by the loader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/clang/llvm.hpp"

namespace sdfg::compiler {

// Which part defines what. A function that is listed is defined in its part and declared in the others; any other
// function is copied into every part that uses it, so that it can still be inlined there. Part 0 defines the entries
// and all variables.
struct Partition {
  int parts = 1;
  llvm::StringMap<int> owner;  // functions that one part owns, by name
  std::vector<int> order;      // parts from 1 on, the largest first
};

// A function of the module and the optimisation level, and of nothing else; the number of cores in particular has no
// say. Only what the optimiser would not have inlined becomes a boundary: the bodies of parallel loops, functions
// marked so and very large ones. One part for anything small, and for modules with what can't be divided (thread-local
// variables, aliases, module-level assembly, labels as values). `most` is at least 1.
Partition partition(const llvm::Module& module, int opt_level, int most);

// Gives everything that parts share a name of its own and external linkage. Before the module is copied for its parts.
void share(llvm::Module& module, Partition& partition);

// Leaves the definitions of one part; the others become declarations. Of a module that is read lazily, only what the
// part needs is read.
llvm::Error keep_part(llvm::Module& module, const Partition& partition, int part);

}  // namespace sdfg::compiler
