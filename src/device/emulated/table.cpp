// The table of the emulator: forwards to the one device of the process.
#include <atomic>

#include "device/emulated/emulator.hpp"
#include "device/emulated/executor.hpp"
#include "device/emulated/host_checks.hpp"

namespace sdfg::device::emulated {

namespace {

// The executor whose kernels run, set under the emulator's lock while a launch runs.
Executor* running = nullptr;

codegen::EmulatorTable make_table() {
  using codegen::WarpOperation;
  codegen::EmulatorTable t;
  t.access = [](const void* address, std::uint64_t what) { return running->access(address, what); };
  t.object_access = [](const void* address, std::uint64_t what, const void* object, std::uint64_t bytes) {
    return running->object_access(address, what, object, bytes);
  };
  t.copy = [](void* to, const void* from, std::uint64_t bytes, std::uint64_t what) {
    running->copy(to, from, bytes, what);
  };
  t.fill = [](void* to, std::int32_t value, std::uint64_t bytes, std::uint64_t what) {
    running->fill(to, value, bytes, what);
  };
  t.host_access = [](const void* address, std::uint64_t what) {
    return check_host_access(address, what & codegen::kAccessSizeMask, what);
  };
  t.host_range = check_host_access;
  t.tick = [](std::uint32_t line) { running->tick(line); };
  t.barrier = [](std::uint32_t line) { running->barrier(line); };
  t.grid_barrier = [](std::uint32_t line) { running->grid_barrier(line); };
  t.warp = [](std::int32_t operation, std::uint32_t mask, const void* value, void* result, std::int32_t bytes,
              std::int32_t lane, std::int32_t width, std::uint32_t line) {
    running->warp(static_cast<WarpOperation>(operation), mask, value, result, bytes, lane, width, line);
  };
  t.shared = [](std::int32_t site, std::uint64_t bytes, std::uint64_t alignment, std::uint32_t line) {
    return running->shared(site, bytes, alignment, line);
  };
  t.dynamic_shared = [](std::uint32_t line) { return running->dynamic_shared(line); };
  t.copy_async = [](void* to, const void* from, std::uint64_t bytes, std::uint32_t line) {
    running->copy_async(to, from, bytes, line);
  };
  t.commit_async = [] { running->commit_async(); };
  t.wait_async = [](std::int32_t pending) { running->wait_async(pending); };
  return t;
}

}  // namespace

codegen::EmulatorTable& emulator_table() noexcept {
  static codegen::EmulatorTable instance = make_table();
  return instance;
}

const void* table() noexcept {
  return &emulator_table();
}

void set_running(Executor* executor) noexcept {
  running = executor;
}

}  // namespace sdfg::device::emulated
