// Finds, opens and drives NVRTC.
#include "compile/nvrtc.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <nvrtc_abi.hpp>
#include <optional>
#include <sdfg/error.hpp>
#include <semaphore>

#include "base/log.hpp"
#include "base/write_file.hpp"
#include "compile/build_id.hpp"
#include "compile/locate.hpp"

namespace sdfg::compiler {

namespace {

namespace nv = nvrtc_abi;

constexpr int kMostAtOnce = 8;
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

struct Nvrtc {
  nv::Table table;
  NvrtcInfo info;
  std::string id;
  std::counting_semaphore<kMostAtOnce> places{kMostAtOnce};
};

std::vector<std::string> folders() {
  std::vector<std::string> all;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    for (const char* folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"})
      all.push_back(value + std::string(folder));
  }
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64"})
    all.emplace_back(folder);
  // Beside this library, as wheels place it: site-packages/<ours>/lib next to site-packages/nvidia/cuda_nvrtc/lib.
  for (const char* wheel : {"../../nvidia/cuda_nvrtc/lib", "../nvidia/cuda_nvrtc/lib", "../../nvidia/cu13/lib"}) {
    for (std::string path : paths_beside_library(wheel)) all.push_back(std::move(path));
  }
  return all;
}

void* open_first(std::string& tried) {
  const auto attempt = [&](const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) tried += (tried.empty() ? "" : ", ") + path;
    return library;
  };
  for (const char* name : kNames) {
    if (void* library = attempt(name)) return library;
  }
  for (const std::string& folder : folders()) {
    for (const char* name : kNames) {
      const std::string path = folder + "/" + name;
      struct stat found{};
      if (stat(path.c_str(), &found) != 0) continue;  // not worth naming among those tried
      if (void* library = attempt(path)) return library;
    }
  }
  return nullptr;
}

std::unique_ptr<Nvrtc> open_nvrtc() {
  std::string tried;
  void* library = open_first(tried);
  if (library == nullptr) {
    throw Error(ErrorClass::kEnvironment, "NVRTC, the compiler of GPU kernels, was not found (tried " + tried + ")", {},
                "install the CUDA toolkit 12 or 13, or set CUDA_HOME to where it is");
  }
  auto nvrtc = std::make_unique<Nvrtc>();
  std::string missing;
  const auto load = [&](auto& member, const char* name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
    if (member == nullptr && missing.empty()) missing = name;
  };
#define SDFG_LOAD(result, member, name, parameters) load(nvrtc->table.member, #name);
  SDFG_NVRTC_FUNCTIONS(SDFG_LOAD)
#undef SDFG_LOAD
  Dl_info where{};
  const void* inside = dlsym(library, "nvrtcVersion");
  NvrtcInfo& info = nvrtc->info;
  if (inside != nullptr && dladdr(inside, &where) != 0 && where.dli_fname != nullptr) info.path = where.dli_fname;
  if (!missing.empty()) {
    throw Error(ErrorClass::kEnvironment, "'" + info.path + "' is no NVRTC that can be used: it lacks " + missing, {},
                "CUDA 12 or newer is needed");
  }
  nvrtc->table.version(&info.major, &info.minor);
  const std::string version = std::to_string(info.major) + "." + std::to_string(info.minor);
  // NVRTC opens its built-ins by name and would search the process' library path only: open the ones beside it.
  const std::string folder = info.path.substr(0, info.path.rfind('/') + 1);
  const std::string builtins = folder + "libnvrtc-builtins.so." + version;
  const bool preloaded = dlopen(builtins.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr;
  int count = 0;
  if (nvrtc->table.count_architectures(&count) == nv::kSuccess && count > 0) {
    info.architectures.resize(static_cast<std::size_t>(count));
    nvrtc->table.architectures(info.architectures.data());
    std::sort(info.architectures.begin(), info.architectures.end());
  }
  struct stat file{};
  stat(info.path.c_str(), &file);
  // The interface tells no patch level; the size of the file stands in for it.
  nvrtc->id = "nvrtc " + version + " " + std::to_string(file.st_size);
  if (log_enabled(Logger::kCompile, LogLevel::kInfo)) {
    log(Logger::kCompile, LogLevel::kInfo,
        "NVRTC " + version + " from '" + info.path + "', built-ins " +
            (preloaded ? "'" + builtins + "'" : "left to its own search"));
  }
  return nvrtc;
}

// What is known of NVRTC without its functions.
struct Facts {
  NvrtcInfo info;
  std::string id;
};

// The note between processes: one file of lines, rewritten whenever NVRTC was opened and it says something else.
class Note {
 public:
  void keep(const std::string& folder, bool writable) {
    const std::lock_guard lock(mutex_);
    if (!path_.empty() || folder.empty()) return;
    path_ = folder + "/nvrtc.note";
    writable_ = writable;
    facts_ = read(path_);
  }
  std::optional<Facts> facts() {
    const std::lock_guard lock(mutex_);
    return facts_;
  }
  // Whether what was answered from the note holds.
  bool agrees(const Facts& real) {
    const std::lock_guard lock(mutex_);
    const bool same = !facts_ || (facts_->id == real.id && facts_->info.architectures == real.info.architectures &&
                                  facts_->info.major == real.info.major);
    const bool write_it = !path_.empty() && writable_ && (!facts_ || !same);
    if (write_it) write(path_, real);
    facts_ = real;
    return same;
  }

 private:
  static std::string identity(const std::string& path) {
    struct stat file{};
    if (stat(path.c_str(), &file) != 0) return {};
    return std::to_string(file.st_dev) + " " + std::to_string(file.st_ino) + " " + std::to_string(file.st_size) + " " +
           std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec);
  }
  // What decides which file is found, as far as it can be seen without a search.
  static std::string search() {
    std::string text = identity("/etc/ld.so.cache");
    for (const char* variable : {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"}) {
      const char* value = std::getenv(variable);
      text += std::string("|") + (value == nullptr ? "" : value);
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
  static std::optional<Facts> read(const std::string& path) {
    std::ifstream file(path);
    Facts out;
    std::string version, place, environment, architectures;
    if (!std::getline(file, version) || version != kVersion || !std::getline(file, out.info.path) ||
        !std::getline(file, place) || !std::getline(file, environment) || !std::getline(file, out.id) ||
        !(file >> out.info.major >> out.info.minor) || environment != search() || place.empty() ||
        place != identity(out.info.path))
      return std::nullopt;
    for (int a = 0; file >> a;) out.info.architectures.push_back(a);
    return file.eof() && !out.info.architectures.empty() ? std::optional(out) : std::nullopt;
  }
  static void write(const std::string& path, const Facts& facts) {
    const QuietWrites quiet;
    const std::string temporary = path + "." + std::to_string(getpid());
    {
      std::ofstream file(temporary, std::ios::trunc);
      file << kVersion << '\n'
           << facts.info.path << '\n'
           << identity(facts.info.path) << '\n'
           << search() << '\n'
           << facts.id << '\n'
           << facts.info.major << ' ' << facts.info.minor;
      for (const int a : facts.info.architectures) file << ' ' << a;
      file << '\n';
      if (!file.flush()) return;
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) std::remove(temporary.c_str());
  }

  static constexpr const char* kVersion = "nvrtc note 1";
  std::mutex mutex_;
  std::string path_;
  bool writable_ = false;
  std::optional<Facts> facts_;
};

Note& note() {
  static Note* const kept = new Note;
  return *kept;
}

// Opened once; a failure is as lasting as a success.
Nvrtc& nvrtc() {
  struct Opened {
    std::unique_ptr<Nvrtc> library;
    std::optional<Error> failure;
    Opened() {
      try {
        library = open_nvrtc();
      } catch (const Error& error) {
        failure = error;
      }
    }
  };
  static Opened* const opened = new Opened;  // never destroyed: calls may come while the process exits
  if (opened->failure) throw Error(*opened->failure);
  return *opened->library;
}

// Whether NVRTC's own declarations of the CUDA runtime's types and functions, textures and launches from kernels are
// seen by the text. Reading them takes a sixth of the time of a small compilation, and generated text names none of
// them.
enum class Declarations : std::uint8_t { kAll, kLanguage };

bool can_omit_declarations(const NvrtcInfo& info) {
  return info.major > 12 || (info.major == 12 && info.minor >= 4);
}

std::vector<std::string> options_for(const CompileRequest& request, Declarations declarations) {
  std::vector<std::string> options = {"--gpu-architecture=" + request.cpu, "--std=c++17",
                                      "--device-as-default-execution-space"};
  if (declarations == Declarations::kLanguage) options.insert(options.end(), {"--minimal", "--no-source-include"});
  const FpOptions& fp = request.fp;
  options.emplace_back(fp.contract || fp.approximate ? "--fmad=true" : "--fmad=false");
  if (fp.approximate) options.insert(options.end(), {"--prec-div=false", "--prec-sqrt=false"});
  if (request.debug_info) options.emplace_back("--generate-line-info");
  options.insert(options.end(), request.flags.begin(), request.flags.end());
  return options;
}

CompileResult failure(std::string text) {
  CompileResult result;
  result.diagnostics.push_back({Severity::kError, 0, 0, std::move(text)});
  return result;
}

struct Place {
  std::counting_semaphore<kMostAtOnce>& places;
  explicit Place(std::counting_semaphore<kMostAtOnce>& p) : places(p) { places.acquire(); }
  ~Place() { places.release(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
};

}  // namespace

int architecture_number(std::string_view architecture) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (!architecture.starts_with(prefix)) continue;
    const std::string_view digits = architecture.substr(prefix.size());
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (error == std::errc() && (rest.empty() || rest == "a" || rest == "f")) return number;
  }
  return 0;
}

std::vector<Diagnostic> parse_nvrtc_log(std::string_view log, std::string_view file) {
  static constexpr std::pair<std::string_view, Severity> kKinds[] = {{"catastrophic error", Severity::kFatal},
                                                                     {"internal error", Severity::kFatal},
                                                                     {"fatal error", Severity::kFatal},
                                                                     {"error", Severity::kError},
                                                                     {"warning", Severity::kWarning},
                                                                     {"remark", Severity::kRemark},
                                                                     {"note", Severity::kNote}};
  std::vector<Diagnostic> found;
  bool wants_column = false;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    // "file(12): error: text", "file(12): warning #177-D: text", and the same without a place.
    std::string_view rest = line;
    std::uint32_t number = 0;
    if (rest.starts_with(file) && rest.substr(file.size()).starts_with("(")) {
      const std::string_view digits = rest.substr(file.size() + 1);
      const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      const std::string_view after(at, static_cast<std::size_t>(digits.data() + digits.size() - at));
      if (error == std::errc() && after.starts_with("): ")) rest = after.substr(3);
    }
    bool starts = false;
    for (const auto& [word, severity] : kKinds) {
      if (!rest.starts_with(word)) continue;
      const std::string_view tail = rest.substr(word.size());
      const std::size_t colon = tail.find(": ");
      if (colon == std::string_view::npos || (colon != 0 && !tail.starts_with(" #"))) continue;
      Diagnostic diagnostic{severity, number, 0, std::string(tail.substr(colon + 2))};
      if (colon > 1) diagnostic.text += " [" + std::string(tail.substr(1, colon - 1)) + "]";
      found.push_back(std::move(diagnostic));
      starts = true;
      break;
    }
    if (starts) {
      wants_column = number != 0;
      continue;
    }
    // The source line, indented by two, then a line with the caret below the column.
    const std::size_t caret = line.find_first_not_of(' ');
    if (wants_column && caret != std::string_view::npos && caret >= 2 && line.substr(caret) == "^") {
      found.back().column = static_cast<std::uint32_t>(caret - 1);
      wants_column = false;
    }
  }
  return found;
}

const NvrtcInfo& nvrtc_info() {
  return nvrtc().info;
}

namespace {

Facts facts() {
  if (std::optional<Facts> noted = note().facts()) return *noted;
  confirm_nvrtc();
  return {nvrtc().info, nvrtc().id};
}

}  // namespace

void keep_nvrtc_note(const std::string& folder, bool writable) {
  note().keep(folder, writable);
}

bool confirm_nvrtc() {
  const Nvrtc& opened = nvrtc();
  return note().agrees({opened.info, opened.id});
}

std::string nvrtc_build_id() {
  return facts().id;
}

std::vector<std::string> device_build_ids() {
  return {library_build_id(), nvrtc_build_id()};
}

void check_architecture(const std::string& architecture) {
  if (architecture_number(architecture) != 0) return;
  throw Error(ErrorClass::kUsage, "'" + architecture + "' is no GPU architecture", {}, "write sm_ and a number: sm_90");
}

DeviceBuild device_build_for(const std::string& architecture, int driver_version) {
  check_architecture(architecture);
  const int number = architecture_number(architecture);
  const NvrtcInfo info = facts().info;
  if (driver_version > 0 && info.major > driver_version / 1000) {
    throw Error(
        ErrorClass::kEnvironment,
        "the NVIDIA driver supports CUDA " + std::to_string(driver_version / 1000) + "." +
            std::to_string(driver_version % 1000 / 10) + ", and NVRTC ('" + info.path + "') is of CUDA " +
            std::to_string(info.major) + "." + std::to_string(info.minor) + ", whose code this driver does not load",
        {}, "update the NVIDIA driver, or set CUDA_HOME to a toolkit of CUDA " + std::to_string(driver_version / 1000));
  }
  const std::vector<int>& known = info.architectures;
  if (std::binary_search(known.begin(), known.end(), number)) {
    return {architecture.starts_with("sm_") ? CodeKind::kCubin : CodeKind::kPtx, architecture};
  }
  const auto newer = std::upper_bound(known.begin(), known.end(), number);
  if (newer == known.begin()) {
    throw Error(ErrorClass::kEnvironment,
                "NVRTC " + std::to_string(info.major) + "." + std::to_string(info.minor) + " ('" + info.path +
                    "') does not compile for " + architecture +
                    (known.empty() ? "" : "; its oldest architecture is sm_" + std::to_string(known.front())),
                {}, "use an older CUDA toolkit for this GPU");
  }
  return {CodeKind::kPtx, "compute_" + std::to_string(*(newer - 1))};
}

namespace {

CompileResult compile_once(const Nvrtc& library, const CompileRequest& request, Declarations declarations) {
  const bool cubin = request.kind == CodeKind::kCubin;
  const nv::Table& api = library.table;
  const std::vector<std::string> texts = options_for(request, declarations);
  std::vector<const char*> options;
  options.reserve(texts.size());
  for (const std::string& text : texts) options.push_back(text.c_str());
  const std::string name = request.name.empty() ? "kernels.cu" : request.name;

  nv::Program program = nullptr;
  if (const nv::Result made = api.create(&program, request.source.c_str(), name.c_str(), 0, nullptr, nullptr);
      made != nv::kSuccess) {
    return failure(std::string("NVRTC did not take the source: ") + api.error_string(made));
  }
  const auto destroy = [&api](nv::Program p) { api.destroy(&p); };
  const std::unique_ptr<nv::ProgramHandle, decltype(destroy)> owner(program, destroy);
  const nv::Result compiled = api.compile(program, static_cast<int>(options.size()), options.data());

  CompileResult result;
  std::size_t size = 0;
  if (api.log_size(program, &size) == nv::kSuccess && size > 1) {
    std::string log(size, '\0');
    if (api.log(program, log.data()) == nv::kSuccess) {
      log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
      result.diagnostics = parse_nvrtc_log(log, name);
      if (compiled != nv::kSuccess && result.diagnostics.empty() && !log.empty())
        result.diagnostics.push_back({Severity::kError, 0, 0, log});
    }
  }
  if (compiled != nv::kSuccess) {
    const bool explained = std::any_of(result.diagnostics.begin(), result.diagnostics.end(), [](const Diagnostic& d) {
      return d.severity == Severity::kError || d.severity == Severity::kFatal;
    });
    if (!explained)
      result.diagnostics.push_back(
          {Severity::kFatal, 0, 0, std::string("NVRTC failed: ") + api.error_string(compiled)});
    return result;
  }
  nv::Result got = cubin ? api.cubin_size(program, &size) : api.ptx_size(program, &size);
  if (got == nv::kSuccess && size > 0) {
    result.payload.resize(size);
    char* bytes = reinterpret_cast<char*>(result.payload.data());
    got = cubin ? api.cubin(program, bytes) : api.ptx(program, bytes);
  }
  result.ok = got == nv::kSuccess && !result.payload.empty();
  if (!result.ok) {
    result.payload.clear();
    result.diagnostics.push_back({Severity::kFatal, 0, 0, std::string("NVRTC gave no code: ") + api.error_string(got)});
  }
  return result;
}

}  // namespace

CompileResult compile_device(const CompileRequest& request) {
  if (request.kind != CodeKind::kCubin && request.kind != CodeKind::kPtx)
    return failure("the device compiler was asked for host code");
  Nvrtc& library = nvrtc();
  const Place place(library.places);
  const auto begin = std::chrono::steady_clock::now();
  const bool omits = can_omit_declarations(library.info);
  CompileResult result = compile_once(library, request, omits ? Declarations::kLanguage : Declarations::kAll);
  // A user's own code may name what was left out: what fails is compiled once more with everything declared.
  if (omits && !result.ok) result = compile_once(library, request, Declarations::kAll);
  const auto spent = std::chrono::steady_clock::now() - begin;
  if (result.ok) result.times = {{"nvrtc", std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count()}};
  return result;
}

}  // namespace sdfg::compiler
