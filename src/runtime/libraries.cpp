// Opens host libraries at first use.
#include "runtime/libraries.hpp"

#include <dlfcn.h>

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <sdfg/error.hpp>
#include <shared_mutex>

namespace sdfg::runtime {
namespace {

using lower::HostLibrary;

struct Library {
  const char* name;
  std::vector<std::string> candidates;
  const char* hint;
  void* handle = nullptr;
  std::map<std::string, void*, std::less<>> symbols;
};

// The state of opened libraries; never closed, since generated code keeps their addresses.
struct Libraries {
  std::shared_mutex mutex;
  std::array<Library, lower::kHostLibraryCount> all = {
      Library{"BLAS",
              {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so", "libblis.so.4", "libcblas.so.3",
               "libblas.so.3"},
              "install OpenBLAS (libopenblas0)",
              nullptr,
              {}},
      Library{"LAPACK",
              {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so", "liblapack.so.3"},
              "install OpenBLAS (libopenblas0) or LAPACK (liblapack3)",
              nullptr,
              {}},
      Library{"LAPACKE",
              {"liblapacke.so.3", "libopenblas.so.0", "libmkl_rt.so.2"},
              "install LAPACKE (liblapacke)",
              nullptr,
              {}},
      Library{"FFTW", {"libfftw3.so.3"}, "install FFTW (libfftw3-double3)", nullptr, {}},
      Library{"FFTW (single)", {"libfftw3f.so.3"}, "install FFTW (libfftw3-single3)", nullptr, {}},
      Library{"MPI", {"libmpi.so.40", "libmpi.so.12", "libmpi.so"}, "install Open MPI or MPICH", nullptr, {}},
  };
};

Libraries& libraries() {
  static auto* const instance = new Libraries;
  return *instance;
}

void open_library(Library& library) {
  std::string tried;
  for (const std::string& file : library.candidates) {
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle != nullptr) return;
    tried += (tried.empty() ? "" : ", ") + file;
  }
  throw Error(ErrorClass::kEnvironment,
              std::string("no ") + library.name + " library could be opened (tried " + tried + ")", {}, library.hint);
}

}  // namespace

void* library_symbol(HostLibrary which, std::string_view symbol) {
  Libraries& all = libraries();
  const auto index = static_cast<std::size_t>(which);
  if (index >= all.all.size())
    throw Error(ErrorClass::kInternal, "host library " + std::to_string(index) + " is unknown");
  Library& library = all.all[index];
  {
    const std::shared_lock lock(all.mutex);
    if (const auto it = library.symbols.find(symbol); it != library.symbols.end()) return it->second;
  }
  const std::unique_lock lock(all.mutex);
  if (library.handle == nullptr) open_library(library);
  void* address = dlsym(library.handle, std::string(symbol).c_str());
  if (address == nullptr) {
    throw Error(
        ErrorClass::kEnvironment,
        std::string("the ") + library.name + " library that was opened has no function '" + std::string(symbol) + "'",
        {}, library.hint);
  }
  library.symbols.emplace(symbol, address);
  return address;
}

void prefer_library_file(HostLibrary which, std::string path) {
  Libraries& all = libraries();
  const std::unique_lock lock(all.mutex);
  auto& candidates = all.all.at(static_cast<std::size_t>(which)).candidates;
  candidates.insert(candidates.begin(), std::move(path));
}

}  // namespace sdfg::runtime
