// Opens CUDA devices.
#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"

namespace sdfg::device::cuda {

// Of this machine's driver. Throws Error(kEnvironment): no driver, an unsuitable driver, no such device.
std::shared_ptr<Device> open(int ordinal);
bool available() noexcept;

// Of a given driver; for tests.
std::shared_ptr<Device> make_device(std::shared_ptr<const Driver> driver, int ordinal);

}  // namespace sdfg::device::cuda
