// Reads the JSON of a `.sdfg` file, both dialects, into the model of dace_model.hpp.
#include <algorithm>
#include <cstring>
#include <set>

#include "io/dace_model.hpp"
#include "io/json_reader.hpp"
#include "io/json_scan.hpp"
#include "symbolic/print.hpp"
#include "tasklet/value.hpp"

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

template <typename E>
struct EnumName {
  const char* name;
  E value;
};

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
constexpr EnumName<ir::Storage> kStorages[] = {
    {"Default", ir::Storage::kDefault},
    {"Register", ir::Storage::kRegister},
    {"CPU_Heap", ir::Storage::kHeap},
    {"CPU_Pinned", ir::Storage::kPinned},
    {"CPU_ThreadLocal", ir::Storage::kThreadLocal},
    {"GPU_Global", ir::Storage::kGpuGlobal},
    {"GPU_Shared", ir::Storage::kGpuShared},
};
constexpr EnumName<Lifetime> kLifetimes[] = {
    {"Scope", Lifetime::kScope},   {"State", Lifetime::kState},           {"SDFG", Lifetime::kSdfg},
    {"Global", Lifetime::kGlobal}, {"Persistent", Lifetime::kPersistent}, {"External", Lifetime::kExternal},
};

// JSON text whose nesting and number of values are bounded and whose keys are unique in each object.
Json parse_text(std::string_view text, const ReadLimits& limits, const std::string& path) {
  const JsonScan scan = scan_json(text);
  // Each level of the graph costs a handful of brackets; the parser itself is not recursive, but what reads its result
  // is.
  if (scan.depth > limits.max_depth * 16)
    throw Error(ErrorClass::kLimit, "brackets are nested " + std::to_string(scan.depth) + " deep (at " + path + ")");
  if (scan.values > limits.max_values) {
    throw Error(ErrorClass::kLimit, "more than " + std::to_string(limits.max_values) + " values (at " + path + ")");
  }
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {  // also numbers that no double can hold
    throw Error(ErrorClass::kGraph, std::string("this is not JSON: ") + e.what() + " (at " + path + ")");
  }
  if (!scan.duplicate.empty())
    throw Error(ErrorClass::kGraph, "a key is given twice (at " + path + scan.duplicate.substr(1) + ")");
  return json;
}

constexpr EnumName<ir::OmpSchedule> kOmpSchedules[] = {
    {"Default", ir::OmpSchedule::kDefault},
    {"Static", ir::OmpSchedule::kStatic},
    {"Dynamic", ir::OmpSchedule::kDynamic},
    {"Guided", ir::OmpSchedule::kGuided},
};

class Reader {
 public:
  Reader(const ReadLimits& limits, std::vector<std::string>& warnings) : limits_(limits), warnings_(warnings) {}

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
  // ---- small values
  // --------------------------------------------------------------------------------------------------

  std::string name(const Cursor& at) const {
    check_name(at.text(), at);
    return at.text();
  }
  void check_name(const std::string& text, const Cursor& at) const {
    if (text.size() > limits_.max_name)
      at.fail("a name of " + std::to_string(text.size()) + " characters; at most " + std::to_string(limits_.max_name) +
                  " are allowed",
              ErrorClass::kLimit);
    if (text.empty()) at.fail("an empty name");
  }
  std::string optional_name(const Cursor& at, std::string_view key) const {
    const Json* v = at.find(key);
    return v == nullptr || (v->is_string() && v->get_ref<const std::string&>().empty()) ? std::string()
                                                                                        : name(Cursor(at, key, *v));
  }
  // The members of a table by name.
  template <typename F>
  void entries(const Cursor& at, std::string_view key, const F& each) {
    const Json* v = at.find(key);
    if (v == nullptr) return;
    const Cursor c(at, key, *v);
    for (const auto& [its_name, value] : c.object()) {
      check_name(its_name, c);
      each(its_name, Cursor(c, its_name, value));
    }
  }
  bool flag(const Cursor& at, std::string_view key, bool fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).boolean();
  }
  std::int64_t integer(const Cursor& at, std::string_view key, std::int64_t fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).integer();
  }
  int small_integer(const Cursor& at, std::string_view key, int fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).small_integer();
  }

  template <typename E, std::size_t N>
  E enumeration(const Cursor& at, std::string_view key, const EnumName<E> (&names)[N], E fallback, const char* what) {
    const Json* v = at.find(key);
    if (v == nullptr) return fallback;
    const Cursor c(at, key, *v);
    std::string text;
    if (v->is_object()) {  // extensible enumerations may carry fields: {"type": "StorageType.Name", ...}
      const Cursor type(c, "type", c.need("type"));
      text = type.text();
    } else {
      text = c.text();
    }
    if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) text = text.substr(dot + 1);
    for (const auto& entry : names) {
      if (text == entry.name) return entry.value;
    }
    warnings_.push_back(std::string(what) + " '" + text + "' is not supported and was read as the default (at " +
                        c.path() + ")");
    return fallback;
  }

  SourceLocation location(const Cursor& attributes) const {
    const Json* v = attributes.find("debuginfo");
    if (v == nullptr || !v->is_object()) return {};
    const Cursor c(attributes, "debuginfo", *v);
    SourceLocation out;
    if (const Json* file = c.find("filename"); file != nullptr && file->is_string())
      out.file = file->get<std::string>();
    if (const Json* index = c.find("file_index"); index != nullptr && index->is_number_integer()) {
      const auto i = index->get<std::int64_t>();
      if (i >= 0 && i < static_cast<std::int64_t>(source_files_.size()))
        out.file = source_files_[static_cast<std::size_t>(i)];
    }
    if (const Json* line = c.find("start_line"); line != nullptr && line->is_number_integer())
      out.line = static_cast<std::uint32_t>(std::clamp<std::int64_t>(line->get<std::int64_t>(), 0, 1 << 30));
    if (const Json* column = c.find("start_column"); column != nullptr && column->is_number_integer())
      out.column = static_cast<std::uint32_t>(std::clamp<std::int64_t>(column->get<std::int64_t>(), 0, 1 << 20));
    return out;
  }

  // ---- expressions
  // ---------------------------------------------------------------------------------------------------

  Expr expression(const Cursor& at) {
    if (at.json().is_number()) return Expr(at.integer());
    const std::string& text = at.text();
    if (auto it = expressions_.find(text); it != expressions_.end()) return it->second;
    symbolic::ParseOptions options;
    options.typed = typed_;
    options.on_symbol_type = [this](const std::string& symbol, const std::string& dtype) {
      if (auto type = scalar_type_from_string(dtype)) occurrence_types_->insert_or_assign(symbol, Type(*type));
    };
    try {
      Expr e = symbolic::parse_python(text, options);
      expressions_.emplace(text, e);
      return e;
    } catch (const Error& e) {
      at.fail(e.message(), e.error_class() == ErrorClass::kLimit ? ErrorClass::kLimit : ErrorClass::kGraph);
    }
  }
  std::vector<Expr> expressions(const Cursor& at) {
    std::vector<Expr> out;
    const auto& list = at.array();
    out.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) out.push_back(expression(Cursor(at, i, list[i])));
    return out;
  }
  Subset subset(const Cursor& at) {
    const Cursor type(at, "type", at.need("type"));
    if (type.text() == "Indices") {
      const Cursor list(at, "indices", at.need("indices"));
      const auto indices = expressions(list);
      return Subset::index(indices);
    }
    if (type.text() != "Range") type.fail("unknown kind of subset '" + type.text() + "'");
    const Cursor list(at, "ranges", at.need("ranges"));
    std::vector<symbolic::Range> ranges;
    for (std::size_t i = 0; i < list.array().size(); ++i) {
      const Cursor r(list, i, list.array()[i]);
      symbolic::Range range;
      range.begin = expression(Cursor(r, "start", r.need("start")));
      range.end = expression(Cursor(r, "end", r.need("end")));
      if (const Json* step = r.find("step")) range.step = expression(Cursor(r, "step", *step));
      if (const Json* tile = r.find("tile")) range.tile = expression(Cursor(r, "tile", *tile));
      ranges.push_back(std::move(range));
    }
    return Subset(std::move(ranges));
  }
  std::optional<Subset> optional_subset(const Cursor& at, std::string_view key) {
    const Json* v = at.find(key);
    return v == nullptr ? std::nullopt : std::optional<Subset>(subset(Cursor(at, key, *v)));
  }

  // ---- types and descriptors
  // -----------------------------------------------------------------------------------------

  Type type(const Cursor& at, int depth = 0) {
    if (at.is_null()) return {};
    if (depth > limits_.max_depth) at.fail("types nested too deeply", ErrorClass::kLimit);
    if (at.json().is_string()) {
      const std::string& text = at.text();
      if (auto scalar = scalar_type_from_string(text)) return *scalar;
      if (text == "uintp") return ScalarType::kUInt64;
      if (text == "intp") return ScalarType::kInt64;
      at.fail("unknown type '" + text.substr(0, 80) + "'");
    }
    const Cursor kind(at, "type", at.need("type"));
    const std::string& k = kind.text();
    auto inner = [&](std::string_view key) {
      const Json* v = at.find(key);
      return v == nullptr ? Type() : type(Cursor(at, key, *v), depth + 1);
    };
    if (k == "vector") {
      const Type element = inner("dtype");
      const Cursor lanes(at, "elements", at.need("elements"));
      if (!element.is_scalar()) at.fail("a vector of " + element.str());
      const int count_of = lanes.small_integer();
      if (count_of < 1 || count_of > 1 << 16) lanes.fail("a vector of " + std::to_string(count_of) + " elements");
      return Type::vector(element.scalar(), count_of);
    }
    if (k == "pointer") return Type::pointer(inner("dtype"));
    if (k == "string") return Type::pointer(ScalarType::kInt8);
    if (k == "opaque") return Type::opaque(Cursor(at, "ctype", at.need("ctype")).text());
    if (k == "struct") {
      std::vector<StructField> fields;
      const Cursor data(at, "data", at.need("data"));
      for (std::size_t i = 0; i < data.array().size(); ++i) {
        const Cursor pair(data, i, data.array()[i]);
        if (pair.array().size() != 2) pair.fail("expected [name, type]");
        const std::string field = name(Cursor(pair, std::size_t{0}, pair.array()[0]));
        if (std::any_of(fields.begin(), fields.end(), [&](const StructField& f) { return f.name == field; }))
          pair.fail("a second field '" + field + "'");
        fields.push_back({field, type(Cursor(pair, std::size_t{1}, pair.array()[1]), depth + 1)});
      }
      return Type::structure(name(Cursor(at, "name", at.need("name"))), std::move(fields));
    }
    if (k == "callback") {
      auto list = [&](std::string_view key) {
        std::vector<Type> out;
        if (const Json* v = at.find(key)) {
          const Cursor c(at, key, *v);
          for (std::size_t i = 0; i < c.array().size(); ++i) {
            const Cursor entry(c, i, c.array()[i]);
            if (entry.json().is_object() &&
                entry.has("attributes")) {  // a descriptor stands for its element, or a pointer to it
              const Cursor attributes(entry, "attributes", entry.need("attributes"));
              const Json* dtype = attributes.find("dtype");
              Type element =
                  dtype == nullptr ? Type(ScalarType::kInt32) : type(Cursor(attributes, "dtype", *dtype), depth + 1);
              out.push_back(Cursor(entry, "type", entry.need("type")).text() == "Scalar" ? element
                                                                                         : Type::pointer(element));
            } else {
              out.push_back(type(entry, depth + 1));
            }
          }
        }
        return out;
      };
      return Type::callback(list("returntypes"), list("arguments"));
    }
    kind.fail("unknown kind of type '" + k.substr(0, 80) + "'");
  }

  static DescriptorClass descriptor_class(const std::string& text) {
    constexpr EnumName<DescriptorClass> kNames[] = {
        {"Scalar", DescriptorClass::kScalar},
        {"Array", DescriptorClass::kArray},
        {"ParameterArray", DescriptorClass::kArray},
        {"Stream", DescriptorClass::kStream},
        {"Structure", DescriptorClass::kStructure},
        {"ContainerArray", DescriptorClass::kContainerArray},
        {"View", DescriptorClass::kArrayView},
        {"ArrayView", DescriptorClass::kArrayView},
        {"StructureView", DescriptorClass::kStructureView},
        {"ContainerView", DescriptorClass::kContainerView},
        {"Reference", DescriptorClass::kArrayReference},
        {"ArrayReference", DescriptorClass::kArrayReference},
        {"StructureReference", DescriptorClass::kStructureReference},
        {"ContainerArrayReference", DescriptorClass::kContainerArrayReference},
        {"Tensor", DescriptorClass::kStructure},
    };
    for (const auto& e : kNames) {
      if (text == e.name) return e.value;
    }
    return DescriptorClass::kOther;
  }

  Descriptor descriptor(const Cursor& at, std::string its_name, int depth = 0) {
    if (depth > limits_.max_depth) at.fail("structures nested too deeply", ErrorClass::kLimit);
    count(at);
    Descriptor d;
    d.name = std::move(its_name);
    d.path = at.path();
    d.class_name = Cursor(at, "type", at.need("type")).text();
    d.kind = descriptor_class(d.class_name);
    const Cursor a(at, "attributes", at.need("attributes"));
    if (a.json().contains("dtype")) d.type = type(Cursor(a, "dtype", a.json().at("dtype")));
    auto list = [&](std::string_view key, std::vector<Expr>& out) {
      if (const Json* v = a.find(key)) out = expressions(Cursor(a, key, *v));
    };
    list("shape", d.shape);
    list("strides", d.strides);
    list("offset", d.offset);
    if (const Json* v = a.find("total_size")) d.total_size = expression(Cursor(a, "total_size", *v));
    if (d.total_size && d.total_size->is_zero()) d.total_size.reset();
    if (const Json* v = a.find("buffer_size")) d.buffer_size = expression(Cursor(a, "buffer_size", *v));
    d.start_offset = integer(a, "start_offset", 0);
    d.alignment = integer(a, "alignment", 0);
    d.transient = flag(a, "transient", false);
    d.may_alias = flag(a, "may_alias", false);
    if (a.find("optional") != nullptr) d.optional = flag(a, "optional", false);
    d.storage = enumeration(a, "storage", kStorages, ir::Storage::kDefault, "storage");
    d.lifetime = enumeration(a, "lifetime", kLifetimes, Lifetime::kScope, "lifetime");
    d.location = location(a);
    if (const Json* members = a.find("members")) {
      const Cursor m(a, "members", *members);
      if (members->is_array()) {
        for (std::size_t i = 0; i < members->size(); ++i) {
          const Cursor pair(m, i, (*members)[i]);
          if (pair.array().size() != 2) pair.fail("expected [name, descriptor]");
          const std::string member = name(Cursor(pair, std::size_t{0}, pair.array()[0]));
          if (std::any_of(d.members.begin(), d.members.end(), [&](const Descriptor& m_) { return m_.name == member; }))
            pair.fail("a second member '" + member + "'");
          d.members.push_back(descriptor(Cursor(pair, std::size_t{1}, pair.array()[1]), member, depth + 1));
        }
      } else {
        entries(a, "members", [&](const std::string& member, const Cursor& c) {
          d.members.push_back(descriptor(c, member, depth + 1));
        });
      }
    }
    if (const Json* stype = a.find("stype"))
      d.members.push_back(descriptor(Cursor(a, "stype", *stype), "element", depth + 1));
    d.structure_name = optional_name(a, "name");
    return d;
  }

  // ---- code
  // ----------------------------------------------------------------------------------------------------------

  CodeBlock code(const Cursor& at) {
    CodeBlock out;
    out.path = at.path();
    if (at.json().is_string()) {
      out.text = at.text() == "NoCode" ? "" : at.text();
      return out;
    }
    if (at.json().is_boolean() || at.json().is_number()) {
      out.text = at.json().dump();
      return out;
    }
    if (const Json* text = at.find("string_data")) {
      const Cursor c(at, "string_data", *text);
      out.text = text->is_string() ? c.text() : text->dump();
    }
    if (const Json* language = at.find("language")) {
      const std::string& l = Cursor(at, "language", *language).text();
      auto ends = [&](std::string_view suffix) {
        return l.size() >= suffix.size() && l.compare(l.size() - suffix.size(), suffix.size(), suffix) == 0;
      };
      out.language = ends("Python") ? Language::kPython : ends("CPP") ? Language::kCpp : Language::kOther;
    }
    return out;
  }
  std::optional<CodeBlock> optional_code(const Cursor& at, std::string_view key) {
    const Json* v = at.find(key);
    if (v == nullptr) return std::nullopt;
    CodeBlock c = code(Cursor(at, key, *v));
    if (c.text.empty()) return std::nullopt;
    return c;
  }
  std::string code_text(const Cursor& at, std::string_view key) {
    auto c = optional_code(at, key);
    return c ? c->text : std::string();
  }
  std::vector<std::string> texts(const Cursor& at, std::string_view key) {
    std::vector<std::string> out;
    if (const Json* v = at.find(key)) {
      const Cursor c(at, key, *v);
      for (std::size_t i = 0; i < c.array().size(); ++i) out.push_back(name(Cursor(c, i, c.array()[i])));
    }
    return out;
  }

  // ---- dataflow
  // ------------------------------------------------------------------------------------------------------

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

  // ---- control flow
  // --------------------------------------------------------------------------------------------------

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

  // ---- the graph
  // -----------------------------------------------------------------------------------------------------

  Constant constant(const Cursor& at, const std::string& its_name) {
    if (at.array().size() != 2) at.fail("expected [descriptor, value]");
    Constant c;
    c.descriptor = descriptor(Cursor(at, std::size_t{0}, at.array()[0]), its_name);
    const Cursor value(at, std::size_t{1}, at.array()[1]);
    if (!c.descriptor.type.is_scalar()) value.fail("a constant of type " + c.descriptor.type.str());
    if (value.json().is_object()) {
      const Cursor data(value, "data", value.need("data"));
      append_values(data, c.descriptor.type.scalar(), c.bytes);
    } else {
      append_values(value, c.descriptor.type.scalar(), c.bytes);
    }
    return c;
  }

  void append_values(const Cursor& at, ScalarType type_of, std::vector<std::uint8_t>& out) {
    if (at.json().is_array()) {
      const DepthGuard guard(*this, at);
      for (std::size_t i = 0; i < at.json().size(); ++i) append_values(Cursor(at, i, at.json()[i]), type_of, out);
      return;
    }
    tasklet::Value v;
    if (at.json().is_boolean())
      v = tasklet::Value::boolean(at.json().get<bool>());
    else if (at.json().is_number_unsigned())
      v = tasklet::Value::integer(static_cast<std::int64_t>(at.json().get<std::uint64_t>()), ScalarType::kUInt64);
    else if (at.json().is_number_integer())
      v = tasklet::Value::integer(at.json().get<std::int64_t>());
    else if (at.json().is_number_float())
      v = tasklet::Value::floating(at.json().get<double>());
    else if (at.json().is_string())
      v = value_from_text(at);
    else
      at.fail("expected a number, found " + std::string(at.json().type_name()));
    const bool integral = !is_floating(type_of) && !is_complex(type_of) && type_of != ScalarType::kBool;
    const tasklet::Value stored = v.cast(type_of);
    if (integral && !(v.as_double() == stored.as_double()))
      at.fail("the value " + v.str() + " does not fit " + std::string(to_string(type_of)));
    const std::size_t begin = out.size();
    out.resize(begin + static_cast<std::size_t>(size_of(type_of)));
    stored.store(out.data() + begin);
  }

  // Complex numbers and NaN appear as Python's repr: "(1+2j)", "nan", "inf".
  static tasklet::Value value_from_text(const Cursor& at) {
    std::string text = at.text();
    std::erase_if(text, [](char c) { return c == '(' || c == ')' || c == ' '; });
    const char* begin = text.c_str();
    char* end = nullptr;
    const double first = std::strtod(begin, &end);
    if (end == begin) at.fail("'" + at.text().substr(0, 40) + "' is not a number");
    if (*end == 'j' && end[1] == 0) return tasklet::Value::complex({0.0, first});
    if (*end == 0) return tasklet::Value::floating(first);
    const char* second_begin = end;
    const double second = std::strtod(second_begin, &end);
    if (end == second_begin || *end != 'j' || end[1] != 0) at.fail("'" + at.text().substr(0, 40) + "' is not a number");
    return tasklet::Value::complex({first, second});
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

  // ---- limits
  // --------------------------------------------------------------------------------------------------------

  struct DepthGuard {
    DepthGuard(Reader& r, const Cursor& at) : reader(r) {
      if (++reader.depth_ > reader.limits_.max_depth)
        at.fail("nested more than " + std::to_string(reader.limits_.max_depth) + " deep", ErrorClass::kLimit);
    }
    ~DepthGuard() { --reader.depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    Reader& reader;
  };
  void count(const Cursor& at) {
    if (++count_ > limits_.max_nodes)
      at.fail("more than " + std::to_string(limits_.max_nodes) + " nodes, edges and containers", ErrorClass::kLimit);
  }

  const ReadLimits& limits_;
  std::vector<std::string>& warnings_;
  bool typed_ = false;
  std::vector<std::string> source_files_;
  std::map<std::string, Expr, std::less<>> expressions_;
  std::map<std::string, Type>* occurrence_types_ = nullptr;
  int depth_ = 0;
  std::size_t count_ = 0;
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
