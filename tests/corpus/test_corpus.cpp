// Every kernel of the corpus: loads, keeps the rules, and gives the expected outputs interpreted and compiled.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sdfg/jit.hpp>

#include "ir/validate.hpp"
#include "tools/case.hpp"

namespace {

namespace fs = std::filesystem;
using sdfg::tools::Runner;

// SDFG_CORPUS, else the corpus beside the checkout, else the kernels committed with the tests.
std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  for (const fs::path& root : {fs::path(std::getenv("SDFG_CORPUS") != nullptr ? std::getenv("SDFG_CORPUS") : ""),
                               fs::path(SDFG_SOURCE_DIR) / ".." / "shared" / "corpus",
                               fs::path(SDFG_SOURCE_DIR) / "tests" / "corpus" / "kernels"}) {
    if (root.empty() || !fs::is_directory(root)) continue;
    for (const auto& entry : fs::directory_iterator(root)) {
      if (fs::exists(entry.path() / "case.json")) out.push_back(entry.path());
    }
    if (!out.empty()) {
      if (root.filename() == "kernels")
        std::cout << "NOTICE: the corpus folder is absent; only the committed kernels are tested\n";
      break;
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Names of kernels to run, separated by commas; empty: all.
bool wanted(const std::string& kernel) {
  const char* only = std::getenv("SDFG_CORPUS_ONLY");
  if (only == nullptr || *only == 0) return true;
  const std::string list = "," + std::string(only) + ",";
  return list.find("," + kernel + ",") != std::string::npos;
}

constexpr double kMostSeconds = 120;  // for one graph, on the emulated device and under a sanitizer as well

std::string run_all(const std::vector<std::string>& files, bool run, Runner runner,
                    sdfg::DeviceChoice::Kind device = sdfg::DeviceChoice::Kind::kCpu) {
  std::string failures;
  int count = 0;
  for (const fs::path& folder : folders()) {
    if (!wanted(folder.filename().string())) continue;
    for (const std::string& file : files) {
      if (!fs::exists(folder / file)) continue;
      ++count;
      const std::string name = folder.filename().string() + "/" + file;
      try {
        const sdfg::Graph g = sdfg::load_sdfg((folder / file).string());
        const auto problems = sdfg::ir::validate(g.ir());
        if (!problems.empty()) {
          failures += name + ": breaks a rule: " + problems.front().message + "\n";
          continue;
        }
        if (!run) continue;
        sdfg::Options options;
        options.cache = sdfg::CacheMode::kOff;
        options.device = sdfg::DeviceChoice{device, 0};
        options.verify = device == sdfg::DeviceChoice::Kind::kEmulated;  // every pass leaves a valid graph
        options.allow_foreign_code = true;  // the corpus is ours; expansions left some C++ tasklets in it
        const auto c = sdfg::tools::read_case((folder / "case.json").string());
        const auto start = std::chrono::steady_clock::now();
        const auto r = sdfg::tools::run_case(g, c, folder.string(), folder.string(), runner, options);
        for (const std::string& m : r.mismatches) failures += name + ": " + m + "\n";
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        if (spent.count() > kMostSeconds)
          failures += name + ": took " + std::to_string(spent.count()) + " s to compile and run\n";
      } catch (const std::exception& e) {
        failures += name + ": " + e.what() + "\n";
      }
    }
  }
  CHECK(count > 0);
  return failures;
}

}  // namespace

TEST_CASE("every graph of the corpus loads and keeps the rules") {
  const std::string failures =
      run_all({"graph.sdfg", "graph.v1.sdfg", "graph.cpu.sdfg", "graph.gpu.sdfg"}, false, Runner::kInterpreter);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("every graph of the corpus is written and read back as itself in both dialects") {
  std::string failures;
  int count = 0;
  for (const fs::path& folder : folders()) {
    if (!wanted(folder.filename().string())) continue;
    for (const char* file : {"graph.sdfg", "graph.v1.sdfg", "graph.cpu.sdfg", "graph.gpu.sdfg"}) {
      if (!fs::exists(folder / file)) continue;
      ++count;
      for (const auto dialect : {sdfg::SdfgDialect::kV2, sdfg::SdfgDialect::kV1}) {
        const std::string name =
            folder.filename().string() + "/" + file + (dialect == sdfg::SdfgDialect::kV1 ? " as 1.0.2" : " as v2");
        try {
          sdfg::SaveOptions options;
          options.dialect = dialect;
          const sdfg::Graph g = sdfg::load_sdfg((folder / file).string());
          const std::string bytes = sdfg::format_sdfg(g, options);
          const sdfg::Graph again = sdfg::parse_sdfg(bytes);
          if (again.digest() != g.digest()) failures += name + ": reads back as another graph\n";
          if (dialect == sdfg::SdfgDialect::kV2 && sdfg::format_sdfg(again, options) != bytes)
            failures += name + ": is written differently again\n";
        } catch (const std::exception& e) {
          failures += name + ": " + e.what() + "\n";
        }
      }
    }
  }
  CHECK(count > 0);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("simplified graphs give the expected outputs on the interpreter") {
  const std::string failures = run_all({"graph.sdfg", "graph.v1.sdfg"}, true, Runner::kInterpreter);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("simplified graphs give the expected outputs compiled") {
  const std::string failures = run_all({"graph.sdfg", "graph.v1.sdfg"}, true, Runner::kCompiled);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("graphs optimised for the CPU give the expected outputs compiled") {
  const std::string failures = run_all({"graph.cpu.sdfg"}, true, Runner::kCompiled);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("graphs optimised for a GPU give the expected outputs compiled for the CPU") {
  const std::string failures = run_all({"graph.gpu.sdfg"}, true, Runner::kCompiled);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("graphs optimised for a GPU give the expected outputs on the emulated device") {
  const std::string failures =
      run_all({"graph.gpu.sdfg"}, true, Runner::kCompiled, sdfg::DeviceChoice::Kind::kEmulated);
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("graphs optimised for a GPU give the expected outputs on a GPU") {
  if (!sdfg::device_available({sdfg::DeviceChoice::Kind::kCuda, 0})) {
    std::cout << "NOTICE: there is no CUDA device; the corpus is not run on one\n";
    return;
  }
  const std::string failures = run_all({"graph.gpu.sdfg"}, true, Runner::kCompiled, sdfg::DeviceChoice::Kind::kCuda);
  INFO(failures);
  CHECK(failures.empty());
}
