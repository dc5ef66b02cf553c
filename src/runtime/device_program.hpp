// The device half of a loaded program: its kernels, and what its calls share and keep on the device.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "lower/abi.hpp"
#include "lower/kernel.hpp"
#include "runtime/loader.hpp"
#include "runtime/repeat.hpp"

namespace sdfg::runtime {

// What Program::load needs for a program that uses a device.
struct DevicePart {
  std::shared_ptr<device::Device> device;
  std::vector<lower::Kernel> kernels;  // in the order of lower::DeviceModule; may be empty
  // The kernels' code. CUDA: a cubin, or PTX text. Emulated: the object of the kernel text, compiled with
  // MemoryChecks::kKernel. Only read by load.
  std::vector<std::uint8_t> code;
  std::vector<std::int32_t> origin_of_line;       // of the kernel text: canonical ordinals, -1 where none
  std::vector<std::int32_t> host_origin_of_line;  // of the host text; for reports of checked host code
  bool waits_in_code = false;                     // the architecture has what Kernel::waits needs
  int streams = 0;                                // SDFG_GPU_STREAMS
  bool synchronise = false;                       // SDFG_GPU_SYNC
  std::int64_t pool_max = 0;                      // SDFG_GPU_POOL_MAX
  Toggle graphs = Toggle::kAuto;                  // SDFG_GPU_GRAPHS
  bool check_races = false;                       // of SDFG_CHECK; the emulated device only
  bool check_uninitialised = false;
};

class DeviceProgram;

// The device side of one call. Used by the thread that entered the function; kept by the program for later calls.
//
// All work of a call is ordered as if it were on one stream, the base: the application's, or the device's default
// stream. Other streams of the plan wait for the base when they are first used, and the base waits for them at the end;
// so whoever goes on with the base stream finds everything done.
class DeviceCall {
 public:
  explicit DeviceCall(DeviceProgram& program) : program_(program) {}
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  DeviceProgram& program() noexcept { return program_; }
  device::Device& device() noexcept;

  // Throws what Device::enter and adopt_stream throw.
  void begin();
  // Waits for what the host sees, gives back what the call left behind, and returns the call's first fault.
  std::optional<Error> finish() noexcept;

  // The stream of a number of the plan; -1 is the null stream.
  device::Stream& stream(std::int32_t number);
  device::Event& event(std::int32_t number);

  void* allocate(std::int32_t stream, std::int64_t bytes, std::int32_t ordinal);
  void release(std::int32_t stream, void* memory);
  void* pinned_allocate(std::int64_t bytes, std::int32_t ordinal);
  void pinned_release(void* memory);
  void copy(std::int32_t stream, const lower::DeviceCopy& copy, std::int32_t ordinal);
  void launch(std::int32_t stream, std::int32_t kernel, const lower::DeviceLaunch& launch, void* const* arguments);
  void call_library(std::int32_t stream, std::int32_t function, void* const* arguments, std::int32_t ordinal);
  void synchronise(std::int32_t stream, std::int32_t ordinal);

  // Between these, launches are kept instead of queued, if repeat_begin returns fewer iterations than it was given.
  std::int64_t repeat_begin(std::int32_t stream, std::int64_t trips, std::int32_t ordinal);
  void repeat_end();

 private:
  struct Slot {
    std::unique_ptr<device::Stream> stream;
    std::unique_ptr<device::Event> joint;
    bool used = false;     // by this call
    bool pending = false;  // the host waits for it before the call returns
  };
  struct Memory {
    void* address = nullptr;
    std::int32_t stream = 0;
  };
  struct Repeat {
    std::int32_t stream = 0;
    std::int64_t trips = 0;
    std::int32_t ordinal = -1;
    std::vector<KeptLaunch> launches;
  };
  static constexpr std::size_t kRemembered = 16;

  Slot& slot(std::int32_t number);
  std::size_t index_of(std::int32_t number) const noexcept;
  Error explain(const Error& error) const;

  DeviceProgram& program_;
  bool entered_ = false;
  device::Stream* base_ = nullptr;
  bool base_pending_ = false;
  std::unique_ptr<device::Stream> adopted_;  // of the application's stream, as long as it stays the same
  void* adopted_native_ = nullptr;
  std::vector<Slot> slots_;  // [0] is never made: it is the base
  std::unique_ptr<device::Event> fork_;
  std::vector<std::unique_ptr<device::Event>> events_;
  std::vector<Memory> memory_;
  std::vector<void*> pinned_;
  // The last launches, for faults that show later.
  std::array<std::int32_t, kRemembered> ring_{};
  std::size_t launches_ = 0;
  std::optional<Repeat> repeat_;  // of the loop whose first iteration runs
  Repeater repeater_;
};

class DeviceProgram {
 public:
  // Loads the kernels. `program` is what generated code knows as sdfg_program. Throws Error(kLoad) and what the device
  // throws.
  DeviceProgram(DevicePart part, const std::string& graph, const std::vector<Error::Place>& elements, void* program);
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  device::Device& device() noexcept { return *device_; }
  const device::Names* host_names() const noexcept { return host_names_.get(); }
  int streams() const noexcept { return streams_; }
  bool synchronises() const noexcept { return synchronise_; }
  Toggle graphs() const noexcept { return graphs_; }

  device::Kernel& kernel(std::int32_t index) { return *kernels_[static_cast<std::size_t>(index)]; }
  std::size_t kernel_count() const noexcept { return kernels_.size(); }
  const device::Site& kernel_site(std::int32_t index) const { return sites_[static_cast<std::size_t>(index)]; }
  device::Site site(std::int32_t ordinal) const { return {names_, ordinal}; }

  // The state for one call; one kept from an earlier call costs an atomic exchange.
  DeviceCall* acquire();
  void give_back(DeviceCall* call) noexcept;

  // Memory that stays between calls, zeroed on the stream when it is new or of another size. While the call holds the
  // program's instance.
  void* persistent(device::Stream& stream, std::int32_t ordinal, std::int64_t bytes, bool zero);
  void reset_persistent() noexcept;

  // The stream that calls use as their base; null: the device's default. Not while a call runs.
  void set_stream(void* native) noexcept { stream_ = native; }
  void* stream() const noexcept { return stream_; }

 private:
  struct Persistent {
    void* memory = nullptr;
    std::int64_t bytes = 0;
  };

  std::shared_ptr<device::Device> device_;
  std::shared_ptr<device::Names> names_;
  std::shared_ptr<device::Names> host_names_;
  std::unique_ptr<device::Module> module_;
  std::vector<device::Kernel*> kernels_;
  std::vector<device::Site> sites_;
  int streams_ = 0;
  bool synchronise_ = false;
  Toggle graphs_ = Toggle::kAuto;
  void* stream_ = nullptr;
  std::atomic<DeviceCall*> spare_{nullptr};
  std::mutex spares_mutex_;
  std::vector<std::unique_ptr<DeviceCall>> spares_;
  std::map<std::int32_t, Persistent> persistent_;
};

// The application's stream for calls of this thread (see <sdfg/device.hpp>): overrides the program's.
struct ThreadStream {
  bool set = false;
  void* native = nullptr;
};
ThreadStream& thread_stream() noexcept;

}  // namespace sdfg::runtime
