// Dataflow of a file's states, level by level: what opens and closes states, access nodes and their subsets.
#include "io/import_state.hpp"

#include <algorithm>

namespace sdfg::io {

using symbolic::Expr;

// A memlet's container stands at one end of its path; parts of structures count for each other.
void Importer::check_memlet(const StateContext& c, const dace::Edge& e) const {
  const std::string& data = e.memlet.data;
  if (data.empty() || is_entry(c.node(e.dst)) || is_exit(c.node(e.src))) return;
  const auto head = [](const std::string& path) { return path.substr(0, path.find('.')); };
  if (c.scope.sdfg->find(head(data)) == nullptr)
    throw Error(ErrorClass::kGraph, "a memlet names '" + data + "', which is no container (at " + e.path + ")");
  bool holds_data = false;
  for (const int end : {c.path_root(e).src, c.path_end(e).dst}) {
    const auto* a = std::get_if<dace::AccessNode>(&c.node(end).kind);
    if (a != nullptr && head(a->data) == head(data)) return;
    holds_data = holds_data || a != nullptr;
  }
  if (holds_data)
    throw Error(ErrorClass::kGraph,
                "a memlet moves '" + data + "', which is at neither end of its path (at " + e.path + ")");
}

void Importer::state(const dace::State& s, const dace::Block& b, ir::Sequence& out, Scope& scope) {
  if (s.nodes.empty()) return;
  StateContext c(s, b, scope);
  for (const dace::Edge& e : s.edges) check_memlet(c, e);
  level(c, -1, out);
}

void Importer::level(StateContext& c, int entry, ir::Sequence& out) {
  StateContext::Open saved = std::exchange(c.open, {});
  for (const int v : c.items_of(entry)) {
    const dace::Node& n = c.node(v);
    if (std::holds_alternative<dace::MapEntry>(n.kind)) {
      c.open = {};
      map(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::ConsumeEntry>(n.kind)) {
      c.open = {};
      consume(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::NestedSdfg>(n.kind)) {
      c.open = {};
      nested(c, n, out);
      c.open = {};
    } else if (std::holds_alternative<dace::TaskletNode>(n.kind)) {
      tasklet_node(c, n, out);
    } else if (std::holds_alternative<dace::LibraryNode>(n.kind)) {
      library_node(c, n, out);
    } else if (std::holds_alternative<dace::AccessNode>(n.kind)) {
      access_node(c, n, out);
    }
  }
  c.open = std::move(saved);
}

ir::State& Importer::current(StateContext& c, ir::Sequence& out) {
  if (c.open.element == nullptr) {
    ir::Element& e = graph_.append(out, ir::State{}, c.block.label);
    c.open.element = &e;
    c.open.nodes.clear();
  }
  return std::get<ir::State>(c.open.element->kind);
}

// The access node of the open state for a node of the file.
ir::Id Importer::access(StateContext& c, int v, ir::Sequence& out) {
  ir::State& s = current(c, out);
  auto [it, inserted] = c.open.nodes.emplace(v, 0);
  if (inserted) {
    ir::Node n;
    n.id = it->second = graph_.new_id();
    n.location = c.node(v).location;
    n.kind = ir::Access{place_of(c, v).binding.container};
    s.nodes.push_back(std::move(n));
  }
  return it->second;
}

ir::Id Importer::access_of(StateContext& c, const std::string& container, ir::Sequence& out) {
  ir::State& s = current(c, out);
  ir::Node n;
  n.id = graph_.new_id();
  n.kind = ir::Access{container};
  s.nodes.push_back(std::move(n));
  return s.nodes.back().id;
}

Importer::Place Importer::place_of(StateContext& c, int v) {
  const auto& a = std::get<dace::AccessNode>(c.node(v).kind);
  const std::size_t dot = a.data.find('.');
  const std::string head = a.data.substr(0, dot);
  const dace::Descriptor* d = c.scope.sdfg->find(head);
  if (d == nullptr)
    throw Error(ErrorClass::kGraph, "access node '" + a.data + "' names no container (at " + c.node(v).path + ")");
  using K = dace::DescriptorClass;
  const bool is_view = d->kind == K::kArrayView || d->kind == K::kStructureView || d->kind == K::kContainerView;
  if (is_view && dot == std::string::npos && !c.scope.containers.contains(head)) return {view_binding(c, v), d};
  if (d->kind == K::kOther) {
    throw Error(ErrorClass::kGraph, "container '" + head + "' is a " + d->class_name +
                                        ", which can't be accessed (at " + c.node(v).path + ")");
  }
  auto it = c.scope.containers.find(head);
  if (it == c.scope.containers.end())
    throw Error(ErrorClass::kGraph, "container '" + head + "' is accessed but was not passed to its nested graph (at " +
                                        c.node(v).path + ")");
  Binding b = it->second;
  if (a.setzero) {
    if (ir::Container* container = graph_.containers.find(b.container); container != nullptr && container->transient)
      container->zeroed = true;
  }
  if (dot != std::string::npos) {
    b.container += a.data.substr(dot);
    const dace::Descriptor* member = d;
    for (std::size_t at = dot; at != std::string::npos && member != nullptr;) {
      const std::size_t next = a.data.find('.', at + 1);
      const std::string name = a.data.substr(at + 1, next == std::string::npos ? std::string::npos : next - at - 1);
      const dace::Descriptor* found = nullptr;
      for (const dace::Descriptor& m : member->members) {
        if (m.name == name) found = &m;
      }
      member = found;
      at = next;
    }
    if (member == nullptr)
      throw Error(ErrorClass::kGraph,
                  "structure '" + head + "' has no member for '" + a.data + "' (at " + c.node(v).path + ")");
    return {b, member};
  }
  return {b, d};
}

// An inner subset in terms of the container that the binding names.
ir::Subset Importer::through(const Binding& b, const ir::Subset& inner, const std::string& path) const {
  const ir::Container* c = ir::resolve(graph_, b.container);
  if (c == nullptr) throw Error(ErrorClass::kGraph, "there is no container '" + b.container + "' (at " + path + ")");
  if (!b.window) {
    if (c->is_scalar()) return {};
    if (inner.rank() != c->rank()) {
      throw Error(ErrorClass::kGraph, "the subset [" + inner.str() + "] has " + std::to_string(inner.rank()) +
                                          " dimensions, container '" + (c->label.empty() ? c->name : c->label) +
                                          "' has " + std::to_string(c->rank()) + " (at " + path + ")");
    }
    return inner;
  }
  std::vector<symbolic::Range> ranges;
  for (const auto& r : b.window->base.ranges()) ranges.push_back(symbolic::Range::index(r.begin));
  for (std::size_t k = 0; k < std::min(inner.rank(), b.window->dims.size()); ++k) {
    const int d = b.window->dims[k];
    if (d < 0) continue;  // an inner dimension of extent one without an outer counterpart
    const Expr base = ranges[static_cast<std::size_t>(d)].begin;
    ranges[static_cast<std::size_t>(d)] = {base + inner[k].begin, base + inner[k].end, inner[k].step, inner[k].tile};
  }
  if (c->is_scalar()) return {};
  return ir::Subset(std::move(ranges));
}

// The subset a memlet moves on the side of container `data` (the file's name), as the file counts it; then in the
// graph's terms.
ir::Subset Importer::subset_on(StateContext& c, const Place& p, const std::string& data, const dace::Memlet& m,
                               bool source) {
  std::optional<ir::Subset> s;
  const bool named = m.data == data;
  if (named && m.subset && m.other_subset && m.is_data_src)
    s = *m.is_data_src == source ? m.subset : m.other_subset;
  else if (named)
    s = m.subset;
  else
    s = m.other_subset;
  if (!s) {
    // The other side of a copy: the whole container when the counts agree, else the same sizes from the origin.
    const std::vector<Expr>& shape = p.descriptor->shape;
    const dace::Descriptor* other = m.data.empty() || named ? nullptr : c.scope.sdfg->find(m.data);
    const bool queue = p.descriptor->kind == dace::DescriptorClass::kStream ||
                       (other != nullptr && other->kind == dace::DescriptorClass::kStream);
    if (m.subset && !named && !queue) {
      const Expr wanted = m.subset->num_elements();
      if (symbolic::Subset::full(shape).num_elements() == wanted || shape.empty()) {
        s = ir::Subset::full(shape);
      } else {
        std::vector<Expr> sizes;
        for (const Expr& size : m.subset->sizes()) sizes.push_back(size);
        if (sizes.size() != shape.size()) std::erase_if(sizes, [](const Expr& e) { return e.is_one(); });
        while (sizes.size() < shape.size()) sizes.insert(sizes.begin(), Expr(1));
        if (sizes.size() > shape.size())
          throw Error(ErrorClass::kGraph, "it is not clear which part of '" + data + "' a memlet of [" +
                                              m.subset->str() + "] moves (in state '" + c.block.label + "', at " +
                                              c.block.path + ")");
        s = ir::Subset::full(sizes);
      }
    } else {
      s = ir::Subset::full(shape);
    }
  }
  return through(p.binding, mapped(*s, c.scope), c.block.path);
}

}  // namespace sdfg::io
