// Walks a graph, keeps track of what is in force where, and calls the checks of every rule.
#include "ir/validate.hpp"

#include <algorithm>
#include <utility>

#include "ir/validate_internal.hpp"

namespace sdfg::ir {

std::string_view to_string(Rule rule) noexcept {
  switch (rule) {
    case Rule::kName: return "name";
    case Rule::kUniqueName: return "unique-name";
    case Rule::kUnknownContainer: return "unknown-container";
    case Rule::kUnknownSymbol: return "unknown-symbol";
    case Rule::kSymbolScope: return "symbol-scope";
    case Rule::kContainerScope: return "container-scope";
    case Rule::kDeclaredOnce: return "declared-once";
    case Rule::kParameterOrder: return "parameter-order";
    case Rule::kExtentNegative: return "extent-negative";
    case Rule::kExtentUsesRead: return "extent-uses-read";
    case Rule::kPersistentSize: return "persistent-size";
    case Rule::kStorageLifetime: return "storage-lifetime";
    case Rule::kViewTarget: return "view-target";
    case Rule::kStructureMember: return "structure-member";
    case Rule::kConstantType: return "constant-type";
    case Rule::kAccessShape: return "access-shape";
    case Rule::kSubsetRank: return "subset-rank";
    case Rule::kSubsetBounds: return "subset-bounds";
    case Rule::kSubsetUsesRead: return "subset-uses-read";
    case Rule::kCopyVolume: return "copy-volume";
    case Rule::kConnectorMissing: return "connector-missing";
    case Rule::kConnectorDuplicate: return "connector-duplicate";
    case Rule::kConnectorClash: return "connector-clash";
    case Rule::kConnectorDangling: return "connector-dangling";
    case Rule::kMemletShape: return "memlet-shape";
    case Rule::kWcrTarget: return "wcr-target";
    case Rule::kCycle: return "cycle";
    case Rule::kIsolatedNode: return "isolated-node";
    case Rule::kReferenceUnset: return "reference-unset";
    case Rule::kTaskletCode: return "tasklet-code";
    case Rule::kTaskletTypes: return "tasklet-types";
    case Rule::kLibraryShape: return "library-shape";
    case Rule::kLibraryTypes: return "library-types";
    case Rule::kMapParameters: return "map-parameters";
    case Rule::kMapRange: return "map-range";
    case Rule::kMapStep: return "map-step";
    case Rule::kWriteConflict: return "write-conflict";
    case Rule::kLoopVariable: return "loop-variable";
    case Rule::kConditionType: return "condition-type";
    case Rule::kAssignTarget: return "assign-target";
    case Rule::kExitTarget: return "exit-target";
    case Rule::kReturnInMap: return "return-in-map";
    case Rule::kScheduleNesting: return "schedule-nesting";
    case Rule::kStorageAccess: return "storage-access";
    case Rule::kBlockUniform: return "block-uniform";
    case Rule::kReadOnly: return "read-only";
    case Rule::kStreamUse: return "stream-use";
    case Rule::kDepth: return "depth";
  }
  return "?";
}

namespace validation {

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

symbolic::SymbolSet assigned_below(const Sequence& s) {
  symbolic::SymbolSet names;
  for_each_element(s, [&](const Element& e) {
    if (const auto* assign = std::get_if<Assign>(&e.kind)) {
      for (const Assign::Item& item : assign->items) names.insert(item.symbol);
    }
  });
  return names;
}

const Access* access_at(const State& s, Id node) {
  const Node* n = s.find_node(node);
  return n == nullptr ? nullptr : std::get_if<Access>(&n->kind);
}

// ---- Report ---------------------------------------------------------------------------------------------------------

void Report::add(Rule rule, const Scope& scope, Id id, std::string message, std::string hint) {
  problems_.push_back({rule, std::move(message), id, places_of(g, scope.path, id), std::move(hint)});
}

void Report::add(Rule rule, const Container& c, std::string message, std::string hint) {
  problems_.push_back({rule,
                       std::move(message),
                       0,
                       {{std::string(to_string(c.kind)) + " " + quoted(container(c.name)), c.location}},
                       std::move(hint)});
}

void Report::add(Rule rule, const Symbol& s, std::string message, std::string hint) {
  problems_.push_back({rule,
                       std::move(message),
                       0,
                       {{std::string(to_string(s.binder)) + " " + quoted(symbol(s.name)), s.location}},
                       std::move(hint)});
}

void Report::add(Rule rule, std::string message, std::string hint) {
  problems_.push_back({rule, std::move(message), 0, {{"in graph " + quoted(g.name), {}}}, std::move(hint)});
}

std::string Report::symbol(std::string_view name) const {
  const Symbol* s = g.symbols.find(name);
  return s == nullptr || s->label.empty() ? std::string(name) : s->label;
}

std::string Report::container(std::string_view path) const {
  const Container* c = g.containers.find(root_name(path));
  if (c == nullptr || c->label.empty()) return std::string(path);
  return c->label + std::string(path.substr(root_name(path).size()));
}

symbolic::Substitution Report::labels_of(const symbolic::SymbolSet& names) const {
  symbolic::Substitution labels;
  NameSet seen;
  bool ambiguous = false;
  for (const std::string& name : names) {
    const std::string label = symbol(name);
    ambiguous = ambiguous || !seen.insert(label).second;
    if (label != name) labels.emplace(name, symbolic::Expr::symbol(label));
  }
  // Two symbols of one label in one expression: the graph's own names tell them apart.
  return ambiguous ? symbolic::Substitution() : labels;
}

std::string Report::show(const symbolic::Expr& e) const {
  const symbolic::Substitution labels = labels_of(symbolic::free_symbols(e));
  return labels.empty() ? e.str() : symbolic::substitute(e, labels).str();
}

std::string Report::show(std::string_view data, const Subset& s) const {
  if (s.rank() == 0) return container(data);
  const symbolic::Substitution labels = labels_of(s.free_symbols());
  return container(data) + "[" + (labels.empty() ? s : symbolic::substitute(s, labels)).str() + "]";
}

// ---- Walk -----------------------------------------------------------------------------------------------------------

namespace {

// Adds names for the life of this object.
class Adding {
 public:
  explicit Adding(NameSet& set) : set_(set) {}
  ~Adding() {
    for (const std::string& name : added_) set_.erase(name);
  }
  Adding(const Adding&) = delete;
  Adding& operator=(const Adding&) = delete;
  void add(const std::string& name) {
    if (set_.insert(name).second) added_.push_back(name);
  }

 private:
  NameSet& set_;
  std::vector<std::string> added_;
};

class Walker {
 public:
  explicit Walker(Report& report) : report_(report), g_(report.g) {}

  void run() {
    scope_.facts = base_facts(g_);
    for (const Symbol& s : g_.symbols) {
      if (s.binder == BinderKind::kParameter) scope_.symbols.insert(s.name);
      if (s.binder == BinderKind::kAssigned) assigns_ = true;
    }
    NameSet declared;
    for_each_element(g_.body, [&](const Element& e) {
      if (const auto* block = std::get_if<Block>(&e.kind)) declared.insert(block->locals.begin(), block->locals.end());
      if (const auto* consume = std::get_if<Consume>(&e.kind)) declared.insert(consume->element);
    });
    for (const Container& c : g_.containers) {
      const bool of_graph = !c.transient || c.lifetime != Lifetime::kScope || c.constant || contains(g_.locals, c.name);
      if (of_graph && !declared.contains(c.name)) scope_.containers.insert(c.name);
    }
    sequence(g_.body);
  }

 private:
  void sequence(const Sequence& s) {
    for (const auto& item : s.items) element(*item);
  }

  void element(const Element& e) {
    scope_.path.push_back(&e);
    scope_.levels.push_back(level_of(g_, e, scope_.path.size() - 1));
    if (scope_.path.size() > kMaxDepth) {
      report_.add(Rule::kDepth, scope_, e.id,
                  describe(g_, e) + " is nested deeper than the limit of " + std::to_string(kMaxDepth) + " elements");
      scope_.path.pop_back();
      scope_.levels.pop_back();
      return;
    }
    const std::size_t before = report_.count();
    check_visited(e, true);
    if (report_.count() > before && surely_not_reached(scope_)) {
      // What contradictory facts prove is no problem; what is wrong without any of them is one also here.
      report_.drop_beyond(before);
      const symbolic::Facts contradictory = std::exchange(scope_.facts, base_facts(g_));
      check_visited(e, false);
      scope_.facts = contradictory;
    }
    for (const Sequence* child : child_sequences(e)) inside(e, *child);
    scope_.path.pop_back();
    scope_.levels.pop_back();
    after(e);
  }

  void check_visited(const Element& e, bool reached) {
    const std::size_t before = report_.count();
    check_names(report_, scope_);
    check_control_flow(report_, scope_);
    check_storage(report_, scope_);
    const auto* state = std::get_if<State>(&e.kind);
    if (state != nullptr) check_dataflow(report_, scope_, *state);
    // Subsets of broken edges have no meaning to look into; what no run does leaves no container and meets nothing.
    if (report_.count() > before || !reached) return;
    check_bounds(report_, scope_);
    if (state != nullptr) check_conflicts(report_, scope_, *state);
  }

  void inside(const Element& e, const Sequence& child) {
    Adding symbols(scope_.symbols);
    Adding containers(scope_.containers);
    if (const auto* block = std::get_if<Block>(&e.kind)) {
      for (const std::string& name : block->locals) containers.add(name);
    } else if (const auto* loop = std::get_if<For>(&e.kind)) {
      symbols.add(loop->variable);
      for (const std::string& name : assigned_below(child)) symbols.add(name);  // from an earlier iteration
    } else if (std::holds_alternative<While>(e.kind)) {
      for (const std::string& name : assigned_below(child)) symbols.add(name);
    } else if (const auto* map = std::get_if<Map>(&e.kind)) {
      for (const std::string& param : map->params) symbols.add(param);
    } else if (const auto* consume = std::get_if<Consume>(&e.kind)) {
      containers.add(consume->element);
      if (!consume->worker.empty()) symbols.add(consume->worker);
    }
    const symbolic::Facts outside = scope_.facts;
    scope_.facts = facts_inside(g_, scope_.facts, e, child);
    const NameSet before = assigns_ ? scope_.symbols : NameSet();
    sequence(child);
    if (assigns_) scope_.symbols = before;  // `after` adds what outlives the element
    scope_.facts = outside;
  }

  // Symbols that have a value after the element: what its Assigns set, except those of a map's body, which are the
  // body's own.
  void after(const Element& e) {
    if (!assigns_) return;
    if (std::holds_alternative<Map>(e.kind) || std::holds_alternative<Consume>(e.kind)) return;
    if (const auto* assign = std::get_if<Assign>(&e.kind)) {
      for (const Assign::Item& item : assign->items) scope_.symbols.insert(item.symbol);
    }
    for (const Sequence* child : child_sequences(e)) {
      for (const auto& item : child->items) after(*item);
    }
  }

  Report& report_;
  const Graph& g_;
  Scope scope_;
  bool assigns_ = false;
};

}  // namespace
}  // namespace validation

std::vector<Problem> validate(const Graph& g) {
  std::vector<Problem> problems;
  validation::Report report(g, problems);
  validation::check_tables(report);
  validation::Walker(report).run();
  return problems;
}

void check(const Graph& g) {
  std::vector<Problem> problems = validate(g);
  if (problems.empty()) return;
  Problem& first = problems.front();
  std::string message = std::move(first.message);
  if (problems.size() > 1) {
    message +=
        " (and " + std::to_string(problems.size() - 1) + (problems.size() == 2 ? " more problem)" : " more problems)");
  }
  const ErrorClass error_class = first.rule == Rule::kDepth ? ErrorClass::kLimit : ErrorClass::kGraph;
  throw Error(error_class, std::move(message), std::move(first.places), std::move(first.hint));
}

}  // namespace sdfg::ir
