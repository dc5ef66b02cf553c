// The table of environment variables and what is done with it: reading, resolving, warning, keys, documentation.
#include "base/env.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <sdfg/error.hpp>

#include "base/digest.hpp"
#include "base/env_values.hpp"
#include "base/log.hpp"
#include "base/suggest.hpp"

namespace sdfg {

namespace {

constexpr env::Named<ThreadsBackend> kBackends[] = {{"own", ThreadsBackend::kOwn}, {"libomp", ThreadsBackend::kLibomp}};
constexpr env::Named<CacheMode> kCacheModes[] = {{"on", CacheMode::kOn},
                                                 {"off", CacheMode::kOff},
                                                 {"memory", CacheMode::kMemory},
                                                 {"readonly", CacheMode::kReadOnly},
                                                 {"refresh", CacheMode::kRefresh}};
constexpr env::Named<CompileMode> kCompileModes[] = {{"inproc", CompileMode::kInProcess},
                                                     {"helper", CompileMode::kHelper}};
constexpr env::Named<Toggle> kToggles[] = {{"auto", Toggle::kAuto}, {"on", Toggle::kOn}, {"off", Toggle::kOff}};
constexpr env::Named<Check> kChecks[] = {{"bounds", Check::kBounds},
                                         {"races", Check::kRaces},
                                         {"nan", Check::kNan},
                                         {"uninitialised", Check::kUninitialised}};
constexpr env::Named<ValidateMode> kValidateModes[] = {
    {"off", ValidateMode::kOff}, {"first", ValidateMode::kFirst}, {"always", ValidateMode::kAlways}};
constexpr env::Named<Dump> kDumps[] = {{"graph", Dump::kGraph}, {"passes", Dump::kPasses}, {"source", Dump::kSource},
                                       {"ir", Dump::kIr},       {"asm", Dump::kAsm},       {"ptx", Dump::kPtx},
                                       {"sass", Dump::kSass},   {"dot", Dump::kDot},       {"html", Dump::kHtml}};
constexpr env::Named<Profile> kProfiles[] = {
    {"table", Profile::kTable}, {"perf", Profile::kPerf}, {"gdb", Profile::kGdb}};

std::string same_text(const std::string& value) {
  return value;
}
std::string read_text(std::string_view value, std::string_view) {
  return std::string(value);
}
std::vector<std::string> read_names(std::string_view value, std::string_view) {
  return env::split_list(value);
}
std::string write_names(const std::vector<std::string>& value) {
  return env::join_list(value);
}
std::string write_integer(std::int64_t value) {
  return std::to_string(value);
}
std::string write_bool(bool value) {
  return value ? "1" : "0";
}

template <std::int64_t kLeast, std::int64_t kMost>
int read_int(std::string_view value, std::string_view where) {
  return static_cast<int>(env::read_integer(value, where, kLeast, kMost));
}

template <const auto& kTable>
auto read_one(std::string_view value, std::string_view where) {
  return env::read_enum(env::rows(kTable), value, where, "one of ");
}
template <const auto& kTable, typename E>
std::string write_one(const E& value) {
  return std::string(env::write_enum(env::rows(kTable), value));
}
template <const auto& kTable>
auto read_some(std::string_view value, std::string_view where) {
  return env::read_set(env::rows(kTable), value, where);
}
template <const auto& kTable, typename E>
std::string write_some(const EnumSet<E>& value) {
  return env::write_set(env::rows(kTable), value);
}

std::vector<std::string> no_words() {
  return {};
}
// What stands for this machine; names of processors are the compiler's.
std::vector<std::string> words_of_cpu() {
  return {"host", "native"};
}
std::vector<std::string> words_of_gpu() {
  return {"host"};
}
template <const auto& kTable>
std::vector<std::string> words() {
  return env::words_in(env::rows(kTable));
}

enum class Key : std::uint8_t { kIn, kOut };

// A row: `kField` of Options, read and written by two functions; the words that the first one knows.
template <auto kField, auto kRead, auto kWrite, auto kWords>
constexpr Variable row(std::string_view name, std::string_view type, std::string_view default_value,
                       std::string_view help, Key key) {
  return {
      name,
      type,
      default_value,
      help,
      key == Key::kIn,
      [](Options& options, std::string_view value, std::string_view where) { options.*kField = kRead(value, where); },
      [](const Options& options) { return (options.*kField).has_value(); },
      [](const Options& options) { return options.*kField ? kWrite(*(options.*kField)) : std::string(); },
      kWords};
}

// clang-format off
constexpr Variable kVariables[] = {
  row<&Options::device, env::read_device, env::write_device, env::words_of_device>(
      "SDFG_DEVICE", "auto, cpu, cuda, cuda:N, emulated", "auto", "where graphs run", Key::kIn),
  row<&Options::host_maps, env::read_host_maps, env::write_host_maps, env::words_of_host_maps>(
      "SDFG_HOST_MAPS", "off, auto, or labels", "off", "maps that stay on the host when a graph is offloaded", Key::kIn),
  row<&Options::opt_level, read_int<0, 3>, write_integer, no_words>(
      "SDFG_OPT", "0 to 3", "3", "effort of graph passes and of the compiler", Key::kIn),
  row<&Options::passes, read_names, write_names, no_words>(
      "SDFG_PASSES", "list of passes", "", "replaces the pipeline of graph passes", Key::kIn),
  row<&Options::skip_passes, read_names, write_names, no_words>(
      "SDFG_SKIP_PASSES", "list of passes", "", "takes passes out of the pipeline", Key::kIn),
  row<&Options::fp, env::read_fp, env::write_fp, env::words_of_fp>(
      "SDFG_FP", "strict, default, or a list of contract, reassociate, finite, approximate, scalar-math, fast, none", "default",
      "freedoms of floating-point arithmetic; default: contract; fast: the first four; none: none of them; scalar-math: scalar libm only; strict: none, with scalar-math", Key::kIn),
  row<&Options::num_threads, read_int<0, 4096>, write_integer, no_words>(
      "SDFG_NUM_THREADS", "0 to 4096", "0", "threads of parallel maps; 0 means all usable cores", Key::kOut),
  row<&Options::threads_backend, read_one<kBackends>, write_one<kBackends, ThreadsBackend>, words<kBackends>>(
      "SDFG_THREADS_BACKEND", "own, libomp", "own", "what runs parallel maps; libomp is for comparison", Key::kOut),
  row<&Options::target_cpu, read_text, same_text, words_of_cpu>(
      "SDFG_TARGET_CPU", "host (or native), or a CPU name", "host", "CPU to compile for", Key::kOut),
  row<&Options::gpu_arch, read_text, same_text, words_of_gpu>(
      "SDFG_GPU_ARCH", "host or sm_NN", "host", "GPU architecture to compile for", Key::kOut),
  row<&Options::cache, read_one<kCacheModes>, write_one<kCacheModes, CacheMode>, words<kCacheModes>>(
      "SDFG_CACHE", "on, off, memory, readonly, refresh", "on",
      "memory: no disk; readonly: disk entries are read only; refresh: compile anew and write", Key::kOut),
  row<&Options::cache_dir, read_text, same_text, no_words>(
      "SDFG_CACHE_DIR", "folder", "", "disk cache; by default $XDG_CACHE_HOME/sdfg or ~/.cache/sdfg", Key::kOut),
  row<&Options::cache_max_size, env::read_bytes, write_integer, env::words_of_bytes>(
      "SDFG_CACHE_MAX_SIZE", "bytes, or with a unit: B, K, KB, KiB, M, MB, MiB, G, GB, GiB, T, TB, TiB, all by powers of 1024", "1G", "cap of the disk cache; 0 means none", Key::kOut),
  row<&Options::cache_max_age, env::read_seconds, write_integer, env::words_of_seconds>(
      "SDFG_CACHE_MAX_AGE", "seconds, or with s, m, h, d", "90d",
      "entries that nobody used for so long are removed; 0 means never", Key::kOut),
  row<&Options::compile_threads, read_int<0, 256>, write_integer, no_words>(
      "SDFG_COMPILE_THREADS", "0 to 256", "0", "compilations at once; 0 means the usable cores, at most 8", Key::kOut),
  row<&Options::compile_mode, read_one<kCompileModes>, write_one<kCompileModes, CompileMode>, words<kCompileModes>>(
      "SDFG_COMPILE_MODE", "inproc, helper", "inproc", "Clang in this process or in a helper process", Key::kOut),
  row<&Options::compile_timeout, env::read_seconds, write_integer, env::words_of_seconds>(
      "SDFG_COMPILE_TIMEOUT", "seconds, or with s, m, h, d", "0", "limit of one compilation; 0 means none", Key::kOut),
  row<&Options::gpu_block_size, env::read_block_size, env::write_block_size, no_words>(
      "SDFG_GPU_BLOCK_SIZE", "N, NxM or NxMxK", "128", "threads per block of kernels that don't say", Key::kIn),
  row<&Options::gpu_streams, read_int<-1, 1024>, write_integer, no_words>(
      "SDFG_GPU_STREAMS", "-1 to 1024", "0", "0: as many as useful; -1: the null stream only; N: that many in turn", Key::kIn),
  row<&Options::gpu_graphs, read_one<kToggles>, write_one<kToggles, Toggle>, words<kToggles>>(
      "SDFG_GPU_GRAPHS", "auto, on, off", "auto", "record repeated launches as CUDA graphs", Key::kIn),
  row<&Options::gpu_sync, env::read_bool, write_bool, env::words_of_bool>(
      "SDFG_GPU_SYNC", "0, no, off, false, or 1, yes, on, true", "0", "wait and check after each launch, to name the kernel at fault", Key::kIn),
  row<&Options::gpu_pool_max, env::read_bytes, write_integer, env::words_of_bytes>(
      "SDFG_GPU_POOL_MAX", "bytes, or with a unit: B, K, KB, KiB, M, MB, MiB, G, GB, GiB, T, TB, TiB, all by powers of 1024", "0", "cap of unused GPU memory kept for later; 0 means none", Key::kOut),
  row<&Options::check, read_some<kChecks>, write_some<kChecks, Check>, words<kChecks>>(
      "SDFG_CHECK", "list of bounds, races, nan, uninitialised", "", "slower code that reports the element at fault", Key::kIn),
  row<&Options::verify, env::read_bool, write_bool, env::words_of_bool>(
      "SDFG_VERIFY", "0, no, off, false, or 1, yes, on, true", "0", "validate the graph after every pass", Key::kOut),
  row<&Options::validate, read_one<kValidateModes>, write_one<kValidateModes, ValidateMode>, words<kValidateModes>>(
      "SDFG_VALIDATE", "off, first, always", "off", "compare results of calls with the reference interpreter", Key::kOut),
  row<&Options::dump, read_some<kDumps>, write_some<kDumps, Dump>, words<kDumps>>(
      "SDFG_DUMP", "list of graph, passes, source, ir, asm, ptx, sass, dot, html", "", "what to write into files", Key::kOut),
  row<&Options::dump_dir, read_text, same_text, no_words>(
      "SDFG_DUMP_DIR", "folder", "sdfg-dump", "where dumps go", Key::kOut),
  row<&Options::log, env::read_log, env::write_log, env::words_of_log>(
      "SDFG_LOG", "LEVEL or LOGGER=LEVEL, in a list", "",
      "loggers: build, pass, codegen, compile, cache, device, call; levels: trace, debug, info, warning, error, off", Key::kOut),
  row<&Options::log_file, read_text, same_text, no_words>(
      "SDFG_LOG_FILE", "file", "", "where the log goes; by default standard error", Key::kOut),
  row<&Options::debug, read_int<0, 7>, write_integer, no_words>(
      "SDFG_DEBUG", "0 to 7", "0",
      "1 totals, 2 a line per kernel, 3 decisions of passes, 4 source, 5 graphs, 6 all passes, 7 assembly", Key::kOut),
  row<&Options::trace, read_text, same_text, no_words>(
      "SDFG_TRACE", "file", "", "trace of passes, compilations, calls, kernels and copies for Perfetto", Key::kOut),
  row<&Options::profile, read_some<kProfiles>, write_some<kProfiles, Profile>, words<kProfiles>>(
      "SDFG_PROFILE", "list of table, perf, gdb", "",
      "table: time per element at exit; perf: map file for perf; gdb: code registered with debuggers", Key::kIn),
  row<&Options::repro, env::read_reproducer, env::write_reproducer, env::words_of_reproducer>(
      "SDFG_REPRO_DIR", "FOLDER or always:FOLDER", "", "writes a bundle that reproduces an error, or every compilation", Key::kOut),
  row<&Options::style, env::read_style, env::write_style, env::words_of_style>(
      "SDFG_STYLE", "list of comments, index-helpers, const-locals, braces, hoist-loops, or no-comments, no-index-helpers, no-const-locals, no-braces, no-hoist-loops", "",
      "spelling of the generated source", Key::kIn),
};
// clang-format on

const Options& defaults() {
  static const Options& options = *new Options([] {
    Options made;
    for (const Variable& variable : kVariables) variable.read(made, variable.default_value, variable.name);
    return made;
  }());
  return options;
}

// "opt_level" is what a program sets; the text names the variable too, since that is what the documentation lists.
std::string field_text(const Variable& variable) {
  return "the option for " + std::string(variable.name);
}

// Variables of the test suites, which the library does not read.
bool belongs_to_tests(std::string_view name) {
  return name == "SDFG_CORPUS" || name.starts_with("SDFG_TEST_");
}

}  // namespace

std::span<const Variable> variables() {
  return kVariables;
}

Options Options::from_environment() {
  Options options;
  for (const Variable& variable : kVariables) {
    const char* value = std::getenv(variable.name.data());  // names are literals, so they end with a null character
    if (value == nullptr) continue;
    const std::string_view text = env::trimmed(value);
    // An empty value means "not set", as in a shell's `SDFG_OPT= program`.
    if (!text.empty()) variable.read(options, text, variable.name);
  }
  return options;
}

Options resolve(const Options& options) {
  static std::once_flag warned;
  std::call_once(warned, [] {
    for (const std::string& warning : unknown_variable_warnings()) warn_once(Logger::kBuild, warning);
  });
  const Options environment = Options::from_environment();
  Options resolved = defaults();
  resolved.specialize = options.specialize;
  resolved.allow_foreign_code = options.allow_foreign_code;
  for (const Variable& variable : kVariables) {
    const bool by_program = variable.is_set(options);
    if (!by_program && !variable.is_set(environment)) continue;
    const std::string text = variable.write(by_program ? options : environment);
    // Through the text, so that a program's values meet the same checks as a variable's.
    variable.read(resolved, text, by_program ? field_text(variable) : std::string(variable.name));
  }
  return resolved;
}

std::vector<std::string> unknown_variable_warnings() {
  std::vector<std::string_view> known;
  for (const Variable& variable : kVariables) known.push_back(variable.name);
  std::vector<std::string> warnings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("SDFG_") || belongs_to_tests(name)) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string warning = "the environment variable " + std::string(name) + " is not known and has no effect";
    if (const std::string_view nearest = nearest_name(name, known); !nearest.empty()) {
      warning += "; did you mean " + std::string(nearest) + "?";
    }
    warnings.push_back(std::move(warning));
  }
  std::sort(warnings.begin(), warnings.end());
  return warnings;
}

std::vector<std::uint8_t> bytes_for_key(const Options& resolved) {
  ByteWriter writer;
  for (const Variable& variable : kVariables) {
    if (!variable.in_key) continue;
    writer.text(variable.name);
    if (variable.name == "SDFG_HOST_MAPS") {
      writer.u8(static_cast<std::uint8_t>(resolved.host_maps->mode));
    } else if (variable.name == "SDFG_TRACE") {
      writer.boolean(!resolved.trace->empty());  // code is instrumented or not; the file's name is no part of it
    } else {
      writer.text(variable.write(resolved));
    }
  }
  writer.u64(resolved.specialize.size());
  for (const auto& [symbol, value] : resolved.specialize) {
    writer.text(symbol);
    writer.i64(value);
  }
  return writer.take();
}

std::string variables_as_markdown() {
  std::string text = "| variable | value | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const Variable& variable : kVariables) {
    text += "| `" + std::string(variable.name) + "` | " + std::string(variable.type) + " | ";
    if (!variable.default_value.empty()) text += "`" + std::string(variable.default_value) + "`";
    text += " | " + std::string(variable.help) + " |\n";
  }
  return text;
}

}  // namespace sdfg
