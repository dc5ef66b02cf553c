// Output of measurements.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "compile_source.hpp"
#include "runtime/trace_file.hpp"

namespace test_trace_file {

using namespace sdfg;
using namespace sdfg::runtime;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("A trace file holds every event, with names escaped, and says what was dropped", "[trace]") {
  const test::Folder folder;
  const std::string path = folder / "trace.json";
  {
    TraceFile trace(path, 2);
    trace.add("map \"i\"\n", "map", 3, 1500, 4000);
    CHECK(trace.write());
    CHECK_THAT(slurp(path), Catch::Contains(R"("tid":3,"cat":"map","name":"map \"i\"\u000a","ts":1.500,"dur":2.500)"));
    trace.add("b", "call", 0, 0, 1);
    trace.add("c", "call", 0, 0, 1);
  }
  const std::string text = slurp(path);
  CHECK_THAT(text, Catch::Contains("\"dropped\":1") && Catch::Contains("\"name\":\"b\"") &&
                       !Catch::Contains("\"name\":\"c\""));
  CHECK_FALSE(TraceFile(folder / "absent/trace.json").path().empty());
}

TEST_CASE("The profile lists elements by time, and perf finds the functions", "[trace]") {
  const auto program = Program::load(test::compile_program(R"(
    extern "C" int sdfg_entry() {
      sdfg_call call = {}; call.program = sdfg_program;
      sdfg_abi->trace(&call, 0, 0, 1000000); sdfg_abi->trace(&call, 1, 0, 2000000); sdfg_abi->trace(&call, 1, 0, 4000000);
      return 0;
    })"),
                                     {"g", {{"map 'i'", {"a.cpp", 3, 1}}, {"map 'j'", {}}, {"never", {}}}, "", 0});
  reinterpret_cast<int (*)()>(program->entry())();
  CHECK(profile_table(*program) ==
        "graph 'g': calls, total ms, mean ms, min ms, max ms, share\n"
        "  map 'j': 2, 6.000, 3.000, 2.000, 4.000, 85.7%\n"
        "  map 'i' (a.cpp:3:1): 1, 1.000, 1.000, 1.000, 1.000, 14.3%\n");
  append_perf_map(program->code(), "g");
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  CHECK_THAT(slurp(path), Catch::Contains("g::sdfg_entry"));
  std::remove(path.c_str());
}

}  // namespace test_trace_file
