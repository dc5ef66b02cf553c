// A stand-in for the CUDA driver: keeps "device" memory on the host, records every call, and fails when told to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sdfg::test {

struct FakeLaunch {
  std::string kernel;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  bool cooperative;
  void* stream;
  std::vector<long> arguments;  // the first eight bytes of each
};

struct FakeDriver {
  // What it tells.
  int version = 12040;
  int devices = 2;
  int start_result = 0;
  // Failures: the n-th call from now on (1 is the next) gives `fail_with`; a lasting one is given ever after.
  int fail_at = 0;
  int fail_with = 2;
  int lasting = 0;
  // What happened.
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::map<char*, std::size_t> memory;
  std::map<char*, std::size_t> pinned;
  std::set<void*> streams;
  std::set<void*> events;
  std::set<void*> modules;
  std::set<void*> graphs;
  std::vector<void*> contexts;  // of the one thread that tests use
  unsigned long release_threshold = 0;
  bool capturing = false;      // what it says of every stream
  std::size_t parameters = 2;  // of every kernel

  long count(const std::string& name) const {
    long n = 0;
    for (const std::string& call : calls) n += call == name ? 1 : 0;
    return n;
  }
};

}  // namespace sdfg::test
