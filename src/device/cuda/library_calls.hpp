// Calls of cuBLAS, cuSOLVER, cuFFT and cuSPARSE on the streams of one device.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/device.hpp"

namespace sdfg::device::cuda {

// Handles belong to a stream: a handle's workspace serves one call after the other, which only the order of one stream
// guarantees. They are kept to the end of the process, since libraries must not be called while it exits. Calls of one
// device take turns on the host; the device's work is queued only.
class LibraryCalls {
 public:
  explicit LibraryCalls(Device& device);
  ~LibraryCalls();
  LibraryCalls(const LibraryCalls&) = delete;
  LibraryCalls& operator=(const LibraryCalls&) = delete;

  // With the device entered. Throws Error(kEnvironment) for a library that is missing, Error(kLaunch) for a call that
  // the library refuses or a matrix that can't be factorised, and what the device throws.
  void call(Stream& stream, const LibraryCall& call, const Site& site);

  struct Handles;

 private:
  Handles& handles_of(Stream& stream);
  Device& device_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Handles>> handles_;
};

}  // namespace sdfg::device::cuda
