// Questions about a graph's share of a device: where memory is, and which schedules occur.
#pragma once

#include <string_view>

#include "ir/graph.hpp"

namespace sdfg::ir {

// Is the element or something below it a map of this schedule?
bool holds(const Element& e, Schedule s);
bool holds(const Sequence& s, Schedule schedule);

// Where a container's elements are: that of what a view finally shows. kDefault for a name that is no container's.
Storage storage_of(const Graph& g, std::string_view path);
bool in_device_memory(const Graph& g, std::string_view path);

}  // namespace sdfg::ir
