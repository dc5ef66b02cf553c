// Reads cases, calls graphs with their inputs on the interpreter or compiled, and compares.
#include "tools/case.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sdfg/compile.hpp>

#include "interpret/interpreter.hpp"
#include "ir/graph.hpp"

namespace sdfg::tools {

namespace {

using Json = nlohmann::json;

tasklet::Value value_from(const Json& v, ScalarType type) {
  if (v.is_boolean()) return tasklet::Value::boolean(v.get<bool>()).cast(type);
  if (v.is_number_unsigned())
    return tasklet::Value::integer(static_cast<std::int64_t>(v.get<std::uint64_t>()), ScalarType::kUInt64).cast(type);
  if (v.is_number_integer()) return tasklet::Value::integer(v.get<std::int64_t>()).cast(type);
  if (v.is_number()) return tasklet::Value::floating(v.get<double>()).cast(type);
  if (v.is_array() && v.size() == 2)
    return tasklet::Value::complex({v[0].get<double>(), v[1].get<double>()}).cast(type);
  throw Error(ErrorClass::kUsage, "a scalar argument's value is no number: " + v.dump());
}

// The first element that differs by more than atol + rtol |expected|; nothing if none does.
std::optional<std::string> compare(const CaseArgument& a, const std::vector<std::uint8_t>& got,
                                   const NpyArray& expected, double rtol, double atol) {
  const auto size = static_cast<std::size_t>(size_of(a.type));
  if (expected.type != a.type || got.size() != expected.bytes.size())
    return "'" + a.name + "': the expected file has another type or size";
  for (std::size_t i = 0; i < got.size() / size; ++i) {
    const tasklet::Value x = tasklet::Value::load(got.data() + i * size, a.type);
    const tasklet::Value y = tasklet::Value::load(expected.bytes.data() + i * size, a.type);
    if (std::memcmp(got.data() + i * size, expected.bytes.data() + i * size, size) == 0) continue;
    const double difference = std::abs(x.as_complex() - y.as_complex());
    if (difference <= atol + rtol * std::abs(y.as_complex())) continue;
    if (std::isnan(x.as_complex().real()) && std::isnan(y.as_complex().real())) continue;
    return "'" + a.name + "': element " + std::to_string(i) + " is " + x.str() + ", expected " + y.str();
  }
  return std::nullopt;
}

}  // namespace

Case read_case(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorClass::kUsage, "the case file '" + path + "' can't be opened");
  Case c;
  try {
    const Json json = Json::parse(in);
    c.kernel = json.at("kernel").get<std::string>();
    for (const auto& [name, value] : json.at("symbols").items()) c.symbols[name] = value.get<std::int64_t>();
    for (const Json& a : json.at("args")) {
      CaseArgument argument;
      argument.name = a.at("name").get<std::string>();
      const auto type = scalar_type_from_string(a.at("dtype").get<std::string>());
      if (!type)
        throw Error(ErrorClass::kUsage,
                    "argument '" + argument.name + "' has the unknown type " + a.at("dtype").dump());
      argument.type = *type;
      argument.shape = a.at("shape").get<std::vector<std::int64_t>>();
      const std::string role = a.at("role").get<std::string>();
      argument.role = role == "in"      ? CaseArgument::Role::kIn
                      : role == "inout" ? CaseArgument::Role::kInOut
                      : role == "out"   ? CaseArgument::Role::kOut
                                        : CaseArgument::Role::kScalar;
      if (argument.role == CaseArgument::Role::kScalar) argument.value = value_from(a.at("value"), argument.type);
      c.arguments.push_back(std::move(argument));
    }
    c.rtol = json.value("rtol", 0.0);
    c.atol = json.value("atol", 0.0);
  } catch (const Json::exception& e) {
    throw Error(ErrorClass::kUsage, "the case file '" + path + "' is damaged: " + e.what());
  }
  return c;
}

CaseResult run_case(const Graph& graph, const Case& c, const std::string& inputs, const std::string& expected,
                    Runner runner, const Options& options, const std::string& write_to) {
  struct Slot {
    const CaseArgument* argument = nullptr;
    std::vector<std::uint8_t> bytes;  // of an array, or of a value passed by pointer or by value
    void* pointer = nullptr;
    bool by_value = false;
  };
  const ir::Graph& g = graph.ir();
  std::vector<Slot> slots(g.parameters.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& s = slots[i];
    const std::string& name = g.parameters[i];
    const ir::Container* container = g.containers.find(name);
    const std::string label = container != nullptr && !container->label.empty()           ? container->label
                              : container == nullptr && !g.symbols.at(name).label.empty() ? g.symbols.at(name).label
                                                                                          : name;
    for (const CaseArgument& a : c.arguments) {
      if (a.name == label) s.argument = &a;
    }
    const ScalarType type = container != nullptr ? container->type.scalar() : g.symbols.at(name).type.scalar();
    s.bytes.resize(16);
    if (s.argument != nullptr && s.argument->role != CaseArgument::Role::kScalar) {
      const NpyArray in = read_npy(inputs + "/in_" + label + ".npy");
      if (in.type != s.argument->type || in.shape != s.argument->shape)
        throw Error(ErrorClass::kUsage,
                    "the input file of '" + label + "' has another type or shape than the case says");
      if (in.type != type)
        throw Error(ErrorClass::kUsage, "'" + label + "' has type " + std::string(to_string(type)) +
                                            " in the graph and " + std::string(to_string(in.type)) + " in the case");
      s.bytes = in.bytes;
      s.bytes.resize(std::max<std::size_t>(s.bytes.size(), 1));
    } else if (s.argument != nullptr) {
      s.argument->value.cast(type).store(s.bytes.data());
      s.by_value = container == nullptr || container->is_scalar();
    } else if (auto symbol = c.symbols.find(label); symbol != c.symbols.end()) {
      tasklet::Value::integer(symbol->second).cast(type).store(s.bytes.data());
      s.by_value = true;
    } else {
      throw Error(ErrorClass::kUsage, "the case has no value for parameter '" + label + "' of graph '" + g.name + "'");
    }
    s.pointer = s.bytes.data();
  }

  CaseResult result;
  if (runner == Runner::kInterpreter) {
    interpret::Arguments arguments;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const ir::Container* container = g.containers.find(g.parameters[i]);
      const ScalarType type =
          container != nullptr ? container->type.scalar() : g.symbols.at(g.parameters[i]).type.scalar();
      if (slots[i].by_value)
        arguments.set(g.parameters[i], tasklet::Value::load(slots[i].pointer, type));
      else
        arguments.set(g.parameters[i], slots[i].pointer);
    }
    const auto start = std::chrono::steady_clock::now();
    interpret::run(g, arguments);
    result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  } else {
    AnyFunction f = compile(graph, options);
    result.stats = f.stats();
    std::vector<std::int64_t> symbols;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const ir::Symbol* symbol = g.symbols.find(g.parameters[i]);
      if (symbol != nullptr && symbol->type.is_scalar())
        symbols.push_back(tasklet::Value::load(slots[i].pointer, symbol->type.scalar()).as_int());
    }
    std::vector<std::byte> workspace;
    if (const std::int64_t size = f.workspace_size(symbols); size > 0) {
      constexpr std::size_t kAlignment = 64;
      workspace.resize(static_cast<std::size_t>(size) + kAlignment);
      void* at = workspace.data();
      std::size_t room = workspace.size();
      std::align(kAlignment, static_cast<std::size_t>(size), at, room);
      f.set_workspace(at, size);
    }
    std::vector<void*> args(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
      args[i] = f.parameters()[i].is_pointer ? static_cast<void*>(&slots[i].pointer) : slots[i].pointer;
    const auto start = std::chrono::steady_clock::now();
    f.call_packed(args.data());
    result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

  for (Slot& s : slots) {
    if (s.argument == nullptr || s.argument->role == CaseArgument::Role::kScalar) continue;
    NpyArray out{s.argument->type, s.argument->shape, {}};
    s.bytes.resize(static_cast<std::size_t>(out.count() * size_of(out.type)));
    out.bytes = s.bytes;
    if (!write_to.empty()) write_npy(write_to + "/out_" + s.argument->name + ".npy", out);
    if (expected.empty()) continue;
    if (auto m =
            compare(*s.argument, s.bytes, read_npy(expected + "/out_" + s.argument->name + ".npy"), c.rtol, c.atol))
      result.mismatches.push_back(*m);
  }
  return result;
}

}  // namespace sdfg::tools
