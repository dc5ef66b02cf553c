// The checks of host code and the list of host memory in use.
#include "device/emulated/host_checks.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "codegen/emulator_table.hpp"
#include "device/emulated/emulator.hpp"

namespace sdfg::device::emulated {

namespace {

std::atomic<const AddressSpace*> watched{nullptr};

struct Pending {
  std::mutex mutex;
  std::map<std::uint64_t, PendingHostRegion> regions;
  std::uint64_t next = 1;
  std::atomic<int> count{0};  // lets the common case pass without the lock
};

Pending& pending() {
  static Pending* const instance = new Pending;
  return *instance;
}

// Checked host code may run in threads of a parallel region: the first fault of each thread is kept, and the first of
// all.
struct FirstFault {
  std::mutex mutex;
  std::optional<Error> error;
};
FirstFault& first_fault() {
  static FirstFault* const instance = new FirstFault;
  return *instance;
}
std::atomic<bool> has_fault{false};
thread_local const Names* host_names = nullptr;
std::atomic<const Names*> last_names{nullptr};  // for threads of a parallel region, which were never told

thread_local std::array<std::byte, 65536> scratch;

// Whether [begin, end) meets a byte of the host side of a copy.
bool meets(const PendingHostRegion& region, std::uint64_t begin, std::uint64_t end) {
  const Copy& copy = region.copy;
  const auto base = reinterpret_cast<std::uint64_t>(region.writes ? copy.to : copy.from);
  const auto& stride = region.writes ? copy.to_stride : copy.from_stride;
  for (std::int64_t i = 0; i < copy.count[0]; ++i) {
    for (std::int64_t j = 0; j < copy.count[1]; ++j) {
      const std::uint64_t run = base + static_cast<std::uint64_t>(i * stride[0] + j * stride[1]);
      if (begin < run + static_cast<std::uint64_t>(copy.bytes) && run < end) return true;
    }
  }
  return false;
}

const PendingHostRegion* find_pending(std::uint64_t begin, std::uint64_t end, bool writes) {
  for (const auto& [id, region] : pending().regions) {
    if ((region.writes || writes) && meets(region, begin, end)) return &region;
  }
  return nullptr;
}

void report(std::string text, std::uint32_t line, const Error::Place* place, std::string hint) {
  FirstFault& first = first_fault();
  const std::lock_guard lock(first.mutex);
  if (first.error) return;
  std::vector<Error::Place> places;
  const Names* names = host_names != nullptr ? host_names : last_names.load();
  if (names != nullptr) {
    if (const std::int32_t origin = names->origin(line); origin >= 0) places.push_back(names->place(origin));
  }
  if (place != nullptr && !place->what.empty()) places.push_back(*place);
  first.error.emplace(ErrorClass::kLaunch, std::move(text), std::move(places), std::move(hint));
  has_fault = true;
}

}  // namespace

void watch_space(const AddressSpace* space) noexcept {
  watched = space;
}

void* check_host_access(const void* address, std::uint64_t bytes, std::uint64_t what) {
  const AddressSpace* space = watched.load(std::memory_order_relaxed);
  if (space == nullptr) return const_cast<void*>(address);
  const bool writes = (what & codegen::kAccessWrite) != 0;
  const auto line = static_cast<std::uint32_t>(what >> codegen::kAccessLineShift);
  if (space->contains(address)) [[unlikely]] {
    const Allocation* memory = space->find(address);
    std::string text =
        std::string("host code ") + (writes ? "writes " : "reads ") + std::to_string(bytes) + " bytes of device memory";
    if (memory != nullptr) {
      const auto inside = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(address) - space->base()) -
                          static_cast<std::int64_t>(memory->begin);
      text += ": " + (memory->place.what.empty() ? std::string("an unnamed allocation") : memory->place.what) +
              " at byte " + std::to_string(inside);
    }
    report(std::move(text), line, memory != nullptr ? &memory->place : nullptr,
           "copy it to the host first, or run this part on the device");
    return bytes <= scratch.size() ? scratch.data() : const_cast<void*>(address);
  }
  if (pending().count.load(std::memory_order_acquire) != 0) [[unlikely]] {
    const std::lock_guard lock(pending().mutex);
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    if (const PendingHostRegion* region = find_pending(begin, begin + bytes, writes)) {
      report(std::string("host code ") + (writes ? "writes" : "reads") + " memory that a copy " +
                 (region->writes ? "from the device still writes" : "to the device still reads") +
                 (region->place.what.empty() ? "" : " (" + region->place.what + ")"),
             line, &region->place, "a synchronisation with the copy's stream is missing before this access");
    }
  }
  return const_cast<void*>(address);
}

std::uint64_t add_pending(PendingHostRegion region) {
  Pending& all = pending();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t id = all.next++;
  all.regions.emplace(id, std::move(region));
  all.count.fetch_add(1, std::memory_order_release);
  return id;
}

void remove_pending(std::uint64_t id) noexcept {
  Pending& all = pending();
  const std::lock_guard lock(all.mutex);
  if (all.regions.erase(id) != 0) all.count.fetch_sub(1, std::memory_order_release);
}

bool overlaps_pending(const void* address, std::uint64_t bytes, Error::Place& place) {
  Pending& all = pending();
  if (all.count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(all.mutex);
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const PendingHostRegion* region = find_pending(begin, begin + bytes, true);
  if (region == nullptr) return false;
  place = region->place;
  return true;
}

void Emulator::set_host_names(const Names* names) noexcept {
  host_names = names;
  last_names = names;
}

std::optional<Error> Emulator::take_host_fault() noexcept {
  if (!has_fault.load(std::memory_order_acquire)) return std::nullopt;
  FirstFault& first = first_fault();
  const std::lock_guard lock(first.mutex);
  has_fault = false;
  return std::exchange(first.error, std::nullopt);
}

}  // namespace sdfg::device::emulated
