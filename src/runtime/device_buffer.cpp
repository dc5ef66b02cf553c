// The public classes of <sdfg/device.hpp>.
#include <sdfg/device.hpp>
#include <sdfg/error.hpp>
#include <string>
#include <utility>

#include "device/device.hpp"
#include "runtime/device_program.hpp"

namespace sdfg {

struct DeviceBuffer::Impl {
  std::shared_ptr<device::Device> device;
  void* memory = nullptr;
  std::size_t bytes = 0;

  // Calls `work` with the stream of this thread.
  template <class Work>
  void on_stream(Work&& work) const {
    const device::Device::Scope scope(*device);
    const runtime::ThreadStream& thread = runtime::thread_stream();
    if (thread.set && thread.native != nullptr) {
      const std::unique_ptr<device::Stream> adopted = device->adopt_stream(thread.native);
      work(*adopted);
    } else {
      work(thread.set ? device->null_stream() : device->default_stream());
    }
  }

  void copy(device::Copy copy, std::size_t length, std::size_t offset, const char* what) const {
    if (length > bytes || offset > bytes - length) {
      throw Error(ErrorClass::kUsage, std::string(what) + " of " + std::to_string(length) + " bytes at offset " +
                                          std::to_string(offset) + " of a device buffer of " + std::to_string(bytes));
    }
    if (length == 0) return;
    copy.bytes = static_cast<std::int64_t>(length);
    on_stream([&](device::Stream& stream) {
      device->copy(stream, copy);
      device->synchronise(stream);
    });
  }
};

bool device_available(const DeviceChoice& choice) noexcept {
  try {
    device::open(choice);
    return true;
  } catch (...) {
    return false;
  }
}

DeviceBuffer::DeviceBuffer() noexcept = default;

DeviceBuffer::DeviceBuffer(const DeviceChoice& device, std::size_t bytes) : impl_(std::make_unique<Impl>()) {
  impl_->device = device::open(device);
  impl_->bytes = bytes;
  impl_->on_stream([&](device::Stream& stream) {
    impl_->memory = impl_->device->allocate(stream, static_cast<std::int64_t>(bytes));
  });
}

DeviceBuffer::~DeviceBuffer() {
  if (!impl_ || impl_->memory == nullptr) return;
  try {
    impl_->on_stream([&](device::Stream& stream) { impl_->device->release(stream, impl_->memory); });
  } catch (...) {
    // The device is gone, and the memory with it.
  }
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept = default;

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

void* DeviceBuffer::data() const noexcept {
  return impl_ ? impl_->memory : nullptr;
}

std::size_t DeviceBuffer::size() const noexcept {
  return impl_ ? impl_->bytes : 0;
}

void DeviceBuffer::upload(const void* from, std::size_t bytes, std::size_t offset) {
  if (!impl_) throw Error(ErrorClass::kUsage, "an upload to a device buffer without memory");
  device::Copy copy;
  copy.to = static_cast<char*>(impl_->memory) + offset;
  copy.from = from;
  copy.to_space = device::Space::kDevice;
  impl_->copy(copy, bytes, offset, "an upload");
}

void DeviceBuffer::download(void* to, std::size_t bytes, std::size_t offset) const {
  if (!impl_) throw Error(ErrorClass::kUsage, "a download from a device buffer without memory");
  device::Copy copy;
  copy.to = to;
  copy.from = static_cast<const char*>(impl_->memory) + offset;
  copy.from_space = device::Space::kDevice;
  impl_->copy(copy, bytes, offset, "a download");
}

UseStream::UseStream(void* stream) noexcept
    : before_(runtime::thread_stream().native), was_set_(runtime::thread_stream().set) {
  runtime::thread_stream() = {true, stream};
}

UseStream::~UseStream() {
  runtime::thread_stream() = {was_set_, before_};
}

}  // namespace sdfg
