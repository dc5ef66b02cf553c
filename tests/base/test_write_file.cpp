// Files that are written for the user: what a path may name, what stays as it was, and what raises no signal.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "../support/folder.hpp"
#include "base/write_file.hpp"

namespace sdfg {
namespace {

namespace fs = std::filesystem;
using test::Folder;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("A file is written anew and replaced as a whole, with its permissions") {
  const Folder folder;
  const std::string path = folder / "file";
  REQUIRE_FALSE(write_file(path, "one"));
  CHECK(read(path) == "one");
  chmod(path.c_str(), 0640);
  std::ifstream before(path);
  REQUIRE_FALSE(write_file(path, "two"));
  CHECK(read(path) == "two");
  std::string old;
  before >> old;
  CHECK(old == "one");
  CHECK((fs::status(path).permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("Symbolic links stay, and what they lead to is written") {
  const Folder folder;
  fs::create_directory(folder.path() / "deep");
  fs::create_symlink("deep/second", folder.path() / "first");
  fs::create_symlink("file", folder.path() / "deep/second");
  for (const char* text : {"made", "replaced"}) {
    REQUIRE_FALSE(write_file(folder / "first", text));
    CHECK(fs::is_symlink(folder.path() / "first"));
    CHECK(fs::is_symlink(folder.path() / "deep/second"));
    CHECK(read(folder / "deep/file") == text);
  }
  CHECK(entries(folder.path()) == 2);
  CHECK(entries(folder.path() / "deep") == 2);
}

TEST_CASE("Links in circles are an error") {
  const Folder folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  CHECK(write_file(folder / "a", "text") == std::errc::too_many_symbolic_link_levels);
  CHECK(fs::is_symlink(folder.path() / "a"));
}

TEST_CASE("A pipe gets the bytes and stays a pipe") {
  const Folder folder;
  const std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  fs::create_symlink("pipe", folder.path() / "link");
  for (const std::string& name : {path, folder / "link"}) {
    std::string got;
    std::thread reader([&] { got = read(path); });
    const std::error_code failed = write_file(name, "through the pipe");
    reader.join();
    CHECK_FALSE(failed);
    CHECK(got == "through the pipe");
    CHECK(fs::is_fifo(path));
  }
}

TEST_CASE("Other names of a file keep its content") {
  const Folder folder;
  REQUIRE_FALSE(write_file(folder / "a", "a longer text"));
  fs::create_hard_link(folder.path() / "a", folder.path() / "b");
  REQUIRE_FALSE(write_file(folder / "a", "short"));
  CHECK(read(folder / "b") == "short");
}

TEST_CASE("A descriptor of the process is written to in place") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  CHECK_FALSE(write_file("/proc/self/fd/" + std::to_string(ends[1]), "text"));
  char got[8] = {};
  CHECK(::read(ends[0], got, sizeof got) == 4);
  CHECK(std::string(got) == "text");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("A missing folder, a folder and a file that may not be written are errors and stay") {
  const Folder folder;
  CHECK(write_file(folder / "no/such/file", "text") == std::errc::no_such_file_or_directory);
  CHECK(write_file(folder.str(), "text") == std::errc::is_a_directory);
  if (geteuid() == 0) return;  // root may write everything
  REQUIRE_FALSE(write_file(folder / "file", "kept"));
  chmod((folder / "file").c_str(), 0400);
  CHECK(write_file(folder / "file", "text") == std::errc::permission_denied);
  CHECK(read(folder / "file") == "kept");
}

TEST_CASE("A pipe without a reader and the limit of file sizes are errors, not signals") {
  const Folder folder;
  // In a child, which a signal would end, and whose limit is its own.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    int wrong = 0;
    if (write_file(folder / "kept", std::string(1000, 'a'))) wrong |= 1;
    const rlimit limit{2000, 2000};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (write_file(folder / "kept", std::string(5000, 'b')) != std::errc::file_too_large) wrong |= 2;
    if (read(folder / "kept") != std::string(1000, 'a')) wrong |= 4;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) wrong |= 8;
    close(ends[0]);
    const std::uint8_t byte = 0;
    if (write_all(ends[1], {&byte, 1}) || errno != EPIPE) wrong |= 16;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    if (sigismember(&blocked, SIGXFSZ) != 0 || sigismember(&blocked, SIGPIPE) != 0) wrong |= 32;
    if (entries(folder.path()) != 1) wrong |= 64;
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("A signal that was pending stays pending") {
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  pthread_kill(pthread_self(), SIGPIPE);
  {
    const QuietWrites quiet;
  }
  const timespec now{};
  CHECK(sigtimedwait(&pipe_signal, nullptr, &now) == SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace sdfg
