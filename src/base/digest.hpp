// BLAKE3 digests and a byte writer whose output is the same on every machine: the base of canonical forms and cache
// keys.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

// A 256-bit BLAKE3 digest.
struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  std::string hex() const;
  auto operator<=>(const Digest&) const = default;
};

Digest digest_of(std::span<const std::uint8_t> bytes);
Digest digest_of(std::string_view text);

// Appends values little-endian and length-prefixed, so that no two sequences of calls give the same bytes by accident.
class ByteWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(value); }
  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
  void f64(double value);
  void boolean(bool value) { u8(value ? 1 : 0); }
  void text(std::string_view value);                   // u64 length, then the bytes
  void blob(std::span<const std::uint8_t> value);      // u64 length, then the bytes
  void texts(const std::vector<std::string>& values);  // u64 count, then each text
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }
  Digest digest() const { return digest_of(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace sdfg
