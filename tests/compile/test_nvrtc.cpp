// Compiling kernels with NVRTC: code for each architecture, diagnostics with places, parallel use. Needs no GPU.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sdfg/error.hpp>
#include <sstream>
#include <thread>

#include "../support/folder.hpp"
#include "compile/nvrtc.hpp"

namespace test_nvrtc {

using namespace sdfg::compiler;

namespace {

// Says so, loudly, where the machine has no NVRTC.
bool have_nvrtc() {
  static const bool have = [] {
    try {
      nvrtc_info();
      return true;
    } catch (const sdfg::Error& error) {
      std::cerr << "NOTICE: the tests of NVRTC are left out: " << error.what() << "\n";
      return false;
    }
  }();
  return have;
}

CompileRequest request_for(std::string source, const std::string& architecture) {
  const DeviceBuild build = device_build_for(architecture);
  CompileRequest request;
  request.kind = build.kind;
  request.cpu = build.architecture;
  request.name = "kernels.cu";
  request.source = std::move(source);
  request.build_ids = device_build_ids();
  return request;
}

const char* const kScale =
    "extern \"C\" __global__ void scale(float* x, float a, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] = a * x[i] + 1.0f;\n"
    "}\n";

}  // namespace

TEST_CASE("which NVRTC there is is noted for later processes") {
  if (!have_nvrtc()) return;
  const sdfg::test::Folder folder;
  keep_nvrtc_note(folder.str(), true);
  CHECK(confirm_nvrtc());
  std::ifstream file(folder / "nvrtc.note");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find(nvrtc_info().path + "\n") != std::string::npos);
  CHECK(text.str().find(nvrtc_build_id() + "\n") != std::string::npos);
  CHECK(confirm_nvrtc());
}

TEST_CASE("a kernel becomes a cubin for every architecture that NVRTC knows") {
  if (!have_nvrtc()) return;
  for (const int number : nvrtc_info().architectures) {
    const CompileResult result = compile_device(request_for(kScale, "sm_" + std::to_string(number)));
    INFO(number);
    REQUIRE(result.ok);
    REQUIRE(result.payload.size() > 4);
    CHECK(std::memcmp(result.payload.data(), "\177ELF", 4) == 0);
  }
}

TEST_CASE("a device newer than NVRTC gets PTX of the newest architecture below it") {
  if (!have_nvrtc()) return;
  const int newest = nvrtc_info().architectures.back();
  const DeviceBuild build = device_build_for("sm_" + std::to_string(newest + 7));
  CHECK(build == DeviceBuild{CodeKind::kPtx, "compute_" + std::to_string(newest)});
  const CompileResult result = compile_device(request_for(kScale, "sm_" + std::to_string(newest + 7)));
  REQUIRE(result.ok);
  const std::string text(result.payload.begin(), result.payload.end());
  CHECK(text.find(".entry scale") != std::string::npos);
}

TEST_CASE("architecture names that mean nothing or are too old are refused") {
  if (!have_nvrtc()) return;
  for (const char* wrong : {"", "sm_", "sm_9x", "x86-64", "sm_90b"}) {
    INFO(wrong);
    CHECK_THROWS_AS(device_build_for(wrong), sdfg::Error);
  }
  try {
    device_build_for("sm_20");
    FAIL("sm_20 was accepted");
  } catch (const sdfg::Error& error) {
    CHECK(error.error_class() == sdfg::ErrorClass::kEnvironment);
    CHECK(error.message().find("sm_20") != std::string::npos);
    CHECK_FALSE(error.hint().empty());
  }
}

TEST_CASE("NVRTC's messages carry the line and column of the text") {
  if (!have_nvrtc()) return;
  const CompileResult result = compile_device(
      request_for("extern \"C\" __global__ void f(float* a) {\n  int unused = 3;\n  a[0] = b;\n}\n", "sm_90"));
  REQUIRE_FALSE(result.ok);
  REQUIRE(result.payload.empty());
  std::optional<Diagnostic> error;
  std::optional<Diagnostic> warning;
  for (const Diagnostic& d : result.diagnostics) {
    if (d.severity == Severity::kError) error = d;
    if (d.severity == Severity::kWarning) warning = d;
  }
  REQUIRE(error);
  CHECK(error->line == 3);
  CHECK(error->column == 10);
  CHECK(error->text.find("\"b\" is undefined") != std::string::npos);
  REQUIRE(warning);
  CHECK(warning->line == 2);
}

TEST_CASE("text that names types of the CUDA runtime compiles too") {
  if (!have_nvrtc()) return;
  const CompileResult result =
      compile_device(request_for("extern \"C\" __global__ void f(cudaTextureObject_t t, cudaError_t* a) { a[0] = t ? "
                                 "cudaErrorUnknown : cudaSuccess; }",
                                 "sm_90"));
  CHECK(result.ok);
  CHECK(result.diagnostics.empty());
}

TEST_CASE("a log is read whether or not its messages have a place") {
  const auto all = parse_nvrtc_log(
      "k.cu(7): warning #177-D: variable \"x\" was declared\n    int x;\n        ^\n\n"
      "error: something without a place\nnvrtc: a line that is no message\nk.cu(9): catastrophic error: gave up\n",
      "k.cu");
  REQUIRE(all.size() == 3);
  CHECK(all[0].severity == Severity::kWarning);
  CHECK(all[0].line == 7);
  CHECK(all[0].column == 7);
  CHECK(all[0].text == "variable \"x\" was declared [#177-D]");
  CHECK(all[1].severity == Severity::kError);
  CHECK(all[1].line == 0);
  CHECK(all[2].severity == Severity::kFatal);
  CHECK(all[2].line == 9);
}

TEST_CASE("floating-point options decide about fused multiply-add") {
  if (!have_nvrtc()) return;
  CompileRequest request = request_for(kScale, "sm_90");
  request.kind = CodeKind::kPtx;
  request.cpu = "compute_90";
  const auto text = [](const CompileResult& result) {
    return std::string(result.payload.begin(), result.payload.end());
  };
  CHECK(text(compile_device(request)).find("fma.rn.f32") != std::string::npos);
  request.fp.contract = false;
  CHECK(text(compile_device(request)).find("fma.rn.f32") == std::string::npos);
}

TEST_CASE("compilations run in parallel and give equal code") {
  if (!have_nvrtc()) return;
  const CompileRequest request = request_for(kScale, "sm_90");
  const std::vector<std::uint8_t> expected = compile_device(request).payload;
  REQUIRE_FALSE(expected.empty());
  std::vector<CompileResult> results(12);
  std::vector<std::thread> threads;
  for (CompileResult& result : results) threads.emplace_back([&] { result = compile_device(request); });
  for (std::thread& thread : threads) thread.join();
  for (const CompileResult& result : results) CHECK(result.payload == expected);
}

TEST_CASE("host code is none of NVRTC's business") {
  if (!have_nvrtc()) return;
  CompileRequest request;
  request.source = kScale;
  const CompileResult result = compile_device(request);
  CHECK_FALSE(result.ok);
  CHECK_FALSE(result.diagnostics.empty());
}

TEST_CASE("code of a toolkit that the driver is too old for is not made") {
  if (!have_nvrtc()) return;
  const int major = nvrtc_info().major;
  CHECK(device_build_for("sm_90", major * 1000).architecture == "sm_90");
  CHECK(device_build_for("sm_90", (major + 1) * 1000).architecture == "sm_90");
  try {
    device_build_for("sm_90", (major - 1) * 1000 + 40);
    FAIL("a driver too old was accepted");
  } catch (const sdfg::Error& error) {
    CHECK(error.error_class() == sdfg::ErrorClass::kEnvironment);
    CHECK(error.message().find("supports CUDA " + std::to_string(major - 1) + ".4") != std::string::npos);
    CHECK_FALSE(error.hint().empty());
  }
}

}  // namespace test_nvrtc
