// Reads files and undoes gzip before the JSON reader and the translation take over.
#include "io/sdfg_file.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "io/importer.hpp"

namespace sdfg::io {

namespace {

std::string gunzip(std::string_view bytes, std::size_t max_bytes) {
  z_stream z{};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw Error(ErrorClass::kResource, "zlib could not be set up");
  struct End {
    z_stream* z;
    ~End() { inflateEnd(z); }
  } end{&z};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  char buffer[1 << 16];
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof buffer;
    status = inflate(&z, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) throw Error(ErrorClass::kGraph, "the file's gzip data is damaged");
    out.append(buffer, sizeof buffer - z.avail_out);
    if (out.size() > max_bytes)
      throw Error(ErrorClass::kLimit, "the unpacked file has more than " + std::to_string(max_bytes) + " bytes");
    if (status == Z_OK && z.avail_in == 0 && z.avail_out != 0)
      throw Error(ErrorClass::kGraph, "the file's gzip data ends early");
  }
  return out;
}

}  // namespace

LoadedGraph load_bytes(std::string_view bytes, const dace::ReadLimits& limits) {
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
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  try {
    return load_bytes(bytes, limits);
  } catch (const Error& e) {
    throw Error(e.error_class(), path + ": " + e.message(), e.places(), e.hint());
  }
}

}  // namespace sdfg::io
