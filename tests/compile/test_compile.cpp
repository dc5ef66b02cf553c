// Compiling host code in process: objects, diagnostics, determinism, isolation from the host process.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <iostream>
#include <thread>

#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
#include "compile/host_target.hpp"

namespace test_compile {

using sdfg::compiler::CompileRequest;
using sdfg::compiler::CompileResult;
using sdfg::compiler::Severity;

namespace {

CompileRequest request_for(std::string source) {
  const sdfg::HostTarget target = sdfg::compiler::host_target();
  CompileRequest request;
  request.name = "test.cpp";
  request.source = std::move(source);
  request.triple = target.triple;
  request.cpu = target.cpu;
  request.features = target.features;
  request.build_ids = sdfg::compiler::host_build_ids();
  return request;
}

const char* const kAxpy =
    "extern \"C\" void axpy(double* __restrict y, const double* __restrict x, double a, long n) {\n"
    "  for (long i = 0; i < n; ++i) y[i] = y[i] + a * x[i];\n"
    "}\n";

std::string text_of(const CompileResult& result) {
  return {result.payload.begin(), result.payload.end()};
}

std::string messages(const CompileResult& result) {
  std::string text;
  for (const auto& diagnostic : result.diagnostics) {
    text += std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + ": " + diagnostic.text + "\n";
  }
  return text;
}

// Everything written to a file descriptor while it lives.
class Capture {
 public:
  explicit Capture(int descriptor) : descriptor_(descriptor), saved_(dup(descriptor)) {
    file_ = tmpfile();
    dup2(fileno(file_), descriptor);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    close(saved_);
    fclose(file_);
  }
  std::string finish() {
    dup2(saved_, descriptor_);
    std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    const auto got = pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  int descriptor_;
  int saved_;
  FILE* file_ = nullptr;
};

}  // namespace

TEST_CASE("a function becomes an ELF object with its symbol") {
  const CompileResult result = sdfg::compiler::compile_host(request_for(kAxpy));
  INFO(messages(result));
  REQUIRE(result.ok);
  REQUIRE(result.payload.size() > 64);
  CHECK(std::memcmp(result.payload.data(), "\177ELF", 4) == 0);
  CHECK(text_of(result).find("axpy") != std::string::npos);
  REQUIRE(result.times.size() == 3);
  CHECK(result.times[0].phase == "frontend");
  for (const auto& time : result.times) CHECK(time.nanoseconds > 0);
}

TEST_CASE("level 3 vectorises and level 0 does not") {
  CompileRequest request = request_for(kAxpy);
  request.kind = sdfg::compiler::CodeKind::kHostAssembly;
  request.cpu = "x86-64-v3";
  request.features = sdfg::compiler::host_target("x86-64-v3").features;
  CHECK(messages(sdfg::compiler::compile_host(request)).empty());
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("ymm") != std::string::npos);
  request.opt_level = 0;
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("ymm") == std::string::npos);
}

TEST_CASE("floating-point freedoms reach the code") {
  const char* sum =
      "extern \"C\" double sum(const double* x, long n) {\n"
      "  double s = 0; for (long i = 0; i < n; ++i) s += x[i]; return s; }\n";
  CompileRequest request = request_for(sum);
  request.kind = sdfg::compiler::CodeKind::kHostIr;
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("reassoc") == std::string::npos);
  request.fp.reassociate = true;
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("reassoc") != std::string::npos);

  CompileRequest fma = request_for("extern \"C\" double f(double a, double b, double c) { return a * b + c; }\n");
  fma.kind = sdfg::compiler::CodeKind::kHostIr;
  CHECK(text_of(sdfg::compiler::compile_host(fma)).find("fmuladd") != std::string::npos);
  fma.fp.contract = false;
  CHECK(text_of(sdfg::compiler::compile_host(fma)).find("fmuladd") == std::string::npos);
}

TEST_CASE("parallel pragmas become calls of the OpenMP entries only when asked for") {
  CompileRequest request = request_for(
      "extern \"C\" void f(double* x, long n) {\n"
      "#pragma omp parallel for\n"
      "  for (long i = 0; i < n; ++i) x[i] = i;\n}\n");
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("__kmpc_fork_call") == std::string::npos);
  request.openmp = true;
  CHECK(text_of(sdfg::compiler::compile_host(request)).find("__kmpc_fork_call") != std::string::npos);
}

TEST_CASE("debug information is present only when asked for") {
  CompileRequest request = request_for(kAxpy);
  CHECK(text_of(sdfg::compiler::compile_host(request)).find(".debug_line") == std::string::npos);
  request.debug_info = true;
  CHECK(text_of(sdfg::compiler::compile_host(request)).find(".debug_line") != std::string::npos);
}

TEST_CASE("bad source gives diagnostics with line and column") {
  const CompileResult result = sdfg::compiler::compile_host(request_for("void f() {\n  int x = y;\n}\n"));
  CHECK_FALSE(result.ok);
  CHECK(result.payload.empty());
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics[0].severity == Severity::kError);
  CHECK(result.diagnostics[0].line == 2);
  CHECK(result.diagnostics[0].column == 11);
  CHECK(result.diagnostics[0].text == "use of undeclared identifier 'y'");
}

TEST_CASE("a #line directive does not move a diagnostic") {
  const CompileResult result = sdfg::compiler::compile_host(request_for("#line 90 \"other.cpp\"\nint x = y;\n"));
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics[0].line == 2);
}

TEST_CASE("warnings are kept and do not fail the compilation") {
  const CompileResult result = sdfg::compiler::compile_host(request_for("extern \"C\" int f() { return 1 / 0; }\n"));
  CHECK(result.ok);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].severity == Severity::kWarning);
}

TEST_CASE("no file of the machine can be included") {
  const CompileResult result = sdfg::compiler::compile_host(request_for("#include \"/etc/passwd\"\n"));
  CHECK_FALSE(result.ok);
  const CompileResult standard = sdfg::compiler::compile_host(request_for("#include <math.h>\n"));
  CHECK_FALSE(standard.ok);
}

TEST_CASE("odd requests are errors, not crashes") {
  CHECK_FALSE(sdfg::compiler::compile_host(request_for("\x01\x02 ((((((( \"")).ok);
  CompileRequest flags = request_for(kAxpy);
  flags.flags = {"-fno-such-flag"};
  const CompileResult refused = sdfg::compiler::compile_host(flags);
  CHECK_FALSE(refused.ok);
  CHECK(messages(refused).find("-fno-such-flag") != std::string::npos);
  CompileRequest level = request_for(kAxpy);
  level.opt_level = 7;
  CHECK(messages(sdfg::compiler::compile_host(level)).find("optimisation level 7") != std::string::npos);
  CompileRequest device = request_for(kAxpy);
  device.kind = sdfg::compiler::CodeKind::kCubin;
  CHECK_FALSE(sdfg::compiler::compile_host(device).ok);
  CompileRequest cpu = request_for(kAxpy);
  cpu.cpu = "pentium9";
  CHECK_FALSE(sdfg::compiler::compile_host(cpu).ok);
  CompileRequest name = request_for(kAxpy);
  name.name = "-v";
  CHECK(sdfg::compiler::compile_host(name).ok);
}

TEST_CASE("deeply nested expressions compile or fail, but do not overflow the stack") {
  std::string deep = "extern \"C\" int f(int x) { return ";
  for (int i = 0; i < 1500; ++i) deep += "(1+";
  deep += "x";
  for (int i = 0; i < 1500; ++i) deep += ")";
  CHECK(sdfg::compiler::compile_host(request_for(deep + "; }\n")).ok);
  std::string deeper = "extern \"C\" int f(int x) { return ";
  for (int i = 0; i < 20000; ++i) deeper += "(1+";
  CHECK_FALSE(sdfg::compiler::compile_host(request_for(deeper)).ok);
}

TEST_CASE("a fatal error inside the compiler fails its request only") {
  CompileRequest request = request_for(kAxpy);
  request.flags = {"-mcmodel=tiny"};  // accepted by the front end; X86 code generation calls report_fatal_error
  const CompileResult result = sdfg::compiler::compile_host(request);
  CHECK_FALSE(result.ok);
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics.back().severity == Severity::kFatal);
  CHECK(messages(result).find("the compiler gave up: ") != std::string::npos);
  const CompileResult later = sdfg::compiler::compile_host(request_for(kAxpy));
  CHECK(later.ok);
}

TEST_CASE("equal requests give equal objects, in whatever lane") {
  const CompileResult first = sdfg::compiler::compile_host(request_for(kAxpy));
  std::vector<CompileRequest> requests(8, request_for(kAxpy));
  for (const CompileResult& result : sdfg::compiler::compile_host_all(requests)) {
    CHECK(result.payload == first.payload);
  }
}

TEST_CASE("four threads compile fifty functions each") {
  sdfg::compiler::set_compile_lanes(4);
  std::vector<int> good(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &good] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = "f" + std::to_string(t) + "_" + std::to_string(i);
        const CompileResult result = sdfg::compiler::compile_host(
            request_for("extern \"C\" void " + name +
                        "(double* x, long n) { for (long i = 0; i < n; ++i) x[i] += " + std::to_string(i) + "; }\n"));
        if (result.ok && text_of(result).find(name) != std::string::npos) ++good[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  sdfg::compiler::set_compile_lanes(0);
  CHECK(good == std::vector<int>(4, 50));
}

TEST_CASE("compiling writes nothing to stdout and stderr, good source or bad") {
  fflush(nullptr);
  Capture out(1);
  Capture err(2);
  sdfg::compiler::compile_host(request_for(kAxpy));
  sdfg::compiler::compile_host(request_for("void f() { int x = y; }\n#warning hello\n"));
  const std::string err_text = err.finish();
  const std::string out_text = out.finish();
  CHECK(out_text.empty());
  CHECK(err_text.empty());
}

TEST_CASE("compiling leaves signal handlers and floating-point mode alone") {
  struct sigaction before[65];
  struct sigaction after[65];
  std::memset(before, 0, sizeof before);
  std::memset(after, 0, sizeof after);
  for (int s = 1; s < 65; ++s) sigaction(s, nullptr, &before[s]);
  const unsigned mode = _mm_getcsr() & ~0x3fU;
  sdfg::compiler::compile_host(request_for(kAxpy));
  sdfg::compiler::compile_host(request_for("int x = y;\n"));
  for (int s = 1; s < 65; ++s) {
    sigaction(s, nullptr, &after[s]);
    CHECK(after[s].sa_handler == before[s].sa_handler);
    CHECK(after[s].sa_flags == before[s].sa_flags);
  }
  CHECK((_mm_getcsr() & ~0x3fU) == mode);
}

TEST_CASE("every field of a request changes its digest") {
  const CompileRequest base = request_for(kAxpy);
  std::vector<CompileRequest> changed(13, base);
  changed[0].kind = sdfg::compiler::CodeKind::kHostIr;
  changed[1].name += "x";
  changed[2].source += " ";
  changed[3].triple += "x";
  changed[4].cpu += "x";
  changed[5].features.emplace_back("+x");
  changed[6].opt_level = 2;
  changed[7].fp.contract = false;
  changed[8].fp.reassociate = true;
  changed[9].fp.finite = true;
  changed[10].fp.approximate = true;
  changed[11].openmp = true;
  changed[12].debug_info = true;
  changed.push_back(base);
  changed.back().flags.emplace_back("-g");
  changed.push_back(base);
  changed.back().build_ids.emplace_back("other");
  for (const CompileRequest& request : changed) CHECK(request.digest() != base.digest());
  CHECK(request_for(kAxpy).digest() == base.digest());
}

TEST_CASE("a one-statement function compiles in milliseconds", "[.][latency]") {
  sdfg::compiler::compile_host(request_for(kAxpy));
  for (int i = 0; i < 20; ++i) {
    struct rusage before{};
    struct rusage after{};
    getrusage(RUSAGE_SELF, &before);
    const auto begin = std::chrono::steady_clock::now();
    const CompileResult result = sdfg::compiler::compile_host(request_for(kAxpy));
    const auto end = std::chrono::steady_clock::now();
    getrusage(RUSAGE_SELF, &after);
    std::cout << std::chrono::duration<double, std::milli>(end - begin).count() << " ms:";
    for (const auto& time : result.times) std::cout << ' ' << time.phase << ' ' << double(time.nanoseconds) * 1e-6;
    const auto cpu = [](const timeval& t) { return double(t.tv_sec) * 1e3 + double(t.tv_usec) * 1e-3; };
    std::cout << "; user " << cpu(after.ru_utime) - cpu(before.ru_utime) << " system "
              << cpu(after.ru_stime) - cpu(before.ru_stime) << " faults " << after.ru_minflt - before.ru_minflt << '\n';
  }
}

TEST_CASE("checked code is another request and calls the emulator's table") {
  CompileRequest plain = request_for("extern \"C\" float f(const float* a, long i) { return a[i]; }\n");
  CompileRequest host = plain;
  host.checks = sdfg::compiler::MemoryChecks::kHost;
  CompileRequest kernel = plain;
  kernel.checks = sdfg::compiler::MemoryChecks::kKernel;
  CHECK(plain.digest() != host.digest());
  CHECK(host.digest() != kernel.digest());
  for (CompileRequest* request : {&plain, &host, &kernel}) {
    request->kind = sdfg::compiler::CodeKind::kHostIr;
    const CompileResult result = sdfg::compiler::compile_host(*request);
    REQUIRE(result.ok);
    const bool checked = request != &plain;
    CHECK((text_of(result).find("sdfg_emulator") != std::string::npos) == checked);
    CHECK(text_of(result).find("!DILocation") == std::string::npos);  // lines are in the calls, not left in the object
  }
}

}  // namespace test_compile
