// Writes the files of a bundle.
#include "jit/reproduce.hpp"

#include <cctype>
#include <filesystem>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/write_file.hpp"
#include "compile/build_id.hpp"
#include "ir/digest.hpp"
#include "ir/print.hpp"

namespace sdfg::jit {

void write_reproducer(const ir::Graph& g, const Options& resolved, const HostTarget& target, const std::string& source,
                      const Error* error) {
  std::string name;
  for (const char c : g.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const std::filesystem::path folder =
      std::filesystem::path(resolved.repro->folder) / (name + "-" + ir::digest(g).hex().substr(0, 16));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  bool complete = !failed;
  const auto write = [&](const char* file, const std::string& text) {
    complete = !write_file((folder / file).string(), text) && complete;
  };
  write("graph.txt", ir::to_text(g));
  std::string options;
  for (const Variable& v : variables()) options += std::string(v.name) + "=" + v.write(resolved) + "\n";
  write("options.txt", options);
  std::string environment = "triple " + target.triple + "\ncpu " + target.cpu + "\nfeatures";
  for (const std::string& f : target.features) environment += " " + f;
  environment += "\nlibrary " + compiler::library_build_id() + "\n";
  for (const std::string& id : compiler::host_build_ids()) environment += "build " + id + "\n";
  write("environment.txt", environment);
  if (!source.empty()) write("source.cpp", source);
  if (error != nullptr) write("error.txt", std::string(error->what()) + "\n");
  if (!complete) warn_once(Logger::kBuild, "the bundle '" + folder.string() + "' could not be written completely");
}

}  // namespace sdfg::jit
