// A GPU as an interface: memory, copies, streams, events, modules, launches, graphs. Two implementations: the CUDA
// driver (device/cuda) and an emulator in this process (device/emulated).
//
// Ownership   A Device is shared and lives until its last user lets go of it; what it makes (streams, events, modules,
//             graphs) is a unique_ptr of the caller's and keeps the device alive. Memory is freed by whoever allocated
//             it.
// Threads     Every function may be called from any thread. Streams order work; nothing else does. A Kernel may be
//             launched by several threads at once.
// Blocking    Functions return when the work is queued, except those whose comment says that they wait.
// Context     The CUDA functions need the device's context to be current on the calling thread: hold a Scope around
//             them. A Scope costs two driver calls when another context is current, and one look when it is not.
// Errors      sdfg::Error: kResource (out of memory), kLaunch (a launch that the device refuses, a broken contract of a
//             copy, a fault of a kernel), kDeviceLost (all later calls repeat it), kEnvironment (no driver), kUsage.
//             Faults of work in the background are thrown by what waits for it (synchronise, or take_fault).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/options.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/device_function.hpp"
#include "base/target.hpp"

namespace sdfg::device {

enum class Backend : std::uint8_t { kCuda, kEmulated };

// Of one launch, as the hardware has them; launch() checks them before it asks the driver.
struct Limits {
  std::array<std::int64_t, 3> grid = {2147483647, 65535, 65535};
  std::array<std::int64_t, 3> block = {1024, 1024, 64};
  std::int64_t threads = 1024;             // of a block
  std::int64_t static_shared = 48 * 1024;  // bytes of a block that need no asking
  std::int64_t shared = 48 * 1024;         // with asking: static and dynamic together
  std::int64_t parameter_bytes = 4096;
  std::int64_t pitch = 2147483647;  // bytes between rows of a copy
};

// The address spaces of a copy, numbered as lower::MemorySpace.
enum class Space : std::uint8_t { kHost, kPinned, kDevice };

// Names of what operations are done for: graph elements by canonical ordinal, and the lines of the kernel text.
struct Names {
  std::string graph;
  std::vector<Error::Place> elements;
  std::vector<std::int32_t> origin_of_line;  // of the device text; [0] is line 1; -1: no element

  // The place of an ordinal; "element 7" if it has no name.
  Error::Place place(std::int32_t ordinal) const;
  std::int32_t origin(std::uint32_t line) const {
    return line >= 1 && line <= origin_of_line.size() ? origin_of_line[line - 1] : -1;
  }
};

// What an operation is done for. The names outlive everything that is done with them.
struct Site {
  std::shared_ptr<const Names> names;  // may be null
  std::int32_t ordinal = -1;
};

// A region of up to three dimensions, outermost first: `bytes` is the length of a contiguous run, element (i, j) of
// `count` starts at i * stride[0] + j * stride[1] bytes. A missing dimension has count 1.
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  Space to_space = Space::kHost;
  Space from_space = Space::kHost;
  std::int64_t bytes = 0;
  std::array<std::int64_t, 2> count = {1, 1};
  std::array<std::int64_t, 2> to_stride = {0, 0};
  std::array<std::int64_t, 2> from_stride = {0, 0};

  bool empty() const { return bytes <= 0 || count[0] <= 0 || count[1] <= 0; }
};

// `count[0]` rows of `count[1]` elements of `width` bytes (1, 2, 4, 8 or 16), rows `pitch` bytes apart.
struct Fill {
  void* memory = nullptr;
  std::array<std::uint8_t, 16> value = {};
  std::int64_t width = 1;
  std::array<std::int64_t, 2> count = {1, 0};
  std::int64_t pitch = 0;

  bool empty() const { return count[0] <= 0 || count[1] <= 0; }
  // Whether all bytes of the value are equal.
  bool uniform() const;
};

struct Launch {
  std::array<std::int64_t, 3> grid = {1, 1, 1};   // blocks in x, y, z; not positive: nothing happens
  std::array<std::int64_t, 3> block = {1, 1, 1};  // threads in x, y, z
  std::int64_t shared = 0;                        // bytes of dynamic shared memory
  bool cooperative = false;                       // all blocks are resident at once
  bool overlapping = false;  // the launch may begin before the kernel in front of it ends: it waits by itself

  bool empty() const { return grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0; }
  bool operator==(const Launch&) const = default;
};

struct ParameterInfo {
  std::int32_t bytes = 8;
  bool is_pointer = false;
  bool is_const = false;     // the kernel only reads through it
  bool is_restrict = false;  // nothing else reaches what the kernel writes through it
  std::int32_t ordinal = -1;
};

struct KernelInfo {
  std::string name;
  std::int32_t ordinal = -1;
  std::vector<ParameterInfo> parameters;
  std::int64_t max_threads = 0;  // the launch bound it was compiled for; 0: none
  std::int64_t shared_bytes = 0;
  bool waits = false;  // its code waits for the kernel in front of it before it touches memory
};

// What load_module takes. For CUDA a cubin or PTX text; for the emulator loaded code: the address of each
// `<kernel>_run`, and what keeps it in memory.
struct ModuleImage {
  std::vector<KernelInfo> kernels;
  std::shared_ptr<const Names> names;

  std::span<const std::uint8_t> binary;  // only read during the call
  std::vector<void (*)(void* const* arguments)> entries;
  std::shared_ptr<const void> keep_alive;
  std::function<bool(const void* address, std::uint64_t bytes)> holds;  // whether it is a constant of the code
  // Checks of these kernels besides those that the emulator's settings ask for.
  bool check_races = false;
  bool check_uninitialised = false;
};

// A function of a device library; base/device_function.hpp says what stands where.
struct LibraryCall {
  DeviceFunction function = DeviceFunction::kGemm;
  const std::int64_t* numbers = nullptr;
  const double* scalars = nullptr;
  void* const* operands = nullptr;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // The driver's handle (CUstream, interchangeable with cudaStream_t); null for the null stream and the emulator.
  virtual void* native() const noexcept = 0;

 protected:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

class Event {
 public:
  virtual ~Event() = default;

 protected:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  const KernelInfo& info() const noexcept { return info_; }

 protected:
  explicit Kernel(KernelInfo info) : info_(std::move(info)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

 private:
  KernelInfo info_;
};

// Kernels of one image, in its order. Not destroyed before its launches are done: its destructor waits for them.
class Module {
 public:
  virtual ~Module() = default;
  virtual std::size_t size() const noexcept = 0;
  virtual Kernel& kernel(std::size_t index) noexcept = 0;

 protected:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
};

// Recorded work that can be launched again. It may be destroyed while its launches still run.
class Graph {
 public:
  virtual ~Graph() = default;

 protected:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Backend backend() const noexcept { return backend_; }
  int ordinal() const noexcept { return ordinal_; }
  const DeviceTarget& target() const noexcept { return target_; }
  const Limits& limits() const noexcept { return limits_; }
  // The CUDA version that the driver supports, 12040 for 12.4; 0 for the emulator.
  virtual int driver_version() const noexcept = 0;

  // Makes the device's context current on this thread while it lives; the caller's comes back after it.
  class Scope {
   public:
    explicit Scope(Device& device) : device_(device), entered_(device.enter()) {}
    ~Scope() {
      if (entered_) device_.leave();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Device& device_;
    bool entered_;
  };
  // What a Scope does, for those whose beginning and end are in different functions: leave() iff enter() said true.
  virtual bool enter() = 0;
  virtual void leave() noexcept = 0;

  // --- streams and events ---
  // Work that names no stream of its own: one per device, ordered with the legacy null stream.
  virtual Stream& default_stream() = 0;
  virtual Stream& null_stream() = 0;
  // Not ordered with the null stream.
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // A stream of the application's (CUstream or cudaStream_t); not owned.
  virtual std::unique_ptr<Stream> adopt_stream(void* native) = 0;
  // The host waits for all work of the stream. Throws its fault.
  virtual void synchronise(Stream& stream, const Site& site = {}) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  // Later work of the stream waits for the event's last record.
  virtual void wait(Stream& stream, Event& event) = 0;
  // The host waits.
  virtual void synchronise(Event& event) = 0;

  // --- memory ---
  // From the device's pool, at least 256-byte aligned, usable by later work of the stream; `bytes` 0 gives an address.
  virtual void* allocate(Stream& stream, std::int64_t bytes, const Site& site = {}) = 0;
  virtual void release(Stream& stream, void* memory) noexcept = 0;
  // Host memory that the device reaches by itself. pinned_release waits for no one.
  virtual void* pinned_allocate(std::int64_t bytes, const Site& site = {}) = 0;
  virtual void pinned_release(void* memory) noexcept = 0;
  // Unused memory that the pool keeps for later; 0: no cap. The largest cap asked for holds.
  virtual void set_pool_cap(std::int64_t bytes) = 0;

  // Asynchronous where the memory allows it: pageable host memory is read before copy returns and written at the latest
  // when the stream is synchronised.
  virtual void copy(Stream& stream, const Copy& copy, const Site& site = {}) = 0;
  virtual void fill(Stream& stream, const Fill& fill, const Site& site = {}) = 0;

  // --- code ---
  virtual std::unique_ptr<Module> load_module(const ModuleImage& image) = 0;
  // arguments[i] points to parameter i and is read before launch returns.
  virtual void launch(Stream& stream, Kernel& kernel, const Launch& launch, void* const* arguments,
                      const Site& site = {}) = 0;
  // Blocks of a cooperative launch that fit on the device at once.
  virtual std::int64_t resident_blocks(Kernel& kernel, std::int64_t threads, std::int64_t shared) = 0;

  // Queues a function of cuBLAS, cuSOLVER, cuFFT or cuSPARSE; those whose status is asked for wait. Throws
  // Error(kEnvironment) where the library is missing, as all are on the emulator.
  virtual void call_library(Stream& stream, const LibraryCall& call, const Site& site = {}) = 0;
  // Why functions of the library can't be called; empty: they can. Opens the library.
  virtual std::string library_problem(DeviceLibrary library) = 0;

  // --- graphs ---
  // What this thread launches on the stream is recorded instead of queued, up to end_capture; not for the null stream.
  // The emulator records kernels only.
  virtual void begin_capture(Stream& stream) = 0;
  // Recording ends, also when this throws.
  virtual std::unique_ptr<Graph> end_capture(Stream& stream) = 0;
  // Queues the work on any stream that is not being recorded.
  virtual void launch_graph(Stream& stream, Graph& graph) = 0;
  // Whether the stream is being recorded, by this library or by the application.
  virtual bool is_capturing(Stream& stream) = 0;

  // The first fault of work in the background that nobody was told of yet.
  virtual std::optional<Error> take_fault() noexcept = 0;
  // Set for good once the device is gone.
  virtual bool lost() const noexcept = 0;

 protected:
  Device(Backend backend, int ordinal) : backend_(backend), ordinal_(ordinal) {}
  DeviceTarget target_;
  Limits limits_;

 private:
  Backend backend_;
  int ordinal_;
};

// The device of a choice: one per process and ordinal, opened when first asked for. kAuto takes CUDA device 0. Throws
// Error(kEnvironment) saying what is missing (driver, device) or too old, Error(kUsage) for kCpu. A failure to find the
// driver is remembered; an ordinal that does not exist is not.
std::shared_ptr<Device> open(const DeviceChoice& choice);

// Whether open() of a CUDA device could work: a driver and at least one device. Never throws; the answer is remembered.
bool cuda_available() noexcept;

// What both implementations check alike before a launch, and once per kernel. Throw Error(kLaunch) naming the limit and
// the value.
void check_parameters(const Limits& limits, const KernelInfo& kernel, const Site& site);
void check_launch(const Limits& limits, const KernelInfo& kernel, const Launch& launch, const Site& site);
// Sizes, strides and overlapping rows. Throws Error(kLaunch).
void check_copy(const Copy& copy, const Site& site);
void check_fill(const Fill& fill, const Site& site);
// Text and places for an error about an operation.
Error operation_error(ErrorClass error_class, std::string text, const Site& site, std::string hint = {});

}  // namespace sdfg::device
