// Functions that are written alike are compiled once; what only looks alike is not.
#include <catch2/catch.hpp>
#include <string>

#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
#include "compile/host_target.hpp"

namespace test_merge {

using sdfg::compiler::CodeKind;
using sdfg::compiler::CompileRequest;
using sdfg::compiler::CompileResult;

namespace {

std::string ir_of(const std::string& source, bool debug_info = false) {
  const sdfg::HostTarget target = sdfg::compiler::host_target();
  CompileRequest request;
  request.kind = CodeKind::kHostIr;
  request.name = "merge.cpp";
  request.source = source;
  request.triple = target.triple;
  request.cpu = target.cpu;
  request.features = target.features;
  request.openmp = true;
  request.debug_info = debug_info;
  request.build_ids = sdfg::compiler::host_build_ids();
  const CompileResult result = sdfg::compiler::compile_host(request);
  REQUIRE(result.ok);
  return {result.payload.begin(), result.payload.end()};
}

// Functions whose name contains `part`.
int defined(const std::string& ir, const std::string& part) {
  int n = 0;
  for (std::size_t at = ir.find("\ndefine "); at != std::string::npos; at = ir.find("\ndefine ", at + 1)) {
    const std::size_t name = ir.find('@', at);
    if (ir.substr(name, ir.find('(', name) - name).find(part) != std::string::npos) ++n;
  }
  return n;
}

// Two loops over rows, with these two texts as what is done for a row.
std::string two_loops(const std::string& first, const std::string& second) {
  return "static long at(long i, long j, long n) { return i * n + j; }\n"
         "static long at2(long i, long j, long n) { return i * n + j; }\n"
         "static void sweeps(double* x, double* y, long n) {\n"
         "#pragma omp parallel for\nfor (long i = 0; i < n; ++i) {\n" +
         first + "\n}\n#pragma omp parallel for\nfor (long k = 0; k < n; ++k) {\n" + second +
         "\n}\n}\nextern \"C\" void run(double* x, double* y, long n) { sweeps(x, y, n); }\n";
}

int loops_of(const std::string& first, const std::string& second) {
  return defined(ir_of(two_loops(first, second)), "omp_outlined");
}

}  // namespace

TEST_CASE("parallel loops that differ in names only are compiled once") {
  const std::string simd = "#pragma omp simd\n";
  const std::string first = "for (long j = 0; j < n; ++j) x[at(i, j, n)] = 2 * y[at(i, j, n)] + 1;";
  const std::string second = "for (long l = 0; l < n; ++l) y[at2(k, l, n)] = 2 * x[at2(k, l, n)] + 1;";
  CHECK(loops_of(first, second) == 1);
  CHECK(loops_of(simd + first, simd + second) == 1);
}

TEST_CASE("parallel loops that differ in anything else are not merged") {
  const std::string simd = "#pragma omp simd\n";
  const std::string first = "for (long j = 0; j < n; ++j) x[at(i, j, n)] = 2 * y[at(i, j, n)] + 1;";
  CHECK(loops_of(first, "for (long l = 0; l < n; ++l) y[at2(k, l, n)] = 2 * x[at2(k, l, n)] + 3;") == 2);
  CHECK(loops_of(first, "for (long l = 1; l < n; ++l) y[at2(k, l, n)] = 2 * x[at2(k, l, n)] + 1;") == 2);
  CHECK(loops_of(first, "for (long l = 0; l < n; ++l) y[at2(l, k, n)] = 2 * x[at2(k, l, n)] + 1;") == 2);
  CHECK(loops_of(first, "for (long l = 0; l < n; ++l) y[at2(k, l, n)] = 2 * y[at2(k, l, n)] + 1;") == 2);
  // Only in what the loop is said to be.
  const std::string second = "for (long l = 0; l < n; ++l) y[at2(k, l, n)] = 2 * x[at2(k, l, n)] + 1;";
  CHECK(loops_of(simd + first, second) == 2);
  CHECK(loops_of("#pragma clang loop vectorize_width(2)\n" + first,
                 "#pragma clang loop vectorize_width(4)\n" + second) == 2);
  // In the class of what is accessed, which says what else it may be.
  CHECK(loops_of("((long*)x)[i] = 1;", "((long long*)y)[k] = 1;") == 2);
}

TEST_CASE("functions whose addresses are compared, and those with lines of their own, stay apart") {
  const std::string twins =
      "__attribute__((noinline)) static void one(double* x) { x[0] = x[1] + x[2]; }\n"
      "__attribute__((noinline)) static void two(double* x) { x[0] = x[1] + x[2]; }\n"
      "extern \"C\" void both(double* x) { one(x); two(x); }\n";
  CHECK(defined(ir_of(twins), "ZL3") == 1);
  CHECK(defined(ir_of(twins, true), "ZL3") == 2);
  const std::string compared =
      twins + "extern \"C\" bool is_one(void (*f)(double*)) { return f == one || f == two; }\n";
  CHECK(defined(ir_of(compared), "ZL3") == 2);
}

TEST_CASE("callers are equal when their callees are, in any depth") {
  std::string text = "extern \"C\" double sin(double);\n";
  for (const char* copy : {"a", "b", "c"}) {
    const std::string c = copy;
    text += "__attribute__((noinline)) static double leaf_" + c + "(double x) { return sin(x) + 1; }\n" +
            "__attribute__((noinline)) static double stem_" + c + "(double x) { return leaf_" + c + "(x) * 2; }\n" +
            "__attribute__((noinline)) static double root_" + c + "(double x) { return stem_" + c + "(x) - 3; }\n" +
            "extern \"C\" double use_" + c + "(double x) { return root_" + c + "(x); }\n";
  }
  const std::string ir = ir_of(text);
  CHECK(defined(ir, "leaf_") == 1);
  CHECK(defined(ir, "stem_") == 1);
  CHECK(defined(ir, "root_") == 1);
  CHECK(defined(ir, "use_") == 3);
}

}  // namespace test_merge
