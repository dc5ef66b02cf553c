// Describes each C++ tasklet to the analyser: its connectors with their types, and the symbols of the graph.
#include "jit/analyse_tasklets.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/digest.hpp"

namespace sdfg::jit {

namespace {

using Role = tasklet::CppName::Role;

tasklet::CppName name_for(std::string name, const Type& type, Role role) {
  tasklet::CppName out;
  out.name = std::move(name);
  out.role = role;
  out.is_pointer = type.kind() == Type::Kind::kPointer;
  out.type = out.is_pointer ? type.pointee() : type;
  return out;
}

tasklet::CppTask task_for(const ir::Graph& g, const ir::State& s, const ir::Node& n, const ir::Tasklet& t) {
  tasklet::CppTask task;
  task.text = t.code.text;
  task.global_text = g.code.host + "\n" + t.code.global_text;
  const auto is_input = [&](const std::string& name) {
    return std::any_of(t.inputs.begin(), t.inputs.end(), [&](const ir::Connector& c) { return c.name == name; });
  };
  for (const ir::Connector& c : t.outputs) {
    task.names.push_back(
        name_for(c.name, ir::connector_type(g, s, n, c.name, true), is_input(c.name) ? Role::kInOut : Role::kOutput));
  }
  const std::size_t outputs = task.names.size();
  for (const ir::Connector& c : t.inputs) {
    const auto end = task.names.begin() + static_cast<std::ptrdiff_t>(outputs);
    if (std::any_of(task.names.begin(), end, [&](const tasklet::CppName& o) { return o.name == c.name; })) continue;
    task.names.push_back(name_for(c.name, ir::connector_type(g, s, n, c.name, false), Role::kInput));
  }
  for (const ir::Symbol& symbol : g.symbols) {
    // A connector hides a symbol of its name; a symbol that the text does not name only costs time.
    if (t.code.text.find(symbol.name) == std::string::npos) continue;
    const bool hidden = std::any_of(task.names.begin(), task.names.end(),
                                    [&](const tasklet::CppName& o) { return o.name == symbol.name; });
    if (!hidden) task.names.push_back(name_for(symbol.name, symbol.type, Role::kSymbol));
  }
  return task;
}

Digest digest_of_task(const tasklet::CppTask& task) {
  ByteWriter out;
  out.text(task.text);
  out.text(task.global_text);
  for (const tasklet::CppName& name : task.names) {
    out.text(name.name);
    out.text(name.type.str());
    out.u8(static_cast<std::uint8_t>(name.role));
    out.boolean(name.is_pointer);
  }
  return out.digest();
}

}  // namespace

void analyse_cpp_tasklets(ir::Graph& g, const tasklet::CppAnalyser& analyse) {
  std::map<Digest, tasklet::CppFacts> known;
  ir::walk(g.body, [&](ir::Element& e) {
    auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (ir::Node& n : s->nodes) {
      auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t == nullptr || t->code.language != tasklet::Language::kCpp || t->code.cpp) continue;
      const tasklet::CppTask task = task_for(g, *s, n, *t);
      const auto [entry, is_new] = known.try_emplace(digest_of_task(task));
      if (is_new) entry->second = analyse(task);
      t->code.cpp = entry->second;
    }
  });
}

}  // namespace sdfg::jit
