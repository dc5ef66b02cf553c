// A program outside the project: public headers only, more warnings than we use. It compiles a graph in this process
// and in a helper process, so that every installed part is found, and catches an error.
#include <cstdint>
#include <cstdio>
#include <sdfg/jit.hpp>

namespace {

bool axpy_works(sdfg::CompileMode mode, double factor) {
  sdfg::Builder g("axpy");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N});
  auto y = g.array<double>("y", {N});
  g.map({"i", 0, N}, [&](auto i) { y(i) = factor * x(i) + y(i); });
  sdfg::Options options;
  options.cache = sdfg::CacheMode::kMemory;
  options.compile_mode = mode;
  auto axpy = sdfg::compile<void(const double*, double*, std::int64_t)>(g, options);
  const double in[3] = {1, 2, 3};
  double out[3] = {10, 20, 30};
  axpy(in, out, 3);
  for (int i = 0; i < 3; ++i) {
    if (out[i] != factor * in[i] + 10.0 * (i + 1)) {
      std::printf("element %d is %g\n", i, out[i]);
      return false;
    }
  }
  return true;
}

bool error_arrives() {
  sdfg::Options options;
  options.opt_level = 9;
  try {
    sdfg::resolve(options);
  } catch (const sdfg::Error& error) {
    return error.error_class() == sdfg::ErrorClass::kUsage;
  }
  std::puts("no error of class usage arrived");
  return false;
}

}  // namespace

int main() {
  try {
    const bool good = axpy_works(sdfg::CompileMode::kInProcess, 2.0) && axpy_works(sdfg::CompileMode::kHelper, 4.0) &&
                      error_arrives();
    return good ? 0 : 1;
  } catch (const sdfg::Error& error) {
    std::puts(error.what());
    return 1;
  }
}
