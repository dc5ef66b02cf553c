// What copies, fills and launches promise, checked when they are queued.
#pragma once

#include <functional>
#include <utility>

#include "device/device.hpp"
#include "device/emulated/address_space.hpp"
#include "device/emulated/queue.hpp"

namespace sdfg::device::emulated {

// First and one past the last byte that one side of an operation touches, relative to its address.
using Reach = std::pair<std::int64_t, std::int64_t>;
Reach span_of(const Copy& copy, const std::array<std::int64_t, 2>& stride);

// All throw Error(kLaunch) naming container and values. Under the emulator's lock.
class Contracts {
 public:
  // `pinned` tells whether an address is pinned host memory.
  Contracts(const AddressSpace& space, std::function<bool(const void*, std::uint64_t)> pinned)
      : space_(space), pinned_(std::move(pinned)) {}

  // Whether one side of an operation is what it says, and within one allocation.
  void check_side(const char* verb, const void* address, Space space, Reach reach, const Site& site) const;
  // A copy within the same memory does not read what it writes.
  static void check_overlap(const Copy& copy, const Site& site);
  // Pointers lead into device memory; what may be written is not reached under another name.
  void check_arguments(const KernelInfo& info, const Task& task, const Site& site) const;

 private:
  const AddressSpace& space_;
  std::function<bool(const void*, std::uint64_t)> pinned_;
};

}  // namespace sdfg::device::emulated
