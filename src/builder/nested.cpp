// Calls of other graphs: their elements are copied into a block, with fresh names and their parameters bound.
#include <algorithm>

#include "builder/access.hpp"
#include "builder/impl.hpp"
#include "ir/rewrite.hpp"

namespace sdfg {

using detail::BuilderImpl;
using detail::location_of;
using detail::WindowNode;

namespace {

void give_fresh_ids(ir::Graph& graph, ir::Sequence& body, ir::Id block) {
  std::map<ir::Id, ir::Id> fresh;
  ir::walk(body, [&](ir::Element& e) {
    e.id = fresh[e.id] = graph.new_id();
    auto* state = std::get_if<ir::State>(&e.kind);
    if (state == nullptr) return;
    for (ir::Node& n : state->nodes) n.id = fresh[n.id] = graph.new_id();
    for (ir::Memlet& m : state->edges) {
      m.id = graph.new_id();
      m.src = fresh.at(m.src);
      m.dst = fresh.at(m.dst);
    }
  });
  ir::walk(body, [&](ir::Element& e) {
    if (auto* exit = std::get_if<ir::Exit>(&e.kind)) exit->target = fresh.at(exit->target);
    // Returning from the called graph ends the block that holds it.
    if (std::holds_alternative<ir::Return>(e.kind)) e.kind = ir::Exit{ir::Exit::Kind::kBreak, block};
  });
}

class Call {
 public:
  Call(BuilderImpl& b, const ir::Graph& inner, const BuilderImpl& from, const std::vector<Binding>& bindings,
       SourceLocation where)
      : b_(b), inner_(inner.clone()), from_(from), bindings_(bindings), where_(std::move(where)) {
    rewriting_.binders = true;
    rewriting_.declarations = true;
  }

  void run() {
    check_names();
    // Values are read before the block begins, as arguments of a call are.
    bind_symbols();
    for (const ir::Container& c : inner_.containers) {
      if (!c.transient && c.kind != ir::ContainerKind::kScalar) check_shape(c);
    }
    ir::Element& element = b_.emit(ir::Block{}, inner_.name, where_);
    b_.open(detail::ScopeKind::kBlock, element, 0, "call of graph '" + inner_.name + "'", where_);
    detail::OpenScope scope(b_, {});
    block_ = element.id;
    for (const ir::Container& c : inner_.containers) {
      if (!c.transient && !c.constant) bind_container(c);
    }
    copy_symbols();
    copy_containers();
    for (auto& item : inner_.body.items) ir::rewrite_element(b_.graph, *item, rewriting_);
    give_fresh_ids(b_.graph, inner_.body, block_);
    auto& block = std::get<ir::Block>(element.kind);
    for (const std::string& name : inner_.locals) block.locals.push_back(renamed(name));
    ir::Sequence& body = *b_.current().segments.back().sequence;
    for (auto& item : inner_.body.items) body.items.push_back(std::move(item));
    add_code();
    for (const std::string& name : ir::containers_written(b_.graph, element)) {
      const std::string root = name.substr(0, name.find('.'));
      if (!b_.containers.contains(root)) continue;
      b_.written(root);
    }
    scope.close();
  }

 private:
  const Binding* binding(const std::string& name) const {
    const auto found =
        std::find_if(bindings_.begin(), bindings_.end(), [&](const Binding& x) { return x.name() == name; });
    return found == bindings_.end() ? nullptr : &*found;
  }

  std::string renamed(const std::string& name) const {
    const auto found = rewriting_.containers.find(name);
    return found == rewriting_.containers.end() ? name : found->second;
  }

  void check_names() const {
    for (const Binding& x : bindings_) {
      if (std::find(inner_.parameters.begin(), inner_.parameters.end(), x.name()) == inner_.parameters.end()) {
        b_.fail(where_, "graph '" + inner_.name + "' has no parameter '" + x.name() + "'",
                from_.unknown_hint(x.name()));
      }
      if (binding(x.name()) != &x)
        b_.fail(where_, "the parameter '" + x.name() + "' of graph '" + inner_.name + "' is bound twice");
    }
    for (const ir::Container& c : inner_.containers) {
      if (c.transient || c.constant) continue;
      const Binding* x = binding(c.name);
      if (x == nullptr) b_.fail(where_, "the parameter '" + c.name + "' of graph '" + inner_.name + "' is not bound");
      const bool scalar = c.kind == ir::ContainerKind::kScalar;
      if (scalar ? x->value() == nullptr : x->window() == nullptr) {
        b_.fail(where_, "the parameter '" + c.name + "' of graph '" + inner_.name + "' needs " +
                            (scalar ? "a value" : "an array or a part of one"));
      }
      if (scalar) continue;
      b_.check_owner(x->window()->owner, where_, "the argument for '" + c.name + "'");
      b_.check_window(*x->window(), where_);
      const Type& type = b_.graph.containers.at(x->window()->container).type;
      if (type != c.type || x->window()->shape.size() != c.rank()) {
        b_.fail(where_, "the parameter '" + c.name + "' of graph '" + inner_.name + "' is " + c.type.str() + " with " +
                            std::to_string(c.rank()) + " dimensions, but its argument is " + type.str() + " with " +
                            std::to_string(x->window()->shape.size()));
      }
    }
  }

  void bind_symbols() {
    for (const ir::Symbol& s : inner_.symbols) {
      if (s.binder != ir::BinderKind::kParameter) continue;
      const Binding* x = binding(s.name);
      if (s.type.kind() == Type::Kind::kCallback) {
        if (x == nullptr || x->callback().empty())
          b_.fail(where_, "the callback '" + s.name + "' of graph '" + inner_.name + "' is not bound");
        rewriting_.symbols.emplace(s.name, symbolic::Expr::symbol(x->callback()));
      } else if (x != nullptr && x->index()) {
        rewriting_.symbols.emplace(s.name, b_.resolve_index(*x->index(), where_));
      } else if (x != nullptr && x->value() != nullptr) {
        rewriting_.symbols.emplace(
            s.name, b_.resolve_bound(
                        Bound(Value<std::int64_t>(detail::apply(detail::Op::kCast, ScalarType::kInt64, x->value()))),
                        s.name, where_));
      } else if (x != nullptr) {
        b_.fail(where_,
                "the symbol '" + s.name + "' of graph '" + inner_.name + "' needs an index or an integer value");
      }
    }
    solve_extents();
    for (const ir::Symbol& s : inner_.symbols) {
      if (s.binder == ir::BinderKind::kParameter && !rewriting_.symbols.contains(s.name)) fail_unbound(s.name);
    }
  }

  // An extent of a parameter, in the symbols of the called graph, and of its argument, in those of the calling one.
  struct Equation {
    const ir::Container* container = nullptr;
    std::size_t dimension = 0;
    symbolic::Expr extent, given;
  };
  std::vector<Equation> equations() const {
    std::vector<Equation> out;
    for (const ir::Container& c : inner_.containers) {
      if (c.transient || c.constant || c.kind == ir::ContainerKind::kScalar) continue;
      const WindowNode& window = *binding(c.name)->window();
      for (std::size_t d = 0; d < c.rank(); ++d) out.push_back({&c, d, c.layout.shape()[d], window.shape[d]});
    }
    return out;
  }
  std::vector<std::string> unbound_in(const symbolic::Expr& e) const {
    std::vector<std::string> names;
    for (const std::string& s : symbolic::free_symbols(e)) {
      if (!rewriting_.symbols.contains(s)) names.push_back(s);
    }
    return names;
  }

  // slope * symbol = gap, in symbols of the calling graph. Nothing where the extent is not affine in the symbol.
  struct Affine {
    symbolic::Expr slope, gap;
    // The quotient, if there surely is one.
    std::optional<symbolic::Expr> solution() const {
      if (slope.is_zero()) return std::nullopt;
      symbolic::Expr quotient = symbolic::floor_div(gap, slope);
      if (quotient * slope == gap) return quotient;
      return std::nullopt;
    }
  };
  // The symbol is separated first: a value of another one may contain the calling graph's symbol of this name.
  std::optional<Affine> affine(const Equation& e, const std::string& symbol) const {
    const auto parts = symbolic::affine_in(e.extent, symbol);
    if (!parts) return std::nullopt;
    return Affine{symbolic::substitute(parts->slope, rewriting_.symbols),
                  e.given - symbolic::substitute(parts->rest, rewriting_.symbols)};
  }

  // Symbols that were not bound, from the extents of arrays. Extents that are a symbol go first: they need no division.
  void solve_extents() {
    const std::vector<Equation> all = equations();
    for (const Equation& e : all) {
      if (e.extent.kind() == symbolic::Kind::kSymbol) rewriting_.symbols.emplace(e.extent.name(), e.given);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Equation& e : all) {
        const std::vector<std::string> unknown = unbound_in(e.extent);
        if (unknown.size() != 1) continue;
        const auto parts = affine(e, unknown[0]);
        const auto solution = parts ? parts->solution() : std::nullopt;
        if (!solution) continue;
        rewriting_.symbols.emplace(unknown[0], *solution);
        changed = true;
      }
    }
  }

  [[noreturn]] void fail_unbound(const std::string& symbol) const {
    const std::string who = "the symbol '" + symbol + "' of graph '" + inner_.name + "'";
    const std::string binding_text = "bind it to an index: {\"" + symbol + "\", ...}";
    for (const Equation& e : equations()) {
      const std::vector<std::string> unknown = unbound_in(e.extent);
      if (std::find(unknown.begin(), unknown.end(), symbol) == unknown.end()) continue;
      const std::string parameter = "the parameter '" + e.container->name + "' has extent " + e.extent.str() +
                                    " in dimension " + std::to_string(e.dimension) + ", and its argument has " +
                                    b_.show(e.given);
      const auto parts = unknown.size() == 1 ? affine(e, symbol) : std::nullopt;
      if (!parts || parts->slope.is_zero())
        b_.fail(where_, who + " does not follow from the extents: " + parameter, binding_text);
      if (parts->slope.constant() && parts->gap.constant())
        b_.fail(where_, "no value of " + who + " fits the extents: " + parameter);
      b_.fail(where_,
              who + " does not follow from the extents: " + parameter + ", but " + b_.show(parts->gap) +
                  " is not known to be a multiple of " + b_.show(parts->slope),
              "declare the argument with an extent of the form " + e.extent.str() + ", or " + binding_text);
    }
    b_.fail(where_, who + " is not bound and is no extent of a bound array", binding_text);
  }

  void check_shape(const ir::Container& c) const {
    const WindowNode& window = *binding(c.name)->window();
    for (std::size_t d = 0; d < c.rank(); ++d) {
      const symbolic::Expr wanted = symbolic::substitute(c.layout.shape()[d], rewriting_.symbols);
      if (wanted == window.shape[d]) continue;
      const bool never = (wanted - window.shape[d]).constant().has_value();
      b_.fail(where_, "the parameter '" + c.name + "' of graph '" + inner_.name + "' has extent " + b_.show(wanted) +
                          " in dimension " + std::to_string(d) + ", but its argument has " + b_.show(window.shape[d]) +
                          (never ? "" : ", and the two are not known to be equal"));
    }
  }

  void bind_container(const ir::Container& c) {
    const Binding& x = *binding(c.name);
    if (c.kind == ir::ContainerKind::kScalar) {
      const std::string local = b_.declare_scalar(c.name, c.type.scalar(), where_);
      b_.store(*b_.window_of(local, where_), {}, x.value(), where_);
      rewriting_.containers.emplace(c.name, local);
      return;
    }
    const WindowNode& window = *x.window();
    const ir::Container& outer = b_.graph.containers.at(window.container);
    if (window.is_whole(outer)) {
      rewriting_.containers.emplace(c.name, window.container);
      return;
    }
    ir::Container view;
    view.kind = ir::ContainerKind::kView;
    view.type = outer.type;
    view.transient = true;
    view.location = where_;
    view.viewed = window.container;
    view.viewed_subset = window.subset();
    ir::Extents strides;
    for (std::size_t d = 0; d < window.dimensions.size(); ++d) {
      if (window.kept[d]) strides.push_back(outer.layout.strides()[d] * window.dimensions[d].step);
    }
    view.layout = ir::Layout::strided(window.shape, std::move(strides));
    view.name = b_.fresh(c.name);
    const std::string name = view.name;
    b_.declare(std::move(view), c.name, window.container);
    rewriting_.containers.emplace(c.name, name);
  }

  void copy_symbols() {
    std::vector<std::string> added;
    for (const ir::Symbol& s : inner_.symbols) {
      if (s.binder == ir::BinderKind::kParameter) continue;
      ir::Symbol copy = s;
      if (copy.label.empty()) copy.label = s.name;
      copy.name = b_.fresh(copy.label);
      rewriting_.symbols.emplace(s.name, symbolic::Expr::symbol(copy.name));
      detail::SymbolInfo info;
      info.scope = b_.current().id;
      info.label = copy.label;
      info.binder = s.binder;
      info.minted = true;
      info.where = s.location;
      b_.symbols.emplace(copy.name, std::move(info));
      added.push_back(copy.name);
      b_.graph.symbols.insert(std::move(copy));
    }
    for (const std::string& name : added) {
      ir::Symbol& s = b_.graph.symbols.at(name);
      for (auto* bound : {&s.lower, &s.upper}) {
        if (*bound) *bound = symbolic::substitute(**bound, rewriting_.symbols);
      }
    }
  }

  void copy_containers() {
    std::vector<std::string> added;
    for (const ir::Container& c : inner_.containers) {
      if (!c.transient && !c.constant) continue;
      ir::Container copy = c;
      if (copy.label.empty()) copy.label = c.name;
      copy.name = b_.fresh(copy.label);
      rewriting_.containers.emplace(c.name, copy.name);
      added.push_back(copy.name);
      detail::ContainerInfo info;
      info.scope = b_.current().id;
      info.root = copy.name;
      info.label = copy.label;
      info.where = c.location;
      b_.containers.emplace(copy.name, std::move(info));
      b_.graph.containers.insert(std::move(copy));
    }
    for (const std::string& name : added) {
      ir::Container& c = b_.graph.containers.at(name);
      ir::rewrite_container(c, rewriting_);
      if (c.kind == ir::ContainerKind::kView && b_.containers.contains(c.viewed))
        b_.containers.at(name).root = b_.root_of(c.viewed);
    }
  }

  void add_code() {
    const auto add = [](std::string& to, const std::string& text) {
      if (!text.empty() && to.find(text) == std::string::npos) to += (to.empty() ? "" : "\n") + text;
    };
    add(b_.graph.code.host, inner_.code.host);
    add(b_.graph.code.device, inner_.code.device);
    add(b_.graph.code.init, inner_.code.init);
    add(b_.graph.code.exit, inner_.code.exit);
  }

  BuilderImpl& b_;
  ir::Graph inner_;
  const BuilderImpl& from_;
  const std::vector<Binding>& bindings_;
  SourceLocation where_;
  ir::Rewriting rewriting_;
  ir::Id block_ = 0;
};

}  // namespace

void Builder::call(const Builder& inner, const std::vector<Binding>& bindings, Where where_) {
  const SourceLocation where = location_of(where_);
  impl(where_).check_usable(where);
  if (inner.impl_ == impl_) impl(where_).fail(where, "graph '" + name() + "' calls itself");
  impl(where_).statement();
  Call(impl(where_), builder::graph_of(inner), inner.impl(where_), bindings, where).run();
}

}  // namespace sdfg
