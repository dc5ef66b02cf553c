// The names of the closed sets of the graph, as messages and text forms show them.
#include "ir/graph.hpp"

namespace sdfg::ir {

std::string_view to_string(Storage s) noexcept {
  switch (s) {
    case Storage::kDefault: return "Default";
    case Storage::kRegister: return "Register";
    case Storage::kHeap: return "Heap";
    case Storage::kPinned: return "Pinned";
    case Storage::kThreadLocal: return "ThreadLocal";
    case Storage::kGpuGlobal: return "GpuGlobal";
    case Storage::kGpuShared: return "GpuShared";
  }
  return "?";
}

std::string_view to_string(Lifetime l) noexcept {
  switch (l) {
    case Lifetime::kScope: return "Scope";
    case Lifetime::kPersistent: return "Persistent";
    case Lifetime::kExternal: return "External";
  }
  return "?";
}

std::string_view to_string(ContainerKind k) noexcept {
  switch (k) {
    case ContainerKind::kScalar: return "scalar";
    case ContainerKind::kArray: return "array";
    case ContainerKind::kStream: return "stream";
    case ContainerKind::kView: return "view";
    case ContainerKind::kReference: return "reference";
    case ContainerKind::kStructure: return "structure";
    case ContainerKind::kContainerArray: return "container array";
  }
  return "?";
}

std::string_view to_string(BinderKind k) noexcept {
  switch (k) {
    case BinderKind::kParameter: return "parameter";
    case BinderKind::kMapParameter: return "map parameter";
    case BinderKind::kLoopVariable: return "loop variable";
    case BinderKind::kAssigned: return "assigned symbol";
  }
  return "?";
}

std::string_view to_string(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kProduct: return "product";
    case ReduceOp::kMin: return "min";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kBitAnd: return "bitwise and";
    case ReduceOp::kBitOr: return "bitwise or";
    case ReduceOp::kBitXor: return "bitwise xor";
    case ReduceOp::kLogicalAnd: return "logical and";
    case ReduceOp::kLogicalOr: return "logical or";
    case ReduceOp::kLogicalXor: return "logical xor";
    case ReduceOp::kExchange: return "exchange";
    case ReduceOp::kCustom: return "custom";
  }
  return "?";
}

std::string_view to_string(Schedule s) noexcept {
  switch (s) {
    case Schedule::kDefault: return "Default";
    case Schedule::kSequential: return "Sequential";
    case Schedule::kParallel: return "Parallel";
    case Schedule::kDevice: return "Device";
    case Schedule::kThreadBlock: return "ThreadBlock";
    case Schedule::kWarp: return "Warp";
  }
  return "?";
}

std::string_view to_string(OmpSchedule s) noexcept {
  switch (s) {
    case OmpSchedule::kDefault: return "default";
    case OmpSchedule::kStatic: return "static";
    case OmpSchedule::kDynamic: return "dynamic";
    case OmpSchedule::kGuided: return "guided";
  }
  return "?";
}

}  // namespace sdfg::ir
