// Reads the JSON of a `.sdfg` file, both dialects, into the model of dace_model.hpp.
#include <algorithm>
#include <set>

#include "io/read_containers.hpp"

namespace sdfg::io::dace {

namespace {

// "2.0.0a4" -> {2, 0, 0, pre-release rank}; releases rank above their alphas. Missing or unreadable: 1.0.
struct Version {
  int major = 1, minor = 0, patch = 0, alpha = 1000;
  auto operator<=>(const Version&) const = default;
};

Version parse_version(std::string_view text) {
  Version v;
  v.alpha = 1000;
  int* parts[] = {&v.major, &v.minor, &v.patch};
  std::size_t at = 0;
  auto number = [&](int& out) {
    int n = 0;
    bool any = false;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && n < 100000) {
      n = n * 10 + (text[at++] - '0');
      any = true;
    }
    if (any) out = n;
    return any;
  };
  for (int i = 0; i < 3; ++i) {
    if (!number(*parts[i])) break;
    if (i < 2 && at < text.size() && text[at] == '.')
      ++at;
    else
      break;
  }
  if (at < text.size() && (text[at] == 'a' || text[at] == 'b' || text[at] == 'r')) {
    const int base = text[at] == 'a' ? 0 : text[at] == 'b' ? 100 : 200;
    while (at < text.size() && (text[at] < '0' || text[at] > '9')) ++at;
    int n = 0;
    number(n);
    v.alpha = base + n;
  }
  return v;
}

constexpr EnumName<Schedule> kSchedules[] = {
    {"Default", Schedule::kDefault},
    {"Sequential", Schedule::kSequential},
    {"MPI", Schedule::kMpi},
    {"CPU_Multicore", Schedule::kCpuMulticore},
    {"CPU_Persistent", Schedule::kCpuPersistent},
    {"SVE_Map", Schedule::kSveMap},
    {"GPU_Device", Schedule::kGpuDevice},
    {"GPU_ThreadBlock", Schedule::kGpuThreadBlock},
    {"GPU_ThreadBlock_Dynamic", Schedule::kGpuThreadBlockDynamic},
    {"GPU_Persistent", Schedule::kGpuPersistent},
    {"GPU_Warp", Schedule::kGpuWarp},
    {"GPU_Default", Schedule::kGpuDevice},
    {"Unrolled", Schedule::kSequential},
};
constexpr EnumName<ir::OmpSchedule> kOmpSchedules[] = {
    {"Default", ir::OmpSchedule::kDefault},
    {"Static", ir::OmpSchedule::kStatic},
    {"Dynamic", ir::OmpSchedule::kDynamic},
    {"Guided", ir::OmpSchedule::kGuided},
};

class Reader : public ContainerReader {
 public:
  using ContainerReader::ContainerReader;

  Sdfg file(const Json& json) {
    const Cursor root(json);
    const Json* version = root.find("dace_version");
    const Version v =
        version != nullptr && version->is_string() ? parse_version(version->get<std::string>()) : Version{};
    typed_ = v >= Version{2, 0, 0, 4};
    if (const Json* files = root.find("source_files")) {
      const Cursor c(root, "source_files", *files);
      for (std::size_t i = 0; i < c.array().size(); ++i) source_files_.push_back(Cursor(c, i, c.array()[i]).text());
    }
    return sdfg(root);
  }

 private:
  Memlet memlet(const Cursor& at) {
    Memlet m;
    const Cursor a(at, "attributes", at.need("attributes"));
    m.data = optional_name(a, "data");
    m.subset = optional_subset(a, "subset");
    m.other_subset = optional_subset(a, "other_subset");
    if (a.find("is_data_src") != nullptr) m.is_data_src = flag(a, "is_data_src", true);
    m.dynamic = flag(a, "dynamic", false);
    m.wcr_nonatomic = flag(a, "wcr_nonatomic", false);
    m.allow_oob = flag(a, "allow_oob", false);
    if (const Json* v = a.find("wcr")) {
      const Cursor c(a, "wcr", *v);
      m.wcr = v->is_object() ? code(c).text : c.text();
    }
    m.location = location(a);
    return m;
  }

  Connectors connectors(const Cursor& attributes, std::string_view key) {
    Connectors out;
    if (const Json* v = attributes.find(key)) {
      const Cursor c(attributes, key, *v);
      if (v->is_object()) {
        entries(attributes, key,
                [&](const std::string& connector, const Cursor& t) { out.push_back({connector, type(t)}); });
      } else {  // very old files: a list of names
        for (std::size_t i = 0; i < c.array().size(); ++i) {
          const Cursor entry(c, i, c.array()[i]);
          const std::string connector = name(entry);
          if (std::any_of(out.begin(), out.end(), [&](const Connector& k) { return k.name == connector; }))
            entry.fail("a second connector '" + connector + "'");
          out.push_back({connector, Type()});
        }
      }
    }
    return out;
  }

  MapInfo map_info(const Cursor& a) {
    MapInfo m;
    m.params = texts(a, "params");
    for (std::size_t i = 0; i < m.params.size(); ++i) {
      if (std::find(m.params.begin() + static_cast<std::ptrdiff_t>(i) + 1, m.params.end(), m.params[i]) !=
          m.params.end())
        a.fail("two parameters '" + m.params[i] + "'");
    }
    m.range = subset(Cursor(a, "range", a.need("range")));
    m.schedule = enumeration(a, "schedule", kSchedules, Schedule::kDefault, "schedule");
    m.unroll = flag(a, "unroll", false);
    m.collapse = small_integer(a, "collapse", 1);
    m.omp_num_threads = small_integer(a, "omp_num_threads", 0);
    m.omp_schedule = enumeration(a, "omp_schedule", kOmpSchedules, ir::OmpSchedule::kDefault, "OpenMP schedule");
    m.omp_chunk_size = integer(a, "omp_chunk_size", 0);
    if (const Json* v = a.find("gpu_block_size")) {
      const Cursor c(a, "gpu_block_size", *v);
      for (std::size_t i = 0; i < c.array().size(); ++i)
        m.gpu_block_size.push_back(Cursor(c, i, c.array()[i]).integer());
    }
    if (const std::string s = optional_name(a, "gpu_launch_bounds"); !s.empty()) m.gpu_launch_bounds = s;
    m.gpu_maxnreg = small_integer(a, "gpu_maxnreg", 0);
    return m;
  }

  int partner(const Cursor& at, std::string_view key) {
    if (const Json* v = at.find(key)) return Cursor(at, key, *v).small_integer();
    if (const Json* v = at.find(std::string(key) + "s");
        v != nullptr && v->is_array() && !v->empty()) {  // older files: a list
      const std::string list = std::string(key) + "s";
      const Cursor c(at, list, *v);
      return Cursor(c, std::size_t{0}, (*v)[0]).small_integer();
    }
    return -1;
  }

  Node node(const Cursor& at, int index) {
    count(at);
    Node n;
    n.index = index;
    n.path = at.path();
    const std::string& kind = Cursor(at, "type", at.need("type")).text();
    const Cursor a(at, "attributes", at.need("attributes"));
    n.label = optional_name(a, "label");
    n.inputs = connectors(a, "in_connectors");
    n.outputs = connectors(a, "out_connectors");
    n.location = location(a);
    if (kind == "AccessNode") {
      n.kind = AccessNode{name(Cursor(a, "data", a.need("data"))), flag(a, "setzero", false)};
    } else if (kind == "Tasklet" || kind == "RTLTasklet") {
      TaskletNode t;
      t.code = code(Cursor(a, "code", a.need("code")));
      if (auto c = optional_code(a, "code_global")) t.code_global = *c;
      if (auto c = optional_code(a, "code_init")) t.code_init = *c;
      if (auto c = optional_code(a, "code_exit")) t.code_exit = *c;
      t.state_fields = texts(a, "state_fields");
      t.environments = texts(a, "environments");
      t.ignored_symbols = texts(a, "ignored_symbols");
      if (a.find("side_effects") != nullptr) t.side_effects = flag(a, "side_effects", false);
      n.kind = std::move(t);
    } else if (kind == "MapEntry" || kind == "PipelineEntry") {
      n.kind = MapEntry{map_info(a), partner(at, "scope_exit")};
    } else if (kind == "MapExit" || kind == "PipelineExit") {
      n.kind = MapExit{partner(at, "scope_entry")};
    } else if (kind == "ConsumeEntry") {
      ConsumeInfo c;
      c.pe_index = optional_name(a, "pe_index");
      if (const Json* v = a.find("num_pes")) c.num_pes = expression(Cursor(a, "num_pes", *v));
      c.condition = optional_code(a, "condition");
      c.schedule = enumeration(a, "schedule", kSchedules, Schedule::kDefault, "schedule");
      c.chunk_size = integer(a, "chunksize", 1);
      n.kind = ConsumeEntry{std::move(c), partner(at, "scope_exit")};
    } else if (kind == "ConsumeExit") {
      n.kind = ConsumeExit{partner(at, "scope_entry")};
    } else if (kind == "NestedSDFG") {
      NestedSdfg nested;
      if (const Json* v = a.find("sdfg")) {
        const Cursor c(a, "sdfg", *v);
        if (v->is_string()) {  // very old files: JSON in a string
          const Json parsed = parse_text(c.text(), limits_, c.path());
          nested.sdfg = std::make_shared<Sdfg>(sdfg(Cursor(c, "(text)", parsed)));
        } else {
          nested.sdfg = std::make_shared<Sdfg>(sdfg(c));
        }
      } else if (const std::string external = optional_name(a, "ext_sdfg_path"); !external.empty()) {
        at.fail("the nested graph lies in another file, '" + external + "', which is not loaded");
      } else {
        at.fail("a nested graph without a graph");
      }
      entries(a, "symbol_mapping", [&](const std::string& symbol, const Cursor& value) {
        nested.symbol_mapping.emplace_back(symbol, value.json().is_string() ? value.text() : value.json().dump());
        nested.mapped.push_back(expression(value));
      });
      nested.no_inline = flag(a, "no_inline", false);
      n.kind = std::move(nested);
    } else if (kind == "LibraryNode" || at.has("classpath")) {
      LibraryNode l;
      l.class_path = Cursor(at, "classpath", at.need("classpath")).text();
      l.implementation = optional_name(a, "implementation");
      l.schedule = enumeration(a, "schedule", kSchedules, Schedule::kDefault, "schedule");
      l.properties = a.json().dump();
      if (n.label.empty()) n.label = optional_name(a, "name");
      n.kind = std::move(l);
    } else {
      at.fail("unknown kind of node '" + kind.substr(0, 80) + "'");
    }
    return n;
  }

  State state(const Cursor& at) {
    State s;
    const Cursor nodes(at, "nodes", at.need("nodes"));
    const int n = static_cast<int>(nodes.array().size());
    s.nodes.reserve(nodes.array().size());
    for (int i = 0; i < n; ++i)
      s.nodes.push_back(
          node(Cursor(nodes, static_cast<std::size_t>(i), nodes.array()[static_cast<std::size_t>(i)]), i));
    const Cursor edges(at, "edges", at.need("edges"));
    s.edges.reserve(edges.array().size());
    for (std::size_t i = 0; i < edges.array().size(); ++i) {
      const Cursor e(edges, i, edges.array()[i]);
      count(e);
      Edge edge;
      edge.path = e.path();
      edge.src = endpoint(e, "src", n);
      edge.dst = endpoint(e, "dst", n);
      edge.src_connector = optional_name(e, "src_connector");
      edge.dst_connector = optional_name(e, "dst_connector");
      const Cursor a(e, "attributes", e.need("attributes"));
      if (const Json* data = a.find("data")) edge.memlet = memlet(Cursor(a, "data", *data));
      s.edges.push_back(std::move(edge));
    }
    return s;
  }

  int endpoint(const Cursor& at, std::string_view key, int count_of) const {
    const Cursor c(at, key, at.need(key));
    const std::int64_t v = c.integer();
    if (v < 0 || v >= count_of)
      c.fail("there is no node " + std::to_string(v) + "; the list has " + std::to_string(count_of));
    return static_cast<int>(v);
  }

  Region region(const Cursor& at) {
    const DepthGuard guard(*this, at);
    Region r;
    const Cursor nodes(at, "nodes", at.need("nodes"));
    for (std::size_t i = 0; i < nodes.array().size(); ++i)
      r.blocks.push_back(block(Cursor(nodes, i, nodes.array()[i])));
    const int n = static_cast<int>(r.blocks.size());
    const Cursor edges(at, "edges", at.need("edges"));
    for (std::size_t i = 0; i < edges.array().size(); ++i) {
      const Cursor e(edges, i, edges.array()[i]);
      count(e);
      InterstateEdge edge;
      edge.path = e.path();
      edge.src = endpoint(e, "src", n);
      edge.dst = endpoint(e, "dst", n);
      const Cursor outer(e, "attributes", e.need("attributes"));
      if (const Json* data = outer.find("data")) {
        const Cursor d(outer, "data", *data);
        if (const Json* attributes = d.find("attributes")) {
          const Cursor a(d, "attributes", *attributes);
          if (auto c = optional_code(a, "condition")) edge.condition = *c;
          entries(a, "assignments", [&](const std::string& symbol, const Cursor& value) {
            if (value.json().is_structured()) value.fail("expected an expression");
            edge.assignments.emplace_back(symbol, value.json().is_string() ? value.text() : value.json().dump());
          });
        }
      }
      r.edges.push_back(std::move(edge));
    }
    if (const Json* start = at.find("start_block")) {
      const Cursor c(at, "start_block", *start);
      const std::int64_t v = c.integer();
      if (v < -1 || (v >= n && v != 0))
        c.fail("there is no block " + std::to_string(v) + "; the region has " + std::to_string(n));
      if (v >= 0 && v < n) r.start = static_cast<int>(v);
    }
    return r;
  }

  Block block(const Cursor& at) {
    count(at);
    Block b;
    b.path = at.path();
    b.label = optional_name(at, "label");
    const std::string& kind = Cursor(at, "type", at.need("type")).text();
    if (kind == "SDFGState") {
      b.kind = state(at);
    } else if (kind == "ControlFlowRegion" || kind == "NamedRegion" || kind == "FunctionCallRegion" ||
               kind == "UnstructuredControlFlow") {
      b.kind = region(at);
    } else if (kind == "LoopRegion") {
      const Cursor a(at, "attributes", at.need("attributes"));
      LoopBlock l;
      l.variable = optional_name(a, "loop_variable");
      l.init = optional_code(a, "init_statement");
      l.update = optional_code(a, "update_statement");
      if (auto c = optional_code(a, "loop_condition")) l.condition = *c;
      l.inverted = flag(a, "inverted", false);
      l.update_before_condition = flag(a, "update_before_condition", true);
      l.unroll = flag(a, "unroll", false);
      l.unroll_factor = small_integer(a, "unroll_factor", 0);
      l.body = region(at);
      b.kind = std::move(l);
    } else if (kind == "ConditionalBlock") {
      const DepthGuard guard(*this, at);
      ConditionalBlock c;
      const Cursor branches(at, "branches", at.need("branches"));
      for (std::size_t i = 0; i < branches.array().size(); ++i) {
        const Cursor pair(branches, i, branches.array()[i]);
        if (pair.array().size() != 2) pair.fail("expected [condition, region]");
        ConditionalBlock::Branch branch;
        const Cursor condition(pair, std::size_t{0}, pair.array()[0]);
        if (!condition.is_null()) branch.condition = code(condition);
        branch.body = region(Cursor(pair, std::size_t{1}, pair.array()[1]));
        c.branches.push_back(std::move(branch));
      }
      b.kind = std::move(c);
    } else if (kind == "BreakBlock") {
      b.kind = BreakBlock{};
    } else if (kind == "ContinueBlock") {
      b.kind = ContinueBlock{};
    } else if (kind == "ReturnBlock") {
      b.kind = ReturnBlock{};
    } else {
      at.fail("unknown kind of block '" + kind.substr(0, 80) + "'");
    }
    return b;
  }

  void code_table(const Cursor& attributes, std::string_view key, std::string& host, std::string* device) {
    entries(attributes, key, [&](const std::string& place, const Cursor& c) {
      const CodeBlock block = code(c);
      if (block.text.empty() || (place == "cuda" && device == nullptr)) return;
      std::string& to = place == "cuda" ? *device : host;
      to += block.text;
      if (to.back() != '\n') to += '\n';
    });
  }

  Sdfg sdfg(const Cursor& at) {
    const DepthGuard guard(*this, at);
    Sdfg g;
    g.path = at.path();
    auto* outer_types = occurrence_types_;
    occurrence_types_ = &g.occurrence_types;
    const auto outer_cache = std::exchange(expressions_, {});  // types on occurrences belong to the graph they stand in
    const std::string& kind = Cursor(at, "type", at.need("type")).text();
    if (kind != "SDFG") at.fail("expected an object of type SDFG, found '" + kind.substr(0, 80) + "'");
    const Cursor a(at, "attributes", at.need("attributes"));
    g.name = name(Cursor(a, "name", a.need("name")));
    g.arg_names = texts(a, "arg_names");
    const char* tables[] = {"_arrays", "_pgrids", "_subarrays", "_rdistrarrays"};
    for (const char* table : tables) {
      entries(a, table, [&](const std::string& container, const Cursor& c) {
        if (c.is_null() || (c.json().is_string() && container == "type")) return;
        if (g.find(container) != nullptr) c.fail("a second container '" + container + "'");
        g.add(descriptor(c, container));
      });
    }
    entries(a, "symbols", [&](const std::string& symbol, const Cursor& c) {
      if (g.find(symbol) != nullptr) c.fail("'" + symbol + "' is both a container and a symbol");
      g.symbols.emplace_back(symbol, type(c));
    });
    entries(a, "constants_prop", [&](const std::string& its_name, const Cursor& c) {
      g.constants.emplace_back(its_name, constant(c, its_name));
    });
    code_table(a, "global_code", g.global_code, &g.cuda_code);
    code_table(a, "init_code", g.init_code, nullptr);
    code_table(a, "exit_code", g.exit_code, nullptr);
    g.body = region(at);
    occurrence_types_ = outer_types;
    expressions_ = outer_cache;
    return g;
  }
};

}  // namespace

Sdfg read_json(std::string_view text, const ReadLimits& limits, std::vector<std::string>& warnings) {
  if (text.size() > limits.max_bytes) {
    throw Error(ErrorClass::kLimit, "the file has " + std::to_string(text.size()) + " bytes; at most " +
                                        std::to_string(limits.max_bytes) + " are read");
  }
  return Reader(limits, warnings).file(parse_text(text, limits, "$"));
}

}  // namespace sdfg::io::dace
