// Renaming of containers and substitution of symbols below an element.
#include "ir/rewrite.hpp"

#include <algorithm>

#include "ir/cpp_text.hpp"
#include "ir/sites.hpp"
#include "symbolic/print.hpp"

namespace sdfg::ir {

namespace {

using symbolic::Expr;
using symbolic::Kind;
using TreeNames = std::map<std::string, tasklet::Expr, std::less<>>;

class Rewriter : public SiteVisitor {
 public:
  Rewriter(const Graph& g, const Rewriting& by) : g_(g), by_(by) {
    const auto type_of = [&g](std::string_view symbol) {
      const Symbol* s = g.symbols.find(symbol);
      return s == nullptr ? Type(ScalarType::kInt64) : s->type;
    };
    for (const auto& [name, value] : by.symbols) {
      trees_.emplace(name, tasklet::from_symbolic(value, type_of));
      if (value.kind() != Kind::kSymbol) only_renames_ = false;
    }
  }

  void access(Node&, Access& a) { a.data = renamed_path(a.data, by_.containers); }

  void tasklet(State&, Node&, Tasklet& t) {
    // Connectors and locals hide symbols and containers of the same name.
    std::vector<std::string> hidden;
    for (const auto* connectors : {&t.inputs, &t.outputs}) {
      for (const Connector& c : *connectors) hidden.push_back(c.name);
    }
    switch (t.code.language) {
      case tasklet::Language::kTree: tree(t, hidden); break;
      case tasklet::Language::kCpp: text(t, hidden); break;
    }
  }

  void library(Node&, Library& l) {
    if (auto* fft = std::get_if<Fft>(&l.op)) expr(fft->factor);
  }

  void memlet(State&, Memlet& m) {
    for (auto* subset : {&m.src_subset, &m.dst_subset}) {
      if (!*subset) continue;
      if (!by_.symbols.empty()) **subset = symbolic::substitute(**subset, by_.symbols);
      if (!by_.containers.empty()) **subset = symbolic::rename_reads(**subset, by_.containers);
    }
    if (m.wcr && m.wcr->op == ReduceOp::kCustom) {
      TreeNames names = trees_;
      names.erase("a");
      names.erase("b");
      m.wcr->custom = tasklet::replace_names(m.wcr->custom, names);
    }
  }

  void code(tasklet::Expr& e) {
    if (!trees_.empty()) {
      const bool typed = !e.type().is_void();
      e = tasklet::replace_names(e, trees_);
      // A renamed symbol keeps its type; any other value may have changed types on the way up.
      if (typed && !only_renames_) e = tasklet::infer_types(e, type_environment(g_));
    }
    if (!by_.containers.empty()) e = tasklet::rename_bases(e, base_names(tasklet::uses_of(e).subscripted));
  }

  void expr(Expr& e) {
    if (!by_.symbols.empty()) e = symbolic::substitute(e, by_.symbols);
    if (!by_.containers.empty()) e = symbolic::rename_reads(e, by_.containers);
  }

  void range(Range& r) {
    expr(r.begin);
    expr(r.end);
    expr(r.step);
    expr(r.tile);
  }

  void binder(std::string& name) {
    if (!by_.binders) return;
    const auto found = by_.symbols.find(name);
    if (found != by_.symbols.end() && found->second.kind() == Kind::kSymbol) name = found->second.name();
  }

  void declared(std::string& name) {
    if (by_.declarations) name = renamed_path(name, by_.containers);
  }

  void container(std::string& name) { name = renamed_path(name, by_.containers); }

 private:
  // Whole paths of the bases that change, since a base may be a member of a renamed container.
  Names base_names(const std::vector<std::string>& bases) const {
    Names names;
    for (const std::string& base : bases) {
      std::string renamed = renamed_path(base, by_.containers);
      if (renamed != base) names.emplace(base, std::move(renamed));
    }
    return names;
  }

  void tree(Tasklet& t, std::vector<std::string> hidden) const {
    const tasklet::Uses uses = tasklet::uses_of(t.code.body);
    hidden.insert(hidden.end(), uses.written.begin(), uses.written.end());
    TreeNames names;
    for (const auto& [name, value] : trees_) {
      if (std::find(hidden.begin(), hidden.end(), name) == hidden.end()) names.emplace(name, value);
    }
    if (!names.empty()) t.code.body = tasklet::replace_names(t.code.body, names);
    if (by_.containers.empty()) return;
    Names bases = base_names(uses.subscripted);
    for (const std::string& name : hidden) bases.erase(name);
    if (!bases.empty()) t.code.body = tasklet::rename_bases(t.code.body, bases);
  }

  void text(Tasklet& t, const std::vector<std::string>& hidden) const {
    Names words;
    for (const auto& [name, value] : by_.symbols) {
      const bool plain = value.kind() == Kind::kSymbol || value.is_integer();
      const std::string spelled = symbolic::to_cpp(value, {});
      words.emplace(name, plain && !spelled.starts_with('-') ? spelled : "(" + spelled + ")");
    }
    for (const auto& [name, renamed] : by_.containers) words.emplace(name, renamed);
    for (const std::string& name : hidden) words.erase(name);
    if (words.empty()) return;
    t.code.text = replace_identifiers(t.code.text, words);
    if (!t.code.cpp) return;
    for (auto* names : {&t.code.cpp->reads, &t.code.cpp->free_names}) {
      std::vector<std::string> renamed;
      const auto add = [&](const std::string& name) {
        if (std::find(renamed.begin(), renamed.end(), name) == renamed.end()) renamed.push_back(name);
      };
      for (const std::string& name : *names) {
        const auto symbol = words.contains(name) ? by_.symbols.find(name) : by_.symbols.end();
        const auto container = words.contains(name) ? by_.containers.find(name) : by_.containers.end();
        if (symbol != by_.symbols.end()) {
          for (const std::string& inner : symbolic::free_symbols(symbol->second)) add(inner);
        } else {
          add(container == by_.containers.end() ? name : container->second);
        }
      }
      *names = std::move(renamed);
    }
  }

  const Graph& g_;
  const Rewriting& by_;
  TreeNames trees_;
  bool only_renames_ = true;
};

}  // namespace

std::string renamed_path(const std::string& path, const Names& names) {
  for (std::size_t length = path.size(); length != std::string::npos && length != 0;
       length = path.rfind('.', length - 1)) {
    const auto found = names.find(std::string_view(path).substr(0, length));
    if (found != names.end()) return found->second + path.substr(length);
  }
  return path;
}

void rewrite_element(const Graph& g, Element& e, const Rewriting& by) {
  Rewriter rewriter(g, by);
  for_each_below(e, [&](Element& below) { visit_sites(below, rewriter); });
}

void rewrite_container(Container& c, const Rewriting& by) {
  if (!by.symbols.empty()) {
    c.layout = c.layout.substituted(by.symbols);
    c.viewed_subset = symbolic::substitute(c.viewed_subset, by.symbols);
    c.buffer_size = symbolic::substitute(c.buffer_size, by.symbols);
  }
  c.viewed = renamed_path(c.viewed, by.containers);
  for (Container& member : c.members) rewrite_container(member, by);
}

void substitute_symbols(Graph& g, Sequence& s, const symbolic::Substitution& by) {
  const Rewriting rewriting{by, {}, true, false};
  for (auto& item : s.items) {
    rewrite_element(g, *item, rewriting);
    for (const std::string& name : containers_declared(*item)) {
      if (Container* c = g.containers.find(name)) rewrite_container(*c, rewriting);
    }
  }
}

void rename_containers(Graph& g, Sequence& s, const std::map<std::string, std::string, std::less<>>& names) {
  const Rewriting rewriting{{}, names, false, false};
  for (auto& item : s.items) {
    rewrite_element(g, *item, rewriting);
    for (const std::string& name : containers_declared(*item)) {
      if (Container* c = g.containers.find(name)) rewrite_container(*c, rewriting);
    }
  }
}

}  // namespace sdfg::ir
