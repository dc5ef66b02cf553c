// The functions of the stand-in; the library that the tests give to cuda::Driver::load.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <driver_abi.hpp>

#include "../fake_driver.hpp"

namespace d = sdfg::driver_abi;
using sdfg::test::FakeDriver;

namespace {

FakeDriver state;
char primary[2];  // the primary contexts of its devices

int enter(const char* name) {
  state.calls.emplace_back(name);
  if (state.lasting != 0) return state.lasting;
  if (state.fail_at > 0 && --state.fail_at == 0) return state.fail_with;
  return 0;
}

bool lives(const void* from, std::size_t bytes) {
  for (const auto& [begin, size] : state.memory) {
    if (from >= begin && static_cast<const char*>(from) + bytes <= begin + size) return true;
  }
  return false;
}

void* handle(std::set<void*>& all) {
  void* made = std::malloc(16);
  all.insert(made);
  return made;
}

int drop(std::set<void*>& all, void* which) {
  if (all.erase(which) == 0) return d::kInvalidValue;
  std::free(which);
  return 0;
}

std::map<void*, std::string> functions;            // of loaded modules
std::map<void*, std::vector<void*>> functions_of;  // by module

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default"))) int
#define CALL(name) \
  if (const int failed = enter(#name)) return failed

extern "C" __attribute__((visibility("default"))) FakeDriver* sdfg_fake_driver() {
  return &state;
}

ENTRY cuInit(unsigned) {
  return state.start_result;
}
ENTRY cuDriverGetVersion(int* version) {
  *version = state.version;
  return 0;
}
ENTRY cuGetErrorName(int, const char** text) {
  *text = "CUDA_ERROR_FAKE";
  return 0;
}
ENTRY cuGetErrorString(int, const char** text) {
  *text = "as told";
  return 0;
}
ENTRY cuDeviceGetCount(int* count) {
  *count = state.devices;
  return 0;
}
ENTRY cuDeviceGet(int* device, int ordinal) {
  CALL(cuDeviceGet);
  *device = ordinal;
  return 0;
}
ENTRY cuDeviceGetName(char* name, int length, int) {
  CALL(cuDeviceGetName);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return 0;
}
ENTRY cuDeviceGetAttribute(int* value, int attribute, int) {
  CALL(cuDeviceGetAttribute);
  static const std::map<int, int> kValues = {{d::kMaxThreadsPerBlock, 1024},
                                             {d::kMaxBlockX, 1024},
                                             {d::kMaxBlockY, 1024},
                                             {d::kMaxBlockZ, 64},
                                             {d::kMaxGridX, 2147483647},
                                             {d::kMaxGridY, 65535},
                                             {d::kMaxGridZ, 65535},
                                             {d::kMaxSharedPerBlock, 49152},
                                             {d::kWarpSize, 32},
                                             {d::kMaxPitch, 4096},
                                             {d::kMultiprocessorCount, 10},
                                             {d::kMemoryClockRate, 1000000},
                                             {d::kMemoryBusWidth, 4096},
                                             {d::kL2CacheSize, 1 << 20},
                                             {d::kCapabilityMajor, 9},
                                             {d::kCapabilityMinor, 0},
                                             {d::kMaxSharedPerMultiprocessor, 233472},
                                             {d::kMaxRegistersPerMultiprocessor, 65536},
                                             {d::kCooperativeLaunch, 1},
                                             {d::kMaxSharedPerBlockOptin, 232448},
                                             {d::kMemoryPoolsSupported, 1}};
  *value = kValues.at(attribute);
  return 0;
}
ENTRY cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  CALL(cuDeviceTotalMem);
  *bytes = std::size_t{1} << 30;
  return 0;
}
ENTRY cuDevicePrimaryCtxRetain(d::Context* context, int device) {
  CALL(cuDevicePrimaryCtxRetain);
  *context = reinterpret_cast<d::Context>(&primary[device]);
  return 0;
}
ENTRY cuDevicePrimaryCtxRelease_v2(int) {
  CALL(cuDevicePrimaryCtxRelease);
  return 0;
}
ENTRY cuCtxGetCurrent(d::Context* context) {
  CALL(cuCtxGetCurrent);
  *context = state.contexts.empty() ? nullptr : static_cast<d::Context>(state.contexts.back());
  return 0;
}
ENTRY cuCtxPushCurrent_v2(d::Context context) {
  CALL(cuCtxPushCurrent);
  state.contexts.push_back(context);
  return 0;
}
ENTRY cuCtxPopCurrent_v2(d::Context* context) {
  state.calls.emplace_back("cuCtxPopCurrent");
  if (state.contexts.empty()) return d::kInvalidContext;
  *context = static_cast<d::Context>(state.contexts.back());
  state.contexts.pop_back();
  return 0;
}
ENTRY cuCtxSynchronize() {
  CALL(cuCtxSynchronize);
  return 0;
}
ENTRY cuStreamCreate(d::Stream* stream, unsigned) {
  CALL(cuStreamCreate);
  *stream = static_cast<d::Stream>(handle(state.streams));
  return 0;
}
ENTRY cuStreamDestroy_v2(d::Stream stream) {
  state.calls.emplace_back("cuStreamDestroy");
  return drop(state.streams, stream);
}
ENTRY cuStreamSynchronize(d::Stream) {
  CALL(cuStreamSynchronize);
  return 0;
}
ENTRY cuStreamGetCtx(d::Stream stream, d::Context* context) {
  CALL(cuStreamGetCtx);
  *context = reinterpret_cast<d::Context>(state.streams.count(stream) != 0 ? &primary[0] : &primary[1]);
  return 0;
}
ENTRY cuStreamWaitEvent(d::Stream, d::Event, unsigned) {
  CALL(cuStreamWaitEvent);
  return 0;
}
ENTRY cuStreamBeginCapture_v2(d::Stream, int) {
  CALL(cuStreamBeginCapture);
  return 0;
}
ENTRY cuStreamEndCapture(d::Stream, d::Graph* graph) {
  CALL(cuStreamEndCapture);
  *graph = static_cast<d::Graph>(handle(state.graphs));
  return 0;
}
ENTRY cuStreamIsCapturing(d::Stream, int* status) {
  CALL(cuStreamIsCapturing);
  *status = state.capturing ? 1 : 0;
  return 0;
}
ENTRY cuEventCreate(d::Event* event, unsigned) {
  CALL(cuEventCreate);
  *event = static_cast<d::Event>(handle(state.events));
  return 0;
}
ENTRY cuEventDestroy_v2(d::Event event) {
  state.calls.emplace_back("cuEventDestroy");
  return drop(state.events, event);
}
ENTRY cuEventRecord(d::Event, d::Stream) {
  CALL(cuEventRecord);
  return 0;
}
ENTRY cuEventSynchronize(d::Event) {
  CALL(cuEventSynchronize);
  return 0;
}
ENTRY cuMemPoolCreate(d::Pool* pool, const d::PoolProperties*) {
  CALL(cuMemPoolCreate);
  static char the_pool;
  *pool = reinterpret_cast<d::Pool>(&the_pool);
  return 0;
}
ENTRY cuMemPoolDestroy(d::Pool) {
  CALL(cuMemPoolDestroy);
  return 0;
}
ENTRY cuMemPoolSetAttribute(d::Pool, int, void* value) {
  CALL(cuMemPoolSetAttribute);
  std::memcpy(&state.release_threshold, value, sizeof state.release_threshold);
  return 0;
}
ENTRY cuMemPoolTrimTo(d::Pool, std::size_t) {
  CALL(cuMemPoolTrimTo);
  return 0;
}
static int allocate(d::Address* address, std::size_t bytes) {
  char* memory = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(memory, 0xee, bytes);
  state.memory[memory] = bytes;
  *address = reinterpret_cast<d::Address>(memory);
  return 0;
}
static int release(d::Address address) {
  char* memory = reinterpret_cast<char*>(address);
  if (state.memory.erase(memory) == 0) return d::kInvalidValue;
  std::free(memory);
  return 0;
}
ENTRY cuMemAllocFromPoolAsync(d::Address* address, std::size_t bytes, d::Pool, d::Stream) {
  CALL(cuMemAllocFromPoolAsync);
  return allocate(address, bytes);
}
// Gives the memory back even when it is told to fail: the tests of leaks look at what was never released.
ENTRY cuMemFreeAsync(d::Address address, d::Stream) {
  const int failed = enter("cuMemFreeAsync");
  const int gone = release(address);
  return failed != 0 ? failed : gone;
}
ENTRY cuMemAlloc_v2(d::Address* address, std::size_t bytes) {
  CALL(cuMemAlloc);
  return allocate(address, bytes);
}
ENTRY cuMemFree_v2(d::Address address) {
  CALL(cuMemFree);
  return release(address);
}
ENTRY cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  CALL(cuMemHostAlloc);
  *memory = std::malloc(bytes);
  state.pinned[static_cast<char*>(*memory)] = bytes;
  return 0;
}
ENTRY cuMemFreeHost(void* memory) {
  state.calls.emplace_back("cuMemFreeHost");
  if (state.pinned.erase(static_cast<char*>(memory)) == 0) return d::kInvalidValue;
  std::free(memory);
  return 0;
}
ENTRY cuPointerGetAttributes(unsigned, int*, void** values, d::Address address) {
  CALL(cuPointerGetAttributes);
  *static_cast<unsigned*>(values[0]) = 0;
  for (const auto& [begin, size] : state.pinned) {
    if (address - reinterpret_cast<d::Address>(begin) < size) {
      *static_cast<unsigned*>(values[0]) = 1;
      return 0;
    }
  }
  return 0;
}
ENTRY cuMemcpyHtoDAsync_v2(d::Address to, const void* from, std::size_t bytes, d::Stream) {
  CALL(cuMemcpyHtoDAsync);
  if (!lives(reinterpret_cast<void*>(to), bytes)) return d::kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
ENTRY cuMemcpyDtoHAsync_v2(void* to, d::Address from, std::size_t bytes, d::Stream) {
  CALL(cuMemcpyDtoHAsync);
  if (!lives(reinterpret_cast<void*>(from), bytes)) return d::kInvalidValue;
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
ENTRY cuMemcpyDtoDAsync_v2(d::Address to, d::Address from, std::size_t bytes, d::Stream) {
  CALL(cuMemcpyDtoDAsync);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return 0;
}
ENTRY cuMemcpy3DAsync_v2(const d::Copy3d* copy, d::Stream) {
  CALL(cuMemcpy3DAsync);
  const auto base = [](const d::CopySide& side) {
    const void* at = side.memory_type == d::kMemoryDevice ? reinterpret_cast<const void*>(side.device) : side.host;
    return static_cast<const char*>(at);
  };
  if (copy->from.pitch < copy->width || copy->to.pitch < copy->width || copy->from.pitch > 4096 ||
      copy->to.pitch > 4096)
    return d::kInvalidValue;
  for (std::size_t z = 0; z < copy->depth; ++z) {
    for (std::size_t y = 0; y < copy->height; ++y) {
      std::memcpy(const_cast<char*>(base(copy->to)) + (z * copy->to.height + y) * copy->to.pitch,
                  base(copy->from) + (z * copy->from.height + y) * copy->from.pitch, copy->width);
    }
  }
  return 0;
}
template <class T>
static int fill(d::Address to, T value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<char*>(to) + i * sizeof(T), &value, sizeof(T));
  return 0;
}
ENTRY cuMemsetD8Async(d::Address to, unsigned char value, std::size_t count, d::Stream) {
  CALL(cuMemsetD8Async);
  return fill(to, value, count);
}
ENTRY cuMemsetD16Async(d::Address to, unsigned short value, std::size_t count, d::Stream) {
  CALL(cuMemsetD16Async);
  return fill(to, value, count);
}
ENTRY cuMemsetD32Async(d::Address to, unsigned value, std::size_t count, d::Stream) {
  CALL(cuMemsetD32Async);
  return fill(to, value, count);
}
ENTRY cuMemsetD2D32Async(d::Address to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                         d::Stream) {
  CALL(cuMemsetD2D32Async);
  for (std::size_t i = 0; i < height; ++i) fill(to + i * pitch, value, width);
  return 0;
}
ENTRY cuModuleLoadDataEx(d::Module* module, const void* image, unsigned, int*, void** values) {
  CALL(cuModuleLoadDataEx);
  if (std::strcmp(static_cast<const char*>(image), "broken") == 0) {
    std::strcpy(static_cast<char*>(values[0]), "ptxas says no");
    return d::kInvalidPtx;
  }
  *module = static_cast<d::Module>(handle(state.modules));
  return 0;
}
ENTRY cuModuleUnload(d::Module module) {
  state.calls.emplace_back("cuModuleUnload");
  for (void* function : functions_of[module]) {
    functions.erase(function);
    std::free(function);
  }
  functions_of.erase(module);
  return drop(state.modules, module);
}
ENTRY cuModuleGetFunction(d::Function* function, d::Module module, const char* name) {
  CALL(cuModuleGetFunction);
  if (std::strcmp(name, "absent") == 0) return d::kNotFound;
  *function = static_cast<d::Function>(std::malloc(16));
  functions[*function] = name;
  functions_of[module].push_back(*function);
  return 0;
}
ENTRY cuFuncGetAttribute(int* value, int attribute, d::Function) {
  CALL(cuFuncGetAttribute);
  *value = attribute == d::kFunctionMaxThreads ? 512 : 16;
  return 0;
}
ENTRY cuFuncSetAttribute(d::Function, int, int) {
  CALL(cuFuncSetAttribute);
  return 0;
}
ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, d::Function, int, std::size_t) {
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = 4;
  return 0;
}
static int launch(bool cooperative, d::Function function, const unsigned (&grid)[3], const unsigned (&block)[3],
                  unsigned shared, d::Stream stream, void** parameters) {
  sdfg::test::FakeLaunch made{functions[function], {}, {}, shared, cooperative, stream, {}};
  std::memcpy(made.grid, grid, sizeof made.grid);
  std::memcpy(made.block, block, sizeof made.block);
  for (std::size_t i = 0; i < state.parameters; ++i) {
    long value = 0;
    std::memcpy(&value, parameters[i], sizeof value);
    made.arguments.push_back(value);
  }
  state.launches.push_back(made);
  return 0;
}
ENTRY cuLaunchKernel(d::Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                     unsigned shared, d::Stream stream, void** parameters, void**) {
  CALL(cuLaunchKernel);
  return launch(false, f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters);
}
ENTRY cuLaunchKernelEx(const d::LaunchConfig* c, d::Function f, void** parameters, void**) {
  CALL(cuLaunchKernelEx);
  return launch(false, f, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared,
                c->stream, parameters);
}
ENTRY cuLaunchCooperativeKernel(d::Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                unsigned bz, unsigned shared, d::Stream stream, void** parameters) {
  CALL(cuLaunchCooperativeKernel);
  return launch(true, f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters);
}
ENTRY cuGraphInstantiateWithFlags(d::GraphExec* executable, d::Graph, unsigned long long) {
  CALL(cuGraphInstantiateWithFlags);
  *executable = static_cast<d::GraphExec>(handle(state.graphs));
  return 0;
}
ENTRY cuGraphLaunch(d::GraphExec, d::Stream) {
  CALL(cuGraphLaunch);
  return 0;
}
ENTRY cuGraphExecDestroy(d::GraphExec executable) {
  state.calls.emplace_back("cuGraphExecDestroy");
  return drop(state.graphs, executable);
}
ENTRY cuGraphDestroy(d::Graph graph) {
  state.calls.emplace_back("cuGraphDestroy");
  return drop(state.graphs, graph);
}

// Gives its own functions, so that the way through it is what the tests take.
ENTRY cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t, int* status) {
  if (version != d::kInterfaceVersion) return d::kInvalidValue;
#define MATCH(member, name, exported, parameters)   \
  if (std::strcmp(symbol, #name) == 0) {            \
    *function = reinterpret_cast<void*>(&exported); \
    *status = 0;                                    \
    return 0;                                       \
  }
  SDFG_DRIVER_FUNCTIONS(MATCH)
#undef MATCH
  return d::kNotFound;
}
