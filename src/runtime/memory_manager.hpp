// Memory for loaded code: one reservation per 1 GiB of code with three areas (RX, R, RW), so that loading an object
// makes no system call and leaves the number of mappings as it was.
//
// Executable and constant areas are one memfd mapped twice: the loader writes through the write view, the code is run
// through the other, and no page is ever both writable and executable at one address. LLVM's memory managers map (and
// mprotect) three areas per object, which runs into the kernel's limit of 65,530 mappings at some 21,000 objects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sdfg::runtime {

enum class CodeArea : std::uint8_t { kExecute, kConstant, kData };
inline constexpr std::size_t kCodeAreas = 3;

class CodeRegion;

// What one object occupies: at most one extent per area. Frees them on destruction. Movable.
class CodeAllocation {
 public:
  struct Extent {
    std::byte* write = nullptr;  // where the loader writes
    std::byte* run = nullptr;    // where the code sees it
    std::size_t size = 0;
  };

  CodeAllocation() = default;
  CodeAllocation(CodeAllocation&& other) noexcept;
  CodeAllocation& operator=(CodeAllocation&& other) noexcept;
  ~CodeAllocation();

  const Extent& extent(CodeArea area) const { return extents_[static_cast<std::size_t>(area)]; }

 private:
  friend class CodeMemory;
  std::shared_ptr<CodeRegion> region_;
  std::array<Extent, kCodeAreas> extents_{};
};

struct CodeMemoryStats {
  std::size_t regions = 0;
  std::size_t used_bytes = 0;      // of live allocations
  std::size_t reserved_bytes = 0;  // address space, run views
};

// The process' code memory. Thread-safe. The singleton is never destroyed, so that code may run during exit.
class CodeMemory {
 public:
  struct Request {
    std::size_t size = 0;
    std::size_t alignment = 1;  // a power of two
  };

  static CodeMemory& instance();

  explicit CodeMemory(std::size_t region_bytes = std::size_t{1} << 30);

  // All extents of one allocation lie within 2 GiB of each other (one region). Contents are zero.
  // Throws Error of class resource (no address space) or environment (executable memory is forbidden).
  CodeAllocation allocate(const std::array<Request, kCodeAreas>& requests);
  CodeMemoryStats stats() const;

 private:
  mutable std::mutex mutex_;
  std::size_t region_bytes_;
  std::vector<std::shared_ptr<CodeRegion>> regions_;
};

}  // namespace sdfg::runtime
