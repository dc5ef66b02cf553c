// Compiles C or C++ text to an object with Clang's driver, as a stand-in for the compiler room.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "lower/abi.hpp"

namespace sdfg::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes compile_source(const std::string& text, const std::string& flags = "-O2") {
  const Folder folder;
  const std::string source = folder / "unit.cpp";
  const std::string object = folder / "unit.o";
  std::ofstream(source) << text;
  const std::string command = std::string(SDFG_CLANG) +
                              " -x c++ -std=c++20 -c -fPIC -ffreestanding -fno-exceptions -fno-rtti -fno-math-errno "
                              "-fno-stack-protector " +
                              flags + " " + source + " -o " + object;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the test's source does not compile");
  std::ifstream file(object, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()};
}

// With the declarations of the runtime ABI in front.
inline Bytes compile_program(const std::string& text, const std::string& flags = "-O2") {
  return compile_source(lower::abi_prelude() + text, flags);
}

}  // namespace sdfg::test
