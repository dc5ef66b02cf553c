// Arena chunks, their stacks of blocks, and the pool.
#include "runtime/arena.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "runtime/pages.hpp"

namespace sdfg::runtime {
namespace {

constexpr std::size_t kSpreadFrom = std::size_t{32} << 10;
constexpr std::size_t kSpreadLines = 17;
constexpr std::size_t kFirstChunk = std::size_t{64} << 10;

struct MemorySize {
  std::size_t physical = 0;
  std::size_t with_swap = std::numeric_limits<std::size_t>::max();
};

const MemorySize& memory_size() noexcept {
  static const MemorySize size = [] {
    struct sysinfo info{};
    if (sysinfo(&info) != 0) return MemorySize{};
    const std::size_t unit = info.mem_unit;
    return MemorySize{info.totalram * unit, (info.totalram + info.totalswap) * unit};
  }();
  return size;
}

class Guard {
 public:
  explicit Guard(std::atomic_flag& flag) noexcept : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Guard() { flag_.clear(std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void* map_pages(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes == 0 || bytes > memory_size().with_swap) return nullptr;
  alignment = std::max(alignment, bytes >= kHugePage ? kHugePage : kPage);
  const std::size_t size = align_up(bytes, kPage);
  const std::size_t extra = alignment > kPage ? alignment : 0;
  if (size > std::numeric_limits<std::size_t>::max() - extra) return nullptr;
  void* raw = mmap(nullptr, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(raw);
  auto* aligned =
      first + (align_up(reinterpret_cast<std::uintptr_t>(first), alignment) - reinterpret_cast<std::uintptr_t>(first));
  if (aligned > first) munmap(first, static_cast<std::size_t>(aligned - first));
  if (const auto tail = static_cast<std::size_t>(first + size + extra - (aligned + size)); tail > 0) {
    munmap(aligned + size, tail);
  }
  if (bytes >= kHugePage) madvise(aligned, size, MADV_HUGEPAGE);
  return aligned;
}

void unmap_pages(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr) munmap(memory, align_up(bytes, kPage));
}

ArenaPart::~ArenaPart() {
  for (const Chunk& chunk : chunks_) unmap_pages(chunk.base, chunk.size);
}

void* ArenaPart::place(std::size_t index, std::size_t bytes, std::size_t alignment) {
  Chunk& chunk = chunks_[index];
  const auto base = reinterpret_cast<std::uintptr_t>(chunk.base);
  const std::size_t start = align_up(base + chunk.top, alignment) - base;
  if (start > chunk.size || chunk.size - start < bytes) return nullptr;
  blocks_.push_back({chunk.base + start, index, chunk.top, false});
  chunk.top = start + bytes;
  return chunk.base + start;
}

bool ArenaPart::add_chunk(std::size_t bytes, std::size_t alignment) {
  const std::size_t needed = bytes + (alignment > kPage ? alignment : 0);
  std::size_t size = std::max({needed, kFirstChunk, std::exchange(wished_, 0)});
  // Double what is held while that is small; later exactly what is asked for, rounded to huge pages.
  if (const std::size_t held = held_bytes(); held < (std::size_t{16} << 20)) size = std::max(size, 2 * held);
  size = align_up(size, size >= kHugePage ? kHugePage : kPage);
  chunks_.reserve(chunks_.size() + 1);
  void* base = map_pages(size, kPage);
  if (base == nullptr && size > needed) {
    size = align_up(needed, kPage);
    base = map_pages(size, kPage);
  }
  if (base == nullptr) return false;
  chunks_.push_back({static_cast<std::byte*>(base), size, 0});
  held_.fetch_add(size, std::memory_order_relaxed);
  return true;
}

void* ArenaPart::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4 || alignment > (std::size_t{1} << 30)) return nullptr;
  // Whole cache lines, so that two containers never share one (vector tails may also be read up to the end of a line).
  bytes = align_up(std::max<std::size_t>(bytes, 1), kArenaAlignment);
  // Containers of a power of two bytes would all start at one offset in a page, and then equal indices of several of
  // them compete for the same cache sets and alias in the store buffer. An odd number of lines in between spreads them.
  if (bytes >= kSpreadFrom) bytes += kSpreadLines * kArenaAlignment;
  alignment = std::max(alignment, kArenaAlignment);
  const Guard guard(busy_);
  try {
    for (; current_ < chunks_.size(); ++current_) {
      if (void* memory = place(current_, bytes, alignment)) return memory;
      if (current_ + 1 == chunks_.size()) break;
    }
    if (!add_chunk(bytes, alignment)) return nullptr;
    current_ = chunks_.size() - 1;
    return place(current_, bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void ArenaPart::pop_free() noexcept {
  while (!blocks_.empty() && blocks_.back().free) {
    const Block& block = blocks_.back();
    chunks_[block.chunk].top = block.restore;
    current_ = block.chunk;
    blocks_.pop_back();
  }
  if (blocks_.empty()) current_ = 0;
}

bool ArenaPart::release(const void* memory) noexcept {
  const Guard guard(busy_);
  for (auto it = blocks_.rbegin(); it != blocks_.rend(); ++it) {
    if (it->memory != memory || it->free) continue;
    it->free = true;
    if (it == blocks_.rbegin()) pop_free();
    return true;
  }
  return false;
}

void ArenaPart::reset() noexcept {
  const Guard guard(busy_);
  blocks_.clear();
  current_ = 0;
  if (chunks_.size() > 1) {
    std::size_t total = 0;
    for (const Chunk& chunk : chunks_) {
      total += chunk.size;
      unmap_pages(chunk.base, chunk.size);
    }
    chunks_.clear();
    held_.store(0, std::memory_order_relaxed);
    wished_ = total;
  } else if (!chunks_.empty()) {
    chunks_.front().top = 0;
  }
}

void ArenaPart::drop() noexcept {
  const Guard guard(busy_);
  blocks_.clear();
  for (const Chunk& chunk : chunks_) unmap_pages(chunk.base, chunk.size);
  chunks_.clear();
  held_.store(0, std::memory_order_relaxed);
  current_ = 0;
  wished_ = 0;
}

Arena::~Arena() {
  for (auto& part : parts_) delete part.load(std::memory_order_relaxed);
}

ArenaPart* Arena::part(int thread) noexcept {
  auto& slot = parts_[static_cast<std::size_t>(thread < 0 ? 0 : thread) % kParts];
  ArenaPart* found = slot.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  auto* fresh = new (std::nothrow) ArenaPart;
  if (fresh == nullptr) return nullptr;
  if (slot.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) return fresh;
  delete fresh;
  return found;
}

void* Arena::allocate(int thread, std::size_t bytes, std::size_t alignment) noexcept {
  ArenaPart* mine = part(thread);
  return mine != nullptr ? mine->allocate(bytes, alignment) : nullptr;
}

void Arena::release(int thread, const void* memory) noexcept {
  if (ArenaPart* mine = part(thread); mine != nullptr && mine->release(memory)) return;
  // Allocated by another thread of the call.
  for (auto& slot : parts_) {
    if (ArenaPart* other = slot.load(std::memory_order_acquire); other != nullptr && other->release(memory)) return;
  }
}

void Arena::reset() noexcept {
  for (auto& slot : parts_) {
    if (ArenaPart* each = slot.load(std::memory_order_acquire)) each->reset();
  }
}

void Arena::drop() noexcept {
  for (auto& slot : parts_) {
    if (ArenaPart* each = slot.load(std::memory_order_acquire)) each->drop();
  }
}

std::size_t Arena::held_bytes() const noexcept {
  std::size_t total = 0;
  for (const auto& slot : parts_) {
    if (const ArenaPart* each = slot.load(std::memory_order_acquire)) total += each->held_bytes();
  }
  return total;
}

ArenaPool::ArenaPool(std::size_t cap) : cap_(cap) {}

std::size_t ArenaPool::default_cap() noexcept {
  return std::min(memory_size().physical / 4, std::size_t{4} << 30);
}

std::unique_ptr<Arena> ArenaPool::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto arena = std::move(idle_.back());
      idle_.pop_back();
      held_ -= arena->held_bytes();
      return arena;
    }
  }
  return std::unique_ptr<Arena>(new (std::nothrow) Arena);
}

void ArenaPool::give_back(std::unique_ptr<Arena> arena) noexcept {
  arena->reset();
  try {
    const std::lock_guard lock(mutex_);
    if (arena->held_bytes() > cap_ - std::min(cap_, held_)) arena->drop();
    held_ += arena->held_bytes();
    idle_.push_back(std::move(arena));
  } catch (const std::bad_alloc&) {
    return;  // not kept
  }
}

void ArenaPool::set_cap(std::size_t cap) noexcept {
  const std::lock_guard lock(mutex_);
  cap_ = cap;
  for (auto& arena : idle_) {
    if (held_ <= cap_) break;
    held_ -= arena->held_bytes();
    arena->drop();
  }
}

std::size_t ArenaPool::held_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace sdfg::runtime
