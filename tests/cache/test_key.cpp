// Keys: the same in every process, whatever its addresses and hash seeds are.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "compile/request.hpp"
#include "lower/abi.hpp"

namespace test_key {

using namespace sdfg;

namespace {

std::string key_of_this_process() {
  compiler::CompileRequest request;
  request.name = "jacobi_2d";
  request.source = lower::abi_prelude() + "extern \"C\" int sdfg_entry() { return 0; }";
  request.triple = "x86_64-pc-linux-gnu";
  request.cpu = "znver4";
  request.features = {"+avx2", "-avx512f"};
  request.flags = {"-fno-plt"};
  request.build_ids = {"sdfg 0.1.0", lower::abi_digest().hex()};
  return request.digest().hex();
}

}  // namespace

TEST_CASE("Helper of the next test: prints the key", "[.print-key]") {
  std::printf("key=%s\n", key_of_this_process().c_str());
}

TEST_CASE("Two processes agree on the key", "[key]") {
  char path[4096] = {};
  REQUIRE(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
  std::FILE* other = popen(("'" + std::string(path) + "' '[.print-key]'").c_str(), "r");
  REQUIRE(other != nullptr);
  char line[512];
  std::string key;
  while (std::fgets(line, sizeof(line), other) != nullptr) {
    const std::string text = line;
    if (text.starts_with("key=")) key = text.substr(4, 64);
  }
  pclose(other);
  CHECK(key == key_of_this_process());
}

}  // namespace test_key
