// What is queued on the emulated device: tasks, the streams that hold them, and the handles of events and modules.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "device/emulated/address_space.hpp"
#include "device/emulated/executor.hpp"

namespace sdfg::device::emulated {

struct EmulatedStream;

struct EmulatedEvent final : Event {
  std::uint64_t recorded = 0;        // how often a record was queued
  std::uint64_t completed = 0;       // the last of these that has run
  EmulatedStream* stream = nullptr;  // of the last record
};

struct ModuleCode;

struct EmulatedKernel final : Kernel {
  EmulatedKernel(KernelInfo info, Entry e, std::weak_ptr<ModuleCode> c)
      : Kernel(std::move(info)), entry(e), code(std::move(c)) {}
  Entry entry;
  std::weak_ptr<ModuleCode> code;
};

// What a module's queued launches keep.
struct ModuleCode {
  std::deque<EmulatedKernel> kernels;
  std::shared_ptr<const Names> names;
  std::shared_ptr<const void> keep_alive;
  std::function<bool(const void*, std::uint64_t)> holds;
  bool check_races = false;
  bool check_uninitialised = false;
};

struct EmulatedModule final : Module {
  std::shared_ptr<ModuleCode> code;
  // Launches find it through their kernel: filled once, before the module is handed out.
  std::size_t size() const noexcept override { return code->kernels.size(); }
  Kernel& kernel(std::size_t index) noexcept override { return code->kernels[index]; }
};

enum class TaskKind : std::uint8_t { kCopy, kFill, kLaunch, kRecord, kWait, kRelease };

struct Task {
  TaskKind kind = TaskKind::kCopy;
  std::uint64_t sequence = 0;
  Site site;
  Copy copy;
  std::vector<std::byte> staged;  // pageable source, read when the copy was queued
  std::uint64_t pending_read = 0;
  std::uint64_t pending_write = 0;
  Fill fill;
  EmulatedKernel* kernel = nullptr;
  std::shared_ptr<ModuleCode> code;
  Launch launch;
  std::vector<std::byte> parameters;  // each at its offset
  std::vector<std::uint32_t> offsets;
  std::shared_ptr<EmulatedEvent> event;
  std::uint64_t generation = 0;
  Allocation* memory = nullptr;
};

struct EmulatedStream final : Stream {
  explicit EmulatedStream(std::function<void(EmulatedStream&)> c) : closed(std::move(c)) {}
  ~EmulatedStream() override { closed(*this); }
  void* native() const noexcept override { return const_cast<EmulatedStream*>(this); }
  std::deque<Task> queue;
  std::optional<std::vector<Task>> recorded;  // set while the stream is recorded
  std::function<void(EmulatedStream&)> closed;
};

// Its launches are queued as copies of these.
struct EmulatedGraph final : Graph {
  explicit EmulatedGraph(std::vector<Task> t) : tasks(std::move(t)) {}
  std::vector<Task> tasks;
};

// The handle that callers get; queued work shares the event behind it.
struct EventHandle final : Event {
  std::shared_ptr<EmulatedEvent> event = std::make_shared<EmulatedEvent>();
};

// An application's stream is one that this device made: another handle to it.
struct AdoptedStream final : Stream {
  explicit AdoptedStream(EmulatedStream& s) : stream(s) {}
  void* native() const noexcept override { return stream.native(); }
  EmulatedStream& stream;
};

inline EmulatedStream& stream_of(Stream& stream) {
  if (auto* adopted = dynamic_cast<AdoptedStream*>(&stream)) return adopted->stream;
  return static_cast<EmulatedStream&>(stream);
}

// Calls `f(to, from)` for every run of a copy.
template <class F>
void for_each_run(const Copy& copy, F&& f) {
  for (std::int64_t i = 0; i < copy.count[0]; ++i) {
    for (std::int64_t j = 0; j < copy.count[1]; ++j) {
      f(static_cast<std::byte*>(copy.to) + i * copy.to_stride[0] + j * copy.to_stride[1],
        static_cast<const std::byte*>(copy.from) + i * copy.from_stride[0] + j * copy.from_stride[1]);
    }
  }
}

inline std::int64_t total_bytes(const Copy& copy) {
  return copy.bytes * copy.count[0] * copy.count[1];
}

}  // namespace sdfg::device::emulated
