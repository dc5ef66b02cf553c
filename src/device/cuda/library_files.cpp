// One file per library and toolkit, by its versioned name.
#include "device/cuda/library_files.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <array>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/log.hpp"
#include "compile/locate.hpp"

namespace sdfg::device::cuda {

namespace {

struct Names {
  const char* cuda13;
  const char* cuda12;
  const char* wheel;  // folder in NVIDIA's Python packages of CUDA 12
};

Names names_of(DeviceLibrary library) {
  switch (library) {
    case DeviceLibrary::kBlas: return {"libcublas.so.13", "libcublas.so.12", "cublas"};
    case DeviceLibrary::kSolver: return {"libcusolver.so.12", "libcusolver.so.11", "cusolver"};
    case DeviceLibrary::kFft: return {"libcufft.so.12", "libcufft.so.11", "cufft"};
    case DeviceLibrary::kSparse: return {"libcusparse.so.12", "libcusparse.so.12", "cusparse"};
  }
  return {};
}

std::array<std::string, kDeviceLibraryCount>& preferred() {
  static auto* const files = new std::array<std::string, kDeviceLibraryCount>;
  return *files;
}
std::mutex& preferred_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::vector<std::string> candidates(DeviceLibrary library, int driver_version) {
  const Names names = names_of(library);
  std::vector<std::string> files;
  if (driver_version >= 13000) files.emplace_back(names.cuda13);
  if (driver_version < 13000 || std::string(names.cuda12) != names.cuda13) files.emplace_back(names.cuda12);
  std::vector<std::string> all;
  {
    const std::lock_guard lock(preferred_mutex());
    if (const std::string& first = preferred()[static_cast<std::size_t>(library)]; !first.empty()) all.push_back(first);
  }
  all.insert(all.end(), files.begin(), files.end());
  const auto add = [&](const std::string& folder) {
    for (const std::string& file : files) {
      struct stat found{};
      const std::string path = folder + "/" + file;
      if (stat(path.c_str(), &found) == 0) all.push_back(path);
    }
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    for (const char* folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) add(value + std::string(folder));
  }
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64"}) add(folder);
  for (const std::string& wheel :
       {"../../nvidia/" + std::string(names.wheel) + "/lib", std::string("../../nvidia/cu13/lib")}) {
    for (const std::string& folder : compiler::paths_beside_library(wheel)) add(folder);
  }
  return all;
}

template <class Table, class Fill>
struct Opened {
  Table table;
  std::optional<Error> failure;
  Opened(DeviceLibrary which, int driver_version, Fill fill) {
    const std::string name(name_of(which));
    std::string tried;
    void* library = nullptr;
    std::string path;
    for (const std::string& file : candidates(which, driver_version)) {
      library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      if (library != nullptr) {
        path = file;
        break;
      }
      tried += (tried.empty() ? "" : ", ") + file;
    }
    if (library == nullptr) {
      failure.emplace(ErrorClass::kEnvironment, name + " was not found (tried " + tried + ")",
                      std::vector<Error::Place>{},
                      "install the CUDA toolkit 12 or 13, or set CUDA_HOME to where it is");
      return;
    }
    if (const std::string missing = fill(library, table); !missing.empty()) {
      failure.emplace(ErrorClass::kEnvironment,
                      "'" + path + "' is no " + name + " that can be used: it lacks " + missing,
                      std::vector<Error::Place>{}, "CUDA 12 or newer is needed");
      return;
    }
    if (log_enabled(Logger::kDevice, LogLevel::kInfo))
      log(Logger::kDevice, LogLevel::kInfo, name + " from '" + path + "'");
  }
  const Table& get() const {
    if (failure) throw Error(*failure);
    return table;
  }
};

// `missing` names the first function that the library lacks.
struct Loader {
  void* library;
  std::string missing;
  template <class Member>
  void operator()(Member& member, const char* name) {
    member = reinterpret_cast<Member>(dlsym(library, name));
    if (member == nullptr && missing.empty()) missing = name;
  }
};

#define SDFG_LOAD(member, exported, parameters) load(table.member, #exported);
#define SDFG_OPEN(Table, functions, library)                                                                 \
  const auto fill = [](void* handle, library_abi::Table& table) {                                            \
    Loader load{handle, {}};                                                                                 \
    functions(SDFG_LOAD) return load.missing;                                                                \
  };                                                                                                         \
  static auto* const opened = new Opened<library_abi::Table, decltype(fill)>(library, driver_version, fill); \
  return opened->get();

}  // namespace

const library_abi::Blas& blas(int driver_version) {
  SDFG_OPEN(Blas, SDFG_BLAS_FUNCTIONS, DeviceLibrary::kBlas)
}
const library_abi::Solver& solver(int driver_version) {
  SDFG_OPEN(Solver, SDFG_SOLVER_FUNCTIONS, DeviceLibrary::kSolver)
}
const library_abi::Fft& fft(int driver_version) {
  SDFG_OPEN(Fft, SDFG_FFT_FUNCTIONS, DeviceLibrary::kFft)
}
const library_abi::Sparse& sparse(int driver_version){SDFG_OPEN(Sparse, SDFG_SPARSE_FUNCTIONS, DeviceLibrary::kSparse)}
#undef SDFG_OPEN
#undef SDFG_LOAD

std::string library_problem(DeviceLibrary library, int driver_version) {
  try {
    switch (library) {
      case DeviceLibrary::kBlas: blas(driver_version); break;
      case DeviceLibrary::kSolver: solver(driver_version); break;
      case DeviceLibrary::kFft: fft(driver_version); break;
      case DeviceLibrary::kSparse: sparse(driver_version); break;
    }
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

void prefer_library_file(DeviceLibrary library, std::string path) {
  const std::lock_guard lock(preferred_mutex());
  preferred()[static_cast<std::size_t>(library)] = std::move(path);
}

}  // namespace sdfg::device::cuda
