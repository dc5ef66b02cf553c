// Derives C signatures from graphs and compares them with C++ ones.
#include "jit/signature.hpp"

#include <algorithm>

namespace sdfg::jit {

namespace {

std::string cpp_name(ScalarType type) {
  switch (type) {
    case ScalarType::kBool: return "bool";
    case ScalarType::kInt8: return "int8_t";
    case ScalarType::kInt16: return "int16_t";
    case ScalarType::kInt32: return "int32_t";
    case ScalarType::kInt64: return "int64_t";
    case ScalarType::kUInt8: return "uint8_t";
    case ScalarType::kUInt16: return "uint16_t";
    case ScalarType::kUInt32: return "uint32_t";
    case ScalarType::kUInt64: return "uint64_t";
    case ScalarType::kFloat16: return "sdfg::Half";
    case ScalarType::kBFloat16: return "sdfg::BFloat16";
    case ScalarType::kFloat32: return "float";
    case ScalarType::kFloat64: return "double";
    case ScalarType::kComplex64: return "std::complex<float>";
    case ScalarType::kComplex128: return "std::complex<double>";
  }
  return "?";
}

std::string value_text(const Type& type) {
  if (type.is_scalar()) return cpp_name(type.scalar());
  if (type.kind() == Type::Kind::kPointer) return value_text(type.pointee()) + "*";
  return type.str();
}

// A declaration as C++ has it, where C++ has the type.
std::string parameter_text(const Parameter& p) {
  if (p.type.kind() == Type::Kind::kCallback) {
    const CallbackInfo& info = p.type.callback();
    if (info.returns.size() > 1) return p.type.str() + " " + p.name;
    std::string out = (info.returns.empty() ? "void" : value_text(info.returns.front())) + " (*" + p.name + ")(";
    for (const Type& argument : info.arguments) out += (out.back() == '(' ? "" : ", ") + value_text(argument);
    return out + ")";
  }
  const std::string element = p.type.is_scalar() ? cpp_name(p.type.scalar()) : (p.is_pointer ? "void" : p.type.str());
  if (!p.is_pointer) return element + " " + p.name;
  return (p.written ? "" : "const ") + element + "* " + p.name;
}

// The first reason why a C++ type does not fit a parameter; empty when it does.
std::string mismatch(const Parameter& p, const detail::CppType& t) {
  if (p.type.kind() == Type::Kind::kCallback)
    return t.is_function ? "" : "is a callback, so the signature needs a function pointer there";
  if (p.is_pointer && !t.is_pointer) return "is a container, passed by pointer";
  if (!p.is_pointer && t.is_pointer) return "is passed by value";
  // Structures, pointers and vectors have no C++ counterpart that could be compared; a pointer of any type is accepted
  // for them.
  if (p.type.is_scalar() && (!t.scalar || *t.scalar != p.type.scalar())) {
    if (p.is_pointer && !t.scalar && !t.is_function) return "";  // void*
    return "has type " + cpp_name(p.type.scalar());
  }
  if (p.is_pointer && p.written && t.is_const) return "is written by the graph, so it can't be a pointer to const";
  return "";
}

}  // namespace

std::vector<Parameter> parameters_of(const ir::Graph& g) {
  symbolic::SymbolSet written;
  for (const auto& e : g.body.items) {
    for (const std::string& name : ir::containers_written(g, *e)) {
      const std::string base = name.substr(0, name.find('.'));
      written.insert(base);
      if (const ir::Container* c = g.containers.find(base)) written.insert(ir::root_of(g, *c).name);
    }
  }
  std::vector<Parameter> out;
  for (const std::string& name : g.parameters) {
    if (const ir::Container* c = g.containers.find(name)) {
      const bool is_written = written.contains(name);
      out.push_back({name, c->type, !c->is_scalar() || is_written, is_written, static_cast<int>(c->rank())});
    } else {
      out.push_back({name, g.symbols.at(name).type, false, false, 0});
    }
  }
  return out;
}

std::string signature_text(std::span<const Parameter> parameters) {
  std::string out = "void(";
  for (const Parameter& p : parameters) {
    if (out.back() != '(') out += ", ";
    out += parameter_text(p);
  }
  return out + ")";
}

std::string signature_text(std::span<const detail::CppType> types) {
  std::string out = "void(";
  for (const detail::CppType& t : types) {
    if (out.back() != '(') out += ", ";
    if (t.is_function) {
      out += "function pointer";
      continue;
    }
    if (t.is_const) out += "const ";
    out += t.scalar ? cpp_name(*t.scalar) : std::string("void");
    if (t.is_pointer) out += "*";
  }
  return out + ")";
}

void check_signature(const std::string& graph, std::span<const Parameter> parameters,
                     std::span<const detail::CppType> types) {
  std::string reason;
  for (std::size_t i = 0; i < std::min(parameters.size(), types.size()) && reason.empty(); ++i) {
    const std::string text = mismatch(parameters[i], types[i]);
    if (!text.empty()) reason = "parameter " + std::to_string(i + 1) + ", '" + parameters[i].name + "', " + text;
  }
  if (reason.empty() && parameters.size() != types.size()) {
    reason = "the graph has " + std::to_string(parameters.size()) + " parameters, the signature " +
             std::to_string(types.size());
  }
  if (reason.empty()) return;
  throw Error(ErrorClass::kUsage,
              "the signature does not fit graph '" + graph + "': " + reason + "; asked for " + signature_text(types) +
                  ", the graph has " + signature_text(parameters),
              {}, "containers come first, in order of declaration, then symbols; Builder::order changes that");
}

}  // namespace sdfg::jit
