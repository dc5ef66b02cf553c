// What the examples share: timing, comparison with plain loops, and the lines they print.
#pragma once

#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sdfg/jit.hpp>
#include <string>
#include <vector>

namespace example {

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Numbers in [0, 1), the same in every run.
inline std::vector<double> numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<double> out(count);
  for (double& x : out) x = static_cast<double>(random() >> 11) * 0x1p-53;
  return out;
}

template <typename T>
double distance(T a, T b) {
  return static_cast<double>(std::abs(a - b));
}

// The largest difference relative to the largest expected value.
template <typename T>
double difference(const std::vector<T>& got, const std::vector<T>& expected) {
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = distance(got[i], expected[i]);
    worst = d > worst || std::isnan(d) ? d : worst;
    scale = std::max(scale, distance(expected[i], T{}));
  }
  return scale > 0 ? worst / scale : worst;
}

// Prints one line about a compiled function; its source, too, when the program was called with --source.
inline bool& show_source() {
  static bool show = false;
  return show;
}
inline void arguments(int count, char** values) {
  for (int i = 1; i < count; ++i) show_source() = show_source() || std::strcmp(values[i], "--source") == 0;
}
inline void report(const sdfg::AnyFunction& f) {
  const sdfg::CompileStats& s = f.stats();
  const char* origin = s.origin == sdfg::CompileStats::Origin::kCompiled ? "compiled"
                       : s.origin == sdfg::CompileStats::Origin::kDisk   ? "from the disk cache"
                                                                         : "from the memory cache";
  std::printf("%s: %s %s in %.1f ms (passes %.2f, lowering %.2f, Clang %.1f, loading %.2f)\n", f.name().c_str(),
              f.signature().c_str(), origin, static_cast<double>(s.total_ns) / 1e6,
              static_cast<double>(s.passes_ns) / 1e6, static_cast<double>(s.lower_ns) / 1e6,
              static_cast<double>(s.frontend_ns + s.optimise_ns + s.codegen_ns) / 1e6,
              static_cast<double>(s.load_ns) / 1e6);
  if (show_source()) std::puts(f.source().c_str());
}

// The exit status of an example: 0 when the result agrees with plain loops.
inline int check(const std::string& what, double difference, double allowed) {
  const bool ok = difference <= allowed;
  std::printf("%s: %s plain loops (difference %.3g, allowed %.3g)\n", what.c_str(), ok ? "agrees with" : "DIFFERS from",
              difference, allowed);
  return ok ? 0 : 1;
}

}  // namespace example
