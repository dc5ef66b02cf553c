// The command `sdfg`: runs, shows and converts graphs; shows the environment; keeps the cache.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sdfg/jit.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "compile/build_id.hpp"
#include "compile/host_target.hpp"
#include "ir/graph.hpp"
#include "ir/validate.hpp"
#include "runtime/disk_cache.hpp"
#include "tools/case.hpp"

namespace sdfg::tools {

namespace {

struct UsageError {
  std::string text;
};

constexpr const char* kUsage =
    "usage: sdfg COMMAND ...\n"
    "  run FILE --case CASE.json [--inputs DIR] [--expect DIR] [--write DIR] [--interpret]\n"
    "                         calls a graph; compares with DIR/out_NAME.npy\n"
    "  info FILE              parameters, containers, maps, library nodes, symbols\n"
    "  text FILE              the graph as readable text\n"
    "  emit FILE [--allow-foreign-code]\n"
    "                         the C++ source that is generated for it\n"
    "  validate FILE          every broken rule\n"
    "  convert IN OUT [--dialect v2|1.0] [--readable]\n"
    "                         reads a .sdfg file and writes it for DaCe main (v2) or 1.0.2; packed when OUT\n"
    "                         ends in .gz or .sdfgz\n"
    "  env                    the SDFG_* variables in effect, and this machine\n"
    "  cache stat|list|verify|prune [--max-size BYTES] [--max-age SECONDS]\n"
    "                         prune keeps what was used last; a limit of 0 is none\n"
    "Options of compilations come from the SDFG_* variables.\n";

// Positional words and --name [value] pairs.
struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;
  std::set<std::string> flags;

  Arguments(int argc, char** argv, const std::set<std::string>& with_value, const std::set<std::string>& without) {
    for (int i = 2; i < argc; ++i) {
      const std::string a = argv[i];
      if (a.rfind("--", 0) != 0) {
        words.push_back(a);
      } else if (without.contains(a)) {
        flags.insert(a);
      } else if (with_value.contains(a)) {
        if (i + 1 == argc) throw UsageError{a + " needs a value"};
        options[a] = argv[++i];
      } else {
        throw UsageError{"unknown option " + a};
      }
    }
  }
  std::string get(const std::string& name) const {
    auto it = options.find(name);
    return it == options.end() ? std::string() : it->second;
  }
  const std::string& file() const {
    if (words.size() != 1) throw UsageError{"exactly one file is needed"};
    return words.front();
  }
};

Graph load(const std::string& path) {
  std::vector<std::string> warnings;
  Graph g = load_sdfg(path, &warnings);
  for (const std::string& w : warnings) std::fprintf(stderr, "warning: %s\n", w.c_str());
  return g;
}

int run(int argc, char** argv) {
  const Arguments a(argc, argv, {"--case", "--inputs", "--expect", "--write"}, {"--interpret", "--allow-foreign-code"});
  const std::string case_file = a.get("--case");
  if (case_file.empty()) throw UsageError{"--case is needed"};
  std::string folder = std::filesystem::path(case_file).parent_path().string();
  if (folder.empty()) folder = ".";
  const std::string inputs = a.options.contains("--inputs") ? a.get("--inputs") : folder;
  Options options;
  options.allow_foreign_code = a.flags.contains("--allow-foreign-code");
  const Graph g = load(a.file());
  const CaseResult r =
      run_case(g, read_case(case_file), inputs, a.get("--expect"),
               a.flags.contains("--interpret") ? Runner::kInterpreter : Runner::kCompiled, options, a.get("--write"));
  for (const std::string& m : r.mismatches) std::printf("%s\n", m.c_str());
  std::printf("%s: %s in %.3f ms (compiled in %.1f ms)\n", g.name().c_str(),
              !r.mismatches.empty()            ? "WRONG"
              : a.options.contains("--expect") ? "as expected"
                                               : "done",
              r.milliseconds, static_cast<double>(r.stats.total_ns) / 1e6);
  return r.mismatches.empty() ? 0 : 1;
}

int info(int argc, char** argv) {
  const Arguments a(argc, argv, {}, {});
  const Graph graph = load(a.file());
  const ir::Graph& g = graph.ir();
  std::printf("graph %s, digest %s\n", g.name.c_str(), graph.digest().c_str());
  std::printf("parameters:");
  for (const std::string& p : g.parameters) std::printf(" %s", p.c_str());
  std::printf("\n");
  std::map<std::string, int> kinds, elements, libraries;
  for (const ir::Container& c : g.containers)
    ++kinds[std::string(ir::to_string(c.kind)) + (c.transient ? " (transient)" : "")];
  int tasklets = 0, memlets = 0;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const std::string text = ir::describe(g, e);
    ++elements[text.substr(0, text.find(' '))];
    if (const auto* s = std::get_if<ir::State>(&e.kind)) {
      memlets += static_cast<int>(s->edges.size());
      for (const ir::Node& n : s->nodes) {
        tasklets += std::holds_alternative<ir::Tasklet>(n.kind) ? 1 : 0;
        if (const auto* l = std::get_if<ir::Library>(&n.kind)) ++libraries[std::string(ir::name_of(l->op))];
      }
    }
  });
  auto table = [](const char* title, const std::map<std::string, int>& counts) {
    std::printf("%s:", title);
    for (const auto& [name, n] : counts)
      std::printf(" %s %d%s", name.c_str(), n, name == counts.rbegin()->first ? "" : ",");
    std::printf("%s\n", counts.empty() ? " none" : "");
  };
  table("containers", kinds);
  table("elements", elements);
  table("library nodes", libraries);
  std::printf("tasklets: %d\nmemlets: %d\nsymbols:", tasklets, memlets);
  for (const ir::Symbol& s : g.symbols) {
    if (s.binder == ir::BinderKind::kParameter) std::printf(" %s: %s", s.name.c_str(), s.type.str().c_str());
  }
  std::printf("\n");
  return 0;
}

int text(int argc, char** argv) {
  const Arguments a(argc, argv, {}, {});
  std::printf("%s", load(a.file()).text().c_str());
  return 0;
}

int emit(int argc, char** argv) {
  const Arguments a(argc, argv, {}, {"--allow-foreign-code"});
  Options options;
  options.allow_foreign_code = a.flags.contains("--allow-foreign-code");
  std::printf("%s", compile(load(a.file()), options).source().c_str());
  return 0;
}

int validate(int argc, char** argv) {
  const Arguments a(argc, argv, {}, {});
  const Graph graph = load(a.file());
  const std::vector<ir::Problem> problems = ir::validate(graph.ir());
  for (const ir::Problem& p : problems) {
    std::printf("%s: %s\n", std::string(ir::to_string(p.rule)).c_str(), p.message.c_str());
    for (const Error::Place& place : p.places)
      std::printf("  %s%s%s\n", place.what.c_str(), place.location.known() ? " at " : "", place.location.str().c_str());
    if (!p.hint.empty()) std::printf("  hint: %s\n", p.hint.c_str());
  }
  std::printf("%s: %zu problem%s\n", graph.name().c_str(), problems.size(), problems.size() == 1 ? "" : "s");
  return problems.empty() ? 0 : 1;
}

int convert(int argc, char** argv) {
  const Arguments a(argc, argv, {"--dialect"}, {"--readable"});
  if (a.words.size() != 2) throw UsageError{"convert needs two files: IN and OUT"};
  SaveOptions options;
  options.readable = a.flags.contains("--readable");
  if (a.options.contains("--dialect")) {
    const std::string dialect = a.get("--dialect");
    if (dialect == "1.0")
      options.dialect = SdfgDialect::kV1;
    else if (dialect != "v2")
      throw UsageError{"--dialect needs v2 or 1.0, not '" + dialect + "'"};
  }
  std::vector<std::string> warnings;
  save_sdfg(load(a.words[0]), a.words[1], options, &warnings);
  for (const std::string& w : warnings) std::fprintf(stderr, "warning: %s\n", w.c_str());
  return 0;
}

int env(int argc, char** argv) {
  const Arguments a(argc, argv, {}, {});
  if (!a.words.empty()) throw UsageError{"env takes no arguments"};
  const Options from_environment = Options::from_environment();
  const Options resolved = resolve({});
  for (const Variable& v : variables()) {
    std::printf("%-22s %-24s %s\n", std::string(v.name).c_str(), v.write(resolved).c_str(),
                v.is_set(from_environment) ? "(set)" : "(default)");
  }
  for (const std::string& w : unknown_variable_warnings()) std::printf("warning: %s\n", w.c_str());
  const HostTarget target = compiler::host_target(*resolved.target_cpu);
  std::printf("\ncpu: %s, %d cores, vectors of %d bytes\nlibrary: %s\ncompiler: %s\n", target.cpu.c_str(), target.cores,
              target.vector_bytes(), compiler::library_build_id().c_str(), compiler::llvm_build_id().c_str());
  return 0;
}

std::int64_t number(const std::string& text, const std::string& what) {
  try {
    std::size_t used = 0;
    const std::int64_t v = std::stoll(text, &used);
    if (used == text.size() && v >= 0) return v;
  } catch (const std::exception&) {  // reported below
  }
  throw UsageError{what + " needs a number of at least 0, not '" + text + "'"};
}

// "12.3 KiB"
std::string size_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

// "3 hours ago": the largest unit that fits at least once.
std::string age_text(std::int64_t seconds) {
  static constexpr struct {
    std::int64_t seconds;
    const char* name;
  } kUnits[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
  for (const auto& unit : kUnits) {
    const std::int64_t count = seconds / unit.seconds;
    if (count > 0) return std::to_string(count) + " " + unit.name + (count == 1 ? " ago" : "s ago");
  }
  return "just now";
}

int cache(int argc, char** argv) {
  const Arguments a(argc, argv, {"--max-size", "--max-age"}, {});
  if (a.words.size() != 1) throw UsageError{"cache needs one of stat, list, verify, prune"};
  const std::string& what = a.words.front();
  if (what != "stat" && what != "list" && what != "verify" && what != "prune")
    throw UsageError{"cache needs one of stat, list, verify, prune, not '" + what + "'"};
  const Options o = resolve({});
  runtime::DiskCacheOptions d;
  d.directory = *o.cache_dir;
  d.log = [](bool, const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  if (what != "prune") d.mode = runtime::DiskCacheMode::kReadOnly;
  runtime::DiskCache disk(std::move(d));
  if (what == "stat") {
    std::uint64_t bytes = 0;
    const auto items = disk.list();
    for (const auto& item : items) bytes += item.bytes;
    std::printf("%s: %zu entr%s, %s\n", disk.directory().c_str(), items.size(), items.size() == 1 ? "y" : "ies",
                size_text(bytes).c_str());
    return 0;
  }
  if (what == "list") {
    const auto now = static_cast<std::int64_t>(std::time(nullptr));
    for (const auto& item : disk.list()) {
      const auto entry = disk.read(item.key);
      std::string compiled = "damaged";
      if (entry) {
        char text[64];
        std::snprintf(text, sizeof(text), "%.1f ms to compile", static_cast<double>(entry->compile_ns) / 1e6);
        compiled = text;
      }
      std::printf("%s %10s, last used %s, %s\n", item.key.hex().c_str(), size_text(item.bytes).c_str(),
                  age_text(now - item.last_used).c_str(), compiled.c_str());
    }
    return 0;
  }
  if (what == "verify") {
    const auto damaged = disk.verify();
    for (const Digest& key : damaged) std::printf("%s is damaged\n", key.hex().c_str());
    std::printf("%zu damaged\n", damaged.size());
    return damaged.empty() ? 0 : 1;
  }
  const std::uint64_t bytes = a.options.contains("--max-size")
                                  ? static_cast<std::uint64_t>(number(a.get("--max-size"), "--max-size"))
                                  : static_cast<std::uint64_t>(*o.cache_max_size);
  const std::int64_t age = a.options.contains("--max-age") ? number(a.get("--max-age"), "--max-age") : *o.cache_max_age;
  const auto r = disk.prune(bytes, age);
  std::printf("removed %lld entr%s, %s; kept %lld entr%s, %s\n", static_cast<long long>(r.removed),
              r.removed == 1 ? "y" : "ies", size_text(r.removed_bytes).c_str(), static_cast<long long>(r.kept),
              r.kept == 1 ? "y" : "ies", size_text(r.kept_bytes).c_str());
  return 0;
}

int command(int argc, char** argv) {
  if (argc < 2) throw UsageError{"a command is needed"};
  const std::string name = argv[1];
  if (name == "run") return run(argc, argv);
  if (name == "info") return info(argc, argv);
  if (name == "text") return text(argc, argv);
  if (name == "emit") return emit(argc, argv);
  if (name == "validate") return validate(argc, argv);
  if (name == "convert") return convert(argc, argv);
  if (name == "env") return env(argc, argv);
  if (name == "cache") return cache(argc, argv);
  if (name == "help" || name == "--help" || name == "-h") {
    std::printf("%s", kUsage);
    return 0;
  }
  throw UsageError{"there is no command '" + name + "'"};
}

}  // namespace

}  // namespace sdfg::tools

int main(int argc, char** argv) {
  try {
    return sdfg::tools::command(argc, argv);
  } catch (const sdfg::tools::UsageError& e) {
    std::fprintf(stderr, "sdfg: %s\n%s", e.text.c_str(), sdfg::tools::kUsage);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sdfg: %s\n", e.what());
    return 1;
  }
}
