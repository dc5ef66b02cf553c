// Calls of device libraries, as code of the host that names what they work on.
#pragma once

#include <complex>
#include <vector>

#include "base/device_function.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

// Whether the node's work may go to this function: it is the host's node on device memory, and the library is there.
// Adds a reason if only the library is missing.
bool may_call(const Node& n, DeviceFunction f);
// Whether a library reaches the operand: its elements are, or will be, in device memory.
bool is_reachable(const Node& n, const Operand& o);

// Appends a call. The numbers without the type in front; operands in the order of base/device_function.hpp: `read` ones
// first, then those that are written (which may be read before).
struct DeviceCallText {
  DeviceFunction function = DeviceFunction::kGemm;
  ScalarType type = ScalarType::kFloat64;
  std::vector<Expr> numbers;
  std::complex<double> alpha = 1.0, beta = 0.0;
  std::vector<Pointer> read, written;
  bool reads_written = false;
};
void device_call(const Emitter& e, const DeviceCallText& call);

// How a matrix lies by columns, when it is seen as it is or transposed; nothing if neither rows nor columns are
// contiguous.
struct ByColumns {
  bool transposed = false;
  Expr ld;
};
std::optional<ByColumns> by_columns(const Expr& row_stride, const Expr& column_stride);

}  // namespace sdfg::library
