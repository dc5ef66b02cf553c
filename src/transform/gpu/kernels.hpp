// Internal to transform/gpu: questions about kernels and what surrounds them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/device.hpp"
#include "ir/graph.hpp"

namespace sdfg::transform {

inline bool is_map_of(const ir::Element& e, ir::Schedule s) {
  const auto* m = std::get_if<ir::Map>(&e.kind);
  return m != nullptr && m->schedule == s;
}
inline bool is_kernel(const ir::Element& e) {
  return is_map_of(e, ir::Schedule::kDevice);
}
using ir::holds;
using ir::in_device_memory;
using ir::storage_of;

// Containers by name.
using Names = std::set<std::string, std::less<>>;
inline bool meet(const Names& a, const Names& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

// Does the element, itself and below, touch device memory?
bool touches_device_memory(const ir::Graph& g, const ir::Element& e);

// The container of an access node; nothing for code.
const ir::Access* access_of(const ir::State& s, ir::Id node);

// A subset of a container that got dimensions in front: `slice` in these.
ir::Subset prefixed(const std::vector<ir::Range>& slice, const std::optional<ir::Subset>& subset);
// Puts `slice` in front of every access of the container in the element itself (not below): memlets, and subscripts of
// assigned values and conditions.
void prefix_accesses(ir::Element& e, const std::string& name, const std::vector<ir::Range>& slice);

// Every kernel with the sequence that holds it, its position there and the facts around it; the callback may edit the
// kernel.
using KernelVisit = std::function<void(ir::Element& kernel, const symbolic::Facts& outside)>;
void for_each_kernel(ir::Graph& g, const KernelVisit& visit);

// The state as a list of states with one piece of work each: the incoming copies of one access node, or one code node
// (with those it exchanges registers with). In an order that respects its edges; access nodes are made anew where
// several pieces use them.
std::vector<std::unique_ptr<ir::Element>> split_state(ir::Graph& g, const ir::Element& state);

}  // namespace sdfg::transform
