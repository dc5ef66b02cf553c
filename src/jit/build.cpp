// Runs the stages that make a program and turns their failures into errors that name elements of the graph.
#include "jit/build.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <map>
#include <new>
#include <system_error>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/write_file.hpp"
#include "codegen/device_text.hpp"
#include "compile/analyse_cpp.hpp"
#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
#include "io/views.hpp"
#include "ir/digest.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"
#include "jit/analyse_tasklets.hpp"
#include "jit/observe.hpp"
#include "jit/places.hpp"
#include "jit/reproduce.hpp"
#include "jit/signature.hpp"
#include "library/expand.hpp"
#include "lower/abi.hpp"
#include "lower/host.hpp"
#include "runtime/device_program.hpp"
#include "runtime/libraries.hpp"
#include "transform/gpu/prepare.hpp"
#include "transform/gpu/to_host.hpp"
#include "transform/lower_prepare/prepare.hpp"

namespace sdfg::jit {

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t since(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - t).count();
}

compiler::FpOptions fp_options(const FloatingPoint& fp) {
  compiler::FpOptions out;
  out.contract = fp.contract;
  out.reassociate = fp.reassociate;
  out.finite = fp.finite;
  out.approximate = fp.approximate;
  return out;
}

// Longer texts are left at the compiler's level 2: level 3 took an eighth more time for a program of 250,000 characters
// and made it no faster.
constexpr std::size_t kLongText = 150'000;

compiler::CompileRequest request_for(std::string source, const Options& o, const HostTarget& target) {
  compiler::CompileRequest r;
  r.kind = compiler::CodeKind::kHostObject;
  r.name = "sdfg.cpp";
  r.source = std::move(source);
  r.triple = target.triple;
  r.cpu = target.cpu;
  r.features = target.features;
  r.opt_level = r.source.size() > kLongText ? std::min(*o.opt_level, 2) : *o.opt_level;
  r.fp = fp_options(*o.fp);
  r.openmp = true;
  r.divide = true;
  r.debug_info = o.profile->has(Profile::kGdb);
  r.flags = {"-Wno-pass-failed"};  // a simd mark that the compiler can't use is no fault of the user's
  r.build_ids = compiler::host_build_ids();
  r.build_ids.push_back(lower::abi_digest().hex());
  return r;
}

std::string line_of(const std::string& text, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < line && begin != std::string::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos || begin >= text.size()) return {};
  std::string out = text.substr(begin, text.find('\n', begin) - begin);
  out.erase(0, std::min(out.find_first_not_of(' '), out.size()));
  return out;
}

void dump(const Options& o, const std::string& name, const char* extension, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(*o.dump_dir, ignored);
  std::string file;
  for (const char c : name) file += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ? c : '_';
  const std::string path = *o.dump_dir + "/" + file + extension;
  if (const std::error_code failed = write_file(path, text))
    warn_once(Logger::kBuild, "the dump '" + path + "' could not be written: " + failed.message());
}

// What the compiler makes of the source on its way to the object.
void dump_text(const ir::Graph& g, compiler::CompileRequest request, const Options& o, compiler::CodeKind kind,
               const char* extension) {
  request.kind = kind;
  const compiler::CompileResult result = compiler::compile_host(request, compiler::limits_of(o));
  if (result.ok) dump(o, g.name, extension, std::string(result.payload.begin(), result.payload.end()));
}

// Whether LAPACK's function is here; what is used is remembered with the program.
bool may_call(CompiledProgram& p, std::string_view name) {
  try {
    runtime::library_symbol(lower::HostLibrary::kLapack, name);
  } catch (const Error& e) {
    log(Logger::kBuild, LogLevel::kInfo, std::string(e.message()) + "; loops are used instead");
    return false;
  }
  if (std::find(p.lapack.begin(), p.lapack.end(), name) == p.lapack.end()) p.lapack.emplace_back(name);
  return true;
}

// Why a function of a device library can't be called; the libraries in use are remembered with the program.
std::string problem_of_library(CompiledProgram& p, device::Device& device, DeviceFunction f) {
  const DeviceLibrary library = library_of(f);
  std::string problem = device.library_problem(library);
  if (!problem.empty()) {
    log(Logger::kDevice, LogLevel::kInfo, problem + "; kernels are used instead");
    return problem;
  }
  if (std::find(p.device_libraries.begin(), p.device_libraries.end(), library) == p.device_libraries.end())
    p.device_libraries.push_back(library);
  return problem;
}

// C++ text in a graph is the user's own when the graph was built here; a loader marks what it brings.
void refuse_foreign_code(const ir::Graph& g, const Options& o) {
  if (o.allow_foreign_code || !g.foreign) return;
  if (!g.code.empty()) {
    throw Error(ErrorClass::kUsage,
                "graph '" + g.name + "' was loaded from a file and brings C++ code of its own (global code)", {},
                "set Options::allow_foreign_code if you trust the file");
  }
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& n : s->nodes) {
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t != nullptr && t->code.language == tasklet::Language::kCpp) {
        throw Error(
            ErrorClass::kUsage,
            "graph '" + g.name + "' was loaded from a file and brings C++ code of its own (tasklet '" + n.label + "')",
            ir::places_of(g, n.id), "set Options::allow_foreign_code if you trust the file");
      }
    }
  });
}

runtime::ProgramInfo info_for(const ir::Graph& g, const Options& o) {
  runtime::ProgramInfo info;
  info.debugger = o.profile->has(Profile::kGdb);
  info.name = g.name;
  info.elements = places_of(g, ir::ordinals(g));
  const std::vector<Parameter> parameters = parameters_of(g);
  info.argument_layout = signature_text(parameters);
  return info;
}

// A state of this machine and this moment, not a property of the graph: the next attempt starts afresh.
void throw_fault_of_machine(const ir::Graph& g, const compiler::CompileResult& result,
                            const std::vector<compiler::Diagnostic>& diagnostics) {
  if (result.ok || result.fault == compiler::Fault::kCode) return;
  std::string hint = "raise the limits of processes, threads and memory (ulimit -u, ulimit -v), or free some";
  if (result.timed_out) hint = "SDFG_COMPILE_TIMEOUT raises the limit; 0 is none";
  const bool resource = result.fault == compiler::Fault::kResource;
  if (!resource)
    hint = "libsdfg.so, libsdfg-compiler.so and sdfg-compile-helper have to come from one build, in one folder";
  throw Error(resource ? ErrorClass::kResource : ErrorClass::kEnvironment,
              "graph '" + g.name + "' could not be compiled: " +
                  (diagnostics.empty() ? std::string("the compiler gave no reason") : diagnostics.back().text),
              {}, std::move(hint));
}

[[noreturn]] void throw_compile_error(const ir::Graph& g, const std::vector<compiler::Diagnostic>& diagnostics,
                                      const std::string& source, const codegen::SourceMap& map,
                                      const std::vector<Error::Place>& places) {
  for (const compiler::Diagnostic& d : diagnostics) {
    if (d.severity != compiler::Severity::kError && d.severity != compiler::Severity::kFatal) continue;
    const int origin = map.origin(d.line);
    std::vector<Error::Place> where;
    if (origin >= 0 && static_cast<std::size_t>(origin) < places.size())
      where.push_back(places[static_cast<std::size_t>(origin)]);
    const std::string line = line_of(source, d.line);
    throw Error(ErrorClass::kCompile,
                "the code generated for graph '" + g.name + "' does not compile: " + d.text +
                    (line.empty() ? "" : ", in `" + line + "`"),
                std::move(where), "SDFG_DUMP=source writes the generated code to SDFG_DUMP_DIR");
  }
  throw Error(ErrorClass::kCompile,
              "the code generated for graph '" + g.name + "' does not compile, and the compiler gave no reason");
}

std::int64_t bytes_of(const std::vector<std::vector<std::uint8_t>>& objects) {
  std::size_t bytes = 0;
  for (const std::vector<std::uint8_t>& object : objects) bytes += object.size();
  return static_cast<std::int64_t>(bytes);
}

bool owns_state(const ir::Graph& g) {
  for (const ir::Container& c : g.containers) {
    if (c.lifetime != ir::Lifetime::kScope) return true;
  }
  return false;
}

}  // namespace

WantedFiles::WantedFiles(const ir::Graph& g, const Options& resolved)
    : graph(g.name),
      dump(*resolved.dump),
      dump_dir(*resolved.dump_dir),
      bundle_dir(resolved.repro->always ? resolved.repro->folder : std::string()) {}

std::vector<std::uint8_t> environment_record(const Options& resolved, const HostTarget& target) {
  ByteWriter out;
  out.text("sdfg program 2");
  out.blob(bytes_for_key(resolved));
  out.boolean(resolved.allow_foreign_code);
  out.i64(*resolved.num_threads);
  const Instrumentation instruments = instrumentation(resolved);
  out.boolean(instruments.calls);
  out.boolean(instruments.elements);
  out.i64(static_cast<std::int64_t>(*resolved.validate));  // an observer belongs to its program
  out.text(*resolved.trace);
  out.text(target.triple);
  out.text(target.cpu);
  for (const std::string& f : target.features) out.text(f);
  for (const std::string& id : compiler::host_build_ids()) out.text(id);
  out.text(lower::abi_digest().hex());
  return out.take();
}

namespace {

// A line per kernel: its blocks, what its threads sum up, and how many accumulations stay atomic.
void explain_kernels(const ir::Graph& g, std::vector<std::string>& out) {
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* kernel = std::get_if<ir::Map>(&e.kind);
    if (kernel == nullptr || kernel->schedule != ir::Schedule::kDevice) return;
    std::string text = ir::describe(g, e) + ": a kernel in blocks of ";
    for (std::size_t k = 0; k < kernel->gpu_block_size.size(); ++k)
      text += (k ? " x " : "") + std::to_string(kernel->gpu_block_size[k]);
    int atomics = 0, blocks = 0;
    const auto reductions = [&](const ir::Map& m) {
      for (const ir::Map::Reduction& r : m.reductions)
        text += ", " + std::string(ir::to_string(r.op)) + " of '" + r.container + "' by partial results";
    };
    reductions(*kernel);
    ir::walk(kernel->body, [&](const ir::Element& inner, const ir::Ancestors&) {
      if (const auto* m = std::get_if<ir::Map>(&inner.kind)) {
        reductions(*m);
        blocks += m->schedule == ir::Schedule::kThreadBlock ? 1 : 0;
      }
      const auto* s = std::get_if<ir::State>(&inner.kind);
      if (s == nullptr) return;
      for (const ir::Memlet& m : s->edges) atomics += m.wcr && m.wcr->lowering == ir::WcrLowering::kAtomic ? 1 : 0;
    });
    if (blocks > 0) text += ", " + std::to_string(blocks) + " thread-block map" + (blocks > 1 ? "s" : "");
    if (atomics > 0) text += ", " + std::to_string(atomics) + " atomic accumulation" + (atomics > 1 ? "s" : "");
    if (e.issue && e.issue->stream > 0) text += ", on stream " + std::to_string(e.issue->stream);
    out.push_back(std::move(text));
  });
}

using Schedules = std::map<ir::Id, ir::Schedule>;

// What the graph asks for, before passes decide the rest.
Schedules schedules_of(const ir::Graph& g) {
  Schedules out;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    if (const auto* m = std::get_if<ir::Map>(&e.kind)) out[e.id] = m->schedule;
  });
  return out;
}

// How a map of the host runs, and why. Reads what assign_schedules, mark_reductions and mark_simd wrote.
std::string decision_of(const ir::Map& m, ir::Schedule asked, bool in_parallel) {
  std::string text;
  if (m.schedule == ir::Schedule::kParallel) {
    text = "parallel";
    if (m.collapse > 1) text += " over " + std::to_string(m.collapse) + " dimensions";
    if (asked == ir::Schedule::kParallel) text += ", as its schedule asks";
  } else if (in_parallel) {
    text = "sequential, inside a parallel map";
  } else if (asked == ir::Schedule::kSequential) {
    text = "sequential, as its schedule asks";
  } else {
    text = "sequential, with too little work to share among threads";
  }
  if (m.simd) text += ", vectorised";
  for (const ir::Map::Reduction& r : m.reductions)
    text += ", " + std::string(ir::to_string(r.op)) + " by partial results";
  return text;
}

// One for each map of the graph as it was handed over that runs on the host.
void explain_maps(const ir::Graph& g, const ir::Ordinals& ordinals, const Schedules& asked,
                  std::vector<Decision>& out) {
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors& around) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    const auto ordinal = ordinals.of_id.find(e.id);
    const auto before = asked.find(e.id);
    if (m == nullptr || ordinal == ordinals.of_id.end() || before == asked.end()) return;
    if (m->schedule != ir::Schedule::kParallel && m->schedule != ir::Schedule::kSequential) return;
    bool in_parallel = false, in_kernel = false;
    for (const ir::Element* outer : around) {
      const auto* map = std::get_if<ir::Map>(&outer->kind);
      const auto* consume = std::get_if<ir::Consume>(&outer->kind);
      const ir::Schedule s = map != nullptr       ? map->schedule
                             : consume != nullptr ? consume->schedule
                                                  : ir::Schedule::kDefault;
      in_parallel = in_parallel || s == ir::Schedule::kParallel;
      in_kernel = in_kernel || s == ir::Schedule::kDevice;
    }
    if (in_kernel) return;
    const auto first = static_cast<std::int32_t>(ordinals.containers.size());
    out.push_back({first + ordinal->second, decision_of(*m, before->second, in_parallel)});
  });
}

transform::DeviceOptions device_options(const Options& o) {
  transform::DeviceOptions out;
  for (std::size_t k = 0; k < 3; ++k) out.block[k] = o.gpu_block_size->threads[k];
  out.streams = *o.gpu_streams;
  out.opt_level = *o.opt_level;
  out.strict = !o.fp->contract && !o.fp->vector_math;
  return out;
}

// Compiles the kernels; runs beside the compilation of the host's half.
compiler::CompileResult compile_kernels(const std::string& source, const Options& o, const HostTarget& target,
                                        const Placement& placement) {
  if (placement.kind == Placement::Kind::kEmulated) {
    compiler::CompileRequest r = request_for(source, o, target);
    r.name = "kernels.cpp";
    r.openmp = false;
    r.divide = false;
    r.checks = compiler::MemoryChecks::kKernel;
    return compiler::compile_host(r, compiler::limits_of(o));
  }
  compiler::CompileRequest r;
  r.kind = placement.build.kind;
  r.name = "kernels.cu";
  r.source = source;
  r.cpu = placement.build.architecture;
  r.fp = fp_options(*o.fp);
  r.flags = {"--device-as-default-execution-space"};  // functions of the user's C++ text say nothing about it
  r.build_ids = compiler::device_build_ids();
  return compiler::compile_device(r);
}

void build_into(const std::shared_ptr<CompiledProgram>& p, const ir::Graph& g, const Options& o,
                const HostTarget& target) {
  const Placement& placement = p->placement;
  CompileStats& stats = p->stats;
  Clock::time_point t = Clock::now();
  ir::check(g);
  refuse_foreign_code(g, o);
  stats.validate_ns = since(t);

  t = Clock::now();
  if (o.dump->has(Dump::kGraph)) dump(o, g.name, ".graph.txt", ir::to_text(g));
  if (o.dump->has(Dump::kDot)) dump(o, g.name, ".dot", io::to_graphviz(g));
  if (o.dump->has(Dump::kHtml)) dump(o, g.name, ".html", io::to_html(g));
  ir::Graph work = g.clone();
  analyse_cpp_tasklets(work, compiler::analyse_cpp);
  if (placement.kind == Placement::Kind::kHost) transform::to_host(work);  // expansions depend on where memory is
  library::ExpandOptions expansion;
  expansion.opt_level = *o.opt_level;
  expansion.vector_bytes = target.vector_bytes();
  expansion.lapack = [&](std::string_view name) { return may_call(*p, name); };
  if (placement.on_device())
    expansion.device_library = [&](DeviceFunction f) { return problem_of_library(*p, *placement.device, f); };
  library::expand_library_nodes(work, expansion, &p->explanations);
  if (*o.verify) ir::check(work);
  transform::PrepareOptions prepare;
  prepare.opt_level = *o.opt_level;
  transform::PassSelection selection;
  selection.only = *o.passes;
  selection.skip = *o.skip_passes;
  selection.verify = *o.verify;
  int passes_run = 0;
  if (o.dump->has(Dump::kPasses)) {
    selection.ran = [&](std::string_view pass, const ir::Graph& now) {
      dump(o, g.name + "." + std::to_string(++passes_run) + "_" + std::string(pass), ".txt", ir::to_text(now));
    };
  }
  transform::check_selection(selection);
  if (!placement.reason.empty()) p->explanations.push_back(placement.reason);
  const Schedules asked = schedules_of(g);
  if (placement.on_device()) {
    transform::prepare_for_device(work, prepare, device_options(o), selection, &p->explanations);
    explain_kernels(work, p->explanations);
  } else {
    transform::prepare_for_cpu(work, prepare, selection);
  }
  explain_maps(work, ir::ordinals(g), asked, p->decisions);
  if (*o.num_threads > 0) {
    ir::walk(work.body, [&](ir::Element& e) {
      if (auto* m = std::get_if<ir::Map>(&e.kind); m != nullptr && m->num_threads == 0) m->num_threads = *o.num_threads;
    });
  }
  p->graph_text = ir::to_text(work);
  stats.passes_ns = since(t);

  t = Clock::now();
  const ir::Ordinals ordinals = ir::ordinals(g);
  lower::LowerOptions lower_options;
  lower_options.opt_level = *o.opt_level;
  lower_options.check_bounds = o.check->has(Check::kBounds);
  lower_options.check_numbers = o.check->has(Check::kNan);
  const Instrumentation instruments = instrumentation(o);
  lower_options.observe = instruments.calls;
  lower_options.trace = instruments.elements;
  lower_options.index_helpers = o.style->has(Style::kIndexHelpers);
  lower_options.device = placement.on_device();
  // A fault of recorded work has no launch of its own that could be waited for.
  lower_options.repeat_launches = placement.on_device() && *o.gpu_graphs != Toggle::kOff && !*o.gpu_sync;
  const lower::Lowered lowered = lower::lower_graph(work, lower_options, ordinals);
  codegen::Style style;
  style.labels = o.style->has(Style::kComments);
  style.const_locals = o.style->has(Style::kConstLocals);
  style.braces = o.style->has(Style::kBraces);
  style.hoist_loops = o.style->has(Style::kHoistLoops);
  codegen::Source source = codegen::print(lowered.host, style);
  p->source = std::move(source.text);
  p->map = std::move(source.map);
  p->kernels = lowered.device.kernels;
  if (!lowered.device.empty()) {
    const auto dialect =
        placement.kind == Placement::Kind::kCuda ? codegen::DeviceDialect::kCuda : codegen::DeviceDialect::kEmulated;
    codegen::Source kernels = codegen::print_device(lowered.device, dialect, style);
    p->device_source = std::move(kernels.text);
    p->device_map = std::move(kernels.map);
  }
  stats.lower_ns = since(t);
  stats.source_bytes = static_cast<std::int64_t>(p->source.size());
  if (o.dump->has(Dump::kSource)) dump(o, g.name, ".cpp", p->source);
  if (o.dump->has(Dump::kSource) && !p->device_source.empty()) dump(o, g.name, ".cu", p->device_source);

  compiler::CompileRequest request = request_for(p->source, o, target);
  request.straight = lower::is_straight(lowered.host);
  if (o.dump->has(Dump::kIr)) dump_text(g, request, o, compiler::CodeKind::kHostIr, ".ll");
  if (o.dump->has(Dump::kAsm)) dump_text(g, request, o, compiler::CodeKind::kHostAssembly, ".s");
  std::future<compiler::CompileResult> kernels;
  if (!p->device_source.empty()) {
    kernels = std::async(std::launch::async, [&] { return compile_kernels(p->device_source, o, target, placement); });
  }
  if (placement.kind == Placement::Kind::kEmulated) {
    request.divide = false;
    request.checks = compiler::MemoryChecks::kHost;
  }
  compiler::CompileResult result = compiler::compile_host(request, compiler::limits_of(o));
  for (const compiler::PhaseTime& phase : result.times) {
    if (phase.phase == "frontend")
      stats.frontend_ns += phase.nanoseconds;
    else if (phase.phase == "optimise")
      stats.optimise_ns += phase.nanoseconds;
    else
      stats.codegen_ns += phase.nanoseconds;
  }
  p->diagnostics = std::move(result.diagnostics);
  p->info = info_for(g, o);
  if (kernels.valid()) {
    compiler::CompileResult device = kernels.get();
    for (const compiler::PhaseTime& phase : device.times) stats.device_ns += phase.nanoseconds;
    p->device_diagnostics = std::move(device.diagnostics);
    p->device_code = std::move(device.payload);
    throw_fault_of_machine(g, device, p->device_diagnostics);
    if (result.ok && !device.ok)
      throw_compile_error(g, p->device_diagnostics, p->device_source, p->device_map, p->info.elements);
  }
  throw_fault_of_machine(g, result, p->diagnostics);
  if (!result.ok) throw_compile_error(g, p->diagnostics, p->source, p->map, p->info.elements);

  t = Clock::now();
  p->own_instance = owns_state(g);
  p->objects.push_back(std::move(result.payload));
  for (std::vector<std::uint8_t>& object : result.more) p->objects.push_back(std::move(object));
  stats.object_bytes = bytes_of(p->objects);
  p->program = load(*p, o);
  stats.load_ns = since(t);
}

}  // namespace

std::shared_ptr<runtime::Program> load(const CompiledProgram& p, const Options& o) {
  const std::vector<std::span<const std::uint8_t>> objects(p.objects.begin(), p.objects.end());
  if (!p.placement.on_device()) return runtime::Program::load(objects, p.info);
  runtime::DevicePart part;
  part.device = p.placement.device;
  part.kernels = p.kernels;
  part.code = p.device_code;
  part.origin_of_line.assign(p.device_map.origin_of_line.begin(), p.device_map.origin_of_line.end());
  part.host_origin_of_line.assign(p.map.origin_of_line.begin(), p.map.origin_of_line.end());
  part.waits_in_code = compiler::architecture_number(p.placement.build.architecture) >= 90;
  part.streams = *o.gpu_streams;
  part.synchronise = *o.gpu_sync;
  part.pool_max = *o.gpu_pool_max;
  part.graphs = *o.gpu_graphs;
  part.check_races = o.check->has(Check::kRaces);
  part.check_uninitialised = o.check->has(Check::kUninitialised);
  return runtime::Program::load(objects, p.info, std::move(part));
}

std::shared_ptr<CompiledProgram> build(const ir::Graph& g, const Options& o, const HostTarget& target,
                                       const Placement& placement) {
  auto p = std::make_shared<CompiledProgram>();
  p->placement = placement;
  const bool reproduce = !o.repro->folder.empty();
  try {
    build_into(p, g, o, target);
  } catch (const Error& e) {
    if (reproduce) write_reproducer(g, o, target, p->source, &e);
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorClass::kResource, "there was no memory left to compile graph '" + g.name + "'");
  } catch (const std::system_error& e) {  // of a thread
    throw Error(ErrorClass::kResource, "graph '" + g.name + "' could not be compiled: " + e.what(), {},
                "raise the limit of threads (ulimit -u)");
  }
  if (reproduce && o.repro->always) write_reproducer(g, o, target, p->source, nullptr);
  p->files.emplace_back(g, o);
  return p;
}

runtime::CacheEntry to_entry(const CompiledProgram& p, std::vector<std::uint8_t> record) {
  runtime::CacheEntry e;
  e.input_record = std::move(record);
  ByteWriter metadata;
  metadata.text(p.info.argument_layout);
  metadata.u64(p.explanations.size());
  for (const std::string& s : p.explanations) metadata.text(s);
  metadata.u64(p.decisions.size());
  for (const Decision& d : p.decisions) {
    metadata.i64(d.ordinal);
    metadata.text(d.text);
  }
  metadata.u64(p.lapack.size());
  for (const std::string& s : p.lapack) metadata.text(s);
  metadata.u64(p.device_libraries.size());
  for (const DeviceLibrary l : p.device_libraries) metadata.u64(static_cast<std::uint64_t>(l));
  metadata.text(p.device_source);
  metadata.u64(p.device_map.origin_of_line.size());
  for (const int origin : p.device_map.origin_of_line) metadata.u64(static_cast<std::uint64_t>(origin));
  metadata.u64(p.kernels.size());
  for (const lower::Kernel& k : p.kernels) {
    metadata.text(k.name);
    for (const std::int64_t n : {std::int64_t{k.ordinal}, k.max_threads, k.shared_bytes, std::int64_t{k.waits}})
      metadata.u64(static_cast<std::uint64_t>(n));
    metadata.u64(k.parameters.size());
    for (const lower::KernelParameter& q : k.parameters) {
      metadata.text(q.name);
      for (const std::int64_t n :
           {std::int64_t{q.bytes}, std::int64_t{q.ordinal},
            std::int64_t{(q.is_pointer ? 1 : 0) + (q.is_const ? 2 : 0) + (q.is_restrict ? 4 : 0)}})
        metadata.u64(static_cast<std::uint64_t>(n));
    }
  }
  e.metadata = metadata.take();
  for (const std::vector<std::uint8_t>& object : p.objects)
    e.payloads.push_back({compiler::CodeKind::kHostObject, "", object});
  if (!p.device_code.empty()) {
    const bool emulated = p.placement.kind == Placement::Kind::kEmulated;
    e.payloads.push_back(
        {emulated ? compiler::CodeKind::kHostObject : p.placement.build.kind, "kernels", p.device_code});
  }
  e.diagnostics = p.diagnostics;
  e.source = p.source;
  ByteWriter map;
  for (const int origin : p.map.origin_of_line) map.u32(static_cast<std::uint32_t>(origin));
  e.source_map = map.take();
  e.compile_ns = p.stats.frontend_ns + p.stats.optimise_ns + p.stats.codegen_ns;
  e.producer = compiler::library_build_id();
  return e;
}

namespace {

// Reads what to_entry wrote with ByteWriter.
class ByteReader {
 public:
  explicit ByteReader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  std::uint64_t u64() {
    std::uint64_t v = 0;
    if (bytes_.size() - at_ < 8) fail();
    for (int i = 0; i < 8; ++i) v |= std::uint64_t{bytes_[at_++]} << (8 * i);
    return v;
  }
  std::string text() {
    const std::uint64_t n = u64();
    if (n > bytes_.size() - at_) fail();
    std::string out(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                    bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + n));
    at_ += n;
    return out;
  }

 private:
  [[noreturn]] static void fail() {
    throw Error(ErrorClass::kLoad, "a cache entry's metadata is shorter than it says");
  }
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::shared_ptr<CompiledProgram> from_entry(const ir::Graph& g, const Options& o, const Placement& placement,
                                            runtime::CacheEntry entry) {
  auto p = std::make_shared<CompiledProgram>();
  p->placement = placement;
  const Clock::time_point t = Clock::now();
  p->info = info_for(g, o);
  ByteReader metadata(entry.metadata);
  if (metadata.text() != p->info.argument_layout)
    throw Error(ErrorClass::kLoad, "a cache entry has another argument layout than graph '" + g.name + "'");
  for (std::uint64_t n = metadata.u64(); n > 0; --n) p->explanations.push_back(metadata.text());
  for (std::uint64_t n = metadata.u64(); n > 0; --n) {
    const auto ordinal = static_cast<std::int32_t>(metadata.u64());
    p->decisions.push_back({ordinal, metadata.text()});
  }
  for (std::uint64_t n = metadata.u64(); n > 0; --n) {
    p->lapack.push_back(metadata.text());
    try {
      runtime::library_symbol(lower::HostLibrary::kLapack, p->lapack.back());
    } catch (const Error& e) {  // compiled where the library was installed
      throw Error(ErrorClass::kLoad, e.message(), {}, e.hint());
    }
  }
  for (std::uint64_t n = metadata.u64(); n > 0; --n) {
    const std::uint64_t library = metadata.u64();
    if (library >= kDeviceLibraryCount || !placement.on_device())
      throw Error(ErrorClass::kLoad, "a cache entry names a device library that does not exist");
    p->device_libraries.push_back(static_cast<DeviceLibrary>(library));
    if (const std::string problem = placement.device->library_problem(p->device_libraries.back()); !problem.empty())
      throw Error(ErrorClass::kLoad, problem);
  }
  if (entry.payloads.empty()) throw Error(ErrorClass::kLoad, "a cache entry without code");
  p->device_source = metadata.text();
  for (std::uint64_t n = metadata.u64(); n > 0; --n)
    p->device_map.origin_of_line.push_back(static_cast<int>(metadata.u64()));
  for (std::uint64_t n = metadata.u64(); n > 0; --n) {
    lower::Kernel k;
    k.name = metadata.text();
    k.ordinal = static_cast<std::int32_t>(metadata.u64());
    k.max_threads = static_cast<std::int64_t>(metadata.u64());
    k.shared_bytes = static_cast<std::int64_t>(metadata.u64());
    k.waits = metadata.u64() != 0;
    for (std::uint64_t m = metadata.u64(); m > 0; --m) {
      lower::KernelParameter q;
      q.name = metadata.text();
      q.bytes = static_cast<std::int32_t>(metadata.u64());
      q.ordinal = static_cast<std::int32_t>(metadata.u64());
      const std::uint64_t flags = metadata.u64();
      q.is_pointer = (flags & 1) != 0;
      q.is_const = (flags & 2) != 0;
      q.is_restrict = (flags & 4) != 0;
      k.parameters.push_back(std::move(q));
    }
    p->kernels.push_back(std::move(k));
  }
  if (!p->kernels.empty()) {
    p->device_code = std::move(entry.payloads.back().bytes);
    entry.payloads.pop_back();
  }
  for (runtime::CachePayload& payload : entry.payloads) {
    if (payload.kind != compiler::CodeKind::kHostObject || !payload.name.empty())
      throw Error(ErrorClass::kLoad, "a cache entry with code that nothing asked for");
    p->objects.push_back(std::move(payload.bytes));
  }
  if (p->objects.empty()) throw Error(ErrorClass::kLoad, "a cache entry without code");
  p->own_instance = owns_state(g);
  p->source = std::move(entry.source);
  for (std::size_t i = 0; i + 3 < entry.source_map.size(); i += 4) {
    p->map.origin_of_line.push_back(
        static_cast<int>(std::uint32_t{entry.source_map[i]} | std::uint32_t{entry.source_map[i + 1]} << 8 |
                         std::uint32_t{entry.source_map[i + 2]} << 16 | std::uint32_t{entry.source_map[i + 3]} << 24));
  }
  p->diagnostics = std::move(entry.diagnostics);
  p->stats.object_bytes = bytes_of(p->objects);
  p->stats.source_bytes = static_cast<std::int64_t>(p->source.size());
  p->program = load(*p, o);
  p->stats.load_ns = since(t);
  return p;
}

std::vector<std::string> mapped_diagnostics(const CompiledProgram& p, const std::vector<Error::Place>& places) {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<compiler::Diagnostic>& diagnostics, const codegen::SourceMap& map) {
    for (const compiler::Diagnostic& d : diagnostics) {
      const int origin = map.origin(d.line);
      std::string where;
      if (origin >= 0 && static_cast<std::size_t>(origin) < places.size()) {
        const Error::Place& place = places[static_cast<std::size_t>(origin)];
        where = (place.location.known() ? place.location.str() + ": " : "") + place.what + ": ";
      }
      out.push_back(where + d.text);
    }
  };
  add(p.diagnostics, p.map);
  add(p.device_diagnostics, p.device_map);
  return out;
}

}  // namespace sdfg::jit
