// Files in tests/interop: DaCe's own graphs give DaCe's results here, and ours read back as what they were written
// from.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sdfg/jit.hpp>

#include "ir/validate.hpp"
#include "programs.hpp"
#include "tools/case.hpp"

namespace {

namespace fs = std::filesystem;
using namespace sdfg;
using tools::Runner;

std::vector<fs::path> folders(const char* name) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(SDFG_SOURCE_DIR) / "tests" / "interop" / name))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void check_runs(const fs::path& folder, const Graph& g) {
  const auto problems = ir::validate(g.ir());
  if (!problems.empty()) FAIL_CHECK(problems.front().message);
  const auto c = tools::read_case((folder / "case.json").string());
  Options options;
  options.cache = CacheMode::kOff;
  for (const Runner runner : {Runner::kInterpreter, Runner::kCompiled}) {
    INFO((runner == Runner::kInterpreter ? "interpreted" : "compiled"));
    try {
      for (const std::string& m : tools::run_case(g, c, folder.string(), folder.string(), runner, options).mismatches)
        FAIL_CHECK(m);
    } catch (const Error& e) {
      FAIL_CHECK(e.what());
    }
  }
}

}  // namespace

TEST_CASE("programs of DaCe load, keep the rules, round-trip and give DaCe's results") {
  for (const fs::path& folder : folders("programs")) {
    INFO(folder.filename().string());
    const Graph g = load_sdfg((folder / "graph.sdfg").string());
    check_runs(folder, g);
    for (const auto dialect : {SdfgDialect::kV2, SdfgDialect::kV1}) {
      SaveOptions options;
      options.dialect = dialect;
      try {
        CHECK(parse_sdfg(format_sdfg(g, options)).digest() == g.digest());
      } catch (const Error& e) {
        FAIL_CHECK(e.what());
      }
    }
  }
}

TEST_CASE("our committed files are what the writer writes, and run") {
  for (test::Program& p : test::own_programs()) {
    INFO(p.name);
    const fs::path folder = fs::path(SDFG_SOURCE_DIR) / "tests" / "interop" / "own" / p.name;
    std::ifstream in(folder / "graph.sdfg", std::ios::binary);
    const std::string committed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const Graph graph(std::make_shared<const ir::Graph>(std::move(p.graph)));
    SaveOptions options;
    options.dialect = SdfgDialect::kV1;
    const bool same = format_sdfg(graph, options) == committed;
    if (!same) FAIL_CHECK("the file differs; tests/interop/run.sh --regenerate writes it anew");
    check_runs(folder, load_sdfg((folder / "graph.sdfg").string()));
    check_runs(folder, graph);
  }
}
