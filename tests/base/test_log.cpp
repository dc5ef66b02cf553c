// The log: silent by default, levels per logger, callback, kept warnings.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sdfg/log.hpp>
#include <sdfg/options.hpp>
#include <sstream>

#include "base/log.hpp"

namespace test_log {

using sdfg::Logger;
using sdfg::LogLevel;

TEST_CASE("warnings are kept even when nothing is printed") {
  sdfg::log(Logger::kCache, LogLevel::kWarning, "the folder is read-only");
  sdfg::log(Logger::kCache, LogLevel::kInfo, "not kept");
  const auto warnings = sdfg::recent_warnings();
  REQUIRE_FALSE(warnings.empty());
  CHECK(warnings.back().text == "the folder is read-only");
  for (int i = 0; i < 100; ++i) sdfg::log(Logger::kCall, LogLevel::kError, "error " + std::to_string(i));
  CHECK(sdfg::recent_warnings().size() == 64);
  CHECK(sdfg::recent_warnings().back().text == "error 99");
}

TEST_CASE("a callback gets records of its level and above") {
  std::vector<std::string> texts;
  sdfg::set_log_callback([&](const sdfg::LogRecord& record) { texts.push_back(record.text); }, LogLevel::kInfo);
  CHECK(sdfg::log_enabled(Logger::kPass, LogLevel::kInfo));
  CHECK_FALSE(sdfg::log_enabled(Logger::kPass, LogLevel::kDebug));
  sdfg::log(Logger::kPass, LogLevel::kInfo, "one");
  sdfg::log(Logger::kPass, LogLevel::kDebug, "two");
  sdfg::log(Logger::kPass, LogLevel::kError, "three");
  sdfg::set_log_callback({});
  sdfg::log(Logger::kPass, LogLevel::kError, "four");
  CHECK(texts == std::vector<std::string>{"one", "three"});
}

TEST_CASE("a warning said once is not said again") {
  int count = 0;
  sdfg::set_log_callback([&](const sdfg::LogRecord&) { ++count; });
  for (int i = 0; i < 3; ++i) sdfg::warn_once(Logger::kBuild, "only once");
  sdfg::set_log_callback({});
  CHECK(count == 1);
}

TEST_CASE("the log file gets what the filter lets through") {
  char path[] = "/tmp/sdfg-log-XXXXXX";
  close(mkstemp(path));
  sdfg::Options options;
  options.log = sdfg::LogFilter{};
  (*options.log)[Logger::kPass] = LogLevel::kDebug;
  options.log_file = path;
  sdfg::configure_log(sdfg::resolve(options));
  sdfg::log(Logger::kPass, LogLevel::kDebug, "a decision");
  sdfg::log(Logger::kPass, LogLevel::kTrace, "a detail");
  sdfg::log(Logger::kCache, LogLevel::kError, "of another logger");
  sdfg::configure_log(sdfg::resolve({}));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(path);
  CHECK(text.str().find("[sdfg:pass] [debug] a decision") != std::string::npos);
  CHECK(text.str().find("detail") == std::string::npos);
  CHECK(text.str().find("another") == std::string::npos);
}

TEST_CASE("a log file that can't be written is a warning, and the log goes to standard error") {
  sdfg::Options options;
  options.log = sdfg::LogFilter{};
  (*options.log)[Logger::kPass] = LogLevel::kDebug;
  options.log_file = "/proc/no/such/folder/log.txt";
  sdfg::configure_log(sdfg::resolve(options));
  sdfg::configure_log(sdfg::resolve({}));
  const std::vector<sdfg::LogRecord> warnings = sdfg::recent_warnings();
  REQUIRE_FALSE(warnings.empty());
  CHECK(warnings.back().text.starts_with("the log goes to standard error: "));
  CHECK(warnings.back().text.find("/proc/no/such/folder/log.txt") != std::string::npos);
}

}  // namespace test_log
