// Questions about a file's graph that several steps of its translation ask.
#include "io/dace_model.hpp"

namespace sdfg::io::dace {

namespace {

void collect_bound(const Region& r, std::set<std::string, std::less<>>& out) {
  for (const InterstateEdge& e : r.edges) {
    for (const auto& [symbol, value] : e.assignments) out.insert(symbol);
  }
  for (const Block& b : r.blocks) {
    if (const auto* inner = std::get_if<Region>(&b.kind)) {
      collect_bound(*inner, out);
    } else if (const auto* l = std::get_if<LoopBlock>(&b.kind)) {
      if (!l->variable.empty()) out.insert(l->variable);
      collect_bound(l->body, out);
    } else if (const auto* c = std::get_if<ConditionalBlock>(&b.kind)) {
      for (const auto& branch : c->branches) collect_bound(branch.body, out);
    }
  }
}

}  // namespace

std::set<std::string, std::less<>> bound_symbols(const Region& r) {
  std::set<std::string, std::less<>> out;
  collect_bound(r, out);
  return out;
}

void Sdfg::add(Descriptor container) {
  positions.emplace(container.name, containers.size());
  containers.push_back(std::move(container));
}

const Descriptor* Sdfg::find(std::string_view container) const {
  if (positions.size() == containers.size()) {
    const auto it = positions.find(container);
    return it == positions.end() ? nullptr : &containers[it->second];
  }
  for (const Descriptor& d : containers) {
    if (d.name == container) return &d;
  }
  return nullptr;
}

}  // namespace sdfg::io::dace
