// Top level of the translation from DaCe's model: tables, parameters, the order of the steps.
#include <algorithm>

#include "io/importer.hpp"
#include "io/normal_form.hpp"

namespace sdfg::io {

Importer::Importer(const dace::Sdfg& file, std::vector<std::string>& warnings)
    : file_(file), warnings_(warnings), graph_(file.name) {}

ir::Graph Importer::run() {
  Scope scope;
  scope.sdfg = &file_;
  declare_parameters(scope);
  declare_containers(scope, true);
  declare_constants(scope);
  graph_.code.host = file_.global_code;
  graph_.code.device = file_.cuda_code;
  graph_.code.init = file_.init_code;
  graph_.code.exit = file_.exit_code;
  region(file_.body, file_.path, graph_.body, scope);
  std::set<ir::Id> keep;
  std::erase_if(limits_, [&](const auto& limit) {
    const ir::Container* c = graph_.containers.find(limit.first);
    return c == nullptr || (c->kind != ir::ContainerKind::kStream && !c->zeroed);
  });
  for (const auto& [name, id] : limits_) keep.insert(id);
  normalise_flow(graph_, keep);
  resolve_view_reads(graph_);
  place_declarations();
  normalise_flow(graph_, {});
  raise_counted_loops(graph_);
  normalise_states(graph_);
  infer_all_types();
  return std::move(graph_);
}

namespace {

ir::ContainerKind kind_of(const dace::Descriptor& d) {
  using K = dace::DescriptorClass;
  switch (d.kind) {
    case K::kScalar: return ir::ContainerKind::kScalar;
    case K::kArray: return ir::ContainerKind::kArray;
    case K::kStream: return ir::ContainerKind::kStream;
    case K::kStructure: return ir::ContainerKind::kStructure;
    case K::kContainerArray: return ir::ContainerKind::kContainerArray;
    case K::kArrayView:
    case K::kStructureView:
    case K::kContainerView: return ir::ContainerKind::kView;
    case K::kArrayReference:
    case K::kStructureReference:
    case K::kContainerArrayReference: return ir::ContainerKind::kReference;
    case K::kOther: break;
  }
  throw Error(ErrorClass::kGraph,
              "container '" + d.name + "' is a " + d.class_name + ", which can't be represented (at " + d.path + ")");
}

ir::Lifetime lifetime_of(dace::Lifetime l) {
  switch (l) {
    case dace::Lifetime::kScope:
    case dace::Lifetime::kState:
    case dace::Lifetime::kSdfg: return ir::Lifetime::kScope;
    case dace::Lifetime::kGlobal:
    case dace::Lifetime::kPersistent: return ir::Lifetime::kPersistent;
    case dace::Lifetime::kExternal: return ir::Lifetime::kExternal;
  }
  return ir::Lifetime::kScope;
}

}  // namespace

ir::Container Importer::container_from(const dace::Descriptor& d, const std::string& name, const Scope& scope) const {
  ir::Container c;
  c.name = name;
  c.label = d.name;
  c.kind = kind_of(d);
  c.type = d.type;
  c.storage = d.storage;
  c.lifetime = d.transient ? lifetime_of(d.lifetime) : ir::Lifetime::kScope;
  c.transient = d.transient;
  c.may_alias = d.may_alias;
  c.alignment = std::max<std::int64_t>(d.alignment, 0);
  c.location = d.location;
  // DaCe's queues grow on every target but FPGAs, for which the size in the file is meant.
  c.buffer_size = 0;
  if (c.kind != ir::ContainerKind::kScalar) {
    ir::Extents shape = mapped(d.shape, scope);
    ir::Extents strides = mapped(d.strides, scope);
    ir::Extents offset = mapped(d.offset, scope);
    const bool no_offset =
        std::all_of(offset.begin(), offset.end(), [](const symbolic::Expr& e) { return e.is_zero(); });
    if (no_offset) offset.clear();
    if (strides.empty() && offset.empty() && d.start_offset == 0) {
      c.layout = ir::Layout::packed(std::move(shape));
    } else {
      if (strides.size() != shape.size()) strides = ir::Layout::packed(shape).strides();
      std::optional<symbolic::Expr> total;
      if (d.total_size) total = mapped(*d.total_size, scope);
      c.layout = ir::Layout::strided(std::move(shape), std::move(strides), total, std::move(offset), d.start_offset);
    }
  }
  if (c.kind == ir::ContainerKind::kStructure) c.type = Type();
  for (const dace::Descriptor& m : d.members) c.members.push_back(container_from(m, m.name, scope));
  return c;
}

void Importer::declare_containers(Scope& scope, bool top_level) {
  for (const auto& [name, type] : scope.sdfg->symbols) refuse_word(name, scope.sdfg->path);
  for (const dace::Descriptor& d : scope.sdfg->containers) {
    refuse_word(d.name, d.path);
    if (d.kind == dace::DescriptorClass::kOther) {
      warnings_.push_back("container '" + d.name + "' is a " + d.class_name + " and was left out (at " + d.path + ")");
      continue;
    }
    if (scope.containers.contains(d.name)) continue;  // a connector, bound by the caller; or a parameter
    if (std::any_of(scope.sdfg->constants.begin(), scope.sdfg->constants.end(),
                    [&](const auto& c) { return c.first == d.name; }))
      continue;  // the constant takes its place
    const ir::ContainerKind kind = kind_of(d);
    if (kind == ir::ContainerKind::kView) continue;  // made where they are used, one per viewed place
    if (!d.transient && !top_level) continue;        // a connector without an edge: never accessed
    const std::string name = fresh(d.name);
    ir::Container c = container_from(d, name, scope);
    if (!d.transient) c.transient = false;
    scope.containers[d.name] = {name, std::nullopt};
    const bool placed = !d.transient || c.lifetime != ir::Lifetime::kScope;
    graph_.containers.insert(std::move(c));
    if (!placed) to_place_.insert(name);
  }
}

void Importer::declare_constants(Scope& scope) {
  for (const auto& [name, constant] : scope.sdfg->constants) {
    scope.containers.erase(name);
    const std::string ours = fresh(name);
    ir::Container c = container_from(constant.descriptor, ours, scope);
    c.transient = true;
    c.constant = constant.bytes;
    graph_.containers.insert(std::move(c));
    scope.containers[name] = {ours, std::nullopt};
  }
}

// What arg_names lists, in its order; then the other containers by name, then the other free symbols by name.
void Importer::declare_parameters(Scope& scope) {
  std::vector<const dace::Descriptor*> arguments;
  for (const std::string& name : file_.arg_names) {
    const dace::Descriptor* d = file_.find(name);
    if (d != nullptr && !d->transient && d->kind != dace::DescriptorClass::kOther &&
        std::find(arguments.begin(), arguments.end(), d) == arguments.end())
      arguments.push_back(d);
  }
  std::vector<const dace::Descriptor*> rest;
  for (const dace::Descriptor& d : file_.containers) {
    if (!d.transient && d.kind != dace::DescriptorClass::kOther &&
        std::find(arguments.begin(), arguments.end(), &d) == arguments.end())
      rest.push_back(&d);
  }
  std::sort(rest.begin(), rest.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  arguments.insert(arguments.end(), rest.begin(), rest.end());

  // Loop variables and assigned symbols of the top level are no parameters.
  const auto bound = dace::bound_symbols(file_.body);

  std::map<std::string, Type> symbols;
  for (const auto& [name, type] : file_.symbols) symbols.emplace(name, type);
  // An undeclared symbol that occurs in a shape is free, too.
  auto note = [&](const symbolic::Expr& e) {
    for (const std::string& s : symbolic::free_symbols(e)) {
      auto it = file_.occurrence_types.find(s);
      symbols.emplace(s, it == file_.occurrence_types.end() ? Type(ScalarType::kInt32) : it->second);
    }
  };
  for (const dace::Descriptor& d : file_.containers) {
    if (d.transient) continue;
    for (const auto& e : d.shape) note(e);
    for (const auto& e : d.strides) note(e);
  }
  for (const auto& [name, type] : symbols) {
    if (bound.contains(name) || file_.find(name) != nullptr) continue;
    if (std::any_of(file_.constants.begin(), file_.constants.end(), [&](const auto& c) { return c.first == name; }))
      continue;
    const Type t = type.is_void() ? Type(ScalarType::kInt32) : type;
    if (t.is_scalar() && (is_floating(t.scalar()) || is_complex(t.scalar()))) {
      // A floating symbol is a scalar argument.
      const std::string ours = fresh(name);
      ir::Container c;
      c.name = ours;
      c.label = name;
      c.kind = ir::ContainerKind::kScalar;
      c.type = t;
      graph_.containers.insert(std::move(c));
      scope.float_symbols[name] = ours;
      continue;
    }
    ir::Symbol s;
    s.name = fresh(name);
    s.label = name;
    s.type = t;
    s.binder = ir::BinderKind::kParameter;
    scope.symbols[name] = symbolic::Expr::symbol(s.name);
    graph_.symbols.insert(std::move(s));
  }
  for (const dace::Descriptor* d : arguments) {
    const std::string ours = fresh(d->name);
    scope.containers[d->name] = {ours, std::nullopt};
    graph_.containers.insert(container_from(*d, ours, scope));
  }
  const auto add = [&](const std::string& ours) {
    if (std::find(graph_.parameters.begin(), graph_.parameters.end(), ours) == graph_.parameters.end())
      graph_.parameters.push_back(ours);
  };
  const auto add_symbol = [&](const std::string& name) {
    if (auto it = scope.symbols.find(name); it != scope.symbols.end()) add(it->second.name());
  };
  for (const std::string& name : file_.arg_names) {
    if (auto c = scope.containers.find(name); c != scope.containers.end()) add(c->second.container);
    if (auto f = scope.float_symbols.find(name); f != scope.float_symbols.end()) add(f->second);
    add_symbol(name);
  }
  for (const dace::Descriptor* d : arguments) add(scope.containers.at(d->name).container);
  for (const auto& [name, ours] : scope.float_symbols) add(ours);
  for (const auto& [name, type] : symbols) add_symbol(name);
}

}  // namespace sdfg::io
