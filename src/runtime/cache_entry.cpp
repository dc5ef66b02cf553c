// Encoding and decoding of cache entries.
#include "runtime/cache_entry.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sdfg/error.hpp>

#include "base/digest.hpp"

namespace sdfg::runtime {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'s', 'd', 'f', 'g', 'p', 'r', 'g', 0x1a};
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kChecksumBytes = 16;
constexpr std::size_t kHeaderBytes = kMagic.size() + 4 + 4 + 8 + kChecksumBytes;
// A source text has no business being larger; guards against a decompression bomb.
constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;

void put_u32(std::uint8_t* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
void put_u64(std::uint8_t* to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint64_t get(const std::uint8_t* from, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return value;
}

std::vector<std::uint8_t> compress(std::span<const std::uint8_t> raw) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3);
  if (ZSTD_isError(size) != 0)
    throw Error(ErrorClass::kInternal, std::string("compression failed: ") + ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Reads what ByteWriter writes; after the first failure everything reads as empty and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left_.empty(); }
  std::uint64_t number(int bytes) {
    const auto part = take(static_cast<std::uint64_t>(bytes));
    return part.empty() ? 0 : get(part.data(), bytes);
  }
  std::span<const std::uint8_t> blob() { return take(number(8)); }
  std::string text() {
    const auto part = blob();
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::vector<std::uint8_t> vector() {
    const auto part = blob();
    return {part.begin(), part.end()};
  }
  std::vector<std::uint8_t> inflated() {
    const std::uint64_t size = number(8);
    const auto packed = blob();
    if (!ok_ || size > kMostText || ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) {
      ok_ = false;
      return {};
    }
    std::vector<std::uint8_t> out(size);
    if (ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) != size) ok_ = false;
    return out;
  }
  // A count of things of at least `each` bytes that are still to come.
  std::uint64_t count(std::uint64_t each) {
    const std::uint64_t n = number(4);
    if (n > left_.size() / each) ok_ = false;
    return ok_ ? n : 0;
  }

 private:
  std::span<const std::uint8_t> take(std::uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const auto part = left_.first(size);
    left_ = left_.subspan(size);
    return part;
  }
  std::span<const std::uint8_t> left_;
  bool ok_ = true;
};

}  // namespace

std::vector<std::uint8_t> encode_entry(const CacheEntry& entry) {
  ByteWriter body;
  body.blob(entry.input_record);
  body.blob(entry.metadata);
  body.u32(static_cast<std::uint32_t>(entry.payloads.size()));
  for (const CachePayload& payload : entry.payloads) {
    body.u8(static_cast<std::uint8_t>(payload.kind));
    body.text(payload.name);
    body.blob(payload.bytes);
  }
  body.u32(static_cast<std::uint32_t>(entry.diagnostics.size()));
  for (const compiler::Diagnostic& diagnostic : entry.diagnostics) {
    body.u8(static_cast<std::uint8_t>(diagnostic.severity));
    body.u32(diagnostic.line);
    body.u32(diagnostic.column);
    body.text(diagnostic.text);
  }
  body.u64(entry.source.size());
  body.blob(compress(bytes_of(entry.source)));
  body.u64(entry.source_map.size());
  body.blob(compress(entry.source_map));
  body.i64(entry.compile_ns);
  body.i64(entry.created);
  body.text(entry.producer);

  const auto& bytes = body.bytes();
  std::vector<std::uint8_t> image(kHeaderBytes + bytes.size());
  std::uint8_t* at = std::copy(kMagic.begin(), kMagic.end(), image.data());
  put_u32(at, kFormat);
  put_u32(at + 4, 0);
  put_u64(at + 8, image.size());
  const Digest digest = digest_of(bytes);
  std::copy_n(digest.bytes.begin(), kChecksumBytes, at + 16);
  std::copy(bytes.begin(), bytes.end(), image.begin() + kHeaderBytes);
  return image;
}

std::optional<CacheEntry> decode_entry(std::span<const std::uint8_t> image, std::string* why) {
  const auto refuse = [&](const char* reason) {
    if (why != nullptr) *why = reason;
    return std::nullopt;
  };
  if (image.size() < kHeaderBytes) return refuse("it is too short");
  const std::uint8_t* at = image.data() + kMagic.size();
  if (!std::equal(kMagic.begin(), kMagic.end(), image.begin())) return refuse("it is no cache entry");
  if (get(at, 4) != kFormat || get(at + 4, 4) != 0) return refuse("it has another format version");
  if (get(at + 8, 8) != image.size()) return refuse("its size differs from the one recorded");
  const auto body = image.subspan(kHeaderBytes);
  const Digest digest = digest_of(body);
  if (!std::equal(at + 16, at + 16 + kChecksumBytes, digest.bytes.begin())) return refuse("its checksum is wrong");

  // From here on the bytes are what was written; the checks remain, since a checksum is no signature.
  Reader in(body);
  CacheEntry entry;
  entry.input_record = in.vector();
  entry.metadata = in.vector();
  entry.payloads.resize(in.count(17));
  for (CachePayload& payload : entry.payloads) {
    const std::uint64_t kind = in.number(1);
    if (kind > static_cast<std::uint64_t>(compiler::CodeKind::kPtx)) return refuse("a payload has an unknown kind");
    payload.kind = static_cast<compiler::CodeKind>(kind);
    payload.name = in.text();
    payload.bytes = in.vector();
  }
  entry.diagnostics.resize(in.count(17));
  for (compiler::Diagnostic& diagnostic : entry.diagnostics) {
    const std::uint64_t severity = in.number(1);
    if (severity > static_cast<std::uint64_t>(compiler::Severity::kFatal))
      return refuse("a diagnostic has an unknown severity");
    diagnostic.severity = static_cast<compiler::Severity>(severity);
    diagnostic.line = static_cast<std::uint32_t>(in.number(4));
    diagnostic.column = static_cast<std::uint32_t>(in.number(4));
    diagnostic.text = in.text();
  }
  const auto source = in.inflated();
  entry.source.assign(source.begin(), source.end());
  entry.source_map = in.inflated();
  entry.compile_ns = static_cast<std::int64_t>(in.number(8));
  entry.created = static_cast<std::int64_t>(in.number(8));
  entry.producer = in.text();
  if (!in.at_end()) return refuse("its fields do not fill it");
  return entry;
}

}  // namespace sdfg::runtime
