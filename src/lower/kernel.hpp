// What the host side must know of the kernels of a program's device module: their order, parameters and limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lower/unit.hpp"

namespace sdfg::lower {

struct KernelParameter {
  std::string name;           // as in the text
  std::int32_t bytes = 8;     // of the argument
  bool is_pointer = false;    // into device memory
  bool is_const = false;      // pointer: the kernel only reads through it
  bool is_restrict = false;   // pointer: nothing else reaches what the kernel writes through it
  std::int32_t ordinal = -1;  // canonical ordinal of the container
  bool operator==(const KernelParameter&) const = default;
};

struct Kernel {
  std::string name;           // C linkage; stable per graph, unique in the module
  std::int32_t ordinal = -1;  // canonical ordinal of the device map
  std::vector<KernelParameter> parameters;
  std::int64_t max_threads = 0;   // the launch bound it was compiled for; 0: none
  std::int64_t shared_bytes = 0;  // static shared memory
  bool waits = false;             // for the kernel in front of it, before it touches memory
  bool operator==(const Kernel&) const = default;
};

// The device half of a lowered graph: one source file for all kernels, printed in the order of Unit, and what launches
// need. Empty when the graph launches nothing.
struct DeviceModule {
  Unit unit;  // without a prelude: codegen/device_text.hpp adds the one of the back end
  std::vector<Kernel> kernels;
  bool empty() const { return kernels.empty(); }
};

}  // namespace sdfg::lower
