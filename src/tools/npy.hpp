// NumPy's .npy files: arrays in C order, format versions 1 to 3.
#pragma once

#include <cstdint>
#include <sdfg/types.hpp>
#include <string>
#include <vector>

namespace sdfg::tools {

struct NpyArray {
  ScalarType type = ScalarType::kFloat64;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  // C order
  std::int64_t count() const;
};

// Fortran order is turned into C order. Throws Error(kUsage) naming the file and what is wrong with it.
NpyArray read_npy(const std::string& path);
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace sdfg::tools
