// Devices of the CUDA driver.
#include "device/cuda/open.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>

#include "device/cuda/library_calls.hpp"
#include "device/cuda/library_files.hpp"
#include "device/cuda/region.hpp"

namespace sdfg::device::cuda {

namespace {

constexpr std::int64_t kSmallParameters = 4096;
constexpr std::int64_t kLargeParameters = 32764;  // since CUDA 12.1, from compute capability 7.0 on
constexpr int kOverlapInGraphs = 12030;           // launches that overlap can be recorded since
constexpr std::size_t kJitLogBytes = 8192;

abi::Address address_of(const void* memory) {
  return reinterpret_cast<abi::Address>(memory);
}

struct CudaStream final : Stream {
  CudaStream(const Driver* d, abi::Stream s) : driver(d), stream(s) {}
  ~CudaStream() override {
    if (driver != nullptr) driver->api().stream_destroy(stream);  // queued work goes on; the driver frees it after
  }
  void* native() const noexcept override { return stream; }
  const Driver* driver;  // null: not owned
  abi::Stream stream;
};

struct CudaEvent final : Event {
  CudaEvent(const Driver& d, abi::Event e) : driver(d), event(e) {}
  ~CudaEvent() override { driver.api().event_destroy(event); }
  const Driver& driver;
  abi::Event event;
};

struct CudaKernel final : Kernel {
  CudaKernel(KernelInfo info, abi::Function f) : Kernel(std::move(info)), function(f) {}
  abi::Function function;
};

abi::Stream stream_of(Stream& stream) {
  return static_cast<CudaStream&>(stream).stream;
}

abi::Event event_of(Event& event) {
  return static_cast<CudaEvent&>(event).event;
}

class CudaDevice;

struct CudaModule final : Module {
  explicit CudaModule(std::shared_ptr<CudaDevice> d) : device(std::move(d)) {}
  ~CudaModule() override;
  std::size_t size() const noexcept override { return kernels.size(); }
  Kernel& kernel(std::size_t index) noexcept override { return kernels[index]; }
  std::shared_ptr<CudaDevice> device;
  abi::Module module = nullptr;
  std::deque<CudaKernel> kernels;
};

struct CudaGraph final : Graph {
  CudaGraph(const Driver& d, abi::GraphExec e) : driver(d), executable(e) {}
  ~CudaGraph() override { driver.api().graph_exec_destroy(executable); }
  const Driver& driver;
  abi::GraphExec executable;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const Driver> driver, int ordinal)
      : Device(Backend::kCuda, ordinal), driver_(std::move(driver)), api_(driver_->api()) {
    if (ordinal < 0 || ordinal >= driver_->devices()) {
      throw Error(ErrorClass::kEnvironment,
                  "there is no CUDA device " + std::to_string(ordinal) + "; the driver sees " +
                      std::to_string(driver_->devices()),
                  {}, "devices count from 0 (SDFG_DEVICE=cuda:0); CUDA_VISIBLE_DEVICES may hide some");
    }
    check(api_.device_get(&id_, ordinal), "looking for a device");
    describe();
    check(api_.context_retain(&context_, id_), "starting the device");
    try {
      const Scope scope(*this);
      make_pool();
      abi::Stream stream = nullptr;
      check(api_.stream_create(&stream, abi::kStreamDefault), "creating a stream");
      default_ = std::make_unique<CudaStream>(driver_.get(), stream);
    } catch (...) {
      if (pool_ != nullptr) api_.pool_destroy(pool_);
      api_.context_release(id_);
      throw;
    }
  }
  ~CudaDevice() override {
    default_.reset();
    if (pool_ != nullptr) api_.pool_destroy(pool_);
    api_.context_release(id_);
  }

  int driver_version() const noexcept override { return driver_->version(); }

  bool enter() override {
    abi::Context current = nullptr;
    check(api_.context_current(&current), "asking for the current device");
    if (current == context_) return false;
    check(api_.context_push(context_), "making the device current");
    return true;
  }
  void leave() noexcept override {
    abi::Context popped = nullptr;
    api_.context_pop(&popped);
  }

  // --- streams and events ---
  Stream& default_stream() override { return *default_; }
  Stream& null_stream() override { return null_; }
  std::unique_ptr<Stream> make_stream() override {
    abi::Stream stream = nullptr;
    check(api_.stream_create(&stream, abi::kStreamNonBlocking), "creating a stream");
    return std::make_unique<CudaStream>(driver_.get(), stream);
  }
  std::unique_ptr<Stream> adopt_stream(void* native) override {
    auto* const stream = static_cast<abi::Stream>(native);
    abi::Context owner = nullptr;
    check(api_.stream_context(stream, &owner), "taking a stream of the application");
    if (owner != context_) {
      throw Error(ErrorClass::kUsage,
                  "the stream given belongs to another device or context than '" + target_.name + "', device " +
                      std::to_string(ordinal()),
                  {}, "use a stream that was created with this device's primary context current");
    }
    return std::make_unique<CudaStream>(nullptr, stream);
  }
  void synchronise(Stream& stream, const Site& site) override {
    const abi::Result result = api_.stream_synchronise(stream_of(stream));
    if (result != abi::kSuccess) fail(result, "the work of a stream failed", site);
  }
  std::unique_ptr<Event> make_event() override {
    abi::Event event = nullptr;
    check(api_.event_create(&event, abi::kEventDisableTiming), "creating an event");
    return std::make_unique<CudaEvent>(*driver_, event);
  }
  void record(Event& event, Stream& stream) override {
    check(api_.event_record(event_of(event), stream_of(stream)), "recording an event");
  }
  void wait(Stream& stream, Event& event) override {
    check(api_.stream_wait(stream_of(stream), event_of(event), 0), "making a stream wait for an event");
  }
  void synchronise(Event& event) override { check(api_.event_synchronise(event_of(event)), "waiting for an event"); }

  // --- memory ---
  void* allocate(Stream& stream, std::int64_t bytes, const Site& site) override {
    if (bytes < 0) {
      throw operation_error(ErrorClass::kUsage, "an allocation of " + std::to_string(bytes) + " bytes", site);
    }
    // Whole words: atomics of one- and two-byte elements act on the word around them.
    const std::size_t size = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + 15) & ~std::size_t{15};
    abi::Address address = 0;
    abi::Result result = pool_ != nullptr ? api_.memory_allocate_async(&address, size, pool_, stream_of(stream))
                                          : api_.memory_allocate(&address, size);
    if (result == abi::kOutOfMemory && pool_ != nullptr) {
      // What other streams have released is only there after they are done.
      if (api_.context_synchronise() == abi::kSuccess) {
        api_.pool_trim(pool_, 0);
        result = api_.memory_allocate_async(&address, size, pool_, stream_of(stream));
      }
    }
    if (result != abi::kSuccess) {
      fail(result, "the device has no memory for " + std::to_string(bytes) + " bytes", site);
    }
    return reinterpret_cast<void*>(address);
  }
  void release(Stream& stream, void* memory) noexcept override {
    if (memory == nullptr) return;
    if (pool_ != nullptr) {
      note(api_.memory_free_async(address_of(memory), stream_of(stream)));
    } else {
      note(api_.stream_synchronise(stream_of(stream)));
      note(api_.memory_free(address_of(memory)));
    }
  }
  void* pinned_allocate(std::int64_t bytes, const Site& site) override {
    if (bytes < 0) {
      throw operation_error(ErrorClass::kUsage, "an allocation of " + std::to_string(bytes) + " bytes", site);
    }
    void* memory = nullptr;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    const abi::Result result = api_.host_allocate(&memory, size, abi::kHostAllocPortable);
    if (result != abi::kSuccess) fail(result, "no pinned memory for " + std::to_string(bytes) + " bytes", site);
    return memory;
  }
  void pinned_release(void* memory) noexcept override {
    if (memory != nullptr) note(api_.host_free(memory));
  }
  void set_pool_cap(std::int64_t bytes) override {
    if (pool_ == nullptr) return;
    const std::lock_guard lock(cap_mutex_);
    const std::uint64_t wanted =
        bytes <= 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(bytes);
    if (wanted <= cap_) return;
    std::uint64_t value = wanted;
    check(api_.pool_set(pool_, abi::kPoolReleaseThreshold, &value), "setting the cap of the memory pool");
    cap_ = wanted;
  }

  void copy(Stream& stream, const Copy& copy, const Site& site) override {
    if (copy.empty()) return;
    check_copy(copy, site);
    const Region region = simplify(copy);
    const abi::Stream on = stream_of(stream);
    const auto to = static_cast<std::byte*>(copy.to);
    const auto from = static_cast<const std::byte*>(copy.from);
    const auto piece = [&](std::byte* t, const std::byte* f, const Region& r) {
      const abi::Result result =
          r.inner == 1 && r.outer == 1 ? copy_run(t, f, copy, r.bytes, on) : copy_box(t, f, copy, r, on);
      if (result != abi::kSuccess)
        fail(result, "a copy of " + std::to_string(r.bytes * r.inner * r.outer) + " bytes failed", site);
    };
    switch (route_of(region, limits_.pitch)) {
      case Route::kRun:
      case Route::kBox: piece(to, from, region); break;
      case Route::kSlices: {
        Region slice = region;
        slice.outer = 1;
        for (std::int64_t i = 0; i < region.outer; ++i)
          piece(to + i * region.to_outer, from + i * region.from_outer, slice);
        break;
      }
      case Route::kRuns: {
        Region run;
        run.bytes = region.bytes;
        for (std::int64_t i = 0; i < region.outer; ++i) {
          for (std::int64_t j = 0; j < region.inner; ++j) {
            piece(to + i * region.to_outer + j * region.to_inner, from + i * region.from_outer + j * region.from_inner,
                  run);
          }
        }
        break;
      }
    }
    // What the plan takes for pageable may have been registered by the application, and is then read later.
    if (copy.from_space == Space::kHost && copy.to_space == Space::kDevice && is_registered(copy.from))
      synchronise(stream, site);
  }

  void fill(Stream& stream, const Fill& fill_of, const Site& site) override {
    if (fill_of.empty()) return;
    check_fill(fill_of, site);
    Fill fill = fill_of;
    const std::int64_t row = fill.count[1] * fill.width;
    if (fill.count[0] > 1 && fill.pitch == row) {
      fill.count = {1, fill.count[0] * fill.count[1]};
    }
    for (std::int64_t i = 0; i < fill.count[0]; ++i) {
      const abi::Address at = address_of(fill.memory) + static_cast<abi::Address>(i * fill.pitch);
      const abi::Result result = fill_row(at, fill, stream_of(stream));
      if (result != abi::kSuccess)
        this->fail(result, "a fill of " + std::to_string(fill.count[1] * fill.width) + " bytes failed", site);
    }
  }

  // --- code ---
  std::unique_ptr<Module> load_module(const ModuleImage& image) override {
    for (const KernelInfo& info : image.kernels) check_parameters(limits_, info, {image.names, info.ordinal});
    auto module = std::make_unique<CudaModule>(std::static_pointer_cast<CudaDevice>(shared_from_this()));
    // PTX is text and has to end with a zero; a cubin is not hurt by one.
    std::vector<char> binary(image.binary.begin(), image.binary.end());
    binary.push_back('\0');
    std::vector<char> log(kJitLogBytes, '\0');
    int options[] = {abi::kJitErrorLogBuffer, abi::kJitErrorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(kJitLogBytes)};
    const abi::Result loaded = api_.module_load(&module->module, binary.data(), 2, options, values);
    if (loaded != abi::kSuccess) {
      log.back() = '\0';
      const std::string detail = log.front() != '\0' ? std::string("\n") + log.data() : std::string();
      note(loaded);
      static_cast<void>(take_fault());
      const std::string why = "the kernels could not be loaded on '" + target_.name + "' (" + target_.architecture +
                              ", driver for CUDA " + driver_->version_text() + "): " + driver_->text(loaded) + detail;
      const ErrorClass what = class_of(loaded) == ErrorClass::kLaunch ? ErrorClass::kLoad : class_of(loaded);
      const bool unsuitable = what == ErrorClass::kEnvironment || what == ErrorClass::kLoad;
      throw Error(what, why, {},
                  unsuitable ? "the driver must not be older than the CUDA toolkit that NVRTC comes from: update the "
                               "driver, or set CUDA_HOME to an older toolkit"
                             : "");
    }
    for (const KernelInfo& known : image.kernels) {
      abi::Function function = nullptr;
      const Site site{image.names, known.ordinal};
      const abi::Result found = api_.module_function(&function, module->module, known.name.c_str());
      if (found != abi::kSuccess) fail(found, "the module has no kernel '" + known.name + "'", site);
      KernelInfo info = known;
      int value = 0;
      if (api_.function_attribute(&value, abi::kFunctionSharedBytes, function) == abi::kSuccess)
        info.shared_bytes = value;
      if (api_.function_attribute(&value, abi::kFunctionMaxThreads, function) == abi::kSuccess && value > 0)
        info.max_threads = info.max_threads > 0 ? std::min<std::int64_t>(info.max_threads, value) : value;
      const std::int64_t dynamic = limits_.shared - info.shared_bytes;
      if (limits_.shared > limits_.static_shared && dynamic > 0) {
        check(api_.function_set(function, abi::kFunctionMaxDynamicShared, static_cast<int>(dynamic)),
              "asking for shared memory of kernel '" + known.name + "'");
      }
      module->kernels.emplace_back(std::move(info), function);
    }
    return module;
  }

  void launch(Stream& stream, Kernel& kernel, const Launch& l, void* const* arguments, const Site& site) override {
    if (l.empty()) return;
    check_launch(limits_, kernel.info(), l, site);
    const abi::Function function = static_cast<CudaKernel&>(kernel).function;
    const auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
    auto** const parameters = const_cast<void**>(arguments);
    if (l.overlapping && kernel.info().waits && !l.cooperative && driver_->version() >= kOverlapInGraphs) {
      abi::LaunchAttribute early;
      early.id = abi::kLaunchProgrammaticSerialization;
      early.value = 1;
      abi::LaunchConfig config;
      for (std::size_t k = 0; k < 3; ++k) {
        config.grid[k] = u(l.grid[k]);
        config.block[k] = u(l.block[k]);
      }
      config.shared = u(l.shared);
      config.stream = stream_of(stream);
      config.attributes = &early;
      config.attribute_count = 1;
      const abi::Result result = api_.launch_with(&config, function, parameters, nullptr);
      if (result != abi::kSuccess) fail(result, "kernel '" + kernel.info().name + "' could not be launched", site);
      return;
    }
    const abi::Result result =
        l.cooperative
            ? api_.launch_cooperative(function, u(l.grid[0]), u(l.grid[1]), u(l.grid[2]), u(l.block[0]), u(l.block[1]),
                                      u(l.block[2]), u(l.shared), stream_of(stream), parameters)
            : api_.launch(function, u(l.grid[0]), u(l.grid[1]), u(l.grid[2]), u(l.block[0]), u(l.block[1]),
                          u(l.block[2]), u(l.shared), stream_of(stream), parameters, nullptr);
    if (result != abi::kSuccess) [[unlikely]]
      fail(result, "kernel '" + kernel.info().name + "' could not be launched", site);
  }

  std::int64_t resident_blocks(Kernel& kernel, std::int64_t threads, std::int64_t shared) override {
    int blocks = 0;
    check(api_.occupancy(&blocks, static_cast<CudaKernel&>(kernel).function, static_cast<int>(threads),
                         static_cast<std::size_t>(shared)),
          "asking how many blocks of kernel '" + kernel.info().name + "' fit");
    return std::int64_t{blocks} * target_.multiprocessors;
  }

  void call_library(Stream& stream, const LibraryCall& call, const Site& site) override {
    libraries_.call(stream, call, site);
  }
  std::string library_problem(DeviceLibrary library) override {
    return cuda::library_problem(library, driver_->version());
  }

  // --- graphs ---
  void begin_capture(Stream& stream) override {
    check(api_.stream_begin_capture(stream_of(stream), abi::kCaptureThreadLocal), "beginning to record a stream");
  }
  std::unique_ptr<Graph> end_capture(Stream& stream) override {
    abi::Graph graph = nullptr;
    const abi::Result ended = api_.stream_end_capture(stream_of(stream), &graph);
    if (ended != abi::kSuccess || graph == nullptr) {
      if (graph != nullptr) api_.graph_destroy(graph);
      fail(ended != abi::kSuccess ? ended : abi::Result{abi::kUnknown}, "recording a stream failed", {});
    }
    abi::GraphExec executable = nullptr;
    const abi::Result made = api_.graph_instantiate(&executable, graph, 0);
    api_.graph_destroy(graph);
    if (made != abi::kSuccess) fail(made, "recorded work could not be prepared", {});
    return std::make_unique<CudaGraph>(*driver_, executable);
  }
  void launch_graph(Stream& stream, Graph& graph) override {
    check(api_.graph_launch(static_cast<CudaGraph&>(graph).executable, stream_of(stream)), "launching recorded work");
  }
  bool is_capturing(Stream& stream) override {
    // The null stream can't be asked while a stream that waits for it is recorded: as good as recorded itself.
    int status = 0;
    return api_.stream_is_capturing(stream_of(stream), &status) != abi::kSuccess || status != 0;
  }

  std::optional<Error> take_fault() noexcept override {
    if (!has_noted_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(fault_mutex_);
    has_noted_ = false;
    const abi::Result result = std::exchange(noted_, abi::Result{abi::kSuccess});
    if (result == abi::kSuccess) return std::nullopt;
    return Error(class_of(result), "memory could not be given back: " + driver_->text(result));
  }
  bool lost() const noexcept override { return lost_.load(std::memory_order_relaxed); }

  // Waits for everything and unloads; for modules, whose end must not take code from running kernels.
  void unload(abi::Module module) noexcept {
    try {
      const Scope scope(*this);
      api_.context_synchronise();
      api_.module_unload(module);
    } catch (const Error&) {
      // The device is gone, and the module with it.
    }
  }

 private:
  [[noreturn]] void fail(abi::Result result, const std::string& what, const Site& site) {
    if (is_lasting(result)) lost_ = true;
    std::string hint;
    if (result == abi::kLaunchOutOfResources)
      hint = "a block needs more registers than there are: choose a smaller block size (SDFG_GPU_BLOCK_SIZE)";
    if (is_lasting(result)) hint = "the device can't be used by this process any more";
    throw operation_error(class_of(result), what + ": " + driver_->text(result), site, hint);
  }
  void check(abi::Result result, const std::string& what) {
    if (result != abi::kSuccess) [[unlikely]]
      fail(result, what + " failed", {});
  }
  void check(abi::Result result, const char* what) {
    if (result != abi::kSuccess) [[unlikely]]
      fail(result, std::string(what) + " failed", {});
  }
  // A failure where none can be thrown: kept for take_fault.
  void note(abi::Result result) noexcept {
    if (result == abi::kSuccess) return;
    if (is_lasting(result)) lost_ = true;
    const std::lock_guard lock(fault_mutex_);
    if (noted_ == abi::kSuccess) noted_ = result;
    has_noted_.store(true, std::memory_order_release);
  }

  int attribute(int which) {
    int value = 0;
    check(api_.device_attribute(&value, which, id_), "asking for a property of the device");
    return value;
  }

  void describe() {
    char name[256] = {};
    check(api_.device_name(name, sizeof name, id_), "asking for the name of the device");
    name[sizeof name - 1] = '\0';
    target_.name = name;
    const int major = attribute(abi::kCapabilityMajor);
    target_.architecture = "sm_" + std::to_string(major) + std::to_string(attribute(abi::kCapabilityMinor));
    target_.multiprocessors = attribute(abi::kMultiprocessorCount);
    target_.warp_size = attribute(abi::kWarpSize);
    target_.max_threads_per_block = attribute(abi::kMaxThreadsPerBlock);
    target_.shared_bytes_per_block = attribute(abi::kMaxSharedPerBlock);
    target_.shared_bytes_per_block_optin = attribute(abi::kMaxSharedPerBlockOptin);
    target_.shared_bytes_per_multiprocessor = attribute(abi::kMaxSharedPerMultiprocessor);
    target_.registers_per_multiprocessor = attribute(abi::kMaxRegistersPerMultiprocessor);
    target_.l2_bytes = attribute(abi::kL2CacheSize);
    std::size_t bytes = 0;
    check(api_.device_memory(&bytes, id_), "asking for the memory of the device");
    target_.memory_bytes = static_cast<std::int64_t>(bytes);
    int clock = 0;
    int width = 0;
    // Not told by every driver. Twice per clock: double data rate.
    if (api_.device_attribute(&clock, abi::kMemoryClockRate, id_) == abi::kSuccess &&
        api_.device_attribute(&width, abi::kMemoryBusWidth, id_) == abi::kSuccess) {
      target_.memory_bytes_per_second = 2.0 * clock * 1e3 * width / 8;
    }
    limits_.grid = {attribute(abi::kMaxGridX), attribute(abi::kMaxGridY), attribute(abi::kMaxGridZ)};
    limits_.block = {attribute(abi::kMaxBlockX), attribute(abi::kMaxBlockY), attribute(abi::kMaxBlockZ)};
    limits_.threads = target_.max_threads_per_block;
    limits_.static_shared = target_.shared_bytes_per_block;
    limits_.shared = std::max(target_.shared_bytes_per_block, target_.shared_bytes_per_block_optin);
    limits_.parameter_bytes = major >= 7 && driver_->version() >= 12010 ? kLargeParameters : kSmallParameters;
    limits_.pitch = attribute(abi::kMaxPitch);
  }

  // A pool of our own: the device's default one belongs to the application.
  void make_pool() {
    if (attribute(abi::kMemoryPoolsSupported) == 0) return;
    abi::PoolProperties properties;
    properties.location_id = ordinal();
    check(api_.pool_create(&pool_, &properties), "creating a memory pool");
  }

  // The plural form: for pageable memory it gives zeros where the other one fails, which tools would count as an error.
  bool is_registered(const void* memory) {
    unsigned type = 0;
    int attribute_of = abi::kPointerMemoryType;
    void* value = &type;
    return api_.pointer_attributes(1, &attribute_of, &value, address_of(memory)) == abi::kSuccess && type != 0;
  }

  abi::Result copy_run(std::byte* to, const std::byte* from, const Copy& copy, std::int64_t bytes, abi::Stream on) {
    const auto size = static_cast<std::size_t>(bytes);
    const bool to_device = copy.to_space == Space::kDevice;
    const bool from_device = copy.from_space == Space::kDevice;
    if (to_device && from_device) return api_.copy_on_device(address_of(to), address_of(from), size, on);
    if (to_device) return api_.copy_to_device(address_of(to), from, size, on);
    if (from_device) return api_.copy_to_host(to, address_of(from), size, on);
    Region run;
    run.bytes = bytes;
    return copy_box(to, from, copy, run, on);
  }

  abi::Result copy_box(std::byte* to, const std::byte* from, const Copy& copy, const Region& r, abi::Stream on) {
    const auto side = [&](const void* memory, Space space, std::int64_t inner, std::int64_t outer) {
      abi::CopySide s;
      s.memory_type = space == Space::kDevice ? abi::kMemoryDevice : abi::kMemoryHost;
      if (space == Space::kDevice) {
        s.device = address_of(memory);
      } else {
        s.host = memory;
      }
      s.pitch = static_cast<std::size_t>(r.inner == 1 ? r.bytes : inner);
      s.height = static_cast<std::size_t>(r.outer == 1 ? r.inner : outer / inner);
      return s;
    };
    abi::Copy3d box;
    box.from = side(from, copy.from_space, r.from_inner, r.from_outer);
    box.to = side(to, copy.to_space, r.to_inner, r.to_outer);
    box.width = static_cast<std::size_t>(r.bytes);
    box.height = static_cast<std::size_t>(r.inner);
    box.depth = static_cast<std::size_t>(r.outer);
    return api_.copy_3d(&box, on);
  }

  // One contiguous row. The driver fills units of one, two and four bytes; larger values are four-byte columns.
  abi::Result fill_row(abi::Address at, const Fill& fill, abi::Stream on) {
    const auto count = static_cast<std::size_t>(fill.count[1]);
    const auto width = static_cast<std::size_t>(fill.width);
    if (fill.uniform()) return api_.fill_8(at, fill.value[0], count * width, on);
    if (width == 2) {
      std::uint16_t value = 0;
      std::memcpy(&value, fill.value.data(), sizeof value);
      return api_.fill_16(at, value, count, on);
    }
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), fill.value.data(), width);
    const std::size_t columns = width / 4;
    if (std::all_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(columns),
                    [&](std::uint32_t word) { return word == words[0]; })) {
      return api_.fill_32(at, words[0], count * columns, on);
    }
    for (std::size_t i = 0; i < columns; ++i) {
      const abi::Result result = api_.fill_rows_32(at + 4 * i, width, words[i], 1, count, on);
      if (result != abi::kSuccess) return result;
    }
    return abi::kSuccess;
  }

  std::shared_ptr<const Driver> driver_;
  const abi::Table& api_;
  abi::DeviceId id_ = 0;
  abi::Context context_ = nullptr;
  abi::Pool pool_ = nullptr;
  std::mutex cap_mutex_;
  std::uint64_t cap_ = 0;
  std::unique_ptr<CudaStream> default_;
  CudaStream null_{nullptr, nullptr};
  LibraryCalls libraries_{*this};
  std::atomic<bool> lost_{false};
  std::atomic<bool> has_noted_{false};  // asked at the end of every call
  std::mutex fault_mutex_;
  abi::Result noted_ = abi::kSuccess;
};

CudaModule::~CudaModule() {
  if (module != nullptr) device->unload(module);
}

}  // namespace

std::shared_ptr<Device> make_device(std::shared_ptr<const Driver> driver, int ordinal) {
  return std::make_shared<CudaDevice>(std::move(driver), ordinal);
}

std::shared_ptr<Device> open(int ordinal) {
  return make_device(Driver::instance(), ordinal);
}

bool available() noexcept {
  try {
    return Driver::instance()->devices() > 0;
  } catch (...) {
    return false;
  }
}

}  // namespace sdfg::device::cuda
