// Rules of the tables: names, parameters, containers, symbols, and one declaration for each.
#include <algorithm>
#include <map>

#include "ir/validate_internal.hpp"

namespace sdfg::ir {

std::string identifier_hint(std::string_view name) {
  if (is_reserved_word(name)) {
    return "'" + std::string(name) + "' is a word of the expression syntax; '" + std::string(name) +
           "_' would be a name";
  }
  return "use letters, digits and underscores, not starting with a digit";
}

}  // namespace sdfg::ir

namespace sdfg::ir::validation {

using symbolic::Expr;
using symbolic::Truth;

namespace {

void check_graph_name(Report& report) {
  const std::string& name = report.g.name;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (!is_identifier(part)) {
      report.add(Rule::kName, "the graph's name " + quoted(name) + " is not made of identifiers joined by dots",
                 identifier_hint(part));
      return;
    }
    begin = end + 1;
  }
}

// ---- Declarations ---------------------------------------------------------------------------------------------------

struct Declarations {
  std::map<std::string, int, std::less<>> containers;  // times declared by locals, Blocks and Consumes
  std::map<std::string, std::vector<const Element*>, std::less<>> binders;  // elements that bind a symbol
  std::map<Id, int> ids;
};

Declarations declarations_of(const Graph& g) {
  Declarations d;
  for (const std::string& name : g.locals) ++d.containers[name];
  for_each_element(g.body, [&](const Element& e) {
    ++d.ids[e.id];
    if (const auto* block = std::get_if<Block>(&e.kind)) {
      for (const std::string& name : block->locals) ++d.containers[name];
    } else if (const auto* consume = std::get_if<Consume>(&e.kind)) {
      ++d.containers[consume->element];
      if (!consume->worker.empty()) d.binders[consume->worker].push_back(&e);
    } else if (const auto* map = std::get_if<Map>(&e.kind)) {
      for (const std::string& param : map->params) d.binders[param].push_back(&e);
    } else if (const auto* loop = std::get_if<For>(&e.kind)) {
      d.binders[loop->variable].push_back(&e);
    } else if (const auto* state = std::get_if<State>(&e.kind)) {
      for (const Node& node : state->nodes) ++d.ids[node.id];
      for (const Memlet& edge : state->edges) ++d.ids[edge.id];
    }
  });
  return d;
}

void check_declared_once(Report& report, const Declarations& d) {
  const Graph& g = report.g;
  for (const auto& [id, times] : d.ids) {
    if (id == 0) {
      report.add(Rule::kUniqueName, "an element, node or memlet has no id");
    } else if (times > 1) {
      report.add(Rule::kUniqueName,
                 "the id " + std::to_string(id) + " names " + std::to_string(times) + " elements, nodes or memlets");
    }
  }
  for (const auto& [name, times] : d.containers) {
    const Container* c = g.containers.find(name);
    if (c == nullptr) {
      report.add(Rule::kUnknownContainer, "a block declares " + quoted(name) + ", which is no container of the graph");
      continue;
    }
    if (!c->transient) {
      report.add(Rule::kDeclaredOnce, *c,
                 "argument " + quoted(report.container(name)) + " is also declared as a local of a block");
    } else if (c->lifetime != Lifetime::kScope) {
      report.add(Rule::kDeclaredOnce, *c,
                 std::string(to_string(c->lifetime)) + " container " + quoted(report.container(name)) +
                     " belongs to the graph but is declared by a block");
    } else if (times > 1) {
      report.add(Rule::kDeclaredOnce, *c,
                 "container " + quoted(report.container(name)) + " is declared " + std::to_string(times) + " times",
                 "each block needs a container of its own");
    }
  }
  for (const auto& [name, elements] : d.binders) {
    const Symbol* s = g.symbols.find(name);
    if (s == nullptr) continue;  // reported where it is used
    if (elements.size() > 1) {
      report.add(Rule::kDeclaredOnce, *s,
                 "symbol " + quoted(report.symbol(name)) + " is bound by " + std::to_string(elements.size()) +
                     " maps or loops",
                 "each needs a symbol of its own; clone_renamed makes them");
    }
    for (const Element* e : elements) {
      const BinderKind wanted =
          std::holds_alternative<For>(e->kind) ? BinderKind::kLoopVariable : BinderKind::kMapParameter;
      if (s->binder == wanted) continue;
      report.add(Rule::kDeclaredOnce, *s,
                 describe(g, *e) + " binds " + quoted(report.symbol(name)) + ", which the symbol table calls " +
                     (s->binder == BinderKind::kAssigned ? "an " : "a ") + std::string(to_string(s->binder)));
    }
  }
}

void check_parameters(Report& report) {
  const Graph& g = report.g;
  NameSet seen;
  for (const std::string& name : g.parameters) {
    const Container* c = g.containers.find(name);
    const Symbol* s = g.symbols.find(name);
    if (!seen.insert(name).second) {
      report.add(Rule::kParameterOrder, "parameter " + quoted(name) + " is listed twice in the call order");
    } else if (c == nullptr && s == nullptr) {
      report.add(Rule::kParameterOrder,
                 "the call order lists " + quoted(name) + ", which is neither a container nor a symbol");
    } else if (c != nullptr && c->transient) {
      report.add(Rule::kParameterOrder, *c, "the call order lists the transient " + quoted(report.container(name)));
    } else if (c != nullptr && c->constant) {
      report.add(Rule::kParameterOrder, *c, "the call order lists the constant " + quoted(report.container(name)));
    } else if (c == nullptr && s->binder != BinderKind::kParameter) {
      report.add(Rule::kParameterOrder, *s,
                 "the call order lists " + quoted(report.symbol(name)) + ", which is no parameter but " +
                     (s->binder == BinderKind::kAssigned ? "an " : "a ") + std::string(to_string(s->binder)));
    }
  }
  for (const Container& c : g.containers) {
    if (!c.transient && !c.constant && !seen.contains(c.name)) {
      report.add(Rule::kParameterOrder, c,
                 "argument " + quoted(report.container(c.name)) + " is missing in the call order");
    }
  }
  for (const Symbol& s : g.symbols) {
    if (s.binder == BinderKind::kParameter && !seen.contains(s.name)) {
      report.add(Rule::kParameterOrder, s,
                 "parameter " + quoted(report.symbol(s.name)) + " is missing in the call order");
    }
  }
}

// ---- Containers -----------------------------------------------------------------------------------------------------

class ContainerChecker {
 public:
  ContainerChecker(Report& report, const Container& c, const symbolic::Facts& facts)
      : report_(report), g_(report.g), c_(c), facts_(facts) {
    name_ = quoted(report.container(c.name));
  }

  void run() {
    check_layout();
    check_lifetime();
    check_view();
    check_kind();
    check_constant();
  }

 private:
  void add(Rule rule, std::string message, std::string hint = {}) {
    report_.add(rule, c_, std::move(message), std::move(hint));
  }

  void check_expr(const Expr& e, const char* what) {
    if (symbolic::has_reads(e) || symbolic::has_calls(e)) {
      add(Rule::kExtentUsesRead, std::string(what) + " " + report_.show(e) + " of " + name_ + " reads a container",
          "assign the value to a symbol first");
    }
    for (const std::string& symbol : symbolic::free_symbols(e)) {
      if (g_.symbols.contains(symbol)) continue;
      add(Rule::kUnknownSymbol, std::string(what) + " " + report_.show(e) + " of " + name_ + " uses " + quoted(symbol) +
                                    ", which is no symbol");
    }
  }

  void check_layout() {
    const Layout& layout = c_.layout;
    for (std::size_t d = 0; d < layout.rank(); ++d) {
      const Expr& extent = layout.shape()[d];
      check_expr(extent, "extent");
      check_expr(layout.strides()[d], "stride");
      check_expr(layout.offset()[d], "offset");
      // Of an argument, the facts say that extents are non-negative; only a plain number can contradict them.
      if (symbolic::is_nonnegative(extent, facts_) == Truth::kNo) {
        add(Rule::kExtentNegative,
            "extent " + report_.show(extent) + " of " + name_ + " in dimension " + std::to_string(d) + " is negative");
      }
    }
    check_expr(layout.total_size(), "size");
    check_expr(layout.start_offset(), "start offset");
    check_expr(c_.buffer_size, "buffer size");
  }

  void check_lifetime() {
    if (c_.lifetime != Lifetime::kScope) {
      const std::string lifetime(to_string(c_.lifetime));
      if (!c_.transient) {
        add(Rule::kStorageLifetime,
            "argument " + name_ + " has lifetime " + lifetime + ", but arguments belong to the caller");
      }
      if (c_.storage == Storage::kRegister || c_.storage == Storage::kGpuShared) {
        add(Rule::kStorageLifetime, lifetime + " container " + name_ + " is in " + std::string(to_string(c_.storage)) +
                                        " storage, which does not outlive a call");
      }
      symbolic::SymbolSet used = c_.layout.free_symbols();
      for (const std::string& name : used) {
        const Symbol* s = g_.symbols.find(name);
        if (s == nullptr || s->binder == BinderKind::kParameter) continue;
        add(Rule::kPersistentSize, "the size of " + lifetime + " container " + name_ + " uses " +
                                       quoted(report_.symbol(name)) + ", which is not a parameter of the graph");
      }
    }
    if (!c_.transient && !c_.constant && (c_.storage == Storage::kGpuShared || c_.storage == Storage::kThreadLocal)) {
      add(Rule::kStorageLifetime,
          "argument " + name_ + " can't be in " + std::string(to_string(c_.storage)) + " storage");
    }
    if (!c_.layout.start_offset().is_zero() && c_.transient && c_.kind == ContainerKind::kArray &&
        (c_.storage == Storage::kRegister || c_.storage == Storage::kGpuShared)) {
      add(Rule::kStorageLifetime, name_ + " in " + std::string(to_string(c_.storage)) + " storage has a start offset");
    }
  }

  void check_view() {
    if (c_.kind != ContainerKind::kView) {
      if (!c_.viewed.empty()) {
        add(Rule::kViewTarget, std::string(to_string(c_.kind)) + " " + name_ + " names a viewed container " +
                                   quoted(report_.container(c_.viewed)) + ", but is no view");
      }
      return;
    }
    if (!c_.transient || c_.lifetime != Lifetime::kScope) {
      add(Rule::kViewTarget, "view " + name_ + " is not a transient of a block");
    }
    if (c_.viewed.empty()) {
      add(Rule::kViewTarget, "view " + name_ + " shows no container");
      return;
    }
    const Container* target = resolve(g_, c_.viewed);
    if (target == nullptr) {
      add(Rule::kViewTarget, "view " + name_ + " shows " + quoted(c_.viewed) + ", which is no container");
      return;
    }
    NameSet seen{c_.name};
    for (const Container* at = g_.containers.find(root_name(c_.viewed)); at != nullptr;
         at = at->viewed.empty() ? nullptr : g_.containers.find(root_name(at->viewed))) {
      if (seen.insert(at->name).second) continue;
      add(Rule::kViewTarget,
          "view " + name_ + " shows itself" + (at->name == c_.name && seen.size() == 1 ? "" : " through other views"));
      return;
    }
    if (target->kind == ContainerKind::kStream) {
      add(Rule::kViewTarget, "view " + name_ + " shows stream " + quoted(report_.container(c_.viewed)));
    }
    if (c_.viewed_subset.rank() != target->rank()) {
      add(Rule::kSubsetRank, "view " + name_ + " shows " + report_.show(c_.viewed, c_.viewed_subset) + " with " +
                                 std::to_string(c_.viewed_subset.rank()) + " indices, but " +
                                 quoted(report_.container(c_.viewed)) + " has rank " + std::to_string(target->rank()));
    }
    for (const Range& r : c_.viewed_subset.ranges()) {
      check_expr(r.begin, "window bound");
      check_expr(r.end, "window bound");
    }
  }

  void check_kind() {
    const bool composite = c_.kind == ContainerKind::kStructure || c_.kind == ContainerKind::kContainerArray;
    if (c_.kind == ContainerKind::kScalar && c_.rank() != 0) {
      add(Rule::kAccessShape, "scalar " + name_ + " has " + std::to_string(c_.rank()) + " dimensions");
    }
    if (c_.kind == ContainerKind::kStructure) {
      if (c_.members.empty()) add(Rule::kStructureMember, "structure " + name_ + " has no members");
      NameSet seen;
      for (const Container& member : c_.members) {
        if (!is_identifier(member.name)) {
          add(Rule::kName, "member " + quoted(member.name) + " of structure " + name_ + " is not an identifier",
              identifier_hint(member.name));
        }
        if (!seen.insert(member.name).second) {
          add(Rule::kStructureMember, "structure " + name_ + " has two members " + quoted(member.name));
        }
      }
    } else if (c_.kind == ContainerKind::kContainerArray) {
      if (c_.members.size() != 1) {
        add(Rule::kStructureMember, "container array " + name_ + " has " + std::to_string(c_.members.size()) +
                                        " element descriptions instead of one");
      }
    }
    const bool typed = !c_.type.is_void();
    if (!composite && !typed && !shows_composite())
      add(Rule::kStructureMember, std::string(to_string(c_.kind)) + " " + name_ + " has no element type");
    if (c_.alignment < 0 || (c_.alignment & (c_.alignment - 1)) != 0) {
      add(Rule::kStorageLifetime,
          "the alignment " + std::to_string(c_.alignment) + " of " + name_ + " is not a power of two");
    }
    if (c_.kind == ContainerKind::kStream && symbolic::is_nonnegative(c_.buffer_size, facts_) == Truth::kNo) {
      add(Rule::kStreamUse, "stream " + name_ + " has the negative capacity " + report_.show(c_.buffer_size));
    }
  }

  // Views and references of structures have no element type either.
  bool shows_composite() const {
    return (c_.kind == ContainerKind::kView || c_.kind == ContainerKind::kReference) && !c_.members.empty();
  }

  void check_constant() {
    if (!c_.constant) return;
    const std::int64_t element = c_.type.size();
    const std::optional<std::int64_t> count = c_.layout.total_size().constant();
    if (c_.kind != ContainerKind::kScalar && c_.kind != ContainerKind::kArray) {
      add(Rule::kConstantType, std::string(to_string(c_.kind)) + " " + name_ + " can't be a constant");
    } else if (!count) {
      add(Rule::kConstantType,
          "constant " + name_ + " has the size " + report_.show(c_.layout.total_size()) + ", which is not a number");
    } else if (element * *count != static_cast<std::int64_t>(c_.constant->size())) {
      add(Rule::kConstantType, "constant " + name_ + " of " + std::to_string(*count) + " elements of " + c_.type.str() +
                                   " has " + std::to_string(c_.constant->size()) + " bytes instead of " +
                                   std::to_string(element * *count));
    }
  }

  Report& report_;
  const Graph& g_;
  const Container& c_;
  const symbolic::Facts& facts_;
  std::string name_;
};

void check_symbol(Report& report, const Symbol& s) {
  const Graph& g = report.g;
  if (!is_identifier(s.name)) {
    report.add(Rule::kName, s, "the symbol name " + quoted(s.name) + " is not an identifier", identifier_hint(s.name));
  }
  if (g.containers.contains(s.name)) {
    report.add(Rule::kUniqueName, s, quoted(s.name) + " is both a symbol and a container");
  }
  const bool integral = s.type.is_scalar() && (is_integer(s.type.scalar()) || s.type.scalar() == ScalarType::kBool);
  const bool callback = s.type.kind() == Type::Kind::kCallback && s.binder == BinderKind::kParameter;
  if (!integral && !callback) {
    report.add(Rule::kDeclaredOnce, s,
               "symbol " + quoted(report.symbol(s.name)) + " has type " + s.type.str() +
                   ", but symbols are integers, booleans or callbacks",
               "use a scalar container");
  }
  for (const auto* bound : {&s.lower, &s.upper}) {
    if (!*bound) continue;
    for (const std::string& name : symbolic::free_symbols(**bound)) {
      if (!g.symbols.contains(name)) {
        report.add(Rule::kUnknownSymbol, s,
                   "the bound " + report.show(**bound) + " of " + quoted(report.symbol(s.name)) + " uses " +
                       quoted(name) + ", which is no symbol");
      }
    }
  }
}

}  // namespace

void check_tables(Report& report) {
  const Graph& g = report.g;
  check_graph_name(report);
  const symbolic::Facts facts = base_facts(g);
  for (const Container& c : g.containers) {
    if (!is_identifier(c.name)) {
      report.add(Rule::kName, c, "the container name " + quoted(c.name) + " is not an identifier",
                 identifier_hint(c.name));
    }
    ContainerChecker(report, c, facts).run();
  }
  for (const Symbol& s : g.symbols) check_symbol(report, s);
  check_parameters(report);
  check_declared_once(report, declarations_of(g));
}

}  // namespace sdfg::ir::validation
