// Turns kernels into maps of the host: the same results on a machine without a device.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::transform {

// Device maps become undecided maps (threads take them where that pays), thread-block and warp maps run in order;
// memory of the device, shared and pinned memory become memory of the host. Registers of a block that hold a value per
// thread get one element per thread.
bool to_host(ir::Graph& g);

// The same for single kernels, by label: the rest of the graph stays as it is. Throws Error(kUsage) for one that
// touches memory of the device. Labels of maps that are no kernels change nothing; those of no map at all are returned.
struct KeptOnHost {
  bool changed = false;
  std::vector<std::string> unknown;  // in the order given
};
KeptOnHost keep_on_host(ir::Graph& g, const std::vector<std::string>& labels);

}  // namespace sdfg::transform
