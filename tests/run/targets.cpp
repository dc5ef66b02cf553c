// The interpreter, compiled code and files as targets; comparing memory.
#include "targets.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sdfg/compile.hpp>
#include <sstream>

#include "interpret/interpreter.hpp"
#include "io/sdfg_file.hpp"
#include "ir/digest.hpp"

namespace sdfg::test {

using tasklet::Value;

Memory::Entry& Memory::entry(const std::string& name) {
  const auto alias = aliases_.find(name);
  auto it = entries_.find(alias == aliases_.end() ? name : alias->second.first);
  if (it == entries_.end()) throw Error(ErrorClass::kInternal, "the test gives no memory for '" + name + "'");
  return it->second;
}

void* Memory::address(const std::string& name) {
  if (const auto raw = raws_.find(name); raw != raws_.end()) return raw->second(*this);
  Entry& e = entry(name);
  const auto alias = aliases_.find(name);
  const std::size_t first = kGuard + (alias == aliases_.end() ? 0 : alias->second.second);
  return e.bytes.data() + first * static_cast<std::size_t>(size_of(e.type));
}

void* const* Memory::pack(const ir::Graph& graph) {
  const std::size_t n = graph.parameters.size();
  pointers_.assign(n, nullptr);
  scalars_.assign(n, {});
  packed_.assign(n, nullptr);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string& name = graph.parameters[i];
    const ir::Container* c = graph.containers.find(name);
    const ir::Symbol* s = graph.symbols.find(name);
    if (const auto f = functions_.find(name); f != functions_.end()) {
      pointers_[i] = reinterpret_cast<void*>(f->second);
      packed_[i] = &pointers_[i];
    } else if (const auto v = values_.find(name); v != values_.end()) {
      v->second.cast(c != nullptr ? c->type.scalar() : s->type.scalar()).store(scalars_[i].data());
      packed_[i] = scalars_[i].data();
    } else {
      pointers_[i] = address(name);
      packed_[i] = &pointers_[i];
    }
  }
  return packed_.data();
}

namespace {

double precision_of(ScalarType type) {
  switch (component_of(type)) {
    case ScalarType::kFloat16: return 4e-3 / 1e-12;
    case ScalarType::kBFloat16: return 3e-2 / 1e-12;
    case ScalarType::kFloat32: return 4e-6 / 1e-12;
    default: return 1.0;
  }
}

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-3});
}

}  // namespace

std::string Memory::difference(Memory& want, const std::function<double(const std::string& name)>& tolerance) {
  std::ostringstream out;
  int found = 0;
  for (auto& [name, got] : entries_) {
    const Entry& other = want.entry(name);
    const int size = size_of(got.type);
    const double allowed = tolerance(name) * precision_of(got.type);
    const std::size_t total = got.count + 2 * kGuard;
    for (std::size_t i = 0; i < total; ++i) {
      const std::uint8_t* a = got.bytes.data() + i * static_cast<std::size_t>(size);
      const std::uint8_t* b = other.bytes.data() + i * static_cast<std::size_t>(size);
      if (std::memcmp(a, b, static_cast<std::size_t>(size)) == 0) continue;
      const Value va = Value::load(a, got.type), vb = Value::load(b, got.type);
      if (is_floating(got.type) && close(va.as_double(), vb.as_double(), allowed)) continue;
      if (is_complex(got.type)) {
        const auto ca = va.as_complex(), cb = vb.as_complex();
        if (std::abs(ca - cb) <= allowed * std::max({std::abs(ca), std::abs(cb), 1e-3})) continue;
      }
      if (++found > 5) return out.str() + "...";
      out << name << "[" << static_cast<std::int64_t>(i) - static_cast<std::int64_t>(kGuard) << "] is " << va.str()
          << ", not " << vb.str() << "\n";
    }
  }
  return out.str();
}

namespace {

class InterpreterRunner : public Runner {
 public:
  InterpreterRunner(const ir::Graph& graph, interpret::Options options) : graph_(graph), instance_(graph, options) {}
  void run(Memory& memory) override { instance_.run(interpret::Arguments::from_packed(graph_, memory.pack(graph_))); }

 private:
  const ir::Graph& graph_;
  interpret::Instance instance_;
};

Target interpreter(const std::string& name, interpret::Options options) {
  return {name,
          [options](const ir::Graph& g) -> std::unique_ptr<Runner> {
            return std::make_unique<InterpreterRunner>(g, options);
          },
          true};
}

class CompiledRunner : public Runner {
 public:
  CompiledRunner(const ir::Graph& graph, const sdfg::Options& options)
      : graph_(graph), function_(compile(sdfg::Graph(std::make_shared<const ir::Graph>(graph.clone())), options)) {}
  void run(Memory& memory) override {
    std::vector<std::int64_t> symbols;
    for (const std::string& name : graph_.parameters)
      if (graph_.symbols.contains(name) && graph_.symbols.at(name).type.is_scalar())
        symbols.push_back(memory.integer(name));
    if (const std::int64_t size = function_.workspace_size(symbols); size > 0) {
      workspace_.resize(static_cast<std::size_t>(size) + kWorkspaceAlignment);
      void* at = workspace_.data();
      std::size_t room = workspace_.size();
      std::align(kWorkspaceAlignment, static_cast<std::size_t>(size), at, room);
      function_.set_workspace(at, size);
    }
    function_.call_packed(memory.pack(graph_));
  }

 private:
  static constexpr std::size_t kWorkspaceAlignment = 64;
  const ir::Graph& graph_;
  AnyFunction function_;
  std::vector<std::byte> workspace_;
};

Target compiled(const std::string& name, int level, bool strict) {
  sdfg::Options options;
  options.opt_level = level;
  options.cache = CacheMode::kOff;
  options.device = DeviceChoice{DeviceChoice::Kind::kCpu, 0};
  if (strict) options.fp = FloatingPoint{false, false, false, false, false};
  options.verify = strict;  // every pass leaves a valid graph
  return {
      name,
      [options](const ir::Graph& g) -> std::unique_ptr<Runner> { return std::make_unique<CompiledRunner>(g, options); },
      strict};
}

// Written as a file, read back, interpreted; what was read back must be written and read as itself.
class FileRunner : public Runner {
 public:
  FileRunner(const ir::Graph& graph, SdfgDialect dialect) : graph_(again(graph, dialect)), instance_(graph_, {}) {
    if (ir::digest(again(graph_, dialect)) != ir::digest(graph_))
      throw Error(ErrorClass::kInternal, "writing and reading a graph that was read changes it");
  }
  void run(Memory& memory) override { instance_.run(interpret::Arguments::from_packed(graph_, memory.pack(graph_))); }

 private:
  static ir::Graph again(const ir::Graph& graph, SdfgDialect dialect) {
    SaveOptions options;
    options.dialect = dialect;
    return io::load_bytes(io::write_bytes(graph, options).bytes).graph;
  }
  ir::Graph graph_;
  interpret::Instance instance_;
};

Target file(const std::string& name, SdfgDialect dialect) {
  return {name,
          [dialect](const ir::Graph& g) -> std::unique_ptr<Runner> {
            try {
              return std::make_unique<FileRunner>(g, dialect);
            } catch (const Error& e) {
              // A node that the older release has no word for; nothing else is let through.
              if (dialect != SdfgDialect::kV1 || !e.message().ends_with("that DaCe 1.0.2 does not have")) throw;
              std::printf("NOTICE: %s\n", e.message().c_str());
              return nullptr;
            }
          },
          true};
}

std::vector<Target> all_targets() {
  using interpret::MapOrder;
  std::vector<Target> all;
  // Far more than any test loops: a graph that a shrinker made endless ends here, before it is compiled.
  constexpr std::int64_t kMostIterations = 10'000'000;
  all.push_back(interpreter("interpreter", {MapOrder::kForward, 0, true, kMostIterations}));
  all.push_back(interpreter("interpreter-reverse", {MapOrder::kReverse, 0, false, kMostIterations}));
  all.push_back(interpreter("interpreter-shuffled", {MapOrder::kShuffled, 11, false, kMostIterations}));
  all.push_back(file("file-v2", SdfgDialect::kV2));
  all.push_back(file("file-1.0", SdfgDialect::kV1));
  all.push_back(compiled("cpu-O0", 0, true));
  all.push_back(compiled("cpu-O3", 3, false));
  all.push_back(compiled("cpu-O3-strict", 3, true));
  const char* wanted = std::getenv("SDFG_TEST_TARGETS");
  if (wanted == nullptr) return all;
  std::vector<Target> chosen;
  std::istringstream list(wanted);
  for (std::string name; std::getline(list, name, ',');)
    for (const Target& t : all)
      if (t.name == name) chosen.push_back(t);
  return chosen;
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = all_targets();
  return kTargets;
}

}  // namespace sdfg::test
