// Rules of names: everything an element uses is known, in force and alive.
#include <algorithm>

#include "base/suggest.hpp"
#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;

namespace {

class NameChecker : public SiteVisitor {
 public:
  NameChecker(Report& report, const Scope& scope) : report_(report), g_(report.g), scope_(scope) {}

  void access(const Node& n, const Access& a) { use_container(a.data, n.id); }

  void tasklet(const State&, const Node& n, const Tasklet& t) {
    // The code's unknown names are found when its types are inferred; here, known symbols have to be in force.
    const tasklet::Uses uses = outer_uses(t);
    for (const auto* names : {&uses.read, &uses.called}) {
      for (const std::string& name : *names) {
        if (g_.symbols.contains(name)) use_symbol(name, n.id);
      }
    }
    for (const std::string& base : uses.subscripted) {
      if (const Container* c = resolve(g_, base); c != nullptr && c->constant) use_container(base, n.id);
    }
  }

  void library(const Node& n, const Library& l) {
    if (const auto* fft = std::get_if<Fft>(&l.op)) use_expr(fft->factor, n.id);
  }

  void memlet(const State&, const Memlet& m) {
    symbolic::SymbolSet symbols;
    symbolic::SymbolSet reads;
    for (const auto* subset : {&m.src_subset, &m.dst_subset}) {
      if (!*subset) continue;
      for (const Range& r : (*subset)->ranges()) {
        for (const Expr* e : {&r.begin, &r.end, &r.step, &r.tile}) {
          symbols.merge(symbolic::free_symbols(*e));
          reads.merge(symbolic::read_containers(*e));
        }
      }
    }
    for (const std::string& name : symbols) use_symbol(name, m.id);
    for (const std::string& name : reads) use_container(name, m.id);
  }

  void code(const tasklet::Expr& e) {
    const tasklet::Uses uses = tasklet::uses_of(e);
    for (const std::string& base : uses.subscripted) use_container(base, element().id);
    for (const auto* names : {&uses.read, &uses.called}) {
      for (const std::string& name : *names) {
        if (loop_variable_ && *loop_variable_ == name) continue;
        if (g_.containers.contains(name) && !g_.symbols.contains(name)) {
          report_.add(Rule::kUnknownSymbol, scope_, element().id,
                      describe(g_, element()) + " uses container " + quoted(report_.container(name)) + " as a symbol",
                      "read it by a subscript, without indices for a scalar");
        } else {
          use_symbol(name, element().id);
        }
      }
    }
  }

  void expr(const Expr& e) { use_expr(e, element().id); }

  void container(const std::string& name) { use_container(name, element().id); }

  void declared(const std::string& name) {
    const Container* c = g_.containers.find(name);
    if (c == nullptr) {
      if (std::holds_alternative<Consume>(element().kind)) use_container(name, element().id);
      return;  // of a Block: reported with the tables
    }
    symbolic::SymbolSet used;
    add_own_symbols(*c, used);
    for (const std::string& symbol : used) {
      if (!g_.symbols.contains(symbol)) continue;  // reported with the tables
      if (!scope_.symbols.contains(symbol)) {
        report_.add(Rule::kSymbolScope, scope_, element().id,
                    "container " + quoted(report_.container(name)) + " uses " + quoted(report_.symbol(symbol)) +
                        " in its description, which has no value where the container is allocated");
      }
    }
    const auto* block = std::get_if<Block>(&element().kind);
    if (block == nullptr || used.empty()) return;
    if (!changing_) changing_ = assigned_below(block->body);
    for (const std::string& symbol : used) {
      if (!changing_->contains(symbol)) continue;
      report_.add(Rule::kSymbolScope, scope_, element().id,
                  quoted(report_.symbol(symbol)) + " is assigned while container " + quoted(report_.container(name)) +
                      " lives, whose description uses it",
                  "copy the value to a symbol of its own first");
    }
  }

  // A view is bound where it is declared, so what it shows must live there.
  void check_viewed() {
    const auto* block = std::get_if<Block>(&element().kind);
    if (block == nullptr) return;
    for (const std::string& name : block->locals) {
      const Container* c = g_.containers.find(name);
      if (c == nullptr || c->viewed.empty() || contains(block->locals, root_name(c->viewed))) continue;
      if (resolve(g_, c->viewed) != nullptr) use_container(c->viewed, element().id);
    }
  }

  void run() {
    if (const auto* loop = std::get_if<For>(&element().kind)) {
      code(loop->init);
      loop_variable_ = &loop->variable;
      const symbolic::SymbolSet set_before = assigned_below(loop->body);
      later_ = &set_before;
      code(loop->condition);
      code(loop->update);
      later_ = nullptr;
      use_known(loop->variable);
    } else if (const auto* loop_while = std::get_if<While>(&element().kind)) {
      // A do-while tests after its body.
      symbolic::SymbolSet set_before;
      if (!loop_while->test_first) set_before = assigned_below(loop_while->body);
      later_ = &set_before;
      code(loop_while->condition);
      later_ = nullptr;
    } else if (const auto* map = std::get_if<Map>(&element().kind)) {
      check_ranges(*map);
      visit_reductions(*map);
    } else {
      visit_sites(element(), *this);
      check_viewed();
    }
  }

 private:
  const Element& element() const { return scope_.element(); }

  static void add_own_symbols(const Container& c, symbolic::SymbolSet& out) {
    out.merge(c.layout.free_symbols());
    out.merge(c.viewed_subset.free_symbols());
    out.merge(symbolic::free_symbols(c.buffer_size));
    for (const Container& member : c.members) add_own_symbols(member, out);
  }

  void visit_reductions(const Map& map) {
    for (const Map::Reduction& r : map.reductions) use_container(r.container, element().id);
  }

  void check_ranges(const Map& map) {
    NameSet before;
    for (std::size_t d = 0; d < map.params.size(); ++d) {
      use_known(map.params[d]);
      if (d < map.ranges.size()) {
        const Range& r = map.ranges[d];
        for (const Expr* e : {&r.begin, &r.end, &r.step}) {
          for (const std::string& name : symbolic::free_symbols(*e)) {
            if (before.contains(name)) continue;
            if (contains(map.params, name)) {
              report_.add(Rule::kMapRange, scope_, element().id,
                          "the range of " + quoted(report_.symbol(map.params[d])) + " in " + describe(g_, element()) +
                              " uses " + quoted(report_.symbol(name)) + ", which comes at or after it",
                          "a range may use the parameters before its own");
            } else {
              use_symbol(name, element().id);
            }
          }
        }
      }
      before.insert(map.params[d]);
    }
  }

  void use_known(const std::string& name) {
    if (g_.symbols.contains(name)) return;
    report_.add(Rule::kUnknownSymbol, scope_, element().id,
                describe(g_, element()) + " binds " + quoted(name) + ", which is not in the symbol table");
  }

  void use_expr(const Expr& e, Id id) {
    for (const std::string& name : symbolic::free_symbols(e)) use_symbol(name, id);
    for (const std::string& name : symbolic::read_containers(e)) use_container(name, id);
  }

  void use_symbol(const std::string& name, Id id) {
    const Symbol* s = g_.symbols.find(name);
    if (s == nullptr) {
      report_.add(Rule::kUnknownSymbol, scope_, id,
                  what(id) + " uses " + quoted(name) + ", which is no symbol of the graph", nearest(name));
      return;
    }
    if (scope_.symbols.contains(name) || (later_ != nullptr && later_->contains(name))) return;
    std::string hint;
    switch (s->binder) {
      case BinderKind::kParameter: break;
      case BinderKind::kMapParameter: hint = "a map parameter has a value in its map only"; break;
      case BinderKind::kLoopVariable: hint = "copy it to a symbol by an assignment inside the loop"; break;
      case BinderKind::kAssigned: hint = "assign it first; what a map's body assigns is the body's own"; break;
    }
    report_.add(Rule::kSymbolScope, scope_, id,
                what(id) + " uses " + std::string(to_string(s->binder)) + " " + quoted(report_.symbol(name)) +
                    ", which has no value there",
                hint);
  }

  void use_container(std::string_view path, Id id) {
    const Container* c = g_.containers.find(root_name(path));
    if (c == nullptr) {
      report_.add(Rule::kUnknownContainer, scope_, id,
                  what(id) + " uses " + quoted(path) + ", which is no container of the graph", nearest(path));
      return;
    }
    if (resolve(g_, path) == nullptr) {
      report_.add(Rule::kStructureMember, scope_, id,
                  what(id) + " uses " + quoted(report_.container(path)) + ", but " + std::string(to_string(c->kind)) +
                      " " + quoted(report_.container(c->name)) + " has no such member");
      return;
    }
    if (scope_.containers.contains(c->name)) return;
    report_.add(
        Rule::kContainerScope, scope_, id,
        what(id) + " uses container " + quoted(report_.container(path)) + " outside the block that declares it");
  }

  // The thing with this id: the element, or a node or memlet of it.
  std::string what(Id id) const {
    if (const auto* state = std::get_if<State>(&element().kind); state != nullptr && id != element().id) {
      if (const Node* n = state->find_node(id)) return describe(g_, *n);
      for (const Memlet& m : state->edges) {
        if (m.id == id) return describe(g_, *state, m);
      }
    }
    return describe(g_, element());
  }

  std::string nearest(std::string_view wrong) const {
    std::vector<std::string_view> names;
    for (const Symbol& s : g_.symbols) names.push_back(s.name);
    for (const Container& c : g_.containers) names.push_back(c.name);
    const std::string_view name = nearest_name(wrong, names);
    return name.empty() ? std::string() : "did you mean " + quoted(name) + "?";
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  const std::string* loop_variable_ = nullptr;
  const symbolic::SymbolSet* later_ = nullptr;
  std::optional<symbolic::SymbolSet> changing_;  // what the block assigns, once somebody asked
};

}  // namespace

void check_names(Report& report, const Scope& scope) {
  NameChecker(report, scope).run();
}

}  // namespace sdfg::ir::validation
