// What one compiled program needs to run again, as a self-contained file image that any damage makes unreadable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/request.hpp"

namespace sdfg::runtime {

struct CachePayload {
  compiler::CodeKind kind = compiler::CodeKind::kHostObject;
  std::string name;  // of a cubin or PTX: which kernel set; may be empty
  std::vector<std::uint8_t> bytes;
  bool operator==(const CachePayload&) const = default;
};

struct CacheEntry {
  std::vector<std::uint8_t> input_record;  // everything the key was made from; compared on a hit
  std::vector<std::uint8_t> metadata;      // entry point, argument layout, launch tables: the owner's own format
  std::vector<CachePayload> payloads;
  std::vector<compiler::Diagnostic> diagnostics;  // warnings are shown on hits too
  std::string source;                             // stored compressed
  std::vector<std::uint8_t> source_map;           // stored compressed
  std::int64_t compile_ns = 0;                    // what a hit saves
  std::int64_t created = 0;                       // seconds since 1970; set by the cache if 0
  std::string producer;                           // version of the library that wrote it
};

// Image layout: magic (8), format version (u32), zero (u32), total size (u64), checksum (16: BLAKE3 of all that
// follows), then the fields above, length-prefixed, little-endian.
std::vector<std::uint8_t> encode_entry(const CacheEntry& entry);

// Nothing for any image that encode_entry did not write, with the reason in `why` if given. Never throws for bad bytes,
// never reads outside them, never allocates more than they justify.
std::optional<CacheEntry> decode_entry(std::span<const std::uint8_t> image, std::string* why = nullptr);

}  // namespace sdfg::runtime
