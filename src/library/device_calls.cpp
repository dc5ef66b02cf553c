// The text of a call: its numbers are constants or symbols that are assigned in front of it.
#include "library/device_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ir/device.hpp"

namespace sdfg::library {

namespace {

std::string number(double v) {
  if (std::isnan(v)) return "__builtin_nan(\"\")";
  if (std::isinf(v)) return v < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", v);
  return text;
}

}  // namespace

bool may_call(const Node& n, DeviceFunction f) {
  if (!n.makes_kernels || n.options->opt_level < 1 || !n.options->device_library) return false;
  const std::string problem = n.options->device_library(f);
  if (!problem.empty()) n.reason("kernels, since " + problem);
  return problem.empty();
}

bool is_reachable(const Node& n, const Operand& o) {
  const ir::Graph& g = n.emitter->graph();
  if (ir::in_device_memory(g, o.data())) return true;
  return std::ranges::find(n.own, o.data()) != n.own.end() && !g.containers.at(o.data()).is_scalar();
}

std::optional<ByColumns> by_columns(const Expr& row_stride, const Expr& column_stride) {
  if (row_stride.is_one()) return ByColumns{false, column_stride};
  if (column_stride.is_one()) return ByColumns{true, row_stride};
  return std::nullopt;
}

void device_call(const Emitter& e, const DeviceCallText& call) {
  std::string numbers = std::to_string(static_cast<int>(call.type)) + "L";
  for (const Expr& value : call.numbers) {
    numbers += ", ";
    if (const auto constant = value.constant())
      numbers += std::to_string(*constant) + "L";
    else
      numbers += value.kind() == symbolic::Kind::kSymbol ? value.name()
                                                         : e.assign("number", tasklet::from_symbolic(value)).name();
  }
  // Names of its own: the text names symbols of the graph as well.
  std::vector<Pointer> inputs, outputs;
  std::string operands = "(void*)sdfg_numbers, (void*)sdfg_scalars";
  for (const Pointer& p : call.read) {
    inputs.push_back({"sdfg_" + p.connector, p.data, p.window});
    operands += ", (void*)$" + inputs.back().connector;
  }
  for (const Pointer& p : call.written) {
    outputs.push_back({"sdfg_" + p.connector, p.data, p.window});
    operands += ", (void*)$" + outputs.back().connector;
    if (call.reads_written) inputs.push_back({outputs.back().connector + "_before", p.data, p.window});
  }
  e.cpp(inputs, outputs,
        "const int64_t sdfg_numbers[] = {" + numbers + "};\nconst double sdfg_scalars[] = {" +
            number(call.alpha.real()) + ", " + number(call.alpha.imag()) + ", " + number(call.beta.real()) + ", " +
            number(call.beta.imag()) + "};\nvoid* const sdfg_operands[] = {" + operands +
            "};\nsdfg_abi->device_call(call, sdfg_stream, " + std::to_string(static_cast<int>(call.function)) +
            ", sdfg_operands, sdfg_origin);",
        "");
}

}  // namespace sdfg::library
