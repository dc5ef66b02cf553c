// Loading of programs and the entries of the runtime ABI.
#include "runtime/program.hpp"

#include <time.h>

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "device/emulated/emulator.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_program.hpp"
#include "runtime/libraries.hpp"
#include "runtime/process.hpp"
#include "runtime/streams.hpp"
#include "runtime/threads.hpp"

namespace sdfg::runtime {

using lower::CallState;
using lower::FailCode;
using sdfg_call = CallState;
using sdfg_copy = lower::DeviceCopy;
using sdfg_launch = lower::DeviceLaunch;

namespace {

// Bits of CallState::flags.
constexpr std::int32_t kHoldsInstance = 1;

// CallState::reserved[0]: the first failure of the call, owned.
constexpr std::size_t kFailureSlot = 0;
// CallState::reserved[1]: what the observer keeps of the call, a std::shared_ptr<void>, owned.
constexpr std::size_t kObservedSlot = 1;

constexpr int kMostValues = 8;

std::atomic<DeviceFinish> device_finish{nullptr};

Program* program_of(const CallState* call) {
  return static_cast<Program*>(call->program);
}

}  // namespace

// The ABI entries, with access to the Program behind a call. None lets an exception out.
struct Program::Access : DeviceCalls {
  static void record(CallState* call, FailCode code, std::int32_t ordinal, std::initializer_list<std::int64_t> values) {
    fail(call, static_cast<std::int32_t>(code), ordinal, values.begin(), static_cast<std::int32_t>(values.size()));
  }

  static void fail(CallState* call, int32_t code, int32_t ordinal, const int64_t* values, int32_t count) {
    std::int32_t expected = 0;
    const std::atomic_ref<std::int32_t> status(call->status);
    if (!status.compare_exchange_strong(expected, code, std::memory_order_acq_rel)) {
      take_cause();
      return;
    }
    try {
      auto failure = std::make_unique<CallFailure>();
      failure->code = static_cast<FailCode>(code);
      failure->ordinal = ordinal;
      if (values != nullptr && count > 0) failure->values.assign(values, values + std::min(count, kMostValues));
      failure->cause = take_cause();
      std::atomic_ref<void*>(call->reserved[kFailureSlot]).store(failure.release(), std::memory_order_release);
    } catch (...) {
      return;  // no memory for the details; the code is in the status
    }
  }

  static Arena* arena_of(CallState* call) {
    const std::atomic_ref<void*> slot(call->arena);
    void* current = slot.load(std::memory_order_acquire);
    if (current != nullptr) return static_cast<Arena*>(current);
    // The first allocation may happen in several threads of a parallel region at once.
    std::unique_ptr<Arena> fresh = program_of(call)->arenas_.acquire();
    if (!fresh) return nullptr;
    if (slot.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) return fresh.release();
    program_of(call)->arenas_.give_back(std::move(fresh));
    return static_cast<Arena*>(current);
  }

  static void* allocate(CallState* call, int64_t bytes, int64_t alignment, int32_t ordinal) {
    if (in_forked_child()) {
      record(call, FailCode::kForkedChild, ordinal, {});
      return nullptr;
    }
    if (bytes < 0) {
      record(call, FailCode::kNegativeExtent, ordinal, {-2, bytes});
      return nullptr;
    }
    void* memory = nullptr;
    try {
      if (Arena* arena = arena_of(call)) {
        memory = arena->allocate(thread_index(), static_cast<std::size_t>(bytes),
                                 alignment > 0 ? static_cast<std::size_t>(alignment) : kArenaAlignment);
      }
    } catch (...) {
      memory = nullptr;
    }
    if (memory == nullptr) record(call, FailCode::kOutOfMemory, ordinal, {bytes});
    return memory;
  }

  static void release(CallState* call, void* memory) {
    if (memory == nullptr) return;
    auto* arena = static_cast<Arena*>(std::atomic_ref<void*>(call->arena).load(std::memory_order_acquire));
    if (arena != nullptr) arena->release(thread_index(), memory);
  }

  // It may report a failure of the call's device work.
  static void finish_device(CallState* call) {
    if (call->device == nullptr) return;
    if (const DeviceFinish device = device_finish.load(std::memory_order_acquire)) device(*call);
    call->device = nullptr;
  }

  template <typename Watch>
  static void observed(CallState* call, Watch watch) {
    try {
      watch();
    } catch (const Error& e) {
      set_cause(e);
      record(call, FailCode::kObserver, -1, {});
    } catch (const std::exception& e) {
      set_cause({ErrorClass::kInternal, e.what()});
      record(call, FailCode::kObserver, -1, {});
    }
  }

  static void call_begin(CallState* call, void* const* arguments) {
    CallObserver* observer = program_of(call)->observer_.get();
    if (observer == nullptr) return;
    observed(call, [&] {
      call->reserved[kObservedSlot] = std::make_unique<std::shared_ptr<void>>(observer->begin(arguments)).release();
    });
  }

  static void call_end(CallState* call, void* const* arguments) {
    finish_device(call);
    const std::unique_ptr<std::shared_ptr<void>> begun(
        static_cast<std::shared_ptr<void>*>(std::exchange(call->reserved[kObservedSlot], nullptr)));
    if (begun) {
      observed(call, [&] { program_of(call)->observer_->end(begun->get(), arguments, call->status != 0); });
    }
    finish(call);
  }

  static void finish(CallState* call) {
    Program* program = program_of(call);
    finish_device(call);
    if (call->status != 0) {
      const std::unique_ptr<CallFailure> failure(
          static_cast<CallFailure*>(std::exchange(call->reserved[kFailureSlot], nullptr)));
      try {
        CallFailure what = failure ? std::move(*failure) : CallFailure{static_cast<FailCode>(call->status), -1, {}, {}};
        Error error = describe(what, program->info_.elements, program->info_.name);
        set_last_error(std::move(error), std::move(what));
      } catch (...) {
        // No memory for the text: the entry's status is lost, which is all that could be said.
      }
    }
    if (call->arena != nullptr) program->arenas_.give_back(std::unique_ptr<Arena>(static_cast<Arena*>(call->arena)));
    if ((call->flags & kHoldsInstance) != 0) {
      const std::lock_guard lock(program->instance_mutex_);
      program->instance_owner_ = {};
      program->instance_free_.notify_one();
    }
    call->arena = nullptr;
    call->flags = 0;
  }

  static bool hold_instance(CallState* call, std::int32_t ordinal) {
    if ((call->flags & kHoldsInstance) != 0) return true;
    Program* program = program_of(call);
    std::unique_lock lock(program->instance_mutex_);
    if (program->instance_owner_ == std::this_thread::get_id()) {
      lock.unlock();
      record(call, FailCode::kRecursion, ordinal, {});
      return false;
    }
    program->instance_free_.wait(lock, [&] { return program->instance_owner_ == std::thread::id{}; });
    program->instance_owner_ = std::this_thread::get_id();
    call->flags |= kHoldsInstance;
    return true;
  }

  // Called outside parallel regions only: a call's first persistent container decides that it holds the instance.
  static void* persistent(CallState* call, int32_t ordinal, int64_t bytes, int64_t alignment, int32_t zero) {
    if (bytes < 0) {
      record(call, FailCode::kNegativeExtent, ordinal, {-2, bytes});
      return nullptr;
    }
    if (!hold_instance(call, ordinal)) return nullptr;
    try {
      auto& slot = program_of(call)->persistent_[ordinal];
      const auto wanted = std::max<std::size_t>(static_cast<std::size_t>(bytes), 1);
      if (slot.memory != nullptr && slot.bytes == wanted) return slot.memory;
      // Another size: the container's shape changed with the symbols of this call, so its old elements mean nothing.
      if (slot.memory != nullptr)
        warn_of_new_size(program_of(call)->info_.elements, program_of(call)->info_.name, ordinal);
      unmap_pages(slot.memory, slot.bytes);
      slot = {};
      slot.memory = map_pages(wanted, alignment > 0 ? static_cast<std::size_t>(alignment) : kArenaAlignment);
      if (slot.memory != nullptr) {
        slot.bytes = wanted;
        static_cast<void>(zero);  // fresh pages are zero
        return slot.memory;
      }
    } catch (...) {
    }
    record(call, FailCode::kOutOfMemory, ordinal, {bytes});
    return nullptr;
  }

  static void* external(CallState* call, int32_t ordinal, int64_t offset, int64_t bytes) {
    const Program* program = program_of(call);
    void* base = program->workspace_.load(std::memory_order_acquire);
    const std::int64_t available = program->workspace_bytes_.load(std::memory_order_acquire);
    std::int64_t end = 0;
    if (bytes < 0) {
      record(call, FailCode::kNegativeExtent, ordinal, {-2, bytes});
      return nullptr;
    }
    if (offset < 0 || __builtin_add_overflow(offset, bytes, &end)) {
      record(call, FailCode::kOverflow, ordinal, {});
      return nullptr;
    }
    if (base == nullptr || end > available) {
      record(call, FailCode::kWorkspace, ordinal, {end, base == nullptr ? 0 : available});
      return nullptr;
    }
    return static_cast<std::byte*>(base) + offset;
  }

  static void* library(CallState* call, int32_t which, const char* symbol) {
    try {
      return library_symbol(static_cast<lower::HostLibrary>(which), symbol);
    } catch (const Error& error) {
      set_cause(error);
    } catch (...) {
    }
    record(call, FailCode::kLibrary, -1, {which});
    return nullptr;
  }

  static int32_t thread_index() { return runtime::thread_index(); }
  static int32_t thread_count() { return runtime::thread_count(); }

  static void* stream_make(CallState* call, int64_t element_bytes, int64_t capacity) {
    if (capacity < 0) {  // generated code has checked it, and named the stream
      record(call, FailCode::kNegativeCapacity, -1, {capacity});
      return nullptr;
    }
    if (element_bytes >= 0) {
      void* stream =
          new (std::nothrow) StreamQueue(static_cast<std::size_t>(element_bytes), static_cast<std::size_t>(capacity));
      if (stream != nullptr) return stream;
    }
    record(call, FailCode::kOutOfMemory, -1, {element_bytes});
    return nullptr;
  }

  static void stream_free(CallState*, void* stream) { delete static_cast<StreamQueue*>(stream); }

  static int32_t stream_push(CallState* call, void* stream, const void* value) {
    auto* queue = static_cast<StreamQueue*>(stream);
    if (queue == nullptr) return 0;
    if (queue->push(value)) return 1;
    if (!queue->bounded())
      record(call, FailCode::kOutOfMemory, -1, {static_cast<std::int64_t>(queue->element_bytes())});
    return 0;
  }

  static int32_t stream_pop(CallState*, void* stream, void* value) {
    auto* queue = static_cast<StreamQueue*>(stream);
    return queue != nullptr && queue->pop(value) ? 1 : 0;
  }

  static int64_t stream_size(void* stream) {
    auto* queue = static_cast<StreamQueue*>(stream);
    return queue != nullptr ? static_cast<std::int64_t>(queue->size()) : 0;
  }

  static int64_t clock() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  }

  static void trace(CallState* call, int32_t ordinal, int64_t begin, int64_t end) {
    Program* program = program_of(call);
    if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < program->profile_.size()) {
      ProfileSlot& slot = program->profile_[static_cast<std::size_t>(ordinal)];
      const std::int64_t spent = end - begin;
      slot.calls.fetch_add(1, std::memory_order_relaxed);
      slot.total.fetch_add(spent, std::memory_order_relaxed);
      std::int64_t seen = slot.min.load(std::memory_order_relaxed);
      while (spent < seen && !slot.min.compare_exchange_weak(seen, spent, std::memory_order_relaxed)) {
      }
      seen = slot.max.load(std::memory_order_relaxed);
      while (spent > seen && !slot.max.compare_exchange_weak(seen, spent, std::memory_order_relaxed)) {
      }
    }
    if (!program->has_sink_.load(std::memory_order_acquire)) return;
    std::shared_ptr<const TraceSink> sink;
    {
      const std::lock_guard lock(program->sink_mutex_);
      sink = program->sink_;
    }
    try {
      if (sink) (*sink)(ordinal, runtime::thread_index(), begin, end);
    } catch (...) {
      return;  // a report must not end the call
    }
  }
};

namespace {

// The same struct that abi_prelude() declares in generated text.
struct AbiTable {
#define SDFG_MEMBER(result, name, parameters) result(*name) parameters;
  SDFG_ABI_ENTRIES(SDFG_MEMBER)
#undef SDFG_MEMBER
};

constexpr AbiTable kTable = {
#define SDFG_ENTRY(result, name, parameters) &Program::Access::name,
    SDFG_ABI_ENTRIES(SDFG_ENTRY)
#undef SDFG_ENTRY
};

}  // namespace

void Program::report(CallState* call, FailCode code, std::int32_t ordinal) noexcept {
  Access::fail(call, static_cast<std::int32_t>(code), ordinal, nullptr, 0);
}

bool Program::hold_instance(CallState* call, std::int32_t ordinal) {
  return Access::hold_instance(call, ordinal);
}

void set_device_finish(DeviceFinish finish) noexcept {
  device_finish.store(finish, std::memory_order_release);
}

const void* abi_table() noexcept {
  return &kTable;
}

Program::Program(ProgramInfo info) : info_(std::move(info)), profile_(info_.elements.size()) {}

Program::~Program() {
  if (auto* tear_down = code_ ? reinterpret_cast<void (*)()>(code_->find("sdfg_tear_down")) : nullptr) tear_down();
  reset_persistent();
}

void Program::bind(std::span<const std::span<const std::uint8_t>> objects) {
  code_ = load_objects(
      objects,
      {.abi = abi_table(), .program = this, .emulator = device::emulated::table(), .debugger = info_.debugger});
  entry_ = code_->find("sdfg_entry");
  packed_ = reinterpret_cast<PackedEntry>(code_->find("sdfg_packed"));
  if (entry_ == nullptr && packed_ == nullptr) {
    throw Error(ErrorClass::kLoad,
                "the object of graph '" + info_.name + "' defines neither sdfg_entry nor sdfg_packed");
  }
  if (auto* set_up = reinterpret_cast<void (*)()>(code_->find("sdfg_set_up"))) set_up();
}

std::shared_ptr<Program> Program::load(std::span<const std::span<const std::uint8_t>> objects, ProgramInfo info) {
  std::shared_ptr<Program> program(new Program(std::move(info)));
  program->bind(objects);
  return program;
}

std::shared_ptr<Program> Program::load(std::span<const std::uint8_t> object, ProgramInfo info) {
  return load(std::span<const std::span<const std::uint8_t>>(&object, 1), std::move(info));
}

std::shared_ptr<Program> Program::load(std::span<const std::uint8_t> object, ProgramInfo info, DevicePart device) {
  return load(std::span<const std::span<const std::uint8_t>>(&object, 1), std::move(info), std::move(device));
}
std::shared_ptr<Program> Program::load(std::span<const std::span<const std::uint8_t>> objects, ProgramInfo info,
                                       DevicePart device) {
  set_device_finish(&finish_device);
  std::shared_ptr<Program> program(new Program(std::move(info)));
  program->bind(objects);
  program->device_ =
      std::make_unique<DeviceProgram>(std::move(device), program->info_.name, program->info_.elements, program.get());
  return program;
}

void Program::set_workspace(void* memory, std::int64_t bytes) noexcept {
  workspace_.store(bytes > 0 ? memory : nullptr, std::memory_order_release);
  workspace_bytes_.store(bytes > 0 ? bytes : 0, std::memory_order_release);
}

void Program::reset_persistent() noexcept {
  const std::lock_guard lock(instance_mutex_);
  for (auto& [ordinal, slot] : persistent_) unmap_pages(slot.memory, slot.bytes);
  persistent_.clear();
  if (device_) device_->reset_persistent();
}

std::vector<ElementProfile> Program::profile() const {
  std::vector<ElementProfile> result(profile_.size());
  for (std::size_t i = 0; i < profile_.size(); ++i) {
    const ProfileSlot& slot = profile_[i];
    const std::int64_t calls = slot.calls.load();
    if (calls > 0) result[i] = {calls, slot.total.load(), slot.min.load(), slot.max.load()};
  }
  return result;
}

void Program::reset_profile() noexcept {
  for (ProfileSlot& slot : profile_) {
    slot.calls = 0;
    slot.total = 0;
    slot.min = std::numeric_limits<std::int64_t>::max();
    slot.max = 0;
  }
}

void Program::set_trace_sink(TraceSink sink) {
  const std::lock_guard lock(sink_mutex_);
  sink_ = sink ? std::make_shared<const TraceSink>(std::move(sink)) : nullptr;
  has_sink_.store(sink_ != nullptr, std::memory_order_release);
}

}  // namespace sdfg::runtime
