// Time to first result and cost of a call: cold compilations, disk hits in a new process, memory hits, calls. Medians;
// every ratio is against something measured in the same run.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sdfg/jit.hpp>
#include <string>
#include <vector>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point t) {
  return std::chrono::duration<double, std::milli>(Clock::now() - t).count();
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

sdfg::Builder one_statement(double factor) {
  sdfg::Builder g("one_statement");
  auto x = g.array<double>("x", {1});
  x(0) = factor * x(0);
  return g;
}

sdfg::Builder jacobi(double factor) {
  sdfg::Builder g("jacobi_2d");
  auto N = g.symbol("N"), T = g.symbol("T");
  auto A = g.array<double>("A", {N, N}), B = g.array<double>("B", {N, N});
  g.loop("t", 0, T, [&](auto) {
    g.map({"i", 1, N - 1}, {"j", 1, N - 1}, [&](auto i, auto j) {
      B(i, j) = factor * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j));
    });
    g.map({"i", 1, N - 1}, {"j", 1, N - 1}, [&](auto i, auto j) {
      A(i, j) = factor * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i - 1, j) + B(i + 1, j));
    });
  });
  return g;
}

// Steps of a solver: every second map is the same as the ones before, or none is.
sdfg::Builder maps(double factor, bool alike) {
  sdfg::Builder g("thirty_maps");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N}), y = g.array<double>("y", {N});
  for (int k = 0; k < 15; ++k) {
    const double shift = alike ? factor : factor + k;
    g.map({"i", 1, N - 1}, [&](auto i) { y(i) = factor * (x(i - 1) + x(i + 1)) + static_cast<double>(k); });
    g.map({"i", 1, N - 1}, [&](auto i) { x(i) = y(i) * y(i) - shift; });
  }
  return g;
}

sdfg::Builder thirty_maps(double factor) {
  return maps(factor, true);
}
sdfg::Builder thirty_different_maps(double factor) {
  return maps(factor, false);
}

struct Phases {
  std::vector<double> total, passes, lower, front, optimise, codegen, load, rest;
};

void cold(const char* name, const std::function<sdfg::Builder(double)>& make, int repeats, double goal) {
  Phases p;
  for (int k = 0; k < repeats; ++k) {
    const sdfg::Builder g = make(0.2 + 1e-6 * k);  // a new constant: a new program
    sdfg::Options options;
    options.cache = sdfg::CacheMode::kMemory;
    const sdfg::CompileStats s = sdfg::compile(g, options).stats();
    auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
    p.total.push_back(ms(s.total_ns));
    p.passes.push_back(ms(s.validate_ns + s.key_ns + s.passes_ns));
    p.lower.push_back(ms(s.lower_ns));
    p.front.push_back(ms(s.frontend_ns));
    p.optimise.push_back(ms(s.optimise_ns));
    p.codegen.push_back(ms(s.codegen_ns));
    p.load.push_back(ms(s.load_ns));
  }
  std::printf(
      "%-28s %8.2f ms  aim %6.0f  | passes %.2f, lowering %.2f, Clang front %.2f, optimiser %.2f, code generation "
      "%.2f, loading %.2f\n",
      name, median(p.total), goal, median(p.passes), median(p.lower), median(p.front), median(p.optimise),
      median(p.codegen), median(p.load));
}

double spawn_ms(const std::string& program, const char* argument) {
  const char* argv[] = {program.c_str(), argument, nullptr};
  const Clock::time_point t = Clock::now();
  pid_t pid = 0;
  if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, const_cast<char**>(argv), environ) != 0) return -1;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? since(t) : -1;
}

// What a new process does: opens the library, takes the program from the disk, calls it.
int child(bool use) {
  if (!use) return 0;
  const sdfg::Builder g = jacobi(0.2);
  auto f = sdfg::compile<void(double*, double*, std::int64_t, std::int64_t)>(g);
  std::vector<double> a(64 * 64, 1.0), b(a);
  f(a.data(), b.data(), 64, 1);
  return f.stats().origin == sdfg::CompileStats::Origin::kDisk ? 0 : 3;
}

__attribute__((noinline)) void direct(double* x) {
  asm volatile("" ::: "memory");
  x[0] = 0.2 * x[0];
}

// Milliseconds that DaCe needs to build the program of a file; negative: it failed.
double dace_ms(const std::string& python, const std::string& file, const std::string& folder) {
  const std::string out = folder + "/dace_ms";
  const std::string line = "cd " + folder + " && DACE_compiler_use_cache=0 DACE_debugprint=0 " + python +
                           " -c \"import sys, time, dace; g = dace.SDFG.from_file(sys.argv[1]); t = time.time(); "
                           "g.compile(); open(sys.argv[2], 'w').write(str((time.time() - t) * 1000))\" " +
                           file + " " + out + " > /dev/null 2>&1";
  double ms = -1;
  if (std::system(line.c_str()) != 0) return ms;
  if (std::FILE* f = std::fopen(out.c_str(), "r")) {
    if (std::fscanf(f, "%lf", &ms) != 1) ms = -1;
    std::fclose(f);
  }
  return ms;
}

// Every kernel of the corpus (SDFG_CORPUS, or beside the working folder): file to callable, by stages.
void graphs_of_files() {
  namespace fs = std::filesystem;
  const char* named = std::getenv("SDFG_CORPUS");
  const fs::path corpus = named != nullptr ? fs::path(named) : fs::path("../shared/corpus");
  std::printf("\nfiles to functions, cold\n");
  if (!fs::is_directory(corpus)) {
    std::printf("NOTICE: no corpus at %s; SDFG_CORPUS names it\n", corpus.c_str());
    return;
  }
  const char* asked = std::getenv("SDFG_BENCH_PYTHON");
  const std::string python = asked != nullptr ? asked : "python3";
  const bool has_dace = std::system((python + " -c 'import dace' > /dev/null 2>&1").c_str()) == 0;
  if (!has_dace)
    std::printf("NOTICE: %s has no DaCe to compare with; SDFG_BENCH_PYTHON names another Python\n", python.c_str());
  std::printf("%-18s %9s %9s %9s %9s %9s %9s %9s\n", "kernel", "bytes", "load", "passes", "lower", "clang", "total",
              has_dace ? "DaCe" : "");
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    if (fs::exists(entry.path() / "graph.sdfg")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  const std::string scratch = (fs::temp_directory_path() / ("sdfg_bench_" + std::to_string(getpid()))).string();
  fs::create_directories(scratch);
  sdfg::Options options;
  options.cache = sdfg::CacheMode::kOff;
  options.opt_level = 3;
  for (const fs::path& folder : folders) {
    const std::string file = fs::absolute(folder / "graph.sdfg").string();
    const std::string kernel = folder.filename().string();
    try {
      const Clock::time_point start = Clock::now();
      const sdfg::Graph g = sdfg::load_sdfg(file);
      const double load = since(start);
      const auto f = sdfg::compile(g, options);
      const double total = since(start);
      const auto& s = f.stats();
      const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
      std::printf("%-18s %9llu %9.1f %9.1f %9.1f %9.1f %9.1f", kernel.c_str(),
                  static_cast<unsigned long long>(fs::file_size(file)), load, ms(s.validate_ns + s.passes_ns),
                  ms(s.lower_ns), ms(s.frontend_ns + s.optimise_ns + s.codegen_ns), total);
      if (has_dace) std::printf(" %9.0f", dace_ms(python, fs::absolute(folder / "graph.v1.sdfg").string(), scratch));
      std::printf("\n");
    } catch (const sdfg::Error& e) {
      std::printf("%-18s %s\n", kernel.c_str(), e.message().c_str());
    }
    std::fflush(stdout);
  }
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return child(std::string(argv[1]) == "--child");
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("sdfg-latency-" + std::to_string(getpid()))).string();
  setenv("SDFG_CACHE_DIR", folder.c_str(), 1);

  std::printf("cold compilations (nothing cached)\n");
  Clock::time_point t = Clock::now();
  {
    sdfg::compile(one_statement(3.0));
  }
  std::printf("%-28s %8.2f ms  (opens the compiler library)\n", "first of the process", since(t));
  cold("one statement", one_statement, 21, 8);
  cold("jacobi_2d", jacobi, 15, 50);
  cold("30 maps", thirty_maps, 9, 200);
  cold("30 maps, all different", thirty_different_maps, 9, 200);

  std::printf("\nhits\n");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  sdfg::compile(jacobi(0.2));  // fills the disk cache
  std::vector<double> hit, empty;
  for (int k = 0; k < 31; ++k) {
    empty.push_back(spawn_ms(self, "--empty"));
    hit.push_back(spawn_ms(self, "--child"));
  }
  std::printf("%-28s %8.2f ms  aim      5  | the same process without using the library: %.2f ms\n",
              "new process, disk hit, call", median(hit), median(empty));
  const sdfg::Builder g = jacobi(0.2);
  const sdfg::Graph graph = g.graph();
  sdfg::compile(graph);
  std::vector<double> from_builder, from_graph;
  for (int k = 0; k < 2001; ++k) {
    t = Clock::now();
    sdfg::compile(graph);
    from_graph.push_back(since(t) * 1e3);
    t = Clock::now();
    sdfg::compile(g);
    from_builder.push_back(since(t) * 1e3);
  }
  std::printf("%-28s %8.2f us  aim     20  | from a builder, which copies its graph: %.2f us\n", "memory hit",
              median(from_graph), median(from_builder));

  std::printf("\ncalls\n");
  auto f = sdfg::compile<void(double*)>(one_statement(0.2));
  auto* raw = f.get();
  double x[1] = {1.0};
  constexpr int kCalls = 1000000;
  auto time_calls = [&](auto&& call) {
    std::vector<double> ns;
    for (int repeat = 0; repeat < 7; ++repeat) {
      const Clock::time_point start = Clock::now();
      for (int k = 0; k < kCalls; ++k) call(x);
      ns.push_back(since(start) * 1e6 / kCalls);
    }
    return median(ns);
  };
  const double base = time_calls(direct), pointer = time_calls(raw), object = time_calls(f);
  std::printf("direct C++ call %.2f ns, raw pointer %.2f ns (%+.2f), Function::operator() %.2f ns (%+.2f); aim +10\n",
              base, pointer, pointer - base, object, object - base);
  graphs_of_files();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
