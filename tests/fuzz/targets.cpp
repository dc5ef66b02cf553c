// The targets over entries of the cache and over values of variables.
#include "targets.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sdfg/error.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "base/env.hpp"
#include "runtime/cache_entry.hpp"

namespace sdfg::fuzz {

namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void feed_cache_entry(Bytes bytes) {
  (void)runtime::decode_entry(bytes);
  // magic (8), version (4), zero (4), size (8), checksum (16) and the fields behind it
  constexpr std::size_t kSizeAt = 16, kChecksumAt = 24, kHeader = 40;
  std::vector<std::uint8_t> image = runtime::encode_entry({});
  image.resize(kHeader);
  image.insert(image.end(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kHeader)), bytes.end());
  for (std::size_t i = 0; i < 8; ++i)
    image[kSizeAt + i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(image.size()) >> (8 * i));
  const Digest sum = digest_of(Bytes(image).subspan(kHeader));
  std::copy_n(sum.bytes.begin(), kHeader - kChecksumAt, image.begin() + kChecksumAt);
  if (const auto entry = runtime::decode_entry(image)) {
    // What is read can be written, and reads the same.
    const auto again = runtime::decode_entry(runtime::encode_entry(*entry));
    if (!again || again->source != entry->source || again->payloads != entry->payloads) std::abort();
  }
}

void feed_variables(Bytes bytes) {
  std::string_view left = text_of(bytes);
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    for (const Variable& v : variables()) {
      if (v.name != line.substr(0, equals)) continue;
      Options first, second;
      try {
        v.read(first, line.substr(equals + 1), v.name);
      } catch (const Error&) {
        continue;
      }
      const std::string written = v.write(first);
      v.read(second, written, v.name);  // must not throw
      if (v.write(second) != written) std::abort();
    }
  }
}

}  // namespace sdfg::fuzz
