// Events for SDFG_TRACE (a Chrome/Perfetto trace file) and the table of SDFG_PROFILE.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/program.hpp"

namespace sdfg::runtime {

// Collects events from any thread and writes them as one JSON file. Nothing is written before `write` (or destruction);
// a bounded number is kept, the file says how many were dropped.
class TraceFile {
 public:
  explicit TraceFile(std::string path, std::size_t most_events = 1'000'000);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Times as now_ns() and the ABI's `clock` give them. `track` separates threads, streams, lanes.
  void add(std::string name, const char* category, int track, std::int64_t begin_ns, std::int64_t end_ns);
  // Replaces the file by all events so far; false (and no exception) when it can't be written.
  bool write();
  const std::string& path() const noexcept { return path_; }

 private:
  struct Event {
    std::string name;
    const char* category;
    int track;
    std::int64_t begin;
    std::int64_t end;
  };
  std::string path_;
  std::size_t most_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t dropped_ = 0;
  bool changed_ = false;
};

// One line per element that ran: calls, total, mean, least and most time, share of the total; the most expensive first.
std::string profile_table(const Program& program);

// Appends the functions of `code` to /tmp/perf-<pid>.map, where Linux perf looks for names of generated code.
void append_perf_map(const LoadedCode& code, const std::string& program);

}  // namespace sdfg::runtime
