// Short ways to write `.sdfg` files of DaCe 1.0.2 (plain expressions) in tests, and to load, check and interpret them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpret/interpreter.hpp"
#include "io/sdfg_file.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"

namespace sdfg::test::dace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

inline std::string trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

// At separators outside brackets.
inline Names split(std::string_view text, std::string_view separator) {
  Names out;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0 && text.compare(i, separator.size(), separator) == 0) {
      out.push_back(trim(text.substr(from, i - from)));
      from = i + separator.size();
      i = from - 1;
    }
  }
  out.push_back(trim(text.substr(from)));
  return out;
}

// "0:N, i, 0:N:2" with exclusive ends, as in Python; the file's ends are inclusive.
inline Json range(std::string_view text) {
  Json ranges = Json::array();
  for (const std::string& dimension : split(text, ",")) {
    const Names parts = split(dimension, ":");
    const std::string end = parts.size() == 1 ? parts[0] : "(" + parts[1] + ") - 1";
    ranges.push_back({{"start", parts[0]}, {"end", end}, {"step", parts.size() > 2 ? parts[2] : "1"}, {"tile", "1"}});
  }
  return {{"type", "Range"}, {"ranges", ranges}};
}

// "A[0:N]", in a copy "A[0:N] -> 2:N + 2" (the other side's subset), behind bars "wcr: lambda a, b: a + b", "dynamic",
// "oob", "plain" (wcr_nonatomic). Empty: an empty memlet.
inline Json memlet(std::string_view text) {
  Json a = Json::object();
  if (!text.empty()) {
    const Names parts = split(text, "|");
    const Names sides = split(parts[0], "->");
    const std::size_t open = sides[0].find('[');
    a["data"] = trim(sides[0].substr(0, open));
    a["subset"] = range(sides[0].substr(open + 1, sides[0].rfind(']') - open - 1));
    if (sides.size() > 1) a["other_subset"] = range(sides[1]);
    for (std::size_t k = 1; k < parts.size(); ++k) {
      if (parts[k].rfind("wcr:", 0) == 0) a["wcr"] = "(" + trim(parts[k].substr(4)) + ")";
      if (parts[k] == "dynamic") a["dynamic"] = true;
      if (parts[k] == "oob") a["allow_oob"] = true;
      if (parts[k] == "plain") a["wcr_nonatomic"] = true;
    }
  }
  return {{"type", "Memlet"}, {"attributes", a}};
}

inline Json code(const std::string& text, const std::string& language = "Python") {
  return {{"string_data", text}, {"language", language}};
}

class Graph;

class State {
 public:
  int access(const std::string& data) { return node("AccessNode", {{"data", data}}); }
  int tasklet(const std::string& text, const std::string& language = "Python", const std::string& label = "t") {
    return node("Tasklet", {{"label", label}, {"code", code(text, language)}});
  }
  // Entry and exit; parameters and ranges separated by commas.
  std::pair<int, int> map(std::string_view params, std::string_view ranges, Json extra = Json::object()) {
    extra.update({{"label", "m"}, {"params", split(params, ",")}, {"range", range(ranges)}});
    return scope("Map", std::move(extra));
  }
  std::pair<int, int> consume(const std::string& pe_index, const std::string& num_pes, Json extra = Json::object()) {
    extra.update({{"label", "c"}, {"pe_index", pe_index}, {"num_pes", num_pes}});
    return scope("Consume", std::move(extra));
  }
  inline int nested(const Graph& g, const Json& symbol_mapping = Json::object());
  int library(const std::string& class_path, Json properties = Json::object()) {
    properties["label"] = "lib";
    const int id = node("LibraryNode", std::move(properties));
    nodes_.back()["classpath"] = class_path;
    return id;
  }
  // Connectors appear with their edges.
  void edge(int src, const std::string& src_connector, int dst, const std::string& dst_connector,
            std::string_view memlet_text) {
    const auto connector = [](const std::string& c) { return c.empty() ? Json() : Json(c); };
    if (!src_connector.empty()) nodes_[at(src)]["attributes"]["out_connectors"].emplace(src_connector, Json());
    if (!dst_connector.empty()) nodes_[at(dst)]["attributes"]["in_connectors"].emplace(dst_connector, Json());
    edges_.push_back({{"type", "MultiConnectorEdge"},
                      {"src", std::to_string(src)},
                      {"dst", std::to_string(dst)},
                      {"src_connector", connector(src_connector)},
                      {"dst_connector", connector(dst_connector)},
                      {"attributes", {{"data", memlet(memlet_text)}}}});
  }
  void read(const std::string& memlet_text, int code_node, const std::string& connector) {
    edge(access(data_of(memlet_text)), "", code_node, connector, memlet_text);
  }
  void write(int code_node, const std::string& connector, const std::string& memlet_text) {
    edge(code_node, connector, access(data_of(memlet_text)), "", memlet_text);
  }
  // Into a scope and out of it; `outer` is what the scope as a whole touches, which the loader has no use for.
  void read_in(std::pair<int, int> scope_nodes, const std::string& memlet_text, int code_node,
               const std::string& connector, const std::string& outer = {}) {
    const std::string data = data_of(memlet_text), k = data + std::to_string(edges_.size());
    edge(access(data), "", scope_nodes.first, "IN_" + k, outer.empty() ? memlet_text : outer);
    edge(scope_nodes.first, "OUT_" + k, code_node, connector, memlet_text);
  }
  void write_out(std::pair<int, int> scope_nodes, int code_node, const std::string& connector,
                 const std::string& memlet_text, const std::string& outer = {}) {
    const std::string data = data_of(memlet_text), k = data + std::to_string(edges_.size());
    edge(code_node, connector, scope_nodes.second, "IN_" + k, memlet_text);
    edge(scope_nodes.second, "OUT_" + k, access(data), "", outer.empty() ? memlet_text : outer);
  }
  void connector_type(int n, const char* side, const std::string& connector, Json type) {
    nodes_[at(n)]["attributes"][side][connector] = std::move(type);
  }
  Json& attributes(int n) { return nodes_[at(n)]["attributes"]; }

  Json json(const std::string& label) const {
    return {{"type", "SDFGState"}, {"label", label},  {"id", 0},
            {"nodes", nodes_},     {"edges", edges_}, {"attributes", Json::object()}};
  }

 private:
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  static std::string data_of(const std::string& memlet_text) {
    return trim(memlet_text.substr(0, memlet_text.find('[')));
  }
  int node(const std::string& type, Json attributes) {
    attributes.emplace("in_connectors", Json::object());
    attributes.emplace("out_connectors", Json::object());
    nodes_.push_back({{"type", type}, {"id", nodes_.size()}, {"attributes", std::move(attributes)}});
    return static_cast<int>(nodes_.size()) - 1;
  }
  std::pair<int, int> scope(const std::string& kind, Json attributes) {
    const int entry = node(kind + "Entry", std::move(attributes));
    const int exit = node(kind + "Exit", Json::object());
    nodes_[at(entry)]["scope_exit"] = std::to_string(exit);
    nodes_[at(exit)]["scope_entry"] = std::to_string(entry);
    return {entry, exit};
  }

  Json nodes_ = Json::array(), edges_ = Json::array();
};

// Blocks and the edges between them.
class Region {
 public:
  int state(const State& s) { return block(s.json("s" + std::to_string(blocks_.size()))); }
  int block(Json b) {
    blocks_.push_back(std::move(b));
    return static_cast<int>(blocks_.size()) - 1;
  }
  // A loop region; properties as the file spells them may be overridden by `extra`.
  int loop(const std::string& variable, const std::string& init, const std::string& condition,
           const std::string& update, const Region& body, Json extra = Json::object()) {
    Json a = {{"loop_variable", variable}, {"loop_condition", code(condition)}};
    if (!init.empty()) a["init_statement"] = code(init);
    if (!update.empty()) a["update_statement"] = code(update);
    a.update(extra);
    return block(body.json("LoopRegion", "loop" + std::to_string(blocks_.size()), std::move(a)));
  }
  int conditional(const std::vector<std::pair<std::string, Region>>& branches) {
    Json list = Json::array();
    for (const auto& [condition, body] : branches)
      list.push_back(Json::array(
          {condition.empty() ? Json() : code(condition), body.json("ControlFlowRegion", "b", Json::object())}));
    return block({{"type", "ConditionalBlock"},
                  {"label", "if" + std::to_string(blocks_.size())},
                  {"branches", list},
                  {"attributes", Json::object()}});
  }
  int leaf(const std::string& type) {  // BreakBlock, ContinueBlock, ReturnBlock
    return block({{"type", type}, {"label", type}, {"attributes", Json::object()}});
  }
  void next(int src, int dst, const std::string& condition = {}, Json assignments = Json::object()) {
    Json a = {{"assignments", std::move(assignments)}};
    if (!condition.empty()) a["condition"] = code(condition);
    edges_.push_back({{"type", "Edge"},
                      {"src", std::to_string(src)},
                      {"dst", std::to_string(dst)},
                      {"attributes", {{"data", {{"type", "InterstateEdge"}, {"attributes", std::move(a)}}}}}});
  }
  void chain(std::initializer_list<int> blocks) {
    const int* before = nullptr;
    for (const int& b : blocks) {
      if (before != nullptr) next(*before, b);
      before = &b;
    }
  }
  int start = 0;

  Json json(const std::string& type, const std::string& label, Json attributes) const {
    return {{"type", type},    {"label", label},       {"nodes", blocks_},
            {"edges", edges_}, {"start_block", start}, {"attributes", std::move(attributes)}};
  }

 private:
  Json blocks_ = Json::array(), edges_ = Json::array();
};

class Graph {
 public:
  explicit Graph(std::string name = "test") : name_(std::move(name)) {}

  Region body;

  // Shapes as text, "N, M + 1". Anything a descriptor may have besides goes to `extra`.
  void array(const std::string& name, const std::string& dtype, const std::string& shape, Json extra = Json::object()) {
    extra.update({{"dtype", dtype}, {"shape", shape.empty() ? Names() : split(shape, ",")}});
    descriptor(name, "Array", std::move(extra));
  }
  void transient(const std::string& name, const std::string& dtype, const std::string& shape,
                 Json extra = Json::object()) {
    extra["transient"] = true;
    array(name, dtype, shape, std::move(extra));
  }
  void scalar(const std::string& name, const std::string& dtype, bool is_transient = false) {
    descriptor(name, "Scalar", {{"dtype", dtype}, {"shape", {"1"}}, {"transient", is_transient}});
  }
  void descriptor(const std::string& name, const std::string& type, Json attributes) {
    containers_[name] = {{"type", type}, {"attributes", std::move(attributes)}};
  }
  void symbol(const std::string& name, const Json& dtype = "int64") { symbols_[name] = dtype; }
  void constant(const std::string& name, Json type, Json value) {
    constants_[name] = Json::array({std::move(type), std::move(value)});
  }
  void argument_order(Names names) { arguments_ = std::move(names); }

  Json json() const {
    return body.json("SDFG", name_,
                     {{"name", name_},
                      {"arg_names", arguments_},
                      {"_arrays", containers_},
                      {"symbols", symbols_},
                      {"constants_prop", constants_}});
  }
  std::string text() const {
    Json j = json();
    j["dace_version"] = "1.0.2";
    return j.dump();
  }

 private:
  std::string name_;
  Names arguments_;
  Json containers_ = Json::object(), symbols_ = Json::object(), constants_ = Json::object();
};

inline int State::nested(const Graph& g, const Json& symbol_mapping) {
  return node("NestedSDFG", {{"label", "nested"}, {"sdfg", g.json()}, {"symbol_mapping", symbol_mapping}});
}

// Numbers for arguments: from, from + step, ...
inline std::vector<double> ramp(std::size_t n, double from = 1.0, double step = 0.75) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = from + step * static_cast<double>(i);
  return out;
}

inline ir::Graph load(const Graph& g) {
  ir::Graph out = io::load_bytes(g.text()).graph;
  ir::check(out);
  return out;
}

inline void run(const Graph& g, const interpret::Arguments& arguments) {
  const ir::Graph loaded = load(g);
  interpret::Options options;
  options.order = interpret::MapOrder::kShuffled;
  options.seed = 3;
  interpret::run(loaded, arguments, options);
}

}  // namespace sdfg::test::dace
