// Large programs as several objects: when, how, and that it depends on nothing but the program.
#include <catch2/catch.hpp>
#include <cstring>

#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
#include "compile/host_target.hpp"

namespace test_divide {

using sdfg::compiler::CodeKind;
using sdfg::compiler::CompileRequest;
using sdfg::compiler::CompileResult;

namespace {

// `loops` parallel loops, which share a variable, a table, a helper and a counter inside it.
std::string program(int loops) {
  std::string text =
      "static long calls;\n"
      "static const double weights[3] = {0.25, 0.5, 0.75};\n"
      "static double scaled(double x, long k) { static long used; __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);\n"
      "  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); return used > 0 ? x * weights[k % 3] : 0; }\n"
      "static void exp(double* x, long n) {\n";
  for (int k = 0; k < loops; ++k) {
    text += "#pragma omp parallel for\nfor (long i = 1; i < n - 1; ++i) x[i] = scaled(x[i - 1] + x[i + 1], i) + " +
            std::to_string(k) + ";\n";
  }
  return text +
         "}\nextern \"C\" void run(double* x, long n) { exp(x, n); }\n"
         "extern \"C\" long count() { return calls; }\n";
}

CompileRequest request_for(std::string source) {
  const sdfg::HostTarget target = sdfg::compiler::host_target();
  CompileRequest request;
  request.name = "divide.cpp";
  request.source = std::move(source);
  request.triple = target.triple;
  request.cpu = target.cpu;
  request.features = target.features;
  request.openmp = true;
  request.divide = true;
  request.build_ids = sdfg::compiler::host_build_ids();
  return request;
}

std::string text_of(const CompileResult& result) {
  return {result.payload.begin(), result.payload.end()};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a large program becomes several objects, a small one and one that may not be divided do not") {
  const CompileResult large = sdfg::compiler::compile_host(request_for(program(17)));
  REQUIRE(large.ok);
  CHECK(large.diagnostics.empty());
  REQUIRE_FALSE(large.more.empty());
  for (const auto& object : large.more) CHECK(std::memcmp(object.data(), "\177ELF", 4) == 0);
  CHECK(sdfg::compiler::compile_host(request_for(program(1))).more.empty());
  CompileRequest whole = request_for(program(17));
  whole.divide = false;
  CHECK(whole.digest() != request_for(program(17)).digest());
  CHECK(sdfg::compiler::compile_host(whole).more.empty());
  // What can't be cut: a thread's own variable.
  CHECK(sdfg::compiler::compile_host(
            request_for("static thread_local int own;\nextern \"C\" int* at() { return &own; }\n" + program(17)))
            .more.empty());
}

TEST_CASE("the objects are the same with one lane, with many, and in a helper process") {
  const CompileRequest request = request_for(program(23));
  sdfg::compiler::set_compile_lanes(1);
  const CompileResult alone = sdfg::compiler::compile_host(request);
  sdfg::compiler::set_compile_lanes(5);
  const CompileResult many = sdfg::compiler::compile_host(request);
  std::vector<CompileRequest> requests(6, request);
  const std::vector<CompileResult> crowd = sdfg::compiler::compile_host_all(requests);
  sdfg::compiler::set_compile_lanes(0);
  REQUIRE(alone.ok);
  CHECK(alone.more.size() > 1);
  CHECK(many.payload == alone.payload);
  CHECK(many.more == alone.more);
  for (const CompileResult& one : crowd) CHECK((one.payload == alone.payload && one.more == alone.more));
  const CompileResult helped = sdfg::compiler::compile_host(request, {.helper = true, .timeout_seconds = 60});
  CHECK(helped.payload == alone.payload);
  CHECK(helped.more == alone.more);
}

TEST_CASE("assembly and IR of a divided program show every part once") {
  CompileRequest request = request_for(program(17));
  const std::size_t parts = sdfg::compiler::compile_host(request).more.size() + 1;
  for (const CodeKind kind : {CodeKind::kHostAssembly, CodeKind::kHostIr}) {
    request.kind = kind;
    const CompileResult result = sdfg::compiler::compile_host(request);
    REQUIRE(result.ok);
    CHECK(result.more.empty());
    const std::string text = text_of(result);
    CHECK(count_of(text, " of " + std::to_string(parts) + "\n") == parts - 1);
    const char* const loop = kind == CodeKind::kHostIr ? "@_ZL3expPdl.omp_outlined" : "\n_ZL3expPdl.omp_outlined";
    CHECK(text.find(loop) != std::string::npos);
    if (kind == CodeKind::kHostIr) CHECK(count_of(text, "define dso_local void @run(") == 1);
  }
}

TEST_CASE("level 0 and debug information go with parts") {
  CompileRequest request = request_for(program(120));
  request.opt_level = 0;
  request.debug_info = true;
  const CompileResult result = sdfg::compiler::compile_host(request);
  REQUIRE(result.ok);
  REQUIRE_FALSE(result.more.empty());
  for (const auto& object : result.more)
    CHECK(std::string(object.begin(), object.end()).find(".debug_line") != std::string::npos);
}

TEST_CASE("a fatal error in a part fails its request only") {
  CompileRequest request = request_for(program(17));
  request.flags = {"-mcmodel=tiny"};  // accepted by the front end; code generation gives up, in every part
  const CompileResult result = sdfg::compiler::compile_host(request);
  CHECK_FALSE(result.ok);
  CHECK(result.payload.empty());
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(sdfg::compiler::compile_host(request_for(program(17))).ok);
}

}  // namespace test_divide
