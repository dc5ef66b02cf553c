// Our declarations of the CUDA driver against its headers, where these are; checked while compiling.
#if __has_include(<cuda.h>)
#include <cuda.h>

#include <cstddef>
#include <driver_abi.hpp>

namespace {

namespace d = sdfg::driver_abi;

static_assert(sizeof(CUmemPoolProps) == sizeof(d::PoolProperties));
static_assert(offsetof(CUmemPoolProps, location) == offsetof(d::PoolProperties, location_type));
static_assert(offsetof(CUmemPoolProps, maxSize) == offsetof(d::PoolProperties, max_size));
static_assert(sizeof(CUlaunchConfig) == sizeof(d::LaunchConfig));
static_assert(sizeof(CUlaunchAttribute) == sizeof(d::LaunchAttribute));
static_assert(offsetof(CUlaunchConfig, hStream) == offsetof(d::LaunchConfig, stream));
static_assert(offsetof(CUlaunchConfig, attrs) == offsetof(d::LaunchConfig, attributes));
static_assert(offsetof(CUlaunchAttribute, value) == offsetof(d::LaunchAttribute, value));
static_assert(int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) == d::kLaunchProgrammaticSerialization);
static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(d::Copy3d));
static_assert(offsetof(CUDA_MEMCPY3D, dstXInBytes) == offsetof(d::Copy3d, to));
static_assert(offsetof(CUDA_MEMCPY3D, srcPitch) == offsetof(d::Copy3d, from.pitch));
static_assert(offsetof(CUDA_MEMCPY3D, WidthInBytes) == offsetof(d::Copy3d, width));
static_assert(offsetof(CUDA_MEMCPY3D, srcDevice) == offsetof(d::Copy3d, from.device));
#define SDFG_SAME(a, b) static_assert(int(a) == int(d::b));
SDFG_SAME(CUDA_ERROR_OUT_OF_MEMORY, kOutOfMemory)
SDFG_SAME(CUDA_ERROR_DEINITIALIZED, kDeinitialised)
SDFG_SAME(CUDA_ERROR_DEVICE_UNAVAILABLE, kDeviceUnavailable)
SDFG_SAME(CUDA_ERROR_NO_DEVICE, kNoDevice)
SDFG_SAME(CUDA_ERROR_INVALID_DEVICE, kInvalidDevice)
SDFG_SAME(CUDA_ERROR_INVALID_IMAGE, kInvalidImage)
SDFG_SAME(CUDA_ERROR_INVALID_CONTEXT, kInvalidContext)
SDFG_SAME(CUDA_ERROR_NO_BINARY_FOR_GPU, kNoBinaryForGpu)
SDFG_SAME(CUDA_ERROR_ECC_UNCORRECTABLE, kEccUncorrectable)
SDFG_SAME(CUDA_ERROR_INVALID_PTX, kInvalidPtx)
SDFG_SAME(CUDA_ERROR_NVLINK_UNCORRECTABLE, kNvlinkUncorrectable)
SDFG_SAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, kJitCompilerNotFound)
SDFG_SAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, kUnsupportedPtxVersion)
SDFG_SAME(CUDA_ERROR_JIT_COMPILATION_DISABLED, kJitCompilationDisabled)
SDFG_SAME(CUDA_ERROR_NOT_FOUND, kNotFound)
SDFG_SAME(CUDA_ERROR_ILLEGAL_ADDRESS, kIllegalAddress)
SDFG_SAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, kLaunchOutOfResources)
SDFG_SAME(CUDA_ERROR_LAUNCH_TIMEOUT, kLaunchTimeout)
SDFG_SAME(CUDA_ERROR_CONTEXT_IS_DESTROYED, kContextIsDestroyed)
SDFG_SAME(CUDA_ERROR_ASSERT, kAssert)
SDFG_SAME(CUDA_ERROR_HARDWARE_STACK_ERROR, kHardwareStackError)
SDFG_SAME(CUDA_ERROR_ILLEGAL_INSTRUCTION, kIllegalInstruction)
SDFG_SAME(CUDA_ERROR_MISALIGNED_ADDRESS, kMisalignedAddress)
SDFG_SAME(CUDA_ERROR_INVALID_ADDRESS_SPACE, kInvalidAddressSpace)
SDFG_SAME(CUDA_ERROR_INVALID_PC, kInvalidPc)
SDFG_SAME(CUDA_ERROR_LAUNCH_FAILED, kLaunchFailed)
SDFG_SAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, kCooperativeLaunchTooLarge)
SDFG_SAME(CUDA_ERROR_SYSTEM_NOT_READY, kSystemNotReady)
SDFG_SAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, kSystemDriverMismatch)

SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kMaxThreadsPerBlock)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, kMaxBlockX)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, kMaxGridX)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, kMaxGridZ)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kMaxSharedPerBlock)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_WARP_SIZE, kWarpSize)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_PITCH, kMaxPitch)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, kMultiprocessorCount)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, kMemoryClockRate)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, kMemoryBusWidth)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, kL2CacheSize)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, kCapabilityMajor)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, kCapabilityMinor)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, kMaxSharedPerMultiprocessor)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, kMaxRegistersPerMultiprocessor)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, kCooperativeLaunch)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kMaxSharedPerBlockOptin)
SDFG_SAME(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, kMemoryPoolsSupported)

SDFG_SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kFunctionMaxThreads)
SDFG_SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kFunctionSharedBytes)
SDFG_SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kFunctionMaxDynamicShared)
SDFG_SAME(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, kPoolReleaseThreshold)
SDFG_SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kPointerMemoryType)
SDFG_SAME(CU_JIT_ERROR_LOG_BUFFER, kJitErrorLogBuffer)
SDFG_SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, kJitErrorLogBytes)
SDFG_SAME(CU_STREAM_NON_BLOCKING, kStreamNonBlocking)
SDFG_SAME(CU_EVENT_DISABLE_TIMING, kEventDisableTiming)
SDFG_SAME(CU_MEMHOSTALLOC_PORTABLE, kHostAllocPortable)
SDFG_SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, kCaptureThreadLocal)
SDFG_SAME(CU_MEMORYTYPE_HOST, kMemoryHost)
SDFG_SAME(CU_MEMORYTYPE_DEVICE, kMemoryDevice)
SDFG_SAME(CU_MEM_ALLOCATION_TYPE_PINNED, kAllocationPinned)
SDFG_SAME(CU_MEM_LOCATION_TYPE_DEVICE, kLocationDevice)
SDFG_SAME(CU_GET_PROC_ADDRESS_LEGACY_STREAM, kProcLegacyStream)

// A function that the headers do not declare does not compile.
#define SDFG_KNOWN(member, name, exported, parameters) [[maybe_unused]] auto* const known_##member = &exported;
template <class>
[[maybe_unused]] void known() {
  SDFG_DRIVER_FUNCTIONS(SDFG_KNOWN)
}

}  // namespace
#endif
