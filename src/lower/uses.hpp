// Where symbols and containers of a graph are bound, written and used: what declarations can be const and local.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::lower {

class Uses {
 public:
  explicit Uses(const ir::Graph& g);

  // One Assign binds the symbol, and every use follows it in its own sequence: it can be declared there.
  bool bound_once(std::string_view symbol) const { return bound_once_.contains(symbol); }
  // The symbols to declare at the head of a map's body, or of the function (0).
  const std::vector<std::string>& declared_in(ir::Id map) const;
  // One memlet writes the scalar, from a tasklet in the declaring sequence, and every other use comes later: the id of
  // the memlet. 0 otherwise.
  ir::Id written_once(std::string_view container) const;
  // Written by the graph, also through views, references and members.
  bool written(std::string_view container) const { return written_.contains(container); }
  // Some address of it is taken by a view or a reference.
  bool viewed(std::string_view container) const { return viewed_.contains(container); }
  bool used(std::string_view container) const { return used_.contains(container); }

 private:
  using NameSet = std::set<std::string, std::less<>>;
  NameSet bound_once_;
  std::map<ir::Id, std::vector<std::string>> declared_in_;
  std::map<std::string, ir::Id, std::less<>> written_once_;
  NameSet written_, viewed_, used_;

  struct Collector;
};

// The container a path like "st.x" starts in.
std::string_view root_name(std::string_view path);

}  // namespace sdfg::lower
