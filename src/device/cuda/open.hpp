// Opens CUDA devices.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace sdfg::device::cuda {

// Throws Error(kEnvironment): no driver, an unsuitable driver, no such device.
std::shared_ptr<Device> open(int ordinal);
bool available() noexcept;

}  // namespace sdfg::device::cuda
