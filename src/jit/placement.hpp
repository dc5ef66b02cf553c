// Where the kernels of a graph run: on a CUDA device, on the emulated one, or as maps of the host.
#pragma once

#include <cstdint>
#include <memory>
#include <sdfg/options.hpp>
#include <string>

#include "base/digest.hpp"
#include "compile/nvrtc.hpp"
#include "device/device.hpp"
#include "ir/graph.hpp"

namespace sdfg::jit {

struct Placement {
  enum class Kind : std::uint8_t { kNone, kHost, kCuda, kEmulated };
  Kind kind = Kind::kNone;                 // kNone: the graph has nothing for a device
  std::shared_ptr<device::Device> device;  // kCuda, kEmulated
  compiler::DeviceBuild build;             // kCuda
  std::string reason;                      // a line for explain(); empty with kNone

  bool on_device() const { return kind == Kind::kCuda || kind == Kind::kEmulated; }
  void write(ByteWriter& out) const;  // what the program depends on
};

// `auto` takes a CUDA device when there is one, else the host, with one line in the log. `cuda` and `emulated` throw
// what opening the device throws.
Placement place(const ir::Graph& g, const Options& resolved);

}  // namespace sdfg::jit
