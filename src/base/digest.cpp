// BLAKE3 through LLVM's C interface, which needs nothing else of LLVM.
#include "base/digest.hpp"

#include <llvm-c/blake3.h>

#include <bit>

namespace sdfg {

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Digest digest_of(std::span<const std::uint8_t> bytes) {
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  Digest digest;
  llvm_blake3_hasher_finalize(&hasher, digest.bytes.data(), digest.bytes.size());
  return digest;
}

Digest digest_of(std::string_view text) {
  return digest_of(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void ByteWriter::u32(std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
}

void ByteWriter::u64(std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
}

void ByteWriter::f64(double value) {
  u64(std::bit_cast<std::uint64_t>(value));
}

void ByteWriter::text(std::string_view value) {
  u64(value.size());
  bytes_.insert(bytes_.end(), value.begin(), value.end());
}

void ByteWriter::texts(const std::vector<std::string>& values) {
  u64(values.size());
  for (const std::string& value : values) text(value);
}
void ByteWriter::blob(std::span<const std::uint8_t> value) {
  u64(value.size());
  bytes_.insert(bytes_.end(), value.begin(), value.end());
}

}  // namespace sdfg
