// The part of the CUDA driver's C interface that is used here, so that neither headers nor the library are needed to
// build.
//
// Facts of the ABI only: names, values, signatures and layouts, the same in drivers for CUDA 12 and 13 when asked for
// as of version 12.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdfg::driver_abi {

using Result = int;
using DeviceId = int;
using Address = unsigned long long;

struct ContextHandle;
struct StreamHandle;
struct EventHandle;
struct ModuleHandle;
struct FunctionHandle;
struct PoolHandle;
struct GraphHandle;
struct GraphExecHandle;
using Context = ContextHandle*;
using Stream = StreamHandle*;
using Event = EventHandle*;
using Module = ModuleHandle*;
using Function = FunctionHandle*;
using Pool = PoolHandle*;
using Graph = GraphHandle*;
using GraphExec = GraphExecHandle*;

enum ResultCode : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialised = 3,
  kDeinitialised = 4,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kNvlinkUncorrectable = 220,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kJitCompilationDisabled = 223,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kUnknown = 999,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,
  kMaxBlockY = 3,
  kMaxBlockZ = 4,
  kMaxGridX = 5,
  kMaxGridY = 6,
  kMaxGridZ = 7,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kMaxPitch = 11,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kL2CacheSize = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMaxSharedPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kCooperativeLaunch = 95,
  kMaxSharedPerBlockOptin = 97,
  kMemoryPoolsSupported = 115,
};

enum FunctionAttribute : int { kFunctionMaxThreads = 0, kFunctionSharedBytes = 1, kFunctionMaxDynamicShared = 8 };
enum PoolAttribute : int { kPoolReleaseThreshold = 4 };
enum PointerAttribute : int { kPointerMemoryType = 2 };
enum JitOption : int { kJitErrorLogBuffer = 5, kJitErrorLogBytes = 6 };

inline constexpr unsigned kStreamDefault = 0;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kMemoryHost = 1;
inline constexpr int kMemoryDevice = 2;
inline constexpr int kAllocationPinned = 1;  // of pools: ordinary device memory
inline constexpr int kLocationDevice = 1;
inline constexpr std::uint64_t kProcLegacyStream = 1;

// CUmemPoolProps.
struct PoolProperties {
  int allocation_type = kAllocationPinned;
  int handle_types = 0;
  int location_type = kLocationDevice;
  int location_id = 0;
  void* security_attributes = nullptr;
  std::size_t max_size = 0;
  unsigned char reserved[56] = {};
};
static_assert(sizeof(PoolProperties) == 88);

// CUDA_MEMCPY3D, as of version 2.
struct CopySide {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
  std::size_t lod = 0;
  int memory_type = 0;
  const void* host = nullptr;
  Address device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  std::size_t pitch = 0;
  std::size_t height = 0;
};
struct Copy3d {
  CopySide from;
  CopySide to;
  std::size_t width = 0;  // bytes
  std::size_t height = 0;
  std::size_t depth = 0;
};
static_assert(sizeof(Copy3d) == 200);

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  union {
    int value;
    char reserved[64];
  };
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr int kLaunchProgrammaticSerialization = 6;
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

// X(member, base name, exported name, parameters): all return a Result. The base name is what cuGetProcAddress is asked
// for; the exported one serves where that function is missing.
#define SDFG_DRIVER_FUNCTIONS(X)                                                                                       \
  X(driver_version, cuDriverGetVersion, cuDriverGetVersion, (int* version))                                            \
  X(error_name, cuGetErrorName, cuGetErrorName, (Result error, const char** text))                                     \
  X(error_text, cuGetErrorString, cuGetErrorString, (Result error, const char** text))                                 \
  X(device_count, cuDeviceGetCount, cuDeviceGetCount, (int* count))                                                    \
  X(device_get, cuDeviceGet, cuDeviceGet, (DeviceId * device, int ordinal))                                            \
  X(device_name, cuDeviceGetName, cuDeviceGetName, (char* name, int length, DeviceId device))                          \
  X(device_attribute, cuDeviceGetAttribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceId device))        \
  X(device_memory, cuDeviceTotalMem, cuDeviceTotalMem_v2, (std::size_t* bytes, DeviceId device))                       \
  X(context_retain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Context * context, DeviceId device))          \
  X(context_release, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (DeviceId device))                       \
  X(context_current, cuCtxGetCurrent, cuCtxGetCurrent, (Context * context))                                            \
  X(context_push, cuCtxPushCurrent, cuCtxPushCurrent_v2, (Context context))                                            \
  X(context_pop, cuCtxPopCurrent, cuCtxPopCurrent_v2, (Context * context))                                             \
  X(context_synchronise, cuCtxSynchronize, cuCtxSynchronize, ())                                                       \
  X(stream_create, cuStreamCreate, cuStreamCreate, (Stream * stream, unsigned flags))                                  \
  X(stream_destroy, cuStreamDestroy, cuStreamDestroy_v2, (Stream stream))                                              \
  X(stream_synchronise, cuStreamSynchronize, cuStreamSynchronize, (Stream stream))                                     \
  X(stream_context, cuStreamGetCtx, cuStreamGetCtx, (Stream stream, Context * context))                                \
  X(stream_wait, cuStreamWaitEvent, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                   \
  X(stream_begin_capture, cuStreamBeginCapture, cuStreamBeginCapture_v2, (Stream stream, int mode))                    \
  X(stream_end_capture, cuStreamEndCapture, cuStreamEndCapture, (Stream stream, Graph * graph))                        \
  X(stream_is_capturing, cuStreamIsCapturing, cuStreamIsCapturing, (Stream stream, int* status))                       \
  X(event_create, cuEventCreate, cuEventCreate, (Event * event, unsigned flags))                                       \
  X(event_destroy, cuEventDestroy, cuEventDestroy_v2, (Event event))                                                   \
  X(event_record, cuEventRecord, cuEventRecord, (Event event, Stream stream))                                          \
  X(event_synchronise, cuEventSynchronize, cuEventSynchronize, (Event event))                                          \
  X(pool_create, cuMemPoolCreate, cuMemPoolCreate, (Pool * pool, const PoolProperties* properties))                    \
  X(pool_destroy, cuMemPoolDestroy, cuMemPoolDestroy, (Pool pool))                                                     \
  X(pool_set, cuMemPoolSetAttribute, cuMemPoolSetAttribute, (Pool pool, int attribute, void* value))                   \
  X(pool_trim, cuMemPoolTrimTo, cuMemPoolTrimTo, (Pool pool, std::size_t keep))                                        \
  X(memory_allocate_async, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync,                                           \
    (Address * address, std::size_t bytes, Pool pool, Stream stream))                                                  \
  X(memory_free_async, cuMemFreeAsync, cuMemFreeAsync, (Address address, Stream stream))                               \
  X(memory_allocate, cuMemAlloc, cuMemAlloc_v2, (Address * address, std::size_t bytes))                                \
  X(memory_free, cuMemFree, cuMemFree_v2, (Address address))                                                           \
  X(host_allocate, cuMemHostAlloc, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                 \
  X(host_free, cuMemFreeHost, cuMemFreeHost, (void* memory))                                                           \
  X(pointer_attributes, cuPointerGetAttributes, cuPointerGetAttributes,                                                \
    (unsigned count, int* attributes, void** values, Address address))                                                 \
  X(copy_to_device, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                           \
    (Address to, const void* from, std::size_t bytes, Stream stream))                                                  \
  X(copy_to_host, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, Stream stream)) \
  X(copy_on_device, cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                           \
    (Address to, Address from, std::size_t bytes, Stream stream))                                                      \
  X(copy_3d, cuMemcpy3DAsync, cuMemcpy3DAsync_v2, (const Copy3d* copy, Stream stream))                                 \
  X(fill_8, cuMemsetD8Async, cuMemsetD8Async, (Address to, unsigned char value, std::size_t count, Stream stream))     \
  X(fill_16, cuMemsetD16Async, cuMemsetD16Async, (Address to, unsigned short value, std::size_t count, Stream stream)) \
  X(fill_32, cuMemsetD32Async, cuMemsetD32Async, (Address to, unsigned value, std::size_t count, Stream stream))       \
  X(fill_rows_32, cuMemsetD2D32Async, cuMemsetD2D32Async,                                                              \
    (Address to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, Stream stream))             \
  X(module_load, cuModuleLoadDataEx, cuModuleLoadDataEx,                                                               \
    (Module * module, const void* image, unsigned count, int* options, void** values))                                 \
  X(module_unload, cuModuleUnload, cuModuleUnload, (Module module))                                                    \
  X(module_function, cuModuleGetFunction, cuModuleGetFunction, (Function * function, Module module, const char* name)) \
  X(function_attribute, cuFuncGetAttribute, cuFuncGetAttribute, (int* value, int attribute, Function function))        \
  X(function_set, cuFuncSetAttribute, cuFuncSetAttribute, (Function function, int attribute, int value))               \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,               \
    (int* blocks, Function function, int threads, std::size_t shared))                                                 \
  X(launch, cuLaunchKernel, cuLaunchKernel,                                                                            \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
     unsigned block_z, unsigned shared, Stream stream, void** parameters, void** extra))                               \
  X(launch_with, cuLaunchKernelEx, cuLaunchKernelEx,                                                                   \
    (const LaunchConfig* config, Function function, void** parameters, void** extra))                                  \
  X(launch_cooperative, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                          \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
     unsigned block_z, unsigned shared, Stream stream, void** parameters))                                             \
  X(graph_instantiate, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,                                       \
    (GraphExec * executable, Graph graph, unsigned long long flags))                                                   \
  X(graph_launch, cuGraphLaunch, cuGraphLaunch, (GraphExec executable, Stream stream))                                 \
  X(graph_exec_destroy, cuGraphExecDestroy, cuGraphExecDestroy, (GraphExec executable))                                \
  X(graph_destroy, cuGraphDestroy, cuGraphDestroy, (Graph graph))

struct Table {
#define SDFG_MEMBER(member, name, exported, parameters) Result(*member) parameters = nullptr;
  SDFG_DRIVER_FUNCTIONS(SDFG_MEMBER)
#undef SDFG_MEMBER
};

// How the table is filled: cuGetProcAddress_v2(symbol, &function, version, flags, &status), and cuInit before it.
using Initialise = Result (*)(unsigned flags);
using GetProcAddress = Result (*)(const char* symbol, void** function, int version, std::uint64_t flags, int* status);
inline constexpr int kInterfaceVersion = 12000;

}  // namespace sdfg::driver_abi
