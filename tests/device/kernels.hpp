// Compiles kernel text for the emulated device and makes it a module; memory of it as a small class.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <sdfg/error.hpp>
#include <string>
#include <vector>

#include "codegen/device_text.hpp"
#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
#include "compile/host_target.hpp"
#include "device/device.hpp"
#include "device/emulated/emulator.hpp"
#include "runtime/loader.hpp"
#include "tasklet/print_cpp.hpp"

namespace sdfg::test {

using namespace sdfg::device;
using emulated::Emulator;
using emulated::Schedule;
using emulated::Settings;

inline compiler::CompileRequest checked_request(std::string source, compiler::MemoryChecks checks) {
  const HostTarget target = compiler::host_target();
  compiler::CompileRequest request;
  request.name = "kernels.cpp";
  request.source = std::move(source);
  request.triple = target.triple;
  request.cpu = target.cpu;
  request.features = target.features;
  request.checks = checks;
  request.build_ids = compiler::host_build_ids();
  return request;
}

inline std::shared_ptr<const runtime::LoadedCode> load_checked(const std::string& source,
                                                               compiler::MemoryChecks checks) {
  const compiler::CompileResult result = compiler::compile_host(checked_request(source, checks));
  std::string messages;
  for (const auto& d : result.diagnostics) messages += std::to_string(d.line) + ": " + d.text + "\n";
  if (!result.ok) throw std::runtime_error(messages);
  const std::span<const std::uint8_t> object(result.payload);
  runtime::LoadSlots slots;
  slots.emulator = emulated::table();
  return runtime::load_objects({&object, 1}, slots);
}

// A kernel as a test writes it: parameters are "float* A" (written), "const float* B", "int n".
struct KernelText {
  std::string name;
  std::vector<std::string> parameters;
  std::string body;
  std::int64_t max_threads = 0;
  std::int64_t shared_bytes = 0;
};

// The device, emptied of settings, faults and counts by each test.
inline Emulator& emulator(const Settings& settings = {}) {
  auto& device = static_cast<Emulator&>(*open({DeviceChoice::Kind::kEmulated, 0}));
  device.set_settings({});
  device.synchronise(device.default_stream());
  while (device.take_fault()) {
  }
  device.reset_ledger();
  device.set_settings(settings);
  return device;
}

// Lines of `text` are counted from 1 as a report gives them: text_line("needle") finds one.
struct Program {
  std::string text;
  std::shared_ptr<Names> names = std::make_shared<Names>();
  std::unique_ptr<Module> module;

  Kernel& kernel(std::size_t i = 0) { return module->kernel(i); }
  std::uint32_t line(const std::string& needle) const {
    const std::size_t at = text.find(needle);
    if (at == std::string::npos) throw std::runtime_error("no such line: " + needle);
    return static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') +
                                      1);
  }
};

inline std::string identifier_of(const std::string& parameter) {
  std::size_t end = parameter.size();
  while (end > 0 && (std::isalnum(static_cast<unsigned char>(parameter[end - 1])) != 0 || parameter[end - 1] == '_'))
    --end;
  return parameter.substr(end);
}

// Parameter i of a kernel has ordinal i, "container 'A'"; the kernels' own ordinals are 100, 101, ...
inline Program make_program(Device& device, const std::vector<KernelText>& kernels, const std::string& globals = {}) {
  Program program;
  std::string body = globals + "\n";
  ModuleImage image;
  for (const KernelText& kernel : kernels) {
    std::string head;
    std::string unpack;
    KernelInfo info;
    info.name = kernel.name;
    info.ordinal = 100 + static_cast<std::int32_t>(image.kernels.size());
    info.max_threads = kernel.max_threads;
    info.shared_bytes = kernel.shared_bytes;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const std::string& parameter = kernel.parameters[i];
      const std::string name = identifier_of(parameter);
      const std::string type = parameter.substr(0, parameter.size() - name.size());
      head += (i == 0 ? "" : ", ") + parameter;
      unpack += (i == 0 ? "" : ", ") + ("*(__typeof__(" + type + ")*)arguments[" + std::to_string(i) + "]");
      ParameterInfo p;
      p.is_pointer = type.find('*') != std::string::npos;
      p.is_const = p.is_pointer && type.starts_with("const ");
      p.is_restrict = type.find("__restrict__") != std::string::npos;
      p.bytes = p.is_pointer || type.starts_with("double") || type.starts_with("long") ? 8 : 4;
      p.ordinal = static_cast<std::int32_t>(i);
      info.parameters.push_back(p);
      auto& elements = program.names->elements;
      if (elements.size() <= i) elements.resize(i + 1);
      elements[i] = {"container '" + name + "'", {}};
    }
    body += "extern \"C\" __global__ void " + kernel.name + "(" + head + ") {\n" + kernel.body + "\n}\n";
    body +=
        "extern \"C\" void " + kernel.name + "_run(void* const* arguments) { " + kernel.name + "(" + unpack + "); }\n";
    image.kernels.push_back(info);
  }
  program.text = codegen::emulated_prelude() + tasklet::cpp_helpers(body) + body;
  program.names->elements.resize(102);
  program.names->elements[100] = {"map 'first'", {"user.cpp", 10, 1}};
  program.names->elements[101] = {"map 'second'", {"user.cpp", 20, 1}};
  auto code = load_checked(program.text, compiler::MemoryChecks::kKernel);
  for (const KernelInfo& info : image.kernels)
    image.entries.push_back(reinterpret_cast<void (*)(void* const*)>(code->find(info.name + "_run")));
  image.keep_alive = code;
  image.holds = [loaded = code.get()](const void* at, std::uint64_t bytes) { return loaded->holds(at, bytes); };
  image.names = program.names;
  program.module = device.load_module(image);
  return program;
}

// A device array, freed at the end.
template <class T>
class Array {
 public:
  Array(Device& device, const std::vector<T>& values, std::int32_t ordinal = -1,
        std::shared_ptr<const Names> names = {})
      : Array(device, values.size(), ordinal, std::move(names)) {
    Copy copy;
    copy.to = data_;
    copy.from = values.data();
    copy.to_space = Space::kDevice;
    copy.bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    device.copy(device.default_stream(), copy);
  }
  Array(Device& device, std::size_t size, std::int32_t ordinal = -1, std::shared_ptr<const Names> names = {})
      : device_(device), size_(size) {
    data_ = static_cast<T*>(device.allocate(device.default_stream(), static_cast<std::int64_t>(size * sizeof(T)),
                                            {std::move(names), ordinal}));
  }
  ~Array() { device_.release(device_.default_stream(), data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    Copy copy;
    copy.to = values.data();
    copy.from = data_;
    copy.from_space = Space::kDevice;
    copy.bytes = static_cast<std::int64_t>(size_ * sizeof(T));
    device_.copy(device_.default_stream(), copy);
    device_.synchronise(device_.default_stream());
    return values;
  }

 private:
  Device& device_;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

// Launches with these values as arguments.
template <class... Ts>
void launch(Device& device, Kernel& kernel, const Launch& shape, Ts... values) {
  void* arguments[] = {&values..., nullptr};
  device.launch(device.default_stream(), kernel, shape, arguments, {});
}

inline Launch shape(std::int64_t blocks, std::int64_t threads, std::int64_t shared = 0) {
  Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.shared = shared;
  return launch;
}

// The text of the fault that the launches so far leave, or nothing.
inline std::string fault_of(Device& device) {
  try {
    device.synchronise(device.default_stream());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sdfg::test
