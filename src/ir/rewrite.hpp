// Internal to ir: renaming and substitution in one pass over the sites of elements.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace sdfg::ir {

using Names = std::map<std::string, std::string, std::less<>>;

struct Rewriting {
  symbolic::Substitution symbols;
  Names containers;
  bool binders = false;       // binders of symbols that become other symbols are renamed too
  bool declarations = false;  // names in Block::locals and Consume::element are renamed too
};

// The new path of a container or of a member of one: the longest prefix in `names` counts.
std::string renamed_path(const std::string& path, const Names& names);

// Rewrites every site of the element and everything below it; not the tables.
void rewrite_element(const Graph& g, Element& e, const Rewriting& by);
// Rewrites the description of a container: layout, viewed window, members.
void rewrite_container(Container& c, const Rewriting& by);

}  // namespace sdfg::ir
