// The emulated device: what a GPU would do, in this process, with every contract checked.
//
// Work is queued and runs when something waits for it (a synchronise, a release of memory that the host sees, the end
// of a call), in an order that the schedule chooses among the legal ones. Kernels run on the thread that waits, under
// one lock. A fault is told to whoever waits next: threads that run faulty programs at the same time may get each
// other's. Nothing here installs signal handlers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "device/emulated/settings.hpp"

namespace sdfg::device::emulated {

struct Transfers {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

// What was asked of the device since the last reset. Copies by (from, to) in the order host -> device, device -> host,
// device -> device, host -> host; pinned memory counts as host.
struct Ledger {
  struct Counts {
    std::int64_t launches = 0;
    std::int64_t blocks = 0;
    Transfers to_device;
    Transfers to_host;
    Transfers on_device;
    Transfers on_host;
    Transfers fills;
    std::int64_t synchronises = 0;
    std::int64_t allocations = 0;
    std::int64_t releases = 0;
  };
  Counts total;
  std::map<std::int32_t, Counts> by_ordinal;  // of the sites that have one
  std::int64_t events_recorded = 0;
  std::int64_t events_waited = 0;
  std::int64_t graphs_recorded = 0;
  std::int64_t graphs_launched = 0;
  std::int64_t live_allocations = 0;  // now
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t live_pinned = 0;
  std::int64_t pool_cap = 0;  // asked for last
};

class Emulator : public Device {
 public:
  // Applies to what is queued later. Any thread.
  virtual void set_settings(const Settings& settings) = 0;
  virtual Settings settings() const = 0;
  virtual Ledger ledger() const = 0;
  virtual void reset_ledger() = 0;
  // Runs everything that is queued. Not counted as a wait; faults are left for take_fault.
  virtual void drain() = 0;
  // For tests: what calls of device libraries do here, after everything queued in front of them. Without one there are
  // no libraries. Memory is behind its addresses at `view`: `real` is where `base` would be.
  using LibraryHook = std::function<void(Stream&, const LibraryCall&, const Site&)>;
  virtual void set_library_hook(LibraryHook hook) = 0;
  struct View {
    const void* base = nullptr;
    std::uint64_t size = 0;
    std::byte* real = nullptr;
  };
  virtual View view() const = 0;
  // What is still allocated, as places: for tests of leaks.
  virtual std::vector<Error::Place> leaks() const = 0;

  // Whose lines checked host code on this thread reports: the host text's names, until the next call (null: nobody's).
  static void set_host_names(const Names* names) noexcept;
  // A violation of checked host code on this thread that was not reported yet.
  static std::optional<Error> take_host_fault() noexcept;

 protected:
  explicit Emulator(int ordinal) : Device(Backend::kEmulated, ordinal) {}
};

// A fresh device; device::open gives the shared one. Throws Error(kResource).
std::shared_ptr<Emulator> open();

// The table that the loader stores into `sdfg_emulator` of checked objects (codegen/emulator_table.hpp).
const void* table() noexcept;

}  // namespace sdfg::device::emulated
