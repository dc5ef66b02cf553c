// Memory of the interpreter: owned allocations, queues of streams, and live containers with their evaluated layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/container.hpp"
#include "tasklet/value.hpp"

namespace sdfg::interpret {

// Bytes owned by the interpreter. With `track`, a flag per byte says whether it was ever written.
class Allocation {
 public:
  Allocation(std::int64_t bytes, std::int64_t alignment, bool track);
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void zero();                   // and counts as written
  void poison(ScalarType type);  // NaN for floating and complex elements, bytes 0xA5 otherwise
  void poison_bytes();
  bool is_tracked() const { return !written_.empty(); }
  void mark_written(const std::byte* at, std::int64_t count, bool written = true);
  bool is_written(const std::byte* at, std::int64_t count) const;

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t alignment_ = 64;
  std::vector<bool> written_;
};

// A queue of elements as bytes.
struct Queue : std::deque<std::vector<std::byte>> {
  const ir::Container* desc = nullptr;
  std::int64_t capacity = 0;  // 0: bounded by memory only

  // Throws Error(kLaunch) naming the stream when it is full.
  void push(std::vector<std::byte> element);
};

// A container that exists now. Element (i_0, ...) is at base + element_size * (start_offset + sum (i_d + offset_d) *
// stride_d).
struct Live {
  const ir::Container* desc = nullptr;  // never null in a prepared program
  bool alive = false;
  std::byte* base = nullptr;       // null: a Reference that was not set
  std::byte* limit_low = nullptr;  // memory that may be touched: [limit_low, limit_high)
  std::byte* limit_high = nullptr;
  std::shared_ptr<Allocation> allocation;  // owned memory; null for arguments
  std::int64_t element_size = 0;
  std::vector<std::int64_t> shape, strides, offset;
  std::int64_t start_offset = 0;
  std::shared_ptr<std::vector<Queue>> queues;  // streams: one per element of the shape, row-major

  std::int64_t num_elements() const;
};

}  // namespace sdfg::interpret
