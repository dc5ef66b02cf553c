// The disk cache: one immutable file per compiled program; the directory is the index. A miss is always safe, so
// nothing here throws for what it finds on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "runtime/cache_entry.hpp"

namespace sdfg {
struct Options;
}

namespace sdfg::runtime {

enum class DiskCacheMode : std::uint8_t {
  kReadWrite,
  kReadOnly,
  kRefresh,  // every look-up is a miss, and a store replaces what was there
};

struct DiskCacheOptions {
  std::string directory;  // empty: default_cache_directory()
  DiskCacheMode mode = DiskCacheMode::kReadWrite;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // 0: no limit
  std::int64_t max_age_seconds = 0;                  // since the last use; 0: no limit
  // Called with a full sentence; `important` for what a user should see (at most once per cause and process).
  std::function<void(bool important, const std::string& text)> log;
};

// From resolved options: directory, mode, caps; the log goes to the logger "cache". Not for CacheMode kOff and kMemory.
DiskCacheOptions disk_cache_options(const Options& resolved);

// SDFG_CACHE_DIR, else $XDG_CACHE_HOME/sdfg, else $HOME/.cache/sdfg; empty if none is an absolute path.
std::string default_cache_directory();

struct DiskCacheItem {
  Digest key;
  std::uint64_t bytes = 0;
  std::int64_t last_used = 0;  // seconds since 1970
};

struct DiskCacheStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t stores = 0;
  std::int64_t corrupt = 0;     // found damaged
  std::int64_t mismatches = 0;  // right name, other input record
};

struct PruneResult {
  std::int64_t removed = 0;
  std::uint64_t removed_bytes = 0;
  std::int64_t kept = 0;
  std::uint64_t kept_bytes = 0;
};

// Thread-safe; any number of processes share a directory. File: <directory>/<2 hex>/<64 hex of the key>.
class DiskCache {
 public:
  // Creates the directory (0700). If it is a symbolic link, belongs to somebody else, or others may write to it, the
  // cache is off and one warning says so.
  explicit DiskCache(DiskCacheOptions options);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  bool usable() const noexcept { return folder_.load(std::memory_order_acquire) >= 0; }
  bool writable() const noexcept { return usable() && writable_.load(std::memory_order_relaxed); }
  const std::string& directory() const noexcept { return options_.directory; }

  // The entry of this key whose input record is `record`, byte for byte.
  std::optional<CacheEntry> load(const Digest& key, std::span<const std::uint8_t> record);
  // Publishes unless the key exists. Returns whether this call published. A full or read-only disk ends writing for the
  // process; a directory that was removed meanwhile is made again.
  bool store(const Digest& key, const CacheEntry& entry);

  // For the command-line tool; these look at everything and may take long.
  std::vector<DiskCacheItem> list() const;                  // sorted by key
  std::optional<CacheEntry> read(const Digest& key) const;  // without comparing the record
  std::vector<Digest> verify() const;                       // keys of damaged entries, sorted
  bool remove(const Digest& key);
  // Removes entries beyond the caps (0: none), least recently used first, and temporaries that a killed writer left.
  PruneResult prune(std::uint64_t max_bytes, std::int64_t max_age_seconds);
  DiskCacheStats stats() const;

 private:
  struct Found {
    std::vector<std::uint8_t> image;
    std::uint64_t inode = 0;
  };
  int open_folder() const;  // -1: the log says why
  bool make_folder_again();
  int open_shard(const Digest& key, bool create) const;
  std::optional<Found> read_file(const Digest& key) const;
  void remove_damaged(const Digest& key, std::uint64_t inode, const std::string& why);
  void stop_writing(const std::string& why);
  void sweep_if_due();
  void log(bool important, const std::string& text) const;

  DiskCacheOptions options_;
  // All paths are relative to this descriptor, so that the directory can't be swapped under us.
  std::atomic<int> folder_{-1};
  std::mutex reopening_;
  std::vector<int> removed_folders_;  // descriptors of removed directories, which other threads may still be using
  std::atomic<bool> writable_{false};
  std::atomic<std::int64_t> next_sweep_check_{0};
  mutable std::atomic<std::int64_t> hits_{0}, misses_{0}, stores_{0}, corrupt_{0}, mismatches_{0};
};

}  // namespace sdfg::runtime
