// Small graphs that the process tests compile, with checks of their results.
#pragma once

#include <cstdint>
#include <sdfg/jit.hpp>
#include <string>

namespace process {

using Scale = void(double*, double*, std::int64_t);

// y[i] = factor * x[i] + sin(x[i]) in a parallel map over a transient; another factor is another program.
sdfg::Function<Scale> compile_scale(double factor, const sdfg::Options& options = {});

// Calls it with `n` elements; empty when all are right, else what is wrong.
std::string check_scale(const sdfg::Function<Scale>& function, double factor, std::int64_t n);

}  // namespace process
