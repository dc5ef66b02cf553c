// Every field of Options is set once, and what it is for is seen to happen.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sdfg/jit.hpp>
#include <sdfg/log.hpp>
#include <sstream>

#include "../support/folder.hpp"
#include "base/env.hpp"
#include "compile/compiler.hpp"
#include "jit/function_impl.hpp"
#include "jit/observe.hpp"
#include "runtime/debugger.hpp"
#include "runtime/disk_cache.hpp"

namespace test_options {

namespace {

using namespace sdfg;

class Folder : public test::Folder {
 public:
  // Files below, by name.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.is_regular_file()) out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string text(const std::string& name) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.path().filename() != name) continue;
      std::ifstream in(entry.path());
      std::stringstream out;
      out << in.rdbuf();
      return out.str();
    }
    return {};
  }
};

Options plain() {
  Options o;
  o.cache = CacheMode::kMemory;
  return o;
}

using Axpy = void(double*, const double*, double, std::int64_t);

Builder axpy(const std::string& name = "axpy") {
  Builder g(name);
  auto N = g.symbol("N");
  auto Y = g.array<double>("Y", {N});
  auto X = g.array<double>("X", {N});
  auto a = g.scalar<double>("a");
  g.order({"Y", "X", "a", "N"});
  g.map({"i", 0, N}, [&](auto i) { Y(i) = Y(i) + a * X(i); });
  return g;
}

Builder sum_of(const std::string& name = "total") {
  Builder g(name);
  auto N = g.symbol("N");
  auto X = g.array<double>("X", {N});
  auto S = g.array<double>("S", {1});
  g.map({"i", 0, N}, [&](auto i) { S(0) += X(i); });
  return g;
}

// Y[I[i]] = i: whether iterations meet depends on the contents of I.
Builder scatter() {
  Builder g("scatter");
  auto N = g.symbol("N");
  auto Y = g.array<double>("Y", {N});
  auto I = g.array<std::int64_t>("I", {N});
  g.map({"i", 0, N}, [&](auto i) { Y(I(i)) = cast<double>(i); });
  return g;
}

std::string source(const Builder& g, const Options& o) {
  return compile(g, o).source();
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
template <typename Call>
std::string message(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

std::string ir_of(const Builder& g, Options o) {
  const Folder dumps;
  o.dump = EnumSet<Dump>{Dump::kIr};
  o.dump_dir = dumps.str();
  o.cache = CacheMode::kOff;
  compile(g, o);
  return dumps.text(g.graph().name() + ".ll");
}

const std::map<std::string, std::function<void()>>& cases() {
  static const std::map<std::string, std::function<void()>> table = {
      {"SDFG_OPT",
       [] {
         Options o = plain();
         o.opt_level = 0;
         CHECK(!has(source(axpy(), o), "simd"));
         o.opt_level = 3;
         CHECK(has(source(axpy(), o), "simd"));
       }},
      {"SDFG_PASSES",
       [] {
         Options o = plain();
         o.passes = std::vector<std::string>{"assign_schedules"};
         CHECK(!has(source(axpy(), o), "simd"));
         CHECK(has(source(axpy(), o), "parallel"));
         o.passes = std::vector<std::string>{"asign_schedules"};
         CHECK(message([&] { compile(axpy(), o); }) == "SDFG_PASSES names 'asign_schedules', which is no pass");
       }},
      {"SDFG_SKIP_PASSES",
       [] {
         Options o = plain();
         o.skip_passes = std::vector<std::string>{"mark_simd"};
         CHECK(!has(source(axpy(), o), "simd"));
         o.skip_passes = std::vector<std::string>{"infer_connector_types"};
         CHECK(message([&] { compile(axpy(), o); }) ==
               "SDFG_SKIP_PASSES names 'infer_connector_types', which code generation can't do without");
       }},
      {"SDFG_FP",
       [] {
         Options o = plain();
         o.fp = FloatingPoint{};
         CHECK(has(ir_of(axpy(), o), "fmuladd"));
         o.fp->contract = false;
         CHECK(!has(ir_of(axpy(), o), "fmuladd"));
         o.fp->reassociate = true;
         CHECK(has(ir_of(axpy(), o), "reassoc"));
       }},
      {"SDFG_NUM_THREADS",
       [] {
         Options o = plain();
         o.num_threads = 3;
         CHECK(has(source(axpy(), o), "num_threads(3)"));
       }},
      {"SDFG_THREADS_BACKEND",
       [] {
         compile(axpy(), plain());
         Options o = plain();
         o.threads_backend = ThreadsBackend::kLibomp;
         CHECK(message([&] { compile(axpy(), o); }) ==
               "SDFG_THREADS_BACKEND can't change after the first compilation of the process, which chose own");
       }},
      {"SDFG_TARGET_CPU",
       [] {
         Options o = plain();
         o.target_cpu = "x86-64";
         CHECK(has(ir_of(axpy(), o), "\"target-cpu\"=\"x86-64\""));
       }},
      {"SDFG_CACHE",
       [] {
         const Folder cache;
         Options o;
         o.cache_dir = cache.str();
         o.cache = CacheMode::kMemory;
         compile(axpy("cached"), o);
         CHECK(cache.files().empty());
         o.cache = CacheMode::kReadOnly;
         clear_memory_cache();
         compile(axpy("cached"), o);
         CHECK(cache.files().empty());
         o.cache = CacheMode::kOn;
         clear_memory_cache();
         CHECK(compile(axpy("cached"), o).stats().origin == CompileStats::Origin::kCompiled);
         CHECK(!cache.files().empty());
         CHECK(compile(axpy("cached"), o).stats().origin == CompileStats::Origin::kMemory);
         clear_memory_cache();
         CHECK(compile(axpy("cached"), o).stats().origin == CompileStats::Origin::kDisk);
         clear_memory_cache();
         o.cache = CacheMode::kRefresh;
         CHECK(compile(axpy("cached"), o).stats().origin == CompileStats::Origin::kCompiled);
         o.cache = CacheMode::kOff;
         CHECK(compile(axpy("cached"), o).stats().origin == CompileStats::Origin::kCompiled);
       }},
      {"SDFG_CACHE_DIR",
       [] {
         const Folder cache;
         Options o;
         o.cache_dir = cache.str();
         o.cache = CacheMode::kOn;
         clear_memory_cache();
         compile(axpy("in_a_folder"), o);
         CHECK(!cache.files().empty());
       }},
      {"SDFG_CACHE_MAX_SIZE",
       [] {
         Options o;
         o.cache_max_size = 12345;
         CHECK(runtime::disk_cache_options(resolve(o)).max_bytes == 12345);
       }},
      {"SDFG_CACHE_MAX_AGE",
       [] {
         Options o;
         o.cache_max_age = 77;
         CHECK(runtime::disk_cache_options(resolve(o)).max_age_seconds == 77);
       }},
      {"SDFG_COMPILE_THREADS",
       [] {
         Options o = plain();
         o.compile_threads = 1;
         compile(axpy(), o);
         CHECK(compiler::compile_lanes() == 1);
         compile(axpy(), plain());
         CHECK(compiler::compile_lanes() == 0);
       }},
      {"SDFG_COMPILE_MODE",
       [] {
         Options o = plain();
         o.compile_mode = CompileMode::kHelper;
         CHECK(compiler::limits_of(resolve(o)).helper);
         auto f = compile<Axpy>(axpy("in_a_helper"), o);
         double y = 1;
         const double x = 2;
         f(&y, &x, 3.0, 1);
         CHECK(y == 7);
       }},
      {"SDFG_COMPILE_TIMEOUT",
       [] {
         Options o = plain();
         o.compile_timeout = 7;
         CHECK(compiler::limits_of(resolve(o)).timeout_seconds == 7);
       }},
      {"SDFG_CHECK",
       [] {
         Options o = plain();
         o.check = EnumSet<Check>{Check::kBounds};
         std::vector<double> y(2, 0.0);
         std::vector<std::int64_t> index = {0, 5};
         auto checked = compile<void(double*, const std::int64_t*, std::int64_t)>(scatter(), o);
         CHECK(has(message([&] { checked(y.data(), index.data(), 2); }), "the index 5 is outside the extent 2"));
         o.check = EnumSet<Check>{Check::kNan};
         auto finite = compile<Axpy>(axpy(), o);
         std::vector<double> z = {1, 2, 3}, x = {1, std::numeric_limits<double>::quiet_NaN(), 1};
         CHECK(has(message([&] { finite(z.data(), x.data(), 1.0, 3); }),
                   "no number (NaN) was written to container 'Y' by"));
         CHECK(has(message([&] { finite(z.data(), x.data(), 1.0, 3); }), "flat index 1"));
         // Accumulations are checked in the container, not in the private results on the way there.
         Builder sums("sums");
         auto rows = sums.symbol("N");
         auto M = sums.array<double>("M", {rows, 3});
         auto S = sums.array<double>("S", {rows, 2});
         sums.map({"i", 0, rows}, {"j", 0, 3}, [&](auto i, auto j) { S(i, 1) += M(i, j); });
         auto summed = compile<void(double*, double*, std::int64_t)>(sums, o);
         std::vector<double> m = {1, 2, 3, 4, std::numeric_limits<double>::quiet_NaN(), 6, 7, 8, 9}, s(6, 0.0);
         const std::string text = message([&] { summed(m.data(), s.data(), 3); });
         INFO(text);
         CHECK(has(text, "was written to container 'S' by"));
         CHECK(has(text, "flat index 3"));
         o.check = EnumSet<Check>{Check::kRaces};
         auto races = compile<void(double*, const std::int64_t*, std::int64_t)>(scatter(), o);
         index = {1, 1};
         CHECK(message([&] { races(y.data(), index.data(), 2); }) ==
               "the result of graph 'scatter' depends on the order of the iterations of its maps: element 1 of 'Y' is "
               "1.0 in one order and 0.0 in another (1 element differs)");
         index = {1, 0};
         races(y.data(), index.data(), 2);
         CHECK(y == std::vector<double>{1, 0});
         o.check = EnumSet<Check>{Check::kUninitialised};
         Builder g("unwritten");
         auto N = g.symbol("N");
         auto Y = g.array<double>("Y", {N});
         auto t = g.transient<double>("t", {N});
         g.map({"i", 1, N}, [&](auto i) { t(i) = 1.0; });
         g.map({"i", 0, N}, [&](auto i) { Y(i) = t(i); });
         auto f = compile<void(double*, std::int64_t)>(g, o);
         CHECK(has(message([&] { f(y.data(), 2); }), "'t'"));
         Builder copied("copied");
         auto n = copied.symbol("N");
         auto Z = copied.array<double>("Z", {n});
         auto u = copied.transient<double>("u", {n});
         copied.map({"i", 1, n}, [&](auto i) { u(i) = 1.0; });
         Z.copy(u);
         auto c = compile<void(double*, std::int64_t)>(copied, o);
         CHECK(has(message([&] { c(y.data(), 2); }), "element number 0 of 'u' is read before it was written"));
       }},
      {"SDFG_VERIFY",
       [] {
         std::vector<std::string> lines;
         set_log_callback([&](const LogRecord& r) { lines.push_back(r.text); }, LogLevel::kDebug);
         Options o = plain();
         o.verify = true;
         o.cache = CacheMode::kOff;
         compile(axpy(), o);
         set_log_callback({});
         CHECK(std::count(lines.begin(), lines.end(), "graph 'axpy' is valid after mark_simd") == 1);
       }},
      {"SDFG_VALIDATE",
       [] {
         // Memory beyond Y's extent is there, so compiled code writes it; the interpreter knows the extent.
         std::vector<double> y(8, 0.0);
         std::vector<std::int64_t> good = {1, 0}, bad = {0, 5};
         Options o = plain();
         for (const ValidateMode mode : {ValidateMode::kFirst, ValidateMode::kAlways}) {
           o.validate = mode;
           auto f = compile<void(double*, const std::int64_t*, std::int64_t)>(scatter(), o);
           f(y.data(), good.data(), 2);
           const std::string second = message([&] { f(y.data(), bad.data(), 2); });
           INFO(second);
           CHECK(has(second, "is out of bounds") == (mode == ValidateMode::kAlways));
         }
       }},
      {"SDFG_DUMP",
       [] {
         const Folder dumps;
         Options o = plain();
         o.cache = CacheMode::kOff;
         o.dump = EnumSet<Dump>{Dump::kGraph, Dump::kPasses, Dump::kSource, Dump::kIr, Dump::kAsm};
         o.dump_dir = dumps.str();
         compile(axpy(), o);
         const std::vector<std::string> files = dumps.files();
         const auto with = [&](const std::string& ending) {
           return std::any_of(files.begin(), files.end(), [&](const std::string& f) { return f.ends_with(ending); });
         };
         CHECK(with(".graph.txt"));
         CHECK(with("_mark_simd.txt"));
         CHECK(with("axpy.cpp"));
         CHECK(has(dumps.text("axpy.ll"), "define"));
         CHECK(has(dumps.text("axpy.s"), ".text"));
       }},
      {"SDFG_DUMP_DIR",
       [] {
         const Folder dumps;
         Options o = plain();
         o.cache = CacheMode::kOff;
         o.dump = EnumSet<Dump>{Dump::kSource};
         o.dump_dir = dumps.str() + "/deeper";
         compile(axpy(), o);
         CHECK(std::filesystem::exists(dumps.str() + "/deeper/axpy.cpp"));
       }},
      {"SDFG_LOG",
       [] {
         const Folder logs;
         Options o = plain();
         o.cache = CacheMode::kOff;
         o.verify = true;
         o.log_file = logs.str() + "/log.txt";
         o.log = LogFilter{};
         (*o.log)[Logger::kPass] = LogLevel::kDebug;
         compile(axpy(), o);
         CHECK(has(logs.text("log.txt"), "valid after mark_simd"));
         compile(axpy(), plain());
       }},
      {"SDFG_LOG_FILE",
       [] {
         const Folder logs;
         Options o = plain();
         o.log_file = logs.str() + "/elsewhere.txt";
         o.log = LogFilter{};
         (*o.log)[Logger::kPass] = LogLevel::kDebug;
         o.verify = true;
         o.cache = CacheMode::kOff;
         compile(axpy(), o);
         CHECK(std::filesystem::exists(logs.str() + "/elsewhere.txt"));
         compile(axpy(), plain());
       }},
      {"SDFG_DEBUG",
       [] {
         const Folder logs;
         Options o = plain();
         o.log_file = logs.str() + "/debug.txt";
         o.debug = 7;
         o.verify = true;
         o.cache = CacheMode::kOff;
         compile(axpy(), o);
         CHECK(has(logs.text("debug.txt"), "valid after"));
         CHECK(has(logs.text("debug.txt"), "graph 'axpy' from the compiler in"));
         compile(axpy(), plain());
       }},
      {"SDFG_TRACE",
       [] {
         const Folder traces;
         Options o = plain();
         o.trace = traces.str() + "/trace.json";
         auto f = compile<Axpy>(axpy("traced"), o);
         double y = 1;
         const double x = 2;
         f(&y, &x, 3.0, 1);
         jit::write_records();
         const std::string text = traces.text("trace.json");
         CHECK(has(text, "compile traced"));
         CHECK(has(text, "\"cat\":\"call\",\"name\":\"traced\""));
         CHECK(has(text, "map 'i'"));
       }},
      {"SDFG_PROFILE",
       [] {
         Options o = plain();
         o.profile = EnumSet<Profile>{Profile::kTable, Profile::kPerf, Profile::kGdb};
         const int before = runtime::DebuggerEntry::count();
         auto f = compile<Axpy>(axpy("profiled"), o);
         CHECK(runtime::DebuggerEntry::count() == before + 1);
         double y = 1;
         const double x = 2;
         for (int i = 0; i < 3; ++i) f(&y, &x, 3.0, 1);
         std::int64_t calls = 0;
         for (const runtime::ElementProfile& e : f.impl().program->profile()) calls += e.calls;
         CHECK(calls == 3);
         std::ifstream map("/tmp/perf-" + std::to_string(getpid()) + ".map");
         std::stringstream names;
         names << map.rdbuf();
         CHECK(has(names.str(), "profiled::sdfg_entry"));
         std::filesystem::remove("/tmp/perf-" + std::to_string(getpid()) + ".map");
       }},
      {"SDFG_REPRO_DIR",
       [] {
         const Folder bundles;
         Options o = plain();
         o.cache = CacheMode::kOff;
         o.repro = Reproducer{bundles.str(), false};
         compile(axpy(), o);
         CHECK(bundles.files().empty());
         o.passes = std::vector<std::string>{"no_such_pass"};
         CHECK_THROWS_AS(compile(axpy(), o), Error);
         CHECK(has(bundles.text("error.txt"), "no_such_pass"));
         CHECK(has(bundles.text("options.txt"), "SDFG_PASSES=no_such_pass"));
         o.passes.reset();
         o.repro->always = true;
         compile(sum_of(), o);
         CHECK(has(bundles.text("source.cpp"), "sdfg_entry"));
       }},
      {"SDFG_STYLE",
       [] {
         Options o = plain();
         Builder h("through_memory");
         auto M = h.symbol("M");
         auto Y = h.array<double>("Y", {M});
         auto T = h.transient<double>("T", {M});
         h.map({"i", 0, M}, [&](auto i) {
           auto twice = h.transient<double>("twice");
           twice = 2.0 * Y(i);
           T(i) = twice * twice;
         });
         h.map({"i", 0, M}, [&](auto i) { Y(i) = T(i); });
         const auto with = [&](std::initializer_list<Style> styles) {
           o.style = EnumSet<Style>(styles);
           return source(h, o);
         };
         Builder g("square");
         auto N = g.symbol("N");
         auto A = g.array<double>("A", {N, N});
         g.loop("t", 0, N, [&](auto t) { g.map({"i", 0, N}, [&](auto i) { A(i, t) = A(t, i) + 1.0; }); });
         const auto of_square = [&](std::initializer_list<Style> styles) {
           o.style = EnumSet<Style>(styles);
           return source(g, o);
         };
         CHECK(has(of_square({Style::kIndexHelpers}), "A_idx("));
         CHECK(!has(of_square({}), "A_idx("));
         CHECK(has(of_square({Style::kHoistLoops}), "int64_t t;"));
         CHECK(!has(of_square({}), "int64_t t;"));
         CHECK(has(with({Style::kConstLocals}), "const double twice"));
         CHECK(!has(with({}), "const double twice"));
         CHECK(has(with({Style::kBraces}), "{\n    sdfg_abi->finish(&call);"));
         CHECK(has(with({}), "call.flags) sdfg_abi->finish(&call);"));
         CHECK(with({Style::kComments}) != with({}));
       }},
  };
  return table;
}

// Read by the device rooms; their tests are in tests/device and tests/gpu.
const std::vector<std::string> kOfDevices = {"SDFG_DEVICE",         "SDFG_HOST_MAPS",   "SDFG_GPU_ARCH",
                                             "SDFG_GPU_BLOCK_SIZE", "SDFG_GPU_STREAMS", "SDFG_GPU_GRAPHS",
                                             "SDFG_GPU_SYNC",       "SDFG_GPU_POOL_MAX"};

}  // namespace

TEST_CASE("every option reaches its reader") {
  for (const Variable& v : variables()) {
    const std::string name(v.name);
    if (std::find(kOfDevices.begin(), kOfDevices.end(), name) != kOfDevices.end()) continue;
    DYNAMIC_SECTION(name) {
      REQUIRE(cases().contains(name));
      cases().at(name)();
    }
  }
}

TEST_CASE("specialised symbols leave the signature and foreign code needs permission") {
  Options o = plain();
  o.specialize = {{"N", 3}};
  auto f = compile<void(double*, const double*, double)>(axpy(), o);
  std::vector<double> y = {1, 1, 1, 1}, x = {1, 2, 3, 4};
  f(y.data(), x.data(), 2.0);
  CHECK(y == std::vector<double>{3, 5, 7, 1});
  o.specialize = {{"M", 3}};
  CHECK(message([&] { compile(axpy(), o); }) ==
        "Options::specialize names 'M', which is no symbol parameter of graph 'axpy'");
}

}  // namespace test_options
