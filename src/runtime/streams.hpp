// Growing queues behind Stream containers: first in, first out, any number of producers and consumers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sdfg::runtime {

class StreamQueue {
 public:
  // `capacity` 0: bounded by memory only.
  StreamQueue(std::size_t element_bytes, std::size_t capacity) : element_(element_bytes), capacity_(capacity) {}

  // False when the queue is at its capacity or there is no memory.
  bool push(const void* value) noexcept;
  // False when the queue is empty.
  bool pop(void* value) noexcept;
  std::size_t size() const noexcept;
  std::size_t element_bytes() const noexcept { return element_; }
  bool bounded() const noexcept { return capacity_ != 0; }

 private:
  bool grow();

  mutable std::mutex mutex_;
  const std::size_t element_;
  const std::size_t capacity_;
  std::vector<std::byte> ring_;  // slots_ elements
  std::size_t slots_ = 0;        // 0 or a power of two
  std::size_t head_ = 0;         // of the oldest element
  std::size_t count_ = 0;
};

}  // namespace sdfg::runtime
