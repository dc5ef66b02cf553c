// Finds and opens the CUDA driver.
#include "device/cuda/driver.hpp"

#include <dlfcn.h>

#include <optional>
#include <utility>

#include "base/log.hpp"

namespace sdfg::device::cuda {

namespace {

constexpr int kOldestVersion = 12000;
constexpr const char* kPaths[] = {"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                  "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
constexpr const char* kOtherDevices = "choose SDFG_DEVICE=cpu, or SDFG_DEVICE=emulated to check GPU code without a GPU";

std::string version_of(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

ErrorClass class_of(abi::Result result) noexcept {
  switch (result) {
    case abi::kOutOfMemory: return ErrorClass::kResource;
    case abi::kNoDevice:
    case abi::kInvalidDevice:
    case abi::kSystemNotReady:
    case abi::kSystemDriverMismatch:
    case abi::kJitCompilerNotFound:
    case abi::kUnsupportedPtxVersion:
    case abi::kJitCompilationDisabled: return ErrorClass::kEnvironment;
    case abi::kInvalidImage:
    case abi::kNoBinaryForGpu:
    case abi::kInvalidPtx:
    case abi::kNotFound: return ErrorClass::kLoad;
    default: return is_lasting(result) ? ErrorClass::kDeviceLost : ErrorClass::kLaunch;  // an open set of the driver's
  }
}

bool is_lasting(abi::Result result) noexcept {
  switch (result) {
    case abi::kDeinitialised:
    case abi::kDeviceUnavailable:
    case abi::kEccUncorrectable:
    case abi::kNvlinkUncorrectable:
    case abi::kIllegalAddress:
    case abi::kLaunchTimeout:
    case abi::kContextIsDestroyed:
    case abi::kAssert:
    case abi::kHardwareStackError:
    case abi::kIllegalInstruction:
    case abi::kMisalignedAddress:
    case abi::kInvalidAddressSpace:
    case abi::kInvalidPc:
    case abi::kLaunchFailed: return true;
    default: return false;  // an open set of the driver's
  }
}

std::string Driver::version_text() const {
  return version_of(version_);
}

std::string Driver::text(abi::Result result) const {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (api_.error_name(result, &name) != abi::kSuccess || name == nullptr) return "CUDA error " + std::to_string(result);
  std::string all = name;
  if (api_.error_text(result, &sentence) == abi::kSuccess && sentence != nullptr) all += std::string(": ") + sentence;
  return all;
}

std::shared_ptr<const Driver> Driver::open(void* library, const std::string& path) {
  std::shared_ptr<Driver> driver(new Driver);
  const auto get = reinterpret_cast<abi::GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  const auto initialise = reinterpret_cast<abi::Initialise>(dlsym(library, "cuInit"));
  const auto version = reinterpret_cast<abi::Result (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  if (initialise == nullptr || version == nullptr) {
    throw Error(ErrorClass::kEnvironment, "'" + path + "' is no CUDA driver", {}, kOtherDevices);
  }
  // Before cuInit, so that a driver that is too old is named as such, whatever else is wrong with it.
  version(&driver->version_);
  if (driver->version_ < kOldestVersion) {
    throw Error(ErrorClass::kEnvironment,
                "the NVIDIA driver ('" + path + "') supports CUDA " + driver->version_text() + ", and at least " +
                    version_of(kOldestVersion) + " is needed",
                {}, "update the NVIDIA driver");
  }
  std::string missing;
  const auto load = [&](auto& member, const char* name, const char* exported) {
    void* function = nullptr;
    int status = 0;
    const bool found = get != nullptr &&
                       get(name, &function, abi::kInterfaceVersion, abi::kProcLegacyStream, &status) == abi::kSuccess;
    if (!found || function == nullptr) function = dlsym(library, exported);
    if (function == nullptr && missing.empty()) missing = exported;
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(function);
  };
#define SDFG_LOAD(member, name, exported, parameters) load(driver->api_.member, #name, #exported);
  SDFG_DRIVER_FUNCTIONS(SDFG_LOAD)
#undef SDFG_LOAD
  if (!missing.empty()) {
    throw Error(ErrorClass::kEnvironment, "the NVIDIA driver ('" + path + "') lacks " + missing, {},
                "update the NVIDIA driver");
  }
  const abi::Result started = initialise(0);
  if (started == abi::kNoDevice) {
    throw Error(ErrorClass::kEnvironment, "the NVIDIA driver (CUDA " + driver->version_text() + ") sees no GPU", {},
                kOtherDevices);
  }
  if (started != abi::kSuccess) {
    throw Error(
        ErrorClass::kEnvironment,
        "the NVIDIA driver (CUDA " + driver->version_text() + ") does not start: " + driver->text(started), {},
        started == abi::kSystemDriverMismatch ? "restart the machine after updating the driver" : kOtherDevices);
  }
  if (const abi::Result counted = driver->api_.device_count(&driver->devices_); counted != abi::kSuccess) {
    throw Error(ErrorClass::kEnvironment, "the NVIDIA driver does not tell its devices: " + driver->text(counted));
  }
  if (driver->devices_ == 0) {
    throw Error(ErrorClass::kEnvironment, "the NVIDIA driver (CUDA " + driver->version_text() + ") sees no GPU", {},
                kOtherDevices);
  }
  if (log_enabled(Logger::kDevice, LogLevel::kInfo)) {
    log(Logger::kDevice, LogLevel::kInfo,
        "CUDA driver " + driver->version_text() + " from '" + path + "', " + std::to_string(driver->devices_) +
            " devices");
  }
  return driver;
}

std::shared_ptr<const Driver> Driver::load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorClass::kEnvironment,
                "no NVIDIA driver was found: " + std::string(reason != nullptr ? reason : path.c_str()), {},
                kOtherDevices);
  }
  return open(library, path);
}

std::shared_ptr<const Driver> Driver::instance() {
  struct Opened {
    std::shared_ptr<const Driver> driver;
    std::optional<Error> failure;
    Opened() {
      std::string reason;
      for (const char* path : kPaths) {
        void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) {
          const char* text = dlerror();
          if (reason.empty() && text != nullptr) reason = text;
          continue;
        }
        try {
          driver = open(library, path);
        } catch (const Error& error) {
          failure = error;
        }
        return;
      }
      failure.emplace(ErrorClass::kEnvironment, "no NVIDIA driver was found (" + reason + ")",
                      std::vector<Error::Place>{}, kOtherDevices);
    }
  };
  static Opened* const opened = new Opened;  // never destroyed: calls may come while the process exits
  if (opened->failure) throw Error(*opened->failure);
  return opened->driver;
}

}  // namespace sdfg::device::cuda
