/// The log: silent unless `SDFG_LOG`, `SDFG_DEBUG` or a callback asks for it. Nothing is ever printed otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <sdfg/export.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

/// The topics of the log.
enum class Logger : std::uint8_t { kBuild, kPass, kCodegen, kCompile, kCache, kDevice, kCall };
inline constexpr int kLoggerCount = 7;

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };

SDFG_EXPORT std::string_view to_string(Logger logger) noexcept;   ///< "build", "pass", ...
SDFG_EXPORT std::string_view to_string(LogLevel level) noexcept;  ///< "trace", ..., "off"

/// The least level that each logger writes. Text: "info" for all, "pass=debug,cache=info" for some.
struct LogFilter {
  std::array<LogLevel, kLoggerCount> levels = {LogLevel::kOff, LogLevel::kOff, LogLevel::kOff, LogLevel::kOff,
                                               LogLevel::kOff, LogLevel::kOff, LogLevel::kOff};
  LogLevel& operator[](Logger logger) { return levels[static_cast<std::size_t>(logger)]; }
  LogLevel operator[](Logger logger) const { return levels[static_cast<std::size_t>(logger)]; }
  bool operator==(const LogFilter&) const = default;
};

struct LogRecord {
  Logger logger = Logger::kBuild;
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

/// Called for every record of at least `least`, on the thread that logged, one call at a time. It must not call the
/// library. An empty function takes the callback away. Process-wide; any thread.
SDFG_EXPORT void set_log_callback(std::function<void(const LogRecord&)> callback, LogLevel least = LogLevel::kWarning);

/// The last warnings and errors (at most 64), oldest first, whether or not they were printed.
SDFG_EXPORT std::vector<LogRecord> recent_warnings();

}  // namespace sdfg
