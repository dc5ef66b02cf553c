// Launches of a loop's first iteration, and the recorded graphs that repeat them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <sdfg/options.hpp>
#include <vector>

#include "device/device.hpp"

namespace sdfg::runtime {

// One launch with the values of its arguments.
struct KeptLaunch {
  std::int32_t kernel = 0;
  device::Launch shape;
  std::vector<std::byte> values;       // every argument aligned to 16 bytes
  std::vector<std::size_t> positions;  // of the arguments in `values`

  KeptLaunch(std::int32_t index, const device::Launch& launch, const device::KernelInfo& info, void* const* arguments);
  bool operator==(const KeptLaunch&) const = default;
};

class DeviceProgram;

// Belongs to the state of a call, and stays with it: a later call that launches the same kernels with the same
// arguments (a graph that is called again with the same memory) uses the graph of the earlier one.
class Repeater {
 public:
  // Runs `launches` in order, all of it `trips` times, on the stream. Throws what launches throw.
  void repeat(DeviceProgram& program, device::Stream& stream, std::vector<KeptLaunch> launches, std::int64_t trips,
              std::int32_t ordinal);
  // With the device entered.
  void clear() noexcept;

 private:
  struct Kept {
    std::vector<KeptLaunch> launches;
    std::unique_ptr<device::Graph> graph;  // null: could not be recorded
    std::int64_t iterations = 0;           // that one launch of the graph runs
  };
  const Kept* graph_of(DeviceProgram& program, device::Stream& stream, std::vector<KeptLaunch>& launches,
                       std::int64_t trips, std::int32_t ordinal);
  std::unique_ptr<device::Graph> record(DeviceProgram& program, const std::vector<KeptLaunch>& launches,
                                        std::int64_t iterations);

  // Recorded here and launched elsewhere: other threads may use the stream of the call, and what they queue there is no
  // part of the loop.
  std::unique_ptr<device::Stream> recorder_;
  std::map<std::int32_t, Kept> kept_;  // by the loop's ordinal
};

// Iterations that one graph runs: some tens of kernels, and as few iterations as possible left over.
std::int64_t iterations_of_graph(std::int64_t trips, std::int64_t launches);

}  // namespace sdfg::runtime
