// Dataflow in files: scopes with connectors and propagated memlets, nested graphs, views, containers of all kinds.
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <sdfg/sdfg_file.hpp>

#include "../support/folder.hpp"
#include "file.hpp"

namespace test_dataflow {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kF = ScalarType::kFloat64;

Maker start(const std::string& name = "dataflow") {
  Maker m(name);
  m.symbol("N");
  m.symbol("M");
  m.array("A", kF, "N, M");
  m.array("B", kF, "N, M");
  m.array("v", kF, "N");
  return m;
}

Json attributes(const Json& object) {
  return object.at("attributes");
}

// The memlet of the edge at a connector.
Json memlet_at(const Json& in, const std::string& key, const std::string& connector) {
  for (const Json& edge : all_of(in, "MultiConnectorEdge")) {
    if (edge.at(key) == connector) return attributes(edge).at("data").at("attributes");
  }
  FAIL("no edge at " << connector);
  return {};
}
std::string range_text(const Json& memlet) {
  std::string out;
  for (const Json& r : memlet.at("subset").at("ranges"))
    out += (out.empty() ? "" : ", ") + r.at("start").get<std::string>() + ":" + r.at("end").get<std::string>();
  return out;
}

}  // namespace

TEST_CASE("a map around one state is a scope with propagated memlets") {
  Maker m = start();
  auto& body = m.map(m.body(), "i, j", "1:N-1, 0:M", ir::Schedule::kParallel);
  m.tasklet(body, "o = a + b", {"a = A[i - 1, j]", "b = A[i + 1, j]"}, {"o = B[i, j]"});
  const Json json = json_of(m.g, SdfgDialect::kV1);
  CHECK(all_of(json, "SDFGState").size() == 1);
  const Json entry = only(json, "MapEntry");
  CHECK(attributes(entry).at("params") == Json({"i", "j"}));
  CHECK(attributes(entry).at("schedule") == "CPU_Multicore");
  CHECK(attributes(entry).at("in_connectors") == Json({{"IN_A", nullptr}}));
  CHECK(entry.at("scope_exit") == "1");
  CHECK(range_text(memlet_at(json, "dst_connector", "IN_A")) == "0:N - 1, 0:M - 1");
  CHECK(range_text(memlet_at(json, "src_connector", "OUT_B")) == "1:N - 2, 0:M - 1");
  const Json tasklet = only(json, "Tasklet");
  CHECK(attributes(tasklet).at("code").at("string_data") == "o = (a + b)");
  CHECK(tasklet.at("scope_entry") == "0");
  CHECK(ir::digest(read_back(m.g)) == ir::digest(stable(m.g)));
}

TEST_CASE("map in map is scope in scope, memlets pass both") {
  Maker m = start();
  auto& outer = m.map(m.body(), "i", "0:N");
  auto& inner = m.map(outer, "j", "i:M");
  m.tasklet(inner, "o = a", {"a = A[i, j]"}, {"o = B[i, j]"});
  const Json json = json_of(m.g, SdfgDialect::kV1);
  CHECK(all_of(json, "MapEntry").size() == 2);
  CHECK(all_of(json, "NestedSDFG").empty());
  stable(m.g);
}

TEST_CASE("a map around a sequence holds a nested graph") {
  Maker m = start();
  ir::Block& block = m.block(m.map(m.body(), "i", "0:N"));
  m.transient("row", kF, "M", &block);
  auto& first = m.map(block.body, "j", "0:M");
  m.tasklet(first, "o = a * 2", {"a = A[i, j]"}, {"o = row[j]"});
  auto& second = m.map(block.body, "k", "0:M");
  m.tasklet(second, "o = r", {"r = row[M - 1 - k]"}, {"o = B[i, k]"});
  const Json nested = only(json_of(m.g), "NestedSDFG");
  CHECK(attributes(nested).at("in_connectors") == Json({{"A", nullptr}}));
  CHECK(attributes(nested).at("out_connectors") == Json({{"B", nullptr}}));
  const Json arrays = attributes(nested).at("sdfg").at("attributes").at("_arrays");
  CHECK(attributes(arrays.at("row")).at("transient") == true);
  CHECK_FALSE(attributes(arrays.at("A")).contains("transient"));
  stable(m.g);
}

TEST_CASE("a transient of a map's body lives in the scope") {
  Maker m = start();
  ir::Block& block = m.block(m.map(m.body(), "i", "0:N"));
  m.scalar("t", kF, &block);
  ir::State& s = m.state(block.body);
  const ir::Id a = m.access(s, "v"), t = m.access(s, "t"), b = m.access(s, "B");
  ir::Memlet& in = m.edge(s, a, t);
  in.src_subset = symbolic::parse_subset("i");
  in.dst_subset = ir::Subset();
  ir::Memlet& out = m.edge(s, t, b);
  out.src_subset = ir::Subset();
  out.dst_subset = symbolic::parse_subset("i, 0");
  const Json json = json_of(m.g);
  CHECK(all_of(json, "NestedSDFG").empty());
  CHECK(all_of(json, "AccessNode").size() == 3);
  stable(m.g);
}

TEST_CASE("continue in a map is the return of its nested graph") {
  Maker m = start();
  ir::Element& map = m.map_element(m.body(), "i", "0:N");
  auto& body = Maker::body_of(map);
  auto& loop = m.loop(body, "k", "0", "k < M", "k + 1");
  m.continue_(m.if_(loop, {"A[i, k] < 0.0"}).branches[0].body, map);
  m.tasklet(body, "o = a", {"a = v[i]"}, {"o = A[i, 0]"});
  CHECK(all_of(json_of(m.g), "ReturnBlock").size() == 1);
  CHECK(ir::digest(read_back(m.g)) == ir::digest(stable(m.g)));
}

TEST_CASE("views are read and written over their viewing edges") {
  Maker m = start();
  m.view("column", kF, ir::Layout::strided(Maker::extents("N"), Maker::extents("M")), "A[0:N, 3]");
  m.view("flat", kF, ir::Layout::packed(Maker::extents("N * M")), "B[0:N, 0:M]");
  m.tasklet(m.body(), "o = c", {"c = column[1]"}, {"o = flat[5]"});
  const Json json = json_of(m.g);
  CHECK(memlet_at(json, "dst_connector", "views").at("data") == "A");
  CHECK(memlet_at(json, "src_connector", "views").at("data") == "B");
  stable(m.g);
}

TEST_CASE("control flow reads what a view shows") {
  Maker m = start();
  m.view("flat", kF, ir::Layout::packed(Maker::extents("N * M")), "A[0:N, 0:M]");
  m.tasklet(m.if_(m.body(), {"flat[M + 2] > 0.0"}).branches[0].body, "o = 1", {}, {"o = v[0]"});
  const Json block = only(json_of(m.g), "ConditionalBlock");
  CHECK(block.at("branches")[0][0].at("string_data").get<std::string>().find("A[") != std::string::npos);
  stable(m.g);
}

TEST_CASE("a reference is set over its connector") {
  Maker m = start();
  m.reference("r", kF, "M");
  ir::State& s = m.state(m.body());
  ir::Memlet& set = m.edge(s, m.access(s, "A"), m.access(s, "r"));
  set.src_subset = symbolic::parse_subset("2, 0:M");
  set.set_reference = true;
  m.tasklet(m.body(), "o = x", {"x = r[1]"}, {"o = v[0]"});
  const Json json = json_of(m.g);
  CHECK(memlet_at(json, "dst_connector", "set").at("data") == "A");
  CHECK(attributes(json).at("_arrays").at("r").at("type") == "ArrayReference");
  stable(m.g);
}

TEST_CASE("streams are pushed to and consumed") {
  Maker m = start();
  m.stream("S", kF, "1");
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = a", {"a = v[i]"}, {"o = S[0]"});
  ir::Consume c;
  c.stream = "S";
  c.element = "e";
  c.worker = "w";
  c.num_workers = 4;
  m.g.symbols.insert({"w", ScalarType::kInt64, ir::BinderKind::kMapParameter, {}, {}, {}, {}});
  ir::Container e;
  e.name = "e";
  e.kind = ir::ContainerKind::kScalar;
  e.type = kF;
  e.transient = true;
  m.g.containers.insert(e);
  ir::Element& element = m.g.append(m.body(), std::move(c), "eat");
  m.tasklet(Maker::body_of(element), "o = x", {"x = e"}, {"o = A[0, 0] | sum"});
  const Json json = json_of(m.g);
  const Json entry = only(json, "ConsumeEntry");
  CHECK(attributes(entry).at("num_pes") == "4");
  CHECK(attributes(entry).at("pe_index") == "w");
  CHECK(memlet_at(json, "dst_connector", "IN_stream").at("data") == "S");
  CHECK(memlet_at(json, "src_connector", "OUT_stream").at("data") == "S");
  stable(m.g);
}

TEST_CASE("structures keep their members in order") {
  Maker m("structure");
  m.symbol("N");
  m.array("out", kF, "N");
  ir::Container s;
  s.name = "st";
  s.kind = ir::ContainerKind::kStructure;
  s.layout = ir::Layout::packed(Maker::extents("1"));
  ir::Container z, a;
  z.name = "z";
  z.type = kF;
  z.layout = ir::Layout::packed(Maker::extents("N"));
  a.name = "a";
  a.kind = ir::ContainerKind::kScalar;
  a.type = ScalarType::kInt32;
  s.members = {z, a};
  m.g.containers.insert(s);
  m.g.parameters.push_back("st");
  m.tasklet(m.body(), "o = x * y", {"x = st.z[2]", "y = st.a"}, {"o = out[0]"});
  const Json st = attributes(json_of(m.g)).at("_arrays").at("st");
  CHECK(attributes(st).at("members")[0][0] == "z");
  CHECK(attributes(st).at("members")[1][0] == "a");
  CHECK(attributes(st).at("dtype").at("dtype").at("data")[0][1].at("type") == "pointer");
  stable(m.g);
}

TEST_CASE("constants keep their bytes") {
  Maker m = start();
  m.constant<double>("weights", "2, 3", {0.1, -0.0, 1e300, 5e-324, 1.0 / 3.0, std::numeric_limits<double>::infinity()});
  m.constant<std::int64_t>("big", "", {std::numeric_limits<std::int64_t>::min()});
  auto& body = m.map(m.body(), "i", "0:N");
  m.tasklet(body, "o = a * weights[1, 2] + big", {"a = v[i]"}, {"o = A[i, 0]"});
  const ir::Graph again = stable(m.g);
  std::map<std::size_t, std::vector<std::uint8_t>> bytes;
  for (const ir::Container& c : again.containers) {
    if (c.constant) bytes[c.constant->size()] = *c.constant;
  }
  CHECK(bytes.at(48) == *m.g.containers.at("weights").constant);
}

TEST_CASE("every accumulation reads back as the same") {
  for (const char* op : {"sum", "product", "min", "max", "exchange", "custom a + b * 2.0"}) {
    Maker m = start();
    m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = v[i]"}, {"o = A[0, 0] | " + std::string(op)});
    const Json json = json_of(m.g);
    CHECK(memlet_at(json, "src_connector", "o").at("wcr") == memlet_at(json, "src_connector", "OUT_A").at("wcr"));
    stable(m.g);
  }
  for (const char* op : {"band", "bor", "bxor", "and", "or", "xor"}) {
    Maker m("bits");
    m.symbol("N");
    m.array("A", ScalarType::kInt64, "N");
    m.tasklet(m.map(m.body(), "i", "0:N"), "o = i", {}, {"o = A[0] | " + std::string(op)});
    stable(m.g);
  }
}

TEST_CASE("storages, lifetimes and layouts read back") {
  Maker m = start();
  m.array("F", kF, ir::Layout::column_major(Maker::extents("N, M")));
  m.array("P", kF,
          ir::Layout::strided(Maker::extents("N, M"), Maker::extents("M + 3, 1"), symbolic::parse_python("N * (M + 3)"),
                              {}, 5));
  m.array("O", kF, ir::Layout::strided(Maker::extents("N"), Maker::extents("1"), {}, Maker::extents("2")));
  m.persistent("kept", kF, "N", true);
  m.persistent("given", kF, "M", false, ir::Lifetime::kExternal);
  m.transient("fast", kF, "3").storage = ir::Storage::kRegister;
  m.transient("pinned", kF, "N").storage = ir::Storage::kPinned;
  m.g.containers.at("F").alignment = 32;
  m.g.containers.at("P").may_alias = true;
  m.tasklet(m.body(), "f = a; p = a; o = a", {"a = v[0]"}, {"f = F[1, 2]", "p = P[1, 2]", "o = O[-2]"});
  m.tasklet(m.body(), "k = a; g = a; r = a; q = a", {"a = v[0]"},
            {"k = kept[1]", "g = given[0]", "r = fast[2]", "q = pinned[0]"});
  m.copy(m.map(m.body(), "i", "-2:N-2"), "O[i]", "F[i + 2, 0]");
  const ir::Graph again = stable(m.g);
  for (const char* name : {"F", "P", "O", "kept", "given", "fast", "pinned"}) {
    const ir::Container& before = m.g.containers.at(name);
    const ir::Container& after = again.containers.at(name);
    INFO(name);
    CHECK(after.layout == before.layout);
    CHECK(after.storage == before.storage);
    CHECK(after.lifetime == before.lifetime);
    CHECK(after.zeroed == before.zeroed);
    CHECK(after.alignment == before.alignment);
    CHECK(after.may_alias == before.may_alias);
  }
}

TEST_CASE("a transient used once in a loop outlives its iterations") {
  Maker m = start();
  m.scalar("sum", kF);
  auto& loop = m.loop(m.body(), "i", "0", "i < N", "i + 1");
  m.tasklet(loop, "s = t + a", {"a = v[i]", "t = sum"}, {"s = sum"});
  CHECK(attributes(attributes(json_of(m.g)).at("_arrays").at("sum")).at("lifetime") == "SDFG");
  stable(m.g);
}

TEST_CASE("what is zero in every iteration of a loop is made so by a nested graph") {
  Maker m = start();
  auto& loop = m.loop(m.body(), "i", "0", "i < N", "i + 1");
  ir::Block& block = m.block(loop);
  m.transient("T", kF, "i + 1", &block).zeroed = true;
  m.tasklet(block.body, "o = a + 1", {"a = T[0]"}, {"o = T[0]"});
  m.tasklet(block.body, "o = a", {"a = T[0]"}, {"o = v[i]"});
  CHECK(all_of(json_of(m.g), "NestedSDFG").size() == 1);
  CHECK(all_of(json_of(m.g), "AccessNode").at(0).at("attributes").contains("data"));
  const ir::Graph again = stable(m.g);
  bool inside = false;
  ir::walk(again.body, [&](const ir::Element& e, const ir::Ancestors& above) {
    if (const auto* b = std::get_if<ir::Block>(&e.kind)) inside = inside || (!b->locals.empty() && !above.empty());
  });
  CHECK(inside);
}

TEST_CASE("connectors that would hide a container are renamed") {
  Maker m = start();
  m.tasklet(m.body(), "v = A + N_", {"A = A[0, 0]", "N_ = A[0, 1]"}, {"v = v[0]"});
  const Json tasklet = only(json_of(m.g), "Tasklet");
  CHECK(attributes(tasklet).at("in_connectors") == Json({{"A_in", nullptr}, {"N_", nullptr}}));
  CHECK(attributes(tasklet).at("code").at("string_data") == "v_out = (A_in + N_)");
  stable(m.g);
}

TEST_CASE("dynamic and unchecked memlets stay so") {
  Maker m = start();
  m.tasklet(m.body(), "if a > 0.0:\n    o = a", {"a = A[0, 0] | oob"}, {"o = v[0:N] | dynamic"});
  const Json json = json_of(m.g);
  CHECK(memlet_at(json, "src_connector", "o").at("dynamic") == true);
  CHECK(memlet_at(json, "dst_connector", "a").at("allow_oob") == true);
}

TEST_CASE("a value passed between tasklets gets a scalar") {
  Maker m = start();
  ir::State& s = m.state(m.body());
  ir::Tasklet first, second;
  first.code.body = tasklet::parse_body("x = 2.5");
  first.outputs = {{"x", {}}};
  second.code.body = tasklet::parse_body("o = y + 1.0");
  second.inputs = {{"y", {}}};
  second.outputs = {{"o", {}}};
  const ir::Id a = m.node(s, std::move(first), "first"), b = m.node(s, std::move(second), "second");
  std::get<ir::Tasklet>(s.find_node(a)->kind).outputs[0].type = kF;
  ir::Memlet& value = m.edge(s, a, b);
  value.src_connector = "x";
  value.dst_connector = "y";
  ir::Memlet& out = m.edge(s, b, m.access(s, "v"));
  out.src_connector = "o";
  out.dst_subset = symbolic::parse_subset("0");
  stable(m.g);
}

TEST_CASE("C++ tasklets and global code are kept as they are") {
  Maker m = start();
  ir::Tasklet& t = m.tasklet(m.body(), "o = a", {"a = v[0]"}, {"o = v[1]"});
  t.code.language = tasklet::Language::kCpp;
  t.code.body.clear();
  t.code.text = "o = helper(a); // N times";
  t.code.global_text = "static double helper(double x) { return x; }";
  t.side_effects = false;
  m.g.code.host = "int counter;\n";
  m.g.code.init = "counter = 0;\n";
  const ir::Graph again = stable(m.g);
  const auto& s = std::get<ir::State>(again.body.items.at(0)->kind);
  for (const ir::Node& n : s.nodes) {
    if (const auto* kept = std::get_if<ir::Tasklet>(&n.kind)) {
      CHECK(kept->code.text == t.code.text);
      CHECK(kept->code.global_text == t.code.global_text);
      CHECK(kept->side_effects == std::optional(false));
    }
  }
  CHECK(again.code.host == m.g.code.host);
  CHECK(again.code.init == m.g.code.init);
}

TEST_CASE("source locations go to the file") {
  Maker m = start();
  ir::Element& e = m.map_element(m.body(), "i", "0:N");
  m.tasklet(Maker::body_of(e), "o = a", {"a = v[i]"}, {"o = v[i]"});
  e.location.file = "program.cpp";
  e.location.line = 12;
  e.location.column = 3;
  const Json v2 = json_of(m.g);
  CHECK(v2.at("source_files") == Json({"program.cpp"}));
  CHECK(attributes(only(v2, "MapEntry")).at("debuginfo").at("file_index") == 0);
  CHECK(attributes(only(json_of(m.g, SdfgDialect::kV1), "MapEntry")).at("debuginfo").at("filename") == "program.cpp");
  const ir::Graph again = read_back(m.g);
  CHECK(again.body.items.at(0)->location.line == 12);
  CHECK(again.body.items.at(0)->location.file == "program.cpp");
}

TEST_CASE("expressions are typed for main and plain for the release") {
  Maker m("typed");
  m.symbol("N", ScalarType::kInt32);
  m.symbol("K");
  m.array("A", kF, "N + K, N");
  m.tasklet(m.map(m.body(), "i", "0:N//2"), "o = 1", {}, {"o = A[i, 0]"});
  CHECK(attributes(attributes(json_of(m.g)).at("_arrays").at("A")).at("shape") ==
        Json({"symbol($K, dtype=dace.int64) + $N", "$N"}));
  CHECK(attributes(attributes(json_of(m.g, SdfgDialect::kV1)).at("_arrays").at("A")).at("shape") ==
        Json({"K + N", "N"}));
  stable(m.g);
}

TEST_CASE("equal graphs give equal bytes") {
  const auto make = [] {
    Maker m = start();
    m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = v[i]"}, {"o = A[i, 0]"});
    return written(m.g);
  };
  CHECK(make() == make());
}

TEST_CASE("files are saved plain or packed and load again") {
  Maker m = start();
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = v[i]"}, {"o = A[i, 0]"});
  const Graph g(std::make_shared<const ir::Graph>(m.g.clone()));
  const test::Folder folder;
  for (const char* name : {"plain.sdfg", "packed.sdfg.gz", "packed.sdfgz"}) {
    const std::string path = folder / name;
    save_sdfg(g, path);
    std::ifstream in(path, std::ios::binary);
    const bool packed = in.get() == 0x1f;
    CHECK(packed == (std::string(name) != "plain.sdfg"));
    CHECK(load_sdfg(path).digest() == parse_sdfg(format_sdfg(g)).digest());
  }
  try {
    save_sdfg(g, folder / "no/such/folder.sdfg");
    FAIL("saved");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kUsage);
  }
}

TEST_CASE("saving follows symbolic links, and leaves pipes what they are") {
  Maker m = start();
  m.tasklet(m.map(m.body(), "i", "0:N"), "o = a", {"a = v[i]"}, {"o = A[i, 0]"});
  const Graph g(std::make_shared<const ir::Graph>(m.g.clone()));
  const test::Folder folder;
  std::filesystem::create_symlink("target.sdfg", folder.path() / "link.sdfg");
  save_sdfg(g, folder / "link.sdfg");
  CHECK(std::filesystem::is_symlink(folder.path() / "link.sdfg"));
  CHECK(load_sdfg(folder / "target.sdfg").digest() == parse_sdfg(format_sdfg(g)).digest());
  const std::string pipe = folder / "pipe.sdfg";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::future<Graph> read = std::async(std::launch::async, [&] { return load_sdfg(pipe); });
  save_sdfg(g, pipe);
  CHECK(read.get().digest() == parse_sdfg(format_sdfg(g)).digest());
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("what a file can't say is an error that names the container") {
  Maker m = start();
  m.array("Q", kF, ir::Layout::strided(Maker::extents("N"), Maker::extents("1"), {}, {}, symbolic::parse_python("M")));
  m.tasklet(m.body(), "o = a", {"a = v[0]"}, {"o = Q[0]"});
  try {
    written(m.g);
    FAIL("written");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kGraph);
    CHECK(e.message().find("'Q'") != std::string::npos);
  }
}

}  // namespace test_dataflow
