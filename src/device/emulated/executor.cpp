// Blocks, threads, barriers and warp operations of the emulated device.
#include "device/emulated/executor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

namespace sdfg::device::emulated {

namespace {

using codegen::WarpOperation;

constexpr std::size_t kKeptFibers = 1024;  // of one block; a cooperative launch may take more

std::string text_of(const codegen::EmulatorDim& at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

codegen::EmulatorDim dim(const std::array<std::int64_t, 3>& extents) {
  return {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
          static_cast<std::uint32_t>(extents[2])};
}

codegen::EmulatorDim position(std::uint64_t linear, const codegen::EmulatorDim& extents) {
  return {static_cast<std::uint32_t>(linear % extents.x), static_cast<std::uint32_t>(linear / extents.x % extents.y),
          static_cast<std::uint32_t>(linear / extents.x / extents.y)};
}

std::string_view name_of(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::kShuffle: return "__shfl_sync";
    case WarpOperation::kShuffleUp: return "__shfl_up_sync";
    case WarpOperation::kShuffleDown: return "__shfl_down_sync";
    case WarpOperation::kShuffleXor: return "__shfl_xor_sync";
    case WarpOperation::kSynchronise: return "__syncwarp";
    case WarpOperation::kBallot: return "__ballot_sync";
    case WarpOperation::kAny: return "__any_sync";
    case WarpOperation::kAll: return "__all_sync";
  }
  return "a warp operation";
}

}  // namespace

Executor::Executor(AddressSpace& space, std::function<bool(const void*, std::uint64_t)> pinned)
    : space_(space), pinned_(std::move(pinned)), table_(emulator_table()) {}

Executor::~Executor() = default;

std::uint64_t Executor::block_at(std::uint64_t at) const {
  switch (settings_.schedule) {
    case Schedule::kForward: return at;
    case Schedule::kReverse: return blocks_ - 1 - at;
    case Schedule::kRandom: return (at * multiplier_ + addend_) % blocks_;
  }
  return at;
}

std::optional<Error> Executor::run(const Run& run, const Settings& settings) {
  run_ = run;
  settings_ = settings;
  random_.seed(settings.seed * 0x9e3779b97f4a7c15u + ++launch_);
  steps_ = settings.step_budget;
  shadowing_ = settings.races || settings.uninitialised;
  abandoned_ = false;
  fault_.reset();
  const auto& grid = run.launch.grid;
  blocks_ =
      static_cast<std::uint64_t>(grid[0]) * static_cast<std::uint64_t>(grid[1]) * static_cast<std::uint64_t>(grid[2]);
  if (settings.schedule == Schedule::kRandom) {
    do {
      multiplier_ = random_() % std::min<std::uint64_t>(blocks_, 1 << 20) + 1;  // small: the product must not overflow
    } while (std::gcd(multiplier_, blocks_) != 1);
    addend_ = random_() % blocks_;
  }
  table_.block_extent = dim(run.launch.block);
  table_.grid_extent = dim(run.launch.grid);

  try {
    run_blocks();
  } catch (const Error& error) {  // no memory for a fiber or its records
    if (!fault_) fault_.emplace(error);
  } catch (const std::bad_alloc&) {
    if (!fault_) fault_.emplace(ErrorClass::kResource, "there is no memory to run kernel '" + run_.kernel->name + "'");
  }
  drop_slots();
  run_ = {};
  return std::move(fault_);
}

void Executor::run_blocks() {
  const std::uint64_t at_once = run_.launch.cooperative ? blocks_ : 1;
  while (slots_.size() < at_once) slots_.emplace_back();
  if (run_.launch.cooperative) {
    std::vector<Slot*> active;
    for (std::uint64_t i = 0; i < blocks_; ++i) {
      prepare_slot(slots_[i], block_at(i));
      active.push_back(&slots_[i]);
    }
    while (!active.empty() && !abandoned_) {
      std::vector<Slot*> waiting;
      for (Slot* slot : active) {
        if (!abandoned_ && progress(*slot) == Outcome::kAtGrid) waiting.push_back(slot);
      }
      if (abandoned_ || (!waiting.empty() && !release_grid(waiting))) break;
      active = std::move(waiting);
    }
  } else {
    for (std::uint64_t i = 0; i < blocks_ && !abandoned_; ++i) {
      prepare_slot(slots_[0], block_at(i));
      if (progress(slots_[0]) != Outcome::kAtGrid) continue;
      report("kernel '" + run_.kernel->name + "' has a grid barrier, but its launch is not cooperative",
             slots_[0].threads.front().line);
      break;
    }
  }
}

void Executor::prepare_slot(Slot& slot, std::uint64_t linear) {
  const auto& block = run_.launch.block;
  const auto count = static_cast<std::size_t>(block[0] * block[1] * block[2]);
  slot.linear = linear;
  slot.index = position(linear, table_.grid_extent);
  if (slot.threads.size() != count || slot.order.size() != count) {
    slot.threads.assign(count, {});
    slot.order.resize(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Thread& thread = slot.threads[i];
    thread.state = State::kFresh;
    thread.index = static_cast<std::uint16_t>(i);
    thread.at = position(i, table_.block_extent);
    thread.fiber = nullptr;
    thread.pending.clear();
    thread.groups = 0;
    slot.order[i] = static_cast<std::uint32_t>(i);
  }
  if (settings_.schedule == Schedule::kReverse) std::reverse(slot.order.begin(), slot.order.end());
  if (settings_.schedule == Schedule::kRandom) std::shuffle(slot.order.begin(), slot.order.end(), random_);
  slot.next = 0;
  slot.exited = 0;
  slot.ready.clear();
  slot.epoch = 0;
  slot.static_shared = 0;
  const auto warps =
      (count + static_cast<std::size_t>(settings_.warp_size) - 1) / static_cast<std::size_t>(settings_.warp_size);
  slot.warp_epochs.assign(warps, 0);
}

void Executor::drop_slots() noexcept {
  slot_ = nullptr;
  thread_ = nullptr;
  fiber_ = nullptr;
  idle_.clear();
  if (fibers_.size() > kKeptFibers) fibers_.resize(kKeptFibers);
  for (const auto& fiber : fibers_) idle_.push_back(fiber.get());
  for (Slot& slot : slots_) {
    for (const SharedArray& array : slot.shared) space_.free(*array.memory);
    slot.shared.clear();
  }
  if (slots_.size() > 1) slots_.resize(1);
}

Fiber& Executor::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>());
    idle_.push_back(fibers_.back().get());
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return *fiber;
}

// Threads in their order, one after the other, until one of them waits (and takes this fiber with it).
void Executor::fiber_main(void* self) {
  auto& executor = *static_cast<Executor*>(self);
  while (true) {
    Slot& slot = *executor.slot_;
    while (slot.next < slot.order.size()) {
      Thread& thread = slot.threads[slot.order[slot.next++]];
      executor.enter_thread(slot, thread);
      executor.run_.entry(executor.run_.arguments);
      executor.thread_->state = State::kExited;
      ++executor.slot_->exited;
      if (executor.settings_.schedule == Schedule::kRandom && !slot.ready.empty()) break;
    }
    Fiber* own = executor.fiber_;
    executor.idle_.push_back(own);
    switch_fiber(own, nullptr, &executor.main_);
  }
}

void Executor::enter_thread(Slot& slot, Thread& thread) {
  thread_ = &thread;
  slot_ = &slot;
  table_.thread = thread.at;
  table_.block = slot.index;
}

void Executor::resume(Slot& slot, Fiber& fiber) {
  slot_ = &slot;
  fiber_ = &fiber;
  switch_fiber(nullptr, &fiber, &main_);
}

// Runs a block until its threads are done, wait for the grid, or can't go on.
Executor::Outcome Executor::progress(Slot& slot) {
  const auto next_ready = [&] {
    // `ready` is in the order of going on; taken from its front.
    const std::uint32_t index = slot.ready.front();
    slot.ready.pop_front();
    Thread& thread = slot.threads[index];
    thread.state = State::kReady;
    Fiber& fiber = *std::exchange(thread.fiber, nullptr);
    enter_thread(slot, thread);
    resume(slot, fiber);
  };
  while (!abandoned_) {
    const bool may_start = slot.next < slot.order.size();
    const bool prefer_ready =
        !slot.ready.empty() && (!may_start || (settings_.schedule == Schedule::kRandom && (random_() & 1) != 0));
    if (prefer_ready) {
      next_ready();
    } else if (may_start) {
      Fiber& fiber = idle_fiber();
      fiber.start(&Executor::fiber_main, this);
      resume(slot, fiber);
    } else if (slot.exited == slot.threads.size()) {
      return Outcome::kDone;
    } else if (!release_warps(slot)) {
      const bool all_at_grid = std::all_of(slot.threads.begin(), slot.threads.end(),
                                           [](const Thread& thread) { return thread.state == State::kAtGrid; });
      if (all_at_grid) return Outcome::kAtGrid;
      if (!release_barrier(slot)) return Outcome::kAbandoned;
    }
  }
  return Outcome::kAbandoned;
}

void Executor::make_ready(Slot& slot, const std::vector<std::uint32_t>& threads) {
  const std::size_t before = slot.ready.size();
  slot.ready.insert(slot.ready.end(), threads.begin(), threads.end());
  for (const std::uint32_t index : threads) slot.threads[index].state = State::kReady;
  const auto begin = slot.ready.begin() + static_cast<std::ptrdiff_t>(before);
  if (settings_.schedule == Schedule::kReverse) std::reverse(begin, slot.ready.end());
  if (settings_.schedule == Schedule::kRandom) std::shuffle(begin, slot.ready.end(), random_);
}

// All threads of the block are at the same barrier, or the block is stuck: says how, and false.
bool Executor::release_barrier(Slot& slot) {
  const Thread* first = nullptr;
  const Thread* other = nullptr;
  for (const Thread& thread : slot.threads) {
    if (first == nullptr && thread.state != State::kExited) first = &thread;
  }
  for (const Thread& thread : slot.threads) {
    if (thread.state != first->state || thread.line != first->line) {
      other = &thread;
      break;
    }
  }
  if (other == nullptr && first->state == State::kAtBarrier) {
    std::vector<std::uint32_t> all(slot.threads.size());
    std::iota(all.begin(), all.end(), 0u);
    ++slot.epoch;
    make_ready(slot, all);
    return true;
  }
  // A stuck block. Reported for a thread at a barrier if there is one.
  const auto described = [&](const Thread& thread) -> std::string {
    const std::string who = "thread " + text_of(thread.at);
    const std::string line = " in line " + std::to_string(thread.line);
    switch (thread.state) {
      case State::kAtBarrier: return who + " waits at the barrier" + line;
      case State::kAtGrid: return who + " waits at the grid barrier" + line;
      case State::kAtWarp: return who + " waits at " + std::string(name_of(thread.operation)) + line;
      case State::kExited: return who + " has left the kernel";
      case State::kFresh:
      case State::kReady: return who + " runs";
    }
    return who;
  };
  slot_ = &slot;
  thread_ = nullptr;
  if (other == nullptr) other = first;
  const bool at_warp = first->state == State::kAtWarp || other->state == State::kAtWarp;
  const Thread& warp_thread = first->state == State::kAtWarp ? *first : *other;
  if (at_warp) {
    // Which lane of the mask does not come.
    const std::uint32_t size = static_cast<std::uint32_t>(settings_.warp_size);
    const std::uint32_t begin = warp_thread.index / size * size;
    for (std::uint32_t lane = 0; lane < size && begin + lane < slot.threads.size(); ++lane) {
      const Thread& thread = slot.threads[begin + lane];
      const bool arrived = thread.state == State::kAtWarp && thread.line == warp_thread.line &&
                           thread.operation == warp_thread.operation && thread.mask == warp_thread.mask;
      if ((warp_thread.mask >> lane & 1) != 0 && !arrived && thread.state != State::kExited) {
        other = &thread;
        break;
      }
    }
    report("a warp operation of kernel '" + run_.kernel->name + "' can't complete in block " + text_of(slot.index) +
               ": " + described(warp_thread) + " for the lanes of its mask, and of these " + described(*other),
           warp_thread.line, nullptr, "all lanes named in the mask have to reach the same operation with the same mask",
           other->line);
  } else {
    report("the barrier of kernel '" + run_.kernel->name + "' is divergent in block " + text_of(slot.index) + ": " +
               described(*first) + ", but " + described(*other),
           first->line, nullptr, "all threads of a block have to reach the same barrier",
           other->state == State::kExited ? 0 : other->line);
  }
  abandoned_ = true;
  return false;
}

bool Executor::release_grid(std::vector<Slot*>& slots) {
  const std::uint32_t line = slots.front()->threads.front().line;
  if (slots.size() != blocks_) {
    slot_ = slots.front();
    thread_ = nullptr;
    report("the grid barrier of kernel '" + run_.kernel->name + "' is divergent: block " +
               text_of(slots.front()->index) + " waits at it in line " + std::to_string(line) + ", but " +
               std::to_string(blocks_ - slots.size()) + " of " + std::to_string(blocks_) +
               " blocks have left the kernel",
           line);
    abandoned_ = true;
    return false;
  }
  for (const Slot* slot : slots) {
    for (const Thread& thread : slot->threads) {
      if (thread.line == line) continue;
      slot_ = slots.front();
      thread_ = nullptr;
      report("the grid barrier of kernel '" + run_.kernel->name + "' is divergent: thread (0, 0, 0) of block " +
                 text_of(slots.front()->index) + " waits in line " + std::to_string(line) + ", thread " +
                 text_of(thread.at) + " of block " + text_of(slot->index) + " in line " + std::to_string(thread.line),
             line, nullptr, {}, thread.line);
      abandoned_ = true;
      return false;
    }
  }
  ++launch_;  // orders all blocks, for the check of races
  for (Slot* slot : slots) {
    std::vector<std::uint32_t> all(slot->threads.size());
    std::iota(all.begin(), all.end(), 0u);
    ++slot->epoch;
    make_ready(*slot, all);
  }
  return true;
}

// A thread stops here until the scheduler lets it go on.
void Executor::wait_here(State state, std::uint32_t line) {
  Thread& thread = *thread_;
  thread.state = state;
  thread.line = line;
  thread.fiber = fiber_;
  switch_fiber(fiber_, nullptr, &main_);
}

void Executor::abandon() {
  abandoned_ = true;
  switch_fiber(fiber_, nullptr, &main_);
  __builtin_unreachable();
}

void Executor::barrier(std::uint32_t line) {
  wait_here(State::kAtBarrier, line);
}

void Executor::grid_barrier(std::uint32_t line) {
  wait_here(State::kAtGrid, line);
}

void Executor::tick(std::uint32_t line) {
  if (--steps_ > 0) [[likely]]
    return;
  report("kernel '" + run_.kernel->name + "' seems to hang: its loops took more than " +
             std::to_string(settings_.step_budget) + " turns in one launch",
         line);
  abandon();
}

void Executor::warp(WarpOperation operation, std::uint32_t mask, const void* value, void* result, std::int32_t bytes,
                    std::int32_t lane, std::int32_t width, std::uint32_t line) {
  Thread& thread = *thread_;
  const int size = settings_.warp_size;
  const int own = thread.index % size;
  if ((mask >> own & 1) == 0) {
    report(std::string(name_of(operation)) + " is called by lane " + std::to_string(own) +
               ", which its mask does not name",
           line);
    abandon();
  }
  thread.operation = operation;
  thread.mask = mask;
  thread.value = value;
  thread.result = result;
  thread.bytes = bytes;
  thread.lane = lane;
  thread.width = std::min(width, size);
  thread.line = line;
  thread.state = State::kAtWarp;
  if (try_warp(*slot_, thread)) {
    thread.state = State::kReady;
    return;
  }
  wait_here(State::kAtWarp, line);
}

// Completes the operation of a thread if every lane of its mask has arrived or left the kernel. The others become
// ready.
bool Executor::try_warp(Slot& slot, Thread& thread) {
  const auto size = static_cast<std::size_t>(settings_.warp_size);
  const std::size_t first = thread.index / size * size;
  std::vector<Thread*> lanes(size, nullptr);
  for (std::size_t lane = 0; lane < size && first + lane < slot.threads.size(); ++lane) {
    if ((thread.mask >> lane & 1) == 0) continue;
    Thread& other = slot.threads[first + lane];
    if (other.state == State::kExited) continue;
    if (other.state != State::kAtWarp || other.operation != thread.operation || other.mask != thread.mask ||
        other.line != thread.line) {
      return false;
    }
    lanes[lane] = &other;
  }
  exchange(slot, lanes, first);
  ++slot.warp_epochs[first / size];
  std::vector<std::uint32_t> others;
  for (const Thread* other : lanes) {
    if (other != nullptr && other != thread_) others.push_back(other->index);
  }
  make_ready(slot, others);
  return true;
}

// Moves the values of one operation. A lane that isn't there gives poison.
void Executor::exchange(Slot&, const std::vector<Thread*>& lanes, std::size_t) {
  const auto all = [&](auto&& test) {
    return std::all_of(lanes.begin(), lanes.end(), [&](const Thread* lane) { return lane == nullptr || test(*lane); });
  };
  const auto truth = [](const Thread& lane) {
    std::int32_t value = 0;
    std::memcpy(&value, lane.value, sizeof value);
    return value != 0;
  };
  std::size_t width = 0;
  for (const Thread* lane : lanes) {
    if (lane != nullptr) width = static_cast<std::size_t>(lane->bytes);
  }
  std::vector<std::byte> values(width * lanes.size(), std::byte{0xf5});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] != nullptr && lanes[i]->value != nullptr) std::memcpy(&values[i * width], lanes[i]->value, width);
  }
  std::uint32_t ballot = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] != nullptr && lanes[i]->operation == WarpOperation::kBallot && truth(*lanes[i])) ballot |= 1u << i;
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] == nullptr) continue;
    const Thread& lane = *lanes[i];
    const auto own = static_cast<std::int32_t>(i);
    const std::int32_t group = own / std::max(lane.width, 1) * std::max(lane.width, 1);
    std::int32_t source = own;
    switch (lane.operation) {
      case WarpOperation::kShuffle: source = group + (lane.lane & (lane.width - 1)); break;
      case WarpOperation::kShuffleUp: source = own - lane.lane >= group ? own - lane.lane : own; break;
      case WarpOperation::kShuffleDown: source = own + lane.lane < group + lane.width ? own + lane.lane : own; break;
      case WarpOperation::kShuffleXor: source = (own ^ lane.lane) < group + lane.width ? own ^ lane.lane : own; break;
      case WarpOperation::kSynchronise: continue;
      case WarpOperation::kBallot: std::memcpy(lane.result, &ballot, sizeof ballot); continue;
      case WarpOperation::kAny: {
        const std::int32_t any = all([&](const Thread& other) { return !truth(other); }) ? 0 : 1;
        std::memcpy(lane.result, &any, sizeof any);
        continue;
      }
      case WarpOperation::kAll: {
        const std::int32_t every = all(truth) ? 1 : 0;
        std::memcpy(lane.result, &every, sizeof every);
        continue;
      }
    }
    std::memcpy(lane.result, &values[static_cast<std::size_t>(source) * width], width);
  }
}

// Operations that became complete because a lane left the kernel.
bool Executor::release_warps(Slot& slot) {
  bool any = false;
  thread_ = nullptr;
  for (Thread& thread : slot.threads) {
    if (thread.state == State::kAtWarp && try_warp(slot, thread)) any = true;
  }
  return any;
}

std::string Executor::thread_text() const {
  if (thread_ == nullptr || slot_ == nullptr) return {};
  return ", by thread " + text_of(thread_->at) + " of block " + text_of(slot_->index);
}

void Executor::report(std::string text, std::uint32_t line, const Allocation* memory, std::string hint,
                      std::uint32_t other_line) {
  if (fault_) return;
  std::vector<Error::Place> places;
  const auto add = [&](const Error::Place& place) {
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  };
  if (run_.names) {
    for (const std::uint32_t at : {line, other_line}) {
      if (const std::int32_t origin = run_.names->origin(at); origin >= 0) add(run_.names->place(origin));
    }
    if (run_.kernel->ordinal >= 0) add(run_.names->place(run_.kernel->ordinal));
  }
  if (memory != nullptr && !memory->place.what.empty()) add(memory->place);
  std::string where = " (line " + std::to_string(line) + " of the kernels";
  if (other_line != 0 && other_line != line) where += " and line " + std::to_string(other_line);
  fault_.emplace(ErrorClass::kLaunch, text + (line != 0 ? where + ")" : ""), std::move(places), std::move(hint));
}

void* Executor::shared(std::int32_t site, std::uint64_t bytes, std::uint64_t, std::uint32_t line) {
  SharedArray* array = shared_array(site, bytes, line);
  return array != nullptr ? prepare_shared(*array, line) : nullptr;
}

void* Executor::dynamic_shared(std::uint32_t line) {
  SharedArray* array = shared_array(-1, static_cast<std::uint64_t>(run_.launch.shared), line);
  return array != nullptr ? prepare_shared(*array, line) : nullptr;
}

Executor::SharedArray* Executor::shared_array(std::int32_t site, std::uint64_t bytes, std::uint32_t line) {
  for (SharedArray& array : slot_->shared) {
    if (array.site == site) return &array;
  }
  Allocation* memory = space_.allocate(bytes, MemoryKind::kShared);
  if (memory == nullptr) {
    report("there are no addresses left for shared memory", line);
    abandon();
  }
  memory->place.what = site < 0 ? "dynamic shared memory" : "shared memory";
  if (run_.names) {
    if (const std::int32_t origin = run_.names->origin(line); origin >= 0) {
      memory->place = run_.names->place(origin);
      memory->place.what = "shared memory of " + memory->place.what;
    }
  }
  slot_->shared.push_back({site, memory, 0});
  return &slot_->shared.back();
}

// The first thread of a block that comes by makes the array fresh.
void* Executor::prepare_shared(SharedArray& array, std::uint32_t line) {
  Allocation& memory = *array.memory;
  if (array.block != slot_->linear + 1) {
    const bool first_use = array.block == 0;
    array.block = slot_->linear + 1;
    if (array.site >= 0) {
      slot_->static_shared += memory.bytes;
      const auto total = slot_->static_shared + static_cast<std::uint64_t>(run_.launch.shared);
      if (total > static_cast<std::uint64_t>(run_.shared_limit)) {
        report("kernel '" + run_.kernel->name + "' declares " + std::to_string(total) +
                   " bytes of shared memory per block, and the device has " + std::to_string(run_.shared_limit),
               line, &memory);
      }
    }
    if (!first_use) {
      space_.poison(memory.begin, memory.bytes);
      space_.set_initialised(memory.begin, memory.bytes, false);
    }
  }
  return space_.address(memory);
}

}  // namespace sdfg::device::emulated
