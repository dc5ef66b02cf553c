// Accesses of checked host code: device memory is not the host's to touch, nor is host memory that a copy still uses.
#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "device/emulated/address_space.hpp"

namespace sdfg::device::emulated {

class Executor;

// Tells the table whose kernels run; under the emulator's lock.
void set_running(Executor* executor) noexcept;

// What host_access and host_range of the table do: the address itself, or, after a violation, memory that does no harm.
void* check_host_access(const void* address, std::uint64_t bytes, std::uint64_t what);

// The address space of the emulator, from its construction to its destruction.
void watch_space(const AddressSpace* space) noexcept;

// Host memory that a queued copy will still read or write, until forgotten. Any thread.
struct PendingHostRegion {
  Copy copy;            // whose host side is meant
  bool writes = false;  // the copy writes it
  Error::Place place;
};
std::uint64_t add_pending(PendingHostRegion region);
void remove_pending(std::uint64_t id) noexcept;
// What overlaps these bytes, if anything: for a release of pinned memory.
bool overlaps_pending(const void* address, std::uint64_t bytes, Error::Place& place);

}  // namespace sdfg::device::emulated
