// JSON and text output of measurements.
#include "runtime/trace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/write_file.hpp"

namespace sdfg::runtime {
namespace {

// The text between the quotes of a JSON string.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

std::string milliseconds(std::int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(nanoseconds) * 1e-6);
  return text;
}

}  // namespace

TraceFile::TraceFile(std::string path, std::size_t most_events) : path_(std::move(path)), most_(most_events) {}

TraceFile::~TraceFile() {
  write();
}

void TraceFile::add(std::string name, const char* category, int track, std::int64_t begin_ns, std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  changed_ = true;
  if (events_.size() >= most_) {
    ++dropped_;
    return;
  }
  events_.push_back({std::move(name), category, track, begin_ns, end_ns});
}

bool TraceFile::write() {
  const std::lock_guard lock(mutex_);
  if (!changed_) return true;
  const QuietWrites quiet;
  std::FILE* file = std::fopen(path_.c_str(), "we");
  if (file == nullptr) return false;
  std::fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":%" PRId64 "},\"traceEvents\":[", dropped_);
  const char* separator = "\n";
  for (const Event& event : events_) {
    std::fprintf(file, "%s{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f}",
                 separator, static_cast<int>(getpid()), event.track, event.category, escaped(event.name).c_str(),
                 static_cast<double>(event.begin) * 1e-3, static_cast<double>(event.end - event.begin) * 1e-3);
    separator = ",\n";
  }
  std::fputs("\n]}\n", file);
  const bool written = std::ferror(file) == 0;
  const bool closed = std::fclose(file) == 0;
  changed_ = !(written && closed);
  return written && closed;
}

std::string profile_table(const Program& program) {
  const std::vector<ElementProfile> profile = program.profile();
  std::vector<std::size_t> order;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    if (profile[i].calls == 0) continue;
    order.push_back(i);
    total += profile[i].total_ns;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return profile[a].total_ns > profile[b].total_ns; });
  std::string out = "graph '" + program.info().name + "': calls, total ms, mean ms, min ms, max ms, share\n";
  for (const std::size_t i : order) {
    const ElementProfile& element = profile[i];
    char share[16];
    std::snprintf(share, sizeof(share), "%.1f%%",
                  total > 0 ? 100.0 * static_cast<double>(element.total_ns) / static_cast<double>(total) : 0.0);
    const Error::Place& place = program.info().elements[i];
    out += "  " + place.what + (place.location.known() ? " (" + place.location.str() + ")" : "") + ": " +
           std::to_string(element.calls) + ", " + milliseconds(element.total_ns) + ", " +
           milliseconds(element.total_ns / element.calls) + ", " + milliseconds(element.min_ns) + ", " +
           milliseconds(element.max_ns) + ", " + share + "\n";
  }
  return out;
}

void append_perf_map(const LoadedCode& code, const std::string& program) {
  std::string text;
  for (const LoadedSymbol& symbol : code.symbols()) {
    if (!symbol.code) continue;
    char line[64];
    std::snprintf(line, sizeof(line), "%zx %zx ", reinterpret_cast<std::size_t>(symbol.address), symbol.size);
    text += line + program + "::" + symbol.name + "\n";
  }
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  // One write, so that lines of several threads don't mix; not through a link somebody planted.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  const QuietWrites quiet;
  if (::write(file, text.data(), text.size()) < 0) {
    // Only a profiler misses it.
  }
  close(file);
}

}  // namespace sdfg::runtime
