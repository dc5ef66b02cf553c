// The opened CUDA driver: its functions, and what their results mean.
#pragma once

#include <driver_abi.hpp>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace sdfg::device::cuda {

namespace abi = sdfg::driver_abi;

class Driver {
 public:
  // The driver of this machine: opened once; the failure to do so is remembered, too.
  static std::shared_ptr<const Driver> instance();
  // The library at this path, for tests. Throws Error(kEnvironment): not there, too old, refuses to start.
  static std::shared_ptr<const Driver> load(const std::string& path);

  const abi::Table& api() const noexcept { return api_; }
  int version() const noexcept { return version_; }  // 12040 for CUDA 12.4
  std::string version_text() const;
  int devices() const noexcept { return devices_; }

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  std::string text(abi::Result result) const;

 private:
  Driver() = default;
  static std::shared_ptr<const Driver> open(void* library, const std::string& path);

  abi::Table api_;
  int version_ = 0;
  int devices_ = 0;
};

ErrorClass class_of(abi::Result result) noexcept;
// Whether every later call fails with it.
bool is_lasting(abi::Result result) noexcept;

}  // namespace sdfg::device::cuda
