// compile(): keys, caches, handles. The only place that knows both the memory cache and the disk cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <sdfg/compile.hpp>

#include "base/log.hpp"
#include "compile/compiler.hpp"
#include "compile/host_target.hpp"
#include "compile/nvrtc.hpp"
#include "ir/handle.hpp"
#include "jit/build.hpp"
#include "jit/function_impl.hpp"
#include "jit/observe.hpp"
#include "jit/places.hpp"
#include "jit/signature.hpp"
#include "jit/symbol_bounds.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/memory_cache.hpp"
#include "runtime/openmp.hpp"
#include "runtime/process.hpp"
#include "runtime/wait_word.hpp"
#include "transform/gpu/to_host.hpp"

namespace sdfg {

namespace {

using jit::CompiledProgram;
using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kMemoryCacheBytes = std::uint64_t{256} << 20;

std::int64_t since(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - t).count();
}

// The process-wide state of this room. Never destroyed: compiled functions may outlive static destruction.
struct Jit {
  runtime::MemoryCache<CompiledProgram> memory{kMemoryCacheBytes, [](const CompiledProgram& p) {
                                                 const std::int64_t kept = p.objects.empty() ? 0 : p.stats.object_bytes;
                                                 return p.program->code().bytes() + p.source.size() +
                                                        static_cast<std::size_t>(kept);
                                               }};
  std::mutex mutex;
  std::map<std::pair<std::string, int>, std::unique_ptr<runtime::DiskCache>> disks;
  struct Environment {
    Options options;
    HostTarget target;
    std::vector<std::uint8_t> record;
  };
  std::vector<std::shared_ptr<const Environment>> environments;  // most recent first; few distinct ones occur
  std::atomic<std::int64_t> compilations{0}, disk_hits{0}, specializations{0};

  static Jit& get() {
    static Jit* const jit = new Jit;
    return *jit;
  }

  std::shared_ptr<const Environment> environment(const Options& resolved) {
    const std::lock_guard lock(mutex);
    for (const auto& e : environments) {
      if (e->options == resolved) return e;
    }
    auto e = std::make_shared<Environment>();
    e->options = resolved;
    e->target = compiler::host_target(*resolved.target_cpu);
    const std::vector<std::string> missing = compiler::features_missing_here(e->target);
    if (!missing.empty()) {
      std::string names;
      for (const std::string& f : missing) names += (names.empty() ? "" : ", ") + f;
      throw Error(ErrorClass::kEnvironment,
                  "SDFG_TARGET_CPU=" + *resolved.target_cpu + " asks for features that this machine lacks: " + names);
    }
    e->record = jit::environment_record(resolved, e->target);
    environments.insert(environments.begin(), e);
    if (environments.size() > 16) environments.pop_back();
    return e;
  }

  // nullptr: the disk is not to be used.
  runtime::DiskCache* disk(const Options& o) {
    if (*o.cache == CacheMode::kOff || *o.cache == CacheMode::kMemory) return nullptr;
    const std::lock_guard lock(mutex);
    auto& slot = disks[{*o.cache_dir, static_cast<int>(*o.cache)}];
    if (!slot) slot = std::make_unique<runtime::DiskCache>(runtime::disk_cache_options(o));
    return slot->usable() ? slot.get() : nullptr;
  }
};

// What a compiled program is made from, and the key of that.
struct Identity {
  jit::Placement placement;
  std::vector<std::uint8_t> record;
  Digest key;
};

Identity identify(const Graph& graph, const Jit::Environment& env) {
  if (runtime::DiskCache* disk = Jit::get().disk(env.options))
    compiler::keep_nvrtc_note(disk->directory(), disk->writable());
  Identity out;
  ByteWriter writer;
  writer.blob(digest_of_graph(graph).bytes);
  writer.blob(env.record);
  out.placement = jit::place(graph.ir(), env.options);
  out.placement.write(writer);
  out.record = writer.take();
  out.key = digest_of(out.record);
  return out;
}

// A disk has the program, or can't take it: what only served to write it is let go.
void note_disk(CompiledProgram& p, runtime::DiskCache* disk) {
  p.disks.push_back(disk);
  if (p.own_instance) return;
  p.objects = {};
  p.device_code = {};
}

// A program from memory goes to disks that were not in use when it was made, or when it was asked for last.
void store_late(CompiledProgram& p, const Identity& id, runtime::DiskCache* disk) {
  if (disk == nullptr || !disk->writable()) return;
  const std::lock_guard lock(p.disks_mutex);
  if (std::find(p.disks.begin(), p.disks.end(), disk) != p.disks.end()) return;
  if (!p.objects.empty()) {
    disk->store(id.key, jit::to_entry(p, id.record));
  } else {
    for (runtime::DiskCache* other : p.disks) {
      const auto entry = other->load(id.key, id.record);
      if (!entry) continue;
      disk->store(id.key, *entry);
      break;
    }
  }
  note_disk(p, disk);
}

// A program from memory that was made without the files that are asked for now is built once more, for the files.
void write_files_late(CompiledProgram& p, const Graph& graph, Identity id, const Jit::Environment& env) {
  const jit::WantedFiles wanted(graph.ir(), env.options);
  if (wanted.none()) return;
  {
    const std::lock_guard lock(p.disks_mutex);
    if (std::find(p.files.begin(), p.files.end(), wanted) != p.files.end()) return;
  }
  if (id.placement.kind == jit::Placement::Kind::kCuda && !compiler::confirm_nvrtc()) id = identify(graph, env);
  jit::build(graph.ir(), env.options, env.target, id.placement);
  const std::lock_guard lock(p.disks_mutex);
  p.files.push_back(wanted);
}

std::shared_ptr<CompiledProgram> make(const Graph& graph, Identity id, const Jit::Environment& env) {
  Jit& jit = Jit::get();
  const ir::Graph& g = graph.ir();
  runtime::DiskCache* disk = jit.disk(env.options);
  // An entry has the program, not what is dumped on the way to it.
  if (disk != nullptr && jit::WantedFiles(g, env.options).none()) {
    if (auto entry = disk->load(id.key, id.record)) {
      try {
        auto p = jit::from_entry(g, env.options, id.placement, std::move(*entry));
        jit::observe(*p->program, p->program, g, env.options);
        p->stats.origin = CompileStats::Origin::kDisk;
        note_disk(*p, disk);
        jit.disk_hits.fetch_add(1, std::memory_order_relaxed);
        return p;
      } catch (const Error& e) {  // a miss is always safe
        log(Logger::kCache, LogLevel::kWarning, std::string("a cache entry could not be loaded: ") + e.what());
      }
    }
  }
  // From here on NVRTC itself is needed, which may be another one than was noted.
  if (id.placement.kind == jit::Placement::Kind::kCuda && !compiler::confirm_nvrtc()) id = identify(graph, env);
  auto p = jit::build(g, env.options, env.target, id.placement);
  jit::observe(*p->program, p->program, g, env.options);
  jit.compilations.fetch_add(1, std::memory_order_relaxed);
  if (disk != nullptr && disk->writable()) {
    disk->store(id.key, jit::to_entry(*p, std::move(id.record)));
    note_disk(*p, disk);
  } else if (*env.options.cache == CacheMode::kOff && !p->own_instance) {  // nobody else will ask for it
    p->objects = {};
    p->device_code = {};
  }
  return p;
}

ir::Graph specialized(const ir::Graph& g, const std::map<std::string, std::int64_t>& values) {
  ir::Graph out = g.clone();
  symbolic::Substitution by;
  for (const auto& [name, value] : values) {
    const ir::Symbol* s = out.symbols.find(name);
    if (s == nullptr || s->binder != ir::BinderKind::kParameter) {
      throw Error(ErrorClass::kUsage,
                  "Options::specialize names '" + name + "', which is no symbol parameter of graph '" + g.name + "'");
    }
    by.emplace(name, symbolic::Expr(value));
  }
  if (const auto broken = jit::broken_symbol_bound(out, {values.begin(), values.end()}))
    throw Error(ErrorClass::kUsage, "Options::specialize of '" + g.name + "': " + *broken);
  ir::substitute_symbols(out, out.body, by);
  for (ir::Container& c : out.containers) {
    c.layout = c.layout.substituted(by);
    c.viewed_subset = symbolic::substitute(c.viewed_subset, by);
    c.buffer_size = symbolic::substitute(c.buffer_size, by);
  }
  for (const auto& [name, value] : values) {
    std::erase(out.parameters, name);
    out.symbols.erase(name);
  }
  return out;
}

// What SDFG_LOG and SDFG_DEBUG show of a compilation: its total, what was decided, the graph, the source.
void report(const ir::Graph& g, const detail::FunctionImpl& f, const CompiledProgram& p) {
  const CompileStats& s = f.stats;
  if (log_enabled(Logger::kBuild, LogLevel::kInfo)) {
    const char* origin = s.origin == CompileStats::Origin::kMemory ? "memory"
                         : s.origin == CompileStats::Origin::kDisk ? "disk"
                                                                   : "the compiler";
    const auto ms = [](std::int64_t ns) { return std::to_string(static_cast<double>(ns) * 1e-6); };
    log(Logger::kBuild, LogLevel::kInfo,
        "graph '" + g.name + "' from " + origin + " in " + ms(s.total_ns) + " ms (passes " + ms(s.passes_ns) +
            ", front end " + ms(s.frontend_ns) + ", optimiser " + ms(s.optimise_ns) + ", code generation " +
            ms(s.codegen_ns) + ")");
  }
  if (s.origin == CompileStats::Origin::kMemory) return;
  if (log_enabled(Logger::kPass, LogLevel::kDebug)) {
    for (const std::string& line : p.explanations) log(Logger::kPass, LogLevel::kDebug, line);
  }
  if (log_enabled(Logger::kCodegen, LogLevel::kDebug)) log(Logger::kCodegen, LogLevel::kDebug, p.source);
  if (log_enabled(Logger::kBuild, LogLevel::kDebug)) log(Logger::kBuild, LogLevel::kDebug, p.graph_text);
}

}  // namespace

AnyFunction compile(const Graph& graph, const Options& options) {
  const Clock::time_point start = Clock::now();
  runtime::require_original_process("compile()");
  if (!options.specialize.empty()) {
    Options rest = options;
    rest.specialize.clear();
    const std::int64_t n = Jit::get().specializations.fetch_add(1, std::memory_order_relaxed) + 1;
    if (n == 65)
      log(Logger::kBuild, LogLevel::kWarning,
          "more than 64 specialized variants were asked for in this process; each is a program of its own");
    return compile(Graph(std::make_shared<const ir::Graph>(specialized(graph.ir(), options.specialize))), rest);
  }
  const Options resolved = resolve(options);
  configure_log(resolved);
  if (resolved.host_maps->mode == HostMaps::Mode::kNamed) {
    // Another graph: its digest tells which maps these are, whatever the labels.
    ir::Graph changed = graph.ir().clone();
    const transform::KeptOnHost kept = transform::keep_on_host(changed, resolved.host_maps->labels);
    for (const std::string& label : kept.unknown)
      warn_once(Logger::kDevice,
                "SDFG_HOST_MAPS names '" + label + "', which is no map of graph '" + graph.name() + "'");
    Options rest = options;
    rest.host_maps = HostMaps{};
    return compile(kept.changed ? Graph(std::make_shared<const ir::Graph>(std::move(changed))) : graph, rest);
  }
  Jit& jit = Jit::get();
  const auto env = jit.environment(resolved);
  runtime::choose_threads_backend(*resolved.threads_backend);
  compiler::set_compile_lanes(*resolved.compile_threads);

  const Clock::time_point key_start = Clock::now();
  const Identity id = identify(graph, *env);
  const std::int64_t key_ns = since(key_start);

  auto f = std::make_shared<detail::FunctionImpl>();
  std::shared_ptr<CompiledProgram> made;
  bool tried = false;
  auto make_program = [&] {
    tried = true;
    return made = make(graph, id, *env);
  };
  if (*resolved.cache == CacheMode::kRefresh) jit.memory.erase(id.key);
  std::shared_ptr<CompiledProgram> p;
  try {
    p = *resolved.cache == CacheMode::kOff ? make_program() : jit.memory.get(id.key, make_program);
  } catch (const Error&) {
    // A failure that was kept: what is dumped before it happens, and the bundle, are for finding its cause.
    const bool silent = resolved.repro->folder.empty() && resolved.dump->empty();
    if (!tried && !silent) jit::build(graph.ir(), env->options, env->target, id.placement);
    throw;
  }
  if (p != made) {
    store_late(*p, id, jit.disk(env->options));
    write_files_late(*p, graph, id, *env);
  }
  f->graph = graph.share();
  f->compiled = p;
  f->stats = p->stats;
  if (p != made)
    f->stats = CompileStats{.origin = CompileStats::Origin::kMemory,
                            .source_bytes = p->stats.source_bytes,
                            .object_bytes = p->stats.object_bytes};
  f->program = p->program;
  if (p->own_instance && p != made) {
    f->program = jit::load(*p, resolved);
    jit::observe(*f->program, f->program, graph.ir(), resolved);
  }
  f->stats.key_ns = key_ns;
  f->stats.total_ns = since(start);
  report(graph.ir(), *f, *p);
  jit::trace_compilation(resolved, graph.name(), runtime::now_ns() - f->stats.total_ns, f->stats);
  return AnyFunction(std::move(f));
}

std::future<AnyFunction> compile_async(const Graph& graph, const Options& options) {
  return std::async(std::launch::async, [graph, options] { return compile(graph, options); });
}

void precompile(std::span<const Graph> graphs, const Options& options) {
  std::vector<std::future<AnyFunction>> pending;
  pending.reserve(graphs.size());
  for (const Graph& g : graphs) pending.push_back(compile_async(g, options));
  std::exception_ptr first;
  for (auto& f : pending) {
    try {
      f.get();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

Statistics statistics() {
  Jit& jit = Jit::get();
  const runtime::MemoryCacheStats m = jit.memory.stats();
  Statistics s;
  s.compilations = jit.compilations.load(std::memory_order_relaxed);
  s.memory_hits = m.hits;
  s.disk_hits = jit.disk_hits.load(std::memory_order_relaxed);
  s.failures = m.failures;
  s.loaded_programs = m.entries;
  s.specializations = jit.specializations.load(std::memory_order_relaxed);
  return s;
}

void clear_memory_cache() {
  Jit::get().memory.clear();
}

}  // namespace sdfg
