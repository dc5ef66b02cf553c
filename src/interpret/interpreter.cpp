// One call of the interpreter: arguments in, persistent memory kept.
#include "interpret/interpreter.hpp"

#include <algorithm>
#include <map>

#include "interpret/machine.hpp"

namespace sdfg::interpret {

using tasklet::Value;

namespace {
constexpr std::int64_t kWorkspaceAlignment = 64;
}

struct Instance::Impl {
  Impl(const ir::Graph& graph, Options o) : program(graph), options(o) {}

  plan::Program program;
  Options options;
  std::map<int, Live> kept;  // persistent and owned external containers (and members) by slot

  void bind_symbols(const Arguments& arguments, Frame& frame) const {
    const ir::Graph& graph = *program.graph;
    for (const std::string& name : graph.parameters) {
      const ir::Symbol* symbol = graph.symbols.find(name);
      if (symbol == nullptr) continue;
      const Arguments::Entry* entry = arguments.find(name);
      if (entry == nullptr) throw Error(ErrorClass::kUsage, "no argument was given for symbol '" + name + "'");
      const int slot = program.slots.symbol(name);
      if (symbol->type.kind() == Type::Kind::kCallback) {
        const auto* callback = std::get_if<Callback>(entry);
        if (callback == nullptr)
          throw Error(ErrorClass::kUsage, "the argument for callback '" + name + "' is no function");
        frame.callbacks[static_cast<std::size_t>(slot)] = *callback;
        continue;
      }
      const auto* value = std::get_if<Value>(entry);
      if (value == nullptr) throw Error(ErrorClass::kUsage, "the argument for symbol '" + name + "' is no value");
      frame.set_symbol_value(slot, *value);
    }
  }

  void bind_containers(const Arguments& arguments, Storage& storage) const {
    const ir::Graph& graph = *program.graph;
    for (const std::string& name : graph.parameters) {
      const ir::Container* container = graph.containers.find(name);
      if (container == nullptr) continue;
      const Arguments::Entry* entry = arguments.find(name);
      if (entry == nullptr) throw Error(ErrorClass::kUsage, "no argument was given for container '" + name + "'");
      const int slot = program.slots.container(name);
      if (const auto* value = std::get_if<Value>(entry))
        storage.bind_value(slot, *value);
      else if (void* const* memory = std::get_if<void*>(entry))
        storage.bind(slot, *memory);
      else
        throw Error(ErrorClass::kUsage, "the argument for container '" + name + "' is a function");
    }
  }

  void check_names(const Arguments& arguments) const {
    const auto& parameters = program.graph->parameters;
    for (const auto& [name, entry] : arguments.entries())
      if (std::find(parameters.begin(), parameters.end(), name) == parameters.end())
        throw Error(ErrorClass::kUsage, "graph '" + program.graph->name + "' has no parameter '" + name + "'");
  }

  void keep(int slot, const Frame& frame) {
    kept[slot] = frame.live(slot);
    for (int m : program.containers[static_cast<std::size_t>(slot)].members) keep(m, frame);
  }

  void adopt(int slot, Storage& storage) const {
    storage.adopt(slot, kept.at(slot));
    for (int m : program.containers[static_cast<std::size_t>(slot)].members) adopt(m, storage);
  }

  void revive(int slot, Frame& frame, Storage& storage) {
    auto it = kept.find(slot);
    if (it == kept.end()) {
      storage.allocate(slot);
      keep(slot, frame);
      return;
    }
    storage.shape(slot);
    const Live& old = it->second;
    if (old.desc->kind != ir::ContainerKind::kStream && old.allocation &&
        storage.bytes(slot) != old.allocation->bytes())
      throw Error(ErrorClass::kUsage,
                  "persistent container '" + old.desc->name + "' has " + std::to_string(old.allocation->bytes()) +
                      " bytes from an earlier call, but this call needs " + std::to_string(storage.bytes(slot)));
    adopt(slot, storage);
  }

  std::int64_t place_external(ir::Storage kind, Storage& storage, void* memory) const {
    std::int64_t at = 0;
    for (int slot : program.external) {
      if (program.slots.containers[static_cast<std::size_t>(slot)].desc->storage != kind) continue;
      storage.shape(slot);
      if (memory != nullptr) storage.bind(slot, static_cast<std::byte*>(memory) + at);
      at += (storage.bytes(slot) + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    }
    return at;
  }

  void run(const Arguments& arguments) {
    check_names(arguments);
    Frame frame(program.slots);
    Storage storage(program, frame, options.check_uninitialised);
    bind_symbols(arguments, frame);
    for (int slot : program.constants) storage.bind_constant(slot);
    bind_containers(arguments, storage);
    for (int slot : program.persistent) revive(slot, frame, storage);
    for (int slot : program.external) {
      const ir::Storage kind = program.slots.containers[static_cast<std::size_t>(slot)].desc->storage;
      if (void* memory = arguments.workspace(kind))
        place_external(kind, storage, memory);
      else
        revive(slot, frame, storage);
    }
    for (int slot : program.locals)
      if (!frame.live(slot).alive) storage.allocate(slot);
    Machine machine(program, frame, storage, options);
    if (machine.run(program.body).kind == Flow::Kind::kExit)
      throw Error(ErrorClass::kGraph, "an exit has no target around it");
  }
};

Instance::Instance(const ir::Graph& graph, Options options) : impl_(std::make_unique<Impl>(graph, options)) {}
Instance::Instance(Instance&&) noexcept = default;
Instance& Instance::operator=(Instance&&) noexcept = default;
Instance::~Instance() = default;

void Instance::run(const Arguments& arguments) {
  impl_->run(arguments);
}
void Instance::set_options(const Options& options) {
  impl_->options = options;
}

std::int64_t Instance::workspace_size(ir::Storage storage, const Arguments& arguments) const {
  Frame frame(impl_->program.slots);
  Storage containers(impl_->program, frame, false);
  impl_->bind_symbols(arguments, frame);
  return impl_->place_external(storage, containers, nullptr);
}

void run(const ir::Graph& graph, const Arguments& arguments, const Options& options) {
  Instance(graph, options).run(arguments);
}

}  // namespace sdfg::interpret
