// Top level of writing: tables, descriptors, names, code as text; then the public functions' internals.
#include <algorithm>
#include <cctype>

#include "io/writer.hpp"
#include "ir/sites.hpp"

namespace sdfg::io {

namespace {

using dace::DescriptorClass;

std::string identifier(const std::string& text) {
  std::string out;
  for (const char ch : text) {
    const bool good = std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '_';
    if (good || (!out.empty() && out.back() != '_')) out += good ? ch : '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out.insert(0, "x");
  return out;
}

// Does a tree read back to the same typed one?
bool same(const tasklet::Expr& a, const tasklet::Expr& b) {
  ByteWriter x, y;
  tasklet::write_canonical(a, x);
  tasklet::write_canonical(b, y);
  return x.take() == y.take();
}
bool same(const tasklet::Body& a, const tasklet::Body& b) {
  ByteWriter x, y;
  tasklet::write_canonical(a, x);
  tasklet::write_canonical(b, y);
  return x.take() == y.take();
}

// Typed 64-bit literals as the bare numbers that people write.
tasklet::Expr bare(const tasklet::Expr& e) {
  if (const auto* l = std::get_if<tasklet::Literal>(&e.node())) {
    const auto* v = std::get_if<std::int64_t>(&l->value);
    return v == nullptr ? e : tasklet::Expr::weak(*v);
  }
  std::vector<tasklet::Expr> children;
  for (const tasklet::Expr& c : e.children()) children.push_back(bare(c));
  return children.empty() ? e : e.with_children(std::move(children));
}

tasklet::Body bare(const tasklet::Body& body) {
  tasklet::Body out = body;
  for (tasklet::Statement& s : out) {
    if (auto* a = std::get_if<tasklet::Assign>(&s.node)) {
      a->target = bare(a->target);
      a->value = bare(a->value);
    } else if (auto* u = std::get_if<tasklet::Update>(&s.node)) {
      u->target = bare(u->target);
      u->value = bare(u->value);
    } else if (auto* i = std::get_if<tasklet::If>(&s.node)) {
      for (auto& b : i->branches) {
        b.condition = bare(b.condition);
        b.body = bare(b.body);
      }
    } else if (auto* w = std::get_if<tasklet::While>(&s.node)) {
      w->condition = bare(w->condition);
      w->body = bare(w->body);
    } else if (auto* v = std::get_if<tasklet::Evaluate>(&s.node)) {
      v->value = bare(v->value);
    }
  }
  return out;
}

// `int64_t(x)` for `dace.int64(x)`: in control flow DaCe takes a module's name for a symbol and pastes others into C++.
std::string plain(std::string text) {
  constexpr std::string_view kModule = "dace.";
  for (std::size_t at = text.find(kModule); at != std::string::npos; at = text.find(kModule, at)) {
    const bool word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_' ||
                                 text[at - 1] == '.');
    if (word) {
      at += kModule.size();
      continue;
    }
    text.erase(at, kModule.size());
    std::size_t end = at;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string name = text.substr(at, end - at);
    if (name.starts_with("int") || name.starts_with("uint")) text.insert(end, "_t");
    if (name == "float64") text.replace(at, name.size(), "double");
  }
  return text;
}

}  // namespace

Writer::Writer(const ir::Graph& g, SdfgDialect dialect, std::vector<std::string>& warnings)
    : g_(g), dialect_(dialect), warnings_(warnings), environment_(ir::type_environment(g)) {}

void Writer::fail(const std::string& what, ir::Id id) const {
  throw Error(ErrorClass::kGraph, what, ir::places_of(g_, id));
}

std::string Writer::unique_label(Context& c, std::string wish) {
  wish = identifier(wish);
  int& n = c.labels[wish];
  std::string label = wish;
  while (n > 0 && c.labels.contains(label)) label = wish + "_" + std::to_string(n++);
  if (n == 0) n = 1;
  c.labels.emplace(label, 1);
  return label;
}

std::string Writer::label_of(Context& c, const ir::Element& e, const char* kind) {
  return unique_label(c, e.label.empty() ? kind : e.label);
}

// ---- code as text

std::string Writer::text(const tasklet::Expr& e, ir::Id at) {
  for (const std::string& base : tasklet::uses_of(e).subscripted) {
    if (const auto* k = g_.containers.find(base); k != nullptr && k->kind == ir::ContainerKind::kView)
      fail("view '" + base + "' is read by control flow and lies otherwise than what it shows; a file can't say that",
           at);
  }
  try {
    const std::string short_text = plain(tasklet::to_python(bare(e)));
    if (same(tasklet::infer_types(tasklet::parse_expression(short_text), environment_), e)) return short_text;
  } catch (const Error&) {  // then the long form
  }
  return plain(tasklet::to_python(e));
}

std::string Writer::text(const ir::State& s, const ir::Node& n) {
  const auto& t = std::get<ir::Tasklet>(n.kind);
  try {
    const std::string short_text = tasklet::to_python(bare(t.code.body));
    if (same(tasklet::infer_types(tasklet::parse_body(short_text), ir::type_environment(g_, s, n)), t.code.body))
      return short_text;
  } catch (const Error&) {  // then the long form
  }
  return tasklet::to_python(t.code.body);
}

// ---- descriptors

dace::Descriptor Writer::descriptor(const ir::Container& c, bool connector) const {
  dace::Descriptor d;
  d.name = c.name;
  d.type = c.type;
  const bool structure = c.type.is_void() && !c.members.empty();
  switch (c.kind) {
    case ir::ContainerKind::kScalar: d.kind = DescriptorClass::kScalar; break;
    case ir::ContainerKind::kArray: d.kind = DescriptorClass::kArray; break;
    case ir::ContainerKind::kStream: d.kind = DescriptorClass::kStream; break;
    case ir::ContainerKind::kView:
      d.kind = structure ? DescriptorClass::kStructureView : DescriptorClass::kArrayView;
      break;
    case ir::ContainerKind::kReference:
      d.kind = connector   ? DescriptorClass::kArray
               : structure ? DescriptorClass::kStructureReference
                           : DescriptorClass::kArrayReference;
      break;
    case ir::ContainerKind::kStructure: d.kind = DescriptorClass::kStructure; break;
    case ir::ContainerKind::kContainerArray: d.kind = DescriptorClass::kContainerArray; break;
  }
  d.shape = c.layout.shape();
  d.strides = c.layout.strides();
  d.offset = c.layout.offset();
  if (d.shape.empty()) {
    d.shape.emplace_back(1);
    d.strides.emplace_back(1);
    d.offset.clear();
  }
  if (d.offset.empty()) d.offset.assign(d.shape.size(), symbolic::Expr(0));
  d.total_size = c.layout.total_size();
  if (c.layout.start_offset().is_integer()) {
    d.start_offset = c.layout.start_offset().value();
  } else {
    throw Error(ErrorClass::kGraph, "container '" + c.name + "' starts at the element " +
                                        c.layout.start_offset().str() + " of its memory; a file can only say a number");
  }
  d.transient = !connector && (c.transient || c.constant.has_value());
  d.storage = c.storage;
  switch (c.lifetime) {
    case ir::Lifetime::kScope:
      d.lifetime = once_.contains(c.name) ? dace::Lifetime::kSdfg : dace::Lifetime::kScope;
      break;
    case ir::Lifetime::kPersistent: d.lifetime = dace::Lifetime::kPersistent; break;
    case ir::Lifetime::kExternal: d.lifetime = dace::Lifetime::kExternal; break;
  }
  if (!d.transient) d.lifetime = dace::Lifetime::kScope;
  d.alignment = c.alignment;
  d.may_alias = c.may_alias;
  d.buffer_size = c.buffer_size;
  d.location = c.location;
  if (c.kind == ir::ContainerKind::kStructure || structure) d.structure_name = c.name + "_t";
  for (const ir::Container& m : c.members) {
    dace::Descriptor member = descriptor(m, connector);
    member.transient = d.transient;
    d.members.push_back(std::move(member));
  }
  return d;
}

void Writer::declare_symbol(Context& c, const std::string& name, bool bound_here) {
  if (bound_here) c.bound.insert(name);
  const ir::Symbol* s = g_.symbols.find(name);
  if (s == nullptr) return;
  for (const auto& [known, type] : c.sdfg.symbols) {
    if (known == name) return;
  }
  c.sdfg.symbols.emplace_back(name, s->type);
}

void Writer::describe(Context& c, const std::string& name, bool connector) {
  const ir::Container& k = g_.containers.at(name);
  if (k.constant) {
    Context* top = &c;
    while (top->parent != nullptr) top = top->parent;
    if (top->described.insert(name).second) {
      dace::Constant constant;
      constant.descriptor = descriptor(k, false);
      constant.descriptor.transient = true;
      constant.bytes = *k.constant;
      top->sdfg.constants.emplace_back(name, std::move(constant));
    }
    return;
  }
  if (!c.described.insert(name).second) return;
  symbolic::SymbolSet symbols;
  ir::add_layout_symbols(g_, k, symbols);
  for (const std::string& s : symbols) {
    const ir::Symbol* symbol = g_.symbols.find(s);
    if (symbol != nullptr && symbol->binder == ir::BinderKind::kParameter) declare_symbol(c, s, false);
  }
  c.sdfg.add(descriptor(k, connector));
}

// ---- the graph

dace::Sdfg Writer::run() {
  dace::Sdfg out;
  out.name = identifier(g_.name);
  out.global_code = g_.code.host;
  out.cuda_code = g_.code.device;
  out.init_code = g_.code.init;
  out.exit_code = g_.code.exit;
  out.arg_names = g_.parameters;
  collect_tables();
  plan_jumps();
  Context c{out, nullptr, {}, {}, {}, {}};
  for (const std::string& p : g_.parameters) {
    if (g_.symbols.contains(p))
      declare_symbol(c, p, false);
    else
      describe(c, p, false);
  }
  declare_locals(c, g_.locals, true);
  std::vector<std::string> zeroed = g_.locals;
  for (const ir::Container& k : g_.containers) {
    if (!k.constant && (!k.transient || k.lifetime == ir::Lifetime::kScope)) continue;
    describe(c, k.name, false);
    zeroed.push_back(k.name);
  }
  graph_region(c, g_.body, zeroed);
  return out;
}

// What is written once for the whole graph: losses that change nothing, and lifetimes.
void Writer::collect_tables() {
  for (const ir::Symbol& s : g_.symbols) {
    if (s.upper || (s.lower && !(s.lower->is_zero() || s.lower->is_one())) || (s.lower && dialect_ == SdfgDialect::kV1))
      warn("what is assumed of symbol '" + s.name + "' is left out: the file has no word for it");
  }
  // A transient that one element of a loop uses would be allocated anew in every iteration, were it not said to live
  // as long as the graph.
  std::map<std::string, std::pair<std::set<const ir::Element*>, bool>> users;
  ir::walk(g_.body, [&](const ir::Element& e, const ir::Ancestors& above) {
    if (const auto* s = std::get_if<ir::State>(&e.kind)) {
      for (const ir::Node& n : s->nodes) {
        if (const auto* a = std::get_if<ir::Access>(&n.kind)) accessed_.insert(a->data.substr(0, a->data.find('.')));
      }
    }
    if (!ir::child_sequences(e).empty()) return;
    symbolic::SymbolSet used = ir::containers_read(g_, e);
    used.merge(ir::containers_written(g_, e));
    for (const std::string& name : used) {
      // The outermost element around that becomes a state of its own, and whether a loop lies inside the declaration.
      const ir::Element* owner = &e;
      bool looped = false;
      for (std::size_t k = above.size(); k-- > 0;) {
        const ir::Element* a = above[k];
        if (const auto* b = std::get_if<ir::Block>(&a->kind);
            b != nullptr && std::find(b->locals.begin(), b->locals.end(), name) != b->locals.end())
          break;
        if (std::holds_alternative<ir::For>(a->kind) || std::holds_alternative<ir::While>(a->kind)) looped = true;
        if (std::holds_alternative<ir::Map>(a->kind) || std::holds_alternative<ir::Consume>(a->kind)) {
          owner = a;
          looped = false;
        }
      }
      auto& entry = users[name];
      entry.first.insert(owner);
      entry.second = entry.second || looped;
    }
  });
  const symbolic::SymbolSet none;
  for (const auto& [name, entry] : users) {
    const ir::Container* c = g_.containers.find(name);
    if (c == nullptr || !c->transient || c->lifetime != ir::Lifetime::kScope || c->constant) continue;
    if (c->kind == ir::ContainerKind::kView || c->kind == ir::ContainerKind::kReference) continue;
    if (entry.first.size() != 1 || !entry.second) continue;
    bool fixed = true;
    for (const std::string& s : c->layout.free_symbols()) {
      const ir::Symbol* symbol = g_.symbols.find(s);
      fixed = fixed && symbol != nullptr && symbol->binder == ir::BinderKind::kParameter;
    }
    if (fixed) once_.insert(name);
  }
}

void Writer::declare_locals(Context& c, const std::vector<std::string>& names, bool entered_once) {
  for (const std::string& name : names) {
    const ir::Container& k = g_.containers.at(name);
    if (k.kind == ir::ContainerKind::kView) continue;  // described where they are used
    if (entered_once && k.zeroed) once_.insert(name);
    describe(c, name, false);
  }
}

bool Writer::is_zeroed(const std::string& path) const {
  const ir::Container* c = g_.containers.find(path.substr(0, path.find('.')));
  return c != nullptr && c->zeroed;
}

}  // namespace sdfg::io
