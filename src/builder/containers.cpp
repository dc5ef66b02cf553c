// Containers: declaration in the block that can hold them, windows, and who was written when.
#include "builder/impl.hpp"
#include "ir/sharing.hpp"

namespace sdfg::detail {

std::vector<symbolic::Expr> WindowNode::indices() const {
  std::vector<symbolic::Expr> out;
  std::size_t left = shape.size();
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    out.push_back(kept[d] ? dimensions[d].begin + dimensions[d].step * symbolic::Expr::symbol(placeholder(--left))
                          : dimensions[d].begin);
  }
  return out;
}

ir::Subset whole_of(const ir::Container& c) {
  std::vector<symbolic::Expr> begin;
  for (const symbolic::Expr& offset : c.layout.offset()) begin.push_back(-offset);
  const ir::Subset from_zero = ir::Subset::full(c.layout.shape());
  return begin.empty() ? from_zero : symbolic::offset(from_zero, begin);
}

bool WindowNode::is_whole(const ir::Container& c) const {
  return subset() == whole_of(c);
}

ir::Container& BuilderImpl::declare(ir::Container container, std::string user_name, std::string root) {
  const bool in_block = (container.transient && container.lifetime == ir::Lifetime::kScope && !container.constant);
  if (in_block) {
    symbolic::SymbolSet used = container.layout.free_symbols();
    used.merge(container.viewed_subset.free_symbols());
    used.merge(symbolic::free_symbols(container.buffer_size));
    ir::Block* const block = block_for(used);
    (block != nullptr ? block->locals : graph.locals).push_back(container.name);
  }
  if (container.name != user_name) container.label = user_name;
  ContainerInfo info;
  info.scope = in_block ? current().id : stack_.front()->id;
  info.root = root.empty() ? container.name : root_of(root);
  info.label = std::move(user_name);
  info.where = container.location;
  if (container.constant) info.read_only = "a constant";
  info.may_alias = container.may_alias;
  may_overlap_ = may_overlap_ || container.may_alias || container.kind == ir::ContainerKind::kReference;
  containers.emplace(container.name, std::move(info));
  ir::Container& inserted = graph.containers.insert(std::move(container));
  if (!inserted.transient) update_parameters();
  return inserted;
}

void BuilderImpl::declare_outside_blocks(ir::Container container, std::string user_name) {
  ContainerInfo info;
  info.scope = current().id;
  info.root = container.name;
  info.label = std::move(user_name);
  info.where = container.location;
  containers.emplace(container.name, std::move(info));
  graph.containers.insert(std::move(container));
}

std::string BuilderImpl::declare_scalar(std::string_view wish, ScalarType type, const SourceLocation& where) {
  ir::Container c;
  c.name = fresh(wish);
  c.kind = ir::ContainerKind::kScalar;
  c.type = type;
  c.transient = true;
  c.location = where;
  const std::string name = c.name;
  declare(std::move(c), name);
  containers.at(name).snapshot = true;
  return name;
}

std::string BuilderImpl::declare_temporary(std::string_view wish, ScalarType type, const ir::Extents& shape,
                                           const SourceLocation& where) {
  if (shape.empty()) return declare_scalar(wish, type, where);
  ir::Container c;
  c.name = fresh(wish);
  c.type = type;
  c.layout = ir::Layout::packed(shape);
  c.transient = true;
  c.location = where;
  const std::string name = c.name;
  declare(std::move(c), name);
  containers.at(name).snapshot = true;
  return name;
}

WindowRef BuilderImpl::window_of(const std::string& container, const SourceLocation& where) {
  const ir::Container& c = graph.containers.at(container);
  auto window = std::make_shared<WindowNode>();
  window->owner = shared_from_this();
  window->container = container;
  window->dimensions = whole_of(c).ranges();
  window->kept.assign(c.rank(), true);
  window->shape = c.layout.shape();
  window->scopes = {containers.at(container).scope};
  window->where = where;
  return window;
}

std::string BuilderImpl::root_of(const std::string& container) const {
  return containers.at(container).root;
}

bool BuilderImpl::may_share(const std::string& a, const std::string& b) const {
  if (root_of(a) == root_of(b)) return true;
  if (!may_overlap_ || containers.at(a).snapshot || containers.at(b).snapshot) return false;
  return ir::may_share_memory(graph, graph.containers.at(a), graph.containers.at(b));
}

void BuilderImpl::written(const std::string& container) {
  const std::uint64_t now = tick();
  ContainerInfo& root = containers.at(root_of(container));
  root.written = now;
  if (!may_overlap_) return;
  // A reference may point anywhere; arguments that may alias can be one.
  const auto is_reference = [&](const std::string& name) {
    const ir::Container* c = graph.containers.find(name);
    return c != nullptr && c->kind == ir::ContainerKind::kReference;
  };
  const bool anything = is_reference(root_of(container));
  for (auto& [name, info] : containers) {
    if (info.snapshot) continue;
    if (anything || is_reference(name) || (root.may_alias && info.may_alias)) info.written = now;
  }
}

void BuilderImpl::check_writable(const std::string& container, const SourceLocation& where) const {
  const ContainerInfo& info = containers.at(container);
  const ContainerInfo& root = containers.at(info.root);
  if (root.read_only.empty()) return;
  fail(where, "'" + info.label + "' is stored to, but it is " + root.read_only,
       root.read_only == "a constant"
           ? ""
           : "declare it with array<T>(\"" + root.label + "\"), which passes a pointer, or copy it to a local");
}

}  // namespace sdfg::detail
