// Regions of code memory: reservation, double mapping, and first-fit free lists with coalescing.
#include "runtime/memory_manager.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sdfg/error.hpp>
#include <string>
#include <utility>

#include "runtime/pages.hpp"
#include "runtime/process.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace sdfg::runtime {
namespace {

// Blocks of different objects never share a cache line: data of one program is written while others run.
constexpr std::size_t kGranule = 64;
// Free space of this size is given back to the system; smaller holes are kept for the next object.
constexpr std::size_t kReturnBytes = std::size_t{4} << 20;
constexpr std::size_t kSmallestRegion = std::size_t{16} << 20;

std::string errno_text(int error) {
  return std::string(std::strerror(error)) + " (errno " + std::to_string(error) + ")";
}

// RLIMIT_FSIZE holds for memory files too, and passing it raises SIGXFSZ, which ends the host.
bool may_size_files(std::size_t bytes) {
  rlimit limit{};
  errno = 0;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

// Free extents of one area by offset; neighbours are always merged.
class FreeList {
 public:
  explicit FreeList(std::size_t size) { free_.emplace(0, size); }

  std::optional<std::size_t> take(std::size_t size, std::size_t alignment) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const auto [begin, length] = *it;
      const std::size_t start = align_up(begin, alignment);
      if (start - begin > length || length - (start - begin) < size) continue;
      free_.erase(it);
      if (start > begin) free_.emplace(begin, start - begin);
      if (start + size < begin + length) free_.emplace(start + size, begin + length - start - size);
      return start;
    }
    return std::nullopt;
  }

  void give(std::size_t begin, std::size_t size) {
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && begin + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == begin) {
        before->second += size;
        return;
      }
    }
    free_.emplace(begin, size);
  }

 private:
  std::map<std::size_t, std::size_t> free_;
};

}  // namespace

// One reservation: [ execute | constant | data ] at `run_`, and a write view of the first two at `write_`.
class CodeRegion {
 public:
  static std::shared_ptr<CodeRegion> make(std::size_t bytes);
  ~CodeRegion();
  CodeRegion(const CodeRegion&) = delete;
  CodeRegion& operator=(const CodeRegion&) = delete;

  bool take(const std::array<CodeMemory::Request, kCodeAreas>& requests,
            std::array<CodeAllocation::Extent, kCodeAreas>& extents);
  void give(const std::array<CodeAllocation::Extent, kCodeAreas>& extents);
  std::size_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  std::size_t bytes() const { return sizes_[0] + sizes_[1] + sizes_[2]; }

 private:
  CodeRegion(std::byte* run, std::byte* write, int file, const std::array<std::size_t, kCodeAreas>& sizes)
      : run_(run),
        write_(write),
        file_(file),
        sizes_(sizes),
        free_{FreeList(sizes[0]), FreeList(sizes[1]), FreeList(sizes[2])} {}

  static std::size_t index(CodeArea area) { return static_cast<std::size_t>(area); }
  std::size_t start(std::size_t area) const { return area == 0 ? 0 : area == 1 ? sizes_[0] : sizes_[0] + sizes_[1]; }
  void release_pages(std::size_t area, std::size_t begin, std::size_t size) const;

  std::byte* run_;
  std::byte* write_;  // equals run_ where the system allows no double mapping
  int file_;          // -1 then
  std::array<std::size_t, kCodeAreas> sizes_;
  mutable std::mutex mutex_;
  std::array<FreeList, kCodeAreas> free_;
  std::size_t used_ = 0;
};

std::shared_ptr<CodeRegion> CodeRegion::make(std::size_t bytes) {
  // Half for code, a quarter each for constants and data.
  const std::size_t quarter = align_up(bytes / 4, kPage);
  const std::array<std::size_t, kCodeAreas> sizes = {2 * quarter, quarter, quarter};
  const std::size_t total = 4 * quarter;
  const std::size_t shared = sizes[0] + sizes[1];
  void* reserved = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  auto* run = static_cast<std::byte*>(reserved);

  int file = may_size_files(shared) ? memfd_create("sdfg-code", MFD_CLOEXEC | MFD_EXEC) : -1;
  if (file < 0 && errno == EINVAL) file = memfd_create("sdfg-code", MFD_CLOEXEC);  // before Linux 6.3
  void* write = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(shared)) == 0) {
    write = mmap(nullptr, shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (write == MAP_FAILED) {
      const int error = errno;
      close(file);
      munmap(reserved, total);
      errno = error;
      return nullptr;
    }
    const bool mapped = mmap(run, sizes[0], PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED &&
                        mmap(run + sizes[0], sizes[1], PROT_READ, MAP_SHARED | MAP_FIXED, file,
                             static_cast<off_t>(sizes[0])) != MAP_FAILED;
    if (!mapped) {
      munmap(write, shared);
      write = MAP_FAILED;
    } else {
      // A forked child must not be able to write into the code of its parent.
      madvise(write, shared, MADV_DONTFORK);
    }
  }
  if (write == MAP_FAILED) {
    if (file >= 0) close(file);
    file = -1;
    // Executable memory files are forbidden here (vm.memfd_noexec, a sandbox): one anonymous mapping that is both.
    if (mmap(run, shared, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
             -1, 0) == MAP_FAILED) {
      const int error = errno;
      munmap(reserved, total);
      throw Error(
          ErrorClass::kEnvironment, "the system forbids executable memory: " + errno_text(error), {},
          "allow memfd or anonymous executable mappings for this process (vm.memfd_noexec, SELinux execmem, sandbox)");
    }
    write = run;
  }
  if (mmap(run + shared, sizes[2], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
           0) == MAP_FAILED) {
    const int error = errno;
    if (write != run) munmap(write, shared);
    if (file >= 0) close(file);
    munmap(reserved, total);
    errno = error;
    return nullptr;
  }
  return std::shared_ptr<CodeRegion>(new CodeRegion(run, static_cast<std::byte*>(write), file, sizes));
}

CodeRegion::~CodeRegion() {
  if (write_ != run_) munmap(write_, sizes_[0] + sizes_[1]);
  munmap(run_, bytes());
  if (file_ >= 0) close(file_);
}

bool CodeRegion::take(const std::array<CodeMemory::Request, kCodeAreas>& requests,
                      std::array<CodeAllocation::Extent, kCodeAreas>& extents) {
  const std::lock_guard lock(mutex_);
  std::array<std::size_t, kCodeAreas> offsets{};
  for (std::size_t area = 0; area < kCodeAreas; ++area) {
    const std::size_t size = align_up(requests[area].size, kGranule);
    if (size == 0) continue;
    const auto offset = free_[area].take(size, std::max(requests[area].alignment, kGranule));
    if (!offset) {
      for (std::size_t taken = 0; taken < area; ++taken) {
        if (requests[taken].size != 0) free_[taken].give(offsets[taken], align_up(requests[taken].size, kGranule));
      }
      return false;
    }
    offsets[area] = *offset;
  }
  for (std::size_t area = 0; area < kCodeAreas; ++area) {
    const std::size_t size = align_up(requests[area].size, kGranule);
    if (size == 0) continue;
    std::byte* run = run_ + start(area) + offsets[area];
    std::byte* write = area == index(CodeArea::kData) ? run : write_ + start(area) + offsets[area];
    extents[area] = {write, run, size};
    used_ += size;
  }
  return true;
}

void CodeRegion::give(const std::array<CodeAllocation::Extent, kCodeAreas>& extents) {
  if (in_forked_child()) return;  // the pages belong to the parent
  const std::lock_guard lock(mutex_);
  for (std::size_t area = 0; area < kCodeAreas; ++area) {
    const auto& extent = extents[area];
    if (extent.size == 0) continue;
    used_ -= extent.size;
    const auto offset = static_cast<std::size_t>(extent.run - run_) - start(area);
    free_[area].give(offset, extent.size);
    if (extent.size >= kReturnBytes) release_pages(area, offset, extent.size);
  }
}

void CodeRegion::release_pages(std::size_t area, std::size_t begin, std::size_t size) const {
  const std::size_t first = align_up(begin, kPage);
  const std::size_t last = (begin + size) & ~(kPage - 1);
  if (last <= first) return;
  if (area == index(CodeArea::kData) || file_ < 0) {
    madvise(run_ + start(area) + first, last - first, MADV_DONTNEED);
  } else {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(start(area) + first),
              static_cast<off_t>(last - first));
  }
}

CodeAllocation::CodeAllocation(CodeAllocation&& other) noexcept
    : region_(std::move(other.region_)), extents_(std::exchange(other.extents_, {})) {}

CodeAllocation& CodeAllocation::operator=(CodeAllocation&& other) noexcept {
  if (this != &other) {
    if (region_) region_->give(extents_);
    region_ = std::move(other.region_);
    extents_ = std::exchange(other.extents_, {});
  }
  return *this;
}

CodeAllocation::~CodeAllocation() {
  if (region_) region_->give(extents_);
}

CodeMemory& CodeMemory::instance() {
  static auto* const memory = new CodeMemory();
  return *memory;
}

CodeMemory::CodeMemory(std::size_t region_bytes) : region_bytes_(region_bytes) {}

CodeAllocation CodeMemory::allocate(const std::array<Request, kCodeAreas>& requests) {
  require_original_process("loading code");
  CodeAllocation allocation;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& region : regions_) {
      if (region->take(requests, allocation.extents_)) {
        allocation.region_ = region;
        break;
      }
    }
    if (!allocation.region_) {
      std::size_t needed = kSmallestRegion;
      for (const auto& request : requests) needed = std::max(needed, 4 * (request.size + request.alignment));
      // A process under RLIMIT_AS may not have the wished address space; smaller regions do as well.
      std::shared_ptr<CodeRegion> region;
      for (std::size_t bytes = std::max(region_bytes_, needed); !region && bytes >= needed; bytes /= 4) {
        region = CodeRegion::make(bytes);
      }
      if (!region) region = CodeRegion::make(needed);
      if (!region || !region->take(requests, allocation.extents_)) {
        throw Error(ErrorClass::kResource,
                    "no address space of " + std::to_string(needed) + " bytes for loaded code: " + errno_text(errno));
      }
      regions_.push_back(region);
      allocation.region_ = region;
    }
  }
  for (const auto& extent : allocation.extents_) {
    if (extent.size != 0) std::memset(extent.write, 0, extent.size);
  }
  return allocation;
}

CodeMemoryStats CodeMemory::stats() const {
  const std::lock_guard lock(mutex_);
  CodeMemoryStats stats;
  stats.regions = regions_.size();
  for (const auto& region : regions_) {
    stats.used_bytes += region->used();
    stats.reserved_bytes += region->bytes();
  }
  return stats;
}

}  // namespace sdfg::runtime
