// Asks the graph for the type of each connector and writes it down.
#include "transform/lower_prepare/infer_connector_types.hpp"

#include <variant>

namespace sdfg::transform {

bool infer_connector_types(ir::Graph& g) {
  bool changed = false;
  ir::walk(g.body, [&](ir::Element& e) {
    auto* s = std::get_if<ir::State>(&e.kind);
    if (!s) return;
    // In order of the data, so that a register's type is known to its reader.
    for (const ir::Id id : s->topological_order()) {
      ir::Node* n = s->find_node(id);
      auto* t = std::get_if<ir::Tasklet>(&n->kind);
      if (!t) continue;
      for (const bool output : {false, true}) {
        for (ir::Connector& c : output ? t->outputs : t->inputs) {
          if (!c.type.is_void()) continue;
          const Type type = ir::connector_type(g, *s, *n, c.name, output);
          changed = changed || !type.is_void();
          c.type = type;
        }
      }
    }
  });
  return changed;
}

}  // namespace sdfg::transform
