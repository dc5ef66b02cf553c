// Reads and writes the header that is a Python dictionary, and the data behind it.
#include "tools/npy.hpp"

#include <cctype>
#include <cstring>
#include <fstream>
#include <sdfg/error.hpp>

#include "base/write_file.hpp"

namespace sdfg::tools {

namespace {

struct Descr {
  const char* text;
  ScalarType type;
};
constexpr Descr kDescrs[] = {
    {"|b1", ScalarType::kBool},      {"|i1", ScalarType::kInt8},        {"<i2", ScalarType::kInt16},
    {"<i4", ScalarType::kInt32},     {"<i8", ScalarType::kInt64},       {"|u1", ScalarType::kUInt8},
    {"<u2", ScalarType::kUInt16},    {"<u4", ScalarType::kUInt32},      {"<u8", ScalarType::kUInt64},
    {"<f2", ScalarType::kFloat16},   {"<f4", ScalarType::kFloat32},     {"<f8", ScalarType::kFloat64},
    {"<c8", ScalarType::kComplex64}, {"<c16", ScalarType::kComplex128},
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorClass::kUsage, "the array file '" + path + "' " + what);
}

// The text behind a key of the header, up to the given end characters.
std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) fail(path, "has no '" + key + "' in its header");
  at = header.find(':', at);
  if (at == std::string::npos) fail(path, "has a damaged header");
  ++at;
  while (at < header.size() && header[at] == ' ') ++at;
  std::size_t end = at;
  int depth = 0;
  while (end < header.size() && (depth > 0 || (header[end] != ',' && header[end] != '}'))) {
    depth += header[end] == '(' ? 1 : header[end] == ')' ? -1 : 0;
    ++end;
  }
  return header.substr(at, end - at);
}

}  // namespace

std::int64_t NpyArray::count() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

NpyArray read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "can't be opened");
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0) fail(path, "is no .npy file");
  auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t version = byte(6);
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? byte(8) + (byte(9) << 8) : byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
  if (begin + length > bytes.size()) fail(path, "ends inside its header");
  const std::string header = bytes.substr(begin, length);

  NpyArray out;
  std::string descr = value_of(header, "descr", path);
  std::erase(descr, '\'');
  bool known = false;
  for (const Descr& d : kDescrs) {
    if (descr == d.text || (descr[0] == '=' && descr.substr(1) == std::string(d.text).substr(1))) {
      out.type = d.type;
      known = true;
    }
  }
  if (!known) fail(path, "has the element type '" + descr + "', which is not supported");
  const std::string shape = value_of(header, "shape", path);
  for (std::size_t i = 0; i < shape.size();) {
    if (!std::isdigit(static_cast<unsigned char>(shape[i]))) {
      ++i;
      continue;
    }
    std::int64_t n = 0;
    while (i < shape.size() && std::isdigit(static_cast<unsigned char>(shape[i]))) n = n * 10 + (shape[i++] - '0');
    out.shape.push_back(n);
  }
  const auto size = static_cast<std::size_t>(size_of(out.type));
  const auto expected = static_cast<std::size_t>(out.count()) * size;
  if (bytes.size() - begin - length < expected) fail(path, "ends before its last element");
  const char* data = bytes.data() + begin + length;
  out.bytes.assign(data, data + expected);
  if (value_of(header, "fortran_order", path).substr(0, 4) == "True" && out.shape.size() > 1) {
    std::vector<std::uint8_t> reordered(expected);
    std::vector<std::int64_t> index(out.shape.size(), 0);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      std::int64_t from = 0;
      for (std::size_t d = out.shape.size(); d-- > 0;) from = from * out.shape[d] + index[d];
      std::memcpy(reordered.data() + static_cast<std::size_t>(i) * size,
                  out.bytes.data() + static_cast<std::size_t>(from) * size, size);
      for (std::size_t d = out.shape.size(); d-- > 0;) {
        if (++index[d] < out.shape[d]) break;
        index[d] = 0;
      }
    }
    out.bytes = std::move(reordered);
  }
  return out;
}

void write_npy(const std::string& path, const NpyArray& array) {
  const char* descr = nullptr;
  for (const Descr& d : kDescrs) {
    if (d.type == array.type) descr = d.text;
  }
  if (descr == nullptr) fail(path, "can't hold elements of type " + std::string(to_string(array.type)));
  std::string shape;
  for (const std::int64_t n : array.shape) shape += std::to_string(n) + ",";
  std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const QuietWrites quiet;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xff));
  out.put(static_cast<char>(header.size() >> 8));
  out << header;
  out.write(reinterpret_cast<const char*>(array.bytes.data()), static_cast<std::streamsize>(array.bytes.size()));
  out.close();
  if (!out) fail(path, "could not be written");
}

}  // namespace sdfg::tools
