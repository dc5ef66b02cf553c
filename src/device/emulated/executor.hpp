// Runs the threads of one launch, and judges what they do: accesses, barriers, warp operations.
//
// Blocks run one after the other (all at once in a cooperative launch), threads as fibers on the calling thread. A
// fiber runs thread after thread until one has to wait, so kernels without barriers cost no switches. After a
// violation, which is recorded once per launch, the kernel goes on with memory that does no harm; only what can't go on
// (a broken barrier, a loop without end) abandons the launch.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "codegen/emulator_table.hpp"
#include "device/device.hpp"
#include "device/emulated/address_space.hpp"
#include "device/emulated/fiber.hpp"
#include "device/emulated/race.hpp"
#include "device/emulated/settings.hpp"

namespace sdfg::device::emulated {

using Entry = void (*)(void* const* arguments);

// One launch as the executor needs it.
struct Run {
  const KernelInfo* kernel = nullptr;
  std::shared_ptr<const Names> names;
  Entry entry = nullptr;
  Launch launch;
  void* const* arguments = nullptr;  // a device address
  std::int64_t shared_limit = 0;
  std::function<bool(const void*, std::uint64_t)> holds;  // whether an address is a constant of the code; may be empty
};

// The table that checked code calls, and the coordinates of the thread that runs. One per process, like the executor.
codegen::EmulatorTable& emulator_table() noexcept;

class Executor {
 public:
  // `pinned` tells whether an address is pinned host memory.
  Executor(AddressSpace& space, std::function<bool(const void*, std::uint64_t)> pinned);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The first violation of the launch, if any. Under the emulator's lock.
  std::optional<Error> run(const Run& run, const Settings& settings);

  // What the table's entries do; `what` as codegen/emulator_table.hpp says.
  void* access(const void* address, std::uint64_t what);
  void* object_access(const void* address, std::uint64_t what, const void* object, std::uint64_t bytes);
  void copy(void* to, const void* from, std::uint64_t bytes, std::uint64_t what);
  void fill(void* to, std::int32_t value, std::uint64_t bytes, std::uint64_t what);
  void tick(std::uint32_t line);
  void barrier(std::uint32_t line);
  void grid_barrier(std::uint32_t line);
  void warp(codegen::WarpOperation operation, std::uint32_t mask, const void* value, void* result, std::int32_t bytes,
            std::int32_t lane, std::int32_t width, std::uint32_t line);
  void* shared(std::int32_t site, std::uint64_t bytes, std::uint64_t alignment, std::uint32_t line);
  void* dynamic_shared(std::uint32_t line);
  void copy_async(void* to, const void* from, std::uint64_t bytes, std::uint32_t line);
  void commit_async();
  void wait_async(std::int32_t pending);

 private:
  enum class State : std::uint8_t { kFresh, kReady, kAtBarrier, kAtGrid, kAtWarp, kExited };

  struct AsyncCopy {
    void* to = nullptr;
    const void* from = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t line = 0;
    std::uint32_t group = 0;
  };

  struct Thread {
    State state = State::kFresh;
    std::uint16_t index = 0;
    std::uint32_t line = 0;  // where it waits
    Fiber* fiber = nullptr;  // while it waits
    codegen::EmulatorDim at;
    // Of a warp operation:
    codegen::WarpOperation operation = codegen::WarpOperation::kSynchronise;
    std::uint32_t mask = 0;
    const void* value = nullptr;
    void* result = nullptr;
    std::int32_t bytes = 0;
    std::int32_t lane = 0;
    std::int32_t width = 0;
    // Of asynchronous copies:
    std::vector<AsyncCopy> pending;
    std::uint32_t groups = 0;  // committed
  };

  struct SharedArray {
    std::int32_t site = 0;  // -1: the dynamic one
    Allocation* memory = nullptr;
    std::uint64_t block = 0;  // that it was last prepared for, plus 1
  };

  // What one block occupies while it runs; used again for the next.
  struct Slot {
    codegen::EmulatorDim index;
    std::uint64_t linear = 0;
    std::vector<Thread> threads;
    std::vector<std::uint32_t> order;  // of the threads
    std::size_t next = 0;              // position in `order` of the next thread to start
    std::size_t exited = 0;
    std::deque<std::uint32_t> ready;  // threads that may go on, in the order in which they will
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> warp_epochs;
    std::vector<SharedArray> shared;
    std::uint64_t static_shared = 0;
  };

  enum class Outcome : std::uint8_t { kDone, kAtGrid, kAbandoned };

  void run_blocks();
  void prepare_slot(Slot& slot, std::uint64_t linear);
  void drop_slots() noexcept;
  std::uint64_t block_at(std::uint64_t position) const;
  Outcome progress(Slot& slot);
  bool release_barrier(Slot& slot);
  bool release_warps(Slot& slot);
  bool release_grid(std::vector<Slot*>& slots);
  void make_ready(Slot& slot, const std::vector<std::uint32_t>& threads);
  bool try_warp(Slot& slot, Thread& thread);
  void exchange(Slot& slot, const std::vector<Thread*>& lanes, std::size_t first);
  void resume(Slot& slot, Fiber& fiber);
  void enter_thread(Slot& slot, Thread& thread);
  Fiber& idle_fiber();
  static void fiber_main(void* self);
  void wait_here(State state, std::uint32_t line);
  [[noreturn]] void abandon();

  void* refuse(const void* address, std::uint64_t bytes, std::uint64_t what);
  void* shadow(Allocation& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t what);
  void race_check(Allocation& memory, std::uint64_t inside, std::uint64_t bytes, std::uint64_t what);
  // Where a range really is; null if it must not be touched, which has been recorded.
  std::byte* range(const void* address, std::uint64_t bytes, std::uint64_t what);
  void* prepare_shared(SharedArray& array, std::uint32_t line);
  SharedArray* shared_array(std::int32_t site, std::uint64_t bytes, std::uint32_t line);

  std::string thread_text() const;
  void report(std::string text, std::uint32_t line, const Allocation* memory = nullptr, std::string hint = {},
              std::uint32_t other_line = 0);

  AddressSpace& space_;
  std::function<bool(const void*, std::uint64_t)> pinned_;
  codegen::EmulatorTable& table_;
  Settings settings_;
  std::mt19937_64 random_;

  Run run_;
  std::uint64_t blocks_ = 0;
  std::uint64_t multiplier_ = 1;  // of the random order of blocks: coprime with their number
  std::uint64_t addend_ = 0;
  std::uint32_t launch_ = 0;
  std::int64_t steps_ = 0;
  bool shadowing_ = false;
  bool abandoned_ = false;
  std::optional<Error> fault_;

  std::deque<Slot> slots_;
  Slot* slot_ = nullptr;      // of the thread that runs
  Thread* thread_ = nullptr;  // likewise
  Fiber* fiber_ = nullptr;
  void* main_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  alignas(64) std::array<std::byte, 65536> scratch_{};  // what a refused access gets
};

}  // namespace sdfg::device::emulated
