// Internal to ir: what the files of the validation share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/sites.hpp"
#include "ir/validate.hpp"

namespace sdfg::ir::validation {

using NameSet = std::set<std::string, std::less<>>;

// A symbol that a map or counted loop around the visited element runs through.
struct Iteration {
  const Element* owner = nullptr;
  std::size_t depth = 0;  // position of the owner in the path
  std::string symbol;
  symbolic::Expr low;  // smallest and largest value that the range takes when it is not empty
  symbolic::Expr high;
  std::int64_t step = 1;  // between neighbouring values, upwards
  bool attained = true;   // false: the step is symbolic, so which values occur is not known
  bool always = true;     // what is below the owner happens in every iteration, except for empty ranges in between
};
// What entering an element means for everything below it; found once for each element.
struct Level {
  bool may_exit = false;              // some element below leaves early
  bool conditional = false;           // what is below may not happen, depending on more than parameters of the graph
  std::vector<Iteration> iterations;  // outermost first
  NameSet declared;                   // containers that belong to the element's body
};
Level level_of(const Graph& g, const Element& e, std::size_t depth);

// Where the walk is.
struct Scope {
  std::vector<const Element*> path;  // enclosing elements, outermost first; the visited one last
  std::vector<Level> levels;         // of each element of the path
  symbolic::Facts facts;             // what holds there
  NameSet symbols;                   // symbols that may have a value there
  NameSet containers;                // containers that live there

  const Element& element() const { return *path.back(); }
};

// Collects problems, and spells names as the user knows them.
class Report {
 public:
  Report(const Graph& graph, std::vector<Problem>& problems) : g(graph), problems_(problems) {}

  const Graph& g;

  // A problem of an element on the scope's path, or of a node or memlet of its last one.
  void add(Rule rule, const Scope& scope, Id id, std::string message, std::string hint = {});
  // A problem of a table entry.
  void add(Rule rule, const Container& c, std::string message, std::string hint = {});
  void add(Rule rule, const Symbol& s, std::string message, std::string hint = {});
  // A problem of the graph.
  void add(Rule rule, std::string message, std::string hint = {});
  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  std::size_t count() const { return problems_.size(); }
  // Forgets what was added since there were `count` problems.
  void drop_beyond(std::size_t count) {
    problems_.erase(problems_.begin() + static_cast<std::ptrdiff_t>(count), problems_.end());
  }

  std::string show(const symbolic::Expr& e) const;
  std::string show(std::string_view data, const Subset& s) const;  // "B[i, j + 1]", "a" for rank 0
  std::string symbol(std::string_view name) const;                 // without quotes
  std::string container(std::string_view path) const;

 private:
  symbolic::Substitution labels_of(const symbolic::SymbolSet& names) const;

  std::vector<Problem>& problems_;
};

std::string quoted(std::string_view text);
bool contains(const std::vector<std::string>& names, std::string_view name);

// Symbols that Assigns below may set.
symbolic::SymbolSet assigned_below(const Sequence& s);

// Tables: names, parameters, containers, symbols; and that everything is declared once.
void check_tables(Report& report);
// Names that the element itself uses: known, in force, alive.
void check_names(Report& report, const Scope& scope);
// Maps, loops, branches, assignments, exits, schedules.
void check_control_flow(Report& report, const Scope& scope);
// Nodes and memlets of a state: connectors, ranks, volumes, WCR, code.
void check_dataflow(Report& report, const Scope& scope, const State& state);
// Subsets and reads of code that provably leave their container.
void check_bounds(Report& report, const Scope& scope);
// Is there no run that gets to the visited element: a range around it is empty, or the conditions contradict each
// other? What is known there then proves anything.
bool surely_not_reached(const Scope& scope);
// Writes that provably meet in different iterations of a map.
void check_conflicts(Report& report, const Scope& scope, const State& state);
// Storages that code at this place can't reach, and values that differ among the threads of a block.
void check_storage(Report& report, const Scope& scope);

// Innermost first. Stops being `always` at conditions that may depend on the iteration, while loops, and early exits.
std::vector<Iteration> iterations_around(const Scope& scope);

// The access at an end of a memlet, if it is one.
const Access* access_at(const State& s, Id node);

}  // namespace sdfg::ir::validation
