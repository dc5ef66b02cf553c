// Compiling in a helper process, and the bytes that go to it and back.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compile/compiler.hpp"
#include "compile/host_target.hpp"
#include "compile/wire.hpp"

namespace test_helper {

using sdfg::compiler::CompileLimits;
using sdfg::compiler::CompileRequest;
using sdfg::compiler::CompileResult;

namespace {

CompileRequest request_for(std::string source) {
  const sdfg::HostTarget target = sdfg::compiler::host_target();
  CompileRequest request;
  request.name = "helper.cpp";
  request.source = std::move(source);
  request.triple = target.triple;
  request.cpu = target.cpu;
  request.features = target.features;
  return request;
}

// The optimiser takes long over a large function with one big expression.
CompileRequest long_request() {
  std::string source = "extern \"C\" unsigned f(unsigned x) {\n";
  for (int i = 0; i < 40000; ++i) source += "  x = x * 3u + " + std::to_string(i) + "u; if (x & 1u) x ^= 5u;\n";
  return request_for(source + "  return x;\n}\n");
}

constexpr CompileLimits kHelper{.helper = true, .timeout_seconds = 60};

}  // namespace

TEST_CASE("requests and results survive their bytes") {
  CompileRequest request = request_for("int x;");
  request.kind = sdfg::compiler::CodeKind::kHostIr;
  request.opt_level = 1;
  request.fp.finite = true;
  request.openmp = true;
  request.divide = true;
  request.straight = true;
  request.flags = {"-g", ""};
  const auto bytes = to_bytes(request);
  const auto again = sdfg::compiler::request_from_bytes(bytes);
  REQUIRE(again.has_value());
  CHECK(again->digest() == request.digest());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(sdfg::compiler::request_from_bytes(std::span(bytes).first(size)).has_value());
  }

  CompileResult result;
  result.ok = true;
  result.payload = {1, 2, 3};
  result.more = {{4}, {}, {5, 6}};
  result.fault = sdfg::compiler::Fault::kEnvironment;
  result.diagnostics = {{sdfg::compiler::Severity::kWarning, 3, 4, "text"}};
  result.times = {{"frontend", 17}};
  const auto result_bytes = to_bytes(result);
  const auto result_again = sdfg::compiler::result_from_bytes(result_bytes);
  REQUIRE(result_again.has_value());
  CHECK(to_bytes(*result_again) == result_bytes);
  CHECK_FALSE(sdfg::compiler::result_from_bytes(std::span(result_bytes).first(result_bytes.size() - 1)).has_value());
}

TEST_CASE("a helper process gives the object that a lane gives") {
  const CompileRequest request = request_for("extern \"C\" int f(int x) { return x + 1; }\n");
  const CompileResult here = sdfg::compiler::compile_host(request);
  REQUIRE(here.ok);
  for (int i = 0; i < 3; ++i) CHECK(sdfg::compiler::compile_host(request, kHelper).payload == here.payload);
  const std::vector<CompileRequest> requests(3, request);
  for (const CompileResult& result : sdfg::compiler::compile_host_all(requests, kHelper)) {
    CHECK(result.payload == here.payload);
  }
}

TEST_CASE("a helper process reports bad source as a lane does") {
  const CompileRequest request = request_for("int x = y;\n");
  const CompileResult result = sdfg::compiler::compile_host(request, kHelper);
  CHECK_FALSE(result.ok);
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics[0].text == "use of undeclared identifier 'y'");
  CHECK(result.fault == sdfg::compiler::Fault::kCode);
}

TEST_CASE("a helper process that somebody ends is no fault of the source") {
  const auto children = [] {
    std::vector<pid_t> out;
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
      std::ifstream stat(process.path() / "stat");
      std::string name, state;
      pid_t pid = 0, parent = 0;
      if (stat >> pid >> name >> state >> parent && parent == getpid()) out.push_back(pid);
    }
    return out;
  };
  const CompileRequest request = long_request();
  std::atomic<bool> done = false;
  std::thread killer([&] {
    while (!done) {
      for (const pid_t child : children()) kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const CompileResult ended = sdfg::compiler::compile_host(request, kHelper);
  done = true;
  killer.join();
  CHECK_FALSE(ended.ok);
  CHECK(ended.fault == sdfg::compiler::Fault::kResource);
  REQUIRE_FALSE(ended.diagnostics.empty());
  CHECK(ended.diagnostics.back().text.find("it was ended by signal 9 (Killed)") != std::string::npos);
  const CompileResult later = sdfg::compiler::compile_host(request_for("int x;\n"), kHelper);
  CHECK(later.ok);
}

TEST_CASE("a compilation that takes too long is ended") {
  const CompileRequest request = long_request();
  const CompileResult ended = sdfg::compiler::compile_host(request, {.helper = true, .timeout_seconds = 1});
  CHECK_FALSE(ended.ok);
  REQUIRE_FALSE(ended.diagnostics.empty());
  CHECK(ended.diagnostics.back().text == "the compilation took longer than 1 seconds and was ended");
  CHECK(ended.timed_out);
  CHECK(ended.fault == sdfg::compiler::Fault::kResource);
  const CompileResult later = sdfg::compiler::compile_host(request_for("int x;\n"), kHelper);
  CHECK(later.ok);
}

}  // namespace test_helper
