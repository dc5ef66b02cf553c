// Compares the interpreter with every other target on random graphs: `random_graphs [--seeds N] [--first S]
// [--threads T] [--no-shrink] [--print]`.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sdfg/compile.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../support/offload.hpp"
#include "generator.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"
#include "shrink.hpp"

using namespace sdfg;
using namespace sdfg::test;

namespace {

struct Command {
  std::uint64_t first = 1;
  std::int64_t seeds = 500;
  unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  bool shrink = true;
  bool print = false;
};

[[noreturn]] void usage() {
  std::fputs("usage: random_graphs [--seeds N] [--first S] [--threads T] [--no-shrink] [--print]\n", stderr);
  std::exit(2);
}

Command parse(int argc, char** argv) {
  Command out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&] {
      if (++i >= argc) usage();
      char* end = nullptr;
      const unsigned long long value = std::strtoull(argv[i], &end, 10);
      if (*end != 0) usage();
      return value;
    };
    if (word == "--seeds")
      out.seeds = static_cast<std::int64_t>(number());
    else if (word == "--first")
      out.first = number();
    else if (word == "--threads")
      out.threads = static_cast<unsigned>(std::clamp<unsigned long long>(number(), 1, 64));
    else if (word == "--no-shrink")
      out.shrink = false;
    else if (word == "--print")
      out.print = true;
    else
      usage();
  }
  return out;
}

// What went wrong: the target and how. Empty: nothing.
struct Outcome {
  std::string target, text;
  bool proper = true;    // the reference ran without an error
  bool refused = false;  // validation found an access that is outside wherever it is reached; it never is
};

constexpr double kSinkTolerance = 1e-9;

// The graph with its maps as kernels on the emulated device; what can't move stays on the host.
class OffloadedRunner : public Runner {
 public:
  explicit OffloadedRunner(const ir::Graph& graph) : graph_(graph) {
    Offload offload(graph);
    kernels_ = offload.run();
    if (kernels_ == 0) return;
    sdfg::Options options;
    options.cache = CacheMode::kOff;
    options.opt_level = 1;
    options.device = DeviceChoice{DeviceChoice::Kind::kEmulated, 0};
    options.fp = FloatingPoint{false, false, false, false, false};
    try {
      function_ = compile(sdfg::Graph(std::make_shared<const ir::Graph>(offload.take())), options);
    } catch (const Error& e) {
      // Kernels can't hold memory whose size is known only inside; such a graph stays where it is.
      if (e.message().find("has an extent that is known only inside") == std::string::npos) throw;
      std::printf("NOTICE: not offloaded: %s\n", e.message().c_str());
      kernels_ = 0;
    }
  }
  void run(Memory& memory) override {
    if (kernels_ > 0)
      function_.call_packed(memory.pack(graph_));
    else
      targets().front().prepare(graph_)->run(memory);
  }

 private:
  const ir::Graph& graph_;
  int kernels_ = 0;
  AnyFunction function_;
};

const std::vector<Target>& all_targets() {
  static const std::vector<Target> kAll = [] {
    std::vector<Target> all = targets();
    all.push_back({"offloaded",
                   [](const ir::Graph& g) -> std::unique_ptr<Runner> { return std::make_unique<OffloadedRunner>(g); }});
    return all;
  }();
  return kAll;
}

Outcome try_graph(const ir::Graph& graph, std::uint64_t seed, const std::string& only = {}) {
  const Target& reference = targets().front();
  std::vector<Memory> starts, wants;
  // A random condition can make a branch unreachable in which every access is provably outside: validation reports it,
  // rightly. Such a graph must still run on the reference, which checks every access.
  bool refused = false;
  for (const ir::Problem& problem : ir::validate(graph)) {
    if (problem.rule != ir::Rule::kSubsetBounds) return {"validation", problem.message, false};
    refused = true;
  }
  try {
    const auto runner = reference.prepare(graph);
    for (int variant = 0; variant < kVariants; ++variant) {
      starts.push_back(arguments_for(graph, seed, variant));
      wants.push_back(starts.back());
      runner->run(wants.back());
    }
  } catch (const Error& e) {
    return {reference.name, e.what(), false};
  }
  if (refused) return {"", "", true, true};
  for (const Target& target : all_targets()) {
    // Of every fifth graph: kernels take two more compilations, with checks, and what a file gives back may be far
    // slower to interpret (a transient that nobody reads sinks into the map that fills it).
    const bool rare = target.name == "offloaded" || target.name.starts_with("file-");
    if (rare && only.empty() && seed % 5 != 0) continue;
    if (&target == &reference || !target.exact || (!only.empty() && target.name != only)) continue;
    try {
      const auto runner = target.prepare(graph);
      for (int variant = 0; variant < kVariants; ++variant) {
        Memory got = starts[static_cast<std::size_t>(variant)];
        runner->run(got);
        Memory& want = wants[static_cast<std::size_t>(variant)];
        const std::string difference =
            got.difference(want, [](const std::string& name) { return name == "sink" ? kSinkTolerance : kExact; });
        if (!difference.empty()) return {target.name, "variant " + std::to_string(variant) + ": " + difference};
      }
    } catch (const Error& e) {
      return {target.name, std::string("error: ") + e.what()};
    }
  }
  return {};
}

std::string report(const Generated& made, const Outcome& outcome, bool shrinks) {
  std::ostringstream out;
  out << "seed " << made.seed << " fails on " << outcome.target << ": " << outcome.text << "\n";
  if (!shrinks) return out.str();
  const bool wrong = outcome.text.starts_with("variant");
  const auto fails = [&](const ir::Graph& g) {
    const Outcome now = try_graph(g, made.seed, outcome.target);
    return now.target == outcome.target && now.proper == outcome.proper && now.text.starts_with("variant") == wrong &&
           (wrong || now.text.substr(0, 40) == outcome.text.substr(0, 40));
  };
  const ir::Graph small = shrink(made.graph, fails, 500);
  out << "shrunk to\n" << ir::to_text(small) << try_graph(small, made.seed, outcome.target).text << "\n";
  return out.str();
}

// Compiled code that crashes takes the process along: say which seed it was.
thread_local std::uint64_t t_seed = 0;

extern "C" void on_crash(int signal) {
  char text[96];
  const int length = std::snprintf(text, sizeof text, "signal %d while running seed %llu\n", signal,
                                   static_cast<unsigned long long>(t_seed));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(3);
  _exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  const Command command = parse(argc, argv);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_crash);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> next = 0, failed = 0, refused = 0;
  std::mutex output;
  const auto work = [&] {
    for (std::int64_t k = next++; k < command.seeds; k = next++) {
      t_seed = command.first + static_cast<std::uint64_t>(k);
      const Generated made = generate(t_seed);
      const std::string text = command.print ? ir::to_text(made.graph) : std::string();
      const Outcome outcome = try_graph(made.graph, t_seed);
      const std::string failure = outcome.target.empty() ? std::string() : report(made, outcome, command.shrink);
      if (!failure.empty()) ++failed;
      if (outcome.refused) ++refused;
      const std::lock_guard lock(output);
      std::cout << text << failure << std::flush;
    }
  };
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < command.threads; ++t) workers.emplace_back(work);
  for (std::thread& t : workers) t.join();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const auto exact = std::count_if(targets().begin(), targets().end(), [](const Target& t) { return t.exact; });
  std::printf("%lld random graphs on %lld targets in %.1f s: %lld failed, %lld refused by validation\n",
              static_cast<long long>(command.seeds), static_cast<long long>(exact), time.count(),
              static_cast<long long>(failed.load()), static_cast<long long>(refused.load()));
  if (refused * 50 > command.seeds + 50) {
    std::printf("more than one graph in fifty is refused: the generator or the validation is wrong\n");
    return 1;
  }
  if (const char* path = std::getenv("SDFG_TEST_COUNTS"))
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "random %lld %lld\n", static_cast<long long>(command.seeds - failed),
                   static_cast<long long>(failed.load()));
      std::fclose(file);
    }
  return failed == 0 ? 0 : 1;
}
