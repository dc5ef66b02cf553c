/// Options of a compilation and of the runtime: one field for every `SDFG_*` variable.
///
/// A field that is not set takes its value from the environment, and from the default when the variable is not set
/// either. Reading an Options that `resolve` returned never meets an unset field.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <sdfg/export.hpp>
#include <sdfg/log.hpp>
#include <string>
#include <vector>

namespace sdfg {

/// A set of enumerators whose values are 0, 1, 2, ...
template <typename E>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> members) {
    for (E member : members) insert(member);
  }
  constexpr void insert(E member) { bits_ |= bit(member); }
  constexpr void erase(E member) { bits_ &= ~bit(member); }
  constexpr bool has(E member) const { return (bits_ & bit(member)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const EnumSet&) const = default;

 private:
  static constexpr std::uint32_t bit(E member) { return std::uint32_t{1} << static_cast<unsigned>(member); }
  std::uint32_t bits_ = 0;
};

/// Where graphs run. Text: "auto", "cpu", "cuda", "cuda:1", "emulated".
struct DeviceChoice {
  enum class Kind : std::uint8_t { kAuto, kCpu, kCuda, kEmulated };
  Kind kind = Kind::kAuto;
  int ordinal = 0;  ///< which CUDA device
  bool operator==(const DeviceChoice&) const = default;
};

/// Maps that stay on the host when a graph is offloaded. Text: "off", "auto", or labels separated by commas.
struct HostMaps {
  enum class Mode : std::uint8_t { kOff, kAuto, kNamed };
  Mode mode = Mode::kOff;
  std::vector<std::string> labels;  ///< of mode kNamed
  bool operator==(const HostMaps&) const = default;
};

/// Floating-point freedoms of generated code. Text: "strict", "default" ("contract"), or a list of "contract",
/// "reassociate", "finite", "approximate", "fast" (these four) and "scalar-math" (no vector math); "none" of them.
struct FloatingPoint {
  bool contract = true;      ///< fused multiply-add within an expression, as C++ allows it
  bool reassociate = false;  ///< sums and products in any order, signs of zeros lost
  bool finite = false;       ///< no value is NaN or infinite
  bool approximate = false;  ///< reciprocals and approximate functions
  bool vector_math = true;   ///< vector math functions, at most 4 ulp; off in "strict": scalar libm
  bool operator==(const FloatingPoint&) const = default;
};

/// Threads of parallel maps: the library's own, or LLVM's OpenMP runtime (for comparison).
enum class ThreadsBackend : std::uint8_t { kOwn, kLibomp };

/// `kMemory`: no disk. `kReadOnly`: disk entries are used but none is written. `kRefresh`: compile anew and write.
enum class CacheMode : std::uint8_t { kOn, kOff, kMemory, kReadOnly, kRefresh };

/// Clang in this process, or in a helper process (time limits, isolation from compiler crashes).
enum class CompileMode : std::uint8_t { kInProcess, kHelper };

/// Threads per block. Text: "128", "16x16", "8x8x4".
struct BlockSize {
  std::array<int, 3> threads = {128, 1, 1};
  bool operator==(const BlockSize&) const = default;
};

enum class Toggle : std::uint8_t { kAuto, kOn, kOff };

/// Checks compiled into the code; each reports the element at fault. kBounds: of host code, views and copies too.
enum class Check : std::uint8_t { kBounds, kRaces, kNan, kUninitialised };

/// Compare results with the reference interpreter.
enum class ValidateMode : std::uint8_t { kOff, kFirst, kAlways };

/// What to write into the dump folder.
enum class Dump : std::uint8_t { kGraph, kPasses, kSource, kIr, kAsm, kPtx, kSass, kDot, kHtml };

/// Time per element at exit; perf map; debugger registration.
enum class Profile : std::uint8_t { kTable, kPerf, kGdb };

/// A bundle that reproduces a compilation or call. Text: a folder (written on error), or "always:FOLDER".
struct Reproducer {
  std::string folder;  ///< empty: none is written
  bool always = false;
  bool operator==(const Reproducer&) const = default;
};

/// Spelling of the generated source; never its meaning. Text: a list such as "no-comments,braces".
enum class Style : std::uint8_t {
  kComments,      ///< labels of graph elements as comments (default)
  kIndexHelpers,  ///< one index function per layout instead of pasted polynomials (default)
  kConstLocals,   ///< `const` on locals that are assigned once (default)
  kBraces,        ///< braces around single statements
  kHoistLoops,    ///< loop counters declared before sequential loops
};

/// All options. A value type; copy freely. `compile(graph, options)` resolves it once.
struct SDFG_EXPORT Options {
  std::optional<DeviceChoice> device;                   ///< SDFG_DEVICE
  std::optional<HostMaps> host_maps;                    ///< SDFG_HOST_MAPS
  std::optional<int> opt_level;                         ///< SDFG_OPT, 0 to 3: graph passes and compiler
  std::optional<std::vector<std::string>> passes;       ///< SDFG_PASSES; empty: the pipeline of the level
  std::optional<std::vector<std::string>> skip_passes;  ///< SDFG_SKIP_PASSES
  std::optional<FloatingPoint> fp;                      ///< SDFG_FP
  std::optional<int> num_threads;                       ///< SDFG_NUM_THREADS; 0: all usable cores
  std::optional<ThreadsBackend> threads_backend;        ///< SDFG_THREADS_BACKEND
  std::optional<std::string> target_cpu;                ///< SDFG_TARGET_CPU: "host" or a CPU name
  std::optional<std::string> gpu_arch;                  ///< SDFG_GPU_ARCH: "host" (the device's) or "sm_90"
  std::optional<CacheMode> cache;                       ///< SDFG_CACHE
  std::optional<std::string> cache_dir;                 ///< SDFG_CACHE_DIR; empty: the user's cache folder
  std::optional<std::int64_t> cache_max_size;           ///< SDFG_CACHE_MAX_SIZE in bytes; 0: no cap
  std::optional<std::int64_t> cache_max_age;            ///< SDFG_CACHE_MAX_AGE in seconds; 0: no cap
  std::optional<int> compile_threads;                   ///< SDFG_COMPILE_THREADS; 0: usable cores, at most 8
  std::optional<CompileMode> compile_mode;              ///< SDFG_COMPILE_MODE
  std::optional<std::int64_t> compile_timeout;          ///< SDFG_COMPILE_TIMEOUT in seconds; 0: none
  std::optional<BlockSize> gpu_block_size;              ///< SDFG_GPU_BLOCK_SIZE
  std::optional<int> gpu_streams;                       ///< SDFG_GPU_STREAMS; 0: no limit, -1: the null stream only
  std::optional<Toggle> gpu_graphs;                     ///< SDFG_GPU_GRAPHS: CUDA graphs
  std::optional<bool> gpu_sync;                         ///< SDFG_GPU_SYNC: check after each launch
  std::optional<std::int64_t> gpu_pool_max;             ///< SDFG_GPU_POOL_MAX in bytes; 0: no cap
  std::optional<EnumSet<Check>> check;                  ///< SDFG_CHECK
  std::optional<bool> verify;                           ///< SDFG_VERIFY: validate the graph after every pass
  std::optional<ValidateMode> validate;                 ///< SDFG_VALIDATE
  std::optional<EnumSet<Dump>> dump;                    ///< SDFG_DUMP
  std::optional<std::string> dump_dir;                  ///< SDFG_DUMP_DIR
  std::optional<LogFilter> log;                         ///< SDFG_LOG; process-wide
  std::optional<std::string> log_file;                  ///< SDFG_LOG_FILE; empty: standard error; process-wide
  std::optional<int> debug;                             ///< SDFG_DEBUG, 0 to 7
  std::optional<std::string> trace;                     ///< SDFG_TRACE: file of the trace; empty: none
  std::optional<EnumSet<Profile>> profile;              ///< SDFG_PROFILE
  std::optional<Reproducer> repro;                      ///< SDFG_REPRO_DIR
  std::optional<EnumSet<Style>> style;                  ///< SDFG_STYLE

  /// Symbols whose values are baked in. They are no parameters of the compiled function any more: its signature is that
  /// of the graph without them. No variable; the number of variants a program makes is reported in the statistics.
  std::map<std::string, std::int64_t> specialize;
  /// Whether C++ tasklets and global code of loaded files may be compiled. No variable: the program must decide. A
  /// file's init code then runs when the compiled program is loaded, its exit code when the last Function of it is gone
  /// and the cache in memory has let go of it; both outside of calls, so they may use global code but no arguments.
  bool allow_foreign_code = false;

  /// Sets exactly the fields whose variables are set. Throws Error(kUsage) naming the variable, its value and the
  /// nearest valid one.
  static Options from_environment();

  bool operator==(const Options&) const = default;
};

/// Every field set: by `options`, else by the environment, else by default. Throws Error(kUsage) for a value out of
/// range.
SDFG_EXPORT Options resolve(const Options& options);

}  // namespace sdfg
