// Digests and the byte writer.
#include <catch2/catch.hpp>

#include "base/digest.hpp"

namespace test_digest {

using sdfg::ByteWriter;
using sdfg::digest_of;

TEST_CASE("digests are those of BLAKE3") {
  CHECK(digest_of(std::string_view()).hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  CHECK(digest_of("abc").hex() == "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

TEST_CASE("integers are written little-endian") {
  ByteWriter writer;
  writer.u32(0x01020304);
  writer.i64(-2);
  CHECK(writer.bytes() == std::vector<std::uint8_t>{4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
}

TEST_CASE("texts carry their length, so that neighbours can't be confused") {
  ByteWriter a;
  a.text("ab");
  a.text("c");
  ByteWriter b;
  b.text("a");
  b.text("bc");
  CHECK(a.digest() != b.digest());
}

}  // namespace test_digest
