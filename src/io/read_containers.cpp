// Types in all their spellings, descriptors with their members, values of constants.
#include "io/read_containers.hpp"

#include <algorithm>
#include <cstdlib>

#include "tasklet/value.hpp"

namespace sdfg::io::dace {

namespace {

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

}  // namespace

Type ContainerReader::type(const Cursor& at, int depth) {
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

DescriptorClass ContainerReader::descriptor_class(const std::string& text) {
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

Descriptor ContainerReader::descriptor(const Cursor& at, std::string its_name, int depth) {
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

Constant ContainerReader::constant(const Cursor& at, const std::string& its_name) {
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

void ContainerReader::append_values(const Cursor& at, ScalarType type_of, std::vector<std::uint8_t>& out) {
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

tasklet::Value ContainerReader::value_from_text(const Cursor& at) {
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

}  // namespace sdfg::io::dace
