// Walks and look-ups.
#include "ir/device.hpp"

#include <algorithm>

namespace sdfg::ir {

namespace {

bool is_map_of(const Element& e, Schedule s) {
  const auto* m = std::get_if<Map>(&e.kind);
  return m != nullptr && m->schedule == s;
}

}  // namespace

bool holds(const Sequence& s, Schedule schedule) {
  return std::ranges::any_of(s.items, [&](const auto& item) { return holds(*item, schedule); });
}

bool holds(const Element& e, Schedule s) {
  if (is_map_of(e, s)) return true;
  return std::ranges::any_of(child_sequences(e), [&](const Sequence* child) { return holds(*child, s); });
}

Storage storage_of(const Graph& g, std::string_view path) {
  const Container* c = resolve(g, path);
  return c == nullptr ? Storage::kDefault : root_of(g, *c).storage;
}

bool in_device_memory(const Graph& g, std::string_view path) {
  return storage_of(g, path) == Storage::kGpuGlobal;
}

}  // namespace sdfg::ir
