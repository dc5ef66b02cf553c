// Writes our own programs for the comparison with DaCe: `interop_generate FOLDER`. For each program a folder with
// graph.sdfg (the dialect of the release that the comparison installs), case.json, inputs, and what the interpreter
// gives.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sdfg/sdfg_file.hpp>

#include "ir/validate.hpp"
#include "programs.hpp"
#include "tools/case.hpp"

using namespace sdfg;
using namespace sdfg::test;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: interop_generate FOLDER\n", stderr);
    return 2;
  }
  try {
    for (Program& p : own_programs()) {
      const std::filesystem::path folder = std::filesystem::path(argv[1]) / p.name;
      std::filesystem::create_directories(folder);
      ir::check(p.graph);
      const Graph graph(std::make_shared<const ir::Graph>(std::move(p.graph)));
      SaveOptions options;
      options.dialect = SdfgDialect::kV1;
      save_sdfg(graph, (folder / "graph.sdfg").string(), options);
      nlohmann::json json{{"kernel", p.name}, {"sdfg_name", graph.name()}, {"rtol", 1e-12}, {"atol", 1e-12}};
      json["symbols"] = nlohmann::json::object();
      for (const auto& [name, value] : p.symbols) json["symbols"][name] = value;
      json["args"] = nlohmann::json::array();
      for (const Argument& a : p.arrays) {
        tools::write_npy((folder / ("in_" + a.name + ".npy")).string(), a.array);
        json["args"].push_back({{"name", a.name},
                                {"dtype", std::string(to_string(a.array.type))},
                                {"shape", a.array.shape},
                                {"role", "inout"}});
      }
      for (const auto& [name, value] : p.scalars)
        json["args"].push_back({{"name", name},
                                {"dtype", "float64"},
                                {"shape", nlohmann::json::array()},
                                {"role", "scalar"},
                                {"value", value}});
      std::ofstream((folder / "case.json").string()) << json.dump(1) << "\n";
      tools::run_case(graph, tools::read_case((folder / "case.json").string()), folder.string(), "",
                      tools::Runner::kInterpreter, {}, folder.string());
      std::printf("%s\n", p.name.c_str());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "interop_generate: %s\n", e.what());
    return 1;
  }
  return 0;
}
