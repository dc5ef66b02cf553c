// Assigns device work to streams, orders streams by events, and makes the host wait where it uses what a device wrote.
#pragma once

#include "ir/graph.hpp"
#include "transform/gpu/options.hpp"

namespace sdfg::transform {

// Between two elements of the host, device work that does not depend on each other may use several streams; they start
// after stream 0 and join it, so that memory is taken and given back in its order. The host waits for a stream right
// before the first element that reads memory written from it (or writes memory that it still reads); nothing waits at
// the end of a call. Numbers: options.streams.
bool plan_streams(ir::Graph& g, const DeviceOptions& options);

}  // namespace sdfg::transform
