// Writing files for the user: whole or not at all, through symbolic links, and no signal that ends the process.
#pragma once

#include <signal.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace sdfg {

// While it lives, this thread gets no signal from writing to files and pipes: beyond RLIMIT_FSIZE a write gives EFBIG,
// to a pipe that nobody reads EPIPE. The process' table of signals stays as it is, and a signal that was pending before
// stays pending.
class QuietWrites {
 public:
  QuietWrites() noexcept;
  ~QuietWrites();
  QuietWrites(const QuietWrites&) = delete;
  QuietWrites& operator=(const QuietWrites&) = delete;

 private:
  sigset_t before_;
  sigset_t ours_;  // what only a write of this thread can have raised
};

// All of the bytes; errno says why not. Raises no signal.
bool write_all(int file, std::span<const std::uint8_t> bytes) noexcept;

// A regular file is replaced as a whole, with its permissions, where its links lead; the folder has a second file
// meanwhile. What is no regular file (a pipe, a device), has other names or another owner, or lies in a folder that
// takes no new files, is written to in place.
std::error_code write_file(const std::string& path, std::string_view bytes);

}  // namespace sdfg
