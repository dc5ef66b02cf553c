// The command `sdfg`: output on stdout with status 0, complaints on stderr with 1, wrong usage with 2.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "../support/folder.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kKernels = fs::path(SDFG_SOURCE_DIR) / "tests" / "corpus" / "kernels";

using sdfg::test::Folder;

struct Result {
  int status = -1;
  std::string out, err;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// `environment`: "NAME=value ..." in front of the command.
Result run_sdfg(const std::string& arguments, const std::string& environment = {}) {
  const Folder f;
  const std::string line = "env -u SDFG_CACHE -u SDFG_DUMP SDFG_CACHE_DIR=" + (f / "cache") + " " + environment + " " +
                           SDFG_COMMAND + " " + arguments + " > " + (f / "out") + " 2> " + (f / "err") + " < /dev/null";
  const int status = std::system(line.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read(f / "out"), read(f / "err")};
}

std::string graph(const char* kernel, const char* file = "graph.sdfg") {
  return (kKernels / kernel / file).string();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("wrong usage is told on stderr with the commands, status 2") {
  const struct {
    const char *arguments, *complaint;
  } cases[] = {
      {"", "sdfg: a command is needed\n"},
      {"frobnicate", "sdfg: there is no command 'frobnicate'\n"},
      {"info", "sdfg: exactly one file is needed\n"},
      {"info a b", "sdfg: exactly one file is needed\n"},
      {"info --fast a", "sdfg: unknown option --fast\n"},
      {"run graph.sdfg", "sdfg: --case is needed\n"},
      {"run graph.sdfg --case", "sdfg: --case needs a value\n"},
      {"env now", "sdfg: env takes no arguments\n"},
      {"cache", "sdfg: cache needs one of stat, list, verify, prune\n"},
      {"cache burn", "sdfg: cache needs one of stat, list, verify, prune, not 'burn'\n"},
      {"cache prune --max-size many", "sdfg: --max-size needs a number of at least 0, not 'many'\n"},
      {"convert a", "sdfg: convert needs two files: IN and OUT\n"},
      {"convert a b --dialect v7", "sdfg: --dialect needs v2 or 1.0, not 'v7'\n"},
  };
  for (const auto& c : cases) {
    INFO(c.arguments);
    const Result r = run_sdfg(c.arguments);
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    CHECK(r.err.rfind(std::string(c.complaint) + "usage: sdfg COMMAND", 0) == 0);
  }
  const Result help = run_sdfg("--help");
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  CHECK(help.out.rfind("usage: sdfg COMMAND", 0) == 0);
}

TEST_CASE("what is wrong with a file is told on stderr, status 1") {
  const Folder f;
  std::ofstream(f / "bad.sdfg") << R"({"type": "SDFG", "attributes": {"name": "g"}, "nodes": 3, "edges": []})";
  for (const char* command : {"info", "text", "emit", "validate"}) {
    INFO(command);
    const Result missing = run_sdfg(std::string(command) + " /nowhere.sdfg");
    CHECK(missing.status == 1);
    CHECK(missing.out.empty());
    CHECK(missing.err == "sdfg: usage error: the file '/nowhere.sdfg' can't be opened: No such file or directory\n");
    const Result bad = run_sdfg(std::string(command) + " " + (f / "bad.sdfg"));
    CHECK(bad.status == 1);
    CHECK(bad.out.empty());
    CHECK(bad.err == "sdfg: graph error: " + (f / "bad.sdfg") + ": expected a list, found number (at $.nodes)\n");
  }
  const Result no_case = run_sdfg("run " + graph("atax") + " --case /nowhere.json");
  CHECK(no_case.status == 1);
  CHECK(contains(no_case.err, "/nowhere.json"));
}

TEST_CASE("info counts what a graph is made of") {
  const Result r = run_sdfg("info " + graph("jacobi_1d"));
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(contains(r.out, "graph jacobi_1d"));
  CHECK(contains(r.out, "\nparameters: "));
  CHECK(contains(r.out, "\ncontainers: "));
  CHECK(contains(r.out, "\nelements: "));
  CHECK(contains(r.out, "\nlibrary nodes: none\n"));
  CHECK(contains(r.out, "\nsymbols: "));
  CHECK(contains(run_sdfg("info " + graph("softmax")).out, "Reduce 2"));
}

TEST_CASE("text shows the graph, the same every time") {
  const Result r = run_sdfg("text " + graph("spmv"));
  CHECK(r.status == 0);
  CHECK(r.out.rfind("graph spmv", 0) == 0);
  CHECK(run_sdfg("text " + graph("spmv")).out == r.out);
}

TEST_CASE("validate names rule and place of what is broken, status 1") {
  CHECK(run_sdfg("validate " + graph("atax")).status == 0);
  const Folder f;
  std::ofstream(f / "bounds.sdfg") << R"({"type": "SDFG", "attributes": {"name": "g", "_arrays": {"A": {"type": "Array",
    "attributes": {"dtype": "float64", "shape": ["4"]}}}}, "edges": [], "nodes": [{"type": "SDFGState", "label": "s",
    "attributes": {}, "nodes": [{"type": "Tasklet", "attributes": {"label": "t", "code": "o = 1.0",
    "out_connectors": {"o": null}}}, {"type": "AccessNode", "attributes": {"data": "A"}}], "edges": [{"src": 0, "dst": 1,
    "src_connector": "o", "dst_connector": null, "attributes": {"data": {"type": "Memlet", "attributes": {"data": "A",
    "subset": {"type": "Range", "ranges": [{"start": "9", "end": "9", "step": "1"}]}}}}}]}]})";
  const Result r = run_sdfg("validate " + (f / "bounds.sdfg"));
  CHECK(r.status == 1);
  CHECK(r.err.empty());
  CHECK(contains(r.out, "subset-bounds: state 's' writes A[9], outside A's extent 4 in dimension 0\n"));
  CHECK(contains(r.out, "g: 1 problem\n"));
}

TEST_CASE("run compares with what is expected, status 1 where it differs") {
  for (const char* runner : {"", " --interpret"}) {
    INFO(runner);
    const std::string folder = (kKernels / "go_fast").string();
    const std::string line = "run " + graph("go_fast") + " --case " + folder + "/case.json --expect ";
    const Result right = run_sdfg(line + folder + runner);
    CHECK(right.status == 0);
    CHECK(right.err.empty());
    CHECK(contains(right.out, ": as expected in "));
    // Inputs taken for outputs.
    const Folder f;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("in_", 0) == 0) fs::copy_file(entry.path(), f / ("out_" + name.substr(3)));
    }
    const Result wrong = run_sdfg(line + f.str() + runner);
    CHECK(wrong.status == 1);
    CHECK(contains(wrong.out, "__return"));
    CHECK(contains(wrong.out, ": WRONG in "));
  }
}

TEST_CASE("emit prints C++ and dumps write files that stand alone") {
  const Folder f;
  const Result r = run_sdfg("emit " + graph("jacobi_1d"), "SDFG_DUMP=dot,html,graph SDFG_DUMP_DIR=" + (f / "dumps"));
  CHECK(r.status == 0);
  CHECK(contains(r.out, "jacobi_1d"));
  CHECK(contains(r.out, "for ("));
  int dot = 0, html = 0, text = 0;
  for (const auto& entry : fs::directory_iterator(f / "dumps")) {
    const std::string content = read(entry.path().string());
    if (entry.path().extension() == ".dot") dot += content.rfind("digraph ", 0) == 0 ? 1 : 0;
    if (entry.path().extension() == ".html") html += content.rfind("<!DOCTYPE html>", 0) == 0 ? 1 : 0;
    if (entry.path().extension() == ".txt") text += content.rfind("graph ", 0) == 0 ? 1 : 0;
  }
  CHECK(dot == 1);
  CHECK(html == 1);
  CHECK(text == 1);
}

TEST_CASE("emit refuses the code of files unless it is allowed") {
  const Result refused = run_sdfg("emit " + graph("cholesky2", "graph.cpu.sdfg"));
  CHECK(refused.status == 1);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, "allow_foreign_code"));
  CHECK(run_sdfg("emit " + graph("cholesky2", "graph.cpu.sdfg") + " --allow-foreign-code").status == 0);
}

TEST_CASE("env lists every variable with its value and origin") {
  const Result r = run_sdfg("env", "SDFG_OPT=1 SDFG_OPTT=3");
  CHECK(r.status == 0);
  CHECK(contains(r.out, "SDFG_OPT "));
  CHECK(contains(r.out, "(set)"));
  CHECK(contains(r.out, "SDFG_OPTT"));
  CHECK(contains(r.out, "\ncpu: "));
  const Result wrong = run_sdfg("env", "SDFG_OPT=11");
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "SDFG_OPT"));
}

TEST_CASE("an unknown variable is told in the log") {
  const Result quiet = run_sdfg("emit " + graph("go_fast"), "SDFG_OPTT=1");
  CHECK(quiet.status == 0);
  CHECK(quiet.err.empty());
  const Result told = run_sdfg("emit " + graph("go_fast"), "SDFG_OPTT=1 SDFG_LOG=warning");
  CHECK(told.status == 0);
  CHECK(contains(told.err,
                 "[sdfg:build] [warning] the environment variable SDFG_OPTT is not known and has no effect; "
                 "did you mean SDFG_OPT?"));
}

TEST_CASE("cache counts, lists, checks and prunes entries") {
  const Folder f;
  const std::string here = "SDFG_CACHE_DIR=" + (f / "c");
  const std::string folder = (kKernels / "go_fast").string();
  REQUIRE(run_sdfg("run " + graph("go_fast") + " --case " + folder + "/case.json", here).status == 0);
  CHECK(contains(run_sdfg("cache stat", here).out, ": 1 entry, "));
  const std::string listed = run_sdfg("cache list", here).out;
  CHECK(contains(listed, " ms to compile\n"));
  CHECK(contains(listed, " KiB, last used just now, "));
  CHECK(run_sdfg("cache verify", here).out == "0 damaged\n");
  const Result pruned = run_sdfg("cache prune --max-size 1", here);
  CHECK(pruned.status == 0);
  CHECK(contains(pruned.out, "removed 1 entry, "));
  CHECK(contains(run_sdfg("cache stat", here).out, ": 0 entries, 0 bytes\n"));
}

TEST_CASE("convert writes both dialects, plain and packed, and what it wrote reads the same") {
  const Folder f;
  const std::string text = run_sdfg("text " + graph("spmv")).out;
  for (const char* options : {"", " --dialect 1.0", " --readable"}) {
    for (const char* file : {"a.sdfg", "b.sdfgz"}) {
      INFO(options << " " << file);
      REQUIRE(run_sdfg("convert " + graph("spmv") + " " + (f / file) + options).status == 0);
      CHECK((read(f / file).front() == '{') == (std::string(file) == "a.sdfg"));
      CHECK(run_sdfg("validate " + (f / file)).status == 0);
    }
  }
  CHECK(!text.empty());
  CHECK(run_sdfg("convert " + graph("spmv") + " /nowhere/a.sdfg").status == 1);
}
