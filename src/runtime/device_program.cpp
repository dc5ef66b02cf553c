// Loading of kernels, and what a call does on the device.
#include "runtime/device_program.hpp"

#include <algorithm>
#include <utility>

#include "device/emulated/emulator.hpp"
#include "runtime/call_error.hpp"
#include "runtime/program.hpp"

namespace sdfg::runtime {

namespace {

device::KernelInfo info_of(const lower::Kernel& kernel) {
  device::KernelInfo info;
  info.name = kernel.name;
  info.ordinal = kernel.ordinal;
  info.max_threads = kernel.max_threads;
  info.shared_bytes = kernel.shared_bytes;
  for (const lower::KernelParameter& parameter : kernel.parameters) {
    info.parameters.push_back(
        {parameter.bytes, parameter.is_pointer, parameter.is_const, parameter.is_restrict, parameter.ordinal});
  }
  return info;
}

device::Space space_of(std::int32_t space) {
  switch (static_cast<lower::MemorySpace>(space)) {
    case lower::MemorySpace::kHost: return device::Space::kHost;
    case lower::MemorySpace::kPinned: return device::Space::kPinned;
    case lower::MemorySpace::kDevice: return device::Space::kDevice;
  }
  return device::Space::kHost;
}

}  // namespace

ThreadStream& thread_stream() noexcept {
  static thread_local ThreadStream current;
  return current;
}

DeviceProgram::DeviceProgram(DevicePart part, const std::string& graph, const std::vector<Error::Place>& elements,
                             void* program)
    : device_(std::move(part.device)),
      names_(std::make_shared<device::Names>()),
      streams_(part.streams),
      synchronise_(part.synchronise),
      graphs_(part.graphs) {
  names_->graph = graph;
  names_->elements = elements;
  host_names_ = std::make_shared<device::Names>(*names_);
  names_->origin_of_line = std::move(part.origin_of_line);
  host_names_->origin_of_line = std::move(part.host_origin_of_line);
  const device::Device::Scope scope(*device_);
  device_->set_pool_cap(part.pool_max);
  if (part.kernels.empty()) return;
  device::ModuleImage image;
  image.names = names_;
  image.check_races = part.check_races;
  image.check_uninitialised = part.check_uninitialised;
  for (const lower::Kernel& kernel : part.kernels) {
    image.kernels.push_back(info_of(kernel));
    image.kernels.back().waits = kernel.waits && part.waits_in_code;
    sites_.push_back({names_, kernel.ordinal});
  }
  image.binary = part.code;
  if (device_->backend() == device::Backend::kEmulated) {
    const std::span<const std::uint8_t> object(part.code);
    LoadSlots slots;
    slots.abi = abi_table();
    slots.program = program;
    slots.emulator = device::emulated::table();
    const std::shared_ptr<const LoadedCode> code = load_objects({&object, 1}, slots);
    for (const lower::Kernel& kernel : part.kernels) {
      void* entry = code->find(kernel.name + "_run");
      if (entry == nullptr) {
        throw Error(ErrorClass::kLoad,
                    "the device code of graph '" + graph + "' has no entry for kernel '" + kernel.name + "'");
      }
      image.entries.push_back(reinterpret_cast<void (*)(void* const*)>(entry));
    }
    image.keep_alive = code;
    image.holds = [loaded = code.get()](const void* address, std::uint64_t bytes) {
      return loaded->holds(address, bytes);
    };
  }
  module_ = device_->load_module(image);
  for (std::size_t i = 0; i < module_->size(); ++i) kernels_.push_back(&module_->kernel(i));
}

DeviceProgram::~DeviceProgram() {
  delete spare_.exchange(nullptr);
  spares_.clear();
  reset_persistent();
  try {
    const device::Device::Scope scope(*device_);
    module_.reset();
  } catch (const Error&) {
    // The device is gone, and the module with it.
  }
}

DeviceCall* DeviceProgram::acquire() {
  if (DeviceCall* spare = spare_.exchange(nullptr, std::memory_order_acquire)) return spare;
  {
    const std::lock_guard lock(spares_mutex_);
    if (!spares_.empty()) {
      DeviceCall* spare = spares_.back().release();
      spares_.pop_back();
      return spare;
    }
  }
  return new DeviceCall(*this);
}

void DeviceProgram::give_back(DeviceCall* call) noexcept {
  DeviceCall* none = nullptr;
  if (spare_.compare_exchange_strong(none, call, std::memory_order_release)) return;
  const std::lock_guard lock(spares_mutex_);
  try {
    spares_.emplace_back(call);
  } catch (...) {
    delete call;
  }
}

void* DeviceProgram::persistent(device::Stream& stream, std::int32_t ordinal, std::int64_t bytes, bool zero) {
  Persistent& kept = persistent_[ordinal];
  if (kept.memory != nullptr && kept.bytes == bytes) return kept.memory;
  if (kept.memory != nullptr) warn_of_new_size(names_->elements, names_->graph, ordinal);
  device_->release(stream, std::exchange(kept.memory, nullptr));
  kept.memory = device_->allocate(stream, bytes, site(ordinal));
  kept.bytes = bytes;
  if (zero && bytes > 0) {
    device::Fill fill;
    fill.memory = kept.memory;
    fill.count = {1, bytes};
    device_->fill(stream, fill, site(ordinal));
  }
  return kept.memory;
}

void DeviceProgram::reset_persistent() noexcept {
  if (persistent_.empty()) return;
  try {
    const device::Device::Scope scope(*device_);
    for (auto& [ordinal, kept] : persistent_) device_->release(device_->default_stream(), kept.memory);
  } catch (...) {
    // The device is gone, and the memory with it.
  }
  persistent_.clear();
}

DeviceCall::~DeviceCall() {
  try {
    const device::Device::Scope scope(device());
    repeater_.clear();
    events_.clear();
    fork_.reset();
    slots_.clear();
    adopted_.reset();
  } catch (...) {
  }
}

device::Device& DeviceCall::device() noexcept {
  return program_.device();
}

void DeviceCall::begin() {
  device::Device& on = device();
  entered_ = on.enter();
  const ThreadStream& thread = thread_stream();
  const bool given = thread.set || program_.stream() != nullptr;
  if (!given) {
    base_ = program_.streams() < 0 ? &on.null_stream() : &on.default_stream();
  } else {
    void* native = thread.set ? thread.native : program_.stream();
    if (native == nullptr) {
      base_ = &on.null_stream();
    } else {
      if (!adopted_ || adopted_native_ != native) adopted_ = on.adopt_stream(native);
      adopted_native_ = native;
      base_ = adopted_.get();
    }
  }
  if (on.backend() == device::Backend::kEmulated) device::emulated::Emulator::set_host_names(program_.host_names());
}

std::size_t DeviceCall::index_of(std::int32_t number) const noexcept {
  const int streams = program_.streams();
  if (number <= 0 || streams < 0) return 0;
  return streams == 0 ? static_cast<std::size_t>(number) : static_cast<std::size_t>(number % streams);
}

DeviceCall::Slot& DeviceCall::slot(std::int32_t number) {
  const std::size_t index = index_of(number);
  if (index >= slots_.size()) slots_.resize(index + 1);
  Slot& wanted = slots_[index];
  if (wanted.used) return wanted;
  device::Device& on = device();
  if (!wanted.stream) wanted.stream = on.make_stream();
  if (!wanted.joint) wanted.joint = on.make_event();
  if (!fork_) fork_ = on.make_event();
  on.record(*fork_, *base_);
  on.wait(*wanted.stream, *fork_);
  wanted.used = true;
  return wanted;
}

device::Stream& DeviceCall::stream(std::int32_t number) {
  if (repeat_) throw Error(ErrorClass::kInternal, "a loop whose launches are repeated does other work of the device");
  if (number < 0) return device().null_stream();
  return index_of(number) == 0 ? *base_ : *slot(number).stream;
}

device::Event& DeviceCall::event(std::int32_t number) {
  const auto index = static_cast<std::size_t>(std::max(number, 0));
  if (index >= events_.size()) events_.resize(index + 1);
  if (!events_[index]) events_[index] = device().make_event();
  return *events_[index];
}

void* DeviceCall::allocate(std::int32_t number, std::int64_t bytes, std::int32_t ordinal) {
  memory_.reserve(memory_.size() + 1);  // so that nothing is lost when this fails
  void* memory = device().allocate(stream(number), bytes, program_.site(ordinal));
  memory_.push_back({memory, number});
  return memory;
}

void DeviceCall::release(std::int32_t number, void* memory) {
  const auto found =
      std::find_if(memory_.rbegin(), memory_.rend(), [&](const Memory& m) { return m.address == memory; });
  if (found != memory_.rend()) memory_.erase(std::next(found).base());
  device().release(stream(number), memory);
}

void* DeviceCall::pinned_allocate(std::int64_t bytes, std::int32_t ordinal) {
  pinned_.reserve(pinned_.size() + 1);
  void* memory = device().pinned_allocate(bytes, program_.site(ordinal));
  pinned_.push_back(memory);
  return memory;
}

void DeviceCall::pinned_release(void* memory) {
  std::erase(pinned_, memory);
  device().pinned_release(memory);
}

void DeviceCall::copy(std::int32_t number, const lower::DeviceCopy& copy, std::int32_t ordinal) {
  device::Copy region;
  region.to = copy.to;
  region.from = copy.from;
  region.to_space = space_of(copy.to_space);
  region.from_space = space_of(copy.from_space);
  region.bytes = copy.bytes;
  region.count = {copy.count[0], copy.count[1]};
  region.to_stride = {copy.to_stride[0], copy.to_stride[1]};
  region.from_stride = {copy.from_stride[0], copy.from_stride[1]};
  if (region.empty()) return;
  device::Stream& on = stream(number);
  device().copy(on, region, program_.site(ordinal));
  // The caller sees what is written to the host, and may overwrite pinned memory that is still read.
  if (region.to_space == device::Space::kDevice && region.from_space != device::Space::kPinned) return;
  if (number >= 0 && index_of(number) != 0) {
    slots_[index_of(number)].pending = true;
  } else {
    base_pending_ = true;
  }
}

void DeviceCall::launch(std::int32_t number, std::int32_t kernel, const lower::DeviceLaunch& launch,
                        void* const* arguments) {
  device::Launch shape;
  shape.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  shape.block = {launch.block[0], launch.block[1], launch.block[2]};
  shape.shared = launch.shared;
  shape.cooperative = launch.cooperative != 0;
  if (shape.empty()) return;
  if (kernel < 0 || static_cast<std::size_t>(kernel) >= program_.kernel_count()) {
    throw Error(ErrorClass::kInternal, "the program launches kernel " + std::to_string(kernel) + " of " +
                                           std::to_string(program_.kernel_count()));
  }
  ring_[launches_++ % kRemembered] = kernel;
  if (repeat_) {
    if (number != repeat_->stream)
      throw Error(ErrorClass::kInternal, "a loop whose launches are repeated uses several streams");
    repeat_->launches.emplace_back(kernel, shape, program_.kernel(kernel).info(), arguments);
    return;
  }
  device::Stream& on = stream(number);
  const device::Site& site = program_.kernel_site(kernel);
  device().launch(on, program_.kernel(kernel), shape, arguments, site);
  if (program_.synchronises()) device().synchronise(on, site);
}

void DeviceCall::call_library(std::int32_t number, std::int32_t function, void* const* arguments,
                              std::int32_t ordinal) {
  if (function < 0 || function >= kDeviceFunctionCount || repeat_)
    throw Error(ErrorClass::kInternal, "a program calls function " + std::to_string(function) + " of a device library");
  device::LibraryCall call;
  call.function = static_cast<DeviceFunction>(function);
  call.numbers = static_cast<const std::int64_t*>(arguments[0]);
  call.scalars = static_cast<const double*>(arguments[1]);
  call.operands = arguments + 2;
  device::Stream& on = stream(number);
  device().call_library(on, call, program_.site(ordinal));
  if (program_.synchronises()) device().synchronise(on, program_.site(ordinal));
}

std::int64_t DeviceCall::repeat_begin(std::int32_t number, std::int64_t trips, std::int32_t ordinal) {
  if (trips < 2 || program_.graphs() == Toggle::kOff || program_.synchronises()) return trips;
  repeat_.emplace(Repeat{number, trips, ordinal, {}});
  return 1;
}

void DeviceCall::repeat_end() {
  if (!repeat_) return;
  Repeat repeat = *std::exchange(repeat_, std::nullopt);
  repeater_.repeat(program_, stream(repeat.stream), std::move(repeat.launches), repeat.trips, repeat.ordinal);
}

void DeviceCall::synchronise(std::int32_t number, std::int32_t ordinal) {
  const std::size_t index = number < 0 ? 0 : index_of(number);
  if (index != 0 && (index >= slots_.size() || !slots_[index].used)) return;  // it has no work of this call
  try {
    device().synchronise(stream(number), program_.site(ordinal));
  } catch (const Error& error) {
    throw explain(error);
  }
  if (index != 0) {
    slots_[index].pending = false;
  } else if (number >= 0) {
    base_pending_ = false;
  }
}

// A fault that shows at a wait: which launches may have caused it. The emulator says itself which one did.
Error DeviceCall::explain(const Error& error) const {
  const bool knows = program_.synchronises() || launches_ == 0 ||
                     const_cast<DeviceProgram&>(program_).device().backend() == device::Backend::kEmulated;
  const bool device_fault =
      error.error_class() == ErrorClass::kLaunch || error.error_class() == ErrorClass::kDeviceLost;
  if (knows || !device_fault) return error;
  std::vector<Error::Place> places = error.places();
  std::string names;
  std::vector<std::int32_t> seen;
  for (std::size_t i = 0; i < std::min(launches_, kRemembered); ++i) {
    const std::int32_t kernel = ring_[(launches_ - 1 - i) % kRemembered];
    if (std::find(seen.begin(), seen.end(), kernel) != seen.end()) continue;
    seen.push_back(kernel);
    const device::Site& site = program_.kernel_site(kernel);
    const std::string& name = const_cast<DeviceProgram&>(program_).kernel(kernel).info().name;
    names += (names.empty() ? "'" : ", '") + name + "'";
    if (site.ordinal >= 0) places.push_back(site.names->place(site.ordinal));
  }
  return {error.error_class(), error.message() + "; the kernels launched last, newest first: " + names,
          std::move(places), error.hint().empty() ? "SDFG_GPU_SYNC=1 names the kernel at fault" : error.hint()};
}

std::optional<Error> DeviceCall::finish() noexcept {
  std::optional<Error> first;
  device::Device& on = device();
  const bool emulated = on.backend() == device::Backend::kEmulated;
  repeat_.reset();  // of a call that failed inside of a loop
  const auto guarded = [&](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      if (!first) first = explain(error);
    } catch (const std::exception& error) {
      if (!first) first = Error(ErrorClass::kResource, error.what());
    }
  };
  if (base_ != nullptr) {
    for (const Memory& left : memory_) guarded([&] { on.release(stream(left.stream), left.address); });
    for (Slot& used : slots_) {
      if (!used.used) continue;
      guarded([&] {
        on.record(*used.joint, *used.stream);
        on.wait(*base_, *used.joint);
        // Pending work of any stream is before the joint of the base.
        base_pending_ = base_pending_ || used.pending;
      });
      used.used = used.pending = false;
    }
    // The emulator runs everything now, so that faults belong to the call that caused them.
    if (base_pending_ || !pinned_.empty()) guarded([&] { on.synchronise(*base_); });
    if (emulated) static_cast<device::emulated::Emulator&>(on).drain();
    for (void* left : pinned_) on.pinned_release(left);
    if (std::optional<Error> fault = on.take_fault(); fault && !first) first = explain(*fault);
    if (emulated) {
      if (std::optional<Error> fault = device::emulated::Emulator::take_host_fault(); fault && !first) first = fault;
      device::emulated::Emulator::set_host_names(nullptr);
    }
  }
  memory_.clear();
  pinned_.clear();
  base_ = nullptr;
  base_pending_ = false;
  launches_ = 0;
  if (std::exchange(entered_, false)) on.leave();
  return first;
}

}  // namespace sdfg::runtime
