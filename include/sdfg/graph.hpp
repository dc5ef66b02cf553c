/// A finished graph: immutable, shared, usable from any number of threads.
#pragma once

#include <memory>
#include <sdfg/error.hpp>
#include <sdfg/export.hpp>
#include <string>

namespace sdfg {

namespace ir {
class Graph;
}

/// A handle to an immutable graph. Copying shares the graph; the last handle frees it.
///
/// Comes from `Builder::graph()`, `load_sdfg()` or `Function::graph()`. Thread rule: any thread, any number at once.
class SDFG_EXPORT Graph {
 public:
  /// Takes ownership. Internal rooms make these; applications get them from a builder or a loader.
  explicit Graph(std::shared_ptr<const ir::Graph> graph);
  Graph(const Graph&) = default;  // also for moves: no handle is empty
  Graph& operator=(const Graph&) = default;

  /// The name the graph was built with.
  const std::string& name() const;
  /// Readable text of the whole graph.
  std::string text() const;
  /// Hex digest of the canonical form: equal for graphs that produce the same code.
  std::string digest() const;
  /// Throws Error(kGraph) with the first broken rule, if any.
  void check() const;

  const ir::Graph& ir() const { return *graph_; }
  const std::shared_ptr<const ir::Graph>& share() const { return graph_; }

  /// What is computed from the graph at most once, whoever asks; internal.
  struct Derived;
  Derived& derived() const { return *derived_; }

 private:
  std::shared_ptr<const ir::Graph> graph_;
  std::shared_ptr<Derived> derived_;
};

}  // namespace sdfg
