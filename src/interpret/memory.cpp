// Owned allocations of the interpreter: poison, zero and the flags of written bytes.
#include "interpret/memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <sdfg/error.hpp>

namespace sdfg::interpret {

namespace {
constexpr int kPoisonByte = 0xA5;
constexpr std::int64_t kDefaultAlignment = 64;
}  // namespace

Allocation::Allocation(std::int64_t bytes, std::int64_t alignment, bool track)
    : bytes_(bytes), alignment_(std::max(alignment, kDefaultAlignment)) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  data_ = static_cast<std::byte*>(
      ::operator new(size, std::align_val_t(static_cast<std::size_t>(alignment_)), std::nothrow));
  if (data_ == nullptr) throw Error(ErrorClass::kResource, "no memory for " + std::to_string(bytes) + " bytes");
  if (track) written_.resize(size, false);
}

Allocation::~Allocation() {
  ::operator delete(data_, std::align_val_t(static_cast<std::size_t>(alignment_)));
}

void Allocation::zero() {
  std::memset(data_, 0, static_cast<std::size_t>(bytes_));
  std::fill(written_.begin(), written_.end(), true);
}

void Allocation::poison_bytes() {
  std::memset(data_, kPoisonByte, static_cast<std::size_t>(bytes_));
}

void Allocation::poison(ScalarType type) {
  if (!is_floating(type) && !is_complex(type)) {
    // 0xA5 is no bool: reading one as such would be undefined, not just wrong.
    if (type == ScalarType::kBool)
      std::memset(data_, 1, static_cast<std::size_t>(bytes_));
    else
      poison_bytes();
    return;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const tasklet::Value value =
      is_complex(type) ? tasklet::Value::complex({nan, nan}, type) : tasklet::Value::floating(nan, type);
  const std::int64_t size = size_of(type);
  for (std::int64_t at = 0; at + size <= bytes_; at += size) value.store(data_ + at);
}

void Allocation::mark_written(const std::byte* at, std::int64_t count, bool written) {
  const std::int64_t first = at - data_;
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(first + count, bytes_); ++i)
    written_[static_cast<std::size_t>(i)] = written;
}

bool Allocation::is_written(const std::byte* at, std::int64_t count) const {
  const std::int64_t first = at - data_;
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(first + count, bytes_); ++i)
    if (!written_[static_cast<std::size_t>(i)]) return false;
  return true;
}

std::int64_t Live::num_elements() const {
  std::int64_t n = 1;
  for (std::int64_t extent : shape) n *= extent;
  return n;
}

}  // namespace sdfg::interpret
