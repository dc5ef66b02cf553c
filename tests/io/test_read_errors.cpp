// What is wrong with a file is told with the JSON path: one entry per way in which a file can be wrong.
#include <catch2/catch.hpp>
#include <optional>

#include "dace_text.hpp"

namespace test_read_errors {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using namespace nlohmann::literals;

namespace {

// B[i] = A[i] in a map, in a loop, before a branch: something of everything that is read.
Json sound_file() {
  dace::Graph g("p");
  g.array("A", "float64", "N");
  g.array("B", "float64", "N");
  g.symbol("N");
  dace::State s;
  const auto m = s.map("i", "0:N");
  const int t = s.tasklet("o = a");
  s.read_in(m, "A[i]", t, "a", "A[0:N]");
  s.write_out(m, t, "o", "B[i]", "B[0:N]");
  dace::Region body;
  body.state(s);
  const int loop = g.body.loop("k", "k = 0", "k < 3", "k = k + 1", body);
  dace::Region branch;
  branch.state({});
  const int conditional = g.body.conditional({{"N > 3", branch}, {"", branch}});
  g.body.next(loop, conditional, "N > 0", {{"q", "N + 1"}});
  Json j = g.json();
  j["dace_version"] = "1.0.2";
  return j;
}

// "class: message" of what loading throws; empty: it loads.
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

struct Change {
  const char* at;             // JSON pointer
  std::optional<Json> value;  // nothing: the key is removed
  const char* complaint;
};

std::string changed(const Change& c) {
  Json j = sound_file();
  const Json::json_pointer pointer(c.at);
  if (c.value) {
    j[pointer] = *c.value;
  } else {
    Json& parent = j[pointer.parent_pointer()];
    if (parent.is_array())
      parent.erase(static_cast<std::size_t>(std::stoul(pointer.back())));
    else
      parent.erase(pointer.back());
  }
  return complaint(j.dump());
}

const std::string kState = "/nodes/0/nodes/0";
Json range_of(const char* start) {
  return {{"type", "Range"}, {"ranges", {{{"start", start}, {"end", "1"}, {"step", "1"}}}}};
}

}  // namespace

TEST_CASE("the file that the changes start from is sound") {
  CHECK(complaint(sound_file().dump()) == "");
}

TEST_CASE("text that is no JSON is refused") {
  CHECK(complaint("") ==
        "graph: this is not JSON: [json.exception.parse_error.101] parse error at line 1, column 1: syntax error "
        "while parsing value - unexpected end of input; expected '[', '{', or a literal (at $)");
  CHECK(complaint("{\"type\": ").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("]").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("{\"a\" 1}").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("{\"a\": \"\x80\"}").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("{\"a\": 1e999}").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint(std::string("{\"a\": \0}", 8)).rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("\"text that ends in \\").rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(complaint("\x80\x04pickle").rfind("graph: this is not JSON: ", 0) == 0);
}

TEST_CASE("a key that is given twice is refused") {
  CHECK(complaint(R"({"type": "SDFG", "type": "SDFG"})") == "graph: a key is given twice (at $.type)");
  CHECK(complaint(R"({"a": [{}, {"b": [0, {"c": 1, "d": {"c": 2}, "c": 3}]}]})") ==
        "graph: a key is given twice (at $.a[1].b[1].c)");
  CHECK(complaint(R"({"a": {"x": "x", "y": "x:"}, "b": {"x": 1}, "x": ["x", "x"]})").rfind("graph: missing key", 0) ==
        0);  // nothing is twice there
}

TEST_CASE("values of the wrong type or missing are refused") {
  const Json array_of_dimension = {{"type", "Array"}, {"attributes", {{"dtype", "float64"}, {"shape", 5}}}};
  const Change changes[] = {
      {"/type", {}, "graph: missing key 'type' (at $)"},
      {"/type", "SDFGState", "graph: expected an object of type SDFG, found 'SDFGState' (at $)"},
      {"/type", 3, "graph: expected a string, found number (at $.type)"},
      {"/attributes", {}, "graph: missing key 'attributes' (at $)"},
      {"/attributes", Json::array(), "graph: expected an object, found array (at $.attributes)"},
      {"/attributes/name", {}, "graph: missing key 'name' (at $.attributes)"},
      {"/attributes/name", Json::object(), "graph: expected a string, found object (at $.attributes.name)"},
      {"/attributes/name", "", "graph: an empty name (at $.attributes.name)"},
      {"/attributes/arg_names", "A", "graph: expected a list, found string (at $.attributes.arg_names)"},
      {"/attributes/arg_names/0", 7, "graph: expected a string, found number (at $.attributes.arg_names[0])"},
      {"/attributes/_arrays", 1.5, "graph: expected an object, found number (at $.attributes._arrays)"},
      {"/attributes/_arrays/A", "x", "graph: expected an object, found string (at $.attributes._arrays.A)"},
      {"/attributes/_arrays/A/type", {}, "graph: missing key 'type' (at $.attributes._arrays.A)"},
      {"/attributes/_arrays/A/attributes", {}, "graph: missing key 'attributes' (at $.attributes._arrays.A)"},
      {"/attributes/_arrays/A/attributes/dtype", "float65",
       "graph: unknown type 'float65' (at $.attributes._arrays.A.attributes.dtype)"},
      {"/attributes/_arrays/A/attributes/dtype", R"({"type": "pair"})"_json,
       "graph: unknown kind of type 'pair' (at $.attributes._arrays.A.attributes.dtype.type)"},
      {"/attributes/_arrays/A/attributes/dtype", R"({"type": "vector", "dtype": "float32", "elements": "0"})"_json,
       "graph: a vector of 0 elements (at $.attributes._arrays.A.attributes.dtype.elements)"},
      {"/attributes/_arrays/A/attributes/dtype",
       R"({"type": "vector", "dtype": "float32", "elements": 5000000000})"_json,
       "graph: the number 5000000000 is out of range (at $.attributes._arrays.A.attributes.dtype.elements)"},
      {"/attributes/_arrays/A/attributes/dtype",
       R"({"type": "struct", "name": "S", "data": [["x", "int8"], ["x", "int8"]]})"_json,
       "graph: a second field 'x' (at $.attributes._arrays.A.attributes.dtype.data[1])"},
      {"/attributes/_arrays/A", array_of_dimension,
       "graph: expected a list, found number (at $.attributes._arrays.A.attributes.shape)"},
      {"/attributes/_arrays/A/attributes/shape/0", "N +",
       "graph: can't parse the expression 'N +': expected an expression instead of the end of the text at column 4 (at "
       "$.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/shape/0", true,
       "graph: expected a string, found boolean (at $.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/shape/0", "99999999999999999999999",
       "graph: can't parse the expression '99999999999999999999999': '99999999999999999999999' is not a 64-bit "
       "integer at column 1 (at $.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/shape/0", 1e30,
       "graph: the number 1e+30 is out of range (at $.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/shape/0", 18446744073709551615U,
       "graph: the number 18446744073709551615 is out of range (at $.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/shape/0", 2.5,
       "graph: expected an integer, found 2.5 (at $.attributes._arrays.A.attributes.shape[0])"},
      {"/attributes/_arrays/A/attributes/transient", "yes",
       "graph: expected true or false, found string (at $.attributes._arrays.A.attributes.transient)"},
      {"/attributes/_arrays/A/attributes/start_offset", "far",
       "graph: expected an integer, found \"far\" (at $.attributes._arrays.A.attributes.start_offset)"},
      {"/attributes/_arrays/A/attributes/storage", 7,
       "graph: expected a string, found number (at $.attributes._arrays.A.attributes.storage)"},
      {"/attributes/_arrays/S", R"({"type": "Structure", "attributes": {"members": [["x"]]}})"_json,
       "graph: expected [name, descriptor] (at $.attributes._arrays.S.attributes.members[0])"},
      {"/attributes/symbols/N", "int12", "graph: unknown type 'int12' (at $.attributes.symbols.N)"},
      {"/attributes/symbols", Json::array(), "graph: expected an object, found array (at $.attributes.symbols)"},
      {"/attributes/symbols/A", "int32", "graph: 'A' is both a container and a symbol (at $.attributes.symbols.A)"},
      {"/attributes/_pgrids", R"({"A": {"type": "ProcessGrid", "attributes": {}}})"_json,
       "graph: a second container 'A' (at $.attributes._pgrids.A)"},
      {"/attributes/constants_prop", R"({"c": 3})"_json,
       "graph: expected a list, found number (at $.attributes.constants_prop.c)"},
      {"/attributes/constants_prop", R"({"c": [3]})"_json,
       "graph: expected [descriptor, value] (at $.attributes.constants_prop.c)"},
      {"/attributes/constants_prop", R"({"c": [{"type": "Scalar", "attributes": {"dtype": "int64"}}, "three"]})"_json,
       "graph: 'three' is not a number (at $.attributes.constants_prop.c[1])"},
      {"/attributes/constants_prop", R"({"c": [{"type": "Scalar", "attributes": {"dtype": "int64"}}, null]})"_json,
       "graph: expected a number, found null (at $.attributes.constants_prop.c[1])"},
      {"/attributes/global_code", 3, "graph: expected an object, found number (at $.attributes.global_code)"},
      {"/nodes", {}, "graph: missing key 'nodes' (at $)"},
      {"/nodes", 4, "graph: expected a list, found number (at $.nodes)"},
      {"/edges", {}, "graph: missing key 'edges' (at $)"},
      {"/start_block", 9, "graph: there is no block 9; the region has 2 (at $.start_block)"},
      {"/start_block", "first", "graph: expected an integer, found \"first\" (at $.start_block)"},
      {"/nodes/0/type", "Loop", "graph: unknown kind of block 'Loop' (at $.nodes[0])"},
      {"/nodes/0/attributes/inverted", "no",
       "graph: expected true or false, found string (at $.nodes[0].attributes.inverted)"},
      {"/nodes/0/attributes/unroll_factor", 10000000000,
       "graph: the number 10000000000 is out of range (at $.nodes[0].attributes.unroll_factor)"},
      {"/nodes/1/branches", {}, "graph: missing key 'branches' (at $.nodes[1])"},
      {"/nodes/1/branches/0", Json::array(), "graph: expected [condition, region] (at $.nodes[1].branches[0])"},
      {"/edges/0/src", "5", "graph: there is no node 5; the list has 2 (at $.edges[0].src)"},
      {"/edges/0/dst", "-1", "graph: there is no node -1; the list has 2 (at $.edges[0].dst)"},
      {"/edges/0/src", "one", "graph: expected an integer, found \"one\" (at $.edges[0].src)"},
      {"/edges/0/src", {}, "graph: missing key 'src' (at $.edges[0])"},
      {"/edges/0/attributes/data/attributes/assignments/q", Json::array(),
       "graph: expected an expression (at $.edges[0].attributes.data.attributes.assignments.q)"},
      {"/edges/0/attributes/data/attributes/assignments", 1,
       "graph: expected an object, found number (at $.edges[0].attributes.data.attributes.assignments)"},
  };
  for (const Change& c : changes) {
    INFO(c.at);
    CHECK(changed(c) == c.complaint);
  }
}

TEST_CASE("nodes and edges of a state that are wrong are refused") {
  const std::string node = kState + "/nodes", edge = kState + "/edges";
  const struct {
    std::string at;
    std::optional<Json> value;
    const char* complaint;
  } changes[] = {
      {node + "/0/type", "Node", "graph: unknown kind of node 'Node' (at $.nodes[0].nodes[0].nodes[0])"},
      {node + "/0/attributes", {}, "graph: missing key 'attributes' (at $.nodes[0].nodes[0].nodes[0])"},
      {node + "/0/attributes/range", {}, "graph: missing key 'range' (at $.nodes[0].nodes[0].nodes[0].attributes)"},
      {node + "/0/attributes/range/type", "Box",
       "graph: unknown kind of subset 'Box' (at $.nodes[0].nodes[0].nodes[0].attributes.range.type)"},
      {node + "/0/attributes/range/ranges/0/end",
       {},
       "graph: missing key 'end' (at $.nodes[0].nodes[0].nodes[0].attributes.range.ranges[0])"},
      {node + "/0/attributes/range", range_of("2 *"),
       "graph: can't parse the expression '2 *': expected an expression instead of the end of the text at column 4 (at "
       "$.nodes[0].nodes[0].nodes[0].attributes.range.ranges[0].start)"},
      {node + "/0/attributes/params", R"(["i", "i"])"_json,
       "graph: two parameters 'i' (at $.nodes[0].nodes[0].nodes[0].attributes)"},
      {node + "/0/attributes/params", R"(["i", "j"])"_json,
       "graph: map 'm' has 2 parameters and 1 ranges (at $.nodes[0].nodes[0].nodes[0])"},
      {node + "/0/attributes/gpu_block_size", R"(["x"])"_json,
       "graph: expected an integer, found \"x\" (at $.nodes[0].nodes[0].nodes[0].attributes.gpu_block_size[0])"},
      {node + "/0/attributes/collapse", 1e10,
       "graph: the number 10000000000 is out of range (at $.nodes[0].nodes[0].nodes[0].attributes.collapse)"},
      {node + "/1/type", "MapEntry", "graph: missing key 'range' (at $.nodes[0].nodes[0].nodes[1].attributes)"},
      {node + "/0/scope_exit", "99999999999",
       "graph: the number 99999999999 is out of range (at $.nodes[0].nodes[0].nodes[0].scope_exit)"},
      {node + "/2/attributes/code", {}, "graph: missing key 'code' (at $.nodes[0].nodes[0].nodes[2].attributes)"},
      {node + "/2/attributes/code/string_data", "o = (",
       "graph: tasklet 't': In the code 'o = (' (line 1, column 5): '(' is never closed. (at "
       "$.nodes[0].nodes[0].nodes[2])"},
      {node + "/2/attributes/code/language", "OpenCL",
       "graph: tasklet 't' is written in a language that can't be executed (at $.nodes[0].nodes[0].nodes[2])"},
      {node + "/2/attributes/in_connectors", R"(["a", "a"])"_json,
       "graph: a second connector 'a' (at $.nodes[0].nodes[0].nodes[2].attributes.in_connectors[1])"},
      {node + "/2/attributes/in_connectors/a", "float",
       "graph: unknown type 'float' (at $.nodes[0].nodes[0].nodes[2].attributes.in_connectors.a)"},
      {node + "/3/attributes/data", {}, "graph: missing key 'data' (at $.nodes[0].nodes[0].nodes[3].attributes)"},
      {node + "/3/attributes/data", "C",
       "graph: a memlet moves 'A', which is at neither end of its path (at $.nodes[0].nodes[0].edges[1])"},
      {edge + "/0/src", "12", "graph: there is no node 12; the list has 5 (at $.nodes[0].nodes[0].edges[0].src)"},
      {edge + "/0/dst", {}, "graph: missing key 'dst' (at $.nodes[0].nodes[0].edges[0])"},
      {edge + "/0/attributes", {}, "graph: missing key 'attributes' (at $.nodes[0].nodes[0].edges[0])"},
      {edge + "/1/attributes/data/attributes/data", 3,
       "graph: expected a string, found number (at $.nodes[0].nodes[0].edges[1].attributes.data.attributes.data)"},
      {edge + "/1/attributes/data/attributes/subset/ranges/0/start", "i i",
       "graph: can't parse the expression 'i i': unexpected 'i' at column 3 (at "
       "$.nodes[0].nodes[0].edges[1].attributes.data.attributes.subset.ranges[0].start)"},
      {edge + "/1/attributes/data/attributes/wcr", 3,
       "graph: expected a string, found number (at $.nodes[0].nodes[0].edges[1].attributes.data.attributes.wcr)"},
      {edge + "/0/dst_connector", "IN_other",
       "graph: connector 'OUT_A0' of scope node 'm' has no incoming counterpart (at $.nodes[0].nodes[0].edges[1])"},
  };
  for (const auto& c : changes) {
    INFO(c.at);
    CHECK(changed({c.at.c_str(), c.value, c.complaint}) == c.complaint);
  }
}

TEST_CASE("scope nodes that do not belong together are refused") {
  const auto with = [](const char* first, const Json& a, const char* second, const Json& b) {
    Json j = sound_file();
    j[Json::json_pointer(kState + "/nodes/" + first)] = a;
    j[Json::json_pointer(kState + "/nodes/" + second)] = b;
    return complaint(j.dump());
  };
  const std::string at = "has no counterpart (at $.nodes[0].nodes[0].nodes[";
  CHECK(with("0/scope_exit", "2", "1/scope_entry", "2") == "graph: scope node 'm' " + at + "0])");
  CHECK(with("0/scope_exit", nullptr, "1/scope_entry", nullptr) == "graph: scope node 'm' " + at + "0])");
  CHECK(with("0/scope_exit", "1", "1/scope_entry", "0") == "");
  // Two entries that share an exit.
  Json j = sound_file();
  Json entry = j[Json::json_pointer(kState + "/nodes/0")];
  j[Json::json_pointer(kState + "/nodes")].push_back(entry);
  CHECK(complaint(j.dump()) == "graph: scope node 'm' " + at + "0])");
}

TEST_CASE("cycles of a state are refused") {
  Json j = sound_file();
  Json& edges = j[Json::json_pointer(kState + "/edges")];
  Json back = edges[1];
  back["src"] = "2";
  back["dst"] = "0";
  back["src_connector"] = nullptr;
  back["dst_connector"] = nullptr;
  edges.push_back(back);
  CHECK(complaint(j.dump()) == "graph: the dataflow of state 's0' has a cycle (at $.nodes[0].nodes[0])");
}

TEST_CASE("nested graphs that are missing, elsewhere or no text of a graph are refused") {
  const auto with_nested = [](const Json& attributes) {
    Json j = sound_file();
    Json node = {{"type", "NestedSDFG"}, {"attributes", attributes}};
    j[Json::json_pointer(kState + "/nodes")].push_back(node);
    return complaint(j.dump());
  };
  const std::string at = "$.nodes[0].nodes[0].nodes[5]";
  CHECK(with_nested(Json::object()) == "graph: a nested graph without a graph (at " + at + ")");
  CHECK(with_nested({{"ext_sdfg_path", "a.sdfg"}}) ==
        "graph: the nested graph lies in another file, 'a.sdfg', which is not loaded (at " + at + ")");
  CHECK(with_nested({{"sdfg", "{"}}).rfind("graph: this is not JSON: ", 0) == 0);
  CHECK(with_nested({{"sdfg", "{\"type\": 1, \"type\": 2}"}}) ==
        "graph: a key is given twice (at " + at + ".attributes.sdfg.type)");
  CHECK(with_nested({{"sdfg", "{\"type\": 1}"}}) ==
        "graph: expected a string, found number (at " + at + ".attributes.sdfg.(text).type)");
  CHECK(with_nested({{"sdfg", sound_file()}, {"symbol_mapping", {{"N", "M +"}}}}) ==
        "graph: can't parse the expression 'M +': expected an expression instead of the end of the text at column 4 "
        "(at " +
            at + ".attributes.symbol_mapping.N)");
}

TEST_CASE("a file that can't be opened or read is the user's error") {
  for (const char* path : {"/nowhere/graph.sdfg", "/"}) {
    INFO(path);
    try {
      io::load_file(path);
      FAIL("it was read");
    } catch (const Error& e) {
      CHECK(e.error_class() == ErrorClass::kUsage);
      CHECK(e.message().rfind("the file '" + std::string(path) + "' can't be ", 0) == 0);
    }
  }
}

}  // namespace test_read_errors
