// Access sets: every read and write of container elements below a sequence, views resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::analysis {

struct Access {
  std::string container;  // what owns the memory: views are resolved to what they show
  ir::Subset subset;      // of that container; meaningless unless `placed`
  bool placed = false;    // false: anywhere in the container (a view of another layout, a reference, an opaque use)
  bool write = false;     // reads and writes are separate entries
  bool dynamic = false;
  std::optional<ir::ReduceOp> wcr;
  ir::Id id = 0;                         // the memlet, or the element of a condition or assignment
  std::vector<const ir::Element*> path;  // enclosing elements below the sequence, outermost first, the state last
};

struct AccessSet {
  std::vector<Access> accesses;       // in program order; inside a state in order of its edges
  std::vector<std::string> declared;  // containers declared below
  bool opaque = false;                // code whose accesses are not known (callbacks, C++ code with side effects)
  std::string opaque_reason;
};

AccessSet accesses_of(const ir::Graph& g, const ir::Sequence& s);

// One of all accesses that no question about dependence can tell apart (the same elements, moved in the same way, under
// the same loops and assignments): positions in `set.accesses`, the first of each. A long body touches few places
// often, and questions are asked of pairs.
struct DistinctAccesses {
  std::vector<std::size_t> first;  // of each kind
  std::vector<std::size_t> kind;   // of each access: its position in `first`
};
DistinctAccesses distinct(const AccessSet& set);

}  // namespace sdfg::analysis
