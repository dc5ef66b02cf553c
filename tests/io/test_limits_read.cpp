// Files that are too large, too deep or too many of something are refused, and none of them crashes the reader.
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "dace_text.hpp"

namespace test_limits_read {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;

namespace {

std::string complaint(std::string_view bytes, const io::dace::ReadLimits& limits = {}) {
  try {
    io::load_bytes(bytes, limits);
  } catch (const Error& e) {
    return std::string(e.error_class() == ErrorClass::kGraph   ? "graph"
                       : e.error_class() == ErrorClass::kLimit ? "limit"
                                                               : "other") +
           ": " + e.message();
  }
  return {};
}

std::string gzip(std::string_view text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, static_cast<uLong>(text.size())) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// One state that copies A to B.
dace::Graph copy_graph() {
  dace::Graph g("copy");
  g.array("A", "float64", "N");
  g.array("B", "float64", "N");
  g.symbol("N");
  dace::State s;
  s.edge(s.access("A"), "", s.access("B"), "", "A[0:N]");
  g.body.state(s);
  return g;
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("gzipped files are read, in one member or several") {
  const std::string text = copy_graph().text();
  CHECK(complaint(text) == "");
  CHECK(complaint(gzip(text)) == "");
  CHECK(complaint(gzip(text.substr(0, 100)) + gzip(text.substr(100))) == "");
}

TEST_CASE("gzip data that is cut or damaged is refused at every length") {
  const std::string bytes = gzip(copy_graph().text());
  for (std::size_t n = 2; n < bytes.size(); ++n) {
    INFO(n);
    REQUIRE(complaint(std::string_view(bytes).substr(0, n)) == "graph: the file's gzip data ends early");
  }
  for (std::size_t n = bytes.size() - 8; n < bytes.size() - 4; ++n) {  // the checksum
    std::string wrong = bytes;
    wrong[n] = static_cast<char>(wrong[n] ^ 1);
    CHECK(complaint(wrong) == "graph: the file's gzip data is damaged");
  }
  CHECK(complaint(bytes + "more") == "graph: the file's gzip data is damaged");
}

TEST_CASE("a small file that unpacks to a huge one is refused before it is unpacked") {
  io::dace::ReadLimits limits;
  limits.max_bytes = 1 << 20;
  const std::string bomb = gzip(std::string(std::size_t{64} << 20, ' '));
  CHECK(bomb.size() < 100'000);
  CHECK(complaint(bomb, limits) == "limit: the unpacked file has more than 1048576 bytes");
}

TEST_CASE("size, values, elements, names and depth have limits") {
  const std::string text = copy_graph().text();
  io::dace::ReadLimits limits;
  limits.max_bytes = text.size() - 1;
  CHECK(complaint(text, limits) == "limit: the file has more than " + std::to_string(text.size() - 1) + " bytes");
  limits = {};
  limits.max_values = 20;
  CHECK(complaint(text, limits) == "limit: more than 20 values (at $)");
  limits = {};
  limits.max_nodes = 4;
  CHECK(complaint(text, limits) == "limit: more than 4 nodes, edges and containers (at $.nodes[0].nodes[1])");
  limits = {};
  limits.max_name = 3;
  CHECK(complaint(text, limits) == "limit: a name of 4 characters; at most 3 are allowed (at $.attributes.name)");
}

TEST_CASE("every kind of name has a limit") {
  const std::string name(2000, 'x');
  const std::string rest = " of 2000 characters; at most 1024 are allowed (at $.";
  const auto with = [](const auto& change) {
    dace::Graph g = copy_graph();
    change(g);
    return complaint(g.text());
  };
  CHECK(with([&](dace::Graph& g) { g.array(name, "int8", "1"); }) == "limit: a name" + rest + "attributes._arrays)");
  CHECK(with([&](dace::Graph& g) { g.symbol(name); }) == "limit: a name" + rest + "attributes.symbols)");
  CHECK(with([&](dace::Graph& g) { g.argument_order({name}); }) == "limit: a name" + rest + "attributes.arg_names[0])");
  CHECK(with([&](dace::Graph& g) { g.body.next(0, 0, "", {{name, "1"}}); }) ==
        "limit: a name" + rest + "edges[0].attributes.data.attributes.assignments)");
  CHECK(with([&](dace::Graph& g) {
          dace::State s;
          s.map(name, "0:3");
          g.body.state(s);
        }) == "limit: a name" + rest + "nodes[1].nodes[0].attributes.params[0])");
}

TEST_CASE("deep nesting of any kind is refused, not a crash") {
  // Brackets.
  CHECK(complaint(repeated("[", 100'000)) == "limit: brackets are nested 100000 deep (at $)");
  CHECK(complaint(repeated("{\"a\":", 100'000)) == "limit: brackets are nested 100000 deep (at $)");
  // Regions.
  {
    dace::Region region;
    region.state({});
    for (int k = 0; k < 140; ++k) {
      dace::Region outer;
      outer.loop("", "", "True", "", region);
      region = outer;
    }
    dace::Graph g;
    g.body = region;
    CHECK(complaint(g.text()).rfind("limit: nested more than 128 deep (at $.nodes[0]", 0) == 0);
  }
  // Nested graphs.
  {
    Json inner = copy_graph().json();
    for (int k = 0; k < 140; ++k) {
      Json outer = copy_graph().json();
      outer["nodes"][0]["nodes"].push_back({{"type", "NestedSDFG"}, {"attributes", {{"sdfg", std::move(inner)}}}});
      inner = std::move(outer);
    }
    CHECK(complaint(inner.dump()).rfind("limit: nested more than 128 deep (at $.nodes[0]", 0) == 0);
  }
  // Types and descriptors.
  {
    Json type = "int8";
    for (int k = 0; k < 200; ++k) type = {{"type", "pointer"}, {"dtype", type}};
    dace::Graph g = copy_graph();
    g.symbol("q", type);
    CHECK(complaint(g.text()).rfind("limit: types nested too deeply (at $.attributes.symbols.q", 0) == 0);
  }
  {
    Json member = {{"type", "Scalar"}, {"attributes", {{"dtype", "int8"}}}};
    for (int k = 0; k < 200; ++k) {
      Json outer = {{"type", "Structure"}, {"attributes", Json::object()}};
      outer["attributes"]["members"] = Json::array({Json::array({"x", std::move(member)})});
      member = std::move(outer);
    }
    dace::Graph g = copy_graph();
    g.descriptor("st", "Structure", member["attributes"]);
    CHECK(complaint(g.text()).rfind("limit: structures nested too deeply (at $.attributes._arrays.st", 0) == 0);
  }
  // Expressions and code.
  const std::string deep = repeated("(", 50'000) + "N" + repeated(")", 50'000);
  const std::string signs = repeated("-", 50'000) + "N";
  const std::string powers = "N" + repeated("**N", 50'000);
  const std::string sums = "N" + repeated(" + N * N", 50'000);
  for (const std::string& e : {deep, signs, powers}) {
    dace::Graph shape = copy_graph();
    shape.transient("t", "int8", e);
    CHECK(complaint(shape.text()).rfind("limit: ", 0) == 0);
    for (const char* target : {"condition", "assignment", "tasklet"}) {
      INFO(target);
      dace::Graph g = copy_graph();
      if (target[0] == 'c') g.body.next(0, 0, e);
      if (target[0] == 'a') g.body.next(0, 0, "", {{"q", e}});
      if (target[0] == 't') {
        dace::State s;
        s.write(s.tasklet("o = " + e), "o", "A[0]");
        g.body.next(0, g.body.state(s));
      }
      CHECK(complaint(g.text()).rfind("limit: ", 0) == 0);
    }
  }
  {
    dace::Graph g = copy_graph();
    g.transient("t", "int8", sums);  // long, but not deep
    CHECK(complaint(g.text()) == "");
  }
  // Statements.
  {
    std::string text;
    for (int k = 0; k < 2000; ++k) text += repeated(" ", k) + "if a > 0:\n";
    text += repeated(" ", 2000) + "o = a\n";
    dace::Graph g = copy_graph();
    dace::State s;
    const int t = s.tasklet(text);
    s.read("A[0]", t, "a");
    s.write(t, "o", "B[0]");
    g.body.next(0, g.body.state(s));
    CHECK(complaint(g.text()).rfind("limit: ", 0) == 0);
  }
}

TEST_CASE("long state machines are no deep ones") {
  constexpr int kStates = 20'000;
  dace::Graph g = copy_graph();
  dace::State s;
  s.edge(s.access("A"), "", s.access("B"), "", "A[0]");
  for (int k = 0; k < kStates; ++k) g.body.next(g.body.state(s) - 1, k + 1, "", {{"q", std::to_string(k)}});
  std::vector<double> a{2.5, 1.0, 3.0}, b(3);
  const ir::Graph loaded = io::load_bytes(g.text()).graph;
  interpret::run(loaded, interpret::Arguments().set("A", a.data()).set("B", b.data()).set("N", 3));
  CHECK(b == a);
}

TEST_CASE("a file that never ends is read up to the limit") {
  io::dace::ReadLimits limits;
  limits.max_bytes = 1 << 20;
  try {
    io::load_file("/dev/zero", limits);
    FAIL("it was read");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kLimit);
    CHECK(e.message() == "/dev/zero: the file has more than 1048576 bytes");
  }
}

}  // namespace test_limits_read
