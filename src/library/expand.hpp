// Replaces library nodes by elements of the graph that compute the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_function.hpp"
#include "ir/graph.hpp"

namespace sdfg::library {

struct ExpandOptions {
  int opt_level = 3;      // below 2: loop nests only
  bool host_code = true;  // C++ text for the host may be used; false in and for kernels
  int vector_bytes = 32;  // of the target's widest vectors
  // Whether LAPACK's function of this name ("dpotrf_") can be called from host code; empty: no. Asked only where a call
  // is worth it.
  std::function<bool(std::string_view name)> lapack;
  // Why this function of a device library can't be called by host code; empty text: it can. No function: none can, and
  // nobody wonders. Asked only where a call would be made.
  std::function<std::string(DeviceFunction function)> device_library;
};

// A node with an operand in device memory is expanded to loop nests that become kernels: arrays of the expansion lie in
// device memory, and what decides by values in memory on the way runs whole in a kernel of one point. Nodes inside of
// kernels become part of these.
//
// Expands every library node; Copy and Fill become memlets and maps as well, but for fills of device memory. Each
// choice adds a line to `reasons`. Throws Error(kGraph) for operands whose shapes don't fit, Error(kUsage) naming a
// node that has no expansion (an unknown one of a file).
void expand_library_nodes(ir::Graph& g, const ExpandOptions& options, std::vector<std::string>* reasons = nullptr);

}  // namespace sdfg::library
