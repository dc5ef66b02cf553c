// Opening of devices and the checks that both implementations share.
#include "device/device.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "device/cuda/open.hpp"
#include "device/emulated/emulator.hpp"

namespace sdfg::device {

namespace {

// The documented singleton of this file. Devices are kept for the life of the process: opening one costs tenths of a
// second, and a driver that is torn down while the process exits must not be called.
struct Registry {
  std::mutex mutex;
  std::map<int, std::shared_ptr<Device>> cuda;
  std::shared_ptr<Device> emulated;
};

Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::string number(std::int64_t value) {
  return std::to_string(value);
}

std::string triple(const std::array<std::int64_t, 3>& values) {
  return number(values[0]) + " x " + number(values[1]) + " x " + number(values[2]);
}

[[noreturn]] void refuse_launch(const KernelInfo& kernel, const std::string& why, const Site& site,
                                const std::string& hint = {}) {
  throw operation_error(ErrorClass::kLaunch, "kernel '" + kernel.name + "' can't be launched: " + why, site, hint);
}

}  // namespace

Error::Place Names::place(std::int32_t ordinal) const {
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < elements.size()) {
    const Error::Place& known = elements[static_cast<std::size_t>(ordinal)];
    if (!known.what.empty()) return known;
  }
  return {"element " + std::to_string(ordinal), {}};
}

bool Fill::uniform() const {
  return std::all_of(value.begin(), value.begin() + width, [&](std::uint8_t byte) { return byte == value[0]; });
}

std::shared_ptr<Device> open(const DeviceChoice& choice) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  switch (choice.kind) {
    case DeviceChoice::Kind::kCpu:
      throw Error(ErrorClass::kUsage, "the choice of device is 'cpu', which is no GPU", {},
                  "choose 'cuda' or 'emulated'");
    case DeviceChoice::Kind::kEmulated:
      if (!known.emulated) known.emulated = emulated::open();
      return known.emulated;
    case DeviceChoice::Kind::kAuto:
    case DeviceChoice::Kind::kCuda: break;
  }
  std::shared_ptr<Device>& device = known.cuda[choice.ordinal];
  if (!device) device = cuda::open(choice.ordinal);
  return device;
}

bool cuda_available() noexcept {
  return cuda::available();
}

Error operation_error(ErrorClass error_class, std::string text, const Site& site, std::string hint) {
  std::vector<Error::Place> places;
  if (site.names && site.ordinal >= 0) places.push_back(site.names->place(site.ordinal));
  return {error_class, std::move(text), std::move(places), std::move(hint)};
}

void check_parameters(const Limits& limits, const KernelInfo& kernel, const Site& site) {
  std::int64_t bytes = 0;
  for (const ParameterInfo& parameter : kernel.parameters) {
    const std::int64_t alignment = std::clamp<std::int64_t>(parameter.bytes & -parameter.bytes, 1, 16);
    bytes = (bytes + alignment - 1) / alignment * alignment + parameter.bytes;
  }
  if (bytes > limits.parameter_bytes) {
    refuse_launch(kernel,
                  "its parameters take " + number(bytes) + " bytes, more than " + number(limits.parameter_bytes), site);
  }
}

void check_launch(const Limits& limits, const KernelInfo& kernel, const Launch& launch, const Site& site) {
  static constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.block[d] < 1 || launch.block[d] > limits.block[d]) {
      refuse_launch(kernel,
                    "its blocks are " + triple(launch.block) + ", and the extent in " + kAxes[d] +
                        " has to be between 1 and " + number(limits.block[d]),
                    site);
    }
    if (launch.grid[d] > limits.grid[d]) {
      refuse_launch(kernel,
                    "its grid is " + triple(launch.grid) + " blocks, and " + kAxes[d] + " may have at most " +
                        number(limits.grid[d]),
                    site);
    }
  }
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > limits.threads) {
    refuse_launch(kernel,
                  "its blocks of " + triple(launch.block) + " have " + number(threads) + " threads, more than " +
                      number(limits.threads),
                  site, "choose a smaller block size (SDFG_GPU_BLOCK_SIZE)");
  }
  if (kernel.max_threads > 0 && threads > kernel.max_threads) {
    refuse_launch(kernel,
                  "its blocks have " + number(threads) + " threads, and it was compiled for at most " +
                      number(kernel.max_threads) + " (its launch bound)",
                  site);
  }
  if (launch.shared < 0 || kernel.shared_bytes + launch.shared > limits.shared) {
    refuse_launch(kernel,
                  "it needs " + number(kernel.shared_bytes + launch.shared) +
                      " bytes of shared memory per block, and the device has " + number(limits.shared),
                  site);
  }
  if (kernel.shared_bytes > limits.static_shared) {
    refuse_launch(kernel,
                  "its static shared memory has " + number(kernel.shared_bytes) + " bytes, more than " +
                      number(limits.static_shared),
                  site);
  }
}

void check_copy(const Copy& copy, const Site& site) {
  for (std::size_t d = 0; d < 2; ++d) {
    if (copy.count[d] <= 1) continue;
    // The distance that the runs of this dimension must keep: what the inner one covers.
    const std::int64_t inner =
        d == 1 || copy.count[1] <= 1 ? copy.bytes : (copy.count[1] - 1) * std::abs(copy.to_stride[1]) + copy.bytes;
    const std::int64_t stride = std::abs(copy.to_stride[d]);
    const bool interleaved = d == 0 && copy.count[1] > 1 && stride >= copy.bytes &&
                             stride * (copy.count[0] - 1) + copy.bytes <= std::abs(copy.to_stride[1]);
    if (stride < inner && !interleaved) {
      throw operation_error(ErrorClass::kLaunch,
                            "a copy writes rows of " + number(inner) + " bytes that are only " + number(stride) +
                                " bytes apart, so they overlap",
                            site);
    }
  }
}

void check_fill(const Fill& fill, const Site& site) {
  const bool known = fill.width == 1 || fill.width == 2 || fill.width == 4 || fill.width == 8 || fill.width == 16;
  if (!known) {
    throw operation_error(ErrorClass::kUsage, "a fill of elements of " + number(fill.width) + " bytes", site);
  }
  if (fill.count[0] > 1 && fill.pitch < fill.count[1] * fill.width) {
    throw operation_error(ErrorClass::kLaunch,
                          "a fill writes rows of " + number(fill.count[1] * fill.width) + " bytes that are only " +
                              number(fill.pitch) + " bytes apart",
                          site);
  }
}

}  // namespace sdfg::device
