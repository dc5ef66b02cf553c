// Memory, queues and launches of the emulated device.
#include "device/emulated/emulator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <random>
#include <utility>

#include "device/emulated/address_space.hpp"
#include "device/emulated/contracts.hpp"
#include "device/emulated/executor.hpp"
#include "device/emulated/host_checks.hpp"
#include "device/emulated/queue.hpp"

namespace sdfg::device::emulated {

namespace {

// Of CUDA's kernels since compute capability 7.0.
constexpr std::int64_t kParameterBytes = 32764;
constexpr std::int64_t kThreadsPerMultiprocessor = 2048;
constexpr std::uint64_t kParameterBlock = 512 * 1024;
// Queues longer than this run: memory for what is queued is bounded.
constexpr std::size_t kMostQueued = 8192;

class Implementation final : public Emulator {
 public:
  Implementation()
      : Emulator(0),
        contracts_(space_, [this](const void* at, std::uint64_t bytes) { return is_pinned(at, bytes); }),
        executor_(space_, [this](const void* at, std::uint64_t bytes) { return is_pinned(at, bytes); }) {
    target_.name = "sdfg emulated device";
    target_.architecture = "emulated";
    target_.multiprocessors = 4;
    target_.shared_bytes_per_block = 48 * 1024;
    target_.shared_bytes_per_block_optin = 96 * 1024;
    target_.shared_bytes_per_multiprocessor = 96 * 1024;
    limits_.shared = target_.shared_bytes_per_block_optin;
    limits_.parameter_bytes = kParameterBytes;
    parameters_ = space_.allocate(kParameterBlock, MemoryKind::kParameters);
    parameters_->checked = false;
    parameters_->place.what = "the parameters of the kernel";
    apply({});
    watch_space(&space_);
    default_ = make_stream_locked();
    null_ = make_stream_locked();
  }
  ~Implementation() override {
    watch_space(nullptr);
    default_.reset();
    null_.reset();
    for (const auto& [memory, bytes] : pinned_) ::operator delete(memory, std::align_val_t{4096});
  }

  int driver_version() const noexcept override { return 0; }
  bool enter() override { return false; }
  void leave() noexcept override {}
  bool lost() const noexcept override { return false; }

  // --- settings and ledger ---
  void set_settings(const Settings& settings) override {
    const std::lock_guard lock(mutex_);
    apply(settings);
  }
  Settings settings() const override {
    const std::lock_guard lock(mutex_);
    return settings_;
  }
  Ledger ledger() const override {
    const std::lock_guard lock(mutex_);
    return ledger_;
  }
  void reset_ledger() override {
    const std::lock_guard lock(mutex_);
    Ledger fresh;
    fresh.live_allocations = ledger_.live_allocations;
    fresh.live_bytes = fresh.peak_bytes = ledger_.live_bytes;
    fresh.live_pinned = ledger_.live_pinned;
    fresh.pool_cap = ledger_.pool_cap;
    ledger_ = fresh;
  }
  void drain() override {
    const std::lock_guard lock(mutex_);
    run_all();
  }
  void set_library_hook(LibraryHook hook) override {
    const std::lock_guard lock(mutex_);
    library_hook_ = std::move(hook);
  }
  View view() const override {
    return {reinterpret_cast<const void*>(space_.base()), space_.size(), space_.real(std::uint64_t{0})};
  }
  std::vector<Error::Place> leaks() const override {
    const std::lock_guard lock(mutex_);
    std::vector<Error::Place> all;
    for (const auto& [address, memory] : live_) all.push_back(memory->place);
    return all;
  }

  // --- streams and events ---
  Stream& default_stream() override { return *default_; }
  Stream& null_stream() override { return *null_; }
  std::unique_ptr<Stream> make_stream() override {
    const std::lock_guard lock(mutex_);
    count_call("creating a stream", {});
    return make_stream_locked();
  }
  std::unique_ptr<Stream> adopt_stream(void* native) override {
    const std::lock_guard lock(mutex_);
    for (EmulatedStream* stream : streams_) {
      if (stream == native) return std::make_unique<AdoptedStream>(*stream);
    }
    throw Error(ErrorClass::kUsage, "this is no stream of the emulated device", {},
                "pass what Stream::native() of one of its streams gives");
  }
  void synchronise(Stream& stream, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("synchronising a stream", site);
    if (stream_of(stream).recorded)
      throw operation_error(ErrorClass::kLaunch, "a stream is waited for while it is recorded", site);
    count(site, [](Ledger::Counts& c) { ++c.synchronises; });
    force(stream_of(stream));
    throw_fault();
  }
  std::unique_ptr<Event> make_event() override {
    const std::lock_guard lock(mutex_);
    count_call("creating an event", {});
    return std::make_unique<EventHandle>();
  }
  void record(Event& event, Stream& stream) override {
    const std::lock_guard lock(mutex_);
    count_call("recording an event", {});
    ++ledger_.events_recorded;
    EmulatedStream& on = stream_of(stream);
    Task task;
    task.kind = TaskKind::kRecord;
    task.event = static_cast<EventHandle&>(event).event;
    task.event->stream = &on;
    task.generation = ++task.event->recorded;
    enqueue(on, std::move(task));
  }
  void wait(Stream& stream, Event& event) override {
    const std::lock_guard lock(mutex_);
    count_call("waiting for an event", {});
    ++ledger_.events_waited;
    Task task;
    task.kind = TaskKind::kWait;
    task.event = static_cast<EventHandle&>(event).event;
    if (task.event->recorded == 0) {
      throw Error(ErrorClass::kLaunch, "a stream is told to wait for an event that was never recorded");
    }
    task.generation = task.event->recorded;
    enqueue(stream_of(stream), std::move(task));
  }
  void synchronise(Event& event) override {
    const std::lock_guard lock(mutex_);
    count_call("waiting for an event", {});
    count({}, [](Ledger::Counts& c) { ++c.synchronises; });
    const EmulatedEvent& state = *static_cast<EventHandle&>(event).event;
    while (state.completed < state.recorded && step(state.stream)) {
    }
    throw_fault();
  }

  // --- memory ---
  void* allocate(Stream&, std::int64_t bytes, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("allocating device memory", site);
    if (bytes < 0)
      throw operation_error(ErrorClass::kUsage, "an allocation of " + std::to_string(bytes) + " bytes", site);
    Allocation* memory = nullptr;
    if (bytes <= settings_.memory_bytes - ledger_.live_bytes) {
      memory = space_.allocate(static_cast<std::uint64_t>(bytes), MemoryKind::kGlobal);
    }
    if (memory == nullptr) {
      throw operation_error(ErrorClass::kResource,
                            "the device has no memory for " + std::to_string(bytes) + " bytes; " +
                                std::to_string(ledger_.live_bytes) + " of " + std::to_string(settings_.memory_bytes) +
                                " are in use",
                            site);
    }
    memory->ordinal = site.ordinal;
    if (site.names && site.ordinal >= 0) memory->place = site.names->place(site.ordinal);
    void* address = space_.address(*memory);
    live_.emplace(address, memory);
    count(site, [](Ledger::Counts& c) { ++c.allocations; });
    ++ledger_.live_allocations;
    ledger_.live_bytes += bytes;
    ledger_.peak_bytes = std::max(ledger_.peak_bytes, ledger_.live_bytes);
    return address;
  }
  void release(Stream& stream, void* memory) noexcept override {
    if (memory == nullptr) return;
    const std::lock_guard lock(mutex_);
    try {
      const auto found = live_.find(memory);
      if (found == live_.end()) {
        const Allocation* known = space_.find(memory);
        const bool twice = known != nullptr && space_.address(*known) == memory;
        record_fault(Error(ErrorClass::kLaunch,
                           twice ? known->place.what + " is released twice"
                                 : "something is released that is no allocation of the device",
                           twice ? std::vector<Error::Place>{known->place} : std::vector<Error::Place>{}));
        return;
      }
      Allocation* allocation = found->second;
      live_.erase(found);
      allocation->release_queued = true;
      ++ledger_.total.releases;
      --ledger_.live_allocations;
      ledger_.live_bytes -= static_cast<std::int64_t>(allocation->bytes);
      Task task;
      task.kind = TaskKind::kRelease;
      task.memory = allocation;
      enqueue(stream_of(stream), std::move(task));
    } catch (...) {
      return;  // no memory for the task: the allocation stays, which harms nobody
    }
  }
  void* pinned_allocate(std::int64_t bytes, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("allocating pinned memory", site);
    if (bytes < 0)
      throw operation_error(ErrorClass::kUsage, "an allocation of " + std::to_string(bytes) + " bytes", site);
    const auto size = std::max<std::size_t>(static_cast<std::size_t>(bytes), 1);
    void* memory = ::operator new(size, std::align_val_t{4096}, std::nothrow);
    if (memory == nullptr) {
      throw operation_error(ErrorClass::kResource, "no pinned memory for " + std::to_string(bytes) + " bytes", site);
    }
    std::memset(memory, 0xf5, size);
    pinned_.emplace(memory, size);
    ++ledger_.live_pinned;
    return memory;
  }
  void pinned_release(void* memory) noexcept override {
    if (memory == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto found = pinned_.find(memory);
    if (found == pinned_.end())
      return record_fault(Error(ErrorClass::kLaunch, "something is released that is no pinned memory"));
    Error::Place place;
    if (overlaps_pending(memory, found->second, place)) {
      record_fault(Error(ErrorClass::kLaunch, "pinned memory is released while a copy still uses it", {place},
                         "a synchronisation with the copy's stream is missing"));
      run_all();
    }
    --ledger_.live_pinned;
    ::operator delete(memory, std::align_val_t{4096});
    pinned_.erase(found);
  }
  // Memory that is given back is not kept.
  void set_pool_cap(std::int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    ledger_.pool_cap = bytes;
  }

  void copy(Stream& stream, const Copy& copy, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("a copy", site);
    if (copy.empty()) return;
    check_copy(copy, site);
    contracts_.check_side("reads", copy.from, copy.from_space, span_of(copy, copy.from_stride), site);
    contracts_.check_side("writes", copy.to, copy.to_space, span_of(copy, copy.to_stride), site);
    Contracts::check_overlap(copy, site);
    Task task;
    task.kind = TaskKind::kCopy;
    task.site = site;
    task.copy = copy;
    const std::int64_t bytes = total_bytes(copy);
    const bool from_device = copy.from_space == Space::kDevice;
    const bool to_device = copy.to_space == Space::kDevice;
    count(site, [&](Ledger::Counts& c) {
      Transfers& t = from_device ? (to_device ? c.on_device : c.to_host) : to_device ? c.to_device : c.on_host;
      ++t.count;
      t.bytes += bytes;
    });
    const Error::Place place = site.names && site.ordinal >= 0 ? site.names->place(site.ordinal) : Error::Place{};
    if (!from_device && !is_pinned(copy.from, 1)) {
      // The driver has read pageable memory when the call returns.
      task.staged.resize(static_cast<std::size_t>(bytes));
      std::size_t at = 0;
      for_each_run(copy, [&](std::byte*, const std::byte* from) {
        std::memcpy(&task.staged[at], from, static_cast<std::size_t>(copy.bytes));
        at += static_cast<std::size_t>(copy.bytes);
      });
    } else if (!from_device) {
      task.pending_read = add_pending({copy, false, place});
    }
    if (!to_device) task.pending_write = add_pending({copy, true, place});
    enqueue(stream_of(stream), std::move(task));
  }

  void fill(Stream& stream, const Fill& fill, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("a fill", site);
    if (fill.empty()) return;
    check_fill(fill, site);
    const std::int64_t row = fill.count[1] * fill.width;
    const std::int64_t reach = (fill.count[0] - 1) * fill.pitch + row;
    contracts_.check_side("fills", fill.memory, Space::kDevice, {0, reach}, site);
    if (reinterpret_cast<std::uint64_t>(fill.memory) % static_cast<std::uint64_t>(fill.width) != 0) {
      throw operation_error(ErrorClass::kLaunch,
                            "a fill of elements of " + std::to_string(fill.width) +
                                " bytes starts at an address that is not aligned to them",
                            site);
    }
    count(site, [&](Ledger::Counts& c) {
      ++c.fills.count;
      c.fills.bytes += row * fill.count[0];
    });
    Task task;
    task.kind = TaskKind::kFill;
    task.site = site;
    task.fill = fill;
    enqueue(stream_of(stream), std::move(task));
  }

  // --- code ---
  std::unique_ptr<Module> load_module(const ModuleImage& image) override {
    const std::lock_guard lock(mutex_);
    count_call("loading a module", {});
    if (image.entries.size() != image.kernels.size()) {
      throw Error(ErrorClass::kLoad, "a module of the emulated device has " + std::to_string(image.kernels.size()) +
                                         " kernels and " + std::to_string(image.entries.size()) + " entries");
    }
    auto module = std::make_unique<EmulatedModule>();
    module->code = std::make_shared<ModuleCode>();
    module->code->names = image.names;
    module->code->keep_alive = image.keep_alive;
    module->code->holds = image.holds;
    module->code->check_races = image.check_races;
    module->code->check_uninitialised = image.check_uninitialised;
    for (std::size_t i = 0; i < image.kernels.size(); ++i) {
      check_parameters(limits_, image.kernels[i], {image.names, image.kernels[i].ordinal});
      if (image.entries[i] == nullptr)
        throw Error(ErrorClass::kLoad, "the kernel '" + image.kernels[i].name + "' has no entry");
      module->code->kernels.emplace_back(image.kernels[i], image.entries[i], module->code);
    }
    return module;
  }

  void launch(Stream& stream, Kernel& kernel, const Launch& launch, void* const* arguments, const Site& site) override {
    const std::lock_guard lock(mutex_);
    count_call("launching kernel '" + kernel.info().name + "'", site);
    if (launch.empty()) return;
    const KernelInfo& info = kernel.info();
    check_launch(limits_, info, launch, site);
    const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
    if (launch.cooperative && blocks > resident(launch)) {
      throw operation_error(ErrorClass::kLaunch,
                            "kernel '" + info.name + "' can't be launched: its " + std::to_string(blocks) +
                                " blocks wait for each other, and only " + std::to_string(resident(launch)) +
                                " fit on the device at once",
                            site);
    }
    Task task;
    task.kind = TaskKind::kLaunch;
    task.site = site;
    task.kernel = static_cast<EmulatedKernel*>(&kernel);
    task.launch = launch;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(info.parameters[i].bytes);
      const std::size_t alignment = std::clamp<std::size_t>(bytes & (~bytes + 1), 1, 16);
      const std::size_t at = (task.parameters.size() + alignment - 1) & ~(alignment - 1);
      task.parameters.resize(at + bytes);
      task.offsets.push_back(static_cast<std::uint32_t>(at));
      std::memcpy(&task.parameters[at], arguments[i], bytes);
    }
    contracts_.check_arguments(info, task, site);
    task.code = task.kernel->code.lock();
    if (!task.code) throw Error(ErrorClass::kInternal, "a kernel outlived its module");
    EmulatedStream& on = stream_of(stream);
    if (!on.recorded) count_launch(task);
    enqueue(on, std::move(task));
  }

  std::int64_t resident_blocks(Kernel&, std::int64_t threads, std::int64_t shared) override {
    const std::lock_guard lock(mutex_);
    Launch launch;
    launch.block = {threads, 1, 1};
    launch.shared = shared;
    return resident(launch);
  }

  void begin_capture(Stream& stream) override {
    const std::lock_guard lock(mutex_);
    count_call("beginning to record a stream", {});
    EmulatedStream& on = stream_of(stream);
    if (&on == null_.get()) throw Error(ErrorClass::kLaunch, "the null stream can't be recorded");
    if (on.recorded) throw Error(ErrorClass::kLaunch, "a stream is recorded that is being recorded already");
    on.recorded.emplace();
  }
  std::unique_ptr<Graph> end_capture(Stream& stream) override {
    const std::lock_guard lock(mutex_);
    std::optional<std::vector<Task>> tasks = std::exchange(stream_of(stream).recorded, std::nullopt);
    count_call("recording a stream", {});
    if (!tasks) throw Error(ErrorClass::kUsage, "the recording of a stream ends that did not begin");
    ++ledger_.graphs_recorded;
    return std::make_unique<EmulatedGraph>(std::move(*tasks));
  }
  void launch_graph(Stream& stream, Graph& graph) override {
    const std::lock_guard lock(mutex_);
    count_call("launching recorded work", {});
    EmulatedStream& on = stream_of(stream);
    if (on.recorded) throw Error(ErrorClass::kLaunch, "recorded work is launched on a stream that is being recorded");
    ++ledger_.graphs_launched;
    for (const Task& task : static_cast<EmulatedGraph&>(graph).tasks) {
      count_launch(task);
      enqueue(on, task);
    }
  }
  void call_library(Stream& stream, const LibraryCall& call, const Site& site) override {
    if (library_hook_) {
      synchronise(stream, site);
      library_hook_(stream, call, site);
      return;
    }
    throw operation_error(
        ErrorClass::kEnvironment,
        "a call of " + std::string(name_of(call.function)) + ": " + library_problem(library_of(call.function)), site);
  }
  std::string library_problem(DeviceLibrary library) override {
    if (library_hook_) return {};
    return "the emulated device has no " + std::string(name_of(library));
  }

  bool is_capturing(Stream& stream) override {
    const std::lock_guard lock(mutex_);
    return stream_of(stream).recorded.has_value();
  }

  std::optional<Error> take_fault() noexcept override {
    const std::lock_guard lock(mutex_);
    return std::exchange(fault_, std::nullopt);
  }

 private:
  void apply(const Settings& settings) {
    settings_ = settings;
    calls_left_ = settings.fail_at;
    random_.seed(settings.seed);
    target_.warp_size = settings.warp_size;
    target_.memory_bytes = settings.memory_bytes;
  }

  std::unique_ptr<EmulatedStream> make_stream_locked() {
    auto stream = std::make_unique<EmulatedStream>([this](EmulatedStream& closing) {
      const std::lock_guard lock(mutex_);
      force(closing);
      std::erase(streams_, &closing);
    });
    streams_.push_back(stream.get());
    return stream;
  }

  template <class F>
  void count(const Site& site, F&& change) {
    change(ledger_.total);
    if (site.ordinal >= 0) change(ledger_.by_ordinal[site.ordinal]);
  }

  void count_launch(const Task& task) {
    const std::array<std::int64_t, 3>& grid = task.launch.grid;
    count(task.site, [&](Ledger::Counts& c) {
      ++c.launches;
      c.blocks += grid[0] * grid[1] * grid[2];
    });
  }

  // Injected failures.
  void count_call(const std::string& what, const Site& site) {
    if (calls_left_ == 0 || --calls_left_ != 0) return;
    throw operation_error(ErrorClass::kResource, what + " failed, as the emulator's settings ask", site);
  }

  void record_fault(Error error) {
    if (!fault_) fault_.emplace(std::move(error));
  }
  void throw_fault() {
    if (fault_) throw *std::exchange(fault_, std::nullopt);
  }

  bool is_pinned(const void* address, std::uint64_t bytes) const {
    auto at = pinned_.upper_bound(const_cast<void*>(address));
    if (at == pinned_.begin()) return false;
    --at;
    const auto inside =
        static_cast<std::uint64_t>(static_cast<const char*>(address) - static_cast<const char*>(at->first));
    return inside < at->second && bytes <= at->second - inside;
  }

  std::int64_t resident(const Launch& launch) const {
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    std::int64_t most =
        std::min(settings_.resident_blocks,
                 target_.multiprocessors * (kThreadsPerMultiprocessor / std::max<std::int64_t>(threads, 1)));
    if (launch.shared > 0)
      most = std::min(most, target_.multiprocessors * (target_.shared_bytes_per_multiprocessor / launch.shared));
    return most;
  }

  // --- execution ---
  void enqueue(EmulatedStream& stream, Task task) {
    if (stream.recorded) {
      if (task.kind != TaskKind::kLaunch)
        throw operation_error(ErrorClass::kLaunch, "work that is no kernel is queued on a stream that is recorded",
                              task.site);
      stream.recorded->push_back(std::move(task));
      return;
    }
    task.sequence = ++sequence_;
    stream.queue.push_back(std::move(task));
    if (stream.queue.size() > kMostQueued) force(stream);
  }

  static bool runnable(const EmulatedStream& stream) {
    if (stream.queue.empty()) return false;
    const Task& task = stream.queue.front();
    return task.kind != TaskKind::kWait || task.event->completed >= task.generation;
  }

  // The stream whose oldest task runs next so that `wanted` comes nearer to its end; null if none can.
  EmulatedStream* choose(EmulatedStream* wanted) {
    EmulatedStream* chosen = nullptr;
    switch (settings_.schedule) {
      case Schedule::kForward:
        for (EmulatedStream* stream : streams_) {
          if (runnable(*stream) &&
              (chosen == nullptr || stream->queue.front().sequence < chosen->queue.front().sequence)) {
            chosen = stream;
          }
        }
        return chosen;
      case Schedule::kReverse:
        if (wanted != nullptr && runnable(*wanted)) return wanted;
        for (EmulatedStream* stream : streams_) {
          if (runnable(*stream) &&
              (chosen == nullptr || stream->queue.front().sequence > chosen->queue.front().sequence)) {
            chosen = stream;
          }
        }
        return chosen;
      case Schedule::kRandom: {
        std::vector<EmulatedStream*> able;
        for (EmulatedStream* stream : streams_) {
          if (runnable(*stream)) able.push_back(stream);
        }
        return able.empty() ? nullptr : able[random_() % able.size()];
      }
    }
    return nullptr;
  }

  bool step(EmulatedStream* wanted) {
    EmulatedStream* stream = choose(wanted);
    if (stream == nullptr) return false;
    Task task = std::move(stream->queue.front());
    stream->queue.pop_front();
    execute(task);
    return true;
  }

  void force(EmulatedStream& stream) {
    while (!stream.queue.empty()) {
      if (!step(&stream)) {
        stream.queue.clear();
        record_fault(Error(ErrorClass::kLaunch, "the work of a stream waits for an event that never comes"));
      }
    }
  }

  void run_all() {
    while (step(nullptr)) {
    }
  }

  void execute(Task& task) {
    switch (task.kind) {
      case TaskKind::kCopy: execute_copy(task); return;
      case TaskKind::kFill: execute_fill(task); return;
      case TaskKind::kLaunch: execute_launch(task); return;
      case TaskKind::kRecord: task.event->completed = std::max(task.event->completed, task.generation); return;
      case TaskKind::kWait: return;
      case TaskKind::kRelease: space_.free(*task.memory); return;
    }
  }

  // The memory was there when the copy was queued; another stream may have released it since.
  bool still_there(const void* address, const Site& site) {
    const Allocation* memory = space_.find(address);
    if (memory != nullptr && !memory->freed()) return true;
    std::vector<Error::Place> places;
    if (site.names && site.ordinal >= 0) places.push_back(site.names->place(site.ordinal));
    if (memory != nullptr) places.push_back(memory->place);
    const std::string what = memory != nullptr ? memory->place.what : std::string("device memory");
    record_fault(Error(ErrorClass::kLaunch,
                       "work of one stream uses " + what + ", which another stream has released before it ran",
                       std::move(places), "the release has to wait for the other stream"));
    return false;
  }

  void execute_copy(Task& task) {
    const Copy& copy = task.copy;
    if (task.pending_read != 0) remove_pending(task.pending_read);
    if (task.pending_write != 0) remove_pending(task.pending_write);
    const bool from_device = copy.from_space == Space::kDevice;
    const bool to_device = copy.to_space == Space::kDevice;
    if ((from_device && !still_there(copy.from, task.site)) || (to_device && !still_there(copy.to, task.site))) return;
    std::size_t staged = 0;
    const auto bytes = static_cast<std::size_t>(copy.bytes);
    for_each_run(copy, [&](std::byte* to, const std::byte* from) {
      const std::byte* source = from_device ? space_.real(from) : from;
      if (!task.staged.empty()) {
        source = &task.staged[staged];
        staged += bytes;
      }
      std::memmove(to_device ? space_.real(to) : to, source, bytes);
      if (!to_device) return;
      const std::uint64_t target = offset_of(to);
      if (from_device) {
        space_.copy_initialised(target, offset_of(from), bytes);
      } else {
        space_.set_initialised(target, bytes, true);
      }
    });
  }

  void execute_fill(const Task& task) {
    const Fill& fill = task.fill;
    if (!still_there(fill.memory, task.site)) return;
    const auto width = static_cast<std::size_t>(fill.width);
    for (std::int64_t row = 0; row < fill.count[0]; ++row) {
      std::byte* begin = space_.real(fill.memory) + row * fill.pitch;
      for (std::int64_t i = 0; i < fill.count[1]; ++i)
        std::memcpy(begin + static_cast<std::size_t>(i) * width, fill.value.data(), width);
      space_.set_initialised(offset_of(fill.memory) + static_cast<std::uint64_t>(row * fill.pitch),
                             static_cast<std::uint64_t>(fill.count[1]) * width, true);
    }
  }

  void execute_launch(Task& task) {
    const KernelInfo& info = task.kernel->info();
    // The kernel's view of its parameters: values at their offsets, then the list of their addresses.
    std::byte* block = space_.real(parameters_->begin);
    std::memcpy(block, task.parameters.data(), task.parameters.size());
    const std::size_t list = (task.parameters.size() + 15) & ~std::size_t{15};
    auto* base = static_cast<std::byte*>(space_.address(*parameters_));
    for (std::size_t i = 0; i < task.offsets.size(); ++i) {
      const void* at = base + task.offsets[i];
      std::memcpy(block + list + i * sizeof at, &at, sizeof at);
    }
    // What every argument leads to as constant may not be written.
    std::vector<Allocation*> reached;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
      if (!info.parameters[i].is_pointer) continue;
      const void* value = nullptr;
      std::memcpy(&value, &task.parameters[task.offsets[i]], sizeof value);
      Allocation* memory = space_.find(value);
      if (memory == nullptr || memory->kind != MemoryKind::kGlobal) continue;
      if (!still_there(value, task.site)) return;
      if (info.parameters[i].is_const && std::find(reached.begin(), reached.end(), memory) == reached.end())
        memory->read_only = true;
      if (!info.parameters[i].is_const) memory->read_only = false;
      reached.push_back(memory);
    }
    Run run;
    run.kernel = &info;
    run.names = task.site.names ? task.site.names : task.code->names;
    if (task.code->names && !task.code->names->origin_of_line.empty()) run.names = task.code->names;
    run.entry = task.kernel->entry;
    run.launch = task.launch;
    run.arguments = reinterpret_cast<void* const*>(base + list);
    run.shared_limit = limits_.shared;
    run.holds = task.code->holds;
    Settings settings = settings_;
    settings.races = settings.races || task.code->check_races;
    settings.uninitialised = settings.uninitialised || task.code->check_uninitialised;
    set_running(&executor_);
    std::optional<Error> fault = executor_.run(run, settings);
    set_running(nullptr);
    for (Allocation* memory : reached) memory->read_only = false;
    if (fault) record_fault(std::move(*fault));
  }

  std::uint64_t offset_of(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - space_.base();
  }

  mutable std::mutex mutex_;
  AddressSpace space_;
  Contracts contracts_;
  Executor executor_;
  Settings settings_;
  LibraryHook library_hook_;
  Ledger ledger_;
  std::int64_t calls_left_ = 0;
  std::mt19937_64 random_;
  Allocation* parameters_ = nullptr;
  std::map<void*, Allocation*> live_;
  std::map<void*, std::size_t> pinned_;
  std::vector<EmulatedStream*> streams_;
  std::unique_ptr<EmulatedStream> default_;
  std::unique_ptr<EmulatedStream> null_;
  std::uint64_t sequence_ = 0;
  std::optional<Error> fault_;
};

}  // namespace

std::shared_ptr<Emulator> open() {
  return std::make_shared<Implementation>();
}

}  // namespace sdfg::device::emulated
