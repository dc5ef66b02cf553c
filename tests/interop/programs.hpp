// Our own programs for the comparison with DaCe: a graph and its arguments each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../support/make.hpp"
#include "tools/npy.hpp"

namespace sdfg::test {

struct Argument {
  std::string name;
  tools::NpyArray array;
};
struct Program {
  std::string name;
  ir::Graph graph;
  std::vector<Argument> arrays;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<std::pair<std::string, double>> scalars;
};

std::vector<Program> own_programs();

}  // namespace sdfg::test
