// Reads files and undoes gzip before the JSON reader and the translation take over; the same backwards for writing.
#include "io/sdfg_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/write_file.hpp"
#include "io/importer.hpp"
#include "io/normal_form.hpp"
#include "io/writer.hpp"

namespace sdfg::io {

namespace {

// All members of the gzip data, one after another, as `gzip -d` reads them.
std::string gunzip(std::string_view bytes, std::size_t max_bytes) {
  z_stream z{};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw Error(ErrorClass::kResource, "zlib could not be set up");
  struct End {
    z_stream* z;
    ~End() { inflateEnd(z); }
  } end{&z};
  constexpr std::size_t kChunk = std::size_t{1} << 30;  // zlib counts in 32 bits
  const char* next = bytes.data();
  std::size_t left = bytes.size();
  std::string out;
  char buffer[1 << 16];
  while (true) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    z.avail_in = static_cast<uInt>(std::min(left, kChunk));
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof buffer;
    const uInt given = z.avail_in;
    const int status = inflate(&z, Z_NO_FLUSH);
    next += given - z.avail_in;
    left -= given - z.avail_in;
    out.append(buffer, sizeof buffer - z.avail_out);
    if (out.size() > max_bytes)
      throw Error(ErrorClass::kLimit, "the unpacked file has more than " + std::to_string(max_bytes) + " bytes");
    if (status == Z_STREAM_END) {
      if (left == 0) return out;
      if (inflateReset(&z) != Z_OK) throw Error(ErrorClass::kResource, "zlib could not be set up");
    } else if (status == Z_BUF_ERROR || (status == Z_OK && left == 0 && z.avail_out != 0)) {
      throw Error(ErrorClass::kGraph, "the file's gzip data ends early");
    } else if (status != Z_OK) {
      throw Error(ErrorClass::kGraph, "the file's gzip data is damaged");
    }
  }
}

// Without a time or a name in the header, so that equal content gives equal bytes.
std::string gzip(std::string_view bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorClass::kResource, "zlib could not be set up");
  struct End {
    z_stream* z;
    ~End() { deflateEnd(z); }
  } end{&z};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  char buffer[1 << 16];
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof buffer;
    status = deflate(&z, Z_FINISH);
    if (status != Z_OK && status != Z_STREAM_END) throw Error(ErrorClass::kResource, "zlib could not pack the file");
    out.append(buffer, sizeof buffer - z.avail_out);
  }
  return out;
}

}  // namespace

WrittenGraph write_bytes(const ir::Graph& graph, const SaveOptions& options) {
  WrittenGraph out;
  ir::Graph normal = graph.clone();
  normalise_flow(normal, {});
  resolve_view_reads(normal);
  normalise_states(normal);
  out.bytes = write_json(Writer(normal, options.dialect, out.warnings).run(), options.dialect, options.readable);
  if (options.gzip) out.bytes = gzip(out.bytes);
  return out;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::error_code failed = sdfg::write_file(path, bytes);
  if (!failed) return;
  const bool machine = failed == std::errc::no_space_on_device || failed == std::errc::file_too_large ||
                       failed == std::errc::too_many_files_open || failed.value() == EDQUOT;
  throw Error(machine ? ErrorClass::kResource : ErrorClass::kUsage,
              "the file '" + path + "' can't be written: " + failed.message());
}

LoadedGraph load_bytes(std::string_view bytes, const dace::ReadLimits& limits) {
  if (bytes.size() > limits.max_bytes)
    throw Error(ErrorClass::kLimit, "the file has more than " + std::to_string(limits.max_bytes) + " bytes");
  std::string unpacked;
  if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b') {
    unpacked = gunzip(bytes, limits.max_bytes);
    bytes = unpacked;
  }
  std::vector<std::string> warnings;
  const dace::Sdfg file = dace::read_json(bytes, limits, warnings);
  Importer importer(file, warnings);
  ir::Graph graph = importer.run();
  graph.foreign = true;
  return {std::move(graph), std::move(warnings)};
}

LoadedGraph load_file(const std::string& path, const dace::ReadLimits& limits) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorClass::kUsage, "the file '" + path + "' can't be opened: " + std::strerror(errno));
  // Not by its size: the path may name a pipe or a device.
  std::string bytes;
  char buffer[1 << 16];
  while (bytes.size() <= limits.max_bytes && (in.read(buffer, sizeof buffer) || in.gcount() > 0))
    bytes.append(buffer, static_cast<std::size_t>(in.gcount()));
  if (in.bad() || (bytes.empty() && !in.eof()))
    throw Error(ErrorClass::kUsage, "the file '" + path + "' can't be read: " + std::strerror(errno));
  try {
    return load_bytes(bytes, limits);
  } catch (const Error& e) {
    throw Error(e.error_class(), path + ": " + e.message(), e.places(), e.hint());
  }
}

}  // namespace sdfg::io
