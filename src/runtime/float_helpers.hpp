// Conversions to and from bfloat16 that LLVM calls by name and GCC 12's run-time library lacks.
#pragma once

namespace sdfg::runtime {

// Round to nearest, ties to even; NaN stays NaN (quiet). The 16 bits travel in the low half of an SSE register, as the
// x86-64 psABI passes __bf16; on other machines these are not used.
float bfloat_to_float(float raw) noexcept;
float float_to_bfloat(float value) noexcept;
float double_to_bfloat(double value) noexcept;

}  // namespace sdfg::runtime
