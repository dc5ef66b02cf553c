// Files of the disk cache.
#include "runtime/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sdfg/options.hpp>
#include <utility>

#include "base/log.hpp"
#include "base/write_file.hpp"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

namespace sdfg::runtime {
namespace {

constexpr std::uint64_t kMostEntry = std::uint64_t{2} << 30;
constexpr std::int64_t kSweepInterval = 3600;
constexpr std::int64_t kTemporaryAge = 3600;
constexpr std::int64_t kTouchInterval = 3600;  // last use is kept to the hour, so that a hit seldom writes
constexpr const char* kStamp = "sweep.stamp";
constexpr const char* kTemporaryPrefix = ".tmp-";

class File {
 public:
  explicit File(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

std::int64_t seconds_now() {
  return static_cast<std::int64_t>(std::time(nullptr));
}

std::string error_text(int error) {
  return std::strerror(error);
}

std::string shard_of(const Digest& key) {
  return key.hex().substr(0, 2);
}

// The names in an open directory, sorted. Errors read as the end.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  DIR* stream = fdopendir(copy);
  if (stream == nullptr) {
    close(copy);
    return names;
  }
  while (const dirent* item = readdir(stream)) {
    const std::string name = item->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<Digest> key_of(const std::string& name) {
  Digest key;
  if (name.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const int high = digit_of(name[2 * i]);
    const int low = digit_of(name[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return key;
}

bool is_shard_name(const std::string& name) {
  return name.size() == 2 && digit_of(name[0]) >= 0 && digit_of(name[1]) >= 0;
}

bool owned_and_private(const struct stat& info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// mkdir -p of the parents with the usual mode, then the directory itself for us alone.
bool make_directories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (mkdir(parent.c_str(), 0777) != 0 && errno != EEXIST) return false;
  }
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

// Moves a file to a name that must not exist; EEXIST otherwise.
bool publish(int folder, const std::string& from, const std::string& to) {
#ifdef SYS_renameat2
  if (syscall(SYS_renameat2, folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != ENOSYS && errno != EINVAL) return false;
#endif
  if (linkat(folder, from.c_str(), folder, to.c_str(), 0) == 0) {
    unlinkat(folder, from.c_str(), 0);
    return true;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK) return false;
  // A file system without hard links. Two writers of one key write the same input's result, so the race is harmless.
  if (faccessat(folder, to.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(folder, from.c_str(), folder, to.c_str()) == 0;
}

std::string random_name() {
  std::uint64_t words[2] = {};
  if (getrandom(words, sizeof(words), 0) != sizeof(words)) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    words[0] = static_cast<std::uint64_t>(now.tv_nsec) * 1'000'003 + static_cast<std::uint64_t>(getpid());
    words[1] = static_cast<std::uint64_t>(now.tv_sec);
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%s%016llx%016llx", kTemporaryPrefix, static_cast<unsigned long long>(words[0]),
                static_cast<unsigned long long>(words[1]));
  return text;
}

}  // namespace

DiskCacheOptions disk_cache_options(const Options& resolved) {
  DiskCacheOptions options;
  options.directory = resolved.cache_dir.value_or("");
  const CacheMode mode = resolved.cache.value_or(CacheMode::kOn);
  options.mode = mode == CacheMode::kReadOnly  ? DiskCacheMode::kReadOnly
                 : mode == CacheMode::kRefresh ? DiskCacheMode::kRefresh
                                               : DiskCacheMode::kReadWrite;
  if (resolved.cache_max_size)
    options.max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(*resolved.cache_max_size, 0));
  if (resolved.cache_max_age) options.max_age_seconds = *resolved.cache_max_age;
  options.log = [](bool important, const std::string& text) {
    if (important) {
      warn_once(Logger::kCache, text);
    } else {
      sdfg::log(Logger::kCache, LogLevel::kInfo, text);
    }
  };
  return options;
}

std::string default_cache_directory() {
  const auto absolute = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text != nullptr && text[0] == '/' ? text : "";
  };
  if (std::string chosen = absolute("SDFG_CACHE_DIR"); !chosen.empty()) return chosen;
  if (std::string base = absolute("XDG_CACHE_HOME"); !base.empty()) return base + "/sdfg";
  if (std::string home = absolute("HOME"); !home.empty()) return home + "/.cache/sdfg";
  return {};
}

DiskCache::DiskCache(DiskCacheOptions options) : options_(std::move(options)) {
  if (options_.directory.empty()) options_.directory = default_cache_directory();
  while (options_.directory.size() > 1 && options_.directory.back() == '/') options_.directory.pop_back();
  if (options_.directory.empty()) {
    log(true, "The disk cache is off: none of SDFG_CACHE_DIR, XDG_CACHE_HOME and HOME names an absolute path.");
    return;
  }
  folder_ = open_folder();
  if (usable()) writable_ = options_.mode != DiskCacheMode::kReadOnly;
}

DiskCache::~DiskCache() {
  if (folder_ >= 0) close(folder_);
  for (const int folder : removed_folders_) close(folder);
}

void DiskCache::log(bool important, const std::string& text) const {
  if (options_.log) options_.log(important, text);
}

int DiskCache::open_folder() const {
  const std::string& path = options_.directory;
  if (options_.mode != DiskCacheMode::kReadOnly && !make_directories(path)) {
    log(true, "The disk cache is off: its directory '" + path + "' cannot be created: " + error_text(errno) + ".");
    return -1;
  }
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    const bool link = errno == ELOOP || errno == ENOTDIR;
    log(true,
        "The disk cache is off: '" + path + "' " +
            (link ? std::string("is a symbolic link or no directory") : "cannot be opened: " + error_text(errno)) +
            ".");
    return -1;
  }
  struct stat info{};
  if (fstat(folder, &info) != 0 || !owned_and_private(info)) {
    close(folder);
    log(true, "The disk cache is off: '" + path + "' belongs to another user or others may write to it.");
    return -1;
  }
  return folder;
}

// True if the directory had been removed and is there again.
bool DiskCache::make_folder_again() {
  const std::lock_guard lock(reopening_);
  const int before = folder_;
  struct stat ours{}, there{};
  if (fstat(before, &ours) != 0) return false;
  const bool exists = lstat(options_.directory.c_str(), &there) == 0;
  if (exists && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) return true;  // another thread was first
  const int folder = open_folder();
  if (folder < 0) return false;
  removed_folders_.push_back(before);
  folder_ = folder;
  log(false, "The directory '" + options_.directory + "' of the disk cache was removed, and has been made again.");
  return true;
}

int DiskCache::open_shard(const Digest& key, bool create) const {
  const std::string name = shard_of(key);
  if (create && mkdirat(folder_, name.c_str(), 0700) != 0 && errno != EEXIST) return -1;
  const int shard = openat(folder_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (shard < 0) return -1;
  struct stat info{};
  if (fstat(shard, &info) == 0 && owned_and_private(info)) return shard;
  close(shard);
  errno = EACCES;
  return -1;
}

std::optional<DiskCache::Found> DiskCache::read_file(const Digest& key) const {
  if (!usable()) return std::nullopt;
  const File shard(open_shard(key, false));
  if (!shard) return std::nullopt;
  const File file(openat(shard.get(), key.hex().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::nullopt;
  struct stat info{};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || !owned_and_private(info)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > kMostEntry) return std::nullopt;
  // Read, not mapped: a file that shrinks meanwhile must not raise SIGBUS in the host.
  Found found;
  found.inode = info.st_ino;
  found.image.resize(size);
  std::size_t at = 0;
  while (at < size) {
    const ssize_t got = ::read(file.get(), found.image.data() + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  found.image.resize(at);
  if (info.st_atime + kTouchInterval < seconds_now() && writable()) {
    const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    futimens(file.get(), times);
  }
  return found;
}

void DiskCache::remove_damaged(const Digest& key, std::uint64_t inode, const std::string& why) {
  ++corrupt_;
  log(false, "The cache entry " + key.hex() + " is damaged (" + why + ") and is not used.");
  if (!writable()) return;
  const File shard(open_shard(key, false));
  if (!shard) return;
  // Not if somebody has replaced it in the meantime.
  struct stat info{};
  const std::string name = key.hex();
  if (fstatat(shard.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_ino == inode) {
    unlinkat(shard.get(), name.c_str(), 0);
  }
}

void DiskCache::stop_writing(const std::string& why) {
  if (!writable_.exchange(false)) return;
  log(true, "Nothing more is written to the disk cache '" + options_.directory + "' by this process: " + why + ".");
}

std::optional<CacheEntry> DiskCache::load(const Digest& key, std::span<const std::uint8_t> record) {
  if (options_.mode == DiskCacheMode::kRefresh) return std::nullopt;
  std::optional<Found> found;
  std::optional<CacheEntry> entry;
  std::string why;
  try {
    found = read_file(key);
    if (found) entry = decode_entry(found->image, &why);
  } catch (const std::exception& problem) {  // no memory for it
    log(false, "The cache entry " + key.hex() + " could not be read: " + problem.what() + ".");
    ++misses_;
    return std::nullopt;
  }
  if (!found) {
    ++misses_;
    return std::nullopt;
  }
  if (!entry) {
    ++misses_;
    remove_damaged(key, found->inode, why);
    return std::nullopt;
  }
  if (!std::equal(record.begin(), record.end(), entry->input_record.begin(), entry->input_record.end())) {
    ++misses_;
    ++mismatches_;
    log(true, "The cache entry " + key.hex() + " was made from another input than its name says; it is not used.");
    return std::nullopt;
  }
  ++hits_;
  return entry;
}

bool DiskCache::store(const Digest& key, const CacheEntry& entry) {
  if (!writable()) return false;
  std::vector<std::uint8_t> image;
  try {
    if (entry.created == 0) {
      CacheEntry dated = entry;
      dated.created = seconds_now();
      image = encode_entry(dated);
    } else {
      image = encode_entry(entry);
    }
  } catch (const std::exception& problem) {
    log(false, std::string("A cache entry could not be made: ") + problem.what() + ".");
    return false;
  }
  if (image.size() > kMostEntry) return false;
  // Not begun where it can't be finished; the limit may still be lowered meanwhile.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < image.size()) {
    stop_writing("the process may not write files of " + std::to_string(image.size()) + " bytes (RLIMIT_FSIZE)");
    return false;
  }
  int opened = open_shard(key, true);
  if (opened < 0 && errno == ENOENT && make_folder_again()) opened = open_shard(key, true);
  const File shard(opened);
  if (!shard) {
    stop_writing("a folder cannot be made: " + error_text(errno));
    return false;
  }
  const std::string temporary = random_name();
  const std::string name = key.hex();
  bool published = false;
  {
    const File file(openat(shard.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) {
      const int error = errno;
      if (error != ENOENT) stop_writing("a file cannot be made: " + error_text(error));  // removed just now: next time
      return false;
    }
    if (!write_all(file.get(), image) || fsync(file.get()) != 0) {
      const int error = errno;
      unlinkat(shard.get(), temporary.c_str(), 0);
      stop_writing("writing failed: " + error_text(error));
      return false;
    }
  }
  if (options_.mode == DiskCacheMode::kRefresh) unlinkat(shard.get(), name.c_str(), 0);
  published = publish(shard.get(), temporary, name);
  if (!published) {
    const int error = errno;
    unlinkat(shard.get(), temporary.c_str(), 0);
    if (error != EEXIST && error != ENOENT) stop_writing("an entry cannot be published: " + error_text(error));
  } else {
    ++stores_;
  }
  sweep_if_due();
  return published;
}

void DiskCache::sweep_if_due() {
  // One look at the stamp per ten minutes and process; one sweep per hour over all processes.
  const std::int64_t now = seconds_now();
  std::int64_t due = next_sweep_check_.load(std::memory_order_relaxed);
  if (now < due || !next_sweep_check_.compare_exchange_strong(due, now + 600)) return;
  const File stamp(openat(folder_, kStamp, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!stamp || flock(stamp.get(), LOCK_EX | LOCK_NB) != 0) return;  // somebody sweeps
  struct stat info{};
  if (fstat(stamp.get(), &info) != 0) return;
  const bool fresh = info.st_size == 0;
  if (!fresh && info.st_mtime <= now && info.st_mtime + kSweepInterval > now) return;
  constexpr std::array<std::uint8_t, 5> kText = {'s', 'd', 'f', 'g', '\n'};
  if (fresh && !write_all(stamp.get(), kText)) return;
  futimens(stamp.get(), nullptr);
  prune(options_.max_bytes, options_.max_age_seconds);
}

std::vector<DiskCacheItem> DiskCache::list() const {
  std::vector<DiskCacheItem> items;
  if (!usable()) return items;
  for (const std::string& shard_name : names_in(folder_)) {
    if (!is_shard_name(shard_name)) continue;
    const File shard(openat(folder_, shard_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!shard) continue;
    for (const std::string& name : names_in(shard.get())) {
      const auto key = key_of(name);
      struct stat info{};
      if (!key || fstatat(shard.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        continue;
      items.push_back(
          {*key, static_cast<std::uint64_t>(info.st_size), std::max<std::int64_t>(info.st_atime, info.st_mtime)});
    }
  }
  return items;
}

std::optional<CacheEntry> DiskCache::read(const Digest& key) const {
  const auto found = read_file(key);
  return found ? decode_entry(found->image) : std::nullopt;
}

std::vector<Digest> DiskCache::verify() const {
  std::vector<Digest> damaged;
  for (const DiskCacheItem& item : list()) {
    const auto found = read_file(item.key);
    if (found && !decode_entry(found->image)) damaged.push_back(item.key);
  }
  return damaged;
}

bool DiskCache::remove(const Digest& key) {
  if (!writable()) return false;
  const File shard(open_shard(key, false));
  return shard && unlinkat(shard.get(), key.hex().c_str(), 0) == 0;
}

PruneResult DiskCache::prune(std::uint64_t max_bytes, std::int64_t max_age_seconds) {
  PruneResult result;
  if (!writable()) return result;
  const std::int64_t now = seconds_now();
  for (const std::string& shard_name : names_in(folder_)) {
    if (!is_shard_name(shard_name)) continue;
    const File shard(openat(folder_, shard_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!shard) continue;
    for (const std::string& name : names_in(shard.get())) {
      struct stat info{};
      if (name.starts_with(kTemporaryPrefix) && fstatat(shard.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
          info.st_mtime + kTemporaryAge < now) {
        unlinkat(shard.get(), name.c_str(), 0);
      }
    }
  }
  std::vector<DiskCacheItem> items = list();
  std::stable_sort(items.begin(), items.end(),
                   [](const DiskCacheItem& a, const DiskCacheItem& b) { return a.last_used > b.last_used; });
  for (const DiskCacheItem& item : items) {
    const bool old = max_age_seconds > 0 && item.last_used + max_age_seconds < now;
    const bool too_much = max_bytes > 0 && item.bytes > max_bytes - std::min(max_bytes, result.kept_bytes);
    if ((old || too_much) && remove(item.key)) {
      ++result.removed;
      result.removed_bytes += item.bytes;
    } else {
      ++result.kept;
      result.kept_bytes += item.bytes;
    }
  }
  return result;
}

DiskCacheStats DiskCache::stats() const {
  return {hits_, misses_, stores_, corrupt_, mismatches_};
}

}  // namespace sdfg::runtime
