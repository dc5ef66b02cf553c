// Compares the interpreter with every other target on random graphs: `random_graphs [--seeds N] [--first S]
// [--no-shrink] [--print]`.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

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
  bool shrink = true;
  bool print = false;
};

[[noreturn]] void usage() {
  std::fputs("usage: random_graphs [--seeds N] [--first S] [--no-shrink] [--print]\n", stderr);
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
  bool proper = true;  // the reference ran without an error
};

constexpr double kSinkTolerance = 1e-9;

Outcome try_graph(const ir::Graph& graph, std::uint64_t seed, const std::string& only = {}) {
  const Target& reference = targets().front();
  std::vector<Memory> starts, wants;
  try {
    ir::check(graph);
  } catch (const Error& e) {
    return {"validation", e.what(), false};
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
  for (const Target& target : targets()) {
    if (&target == &reference || (!only.empty() && target.name != only)) continue;
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

void report(const Generated& made, const Outcome& outcome, bool shrinks) {
  std::cout << "seed " << made.seed << " fails on " << outcome.target << ": " << outcome.text << "\n";
  if (!shrinks) return;
  const bool wrong = outcome.text.starts_with("variant");
  const auto fails = [&](const ir::Graph& g) {
    const Outcome now = try_graph(g, made.seed, outcome.target);
    return now.target == outcome.target && now.proper == outcome.proper && now.text.starts_with("variant") == wrong &&
           (wrong || now.text.substr(0, 40) == outcome.text.substr(0, 40));
  };
  const ir::Graph small = shrink(made.graph, fails);
  std::cout << "shrunk to\n" << ir::to_text(small) << try_graph(small, made.seed, outcome.target).text << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const Command command = parse(argc, argv);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t failed = 0;
  for (std::int64_t k = 0; k < command.seeds; ++k) {
    const std::uint64_t seed = command.first + static_cast<std::uint64_t>(k);
    const Generated made = generate(seed);
    if (command.print) std::cout << ir::to_text(made.graph) << std::flush;
    const Outcome outcome = try_graph(made.graph, seed);
    if (outcome.target.empty()) continue;
    ++failed;
    report(made, outcome, command.shrink);
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("%lld random graphs on %zu targets in %.1f s: %lld failed\n", static_cast<long long>(command.seeds),
              targets().size(), time.count(), static_cast<long long>(failed));
  if (const char* path = std::getenv("SDFG_TEST_COUNTS"))
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "random %lld %lld\n", static_cast<long long>(command.seeds - failed),
                   static_cast<long long>(failed));
      std::fclose(file);
    }
  return failed == 0 ? 0 : 1;
}
