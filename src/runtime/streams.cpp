// A ring buffer that doubles.
#include "runtime/streams.hpp"

#include <cstring>
#include <limits>
#include <new>

namespace sdfg::runtime {

bool StreamQueue::grow() {
  const std::size_t wanted = slots_ == 0 ? 16 : 2 * slots_;
  if (element_ != 0 && wanted > std::numeric_limits<std::ptrdiff_t>::max() / element_) return false;
  std::vector<std::byte> bigger(wanted * element_);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t from = (head_ + i) & (slots_ - 1);
    std::memcpy(bigger.data() + i * element_, ring_.data() + from * element_, element_);
  }
  ring_ = std::move(bigger);
  slots_ = wanted;
  head_ = 0;
  return true;
}

bool StreamQueue::push(const void* value) noexcept {
  const std::lock_guard lock(mutex_);
  if (capacity_ != 0 && count_ == capacity_) return false;
  if (count_ == slots_) {
    try {
      if (!grow()) return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  std::memcpy(ring_.data() + ((head_ + count_) & (slots_ - 1)) * element_, value, element_);
  ++count_;
  return true;
}

bool StreamQueue::pop(void* value) noexcept {
  const std::lock_guard lock(mutex_);
  if (count_ == 0) return false;
  std::memcpy(value, ring_.data() + head_ * element_, element_);
  head_ = (head_ + 1) & (slots_ - 1);
  --count_;
  return true;
}

std::size_t StreamQueue::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace sdfg::runtime
