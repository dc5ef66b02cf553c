// The vocabulary of kernel text and its two meanings: CUDA for NVRTC, and C++ for the emulator's host compiler.
//
// The text of a kernel is the same for both; only the prelude in front differs, and, for the emulator, an entry per
// kernel at the end: `extern "C" void <kernel>_run(void* const* arguments)` that unpacks the arguments and calls it.
// Kernel text may use, besides what tasklet::cpp_helpers defines:
//
//   extern "C" __global__ void [__launch_bounds__(n)] name(parameters)   __device__ functions   __constant__ tables
//   threadIdx blockIdx blockDim gridDim     (.x .y .z, unsigned int)
//   SDFG_SHARED(type, name, count)          static shared memory of the block, name is a pointer to count elements
//   SDFG_DYNAMIC_SHARED(type, name)         the launch's dynamic shared memory
//   __syncthreads()                         a statement
//   SDFG_GRID_BARRIER()                     of a cooperative launch, a statement
//   __shfl_sync, __shfl_up_sync, __shfl_down_sync, __shfl_xor_sync, __syncwarp, __ballot_sync, __any_sync, __all_sync
//   sdfg_atomic_add, _multiply, _min, _max, _and, _or, _xor, _logical_and, _logical_or, _logical_xor, _exchange:
//                                           (T* address, T value) -> the old T, for every scalar type of the graph
//   sdfg_atomic_update(T* address, function)  old = function(old) by compare and swap, for custom accumulations
//   sdfg_load_readonly(const T* address)    through the read-only path
//   sdfg_copy_async<bytes>(to_shared, from_global), sdfg_copy_async_commit(), sdfg_copy_async_wait<pending>()
//                                           16, 8 or 4 bytes at a time, visible after the wait and a __syncthreads()
#pragma once

#include <string>
#include <string_view>

#include "codegen/print.hpp"
#include "lower/kernel.hpp"

namespace sdfg::codegen {

enum class DeviceDialect : std::uint8_t { kCuda, kEmulated };

// What may stand in front of kernels, and what these kernels use of it: every line costs NVRTC time.
const std::string& device_prelude(DeviceDialect dialect);
std::string device_prelude_for(DeviceDialect dialect, std::string_view kernels);
// The emulator's (emulated_prelude.cpp).
const std::string& emulated_prelude();

// A whole source file. The source map counts lines of it.
Source print_device(const lower::DeviceModule& module, DeviceDialect dialect, const Style& style = {});

}  // namespace sdfg::codegen
