// A plug-in with one plain function that compiles and calls.
#include "cases.hpp"

extern "C" __attribute__((visibility("default"))) int plugin_run(int factor) {
  sdfg::Options options;
  options.cache = sdfg::CacheMode::kMemory;
  const auto function = process::compile_scale(factor, options);
  return process::check_scale(function, factor, 30000).empty() ? 0 : 1;
}
