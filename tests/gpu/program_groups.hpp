// The groups of device programs, and what their files share.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "programs.hpp"

namespace sdfg::test {

inline constexpr ScalarType kF64 = ScalarType::kFloat64;
inline constexpr ScalarType kF32 = ScalarType::kFloat32;
inline constexpr ScalarType kI64 = ScalarType::kInt64;
inline constexpr ScalarType kI32 = ScalarType::kInt32;
inline constexpr double kSums = 1e-9;  // another order of additions

inline void symbols(Gpu& m, const std::set<std::string>& names) {
  for (const char* s : {"N", "M", "K"}) {
    if (names.contains(s)) m.symbol(s);
  }
}

// Appends to a list.
struct Add {
  std::vector<Program>& to;
  Program& operator()(std::string name, std::function<void(Gpu&)> build, double tolerance = 0) const {
    to.push_back({std::move(name), std::move(build), tolerance});
    return to.back();
  }
};

std::vector<Program> map_programs();          // types of elements, ranks and shapes of maps
std::vector<Program> control_programs();      // stencils, loops, conditions, scalars and symbols around kernels
std::vector<Program> repeat_programs();       // loops whose launches can be recorded
std::vector<Program> memory_programs();       // memory inside of kernels, copies and fills
std::vector<Program> sum_programs();          // accumulations
std::vector<Program> block_programs();        // thread-block maps, shared memory
std::vector<Program> library_programs();      // library nodes on device memory
std::vector<Program> contraction_programs();  // sums of products

}  // namespace sdfg::test
