// Memory of the transients of one call: stack-like, kept between calls, huge pages for large chunks.
//
// A Program owns a pool of arenas; a call takes one at its first allocation and gives it back when it finishes. Inside
// a parallel region each thread allocates from a part of its own, so that allocation takes no contended lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sdfg::runtime {

inline constexpr std::size_t kArenaAlignment = 64;
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// A growing stack of chunks. Blocks are usually released in reverse order; others become free when those above them
// are. One thread uses it at a time, guarded by a spin lock that is normally uncontended.
class ArenaPart {
 public:
  ArenaPart() = default;
  ~ArenaPart();
  ArenaPart(const ArenaPart&) = delete;
  ArenaPart& operator=(const ArenaPart&) = delete;

  // nullptr when the system has no memory. `alignment` is a power of two; the result is aligned to at least 64 bytes.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  // True if the block was of this part.
  bool release(const void* memory) noexcept;
  // Frees all blocks. Several chunks are given back and replaced by one of their total size at the next allocation.
  void reset() noexcept;
  // Gives all chunks back; no block may be live.
  void drop() noexcept;
  std::size_t held_bytes() const noexcept { return held_.load(std::memory_order_relaxed); }

 private:
  struct Chunk {
    std::byte* base = nullptr;
    std::size_t size = 0;
    std::size_t top = 0;  // bytes in use
  };
  struct Block {
    std::byte* memory;
    std::size_t chunk;
    std::size_t restore;  // the chunk's top before this block
    bool free;
  };
  void* place(std::size_t chunk, std::size_t bytes, std::size_t alignment);
  bool add_chunk(std::size_t bytes, std::size_t alignment);
  void pop_free() noexcept;

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::vector<Chunk> chunks_;
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // chunk allocated from
  std::size_t wished_ = 0;   // size of the next first chunk
  std::atomic<std::size_t> held_{0};
};

class Arena {
 public:
  ~Arena();
  void* allocate(int thread, std::size_t bytes, std::size_t alignment) noexcept;
  void release(int thread, const void* memory) noexcept;
  void reset() noexcept;
  void drop() noexcept;
  std::size_t held_bytes() const noexcept;

 private:
  // Parts by thread index; threads beyond the table share its slots (the parts are locked).
  static constexpr std::size_t kParts = 256;
  ArenaPart* part(int thread) noexcept;
  std::array<std::atomic<ArenaPart*>, kParts> parts_{};
};

// Arenas of one Program that no call uses at the moment, the most recently used first.
class ArenaPool {
 public:
  // Bytes kept between calls; beyond it an arena gives its chunks back when its call finishes.
  explicit ArenaPool(std::size_t cap = default_cap());
  std::unique_ptr<Arena> acquire();
  void give_back(std::unique_ptr<Arena> arena) noexcept;
  void set_cap(std::size_t cap) noexcept;
  std::size_t held_bytes() const noexcept;

  // A quarter of the machine's memory, at most 4 GiB.
  static std::size_t default_cap() noexcept;

 private:
  mutable std::mutex mutex_;
  std::size_t cap_;
  std::size_t held_ = 0;
  std::vector<std::unique_ptr<Arena>> idle_;
};

// Page-aligned zeroed memory straight from the system, huge pages from 2 MB; nullptr when there is none. A request
// beyond all physical memory and swap is refused at once, since an overcommitting kernel would grant it and kill the
// host later.
void* map_pages(std::size_t bytes, std::size_t alignment) noexcept;
void unmap_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace sdfg::runtime
