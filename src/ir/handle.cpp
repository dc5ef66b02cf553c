// The public handle of a graph.
#include "ir/handle.hpp"

#include "ir/digest.hpp"
#include "ir/graph.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"

namespace sdfg {

Graph::Graph(std::shared_ptr<const ir::Graph> graph)
    : graph_(std::move(graph)), derived_(std::make_shared<Derived>()) {}
const std::string& Graph::name() const {
  return graph_->name;
}
std::string Graph::text() const {
  return ir::to_text(*graph_);
}
std::string Graph::digest() const {
  return digest_of_graph(*this).hex();
}
void Graph::check() const {
  ir::check(*graph_);
}

const Digest& digest_of_graph(const Graph& graph) {
  Graph::Derived& d = graph.derived();
  std::call_once(d.digest_once, [&] { d.digest = ir::digest(graph.ir()); });
  return d.digest;
}

}  // namespace sdfg
