// Finds and opens cuBLAS, cuSOLVER, cuFFT and cuSPARSE, each when first asked for.
#pragma once

#include <library_abi.hpp>
#include <sdfg/error.hpp>
#include <string>
#include <variant>

#include "base/device_function.hpp"

namespace sdfg::device::cuda {

// The opened library's functions; never closed. Of CUDA 13 and 12 the one that the driver (12040 for 12.4) can run.
// Throws Error(kEnvironment) that names what was tried; a failure is remembered as well. Any thread.
const library_abi::Blas& blas(int driver_version);
const library_abi::Solver& solver(int driver_version);
const library_abi::Fft& fft(int driver_version);
const library_abi::Sparse& sparse(int driver_version);

// Opens the library; what was wrong if that failed, else an empty text.
std::string library_problem(DeviceLibrary library, int driver_version);

// A file to try before all others; for tests and unusual installations. Has no effect once the library is open.
void prefer_library_file(DeviceLibrary library, std::string path);

}  // namespace sdfg::device::cuda
