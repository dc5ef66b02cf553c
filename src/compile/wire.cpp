// Encoding with ByteWriter, decoding with bounds checks, and framing over a socket.
#include "compile/wire.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace sdfg::compiler {

namespace {

constexpr std::uint64_t kMostFrame = std::uint64_t{1} << 32;

// Reads what ByteWriter wrote; after the first failure everything is zero and `good` is false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::int64_t i64() { return static_cast<std::int64_t>(number(8)); }
  bool boolean() { return u8() != 0; }

  std::span<const std::uint8_t> blob() {
    const std::uint64_t size = u64();
    if (!good || size > rest_.size()) {
      good = false;
      return {};
    }
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }

  std::string text() {
    const auto part = blob();
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  // How many elements follow; each takes at least `least` bytes, so a wrong count can't make us allocate without bound.
  std::uint64_t count(std::uint64_t least) {
    const std::uint64_t n = u64();
    if (n > rest_.size() / least) good = false;
    return good ? n : 0;
  }

  std::vector<std::string> list() {
    std::vector<std::string> texts(count(8));
    for (std::string& entry : texts) entry = text();
    return texts;
  }

  bool finished() const { return good && rest_.empty(); }

  bool good = true;

 private:
  std::uint64_t number(std::size_t size) {
    if (!good || size > rest_.size()) {
      good = false;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{rest_[i]} << (8 * i);
    rest_ = rest_.subspan(size);
    return value;
  }

  std::span<const std::uint8_t> rest_;
};

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Received receive_exactly(int socket, void* data, std::size_t size, std::int64_t deadline_ns) {
  auto* at = static_cast<std::uint8_t*>(data);
  while (size > 0) {
    int timeout_ms = -1;
    if (deadline_ns != 0) {
      const std::int64_t left = deadline_ns - now_ns();
      if (left <= 0) return Received::kTimeout;
      timeout_ms = static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 1'000'000));
    }
    pollfd entry{socket, POLLIN, 0};
    const int ready = poll(&entry, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Received::kEnd;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return Received::kFrame;
}

bool send_all(int socket, const std::uint8_t* at, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

std::vector<std::uint8_t> to_bytes(const CompileRequest& request) {
  ByteWriter writer;
  writer.u8(static_cast<std::uint8_t>(request.kind));
  writer.text(request.name);
  writer.text(request.source);
  writer.text(request.triple);
  writer.text(request.cpu);
  writer.texts(request.features);
  writer.i64(request.opt_level);
  writer.boolean(request.fp.contract);
  writer.boolean(request.fp.reassociate);
  writer.boolean(request.fp.finite);
  writer.boolean(request.fp.approximate);
  writer.boolean(request.openmp);
  writer.boolean(request.debug_info);
  writer.u8(static_cast<std::uint8_t>(request.checks));
  writer.boolean(request.divide);
  writer.boolean(request.straight);
  writer.texts(request.flags);
  writer.texts(request.build_ids);
  return writer.take();
}

std::optional<CompileRequest> request_from_bytes(std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  CompileRequest request;
  const std::uint8_t kind = reader.u8();
  if (kind > static_cast<std::uint8_t>(CodeKind::kHostIr)) return std::nullopt;
  request.kind = static_cast<CodeKind>(kind);
  request.name = reader.text();
  request.source = reader.text();
  request.triple = reader.text();
  request.cpu = reader.text();
  request.features = reader.list();
  request.opt_level = static_cast<int>(reader.i64());
  request.fp.contract = reader.boolean();
  request.fp.reassociate = reader.boolean();
  request.fp.finite = reader.boolean();
  request.fp.approximate = reader.boolean();
  request.openmp = reader.boolean();
  request.debug_info = reader.boolean();
  const std::uint8_t checks = reader.u8();
  if (checks > static_cast<std::uint8_t>(MemoryChecks::kKernel)) return std::nullopt;
  request.checks = static_cast<MemoryChecks>(checks);
  request.divide = reader.boolean();
  request.straight = reader.boolean();
  request.flags = reader.list();
  request.build_ids = reader.list();
  if (!reader.finished()) return std::nullopt;
  return request;
}

std::vector<std::uint8_t> to_bytes(const CompileResult& result) {
  ByteWriter writer;
  writer.boolean(result.ok);
  writer.u8(static_cast<std::uint8_t>(result.fault));
  writer.blob(result.payload);
  writer.u64(result.more.size());
  for (const std::vector<std::uint8_t>& object : result.more) writer.blob(object);
  writer.u64(result.diagnostics.size());
  for (const Diagnostic& diagnostic : result.diagnostics) {
    writer.u8(static_cast<std::uint8_t>(diagnostic.severity));
    writer.u32(diagnostic.line);
    writer.u32(diagnostic.column);
    writer.text(diagnostic.text);
  }
  writer.u64(result.times.size());
  for (const PhaseTime& time : result.times) {
    writer.text(time.phase);
    writer.i64(time.nanoseconds);
  }
  return writer.take();
}

std::optional<CompileResult> result_from_bytes(std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  CompileResult result;
  result.ok = reader.boolean();
  const std::uint8_t fault = reader.u8();
  if (fault > static_cast<std::uint8_t>(Fault::kEnvironment)) return std::nullopt;
  result.fault = static_cast<Fault>(fault);
  const auto payload = reader.blob();
  result.payload.assign(payload.begin(), payload.end());
  result.more.resize(reader.count(8));
  for (std::vector<std::uint8_t>& object : result.more) {
    const auto code = reader.blob();
    object.assign(code.begin(), code.end());
  }
  result.diagnostics.resize(reader.count(17));
  for (Diagnostic& diagnostic : result.diagnostics) {
    const std::uint8_t severity = reader.u8();
    if (severity > static_cast<std::uint8_t>(Severity::kFatal)) return std::nullopt;
    diagnostic.severity = static_cast<Severity>(severity);
    diagnostic.line = reader.u32();
    diagnostic.column = reader.u32();
    diagnostic.text = reader.text();
  }
  result.times.resize(reader.count(16));
  for (PhaseTime& time : result.times) {
    time.phase = reader.text();
    time.nanoseconds = reader.i64();
  }
  if (!reader.finished()) return std::nullopt;
  return result;
}

bool send_frame(int socket, std::span<const std::uint8_t> bytes) {
  ByteWriter header;
  header.u64(bytes.size());
  return send_all(socket, header.bytes().data(), header.bytes().size()) && send_all(socket, bytes.data(), bytes.size());
}

Received receive_frame(int socket, std::vector<std::uint8_t>& bytes, std::int64_t deadline_ns) {
  std::uint8_t header[8];
  if (const Received got = receive_exactly(socket, header, sizeof header, deadline_ns); got != Received::kFrame)
    return got;
  const std::uint64_t size = Reader(header).u64();
  if (size > kMostFrame) return Received::kEnd;
  bytes.resize(size);
  return receive_exactly(socket, bytes.data(), bytes.size(), deadline_ns);
}

}  // namespace sdfg::compiler
