// Names and user lines by ordinal.
#include "jit/places.hpp"

namespace sdfg::jit {

std::vector<Error::Place> places_of(const ir::Graph& g, const ir::Ordinals& ordinals) {
  std::vector<Error::Place> out;
  out.reserve(ordinals.containers.size() + ordinals.ids.size());
  for (const std::string& name : ordinals.containers) {
    const ir::Container& c = g.containers.at(name);
    out.push_back({"container '" + (c.label.empty() ? c.name : c.label) + "'", c.location});
  }
  const std::size_t first = out.size();
  out.resize(first + ordinals.ids.size());
  auto put = [&](ir::Id id, std::string text, const SourceLocation& location) {
    if (auto it = ordinals.of_id.find(id); it != ordinals.of_id.end())
      out[first + static_cast<std::size_t>(it->second)] = {std::move(text), location};
  };
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    put(e.id, ir::describe(g, e), e.location);
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& n : s->nodes) put(n.id, ir::describe(g, n), n.location.known() ? n.location : e.location);
    for (const ir::Memlet& m : s->edges)
      put(m.id, ir::describe(g, *s, m), m.location.known() ? m.location : e.location);
  });
  return out;
}

}  // namespace sdfg::jit
