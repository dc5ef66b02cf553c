// The public loader over the reader and the translation.
#include <sdfg/sdfg_file.hpp>

#include "io/sdfg_file.hpp"

namespace sdfg {

namespace {

Graph publish(io::LoadedGraph loaded, std::vector<std::string>* warnings) {
  if (warnings != nullptr) *warnings = std::move(loaded.warnings);
  return Graph(std::make_shared<const ir::Graph>(std::move(loaded.graph)));
}

}  // namespace

Graph load_sdfg(const std::string& path, std::vector<std::string>* warnings) {
  return publish(io::load_file(path), warnings);
}
Graph parse_sdfg(std::string_view bytes, std::vector<std::string>* warnings) {
  return publish(io::load_bytes(bytes), warnings);
}

}  // namespace sdfg
