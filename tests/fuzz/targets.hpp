// What fuzzing feeds: each target takes any bytes and must neither crash, hang, nor throw anything but sdfg::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sdfg::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A `.sdfg` file, plain or gzipped: read, translated, validated and printed.
void feed_loader(Bytes bytes);
// The file image of a cache entry: as it is, and with the checksum made right, so that what lies behind it is reached.
void feed_cache_entry(Bytes bytes);
// "NAME=value" lines for the table of variables; what is accepted must survive being written and read again.
void feed_variables(Bytes bytes);

struct Target {
  const char* name;  // of the folder with its seeds
  void (*feed)(Bytes);
};
inline constexpr Target kTargets[] = {
    {"loader", feed_loader}, {"cache_entry", feed_cache_entry}, {"variables", feed_variables}};

}  // namespace sdfg::fuzz
