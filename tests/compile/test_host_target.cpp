// The host CPU and named CPUs as compilation targets.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sdfg/error.hpp>

#include "compile/host_target.hpp"

namespace test_host_target {

using sdfg::compiler::host_target;

TEST_CASE("the host resolves to a CPU name and a sorted, complete feature list") {
  const sdfg::HostTarget target = host_target();
  CHECK(target.cpu != "native");
  CHECK_FALSE(target.cpu.empty());
  CHECK(target.triple.find("linux") != std::string::npos);
  CHECK(target.has("sse2"));
  CHECK_FALSE(
      target.has("sse"
                 "9"));
  CHECK(std::is_sorted(target.features.begin(), target.features.end()));
  CHECK(target.cores >= 1);
  CHECK(sdfg::compiler::features_missing_here(target).empty());
  CHECK(host_target("native").features == target.features);
}

TEST_CASE("a named CPU resolves to its features") {
  CHECK(host_target("x86-64-v3").has("avx2"));
  CHECK_FALSE(host_target("x86-64-v3").has("avx512f"));
  CHECK(host_target("x86-64-v4").vector_bytes() == 64);
  CHECK_FALSE(host_target("x86-64").has("avx"));
  CHECK(sdfg::compiler::features_missing_here(host_target("x86-64")).empty());
}

TEST_CASE("an unknown CPU is an error that names the nearest one") {
  try {
    host_target("skylake-avx51");
    FAIL("no error");
  } catch (const sdfg::Error& error) {
    CHECK(error.error_class() == sdfg::ErrorClass::kUsage);
    CHECK(std::string(error.what()) ==
          "usage error: the target CPU 'skylake-avx51' is not known to the compiler\n"
          "  hint: the nearest known name is 'skylake-avx512'; 'host' is this machine");
  }
}

}  // namespace test_host_target
