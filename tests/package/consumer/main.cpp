// A program outside the project: it includes public headers only, with more warnings than we use, and catches our
// error.
#include <cstdio>
#include <sdfg/error.hpp>
#include <sdfg/options.hpp>
#include <sdfg/types.hpp>

int main() {
  sdfg::Options options;
  options.opt_level = 9;
  try {
    sdfg::resolve(options);
  } catch (const sdfg::Error& error) {
    if (error.error_class() == sdfg::ErrorClass::kUsage && sdfg::Type(sdfg::ScalarType::kFloat64).size() == 8) return 0;
  }
  std::puts("no error of class usage arrived");
  return 1;
}
