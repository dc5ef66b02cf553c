// One state of a file while it is translated: its nodes with their scopes, and the state of the graph that is being
// filled.
#pragma once

#include "io/importer.hpp"

namespace sdfg::io {

inline bool is_entry(const dace::Node& n) {
  return std::holds_alternative<dace::MapEntry>(n.kind) || std::holds_alternative<dace::ConsumeEntry>(n.kind);
}
inline bool is_exit(const dace::Node& n) {
  return std::holds_alternative<dace::MapExit>(n.kind) || std::holds_alternative<dace::ConsumeExit>(n.kind);
}
inline bool is_access(const dace::Node& n) {
  return std::holds_alternative<dace::AccessNode>(n.kind);
}

struct Importer::StateContext {
  StateContext(const dace::State& s, const dace::Block& b, Scope& sc);

  const dace::Node& node(int v) const { return state.nodes[static_cast<std::size_t>(v)]; }
  std::vector<int> items_of(int entry) const;
  const dace::Edge& path_root(const dace::Edge& e) const;
  const dace::Edge& path_end(const dace::Edge& e) const;
  // The edge that says what a view node shows; nullptr when the node is no view. Throws when it is ambiguous.
  const dace::Edge* viewing_edge(int access_node) const;

  const dace::State& state;
  const dace::Block& block;
  Scope& scope;
  std::vector<std::vector<const dace::Edge*>> in, out;  // per node, in stored order
  std::vector<int> exit_of, entry_of;                   // partner of scope nodes, -1 for others
  std::vector<int> owner;                               // entry of the scope a node lies in, -1: none

  // The state of the graph that plain nodes go to; a map, consume scope or nested graph closes it.
  struct Open {
    ir::Element* element = nullptr;
    std::map<int, ir::Id> nodes;            // node of the file -> node of the open state
    std::map<std::string, ir::Id> scalars;  // access nodes of register Scalars written in it
  };
  Open open;
  std::map<std::pair<int, std::string>, std::string>
      registers;                        // code node and connector -> the Scalar its value went to
  std::map<int, std::string> consumed;  // consume entry -> container of the popped element

 private:
  void match_scopes();
  void find_owners();
};

}  // namespace sdfg::io
