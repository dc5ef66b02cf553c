/// GPU memory and streams of the application's own, for arguments that stay on the device.
///
/// A parameter that the graph declares on the device (storage GpuGlobal) takes a device address: `data()` of a
/// DeviceArray, or what the application's own CUDA code allocated. The classes here work alike on a CUDA device and on
/// the emulated one, so that programs with device-resident arguments run, and are checked, on machines without a GPU.
///
/// Order: a call of a compiled function queues its device work on one stream and returns when everything that the host
/// sees is done; device-resident results may still be under way. The next call, and upload and download below, use the
/// same stream, so they see these results. That stream is the device's default one, which is ordered with CUDA's legacy
/// null stream, unless UseStream names another.
#pragma once

#include <cstddef>
#include <memory>
#include <sdfg/export.hpp>
#include <sdfg/options.hpp>
#include <vector>

namespace sdfg {

/// Whether graphs can run on this device here: a driver and the device are there (CUDA), or the process has address
/// space for it (emulated); "auto" asks for any CUDA device. Never throws. The first question may take tenths of a
/// second. Any thread.
SDFG_EXPORT bool device_available(const DeviceChoice& choice) noexcept;

/// Bytes of device memory. Owns them; freed at the end, after the work that was queued before. Movable. One object may
/// be used by one thread at a time; different objects by any number.
class SDFG_EXPORT DeviceBuffer {
 public:
  /// No memory.
  DeviceBuffer() noexcept;
  /// Not initialised (the emulated device poisons it). Throws Error: kResource without memory, kEnvironment without the
  /// device.
  DeviceBuffer(const DeviceChoice& device, std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// The device address: an argument of functions, not the host's to touch. Null without memory.
  void* data() const noexcept;
  std::size_t size() const noexcept;

  /// Copy `bytes` to or from `offset`; return when it is done. Throw Error: kUsage beyond the end, kLaunch for a fault
  /// of earlier work on the stream.
  void upload(const void* from, std::size_t bytes, std::size_t offset = 0);
  void download(void* to, std::size_t bytes, std::size_t offset = 0) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An array of device memory with elements of type T.
template <class T>
class DeviceArray {
 public:
  DeviceArray() noexcept = default;
  DeviceArray(const DeviceChoice& device, std::size_t size) : buffer_(device, size * sizeof(T)) {}
  DeviceArray(const DeviceChoice& device, const std::vector<T>& values) : DeviceArray(device, values.size()) {
    upload(values);
  }

  T* data() const noexcept { return static_cast<T*>(buffer_.data()); }
  std::size_t size() const noexcept { return buffer_.size() / sizeof(T); }

  /// From the first element on.
  void upload(const std::vector<T>& values) { buffer_.upload(values.data(), values.size() * sizeof(T)); }
  std::vector<T> download() const {
    std::vector<T> values(size());
    buffer_.download(values.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  DeviceBuffer buffer_;
};

/// While it lives, device work of this thread's calls (and uploads and downloads) goes to a stream of the
/// application's: a CUstream or cudaStream_t, null being the legacy null stream. The stream must belong to the device
/// and outlive it.
class SDFG_EXPORT UseStream {
 public:
  explicit UseStream(void* stream) noexcept;
  ~UseStream();
  UseStream(const UseStream&) = delete;
  UseStream& operator=(const UseStream&) = delete;

 private:
  void* before_;
  bool was_set_;
};

}  // namespace sdfg
