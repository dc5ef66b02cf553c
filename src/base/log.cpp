// The log over spdlog: one spdlog logger per topic, outside spdlog's registry so that a host's own spdlog is never
// touched.
#include "base/log.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <sdfg/options.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/write_file.hpp"

#define SPDLOG_FMT_EXTERNAL
#define FMT_HEADER_ONLY
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace sdfg {

namespace {

constexpr std::size_t kKeptWarnings = 64;
constexpr const char* kPattern = "[%H:%M:%S.%e] [sdfg:%n] [%l] %v";

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::off;
}

// The documented singleton of this file.
struct State {
  std::mutex mutex;
  std::array<std::shared_ptr<spdlog::logger>, kLoggerCount> loggers;  // null where the logger is off
  LogFilter filter;
  std::string file;
  std::function<void(const LogRecord&)> callback;
  LogLevel callback_level = LogLevel::kOff;
  std::deque<LogRecord> warnings;
  bool configured = false;
  std::vector<LogRecord> early;  // warnings from before the first configuration, which the log then gets
  std::set<std::string> said_once;
  std::mutex callback_mutex;  // held while the callback runs, so that it need not be thread-safe
};

State& state() {
  static State* const instance = new State;  // never destroyed: threads may log while the process exits
  return *instance;
}

// Least level wanted by anyone, per logger; warnings always are.
std::array<std::atomic<std::uint8_t>, kLoggerCount>& least_levels() {
  static std::array<std::atomic<std::uint8_t>, kLoggerCount> levels = {3, 3, 3, 3, 3, 3, 3};
  return levels;
}

void update_levels(const State& current) {
  for (std::size_t i = 0; i < kLoggerCount; ++i) {
    const LogLevel least = std::min({LogLevel::kWarning, current.filter.levels[i], current.callback_level});
    least_levels()[i].store(static_cast<std::uint8_t>(least), std::memory_order_relaxed);
  }
}

// SDFG_DEBUG raises what SDFG_LOG leaves off.
LogFilter with_debug_ladder(LogFilter filter, int debug) {
  if (debug <= 0) return filter;
  for (LogLevel& level : filter.levels) level = std::min(level, LogLevel::kInfo);
  if (debug >= 3) filter[Logger::kPass] = std::min(filter[Logger::kPass], LogLevel::kDebug);
  if (debug >= 4) filter[Logger::kCodegen] = std::min(filter[Logger::kCodegen], LogLevel::kDebug);
  if (debug >= 5) filter[Logger::kBuild] = std::min(filter[Logger::kBuild], LogLevel::kDebug);
  if (debug >= 6) filter[Logger::kPass] = LogLevel::kTrace;
  return filter;
}

// A log that can't be written must not fail a compilation: it goes to standard error, and `problem` says so.
spdlog::sink_ptr make_sink(const std::string& file, std::string& problem) {
  spdlog::sink_ptr sink;
  if (!file.empty()) {
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file, /*truncate=*/false);
    } catch (const spdlog::spdlog_ex& e) {
      problem = std::string("the log goes to standard error: ") + e.what();
    }
  }
  if (!sink) sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_pattern(kPattern);
  return sink;
}

}  // namespace

std::string_view to_string(Logger logger) noexcept {
  switch (logger) {
    case Logger::kBuild: return "build";
    case Logger::kPass: return "pass";
    case Logger::kCodegen: return "codegen";
    case Logger::kCompile: return "compile";
    case Logger::kCache: return "cache";
    case Logger::kDevice: return "device";
    case Logger::kCall: return "call";
  }
  return "build";
}

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kTrace: return "trace";
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "off";
}

bool log_enabled(Logger logger, LogLevel level) noexcept {
  return static_cast<std::uint8_t>(level) >=
         least_levels()[static_cast<std::size_t>(logger)].load(std::memory_order_relaxed);
}

void log(Logger logger, LogLevel level, std::string_view text) {
  if (level == LogLevel::kOff || !log_enabled(logger, level)) return;
  State& current = state();
  std::shared_ptr<spdlog::logger> target;
  std::function<void(const LogRecord&)> callback;
  LogRecord record{logger, level, std::string(text)};
  {
    const std::scoped_lock lock(current.mutex);
    if (level >= current.filter[logger]) target = current.loggers[static_cast<std::size_t>(logger)];
    if (level >= current.callback_level) callback = current.callback;
    if (level >= LogLevel::kWarning) {
      if (current.warnings.size() == kKeptWarnings) current.warnings.pop_front();
      current.warnings.push_back(record);
      if (!current.configured && current.early.size() < kKeptWarnings) current.early.push_back(record);
    }
  }
  if (target) {
    const QuietWrites quiet;
    target->log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
  }
  if (callback) {
    const std::scoped_lock lock(current.callback_mutex);
    callback(record);
  }
}

void warn_once(Logger logger, std::string_view text) {
  {
    State& current = state();
    const std::scoped_lock lock(current.mutex);
    if (!current.said_once.emplace(text).second) return;
  }
  log(logger, LogLevel::kWarning, text);
}

void configure_log(const Options& resolved) {
  State& current = state();
  const LogFilter filter = with_debug_ladder(*resolved.log, *resolved.debug);
  std::string problem;
  std::unique_lock lock(current.mutex);
  const std::vector<LogRecord> early = std::exchange(current.early, {});
  current.configured = true;
  if (filter == current.filter && *resolved.log_file == current.file) return;
  current.filter = filter;
  current.file = *resolved.log_file;
  spdlog::sink_ptr sink;
  for (std::size_t i = 0; i < kLoggerCount; ++i) {
    current.loggers[i] = nullptr;
    if (filter.levels[i] == LogLevel::kOff) continue;
    if (!sink) sink = make_sink(current.file, problem);
    auto logger = std::make_shared<spdlog::logger>(std::string(to_string(static_cast<Logger>(i))), sink);
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    current.loggers[i] = std::move(logger);
  }
  update_levels(current);
  const auto loggers = current.loggers;
  lock.unlock();
  const QuietWrites quiet;
  for (const LogRecord& record : early) {
    const auto& logger = loggers[static_cast<std::size_t>(record.logger)];
    if (logger && record.level >= filter[record.logger]) logger->log(spdlog_level(record.level), record.text);
  }
  if (!problem.empty()) warn_once(Logger::kBuild, problem);
}

void set_log_callback(std::function<void(const LogRecord&)> callback, LogLevel least) {
  State& current = state();
  const std::scoped_lock lock(current.mutex);
  current.callback_level = callback ? least : LogLevel::kOff;
  current.callback = std::move(callback);
  update_levels(current);
}

std::vector<LogRecord> recent_warnings() {
  State& current = state();
  const std::scoped_lock lock(current.mutex);
  return {current.warnings.begin(), current.warnings.end()};
}

}  // namespace sdfg
