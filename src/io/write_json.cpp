// Prints DaCe's model as JSON: keys sorted, edges sorted, values that are their class's default left out.
#include <algorithm>
#include <cmath>
#include <functional>

#include "io/json_reader.hpp"
#include "io/writer.hpp"
#include "symbolic/print.hpp"
#include "tasklet/value.hpp"

namespace sdfg::io {

namespace dace {
namespace {

using symbolic::Expr;

const char* name_of(Schedule s) {
  switch (s) {
    case Schedule::kDefault: return "Default";
    case Schedule::kSequential: return "Sequential";
    case Schedule::kMpi: return "MPI";
    case Schedule::kCpuMulticore: return "CPU_Multicore";
    case Schedule::kCpuPersistent: return "CPU_Persistent";
    case Schedule::kSveMap: return "SVE_Map";
    case Schedule::kGpuDevice: return "GPU_Device";
    case Schedule::kGpuThreadBlock: return "GPU_ThreadBlock";
    case Schedule::kGpuThreadBlockDynamic: return "GPU_ThreadBlock_Dynamic";
    case Schedule::kGpuPersistent: return "GPU_Persistent";
    case Schedule::kGpuWarp: return "GPU_Warp";
  }
  return "Default";
}
const char* name_of(ir::Storage s) {
  switch (s) {
    case ir::Storage::kDefault: return "Default";
    case ir::Storage::kRegister: return "Register";
    case ir::Storage::kHeap: return "CPU_Heap";
    case ir::Storage::kPinned: return "CPU_Pinned";
    case ir::Storage::kThreadLocal: return "CPU_ThreadLocal";
    case ir::Storage::kGpuGlobal: return "GPU_Global";
    case ir::Storage::kGpuShared: return "GPU_Shared";
  }
  return "Default";
}
const char* name_of(Lifetime l) {
  switch (l) {
    case Lifetime::kScope: return "Scope";
    case Lifetime::kState: return "State";
    case Lifetime::kSdfg: return "SDFG";
    case Lifetime::kGlobal: return "Global";
    case Lifetime::kPersistent: return "Persistent";
    case Lifetime::kExternal: return "External";
  }
  return "Scope";
}
const char* name_of(ir::OmpSchedule s) {
  switch (s) {
    case ir::OmpSchedule::kDefault: return "Default";
    case ir::OmpSchedule::kStatic: return "Static";
    case ir::OmpSchedule::kDynamic: return "Dynamic";
    case ir::OmpSchedule::kGuided: return "Guided";
  }
  return "Default";
}
const char* name_of(const Descriptor& d) {
  switch (d.kind) {
    case DescriptorClass::kScalar: return "Scalar";
    case DescriptorClass::kArray: return "Array";
    case DescriptorClass::kStream: return "Stream";
    case DescriptorClass::kStructure: return "Structure";
    case DescriptorClass::kContainerArray: return "ContainerArray";
    case DescriptorClass::kArrayView: return "ArrayView";
    case DescriptorClass::kStructureView: return "StructureView";
    case DescriptorClass::kContainerView: return "ContainerView";
    case DescriptorClass::kArrayReference: return "ArrayReference";
    case DescriptorClass::kStructureReference: return "StructureReference";
    case DescriptorClass::kContainerArrayReference: return "ContainerArrayReference";
    case DescriptorClass::kOther: return "Array";
  }
  return "Array";
}

class JsonWriter {
 public:
  explicit JsonWriter(SdfgDialect dialect) : v1_(dialect == SdfgDialect::kV1) {}

  Json file(const Sdfg& g) {
    Json out = sdfg(g);
    out["cfg_list_id"] = 0;
    out["dace_version"] = v1_ ? "1.0.2" : "2.0.0a6";
    if (!v1_ && !files_.empty()) out["source_files"] = files_;
    return out;
  }

 private:
  // ---- small values

  Json expr(const Expr& e) const {
    if (v1_) return symbolic::to_dace_plain(e);
    return symbolic::to_dace(e, [this](const std::string& name) -> std::string {
      const auto it = types_.find(name);
      if (it == types_.end() || !it->second.is_scalar() || it->second.scalar() == ScalarType::kInt32) return {};
      return "dtype=dace." + std::string(to_string(it->second.scalar()));
    });
  }
  Json exprs(const std::vector<Expr>& list) const {
    Json out = Json::array();
    for (const Expr& e : list) out.push_back(expr(e));
    return out;
  }
  Json subset(const Subset& s) const {
    Json ranges = Json::array();
    for (const auto& r : s.ranges())
      ranges.push_back(
          {{"start", expr(r.begin)}, {"end", expr(r.end)}, {"step", expr(r.step)}, {"tile", expr(r.tile)}});
    return {{"type", "Range"}, {"ranges", std::move(ranges)}};
  }
  static Json code(const CodeBlock& c) {
    return {{"string_data", c.text}, {"language", c.language == Language::kPython ? "Python" : "CPP"}};
  }
  void location(Json& attributes, const SourceLocation& l) {
    if (!l.known()) return;
    Json d{{"type", "DebugInfo"}, {"start_line", l.line}};
    if (l.column != 0) d["start_column"] = l.column;
    if (v1_) {
      d["end_line"] = l.line;
      d["start_column"] = l.column;
      d["end_column"] = l.column;
      d["filename"] = l.file;
    } else {
      const auto it = std::find(files_.begin(), files_.end(), l.file);
      d["file_index"] = it - files_.begin();
      if (it == files_.end()) files_.push_back(l.file);
    }
    attributes["debuginfo"] = std::move(d);
  }

  Json type(const Type& t) const {
    switch (t.kind()) {
      case Type::Kind::kVoid: return nullptr;
      case Type::Kind::kScalar: return std::string(to_string(t.scalar()));
      case Type::Kind::kVector:
        return {
            {"type", "vector"}, {"dtype", std::string(to_string(t.scalar()))}, {"elements", std::to_string(t.lanes())}};
      case Type::Kind::kPointer: return {{"type", "pointer"}, {"dtype", type(t.pointee())}};
      case Type::Kind::kStruct: {
        Json data = Json::array();
        for (const StructField& f : t.structure().fields) data.push_back({f.name, type(f.type)});
        return {{"type", "struct"},
                {"name", t.structure().name},
                {"data", std::move(data)},
                {"length", Json::array()},
                {"bytes", t.size()}};
      }
      case Type::Kind::kOpaque: return {{"type", "opaque"}, {"ctype", t.opaque_name()}};
      case Type::Kind::kCallback: {
        Json arguments = Json::array(), returns = Json::array();
        for (const Type& a : t.callback().arguments) arguments.push_back(type(a));
        for (const Type& r : t.callback().returns) returns.push_back(type(r));
        return {{"type", "callback"}, {"arguments", std::move(arguments)}, {"returntypes", std::move(returns)}};
      }
    }
    return nullptr;
  }

  // ---- descriptors

  // The C struct behind a structure: members as fields, arrays as pointers.
  static Type struct_type(const Descriptor& d) {
    std::vector<StructField> fields;
    for (const Descriptor& m : d.members) {
      Type t = m.type;
      if (m.kind == DescriptorClass::kStructure)
        t = Type::pointer(struct_type(m));
      else if (m.kind != DescriptorClass::kScalar)
        t = Type::pointer(t);
      fields.push_back({m.name, t});
    }
    return Type::structure(d.structure_name, std::move(fields));
  }

  Json descriptor(const Descriptor& d) {
    Json a = Json::object();
    const bool structure = d.kind == DescriptorClass::kStructure || d.kind == DescriptorClass::kStructureView ||
                           d.kind == DescriptorClass::kStructureReference;
    if (structure) {
      a["dtype"] = type(Type::pointer(struct_type(d)));
      a["name"] = d.structure_name;
      Json members = Json::array();
      for (const Descriptor& m : d.members) members.push_back({m.name, descriptor(m)});
      a["members"] = std::move(members);
    } else {
      a["dtype"] = type(d.type);
    }
    a["shape"] = exprs(d.shape);
    if (d.kind == DescriptorClass::kContainerArray && !d.members.empty()) a["stype"] = descriptor(d.members.front());
    const bool array = !structure && d.kind != DescriptorClass::kScalar && d.kind != DescriptorClass::kStream;
    if (array) {
      a["strides"] = exprs(d.strides);
      if (d.total_size) a["total_size"] = expr(*d.total_size);
      a["offset"] = exprs(d.offset);
      if (d.start_offset != 0) a["start_offset"] = d.start_offset;
      if (d.alignment != 0) a["alignment"] = d.alignment;
      if (d.may_alias) a["may_alias"] = true;
      if (d.transient) a["optional"] = false;
    } else if (d.kind == DescriptorClass::kStream) {
      a["offset"] = exprs(d.offset);
      if (!d.buffer_size.is_zero()) a["buffer_size"] = expr(d.buffer_size);
    }
    if (d.transient) a["transient"] = true;
    if (d.storage != ir::Storage::kDefault) a["storage"] = name_of(d.storage);
    if (d.lifetime != Lifetime::kScope) a["lifetime"] = name_of(d.lifetime);
    location(a, d.location);
    return {{"type", name_of(d)}, {"attributes", std::move(a)}};
  }

  static Json value(const tasklet::Value& v) {
    if (is_complex(v.type())) {
      const auto number = [](double x) {
        return std::isnan(x)   ? std::string("nan")
               : std::isinf(x) ? std::string(x < 0 ? "-inf" : "inf")
                               : Json(x).dump();
      };
      const std::string imaginary = number(v.as_complex().imag());
      return "(" + number(v.as_complex().real()) + (imaginary.front() == '-' ? "" : "+") + imaginary + "j)";
    }
    if (is_floating(v.type())) {
      const double d = v.as_double();
      if (std::isnan(d)) return "nan";
      if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
      return d;
    }
    if (v.type() == ScalarType::kBool) return v.as_bool();
    if (v.type() == ScalarType::kUInt64) return static_cast<std::uint64_t>(v.as_int());
    return v.as_int();
  }

  Json constant(const Constant& c) {
    Json d = descriptor(c.descriptor);
    const ScalarType t = c.descriptor.type.scalar();
    const std::size_t size = static_cast<std::size_t>(size_of(t));
    const std::size_t count = c.bytes.size() / size;
    std::size_t next = 0;
    const auto load = [&](std::size_t i) { return value(tasklet::Value::load(c.bytes.data() + i * size, t)); };
    if (c.descriptor.kind == DescriptorClass::kScalar) return {std::move(d), load(0)};
    std::function<Json(std::size_t)> level = [&](std::size_t dim) -> Json {
      if (dim == c.descriptor.shape.size()) return load(next++);
      Json list = Json::array();
      const std::int64_t n = c.descriptor.shape[dim].is_integer() ? c.descriptor.shape[dim].value() : 0;
      for (std::int64_t i = 0; i < n && next < count; ++i) list.push_back(level(dim + 1));
      return list;
    };
    return {std::move(d), {{"type", "ndarray"}, {"data", level(0)}, {"dtype", std::string(to_string(t))}}};
  }

  // ---- dataflow

  Json memlet(const Memlet& m) {
    Json a = Json::object();
    if (!m.data.empty()) {
      a["data"] = m.data;
      if (m.subset) {
        a["subset"] = subset(*m.subset);
        a["volume"] = expr(m.subset->num_elements());
      }
      if (m.other_subset) a["other_subset"] = subset(*m.other_subset);
      if (m.is_data_src) a["is_data_src"] = *m.is_data_src;
      if (m.dynamic) a["dynamic"] = true;
      if (!m.wcr.empty()) a["wcr"] = m.wcr;
      if (m.wcr_nonatomic) a["wcr_nonatomic"] = true;
      if (m.allow_oob) a["allow_oob"] = true;
    }
    location(a, m.location);
    return {{"type", "Memlet"}, {"attributes", std::move(a)}};
  }

  Json connectors(const Connectors& list) const {
    Json out = Json::object();
    for (const Connector& c : list) out[c.name] = type(c.type);
    return out;
  }

  Json node(const Node& n, const std::vector<int>& entry_of, const std::vector<int>& exit_of) {
    Json a = Json::object();
    Json out{{"id", n.index}, {"label", n.label}};
    const auto i = static_cast<std::size_t>(n.index);
    const auto id = [](int v) { return v < 0 ? Json(nullptr) : Json(std::to_string(v)); };
    out["scope_entry"] = id(entry_of[i]);
    out["scope_exit"] = id(exit_of[i]);
    if (const auto* access = std::get_if<AccessNode>(&n.kind)) {
      out["type"] = "AccessNode";
      out["label"] = access->data;
      a["data"] = access->data;
      if (access->setzero) a["setzero"] = true;
    } else if (const auto* t = std::get_if<TaskletNode>(&n.kind)) {
      out["type"] = "Tasklet";
      a["label"] = n.label;
      a["code"] = code(t->code);
      if (!t->code_global.text.empty()) a["code_global"] = code(t->code_global);
      if (t->side_effects) a["side_effects"] = *t->side_effects;
    } else if (const auto* m = std::get_if<MapEntry>(&n.kind)) {
      out["type"] = "MapEntry";
      map_info(a, m->map, n.label);
      out["label"] = n.label;
    } else if (std::holds_alternative<MapExit>(n.kind)) {
      out["type"] = "MapExit";
    } else if (const auto* c = std::get_if<ConsumeEntry>(&n.kind)) {
      out["type"] = "ConsumeEntry";
      a["label"] = n.label;
      a["pe_index"] = c->consume.pe_index;
      a["num_pes"] = expr(c->consume.num_pes);
      if (c->consume.condition) a["condition"] = code(*c->consume.condition);
      if (c->consume.chunk_size != 1) a["chunksize"] = c->consume.chunk_size;
      if (c->consume.schedule != Schedule::kDefault) a["schedule"] = name_of(c->consume.schedule);
    } else if (std::holds_alternative<ConsumeExit>(n.kind)) {
      out["type"] = "ConsumeExit";
    } else if (const auto* g = std::get_if<NestedSdfg>(&n.kind)) {
      out["type"] = "NestedSDFG";
      a["label"] = n.label;
      Json mapping = Json::object();
      for (std::size_t k = 0; k < g->symbol_mapping.size(); ++k)
        mapping[g->symbol_mapping[k].first] = expr(g->mapped[k]);
      a["symbol_mapping"] = std::move(mapping);
      a["sdfg"] = sdfg(*g->sdfg);
    } else if (const auto* l = std::get_if<LibraryNode>(&n.kind)) {
      out["type"] = "LibraryNode";
      out["classpath"] = l->class_path;
      a = Json::parse(l->properties);
      if (!a.contains("name")) a["name"] = n.label;
      if (!a.contains("label")) a["label"] = n.label;
      if (!l->implementation.empty()) a["implementation"] = l->implementation;
    }
    // A node of an unknown class brings its connectors along.
    if (!n.inputs.empty() && !a.contains("in_connectors")) a["in_connectors"] = connectors(n.inputs);
    if (!n.outputs.empty() && !a.contains("out_connectors")) a["out_connectors"] = connectors(n.outputs);
    if (n.location.known() || !std::holds_alternative<LibraryNode>(n.kind)) location(a, n.location);
    out["attributes"] = std::move(a);
    return out;
  }

  void map_info(Json& a, const MapInfo& m, const std::string& label) const {
    a["label"] = label;
    a["params"] = m.params;
    a["range"] = subset(m.range);
    if (m.schedule != Schedule::kDefault) a["schedule"] = name_of(m.schedule);
    if (m.unroll) a["unroll"] = true;
    if (m.collapse != 1) a["collapse"] = m.collapse;
    if (m.omp_num_threads != 0) a["omp_num_threads"] = m.omp_num_threads;
    if (m.omp_schedule != ir::OmpSchedule::kDefault) a["omp_schedule"] = name_of(m.omp_schedule);
    if (m.omp_chunk_size != 0) a["omp_chunk_size"] = m.omp_chunk_size;
    if (!m.gpu_block_size.empty()) a["gpu_block_size"] = m.gpu_block_size;
    if (m.gpu_launch_bounds != "0") a["gpu_launch_bounds"] = m.gpu_launch_bounds;
    if (m.gpu_maxnreg != 0) a["gpu_maxnreg"] = m.gpu_maxnreg;
  }

  // The entry and exit of the scope that each node stands in; scope nodes name each other.
  static void scopes(const State& s, std::vector<int>& entry_of, std::vector<int>& exit_of) {
    const std::size_t n = s.nodes.size();
    entry_of.assign(n, -1);
    exit_of.assign(n, -1);
    const auto partner = [&](int entry) {
      const Node& e = s.nodes[static_cast<std::size_t>(entry)];
      const auto* m = std::get_if<MapEntry>(&e.kind);
      return m != nullptr ? m->exit : std::get<ConsumeEntry>(e.kind).exit;
    };
    const auto is_entry = [&](int v) {
      const auto& k = s.nodes[static_cast<std::size_t>(v)].kind;
      return std::holds_alternative<MapEntry>(k) || std::holds_alternative<ConsumeEntry>(k);
    };
    // Along the edges: below an entry one is in its scope, behind an exit in the one around.
    std::vector<int> missing(n, 0), owner(n, -1), work;
    std::map<int, int> entry_of_exit;
    for (std::size_t v = 0; v < n; ++v) {
      if (is_entry(static_cast<int>(v))) entry_of_exit[partner(static_cast<int>(v))] = static_cast<int>(v);
    }
    for (const Edge& e : s.edges) ++missing[static_cast<std::size_t>(e.dst)];
    for (std::size_t v = 0; v < n; ++v) {
      if (missing[v] == 0) work.push_back(static_cast<int>(v));
    }
    while (!work.empty()) {
      const int v = work.back();
      work.pop_back();
      int inside = owner[static_cast<std::size_t>(v)];
      if (is_entry(v)) inside = v;
      if (const auto it = entry_of_exit.find(v); it != entry_of_exit.end())
        inside = owner[static_cast<std::size_t>(it->second)];
      for (const Edge& e : s.edges) {
        if (e.src != v) continue;
        owner[static_cast<std::size_t>(e.dst)] = inside;
        if (--missing[static_cast<std::size_t>(e.dst)] == 0) work.push_back(e.dst);
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      if (owner[v] >= 0) {
        entry_of[v] = owner[v];
        exit_of[v] = partner(owner[v]);
      }
      if (is_entry(static_cast<int>(v))) {
        exit_of[v] = partner(static_cast<int>(v));
      } else if (const auto it = entry_of_exit.find(static_cast<int>(v)); it != entry_of_exit.end()) {
        entry_of[v] = it->second;
        exit_of[v] = static_cast<int>(v);
      }
    }
  }

  Json state(const State& s) {
    std::vector<int> entry_of, exit_of;
    scopes(s, entry_of, exit_of);
    Json nodes = Json::array(), edges = Json::array(), dict = Json::object();
    std::map<int, std::vector<int>> members;
    members[-1] = {};
    for (const Node& n : s.nodes) {
      nodes.push_back(node(n, entry_of, exit_of));
      const bool entry = std::holds_alternative<MapEntry>(n.kind) || std::holds_alternative<ConsumeEntry>(n.kind);
      members[entry_of[static_cast<std::size_t>(n.index)]].push_back(n.index);
      if (entry) members[n.index];
    }
    for (const auto& [entry, list] : members) dict[std::to_string(entry)] = list;
    std::vector<const Edge*> sorted;
    for (const Edge& e : s.edges) sorted.push_back(&e);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Edge* a, const Edge* b) {
      return std::tie(a->src_connector, a->dst_connector) < std::tie(b->src_connector, b->dst_connector);
    });
    const auto connector = [](const std::string& c) { return c.empty() ? Json(nullptr) : Json(c); };
    for (const Edge* e : sorted) {
      edges.push_back({{"type", "MultiConnectorEdge"},
                       {"src", std::to_string(e->src)},
                       {"dst", std::to_string(e->dst)},
                       {"src_connector", connector(e->src_connector)},
                       {"dst_connector", connector(e->dst_connector)},
                       {"attributes", {{"data", memlet(e->memlet)}}}});
    }
    return {{"type", "SDFGState"},           {"collapsed", false},
            {"nodes", std::move(nodes)},     {"edges", std::move(edges)},
            {"scope_dict", std::move(dict)}, {"attributes", Json::object()}};
  }

  // ---- control flow

  void region(Json& out, const Region& r) {
    Json nodes = Json::array(), edges = Json::array();
    for (const Block& b : r.blocks) {
      Json block_json = block(b);
      block_json["id"] = nodes.size();
      nodes.push_back(std::move(block_json));
    }
    for (const InterstateEdge& e : r.edges) {
      Json a = Json::object();
      if (!e.condition.text.empty()) a["condition"] = code(e.condition);
      if (!e.assignments.empty()) {
        Json list = Json::object();
        for (const auto& [name, value] : e.assignments) list[name] = value;
        a["assignments"] = std::move(list);
      }
      Json edge{{"type", "Edge"},
                {"src", std::to_string(e.src)},
                {"dst", std::to_string(e.dst)},
                {"attributes", {{"data", {{"type", "InterstateEdge"}, {"attributes", std::move(a)}}}}}};
      if (v1_) edge["attributes"]["data"]["label"] = e.condition.text;
      edges.push_back(std::move(edge));
    }
    out["nodes"] = std::move(nodes);
    out["edges"] = std::move(edges);
    out["start_block"] = r.start ? Json(*r.start) : Json(nullptr);
    out["collapsed"] = false;
  }

  Json block(const Block& b) {
    Json out = Json::object();
    Json a = Json::object();
    if (const auto* s = std::get_if<State>(&b.kind)) {
      out = state(*s);
      out["label"] = b.label;
      return out;
    }
    out["collapsed"] = false;
    if (const auto* r = std::get_if<Region>(&b.kind)) {
      out["type"] = "ControlFlowRegion";
      out["cfg_list_id"] = region_++;
      region(out, *r);
    } else if (const auto* l = std::get_if<LoopBlock>(&b.kind)) {
      out["type"] = "LoopRegion";
      out["cfg_list_id"] = region_++;
      regions_ = true;
      if (!l->variable.empty()) a["loop_variable"] = l->variable;
      if (l->init) a["init_statement"] = code(*l->init);
      a["loop_condition"] = code(l->condition);
      if (l->update) a["update_statement"] = code(*l->update);
      if (l->inverted) a["inverted"] = true;
      if (!l->update_before_condition) a["update_before_condition"] = false;
      if (l->unroll) a["unroll"] = true;
      if (l->unroll_factor != 0) a["unroll_factor"] = l->unroll_factor;
      region(out, l->body);
    } else if (const auto* c = std::get_if<ConditionalBlock>(&b.kind)) {
      out["type"] = "ConditionalBlock";
      regions_ = true;
      if (!v1_) {
        out["cfg_list_id"] = region_++;
        out["start_block"] = nullptr;
      }
      Json branches = Json::array();
      for (const auto& branch : c->branches) {
        Json body{{"type", "ControlFlowRegion"},
                  {"label", b.label + "_" + std::to_string(branches.size())},
                  {"id", nullptr},
                  {"attributes", Json::object()}};
        body["cfg_list_id"] = region_++;
        region(body, branch.body);
        branches.push_back({branch.condition ? code(*branch.condition) : Json(nullptr), std::move(body)});
      }
      out["branches"] = std::move(branches);
    } else {
      regions_ = true;
      out["type"] = std::holds_alternative<BreakBlock>(b.kind)      ? "BreakBlock"
                    : std::holds_alternative<ContinueBlock>(b.kind) ? "ContinueBlock"
                                                                    : "ReturnBlock";
      out["nodes"] = Json::array();
      out["edges"] = Json::array();
    }
    out["label"] = b.label;
    out["attributes"] = std::move(a);
    return out;
  }

  Json sdfg(const Sdfg& g) {
    const auto outer_types = std::exchange(types_, {});
    const bool outer_regions = std::exchange(regions_, false);
    for (const auto& [name, t] : g.occurrence_types) types_.insert_or_assign(name, t);
    for (const auto& [name, t] : g.symbols) types_.insert_or_assign(name, t);
    Json a = Json::object();
    a["name"] = g.name;
    if (!g.arg_names.empty()) a["arg_names"] = g.arg_names;
    Json arrays = Json::object();
    for (const Descriptor& d : g.containers) arrays[d.name] = descriptor(d);
    a["_arrays"] = std::move(arrays);
    Json symbols = Json::object();
    for (const auto& [name, t] : g.symbols) symbols[name] = type(t);
    a["symbols"] = std::move(symbols);
    if (!g.constants.empty()) {
      Json constants = Json::object();
      for (const auto& [name, c] : g.constants) constants[name] = constant(c);
      a["constants_prop"] = std::move(constants);
    }
    const auto text = [](const std::string& t) { return Json{{"string_data", t}, {"language", "CPP"}}; };
    Json global{{"frame", text(g.global_code)}};
    if (!g.cuda_code.empty()) global["cuda"] = text(g.cuda_code);
    a["global_code"] = std::move(global);
    a["init_code"] = {{"frame", text(g.init_code)}};
    a["exit_code"] = {{"frame", text(g.exit_code)}};
    Json out{{"type", "SDFG"}};
    out["cfg_list_id"] = region_++;
    region(out, g.body);
    if (regions_) a[v1_ ? "using_experimental_blocks" : "using_explicit_control_flow"] = true;
    out["attributes"] = std::move(a);
    out["label"] = "";
    out["id"] = nullptr;
    types_ = outer_types;
    regions_ = outer_regions || regions_;
    return out;
  }

  bool v1_;
  std::map<std::string, Type> types_;
  std::vector<std::string> files_;
  int region_ = 0;
  bool regions_ = false;  // loop regions and the like occur in the graph being written
};

}  // namespace
}  // namespace dace

std::string write_json(const dace::Sdfg& sdfg, SdfgDialect dialect, bool readable) {
  return dace::JsonWriter(dialect).file(sdfg).dump(readable ? 2 : -1);
}

}  // namespace sdfg::io
