// Finds out what a path names, then replaces it by rename or writes to it.
#include "base/write_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>

namespace sdfg {

namespace {

std::error_code error_now() {
  return {errno, std::generic_category()};
}

class File {
 public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close_now(); }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  int get() const noexcept { return descriptor_; }
  // Some file systems say only here that there was no room.
  bool close_now() noexcept {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

bool write_text(int file, std::string_view bytes) noexcept {
  return write_all(file, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The path without links as its last part. Nothing for a link that only the kernel can follow (/proc/self/fd/1), and
// for links that lead in circles.
std::optional<std::string> followed(std::string path) {
  for (int links = 0; links < 40; ++links) {
    struct stat info{};
    if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    struct statfs system{};
    const std::string folder = folder_of(path);
    if (statfs(folder.c_str(), &system) != 0 || system.f_type == PROC_SUPER_MAGIC) return std::nullopt;
    std::string target(4096, '\0');
    const ssize_t size = readlink(path.c_str(), target.data(), target.size());
    if (size <= 0 || static_cast<std::size_t>(size) == target.size()) return std::nullopt;
    target.resize(static_cast<std::size_t>(size));
    path = target.front() == '/' ? target : folder + "/" + target;
  }
  return std::nullopt;
}

std::error_code write_in_place(const std::string& path, std::string_view bytes) {
  File file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file || !write_text(file.get(), bytes) || !file.close_now()) return error_now();
  return {};
}

}  // namespace

QuietWrites::QuietWrites() noexcept {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  sigemptyset(&ours_);
  for (const int number : {SIGXFSZ, SIGPIPE}) {
    if (sigismember(&pending, number) == 0) sigaddset(&ours_, number);
  }
  pthread_sigmask(SIG_BLOCK, &ours_, &before_);
}

QuietWrites::~QuietWrites() {
  const int kept = errno;
  const timespec now{};
  while (sigtimedwait(&ours_, nullptr, &now) > 0 || errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

bool write_all(int file, std::span<const std::uint8_t> bytes) noexcept {
  const QuietWrites quiet;
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (done == 0) errno = ENOSPC;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

std::error_code write_file(const std::string& path, std::string_view bytes) {
  struct stat info{};
  const bool exists = stat(path.c_str(), &info) == 0;
  const std::optional<std::string> target = followed(path);
  if (!target || target->empty() || target->back() == '/') return write_in_place(path, bytes);
  if (exists) {
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_uid != geteuid()) return write_in_place(path, bytes);
    if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return error_now();
  }
  static std::atomic<unsigned> count{0};
  const std::string partial = folder_of(*target) + "/.sdfg-partial-" + std::to_string(getpid()) + "-" +
                              std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  File file(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return write_in_place(path, bytes);
  const bool written = write_text(file.get(), bytes) && (!exists || fchmod(file.get(), info.st_mode & 07777) == 0) &&
                       file.close_now() && rename(partial.c_str(), target->c_str()) == 0;
  if (written) return {};
  const std::error_code failed = error_now();
  unlink(partial.c_str());
  return failed;
}

}  // namespace sdfg
