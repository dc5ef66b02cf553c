// Both dialects, what older versions wrote, and what is read with a substitute and a warning.
#include <catch2/catch.hpp>
#include <cstdint>

#include "dace_text.hpp"

namespace test_read_dialects {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using interpret::Arguments;

namespace {

// B[i] = A[i] * 2 + i over a range whose end and whose symbol are spelled by the caller.
Json doubled(const std::string& extent, const std::string& end, const std::string& index) {
  dace::Graph g("doubled");
  g.array("A", "float64", extent);
  g.array("B", "float64", extent);
  g.symbol("N");
  dace::State s;
  const auto m = s.map("i", "0:1");
  const int t = s.tasklet("o = a * 2 + i");
  s.read_in(m, "A[" + index + "]", t, "a");
  s.write_out(m, t, "o", "B[" + index + "]");
  g.body.state(s);
  Json j = g.json();
  j["nodes"][0]["nodes"][0]["attributes"]["range"]["ranges"][0]["end"] = end;
  return j;
}

void check_doubled(const Json& j) {
  const io::LoadedGraph loaded = io::load_bytes(j.dump());
  CHECK(loaded.warnings.empty());
  ir::check(loaded.graph);
  std::vector<double> a{1.5, 2.5, 3.5}, b(3);
  interpret::run(loaded.graph, Arguments().set("A", a.data()).set("B", b.data()).set("N", 3));
  CHECK(b == std::vector<double>{3.0, 6.0, 9.0});
}

std::vector<std::string> warnings_of(const Json& j) {
  return io::load_bytes(j.dump()).warnings;
}

}  // namespace

TEST_CASE("expressions are plain before 2.0.0a4 and typed from then on") {
  Json plain = doubled("N", "N - 1", "i");
  check_doubled(plain);  // a missing version is 1.x
  for (const char* version : {"1.0.2", "1.0.0", "0.16", "2.0.0a3", "2.0.0a1", "nonsense"}) {
    INFO(version);
    plain["dace_version"] = version;
    check_doubled(plain);
  }
  plain["dace_version"] = 3;
  check_doubled(plain);
  for (const auto& [extent, end, index] :
       {std::tuple("$N", "-1 + $N", "$i"),
        std::tuple("symbol($N, dtype=dace.int64, positive=True)", "-1i64 + $N", "$i"),
        std::tuple("$N", "int_floor(2*$N, 2) - 1", "symbol($i, dtype=dace.int64)")}) {
    Json typed = doubled("1", end, "0");
    for (const char* name : {"A", "B"}) typed["attributes"]["_arrays"][name]["attributes"]["shape"][0] = extent;
    for (Json& e : typed["nodes"][0]["edges"]) {
      Json& range = e["attributes"]["data"]["attributes"]["subset"]["ranges"][0];
      range["start"] = range["end"] = index;
    }
    for (const char* version : {"2.0.0a4", "2.0.0a6", "2.0.0b1", "2.0.0rc1", "2.0.0", "2.1", "3.0"}) {
      INFO(extent << " " << version);
      typed["dace_version"] = version;
      check_doubled(typed);
    }
  }
}

TEST_CASE("the index objects of old versions are subsets") {
  Json j = doubled("N", "N - 1", "i");
  for (Json& e : j["nodes"][0]["edges"]) {
    e["attributes"]["data"]["attributes"]["subset"] = {{"type", "Indices"}, {"indices", {"i"}}};
  }
  check_doubled(j);
}

TEST_CASE("partners of scope nodes may be a list, or named from one side only") {
  Json j = doubled("N", "N - 1", "i");
  Json& nodes = j["nodes"][0]["nodes"];
  nodes[0].erase("scope_exit");
  check_doubled(j);
  nodes[0]["scope_exits"] = {"1"};
  nodes[1].erase("scope_entry");
  check_doubled(j);
}

TEST_CASE("connectors may be a list of names, code a plain string, extents numbers") {
  Json j = doubled("3", "2", "i");
  Json& tasklet = j["nodes"][0]["nodes"][2]["attributes"];
  tasklet["in_connectors"] = {"a"};
  tasklet["out_connectors"] = {"o"};
  tasklet["code"] = "o = a * 2 + i";
  for (const char* name : {"A", "B"}) {
    Json& a = j["attributes"]["_arrays"][name]["attributes"];
    a["shape"] = {3};
    a["strides"] = {1};
    a["total_size"] = 0;  // "derive it"
    a["offset"] = {0};
  }
  check_doubled(j);
}

TEST_CASE("a nested graph may be text, as very old files have it") {
  dace::Graph inner("inner");
  inner.array("p", "float64", "3");
  inner.array("q", "float64", "3");
  dace::State copy;
  copy.edge(copy.access("p"), "", copy.access("q"), "", "p[0:3]");
  inner.body.state(copy);
  dace::Graph g("outer");
  g.array("A", "float64", "3");
  g.array("B", "float64", "3");
  dace::State s;
  const int n = s.nested(inner);
  s.attributes(n)["sdfg"] = inner.json().dump();
  s.read("A[0:3]", n, "p");
  s.write(n, "q", "B[0:3]");
  g.body.state(s);
  std::vector<double> a{1, 2, 3}, b(3);
  dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
  CHECK(b == a);
}

TEST_CASE("unknown values of enumerations are read as the default, with a warning") {
  Json j = doubled("N", "N - 1", "i");
  Json& array = j["attributes"]["_arrays"]["A"]["attributes"];
  Json& map = j["nodes"][0]["nodes"][0]["attributes"];
  const struct {
    Json& where;
    const char* key;
    const char* value;
    const char* warning;
  } cases[] = {
      {array, "storage", "FPGA_Global",
       "storage 'FPGA_Global' is not supported and was read as the default (at "
       "$.attributes._arrays.A.attributes.storage)"},
      {array, "storage", "FPGA_ShiftRegister",
       "storage 'FPGA_ShiftRegister' is not supported and was read as the default (at "
       "$.attributes._arrays.A.attributes.storage)"},
      {array, "storage", "Snitch_TCDM",
       "storage 'Snitch_TCDM' is not supported and was read as the default (at "
       "$.attributes._arrays.A.attributes.storage)"},
      {array, "lifetime", "Forever",
       "lifetime 'Forever' is not supported and was read as the default (at "
       "$.attributes._arrays.A.attributes.lifetime)"},
      {map, "schedule", "FPGA_Device",
       "schedule 'FPGA_Device' is not supported and was read as the default (at "
       "$.nodes[0].nodes[0].attributes.schedule)"},
      {map, "schedule", "FPGA_Multi_Pumped",
       "schedule 'FPGA_Multi_Pumped' is not supported and was read as the default (at "
       "$.nodes[0].nodes[0].attributes.schedule)"},
      {map, "omp_schedule", "Fair",
       "OpenMP schedule 'Fair' is not supported and was read as the default (at "
       "$.nodes[0].nodes[0].attributes.omp_schedule)"},
  };
  for (const auto& c : cases) {
    const Json before = c.where;
    c.where[c.key] = c.value;
    CHECK(warnings_of(j) == std::vector<std::string>{c.warning});
    c.where = before;
  }
}

TEST_CASE("known values of enumerations are read in every spelling") {
  Json j = doubled("N", "N - 1", "i");
  Json& map = j["nodes"][0]["nodes"][0]["attributes"];
  const struct {
    Json value;
    ir::Schedule wanted;
  } cases[] = {{"CPU_Multicore", ir::Schedule::kParallel},
               {"ScheduleType.CPU_Multicore", ir::Schedule::kParallel},
               {{{"type", "ScheduleType.CPU_Multicore"}, {"payload", 3}}, ir::Schedule::kParallel},
               {"Sequential", ir::Schedule::kSequential},
               {"Unrolled", ir::Schedule::kSequential},
               {"Default", ir::Schedule::kDefault},
               {"GPU_Device", ir::Schedule::kDevice},
               {"GPU_Default", ir::Schedule::kDevice}};
  for (const auto& c : cases) {
    map["schedule"] = c.value;
    const io::LoadedGraph loaded = io::load_bytes(j.dump());
    CHECK(loaded.warnings.empty());
    std::vector<ir::Schedule> found;
    ir::walk(loaded.graph.body, [&](const ir::Element& e, const ir::Ancestors&) {
      if (const auto* m = std::get_if<ir::Map>(&e.kind)) found.push_back(m->schedule);
    });
    CHECK(found == std::vector<ir::Schedule>{c.wanted});
  }
}

TEST_CASE("library nodes are known by the last part of their class path, wherever the class lived") {
  for (const char* path : {"dace.libraries.standard.nodes.transpose.Transpose",
                           "dace.libraries.linalg.nodes.transpose.Transpose", "Transpose"}) {
    INFO(path);
    dace::Graph g;
    g.array("A", "float64", "2, 3");
    g.array("B", "float64", "3, 2");
    dace::State s;
    const int n = s.library(path);
    s.read("A[0:2, 0:3]", n, "_inp");
    s.write(n, "_out", "B[0:3, 0:2]");
    g.body.state(s);
    std::vector<double> a{1, 2, 3, 4, 5, 6}, b(6);
    dace::run(g, Arguments().set("A", a.data()).set("B", b.data()));
    CHECK(b == std::vector<double>{1, 4, 2, 5, 3, 6});
  }
}

TEST_CASE("constants are numbers, arrays, complex numbers and what Python prints for them") {
  dace::Graph g;
  const Json real = {{"type", "Scalar"}, {"attributes", {{"dtype", "float64"}}}};
  const Json whole = {{"type", "Scalar"}, {"attributes", {{"dtype", "int64"}}}};
  const Json small = {{"type", "Scalar"}, {"attributes", {{"dtype", "uint8"}}}};
  const Json complex = {{"type", "Scalar"}, {"attributes", {{"dtype", "complex128"}}}};
  const Json list = {{"type", "Array"}, {"attributes", {{"dtype", "float64"}, {"shape", {"2", "2"}}}}};
  g.constant("r", real, 2.5);
  g.constant("w", whole, -7);
  g.constant("u", small, 255);
  g.constant("z", complex, "(1.5-2j)");
  g.constant("infinite", real, "inf");
  g.constant("flag", {{"type", "Scalar"}, {"attributes", {{"dtype", "bool"}}}}, true);
  g.constant("m", list, {{"type", "ndarray"}, {"dtype", "float64"}, {"data", {{1, 2.5}, {3, "nan"}}}});
  const ir::Graph loaded = io::load_bytes(g.text()).graph;
  const auto bytes = [&](const char* name) { return loaded.containers.at(name).constant.value(); };
  const auto doubles = [&](const char* name) {
    const auto raw = bytes(name);
    std::vector<double> out(raw.size() / 8);
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  };
  CHECK(doubles("r") == std::vector<double>{2.5});
  CHECK(doubles("z") == std::vector<double>{1.5, -2.0});
  CHECK(std::isinf(doubles("infinite").at(0)));
  CHECK(bytes("u") == std::vector<std::uint8_t>{255});
  CHECK(bytes("flag") == std::vector<std::uint8_t>{1});
  const auto m = doubles("m");
  CHECK(std::vector<double>(m.begin(), m.begin() + 3) == std::vector<double>{1, 2.5, 3});
  CHECK(std::isnan(m.at(3)));
  std::int64_t w = 0;
  std::memcpy(&w, bytes("w").data(), 8);
  CHECK(w == -7);
}

TEST_CASE("numbers that a constant's type can't hold are refused") {
  const Json small = {{"type", "Scalar"}, {"attributes", {{"dtype", "int8"}}}};
  for (const auto& [value, shown] : {std::pair<Json, const char*>{300, "300"}, {1e300, "1e+300"}, {-129, "-129"}}) {
    dace::Graph g;
    g.constant("c", small, value);
    CHECK_THROWS_WITH(io::load_bytes(g.text()),
                      Catch::Contains(std::string("the value ") + shown +
                                      " does not fit int8 (at $.attributes.constants_prop.c[1])"));
  }
}

TEST_CASE("places in the user's program are read from debug information of both dialects") {
  Json j = doubled("N", "N - 1", "i");
  Json& map = j["nodes"][0]["nodes"][0]["attributes"];
  const auto place_of_map = [&] {
    const ir::Graph g = io::load_bytes(j.dump()).graph;
    return g.body.items.at(0)->location;
  };
  map["debuginfo"] = {{"type", "DebugInfo"}, {"filename", "a.py"}, {"start_line", 12},
                      {"start_column", 4},   {"end_line", 12},     {"end_column", 9}};
  CHECK(place_of_map().file == "a.py");
  CHECK(place_of_map().line == 12);
  CHECK(place_of_map().column == 4);
  j["source_files"] = {"x.py", "y.py"};
  map["debuginfo"] = {{"type", "DebugInfo"}, {"file_index", 1}, {"start_line", 7}};
  CHECK(place_of_map().file == "y.py");
  CHECK(place_of_map().line == 7);
  map["debuginfo"] = {{"type", "DebugInfo"}, {"file_index", 99}, {"start_line", -3}};
  CHECK(place_of_map().file.empty());
  map["debuginfo"] = nullptr;
  CHECK(place_of_map().file.empty());
}

TEST_CASE("descriptors that can't be represented are left out with a warning, and refused where they are used") {
  dace::Graph g("p");
  g.descriptor("grid", "ProcessGrid", {{"shape", {"2", "2"}}});
  g.body.state({});
  CHECK(io::load_bytes(g.text()).warnings ==
        std::vector<std::string>{"container 'grid' is a ProcessGrid and was left out (at $.attributes._arrays.grid)"});
  dace::State s;
  g.array("A", "float64", "3");
  const int grid = s.access("grid");
  s.edge(grid, "", s.access("A"), "", "grid[0:2, 0:2]");
  g.body.state(s);
  g.body.next(0, 1);
  CHECK_THROWS_WITH(
      io::load_bytes(g.text()),
      Catch::Contains("container 'grid' is a ProcessGrid, which can't be accessed (at $.nodes[1].nodes[0])"));
}

}  // namespace test_read_dialects
