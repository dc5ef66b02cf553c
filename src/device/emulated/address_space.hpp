// Device addresses: a reservation that nobody may touch, and the bytes behind it in a second mapping that only the
// emulator uses.
//
// Each allocation has pages of its own between guard pages, so that one look into a table by page finds the allocation
// of any address, and an access just outside names the right one. Sizes are exact to the byte. The ranges freed last
// keep their record. Not thread-safe: the emulator's lock guards it; `base`, `size` and
// `contains` never change after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <sdfg/error.hpp>
#include <string>
#include <vector>

namespace sdfg::device::emulated {

struct RaceCell;

enum class MemoryKind : std::uint8_t { kGlobal, kShared, kParameters };

struct Allocation {
  std::uint64_t begin = 0;       // of the first byte, from the base of the reservation
  std::uint64_t accessible = 0;  // bytes that kernels and copies may touch now: `bytes`, or 0 once freed
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kGlobal;
  bool read_only = false;       // for the kernel that runs now
  bool release_queued = false;  // its release waits in a stream
  bool checked = true;          // takes part in the checks of races and of initialisation
  std::int32_t ordinal = -1;
  Error::Place place;            // what it was allocated for
  RaceCell* cells = nullptr;     // one per four bytes, made when first needed
  std::uint64_t first_page = 0;  // of the range with its guards
  std::uint64_t pages = 0;

  bool freed() const { return accessible == 0 && bytes != 0; }
};

class AddressSpace {
 public:
  static constexpr unsigned kPageShift = 12;
  static constexpr std::uint64_t kPage = std::uint64_t{1} << kPageShift;

  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Poisoned and not initialised. Null when the addresses are used up. `bytes` 0 gives an address without bytes.
  Allocation* allocate(std::uint64_t bytes, MemoryKind kind);
  // Its addresses stay known as freed for the next thousands of allocations; then the record is gone.
  void free(Allocation& allocation);

  std::uint64_t base() const noexcept { return base_; }
  std::uint64_t size() const noexcept { return size_; }
  bool contains(const void* address) const noexcept { return reinterpret_cast<std::uint64_t>(address) - base_ < size_; }
  // Whose page this is, guards included; null if nobody's.
  Allocation* owner(std::uint64_t offset) const noexcept { return owners_[offset >> kPageShift]; }
  Allocation* find(const void* address) const noexcept {
    return contains(address) ? owner(reinterpret_cast<std::uint64_t>(address) - base_) : nullptr;
  }
  void* address(const Allocation& allocation) const noexcept {
    return reinterpret_cast<void*>(base_ + allocation.begin);
  }
  // Where the bytes are.
  std::byte* real(std::uint64_t offset) const noexcept { return real_ + offset; }
  std::byte* real(const void* address) const noexcept {
    return real_ + (reinterpret_cast<std::uint64_t>(address) - base_);
  }

  // Which bytes have been written, a bit each.
  void set_initialised(std::uint64_t offset, std::uint64_t bytes, bool initialised) noexcept;
  bool is_initialised(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  void copy_initialised(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept;
  // Of at most 16 bytes: one look.
  bool is_initialised_small(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, written_ + (offset >> 3), sizeof bits);
    const std::uint32_t wanted = ((std::uint32_t{1} << bytes) - 1) << (offset & 7);
    return (bits & wanted) == wanted;
  }
  void set_initialised_small(std::uint64_t offset, std::uint64_t bytes) noexcept {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, written_ + (offset >> 3), sizeof bits);
    bits |= ((std::uint32_t{1} << bytes) - 1) << (offset & 7);
    __builtin_memcpy(written_ + (offset >> 3), &bits, sizeof bits);
  }

  // Race cells of an allocation, made if need be; null without memory.
  RaceCell* cells(Allocation& allocation);
  void drop_cells(Allocation& allocation) noexcept;

  // Fills with the pattern of memory that nobody has written: NaN in every floating type, conspicuous as integers.
  void poison(std::uint64_t offset, std::uint64_t bytes) noexcept;

 private:
  std::uint64_t take_pages(std::uint64_t pages);  // 0: none left
  void reclaim();

  std::uint64_t base_ = 0;
  std::uint64_t size_ = 0;
  std::byte* real_ = nullptr;
  std::uint8_t* written_ = nullptr;
  Allocation** owners_ = nullptr;
  std::uint64_t next_page_ = 1;
  std::map<std::uint64_t, std::uint64_t> free_;                   // first page -> pages
  std::deque<Allocation*> quarantine_;                            // freed, oldest first
  std::map<std::uint64_t, std::unique_ptr<Allocation>> records_;  // by first page
};

}  // namespace sdfg::device::emulated
