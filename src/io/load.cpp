// The public loader and writer over the reader, the translation and the writer.
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

std::string format_sdfg(const Graph& graph, const SaveOptions& options, std::vector<std::string>* warnings) {
  io::WrittenGraph written = io::write_bytes(graph.ir(), options);
  if (warnings != nullptr) *warnings = std::move(written.warnings);
  return std::move(written.bytes);
}

void save_sdfg(const Graph& graph, const std::string& path, const SaveOptions& options,
               std::vector<std::string>* warnings) {
  SaveOptions o = options;
  o.gzip = o.gzip || path.ends_with(".gz") || path.ends_with(".sdfgz");
  io::write_file(path, format_sdfg(graph, o, warnings));
}

}  // namespace sdfg
