// Reservation, bookkeeping by page, poison and the shadow of what was written.
#include "device/emulated/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/emulated/race.hpp"

namespace sdfg::device::emulated {

namespace {

// Address space only: memory is used where it is touched. Less where the process may not have that much.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // its checker keeps several bytes per byte
#else
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;
#endif
constexpr std::uint64_t kLeastBytes = std::uint64_t{256} << 20;
// Every 16 bits of it are a NaN of both 16-bit types, so every 32 and 64 bits are one too.
constexpr std::uint16_t kPoison = 0xfff5;
constexpr std::uint64_t kKeepBelow = 16 * 1024;  // freed ranges smaller than this keep their pages
constexpr std::size_t kMostQuarantined = 4096;   // freed ranges whose addresses are not given out again yet

void* reserve(std::uint64_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + AddressSpace::kPage - 1) >> AddressSpace::kPageShift;
}

}  // namespace

AddressSpace::AddressSpace() {
  for (size_ = kMostBytes; size_ >= kLeastBytes; size_ /= 2) {
    void* guarded = reserve(size_, PROT_NONE);
    void* real = reserve(size_, PROT_READ | PROT_WRITE);
    void* written = reserve(size_ / 8 + kPage, PROT_READ | PROT_WRITE);
    void* owners = reserve((size_ >> kPageShift) * sizeof(Allocation*), PROT_READ | PROT_WRITE);
    if (guarded != nullptr && real != nullptr && written != nullptr && owners != nullptr) {
      base_ = reinterpret_cast<std::uint64_t>(guarded);
      real_ = static_cast<std::byte*>(real);
      written_ = static_cast<std::uint8_t*>(written);
      owners_ = static_cast<Allocation**>(owners);
      madvise(real, size_, MADV_DONTDUMP);
      return;
    }
    if (guarded != nullptr) munmap(guarded, size_);
    if (real != nullptr) munmap(real, size_);
    if (written != nullptr) munmap(written, size_ / 8 + kPage);
    if (owners != nullptr) munmap(owners, (size_ >> kPageShift) * sizeof(Allocation*));
  }
  throw Error(ErrorClass::kResource, "there is no address space for the emulated device", {},
              "raise the limit of the process' address space (ulimit -v)");
}

AddressSpace::~AddressSpace() {
  for (auto& [page, record] : records_) drop_cells(*record);
  munmap(reinterpret_cast<void*>(base_), size_);
  munmap(real_, size_);
  munmap(written_, size_ / 8 + kPage);
  munmap(owners_, (size_ >> kPageShift) * sizeof(Allocation*));
}

std::uint64_t AddressSpace::take_pages(std::uint64_t pages) {
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    if (at->second < pages) continue;
    const auto [first, length] = *at;
    free_.erase(at);
    if (length > pages) free_.emplace(first + pages, length - pages);
    return first;
  }
  const std::uint64_t limit = size_ >> kPageShift;
  if (pages >= limit - next_page_) return 0;
  const std::uint64_t first = next_page_;
  next_page_ += pages;
  return first;
}

// Gives the addresses of what was freed longest ago back, half of the quarantine at a time.
void AddressSpace::reclaim() {
  for (std::size_t n = (quarantine_.size() + 1) / 2; n > 0; --n) {
    const Allocation& gone = *quarantine_.front();
    quarantine_.pop_front();
    std::uint64_t first = gone.first_page;
    std::uint64_t pages = gone.pages;
    std::fill_n(owners_ + first, pages, nullptr);
    records_.erase(first);
    auto next = free_.lower_bound(first);
    if (next != free_.end() && next->first == first + pages) {
      pages += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == first) {
        first = before->first;
        pages += before->second;
        free_.erase(before);
      }
    }
    free_.emplace(first, pages);
  }
}

Allocation* AddressSpace::allocate(std::uint64_t bytes, MemoryKind kind) {
  if (bytes > size_) return nullptr;
  const std::uint64_t own = std::max<std::uint64_t>(pages_of(bytes), 1);
  // Wider guards for larger arrays: a wrong row or plane should still hit one.
  const std::uint64_t guard = std::clamp<std::uint64_t>(own / 2, 1, 256);
  const std::uint64_t pages = own + 2 * guard;
  std::uint64_t first = take_pages(pages);
  while (first == 0 && !quarantine_.empty()) {
    reclaim();
    first = take_pages(pages);
  }
  if (first == 0) return nullptr;
  auto record = std::make_unique<Allocation>();
  record->begin = (first + guard) << kPageShift;
  record->accessible = bytes;
  record->bytes = bytes;
  record->kind = kind;
  record->first_page = first;
  record->pages = pages;
  std::fill_n(owners_ + first, pages, record.get());
  poison(record->begin, bytes);
  set_initialised(record->begin, bytes, false);
  Allocation* result = record.get();
  records_[first] = std::move(record);
  return result;
}

void AddressSpace::free(Allocation& allocation) {
  allocation.accessible = 0;
  drop_cells(allocation);
  if (allocation.bytes >= kKeepBelow) {
    const std::uint64_t length = pages_of(allocation.bytes) << kPageShift;
    madvise(real_ + allocation.begin, length, MADV_DONTNEED);
  }
  quarantine_.push_back(&allocation);
  if (quarantine_.size() > kMostQuarantined) reclaim();
}

void AddressSpace::poison(std::uint64_t offset, std::uint64_t bytes) noexcept {
  static constexpr std::uint64_t kWord = std::uint64_t{kPoison} * 0x0001000100010001u;
  std::byte* at = real_ + offset;
  for (; bytes >= sizeof kWord; bytes -= sizeof kWord, at += sizeof kWord) std::memcpy(at, &kWord, sizeof kWord);
  std::memcpy(at, &kWord, bytes);
}

void AddressSpace::set_initialised(std::uint64_t offset, std::uint64_t bytes, bool initialised) noexcept {
  const auto set = [&](std::uint64_t bit) {
    const auto mask = static_cast<std::uint8_t>(1u << (bit & 7));
    std::uint8_t& group = written_[bit >> 3];
    group = static_cast<std::uint8_t>(initialised ? group | mask : group & ~mask);
  };
  std::uint64_t end = offset + bytes;
  for (; offset < end && (offset & 7) != 0; ++offset) set(offset);
  for (; end > offset && (end & 7) != 0; --end) set(end - 1);
  if (end > offset) std::memset(written_ + (offset >> 3), initialised ? 0xff : 0, (end - offset) >> 3);
}

bool AddressSpace::is_initialised(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  for (; bytes > 16; bytes -= 16, offset += 16) {
    if (!is_initialised_small(offset, 16)) return false;
  }
  return is_initialised_small(offset, bytes);
}

void AddressSpace::copy_initialised(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
  if ((to & 7) == 0 && (from & 7) == 0) {
    std::memmove(written_ + (to >> 3), written_ + (from >> 3), bytes >> 3);
    to += bytes & ~std::uint64_t{7};
    from += bytes & ~std::uint64_t{7};
    bytes &= 7;
  }
  for (; bytes > 0; --bytes, ++to, ++from) set_initialised(to, 1, is_initialised_small(from, 1));
}

RaceCell* AddressSpace::cells(Allocation& allocation) {
  if (allocation.cells == nullptr) {
    allocation.cells = static_cast<RaceCell*>(std::calloc(allocation.bytes / 4 + 1, sizeof(RaceCell)));
  }
  return allocation.cells;
}

void AddressSpace::drop_cells(Allocation& allocation) noexcept {
  std::free(allocation.cells);
  allocation.cells = nullptr;
}

}  // namespace sdfg::device::emulated
