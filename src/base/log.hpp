// Writing to the log; the public half is <sdfg/log.hpp>.
#pragma once

#include <sdfg/log.hpp>
#include <string_view>

namespace sdfg {

struct Options;

// Cheap (one atomic load). Ask before building an expensive text; warnings and errors are always wanted.
bool log_enabled(Logger logger, LogLevel level) noexcept;

void log(Logger logger, LogLevel level, std::string_view text);

// Logs a warning once per process for each distinct text.
void warn_once(Logger logger, std::string_view text);

// Applies `log`, `log_file` and `debug` of resolved options, process-wide. Equal settings again cost nothing. The first
// time, the log also gets the warnings from before.
void configure_log(const Options& resolved);

}  // namespace sdfg
