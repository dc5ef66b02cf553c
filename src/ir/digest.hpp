// Canonical form, digest and canonical ordinals of a graph.
#pragma once

#include <map>
#include <vector>

#include "base/digest.hpp"
#include "ir/graph.hpp"

namespace sdfg::ir {

// Bytes that are equal exactly for graphs that mean the same text of code: tables sorted, binders and transients by
// ordinal, no labels, no locations, no ids. Parameter names are part of it (named binding), transient and binder names
// are not.
std::vector<std::uint8_t> canonical_form(const Graph& g);
Digest digest(const Graph& g);

// Canonical ordinals: pre-order positions of elements, nodes and memlets, and positions of containers (parameters
// first, then locals in order of declaration). Objects and source maps hold these; names and lines are looked up in the
// calling graph.
struct Ordinals {
  std::map<Id, int> of_id;
  std::vector<Id> ids;  // inverse
  std::map<std::string, int, std::less<>> of_container;
  std::vector<std::string> containers;  // inverse
};
Ordinals ordinals(const Graph& g);

}  // namespace sdfg::ir
