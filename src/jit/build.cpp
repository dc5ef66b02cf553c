// Runs the stages that make a program and turns their failures into errors that name elements of the graph.
#include "jit/build.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/env.hpp"
#include "base/log.hpp"
#include "compile/analyse_cpp.hpp"
#include "compile/build_id.hpp"
#include "compile/compiler.hpp"
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

compiler::CompileRequest request_for(std::string source, const Options& o, const HostTarget& target) {
  compiler::CompileRequest r;
  r.kind = compiler::CodeKind::kHostObject;
  r.name = "sdfg.cpp";
  r.source = std::move(source);
  r.triple = target.triple;
  r.cpu = target.cpu;
  r.features = target.features;
  r.opt_level = *o.opt_level;
  r.fp = fp_options(*o.fp);
  r.openmp = true;
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
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) warn_once(Logger::kBuild, "the dump '" + path + "' could not be written");
}

// What the compiler makes of the source on its way to the object.
void dump_text(const ir::Graph& g, const std::string& source, const Options& o, const HostTarget& target,
               compiler::CodeKind kind, const char* extension) {
  compiler::CompileRequest request = request_for(source, o, target);
  request.kind = kind;
  const compiler::CompileResult result = compiler::compile_host(request, compiler::limits_of(o));
  if (result.ok) dump(o, g.name, extension, std::string(result.payload.begin(), result.payload.end()));
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

[[noreturn]] void throw_compile_error(const ir::Graph& g, const CompiledProgram& p,
                                      const std::vector<Error::Place>& places) {
  for (const compiler::Diagnostic& d : p.diagnostics) {
    if (d.severity != compiler::Severity::kError && d.severity != compiler::Severity::kFatal) continue;
    const int origin = p.map.origin(d.line);
    std::vector<Error::Place> where;
    if (origin >= 0 && static_cast<std::size_t>(origin) < places.size())
      where.push_back(places[static_cast<std::size_t>(origin)]);
    const std::string line = line_of(p.source, d.line);
    throw Error(ErrorClass::kCompile,
                "the code generated for graph '" + g.name + "' does not compile: " + d.text +
                    (line.empty() ? "" : ", in `" + line + "`"),
                std::move(where), "SDFG_DUMP=source writes the generated code to SDFG_DUMP_DIR");
  }
  throw Error(ErrorClass::kCompile,
              "the code generated for graph '" + g.name + "' does not compile, and the compiler gave no reason");
}

bool owns_state(const ir::Graph& g) {
  for (const ir::Container& c : g.containers) {
    if (c.lifetime != ir::Lifetime::kScope) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint8_t> environment_record(const Options& resolved, const HostTarget& target) {
  ByteWriter out;
  out.text("sdfg program 1");
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

void build_into(const std::shared_ptr<CompiledProgram>& p, const ir::Graph& g, const Options& o,
                const HostTarget& target) {
  CompileStats& stats = p->stats;
  Clock::time_point t = Clock::now();
  ir::check(g);
  refuse_foreign_code(g, o);
  stats.validate_ns = since(t);

  t = Clock::now();
  if (o.dump->has(Dump::kGraph)) dump(o, g.name, ".graph.txt", ir::to_text(g));
  ir::Graph work = g.clone();
  analyse_cpp_tasklets(work, compiler::analyse_cpp);
  library::ExpandOptions expansion;
  expansion.opt_level = *o.opt_level;
  expansion.vector_bytes = target.vector_bytes();
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
  transform::prepare_for_cpu(work, prepare, selection);
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
  lower_options.check_finite = o.check->has(Check::kNan);
  const Instrumentation instruments = instrumentation(o);
  lower_options.observe = instruments.calls;
  lower_options.trace = instruments.elements;
  lower_options.index_helpers = o.style->has(Style::kIndexHelpers);
  const lower::Unit unit = lower::lower_host(work, lower_options, ordinals);
  codegen::Style style;
  style.labels = o.style->has(Style::kComments);
  style.const_locals = o.style->has(Style::kConstLocals);
  style.braces = o.style->has(Style::kBraces);
  style.hoist_loops = o.style->has(Style::kHoistLoops);
  codegen::Source source = codegen::print(unit, style);
  p->source = std::move(source.text);
  p->map = std::move(source.map);
  stats.lower_ns = since(t);
  stats.source_bytes = static_cast<std::int64_t>(p->source.size());
  if (o.dump->has(Dump::kSource)) dump(o, g.name, ".cpp", p->source);

  if (o.dump->has(Dump::kIr)) dump_text(g, p->source, o, target, compiler::CodeKind::kHostIr, ".ll");
  if (o.dump->has(Dump::kAsm)) dump_text(g, p->source, o, target, compiler::CodeKind::kHostAssembly, ".s");
  compiler::CompileResult result = compiler::compile_host(request_for(p->source, o, target), compiler::limits_of(o));
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
  if (!result.ok) throw_compile_error(g, *p, p->info.elements);
  stats.object_bytes = static_cast<std::int64_t>(result.payload.size());

  t = Clock::now();
  p->own_instance = owns_state(g);
  p->object = std::move(result.payload);
  p->program = runtime::Program::load(p->object, p->info);
  stats.load_ns = since(t);
}

}  // namespace

std::shared_ptr<CompiledProgram> build(const ir::Graph& g, const Options& o, const HostTarget& target) {
  auto p = std::make_shared<CompiledProgram>();
  const bool reproduce = !o.repro->folder.empty();
  try {
    build_into(p, g, o, target);
  } catch (const Error& e) {
    if (reproduce) write_reproducer(g, o, target, p->source, &e);
    throw;
  }
  if (reproduce && o.repro->always) write_reproducer(g, o, target, p->source, nullptr);
  return p;
}

runtime::CacheEntry to_entry(const CompiledProgram& p, std::vector<std::uint8_t> record) {
  runtime::CacheEntry e;
  e.input_record = std::move(record);
  ByteWriter metadata;
  metadata.text(p.info.argument_layout);
  metadata.u64(p.explanations.size());
  for (const std::string& s : p.explanations) metadata.text(s);
  e.metadata = metadata.take();
  e.payloads.push_back({compiler::CodeKind::kHostObject, "", p.object});
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

std::shared_ptr<CompiledProgram> from_entry(const ir::Graph& g, const Options& o, runtime::CacheEntry entry) {
  auto p = std::make_shared<CompiledProgram>();
  const Clock::time_point t = Clock::now();
  p->info = info_for(g, o);
  ByteReader metadata(entry.metadata);
  if (metadata.text() != p->info.argument_layout)
    throw Error(ErrorClass::kLoad, "a cache entry has another argument layout than graph '" + g.name + "'");
  for (std::uint64_t n = metadata.u64(); n > 0; --n) p->explanations.push_back(metadata.text());
  if (entry.payloads.empty()) throw Error(ErrorClass::kLoad, "a cache entry without code");
  p->object = std::move(entry.payloads.front().bytes);
  p->own_instance = owns_state(g);
  p->source = std::move(entry.source);
  for (std::size_t i = 0; i + 3 < entry.source_map.size(); i += 4) {
    p->map.origin_of_line.push_back(
        static_cast<int>(std::uint32_t{entry.source_map[i]} | std::uint32_t{entry.source_map[i + 1]} << 8 |
                         std::uint32_t{entry.source_map[i + 2]} << 16 | std::uint32_t{entry.source_map[i + 3]} << 24));
  }
  p->diagnostics = std::move(entry.diagnostics);
  p->stats.object_bytes = static_cast<std::int64_t>(p->object.size());
  p->stats.source_bytes = static_cast<std::int64_t>(p->source.size());
  p->program = runtime::Program::load(p->object, p->info);
  p->stats.load_ns = since(t);
  return p;
}

std::vector<std::string> mapped_diagnostics(const CompiledProgram& p, const std::vector<Error::Place>& places) {
  std::vector<std::string> out;
  for (const compiler::Diagnostic& d : p.diagnostics) {
    const int origin = p.map.origin(d.line);
    std::string where;
    if (origin >= 0 && static_cast<std::size_t>(origin) < places.size()) {
      const Error::Place& place = places[static_cast<std::size_t>(origin)];
      where = (place.location.known() ? place.location.str() + ": " : "") + place.what + ": ";
    }
    out.push_back(where + d.text);
  }
  return out;
}

}  // namespace sdfg::jit
