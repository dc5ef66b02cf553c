// Starts, feeds and ends helper processes.
#include "compile/helper.hpp"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <sdfg/error.hpp>
#include <utility>

#include "compile/locate.hpp"
#include "compile/wire.hpp"

extern char** environ;

namespace sdfg::compiler {

namespace {

// One helper process; ends it when destroyed.
class Helper {
 public:
  Helper(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() { end(); }

  int socket() const { return socket_; }

  struct Ending {
    std::string text;
    Fault fault = Fault::kEnvironment;
  };

  // Kills it if it still runs, and says how it ended.
  Ending end() {
    if (pid_ < 0) return {};
    close(socket_);
    int status = 0;
    // It ends by itself when its socket closes, but a compilation in work may take long.
    if (waitpid(pid_, &status, WNOHANG) == 0) {
      kill(pid_, SIGKILL);
      while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
    }
    pid_ = -1;
    if (WIFSIGNALED(status))
      return {"it was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")",
              Fault::kResource};
    if (WEXITSTATUS(status) == 127) return {"its libraries could not be loaded"};  // the dynamic linker's word for it
    return {"it ended with status " + std::to_string(WEXITSTATUS(status))};
  }

 private:
  pid_t pid_;
  int socket_;
};

// The documented singleton of this file: helpers that wait for work.
struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Helper>> idle;
};

Pool& pool() {
  static Pool* const instance = new Pool;  // its helpers see their sockets close when this process ends
  return *instance;
}

std::string find_program() {
  const std::vector<std::string> paths = paths_beside_library(kHelperProgram);
  for (const std::string& path : paths) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  throw Error(ErrorClass::kEnvironment,
              std::string("the program ") + kHelperProgram + ", which compiles in a process of its own, was not found",
              {}, "it has to lie in the folder of libsdfg.so");
}

std::unique_ptr<Helper> start() {
  const std::string program = find_program();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw Error(ErrorClass::kResource,
                std::string("no socket could be made for the compiler process: ") + strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A host may block or ignore signals; the helper starts with none of that.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t pid = -1;
  const int status = posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(sockets[1]);
  if (status != 0) {
    close(sockets[0]);
    throw Error(ErrorClass::kResource,
                "the compiler process " + program + " could not be started: " + strerror(status));
  }
  return std::make_unique<Helper>(pid, sockets[0]);
}

std::unique_ptr<Helper> take() {
  Pool& current = pool();
  {
    const std::scoped_lock lock(current.mutex);
    if (!current.idle.empty()) {
      std::unique_ptr<Helper> helper = std::move(current.idle.back());
      current.idle.pop_back();
      return helper;
    }
  }
  return start();
}

CompileResult failed(std::string text, Fault fault) {
  CompileResult result;
  result.fault = fault;
  result.diagnostics.push_back({Severity::kFatal, 0, 0, std::move(text)});
  return result;
}

std::int64_t deadline_after(std::int64_t seconds) {
  if (seconds <= 0) return 0;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  std::int64_t deadline = 0;
  if (__builtin_mul_overflow(seconds, std::int64_t{1'000'000'000}, &deadline) ||
      __builtin_add_overflow(deadline, std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec, &deadline)) {
    return 0;
  }
  return deadline;
}

}  // namespace

CompileResult compile_in_helper(const CompileRequest& request, std::int64_t timeout_seconds) {
  const std::int64_t deadline = deadline_after(timeout_seconds);
  const std::vector<std::uint8_t> message = to_bytes(request);
  std::unique_ptr<Helper> helper = take();
  if (!send_frame(helper->socket(), message)) {
    // It may have died while it waited; a fresh one gets one chance.
    helper = start();
    if (!send_frame(helper->socket(), message)) {
      const Helper::Ending ending = helper->end();
      return failed("the compiler process took no request: " + ending.text, ending.fault);
    }
  }
  std::vector<std::uint8_t> answer;
  switch (receive_frame(helper->socket(), answer, deadline)) {
    case Received::kTimeout: {
      helper->end();
      CompileResult late =
          failed("the compilation took longer than " + std::to_string(timeout_seconds) + " seconds and was ended",
                 Fault::kResource);
      late.timed_out = true;
      return late;
    }
    case Received::kEnd: {
      const Helper::Ending ending = helper->end();
      return failed("the compiler process gave no answer: " + ending.text, ending.fault);
    }
    case Received::kFrame: break;
  }
  std::optional<CompileResult> result = result_from_bytes(answer);
  if (!result) {
    helper->end();
    return failed("the compiler process gave an answer that can't be read", Fault::kEnvironment);
  }
  Pool& current = pool();
  const std::scoped_lock lock(current.mutex);
  current.idle.push_back(std::move(helper));
  return *std::move(result);
}

}  // namespace sdfg::compiler
