// A loaded program: its code, what is needed to call it and to report about it, and the memory its calls use.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <sdfg/error.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/arena.hpp"
#include "runtime/call_error.hpp"
#include "runtime/loader.hpp"

namespace sdfg::runtime {

class DeviceProgram;
struct DevicePart;

struct ProgramInfo {
  std::string name;                    // of the graph, for reports
  std::vector<Error::Place> elements;  // by canonical ordinal: "container 'tmp'", "map 'i, j'" and the user's line
  std::string argument_layout;         // opaque here; the caller compares it before it calls
  std::int64_t workspace_bytes = 0;    // of External containers
  bool debugger = false;               // code is registered with debuggers
};

// Time spent in one element, as reported through the `trace` entry of the ABI.
struct ElementProfile {
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
};

// Thread-safe. Generated code holds a raw pointer to its Program, so a Program must outlive every running call; it
// stays at one address for life.
class Program {
 public:
  // Returns the status of the call, 0 when it succeeded.
  using PackedEntry = std::int32_t (*)(void* const* arguments);
  // Called for each `trace` event, from any thread.
  using TraceSink = std::function<void(std::int32_t ordinal, int thread, std::int64_t begin_ns, std::int64_t end_ns)>;

  // Loads the objects and binds them to a new Program. Throws what load_objects throws, and a load error if an entry is
  // missing.
  static std::shared_ptr<Program> load(std::span<const std::span<const std::uint8_t>> objects, ProgramInfo info);
  static std::shared_ptr<Program> load(std::span<const std::uint8_t> object, ProgramInfo info);
  // Of a program that uses a device (runtime/device_program.hpp); throws what loading kernels throws, too.
  static std::shared_ptr<Program> load(std::span<const std::span<const std::uint8_t>> objects, ProgramInfo info,
                                       DevicePart device);
  static std::shared_ptr<Program> load(std::span<const std::uint8_t> object, ProgramInfo info, DevicePart device);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The raw function pointer: plain C signature of the graph.
  void* entry() const noexcept { return entry_; }
  PackedEntry packed_entry() const noexcept { return packed_; }
  const ProgramInfo& info() const noexcept { return info_; }
  const LoadedCode& code() const noexcept { return *code_; }

  ArenaPool& arenas() noexcept { return arenas_; }
  // Null for a program without a device.
  DeviceProgram* device() noexcept { return device_.get(); }
  // Memory for External containers; not owned. Size 0 unsets it. Not while a call runs.
  void set_workspace(void* memory, std::int64_t bytes) noexcept;
  // Frees the persistent containers; the next call starts with fresh ones. Not while a call runs.
  void reset_persistent() noexcept;

  // One entry per ordinal of info().elements.
  std::vector<ElementProfile> profile() const;
  void reset_profile() noexcept;
  void set_trace_sink(TraceSink sink);

  // Watches whole calls of code that was lowered to be observed. Called on the calling thread, several calls at once
  // from several threads. An Error thrown fails the call; before the call it is not made at all.
  class CallObserver {
   public:
    virtual ~CallObserver() = default;
    // What `end` is to be given.
    virtual std::shared_ptr<void> begin(void* const* arguments) = 0;
    // Results are in host memory. `failed`: the call has reported a failure.
    virtual void end(void* begun, void* const* arguments, bool failed) = 0;
  };
  // Not while a call runs.
  void set_observer(std::shared_ptr<CallObserver> observer) noexcept { observer_ = std::move(observer); }

  // What the ABI entries call.
  struct Access;
  // What `fail` does, for entries that live elsewhere: the first failure of a call is kept, with this thread's cause.
  static void report(lower::CallState* call, lower::FailCode code, std::int32_t ordinal) noexcept;
  // Waits until no other call uses the persistent containers; false after it reported a recursive call.
  static bool hold_instance(lower::CallState* call, std::int32_t ordinal);

 private:
  explicit Program(ProgramInfo info);
  void bind(std::span<const std::span<const std::uint8_t>> objects);

  struct Persistent {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct ProfileSlot {
    std::atomic<std::int64_t> calls{0}, total{0}, min{std::numeric_limits<std::int64_t>::max()}, max{0};
  };

  ProgramInfo info_;
  std::shared_ptr<const LoadedCode> code_;
  std::unique_ptr<DeviceProgram> device_;
  void* entry_ = nullptr;
  PackedEntry packed_ = nullptr;
  ArenaPool arenas_;

  // A call that uses persistent containers holds the instance until it finishes; others wait.
  std::mutex instance_mutex_;
  std::condition_variable instance_free_;
  std::thread::id instance_owner_;
  std::map<std::int32_t, Persistent> persistent_;

  std::atomic<void*> workspace_{nullptr};
  std::atomic<std::int64_t> workspace_bytes_{0};

  std::shared_ptr<CallObserver> observer_;
  std::vector<ProfileSlot> profile_;
  mutable std::mutex sink_mutex_;
  std::shared_ptr<const TraceSink> sink_;
  std::atomic<bool> has_sink_{false};
};

// The device room's part of `finish`: gives back what CallState::device holds. Such a call must also set
// kCallUsesDevice in CallState::flags, so that its entry calls `finish` at all. Set once, before any device code is
// loaded.
inline constexpr std::int32_t kCallUsesDevice = 2;
using DeviceFinish = void (*)(lower::CallState& call) noexcept;
void set_device_finish(DeviceFinish finish) noexcept;

// The runtime's table of lower/abi.hpp; what the loader stores into sdfg_abi.
const void* abi_table() noexcept;

}  // namespace sdfg::runtime
